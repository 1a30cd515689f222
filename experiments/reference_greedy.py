"""Are the forward selections right? The same greedy again in a few lines of NumPy that share nothing with the package.

Only the codes are taken over. Counts come from products of 0/1 matrices, terms from entropies, and the best
feature of a step from a plain maximum, of equals the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from joblib import delayed

from certselect import selection_path
from experiments.grids import Grid
from experiments.preparation import CRITERION, RECIPES, load, measure
from experiments.store import EVERY_GRID, Result
from experiments.workers import processes, say

FEATURES = 50
# Sums in another order differ in the last digits: gains this close are equal.
EQUAL = 1e-11


def run(grid: Grid, sets: Sequence[str], jobs: int) -> None:
    """Both measures on the sets named; the same for every grid."""
    with processes(jobs) as pool:
        for name, equal in zip(sets, pool(delayed(compare)(name) for name in sets), strict=True):
            say(f"reference_greedy {name}: {'equal' if equal else 'NOT equal'}")


def compare(name: str) -> bool:
    """Whether both selections equal the plain ones; written down with the first step that differs."""
    settings = {"recipe": vars(RECIPES[name]), "features": FEATURES, "equal": EQUAL}
    result = Result(EVERY_GRID, {"experiment": "reference_greedy", "set": name}, settings)
    dataset = load(name)
    measured = measure(dataset.X, dataset.y, RECIPES[name])
    count = min(FEATURES, len(measured.columns))
    result.content["features"] = count
    for criterion, short in CRITERION.items():
        ours = selection_path(measured.terms, [count], short, "forward", copies="all")[0].indices.tolist()
        plain = greedy(measured.codes, dataset.y, count, criterion)
        differs = next((step for step, pair in enumerate(zip(ours, plain, strict=True), 1) if pair[0] != pair[1]), None)
        result.content[criterion] = {"equal": differs is None, "differs_at": differs}
    result.finish()
    return all(result.content[criterion]["equal"] for criterion in CRITERION)


def greedy(codes: np.ndarray, y: np.ndarray, count: int, criterion: str) -> list[int]:
    """Add the feature with the most relevance less mean pair term with those chosen, `count` times."""
    classes = np.unique(y, return_inverse=True)[1]
    relevance = information(codes, classes)
    pair_terms = partial(redundancy if criterion == "mRMR" else interaction, codes, classes)
    chosen: list[int] = []
    cost = np.zeros(len(codes))
    while len(chosen) < count:
        gain = relevance - cost / max(1, len(chosen))
        gain[chosen] = -np.inf
        chosen.append(int(np.flatnonzero(gain >= gain.max() - EQUAL)[0]))
        cost += pair_terms(chosen[-1])
    return chosen


def redundancy(codes: np.ndarray, classes: np.ndarray, chosen: int) -> np.ndarray:
    """I(Xi;Xj) of all i with one j."""
    return information(codes, codes[chosen].astype(int))


def interaction(codes: np.ndarray, classes: np.ndarray, chosen: int) -> np.ndarray:
    """I(Xi;Xj;C) = I(Xi;Xj) + I(Xi;C) - I(Xi;Xj,C) of all i with one j."""
    other = codes[chosen].astype(int)
    both = other * (classes.max() + 1) + classes
    return information(codes, other) + information(codes, classes) - information(codes, both)


def information(codes: np.ndarray, label: np.ndarray) -> np.ndarray:
    """I(Xi;L) of all features with one label, nats, from counts."""
    label = np.unique(label, return_inverse=True)[1]
    of_label = np.eye(label.max() + 1)[label]
    counts = np.stack([(codes == level).astype(float) @ of_label for level in range(int(codes.max()) + 1)], axis=1)
    together = entropy(counts.reshape(len(codes), -1))
    return entropy(counts.sum(axis=2)) + entropy(counts.sum(axis=1)) - together


def entropy(counts: np.ndarray) -> np.ndarray:
    """Of every row of counts."""
    share = counts / counts.sum(axis=1, keepdims=True)
    return -np.sum(share * np.log(share, where=share > 0, out=np.zeros_like(share)), axis=1)
