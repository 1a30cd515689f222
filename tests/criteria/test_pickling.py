"""Problems can be sent to other processes: what comes out of a pickle gives the same selection."""

import pickle

import numpy as np
import pytest

from as_before import counted
from certselect import Criterion, SubsetProblem, information_terms, select, subset_problem
from certselect.criteria import CRITERIA, SameWeight, find_criterion, known, register_criterion

SETTINGS = [
    {},
    {"correction": "miller_madow"},
    {"measure": "gaussian_copula"},
    {"measure": "neighbors"},
    {"measure": "auto"},
]
# Criteria that need levels, and one of them counts without a correction.
COUNTED = ("disr", "jim", "nmrmr")
CONSTRAINTS = {
    "include": [1],
    "exclude": [7],
    "feature_groups": {"all_or_none": [[0, 2]], "at_most_one": [[3, 4]]},
    "costs": [1.0, 2.0, 1.0, 0.5, 0.5, 1.0, 3.0, 1.0],
    "budget": 6.0,
}


def numbers(seed=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 120)
    X = rng.normal(size=(120, 8)) + y[:, None] * rng.random(8)
    X[:, 5] += X[:, 6]
    return X, y


def pickled(problem):
    return pickle.loads(pickle.dumps(problem))


def assert_same_problem(problem, again):
    assert again is not problem
    assert (again.criterion, again.k, again.any_size) == (problem.criterion, problem.k, problem.any_size)
    assert again.feature_names == problem.feature_names
    assert np.array_equal(again.candidates, problem.candidates)
    assert np.array_equal(again.constant, problem.constant)
    assert again.allowed_sizes == problem.allowed_sizes
    for strategy in ("forward", "backward", "exhaustive"):
        one, other = select(problem, strategy), select(again, strategy)
        assert one.indices.tolist() == other.indices.tolist()
        assert (one.objective, one.scores, one.names) == (other.objective, other.scores, other.names)


@pytest.mark.parametrize("asked_before", [False, True])
@pytest.mark.parametrize("constraints", [{}, CONSTRAINTS], ids=["plain", "constrained"])
@pytest.mark.parametrize(
    ("settings", "criterion"),
    [(settings, name) for settings in SETTINGS for name in CRITERIA if not settings or name not in COUNTED],
    ids=str,
)
def test_problems_of_every_criterion_and_measure(settings, criterion, constraints, asked_before):
    problem = subset_problem(information_terms(*numbers(), **counted(settings)), 4, criterion, **constraints)
    if asked_before:  # rows, the matrix, units and rules are there already, and need not travel
        select(problem, "backward")
    assert_same_problem(problem, pickled(problem))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_problems_of_a_given_matrix(dtype):
    rng = np.random.default_rng(0)
    Q = rng.normal(size=(8, 8))
    Q = (Q + Q.T).astype(dtype)
    for stated in ({}, CONSTRAINTS):
        for k in (4, None) if stated else (4,):
            problem = SubsetProblem.from_matrix(Q, k, **stated)
            assert_same_problem(problem, pickled(problem))


def test_what_was_derived_does_not_travel():
    rng = np.random.default_rng(0)
    Q = rng.normal(size=(60, 60))
    problem = SubsetProblem.from_matrix(Q + Q.T, 4)
    before = len(pickle.dumps(problem))
    select(problem, "backward")
    assert problem.matrix.shape == (60, 60)
    assert len(pickle.dumps(problem)) == before
    assert len(pickle.dumps(problem.units)) < 2 * before


def test_the_unit_form_travels_too():
    problem = subset_problem(
        information_terms(*numbers(), measure="plugin", correction="none"), 4, "mrmr", **CONSTRAINTS
    )
    units = pickled(problem.units)
    assert units.rules.candidates.tolist() == problem.units.rules.candidates.tolist()
    for chosen in ([0, 1], [1, 3, 4]):
        assert units.value(chosen) == problem.units.value(chosen)
        assert units.columns(chosen) == problem.units.columns(chosen)


def test_a_registered_criterion_travels(monkeypatch):
    monkeypatch.setattr(known._registry, "_registered", {})
    register_criterion(Criterion("half_mifs", "redundancy", SameWeight(0.5), "sum I(Xi;C) - 1/2 sum I(Xi;Xj)"))
    terms = information_terms(*numbers(), measure="plugin", correction="none")
    problem = subset_problem(terms, 4, "half_mifs")
    again = pickled(problem)
    assert_same_problem(problem, again)
    assert again.criterion == find_criterion("half_mifs")
    # The name need not be known where the problem arrives.
    monkeypatch.setattr(known._registry, "_registered", {})
    assert pickled(problem).weight(3) == 0.5
    mifs = select(subset_problem(terms, 4, "mifs", beta=0.5), "exhaustive")
    assert select(pickled(problem), "exhaustive").indices.tolist() == mifs.indices.tolist()


def test_a_weight_that_does_not_pickle_says_so():
    problem = subset_problem(
        information_terms(*numbers(), measure="plugin", correction="none"),
        4,
        Criterion("mine", "redundancy", lambda size: 0.5, ""),
    )
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(problem)
