"""Ctrl-C on the command line: the best so far is printed and written, words and exit code say so."""

import json
import os
import signal
import subprocess

import numpy as np
import pytest

from certselect import load_result
from certselect.progress import listening
from certselect.results import files
from command_line import COMMAND, JMI, in_process
from pressed import Pressed, spread

COLUMNS = 40


@pytest.fixture(autouse=True)
def minded():
    """Ctrl-C is minded, even where whoever started the tests ignores it (as under nohup)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def csv(tmp_path_factory):
    rng = np.random.default_rng(5)
    path = tmp_path_factory.mktemp("table") / "t.csv"
    names = ",".join(f"f{i}" for i in range(COLUMNS))
    rows = np.column_stack([rng.integers(0, 3, (60, COLUMNS)), rng.integers(0, 2, 60)])
    path.write_text(f"{names},y\n" + "\n".join(",".join(map(str, row)) for row in rows))
    return path


def pressing(stage, at=1):
    """A listener that presses Ctrl-C at a report of a stage, once."""
    seen = []

    def press(current, done, total):
        seen.append(current.partition(",")[0])
        if seen[-1] == stage and seen.count(stage) == at:
            raise KeyboardInterrupt

    return press


SELECT = {
    ("forward", 2): ["--strategy", "forward"],
    ("relaxation", 3): ["--strategy", "forward", "--certify"],
    ("proof", 1): ["--strategy", "forward", "--tight"],
    ("proof", 5): ["--strategy", "forward", "--tight"],
    ("rounding", 1): ["--strategy", "cobra", "--polish"],
    ("annealing", 1): ["--strategy", "annealing", "--certify"],
}


@pytest.mark.parametrize(("press", "options"), SELECT.items(), ids=[f"{a}-{b}" for a, b in SELECT])
def test_select(csv, tmp_path, press, options):
    file = tmp_path / "out.json"
    with listening(pressing(*press)):
        done = in_process("select", csv, "-t", "y", "-k", 4, *options, "--json", file)
    assert done.returncode == 130, done.stderr
    assert "(interrupted)" in done.stdout
    assert "note: interrupted; this is the best subset found so far" in done.stderr
    selection = load_result(file).selection
    assert selection.status == "interrupted"
    assert len(selection.indices) == 4
    checked = in_process("verify", file, csv)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("options", [["--certify"], ["--tight"], ["--polish"], []])
def test_a_path_shows_the_sizes_it_searched_and_no_others(csv, tmp_path, options):
    """Ctrl-C in the third size's search: floating has one for each."""
    file, searches = tmp_path / "path.json", []

    def press(stage, done, total):
        searches.append(stage)
        if stage == "floating" and total == 3:
            raise KeyboardInterrupt

    with listening(press):
        asked = ["--max-size", 8, "--strategy", "floating", *options, *JMI]
        done = in_process("path", csv, "-t", "y", *asked, "--json", file)
    assert done.returncode == 130, done.stderr
    curve = json.loads(file.read_text())
    assert curve["sizes"] == [1, 2, 3]
    assert curve["statuses"][-1] == "interrupted"
    assert "interrupted" not in curve["statuses"][:-1]
    assert curve["elbow"] is None
    assert searches[-1] == "floating", "nothing comes after it"
    assert done.stderr.count("note: interrupted; what is shown of k = 3 is the best found so far; 5 of 8 sizes") == 1
    assert "interrupted" in done.stdout


@pytest.mark.parametrize(("option", "stage"), [("--certify", "relaxation"), ("--tight", "proof")])
def test_a_path_interrupted_in_a_proof_searches_and_proves_nothing_more(csv, tmp_path, option, stage):
    file, stages = tmp_path / "path.json", []

    def press(current, done, total):
        stages.append(current.partition(",")[0])
        if stages[-1] == stage:
            raise KeyboardInterrupt

    with listening(press):
        done = in_process("path", csv, "-t", "y", "--max-size", 6, "--strategy", "forward", option, "--json", file)
    assert done.returncode == 130, done.stderr
    assert stages.count(stage) == 1
    # The multipliers there are by then still become a bound.
    assert set(stages[stages.index(stage) + 1 :]) <= {"certificate"}
    curve = json.loads(file.read_text())
    # One search gave all sizes; those behind the interrupt have no bound.
    assert curve["sizes"] == [1, 2, 3, 4, 5, 6]
    first = curve["statuses"].index("interrupted")
    assert set(curve["statuses"][first:]) == {"interrupted"}
    assert curve["upper_bounds"][first + 1 :] == [None] * (5 - first)


