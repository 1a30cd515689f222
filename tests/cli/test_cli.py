"""The command line as a user meets it: real files, a real process, a real terminal."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from certselect import SubsetSelector, __version__, choose_subset, list_criteria, list_strategies, load_result
from command_line import COUNTED, JMI, certselect, error_of, in_process, on_a_terminal


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


def test_demo_shows_features_and_what_to_try_next(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = in_process("demo")
    assert done.returncode == 0, done.stderr
    assert "worst concave points" in done.stdout
    assert "No 8 of the 30 columns score more than" in done.stdout
    for word in ("relevance", "chance", "value", "Try next", "certselect select"):
        assert word in done.stdout
    assert done.stderr == "note: report saved to 'certselect-demo.html'\n"


def test_select_writes_what_the_selector_finds(csv, table, tmp_path):
    out = tmp_path / "out.json"
    options = ["--criterion", "mrmr", *COUNTED, "--strategy", "forward", "--json", out]
    done = certselect("select", csv, "--target", "diagnosis", "-k", 3, *options)
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text())
    chosen = result["selection"]
    selector = SubsetSelector(3, criterion="mrmr", strategy="forward", measure="plugin", correction="none").fit(*table)
    assert chosen["indices"] == selector.indices_.tolist()
    assert chosen["features"] == ["abcdef"[i] for i in selector.indices_]
    assert chosen["objective"] == selector.result_.selection.objective
    assert chosen["upper_bound"] is None
    assert chosen["gap"] is None
    assert (chosen["status"], chosen["criterion"], chosen["strategy"]) == ("complete", "mrmr", "forward")
    assert (chosen["k"], result["provenance"]["seed"]) == (3, 0)
    measured = {"measure": "plugin", "correction": "none", "discretize": "quantile", "bins": 3, "integers": "auto"}
    assert result["provenance"]["measured"] == measured
    assert result["settings"]["reading"] == {"task": "auto", "missing": "auto", "kinds": None, "weight": None}
    assert result["provenance"]["target"] == ["diagnosis"]
    assert result["provenance"]["versions"]["certselect"] == __version__
    assert chosen["dropped"] == ["stuck"]
    assert "1 constant column was left out: 'stuck'" in done.stderr
    for name in chosen["features"]:
        assert f" {name} " in done.stdout
    assert not list(tmp_path.glob("*.part"))


def without_seconds(result):
    return result | {"provenance": result["provenance"] | {"seconds": None}}


def test_files_of_the_command_line_and_of_python_are_the_same(csv, tmp_path):
    written, saved = tmp_path / "written.json", tmp_path / "saved.json"
    asked = ["-k", 3, "--strategy", "exact", "--exclude", "b", "--criterion", "mRMR", *COUNTED, "--json", written]
    done = in_process("select", csv, "-t", "diagnosis", *asked)
    assert done.returncode == 0, done.stderr
    result = choose_subset(
        csv,
        "diagnosis",
        3,
        strategy="exact",
        exclude=["b"],
        criterion="mRMR",
        random_state=0,
        measure="plugin",
        correction="none",
    )
    result.save(saved)
    assert without_seconds(json.loads(written.read_text())) == without_seconds(json.loads(saved.read_text()))
    read = load_result(written)
    assert read.names == result.names
    assert read.verify(csv).holds
    read.save(saved)
    assert saved.read_bytes() == written.read_bytes()
    checked = in_process("verify", saved, csv)
    assert checked.returncode == 0, checked.stderr
    assert f"verified: {read.statement}" in checked.stdout
    assert "as excluded" in checked.stdout


def test_parquet_csv_and_standard_output_agree(csv, tmp_path):
    from pyarrow import csv as arrow_csv
    from pyarrow import parquet

    columns = tmp_path / "patients.parquet"
    parquet.write_table(arrow_csv.read_csv(csv), columns)
    results = [in_process("select", path, "-t", "diagnosis", "-k", 2, "--json", "-") for path in (csv, columns)]
    first, second = (json.loads(done.stdout) for done in results)
    assert set(first["provenance"]["seconds"]) == set(second["provenance"]["seconds"])
    assert without_seconds(first) == without_seconds(second)


def test_all_options_reach_the_search(csv):
    done = certselect(
        "select", csv, "-t", "diagnosis", "-k", 3, "--criterion", "mifs", "--beta", 0.5, "--strategy", "annealing",
        "--polish", "--discretize", "quantile", "--bins", "sturges", "--integers", "numbers", "--seed", 5, "--jobs", 1,
        "--option", "steps=500", *COUNTED, "--json", "-",
    )  # fmt: skip
    result = json.loads(done.stdout)
    coding = {"discretize": "quantile", "bins": "sturges", "integers": "numbers"}
    assert result["provenance"]["measured"] == {"measure": "plugin", "correction": "none", **coding}
    assert (result["selection"]["criterion"], result["selection"]["strategy"]) == ("mifs", "annealing")
    searching = {"beta": 0.5, "polish": True, "random_state": 5, "strategy_options": {"steps": 500}}
    assert searching.items() <= result["settings"]["searching"].items()


def test_options_of_a_strategy(csv):
    draws = [
        in_process(
            "select", csv, "-t", "diagnosis", "-k", 3, "--strategy", "soss", "--option", f"draws={n}", "--json", "-"
        )
        for n in (1, 500)
    ]
    sizes = [json.loads(done.stdout)["selection"]["drawn_size"] for done in draws]
    assert sizes[0] == round(sizes[0])  # the size of the one subset drawn
    assert sizes[1] != sizes[0]


def test_settings_without_effect_are_noted_once(csv):
    done = in_process("select", csv, "-t", "diagnosis", "-k", 2, "--measure", "gaussian_copula", "--bins", 7)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("note: --bins 7 has no effect with --measure gaussian_copula.") == 1
    options = ["--estimator", "tree", "--max-size", 2, "--measure", "gaussian_copula", "--bins", 7]
    done = in_process("choose", csv, "-t", "diagnosis", *options)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("has no effect") == 1


def test_more_features_than_there_are_is_noted(csv):
    done = in_process("select", csv, "-t", "diagnosis", "-k", 70, "--json", "-")
    assert sorted(json.loads(done.stdout)["selection"]["features"]) == list("abcdef")
    assert "note: Asked for 70 features, but the table has 6 that can be chosen" in done.stderr


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["select", "--information"], "--measure"),
        (["select", "--together"], "--all-or-none"),
        (["choose", "--candidates"], "--sizes"),
        (["choose", "--max-k"], "--max-size"),
        (["path", "--max-k"], "--max-size"),
    ],
)
def test_old_names_of_options_are_answered_with_the_new_ones(csv, old, new):
    command, option = old
    done = in_process(command, csv, "-t", "diagnosis", option, "3")
    assert done.returncode == 2
    assert f"No such option: {option}" in done.stderr
    assert new in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.csv", "-t", "y"], "missing.csv"),
        (["{csv}", "-t", "diagnose"], "diagnosis"),
        (["{csv}", "-t", "diagnosis", "-k", "0"], "got -k 0; expected a whole number from 1, a fraction"),
        (["{csv}", "-t", "diagnosis", "--strategy", "guess"], "forward"),
        (["{csv}", "-t", "diagnosis", "--strategy", "cobr"], "Did you mean 'cobra'?"),
        (["{csv}", "-t", "diagnosis", "--strategy", "cobra", "--option", "drws=3"], "Did you mean 'draws'?"),
        (["{csv}", "-t", "diagnosis", "--criterion", "guess"], "jmi"),
        (["{csv}", "-t", "diagnosis", "--bins", "few"], "few"),
        (["{csv}", "-t", "diagnosis", "--json", "/nowhere/at/all.json"], "/nowhere/at/all.json"),
    ],
)
def test_mistakes_get_one_block_and_exit_code_2(csv, arguments, said):
    done = in_process("select", *[argument.format(csv=csv) for argument in arguments])
    assert done.returncode == 2
    assert said in error_of(done)


def test_hostile_names_are_printed_as_they_are(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "t.csv"
    rows = [f"{int(v > 0.5)},{int(rng.random() < 0.5)},{int(v > 0.3)}" for v in rng.random(60)]
    path.write_text('"[red]bold[/red]","\x1b[31m",y\n' + "\n".join(rows))
    done = in_process("select", path, "-t", "y", "-k", 2)
    assert done.returncode == 0, done.stderr
    assert "[red]bold[/red]" in done.stdout
    assert "\x1b" not in done.stdout


def test_features_no_better_than_chance_are_marked_and_counted(tmp_path):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 200)
    columns = np.column_stack([y ^ (rng.random(200) < 0.1), rng.integers(0, 2, (200, 2)), y])
    path = tmp_path / "t.csv"
    path.write_text("signal,heads,tails,y\n" + "\n".join(",".join(map(str, row)) for row in columns))
    done = in_process("select", path, "-t", "y", "-k", 3, *JMI)
    marked = [line for line in done.stdout.splitlines() if "│" in line and "*" in line]
    assert len(marked) == 2
    assert not any("signal" in line for line in marked)
    assert "chance: what it would be on average if the target were shuffled;" in " ".join(done.stdout.split())
    assert done.stderr == "note: 2 chosen features are by themselves no better than chance: 'heads', 'tails'\n"
    less = in_process("select", path, "-t", "y", "-k", 3, "--correction", "chance")
    assert "shuffled, which is subtracted already;" in " ".join(less.stdout.split())
    other = in_process("select", path, "-t", "y", "-k", 3, "--correction", "miller_madow")
    assert "chance:" not in other.stdout
    assert "chance" not in other.stdout.splitlines()[1]
    assert other.stderr == ""


@pytest.mark.parametrize(
    ("criterion", "said"),
    [
        ("jmi", "so it can exceed the relevance."),
        ("mrmr", "relevance minus a penalty for what it shares with the others."),
        ("max_relevance", "its relevance, for this criterion looks at no pairs."),
    ],
)
def test_the_legend_says_what_value_means_and_a_bound_is_never_nan(criterion, said, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c,y\n" + "\n".join(f"{i % 2},{i % 3},{i // 30},{i % 2}" for i in range(60)))
    chosen = "select", path, "-t", "y", "-k", 2, "--criterion", criterion, "--strategy", "forward"
    printed = " ".join(in_process(*chosen).stdout.split())
    assert said in printed
    assert "No bound was computed: --certify computes one, from all 3 pairs of 3 columns." in printed
    assert "nan" not in printed
    assert "No bound" not in in_process(*chosen, "--certify").stdout


def test_many_levels_are_remarked_on(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("towns,x,y\n" + "\n".join(f"{7 * (i % 60)},{i % 4},{(i + (i % 7 == 0)) % 2}" for i in range(120)))
    assert "--integers numbers" in in_process("select", path, "-t", "y", "-k", 1, "--integers", "levels").stderr
    assert in_process("select", path, "-t", "y", "-k", 1, "--integers", "numbers").stderr == ""
    noted = in_process("select", path, "-t", "y", "-k", 1).stderr
    why = "whole numbers of more than 10 different values, measured as numbers"
    assert noted == f"note: 'towns' read as a number: {why}\n"


def test_kinds_are_said_and_decided_otherwise(tmp_path):
    path = tmp_path / "t.csv"
    rows = (f"{i},2024-01-{1 + i % 28:02d},{i % 4},{i % 4},{(i + (i % 7 == 0)) % 2}" for i in range(120))
    path.write_text("id,when,a=b,again,y\n" + "\n".join(rows))
    plain = in_process("select", path, "-t", "y", "-k", 1)
    assert plain.stderr.splitlines() == [
        "note: 'id' left out as an identifier: 120 different whole numbers in 120 rows, and called so",
        "note: 'when' read as a date or time: measured as a number",
        "note: --kind COLUMN=levels or =number uses a column that was left out",
        "note: 'again' not chosen beside its copy: says the same as 'a=b'",
    ]
    said = ["--kind", "id=number", "--kind", "when=skip", "--kind", "a=b=levels", "--copies", "all"]
    told = in_process("select", path, "-t", "y", "-k", 1, *said)
    assert told.stderr == ""
    refused = in_process("select", path, "-t", "y", "--kind", "id")
    assert refused.returncode == 2
    assert "got --kind 'id'; expected COLUMN=KIND, like zip=levels" in error_of(refused)
    assert "did you mean" in in_process("select", path, "-t", "y", "--kind", "id=levls").stderr.casefold()


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
    code += "from certselect.search.strategies.genetic import genetic\ngenetic.__kwdefaults__['generations'] = 10**9\n"
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
    chosen = json.loads(out)["selection"]
    assert chosen["status"] == "interrupted"
    assert len(set(chosen["indices"])) == 20
    assert "best subset found so far" in err


def test_a_table_with_fewer_than_ten_columns_needs_no_size(csv):
    done = in_process("select", csv, "-t", "diagnosis", "--json", "-")
    assert sorted(json.loads(done.stdout)["selection"]["features"]) == list("abcdef")
    assert "Asked for" not in done.stderr  # nobody asked for 10


def test_version_and_help():
    assert in_process("--version").stdout.strip() == f"certselect {__version__}"
    assert "demo" in in_process("--help").stdout
    assert "--criterion" in in_process("select", "--help").stdout


def test_strategies_and_criteria_are_listed():
    shown = in_process("strategies").stdout
    for record in list_strategies().values():
        assert f" {record.name} " in shown
        for option, default in record.options.items():
            assert f"{option}={default}" in shown
    shown = in_process("criteria").stdout
    for record in list_criteria().values():
        assert f" {record.name} " in shown
        assert all(part in shown for part in record.formula.split()), "long formulas are wrapped"


def test_the_default_proves_a_bound_and_says_when_it_cannot(csv, tmp_path):
    done = in_process("select", csv, "-t", "diagnosis", "-k", 2, "--json", "-")
    chosen = json.loads(done.stdout)["selection"]
    assert chosen["strategy"] == "cobra"
    assert chosen["upper_bound"] >= chosen["objective"]
    wide = tmp_path / "wide.csv"
    rows = np.random.default_rng(0).integers(0, 2, (30, 1002))
    rows[0], rows[1] = 0, 1
    names = ",".join(f"f{i}" for i in range(1001))
    wide.write_text(f"{names},y\n" + "\n".join(",".join(map(str, row)) for row in rows))
    done = in_process("select", wide, "-t", "y", "-k", 2, "--json", "-")
    assert json.loads(done.stdout)["selection"]["strategy"] == "forward"
    assert "note: 1001 features are too many" in done.stderr


def test_a_certified_result_verifies_and_a_tampered_one_does_not(csv, tmp_path):
    out = tmp_path / "out.json"
    done = in_process("select", csv, "-t", "diagnosis", "-k", 3, "--strategy", "forward", "--certify", "--json", out)
    assert done.returncode == 0, done.stderr
    assert "No 3 of the " in done.stdout
    result = json.loads(out.read_text())
    chosen = result["selection"]
    assert chosen["upper_bound"] >= chosen["objective"]
    checked = in_process("verify", out, csv)
    assert checked.returncode == 0, checked.stderr
    assert f"verified: the features are worth {chosen['objective']:.9g} nats" in checked.stdout
    assert f"verified: {result['statement']}" in checked.stdout
    assert "No 3 of the " in checked.stdout
    tampered = chosen | {"upper_bound": chosen["objective"], "gap": 0.0}
    statement = "Proven: no 3 features score more than these."
    out.write_text(json.dumps(result | {"selection": tampered, "statement": statement}))
    refused = in_process("verify", out, csv)
    assert refused.returncode == 3
    assert "FAILED (false claim): it is proven that no 3 features exceed" in refused.stderr
    assert refused.stdout == ""
    # A file that contradicts itself is refused without a look at the table.
    out.write_text(json.dumps(result | {"selection": tampered | {"dropped": ["not there"]}}))
    refused = in_process("verify", out, csv)
    assert refused.returncode == 3
    assert "FAILED (false claim): the result contradicts itself" in refused.stderr


def test_what_is_wrong_has_an_exit_code_of_its_own(csv, tmp_path):
    out, other = tmp_path / "out.json", tmp_path / "other.csv"
    in_process("select", csv, "-t", "diagnosis", "-k", 3, "--json", out)
    for arguments in ([tmp_path / "missing.json", csv], [out, tmp_path / "missing.csv"]):
        done = in_process("verify", *arguments)
        assert done.returncode == 2
        assert "FAILED" not in error_of(done)
    broken = in_process("verify", csv, csv)
    assert broken.returncode == 4
    assert broken.stderr.startswith("FAILED (broken file): ")
    lines = csv.read_text().splitlines(keepends=True)
    for text in (
        lines[:-1],
        [lines[0].replace("diagnosis", "finding"), *lines[1:]],
        [lines[0], *lines[:0:-1][1:], lines[2]],
    ):
        other.write_text("".join(text))
        done = in_process("verify", out, other)
        assert done.returncode == 5, done.stderr
        assert done.stderr.startswith("FAILED (another table): ")
    hostile = json.loads(out.read_text())
    hostile["selection"]["features"][0] = "\x1b[2J" * 1000
    out.write_text(json.dumps(hostile))
    done = in_process("verify", out, csv)
    assert done.returncode == 3
    assert "\x1b" not in done.stderr
    assert len(done.stderr) < 300
    said = in_process("verify", "--help").stdout
    assert all(f"{code} " in said for code in (0, 3, 4, 5))


@pytest.mark.parametrize("options", [["--strategy", "exhaustive"], ["--strategy", "exhaustive", "--certify"], []])
def test_whatever_was_saved_verifies(csv, tmp_path, options):
    out = tmp_path / "out.json"
    assert in_process("select", csv, "-t", "diagnosis", "-k", 3, "--json", out, *options).returncode == 0
    checked = in_process("verify", out, csv)
    assert checked.returncode == 0, checked.stderr
    stated = json.loads(out.read_text())["statement"]
    assert ("score more" in checked.stdout or "score higher" in checked.stdout) == (stated != "")


def test_a_result_without_a_bound_is_not_confirmed_to_be_the_best(csv, tmp_path):
    out = tmp_path / "out.json"
    in_process("select", csv, "-t", "diagnosis", "-k", 3, "--strategy", "forward", "--json", out)
    checked = in_process("verify", out, csv)
    assert checked.returncode == 0, checked.stderr
    assert "verified: the result claims no bound on other subsets" in checked.stdout
    assert "score" not in checked.stdout


@pytest.fixture
def eight_columns(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 8)) + y[:, None] * [2, 1, 0, 0, 0, 0, 0, 0]
    path = tmp_path / "eight.csv"
    rows = [",".join(map(str, [*row.tolist(), label])) for row, label in zip(X, y, strict=True)]
    path.write_text("a,b,c,d,e,f,g,h,y\n" + "\n".join(rows))
    return path


@pytest.mark.parametrize(
    ("k", "size", "said"),
    [
        ("auto", 2, "Size: 2 features carry 96 % of what the best 3 do"),
        ("0.5", 4, "Size: 0.5 of the 8 usable columns."),
        (".5", 4, "Size: 0.5 of the 8 usable columns."),
        ("3", 3, "3 of 8 features"),
    ],
)
def test_k_is_a_number_a_share_or_left_to_chance(eight_columns, tmp_path, k, size, said):
    out = tmp_path / "out.json"
    done = in_process("select", eight_columns, "-t", "y", "-k", k, "--json", out)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout
    assert len(json.loads(out.read_text())["selection"]["features"]) == size
    assert in_process("verify", out, eight_columns).returncode == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-k", "all"], "got -k all; expected a whole number from 1, a fraction between 0 and 1 such as 0.2, or auto;"),
        (["-k", "0"], "got -k 0;"),
        (["-k", "1.0"], "got -k 1.0;"),
        (["-k", "-2"], "got -k -2;"),
        (["-k", "nan"], "got -k nan;"),
        (["-k", "auto", "--all-or-none", "a,b"], "got -k auto with --all-or-none or --at-most-one;"),
    ],
)
def test_a_wrong_k_is_told_in_the_words_of_the_command_line(eight_columns, options, said):
    done = in_process("select", eight_columns, "-t", "y", *options)
    assert done.returncode == 2
    assert said in error_of(done)
