"""Bounds on any search's answer, through select, selection_path and certify."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from certselect import SubsetProblem, certify, information_terms, select, selection_path, subset_problem
from certselect.search import certified


@pytest.fixture(scope="module")
def terms():
    rng = np.random.default_rng(8)
    y = rng.integers(0, 3, 150)
    X = (rng.integers(0, 4, (150, 12)) + y[:, None] * (rng.random((150, 12)) < 0.4)) % 5
    X[:, 11] = X[:, 3]  # a duplicate
    X[:, 7] = 2  # a constant
    return information_terms(X, y, measure="plugin", correction="none")


def best_value(problem):
    return max(problem.value(subset) for subset in combinations(problem.candidates.tolist(), problem.k))


@pytest.mark.parametrize("criterion", ["jmi", "mrmr", "mifs", "d1", "max_relevance"])
@pytest.mark.parametrize("k", [1, 2, 5, 10, 11])
def test_the_bound_holds_for_every_subset(terms, criterion, k):
    problem = subset_problem(terms, k, criterion, copies="all")
    selection = select(problem, "forward", certify=True)
    best = best_value(problem)
    assert selection.objective <= best + 1e-12 * abs(best)
    assert selection.upper_bound >= best
    assert selection.gap == pytest.approx((selection.upper_bound - selection.objective) / abs(selection.objective))
    assert selection.certificate is not None
    assert {"search", "relaxation", "certificate"} <= set(selection.seconds)


def test_certify_afterwards_is_certify_at_once(terms):
    problem = subset_problem(terms, 4, "mrmr")
    plain = select(problem, "floating")
    assert np.isnan(plain.upper_bound)
    assert plain.certificate is None
    afterwards = certify(problem, plain)
    at_once = select(problem, "floating", certify=True)
    assert afterwards.indices.tolist() == at_once.indices.tolist()
    assert afterwards.upper_bound == pytest.approx(at_once.upper_bound, rel=1e-9)
    again = certify(problem, plain, multipliers=at_once.certificate.multipliers)
    assert again.upper_bound == at_once.upper_bound
    assert "relaxation" not in again.seconds


def test_a_relaxation_cut_short_bounds_all_the_same(terms):
    problem = subset_problem(terms, 4, "jmi")
    hurried = certify(problem, select(problem, "forward"), max_seconds=0.0)
    assert hurried.upper_bound >= best_value(problem)


def test_ctrl_c_keeps_the_bound_so_far(terms, monkeypatch):
    problem = subset_problem(terms, 4, "jmi")
    full = certify(problem, select(problem, "forward"))

    def interrupted(problem, *, callback, **options):
        def stop(iterate):
            callback(iterate)
            if iterate.iteration == 3:
                raise KeyboardInterrupt

        return real(problem, callback=stop, **options)

    real = certified.relax
    monkeypatch.setattr(certified, "relax", interrupted)
    stopped = certify(problem, select(problem, "forward"))
    assert best_value(problem) <= stopped.upper_bound
    assert full.upper_bound < stopped.upper_bound < np.inf


@pytest.mark.parametrize("strategy", ["forward", "floating", "backward"])
def test_a_path_carries_the_bounds_of_single_runs(terms, strategy):
    path = selection_path(terms, range(1, 12), "mrmr", strategy, certify=True, copies="all")
    for selection in path:
        single = select(subset_problem(terms, selection.k, "mrmr", copies="all"), strategy, certify=True)
        assert selection.indices.tolist() == single.indices.tolist()
        assert selection.upper_bound >= selection.objective
        assert selection.upper_bound == pytest.approx(single.upper_bound, rel=1e-4)


def test_exhaustive_search_is_its_own_proof(terms):
    selection = select(subset_problem(terms, 3, criterion="jmi"), "exhaustive")
    assert selection.upper_bound == selection.objective
    assert selection.gap == 0.0


def test_problems_of_your_own():
    rng = np.random.default_rng(2)
    Q = rng.normal(size=(9, 9))
    Q = Q + Q.T
    problem = SubsetProblem.from_matrix(Q, 4, feature_names=list("abcdefghi"))
    assert (problem.matrix == Q).all()
    x = np.zeros(9)
    x[[1, 3, 4, 8]] = 1
    assert problem.value([1, 3, 4, 8]) == pytest.approx(x @ Q @ x)
    best = select(problem, "exhaustive")
    assert set(best.names) <= set("abcdefghi")
    assert certify(problem, select(problem, "forward")).upper_bound >= best.objective


@pytest.mark.parametrize(
    ("Q", "k", "said"),
    [
        (np.ones((2, 3)), 1, "square"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), 1, "NaN"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), 1, "not symmetric"),
        (np.eye(3), 4, "k=4"),
        (np.eye(3), 0, "k=0"),
    ],
)
def test_matrices_that_are_no_problem(Q, k, said):
    with pytest.raises(ValueError, match=said):
        SubsetProblem.from_matrix(Q, k)


def test_names_of_a_matrix_are_counted():
    with pytest.raises(ValueError, match="2 feature names"):
        SubsetProblem.from_matrix(np.eye(3), 1, feature_names=["a", "b"])


def test_a_weaker_bound_does_not_replace_a_proof():
    rng = np.random.default_rng(2)
    A = rng.standard_normal((12, 12))
    problem = SubsetProblem.from_matrix(A + A.T, 5)
    best = select(problem, "exact")
    again = certify(problem, best)
    assert (again.status, again.upper_bound, again.tolerance) == ("proven optimal", best.upper_bound, best.tolerance)
    assert again.certificate is not None
    assert again.certificate.proof is best.certificate.proof
    assert (again.proven_in, again.proven_out) == (best.proven_in, best.proven_out)


def test_nothing_that_was_said_of_another_subset_is_believed():
    rng = np.random.default_rng(24)
    A = rng.normal(size=(20, 20))
    problem = SubsetProblem.from_matrix(A + A.T, 5)
    best = select(problem, "exact", ties=True)
    own = np.array([3, 5, 8, 11, 17])
    for options in ({}, {"tight": True}, {"tight": True, "max_seconds": 1e-9}):
        answer = certify(problem, replace(best, indices=own), **options)
        assert answer.objective == problem.value(own)
        assert answer.names == ("x3", "x5", "x8", "x11", "x17")
        assert (answer.status, answer.ties) == ("complete", ())
        assert np.isnan(answer.tolerance)
        assert set(answer.proven_in) <= set(answer.names)
        assert not set(answer.proven_out) & set(answer.names)
        assert answer.upper_bound >= best.objective
