"""Help that can be trusted: examples that run, flags without types, exit codes as they are, quick answers."""

import gzip
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer.main

from certselect.cli import examples, exits
from certselect.cli.app import app
from command_line import COMMAND, certselect, in_process

PAGE = Path(__file__).parents[2] / "docs/command-line.md"
COMMANDS = list(typer.main.get_command(app).commands)
TEXTS = [examples.EVERYTHING, examples.SELECT, examples.PATH, examples.CHOOSE, examples.REPORT, examples.VERIFY]
TYPED = list(dict.fromkeys(line.partition("  ")[0] for text in TEXTS for line in text.splitlines()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with what the examples name."""
    folder = tmp_path_factory.mktemp("examples")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = rng.normal(size=(60, 9)) + y[:, None] * np.linspace(1.5, 0, 9)
    names = ["id", *(f"m{i}" for i in range(9)), "diagnosis"]
    rows = [",".join(map(str, [i, *X[i].tolist(), ["well", "ill"][y[i]]])) for i in range(60)]
    text = ",".join(names) + "\n" + "\n".join(rows)
    (folder / "patients.csv").write_text(text)
    (folder / "patients.csv.gz").write_bytes(gzip.compress(text.encode()))
    command = folder / "certselect"
    command.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
    command.chmod(0o755)
    return folder


@pytest.mark.parametrize("typed", TYPED)
def test_examples_run(folder, typed, monkeypatch):
    monkeypatch.chdir(folder)
    if "chosen.json" in typed and "--json" not in typed:
        made = in_process("select", "patients.csv", "-t", "diagnosis", "-k", 2, "--json", "chosen.json")
        assert made.returncode == 0, made.stderr
    if re.search(r"[|>&]", typed):  # for a shell
        path = f"{folder}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            typed, shell=True, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=120
        )
    else:
        done = in_process(*shlex.split(typed)[1:])
    assert done.returncode == 0, done.stderr
    if ">" in typed:
        assert (folder / "chosen.csv").read_text().startswith("feature,relevance,")
        assert done.stderr == ""


def test_the_examples_are_shown():
    for name, text in (("select", examples.SELECT), ("path", examples.PATH), ("report", examples.REPORT)):
        shown = " ".join(re.sub("[│╭╮╰╯─]", " ", in_process(name, "--help").stdout).split())
        assert "Examples" in shown
        for line in text.splitlines():
            for part in line.split("  ", 1):
                assert " ".join(part.split()) in shown


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_flags_have_no_type_and_lines_fit(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for _ in range(2):  # the first help must not spoil the second
        shown = in_process(*([name] if name else []), "--help").stdout
        assert "--help" in shown
        assert "<bool>" not in shown
        assert max(map(len, shown.splitlines())) <= 80


def test_every_command_has_a_debug_option():
    for command in typer.main.get_command(app).commands.values():
        assert any("--debug" in parameter.opts for parameter in command.params)


def test_no_arguments_are_a_wish_for_help():
    assert in_process().stdout.strip() == in_process("--help").stdout.strip()
    assert in_process().returncode == 0


def test_exit_codes_are_those_of_the_page_and_of_the_help():
    page = dict(re.findall(r"^\| (\d+) \| (.*) \|$", PAGE.read_text(), flags=re.MULTILINE))
    assert {int(code): words for code, words in page.items()} == exits.MEANINGS
    shown = re.sub(" +", " ", in_process("--help").stdout)
    assert all(f"│ {code} {words} " in shown for code, words in exits.MEANINGS.items())


def test_help_of_a_command_loads_no_learning_and_no_compiler():
    code = "import sys; sys.argv = ['certselect', 'select', '--help']\nfrom certselect.cli import main\n"
    code += "try:\n    main()\nexcept SystemExit:\n    pass\n"
    code += "print({m.split('.')[0] for m in sys.modules} & {'sklearn', 'numba', 'pyarrow', 'pandas'})"
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert out.splitlines()[-1] == "set()"


def test_a_file_of_numbers_is_chosen_from_without_what_takes_long_to_load(tmp_path):
    rows = [f"{i % 7},{i % 5 / 4},{i % 3},{i % 2}" for i in range(60)]
    (tmp_path / "table.csv").write_text("\n".join(["a,b,c,target", *rows]))
    slow = {"sklearn", "numba", "pandas", "polars", "matplotlib", "pyarrow.compute", "scipy.sparse", "rich.progress"}
    code = "import sys; sys.argv = ['certselect', 'select', 'table.csv', '--target', 'target', '-k', '2']\n"
    code += "from certselect.cli import main\ntry:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
    code += f"print(sorted({slow!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_shell_can_complete():
    def completed(typed):
        words = typed.split(" ")
        environment = {
            "_CERTSELECT_COMPLETE": "complete_bash",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(len(words) - 1),
        }
        return certselect(env={**os.environ, **environment}).stdout.split()

    assert completed("certselect ver") == ["verify"]
    assert "--format" in completed("certselect select --f")
    assert completed("certselect select --format ") == ["table", "csv", "json", "markdown"]


def test_python_runs_it_as_a_module():
    done = subprocess.run([sys.executable, "-m", "certselect", "--version"], capture_output=True, text=True)
    assert done.stdout.startswith("certselect ")


def test_the_page_shows_an_error_as_it_is(folder, monkeypatch):
    monkeypatch.chdir(folder)
    shown = re.search(r"^    (certselect: got .*(?:\n      .*)+)$", PAGE.read_text(), flags=re.MULTILINE)[1]
    done = in_process("select", "patients.csv", "-t", "diagnosis", "--bins", 1)
    assert done.stderr == re.sub(r"\n {4}", "\n", shown) + "\n"
