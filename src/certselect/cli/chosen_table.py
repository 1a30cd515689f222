"""The chosen features as a table a person can read."""

from __future__ import annotations

import math

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from certselect.criteria import SubsetProblem
from certselect.information.terms import InformationTerms
from certselect.search.selection import INTERRUPTED, PROVEN_OPTIMAL, Selection
from certselect.table import Table as InputTable

_MANY_LEVELS = 50


def print_selection(selection: Selection, terms: InformationTerms, problem: SubsetProblem) -> None:
    """Print what was chosen, and what each feature adds to it."""
    console = Console()
    table = Table()
    table.add_column("feature", overflow="fold")
    table.add_column("relevance", justify="right")
    table.add_column("redundancy", justify="right")
    table.add_column("shares most with", overflow="fold")
    table.add_column("value", justify="right")
    chosen = selection.indices
    shared = np.array([terms.pair_row("redundancy", int(i))[chosen] for i in chosen])
    np.fill_diagonal(shared, 0.0)
    for place, i in enumerate(chosen):
        closest = selection.names[int(np.argmax(shared[place]))] if len(chosen) > 1 else ""
        table.add_row(
            _as_it_is(terms.feature_names[i]),
            f"{terms.relevance[i]:.4f}",
            f"{shared[place].sum() / max(len(chosen) - 1, 1):.4f}",
            _as_it_is(closest),
            f"{_loss_without(problem, int(i), chosen):.4f}",
        )
    console.print(table)
    said = [
        f"{len(chosen)} of {terms.n_features} features, {selection.criterion} = {selection.objective:.6f} nats, "
        f"by {selection.strategy} ({selection.status}).",
        "relevance: I(feature; target). redundancy: mean I(feature; other chosen feature). "
        "value: relevance less what the feature pays for its pairs with the others.",
    ]
    said[1:1] = [line for line in (selection.statement, _decided(selection)) if line]
    for line in said:
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _decided(selection: Selection) -> str:
    """Which features a proof that is not finished has decided already."""
    if selection.status == PROVEN_OPTIMAL or not (selection.proven_in or selection.proven_out):
        return ""
    some = ", ".join(map(repr, selection.proven_in[:10])) + (", ..." if len(selection.proven_in) > 10 else "")
    held = f"{len(selection.proven_in)} features are in every better subset ({some}); " if some else ""
    return f"Decided: {held}{len(selection.proven_out)} features are in none."


def _as_it_is(name: str) -> Text:
    """A name as it is, for a column may be called "[red]" or hold control characters."""
    return Text(repr(name)[1:-1])


def _loss_without(problem: SubsetProblem, feature: int, chosen: np.ndarray) -> float:
    """Relevance of a chosen feature less what it pays for its pairs with the others."""
    others = chosen[chosen != feature]
    return float(problem.linear[feature] - problem.weight(problem.k) * problem.pair_row(feature)[others].sum())


def notes_on(rows: InputTable, terms: InformationTerms) -> list[str]:
    """What was made of the table that the user may not expect: bins of the target, missing values, an estimator."""
    said = []
    if terms.picked:
        said.append(f"measured by {terms.picked}")
    if rows.task == "regression":
        bins = terms.settings.get("target_bins")
        how = f"cut into {bins} bins of equal counts" if bins else "measured as it is"
        said.append(f"the target is a number, {how}")
    lacking = sum(int(block.missing.any(axis=0).sum()) for block in rows.blocks if block.missing is not None)
    if lacking:
        level = rows.missing != "pairwise" and terms.settings["estimator"] == "plugin"
        how = "a level of their own" if level else "left out pair by pair"
        said.append(f"{lacking} columns have missing values, which are {how}; --missing chooses")
    return said


def remarks(selection: Selection, terms: InformationTerms) -> list[str]:
    """What the user should know besides: dropped columns, doubtful codings, an early end."""
    said = []
    if selection.dropped:
        some = ", ".join(map(repr, selection.dropped[:5])) + (", ..." if len(selection.dropped) > 5 else "")
        said.append(f"{len(selection.dropped)} constant columns were left out: {some}")
    many = np.flatnonzero(terms.levels > _MANY_LEVELS)
    crowded = [int(i) for i in many if _passed_as_levels(terms, int(i))]
    if crowded:
        first = crowded[0]
        said.append(
            f"{len(crowded)} columns have more than {_MANY_LEVELS} levels ({terms.feature_names[first]!r} has "
            f"{terms.levels[first]}), which inflates their relevance; --integers numbers bins whole numbers"
        )
    known = math.nan if selection.certificate is None else selection.certificate.known
    if known > selection.objective * (1.0 + 1e-9 * math.copysign(1.0, selection.objective)):
        said.append(f"the proof came across a subset worth {known:.6f}; --strategy exact goes for it")
    if selection.status == INTERRUPTED:
        said.append("interrupted; this is the best subset found so far")
    return said


def _passed_as_levels(terms: InformationTerms, feature: int) -> bool:
    return terms.coding is not None and terms.coding.edges(feature) is None
