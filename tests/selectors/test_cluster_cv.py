"""Folds of a SubsetSelectorCV on the workers of a Dask cluster, through joblib's backend."""

import os

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from certselect import SubsetSelectorCV
from cluster_cases import local_client

pytestmark = pytest.mark.cluster


class NotedTree(DecisionTreeClassifier):
    """Leaves a note of where it was fitted."""

    def __init__(self, folder=None):
        super().__init__(random_state=0)
        self.folder = folder

    def fit(self, X, y):
        (self.folder / str(os.getpid())).touch()
        return super().fit(X, y)


def test_folds_run_on_the_workers_and_score_alike(tmp_path):
    X, y = load_iris(return_X_y=True)
    want = SubsetSelectorCV(NotedTree(tmp_path), cv=4, criterion="jmi", measure="plugin", correction="none").fit(X, y)
    for note in tmp_path.iterdir():
        note.unlink()
    with local_client() as client, joblib.parallel_config("dask"):
        got = SubsetSelectorCV(NotedTree(tmp_path), cv=4, criterion="jmi", measure="plugin", correction="none").fit(
            X, y
        )
        workers = set(client.run(os.getpid).values())
    fitted_in = {int(note.name) for note in tmp_path.iterdir()} - {os.getpid()}  # the last fit, of all rows, is here
    assert fitted_in
    assert fitted_in <= workers
    np.testing.assert_array_equal(got.get_support(), want.get_support())
    assert got.cv_results_.keys() == want.cv_results_.keys()
    for name, scores in want.cv_results_.items():
        np.testing.assert_array_equal(got.cv_results_[name], scores)
