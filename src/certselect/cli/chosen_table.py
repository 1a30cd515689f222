"""A result as a table that a person can read, and notes on what may surprise."""

from __future__ import annotations

import math

import numpy as np
from rich.table import Table

from certselect.cli.printing import cell, say, show
from certselect.information.terms import InformationTerms
from certselect.results import Result
from certselect.search.selection import INTERRUPTED, PROVEN_OPTIMAL, Selection
from certselect.table import Table as InputTable

_MANY_LEVELS = 50


def print_result(result: Result) -> None:
    """Print what was chosen, what each feature adds to it, and what is proven."""
    table = Table()
    table.add_column("feature", overflow="fold")
    table.add_column("relevance", justify="right")
    table.add_column("redundancy", justify="right")
    table.add_column("shares most with", overflow="fold")
    table.add_column("value", justify="right")
    selection, told = result.selection, result.explanation
    for i, redundancy in zip(selection.indices.tolist(), _mean_redundancies(result), strict=True):
        table.add_row(
            cell(told["feature"][i]),
            f"{told['relevance'][i]:.4f}",
            f"{redundancy:.4f}",
            cell(told["closest"][i] or ""),
            f"{told['worth'][i]:.4f}",
        )
    show(table)
    said = [
        f"{len(selection.indices)} of {result.provenance.n_features} features, "
        f"{selection.criterion} = {selection.objective:.6f} nats, by {selection.strategy} ({selection.status}).",
        result.statement,
        _decided(selection),
        "relevance: I(feature; target). redundancy: mean I(feature; other chosen feature). "
        "value: relevance minus its redundancy penalty.",
    ]
    for line in filter(None, said):
        say(line)


def _mean_redundancies(result: Result) -> list[float]:
    """What each chosen feature shares with another one on average."""
    terms, chosen = _terms(result), result.indices
    shared = np.array([terms.pair_row("redundancy", int(i))[chosen] for i in chosen])
    np.fill_diagonal(shared, 0.0)
    return (shared.sum(axis=1) / max(len(chosen) - 1, 1)).tolist()


def _terms(result: Result) -> InformationTerms:
    assert result.terms is not None, "a result that was just made has its terms"
    return result.terms


def _decided(selection: Selection) -> str:
    """Which features a proof that is not finished has decided already."""
    if selection.status == PROVEN_OPTIMAL or not (selection.proven_in or selection.proven_out):
        return ""
    some = ", ".join(map(repr, selection.proven_in[:10])) + (", ..." if len(selection.proven_in) > 10 else "")
    held = f"{len(selection.proven_in)} features are in every subset as good ({some}); " if some else ""
    return f"Decided: {held}{len(selection.proven_out)} features are in none that is."


def notes_on_table(rows: InputTable, terms: InformationTerms) -> list[str]:
    """What was made of the table that the user may not expect: bins of the target, missing values, a measure."""
    said = []
    if terms.picked:
        said.append(f"measured by {terms.picked}")
    if rows.task == "regression":
        bins = terms.settings.get("target_bins")
        how = f"cut into {bins} bins of equal counts" if bins else "measured as it is"
        said.append(f"the target is a number, {how}")
    lacking = sum(int(block.missing.any(axis=0).sum()) for block in rows.blocks if block.missing is not None)
    if lacking:
        level = rows.missing != "pairwise" and terms.settings["measure"] == "plugin"
        how = "a level of their own" if level else "left out pair by pair"
        have = "1 column has" if lacking == 1 else f"{lacking} columns have"
        said.append(f"{have} missing values, which are {how}; --missing chooses")
    return said


def notes_on_result(rows: InputTable, result: Result) -> list[str]:
    """The same, and what the user should know besides: dropped columns, doubtful codings, an early end."""
    said = notes_on_table(rows, _terms(result))
    terms, selection = _terms(result), result.selection
    if selection.dropped:
        some = ", ".join(map(repr, selection.dropped[:5])) + (", ..." if len(selection.dropped) > 5 else "")
        n = len(selection.dropped)
        left = "1 constant column was" if n == 1 else f"{n} constant columns were"
        said.append(f"{left} left out: {some}")
    many = np.flatnonzero(terms.levels > _MANY_LEVELS)
    crowded = [int(i) for i in many if _passed_as_levels(terms, int(i))]
    if crowded:
        first = crowded[0]
        have = "1 column has" if len(crowded) == 1 else f"{len(crowded)} columns have"
        said.append(
            f"{have} more than {_MANY_LEVELS} levels ({terms.feature_names[first]!r} has {terms.levels[first]}), "
            "which inflates the relevance; --integers numbers discretises whole numbers"
        )
    known = math.nan if selection.certificate is None else selection.certificate.known
    if selection.status != PROVEN_OPTIMAL and known - selection.objective > 1e-9 * abs(selection.objective):
        said.append(f"the proof came across a subset worth about {known:.6f}; --strategy exact goes for it")
    if selection.status == INTERRUPTED:
        said.append("interrupted; this is the best subset found so far")
    return said


def _passed_as_levels(terms: InformationTerms, feature: int) -> bool:
    return terms.coding is not None and terms.coding.edges(feature) is None
