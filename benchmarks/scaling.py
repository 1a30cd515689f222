"""What tables in blocks cost: growth in rows, columns, levels and classes, beside reading; and what a sample loses.

Run by `make scaling`, which takes some 15 minutes. Every case is a process of its own over Parquet files that are made
for it. Costs are seconds of processor time, which other programs change little, and the largest memory of the process;
"reading" is a scan of the same files by pyarrow that drops what it reads. Writes results/scaling.json and the tables
of docs/scaling.md.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet

from page_section import replace_section, table, wrapped

RESULTS = Path(__file__).parent / "results" / "scaling.json"
PAGE = Path(__file__).parents[1] / "docs" / "scaling.md"
BEGIN, END = "<!-- scaling: begin -->", "<!-- scaling: end -->"
MEMORY = "2GB"
GROUP_ROWS, FILE_ROWS = 250_000, 1_000_000
USUAL = {"rows": 1_000_000, "columns": 50, "levels": 5, "classes": 2}
GROWTH = {
    "rows": [250_000, 500_000, 1_000_000, 2_000_000],
    "columns": [25, 50, 100, 200, 400],
    "levels": [2, 5, 10, 20, 40],
    "classes": [2, 4, 8, 16],
}
MIXED_ROWS = 10_000_000
SAMPLE_ROWS, SAMPLES, TURNS = 1_000_000, [1_000, 4_000, 16_000, 64_000, 256_000], 10


def write_levels(folder: Path, rows: int, columns: int, levels: int, classes: int) -> None:
    """Whole numbers, some of which lean towards the class."""
    for first in range(0, rows, FILE_ROWS):
        rng = np.random.default_rng(first)
        m = min(FILE_ROWS, rows - first)
        y = rng.integers(0, classes, m, dtype=np.uint8)
        made: dict[str, np.ndarray] = {}
        for j in range(columns):
            x = rng.integers(0, levels, m, dtype=np.uint8)
            leaning = rng.random(m) < 0.3 / (1 + j)
            made[f"x{j}"] = np.where(leaning, y % levels, x)
        _write(folder, first, {**made, "y": y})


def write_mixed(folder: Path, rows: int) -> None:
    """50 columns as people have them: 30 of floats, 12 of integers, 4 of bools, 4 of texts."""
    for first in range(0, rows, FILE_ROWS):
        rng = np.random.default_rng(first)
        m = min(FILE_ROWS, rows - first)
        y = rng.integers(0, 2, m)
        made: dict[str, Any] = {}
        for j in range(30):
            x = rng.standard_normal(m) + (0.2 * (j + 1) * y if j < 6 else 0)
            made[f"f{j}"] = np.round(x, 2) if j % 5 == 4 else x
        for j in range(12):
            made[f"i{j}"] = rng.integers(0, 3 + 3 * j, m) + (y if j < 3 else 0)
        for j in range(4):
            made[f"b{j}"] = rng.random(m) < 0.3 + 0.2 * y * (j == 0)
        for j in range(4):
            made[f"t{j}"] = np.array([f"word {k}" for k in range(5 + 10 * j)])[rng.integers(0, 5 + 10 * j, m)]
        _write(folder, first, {**made, "y": y})


def _write(folder: Path, first: int, columns: dict[str, Any]) -> None:
    pyarrow.parquet.write_table(
        pa.table(columns), folder / f"part-{first // FILE_ROWS:04d}.parquet", row_group_size=GROUP_ROWS
    )


def measured(what: str, folder: str) -> dict[str, float]:
    """One piece of work in this process, after what is loaded once."""
    if what == "in blocks":
        _in_blocks(_few_rows)
    wall, cpu = time.perf_counter(), time.process_time()
    answer = ""
    if what == "reading":
        for _ in pyarrow.dataset.dataset(folder).to_batches():
            pass
    elif what == "as a table":
        pyarrow.parquet.read_table(folder)
    else:
        answer = _in_blocks(folder)
    return {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "answer": answer,  # type: ignore[dict-item]
    }


def _in_blocks(source: Any) -> str:
    """The features that are chosen; not by choose_subset, which reads at once what fits into memory."""
    from certselect.results.choosing import choose
    from certselect.settings import Settings
    from certselect.table.sources import row_source
    from certselect.table.streams.in_blocks import InBlocks

    settings = Settings.from_keywords({"strategy": "forward"})
    rows = InBlocks(MEMORY).opened(row_source(source, "y")[0], "y", settings.reading)
    return str(choose(rows, 10, settings).names)


def _few_rows() -> list[pa.RecordBatch]:
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.standard_normal(1000) for j in range(10)}
    whole = {f"z{j}": rng.integers(0, 3, 1000, dtype=np.uint8) for j in range(10)}
    return [pa.record_batch({**columns, **whole, "y": rng.integers(0, 2, 1000)})]


def in_a_new_process(what: str, folder: Path) -> dict[str, Any]:
    made = subprocess.run(
        [sys.executable, __file__, "--measure", what, str(folder)], capture_output=True, text=True, check=True
    )
    return json.loads(made.stdout)


def growth() -> list[dict[str, Any]]:
    cases = []
    for name, values in GROWTH.items():
        for value in values:
            shape = {**USUAL, name: value}
            with tempfile.TemporaryDirectory() as folder:
                write_levels(Path(folder), **shape)
                case = {"by": name, **shape}
                for what in ("reading", "in blocks"):
                    case[what] = in_a_new_process(what, Path(folder))
            cases.append(case)
            print(name, value, {what: round(case[what]["cpu"], 2) for what in ("reading", "in blocks")}, flush=True)
    return cases


def mixed(rows: int) -> dict[str, Any]:
    """The usual table of 10^7 rows: in blocks, in memory, and by pyarrow alone."""
    with tempfile.TemporaryDirectory() as folder:
        write_mixed(Path(folder), rows)
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
        found = {what: in_a_new_process(what, Path(folder)) for what in ("reading", "as a table", "in blocks")}
    print({what: (round(one["wall"], 1), round(one["cpu"], 1), round(one["megabytes"])) for what, one in found.items()})
    return {"rows": rows, "bytes": size, **found}


def sampling() -> list[dict[str, float]]:
    """How far terms of some rows are from those of all, and what the features chosen by them are worth there."""
    from certselect import information_terms, select, subset_problem

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, SAMPLE_ROWS)
    X = rng.standard_normal((SAMPLE_ROWS, 30))
    X[:, :10] += 0.1 * (np.arange(10) + 1) * y[:, None]
    X[:, 10:20] += 0.7 * X[:, :10]
    everything = information_terms(X, y, measure="plugin", correction="none")
    best = select(subset_problem(everything, k=8, criterion="jmi"), "forward")
    upper = np.triu_indices(30, 1)
    found = []
    for m in SAMPLES:
        errors, pairs, lost = [], [], []
        for _ in range(TURNS):
            rows = rng.choice(SAMPLE_ROWS, m, replace=False)
            terms = information_terms(X[rows], y[rows], measure="plugin", correction="none")
            errors.append(np.sqrt(np.mean((terms.relevance - everything.relevance) ** 2)))
            pairs.append(np.sqrt(np.mean((terms.interaction - everything.interaction)[upper] ** 2)))
            chosen = select(subset_problem(terms, k=8, criterion="jmi"), "forward")
            problem = subset_problem(everything, k=8, criterion="jmi")
            lost.append(1 - problem.value(chosen.indices) / best.objective)
        found.append(
            {
                "rows": m,
                "relevance": float(np.mean(errors)),
                "pairs": float(np.mean(pairs)),
                "lost": float(np.mean(lost)),
                "most lost": float(np.max(lost)),
            }
        )
        print("sample", found[-1], flush=True)
    return found


def page(results: dict[str, Any]) -> str:
    whole = results["mixed"]
    reading = whole["reading"]
    head = ["work", "seconds", "of processor time", "memory, MB", "times reading"]
    names = {
        "reading": "pyarrow reads the files and drops them",
        "as a table": "pyarrow reads the files into memory",
        "in blocks": f"certselect chooses 10 features, memory={MEMORY!r}",
    }
    lines = [
        [
            said,
            f"{whole[what]['wall']:.1f}",
            f"{whole[what]['cpu']:.1f}",
            f"{whole[what]['megabytes']:.0f}",
            f"{whole[what]['wall'] / reading['wall']:.1f}",
        ]
        for what, said in names.items()
    ]
    parts = [
        BEGIN,
        "",
        wrapped(
            f"{whole['rows'] // 10**6} million rows of 50 columns (30 of floats, 12 of integers, 4 of bools, 4 of "
            f"texts), Parquet files of {whole['bytes'] / 1e9:.1f} GB, on {results['machine']}:"
        ),
        "",
        table(head, lines, 1),
        "",
        wrapped(
            "Growth, beside a table of a million rows, 50 columns, 5 levels and 2 classes of one byte a cell: "
            "nanoseconds of processor time for each row, reading alone and all of it (forward selection of 10 "
            "features), and the largest memory of the process."
        ),
        "",
    ]
    lines = []
    for case in results["growth"]:
        rows = case["rows"]
        lines.append(
            [
                case["by"],
                f"{case[case['by']]}",
                f"{1e9 * case['reading']['cpu'] / rows:.0f}",
                f"{1e9 * case['in blocks']['cpu'] / rows:.0f}",
                f"{case['in blocks']['megabytes']:.0f}",
            ]
        )
    parts += [table(["growth in", "to", "reading, ns a row", "all, ns a row", "memory, MB"], lines, 1), ""]
    parts += [
        wrapped(
            f"What a sample loses (of {SAMPLE_ROWS // 10**6} million rows of 30 columns, 8 features; means of {TURNS} "
            "samples): the root mean square error of I(Xi;C) and of I(Xi;Xj;C) in nats, and by how much the features "
            "chosen from the sample are worth less, measured by all rows, than those chosen from all."
        ),
        "",
        table(
            ["rows of the sample", "error of relevance", "error of pairs", "value lost", "at most"],
            [
                [
                    f"{one['rows']}",
                    f"{one['relevance']:.5f}",
                    f"{one['pairs']:.5f}",
                    f"{100 * one['lost']:.2f} %",
                    f"{100 * one['most lost']:.2f} %",
                ]
                for one in results["sampling"]
            ],
            0,
        ),
        "",
        END,
    ]
    return "\n".join(parts)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--measure", nargs=2, metavar=("WHAT", "FOLDER"), help="one piece of work, by this process")
    asked.add_argument("--page", action="store_true", help="write the page from the kept results alone")
    asked.add_argument("--only", choices=["growth", "mixed", "sampling"], help="measure this alone, keep the rest")
    asked.add_argument("--rows", type=int, default=MIXED_ROWS, help="of the table of mixed columns")
    given = asked.parse_args()
    if given.measure:
        print(json.dumps(measured(*given.measure)))
        return
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if not given.page:
        results["machine"] = f"two cores ({platform.machine()})"
        for name, work in (("growth", growth), ("mixed", lambda: mixed(given.rows)), ("sampling", sampling)):
            if given.only in (None, name):
                results[name] = work()
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    if {"growth", "mixed", "sampling"} <= results.keys():
        replace_section(PAGE, page(results), BEGIN, END)


if __name__ == "__main__":
    main()
