"""The last step of a search, and `certify`: from evidence to a bound."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from certselect.certificate import bound_subsets, certificate_of, gap, proof_certificate, tolerance
from certselect.certificate.lift import Lift
from certselect.certificate.proof import certain, replay
from certselect.clock import Stopwatch, TimeLimit, timed
from certselect.criteria.problem import SubsetProblem
from certselect.errors import InvalidInput, QuickerSearchWarning, warn_user
from certselect.memory import has_room_for_proof
from certselect.progress import report
from certselect.relaxation import Iterate, Relaxation, relax
from certselect.relaxation.device import on_device
from certselect.relaxation.result import Status
from certselect.search.cost import too_short
from certselect.search.found import Evidence, Found, Proved
from certselect.search.selection import COMPLETE, INTERRUPTED, LIMIT, PROVEN_OPTIMAL, Selection
from certselect.search.strategies.exact import KEPT_SECONDS, prove, start_well
from certselect.settings.searching import ANY_DEVICE
from certselect.threads import threads_for

# How long certify="tight" may take if not given.
TIGHT_SECONDS = 60.0
# And how long the plain bound of a proof too large to keep.
PLAIN_SECONDS = 15.0


def certify(
    problem: SubsetProblem,
    selection: Selection,
    *,
    tight: bool = False,
    tol: float | None = None,
    max_seconds: float | None = None,
    multipliers: np.ndarray | None = None,
    lift: Lift | None = None,
    device: str = ANY_DEVICE,
) -> Selection:
    """Prove how far a subset can be from the best one of its size.

    Solves the semidefinite relaxation of the problem and turns its multipliers
    into a number that no allowed subset of k features exceeds; the proof rests on
    the problem's matrix, the multipliers and the lift alone, not on the solver.
    Ctrl-C ends the solver early: the bound is then weaker, but still valid, and the
    status is "interrupted".

    Parameters
    ----------
    problem : SubsetProblem
        The problem the subset was selected for. If it asks for any size within a
        budget, every size is bounded, and there is no single certificate.
    selection : Selection
        From `select`, or with `indices` of your own: everything else is derived anew.
    tight : bool
        Go on after the relaxation, deciding features and distinguishing cases, until no
        better subset can be left or `max_seconds` (60 if not given) are over. Where memory
        has no room for that, only the relaxation is used; and where it has none for that either, the bound
        is a poor one, from the largest pair terms of each feature, and a warning says so.
    tol : float, optional
        How closely to solve, as for `relax`.
    max_seconds : float, optional
        Time limit, from the moment of the call; the bound is then the one proven so far. If the problem
        asks for any size, each may use its share of what is left.
    multipliers : ndarray (n+1,), optional
        Of an earlier relaxation: nothing is solved then.
    lift : Lift, optional
        The lift these multipliers belong to (`Relaxation.lift`, `Certificate.lift`).
    device : {"auto", "cpu", "cuda"}
        Where relaxations are computed; what they prove is always checked on the CPU.

    Returns
    -------
    Selection
        The same subset, valued and bounded. A proof that it had from an earlier search is replayed,
        which is all that is done without `tight` then.

    Examples
    --------
    >>> import numpy as np
    >>> from certselect import SubsetProblem, certify, select
    >>> problem = SubsetProblem.from_matrix(np.diag([3.0, 2.0, 1.0]), k=2)
    >>> round(certify(problem, select(problem)).upper_bound, 6)
    5.0
    """
    limit = TimeLimit.of(TIGHT_SECONDS if tight and max_seconds is None else max_seconds)
    check_room_for_bound(problem)
    earlier, selection = selection.certificate, _without_claims(problem, selection)
    if problem.any_size:
        with on_device(device):
            return _bounded_at_every_size(problem, selection, tight=tight, tol=tol, limit=limit)
    if not tight and multipliers is None and earlier is not None and earlier.proof is not None:
        with suppress(InvalidInput):  # of another problem: it proves nothing here
            replayed = replay(problem.reduced, earlier.known, earlier.proof)
            proof, decisions = earlier.proof, replayed.decisions
            proved = Proved(selection.objective, earlier.known, replayed.bound, proof, decisions=decisions)
            if replayed.bound < math.inf:
                return with_proof(problem, selection, proved)
    found, seconds = Found(evidence=Evidence(multipliers, lift)), dict(selection.seconds)
    try:
        with on_device(device):
            solve(problem, selection.indices, found, seconds, limit, tight=tight, tol=tol)
        return noted(_bounded(problem, replace(selection, seconds=seconds), found), found)
    except KeyboardInterrupt:
        return _bounded(problem, replace(selection, seconds=seconds, status=INTERRUPTED), found)


def check_room_for_bound(problem: SubsetProblem) -> None:
    """Refuse a bound that neither memory nor disk has room for, and warn of a poor one, before it is begun."""
    if problem.has_room_for_pairs:
        return
    problem.check_room_on_disk()
    warn_user(
        f"{problem.n_features} features are too many for a relaxation in this machine's memory: the bound is made of "
        "the largest pair terms of each feature alone, on disk. It holds, but will be far above the best subset.",
        QuickerSearchWarning,
    )


def noted(selection: Selection, found: Found) -> Selection:
    """The selection with where it was computed, and with the time limit if that ended what could have improved it."""
    if found.evidence.computed_on:
        selection = replace(selection, computed_on=found.evidence.computed_on)
    if not (found.ties_cut or (found.cut_short and selection.status != PROVEN_OPTIMAL)):
        return selection
    return replace(selection, seconds={**selection.seconds, LIMIT: found.limit.seconds})


def _without_claims(problem: SubsetProblem, selection: Selection) -> Selection:
    """The subset valued anew, for this problem; of what was said about it, that its search was interrupted stays."""
    sized = problem.of_size(len(selection.indices)) if problem.any_size else problem
    return replace(
        selection,
        names=tuple(problem.feature_names[int(i)] for i in selection.indices),
        objective=sized.value(selection.indices),
        criterion=problem.criterion.name,
        k=sized.k,
        status=INTERRUPTED if selection.status == INTERRUPTED else COMPLETE,
        upper_bound=math.nan,
        gap=math.nan,
        tolerance=math.nan,
        certificate=None,
        proven_in=(),
        proven_out=(),
        ties=(),
        constrained=problem.constrained,
        without_copies=bool(problem.copies),
        any_size=problem.any_size,
        problem=problem,
    )


def _bounded(problem: SubsetProblem, selection: Selection, found: Found) -> Selection:
    """The selection with a bound, if a poor one: that of no multipliers at all, where nothing was solved."""
    nothing = Evidence(np.zeros(len(problem.reduced.matrix) + 1))
    return proven(problem, selection, found.evidence if found.evidence.shows_bound else nothing)


def _bounded_at_every_size(
    problem: SubsetProblem, selection: Selection, *, tight: bool, tol: float | None, limit: TimeLimit
) -> Selection:
    """The selection with the largest of the bounds on subsets of each allowed size.

    After Ctrl-C it has no new bound: nothing is known of the sizes that were still to come.
    """
    watch, bounds = Stopwatch(), []
    sizes = problem.allowed_sizes
    try:
        for place, k in enumerate(sizes):
            share = limit.part(1.0 / (len(sizes) - place))
            bounds.append(_bound_of_size(problem.of_size(k), selection.objective, tight, tol, share))
    except KeyboardInterrupt:
        spent = {"relaxation": watch.seconds}
        return replace(selection, status=INTERRUPTED, seconds={**selection.seconds, **spent})
    late = {LIMIT: limit.seconds} if limit.over else {}
    return replace(
        selection,
        upper_bound=max(bounds),
        gap=gap(selection.objective, max(bounds)),
        seconds={**selection.seconds, "relaxation": watch.seconds, **late},
    )


def _bound_of_size(problem: SubsetProblem, known: float, tight: bool, tol: float | None, limit: TimeLimit) -> float:
    """A bound on subsets of the problem's own size; what is worth no more than `known` need not be looked at."""
    found = Found()
    if tight and has_room_for_proof(len(problem.reduced.matrix)) and not limit.over:
        start = Found(limit=limit.part(0.5))
        start_well(problem.units, start, np.random.default_rng(0))
        solve_tightly(problem, problem.units.columns(start.indices), found, {}, limit, known)
        proved = found.evidence.proved
        if proved is not None and proved.bound < math.inf:
            return proved.bound
    solve_for_bound(problem, found, {}, limit, tol=tol)
    assert found.evidence.multipliers is not None, "zeros to begin with"
    return bound_subsets(problem, found.evidence.multipliers, found.evidence.lift).bound


