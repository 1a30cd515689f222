"""Table 1 of the paper: what backward elimination and COBRA promise before they are run.

The printed row of BE is compared with the theorem's formula, and the printed row of COBRA with a
ratio that is proved from first principles (`certselect.theory.rounding_ratio`), so that no printed
number is compared with itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from certselect.theory import backward_ratio, rounding_ratio
from experiments.grids import Grid
from experiments.kept_rows import RESULTS, Row, write_rows

PARTS = (2, 3, 4, 6, 8, 10, 20)  # n over k, as in the paper's table
N_FEATURES = 2400  # divisible by every part, and as many as the largest sets have after the cut to 2000


def ratios(n: int = N_FEATURES) -> list[Row]:
    """The shares of the best value that are promised when k is 1/2, 1/3, ... of n features."""
    return [
        {"part": f"1/{part}", "n": n, "BE": backward_ratio(n // part, n), "COBRA": rounding_ratio(n // part, n)}
        for part in PARTS
    ]


def run(grid: Grid | None = None, sets: Sequence[str] = (), jobs: int = 1, *, results: Path = RESULTS) -> None:
    """Keep the numbers. Neither grid nor sets matter here."""
    write_rows(results / "guarantees.json", ratios())
