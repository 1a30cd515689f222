"""Rows that stand in a table several times are one row to neighbours, unless they are equal by themselves."""

import numpy as np
import pytest

from certselect import information_terms, stop_at_chance
from certselect.information.repeated_rows import merge_repeated_rows
from certselect.table import read_table


def merged(X, y, **reading):
    table = read_table(X, y, **reading)
    return merge_repeated_rows(table), table


@pytest.mark.parametrize("labels", [False, True])
def test_resampled_rows_invent_no_information(labels):
    """Drawn with replacement, as a bootstrap does: before, 0.2 nats and more between columns that share none."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    X[:, 1] = X[:, 1].round(1)
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


LEVELS = np.array([[0, 1], [1, 0], [1, 1], [0, 0]] * 15)


@pytest.mark.parametrize("X", [np.arange(60).reshape(-1, 1) % 10, LEVELS, np.tile(LEVELS, 9), np.full((60, 1), 0.5)])
def test_rows_that_are_equal_by_themselves_stay_rows(X):
    """However often columns are copied, and whatever is missing in most rows."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 60)
    table, before = merged(X.astype(float), y)
    assert table is before
    gappy = np.column_stack([X, np.where(rng.random((60, 2)) < 0.95, np.nan, rng.normal(size=(60, 2)))])
    table, before = merged(gappy, y, missing="pairwise")
    assert table is before


def test_repeated_noise_is_no_better_than_chance():
    """Shuffled rows are no longer equal, so they must be one row each before."""
    rng = np.random.default_rng(3)
    X, y = np.tile(rng.normal(size=(40, 3)), (4, 1)), np.tile(rng.integers(0, 2, 40), 4)
    tested = stop_at_chance(X, y, 2, measure="neighbors", n_permutations=19, criterion="jmi")
    once = stop_at_chance(X[:40], y[:40], 2, measure="neighbors", n_permutations=19, criterion="jmi")
    assert tested.p_values.tolist() == once.p_values.tolist()
    assert tested.k == 0


def test_gaps_are_equal_to_gaps():
    X = np.array([[0.5, np.nan], [0.5, np.nan], [0.25, 1.5], [0.125, 2.5]])
    table, _ = merged(X, [0, 0, 1, 1], missing="pairwise")
    assert table.weights.tolist() == [2, 1, 1]
