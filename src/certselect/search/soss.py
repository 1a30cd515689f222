"""SOSS: a concave quadratic programme over the box, and randomised rounding."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csc_array, eye_array, vstack

from certselect.criteria.problem import SubsetProblem
from certselect.search.options import check_count
from certselect.search.quadratic import minimise_quadratic
from certselect.search.rounding import round_draws, start_from_forward
from certselect.search.strategy import Found


def soss(problem: SubsetProblem, found: Found, rng: np.random.Generator, /, *, draws: int = 1000) -> None:
    """Relax "in or out" to a degree of membership, solve that exactly, and read the degrees as probabilities.

    Naghibi, Hoffmann and Pfister (2013). On 0/1 vectors x_i^2 = x_i, so whatever d is,

        x'Qx = x'(Q - Diag(d))x + d'x.

    Here d is the diagonal of Q, so that relevance counts as it does in a subset, plus the
    smallest shift that makes the pair terms left in the quadratic part concave: their
    largest eigenvalue. The maximum of the right side over 0 <= x <= 1, sum x = k is then a
    convex programme. (It bounds every subset of k features, less tightly than COBRA's
    relaxation as a rule.)
    `draws` times, each feature comes in with probability x_i; each subset is brought to k
    features as in COBRA, and the best is kept. Ctrl-C before that leaves the forward
    selection. Needs the whole pair matrix and the package clarabel.
    """
    draws = check_count("draws", draws, 1)
    start_from_forward(problem, found, rng)
    Q = problem.candidate_matrix
    membership = solve_concave(Q, problem.k)
    found.drawn_size = round_draws(problem, found, Q, draw_members(membership, draws, rng)).mean_size


def concave_split(Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(Q - Diag(d), d): a negative semidefinite matrix and the linear term that makes up for it on 0/1 vectors."""
    concave = Q.astype(np.float64)
    np.fill_diagonal(concave, 0.0)
    last = len(Q) - 1
    shift = float(eigh(concave, eigvals_only=True, subset_by_index=[last, last])[0])
    np.fill_diagonal(concave, -shift)
    return concave, Q.diagonal() + shift


def solve_concave(Q: np.ndarray, k: int) -> np.ndarray:
    """x in [0, 1]^n with sum k that maximises x'(Q - Diag(d))x + d'x."""
    n = len(Q)
    largest = float(np.abs(Q).max())
    if k == n or largest == 0.0:
        return np.full(n, k / n)
    concave, d = concave_split(Q / largest)
    A = vstack([csc_array(np.ones((1, n))), -eye_array(n), eye_array(n)])
    b = np.concatenate([[float(k)], np.zeros(n), np.ones(n)])
    x = minimise_quadratic(csc_array(np.triu(-2.0 * concave)), -d, csc_array(A), b, 1)
    return np.clip(x, 0.0, 1.0)


def draw_members(membership: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Subsets (draws, n) as booleans, feature i in each with probability membership[i]."""
    return np.array([rng.random(len(membership)) < membership for _ in range(draws)])
