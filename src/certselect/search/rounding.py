"""From a relaxed solution to subsets: draw at random, bring to k features, keep the best.

The draws are u = Vg ~ N(0, Y) with VV' = Y, and a draw's subset holds the features whose
sign agrees with entry 0. For a dense Y, V is its Cholesky factor, which unlike
eigenvectors (free to turn and to change sign) is a continuous function of Y. A seed thus
gives the same draws but for what the number of threads changes in Y itself: in the
interior-point method's that shifts u by 1e-9 to 1e-5, so among a million signs some may
flip now and then, and the answer changes only where that was a sign of the best draw and
the repair does not undo it. The low-rank method's path is more sensitive, and so are
draws from its factor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certselect.criteria.units import UnitProblem
from certselect.progress import report
from certselect.relaxation.result import Relaxation
from certselect.search.found import Found
from certselect.search.repair import repair as repair_draws
from certselect.search.repair import times_matrix
from certselect.search.strategies.forward import forward
from certselect.search.ties import beats, best_and_ties, distinct_rows, value_scale

# Numbers in the largest array of a batch of draws (32 MB).
NUMBERS_AT_ONCE = 1 << 22
# The same where draws are repaired, which takes longer: a time limit is looked at between batches (1 MB).
NUMBERS_REPAIRED_AT_ONCE = 1 << 17
# Added to the diagonal of Y, which is singular: less than what a solver leaves unknown of it.
NOISE = 1e-8


@dataclass(frozen=True, eq=False)
class Rounded:
    """The best subset of all draws (ascending), its value, and how large the draws were before any repair."""

    indices: np.ndarray
    value: float
    mean_size: float


def factor_of(relaxation: Relaxation) -> np.ndarray:
    """V (n+1, r) with VV' = Y to about `NOISE`; negative eigenvalues of an inexact Y count as 0."""
    if relaxation.factor is not None:
        return relaxation.factor
    lifted = relaxation.matrix.copy()
    lifted[np.diag_indices_from(lifted)] += NOISE
    try:
        return np.linalg.cholesky(lifted)
    except np.linalg.LinAlgError:
        eigenvalues, vectors = np.linalg.eigh(relaxation.matrix)
        return (vectors * np.sqrt(np.maximum(eigenvalues, 0.0))) @ vectors.T


def draw_subsets(factor: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Subsets (draws, n) as booleans: the features whose sign in u ~ N(0, VV') is that of entry 0."""
    size, rank = factor.shape
    drawn = np.empty((draws, size - 1), dtype=bool)
    at_once = max(1, NUMBERS_AT_ONCE // size)
    for top in range(0, draws, at_once):
        normals = rng.standard_normal((min(at_once, draws - top), rank))
        positive = normals @ factor.T >= 0.0
        drawn[top : top + at_once] = positive[:, 1:] == positive[:, :1]
    return drawn


def subset_values(subsets: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """x'Qx of each row x of `subsets` (draws, n)."""
    return np.einsum("ij,ij->i", times_matrix(subsets, Q), subsets)


def start_from_forward(problem: UnitProblem, found: Found, rng: np.random.Generator) -> None:
    """Put the forward selection into `found`: the answer if Ctrl-C comes or time is up before there is a better one."""
    # Shared, so that Ctrl-C on the way leaves what there is.
    quick = Found(indices=found.indices, limit=found.limit)
    forward(problem, quick, rng)
    found.cut_short = quick.cut_short
    found.indices.sort()
    found.scores[:] = quick.scores[-1:]


def round_draws(problem: UnitProblem, found: Found, drawn: np.ndarray, *, repair: bool = True) -> Rounded:
    """Leave in `found` the best of the drawn subsets (draws, m), each brought to an allowed one first.

    Draws are about the positions of `problem.reduced`: required units are in every
    subset without being drawn. With `repair` off they compete as they are, but for empty
    ones; if all are empty they are repaired nevertheless. Equals: the lexicographically
    first subset. What `found` held before is always replaced at the end, earlier only
    to a better one. When time is up, only a first part of the draws competes.
    """
    scale, reduced, Q = value_scale(problem), problem.reduced, problem.reduced.matrix
    # Equal draws, of which a nearly solved problem gives many, are worked on once.
    packed, _ = distinct_rows(np.packbits(drawn, axis=1))
    subsets = np.unpackbits(packed, axis=1, count=len(Q)).astype(bool)
    repair = repair or not subsets.any()
    if not repair:
        subsets = subsets[subsets.any(axis=1)]
    values = np.full(len(subsets), -np.inf)
    known = found.scores[-1] if found.scores else -np.inf
    improvements: list[float] = []
    at_once = max(1, NUMBERS_REPAIRED_AT_ONCE // len(Q))
    for top in range(0, len(subsets), at_once):
        if top and found.out_of_time():
            break
        batch = slice(top, top + at_once)
        if repair:
            subsets[batch] = repair_draws(problem, subsets[batch], scale=scale)
        values[batch] = reduced.constant + subset_values(subsets[batch], Q)
        place, value = _first_of_best(subsets[: top + at_once], values[: top + at_once], scale)
        if not improvements or beats(value, improvements[-1], scale):
            improvements.append(value)
            if beats(value, known, scale):
                _keep(problem, found, subsets[place], improvements, any_size=not repair)
        report("rounding", min(top + at_once, len(subsets)), len(subsets))
    place, value = _first_of_best(subsets, values, scale)
    _keep(problem, found, subsets[place], improvements, any_size=not repair)
    drawn_sizes = drawn @ reduced.sizes + (problem.k - reduced.k)
    return Rounded(np.array(found.indices, dtype=np.intp), value, float(drawn_sizes.mean()))


def _first_of_best(subsets: np.ndarray, values: np.ndarray, scale: float) -> tuple[int, float]:
    """Place and value of the best subset, the lexicographically first of equals."""
    tied = np.flatnonzero(best_and_ties(values, scale))
    place = min(tied.tolist(), key=lambda row: np.flatnonzero(subsets[row]).tolist())
    return place, float(values[place])


def _keep(problem: UnitProblem, found: Found, subset: np.ndarray, improvements: list[float], *, any_size: bool) -> None:
    found.any_size = any_size
    found.indices = problem.reduced.unit_indices(np.flatnonzero(subset))
    # The last one anew from the pair terms: Q may be held in single precision.
    found.scores = [*improvements[:-1], problem.value(found.indices)]
