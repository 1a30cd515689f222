"""Every strategy's record tells the truth about it."""

import inspect
import sys
from pathlib import Path

import numpy as np
import pytest

from certselect import SubsetProblem
from certselect.search import Found, list_strategies, select
from certselect.search.completion import values_along
from certselect.search.selection import PROVEN_OPTIMAL

STRATEGIES = list_strategies()
QUICK = {
    "annealing": {"steps": 300},
    "genetic": {"population": 8, "generations": 5},
    "cobra": {"draws": 20},
    "soss": {"draws": 20},
}
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=list(STRATEGIES))


def symmetric(rng, n):
    upper = np.triu(rng.random((n, n)) - 0.3, 1)
    return upper + upper.T


def random_problems(make_problem, count=8, n=9, k=4):
    for seed in range(count):
        rng = np.random.default_rng(seed)
        yield make_problem(rng.random(n), symmetric(rng, n), ["jmi", "mrmr", "d1"][seed % 3], k)


def run(problem, strategy):
    found = Found()
    strategy.run(problem.units, found, np.random.default_rng(0), **QUICK.get(strategy.name, {}))
    return found


@every_strategy
def test_it_is_named_by_its_file_and_says_what_it_does(strategy):
    file = Path(inspect.getfile(strategy.run))
    assert (file.parent.name, file.stem) == ("strategies", strategy.name)
    assert list_strategies()[strategy.name] is strategy
    assert 10 <= len(strategy.summary) <= 100
    assert not strategy.summary.endswith(".")
    first_three = list(inspect.signature(strategy.run).parameters.values())[:3]
    assert [parameter.kind for parameter in first_three] == [inspect.Parameter.POSITIONAL_ONLY] * 3
    assert all(default is not inspect.Parameter.empty for default in strategy.options.values())


def test_there_is_a_strategy_for_each_file():
    folder = Path(inspect.getfile(STRATEGIES["forward"].run)).parent
    assert sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__") == sorted(STRATEGIES)


@every_strategy
def test_its_scores_are_what_it_says(make_problem, strategy):
    for problem in random_problems(make_problem, 4):
        found = run(problem, strategy)
        value = problem.value(problem.units.columns(found.indices))
        assert strategy.scores, "results of this package's own strategies are checked"
        assert len(found.scores) > 0
        if strategy.scores == "ranking":
            assert found.scores == pytest.approx(list(values_along(problem.units, found.indices)))
        elif strategy.scores == "steps":
            assert min(abs(score - value) for score in found.scores) < 1e-12
        else:
            assert found.scores[-1] == pytest.approx(value)
        if strategy.scores == "removals":
            assert len(found.scores) == len(problem.candidates) - problem.k
        if strategy.scores == "improving":
            assert max(found.scores) <= found.scores[-1] + 1e-12
        assert strategy.draws == (not np.isnan(found.drawn_size))


@every_strategy
def test_it_asks_for_the_pair_terms_it_says_it_needs(make_problem, strategy):
    for problem in random_problems(make_problem, 3):
        run(problem, strategy)
        assert ("matrix" in problem.pairs.calls) == strategy.needs_all_pairs
        assert problem.pairs.calls


@every_strategy
def test_its_rows_suffice_under_constraints_too(make_problem, strategy):
    if strategy.needs_all_pairs:
        return
    stated = {
        "include": [8],
        "feature_groups": {"all_or_none": [[0, 1], [2, 5]], "at_most_one": [[3, 4]]},
        "costs": [1.0] * 9,
        "budget": 7.0,
    }
    for problem in random_problems(make_problem, 3):
        constraints = SubsetProblem.from_matrix(np.eye(9), 4, **stated).constraints
        constrained = type(problem)(
            problem.linear,
            problem.pairs,
            problem.criterion,
            4,
            problem.feature_names,
            problem.candidates,
            constraints,
        )
        select(constrained, strategy.name, polish=True)
        assert "matrix" not in problem.pairs.calls


