"""Weights: whole ones are repeated rows, to the bit; others follow their slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_coding as naive
from certselect.coding import code_table
from certselect.settings.measuring import BIN_RULES, METHODS
from certselect.table import read_table

quick = settings(max_examples=40, deadline=None)
number = st.one_of(st.integers(-3, 3).map(float), st.floats(allow_nan=False, allow_infinity=False))
rows = st.lists(st.tuples(number, st.integers(0, 5), st.integers(0, 2)), min_size=4, max_size=30)


def coded(column, labels, weights=None, **options):
    return code_table(read_table(np.array(column)[:, None], labels, sample_weight=weights), **options)


@pytest.mark.parametrize(
    "options",
    [{"discretize": method} for method in METHODS]
    + [{"discretize": method, "bins": bins} for method in ("uniform", "quantile") for bins in (4, *BIN_RULES)],
    ids=str,
)
@quick
@given(rows)
def test_whole_weights_are_repeated_rows(options, table):
    column, weights, labels = (list(part) for part in zip(*table, strict=True))
    weights[:2], labels[:2] = [1 + weights[0], 1 + weights[1]], [0, 1]
    found = coded(column, labels, weights, **options)
    again = coded(naive.repeated(column, weights), naive.repeated(labels, weights), **options)
    assert found.coding.edges(0).tobytes() == again.coding.edges(0).tobytes()
    kept = [weight for weight in weights if weight]
    assert naive.repeated(found.codes[0].tolist(), kept) == again.codes[0].tolist()
    assert found.levels.tolist() == again.levels.tolist()
    assert found.constant.tolist() == again.constant.tolist()
    assert found.weights is None or found.weights.tolist() == kept


@pytest.mark.parametrize("method", METHODS)
def test_whole_weights_are_repeated_rows_in_a_larger_table(method):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300), rng.integers(0, 9, 300) / 8, rng.normal(size=300).round(1)])
    X[:, 0][rng.random(300) < 0.2] = np.nan
    y, weights = (X[:, 2] > 0.3) ^ (rng.random(300) < 0.1), rng.integers(0, 8, 300)
    found = code_table(read_table(X, y, sample_weight=weights, missing="level"), discretize=method)
    again = code_table(read_table(X.repeat(weights, axis=0), y.repeat(weights), missing="level"), discretize=method)
    assert all(found.coding.edges(j).tobytes() == again.coding.edges(j).tobytes() for j in range(3))
    assert np.array_equal(found.codes.repeat(weights[weights > 0], axis=1), again.codes)


def test_weights_too_large_to_be_repeated_are_counted():
    rng = np.random.default_rng(1)
    column, labels = rng.normal(size=40), np.arange(40) % 2
    weights = rng.integers(1, 9, 40)
    for method in METHODS:
        how = {"discretize": method} | ({"bins": 5} if method in ("uniform", "quantile") else {})
        few = coded(column, labels, weights, **how)
        many = coded(column, labels, weights * 10_000_000, **how)
        if method == "mdlp":  # more rows pay for more cuts
            assert set(few.coding.edges(0)) <= set(many.coding.edges(0))
        elif method == "quantile":  # nearly all places lie at a row, not between two
            assert set(many.coding.edges(0)) <= set(column)
        else:
            np.testing.assert_allclose(many.coding.edges(0), few.coding.edges(0), rtol=1e-12)


@quick
@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 16)), min_size=3, max_size=25), st.integers(2, 6))
def test_weights_that_are_not_whole_follow_their_twin(pairs, bins):
    column = [x / 4 for x, _ in pairs]
    weights = np.array([w for _, w in pairs]) / 7
    table = read_table(np.array(column)[:, None], np.arange(len(column)) % 2, sample_weight=weights)
    if table.weights is None or min(column) == max(column):
        return
    kept = table.weights.tolist()
    found = code_table(table, discretize="quantile", bins=bins)
    edges = found.coding.edges(0).tolist()
    # At a whole place, or where a whole weight ends, the last bit of a sum decides between two rows.
    places = [t / bins * (sum(kept) - 1) for t in range(1, bins)]
    cumulated = np.cumsum(np.array(kept)[np.argsort(column, kind="stable")])
    if all(abs(p - round(p)) > 1e-9 for p in places) and np.abs(cumulated - cumulated.round()).min() > 1e-9:
        twin = [naive.weighted_quantile_of(column, kept, t / bins) for t in range(1, bins)]
        if len(set(twin)) == len(twin):  # else the places among the rest must not be whole either
            np.testing.assert_allclose(edges, naive.quantile(column, bins, kept), rtol=1e-9, atol=1e-12)
    low, high = naive.weighted_mean_std(column, kept)
    expected = [low, high]
    if min(column) > low - 1e-9 and max(column) < high + 1e-9:  # two numbers of equal weight
        expected = [(low + high) / 2]
    np.testing.assert_allclose(
        code_table(table, discretize="mean_std").coding.edges(0), expected, rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_weighted_rows_changes_nothing(method):
    rng = np.random.default_rng(2)
    X, y, weights = rng.normal(size=(200, 5)).round(1), rng.integers(0, 3, 200), rng.random(200)
    order = rng.permutation(200)
    rules = [{}, {"bins": "freedman_diaconis"}] if method in ("uniform", "quantile") else [{}]
    for rule in rules:
        one = code_table(read_table(X, y, sample_weight=weights), discretize=method, **rule)
        other = code_table(read_table(X[order], y[order], sample_weight=weights[order]), discretize=method, **rule)
        assert all(one.coding.edges(j).tobytes() == other.coding.edges(j).tobytes() for j in range(5))
        assert np.array_equal(one.codes[:, order], other.codes)
        assert np.array_equal(one.weights[order], other.weights)


def test_mdlp_follows_weights_that_are_not_whole():
    rng = np.random.default_rng(3)
    column = rng.normal(size=120)
    labels = (column > 0.4) ^ (rng.random(120) < 0.05)
    whole = rng.integers(1, 5, 120)
    repeats = coded(column, labels, whole, discretize="mdlp").coding.edges(0)
    # The same shares of the weight, but 120 rows together instead of about 300: the strongest cut stays.
    shares = coded(column, labels, whole / 4.0, discretize="mdlp").coding.edges(0)
    assert len(shares) >= 1
    assert set(shares) <= set(repeats)


def test_a_vanishing_weight_is_still_a_row():
    column, labels = np.arange(8.0), np.arange(8) > 3
    weights = np.array([1e-300, 1, 1, 1, 1, 1, 1, 1.5])
    for method in METHODS:
        found = coded(column, labels, weights, discretize=method)
        assert (found.weights > 0).all()
        assert found.codes.shape == (1, 8)
        assert not np.isnan(found.coding.edges(0)).any()
