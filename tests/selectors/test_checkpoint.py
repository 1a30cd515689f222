"""Choosing the size, stopped and gone on with: saved scores, torn and foreign files, a killed process."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.model_selection import (
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.neighbors import KNeighborsClassifier

from certselect.errors import InvalidInput
from certselect.progress import listening
from certselect.selectors import SubsetSelectorCV
from certselect.selectors.size_scores import StoppedEarly

NEAREST = KNeighborsClassifier(3)


class Fragile(KNeighborsClassifier):
    """Raises Ctrl-C at a given fit."""

    fits_left = 10**9

    def fit(self, X, y):
        Fragile.fits_left -= 1
        if Fragile.fits_left < 0:
            raise KeyboardInterrupt
        return super().fit(X, y)


@pytest.mark.parametrize("strategy", ["forward", "annealing"])
def test_a_stopped_run_goes_on_from_its_file(table, tmp_path, monkeypatch, strategy):
    X, y = table
    common = {"sizes": 4, "cv": 3, "strategy": strategy, "random_state": 2}
    whole = SubsetSelectorCV(Fragile(), **common).fit(X, y)
    monkeypatch.setattr(Fragile, "fits_left", 7)
    saved = tmp_path / "saved.jsonl"
    with pytest.raises(StoppedEarly) as stopped:
        SubsetSelectorCV(Fragile(), **common, checkpoint=saved).fit(X, y)
    scores = stopped.value.so_far.scores
    assert np.isfinite(scores).sum() == 7
    assert np.isfinite(scores[:, :2]).all()  # whole sizes first
    assert isinstance(stopped.value, KeyboardInterrupt)
    monkeypatch.setattr(Fragile, "fits_left", 12 - 7 + 1)  # no score is computed twice; one more is the final fit
    again = SubsetSelectorCV(Fragile(), **common, checkpoint=saved).fit(X, y)
    assert Fragile.fits_left == 0
    for name, values in whole.cv_results_.items():
        np.testing.assert_array_equal(values, again.cv_results_[name])
    assert again.indices_.tolist() == whole.indices_.tolist()
    lines = [json.loads(line) for line in saved.read_text().splitlines()]
    assert len(lines) == 1 + 3 + 12


def test_a_search_that_is_stopped_saves_nothing_half_done(table, tmp_path):
    X, y = table
    saved, stages = tmp_path / "saved.jsonl", []

    def press(stage, done, total):
        stages.append(stage)
        if stages.count("forward") == 6:  # in the second split
            raise KeyboardInterrupt

    with listening(press), pytest.raises(StoppedEarly) as stopped:
        SubsetSelectorCV(NEAREST, 4, cv=3, strategy="forward", checkpoint=saved).fit(X, y)
    assert np.isnan(stopped.value.so_far.scores).all()
    assert [json.loads(line).get("search") for line in saved.read_text().splitlines()] == [None, 0]
    again = SubsetSelectorCV(NEAREST, 4, cv=3, strategy="forward", checkpoint=saved).fit(X, y)
    whole = SubsetSelectorCV(NEAREST, 4, cv=3, strategy="forward").fit(X, y)
    np.testing.assert_array_equal(again.cv_results_["split1_support"], whole.cv_results_["split1_support"])


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished run, and the file it kept."""
    saved = tmp_path_factory.mktemp("finished") / "saved.jsonl"
    whole = SubsetSelectorCV(NEAREST, checkpoint=saved).fit(*load_iris(return_X_y=True))
    return whole, saved.read_bytes()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2000))
def test_a_file_torn_anywhere_is_gone_on_from(tmp_path_factory, finished, kept):
    X, y = load_iris(return_X_y=True)
    whole, text = finished
    saved = tmp_path_factory.mktemp("torn") / "saved.jsonl"
    saved.write_bytes(text[: min(kept, len(text))])
    again = SubsetSelectorCV(NEAREST, checkpoint=saved).fit(X, y)
    np.testing.assert_array_equal(again.cv_results_["mean_test_score"], whole.cv_results_["mean_test_score"])
    assert sorted(saved.read_bytes().splitlines()) == sorted(text.splitlines())


def test_scores_that_are_not_numbers_survive_the_file(table, tmp_path):
    X, y = table
    common = {"sizes": 2, "cv": 2, "scoring": not_a_number, "checkpoint": tmp_path / "saved.jsonl"}
    first, again = (SubsetSelectorCV(NEAREST, **common).fit(X, y) for _ in range(2))
    for selector in (first, again):
        assert np.isnan(selector.cv_results_["mean_test_score"][0])
        assert selector.n_features_ == 2


def not_a_number(estimator, X, y):
    return np.nan if X.shape[1] == 1 else 1.0


