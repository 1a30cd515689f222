"""selection_path: each size's answer is what select gives there."""

import itertools
import sys

import numpy as np
import pytest

from certselect.criteria import subset_problem
from certselect.errors import InvalidInput
from certselect.information import information_terms
from certselect.information.terms import InformationTerms
from certselect.progress import listening
from certselect.search import find_strategy, list_strategies, select, selection_path
from certselect.search.strategies import backward as backward_file

STRATEGIES = list(list_strategies())
OPTIONS = {"annealing": {"steps": 500}, "genetic": {"population": 10, "generations": 5}}


class GivenTerms:
    """Pair terms of each kind from a seed, counting what is computed and interrupting where told."""

    def __init__(self, n, interrupt_at=None):
        rng = np.random.default_rng(n)
        self.kinds = {}
        for kind in ("redundancy", "conditional_redundancy", "interaction"):
            upper = np.triu(rng.random((n, n)) - 0.3, 1)
            self.kinds[kind] = upper + upper.T
        self.interrupt_at = interrupt_at
        self.calls = 0

    def rows(self, kind, features):
        self.calls += 1
        if self.calls == self.interrupt_at:
            raise KeyboardInterrupt
        return self.kinds[kind][features]

    def matrix(self, kind):
        return self.kinds[kind].copy()


def make_terms(n=9, constant=(4,), interrupt_at=None):
    rng = np.random.default_rng(n)
    relevance, is_constant = rng.random(n), np.zeros(n, dtype=bool)
    is_constant[list(constant)] = True
    relevance[is_constant] = 0.0
    names = tuple(f"X{i + 1}" for i in range(n))
    return InformationTerms(
        relevance, np.ones(n), 1.0, 100, names, 2 - is_constant, is_constant, GivenTerms(n, interrupt_at=interrupt_at)
    )


def assert_same(one, other):
    assert one.indices.tolist() == other.indices.tolist()
    assert one.names == other.names
    assert one.objective == other.objective
    assert one.scores == other.scores
    assert (one.strategy, one.criterion, one.k, one.status) == (other.strategy, other.criterion, other.k, other.status)
    assert one.dropped == other.dropped


