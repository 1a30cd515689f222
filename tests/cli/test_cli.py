"""The command line as a user meets it: real files, a real process, a real terminal."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from certselect import SubsetSelector, __version__
from command_line import certselect, in_process, on_a_terminal


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 6)) + y[:, None] * [2, 1.5, 1, 0.5, 0, 0]
    return X, np.array(["healthy", "ill"])[y]


@pytest.fixture
def csv(table, tmp_path):
    X, y = table
    path = tmp_path / "patients.csv"
    lines = ["a,b,c,d,e,f,stuck,diagnosis"]
    lines += [",".join(map(repr, row.tolist())) + f",7,{label}" for row, label in zip(X, y, strict=True)]
    path.write_text("\n".join(lines))
    return path


def test_demo_shows_features_and_what_to_try_next():
    done = in_process("demo")
    assert done.returncode == 0, done.stderr
    assert "worst concave points" in done.stdout
    assert "No 8 features score more than" in done.stdout
    for word in ("relevance", "redundancy", "value", "Try next", "certselect select"):
        assert word in done.stdout
    assert done.stderr == ""


def test_select_writes_what_the_selector_finds(csv, table, tmp_path):
    out = tmp_path / "out.json"
    done = certselect(
        "select", csv, "--target", "diagnosis", "-k", 3, "--criterion", "mrmr", "--strategy", "forward", "--json", out
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text())
    selector = SubsetSelector(3, criterion="mrmr", strategy="forward").fit(*table)
    assert result["indices"] == selector.indices_.tolist()
    assert result["features"] == ["abcdef"[i] for i in selector.indices_]
    assert result["objective"] == selector.objective_
    assert result["upper_bound"] is None
    assert result["gap"] is None
    assert (result["status"], result["criterion"], result["strategy"]) == ("complete", "mrmr", "forward")
    assert (result["k"], result["seed"]) == (3, 0)
    measured = {"estimator": "plugin", "correction": "none", "discretize": "uniform", "bins": 5, "integers": "levels"}
    assert result["coding"] == measured
    assert result["reading"] == {"task": "auto", "missing": "auto", "weight": None}
    assert result["versions"]["certselect"] == __version__
    assert result["dropped"] == ["stuck"]
    assert "1 constant columns were left out: 'stuck'" in done.stderr
    for name in result["features"]:
        assert f" {name} " in done.stdout
    assert not list(tmp_path.glob("*.part"))


def test_parquet_csv_and_standard_output_agree(csv, tmp_path):
    from pyarrow import csv as arrow_csv
    from pyarrow import parquet

    columns = tmp_path / "patients.parquet"
    parquet.write_table(arrow_csv.read_csv(csv), columns)
    results = [in_process("select", path, "-t", "diagnosis", "-k", 2, "--json", "-") for path in (csv, columns)]
    assert json.loads(results[0].stdout) == json.loads(results[1].stdout)


def test_all_options_reach_the_search(csv):
    done = certselect(
        "select", csv, "-t", "diagnosis", "-k", 3, "--criterion", "mifs", "--beta", 0.5, "--strategy", "annealing",
        "--polish", "--discretize", "quantile", "--bins", "sturges", "--integers", "numbers", "--seed", 5, "--jobs", 1,
        "--json", "-",
    )  # fmt: skip
    result = json.loads(done.stdout)
    coding = {"discretize": "quantile", "bins": "sturges", "integers": "numbers"}
    assert result["coding"] == {"estimator": "plugin", "correction": "none", **coding}
    assert (result["criterion"], result["strategy"], result["seed"]) == ("mifs", "annealing", 5)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.csv", "-t", "y"], "missing.csv"),
        (["{csv}", "-t", "diagnose"], "diagnosis"),
        (["{csv}", "-t", "diagnosis", "-k", "70"], "Got k=70; expected 1 to 6"),
        (["{csv}", "-t", "diagnosis", "--strategy", "guess"], "forward"),
        (["{csv}", "-t", "diagnosis", "--criterion", "guess"], "jmi"),
        (["{csv}", "-t", "diagnosis", "--bins", "few"], "few"),
        (["{csv}", "-t", "diagnosis", "--json", "/nowhere/at/all.json"], "/nowhere/at/all.json"),
    ],
)
def test_mistakes_get_one_line_and_exit_code_2(csv, arguments, said):
    done = in_process("select", *[argument.format(csv=csv) for argument in arguments])
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == done.stderr.startswith("certselect: ")


def test_hostile_names_are_printed_as_they_are(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "t.csv"
    rows = [f"{int(v > 0.5)},{int(rng.random() < 0.5)},{int(v > 0.3)}" for v in rng.random(60)]
    path.write_text('"[red]bold[/red]","\x1b[31m",y\n' + "\n".join(rows))
    done = in_process("select", path, "-t", "y", "-k", 2)
    assert done.returncode == 0, done.stderr
    assert "[red]bold[/red]" in done.stdout
    assert "\x1b" not in done.stdout


def test_many_levels_are_remarked_on(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("serial,x,y\n" + "\n".join(f"{i},{i % 3},{i % 2}" for i in range(120)))
    assert "--integers numbers" in in_process("select", path, "-t", "y", "-k", 1).stderr
    assert in_process("select", path, "-t", "y", "-k", 1, "--integers", "numbers").stderr == ""


def test_progress_is_shown_on_a_terminal_and_not_in_a_pipe(csv):
    arguments = ["select", csv, "-t", "diagnosis", "-k", 3, "--strategy", "annealing"]
    assert "annealing" in on_a_terminal(*arguments).split("feature")[0]
    assert "relaxation, gap " in on_a_terminal(*arguments[:-1], "cobra").split("feature")[0]
    piped = in_process(*arguments)
    assert "note: 1 constant" in piped.stderr
    assert piped.stderr.count("\n") == 1


def test_interrupting_prints_the_best_so_far(tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "t.csv"
    names = ",".join(f"f{i}" for i in range(60))
    rows = rng.integers(0, 3, (150, 61))
    path.write_text(f"{names},y\n" + "\n".join(",".join(map(str, row)) for row in rows))
    search = ["select", path, "-t", "y", "-k", "20", "--strategy", "genetic", "--json", "-"]
    # A search without end, which touches a file once it is under way.
    code = "import sys\nfrom pathlib import Path\nfrom certselect.progress import listening\n"
    code += "from certselect.search.genetic import genetic\ngenetic.__kwdefaults__['generations'] = 10**9\n"
    code += "from certselect.cli import main\nrunning = Path(sys.argv.pop())\n"
    code += "with listening(lambda stage, done, total: stage == 'genetic' and running.touch()): main()"
    running = tmp_path / "running"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, search), str(running)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(1200):
        if running.exists():
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    result = json.loads(out)
    assert result["status"] == "interrupted"
    assert len(set(result["indices"])) == 20
    assert "best subset found so far" in err


def test_a_table_with_fewer_than_ten_columns_needs_no_size(csv):
    result = json.loads(in_process("select", csv, "-t", "diagnosis", "--json", "-").stdout)
    assert sorted(result["features"]) == list("abcdef")


def test_version_and_help():
    assert in_process("--version").stdout.strip() == f"certselect {__version__}"
    assert "demo" in in_process("--help").stdout
    assert "--criterion" in in_process("select", "--help").stdout


def test_the_default_proves_a_bound_and_says_when_it_cannot(csv, tmp_path):
    done = in_process("select", csv, "-t", "diagnosis", "-k", 2, "--json", "-")
    result = json.loads(done.stdout)
    assert result["strategy"] == "cobra"
    assert result["upper_bound"] >= result["objective"]
    wide = tmp_path / "wide.csv"
    rows = np.random.default_rng(0).integers(0, 2, (30, 1002))
    rows[0], rows[1] = 0, 1
    names = ",".join(f"f{i}" for i in range(1001))
    wide.write_text(f"{names},y\n" + "\n".join(",".join(map(str, row)) for row in rows))
    done = in_process("select", wide, "-t", "y", "-k", 2, "--json", "-")
    assert json.loads(done.stdout)["strategy"] == "forward"
    assert "note: 1001 features are many" in done.stderr


def test_a_certified_result_verifies_and_a_tampered_one_does_not(csv, tmp_path):
    out = tmp_path / "out.json"
    done = in_process("select", csv, "-t", "diagnosis", "-k", 3, "--strategy", "forward", "--certify", "--json", out)
    assert done.returncode == 0, done.stderr
    assert "No 3 features score more than" in done.stdout
    result = json.loads(out.read_text())
    assert result["upper_bound"] >= result["objective"]
    checked = in_process("verify", out, csv)
    assert checked.returncode == 0, checked.stderr
    assert "verified: no subset of that size is worth more than" in checked.stdout
    out.write_text(json.dumps(result | {"upper_bound": result["objective"] / 2, "gap": -0.5}))
    refused = in_process("verify", out, csv)
    assert refused.returncode == 1
    assert "FAILED: the multipliers prove" in refused.stderr


@pytest.mark.parametrize("options", [["--strategy", "exhaustive"], ["--strategy", "exhaustive", "--certify"], []])
def test_whatever_was_saved_verifies(csv, tmp_path, options):
    out = tmp_path / "out.json"
    assert in_process("select", csv, "-t", "diagnosis", "-k", 3, "--json", out, *options).returncode == 0
    checked = in_process("verify", out, csv)
    assert checked.returncode == 0, checked.stderr
    assert ("worth more than" in checked.stdout) == (json.loads(out.read_text())["upper_bound"] is not None)
