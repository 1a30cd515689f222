"""How many Python calls small tasks take: what is cheap must stay cheap."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import certselect
from certselect import SubsetProblem, SubsetSelector, select
from certselect.progress import listening

PACKAGE = str(Path(certselect.__file__).parent)
# Python calls within the package: with plain counts, and by default, which chooses a measure, subtracts chance and
# limits what features share.
MOST_CALLS = 360
MOST_CALLS_BY_DEFAULT = 520


def calls_of(work):
    """How often each function of the package is called (by file and name), generators each time they go on."""
    calls = Counter()

    def count(frame, event, argument):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            calls[code.co_filename.removeprefix(PACKAGE + "/"), code.co_name] += 1

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({"criterion": "jmi", "measure": "plugin", "correction": "none"}, MOST_CALLS),
        ({}, MOST_CALLS_BY_DEFAULT),
    ],
)
def test_a_forward_fit_on_iris_takes_few_calls(settings, most):
    X, y = load_iris(return_X_y=True)
    SubsetSelector(2, strategy="forward", **settings).fit(X, y)  # what is looked up once is not looked up again
    selector = SubsetSelector(2, strategy="forward", **settings)
    assert calls_of(lambda: selector.fit(X, y)).total() <= most


def test_progress_costs_nothing_where_nobody_listens():
    """The exact method works in rounds, each of which would have a line of its own."""
    rng = np.random.default_rng(0)
    half = rng.random((30, 30))
    problem = SubsetProblem.from_matrix(np.diag(2.0 + rng.random(30)) - 0.4 * (half + half.T), 8)
    told = ("search/prover.py", "_tell")
    assert calls_of(lambda: select(problem, "exact"))[told] == 0
    with listening(lambda stage, done, total: None):
        assert calls_of(lambda: select(problem, "exact"))[told] > 50
