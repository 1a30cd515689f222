"""Choosing the size, stopped and gone on with: saved scores, torn and foreign files, a killed process."""

import errno
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import (
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.neighbors import KNeighborsClassifier

from certselect import load_result
from certselect.errors import InvalidInput
from certselect.progress import listening
from certselect.search.strategy import Strategy
from certselect.selectors import MissingScoreWarning, SubsetSelectorCV
from certselect.selectors.checkpoint import Checkpoint, Pieces
from certselect.selectors.size_scores import SizeScores, StoppedEarly, score_range

NEAREST = KNeighborsClassifier(3)


class Fits:
    """Presses Ctrl-C once as many classifiers as are left have been fitted."""

    def __init__(self, monkeypatch):
        self.left, fit = 10**9, KNeighborsClassifier.fit

        def fit_or_stop(classifier, X, y):
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
            return fit(classifier, X, y)

        monkeypatch.setattr(KNeighborsClassifier, "fit", fit_or_stop)


@pytest.mark.parametrize("strategy", ["forward", "annealing"])
def test_a_stopped_run_goes_on_from_its_file(table, tmp_path, monkeypatch, strategy):
    X, y = table
    common = {"sizes": 4, "cv": 3, "strategy": strategy, "random_state": 2}
    whole = SubsetSelectorCV(NEAREST, **common).fit(X, y)
    fits = Fits(monkeypatch)
    fits.left = 7
    saved = tmp_path / "saved.jsonl"
    with pytest.raises(StoppedEarly) as stopped:
        SubsetSelectorCV(NEAREST, **common, checkpoint=saved).fit(X, y)
    scores = stopped.value.so_far.scores
    assert np.isfinite(scores).sum() == 7
    assert np.isfinite(scores[:, :2]).all()  # whole sizes first
    assert isinstance(stopped.value, KeyboardInterrupt)
    fits.left = 12 - 7 + 1  # no score is computed twice; one more is the final fit
    again = SubsetSelectorCV(NEAREST, **common, checkpoint=saved).fit(X, y)
    assert fits.left == 0
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
        SubsetSelectorCV(
            NEAREST, 4, cv=3, strategy="forward", checkpoint=saved, criterion="jmi", measure="plugin", correction="none"
        ).fit(X, y)
    assert np.isnan(stopped.value.so_far.scores).all()
    assert [json.loads(line).get("search") for line in saved.read_text().splitlines()] == [None, 0]
    again = SubsetSelectorCV(
        NEAREST, 4, cv=3, strategy="forward", checkpoint=saved, criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y)
    whole = SubsetSelectorCV(
        NEAREST, 4, cv=3, strategy="forward", criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y)
    np.testing.assert_array_equal(again.cv_results_["split1_support"], whole.cv_results_["split1_support"])


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished run, and the file it kept."""
    saved = tmp_path_factory.mktemp("finished") / "saved.jsonl"
    whole = SubsetSelectorCV(NEAREST, checkpoint=saved, criterion="jmi", measure="plugin", correction="none").fit(
        *load_iris(return_X_y=True)
    )
    return whole, saved.read_bytes()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2000))
def test_a_file_torn_anywhere_is_gone_on_from(tmp_path_factory, finished, kept):
    X, y = load_iris(return_X_y=True)
    whole, text = finished
    saved = tmp_path_factory.mktemp("torn") / "saved.jsonl"
    saved.write_bytes(text[: min(kept, len(text))])
    again = SubsetSelectorCV(NEAREST, checkpoint=saved, criterion="jmi", measure="plugin", correction="none").fit(X, y)
    np.testing.assert_array_equal(again.cv_results_["mean_test_score"], whole.cv_results_["mean_test_score"])
    assert sorted(saved.read_bytes().splitlines()) == sorted(text.splitlines())


def test_scores_that_are_not_numbers_survive_the_file(table, tmp_path):
    X, y = table
    common = {"sizes": 2, "cv": 2, "scoring": not_a_number, "checkpoint": tmp_path / "saved.jsonl"}
    with pytest.warns(MissingScoreWarning, match="NaN in some splits for k = 1:"):
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
        ((X, y), NEAREST, {"criterion": "mrmr"}, "another criterion"),
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
        SubsetSelectorCV(NEAREST, 2, checkpoint=path, criterion="jmi", measure="plugin", correction="none").fit(*table)
    assert path.read_text() == text


def test_a_file_that_cannot_be_written_is_refused_at_once(table, tmp_path):
    with pytest.raises(InvalidInput, match="cannot be written"):
        SubsetSelectorCV(
            NEAREST,
            2,
            checkpoint=tmp_path / "no" / "such" / "folder",
            criterion="jmi",
            measure="plugin",
            correction="none",
        ).fit(*table)
    with pytest.raises(InvalidInput, match="which is a folder"):
        SubsetSelectorCV(NEAREST, 2, checkpoint=tmp_path, criterion="jmi", measure="plugin", correction="none").fit(
            *table
        )


def edited(text, line, **changes):
    """The file with another content of a line, and the digest that line had."""
    lines = text.splitlines()
    lines[line] = json.dumps({**json.loads(lines[line]), **changes}).encode()
    return b"\n".join(lines) + b"\n"


def resumed(text, folder, **options):
    saved = folder / "saved.jsonl"
    saved.write_bytes(text)
    return SubsetSelectorCV(NEAREST, checkpoint=saved, **options).fit(*load_iris(return_X_y=True))


FIRST_SCORE = 1 + 5


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        (FIRST_SCORE, {"score": 5.0}),
        (FIRST_SCORE, {"score": 0.5}),
        (FIRST_SCORE, {"split": 1}),
        (FIRST_SCORE, {"digest": "0" * 64}),
        (FIRST_SCORE, {"note": "of no use"}),
        (1, {"subsets": [[999], [0, 1], [0, 1, 2], [0, 1, 2, 3]]}),
        (1, {"search": 1}),
        (1, {"subsets": [[[]] * 10]}),
    ],
)
def test_an_edited_line_is_noticed(finished, tmp_path, line, changes):
    text = edited(finished[1], line, **changes)
    with pytest.raises(InvalidInput, match=rf"damaged in line {line + 1}; .*delete this one to start again"):
        resumed(text, tmp_path)
    assert (tmp_path / "saved.jsonl").read_bytes() == text


@pytest.mark.parametrize("line", [b"[]", b"7", b'"score"', b"{}", b"null", b'{"split": 0, "size": 1, "score": 1.0}'])
def test_lines_that_are_no_records_are_noticed(finished, tmp_path, line):
    with pytest.raises(InvalidInput, match="damaged in line 27"):
        resumed(finished[1] + line + b"\n", tmp_path)


@pytest.mark.parametrize("line", [b"{", b"\xff\xfe", b"[" * 10_000, b'{"split": }'])
def test_lines_that_are_no_json_are_noticed(finished, tmp_path, line):
    with pytest.raises(InvalidInput, match="holds something else"):
        resumed(finished[1] + line + b"\n", tmp_path)


def test_lines_of_another_search_and_lines_that_come_twice_are_noticed(finished, tmp_path):
    whole, text = finished
    lines = text.splitlines(keepends=True)
    with pytest.raises(InvalidInput, match="damaged in line 27"):
        resumed(text + lines[FIRST_SCORE], tmp_path)
    resumed(b"", tmp_path, criterion="mrmr")
    others = (tmp_path / "saved.jsonl").read_bytes().splitlines(keepends=True)
    with pytest.raises(InvalidInput, match="damaged in line 7"):
        resumed(b"".join([*lines[:FIRST_SCORE], others[FIRST_SCORE]]), tmp_path)
    kept = resumed(b"".join(lines[:FIRST_SCORE] + lines[FIRST_SCORE + 3 :]), tmp_path)  # what lacks is computed again
    assert kept.cv_results_["mean_test_score"].tolist() == whole.cv_results_["mean_test_score"].tolist()


PIECES = Pieces(n_searches=2, n_splits=2, sizes=[1, 3], n_features=5, scores_between=(0.0, 1.0))


@pytest.mark.parametrize(
    "record",
    [
        {"split": 0, "size": 1, "score": 5.0},
        {"split": 0, "size": 1, "score": -0.5},
        {"split": 0, "size": 1, "score": "Infinity"},
        {"split": 0, "size": 1, "score": "much"},
        {"split": 0, "size": 1, "score": None},
        {"split": 0, "size": 1, "score": True},
        {"split": 0, "size": 1, "score": [0.5]},
        {"split": 0, "size": 1, "score": 10**400},
        {"split": 2, "size": 1, "score": 0.5},
        {"split": -1, "size": 1, "score": 0.5},
        {"split": True, "size": 1, "score": 0.5},
        {"split": 0, "size": 2, "score": 0.5},
        {"split": "0", "size": 1, "score": 0.5},
        {"split": {}, "size": 1, "score": 0.5},
        {"split": 0, "size": 1.0, "score": 0.5},
        {"split": 0, "size": 1},
        {"search": 2, "subsets": [[0], [0, 1, 2]]},
        {"search": 0, "subsets": [[0]]},
        {"search": 0, "subsets": [[5], [0, 1, 2]]},
        {"search": 0, "subsets": [[999], [0, 1, 2]]},
        {"search": 0, "subsets": [[-1], [0, 1, 2]]},
        {"search": 0, "subsets": [[0], [0, 1, 1]]},
        {"search": 0, "subsets": [[0], []]},
        {"search": 0, "subsets": [[0], [0, 1.5]]},
        {"search": 0, "subsets": [[0], [[0]]]},
        {"search": 0, "subsets": [[0], "012"]},
        {"search": 0, "subsets": 3},
        {"search": [], "subsets": [[0], [0, 1, 2]]},
    ],
)
def test_impossible_records_are_refused_even_with_a_true_digest(tmp_path, record):
    """Whoever can make digests can lie, but not about what cannot be."""
    saved = tmp_path / "saved.jsonl"
    checkpoint = Checkpoint(saved, {"table": "a"}, PIECES)
    checkpoint._append(checkpoint._signed(record))
    before = saved.read_bytes()
    with pytest.raises(InvalidInput, match="damaged in line 2"):
        Checkpoint(saved, {"table": "a"}, PIECES)
    assert saved.read_bytes() == before


@pytest.mark.parametrize("score", [-math.inf, math.inf, math.nan, 0.0, -1e-300, 1e300, 0.1])
def test_every_score_survives_the_file(tmp_path, score):
    pieces = replace(PIECES, scores_between=(-math.inf, math.inf))
    Checkpoint(tmp_path / "saved", {}, pieces).save_score(1, 3, score)
    assert repr(Checkpoint(tmp_path / "saved", {}, pieces).scores) == repr({(1, 3): score})


def test_a_scorer_may_say_that_a_size_is_out_of_the_question(table, tmp_path):
    common = {"sizes": 3, "cv": 2, "scoring": minus_infinity_alone, "checkpoint": tmp_path / "saved.jsonl"}
    first, again = (SubsetSelectorCV(NEAREST, **common).fit(*table) for _ in range(2))
    for selector in (first, again):
        assert selector.cv_results_["mean_test_score"].tolist() == [-np.inf, 1.0, 1.0]
        assert selector.n_features_ == 2
        selector.result_.save(tmp_path / "result.json")
    assert load_result(tmp_path / "result.json").choice.mean_scores[1:].tolist() == [1.0, 1.0]


def minus_infinity_alone(estimator, X, y):
    return -np.inf if X.shape[1] == 1 else 1.0


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_means_tie(value):
    scores = SizeScores(np.array([1, 2, 3]), np.array([[0.0, value, value]] * 2), [])
    for one_standard_error in (False, True):
        assert scores.best(one_standard_error=one_standard_error) == (1 if value > 0 else 0)


@pytest.mark.parametrize("name", sorted(get_scorer_names()))
def test_score_ranges_hold(name):
    """Of perfect and of poor predictions; scores that fit other data than these are passed over."""
    lowest, highest = score_range(name)
    y = np.array([0, 1, 0, 1, 1, 0])
    for X in (y[:, None], 1 - y[:, None], np.zeros((6, 1))):
        classifier = KNeighborsClassifier(1).fit(y[:, None], y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                score = get_scorer(name)(classifier, X, y)
            except ValueError:
                continue
        assert np.isnan(score) or lowest <= score <= highest


def test_impossible_scores_by_name():
    assert score_range("accuracy")[1] < 1.1
    assert score_range("neg_log_loss")[1] < 0.1
    assert score_range("r2")[1] < 1.1
    assert score_range(minus_infinity_alone) == (-np.inf, np.inf)


def scorer_of(text):
    names = {"__name__": "users_module", "calls": []}
    exec(text, names)
    return names["scorer"]


def test_a_scorer_with_another_body_is_another_scorer(table, tmp_path):
    saved = tmp_path / "saved.jsonl"
    one, two = (scorer_of(f"def scorer(e, X, y): return {value}") for value in (0.25, 0.75))
    SubsetSelectorCV(
        NEAREST, 2, scoring=one, checkpoint=saved, criterion="jmi", measure="plugin", correction="none"
    ).fit(*table)
    with pytest.raises(InvalidInput, match=r"another scoring; .*delete this one to start again"):
        SubsetSelectorCV(
            NEAREST, 2, scoring=two, checkpoint=saved, criterion="jmi", measure="plugin", correction="none"
        ).fit(*table)
    same = scorer_of("\n\ndef scorer(e, X, y): return 0.25")
    again = SubsetSelectorCV(
        NEAREST, 2, scoring=same, checkpoint=saved, criterion="jmi", measure="plugin", correction="none"
    ).fit(*table)
    assert again.cv_results_["mean_test_score"].tolist() == [0.25, 0.25]


def test_a_lambda_can_be_told_from_others(table, tmp_path):
    saved = tmp_path / "saved.jsonl"
    SubsetSelectorCV(
        NEAREST, 2, scoring=lambda e, X, y: 0.5, checkpoint=saved, criterion="jmi", measure="plugin", correction="none"
    ).fit(*table)
    with pytest.raises(InvalidInput, match="another scoring"):
        SubsetSelectorCV(
            NEAREST,
            2,
            scoring=lambda e, X, y: 1.0,
            checkpoint=saved,
            criterion="jmi",
            measure="plugin",
            correction="none",
        ).fit(*table)


def test_a_scorer_that_cannot_be_told_from_others_is_refused(table, tmp_path):
    lock = threading.Lock()

    def scoring(estimator, X, y):
        with lock:
            return 1.0

    SubsetSelectorCV(NEAREST, 2, scoring=scoring, criterion="jmi", measure="plugin", correction="none").fit(*table)
    with pytest.raises(InvalidInput, match="another scoring than can be told apart from others"):
        SubsetSelectorCV(
            NEAREST,
            2,
            scoring=scoring,
            checkpoint=tmp_path / "saved",
            criterion="jmi",
            measure="plugin",
            correction="none",
        ).fit(*table)
    assert list(tmp_path.iterdir()) == []


def test_a_registered_strategy_with_another_body_is_another_one(table, tmp_path):
    def choosing(first):
        def run(problem, found, rng, /):
            found.indices = list(range(first, first + problem.k))

        return Strategy("mine", run, "takes the columns as they come")

    saved = tmp_path / "saved.jsonl"
    common = {"sizes": [2], "cv": 2, "checkpoint": saved}
    SubsetSelectorCV(NEAREST, strategy=choosing(0), **common).fit(*table)
    with pytest.raises(InvalidInput, match="another strategy"):
        SubsetSelectorCV(NEAREST, strategy=choosing(1), **common).fit(*table)
    SubsetSelectorCV(NEAREST, strategy=choosing(0), **common).fit(*table)


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe"])
def test_a_checkpoint_is_no_link_and_no_pipe(table, tmp_path, kind):
    path, other = tmp_path / "saved.jsonl", tmp_path / "other"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(other)
    if kind == "link":
        other.write_text("")
    with pytest.raises(InvalidInput, match=r"which is a link|which is a folder, a device or a pipe"):
        SubsetSelectorCV(NEAREST, 2, checkpoint=path, criterion="jmi", measure="plugin", correction="none").fit(*table)
    assert other.exists() == (kind == "link")
    assert kind != "link" or other.read_text() == ""


def test_a_full_disk_is_told_in_a_sentence(tmp_path, monkeypatch):
    checkpoint = Checkpoint(tmp_path / "saved", {}, PIECES)
    checkpoint.save_score(0, 1, 0.5)

    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as broken:
        broken.setattr(Path, "open", full)
        with pytest.raises(InvalidInput, match=r"cannot be written \(No space left on device\)"):
            checkpoint.save_score(1, 1, 0.5)
    assert Checkpoint(tmp_path / "saved", {}, PIECES).scores == {(0, 1): 0.5}


KILLED = """
import sys, time, numpy as np
from sklearn.datasets import load_iris
from sklearn.metrics import get_scorer, get_scorer_names
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
    fits = Fits(monkeypatch)
    selector = SubsetSelectorCV(
        NEAREST,
        4,
        cv=3,
        strategy="forward",
        certify=True,
        checkpoint=saved,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    if at is not None:
        fits.left = at

    def press(stage, done, total):
        if at is None and stage.startswith("relaxation"):
            raise KeyboardInterrupt

    with listening(press), pytest.raises(StoppedEarly) as stopped:
        selector.fit(X, y)
    assert np.isfinite(stopped.value.so_far.scores).all()
    assert selector.result_.selection.status == ("interrupted" if at is None else "complete")
    assert not hasattr(selector, "estimator_")
    fits.left = 1  # nothing is scored again
    again = SubsetSelectorCV(
        NEAREST,
        4,
        cv=3,
        strategy="forward",
        certify=True,
        checkpoint=saved,
        criterion="jmi",
        measure="plugin",
        correction="none",
    ).fit(X, y)
    assert again.selection_.status == "complete"
