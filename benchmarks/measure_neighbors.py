"""How fast the nearest-neighbour measure is, against scikit-learn's, as ratios of one run.

Run by `make bench`. Prints Markdown tables; exits with an error if an answer differs.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

from certselect.information.neighbors import neighbor_terms
from certselect.table import Block, Table
from judge import best_seconds

SAMPLES, FEATURES = 2000, 500
BAR = 5
# Features whose pairs are measured, and samples: time grows a little faster than samples.
PAIRS = [(2000, 60), (500, 60), (8000, 20)]
NEIGHBORS = (3, 5, 10)


def made_data(m: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Correlated numbers, and a target as a number and as three classes."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=m)
    X = rng.normal(size=(m, n)) + hidden[:, None] * rng.uniform(0, 1, n)
    number = hidden + 0.5 * rng.normal(size=m)
    return X, number, np.digitize(number, [-0.5, 0.5])


def made_table(X: np.ndarray, labels: np.ndarray | None, number: np.ndarray | None) -> Table:
    m, n = X.shape
    target = np.zeros(m, dtype=np.int32) if labels is None else labels.astype(np.int32)
    return Table(
        (Block("number", np.arange(n), X),),
        tuple(f"x{i}" for i in range(n)),
        target,
        tuple(range(int(target.max()) + 1)),
        np.empty((m, 0)) if number is None else number[:, None],
    )


def relevance() -> None:
    print(f"\n### Relevance of {FEATURES} numbers, {SAMPLES} samples, 3 neighbours\n")
    print("| target | threads | scikit-learn (s) | certselect (s) | times faster | asked |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    X, number, labels = made_data(SAMPLES, FEATURES)
    for name, table, theirs, y in (
        ("three classes", made_table(X, labels, None), mutual_info_classif, labels),
        ("a number", made_table(X, None, number), mutual_info_regression, number),
    ):
        settings = {"n_neighbors": 3, "dtype": np.dtype(float)}  # scikit-learn's default
        ours = neighbor_terms(table, **settings, n_jobs=1).relevance
        if np.abs(ours - theirs(X, y, random_state=0)).max() > 0.02:
            sys.exit("scikit-learn finds other information")
        for n_jobs in (1, 2):
            seconds = best_seconds(
                {
                    "theirs": lambda f=theirs, y=y, j=n_jobs: f(X, y, random_state=0, n_jobs=j),
                    "ours": lambda t=table, j=n_jobs, s=settings: neighbor_terms(t, **s, n_jobs=j),
                },
                turns=3,
            )
            ratio = seconds["theirs"] / seconds["ours"]
            print(f"| {name} | {n_jobs} | {seconds['theirs']:.2f} | {seconds['ours']:.3f} | {ratio:.1f} | {BAR} |")
            sys.stdout.flush()


def pairs() -> None:
    print("\n### All pairs of numbers, one thread: microseconds a pair, the best of 3\n")
    print("| samples | neighbours | I(Xi;Xj) | I(Xi;Xj;C), 3 classes | I(Xi;Xj;C), a number |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for m, n in PAIRS:
        X, number, labels = made_data(m, n)
        for k in NEIGHBORS:
            of_labels, of_number = (
                neighbor_terms(table, n_neighbors=k, dtype=np.dtype(float), n_jobs=1).pairs
                for table in (made_table(X, labels, None), made_table(X, None, number))
            )
            cells = []
            for terms, kind in ((of_labels, "redundancy"), (of_labels, "interaction"), (of_number, "interaction")):
                terms.rows(kind, np.array([0]))  # load and compile first
                best = float("inf")
                for _ in range(3):
                    started = time.perf_counter()
                    terms.matrix(kind)
                    best = min(best, time.perf_counter() - started)
                cells.append(f"{best / (n * (n - 1) / 2) * 1e6:.0f}")
            print(f"| {m} | {k} | {' | '.join(cells)} |")
            sys.stdout.flush()


if __name__ == "__main__":
    parts = {"relevance": relevance, "pairs": pairs}
    for name in sys.argv[1:] or parts:
        parts[name]()