def solve(
    problem: SubsetProblem,
    columns: Iterable[int],
    found: Found,
    seconds: dict[str, float],
    limit: TimeLimit,
    *,
    tight: bool,
    tol: float | None = None,
    warm_start: Relaxation | None = None,
) -> None:
    """Put evidence of a bound into `found`, beyond what is there already; `columns` are an allowed subset.

    Ctrl-C passes through, and leaves the latest evidence there.
    """
    if tight and found.evidence.proved is None and has_room_for_proof(len(problem.reduced.matrix)):
        limit = TimeLimit.of(TIGHT_SECONDS) if limit.ends == math.inf else limit
        solve_tightly(problem, columns, found, seconds, limit.keeping(KEPT_SECONDS))
    elif found.evidence.multipliers is None and found.evidence.proved is None:
        solve_for_bound(problem, found, seconds, limit, tol=tol, warm_start=warm_start)
    if found.cut_short and found.evidence.multipliers is None and not too_short(limit, len(problem.reduced.matrix)):
        # A proof was cut short: the plain relaxation may show more, if the rest of the time allows it.
        solve_for_bound(problem, found, seconds, limit)


def solve_for_bound(
    problem: SubsetProblem,
    found: Found,
    seconds: dict[str, float],
    limit: TimeLimit,
    *,
    tol: float | None = None,
    warm_start: Relaxation | None = None,
) -> None:
    """Put the relaxation, its multipliers and their lift into `found.evidence`.

    Ctrl-C passes through, and leaves the latest multipliers there. Where too little time is left, or memory, nothing is
    solved: then the multipliers are zeros, which bound too, if poorly.
    """
    before = found.evidence
    found.evidence = replace(before, multipliers=np.zeros(len(problem.reduced.matrix) + 1), lift=None)

    def keep(iterate: Iterate) -> None:
        found.evidence = before.at(iterate)

    if not problem.has_room_for_pairs:
        return
    if too_short(limit, len(problem.reduced.matrix)):
        found.stop_at(limit)
        return
    with timed(seconds, "relaxation"):
        relaxation = relax(problem, tol=tol, max_seconds=limit.left, warm_start=warm_start, callback=keep)
        found.evidence = before.of(relaxation)
    if relaxation.status is Status.STOPPED_BY_TIME:
        found.stop_at(limit)


