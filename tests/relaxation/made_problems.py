"""Quadratic subset problems made for the purpose: with known optima, structured, degenerate."""

from __future__ import annotations

import itertools

import numpy as np


def best_value(Q: np.ndarray, k: int) -> float:
    """The optimum by looking at every k-subset."""
    subsets = np.array(list(itertools.combinations(range(len(Q)), k)))
    return float(Q[subsets[:, :, None], subsets[:, None, :]].sum(axis=(1, 2)).max())


def signs(n: int, subset: np.ndarray) -> np.ndarray:
    """(1, 2x - 1)."""
    y = -np.ones(n + 1)
    y[0] = 1.0
    y[1 + subset] = 1.0
    return y


def from_known_pair(n: int, k: int, subsets: int, seed: int) -> tuple[np.ndarray, float, list[np.ndarray]]:
    """(Q, optimum, optimal subsets) of a relaxation that is known to be exact.

    Choose subsets, a psd Z that vanishes on their sign vectors y, and any d. With
    T x = y (y_0 = e'x/k, y_i = 2x_i - y_0) and Q = T'(Diag(d) - Z)T / 4, every chosen
    subset is worth y'(Diag(d) - Z)y / 4 = sum(d) / 4, and Z proves that none is worth more.
    """
    rng = np.random.default_rng(seed)
    chosen = [rng.permutation(n)[:k] for _ in range(subsets)]
    normal = np.concatenate([[2.0 * k - n], -np.ones(n)])
    spanned = np.column_stack([normal, *(signs(n, subset) for subset in chosen)])
    basis, values, _ = np.linalg.svd(spanned)
    complement = basis[:, np.sum(values > 1e-9) :]
    root = complement @ rng.standard_normal((complement.shape[1], complement.shape[1]))
    d = rng.standard_normal(n + 1)
    T = np.vstack([np.full((1, n), 1.0 / k), 2 * np.eye(n) - 1.0 / k])
    Q = T.T @ (np.diag(d) - root @ root.T) @ T / 4
    return (Q + Q.T) / 2, float(d.sum() / 4), chosen


def random_problem(n: int, seed: int) -> np.ndarray:
    A = np.random.default_rng(seed).standard_normal((n, n))
    return A + A.T


def redundancy_like(n: int, k: int, seed: int) -> np.ndarray:
    """Relevance on the diagonal; Gaussian mutual information of factor-model columns beside it (mRMR)."""
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((max(2, n // 10), n)) * rng.random(n)
    covariance = factors.T @ factors + np.eye(n)
    deviation = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(deviation, deviation)
    np.fill_diagonal(correlation, 0.0)
    Q = 0.5 * np.log1p(-np.minimum(correlation**2, 0.999)) / (2 * max(k - 1, 1))
    np.fill_diagonal(Q, rng.random(n) ** 2)
    return Q


def with_duplicates(n: int, seed: int, noise: float = 0.0) -> np.ndarray:
    """Every feature twice or more, exactly or nearly."""
    rng = np.random.default_rng(seed)
    A = random_problem(max(n // 2, 1), seed)
    source = np.arange(n) % len(A)
    E = noise * rng.standard_normal((n, n))
    return A[np.ix_(source, source)] + E + E.T


def degenerate(n: int, seed: int) -> dict[str, np.ndarray]:
    """The matrices that break solvers."""
    rng = np.random.default_rng(seed)
    v = rng.standard_normal(n)
    zero_diagonal = -np.abs(random_problem(n, seed))
    np.fill_diagonal(zero_diagonal, 0.0)
    return {
        "zero": np.zeros((n, n)),
        "all equal": np.full((n, n), -0.3),
        "diagonal": np.diag(v),
        "rank one": np.outer(v, v),
        "negative rank one": -np.outer(v, v),
        "additive": v[:, None] + v,
        "duplicates": with_duplicates(n, seed),
        "near duplicates": with_duplicates(n, seed, 1e-9),
        "zero diagonal": zero_diagonal,
        "one entry": np.diag(np.eye(n)[0]),
    }
