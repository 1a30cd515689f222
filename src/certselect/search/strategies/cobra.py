"""COBRA: the paper's search, by a semidefinite relaxation and randomised rounding."""

from __future__ import annotations

import numpy as np

from certselect.criteria.units import UnitProblem
from certselect.errors import InvalidInput, keyword, option
from certselect.relaxation import Iterate, Relaxation, relax
from certselect.relaxation.result import Status
from certselect.search.cost import too_short
from certselect.search.draws import draw_subsets, factor_of, round_draws, start_from_forward
from certselect.search.found import Found
from certselect.search.options import check_count, check_flag, check_positive
from certselect.search.strategy import Strategy
from certselect.threads import threads_for

# Of the time left; the rest is for rounding.
FOR_RELAXATION = 0.75


def cobra(
    problem: UnitProblem,
    found: Found,
    rng: np.random.Generator,
    /,
    *,
    draws: int = 1000,
    repair: bool = True,
    tol: float | None = None,
    method: str = "auto",
    warm_start: Relaxation | None = None,
) -> None:
    """Look at all features together: solve the relaxation of max x'Qx, then round its solution to subsets.

    1. Solve eq_20 (`relax`, which takes `tol`, `method` and `warm_start`).
       Its multipliers bound every subset of k features.
    2. Draw u ~ N(0, Y) `draws` times; take the features whose sign is that of entry 0.
    3. Bring each such subset to k features by greedy additions or removals, and keep
       the best. With `repair=False`, which the paper allows, keep the best as it was
       drawn, of whatever size; its pairs are still weighed as in k features.

    The answer is always one of the rounded subsets. Only if Ctrl-C comes or time is up before there
    is a better one is it the forward selection, made first for that purpose. A quarter of the
    time is kept for the rounding. Needs the whole pair matrix.

    Entries of the relaxation are the units that are not required, and each draw is repaired
    to an allowed subset; only where every k of these units are allowed may `repair` be False.
    """
    draws, repair = check_count("draws", draws, 1), check_flag("repair", repair)
    if tol is not None:
        tol = check_positive("tol", tol)
    if not repair and not problem.rules.plain:
        raise InvalidInput(
            f"{option('repair', False)} with {keyword('feature_groups')} or {keyword('costs')}",
            f"{option('repair', True)}: a subset as it was drawn need not respect them",
            f"Leave {option('repair')} out.",
        )

    def keep_multipliers(iterate: Iterate) -> None:
        found.evidence = found.evidence.at(iterate)

    problem.check_room_for_pairs()
    start_from_forward(problem, found, rng)
    if found.out_of_time() or too_short(found.limit, len(problem.reduced.matrix)):
        found.cut_short = True
        return
    limits = {"tol": tol, "max_seconds": found.limit.part(FOR_RELAXATION).left}
    relaxation = relax(problem, method, warm_start=warm_start, callback=keep_multipliers, **limits)
    found.evidence = found.evidence.of(relaxation)
    if problem.reduced.k == 0:
        return  # the required units are all there is to choose
    if found.out_of_time():
        return
    with threads_for(len(problem.reduced.matrix)):
        drawn = draw_subsets(factor_of(relaxation), draws, rng)
        found.drawn_size = round_draws(problem, found, drawn, repair=repair).mean_size
    found.cut_short = found.cut_short or relaxation.status is Status.STOPPED_BY_TIME


STRATEGY = Strategy(
    "cobra",
    cobra,
    "solves the semidefinite relaxation, rounds it at random and repairs the size",
    needs_all_pairs=True,
    warm_start=True,
    bounds=True,
    scores="improving",
    draws=True,
)
