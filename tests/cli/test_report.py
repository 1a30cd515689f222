"""`--report`, `certselect report` of a saved result, and the report of the demo."""

import io
import json
import sys
from types import SimpleNamespace

import pytest

from certselect.cli.app import DEMO_REPORT
from certselect.errors import InvalidInput
from certselect.search.selection import INTERRUPTED
from command_line import error_of, in_process
from report.made_reports import tumours

BEGINNING = "<!DOCTYPE html>"
REPLACED = ", in the place of what was there"


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A table, in the folder that commands run in."""
    monkeypatch.chdir(tmp_path)
    tumours().to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


@pytest.fixture
def saved(table, tmp_path):
    run("select", table, "-t", "diagnosis", "-k", 4, "--json", tmp_path / "chosen.json")
    return tmp_path / "chosen.json"


def run(*words):
    done = in_process(*words)
    assert done.returncode == 0, done.stderr
    return done


def page(path):
    return path.read_text(encoding="utf-8")


def notes(done):
    return done.stderr.splitlines()


def test_select_writes_a_report_that_names_the_table(table, tmp_path):
    out = tmp_path / "r.html"
    done = run("select", table, "-t", "diagnosis", "-k", 4, "--report", out)
    assert f"note: report saved to '{out}'" in notes(done)
    assert f"certselect select {table} --target diagnosis -k 4 --seed 0" in page(out)
    again = run("select", table, "-t", "diagnosis", "-k", 4, "--report", out)
    assert f"note: report saved to '{out}'{REPLACED}" in notes(again)


def test_choose_and_path_write_reports_too(table, tmp_path):
    few = ("--estimator", "lda", "--max-size", 2, "--cv", 2)
    run("choose", table, "-t", "diagnosis", *few, "--report", tmp_path / "c.html")
    assert "How well they predict" in page(tmp_path / "c.html")
    run("path", table, "-t", "diagnosis", "--max-size", 3, "--report", tmp_path / "p.html")
    assert "Value and upper bound" in page(tmp_path / "p.html")


@pytest.mark.parametrize("command", [("select", "-k", 2), ("path", "--max-size", 2)])
def test_a_report_changes_nothing_on_standard_output(command, table, tmp_path):
    words = (command[0], table, "-t", "diagnosis", *command[1:], "--quiet", "--format", "csv")
    done = run(*words, "--report", tmp_path / "r.html", "--json", tmp_path / "r.json")
    assert done.stdout == run(*words).stdout
    assert done.stderr == ""
    assert page(tmp_path / "r.html").startswith(BEGINNING)
    assert page(tmp_path / "r.json").startswith("{")


def test_json_on_standard_output_goes_with_a_report(table, tmp_path):
    done = run("select", table, "-t", "diagnosis", "-k", 2, "--json", "-", "--report", tmp_path / "r.html")
    assert done.stdout.startswith("{")
    assert page(tmp_path / "r.html").startswith(BEGINNING)


def test_a_table_from_standard_input_has_no_name_in_the_report(table, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(table.read_bytes())))
    run("select", "-", "-t", "diagnosis", "-k", 2, "--report", tmp_path / "r.html")
    assert "certselect select TABLE.csv --target diagnosis" in page(tmp_path / "r.html")


def test_a_saved_result_becomes_a_report_with_and_without_its_table(saved, table, tmp_path):
    done = run("report", saved)
    assert notes(done) == [f"note: report saved to '{tmp_path / 'chosen.html'}'"]
    assert done.stdout == ""
    assert "were not checked" in page(tmp_path / "chosen.html")
    assert notes(run("report", saved)) == [f"note: report saved to '{tmp_path / 'chosen.html'}'{REPLACED}"]
    assert run("report", saved, "--table", table, "--out", tmp_path / "whole.html", "--quiet").stderr == ""
    assert "checked against the table and holds" in page(tmp_path / "whole.html")


def test_a_result_of_another_table_becomes_no_report(saved, tmp_path):
    tumours().head(200).to_csv(tmp_path / "other.csv", index=False)
    done = in_process("report", saved, "--table", tmp_path / "other.csv", "--out", tmp_path / "none.html")
    assert "another table" in error_of(done)
    assert done.returncode == 2
    assert not (tmp_path / "none.html").exists()


def test_a_report_can_come_and_go_by_standard_streams(saved, table, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(table.read_bytes())))
    done = run("report", saved, "--table", "-", "--out", "-")
    assert done.stdout.startswith(BEGINNING)
    assert "checked against the table and holds" in done.stdout
    assert done.stderr == ""
    assert {file.name for file in tmp_path.iterdir()} == {"t.csv", "chosen.json"}


def test_standard_output_is_not_shared_by_a_result_and_its_report(table, tmp_path):
    done = in_process("select", table, "-t", "diagnosis", "--report", "-")
    assert error_of(done).startswith("got --report -; expected a file: standard output is for the result; Name a file")
    assert done.returncode == 2
    assert [file.name for file in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize("words", [("--report", "t.csv"), ("--report", "."), ("--report", "same", "--json", "same")])
def test_no_report_is_written_over_other_files_of_the_command(table, tmp_path, words):
    given = [word if word.startswith("--") else tmp_path / word for word in words]
    before = page(table)
    done = in_process("select", table, "-t", "diagnosis", *given)
    assert "the file" in error_of(done)
    assert (done.returncode, done.stdout) == (2, "")  # before any work
    assert page(table) == before


def test_a_report_is_not_written_over_its_result(saved):
    before = page(saved)
    assert "a file of this command" in error_of(in_process("report", saved, "--out", saved))
    assert page(saved) == before


def test_what_was_found_is_shown_where_a_report_cannot_be_written_in_the_end(table, tmp_path, monkeypatch):
    def full(facts, path):
        raise InvalidInput(f"the file {str(path)!r}, which cannot be written (disk full)", "room", "Make some.")

    monkeypatch.setattr("certselect.report.write_report", full)
    out = tmp_path / "r.html"
    done = in_process("select", table, "-t", "diagnosis", "-k", 2, "--report", out, "--json", tmp_path / "r.json")
    assert "disk full" in error_of(done)
    assert "2 of 30 features" in done.stdout
    assert done.returncode == 2
    assert page(tmp_path / "r.json").startswith("{")


def test_an_interrupted_path_has_a_report_without_an_elbow(table, tmp_path, monkeypatch):
    from dataclasses import replace

    from certselect.evaluation import sizes

    def stopped(*given, **settings):
        curve = whole(*given, **settings)
        return replace(curve, selections=(replace(curve.selections[0], status=INTERRUPTED), *curve.selections[1:]))

    whole = sizes.value_curve
    monkeypatch.setattr(sizes, "value_curve", stopped)
    words = ("path", table, "-t", "diagnosis", "--max-size", 8, "--report", tmp_path / "p.html")
    assert in_process(*words).returncode == 130
    assert "Value and upper bound" in page(tmp_path / "p.html")
    assert "lbow" not in page(tmp_path / "p.html")


def test_the_demo_writes_a_report_and_says_where(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert notes(run("demo")) == [f"note: report saved to '{DEMO_REPORT}'"]
    assert "worst concave points" in page(DEMO_REPORT)
    assert "Which 8 columns of 30 predict &#39;diagnosis&#39; best together" in page(DEMO_REPORT)
    assert "certselect demo" in page(DEMO_REPORT)
    assert notes(run("demo")) == [f"note: report saved to '{DEMO_REPORT}'{REPLACED}"]


def test_a_quiet_demo_prints_its_result_alone_and_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("demo", "--quiet").stderr == ""
    assert not DEMO_REPORT.exists()


def test_the_demo_works_where_no_file_can_be_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    precious = tmp_path / "precious"
    precious.write_text("mine")
    DEMO_REPORT.symlink_to(precious)
    done = run("demo")
    assert notes(done) == [f"note: no report was written to the file '{DEMO_REPORT}', which is a link"]
    assert "Try next" in done.stdout
    assert precious.read_text() == "mine"


def test_a_path_becomes_no_report_of_a_result(table, tmp_path):
    run("path", table, "-t", "diagnosis", "--max-size", 3, "--json", tmp_path / "path.json")
    said = error_of(in_process("report", tmp_path / "path.json"))
    assert said.startswith("got a path (what `certselect path --json` saved)")
    assert "`certselect path ... --report FILE`" in said


def test_forged_scores_that_nothing_can_be_added_to_are_drawn_as_unknown(table, tmp_path):
    few = ("--estimator", "lda", "--max-size", 2, "--cv", 2)
    run("choose", table, "-t", "diagnosis", *few, "--json", tmp_path / "c.json")
    stored = json.loads(page(tmp_path / "c.json"))
    tried = stored["choice"]["combinations"][0]
    tried["mean_scores"], tried["standard_errors"] = [1e308, -1e308], [1e308, 1e308]
    (tmp_path / "c.json").write_text(json.dumps(stored))
    run("report", tmp_path / "c.json")
    assert "1.0e+308" in page(tmp_path / "c.html")


def sent(file, monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(file.read_bytes())))


def test_a_result_can_come_by_standard_input(saved, table, tmp_path, monkeypatch):
    sent(saved, monkeypatch)
    assert "verified: " in run("verify", "-", table).stdout
    sent(saved, monkeypatch)
    assert run("report", "-", "--out", "-").stdout.startswith(BEGINNING)
    sent(table, monkeypatch)
    done = in_process("verify", "-", table)
    assert done.returncode == 4
    assert "what is not JSON" in done.stderr
    sent(saved, monkeypatch)
    for words in (("verify", "-", "-"), ("report", "-", "--table", "-", "--out", tmp_path / "r.html")):
        assert error_of(in_process(*words)).startswith("got - for the result and for its table")
    assert error_of(in_process("report", "-")).startswith("got a result from standard input without --out")
    assert not (tmp_path / "-.html").exists()


def test_no_report_takes_the_place_of_unfinished_scores(table, tmp_path):
    few = ("--estimator", "lda", "--max-size", 2, "--cv", 2)
    names = ("--json", tmp_path / "a", "--report", tmp_path / "a.unfinished")
    done = in_process("choose", table, "-t", "diagnosis", *few, *names)
    assert "a.unfinished'" in error_of(done)
    assert (done.returncode, done.stdout) == (2, "")
    assert [file.name for file in tmp_path.iterdir()] == ["t.csv"]


def test_a_table_called_as_unfinished_scores_would_be_stays(table, tmp_path):
    few = ("--estimator", "lda", "--max-size", 2, "--cv", 2)
    mine = tmp_path / "a.unfinished"
    mine.write_bytes(table.read_bytes())
    done = in_process("choose", mine, "-t", "diagnosis", *few, "--json", tmp_path / "a")
    assert "a file of this command" in error_of(done)
    assert mine.read_bytes() == table.read_bytes()
