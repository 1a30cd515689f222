"""Columns that say the same, against a plain comparison of how they divide the rows."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from certselect import SubsetSelector, choose_subset, information_terms, subset_problem
from certselect.coding import code_table, copies
from certselect.coding.copies import copies_by_rank, copies_of
from certselect.errors import FewerFeaturesWarning
from certselect.table import read_table


def naive_families(columns):
    """Columns that have equal cells in the same pairs of rows, cell by cell."""
    alike = [tuple(a == b for a in column for b in column) for column in columns]
    families = {}
    for i, column in enumerate(columns):
        if len(set(column)) > 1:
            families.setdefault(alike[i], []).append(i)
    return tuple(sorted(tuple(family) for family in families.values() if len(family) > 1))


def families(X, y, missing="error"):
    coded = code_table(read_table(X, y, missing=missing), integers="levels")
    return copies_of(coded, np.zeros((len(coded.levels), 1)), coded.constant)


columns = st.lists(st.lists(st.integers(-2, 2), min_size=6, max_size=6), min_size=1, max_size=12)


@given(columns)
def test_coded_copies_are_their_twin(listed):
    X, y = np.array(listed).T, np.arange(6) % 2
    expected = naive_families(listed)
    assert families(X, y) == expected
    assert families(sparse.csr_array(X), y) == expected
    assert information_terms(X, y, measure="plugin", correction="none").copies == expected
    assert information_terms(sparse.csc_array(X), y, measure="plugin", correction="none").copies == expected


@given(columns, st.permutations(range(6)))
def test_order_of_rows_and_names_of_levels_make_no_difference(listed, order):
    X, y = np.array(listed).T, np.arange(6) % 2
    assert families(X[order], y[list(order)]) == families(X, y)
    assert families(7 - 3 * X, y) == families(X, y)


def test_gaps_are_part_of_a_column():
    X = np.array([[1.0, 5.0, 1.0], [2.0, 6.0, 2.0], [np.nan, np.nan, 3.0], [1.0, 5.0, 1.0]])
    y = [0, 1, 1, 0]
    for missing in ("level", "pairwise"):
        coded = code_table(read_table(X, y, missing=missing), bins=3)
        assert copies_of(coded, np.zeros((3, 1)), np.zeros(3, dtype=bool))[0][:2] == (0, 1)
    without = code_table(read_table(X, y, missing="pairwise"), bins=3)
    assert copies_of(without, np.zeros((3, 1)), np.zeros(3, dtype=bool)) == ((0, 1),)


@given(st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=1, max_size=10))
def test_ranked_copies_are_in_the_same_or_the_opposite_order(listed):
    values = np.array(listed, dtype=float)
    constant = (values == values[:, :1]).all(axis=1)
    signs = np.sign(values[:, :, None] - values[:, None, :])
    expected = {}
    for i in np.flatnonzero(~constant):
        for key in (signs[i].tobytes(), (-signs[i] + 0.0).tobytes()):
            expected.setdefault(key, set()).add(int(i))
    found = copies_by_rank(values, constant)
    assert {frozenset(family) for family in found} == {frozenset(f) for f in expected.values() if len(f) > 1}


def measured(rng):
    kg = rng.normal(70, 10, 200)
    X = np.column_stack([rng.normal(size=200), kg, kg * 2.2046226, rng.normal(size=200), np.exp(kg / 30)])
    return X, (kg + rng.normal(0, 5, 200) > 70).astype(int)


@pytest.mark.parametrize("measure", ["plugin", "gaussian_copula", "neighbors"])
def test_rescaled_column_is_chosen_once(measure):
    X, y = measured(np.random.default_rng(3))
    assert information_terms(X, y, measure=measure).copies == ((1, 2, 4),)
    result = choose_subset(X, y, 3, measure=measure, criterion="max_relevance", strategy="exhaustive")
    assert sorted(result.indices) == [0, 1, 3]
    assert result.selection.statement == (
        "The only possible choice: all 3 columns considered (2 left out: 'x2' and 'x4' as duplicates)."
    )
    assert [(one.kind, one.columns) for one in result.provenance.decisions] == [("copy", (2, 4))]
    everything = choose_subset(X, y, 3, measure=measure, criterion="max_relevance", copies="all")
    assert sorted(everything.indices) == [1, 2, 4]
    assert everything.provenance.decisions == ()


def problem_of(**constraints):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 5))
    X[:, 3] = X[:, 1]
    X[:, 4] = 1 - X[:, 1]
    return subset_problem(
        information_terms(X, rng.integers(0, 2, 40), measure="plugin", correction="none"), 2, **constraints
    )


def many_columns(n=400, m=500):
    """Many columns that resemble each other, of few and of many levels, and copies of some with other names."""
    rng = np.random.default_rng(0)
    X = np.array([rng.permutation(m) % (2 if i % 2 else 50) for i in range(n)]).T
    X[:, 7], X[:, n - 1], X[:, 10] = 1 - X[:, 3], X[:, 3] + 5, 49 - X[:, 4]
    return X, np.arange(m) % 2, ((3, 7, n - 1), (4, 10))


@pytest.mark.parametrize("told_apart", [True, False])
def test_marks_save_comparisons_and_decide_nothing(told_apart, monkeypatch):
    X, y, expected = many_columns()
    if not told_apart:
        monkeypatch.setattr(copies, "_mark", lambda *_: 0)
    assert families(X, y) == expected


def test_no_second_table_is_made():
    X, y, expected = many_columns()
    coded = code_table(read_table(X, y), integers="levels")
    values = np.ascontiguousarray(X.T, dtype=np.float64)
    constant = np.zeros(len(values), dtype=bool)
    found, most = [], []
    for look in (
        lambda: copies_of(coded, np.zeros((len(values), 1)), constant),
        lambda: copies_by_rank(values, constant),
    ):
        tracemalloc.start()
        found.append(look())
        most.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert found == [expected, expected]
    assert most[0] < 0.5 * coded.codes.nbytes
    assert most[1] < 0.1 * values.nbytes


def test_which_of_several_copies_can_be_chosen():
    assert problem_of().copies == {3: 1, 4: 1}
    assert problem_of().candidates.tolist() == [0, 1, 2]
    assert problem_of(copies="all").candidates.tolist() == [0, 1, 2, 3, 4]
    assert problem_of(exclude=[1]).copies == {4: 3}
    assert problem_of(include=[4]).copies == {1: 4, 3: 4}
    assert problem_of(include=[3, 4]).copies == {1: 3}
    assert problem_of(costs={1: 5, 3: 4, 4: 4}, budget=9).copies == {1: 3, 4: 3}
    assert problem_of(feature_groups=[[0, 3]]).copies == {}
    assert problem_of(feature_groups=[[0, 3]], include=[1]).copies == {4: 1}
    assert problem_of(feature_groups={"at_most_one": [[1, 3]]}).copies == {}


def test_asked_for_more_than_there_are_without_copies():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.integers(0, 3, (50, 3)), 2, axis=1)
    with pytest.warns(FewerFeaturesWarning, match="3 are copies of others"):
        kept = (
            SubsetSelector(5, criterion="jmi", measure="plugin", correction="none")
            .fit(X, rng.integers(0, 2, 50))
            .get_support(indices=True)
        )
    assert kept.tolist() == [0, 2, 4]


def test_pickled_selector_still_knows_its_copies():
    import pickle

    rng = np.random.default_rng(0)
    X = np.repeat(rng.integers(0, 3, (50, 3)), 2, axis=1)
    fitted = SubsetSelector(2, criterion="jmi", measure="plugin", correction="none").fit(X, rng.integers(0, 2, 50))
    again = pickle.loads(pickle.dumps(fitted))
    assert again.result_.problem.copies == {1: 0, 3: 2, 5: 4}
    assert again.terms_.copies == ((0, 1), (2, 3), (4, 5))
    assert again.report_frame().equals(fitted.report_frame())
