"""Targets of numbers are cut into bins, and joined with labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_coding as naive
from certselect.coding import code_table
from certselect.errors import InvalidInput
from certselect.table import read_table

quick = settings(max_examples=40, deadline=None)
tied = st.integers(-6, 6).map(lambda i: i / 4)


def coded(y, X=None, task="regression", **options):
    X = np.arange(len(y))[:, None] / 2 if X is None else X
    return code_table(read_table(X, y, task=task), **options)


@quick
@given(st.lists(tied, min_size=2, max_size=40), st.integers(2, 6))
def test_bins_of_equal_counts_are_their_twin(y, bins):
    if len(set(y)) == 1:
        y[0] += 1
    found = coded(y, target_bins=bins)
    edges = naive.quantile(y, bins)
    np.testing.assert_allclose(found.coding.target_edges[0], edges, rtol=1e-12)
    assert found.target.tolist() == naive.levels(naive.codes_of(y, found.coding.target_edges[0]))
    assert found.target.dtype == np.int32
    assert len(found.classes) == len(set(found.target.tolist())) >= 2
    assert found.coding.describe()["target_bins"] == bins


def test_bins_have_readable_names():
    assert coded([0.0, 1, 2, 3, 4, 5], target_bins=3).classes == ("< 1.66667", "1.66667 to 3.33333", ">= 3.33333")
    near = coded([1.0, 1.0, 1 + 1e-12, 1 + 1e-12, 1 + 3e-12, 1 + 3e-12], target_bins=3).classes
    assert len(set(near)) == 3
    assert coded([1, 2], target_bins=2).classes == ("< 1.5", ">= 1.5")


def test_a_number_that_fills_bins_is_a_class_of_its_own():
    y = np.repeat([-3.5, -1.5, 0.0, 0.5, 1.5], [10, 20, 140, 8, 22])
    found = coded(y, target_bins=5)
    assert found.classes == ("< -1.5", "-1.5 to 0", "0", "> 0 to 1.5", ">= 1.5")
    assert found.target.tolist() == np.repeat([0, 1, 2, 3, 4], [10, 20, 140, 8, 22]).tolist()
    assert coded(y, target_bins=3).classes == ("< 0", "0", "> 0")
    assert coded(y + 0.1, target_bins=3).classes == ("< 0.1", "0.1", "> 0.1")
    order = np.random.default_rng(0).permutation(200)
    assert coded(y[order], target_bins=5).classes == found.classes
    assert coded(y[order], target_bins=5).target.tolist() == found.target[order].tolist()


@quick
@given(st.lists(st.tuples(tied, st.integers(0, 9).map(float), st.sampled_from("ab")), min_size=3, max_size=30))
def test_several_columns_are_joined(rows):
    rows = [(0.25, 0.5, "a"), (0.75, 1.5, "b"), *rows]
    first, second, label = zip(*rows, strict=True)
    X = np.zeros((len(rows), 1))
    both = code_table(read_table(X, np.column_stack([first, second])), target_bins=2)
    bins = [
        naive.codes_of(column, edges) for column, edges in zip((first, second), both.coding.target_edges, strict=True)
    ]
    codes, distinct = naive.joint(bins)
    assert both.target.tolist() == codes
    assert len(both.classes) == len(distinct)
    assert all(isinstance(name, tuple) and len(name) == 2 for name in both.classes)
    y = np.empty((len(rows), 2), dtype=object)
    y[:, 0], y[:, 1] = first, label
    mixed = code_table(read_table(X, y), target_bins=2)
    codes, distinct = naive.joint([label, bins[0]])
    assert mixed.target.tolist() == codes
    assert [name[0] for name in mixed.classes] == [name[0] for name in distinct]


def test_a_constant_column_beside_another_changes_nothing():
    y = np.array([0.5, 1.0, 2.5, 3.0])
    found = coded(np.column_stack([y, np.full(4, 7.0)]), target_bins=2)
    assert found.target.tolist() == coded(y, target_bins=2).target.tolist()
    assert found.classes == (("< 1.75", "any number"), (">= 1.75", "any number"))


@quick
@given(st.lists(st.tuples(tied, st.integers(0, 4)), min_size=3, max_size=25))
def test_whole_weights_are_repeated_rows(pairs):
    y = [0.25, 0.5, *(value for value, _ in pairs)]
    weights = [1, 2, *(weight for _, weight in pairs)]
    X = np.zeros((len(y), 1))
    found = code_table(read_table(X, y, sample_weight=weights), target_bins=3)
    again = code_table(read_table(X.repeat(weights, axis=0), naive.repeated(y, weights)), target_bins=3)
    assert found.coding.target_edges[0].tobytes() == again.coding.target_edges[0].tobytes()
    assert found.classes == again.classes
    assert naive.repeated(found.target.tolist(), [w for w in weights if w]) == again.target.tolist()


def test_mdlp_cuts_where_the_targets_bins_change():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    y = np.where(x > 0.3, 5.0, 1.0) + rng.random(300)
    found = coded(y, x[:, None], discretize="mdlp", target_bins=2)
    labels = coded(found.target, x[:, None], "classification", discretize="mdlp")
    assert len(found.coding.edges(0)) >= 1
    assert found.coding.edges(0).tolist() == labels.coding.edges(0).tolist()


def test_rows_in_another_order_have_the_same_classes():
    rng = np.random.default_rng(1)
    y, order = rng.normal(size=50), rng.permutation(50)
    one, other = coded(y), coded(y[order])
    assert one.target[order].tolist() == other.target.tolist()
    assert one.classes == other.classes


@pytest.mark.parametrize("bins", [1, 2.0, True, "sturges", None])
def test_what_is_no_number_of_bins_is_refused(bins):
    with pytest.raises(InvalidInput, match="target_bins="):
        coded([0.5, 1.5], target_bins=bins)
