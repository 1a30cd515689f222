"""Quadratic programming feature selection: weights for all features at once, then the k heaviest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import block_diag, csc_array, eye_array, hstack, vstack

from certselect.clock import NO_LIMIT, TimeLimit
from certselect.criteria.units import UnitProblem
from certselect.errors import InvalidInput, option
from certselect.progress import report
from certselect.search.completion import Completion, most_relevant, values_along
from certselect.search.cost import too_short
from certselect.search.found import Found
from certselect.search.options import check_count
from certselect.search.quadratic import minimise_quadratic
from certselect.search.strategy import FIRST_CHOICES, Strategy
from certselect.search.ties import descending
from certselect.threads import threads_for

# Weights closer than this part of the largest one are the solver's rounding, not a ranking.
WEIGHT_TIE = 1e-6
# Eigenvalues below this part of the largest one are left out of a pseudo-inverse.
NEGLIGIBLE = 1e-12


def qpfs(
    problem: UnitProblem,
    found: Found,
    rng: np.random.Generator,
    /,
    *,
    alpha: float | None = None,
    nystroem: float | int | None = None,
) -> None:
    """Trade relevance against redundancy by one convex programme, and rank the features by their weight in it.

    QPFS (Rodriguez-Lujan, Huerta, Elkan and Santa Cruz 2010) solves

        minimise  (1 - alpha)/2 x'Hx - alpha r'x     over  x >= 0, sum x = 1,

    with H the criterion's pair terms and r the relevance, and takes the k largest x
    (of equals the lowest index). Neither the weight w of the criterion nor k enters, so
    subsets of different k nest. As a rule few x are positive; features at 0 follow in
    order of relevance. Criteria without pair terms, and alpha = 1, rank by relevance.

    - alpha is mean(|H|) / (mean(|H|) + mean(|r|)) if not given, which for redundancy, all
      of it nonnegative, is the paper's choice. Interaction has both signs; its mean may be
      negative, and then only magnitudes can be balanced.
    - A feature's pair term with itself is its H_ii (for redundancy the entropy, as in the
      paper). Information terms make it the largest of its row; where a problem of other
      origin leaves it undefined or below that, the largest of the row stands in for it.
    - H need not be positive semidefinite; where its smallest eigenvalue is negative, minus
      that is added to the diagonal. On the simplex this evens out the weights.
    - `nystroem`, a fraction of the rows (float) or their number (int), replaces H by the
      Nystroem approximation B'A^+B from rows B of randomly drawn features and their block
      A (shifted as above), and the programme by one with as many quadratic terms as rows.
      The paper also confines x to the span of B'; here x stays free, so that all rows give
      the exact answer. Only these rows are ever computed: for thousands of features.

    The programme is about units; the required ones come first, and those with which the
    subset could not be completed are passed over. Without the time to solve the programme, the ranking is by relevance.

    Needs the package clarabel.
    """
    alpha, limit, problem = check_alpha(alpha), problem.limit, problem.without_limit
    candidates = np.sort(problem.candidates)
    rows = None if nystroem is None else row_count(nystroem, len(candidates))
    completion = Completion(problem.rules, limit)
    ranking = most_relevant(problem, candidates)
    if problem.pairs is not None and alpha != 1.0 and not found.out_of_time():
        if too_short(found.limit, len(candidates) if rows is None else rows):
            found.cut_short = True
        else:
            r = problem.linear[candidates].astype(np.float64)
            if rows is None:
                weights = exact_weights(pair_terms(problem, candidates), r, alpha, found.limit)
            else:
                weights = nystroem_weights(*sampled_rows(problem, candidates, rows, rng), r, alpha, found.limit)
            ranking = ranked(problem, candidates, weights)
            found.out_of_time()  # then the programme is not solved to the end
    found.indices = completion.in_order(ranking)
    found.scores.extend(values_along(problem, found.indices))


def check_alpha(alpha: object) -> float | None:
    """The option as a float from 0 to 1, or None."""
    if alpha is None:
        return None
    if isinstance(alpha, int | float | np.integer | np.floating) and not isinstance(alpha, bool):
        number = float(alpha)
        if 0.0 <= number <= 1.0:
            return number
    raise InvalidInput(
        option("alpha", alpha), "a number from 0 to 1", f"Leave {option('alpha')} out for the paper's choice."
    )


def row_count(nystroem: float | int, available: int) -> int:
    """How many rows a fraction (0, 1] or a count stands for."""
    if isinstance(nystroem, float | np.floating):
        if not 0.0 < nystroem <= 1.0:
            raise InvalidInput(
                option("nystroem", nystroem),
                "a fraction above 0 and up to 1, or a number of rows",
                f"Try {option('nystroem', 0.1)}.",
            )
        return max(1, round(nystroem * available))
    return min(check_count("nystroem", nystroem, 1), available)


def _cost_sign(problem: UnitProblem) -> float:
    """The programme subtracts pair terms: those that a criterion adds are subtracted with the opposite sign."""
    return -1.0 if problem.weight(problem.k) < 0.0 else 1.0


def pair_terms(problem: UnitProblem, candidates: np.ndarray) -> np.ndarray:
    """H of the candidates, with its diagonal made whole."""
    problem.check_room_for_pairs()
    H = _cost_sign(problem) * problem.pair_matrix[np.ix_(candidates, candidates)].astype(np.float64)
    _complete_own_terms(H, np.arange(len(candidates)))
    return H


def sampled_rows(
    problem: UnitProblem, candidates: np.ndarray, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Positions of `count` candidates drawn at random (ascending), and their rows of H."""
    sample = np.sort(rng.choice(len(candidates), size=count, replace=False))
    B = _cost_sign(problem) * np.array(
        [problem.pair_row(int(candidates[i]))[candidates] for i in sample], dtype=np.float64
    )
    _complete_own_terms(B, sample)
    return sample, B


