"""A bound for any search's answer: solve the relaxation, prove what its multipliers give."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from time import perf_counter

import numpy as np

from certselect.certificate import bound_subsets, certificate_of, gap, proof_certificate, tolerance
from certselect.certificate.lift import Lift
from certselect.certificate.proof import certain
from certselect.criteria.problem import SubsetProblem
from certselect.relaxation import Iterate, Relaxation, relax
from certselect.search.found import Found
from certselect.search.proved import Proved
from certselect.search.selection import INTERRUPTED, PROVEN_OPTIMAL, Selection
from certselect.search.strategies.exact import MOST_UNITS, prove, start_well

# How long certify="tight" may take if not given.
TIGHT_SECONDS = 60.0


def certify(
    problem: SubsetProblem,
    selection: Selection,
    *,
    tight: bool = False,
    tol: float | None = None,
    max_seconds: float | None = None,
    multipliers: np.ndarray | None = None,
    lift: Lift | None = None,
) -> Selection:
    """Prove how far a subset can be from the best one of its size.

    Solves the semidefinite relaxation of the problem and turns its multipliers
    into a number that no allowed subset of k features exceeds; the proof rests on
    the problem's matrix, the multipliers and the lift alone, not on the solver.
    Ctrl-C ends the solver early: the bound is then weaker, but still valid.

    Parameters
    ----------
    problem : SubsetProblem
        The problem the subset was selected for. If it asks for any size within a
        budget, every size is bounded, and there is no single certificate.
    selection : Selection
        From `select`, or with `indices` of your own.
    tight : bool
        Go on after the relaxation, deciding features and distinguishing cases, until no
        better subset can be left or `max_seconds` (60 if not given) are over. With more than 4000
        candidates only the relaxation is used.
    tol, max_seconds
        Passed to `relax`: how closely, and how long, to solve.
    multipliers : ndarray (n+1,), optional
        Of an earlier relaxation: nothing is solved then.
    lift : Lift, optional
        The lift these multipliers belong to (`Relaxation.lift`, `Certificate.lift`).

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
    if problem.any_size:
        return _bounded_at_every_size(problem, selection, tight=tight, tol=tol, max_seconds=max_seconds)
    if tight and len(problem.reduced.matrix) <= MOST_UNITS:
        proved, seconds = solve_tightly(problem, selection.indices, max_seconds)
        selection = replace(selection, seconds={**selection.seconds, **seconds})
        if proved is None:
            return with_bound(problem, selection, np.zeros(len(problem.reduced.matrix) + 1))
        return with_proof(problem, selection, proved)
    if multipliers is None:
        multipliers, lift, _, seconds = solve_for_bound(problem, tol=tol, max_seconds=max_seconds)
        selection = replace(selection, seconds={**selection.seconds, **seconds})
    return with_bound(problem, selection, multipliers, lift)


def _bounded_at_every_size(
    problem: SubsetProblem, selection: Selection, *, tight: bool, tol: float | None, max_seconds: float | None
) -> Selection:
    """The selection with the largest of the bounds on subsets of each allowed size."""
    started, bounds = perf_counter(), []
    max_seconds = TIGHT_SECONDS if tight and max_seconds is None else max_seconds
    for k in problem.allowed_sizes:
        left = None if max_seconds is None else max(0.0, max_seconds - (perf_counter() - started))
        sized = problem.of_size(k)
        if tight:
            start = Found()
            start_well(sized.units, start, np.random.default_rng(0))
            proved, _ = solve_tightly(sized, sized.units.columns(start.indices), left, selection.objective)
            if proved is not None:
                bounds.append(proved.bound)
                continue
        multipliers, lift, relaxation, _ = solve_for_bound(sized, tol=tol, max_seconds=left)
        if relaxation is None:
            max_seconds = 0.0  # Ctrl-C is meant for all sizes
        bounds.append(bound_subsets(sized, multipliers, lift).bound)
    return replace(
        selection,
        upper_bound=max(bounds),
        gap=gap(selection.objective, max(bounds)),
        seconds={**selection.seconds, "relaxation": perf_counter() - started},
    )


def solve_for_bound(
    problem: SubsetProblem,
    *,
    tol: float | None = None,
    max_seconds: float | None = None,
    warm_start: Relaxation | None = None,
) -> tuple[np.ndarray, Lift | None, Relaxation | None, dict[str, float]]:
    """Multipliers of the relaxation and their lift: the latest there are if Ctrl-C ends it, then with no Relaxation."""
    started = perf_counter()
    # Zeros bound too, if poorly: what there is before the first iteration.
    multipliers, lift = np.zeros(len(problem.reduced.matrix) + 1), None
    relaxation = None

    def keep(iterate: Iterate) -> None:
        nonlocal multipliers, lift
        multipliers, lift = iterate.multipliers, iterate.lift

    try:
        relaxation = relax(problem, tol=tol, max_seconds=max_seconds, warm_start=warm_start, callback=keep)
        multipliers, lift = relaxation.multipliers, relaxation.lift
    except KeyboardInterrupt:
        pass
    return multipliers, lift, relaxation, {"relaxation": perf_counter() - started}


def solve_tightly(
    problem: SubsetProblem, columns: Iterable[int], max_seconds: float | None = None, known: float = -math.inf
) -> tuple[Proved | None, dict[str, float]]:
    """What can be proved in that time (60 s if not given) from an allowed subset on; None if Ctrl-C comes first."""
    started = perf_counter()
    start = Found()
    limit = TIGHT_SECONDS if max_seconds is None else max_seconds
    with suppress(KeyboardInterrupt):
        start.indices = problem.units.units_of(columns)
        prove(problem.units, start, max_seconds=limit, known=known)
    return start.proved, {"proof": perf_counter() - started}


def with_proof(problem: SubsetProblem, selection: Selection, proved: Proved) -> Selection:
    """The selection with what was proved about all subsets; "proven optimal" if none can be better."""
    certificate = proof_certificate(problem, selection.indices, proved.bound, proved.known, proved.proof)
    allowed = tolerance(problem, selection.indices)
    best = certificate.bound - certificate.value <= allowed
    names, reduced = problem.feature_names, problem.reduced
    # A little less than the value, so that a bound that is derived again is on the same side of it.
    into, out = certain(proved.decisions, selection.objective - 0.5 * allowed)
    return replace(
        selection,
        upper_bound=certificate.bound,
        gap=certificate.gap,
        certificate=None if proved.proof is None else certificate,
        status=PROVEN_OPTIMAL if best and selection.status != INTERRUPTED else selection.status,
        tolerance=allowed if best else math.nan,
        proven_in=tuple(names[i] for i in sorted(problem.units.columns(reduced.units[sorted(into)]))),
        proven_out=tuple(names[i] for i in sorted(problem.units.columns(reduced.units[sorted(out)]))),
        ties=tuple(tuple(sorted(problem.units.columns(units))) for units in proved.equals),
    )


def with_bound(
    problem: SubsetProblem, selection: Selection, multipliers: np.ndarray, lift: Lift | None = None
) -> Selection:
    """The selection with the bound these multipliers, with their lift, prove."""
    started = perf_counter()
    certificate = certificate_of(problem, selection.indices, multipliers, lift)
    return replace(
        selection,
        upper_bound=certificate.bound,
        gap=certificate.gap,
        certificate=certificate,
        seconds={**selection.seconds, "certificate": perf_counter() - started},
    )
