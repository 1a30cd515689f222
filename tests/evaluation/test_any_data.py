"""Chance and stability on tables with gaps, numbers to predict, weights and sparse matrices."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_diabetes

from certselect import read_table, selection_stability, stop_at_chance


def gappy_table(m=200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, 6))
    y = X[:, 2] + 0.3 * rng.normal(size=m)
    X[rng.random(X.shape) < 0.15] = np.nan
    return X, y


@pytest.mark.parametrize("missing", ["level", "pairwise"])
def test_chance_stops_behind_the_one_feature_that_tells(missing):
    X, y = gappy_table()
    found = stop_at_chance(
        read_table(X, y, missing=missing),
        max_features=3,
        criterion="mrmr",
        n_permutations=199,
        measure="plugin",
        correction="none",
    )
    assert found.k == 1
    assert found.indices[0] == 2
    rng = np.random.default_rng(1)
    noise = stop_at_chance(
        read_table(X, rng.normal(size=len(y)), missing=missing),
        max_features=2,
        n_permutations=39,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    assert noise.k == 0


@pytest.mark.parametrize("missing", ["level", "pairwise"])
def test_stability_of_a_regression_with_gaps(missing):
    X, y = gappy_table()
    found = selection_stability(
        read_table(X, y, missing=missing),
        n_features_to_select=1,
        n_resamples=20,
        random_state=0,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    assert found.chosen[:, 2].mean() > 0.9


def test_stability_of_a_sparse_table_is_that_of_the_dense_one():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 80)
    X = rng.poisson(0.3 + 0.5 * y[:, None] * rng.random(8), (80, 8))
    dense = selection_stability(
        X, y, 2, n_resamples=10, random_state=1, criterion="jmi", measure="plugin", correction="none"
    )
    sparse = selection_stability(
        scipy.sparse.csr_array(X),
        y,
        2,
        n_resamples=10,
        random_state=1,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    np.testing.assert_array_equal(sparse.chosen, dense.chosen)


@pytest.mark.parametrize("measure", ["plugin", "gaussian_copula", "neighbors"])
def test_scikit_learns_diabetes_as_a_regression(measure):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    found = selection_stability(
        X, y, 2, task="regression", measure=measure, n_resamples=4, random_state=0, criterion="jmi"
    )
    assert "bmi" in found.most_frequent(0.75)
    tested = stop_at_chance(X, y, 2, task="regression", measure=measure, n_permutations=19, criterion="jmi")
    assert tested.k >= 1
    assert tested.names[0] in ("bmi", "s5")
