"""docs/proven.md says what the results kept say, and its sentences follow from the numbers."""

import importlib.util
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
COMMAND = ROOT / "benchmarks" / "proven.py"


@pytest.fixture(scope="module")
def proven():
    spec = importlib.util.spec_from_file_location("proven", COMMAND)
    module = importlib.util.module_from_spec(spec)
    sys.modules["proven"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["proven"]


@pytest.fixture
def rows(proven):
    """Two made-up rows: one proven; one where 0.3 % are left, and COBRA found more than the exact method."""
    values = {"forward": 1.99, "backward": 2.0, "cobra": 2.0, "qpfs": -1.0, "soss": 2.0 - 1e-13, "exact": 2.0}
    sure = proven.Row("madelon", "mrmr", 12, 500, values, 3.0, 2.0, proven=True, seconds=1.5, cores=2)
    values = {"forward": 4.0, "backward": 3.8, "cobra": 4.0, "qpfs": 3.0, "soss": 3.96, "exact": 3.9}
    made = {"cores": 2, "device": "some GPU", "cut_short": ("qpfs",)}
    open_ = proven.Row("nci", "jmi", 50, 2000, values, 4.1, 4.01201, proven=False, seconds=600.0, **made)
    return [sure, open_]


def run(*arguments, **variables):
    return subprocess.run([sys.executable, COMMAND, *arguments], capture_output=True, text=True, env=variables)


def test_the_page_is_what_the_results_make_of_it(tmp_path):
    made = tmp_path / "proven.md"
    assert run("--from-results", "--out", made).returncode == 0
    assert (ROOT / "docs" / "proven.md").read_text() == made.read_text()


def test_no_data_is_one_line():
    done = run()
    assert done.returncode == 1
    assert done.stderr == "no data: pass --data FOLDER or set CERTSELECT_DATA to the folder of the .npz files\n"


def test_a_folder_without_the_file_is_one_line(tmp_path):
    done = run("madelon", "--again", CERTSELECT_DATA=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == f"no data: there is no file {tmp_path / 'mad.npz'}\n"


def test_summary_with_a_gap_left(proven, rows):
    assert proven.summary(rows).splitlines() == [
        "Of 2 subsets in the column **best**, 1 are proven optimal.",
        "The largest gap left is 0.31 % (NCI, JMI, k = 50).",
        "Forward found a subset of the best known value in 1 of 2 rows and was 0.50 % below it at worst "
        "(Madelon, mRMR, k = 12).",
        "Backward found a subset of the best known value in 1 of 2 rows and was 5.0 % below it at worst "
        "(NCI, JMI, k = 50).",
        "COBRA found a subset of the best known value in 2 of 2 rows.",
        "QPFS found a subset of the best known value in 0 of 1 rows that it finished and was 150 % below it at worst "
        "(Madelon, mRMR, k = 12).",
        "SOSS found a subset of the best known value in 1 of 2 rows and was 1.0 % below it at worst "
        "(NCI, JMI, k = 50).",
        "The plain bound alone would have left up to 50 % (Madelon, mRMR, k = 12).",
    ]


def test_summary_when_all_is_proven(proven, rows):
    said = proven.summary(rows[:1])
    assert "Of 1 subsets in the column **best**, 1 are proven optimal." in said
    assert "gap" not in said
    assert "known" not in said


def test_what_the_greedy_searches_lose_set_by_set(proven, rows):
    assert proven.greedy_losses(rows).splitlines() == [
        "* Madelon: of 1 problems, forward in 1 (at most 0.50 %: mRMR, k = 12), backward in 0.",
        "* NCI, 60 rows: of 1 problems, forward in 0, backward in 1 (at most 5.0 %: JMI, k = 50).",
    ]


def test_table_lines(proven, rows):
    assert proven.table_line(rows[0]) == (
        "| Madelon | mRMR | 500 | 12 | 0.50 | 0 | 0 | 150 | 0 | 2.000000 | 50 | 0 | yes | 1.5 |"
    )
    assert proven.table_line(rows[1]) == (
        "| NCI | JMI | 2000 | 50 | 0 | 5.0 | 0 | 25* | 1.0 | 4.000000 | 2.5 | 0.31 | no | 600.0 (GPU) |"
    )


def test_bounds_are_rounded_up_and_searches_to_the_nearest(proven):
    assert proven.percent(0.00012001, up=True) == "0.013"
    assert proven.percent(0.00012001) == "0.012"
    assert proven.percent(1e-9, up=True) == "<0.000001"
    assert proven.percent(0.0, up=True) == "0"


def test_results_come_back_as_they_were_kept(proven, rows, tmp_path):
    path = tmp_path / "results" / "proven.json"
    assert proven.read_results(path) == []
    proven.write_results(path, rows)
    assert proven.read_results(path) == rows
    assert proven.in_order(reversed(rows)) == rows


def test_the_machine_is_told_in_words(proven, rows):
    assert "on two cores, where" in proven.page_text(rows)
    assert "on one core or two cores, where" in proven.page_text([replace(rows[0], cores=1), rows[1]])


def test_duplicates_are_found_under_other_names_of_levels(proven):
    codes = np.array([[0, 1, 2, 1], [2, 0, 1, 0], [0, 1, 1, 1], [1, 0, 0, 0], [0, 0, 1, 2]], dtype=np.uint8)
    assert proven.first_of_each_kind(codes).tolist() == [0, 2, 4]
