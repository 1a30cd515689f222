"""Every entry of a file, changed in every way that makes it false, is refused in words that are short and safe."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest

from certselect import choose_subset, verify
from certselect.errors import InvalidInput
from results.made_results import made, numbers
from results.mutations import mutations, put

# With a lift; with a proof, decided features, ties; by values of all subsets; with scores; without a bound.
KINDS = ["constraints", "tight constraints", "ties", "any size", "cross-validated", "strategy forward", "by chance"]
VERDICTS = {"holds", "false claim", "broken file", "another table", "cannot be checked here"}

# What is no claim, as docs/result-format.md says: how the run went and how it was asked for.
UNCHECKED = {
    ("provenance", "seconds"),
    ("provenance", "versions"),
    ("provenance", "target"),  # of an array, which has no names
    ("size", "information"),  # of a path that is not searched again
    ("choice", "estimator"),
    ("choice", "scoring"),
    ("choice", "combinations"),  # scores in another order; settings of what was not chosen
    ("selection", "drawn_size"),
    ("selection", "scores"),  # of searches that do not rank features
    ("settings", "searching"),
}
# Sentences: a reader makes its own, and ignores those of the file.
WORDS = {
    ("statement",),
    ("certificate", "shown_by"),
    ("explanation", "why"),
    ("provenance", "picked"),
    ("provenance", "decisions", "why"),
    ("size", "statement"),
    ("carried", "statement"),
}
# Evidence: whatever it is, the bound follows from it or the file is refused.
EVIDENCE = {("certificate",)}
# Less is claimed, or the same in other words: settings that are left out have their defaults, names are
# read in any case, a list of columns may name one twice. The bound is proven under the constraints that are stated.
WEAKER = {
    ("selection", "any_size"),  # what is true of any size is true of one
    ("selection", "proven_in"),
    ("selection", "proven_out"),
    ("selection", "ties"),
    ("size",),
    ("choice",),
    ("settings",),
    ("settings", "reading"),
    ("settings", "measuring"),
    ("settings", "constraints"),
}


@cache
def outcomes(kind: str) -> list[tuple[tuple[Any, ...], str, Any, Any]]:
    """Path, kind of change, what was made of the file, and what verify says, for every change."""
    result, data, weight = made(kind)
    stored = json.loads(json.dumps(result.to_dict()))
    assert verify(stored, *data, sample_weight=weight).holds
    said = []
    for path, how, make in mutations(stored):
        if path == ("settings", "reading", "weight") and how == "text":
            continue  # of data that came as arrays: whoever asks is told to pass the weights
        changed = make()
        said.append((path, how, changed, verify(changed, *data, sample_weight=weight)))
    return said


def known(path: tuple[Any, ...], among: set[tuple[str, ...]]) -> bool:
    path = tuple(step for step in path if isinstance(step, str))
    return any(path[: len(each)] == each for each in among)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_still_confirmed_is_no_claim_or_a_weaker_one(kind):
    for path, how, changed, outcome in outcomes(kind):
        if path == ("carried",) and changed.get("carried") is None:
            continue  # nothing is claimed
        if outcome.holds:
            assert known(path, UNCHECKED | WORDS | EVIDENCE | WEAKER), (path, how)


@pytest.mark.parametrize("kind", KINDS)
def test_refusals_are_short_and_safe_to_print(kind):
    verdicts = Counter()
    for path, how, _, outcome in outcomes(kind):
        verdicts[outcome.verdict] += 1
        assert outcome.verdict in VERDICTS
        assert outcome.holds == (outcome.reasons == ()), (path, how)
        assert len(outcome.reasons) <= 5
        assert all(len(reason) <= 240 and reason.isprintable() for reason in outcome.reasons), (path, how)
        assert outcome.holds or outcome.statement == ""
    assert min(verdicts.values()) > 5
    assert verdicts.keys() == VERDICTS


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_that_is_confirmed_is_never_below_the_best(kind):
    """Whatever was changed and holds: no evidence makes a bound smaller than the true one."""
    result = made(kind).result
    best = result.selection.upper_bound
    for path, how, changed, outcome in outcomes(kind):
        if outcome.holds and known(path, EVIDENCE):
            assert changed["selection"]["upper_bound"] >= best or np.isnan(best), (path, how)


@pytest.mark.parametrize("strategy", ["forward", "relevance", "qpfs"])
def test_scores_of_a_ranking_follow_from_it(strategy):
    result, data, _ = made(f"strategy {strategy}")
    stored = result.to_dict()
    scores = stored["selection"]["scores"]
    for wrong in ([], scores[:-1], [*scores, scores[-1]], scores[::-1], [scores[0] * (1 + 1e-6), *scores[1:]]):
        outcome = verify(put(stored, ("selection", "scores"), wrong), *data)
        assert outcome.reasons == ("the scores are not those that lead to these features",)
    groups = choose_subset(
        *data,
        4,
        strategy=strategy,
        feature_groups=[[0, 5], [2, 3]],
        include=[5],
        criterion="jmi",
        measure="plugin",
        correction="none",
    ).to_dict()
    assert verify(groups, *data).holds


@pytest.mark.parametrize("strategy", ["annealing", "backward", "cobra", "exact", "exhaustive", "floating", "genetic"])
def test_scores_of_other_searches_lead_to_the_value(strategy):
    result, data, _ = made(f"strategy {strategy}")
    stored = result.to_dict()
    scores = stored["selection"]["scores"]
    wrong = [[score * (1 + 1e-6) for score in scores], [None], [0.0]]
    if strategy not in ("backward", "floating"):  # which value subsets of other sizes on the way
        wrong += [[], [*scores, 0.0], [9e9, *scores]]
    for each in wrong:
        assert not verify(put(stored, ("selection", "scores"), each), *data).holds, each


def test_the_size_follows_from_the_scores_and_the_rule():
    result, data, _ = made("cross-validated")
    stored = result.to_dict()
    choice = stored["choice"]
    other = next(size for size in choice["sizes"] if size != stored["selection"]["k"])
    [tried] = choice["combinations"]
    flat = {"split_scores": [[0.5] * 4] * 3, "mean_scores": [0.5] * 4, "standard_errors": [0.0] * 4}

    def scored(**change):
        return choice | {"combinations": [tried | change]}

    assert stored["selection"]["k"] > 1, "of equals the smallest is chosen"
    for wrong, said in (
        (scored(standard_errors=[0.0] * 4), "the standard errors are not those"),
        (scored(mean_scores=tried["mean_scores"][::-1]), "the mean scores are not those"),
        (scored(**flat), "1 features had to be chosen"),
        (scored(split_scores=[], mean_scores=[None] * 4, standard_errors=[None] * 4), "by no split"),
        (choice | {"protocol": "dishonest"}, "'honest' or 'paper'"),
        (choice | {"sizes": [0, *choice["sizes"][1:]]}, "each entry of it a whole number, 1 or more"),
        (choice | {"sizes": [other]}, "which is what was chosen"),
    ):
        outcome = verify(put(stored, ("choice",), wrong), *data)
        assert said in outcome.reasons[0], outcome.reasons


def test_the_combination_follows_from_the_scores_and_the_rule():
    result, data, _ = made("combined")
    stored = result.to_dict()
    choice = stored["choice"]
    tried, chosen = choice["combinations"], choice["chosen"]
    other = (chosen + 1) % len(tried)
    swapped = [tried[chosen] if i == other else tried[other] if i == chosen else tried[i] for i in range(len(tried))]
    renamed = tried[chosen] | {"settings": tried[chosen]["settings"] | {"criterion": "mifs"}}
    fewer = tried[other] | {"settings": {"criterion": tried[other]["settings"]["criterion"]}}
    cut = tried[other] | {"split_scores": tried[other]["split_scores"][1:]}

    def changed(place, entry):
        return choice | {"combinations": [*tried[:place], entry, *tried[place + 1 :]]}

    for wrong, said in (
        (choice | {"chosen": len(tried)}, "the number of a combination"),
        (choice | {"chosen": other}, "was chosen, but the settings say"),
        (choice | {"combinations": swapped}, "was chosen, but the settings say"),
        (choice | {"combinations": []}, "the number of a combination"),
        (choice | {"combinations": [*tried, tried[other]]}, "not different values of the same settings"),
        (changed(chosen, renamed), "criterion='mifs' was chosen, but the settings say"),
        (changed(other, fewer), "not different values of the same settings"),
        (changed(other, cut), "scores in the same splits"),
        (changed(other, tried[other] | {"settings": {"task": "auto"}}), "keys among criterion, measure"),
    ):
        outcome = verify(put(stored, ("choice",), wrong), *data)
        assert any(said in reason for reason in outcome.reasons), outcome.reasons
    # A combination that would have won is noticed where the settings are the same.
    better = {"split_scores": [[1.0, 0.5, 0.5]] * 3, "mean_scores": [1.0, 0.5, 0.5], "standard_errors": [0.0] * 3}
    outcome = verify(put(stored, ("choice",), changed(other, tried[other] | better)), *data)
    assert "1 features had to be chosen" in outcome.reasons[0]


def test_options_are_those_of_the_strategy():
    result, data, _ = made("options")
    stored = result.to_dict()
    for options in ({"n_jobs": 10**6}, {"draws": 20, "population": 5}):
        outcome = verify(put(stored, ("settings", "searching", "strategy_options"), options), *data)
        assert "the strategy has no such options" in outcome.reasons[0]


def test_a_subset_that_was_drawn_and_not_repaired_is_verified():
    X, y = numbers()
    result = choose_subset(
        X,
        y,
        3,
        strategy="cobra",
        strategy_options={"repair": False},
        random_state=1,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    assert len(result.indices) != 3
    stored = result.to_dict()
    assert verify(stored, X, y).holds
    assert result.verify(X, y).holds
    repaired = put(stored, ("settings", "searching", "strategy_options"), None)
    assert "not 3 different columns" in verify(repaired, X, y).reasons[0]


@pytest.mark.parametrize("strategy", ["exhaustive", "cobra"])
def test_a_value_and_a_bound_of_nothing(strategy):
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5), np.array([0, 1, 1, 0] * 5)
    result = choose_subset(X, y, 1, strategy=strategy, criterion="mrmr", measure="plugin", correction="none")
    assert result.selection.objective == result.selection.upper_bound == 0.0
    assert verify(result.to_dict(), X, y).holds


def test_a_live_result_says_what_of_it_is_not_confirmed():
    result, data, _ = made("any size by a search")
    assert result.statement
    outcome = result.verify(*data)
    assert outcome.holds
    assert outcome.statement == ""
    assert outcome.unconfirmed == (
        f"{result.statement} (by the search; what the result keeps proves no bound)",
        "that the result is proven optimal",
    )
    assert verify(result.to_dict(), *data).unconfirmed == ()


def test_constraints_are_named_in_one_line():
    result, data, _ = made("constraints")
    assert result.verify(*data).constraints == (
        "with 'x2'; without 'x0'; all or none of 'x3', 'x4'; at most one of 'x5', 'x6'; cost at most 2.5"
    )
    X, y = numbers()
    names = ["\x1b[2J" * 20, *"bcdefg"]
    hostile = choose_subset(
        X, y, 2, feature_names=names, exclude=names[:5], criterion="jmi", measure="plugin", correction="none"
    )
    said = hostile.verify(X, y).constraints
    assert said.isprintable()
    assert len(said) < 100
    assert "and 2 more" in said


def test_another_table_is_told_from_a_false_claim():
    result, (frame,), _ = made("mixed columns with gaps")
    stored = result.to_dict()
    other = frame.copy()
    other["n0"] = other["n0"].to_numpy()[::-1]
    tables = {
        "rows": frame.iloc[:-1],
        "features": frame.drop(columns="n0"),
        "column 0 of the table is 'm0'": frame.rename(columns={"n0": "m0"}),
        "lacks a column that the result names": frame.rename(columns={"label": "diagnosis"}),
        "fingerprint": other,
    }
    for said, table in tables.items():
        outcome = verify(stored, table)
        assert outcome.verdict == "another table"
        assert said in outcome.reasons[0]
    renamed = frame.rename(columns={"label": "diagnosis"})
    outcome = verify(stored, renamed, "diagnosis")
    assert outcome.reasons == ("the target is ['diagnosis'], but the result is about ['label']",)
    with pytest.raises(InvalidInput, match="target='labels'"):
        verify(stored, frame, "labels")
    unreadable = put(stored, ("settings", "reading", "missing"), "error")
    assert verify(unreadable, frame).verdict == "false claim"
