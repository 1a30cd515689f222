"""A bound for any search's answer: solve the relaxation, prove what its multipliers give."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np

from certselect.certificate import certificate_of
from certselect.criteria.problem import SubsetProblem
from certselect.relaxation import Iterate, Relaxation, relax
from certselect.search.selection import Selection


def certify(
    problem: SubsetProblem,
    selection: Selection,
    *,
    tol: float | None = None,
    max_seconds: float | None = None,
    multipliers: np.ndarray | None = None,
) -> Selection:
    """Say how far a subset can be from the best of its size, and prove it.

    Solves the semidefinite relaxation of the problem and turns its multipliers
    into a number that no k features exceed; the proof rests on the problem's
    matrix and the multipliers alone, not on the solver. Ctrl-C ends the solver
    early: the bound is then weaker, and as true.

    Parameters
    ----------
    problem : SubsetProblem
        The problem the subset was selected for.
    selection : Selection
        From `select`, or with `indices` of your own.
    tol, max_seconds
        Passed to `relax`: how closely, and how long, to solve.
    multipliers : ndarray (n+1,), optional
        Of an earlier relaxation: nothing is solved then.

    Returns
    -------
    Selection
        The same with `upper_bound`, `gap` and `certificate` filled in.

    Examples
    --------
    >>> import numpy as np
    >>> from certselect import SubsetProblem, certify, select
    >>> problem = SubsetProblem.from_matrix(np.diag([3.0, 2.0, 1.0]), k=2)
    >>> round(certify(problem, select(problem)).upper_bound, 6)
    5.0
    """
    if multipliers is None:
        multipliers, _, seconds = solve_for_bound(problem, tol=tol, max_seconds=max_seconds)
        selection = replace(selection, seconds={**selection.seconds, **seconds})
    return with_bound(problem, selection, multipliers)


def solve_for_bound(
    problem: SubsetProblem,
    *,
    tol: float | None = None,
    max_seconds: float | None = None,
    warm_start: Relaxation | None = None,
) -> tuple[np.ndarray, Relaxation | None, dict[str, float]]:
    """Multipliers of the relaxation, the latest there are if Ctrl-C ends it (then with no Relaxation)."""
    started = perf_counter()
    # Zeros bound too, if poorly: what there is before the first iteration.
    latest = np.zeros(len(problem.candidates) + 1)
    relaxation = None

    def keep(iterate: Iterate) -> None:
        nonlocal latest
        latest = iterate.multipliers

    try:
        relaxation = relax(problem, tol=tol, max_seconds=max_seconds, warm_start=warm_start, callback=keep)
        latest = relaxation.multipliers
    except KeyboardInterrupt:
        pass
    return latest, relaxation, {"relaxation": perf_counter() - started}


def with_bound(problem: SubsetProblem, selection: Selection, multipliers: np.ndarray) -> Selection:
    """The selection with the bound these multipliers prove."""
    started = perf_counter()
    certificate = certificate_of(problem, selection.indices, multipliers)
    return replace(
        selection,
        upper_bound=certificate.bound,
        gap=certificate.gap,
        certificate=certificate,
        seconds={**selection.seconds, "certificate": perf_counter() - started},
    )
