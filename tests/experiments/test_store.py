"""Results: whole or not at all, one file for all processes, and only as long as the settings stay."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from experiments.store import Result, UnfinishedFile, settings_fingerprint

from experiments import store

ROOT = Path(__file__).parents[2]
QUESTION = {"experiment": "accuracy", "set": "LNG", "measure": "JMI", "search": "FS", "protocol": "paper"}
# Answers questions of one experiment in the folders named, over and over: argv is folder, first set, how often.
ANSWERING = """
import sys
from pathlib import Path
from experiments import store
folder, name, often = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
store.RESULTS, store.UNFINISHED = folder / "results", folder / "unfinished"
for number in range(often):
    result = store.Result("quick", {"experiment": "similarity", "set": f"{name}{number % 20:02}"}, {})
    result.content["round"], result.content["much"] = number, list(range(2000))
    result.save()
    result.finish()
    print(number, flush=True)
"""


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(store, "UNFINISHED", tmp_path / "unfinished")


def answering(folder, name, often):
    command = [sys.executable, "-c", ANSWERING, str(folder), name, str(often)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("end", ["save", "finish"])
def test_what_was_kept_is_there_again(end):
    first = Result("quick", QUESTION, {"seed": 0})
    first.content["scores"] = {"SVM": {"2": {"mean": 0.123456, "folds": [1 / 3]}}}
    first.content["subsets"] = {"2": [4, 7]}
    getattr(first, end)()
    assert Result("quick", QUESTION, {"seed": 0}).content == {
        **QUESTION,
        "settings": settings_fingerprint({"seed": 0}),
        "scores": {"SVM": {"2": {"mean": 0.1235, "folds": [0.3333]}}},
        "subsets": {"2": [4, 7]},
    }


def test_answers_are_in_one_file_and_no_small_file_is_left(tmp_path):
    for search in ("FS", "BE", "COBRA", "BE"):
        result = Result("quick", {**QUESTION, "search": search}, {})
        result.save()
        assert (tmp_path / "unfinished" / "quick" / f"accuracy-LNG-JMI-{search}-paper.json").exists()
        result.finish()
    assert [path.name for path in (tmp_path / "results" / "quick").iterdir()] == ["accuracy.json"]
    rows = json.loads((tmp_path / "results" / "quick" / "accuracy.json").read_text())
    assert [row["search"] for row in rows] == ["BE", "COBRA", "FS"]
    assert not list((tmp_path / "unfinished" / "quick").glob("*.json"))


def test_a_question_begun_again_goes_on_from_where_it_is():
    result = Result("quick", QUESTION, {})
    result.content["sizes"] = [2]
    result.finish()
    again = Result("quick", QUESTION, {})
    again.content["sizes"] = [2, 3]
    again.save()
    assert Result("quick", QUESTION, {}).content["sizes"] == [2, 3]
    assert json.loads(result.kept.read_text())[0]["sizes"] == [2], "until it is finished"
    again.finish()
    assert json.loads(result.kept.read_text())[0]["sizes"] == [2, 3]


@pytest.mark.parametrize("end", ["save", "finish"])
def test_other_settings_start_anew(end):
    first = Result("quick", QUESTION, {"seed": 0})
    first.content["scores"] = {"SVM": {}}
    getattr(first, end)()
    assert "scores" not in Result("quick", QUESTION, {"seed": 1}).content
    assert "scores" in Result("quick", QUESTION, {"seed": 0}).content, "until something is written over it"


def test_a_torn_small_file_counts_for_nothing():
    first = Result("quick", QUESTION, {})
    first.save()
    first.path.write_text(first.path.read_text()[:20])
    assert Result("quick", QUESTION, {}).content == {**QUESTION, "settings": settings_fingerprint({})}


def test_a_file_of_answers_that_cannot_be_read_is_not_written_over():
    first = Result("quick", QUESTION, {})
    first.finish()
    first.kept.write_text("<<<<<<< " + first.kept.read_text())
    before = first.kept.read_text()
    with pytest.raises(ValueError):
        first.finish()
    with pytest.raises(ValueError):
        Result("quick", QUESTION, {})
    assert first.kept.read_text() == before


@pytest.mark.parametrize("end", ["save", "finish"])
def test_a_failure_while_writing_leaves_the_old_file(end):
    file = Result("quick", QUESTION, {})
    write = getattr(file, end)
    path = file.path if end == "save" else file.kept
    write()
    before = path.read_text()
    file.content["more"] = object()  # which JSON has no word for
    with pytest.raises(TypeError):
        write()
    assert path.read_text() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_processes_that_finish_at_once_lose_no_answer(tmp_path):
    workers = [answering(tmp_path, name, 20) for name in "ABC"]
    for worker in workers:
        worker.communicate()
        assert worker.returncode == 0
    rows = json.loads((tmp_path / "results" / "quick" / "similarity.json").read_text())
    assert [row["set"] for row in rows] == [f"{name}{number:02}" for name in "ABC" for number in range(20)]


def test_a_kill_at_any_moment_loses_no_answer(tmp_path):
    for attempt in range(8):
        worker = answering(tmp_path, "A", 10**9)
        assert worker.stdout is not None
        worker.stdout.readline()  # it is at work
        time.sleep(0.003 * attempt)
        worker.kill()
        said = [int(line) for line in worker.communicate()[0].splitlines()]
        rows = json.loads((tmp_path / "results" / "quick" / "similarity.json").read_text())
        rounds = {row["set"]: row["round"] for row in rows}
        for number in said[-20:]:
            assert rounds[f"A{number % 20:02}"] >= number
    result = Result("quick", {"experiment": "similarity", "set": "A00"}, {})
    result.finish()  # a dead process holds no lock


def test_what_only_a_run_needs_is_ignored_by_git_and_can_go():
    file = UnfinishedFile("quick", QUESTION, {})
    file.save()
    assert "experiments/unfinished/" in (ROOT / ".gitignore").read_text().splitlines()
    file.discard()
    assert not file.path.exists()


def test_files_are_json_with_a_line_for_each_part():
    file = Result("quick", QUESTION, {})
    file.content.update(rows=3, subsets={"2": [1, 2], "3": [1, 2, 3]}, scores={"SVM": {"2": 0.5}, "LDA": {}})
    file.content["finished"] = True
    file.finish()
    text = file.kept.read_text()
    assert json.loads(text) == [file.content]
    _, short, subsets, *scores, last, end = text.splitlines()
    assert short.endswith('"rows": 3,')
    assert subsets == ' "subsets": {"2": [1, 2], "3": [1, 2, 3]},'
    assert scores == [' "scores": {', '  "SVM": {"2": 0.5},', '  "LDA": {}},']
    assert (last, end) == (' "finished": true}', "]")


def test_committed_answers_are_in_the_form_and_order_a_run_writes(tmp_path):
    """Else the first answer of a new run would change lines of all the others."""
    results = ROOT / "experiments" / "results"
    paths = sorted(path for path in results.glob("*/*.json") if path.parent.name != "quick")
    assert paths
    for path in paths:
        row = json.loads(path.read_text())[0]
        result = Result(path.parent.name, {key: row[key] for key in ("experiment", *store.ORDER) if key in row}, {})
        result.kept.parent.mkdir(parents=True, exist_ok=True)
        result.kept.write_text(path.read_text())
        result.content = row
        result.finish()
        assert result.kept.read_text() == path.read_text()
