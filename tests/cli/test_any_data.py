"""The command line on tables with holes, weights, numbers to predict and several targets."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from as_before import counted
from certselect import information_terms
from certselect.table import read_file
from command_line import certselect, in_process


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The same table as CSV and as Parquet: holes in three columns, two targets, weights."""
    rng = np.random.default_rng(0)
    m = 150
    colour, size = rng.choice(["red", "green"], m), rng.integers(0, 4, m)
    weight = rng.normal(size=m)
    dose = weight + (colour == "red") + 0.3 * rng.normal(size=m)

    def with_holes(values):
        return [None if hole else value for value, hole in zip(values.tolist(), rng.random(m) < 0.1, strict=True)]

    columns = {
        "colour": with_holes(colour),
        "size": with_holes(size),
        "weight": with_holes(weight),
        "noise": rng.normal(size=m).tolist(),
        "dose": dose.tolist(),
        "outcome": np.where(size > 1, "good", "bad").tolist(),
        "seen": rng.integers(0, 4, m).tolist(),
    }
    folder = tmp_path_factory.mktemp("data")
    pa.parquet.write_table(pa.table(columns), folder / "patients.parquet")
    rows = zip(*columns.values(), strict=True)
    lines = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
    (folder / "patients.csv").write_text("\n".join([",".join(columns), *lines]))
    return folder


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(("options", "chosen"), [
    (["-t", "dose"], {"weight", "colour"}),
    (["-t", "dose", "--missing", "pairwise", "--correction", "shrinkage"], {"weight", "colour"}),
    (["-t", "dose", "--weight", "seen", "--target-bins", "3"], {"weight", "colour"}),
    (["-t", "dose", "-t", "outcome"], {"weight", "size"}),
    (["-t", "outcome", "--exclude", "colour", "--measure", "neighbors", "--missing", "pairwise"], {"size"}),
    (["-t", "dose", "--exclude", "colour", "--measure", "auto"], {"weight"}),
])  # fmt: skip
def test_select_and_verify(files, tmp_path, kind, options, chosen):
    table, out = files / f"patients.{kind}", tmp_path / "out.json"
    targets = {"dose", "outcome", "seen"}.difference(options)
    leave = [part for name in targets for part in ("--exclude", name)]
    done = in_process("select", table, *options, *leave, "-k", 2, "--criterion", "mrmr", "--strategy", "exact",
                      "--json", out)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "missing values" in done.stderr
    result = json.loads(out.read_text())
    assert chosen <= set(result["selection"]["features"])
    checked = in_process("verify", out, table)
    assert checked.returncode == 0, checked.stderr
    assert f"verified: {result['statement']}" in checked.stdout
    assert "Proven optimal: no other 2 of the " in checked.stdout
    result["selection"]["objective"] *= 1.001
    out.write_text(json.dumps(result))
    assert in_process("verify", out, table).returncode == 3


def test_a_saved_result_says_how_it_was_measured(files, tmp_path):
    out = tmp_path / "out.json"
    in_process("select", files / "patients.csv", "-t", "dose", "-k", 1, "--exclude", "colour", "--exclude", "outcome",
               "--weight", "seen", "--missing", "pairwise", "--measure", "auto", "--criterion", "jmi",
               "--json", out)  # fmt: skip
    result = json.loads(out.read_text())
    assert result["settings"]["reading"] == {
        "task": "auto",
        "missing": "pairwise",
        "kinds": None,
        "weight": "seen",
    }
    measured = result["provenance"]["measured"]
    assert measured["measure"] == "mixed"
    table = read_file(files / "patients.csv", "dose", weight="seen", missing="pairwise")
    assert result["selection"]["objective"] == information_terms(table, **counted(measured)).relevance.max()
    assert "seen" not in table.feature_names


def test_notes_say_what_was_made_of_the_table(files):
    done = in_process("select", files / "patients.csv", "-t", "dose", "-k", 2, "--measure", "auto")
    assert "note: measured by mixed: " in done.stderr
    assert "note: the target is a number, cut into 3 bins of equal counts" in done.stderr
    assert "note: 3 columns have missing values, which are a level of their own; --missing chooses" in done.stderr
    refused = in_process("select", files / "patients.csv", "-t", "dose", "-k", 2, "--missing", "error")
    assert refused.returncode == 2
    assert "'colour', 'size', 'weight'" in refused.stderr


def test_path_takes_the_same_tables(files, tmp_path):
    out = tmp_path / "path.json"
    done = in_process(
        "path", files / "patients.csv", "-t", "dose", "--max-size", 3, "--missing", "pairwise", "--json", out
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text())
    assert result["sizes"] == [1, 2, 3]
    assert result["measured_by"]["target_bins"] == 3


@pytest.mark.parametrize("estimator", ["linear", "svm", "neighbors", "tree"])
def test_choose_finds_a_size_for_a_regressor(files, tmp_path, estimator):
    out = tmp_path / "out.json"
    done = in_process("choose", files / "patients.csv", "-t", "dose", "--estimator", estimator, "--max-size", 3,
                      "--exclude", "outcome", "--criterion", "mrmr", "--cv", 3, "--weight", "seen",
                      "--json", out)  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text())
    assert "weight" in result["selection"]["features"]
    assert result["settings"]["reading"]["weight"] == "seen"
    assert max(result["choice"]["combinations"][0]["mean_scores"]) > 0.4  # R^2
    assert in_process("verify", out, files / "patients.csv").returncode == 0


def test_choose_tells_a_wrong_estimator_for_the_target(files):
    done = in_process("choose", files / "patients.csv", "-t", "dose", "--estimator", "lda")
    assert done.returncode == 2
    assert "--estimator lda for regression" in done.stderr
    done = in_process("choose", files / "patients.csv", "-t", "dose", "-t", "outcome", "--estimator", "tree")
    assert done.returncode == 2
    assert "several target columns" in done.stderr


def test_a_process_of_its_own(files, tmp_path):
    out = tmp_path / "out.json"
    arguments = ["select", files / "patients.csv", "-t", "dose", "-k", 2, "--measure", "neighbors", "--missing",
                 "pairwise", "--json", out]  # fmt: skip
    done = certselect(*arguments)
    assert done.returncode == 0, done.stderr
    assert certselect("verify", out, files / "patients.csv").returncode == 0


def test_choose_tells_a_score_that_does_not_fit(files):
    arguments = ["choose", files / "patients.csv", "-t", "dose", "--estimator", "linear", "--max-size", 2]
    done = in_process(*arguments, "--scoring", "accuracy")
    assert done.returncode == 2
    assert "--scoring accuracy for regression" in done.stderr
