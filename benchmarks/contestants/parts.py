"""Our own work beside those parts of it that nobody can save: how many times such a part it costs."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .match import OURS, Match
from .problems import mrmr_problem, number_table

JOBS = 2


def interior_point(n: int, k: int) -> Match:
    """The relaxation to 1e-6 in products of matrices of that size, all on one thread."""
    Q = mrmr_problem(n, k)
    A = np.random.default_rng(0).standard_normal((n, n))

    def ours() -> Any:
        from certselect.relaxation import solve
        from certselect.threads import one_blas_thread

        with one_blas_thread(True):
            return solve(Q, k, "interior_point")

    def product() -> np.ndarray:
        from certselect.threads import one_blas_thread

        with one_blas_thread(True):
            return A @ A

    return Match(
        {OURS: ours, "a matrix product": product},
        facts=lambda name, answer: {"gap": float(answer.gap)} if name == OURS else {},
    )


def rounding(n: int, k: int, draws: int) -> Match:
    """Rounding and repair of many draws beside the relaxation that they follow."""
    from certselect.criteria import SubsetProblem
    from certselect.relaxation import relax
    from certselect.search.draws import draw_subsets, factor_of, round_draws
    from certselect.search.found import Found

    problem = SubsetProblem.from_matrix(mrmr_problem(n, k), k)
    answer = relax(problem)

    def ours() -> None:
        drawn = draw_subsets(factor_of(answer), draws, np.random.default_rng(0))
        round_draws(problem.units, Found(), drawn)

    return Match({OURS: ours, "its relaxation": lambda: relax(problem)})


def choosing(m: int, n: int, sizes: range) -> Match:
    """Choosing a size by cross-validation, beside one path and the fits of the classifier alone."""
    from sklearn.model_selection import StratifiedKFold
    from sklearn.neighbors import KNeighborsClassifier

    from certselect import information_terms, selection_path
    from certselect.selectors import SubsetSelectorCV

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, m)
    X = rng.normal(480.0, 30.0, (m, n))
    X[:, :20] += 12.0 * y[:, None] * rng.random(20)
    X = X.round().astype(np.int16)
    coding: dict[str, Any] = {"integers": "numbers", "discretize": "mean_std"}
    coding |= {"measure": "plugin", "correction": "none"}
    classifier = KNeighborsClassifier()

    def ours() -> Any:
        return SubsetSelectorCV(classifier, sizes, strategy="forward", criterion="jmi", **coding).fit(X, y)

    results = ours().cv_results_

    def path_and_fits() -> None:
        selection_path(information_terms(X, y, **coding), sizes, strategy="forward", criterion="jmi")
        for split, (train, test) in enumerate(StratifiedKFold(5).split(X, y)):
            for support in results[f"split{split}_support"]:
                columns = X[:, support]
                classifier.fit(columns[train], y[train]).score(columns[test], y[test])

    return Match({OURS: ours, "one path and the fits": path_and_fits})


def copula(m: int, n: int) -> Match:
    """All pairs by the Gaussian copula, beside one product of that shape and a sort of every column."""
    from certselect import information_terms
    from certselect.threads import run_parts

    X, _, y = number_table(m, n)
    columns = np.ascontiguousarray(X.T)

    def sort(part: np.ndarray) -> None:
        np.argsort(part, axis=1)

    def product_and_sort() -> np.ndarray:
        run_parts("sort", [partial(sort, part) for part in np.array_split(columns, 8)], JOBS)
        return X.T @ X

    def ours() -> np.ndarray:
        return information_terms(X, y, measure="gaussian_copula", n_jobs=JOBS).redundancy

    return Match({OURS: ours, "a product and a sort": product_and_sort})
