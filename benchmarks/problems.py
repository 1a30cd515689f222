"""The tables the contestants are timed on: made up, seeded, of the shapes users have."""

from __future__ import annotations

import numpy as np


def coded_table(m: int, n: int, levels: int, classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Integer codes (m, n) and classes (m,) in which some features follow the class and each other."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(m) % classes)
    X = rng.integers(0, levels, (m, n))
    informative = rng.random(n) < 0.3
    follows = rng.random((m, n)) < rng.random(n) * 0.5
    X = np.where(follows & informative, (y[:, None] + np.arange(n)) % levels, X)
    copies = rng.integers(0, n, n)
    noise = rng.random((m, n)) < 0.7
    X = np.where(noise | (rng.random(n) < 0.8), X, X[:, copies])
    X[:levels] = np.arange(levels)[:, None]  # every level occurs
    return X, y
