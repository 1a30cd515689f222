"""The accuracy experiment: complete, resumable, and honest where it says so."""

import json
import shutil

import numpy as np
import pytest
from experiments.accuracy import best_size
from experiments.searching import Question, find_paths
from experiments.splits import split_rows

from experiments import accuracy, classifiers, searching


def contents(world):
    """All answers by measure, search and protocol, without seconds."""
    found = {}
    for content in json.loads((world / "results" / "tiny" / "accuracy.json").read_text()):
        content.pop("seconds")
        found[content["measure"], content["search"], content["protocol"]] = content
    return found


def scores_saved(world):
    """How many classifiers and sizes are written down, answered questions and those in the middle together."""
    small = (world / "unfinished" / "tiny").glob("accuracy-*.json")
    begun = [json.loads(path.read_text()) for path in small]
    answered = contents(world).values() if (world / "results").exists() else []
    return sum(len(scores) for content in (*begun, *answered) for scores in content.get("scores", {}).values())


@pytest.fixture
def finished(world, whole_run):
    """Where results go in this test, with those of a run to the end in it already; and what that run called."""
    folder, calls = whole_run
    shutil.copytree(folder / "results", world / "results")
    return world, calls


def test_every_question_is_answered(whole_run):
    folder, calls = whole_run
    found = contents(folder)
    assert len(found) == 2 * 3 * 2
    for content in found.values():
        assert content["finished"] is True
        assert content["sizes"] == [2, 3], "50 features there are not"
        assert content["usable"] == 11
        assert set(content["scores"]) == {"LDA", "CART"}
        for scores in content["scores"].values():
            assert list(scores) == ["2", "3"]
            for one in scores.values():
                assert len(one["folds"]) == 10
                assert one["mean"] == pytest.approx(np.mean(one["folds"]), abs=1e-3)  # groups of equal size
        assert bool(content["subsets"]) == (content["protocol"] == "paper")
    assert calls["searches"] == 2 + 2 * 30
    assert not list((folder / "unfinished" / "tiny").glob("*.json"))


def test_equal_subsets_are_trained_on_once(whole_run):
    folder, calls = whole_run
    found = contents(folder)
    subsets = {
        tuple(columns)
        for content in found.values()
        if content["protocol"] == "paper"
        for columns in content["subsets"].values()
    }
    of_paper = len(subsets) * 30 * 2
    of_honest = calls["fits"] - of_paper
    assert 30 * 2 * 2 <= of_honest < 6 * 2 * 30 * 2


def test_scores_are_those_of_a_plain_loop(whole_run, made_up):
    content = contents(whole_run[0])["JMI", "FS", "paper"]
    columns = content["subsets"]["3"]
    right = 0
    for train, test in split_rows(made_up.y, leave_one_out=True, seed=0).rows:
        tree = classifiers.make_classifier("CART").fit(made_up.X[np.ix_(train, columns)], made_up.y[train])
        right += int(tree.predict(made_up.X[np.ix_(test, columns)])[0] == made_up.y[test][0])
    assert content["scores"]["CART"]["3"]["mean"] == round(right / 30, 4)


def test_a_second_run_does_nothing(finished, grid, counted):
    world, _ = finished
    before = (world / "results" / "tiny" / "accuracy.json").read_bytes()
    accuracy.run(grid, ["LNG"], 1)
    assert (world / "results" / "tiny" / "accuracy.json").read_bytes() == before
    assert counted == {"fits": 0, "searches": 0}


@pytest.mark.parametrize("stop_at", [1, 100, 500])
def test_a_run_killed_in_the_middle_goes_on(world, grid, counted, monkeypatch, whole_run, stop_at):
    plain = accuracy.fold_accuracy

    def dies(*arguments):
        if counted["fits"] >= stop_at:
            raise KeyboardInterrupt
        return plain(*arguments)

    monkeypatch.setattr(accuracy, "fold_accuracy", dies)
    with pytest.raises(KeyboardInterrupt):
        accuracy.run(grid, ["LNG"], 1)
    saved = scores_saved(world)
    searches = counted["searches"]
    monkeypatch.setattr(accuracy, "fold_accuracy", plain)
    accuracy.run(grid, ["LNG"], 1)
    assert (counted["searches"] - searches) in (0, 60), "no search is repeated"
    assert contents(world) == contents(whole_run[0])
    assert (saved > 0) == (stop_at > 30), "a finished classifier and size is written at once"


def test_a_run_killed_in_a_search_keeps_the_folds_done(world, grid, counted, monkeypatch):
    plain = accuracy.find_paths

    def dies(question):
        if counted["searches"] >= 20:
            raise KeyboardInterrupt
        return plain(question)

    monkeypatch.setattr(accuracy, "find_paths", dies)
    with pytest.raises(KeyboardInterrupt):
        accuracy.run(grid, ["LNG"], 1)
    monkeypatch.setattr(accuracy, "find_paths", plain)
    accuracy.run(grid, ["LNG"], 1)
    assert counted["searches"] == 2 + 2 * 30


def test_changed_settings_start_anew(finished, grid, counted, monkeypatch):
    world, calls = finished
    before = contents(world)
    changed = {**classifiers.SETTINGS, "CART": {"criterion": "entropy", "random_state": 0}}
    monkeypatch.setattr(classifiers, "SETTINGS", changed)
    accuracy.run(grid, ["LNG"], 1)
    assert counted == calls
    after = contents(world)
    assert all(after[name]["settings"] != before[name]["settings"] for name in before)


def test_new_sizes_are_added_to_what_is_there(finished, grid, counted):
    from dataclasses import replace

    world, calls = finished
    before = contents(world)
    accuracy.run(replace(grid, sizes=(2, 3, 4)), ["LNG"], 1)
    after = contents(world)
    for name, content in after.items():
        assert list(content["scores"]["LDA"]) == ["2", "3", "4"]
        assert content["scores"]["LDA"]["3"] == before[name]["scores"]["LDA"]["3"]
    assert counted["fits"] < calls["fits"]


def test_honest_searches_see_no_test_row(made_up):
    """A column that tells the class on row 0 alone is of no worth to a search without that row."""
    spoilt = made_up.X.copy()
    spoilt[0] = 99.0
    rows = np.arange(1, 30)
    paths = [
        find_paths(Question("LNG", X, made_up.y, rows, "mRMR", {"FS": [3], "COBRA": [3]})) for X in (made_up.X, spoilt)
    ]
    for search in ("FS", "COBRA"):
        assert paths[0][search].subsets == paths[1][search].subsets


def test_a_fold_with_fewer_features_gives_all_it_has(made_up):
    X = made_up.X.copy()
    X[1:, 4:] = 1.0
    path = find_paths(Question("LNG", X, made_up.y, np.arange(1, 30), "JMI", {"FS": [3, 9]}))["FS"]
    assert path.subsets == {3: path.subsets[3], 9: [0, 1, 2, 3]}


def test_an_interrupted_search_is_no_result(made_up, monkeypatch):
    from dataclasses import replace

    plain = searching.selection_path

    def interrupted(*arguments, **options):
        return [replace(one, status="interrupted") for one in plain(*arguments, **options)]

    monkeypatch.setattr(searching, "selection_path", interrupted)
    with pytest.raises(KeyboardInterrupt):
        find_paths(Question("LNG", made_up.X, made_up.y, np.arange(30), "JMI", {"FS": [3]}))


def test_the_smallest_of_the_best_sizes():
    assert best_size({"10": {"mean": 0.9}, "2": {"mean": 0.8}, "9": {"mean": 0.9}}) == 9
