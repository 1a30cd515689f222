"""The experiments on a made-up data set, in folders of their own, with classifiers that train in no time."""

import sys
from pathlib import Path

import numpy as np
import pytest

from certselect.datasets import Dataset

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # `experiments` is run from the repository, never installed


@pytest.fixture
def made_up():
    """30 rows, 3 classes, 12 columns: numbers, a constant, some missing."""
    rng = np.random.default_rng(5)
    y = np.repeat([1, 2, 3], 10)
    X = rng.integers(0, 4, size=(30, 12)).astype(float)
    X[:, 2] = y
    X[:, 3] = np.where(rng.random(30) < 0.8, y, 0)
    X[:, 7] = 1.0
    X[4, 5] = np.nan
    return Dataset("LNG", "Made up", X, y, None)


@pytest.fixture
def world(made_up, tmp_path, monkeypatch):
    """Where results go in this test; the data set stands in for every other, two classifiers for five."""
    from experiments import classifiers, preparation, store

    monkeypatch.setattr(preparation, "load_dataset", lambda name: made_up)
    monkeypatch.setattr(store, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(store, "UNFINISHED", tmp_path / "unfinished")
    few = {name: classifiers.SETTINGS[name] for name in ("LDA", "CART")}
    monkeypatch.setattr(classifiers, "SETTINGS", few)
    return tmp_path


@pytest.fixture
def grid():
    from experiments.grids import Grid

    return Grid("tiny", (2, 3, 50), (), ("LNG",), 6, range(2, 6), ("NCI",))
