"""A table that the tests of choosing a size share."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 150)
    X = rng.normal(size=(150, 8)) + y[:, None] * rng.random(8)
    X[:, 7] = 1.0  # a constant
    return X, y
