"""Standard input, output and error: what goes where, in which format, and who may stop reading."""

import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from certselect import choose_subset, load_result
from certselect.cli.chosen_table import print_result
from certselect.cli.output import Output
from certselect.results.result import Result
from command_line import COMMAND, JMI, certselect, error_of, in_process, on_a_terminal

COMMANDS = {
    "select": ["-k", "2"],
    "path": ["--max-size", "3"],
    "choose": ["--estimator", "lda", "--max-size", "2", "--cv", "2"],
}


@pytest.fixture(scope="module")
def text():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = rng.normal(size=(60, 4)) + y[:, None] * [2, 1, 0.5, 0]
    rows = [",".join(map(str, row)) + f",{label}\n" for row, label in zip(X.tolist(), y, strict=True)]
    return "a,b,c,d,y\n" + "".join(rows)


@pytest.fixture
def folder(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(text)
    return tmp_path


def command(name, *options, table="t.csv"):
    return [name, table, "-t", "y", *COMMANDS[name], *options]


def with_input(content, monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("sent", ["plain", "mark", "semicolons", "zipped", "parquet"])
def test_a_table_from_standard_input_is_that_of_a_file(folder, text, monkeypatch, name, sent):
    wanted = in_process(*command(name)).stdout
    stored = io.BytesIO()
    parquet.write_table(arrow_csv.read_csv(io.BytesIO(text.encode())), stored)
    content = {
        "plain": text.encode(),
        "mark": b"\xef\xbb\xbf" + text.encode(),
        "semicolons": text.replace(",", ";").encode(),
        "zipped": gzip.compress(text.encode()),
        "parquet": stored.getvalue(),
    }[sent]
    with_input(content, monkeypatch)
    done = in_process(*command(name, table="-"))
    assert (done.returncode, done.stdout) == (0, wanted), done.stderr


def test_verify_reads_the_table_from_standard_input(folder, text, monkeypatch):
    assert in_process(*command("select", "--json", "out.json")).returncode == 0
    for content, code in ((text, 0), (text.replace("a,b", "b,a"), 5), ("", 2)):
        with_input(content.encode(), monkeypatch)
        assert in_process("verify", "out.json", "-").returncode == code


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "an empty standard input"),
        (b" \n\n", "an empty standard input"),
        ("a,y\n1,2\n".encode("utf-16"), "standard input, which is UTF-16 or no text at all; expected CSV in UTF-8"),
        ("a,y\n1,2\n".encode("utf-16-le"), "UTF-16 or no text at all"),
        ("größe,y\n1,2\n".encode("latin-1"), "whose first line is not UTF-8"),
        ("a,y\nä,2\n".encode("latin-1"), "text that is not UTF-8 in column 'a' of standard input"),
        (b"\x7fELF\x02\x01\x01\x00" * 50, "UTF-16 or no text at all"),
        (bytes(range(128, 256)) * 20, "whose first line is not UTF-8"),
        (b"PAR1" + b"\xff" * 100, "standard input, which cannot be read as Parquet"),
        (b"\x1f\x8b" + b"\xff" * 100, "standard input, which cannot be read as text"),
        (b"a,b,y\n1,2\n1,2,3\n", "Expected 3 columns, got 2"),
        (b"a,b,y\n", "without any row"),
        (b"a,b,z\n1,2,3\n4,5,6\n", "--target y; expected one of the columns: 'a', 'b', 'z'"),
        (b"a,a,y\n1,2,3\n4,5,6\n", "column names that occur more than once: 'a'"),
    ],
)
def test_whatever_is_sent_is_refused_in_one_block(content, said, monkeypatch):
    with_input(content, monkeypatch)
    done = in_process("select", "-", "-t", "y")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in error_of(done)
    assert len(done.stderr) < 600


def test_a_closed_standard_input_and_a_folder(folder):
    quoted = " ".join(f"'{part}'" for part in [*COMMAND, *command("select", table="-")])
    done = subprocess.run(f"{quoted} <&-", shell=True, capture_output=True, text=True)
    assert "a standard input that is closed" in error_of(done)
    (folder / "folder.csv").mkdir()
    assert "the folder 'folder.csv', in which there is no file" in error_of(
        in_process(*command("select", table="folder.csv"))
    )


def test_a_very_long_line_is_read(folder):
    (folder / "long.csv").write_text("a,b,y\n" + "x" * 3_000_000 + ",1,0\n" + "u,1,0\nv,2,1\n" * 20)
    assert in_process(*command("select", table="long.csv")).returncode == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_json_alone_goes_to_standard_output(folder, name):
    by_name, by_format = (in_process(*command(name, *options)) for options in (["--json", "-"], ["--format", "json"]))
    for done in (by_name, by_format):
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["format"].startswith("certselect")
    refused = in_process(*command(name, "--json", "-", "--format", "csv"))
    assert "--json - with --format csv; expected one of them" in error_of(refused)
    assert refused.stdout == ""


