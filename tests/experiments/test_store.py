"""Result files: whole or not at all, and only as long as the settings stay."""

import json

import pytest
from experiments.store import result_file, settings_fingerprint, unfinished_file

from experiments import store

QUESTION = {"experiment": "accuracy", "set": "LNG", "measure": "JMI", "search": "FS", "protocol": "paper"}


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(store, "UNFINISHED", tmp_path / "unfinished")


def test_what_was_saved_is_there_again(tmp_path):
    first = result_file("quick", QUESTION, {"seed": 0})
    first.content["scores"] = {"SVM": {"2": {"mean": 0.123456, "folds": [1 / 3]}}}
    first.content["subsets"] = {"2": [4, 7]}
    first.save()
    assert first.path == tmp_path / "results" / "quick" / "accuracy-LNG-JMI-FS-paper.json"
    assert result_file("quick", QUESTION, {"seed": 0}).content == {
        **QUESTION,
        "settings": settings_fingerprint({"seed": 0}),
        "scores": {"SVM": {"2": {"mean": 0.1235, "folds": [0.3333]}}},
        "subsets": {"2": [4, 7]},
    }


def test_other_settings_start_anew():
    first = result_file("quick", QUESTION, {"seed": 0})
    first.content["scores"] = {"SVM": {}}
    first.save()
    assert "scores" not in result_file("quick", QUESTION, {"seed": 1}).content
    assert "scores" in result_file("quick", QUESTION, {"seed": 0}).content, "until something is saved over it"


def test_a_torn_file_counts_for_nothing():
    first = result_file("quick", QUESTION, {})
    first.save()
    first.path.write_text(first.path.read_text()[:20])
    assert result_file("quick", QUESTION, {}).content == {**QUESTION, "settings": settings_fingerprint({})}


def test_a_failure_while_writing_leaves_the_old_file(monkeypatch):
    file = result_file("quick", QUESTION, {})
    file.save()
    before = file.path.read_text()
    file.content["more"] = object()  # which JSON has no word for
    with pytest.raises(TypeError):
        file.save()
    assert file.path.read_text() == before
    assert [path.name for path in file.path.parent.iterdir()] == [file.path.name]


def test_unfinished_files_are_ignored_by_git_and_can_go(tmp_path):
    file = unfinished_file("quick", QUESTION, {})
    file.save()
    assert (tmp_path / "unfinished" / ".gitignore").read_text() == "*\n"
    file.discard()
    assert not file.path.exists()


def test_files_are_json_with_a_line_for_each_part():
    file = result_file("quick", QUESTION, {})
    file.content["subsets"] = {"2": [1, 2], "3": [1, 2, 3]}
    file.save()
    text = file.path.read_text()
    assert json.loads(text) == file.content
    assert '  "3": [1, 2, 3]\n' in text
