"""Rows that stand in a table several times are one row to neighbours, unless they are equal by themselves."""

import numpy as np
import pytest

from certselect import information_terms
from certselect.information.numeric import numeric_columns
from certselect.information.repeated_rows import merge_repeated_rows
from certselect.table import read_table


def merged(X, y, **reading):
    table = read_table(X, y, **reading)
    return merge_repeated_rows(table, numeric_columns(table, "neighbors")), table


@pytest.mark.parametrize("digits", [1, 6])
@pytest.mark.parametrize("labels", [False, True])
def test_resampled_rows_invent_no_information(digits, labels):
    """Drawn with replacement, as a bootstrap does: before, 0.2 nats and more between columns that share none."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6)).round(digits)
    y = rng.integers(0, 2, 200) if labels else rng.normal(size=200)
    drawn = rng.integers(0, 200, 200)
    terms = information_terms(X[drawn], y[drawn], measure="neighbors")
    assert terms.relevance.mean() < 0.06
    off_diagonal = terms.redundancy[np.triu_indices(6, 1)]
    assert off_diagonal.mean() < 0.06
    assert terms.n_samples == 200


def test_repeated_rows_become_weights_in_any_order():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    times = rng.integers(1, 4, 30)
    rows = rng.permutation(np.repeat(np.arange(30), times))
    table, _ = merged(X[rows], y[rows])
    assert table.n_samples == 30
    assert sorted(table.weights) == sorted(times)
    again, before = merged(X, y)
    assert again is before
    twice, _ = merged(np.tile(X, (2, 1)), np.tile(y, 2))
    assert (twice.n_samples, twice.weights) == (30, None)


def test_weights_of_repeated_rows_add_up():
    X, y = np.array([0.5, 1.5, 0.5, 2.5, -0.0, 0.0])[:, None], [0, 1, 0, 1, 1, 1]
    table, _ = merged(X, y, sample_weight=[1, 2, 3, 4, 5, 6])
    assert table.blocks[0].values[:, 0].tolist() == [0.5, 1.5, 2.5, 0.0]
    assert table.weights.tolist() == [4, 2, 4, 11]


@pytest.mark.parametrize(
    "X", [np.arange(60).reshape(-1, 1) % 10, np.array([[0, 1], [1, 0], [1, 1], [0, 0]] * 15), np.ones((60, 1)) * 0.5]
)
def test_rows_that_are_equal_by_themselves_stay_rows(X):
    y = np.random.default_rng(2).integers(0, 2, 60)
    table, before = merged(X.astype(float), y)
    assert table is before


def test_gaps_are_equal_to_gaps():
    X = np.array([[0.5, np.nan], [0.5, np.nan], [0.25, 1.5], [0.125, 2.5]])
    table, _ = merged(X, [0, 0, 1, 1], missing="pairwise")
    assert table.weights.tolist() == [2, 1, 1]
