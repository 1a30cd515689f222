"""Constraints as users state them: names, indices, groups, costs, and what is refused with which words."""

import json

import numpy as np
import pandas as pd
import pytest

from certselect import SubsetProblem, information_terms, subset_problem
from certselect.errors import InvalidInput

NAMES = ["age", "height", "length", "city=Rome", "city=Oslo", "blood", "weight"]
COSTS = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]


def stated(k=3, **constraints):
    return SubsetProblem.from_matrix(np.eye(7), k, feature_names=NAMES, **constraints)


@pytest.fixture(scope="module")
def terms():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 6))
    X[:, 4] = 1
    return information_terms(
        X, rng.integers(0, 2, 40), feature_names=["a", "b", "c", "d", "stuck", "e"], measure="plugin", correction="none"
    )


def test_names_and_indices_say_the_same():
    by_name = stated(
        include=["age"],
        exclude=["weight"],
        feature_groups={"all_or_none": [["city=Oslo", "city=Rome"]], "at_most_one": [["age", "blood"]]},
        costs={"age": 1, "city=Oslo": 2.5},
        budget=4,
    )
    by_index = stated(
        include=np.array([0]),
        exclude=(6,),
        feature_groups={"all_or_none": [[4, 3]], "at_most_one": [(5, "age")]},
        costs=[1, 0, 0, 0, 2.5, 0, 0],
        budget=np.float32(4),
    )
    said = by_name.constraints.describe()
    assert said == by_index.constraints.describe()
    assert said == json.loads(json.dumps(said))
    assert said == {
        "include": [0],
        "exclude": [6],
        "all_or_none": [[3, 4]],
        "at_most_one": [[0, 5]],
        "costs": [1.0, 0.0, 0.0, 0.0, 2.5, 0.0, 0.0],
        "budget": 4.0,
    }
    assert by_name.candidates.tolist() == [0, 1, 2, 3, 4, 5]


def test_a_list_of_groups_is_all_or_none_and_nothing_stated_is_no_constraint():
    assert stated(feature_groups=[["city=Rome", "city=Oslo"]]).constraints.together == ((3, 4),)
    assert stated(feature_groups=[["age"], []]).constraints is None
    assert stated(include=None, exclude=[], feature_groups={}).constraints is None
    described = stated(exclude=["age", 0]).constraints.describe()
    assert (described["exclude"], described["costs"], described["budget"]) == ([0], None, None)


def test_a_series_of_costs_is_read_by_its_labels():
    table = pd.Series({"weight": 2.0, "age": 1.0})
    assert stated(costs=table, budget=3).constraints.costs.tolist() == [1, 0, 0, 0, 0, 0, 2]


@pytest.mark.parametrize(
    ("constraints", "said"),
    [
        ({"include": "age"}, r"include='age'; expected a list\. Pass include=\[\.\.\.\]"),
        ({"exclude": 3}, r"exclude=3; expected a list"),
        ({"include": ["agee"]}, "'agee' in include; expected the name of a feature, 'age' perhaps"),
        ({"exclude": [7]}, "index 7 in exclude; expected 0 to 6"),
        ({"exclude": [-1]}, "index -1 in exclude"),
        ({"exclude": [True]}, "True in exclude; expected the name or the index"),
        ({"exclude": [1.0]}, r"1\.0 in exclude"),
        ({"include": [0, 1], "exclude": ["age"]}, "'age' in include and in exclude"),
        ({"exclude": [0, 1, 2, 3, 4]}, r"k=3; expected 1 to 2, the usable features \(5 are excluded\)"),
        ({"exclude": range(7)}, "7 of 7 features in exclude .* expected at least one feature left"),
        ({"feature_groups": "age"}, "feature_groups='age'; expected a list"),
        ({"feature_groups": ["age", "blood"]}, "a group of feature_groups='age'; expected a list"),
        (
            {"feature_groups": {"at_least_one": [[0, 1]]}},
            "the key 'at_least_one'; expected the keys all_or_none, at_most_one",
        ),
        ({"feature_groups": [[0, 1], [1, 2]]}, "'height' in 2 all_or_none groups"),
        ({"feature_groups": {"at_most_one": [[0, 1], [5, 0]]}}, "'age' in 2 at_most_one groups"),
        (
            {"feature_groups": {"all_or_none": [[3, 4]], "at_most_one": [[0, 3], [5, 4]]}},
            "'city=Rome' in 2 at_most_one groups, itself or with its all-or-none group",
        ),
        ({"costs": COSTS}, "costs without a budget"),
        ({"budget": 3}, "budget=3 without costs"),
        ({"costs": [1, 2], "budget": 3}, r"costs of shape \(2,\); expected 7 numbers"),
        ({"costs": "cheap", "budget": 3}, "costs='cheap'"),
        ({"costs": {"age": "free"}, "budget": 3}, "the cost 'free' of 'age'; expected a finite number"),
        ({"costs": {"age": -1}, "budget": 3}, "the cost -1 of 'age'"),
        ({"costs": {"age": float("nan")}, "budget": 3}, "the cost nan of 'age'"),
        ({"costs": {"age": 1, 0: 2}, "budget": 3}, "2 costs for 'age'"),
        ({"costs": {"agee": 1}, "budget": 3}, "'agee' in costs"),
        ({"costs": COSTS, "budget": -1}, "budget=-1"),
        ({"costs": COSTS, "budget": float("inf")}, "budget=inf; expected a finite number"),
        ({"costs": COSTS, "budget": "ten"}, "budget='ten'"),
        ({"costs": COSTS, "budget": True}, "budget=True"),
    ],
)
def test_unclear_statements_are_refused(constraints, said):
    with pytest.raises(InvalidInput, match=said):
        stated(**constraints)


