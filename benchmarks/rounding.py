"""How long rounding and repair take beside the relaxation they follow, as ratios of one run.

Prints a Markdown table: 1000 draws at n = 2000, asked to take under a fifth of the relaxation's time.
"""

from __future__ import annotations

import time

import numpy as np

from certselect.criteria import SubsetProblem
from certselect.relaxation import relax
from certselect.search.found import Found
from certselect.search.rounding import draw_subsets, factor_of, round_draws
from judge import best_seconds

N, DRAWS, BAR = 2000, 1000, 0.2


def mutual_information_like(k: int, weight: float) -> SubsetProblem:
    """Relevance and redundancy as data have them: a few groups of features that share much, noise elsewhere."""
    rng = np.random.default_rng(0)
    loadings = rng.random((N, 20)) * (rng.random((N, 20)) < 0.2)
    redundancy = loadings @ loadings.T / 4 + 0.01 * rng.random((N, N))
    Q = -weight / 4 * (redundancy + redundancy.T)
    np.fill_diagonal(Q, 0.3 * rng.random(N) ** 2)
    return SubsetProblem.from_matrix(Q, k)


def main() -> None:
    print(f"\n### Rounding and repair of {DRAWS} draws at n = {N}\n")
    print(
        "| k, pair weight | mean size drawn | matrix product (s) | relaxation (s) | rounding (s) | "
        "rounding / product | rounding / relaxation | asked below |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for k, weight in ((12, 1 / 11), (50, 1 / 49), (50, 1.0)):
        problem = mutual_information_like(k, weight)
        Q = problem.reduced.matrix
        began = time.perf_counter()
        answer = relax(problem)
        relaxation = time.perf_counter() - began
        sizes: list[float] = []

        def rounding(problem=problem, answer=answer, sizes=sizes) -> None:
            drawn = draw_subsets(factor_of(answer), DRAWS, np.random.default_rng(0))
            sizes.append(round_draws(problem.units, Found(), drawn).mean_size)

        seconds = best_seconds({"product": lambda Q=Q: Q @ Q, "rounding": rounding}, turns=3)
        product, spent = seconds["product"], seconds["rounding"]
        print(
            f"| {k}, {weight:.3f} | {sizes[-1]:.1f} | {product:.3f} | {relaxation:.2f} | {spent:.3f} | "
            f"{spent / product:.1f} | {spent / relaxation:.3f} | {BAR} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