def test_csv_is_one_table_with_all_digits(folder):
    chosen = list(csv.DictReader(io.StringIO(in_process(*command("select", "--format", "csv", *JMI)).stdout)))
    result = choose_subset("t.csv", "y", 2, random_state=0, criterion="jmi", measure="plugin", correction="none")
    assert [row["feature"] for row in chosen] == list(result.names)
    assert [float(row["value"]) for row in chosen] == [result.explanation["worth"][i] for i in result.indices]
    sizes = list(csv.DictReader(io.StringIO(in_process(*command("path", "--format", "csv")).stdout)))
    curve = json.loads(in_process(*command("path", "--json", "-")).stdout)
    assert [int(row["k"]) for row in sizes] == curve["sizes"]
    assert [float(row["value"]) for row in sizes] == curve["values"]
    assert [next(csv.reader([row["features"]])) for row in sizes] == curve["features"]
    scored = list(csv.DictReader(io.StringIO(in_process(*command("choose", "--format", "csv")).stdout)))
    assert set(scored[0]) == set(chosen[0])


def test_markdown_holds_tables_and_what_is_proven(folder):
    lines = in_process(*command("choose", "--format", "markdown")).stdout.split("\n")
    assert [line for line in lines if line.startswith(("| ---", "| --:"))] == [
        "| --: | --: | --: |",
        "| --- | --: | --: | --- | --: |",
    ]
    assert any(line.startswith(("Proven optimal: no other ", "No ")) for line in lines)
    for before, line in pairwise(lines):
        assert before == "" or before.startswith("|") == line.startswith("|") or line == "", "paragraphs stand apart"


@pytest.mark.parametrize("name", COMMANDS)
def test_quiet_is_the_result_alone(folder, text, name):
    lines = text.splitlines()
    (folder / "t.csv").write_text("\n".join([lines[0] + ",stuck", *(line + ",1" for line in lines[1:])]))
    loud = in_process(*command(name))
    quiet = in_process(*command(name, "--quiet", "--json", "out.json", "--n-neighbors", 3))
    assert quiet.stderr == ""
    assert quiet.stdout
    assert "value: " in loud.stdout
    assert "value: " not in quiet.stdout
    assert (folder / "out.json").exists()
    wrong = in_process(*command(name, "--quiet", "--bins", 1))
    assert "--bins 1" in error_of(wrong)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_saved_file_is_said_and_so_is_one_that_it_replaces(folder, name):
    assert "note: saved to 'out.json'\n" in in_process(*command(name, "--json", "out.json")).stderr
    done = in_process(*command(name, "--json", "out.json", "--format", "csv"))
    assert "note: saved to 'out.json', in the place of what was there\n" in done.stderr
    assert done.stdout.splitlines()[0].count(",") >= 2


def test_a_folder_that_cannot_be_written_to(folder):
    (folder / "shut").mkdir(mode=0o500)
    done = in_process(*command("select", "--json", "shut/out.json"))
    if os.geteuid() == 0:  # whom no mode keeps out
        assert done.returncode == 0
    else:
        assert "cannot be written (Permission denied)" in error_of(done)


@pytest.mark.parametrize("format", ["table", "csv"])
def test_a_reader_may_stop_after_a_line(folder, format):
    quoted = " ".join(f"'{part}'" for part in [*COMMAND, *command("select", "--format", format)])
    done = subprocess.run(f"{quoted} | head -n 1", shell=True, capture_output=True, text=True)
    assert done.stdout.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert "Broken" not in done.stderr


def test_verify_in_other_formats(folder):
    in_process(*command("select", "--json", "out.json"))
    told = json.loads(in_process("verify", "out.json", "t.csv", "--format", "json").stdout)
    assert (told["verdict"], told["reasons"]) == ("holds", [])
    assert told["value"] == load_result("out.json").selection.objective
    rows = list(csv.DictReader(io.StringIO(in_process("verify", "out.json", "t.csv", "--format", "csv").stdout)))
    assert [row["verdict"] for row in rows] == ["holds"]
    assert in_process("verify", "out.json", "t.csv", "--quiet").stdout == ""
    broken = in_process("verify", "t.csv", "t.csv", "--format", "json")
    assert broken.returncode == 4
    assert json.loads(broken.stdout)["value"] is None


def test_strategies_and_criteria_in_other_formats():
    listed = json.loads(in_process("strategies", "--format", "json").stdout)
    assert "draws=1000" in next(row["--option"] for row in listed if row["strategy"] == "cobra")
    assert in_process("criteria", "--format", "csv").stdout.startswith("criterion,")
    lines = in_process("criteria", "--format", "markdown").stdout.splitlines()
    assert lines[1] == "| --- | --- | --- |"
    assert {line.count(" | ") for line in lines if line.startswith("|")} == {2}


