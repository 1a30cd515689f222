"""Do the features predict? One command makes docs/outcome.md.

    python benchmarks/outcome.py                          # what is not kept yet, then the page
    python benchmarks/outcome.py --only default --fresh   # one contestant again, on every table
    python benchmarks/outcome.py --table Madelon          # one table
    python benchmarks/outcome.py --stale                  # what earlier code of ours made, again
    python benchmarks/outcome.py --page                   # the page alone, from the results kept

Results are kept by contestant, settings and table: only what is not there, or was made by other settings or from
another table, is measured. The paper's eight tables are read from the folder that CERTSELECT_DATA names; without it
what is kept of them stays. Contestants whose package is not installed (`pip install 'certselect[outcome]'`) likewise.
A row of ours keeps a digest of the code that selected the features. The page says which rows other code made, and
`--stale` measures them again. The judgement of the default is a run of its own: `outcome_judgement.py`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

import outcome_judgement
from certselect.errors import DataUnavailable
from certselect.writing import write_whole
from outcome_contestants import CONTESTANTS, OURS
from outcome_page import PAGE, page_text
from outcome_scoring import Judge, Row, code_digest, row_key
from outcome_tables import SOURCES, Source, Table

RESULTS = Path(__file__).parent / "results" / "outcome.json"
SCORES = Path(__file__).parent.parent / "build" / "outcome"  # of subsets; may be removed, costs time

Question = tuple[str, str]  # table and contestant


def read_rows(path: Path = RESULTS) -> dict[Question, Row]:
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return {(row["table"], row["contestant"]): row for row in kept}


def write_rows(rows: dict[Question, Row], path: Path = RESULTS) -> None:
    """Those of contestants and tables that there are, in their order, one to a line."""
    asked = [(source.name, name) for source in SOURCES for name in CONTESTANTS]
    lines = [json.dumps(rows[question]) for question in asked if question in rows]
    write_whole(path, lambda file: file.write(("[\n" + ",\n".join(lines) + "\n]\n").encode()))


def missing(
    table: Table, names: Iterable[str], rows: dict[Question, Row], *, fresh: bool, code: str | None = None
) -> list[str]:
    """Contestants that are installed and whose results are not kept, or are of something else.

    With a digest of code also those of ours that other code made.
    """
    keys = {name: row_key(table, CONTESTANTS[name]) for name in names if CONTESTANTS[name].is_here}
    ours = {contestant.name for contestant in OURS}

    def is_kept(name: str) -> bool:
        row = rows.get((table.name, name), {})
        return row.get("key") == keys[name] and (code is None or name not in ours or row.get("code") == code)

    return [name for name in keys if fresh or not is_kept(name)]


def judged(source: Source, names: Sequence[str]) -> tuple[str, list[Row], float]:
    """In a process of its own: the rows of some contestants on one table."""
    began = time.perf_counter()
    judge = Judge(source.table(), SCORES)
    return source.name, [judge.row(CONTESTANTS[name]) for name in names], time.perf_counter() - began


def measure_all(sources: Sequence[Source], names: Sequence[str], *, fresh: bool, stale: bool, jobs: int) -> None:
    rows = read_rows()
    code = code_digest() if stale else None
    asked: list[tuple[int, Source, list[str]]] = []
    for source in sources:
        try:
            table = source.table()
        except DataUnavailable:
            print(f"{source.name}: skipped, CERTSELECT_DATA names no folder that has it", flush=True)
            continue
        wanted = missing(table, names, rows, fresh=fresh, code=code)
        if wanted:
            asked.append((table.X.size, source, wanted))
    largest_first = sorted(asked, key=lambda question: -question[0])
    pool = Parallel(n_jobs=jobs, return_as="generator_unordered")
    answers: Any = pool(delayed(judged)(source, wanted) for _, source, wanted in largest_first)
    for name, found, seconds in answers:
        # Read again: another run may have kept others meanwhile.
        write_rows({**read_rows(), **{(name, row["contestant"]): row for row in found}})
        print(f"{name}: {len(found)} contestants, {seconds:.0f} s", flush=True)
        for row in found:
            if "reason" in row:
                print(f"  {row['contestant']}: {row['reason']}", flush=True)


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Measure how well the features that each contestant chooses predict.")
    parser.add_argument("--only", action="append", choices=list(CONTESTANTS), metavar="NAME", help="a contestant")
    parser.add_argument("--table", action="append", choices=[source.name for source in SOURCES], metavar="NAME")
    parser.add_argument("--fresh", action="store_true", help="measure again what is kept")
    parser.add_argument("--stale", action="store_true", help="measure again what earlier code of ours made")
    parser.add_argument("--jobs", type=int, default=2, help="tables measured at the same time")
    parser.add_argument("--page", action="store_true", help="only write the page again, from the results kept")
    arguments = parser.parse_args(given)
    if not arguments.page:
        sources = [source for source in SOURCES if arguments.table is None or source.name in arguments.table]
        measure_all(
            sources,
            arguments.only or list(CONTESTANTS),
            fresh=arguments.fresh,
            stale=arguments.stale,
            jobs=arguments.jobs,
        )
    judged = outcome_judgement.read_rows()
    PAGE.write_text(page_text(read_rows().values(), judged, code_digest()), encoding="utf-8")


if __name__ == "__main__":
    main()
