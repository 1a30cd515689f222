"""Everybody side by side: one command measures, compares with what is kept, or makes docs/benchmarks.md.

    python benchmarks/bench.py short                # ten minutes on two quiet cores (12 with praznik), then the page
    python benchmarks/bench.py all                  # everything: hours
    python benchmarks/bench.py short forward pairs  # these jobs alone, into build/; the page stays as it is
    python benchmarks/bench.py check                # the short set again, its ratios beside those kept
    python benchmarks/bench.py page                 # the page alone, from the results kept

The paper's data sets are read from the folder that CERTSELECT_DATA names; made-up tables of the same shapes take their
place without it. Contestants that are not installed (`pip install 'certselect[bench]'`) are left out with a message.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contestants import check, results
from contestants.cases import JOBS, all_cases
from contestants.choosers import TAKE_PART
from contestants.differences import all_differences
from contestants.judge import PAUSE, cold, in_a_new_process, taking_turns
from contestants.match import Case

NEW_RESULTS = Path(__file__).parent.parent / "build" / "bench.json"


@dataclass(frozen=True)
class Effort:
    """How often each is asked, after how many seconds it sits out, and how many a cold start may take."""

    turns: int
    patience: float
    cold_limit: float


SHORT, LONG = Effort(5, 1.0, 30.0), Effort(9, 30.0, 300.0)


def measured(case: Case, effort: Effort) -> results.Row:
    """All there is to say about a case: of each contestant its seconds and answer, or why there are none."""
    match = case.match()
    pause = 0.0 if case.back_to_back else PAUSE
    answers, spent, failures = taking_turns(match.runs, turns=effort.turns, patience=effort.patience, pause=pause)
    found: dict[str, dict[str, Any]] = {
        name: {"seconds": spent[name].plain, **match.facts(name, answer)} for name, answer in answers.items()
    }
    for name in answers if case.starts_cold else ():
        # What it takes to start is nothing beside minutes of work.
        if spent[name].median < effort.cold_limit / 10:
            found[name]["cold"] = in_a_new_process([__file__, "cold", case.key, name], effort.cold_limit)
    for reason, names in (("missing", match.missing), ("failed", failures)):
        found.update({name: {reason: why} for name, why in names.items()})
    row = {"key": case.key, "job": case.job, "label": case.label, "source": match.source, **dict(case.sizes)}
    if case.at_most is not None:
        row["at_most"] = case.at_most
    return {**row, "contestants": found}


def measure_all(path: Path, only: Sequence[str], *, long: bool) -> dict[str, Any]:
    """Every case, written after each, so that a run that was stopped leaves what it measured."""
    began = time.perf_counter()
    found: dict[str, Any] = {
        "set": "all" if long else "short",
        "machine": results.machine(),
        "load_before": results.load(),
        "differences": {},
        "cases": [],
    }
    if results.is_rough(found):
        print(f"The machine is busy (load {found['load_before']}): ratios will be rough.", flush=True)
    for case in all_cases(long=long):
        if only and case.job not in only:
            continue
        row = measured(case, LONG if long else SHORT)
        found["cases"].append(row)
        results.write(found, path)
        shown = ", ".join(f"{name} {ratio:.2f}" for name, ratio in results.ratios(row).items())
        print(f"[{time.perf_counter() - began:4.0f} s] {case.key} ({row['source']}): {shown}", flush=True)
        for name, about in row["contestants"].items():
            why = about.get("missing") or about.get("failed")
            if why:
                print(f"         {name}: {why}", flush=True)
    if not only:
        found["differences"] = all_differences(TAKE_PART, "mrmr")
        found["minutes"] = round((time.perf_counter() - began) / 60, 1)
        results.write(found, path)
    return found


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Everybody side by side, as ratios of one run.")
    parser.add_argument("what", choices=["short", "all", "check", "page", "cold"])
    parser.add_argument("rest", nargs="*", help="jobs to measure alone, such as forward (the page is left as it is)")
    parser.add_argument("--out", type=Path, help="where the results are written")
    parser.add_argument("--new", type=Path, help="check: results that are there already, instead of a new run")
    parser.add_argument("--kept", type=Path, default=results.RESULTS, help="check: what they are compared with")
    asked = parser.parse_args(given)
    warnings.simplefilter("ignore")  # other packages' own
    unknown = [job for job in asked.rest if job not in JOBS]
    if asked.what != "cold" and unknown:
        parser.error(f"no job {unknown[0]!r}; there are {', '.join(JOBS)}")
    if asked.what == "cold":
        key, name = asked.rest
        match = next(case for long in (False, True) for case in all_cases(long=long) if case.key == key).match()
        print(json.dumps(cold(match.runs[name])))
    elif asked.what == "check":
        new = results.read(asked.new) if asked.new else measure_all(asked.out or NEW_RESULTS, asked.rest, long=False)
        found = check.compared(results.read(asked.kept), new)
        print(check.report(found))
        sys.exit(1 if found.fails else 0)
    else:
        if asked.what != "page":
            kept_nowhere = NEW_RESULTS if asked.rest else results.RESULTS
            measure_all(asked.out or kept_nowhere, asked.rest, long=asked.what == "all")
        if not asked.rest and asked.out is None:
            from bench_page import write_page

            write_page(results.read())


if __name__ == "__main__":
    main()
