"""What the command line leaves behind: files that destroy none, text that no terminal obeys, quiet ends of pipes."""

import json
import os
import stat
import subprocess
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from certselect.cli.output import Output
from certselect.errors import InvalidInput
from certselect.names import harmless
from certselect.results import files
from command_line import COMMAND, certselect, error_of, in_process, on_a_terminal

COMMANDS = {
    "select": ["-k", "2"],
    "path": ["--max-size", "3"],
    "choose": ["--estimator", "lda", "--max-size", "2", "--cv", "2"],
}
HOSTILE = ["\x1b[31mred\x1b[2J", "[red]b[/red]", "c\rverified", "d\b\b\b", "e\u202egnp.exe", ":smile:", "g\x9b31m\x07"]


def made_table(path, names):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)
    X = rng.normal(size=(40, len(names))) + y[:, None] * np.linspace(2, 0, len(names))
    quoted = ",".join(f'"{name}"' for name in names)
    rows = "".join(",".join(map(str, row)) + f",{label}\n" for row, label in zip(X.tolist(), y, strict=True))
    path.write_text(f"{quoted},y\n{rows}", newline="")
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made_table(Path("table.csv"), "abcd")
    return tmp_path


def command(name, *options, table="table.csv"):
    return [name, table, "-t", "y", *COMMANDS[name], *options]


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("other", ["table.csv", "./table.csv", "symbolic.json", "hard.json"])
def test_the_table_is_not_overwritten(folder, name, other):
    before = Path("table.csv").read_bytes()
    Path("symbolic.json").symlink_to("table.csv")
    os.link("table.csv", "hard.json")
    for written in (other, folder / other):
        done = in_process(*command(name, "--json", written))
        assert (done.returncode, done.stdout) == (2, "")
        assert "which is 'table.csv', a file of this command" in done.stderr
    assert Path("table.csv").read_bytes() == before
    assert sorted(os.listdir()) == ["hard.json", "symbolic.json", "table.csv"]


def test_no_other_input_is_overwritten(folder):
    Path("costs.csv").write_text("feature,cost\na,1\n")
    for name in COMMANDS:
        done = in_process(*command(name, "--costs", "costs.csv", "--budget", 9, "--json", "./costs.csv"))
        assert done.returncode == 2
        assert "which is 'costs.csv', a file of this command" in done.stderr
    done = in_process(*command("choose", "--resume", "new.json", "--json", "./new.json"))
    assert "which is 'new.json', a file of this command" in done.stderr
    done = in_process(*command("choose", "--resume", "table.csv"))
    assert "the checkpoint 'table.csv', which holds something else" in done.stderr
    assert Path("costs.csv").read_text() == "feature,cost\na,1\n"
    assert sorted(os.listdir()) == ["costs.csv", "table.csv"]


