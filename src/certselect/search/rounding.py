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

from certselect.criteria.problem import SubsetProblem
from certselect.progress import report
from certselect.relaxation.result import Relaxation
from certselect.search.forward import forward
from certselect.search.ruled_repair import repair_under_rules
from certselect.search.strategy import Found
from certselect.search.ties import TIE, beats, best_and_ties, distinct_rows, value_scale

# Numbers in the largest array of a batch of draws (32 MB), and columns of Q made float64 at a time.
NUMBERS_AT_ONCE = 1 << 22
COLUMNS_AT_ONCE = 1024
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
    return np.einsum("ij,ij->i", _times_matrix(subsets, Q), subsets)


def repair_sizes(drawn: np.ndarray, Q: np.ndarray, k: int, *, scale: float) -> np.ndarray:
    """The subsets (draws, n) brought to k features, one addition or removal at a time.

    Always the one after which x'Qx is largest; of equals the lowest index comes in
    and the highest goes out. `scale` is what ties are measured by (see `ties`).

    Both directions are one: a pool, of members to take out or of others to take in,
    shrinks by the feature with the highest score, +-(Q_ii + 2 sum of Q_ij over the other
    members j), and after feature a every score changes by 2 Q_ia. A step is taken for
    all draws at once, on their pools alone. Whenever pools have halved they are packed
    anew and scores summed anew, so that neither gaps nor rounding pile up.
    """
    chosen = drawn.copy()
    sizes = chosen.sum(axis=1)
    for adding, wrong in ((True, sizes < k), (False, sizes > k)):
        rows = np.flatnonzero(wrong)
        while len(rows):
            missing = np.abs(chosen[rows].sum(axis=1) - k)
            # Those with most steps to go first: the rows still active are then always the first ones.
            order = np.argsort(-missing, kind="stable")
            rows, missing = rows[order], missing[order]
            subsets = chosen[rows]
            _shrink_pools(subsets, Q, missing, adding=adding, scale=scale)
            chosen[rows] = subsets
            rows = rows[subsets.sum(axis=1) != k]
    return chosen


def _shrink_pools(subsets: np.ndarray, Q: np.ndarray, missing: np.ndarray, *, adding: bool, scale: float) -> None:
    """Change each row by `missing` features (descending), or by as many as halve the largest pool; in place."""
    in_pool = ~subsets if adding else subsets
    lengths = in_pool.sum(axis=1)
    width = int(lengths[0])
    row, feature = np.nonzero(in_pool)
    place = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    pool = np.zeros((len(subsets), width), dtype=np.intp)
    pool[row, place] = feature
    scores = np.full((len(subsets), width), -np.inf)
    twice = 2.0 * _times_matrix(subsets, Q)[row, feature]
    own = Q.diagonal()[feature]
    scores[row, place] = twice + own if adding else own - twice
    for step in range(min(int(missing[0]), (width + 1) // 2)):
        active = int(np.searchsorted(-missing, -step))
        now = scores[:active]
        best = now.max(axis=1)
        tied = now >= (best - TIE * np.maximum(np.abs(best), scale))[:, None]
        pick = tied.argmax(axis=1) if adding else width - 1 - tied[:, ::-1].argmax(axis=1)
        each = np.arange(active)
        taken = pool[each, pick]
        subsets[each, taken] = adding
        now[each, pick] = -np.inf
        now += 2.0 * Q[taken[:, None], pool[:active]]


def _times_matrix(subsets: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """x'Q of each row x, in float64 whatever Q is held in."""
    x = subsets.astype(np.float64)
    product = np.empty_like(x)
    for left in range(0, len(Q), COLUMNS_AT_ONCE):
        columns = slice(left, left + COLUMNS_AT_ONCE)
        product[:, columns] = x @ Q[:, columns].astype(np.float64, copy=False)
    return product


def start_from_forward(problem: SubsetProblem, found: Found, rng: np.random.Generator) -> None:
    """Put the forward selection into `found`: an answer for whoever cannot wait for the rounded one."""
    quick = Found(indices=found.indices)  # shared, so that Ctrl-C on the way leaves what there is
    forward(problem, quick, rng)
    found.indices.sort()
    found.scores[:] = quick.scores[-1:]


def round_draws(
    problem: SubsetProblem, found: Found, Q: np.ndarray, drawn: np.ndarray, *, repair: bool = True
) -> Rounded:
    """Leave in `found` the best of the drawn subsets (draws, n), brought to k features first, or to what rules allow.

    Draws and Q are about the positions of `problem.reduced`: required units are in every
    subset without being drawn. With `repair` off they compete as they are, but for empty
    ones; if all are empty they are repaired nevertheless. Equals: the lexicographically
    first subset. What `found` held before gives way at the end in any case, earlier only
    to a better one.
    """
    scale, reduced = value_scale(problem), problem.reduced
    # Equal draws, of which a nearly solved problem gives many, are worked on once.
    packed, _ = distinct_rows(np.packbits(drawn, axis=1))
    subsets = np.unpackbits(packed, axis=1, count=len(Q)).astype(bool)
    repair = repair or not subsets.any()
    if not repair:
        subsets = subsets[subsets.any(axis=1)]
    values = np.empty(len(subsets))
    known = found.scores[-1] if found.scores else -np.inf
    improvements: list[float] = []
    at_once = max(1, NUMBERS_AT_ONCE // len(Q))
    for top in range(0, len(subsets), at_once):
        batch = slice(top, top + at_once)
        if repair and reduced.plain:
            subsets[batch] = repair_sizes(subsets[batch], Q, reduced.k, scale=scale)
        elif repair:
            subsets[batch] = repair_under_rules(problem, subsets[batch], scale=scale)
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


def _keep(
    problem: SubsetProblem, found: Found, subset: np.ndarray, improvements: list[float], *, any_size: bool
) -> None:
    found.any_size = any_size
    found.indices = problem.reduced.unit_indices(np.flatnonzero(subset))
    # The last one anew from the pair terms: Q may be held in single precision.
    found.scores = [*improvements[:-1], problem.value(found.indices)]
