"""SOSS: a concave quadratic programme over the box, and randomised rounding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csc_array, eye_array, vstack

from certselect.clock import NO_LIMIT, TimeLimit
from certselect.criteria.reduced import ReducedProblem
from certselect.criteria.units import UnitProblem
from certselect.progress import report
from certselect.search.cost import too_short
from certselect.search.draws import round_draws, start_from_forward
from certselect.search.found import Found
from certselect.search.options import check_count
from certselect.search.quadratic import minimise_quadratic
from certselect.search.strategy import Strategy
from certselect.threads import threads_for


def soss(problem: UnitProblem, found: Found, rng: np.random.Generator, /, *, draws: int = 1000) -> None:
    """Relax "in or out" to a degree of membership, solve that exactly, and read the degrees as probabilities.

    Naghibi, Hoffmann and Pfister (2013). On 0/1 vectors x_i^2 = x_i, so whatever d is,

        x'Qx = x'(Q - Diag(d))x + d'x.

    Here d is the diagonal of Q, so that relevance counts as it does in a subset, plus the
    smallest shift that makes the pair terms left in the quadratic part concave: their
    largest eigenvalue. The maximum of the right side over 0 <= x <= 1, sum x = k is then a
    convex programme. (It bounds every subset of k features, usually less tightly than COBRA's
    relaxation.)
    `draws` times, each feature comes in with probability x_i; each subset is brought to k
    features as in COBRA, and the best is kept. Ctrl-C or the time limit before that leaves the
    forward selection. Needs the whole pair matrix and the package clarabel.

    Degrees of membership keep to sizes, rivals and budget as well, and each subset drawn is
    repaired to an allowed one.
    """
    draws = check_count("draws", draws, 1)
    problem.check_room_for_pairs()
    start_from_forward(problem, found, rng)
    reduced = problem.reduced
    if reduced.k == 0:
        return  # the required units are all there is to choose
    if found.out_of_time() or too_short(found.limit, len(reduced.matrix)):
        found.cut_short = True
        return
    membership = solve_concave(
        reduced.matrix, reduced.k, sizes=reduced.sizes, at_most=_limits(reduced), limit=found.limit
    )
    if found.out_of_time():
        return
    drawn = draw_members(membership, draws, rng)
    found.drawn_size = round_draws(problem, found, drawn).mean_size


def _limits(reduced: ReducedProblem) -> list[tuple[np.ndarray, float]]:
    """Rivals and budget as rows a and numbers b with a'x <= b."""
    limits = []
    for group in reduced.rivals:
        one_of = np.zeros(len(reduced.sizes))
        one_of[group] = 1.0
        limits.append((one_of, 1.0))
    if reduced.costs is not None:
        limits.append((reduced.costs, reduced.budget))
    return limits


def concave_split(Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(Q - Diag(d), d): a negative semidefinite matrix and the linear term that makes up for it on 0/1 vectors."""
    concave = Q.astype(np.float64)
    np.fill_diagonal(concave, 0.0)
    last = len(Q) - 1
    report("eigenvalues", 0, 1)
    with threads_for(len(Q)):
        shift = float(eigh(concave, eigvals_only=True, subset_by_index=[last, last])[0])
    report("eigenvalues", 1, 1)
    np.fill_diagonal(concave, -shift)
    return concave, Q.diagonal() + shift


def solve_concave(
    Q: np.ndarray,
    k: int,
    *,
    sizes: np.ndarray | None = None,
    at_most: Sequence[tuple[np.ndarray, float]] = (),
    limit: TimeLimit = NO_LIMIT,
) -> np.ndarray:
    """x in [0, 1]^n with sizes'x = k (all 1 if not given) that maximises x'(Q - Diag(d))x + d'x.

    `at_most` holds rows a and numbers b with a'x <= b. When time is up, what the solver has by then.
    """
    n = len(Q)
    sizes = np.ones(n) if sizes is None else sizes.astype(float)
    largest = float(np.abs(Q).max())
    if k == sizes.sum() or (largest == 0.0 and not at_most):
        return np.full(n, k / sizes.sum())
    concave, d = concave_split(Q / largest if largest else Q)
    # Rows of order one, whatever a budget is counted in.
    rows = [(a / scale, b / scale) for a, b in at_most if (scale := float(a.max())) > 0.0]
    limits = csc_array(np.array([a for a, _ in rows]).reshape(len(rows), n))
    A = vstack([csc_array(sizes[None]), -eye_array(n), eye_array(n), limits])
    b = np.concatenate([[float(k)], np.zeros(n), np.ones(n), [b for _, b in rows]])
    x = minimise_quadratic(csc_array(np.triu(-2.0 * concave)), -d, csc_array(A), b, 1, limit.left)
    return np.clip(x, 0.0, 1.0)


def draw_members(membership: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Subsets (draws, n) as booleans, feature i in each with probability membership[i]."""
    return np.array([rng.random(len(membership)) < membership for _ in range(draws)])


STRATEGY = Strategy(
    "soss",
    soss,
    "solves a concave quadratic programme and rounds it at random; for comparison",
    needs_all_pairs=True,
    requires="solvers",
    scores="improving",
    draws=True,
)
