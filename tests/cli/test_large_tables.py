"""`certselect select` and `verify` on folders and globs that are read in blocks."""

import json

import pytest

from certselect import choose_subset, load_result
from certselect.progress import listening
from certselect.table.streams.file_rows import FileRows
from command_line import JMI, error_of, in_process, on_a_terminal
from streamed import always_in_blocks, csv_folder, parquet_folder, plain_table  # noqa: F401

TABLE = plain_table(240).drop(["id"])


@pytest.fixture
def folder(tmp_path, monkeypatch, always_in_blocks):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    parquet_folder(TABLE, tmp_path / "data")
    csv_folder(TABLE, tmp_path / "text")
    return tmp_path


@pytest.mark.parametrize("rows", ["data", "data/", "data/*.parquet", "text", "text/part-?.csv"])
def test_a_folder_and_a_glob_give_the_answer_of_the_table_in_memory(folder, rows):
    options = ["--memory", "64MB", "--json", "out.json", "--quiet", *JMI]
    done = in_process("select", rows, "--target", "y", "-k", 3, *options)
    assert (done.returncode, done.stderr) == (0, "")
    got, wanted = (
        load_result("out.json"),
        choose_subset(TABLE, "y", 3, criterion="jmi", measure="plugin", correction="none"),
    )
    assert got.names == wanted.names
    assert got.selection.objective == wanted.selection.objective
    assert got.selection.upper_bound == wanted.selection.upper_bound
    for name in wanted.names:
        assert name in done.stdout


def test_a_saved_result_is_verified_against_the_files(folder):
    in_process("select", "data", "-t", "y", "-k", 3, "--json", "out.json", "--memory", "100MB")
    for rows in ("data", "data/*.parquet", "text"):
        done = in_process("verify", "out.json", rows, "--format", "json")
        assert json.loads(done.stdout)["verdict"] == "holds", rows
    parquet_folder(plain_table(240, seed=3).drop(["id"]), folder / "others")
    done = in_process("verify", "out.json", "others", "--format", "json")
    assert json.loads(done.stdout)["verdict"] == "another table"
    assert done.returncode != 0


def test_a_report_of_a_table_in_blocks(folder):
    done = in_process("select", "data/*.parquet", "-t", "y", "-k", 2, "--report", "page.html")
    assert done.returncode == 0, done.stderr
    page = (folder / "page.html").read_text()
    for name in choose_subset(TABLE, "y", 2, criterion="jmi", measure="plugin", correction="none").names:
        assert name in page


def test_a_stopped_run_goes_on(folder):
    asked = ("select", "data", "-t", "y", "-k", 3, "--format", "csv", "--quiet")
    plain = in_process(*asked)
    first = in_process(*asked, "--resume", "kept.npz")
    assert (folder / "kept.npz").stat().st_size > 0
    again = in_process(*asked, "--resume", "kept.npz")
    assert plain.stdout == first.stdout == again.stdout
    (folder / "kept.npz").write_bytes(b"other")
    assert "which cannot be read as a saved run" in error_of(in_process(*asked, "--resume", "kept.npz"))
    assert "'nowhere/kept.npz', which cannot be written" in error_of(in_process(*asked, "--resume", "nowhere/kept.npz"))


def test_progress_by_rows(folder):
    stages = []
    with listening(lambda stage, done, total, *_: stages.append((stage, done, total))):
        choose_subset("data", "y", 2, memory="64MB", criterion="jmi", measure="plugin", correction="none")
    read = [(done, total) for stage, done, total in stages if stage == "reading"]
    assert read[-1] == (240, 240)
    assert read == sorted(read)
    assert ("counting", 240, 240) in stages


def test_progress_is_shown_on_a_terminal(folder):
    seen = on_a_terminal("select", "data", "-t", "y", "-k", 2)
    assert choose_subset(TABLE, "y", 2, criterion="jmi", measure="plugin", correction="none").names[0] in seen


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--memory", "nonsense"], "--memory nonsense"),
        (["--memory", "1KB"], "64MB or more"),
        (["--target", "z"], "expected one of the columns"),
        (["--measure", "neighbors"], "--measure neighbors"),
        (["--weight", "words"], "something else than numbers"),
    ],
)
def test_what_cannot_be_is_said_in_words_of_the_command_line(folder, options, said):
    target = [] if "--target" in options else ["--target", "y"]
    done = in_process("select", "data", *target, "-k", 2, *options)
    assert done.returncode == 2
    assert said in error_of(done)


OTHERS = {"path": ["--max-size", 2], "choose": ["--estimator", "lda", "--max-size", 2, "--cv", 2]}


def test_splits_need_all_rows_at_once(folder):
    done = in_process("choose", "data", "-t", "y", *OTHERS["choose"])
    assert "one that fits into a quarter of the memory that is free" in error_of(done)


def test_paths_are_made_of_blocks_as_well(folder, monkeypatch):
    in_blocks = in_process("path", "data", "-t", "y", "--format", "csv", *OTHERS["path"])
    monkeypatch.setattr(FileRows, "n_bytes", 1000)
    at_once = in_process("path", "data", "-t", "y", "--format", "csv", *OTHERS["path"])
    assert in_blocks.returncode == 0, in_blocks.stderr
    assert in_blocks.stdout == at_once.stdout


def test_small_folders_are_read_at_once_by_every_command(folder, monkeypatch):
    monkeypatch.setattr(FileRows, "n_bytes", 1000)
    for command, options in {"select": [], **OTHERS}.items():
        done = in_process(command, "data", "-t", "y", "--quiet", *options)
        assert done.returncode == 0, done.stderr
