"""The criteria against their definitions, and the refusals of `subset_problem`."""

from itertools import combinations

import numpy as np
import pytest

import naive
import naive_criteria
from certselect import SubsetProblem, information_terms, subset_problem
from certselect.criteria import CRITERIA, Criterion, find_criterion
from certselect.errors import InvalidInput


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(11)
    y = rng.integers(0, 3, 90)
    X = (rng.integers(0, 3, (90, 6)) + y[:, None] * (rng.random((90, 6)) < 0.5)) % 4
    X[:, 5] = X[:, 0]  # a duplicate
    return X, y


@pytest.mark.parametrize("k", [1, 2, 3, 5, 6])
@pytest.mark.parametrize("name", CRITERIA)
def test_value_is_the_definition_and_the_quadratic_form(table, name, k):
    X, y = table
    columns, target = [column.tolist() for column in X.T], y.tolist()
    problem = subset_problem(information_terms(X, y, measure="plugin", correction="none"), k, name, copies="all")
    for subset in combinations(range(6), k):
        x = np.zeros(6)
        x[list(subset)] = 1
        value = problem.value(subset)
        twin = naive_criteria.quadratic_value(name, [columns[i] for i in subset], target)
        assert value == pytest.approx(twin, rel=1e-12, abs=1e-14)
        assert value == pytest.approx(x @ problem.matrix @ x, rel=1e-12, abs=1e-14)
        assert problem.value(reversed(subset)) == value


def test_beta_weighs_mifs_alone(table):
    terms = information_terms(*table)
    lists = naive.terms([column.tolist() for column in table[0].T], table[1].tolist())
    for beta in (0.0, 0.3, 2.0):
        value = subset_problem(terms, 3, "mifs", beta=beta).value([0, 2, 3])
        assert value == pytest.approx(naive.criterion_value("mifs", [0, 2, 3], *lists, size=3, beta=beta), rel=1e-12)
    with pytest.raises(ValueError, match=r"beta=0\.5 with criterion='mrmr'"):
        subset_problem(terms, 3, "mrmr", beta=0.5)
    for bad in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="beta="):
            subset_problem(terms, 3, "mifs", beta=bad)


def test_other_names_and_own_criteria(table):
    terms = information_terms(*table)
    assert find_criterion("cife") is find_criterion("d1")
    assert find_criterion("d2") is find_criterion("jmi")
    assert subset_problem(terms, 3, "cife").criterion.name == "d1"
    half = Criterion("half", "redundancy", lambda size: 0.5, "sum I(Xi;C) - 1/2 sum I(Xi;Xj)")
    mine = subset_problem(terms, 3, half).value([0, 1, 2])
    assert mine == pytest.approx(subset_problem(terms, 3, "mifs", beta=0.5).value([0, 1, 2]), rel=1e-12)
    with pytest.raises(
        ValueError,
        match=r"one of distinct, jmi, mrmr, mifs, d1, .*max_relevance, .*cife, d2, mim\. Did you mean 'jmi'\?",
    ):
        subset_problem(terms, 3, "jmy")


@pytest.mark.parametrize("k", [0, -1, 7, 100])
def test_sizes_out_of_range(table, k):
    with pytest.raises(ValueError, match=f"Got k={k}; expected 1 to 5.*1 is a copy of another"):
        subset_problem(information_terms(*table), k, criterion="jmi")


@pytest.mark.parametrize("k", [2.0, "3", None, True])
def test_sizes_that_are_no_whole_number(table, k):
    with pytest.raises(ValueError, match="expected a whole number"):
        subset_problem(information_terms(*table), k, criterion="jmi")


def test_constant_features_are_no_candidates():
    X = np.array([[0, 5, 1], [1, 5, 1], [0, 5, 0], [1, 5, 0]])
    terms = information_terms(X, [0, 1, 0, 1], feature_names=["a", "stuck", "b"], measure="plugin", correction="none")
    assert subset_problem(terms, 2, criterion="jmi").candidates.tolist() == [0, 2]
    with pytest.raises(ValueError, match=r"expected 1 to 2, the usable features \(1 is constant: 'stuck'\)"):
        subset_problem(terms, 3, criterion="jmi")
    with pytest.raises(ValueError, match="all constant"):
        subset_problem(
            information_terms(np.ones((4, 2), dtype=int), [0, 1, 0, 1], measure="plugin", correction="none"),
            1,
            criterion="jmi",
        )


def test_indices_are_checked(table):
    problem = subset_problem(information_terms(*table), 2, criterion="jmi")
    with pytest.raises(ValueError, match="feature index 6; expected 0 to 5"):
        problem.value([0, 6])
    with pytest.raises(ValueError, match="no feature twice"):
        problem.value([1, 1])


def test_a_matrix_of_ones_own_wants_different_names():
    with pytest.raises(InvalidInput, match="the name 'a' for more than one feature; expected a different name"):
        SubsetProblem.from_matrix(np.eye(3), 2, feature_names=["a", "b", "a"])
