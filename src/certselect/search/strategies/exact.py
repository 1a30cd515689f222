"""The exact method: the best subset, and the proof that there is no better one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from certselect.clock import NO_LIMIT, TimeLimit
from certselect.criteria.units import UnitProblem
from certselect.memory import check_room_for_proof
from certselect.relaxation.arrays import CPU, Arrays
from certselect.relaxation.device import arrays_for
from certselect.search.completion import Completion, brought_to_size
from certselect.search.found import Found
from certselect.search.options import check_count
from certselect.search.polish import polish, settle_ties
from certselect.search.prover import Prover
from certselect.search.strategies.backward import backward
from certselect.search.strategies.forward import forward
from certselect.search.strategy import Strategy
from certselect.settings.checks import flag

# What is kept of a time limit for the plain relaxation, which may show more than a proof that was cut short.
KEPT_SECONDS = 1.5


def exact(
    problem: UnitProblem,
    found: Found,
    rng: np.random.Generator,
    /,
    *,
    ties: bool = False,
    max_ties: int = 100,
) -> None:
    """Find the best subset and prove that it is the best.

    Starts from the better of forward and backward selection, polished; then bounds,
    decides features, shrinks the problem and distinguishes cases (see `prover`) until
    no better subset is possible. The status is then "proven optimal". A time limit or
    Ctrl-C ends it earlier: the answer is the best subset found, with the gap that is left.

    Subsets count as worth the same if their values differ by no more than 5e-13 of the sum of
    their terms. Of those that a single swap turns into the best one found, one swap after the
    other, the lowest is the answer. With `ties`, every subset that is worth as much as the best is listed in
    `Selection.ties`, the lexicographically first is the answer, and at most `max_ties`
    are looked for. Needs the whole pair matrix, and memory for as many features as `certselect.memory`
    says: 8 GB for 10000.
    """
    ties, max_ties = flag("ties", ties), check_count("max_ties", max_ties, 1)
    check_room_for_proof(len(problem.candidates))
    limit, found.limit = found.limit, found.limit.part(0.5)  # so that a bound is still to come
    start_well(problem, found, rng)
    found.limit = limit
    prove(problem, found, max_seconds=found.limit.keeping(KEPT_SECONDS).left, all_best=max_ties if ties else 0)


def prove(
    problem: UnitProblem, found: Found, *, max_seconds: float, all_best: int = 0, known: float = -math.inf
) -> None:
    """Go on from the subset in `found` to the best one, or as near to its proof as time and Ctrl-C allow.

    What is worth no more than `known` is not looked at.
    """
    # Of single precision: three for the rounds, three put aside, two of their best state, and what they work with.
    arrays, computed_on = arrays_for(len(problem.reduced.matrix), 5.0, max_seconds)
    found.evidence = replace(found.evidence, computed_on=computed_on)
    prover = prover_for(problem, found.indices, all_best=all_best, known=known, limit=found.limit, arrays=arrays)
    try:
        prover.run(max_seconds=max_seconds)
    except KeyboardInterrupt:
        prover.interrupted()
        raise
    finally:
        proved = prover.proved()
        found.evidence = replace(found.evidence, proved=proved)
        best = proved.equals[0] if proved.equals else problem.reduced.unit_indices(prover.positions)
        if set(best) != set(found.indices):
            found.indices = best
            found.scores.append(prover.value)
    found.ties_cut = bool(all_best) and not prover.finished
    if prover.bound > prover.known:
        found.cut_short = True  # nothing else ends a proof before there is one
    elif not all_best:
        try:
            settle_ties(problem, found, prover.value, prover.tie)
        finally:
            found.indices.sort()  # newcomers take the places of others


def start_well(problem: UnitProblem, found: Found, rng: np.random.Generator) -> None:
    """Put the better of two greedy searches, polished, into `found`; what there is of one where time is up."""
    values = []
    for greedy in (forward, backward):
        if values and found.out_of_time():
            return
        tried = Found(limit=found.limit)
        if not found.indices:
            tried.indices = found.indices  # shared, so that Ctrl-C on the way leaves what there is
        greedy(problem, tried, rng)
        tried.indices = brought_to_size(problem, tried.indices)
        polish(problem, tried)
        values.append(problem.value(tried.indices))
        if len(values) == 1 or values[1] > values[0]:
            found.indices = sorted(tried.indices)
            found.scores.append(values[-1])


def prover_for(
    problem: UnitProblem,
    units: list[int],
    *,
    all_best: int = 0,
    known: float = -math.inf,
    limit: TimeLimit = NO_LIMIT,
    arrays: Arrays = CPU,
) -> Prover:
    """A prover for a problem in unit form, starting from an allowed subset of its units."""
    reduced = problem.reduced
    seen: set[tuple[int, ...]] = set()
    completion = Completion(problem.rules, problem.limit)

    def positions_of(indices: list[int]) -> list[int]:
        free = np.setdiff1d(indices, reduced.required)
        return np.searchsorted(reduced.units, free).tolist()

    def nearby(membership: np.ndarray) -> list[int] | None:
        """The allowed subset of the largest memberships, polished."""
        order = reduced.units[np.argsort(-membership, kind="stable")]
        key = tuple(sorted(completion.in_order(order.tolist())))
        if key in seen:
            return None
        seen.add(key)
        better = Found(indices=list(key), limit=limit)
        polish(problem, better)
        return positions_of(better.indices)

    return Prover(reduced, positions_of(units), offer=nearby, all_best=all_best, known=known, arrays=arrays)


STRATEGY = Strategy(
    "exact",
    exact,
    "finds the optimal subset and proves it; at the time limit, the best one found and its gap",
    needs_all_pairs=True,
    bounds=True,
    scores="improving",
)
