"""The gene-like tables of benchmarks/genes.py, and that the script for GPUs starts on a bare machine."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from certselect import information_terms, subset_problem
from certselect.certificate.proof import replay
from certselect.relaxation.arrays import CPU

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def genes(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("genes")


def test_tables_are_what_they_are_said_to_be(genes: ModuleType) -> None:
    codes, y = genes.gene_table(60, 500, seed=1, classes=3)
    assert codes.shape == (60, 500)
    assert set(np.unique(codes)) == {0, 1, 2}
    assert np.bincount(y).tolist() == [20, 20, 20]
    again, y_again = genes.gene_table(60, 500, seed=1, classes=3)
    np.testing.assert_array_equal(codes, again)
    np.testing.assert_array_equal(y, y_again)
    assert (genes.gene_table(60, 500, seed=2, classes=3)[0] != codes).any()


def test_few_columns_are_relevant_and_blocks_are_correlated(genes: ModuleType) -> None:
    codes, y = genes.gene_table(200, 400, seed=0)
    terms = information_terms(codes, y, integers="levels", measure="plugin", correction="none")
    relevance = np.sort(terms.relevance)
    assert relevance[-10:].mean() > 5 * np.median(relevance)
    apart = ~np.eye(400, dtype=bool)
    correlated = (terms.redundancy > 0.1) & apart
    assert 0.0 < correlated.mean() < 0.1


def test_a_proof_of_one_replays(genes: ModuleType) -> None:
    terms = information_terms(*genes.gene_table(50, 200, seed=3), integers="levels")
    problem = subset_problem(terms, 5, "mrmr")
    made = genes.prove(problem, CPU, max_seconds=60.0)
    assert made.proven
    assert made.open_features == 0
    assert replay(problem.units.reduced, made.known, made.proof).bound == made.bound


def test_the_table_of_results(genes: ModuleType) -> None:
    sure = genes.Row(100, 1000, 0, "mrmr", 10, "cpu", 2.0, 2.0, True, 3.25, 0)
    open_ = genes.Row(100, 1000, 0, "jmi", 10, "cuda", 2.0, 2.01, False, 60.0, 31)
    first, second = genes.results_table([sure, open_]).splitlines()[2:]
    assert first == "| mRMR | cpu | 100 x 1000 | 10 | 2.000000 | 0 | yes | 0 | 3.2 |"
    assert second == "| JMI | cuda | 100 x 1000 | 10 | 2.000000 | 0.5 | no | 31 | 60.0 |"
    assert "Of 2 subsets, 1 are proven optimal" in genes.section([sure, open_]).replace("\n", " ")


def test_the_script_for_gpus_needs_neither_frames_nor_the_command_line() -> None:
    blocked = "import sys; sys.modules.update(dict.fromkeys(['pyarrow', 'typer', 'rich', 'cupy']));"
    script = (
        f"{blocked} sys.path.insert(0, {str(BENCHMARKS)!r}); import gpu; sys.argv = ['gpu.py', '--help']; gpu.main()"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "--codes" in ran.stdout


def test_the_page_about_gpus_is_what_the_results_make_of_it() -> None:
    # In a process of its own: benchmarks and tests both have something called "relaxation".
    code = "import gpu, json, sys; sys.stdout.write(gpu.page(json.loads(gpu.RESULTS.read_text())))"
    made = subprocess.run([sys.executable, "-c", code], cwd=BENCHMARKS, capture_output=True, text=True, check=True)
    assert (BENCHMARKS.parent / "docs" / "gpu.md").read_text() == made.stdout
    results = json.loads((BENCHMARKS / "results" / "gpu.json").read_text())
    assert all(line["ok"] for line in results["checks"])
    for line in results["exact"]:
        assert line["bound"] >= line["value"] * (1.0 - 1e-12)
        assert not line["proven"] or line["gap"] <= 1e-12