@pytest.mark.parametrize("name", COMMANDS)
def test_pipes_links_and_devices_are_refused_before_the_work(folder, name, monkeypatch):
    os.mkfifo("pipe")
    Path("link").symlink_to("elsewhere")
    Path("folder").mkdir()
    there = ["pipe", "link", "folder"]
    with suppress(PermissionError):  # only root can make one, and not in every container
        os.mknod("device", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        there.append("device")
    monkeypatch.setattr("certselect.results.choosing.read_checked", None)  # the table is not even read
    for path in [*there, "folder/none/out.json", "table.csv/out.json"]:
        done = in_process(*command(name, "--json", path))
        assert (done.returncode, done.stdout) == (2, "")
        assert error_of(done).startswith(f"got the file '{path}', which ")
    assert sorted(os.listdir()) == sorted([*there, "table.csv"])
    assert stat.S_ISFIFO(os.lstat("pipe").st_mode)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_reader_that_leaves_takes_nothing_from_the_file(folder, name):
    """As `| head -1` does, at the worst moment: before the first line."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*COMMAND, *command(name, "--json", "out.json")], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert done.returncode == 0
    assert all(line.startswith(b"note: ") for line in done.stderr.splitlines())
    assert "format" in json.loads(Path("out.json").read_text())
    assert sorted(os.listdir()) == ["out.json", "table.csv"]


def test_closed_streams(folder):
    quoted = " ".join(f"'{part}'" for part in [*COMMAND, *command("choose", "--json", "out.json")])
    done = subprocess.run(f"{quoted} >&- 2>&-", shell=True)
    assert done.returncode == 0
    assert sorted(os.listdir()) == ["out.json", "table.csv"]
    quoted = " ".join(f"'{part}'" for part in [*COMMAND, *command("select", "--json", "-")])
    done = subprocess.run(f"{quoted} >&-", shell=True, capture_output=True, text=True)
    assert done.returncode == 2
    assert error_of(done).startswith("got a standard output that cannot be written (closed)")


@pytest.mark.parametrize("words", [[*command("select", "--quiet")], ["criteria"]], ids=["select", "criteria"])
def test_a_result_that_nothing_keeps_is_a_failure(folder, words):
    quoted = " ".join(f"'{part}'" for part in [*COMMAND, *words])
    done = subprocess.run(f"{quoted} >&-", shell=True, capture_output=True, text=True)
    assert done.returncode == 2
    assert error_of(done).startswith("got a standard output that cannot be written (closed)")


def test_json_that_nobody_reads_is_a_quiet_failure(folder):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*COMMAND, *command("select", "--json", "-")], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="Linux has it")
@pytest.mark.parametrize("json_file", ["-", "out.json"])
def test_a_standard_output_that_is_full_is_told_in_a_line(folder, json_file):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, *command("select", "--json", json_file)], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert "cannot be written (No space left on device)" in error_of(done)
    assert Path("out.json").exists() == (json_file != "-")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_disk_that_fills_up_during_the_work_is_told_after_the_answer(folder, name, monkeypatch):
    Path("out.json").write_text("old")

    def full(text, path):
        raise InvalidInput("a full disk", "another", "Tidy up.")

    monkeypatch.setattr(files, "write_text", full)
    done = in_process(*command(name, "--json", "out.json"))
    assert done.returncode == 2
    assert "value: " in done.stdout
    assert done.stderr.endswith("certselect: got a full disk\n  expected another\n  Tidy up.\n")
    assert Path("out.json").read_text() == "old"
    assert Path("out.json.unfinished").exists() == (name == "choose")  # the work can be gone on from


def test_the_scores_of_another_search_say_what_to_do(folder):
    assert in_process(*command("choose", "--resume", "out.json.unfinished")).returncode == 0
    done = in_process(*command("choose", "--json", "out.json", "--criterion", "mrmr"))
    assert done.returncode == 2
    assert "'out.json.unfinished', which is of a run with another criterion; " in error_of(done)
    assert "Name another file, or delete this one to start again." in done.stderr


def test_memory_that_runs_out_is_told_in_a_line(folder, monkeypatch):
    def too_much(*arguments, **options):
        raise MemoryError("Unable to allocate 7 TiB")

    monkeypatch.setattr("certselect.results.choosing.read_checked", too_much)
    done = in_process(*command("select"))
    assert (done.returncode, done.stdout) == (2, "")
    assert error_of(done).startswith("out of memory (Unable to allocate 7 TiB); ")


LONG = "9" * 5000


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("select", ["--bins", "²"], "--bins ²; expected a whole number, 2 to 10000, or one of auto, sturges"),
        ("select", ["--bins", "½"], "--bins ½"),
        ("select", ["--bins", "1000000000"], "--bins 1000000000; expected a whole number, 2 to 10000"),
        ("select", ["--bins", LONG], "expected a whole number, 2 to 10000"),
        ("select", ["--bins", "-5"], "--bins -5"),
        ("select", ["--target-bins", "1000000000"], "--target-bins 1000000000; expected a whole number, 2 to 10000"),
        ("choose", ["--sizes", "²"], "Check '²'"),
        ("choose", ["--sizes", LONG], "expected sizes like 1-10,15,20"),
        ("choose", ["--sizes", "1-100000000000"], "Check '1-100000000000'"),
        ("choose", ["--cv", "1000000000"], "too large a --cv"),
        ("choose", ["--cv", "39"], "too large a --cv"),
    ],
)
def test_numbers_beyond_reason_are_told_in_a_line(folder, name, options, said):
    given = [part for part in command(name) if not (options[0] == "--sizes" and part in ("--max-size", "2"))]
    if options[0] == "--sizes":
        given = ["choose", "table.csv", "-t", "y", "--estimator", "lda"]
    done = in_process(*given, *options)
    assert done.returncode == 2
    assert said in error_of(done)
    assert len(done.stderr) < 500


def test_digits_of_other_scripts_are_numbers(folder):
    assert in_process(*command("select", "--bins", "٣")).stdout == in_process(*command("select", "--bins", "3")).stdout


def is_harmless(text):
    return all(line.isprintable() for line in text.split("\n"))


def test_harmless_text():
    assert harmless("ordinary äöü 数 \\ 'quoted'") == "ordinary äöü 数 \\ 'quoted'"
    assert harmless("a\x1b[2J\r\n\b\x07\x9b\u202e\u2066\u200b\ud800") == (
        r"a\x1b[2J\r\n\x08\x07\x9b\u202e\u2066\u200b\ud800"
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_names_that_would_steer_a_terminal_are_shown(folder, name):
    made_table(Path("hostile.csv"), HOSTILE)
    done = in_process(*command(name, table="hostile.csv"))
    assert done.returncode == 0, done.stderr
    assert is_harmless(done.stdout)
    assert is_harmless(done.stderr)
    printed = done.stdout.replace("\n", "")
    assert any(spelled in printed for spelled in (r"\x1b[31mred", r"c\rverified", r"d\x08", r"e\u202e"))


def test_names_are_kept_as_they_are_in_files(folder):
    made_table(Path("hostile.csv"), HOSTILE)
    assert in_process(*command("select", "--json", "out.json", "-k", 7, table="hostile.csv")).returncode == 0
    assert set(json.loads(Path("out.json").read_text())["selection"]["features"]) == set(HOSTILE)
    assert is_harmless(Path("out.json").read_text())
    done = in_process(*command("path", "--max-size", 7, table="hostile.csv"))
    for shown in ("[red]b[/red]", r"c\rverified", r"d\x08\x08\x08", r"e\u202egnp.exe", ":smile:", r"g\x9b31m\x07"):
        assert shown in done.stdout


def test_notes_and_errors_are_harmless(folder):
    made_table(Path("hostile.csv"), HOSTILE)
    rows = Path("hostile.csv").read_bytes().decode().replace("\n", ",1\n").replace(",1\n", ',"\x1b[8mconst"\n', 1)
    Path("hostile.csv").write_text(rows, newline="")
    done = in_process(*command("select", table="hostile.csv"))
    assert r"constant column was left out: '\x1b[8mconst'" in done.stderr
    assert is_harmless(done.stderr)
    for options in (
        ["select", "hostile.csv", "-t", "\x1b[31m"],
        ["select", "\x1b[31m.csv", "-t", "y"],
        ["select", "hostile.csv", "-t", "y", "--json", "\x1b[31m/out.json"],
        ["select", "hostile.csv", "-t", "y", "--include", "\x1b[31m"],
        ["select", "hostile.csv", "-t", "y", "--costs", "\x1b[31m.csv", "--budget", "1"],
        ["choose", "hostile.csv", "-t", "y", "--estimator", "\x1b[31m"],
        ["choose", "hostile.csv", "-t", "y", "--estimator", "lda", "--scoring", "\x1b[31m"],
        ["choose", "hostile.csv", "-t", "y", "--estimator", "lda", "--sizes", "\x1b[31m"],
        ["select", "hostile.csv", "-t", "y", "--strategy", "\x1b[31m"],
        ["select", "hostile.csv", "-t", "y", "--option", "\x1b[31m"],
    ):
        done = in_process(*options)
        assert done.returncode == 2, options
        assert is_harmless(done.stderr), options
        assert error_of(done)


def test_a_terminal_gets_styles_but_no_sequences_of_names(folder):
    made_table(Path("hostile.csv"), HOSTILE)
    seen = on_a_terminal(*command("path", table="hostile.csv"))
    assert "\x1b[31m" not in seen
    assert "\x1b[2J" not in seen
    assert r"\x1b[31mred" in seen


def test_streams_of_few_characters_get_the_others_spelled(folder):
    made_table(Path("table.csv"), ["ä数", "b", "c"])
    done = certselect(*command("select"), env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert r"\xe4\u6570" in done.stdout


def test_notes_go_through_the_same_door(capsys):
    Output().note(["a\x1b[2Jb"])
    assert capsys.readouterr().err == "note: a\\x1b[2Jb\n"
