"""`python -m experiments NAME [--grid quick|coarse|full] [--sets LNG,ARR] [--jobs 2]`; NAME `all` runs them in turn.

A run that was stopped goes on where it was. The data sets are found as `certselect.datasets.load_dataset`
finds them: in the folder CERTSELECT_DATA names, in the cache, or at their public addresses.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module

from certselect.errors import DataUnavailable, InvalidInput
from experiments.grids import GRIDS, SETS

# Each a module here with run(grid, sets, jobs), in the order of `all`.
EXPERIMENTS = (
    "reference_greedy",
    "accuracy",
    "comparison",
    "cross_classifier",
    "unscaled_network",
    "three_words",
    "similarity",
    "optimum",
    "madelon",
    "guarantees",
    "synergy",
    "rank_tests",
    "agreement",
    "page",
)


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments", description="Run the paper's experiments again.")
    parser.add_argument("name", choices=[*EXPERIMENTS, "all"])
    parser.add_argument("--grid", choices=list(GRIDS), default="coarse", help="how much to run (default: coarse)")
    parser.add_argument("--sets", help="data sets, such as LNG,ARR (default: the grid's)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one per core)")
    chosen = parser.parse_args(given)
    chosen.sets = chosen.sets.split(",") if chosen.sets else None
    for name in chosen.sets or ():
        if name not in SETS:
            parser.error(f"no data set {name!r}; there are {', '.join(SETS)}")
    if chosen.jobs < 1:
        parser.error("--jobs: one process or more")
    return chosen


def main(given: list[str] | None = None) -> None:
    chosen = arguments(given)
    grid = GRIDS[chosen.grid]
    try:
        for name in EXPERIMENTS if chosen.name == "all" else [chosen.name]:
            experiment = import_module(f"experiments.{name}")
            sets = chosen.sets or (grid.similarity_sets if name == "similarity" else grid.sets)
            experiment.run(grid, sets, chosen.jobs)
    except (InvalidInput, DataUnavailable) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("stopped; what was finished is kept, and the same command goes on from there")


if __name__ == "__main__":
    main()