def test_debug_shows_where_an_error_came_from(folder):
    plain, debugged = (in_process(*command("select", "--bins", 1, *options)) for options in ([], ["--debug"]))
    assert plain.returncode == debugged.returncode == 2
    assert "Traceback" not in plain.stderr
    assert debugged.stderr.startswith("Traceback (most recent call last):")
    assert debugged.stderr.endswith(plain.stderr)


def test_a_fault_of_our_own_is_said_to_be_one(folder, monkeypatch):
    def broken(*arguments, **options):
        raise ZeroDivisionError("a \x1b[2Jslip")

    monkeypatch.setattr("certselect.results.choosing.read_checked", broken)
    done = in_process(*command("select"))
    assert done.returncode == 1
    assert error_of(done) == (
        "unexpected ZeroDivisionError: a \\x1b[2Jslip; This is a fault of certselect, or of a package that it uses.; "
        "Run it again with --debug, and report what is printed."
    )
    assert "Traceback" in in_process(*command("select", "--debug")).stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["select", "t.csv"], "Missing option '--target' / '-t'"),
        (["select", "t.csv", "-t", "y", "--bin", "3"], "No such option: --bin"),
        (["select", "t.csv", "-t", "y", "--format", "xml"], "'xml' is not one of"),
        (["path", "t.csv", "-t", "y", "--max-size", "0"], "--max-size"),
        (["selekt", "t.csv"], "No such command 'selekt'"),
        (["select"], "Missing argument"),
    ],
)
def test_wrong_usage_is_told_in_a_block_as_well(folder, arguments, said):
    done = in_process(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in error_of(done)
    assert error_of(done).endswith("--help` lists what there is.")


def test_near_names_of_a_target_are_suggested(folder, text):
    (folder / "t.csv").write_text(text.replace(",y\n", ",diagnosis\n"))
    assert error_of(in_process("select", "t.csv", "-t", "diagnose")).endswith("Did you mean 'diagnosis'?")


def test_notes_are_about_columns_in_play(folder):
    rows = [f"{i},2024-01-{1 + i % 28:02d},{i % 3 or ''},{7 * (i % 60)},1,{i % 2}" for i in range(120)]
    (folder / "t.csv").write_text("id,when,gap,towns,stuck,y\n" + "\n".join(rows))
    loud = in_process("path", "t.csv", "-t", "y", "--max-size", 1, "--integers", "levels").stderr
    for part in ("'id' left out", "'when' read as a date", "1 column has missing values"):
        assert part in loud
    apart = [part for name in ("when", "gap", "towns") for part in ("--exclude", name)]
    apart += ["--kind", "id=number", "--kind", "stuck=skip"]
    said = in_process("select", "t.csv", "-t", "y", "-k", 1, "--integers", "levels", *apart).stderr
    assert said == "note: 1 chosen feature is by itself no better than chance: 'id'\n"
    said = in_process("select", "t.csv", "-t", "y", "-k", 1, "--integers", "levels", "--exclude", "towns").stderr
    assert "50 levels" not in said


def test_what_auto_makes_idle_is_noted_once(folder, monkeypatch):
    monkeypatch.setattr(sys.modules["certselect.search.select"], "MOST_FOR_COBRA", 2)
    for name in ("select", "path"):
        said = in_process(*command(name, "--option", "draws=5")).stderr
        assert said.count("has no effect") == 1
        assert "note: --option draws=5 has no effect: --strategy auto uses forward selection for 4 features" in said


def test_what_became_of_a_large_proof_is_printed(folder, capsys, monkeypatch):
    result = choose_subset("t.csv", "y", 2, criterion="jmi", measure="plugin", correction="none")
    monkeypatch.setattr(Result, "about_proof", "The proof was too large to keep.")
    print_result(result, Output())
    assert "\nThe proof was too large to keep.\n" in capsys.readouterr().out


def test_a_narrow_terminal_without_colours(folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    seen = on_a_terminal(*command("select", "--bins", 3, "--n-neighbors", 4))
    answer = seen[seen.index("┏") :].replace("\r\n", "\n")
    styles = set(re.findall(r"\x1b\[[^m]*m", answer))
    assert styles <= {"\x1b[0m", "\x1b[1m"}, "bold at most"
    lines = re.sub(r"\x1b\[[^m]*m", "", answer).splitlines()
    assert max(map(len, lines)) <= 40
    assert "relevance: information about the target," in lines
    assert "  I(feature; target), in nats." in lines


def test_a_process_of_its_own_agrees(folder):
    """The one test here that starts one: all else runs the same code in this process."""
    done = certselect(*command("select", "--format", "csv", "--quiet"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == in_process(*command("select", "--format", "csv", "--quiet")).stdout