@pytest.mark.parametrize(
    ("k", "constraints", "said"),
    [
        (2, {"include": [0, 1, 5]}, "k=2 with 3 features to include: 'age', 'height', 'blood'; expected k=3 or more"),
        (
            2,
            {"include": [0, 3], "feature_groups": [[3, 4]]},
            "k=2 with 3 features to include: 'age', 'city=Rome', 'city=Oslo'",
        ),
        (
            3,
            {"include": [3], "exclude": [4], "feature_groups": [[3, 4]]},
            "'city=Oslo' in exclude, and in an all-or-none group",
        ),
        (
            3,
            {"include": [0, 5], "feature_groups": {"at_most_one": [[0, 5, 6]]}},
            "'age', 'blood' to include.*one of them at most",
        ),
        (
            3,
            {"include": [3], "feature_groups": {"all_or_none": [[3, 4]], "at_most_one": [[3, 4]]}},
            "'city=Rome', 'city=Oslo' to",
        ),
        (3, {"include": [5, 6], "costs": COSTS, "budget": 9}, "budget=9 with features to include that cost 13"),
        (
            4,
            {"feature_groups": [[0, 1, 2], [3, 4, 5]], "exclude": [6]},
            "k=4, which the groups cannot add up to.*3 and 6 are",
        ),
        (
            6,
            {"feature_groups": {"at_most_one": [[0, 1, 2]]}},
            "cannot add up to; expected a size that they can: 5 is the nearest",
        ),
        (
            3,
            {"costs": COSTS, "budget": 5.5},
            r"budget=5\.5 for k=3; expected at least 6, .* Raise the budget, or lower k to 2\.",
        ),
        (1, {"costs": COSTS, "budget": 0}, "budget=0 for k=1; expected at least 1"),
        (None, {"costs": COSTS, "budget": 0}, "budget=0; expected at least 1, what the cheapest subset"),
        (None, {"costs": COSTS, "budget": 9, "exclude": range(7)}, "no feature can be chosen"),
        (None, {"include": [0]}, "k=None .*; expected a whole number.*or a budget"),
        (
            1,
            {
                "exclude": [0, 5, 6],
                "feature_groups": {"all_or_none": [[1, 2], [3, 4]], "at_most_one": [[1, 2], [3, 4]]},
            },
            "none",
        ),
    ],
)
def test_contradictions_are_refused_with_the_reason(k, constraints, said):
    with pytest.raises(InvalidInput, match=said):
        stated(k, **constraints)


def test_constant_features_leave_groups_and_cannot_be_included(terms):
    problem = subset_problem(
        terms,
        2,
        feature_groups={"all_or_none": [["a", "stuck"], ["b", "stuck", "c"]], "at_most_one": [["stuck", "d"]]},
        criterion="jmi",
    )
    assert (problem.constraints.together, problem.constraints.rivals) == (((1, 2),), ())
    assert problem.units.candidates.tolist() == [0, 1, 2, 4]  # of a, b + c, d, stuck, e
    with pytest.raises(InvalidInput, match="'stuck' in include, which is constant in this table"):
        subset_problem(terms, 2, include=["stuck"], criterion="jmi")
    with pytest.raises(
        InvalidInput, match=r"expected 1 to 4, the usable features \(1 is excluded; 1 is constant: 'stuck'\)"
    ):
        subset_problem(terms, 5, exclude=["a"], criterion="jmi")
    assert subset_problem(terms, 4, exclude=["a", "stuck"], criterion="jmi").candidates.tolist() == [1, 2, 3, 5]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("criterion", ["jmi", "mrmr", "d1", "max_relevance"])
def test_units_of_a_table_are_worth_what_their_columns_are(terms, criterion, dtype):
    again = information_terms(*_table(), dtype=dtype)
    for k in (2, 3, 4):
        problem = subset_problem(again, k, criterion, feature_groups=[[0, 3], [1, 5]], include=[2] if k == 3 else ())
        form, reduced = problem.units, problem.reduced
        for positions in ([0], [0, 1] if k > 2 else [1]):
            x = np.zeros(len(reduced.units))
            x[positions] = 1
            units = reduced.unit_indices(positions)
            value = problem.value(form.columns(units))
            assert form.value(units) == pytest.approx(value, rel=1e-12, abs=1e-14)
            assert reduced.constant + x @ reduced.matrix @ x == pytest.approx(value, rel=1e-6, abs=1e-7)


def _table():
    rng = np.random.default_rng(7)
    return rng.integers(0, 3, (60, 6)), rng.integers(0, 2, 60)


def test_any_size_is_the_largest_the_budget_admits():
    problem = stated(None, costs=COSTS, budget=10, feature_groups=[[0, 1]])
    assert (problem.any_size, problem.k) == (True, 4)
    assert problem.allowed_sizes == [1, 2, 3, 4]
    one = problem.of_size(1)
    assert (one.any_size, one.k, one.constraints) == (False, 1, problem.constraints)
    assert one.units.candidates.tolist() == [1, 2, 3, 4, 5]  # not age + height
    with pytest.raises(InvalidInput, match="budget=10 for k=5"):
        problem.of_size(5)