def solve_tightly(
    problem: SubsetProblem,
    columns: Iterable[int],
    found: Found,
    seconds: dict[str, float],
    limit: TimeLimit,
    known: float = -math.inf,
) -> None:
    """Put what can be proved in that time (60 s if not limited), from an allowed subset on, into `found.evidence`.

    Ctrl-C passes through, and leaves what was proved until then.
    """
    start = Found(limit=TimeLimit.of(TIGHT_SECONDS) if limit.ends == math.inf else limit)
    with timed(seconds, "proof"):
        try:
            start.indices = problem.units.units_of(columns)
            prove(problem.units, start, max_seconds=start.limit.left, known=known)
        finally:
            shown = start.evidence
            found.evidence = replace(found.evidence, proved=shown.proved, computed_on=shown.computed_on)
            if start.cut_short:
                found.stop_at(start.limit)


def proven(problem: SubsetProblem, selection: Selection, evidence: Evidence) -> Selection:
    """The selection with the smallest bound that the evidence shows, if it shows any."""
    if evidence.multipliers is not None:
        selection = with_bound(problem, selection, evidence.multipliers, evidence.lift)
    proved = evidence.proved
    if proved is None or proved.bound == math.inf or proved.bound >= selection.upper_bound:
        return selection
    return with_proof(problem, selection, proved)


def with_proof(problem: SubsetProblem, selection: Selection, proved: Proved) -> Selection:
    """The selection with what was proved about all subsets; "proven optimal" if none can be better.

    Where the proof was too large to keep, its certificate shows a bound that can be derived without it: that of the
    multipliers it has, or else of none.
    """
    certificate = proof_certificate(problem, selection.indices, proved.bound, proved.known, proved.proof)
    kept = None if proved.proof is None else certificate
    if proved.too_large:
        plain = selection.certificate
        if plain is None or plain.multipliers is None:
            plain = certificate_of(problem, selection.indices, np.zeros(len(problem.reduced.matrix) + 1))
        kept = replace(plain, proof_too_large=True)
    allowed = tolerance(problem, selection.indices)
    best = certificate.bound - certificate.value <= allowed
    names, reduced = problem.feature_names, problem.reduced
    # A little less than the value, so that a bound that is derived again is on the same side of it.
    into, out = certain(proved.decisions, selection.objective - 0.5 * allowed)
    return replace(
        selection,
        upper_bound=certificate.bound,
        gap=certificate.gap,
        certificate=kept,
        status=PROVEN_OPTIMAL if best and selection.status != INTERRUPTED else selection.status,
        tolerance=allowed if best and selection.status != INTERRUPTED else math.nan,
        proven_in=tuple(names[i] for i in sorted(problem.units.columns(reduced.units[sorted(into)]))),
        proven_out=tuple(names[i] for i in sorted(problem.units.columns(reduced.units[sorted(out)]))),
        ties=tuple(tuple(sorted(problem.units.columns(units))) for units in proved.equals),
    )


def with_bound(
    problem: SubsetProblem, selection: Selection, multipliers: np.ndarray, lift: Lift | None = None
) -> Selection:
    """The selection with the bound these multipliers, with their lift, prove."""
    watch = Stopwatch()
    report("certificate", 0, 1)
    with threads_for(len(problem.reduced.matrix)):
        certificate = certificate_of(problem, selection.indices, multipliers, lift)
    report("certificate", 1, 1)
    return replace(
        selection,
        upper_bound=certificate.bound,
        gap=certificate.gap,
        certificate=certificate,
        seconds={**selection.seconds, "certificate": watch.seconds},
    )