@every_strategy
def test_its_answers_are_in_the_order_it_says(make_problem, strategy):
    orders = []
    for problem in random_problems(make_problem):
        found = run(problem, strategy)
        selection = select(problem, strategy.name, random_state=0, **QUICK.get(strategy.name, {}))
        assert selection.indices.tolist() == found.indices
        orders.append(found.indices)
        if strategy.in_order_of_choice:
            # The last choice is the last feature: without it, what was there a step before.
            values = [problem.weight(size) for size in range(1, 5)]
            alone = [
                problem.linear[found.indices[:size]].sum()
                - weight * np.triu(np.nan_to_num(problem.pairs.given)[np.ix_(*[found.indices[:size]] * 2)], 1).sum()
                for size, weight in enumerate(values, start=1)
            ]
            assert found.scores[0] == pytest.approx(alone[0], rel=1e-12) or strategy.name == "floating"
            assert found.scores[-1] == pytest.approx(alone[-1], rel=1e-12)
    assert any(indices != sorted(indices) for indices in orders) == strategy.in_order_of_choice


@every_strategy
def test_its_answers_for_groups_are_in_that_order_as_well(strategy):
    """Units {0, 7} and {1, 6} in order are no columns in order."""
    rng = np.random.default_rng(2)
    Q = rng.normal(size=(8, 8))
    problem = SubsetProblem.from_matrix(Q + Q.T, 5, include=[0, 1], feature_groups=[[0, 7], [1, 6]])
    selection = select(problem, strategy.name, random_state=0, **QUICK.get(strategy.name, {}))
    chosen = selection.indices.tolist()
    if strategy.in_order_of_choice:
        assert chosen[:4] == [0, 7, 1, 6]
    else:
        assert chosen == sorted(chosen)


@every_strategy
def test_one_run_holds_the_answers_it_says_it_holds(make_problem, strategy):
    if strategy.nested is None:
        return
    for seed in range(6):
        rng = np.random.default_rng(seed)
        linear, matrix = rng.integers(0, 6, 9) / 16, np.round(symmetric(rng, 9) * 8) / 16  # ties among them
        problems = [
            make_problem(linear, matrix, ["jmi", "d1", "mifs"][seed % 3], k, candidates=[0, 1, 2, 4, 5, 6, 8])
            for k in range(1, 8)
        ]
        whole = run(strategy.nested.longest(problems, key=lambda problem: problem.k), strategy)
        for problem in problems:
            alone, state = run(problem, strategy), strategy.nested.state(problem.units, whole)
            assert state.indices == alone.indices
            assert state.scores == pytest.approx(alone.scores, rel=1e-12, abs=1e-14)
            assert state.removed == alone.removed
            assert len(state.indices) == problem.k


@every_strategy
def test_its_answers_come_with_a_bound_if_it_says_so(make_problem, strategy):
    for problem in random_problems(make_problem, 4):
        selection = select(problem, strategy.name, random_state=0, **QUICK.get(strategy.name, {}))
        assert np.isnan(selection.upper_bound) == (not strategy.bounds)
        if strategy.bounds:
            best = select(problem, "exhaustive")
            assert selection.upper_bound >= best.objective - 1e-12
            assert (selection.certificate is not None) == (strategy.name != "exhaustive")
        assert (selection.status == PROVEN_OPTIMAL) == (strategy.name in ("exact", "exhaustive"))


@every_strategy
def test_it_takes_a_warm_start_if_it_says_so(strategy):
    assert ("warm_start" in inspect.signature(strategy.run).parameters) == strategy.warm_start
    assert "warm_start" not in strategy.options  # one size's search hands it to the next one's, no user does


@every_strategy
def test_it_needs_the_extra_it_says(make_problem, strategy, monkeypatch):
    """Without the package of the extra, those that need it say what to install; all others run."""
    monkeypatch.setitem(sys.modules, "clarabel", None)
    problem = next(random_problems(make_problem))
    if strategy.requires:
        with pytest.raises(ValueError, match=rf"pip install certselect\[{strategy.requires}\]"):
            run(problem, strategy)
    else:
        assert len(run(problem, strategy).indices) == 4
