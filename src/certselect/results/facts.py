"""Everything a report shows of a result, as one plain dictionary: numbers, text, lists. What is unknown is None."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from certselect.criteria import find_criterion
from certselect.errors import InvalidInput
from certselect.evaluation.feature_report import SIGNIFICANCE, about_worth
from certselect.evaluation.leaks import leak_statement
from certselect.evaluation.sizes import curve_facts
from certselect.information.terms import NotKept
from certselect.results.columns import TakenColumns
from certselect.results.repeating import TABLE, command, python_call
from certselect.results.result import Result
from certselect.results.shared_parts import by_similarity, runners_up, shared_parts
from certselect.results.size_choice import SizeChoice
from certselect.results.wording import constraints_in_words, in_words
from certselect.search.facts import selection_facts
from certselect.search.selection import LIMIT
from certselect.settings.fields import as_plain
from certselect.table.kinds import DATE, KEPT_OUT

if TYPE_CHECKING:
    from certselect.evaluation.sizes import ValueCurve

# A map of more features than this cannot be read.
MOST_CHOSEN, MOST_RUNNERS_UP = 30, 10
_ROUNDING = 1e-9


def result_facts(result: Result, curve: ValueCurve | None = None, table: str = TABLE) -> dict[str, Any]:
    """What was asked, found and proven, and where it came from; `table` is what the table is called."""
    origin, selection = result.provenance, result.selection
    told = {name: _plain(column) for name, column in result.explanation.items()}
    facts = selection_facts(selection)
    facts["certificate"]["about_proof"] = result.about_proof
    return facts | {
        "title": "Feature selection report",
        "question": _question(result),
        "saved": result.terms is None,
        # Only `with_table`, which checks, gives terms to what a file claims.
        "checked": result.terms is not None and result.saved_explanation is not None,
        "n_samples": int(origin.n_samples),
        "n_features": int(origin.n_features),
        "target": list(origin.target),
        "formula": _formula(result),
        "significance": SIGNIFICANCE,
        "about_worth": about_worth(
            (result.explanation["worth"][i] for i in selection.indices), selection.objective, selection.unit
        ),
        "features": told,
        "left_out": _relevant_left_out(result),
        "decisions": in_words(origin.decisions, told["feature"]),
        "picked": origin.picked,
        "columns": _columns(result),
        "distributions": _distributions(result),
        "redundancy": _redundancy(result),
        "path": None if curve is None else curve_facts(curve, selection.k),
        "scores": None if result.choice is None else _scores(result.choice, selection.k),
        "carried": "" if result.carried is None or result.about_chance else result.carried.statement,
        "about_chance": result.about_chance,
        "leaks": leak_statement(result.leaks),
        "leaking": [leak.column for leak in result.leaks],
        "size": "" if result.size_rule is None else result.size_rule.statement,
        "seconds": {stage: as_plain(spent) for stage, spent in origin.seconds.items() if stage != LIMIT},
        "out_of_time": as_plain(origin.seconds.get(LIMIT)),
        "versions": dict(origin.versions),
        "fingerprint": result.fingerprint,
        "weighted": bool(origin.weighted),
        "seed": origin.seed,
        "measured": as_plain(dict(origin.measured)),
        "command": command(result, table),
        "call": python_call(result, table),
    }


def _plain(column: Sequence[Any]) -> list[Any]:
    return [None if isinstance(value, float) and not math.isfinite(value) else value for value in column]


def _question(result: Result) -> str:
    """What was asked, in one sentence."""
    origin, selection = result.provenance, result.selection
    names = [repr(name) for name in origin.target]
    target = " and ".join(names) if names else "the target"
    stated = constraints_in_words(result.settings.constraints, result.explanation["feature"])
    which = "columns" if selection.any_size else "column" if selection.k == 1 else f"{selection.k} columns"
    predict = "predicts" if which == "column" else "predict"
    best = "best" if which == "column" else "best together"
    under = f" ({stated})" if stated else ""
    return (
        f"Which {which} of {origin.n_features:,}{under} {predict} {target} {best}, judged by {origin.n_samples:,} rows?"
    )


def _formula(result: Result) -> str:
    """That of the criterion as it was used, its options filled in; empty if nobody here knows it."""
    if result.problem is not None:
        return result.problem.criterion.formula
    searching = result.settings.searching
    try:
        return find_criterion(searching.criterion, **searching.criterion_options).formula
    except InvalidInput:
        return ""


def _relevant_left_out(result: Result) -> list[int]:
    """Features that carry information about the target, were not chosen and could have been: most relevant first."""
    told, kept_out = result.explanation, set(result.selection.dropped)
    relevance = np.array(told["relevance"], dtype=np.float64)
    unknown = math.isnan(float(told["p_value"][0]))
    p_values = np.zeros_like(relevance) if unknown else np.array(told["p_value"], dtype=np.float64)
    relevant = (relevance > 0.0) & (p_values <= SIGNIFICANCE) & ~np.array(told["chosen"], dtype=bool)
    found = [int(i) for i in np.argsort(-relevance, kind="stable") if relevant[i]]
    return [i for i in found if told["feature"][i] not in kept_out]


def _columns(result: Result) -> dict[str, Any] | None:
    """How each column was taken: kinds, levels and gaps."""
    if result.columns is None or result.terms is None:
        return None
    kinds = list(result.columns.kinds)
    for one in result.provenance.decisions:
        if one.kind in (*KEPT_OUT, DATE, "number"):
            for i in one.columns:
                kinds[i] = one.kind
    return {
        "kinds": kinds,
        "levels": [int(count) for count in result.terms.levels],
        "missing": [int(count) for count in result.columns.missing],
    }


def _distributions(result: Result) -> dict[str, Any] | None:
    columns: TakenColumns | None = result.columns
    if columns is None:
        return None
    dates = {i for one in result.provenance.decisions if one.kind == DATE for i in one.columns}
    return {
        "classes": list(columns.classes),
        "most_rows": columns.most_rows,
        "of": [
            {
                "column": i,
                "levels": list(each.levels),
                "edges": each.edges.tolist(),
                "counts": each.counts.tolist(),
                "date": i in dates,
            }
            for i, each in columns.distributions.items()
            if each.counts.size  # a column without any value has nothing to draw
        ],
    }


def _redundancy(result: Result) -> dict[str, Any] | None:
    """How much of each other's information the chosen features and the runners-up share, similar ones side by side."""
    terms = result.terms
    if terms is None or len(result.indices) + _others(result) < 2:
        return None
    chosen = [int(i) for i in result.indices][:MOST_CHOSEN]
    others = [] if isinstance(terms.pairs, NotKept) else runners_up(result, MOST_RUNNERS_UP)
    features = np.array([*chosen, *others])
    if len(features) < 2:
        return None
    part = shared_parts(terms, features)
    order = by_similarity(part)
    return {
        "columns": [int(i) for i in features[order]],
        "parts": in_four_digits(part[np.ix_(order, order)]).tolist(),
        "n_chosen": len(chosen),
        "n_runners_up": len(others),
        "by_exchange": all(result.explanation["swap_with"][i] is not None for i in others),
    }


def in_four_digits(parts: np.ndarray) -> np.ndarray:
    """Rounded, but nothing to all: what differs from a copy by little is none."""
    return np.where(parts < 1.0 - _ROUNDING, np.minimum(parts.round(4), 0.9999), 1.0)


def _others(result: Result) -> int:
    return 0 if result.problem is None else len(result.problem.candidates) - len(result.indices)


def _scores(choice: SizeChoice, k: int) -> dict[str, Any]:
    """What a classifier or regressor scored with each number of features."""
    tried = choice.combinations[choice.chosen]
    return {
        "estimator": choice.estimator,
        "scoring": choice.scoring,
        "protocol": choice.protocol,
        "n_splits": len(choice.split_scores),
        "one_standard_error": bool(choice.one_standard_error),
        "combination": tried.words,
        "n_combinations": len(choice.combinations),
        "sizes": [int(size) for size in choice.sizes],
        "means": as_plain(choice.mean_scores),
        "errors": as_plain(choice.standard_errors),
        "chosen": int(k),
    }