def test_saved_results_of_another_run_are_refused(table, tmp_path):
    X, y = table
    saved = tmp_path / "saved.jsonl"
    common = {"sizes": 2, "cv": StratifiedKFold(2), "random_state": 0, "checkpoint": saved}
    SubsetSelectorCV(NEAREST, **common).fit(X, y)
    before = saved.read_bytes()
    changed = X.copy()
    changed[0, 0] += 1e-9
    other_y = y.copy()
    other_y[0] = (y[0] + 1) % 3
    cases = [
        ((changed, y), NEAREST, {}, "another table"),
        ((X, other_y), NEAREST, {}, "another table"),
        ((X, y), KNeighborsClassifier(4), {}, "another estimator"),
        ((X, y), NEAREST, {"scoring": "balanced_accuracy"}, "another scoring"),
        ((X, y), NEAREST, {"criterion": "mrmr"}, "another setting of the search"),
        ((X, y), NEAREST, {"random_state": 1}, "another setting of the search"),
        ((X, y), NEAREST, {"sizes": 3}, "another list of sizes"),
        ((X, y), NEAREST, {"cv": ShuffleSplit(2, random_state=0)}, "another split of the rows"),
    ]
    for data, estimator, change, said in cases:
        with pytest.raises(InvalidInput, match=said):
            SubsetSelectorCV(estimator, **(common | change)).fit(*data)
    assert saved.read_bytes() == before
    # What changes neither a subset nor a score may change.
    SubsetSelectorCV(NEAREST, **(common | {"one_standard_error": True, "n_jobs": 2})).fit(X, y)


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "[]\n", "{}\n", '{"format": "other"}\n', "\x80", "3\n4\n"])
def test_other_files_are_not_overwritten(table, tmp_path, text):
    path = tmp_path / "notes.txt"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=r"notes\.txt', which holds something else"):
        SubsetSelectorCV(NEAREST, 2, checkpoint=path).fit(*table)
    assert path.read_text() == text


def test_a_file_that_cannot_be_written_is_refused_at_once(table, tmp_path):
    with pytest.raises(InvalidInput, match="cannot be written"):
        SubsetSelectorCV(NEAREST, 2, checkpoint=tmp_path / "no" / "such" / "folder").fit(*table)
    with pytest.raises(InvalidInput, match="cannot be read"):
        SubsetSelectorCV(NEAREST, 2, checkpoint=tmp_path).fit(*table)


def test_functions_without_a_name_cannot_be_saved_with(table, tmp_path):
    scoring = lambda estimator, X, y: 1.0  # noqa: E731
    SubsetSelectorCV(NEAREST, 2, scoring=scoring).fit(*table)
    with pytest.raises(InvalidInput, match=r"scoring .* top of a module"):
        SubsetSelectorCV(NEAREST, 2, scoring=scoring, checkpoint=tmp_path / "saved").fit(*table)


KILLED = """
import sys, time, numpy as np
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier
from certselect.selectors import SubsetSelectorCV
class KNeighborsClassifier(KNeighborsClassifier):
    def fit(self, X, y):
        time.sleep(float(sys.argv[2]))
        return super().fit(X, y)
X, y = load_iris(return_X_y=True)
s = SubsetSelectorCV(KNeighborsClassifier(), cv=5, strategy="annealing", checkpoint=sys.argv[1]).fit(X, y)
print(s.n_features_, s.cv_results_["mean_test_score"].tolist(), s.cv_results_["split2_support"].tolist())
"""


def test_a_killed_process_is_gone_on_from(tmp_path):
    """Even with no seed: the subsets a killed run chose are those its scores belong to."""
    saved = tmp_path / "saved.jsonl"
    command = [sys.executable, "-c", KILLED, str(saved)]
    process = subprocess.Popen([*command, "0.3"], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not saved.exists() or saved.read_bytes().count(b"\n") < 1 + 5 + 4:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait(30) == -signal.SIGKILL
    before = saved.read_bytes()
    assert before.count(b"\n") < 1 + 5 + 20
    out = subprocess.run([*command, "0"], capture_output=True, text=True, check=True, timeout=60).stdout
    assert saved.read_bytes().startswith(before[: before.rfind(b"\n")])
    assert saved.read_bytes().count(b"\n") == 1 + 5 + 20
    uninterrupted = subprocess.run(
        [*command[:-1], str(tmp_path / "other"), "0"], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    # Four columns: annealing finds the best subsets whatever its seed.
    assert out == uninterrupted


@pytest.mark.parametrize("at", [12, None])
def test_ctrl_c_when_all_sizes_are_scored_keeps_scores_and_checkpoint(table, tmp_path, monkeypatch, at):
    """In the classifier's last fit, or in the proof about the final subset."""
    X, y = table
    saved = tmp_path / "saved.jsonl"
    selector = SubsetSelectorCV(Fragile(), 4, cv=3, strategy="forward", certify=True, checkpoint=saved)
    if at is not None:
        monkeypatch.setattr(Fragile, "fits_left", at)

    def press(stage, done, total):
        if at is None and stage.startswith("relaxation"):
            raise KeyboardInterrupt

    with listening(press), pytest.raises(StoppedEarly) as stopped:
        selector.fit(X, y)
    assert np.isfinite(stopped.value.so_far.scores).all()
    assert selector.result_.selection.status == ("interrupted" if at is None else "complete")
    assert not hasattr(selector, "estimator_")
    monkeypatch.setattr(Fragile, "fits_left", 1)  # nothing is scored again
    again = SubsetSelectorCV(Fragile(), 4, cv=3, strategy="forward", certify=True, checkpoint=saved).fit(X, y)
    assert again.selection_.status == "complete"