@pytest.mark.parametrize("command", ["select", "path", "choose"])
def test_ctrl_c_before_there_is_a_result(csv, tmp_path, command):
    file = tmp_path / "out.json"
    options = ["--estimator", "tree"] if command == "choose" else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("certselect.table.files.read_file", _press, raising=False)
        patch.setattr("certselect.results.choosing.open_source", _press)
        done = in_process(command, csv, "-t", "y", *options, "--json", file)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "certselect: interrupted before there was a result\n"
    assert not file.exists()


def _press(*arguments, **options):
    raise KeyboardInterrupt


def test_verify_confirms_nothing_that_it_did_not_check(csv, tmp_path):
    file = tmp_path / "out.json"
    assert in_process("select", csv, "-t", "y", "-k", 3, "--json", file).returncode == 0
    with Pressed(within="results") as undisturbed:
        in_process("verify", file, csv)
    for at in spread(undisturbed.points, 12):
        with Pressed(at, within="results") as pressed:
            done = in_process("verify", file, csv)
        assert (done.returncode, done.stdout) == (130, ""), pressed.where
        assert done.stderr == "certselect: interrupted before there was a result\n"


@pytest.mark.parametrize("stage", ["classifiers", "choosing subsets", "forward"])
def test_choose_goes_on_after_ctrl_c(csv, tmp_path, stage):
    file = tmp_path / "out.json"
    command = ["choose", csv, "-t", "y", "--estimator", "tree", "--sizes", "1-3", "--cv", 3, "--jobs", 1]
    command += ["--strategy", "forward", "--seed", 1]
    whole = in_process(*command)
    with listening(pressing(stage, 4)):
        stopped = in_process(*command, "--json", file)
    assert stopped.returncode == 130, stopped.stderr
    assert "interrupted; this is the best so far; the same command goes on from" in stopped.stderr
    assert not file.exists()
    again = in_process(*command, "--json", file)
    assert again.returncode == 0, again.stderr
    assert again.stdout == whole.stdout
    assert os.listdir(tmp_path) == ["out.json"]


def test_choose_interrupted_in_the_last_search_writes_what_it_has(csv, tmp_path):
    file = tmp_path / "out.json"
    command = ["choose", csv, "-t", "y", "--estimator", "tree", "--sizes", "3", "--cv", 2, "--jobs", 1]
    command += ["--strategy", "forward", "--certify", "--json", file]
    with listening(pressing("relaxation", 2)):  # the splits ask for no bound
        stopped = in_process(*command)
    assert stopped.returncode == 130, stopped.stderr
    assert load_result(file).selection.status == "interrupted"
    assert "(interrupted)" in stopped.stdout
    assert (tmp_path / "out.json.unfinished").exists()


def test_choose_prints_json_alone_where_asked_to(csv):
    command = ["choose", csv, "-t", "y", "--estimator", "tree", "--sizes", "1-3", "--cv", 3, "--jobs", 1, "--json", "-"]
    with listening(pressing("classifiers", 5)):
        stopped = in_process(*command)
    assert (stopped.returncode, stopped.stdout) == (130, "")


def test_ctrl_c_while_the_result_is_told_waits_for_its_end(csv, tmp_path, monkeypatch):
    file, write = tmp_path / "out.json", files.write_text

    def press_first(text, file):
        signal.raise_signal(signal.SIGINT)
        return write(text, file)

    monkeypatch.setattr(files, "write_text", press_first)
    done = in_process("select", csv, "-t", "y", "-k", 3, "--json", file)
    assert done.returncode == 130
    assert load_result(file).selection.status == "complete"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_while_the_result_is_told_ends_it(csv, tmp_path, monkeypatch):
    file = tmp_path / "out.json"

    def press_twice(text, file):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(files, "write_text", press_twice)
    assert in_process("select", csv, "-t", "y", "-k", 3, "--json", file).returncode == 130
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_real_signal(csv, tmp_path):
    """The process sends it to itself, in the proof of the third size."""
    file = tmp_path / "path.json"
    code = """
import os, signal
from certselect.cli import main
from certselect.progress import listening

signal.signal(signal.SIGINT, signal.default_int_handler)
seen = []
def press(stage, done, total):
    seen.append(stage)
    if sum(stage.startswith("proof") for stage in seen) == 1 and stage.startswith("proof"):
        os.kill(os.getpid(), signal.SIGINT)

with listening(press):
    main()
"""
    arguments = ["path", csv, "-t", "y", "--max-size", "6", "--strategy", "floating", "--tight", "--json", file]
    done = subprocess.run([COMMAND[0], "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 130, done.stderr
    curve = json.loads(file.read_text())
    assert curve["statuses"][-1] == "interrupted"
    assert len(curve["sizes"]) < 6
    assert "sizes were not searched" in done.stderr
