"""How fast the spine is, against the same work in NumPy, as ratios of one run.

Run by `make bench`. Prints Markdown tables; exits with an error if an answer differs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from certselect import SubsetSelector, information_terms
from contestants import gemm_pairs, numpy_greedy
from judge import best_seconds
from problems import coded_table

N_THREADS = 2
# samples, features, levels, classes, times faster at least
ALL_PAIRS = [
    (2000, 500, 5, 2, 8),
    (20000, 500, 5, 2, 8),
    (300, 2000, 2, 2, 4),
    (60, 2000, 3, 9, 4),
    (1560, 617, 5, 26, 4),
    (2000, 500, 50, 2, 4),
]
FORWARD = [(2000, 500, 5), (3279, 1558, 2), (9298, 256, 5), (300, 20000, 2)]
FORWARD_BAR = 10


def both_matrices(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    terms = information_terms(X, y, integers="levels", n_jobs=N_THREADS)
    conditional = terms.conditional_redundancy
    return terms.redundancy, conditional


def all_pairs() -> None:
    print(f"\n### All pairs: I(Xi;Xj) and I(Xi;Xj|C), table to matrices, {N_THREADS} threads\n")
    print("| samples x features, levels, classes | NumPy GEMM (s) | certselect (s) | times faster | asked |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for m, n, levels, classes, bar in ALL_PAIRS:
        X, y = coded_table(m, n, levels, classes)
        ours, theirs = both_matrices(X, y), gemm_pairs(X, y, levels)
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(mine, other, atol=1e-9)
        slow = m * n * levels > 20_000_000
        seconds = best_seconds(
            {"numpy": lambda X=X, y=y, L=levels: gemm_pairs(X, y, L), "ours": lambda X=X, y=y: both_matrices(X, y)},
            turns=2 if slow else 5,
        )
        ratio = seconds["numpy"] / seconds["ours"]
        print(
            f"| {m} x {n}, {levels}, {classes} | {seconds['numpy']:.3f} | {seconds['ours']:.4f} | {ratio:.1f} | {bar} |"
        )
        sys.stdout.flush()


def forward() -> None:
    print(f"\n### Forward selection of 50 features, the whole `fit`, {N_THREADS} threads\n")
    print("| samples x features, levels | criterion | NumPy greedy (s) | certselect (s) | times faster | asked |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for m, n, levels in FORWARD:
        X, y = coded_table(m, n, levels, 2)
        for criterion in ("jmi", "mrmr"):
            selector = SubsetSelector(50, criterion=criterion, strategy="forward", copies="all", n_jobs=N_THREADS)
            reference = numpy_greedy(X, y, levels, 50, criterion)
            if selector.fit(X, y).indices_.tolist() != reference:
                sys.exit(f"different features chosen: {selector.indices_.tolist()} against {reference}")
            seconds = best_seconds(
                {
                    "numpy": lambda X=X, y=y, L=levels, c=criterion: numpy_greedy(X, y, L, 50, c),
                    "ours": lambda s=selector, X=X, y=y: s.fit(X, y),
                }
            )
            ratio = seconds["numpy"] / seconds["ours"]
            print(
                f"| {m} x {n}, {levels} | {criterion} | {seconds['numpy']:.3f} | {seconds['ours']:.4f} "
                f"| {ratio:.1f} | {FORWARD_BAR} |"
            )
            sys.stdout.flush()


def memory() -> None:
    """Peak memory of the widest fit, in a process of its own."""
    code = (
        "import resource; from problems import coded_table; from certselect import SubsetSelector; "
        "X, y = coded_table(300, 20000, 2, 2); before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; "
        "SubsetSelector(50, strategy='forward').fit(X, y); "
        "print(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=Path(__file__).parent
    ).stdout
    before, after = (int(kilobytes) / 1024 for kilobytes in out.split())
    print(
        f"\nPeak memory of forward JMI over 300 x 20000: {after:.0f} MB (asked: 1000); "
        f"{before:.0f} MB when the table was made"
    )


def growth() -> None:
    print("\n### Growth: seconds for all pairs (5 levels, 2 classes), and for forward selection of 50\n")
    print("| samples | features | all pairs (s) | forward (s) |")
    print("| ---: | ---: | ---: | ---: |")
    rows = []
    for m, n in [(m, 500) for m in (2000, 4000, 8000, 16000, 32000)] + [(2000, n) for n in (1000, 2000, 4000)]:
        X, y = coded_table(m, n, 5, 2)
        selector = SubsetSelector(50, strategy="forward", n_jobs=N_THREADS)
        seconds = best_seconds(
            {"pairs": lambda X=X, y=y: both_matrices(X, y), "forward": lambda X=X, y=y, s=selector: s.fit(X, y)},
            turns=3,
        )
        rows.append((m, n, seconds["pairs"], seconds["forward"]))
        print(f"| {m} | {n} | {seconds['pairs']:.4f} | {seconds['forward']:.4f} |")
        sys.stdout.flush()
    for name, place in (("all pairs", 2), ("forward", 3)):
        in_samples = _exponent([row for row in rows if row[1] == 500], 0, place)
        in_features = _exponent([row for row in rows if row[0] == 2000], 1, place)
        print(f"\n{name}: time grows as samples^{in_samples:.2f} and features^{in_features:.2f}")


def _exponent(rows: list[tuple], size: int, place: int) -> float:
    logs = np.log([[row[size], row[place]] for row in rows])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


if __name__ == "__main__":
    parts = {"pairs": all_pairs, "forward": forward, "memory": memory, "growth": growth}
    for name in sys.argv[1:] or parts:
        parts[name]()
