"""The judgement of the default on tables that were not used to choose it: the protocol, the run and its results.

    OMP_NUM_THREADS=1 CERTSELECT_JUDGING=FOLDER python benchmarks/outcome_judgement.py --jobs 16

`judging_tables.py` builds the folder. A task is one split of one table; the first split of every table comes first, so
that a run that ends early (`--seconds`) has judged all tables on fewer splits.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judging_tables import TABLES, TARGET, JudgingTable
from outcome_contestants import JUDGED, JUDGED_DEFAULT, Contestant, Sample
from outcome_scoring import LIMIT, OverLimit, Split, code_digest, model_scores, processor_limit, splits
from outcome_tables import Table, table_of_frame

RESULTS = Path(__file__).parent / "results" / "judgement.json"
FOLDER = "CERTSELECT_JUDGING"
SIZES = (5, 10, 20)
PARTS = (1 / 4, 1 / 2, 3 / 4)  # of the columns, where there are no more than the largest size
LOWEST_R2 = -1.0  # one exploding fit must not decide
DIGITS = 4

Row = dict[str, Any]


def sizes_of(columns: int) -> tuple[int, ...]:
    """How many features are selected from a table of so many columns."""
    return SIZES if columns > max(SIZES) else tuple(max(1, round(part * columns)) for part in PARTS)


def judging_table(about: JudgingTable) -> Table:
    frame = pd.read_csv(Path(os.environ[FOLDER]) / about.file)
    return table_of_frame(about.name, frame, TARGET, classes=about.classes)


def judged_split(table: Table, place: int, split: Split, contestants: Sequence[Contestant]) -> list[Row]:
    """The scores of contestants on one split, by size and model, or the reason why there are none."""
    sample, sizes = Sample(table, split[0]), sizes_of(table.X.shape[1])
    known: dict[tuple[int, ...], list[float]] = {}
    rows = []
    for contestant in contestants:
        row: Row = {"table": table.name, "split": place, "contestant": contestant.name}
        began = time.process_time()
        try:
            with processor_limit(LIMIT):
                chosen = contestant.choose(sample, sizes)
        except OverLimit:
            rows.append({**row, "reason": f"more than {LIMIT} s"})
            continue
        except Exception as failure:  # of whatever kind other packages raise: shown on the page
            rows.append({**row, "reason": f"{type(failure).__name__}: {str(failure).partition(chr(10))[0]}"})
            continue
        row["seconds"] = round(time.process_time() - began, 3)
        subsets = {k: tuple(sorted(columns)) for k, columns in chosen.items()}
        for subset in {*subsets.values()} - {*known}:
            scores = model_scores(table, split, subset)
            known[subset] = scores if table.classes else [max(LOWEST_R2, score) for score in scores]
        row["columns"] = {str(k): list(columns) for k, columns in subsets.items()}
        row["scores"] = {str(k): np.round(known[columns], DIGITS).tolist() for k, columns in subsets.items()}
        rows.append(row)
    return rows


def rows_of_tables(found: Iterable[Row], code: str) -> list[Row]:
    """One row for each table and contestant: what its splits come to."""
    by_question: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in found:
        by_question[row["table"], row["contestant"]].append(row)
    rows = []
    for about in TABLES:
        for contestant in JUDGED:
            of_splits = sorted(by_question.get((about.name, contestant.name), []), key=lambda row: row["split"])
            if not of_splits:
                continue
            row: Row = {"table": about.name, "contestant": contestant.name, "code": code}
            reasons = [one["reason"] for one in of_splits if "reason" in one]
            if reasons:
                rows.append({**row, "reason": reasons[0]})
                continue
            sizes = list(of_splits[0]["scores"])
            scores = np.array([[one["scores"][k] for k in sizes] for one in of_splits])
            row["seconds"] = round(float(np.mean([one["seconds"] for one in of_splits])), 3)
            row["chosen"] = {k: round(float(np.mean([len(one["columns"][k]) for one in of_splits])), 1) for k in sizes}
            row["splits"] = {k: scores[:, place].mean(axis=1).round(DIGITS).tolist() for place, k in enumerate(sizes)}
            row["models"] = {k: scores[:, place].mean(axis=0).round(DIGITS).tolist() for place, k in enumerate(sizes)}
            rows.append(row)
    return rows


# The run

_tables: dict[str, Table] = {}
_deadline = float("inf")


def _task(question: tuple[str, int]) -> list[Row] | None:
    name, place = question
    if time.time() > _deadline:
        return None
    table = _tables[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of models and of other packages
        return judged_split(table, place, splits(table)[place], [one for one in JUDGED if one.is_here])


def measure(tables: Sequence[JudgingTable], jobs: int, seconds: float, raw: Path | None) -> list[Row]:
    """All splits of all tables, in processes that share the tables and the compiled code."""
    global _deadline
    began = time.time()
    for about in tables:
        _tables[about.name] = judging_table(about)
    for kind in (True, False):  # compile once, before the processes are made
        alike = [table for table in _tables.values() if table.classes is kind]
        if alike:
            smallest = min(alike, key=lambda table: table.X.size)
            JUDGED_DEFAULT.choose(Sample(smallest, splits(smallest)[0][0]), (2,))
    _deadline = began + seconds
    cost = {name: table.X.shape[1] * min(len(table.X), 900) * _classes(table) for name, table in _tables.items()}
    largest_first = sorted(_tables, key=lambda name: -cost[name])
    questions = [(name, place) for place in range(len(splits(next(iter(_tables.values()))))) for name in largest_first]
    found: list[Row] = []
    done = 0
    last = time.time()
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        for rows in pool.imap_unordered(_task, questions):
            done += rows is not None
            found += rows or []
            if raw is not None and time.time() - last > 30:
                raw.write_text(json.dumps(found))
                last = time.time()
                print(f"{last - began:.0f} s: {done} of {len(questions)} splits", flush=True)
    if raw is not None:
        raw.write_text(json.dumps(found))
    print(f"{time.time() - began:.0f} s: {done} of {len(questions)} splits judged", flush=True)
    return found


def _classes(table: Table) -> int:
    return len(np.unique(table.y)) if table.classes else 4


def read_rows(path: Path = RESULTS) -> list[Row]:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def write_rows(rows: Iterable[Row], path: Path = RESULTS) -> None:
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Judge the default once, on tables that it was not chosen on.")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no split after so many seconds")
    parser.add_argument("--table", action="append", choices=[about.name for about in TABLES], metavar="NAME")
    parser.add_argument("--raw", type=Path, help="keep the scores and the columns of each split in this file")
    parser.add_argument("--from-raw", type=Path, help="measure nothing: make the results from such a file")
    arguments = parser.parse_args()
    if arguments.from_raw:
        found = json.loads(arguments.from_raw.read_text())
    else:
        tables = [about for about in TABLES if arguments.table is None or about.name in arguments.table]
        found = measure(tables, arguments.jobs, arguments.seconds, arguments.raw)
    if arguments.table is None:
        write_rows(rows_of_tables(found, code_digest()))


if __name__ == "__main__":
    main()