@pytest.mark.parametrize("polish", [False, True])
@pytest.mark.parametrize("criterion", ["mrmr", "jmi", "mifs", "d1", "max_relevance"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_each_size_is_what_select_gives(strategy, criterion, polish):
    beta = 0.5 if criterion == "mifs" else None
    common = {"random_state": 3, "polish": polish, "strategy_options": OPTIONS.get(strategy)}
    ks = [5, 1, 8, 2, 5, 7]
    path = selection_path(make_terms(), ks, criterion, strategy, beta=beta, **common)
    assert [selection.k for selection in path] == ks
    for k, selection in zip(ks, path, strict=True):
        assert_same(selection, select(subset_problem(make_terms(), k, criterion, beta=beta), strategy, **common))


@pytest.mark.parametrize("strategy", ["forward", "relevance", "backward"])
def test_nesting_strategies_run_once(strategy, add_strategy):
    runs, own = [], find_strategy(strategy)

    def counted(problem, found, rng, /):
        runs.append(problem.k)
        own.run(problem, found, rng)

    add_strategy(strategy, counted, nested=own.nested)
    path = selection_path(make_terms(), range(2, 7), strategy=strategy, criterion="jmi")
    assert runs == [2 if strategy == "backward" else 6]
    assert len({selection.seconds["search"] for selection in path}) == 1
    for smaller, larger in itertools.pairwise(path):
        assert set(smaller.indices) < set(larger.indices)


def test_numpy_sizes_and_defaults():
    path = selection_path(make_terms(), np.arange(1, 4), random_state=0, criterion="jmi")
    assert [selection.k for selection in path] == [1, 2, 3]
    assert {selection.criterion for selection in path} == {"jmi"}
    assert {selection.strategy for selection in path} == {"cobra"}
    assert all("polish" in selection.seconds for selection in path)
    assert all(selection.upper_bound >= selection.objective for selection in path)


def test_auto_is_cobra_as_long_as_all_relaxations_take_as_long_as_one_of_the_most(monkeypatch):
    """The time of a relaxation grows with the cube of the candidates, of which there are 8 here."""
    monkeypatch.setattr(sys.modules["certselect.search.select"], "MOST_FOR_COBRA", 12)
    for sizes, strategy in ((range(1, 4), "cobra"), (range(1, 5), "forward")):  # 3 * 8**3 <= 12**3 < 4 * 8**3
        path = selection_path(make_terms(), sizes, random_state=0, criterion="jmi")
        assert {selection.strategy for selection in path} == {strategy}
        asked = selection_path(make_terms(), sizes, "jmi", strategy, random_state=0, polish=True)
        for one, other in zip(path, asked, strict=True):
            assert_same(one, other)


@pytest.mark.parametrize("wrong", [[], 3, range(0)])
def test_sizes_must_be_given(wrong):
    with pytest.raises(InvalidInput) as error:
        selection_path(make_terms(), wrong, criterion="jmi")
    assert str(error.value) == (
        f"Got sizes={wrong!r}; expected one size or more in a list, range or array. Pass for example range(1, 11)."
    )


@pytest.mark.parametrize("wrong", [0, 9, -2])
def test_sizes_out_of_range(wrong):
    with pytest.raises(InvalidInput, match=rf"Got k={wrong}; expected 1 to 8, the usable features \(1 are constant"):
        selection_path(make_terms(), [1, wrong], criterion="jmi")


def test_other_wrong_calls_are_refused_as_by_select():
    with pytest.raises(InvalidInput, match="a whole number"):
        selection_path(make_terms(), [2.5], criterion="jmi")
    with pytest.raises(InvalidInput, match="strategy='best'"):
        selection_path(make_terms(), [2], strategy="best", criterion="jmi")
    with pytest.raises(InvalidInput, match="steps=5 with strategy='forward'; expected no options"):
        selection_path(make_terms(), [2], strategy="forward", strategy_options={"steps": 5}, criterion="jmi")
    with pytest.raises(
        InvalidInput, match=r"the keyword 'steps'; expected keywords among include, .*, strategy_options"
    ):
        selection_path(make_terms(), [2], strategy="annealing", steps=5, criterion="jmi")
    with pytest.raises(InvalidInput, match=r"the keyword 'groups'.*'groups' is now called 'feature_groups'"):
        selection_path(make_terms(), [2], groups=[[0, 1]], criterion="jmi")
    with pytest.raises(InvalidInput, match="criterion='best'"):
        selection_path(make_terms(), [2], "best")
    with pytest.raises(InvalidInput, match="random_state=-1"):
        selection_path(make_terms(), [2], random_state=-1, criterion="jmi")


@pytest.mark.parametrize("polish", [False, True])
def test_interrupted_forward_path(polish):
    """Ctrl-C at the third row: three features are chosen, so sizes 1 to 3 are whole."""
    path = selection_path(make_terms(interrupt_at=3), [1, 3, 4, 6], strategy="forward", polish=polish, criterion="jmi")
    expected = ["interrupted"] * 3 if polish else ["complete", "complete", "interrupted"]
    assert [selection.status for selection in path] == expected
    assert [selection.k for selection in path] == [1, 3, 4]  # it was on its way to 4, and never went for 6
    whole = select(subset_problem(make_terms(), 6, criterion="jmi"), "forward")
    for selection in path:
        assert len(set(selection.indices.tolist())) == selection.k
        assert selection.indices[:3].tolist() == whole.indices[: min(3, selection.k)].tolist()
        assert set(selection.seconds) == {"search"}


def test_interrupted_backward_path(monkeypatch):
    monkeypatch.setattr(backward_file, "REPORT_EVERY", 1)
    reports = []

    def press_at_third(*progress):
        reports.append(progress)
        if len(reports) == 3:
            raise KeyboardInterrupt

    with listening(press_at_third):
        path = selection_path(make_terms(), [8, 6, 5, 4, 2], strategy="backward", criterion="jmi")
    assert [selection.status for selection in path] == ["complete"] * 3 + ["interrupted"]
    assert [len(selection.indices) for selection in path] == [8, 6, 5, 4]
    assert set(path[3].indices) < set(path[2].indices)


def test_after_an_interrupt_no_further_size_is_searched(add_strategy):
    runs = []

    def stops_at_third(problem, found, rng, /):
        runs.append(problem.k)
        if len(runs) == 3:
            raise KeyboardInterrupt
        found.indices = problem.candidates[: problem.k].tolist()

    add_strategy("stops", stops_at_third)
    path = selection_path(make_terms(), [2, 3, 4, 5, 6], strategy="stops", criterion="jmi")
    assert runs == [2, 3, 4]
    assert [selection.status for selection in path] == ["complete"] * 2 + ["interrupted"]
    assert [len(selection.indices) for selection in path] == [2, 3, 4]


def test_an_interrupted_polish_stops_the_path():
    """The search at size 5 asks for 4 rows (the first feature's is not needed), the polish at size 3 for that one."""
    path = selection_path(make_terms(interrupt_at=5), [3, 4, 5], "d1", "relevance", polish=True)
    assert [selection.status for selection in path] == ["interrupted"] * 3
    assert ["polish" in selection.seconds for selection in path] == [True, False, False]
    for selection in path:
        plain = select(subset_problem(make_terms(), selection.k, "d1"), "relevance")
        assert selection.indices.tolist() == plain.indices.tolist()


CONSTRAINTS = {
    "include": ["X3"],
    "exclude": [8],
    "feature_groups": {"all_or_none": [["X1", "X2"]], "at_most_one": [["X4", "X6"]]},
    "costs": {"X1": 2.0, "X2": 1.0, "X7": 3.0, "X8": 1.0},
    "budget": 5.0,
}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("constraints", [CONSTRAINTS, {"include": [2]}, {"exclude": ["X1", 7]}])
def test_under_constraints_each_size_is_what_select_gives(strategy, constraints):
    ks = [2, 4, 3] if constraints is CONSTRAINTS else [2, 5, 3]
    options = OPTIONS.get(strategy)
    path = selection_path(make_terms(), ks, "jmi", strategy, random_state=0, strategy_options=options, **constraints)
    for selection, k in zip(path, ks, strict=True):
        problem = subset_problem(make_terms(), k, "jmi", **constraints)
        assert problem.constraints.allows(selection.indices)
        assert selection.k == k == len(selection.indices)
        assert selection.dropped == ("X5",)
        if strategy != "cobra":  # whose draws follow a relaxation that started elsewhere
            assert_same(selection, select(problem, strategy, random_state=0, strategy_options=options))


def test_a_size_the_constraints_do_not_allow_is_refused():
    with pytest.raises(InvalidInput):
        selection_path(make_terms(), [1, 2], include=[0, 1], criterion="jmi")
    with pytest.raises(InvalidInput, match="one size or more"):
        selection_path(make_terms(), [2, None], costs={"X1": 1.0}, budget=2.0, criterion="jmi")


def test_a_certified_path_under_constraints_bounds_every_size():
    path = selection_path(make_terms(), [2, 3, 4], "jmi", "forward", certify=True, **CONSTRAINTS)
    for selection in path:
        problem = subset_problem(make_terms(), selection.k, "jmi", **CONSTRAINTS)
        assert selection.upper_bound >= select(problem, "exhaustive").objective - 1e-9


def test_an_interrupted_path_under_constraints_stays_allowed():
    def press(stage, done, total):
        if (stage, done, total) == ("forward", 3, 4):
            raise KeyboardInterrupt

    with listening(press):
        path = selection_path(make_terms(), [2, 4, 3], "jmi", "forward", **CONSTRAINTS)
    assert [(selection.k, selection.status) for selection in path] == [(2, "complete"), (4, "interrupted")]
    for selection in path:
        problem = subset_problem(make_terms(), selection.k, "jmi", **CONSTRAINTS)
        assert problem.constraints.allows(selection.indices)


def test_every_size_is_proven_as_tightly_as_by_itself():
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 3, (30, 10)), rng.integers(0, 2, 30)
    terms = information_terms(X, y, measure="plugin", correction="none")
    path = selection_path(terms, [3, 4], "jmi", "forward", certify="tight")
    alone = [select(subset_problem(terms, k, criterion="jmi"), "forward", certify="tight") for k in (3, 4)]
    loose = [select(subset_problem(terms, k, criterion="jmi"), "forward", certify=True) for k in (3, 4)]
    assert [each.upper_bound for each in path] == [each.upper_bound for each in alone]
    assert all(tight.upper_bound < wide.upper_bound for tight, wide in zip(path, loose, strict=True))
