"""Figure 1 of the paper: two features that say nothing apart and nearly everything together.

One class lies on an ellipse, the other on a line through it. The line's points are spread so that
each coordinate alone has the same distribution in both classes, which makes "nothing" exact but
for noise: with t uniform, a cos t and b sin t are the ellipse's coordinates, a cos t and b cos t
the line's, and b sin t is distributed as b cos t.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from certselect import information_terms
from certselect.theory import entropy, joint_table
from experiments.grids import Grid
from experiments.kept_rows import RESULTS, write_rows

HALF_AXES = (2.0, 1.0)
POINTS_PER_CLASS = 1000
NOISE = 0.02  # standard deviation, as a fraction of each half axis
BINS = 20


def ellipse_and_line(n: int = POINTS_PER_CLASS, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points (2 n, 2) and their classes: 0 on the ellipse, 1 on the line."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0.0, 2 * np.pi, (2, n))
    ellipse = np.column_stack([np.cos(angle[0]), np.sin(angle[0])])
    line = np.column_stack([np.cos(angle[1]), np.cos(angle[1])])
    points = np.vstack([ellipse, line]) + NOISE * rng.normal(size=(2 * n, 2))
    return points * HALF_AXES, np.repeat([0, 1], n)


def informations(points: np.ndarray, classes: np.ndarray) -> dict[str, float]:
    """I(x;C), I(y;C), I(x,y;C) and H(C) in nats, from counts of small squares."""
    terms = information_terms(points, classes, discretize="uniform", bins=BINS, measure="plugin", correction="none")
    alone_x, alone_y = terms.relevance.tolist()
    return {
        "I(x;C)": alone_x,
        "I(y;C)": alone_y,
        "I(x,y;C)": float(terms.joint_relevance[0, 1]),
        "H(C)": entropy(joint_table(classes)),
    }


def run(grid: Grid | None = None, sets: Sequence[str] = (), jobs: int = 1, *, results: Path = RESULTS) -> None:
    """Keep the numbers. Neither grid nor sets matter here."""
    points, classes = ellipse_and_line()
    write_rows(results / "synergy.json", [{"points": len(classes), "bins": BINS, **informations(points, classes)}])
