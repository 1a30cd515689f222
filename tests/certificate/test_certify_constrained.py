"""certify() of constrained problems: every allowed subset is below the bound, after Ctrl-C too."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certselect import SubsetProblem, certify, information_terms, select, subset_problem
from certselect.search import certified
from relaxation.made_constraints import made_problem
from relaxation.made_problems import redundancy_like


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_bound_holds_for_every_allowed_subset(seed: int) -> None:
    problem, allowed = made_problem(seed)
    selection = certify(problem, select(problem, "forward"))
    assert frozenset(selection.indices.tolist()) in allowed
    assert selection.upper_bound >= max(problem.value(subset) for subset in allowed)
    again = certify(problem, selection, multipliers=selection.certificate.multipliers, lift=selection.certificate.lift)
    assert again.upper_bound == selection.upper_bound


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("criterion", ["jmi", "mrmr", "max_relevance"])
def test_terms_of_a_table(dtype: str, criterion: str) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 3, (80, 9)), rng.integers(0, 2, 80)
    terms = information_terms(X, y, dtype=dtype, measure="plugin", correction="none")
    groups = {"all_or_none": [[0, 1], [2, 3, 4]], "at_most_one": [[5, 6]]}
    problem = subset_problem(terms, 5, criterion, include=[8], feature_groups=groups)
    best = select(problem, "exhaustive")
    certificate = certify(problem, best).certificate
    assert certificate.bound >= best.objective
    assert certificate.gap < 0.2


@pytest.fixture
def limited() -> SubsetProblem:
    costs = np.random.default_rng(0).random(12)
    groups = {"at_most_one": [[0, 1, 2], [3, 4]]}
    return SubsetProblem.from_matrix(redundancy_like(12, 5, 0), 5, feature_groups=groups, costs=costs, budget=1.6)


@pytest.mark.parametrize("iteration", [0, 3, 12, 20])
def test_ctrl_c_keeps_the_bound_so_far(limited: SubsetProblem, iteration: int, monkeypatch) -> None:
    best = select(limited, "exhaustive")
    full = certify(limited, best)

    def interrupted(problem, *, callback, **options):
        def stop(iterate):
            callback(iterate)
            if iterate.iteration == iteration:
                raise KeyboardInterrupt

        return real(problem, callback=stop, **options)

    real = certified.relax
    monkeypatch.setattr(certified, "relax", interrupted)
    stopped = certify(limited, best)
    assert best.objective <= stopped.upper_bound < np.inf
    assert full.upper_bound <= stopped.upper_bound


def test_ctrl_c_before_the_first_iteration_leaves_a_bound(limited: SubsetProblem, monkeypatch) -> None:
    def at_once(problem, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(certified, "relax", at_once)
    best = select(limited, "exhaustive")
    assert best.objective <= certify(limited, best).upper_bound < np.inf


def test_any_size_is_bounded_at_every_size() -> None:
    Q, costs = redundancy_like(8, 3, 1) - 0.2, np.random.default_rng(1).integers(1, 5, 8) / 4
    problem = SubsetProblem.from_matrix(Q, None, costs=costs, budget=2.0)
    best = max((select(problem.of_size(k), "exhaustive") for k in problem.allowed_sizes), key=lambda s: s.objective)
    selection = certify(problem, best)
    assert selection.upper_bound >= best.objective
    assert selection.gap == pytest.approx((selection.upper_bound - best.objective) / abs(best.objective))
    hurried = certify(problem, best, max_seconds=0.0)
    assert hurried.upper_bound >= selection.upper_bound


def test_ctrl_c_ends_the_bounds_of_all_sizes(monkeypatch) -> None:
    """Where one size has no bound, there is none for all of them."""
    problem = SubsetProblem.from_matrix(redundancy_like(6, 3, 1), None, costs=np.ones(6), budget=3.0)
    best = select(problem, "forward")
    sizes = []

    def interrupted(problem, **options):
        sizes.append(problem.k)
        if len(sizes) == 2:
            raise KeyboardInterrupt
        return real(problem, **options)

    real = certified.relax
    monkeypatch.setattr(certified, "relax", interrupted)
    stopped = certify(problem, best)
    assert stopped.status == "interrupted"
    assert np.isnan(stopped.upper_bound)
    assert stopped.statement == ""
    assert sizes == [1, 2]
