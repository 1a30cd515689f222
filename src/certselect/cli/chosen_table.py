"""The chosen features as a table a person can read."""

from __future__ import annotations

import math

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from certselect.information.terms import InformationTerms
from certselect.search.selection import INTERRUPTED, Selection

_MANY_LEVELS = 50


def print_selection(selection: Selection, terms: InformationTerms) -> None:
    """Print what was chosen, with each feature's relevance, redundancy and share of the value."""
    console = Console(soft_wrap=False)
    table = Table(title=None)
    table.add_column("feature", overflow="fold")
    table.add_column("relevance", justify="right")
    table.add_column("redundancy", justify="right")
    table.add_column("shares most with", overflow="fold")
    table.add_column("value", justify="right")
    chosen = selection.indices
    shared = np.array([terms.pair_row("redundancy", int(i))[chosen] for i in chosen])
    np.fill_diagonal(shared, 0.0)
    others = max(len(chosen) - 1, 1)
    values = _values(selection)
    for place, i in enumerate(chosen):
        closest = int(np.argmax(shared[place]))
        table.add_row(
            # Text, not markup: a column may be called "[red]".
            Text(repr(terms.feature_names[i])[1:-1]),
            f"{terms.relevance[i]:.4f}",
            f"{shared[place].sum() / others:.4f}",
            Text(repr(selection.names[closest])[1:-1] if len(chosen) > 1 else ""),
            values[place],
        )
    console.print(table)
    console.print(
        f"{selection.k} of {terms.n_features} features, {selection.criterion} = {selection.objective:.6f} nats, "
        f"by {selection.strategy} ({selection.status}).",
        highlight=False,
        soft_wrap=True,
    )
    if not math.isnan(selection.gap):
        console.print(proven_in_words(selection), highlight=False, soft_wrap=True)
    console.print(
        "relevance: I(feature; target). redundancy: mean I(feature; other chosen features). "
        "value: of the features up to this row." + ("" if any(values) else " This strategy has no order of choice."),
        highlight=False,
        soft_wrap=True,
    )


def proven_in_words(selection: Selection) -> str:
    """What the bound means: "no 12 features score more than 0.024 % above these"."""
    features = "1 feature scores" if selection.k == 1 else f"{selection.k} features score"
    if selection.gap == 0.0:
        return f"Proven: no {features} more than these."
    if math.isinf(selection.gap):
        return f"Proven: no {features} more than {selection.upper_bound:.6g}."
    return f"Proven: no {features} more than {max(selection.gap, 0.0) * 100:.2g} % above these."


def _values(selection: Selection) -> list[str]:
    """Value after each choice, where there is an order of choice."""
    if selection.strategy in ("forward", "relevance") and len(selection.scores) == selection.k:
        return [f"{score:.4f}" for score in selection.scores]
    return [""] * (len(selection.indices) - 1) + [f"{selection.objective:.4f}"]


def remarks(selection: Selection, terms: InformationTerms) -> list[str]:
    """What the user should know besides: dropped columns, doubtful codings, an early end."""
    said = []
    if selection.dropped:
        some = ", ".join(map(repr, selection.dropped[:5])) + (", ..." if len(selection.dropped) > 5 else "")
        said.append(f"note: {len(selection.dropped)} constant columns were left out: {some}")
    crowded = [int(i) for i in np.flatnonzero(terms.levels > _MANY_LEVELS) if _passed_as_levels(terms, int(i))]
    if crowded:
        first = crowded[0]
        said.append(
            f"note: {len(crowded)} columns have more than {_MANY_LEVELS} levels ({terms.feature_names[first]!r} has "
            f"{terms.levels[first]}), which inflates their relevance; --integers numbers bins whole numbers"
        )
    if selection.status == INTERRUPTED:
        said.append("note: interrupted; this is the best subset found so far")
    return said


def _passed_as_levels(terms: InformationTerms, feature: int) -> bool:
    return terms.coding is not None and terms.coding.edges(feature) is None