def _complete_own_terms(rows: np.ndarray, own: np.ndarray) -> None:
    """Replace entry own[i] of row i, where it is not a number or not the largest, by the largest other one."""
    each = np.arange(len(rows))
    diagonal = rows[each, own].copy()
    rows[each, own] = -np.inf
    largest = rows.max(axis=1)
    rows[each, own] = np.fmax(diagonal, np.where(np.isfinite(largest), largest, 0.0))


def exact_weights(H: np.ndarray, r: np.ndarray, alpha: float | None, limit: TimeLimit = NO_LIMIT) -> np.ndarray:
    """x of the programme with all of H."""
    alpha = _balance(H, r) if alpha is None else alpha
    P, q = _of_order_one((1.0 - alpha) * H, alpha * r)
    report("eigenvalues", 0, 1)
    with threads_for(len(P)):
        smallest = float(np.linalg.eigvalsh(P)[0])
    P[np.diag_indices_from(P)] += max(0.0, -smallest)
    report("eigenvalues", 1, 1)
    n = len(r)
    A = vstack([csc_array(np.ones((1, n))), -eye_array(n)])
    b = np.concatenate([[1.0], np.zeros(n)])
    return minimise_quadratic(csc_array(np.triu(P)), -q, csc_array(A), b, 1, limit.left)


def nystroem_weights(
    sample: np.ndarray, B: np.ndarray, r: np.ndarray, alpha: float | None, limit: TimeLimit = NO_LIMIT
) -> np.ndarray:
    """x of the programme with H ~ B'A^+B = F'F: minimise |y|^2/2 - q'x over the simplex, y = Fx."""
    alpha = _balance(B, r) if alpha is None else alpha
    B, q = _of_order_one((1.0 - alpha) * B, alpha * r)
    each = np.arange(len(sample))
    with threads_for(len(sample)):
        eigenvalues, vectors = np.linalg.eigh(B[:, sample])
    shift = max(0.0, -float(eigenvalues[0]))
    B[each, sample] += shift
    eigenvalues += shift
    kept = eigenvalues > NEGLIGIBLE * max(float(eigenvalues[-1]), 0.0)
    F = (vectors[:, kept] / np.sqrt(eigenvalues[kept])).T @ B
    terms, n = F.shape
    P = block_diag([csc_array((n, n)), eye_array(terms)])
    on_simplex = hstack([csc_array(np.ones((1, n))), csc_array((1, terms))])
    defines_y = hstack([csc_array(F), -eye_array(terms)])
    nonnegative = hstack([-eye_array(n), csc_array((n, terms))])
    A = vstack([on_simplex, defines_y, nonnegative])
    b = np.concatenate([[1.0], np.zeros(terms + n)])
    q = np.concatenate([-q, np.zeros(terms)])
    return minimise_quadratic(csc_array(P), q, csc_array(A), b, 1 + terms, limit.left)[:n]


def _balance(H: np.ndarray, r: np.ndarray) -> float:
    """The alpha at which pair terms and relevance weigh the same on average; where one is 0 the other decides."""
    cost, worth = float(np.abs(H).mean()), float(np.abs(r).mean())
    if cost == 0.0 or worth == 0.0:
        return 1.0 if cost == 0.0 else 0.0
    return cost / (cost + worth)


def _of_order_one(H: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both divided by the largest entry: the minimiser stays, and solvers need no scale of their own."""
    largest = max(float(np.abs(H).max()), float(np.abs(r).max()))
    return (H / largest, r / largest) if largest > 0.0 else (H, r)


def ranked(problem: UnitProblem, candidates: np.ndarray, weights: np.ndarray) -> Iterator[int]:
    """Candidates by weight, the lowest index of equals first; those without any follow in order of relevance."""
    width = WEIGHT_TIE * float(weights.max())
    heavy = weights > width
    heaviest = candidates[heavy]
    for place in descending(weights[heavy], lambda largest: width):
        yield int(heaviest[place])
    yield from most_relevant(problem, candidates[~heavy])


STRATEGY = Strategy(
    "qpfs",
    qpfs,
    "weights all features by one convex programme, takes the k largest; for comparison",
    needs_all_pairs=True,
    in_order_of_choice=True,
    nested=FIRST_CHOICES,
    requires="solvers",
    scores="ranking",
)
