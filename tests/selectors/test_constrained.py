"""The selector under constraints: named as the data frame names its columns, and kept."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import naive_constraints
from certselect import SubsetSelector, information_terms, subset_problem
from certselect.errors import FewerFeaturesWarning

NAMES = ["age", "height", "city=Rome", "city=Oslo", "blood", "x-ray", "scan", "ward"]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(12)
    y = rng.integers(0, 2, 200)
    X = rng.integers(0, 3, (200, 8)) + y[:, None] * (rng.random((200, 8)) < 0.4)
    X[:, 7] = 1  # a constant
    return pd.DataFrame(X, columns=NAMES), y


# As a user states them, and in indices with all costs for the slow twin.
CASES = {
    "include and exclude": (
        {"include": ["blood"], "exclude": ["age", "ward"]},
        {"include": [4], "exclude": [0]},
    ),
    "one-hot columns": (
        {"feature_groups": [["city=Rome", "city=Oslo"]], "include": ["city=Oslo"]},
        {"together": [[2, 3]], "include": [3]},
    ),
    "rivals": (
        {"feature_groups": {"at_most_one": [["x-ray", "scan", "ward"], ["age", "height"]]}},
        {"rivals": [[5, 6], [0, 1]]},
    ),
    "budget": (
        {"costs": {"x-ray": 2, "scan": 5, "blood": 1, "age": 1}, "budget": 3},
        {"costs": [1, 0, 0, 0, 1, 2, 5, 0], "budget": 3},
    ),
}


def twin(stated):
    free = {"n": 8, "include": [], "exclude": [], "together": [], "rivals": [], "costs": [0] * 8, "budget": 10**9}
    return free | stated


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("strategy", ["auto", "forward", "exhaustive"])
def test_the_kept_features_obey(frame, case, strategy):
    X, y = frame
    constraints, stated = CASES[case]
    selector = SubsetSelector(4, strategy=strategy, random_state=0, **constraints).fit(X, y)
    kept = np.flatnonzero(selector.support_).tolist()
    assert naive_constraints.obeys(kept, twin(stated))
    assert (len(kept), 7 in kept) == (4, False)
    plain = subset_problem(information_terms(X, y, measure="plugin", correction="none"), 4, criterion="jmi")
    assert selector.objective_ == plain.value(kept)
    allowed = [s for s in combinations(range(7), 4) if naive_constraints.obeys(s, twin(stated))]
    best = max(plain.value(subset) for subset in allowed)
    if strategy == "exhaustive":
        assert selector.objective_ == pytest.approx(best, rel=1e-12)
    if strategy == "auto":
        assert selector.upper_bound_ >= best - 1e-12


def test_any_number_a_budget_pays_for(frame):
    X, y = frame
    costs = [1, 1, 2, 2, 3, 4, 5, 0]
    selector = SubsetSelector(
        None, strategy="exhaustive", criterion="mrmr", costs=costs, budget=4, measure="plugin", correction="none"
    ).fit(X, y)
    kept = np.flatnonzero(selector.support_).tolist()
    stated = twin({"costs": costs, "budget": 4})
    every = [s for size in range(1, 8) for s in combinations(range(7), size) if naive_constraints.obeys(s, stated)]
    terms = information_terms(X, y, measure="plugin", correction="none")
    best = max(subset_problem(terms, len(subset), "mrmr").value(subset) for subset in every)
    assert naive_constraints.obeys(kept, stated)
    assert selector.objective_ == pytest.approx(best, rel=1e-12)


def test_arrays_take_indices_and_numbered_names(frame):
    X, y = frame
    by_name = SubsetSelector(
        3, strategy="forward", include=["blood"], exclude=["age"], criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y)
    for include, exclude in (([4], [0]), (["x4"], np.array([0]))):
        by_index = SubsetSelector(
            3,
            strategy="forward",
            include=include,
            exclude=exclude,
            criterion="jmi",
            measure="plugin",
            correction="none",
        ).fit(X.to_numpy(), y)
        assert by_index.indices_.tolist() == by_name.indices_.tolist()


def test_constraints_are_parameters_like_others():
    constraints = {
        "include": ["a"],
        "exclude": [3],
        "feature_groups": {"at_most_one": [["b", "c"]]},
        "costs": {"a": 1.0},
        "budget": 2.0,
    }
    selector = SubsetSelector(None, certify="tight", **constraints)
    assert clone(selector).get_params() == selector.get_params()
    assert constraints.items() <= selector.get_params().items()


def test_fewer_usable_features_count_the_excluded_ones(frame):
    X, y = frame
    said = r"Asked for 7 features, but the table has 5 that can be chosen \(3 are excluded\)"
    with pytest.warns(FewerFeaturesWarning, match=said):
        selector = SubsetSelector(
            7,
            strategy="forward",
            exclude=["age", "blood", "ward"],
            criterion="jmi",
            measure="plugin",
            correction="none",
        ).fit(X, y)
    assert selector.support_.tolist() == [False, True, True, True, False, True, True, False]


@pytest.mark.parametrize(
    ("constraints", "said"),
    [
        ({"include": ["agee"]}, "'agee' in include; expected the name of a feature, 'age' perhaps"),
        ({"include": "age"}, "Pass include="),
        ({"include": ["ward"]}, "'ward' in include, which is constant"),
        ({"n_features_to_select": None}, "n_features_to_select=None .* or a budget"),
        ({"costs": {"age": 1}}, "costs without a budget"),
        ({"exclude": NAMES}, "at least one feature left to choose"),
        ({"n_features_to_select": 2, "include": NAMES[:3]}, "k=2 with 3 features to include"),
    ],
)
def test_what_cannot_be_is_refused(frame, constraints, said):
    with pytest.raises(ValueError, match=said):
        SubsetSelector(**({"n_features_to_select": 4} | constraints)).fit(*frame)
