"""The experiments on a made-up data set, in folders of their own, with classifiers that train in no time."""

import sys
from pathlib import Path

import numpy as np
import pytest

from certselect.datasets import Dataset

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # `experiments` is run from the repository, never installed


def made_up_samples():
    rng = np.random.default_rng(5)
    y = np.repeat([1, 2, 3], 10)
    X = rng.integers(0, 4, size=(30, 12)).astype(float)
    X[:, 2] = y
    X[:, 3] = np.where(rng.random(30) < 0.8, y, 0)
    X[:, 7] = 1.0
    X[4, 5] = np.nan
    return Dataset("LNG", "Made up", X, y, None)


def use_made_up(samples, folder, patch):
    """Results go to the folder; the data set stands in for every other, two classifiers for five."""
    from experiments import classifiers, preparation, store

    patch.setattr(preparation, "load_dataset", lambda name: samples)
    patch.setattr(store, "RESULTS", folder / "results")
    patch.setattr(store, "UNFINISHED", folder / "unfinished")
    few = {name: classifiers.SETTINGS[name] for name in ("LDA", "CART")}
    patch.setattr(classifiers, "SETTINGS", few)


def count_calls(patch):
    """Calls of the classifiers and of the searches from now on."""
    from experiments import accuracy, classifiers, searching

    calls = {"fits": 0, "searches": 0}

    def fit(*arguments):
        calls["fits"] += 1
        return classifiers.fold_accuracy(*arguments)

    def search(question):
        calls["searches"] += 1
        return searching.find_paths(question)

    patch.setattr(accuracy, "fold_accuracy", fit)
    patch.setattr(accuracy, "find_paths", search)
    return calls


def tiny_grid():
    from experiments.grids import Grid

    return Grid("tiny", (2, 3, 50), (), ("LNG",), 6, range(2, 6), ("NCI",))


@pytest.fixture
def made_up():
    """30 rows, 3 classes, 12 columns: numbers, a constant, some missing."""
    return made_up_samples()


@pytest.fixture
def world(made_up, tmp_path, monkeypatch):
    """Where results go in this test."""
    use_made_up(made_up, tmp_path, monkeypatch)
    return tmp_path


@pytest.fixture
def counted(monkeypatch):
    return count_calls(monkeypatch)


@pytest.fixture
def grid():
    return tiny_grid()


@pytest.fixture(scope="session")
def whole_run(tmp_path_factory):
    """The folder of an accuracy experiment run to its end, and the calls that took: for tests to read and to copy."""
    from experiments import accuracy

    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        use_made_up(made_up_samples(), folder, patch)
        calls = count_calls(patch)
        accuracy.run(tiny_grid(), ["LNG"], 1)
    return folder, calls
