"""The tables and problems the contestants are timed on: made up, seeded, of the shapes users have."""

from __future__ import annotations

import numpy as np


def coded_table(m: int, n: int, levels: int, classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Integer codes (m, n) and classes (m,) in which some features follow the class and each other."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(m) % classes)
    X = rng.integers(0, levels, (m, n))
    informative = rng.random(n) < 0.3
    follows = rng.random((m, n)) < rng.random(n) * 0.5
    X = np.where(follows & informative, (y[:, None] + np.arange(n)) % levels, X)
    copies = rng.integers(0, n, n)
    noise = rng.random((m, n)) < 0.7
    X = np.where(noise | (rng.random(n) < 0.8), X, X[:, copies])
    X[:levels] = np.arange(levels)[:, None]  # every level occurs
    return X, y


def number_table(m: int, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Correlated numbers (m, n), and a target as a number and as three classes."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=m)
    X = rng.normal(size=(m, n)) + hidden[:, None] * rng.uniform(0, 1, n)
    number = hidden + 0.5 * rng.normal(size=m)
    return X, number, np.digitize(number, [-0.5, 0.5])


def mrmr_problem(n: int, k: int, samples: int = 300, seed: int = 0) -> np.ndarray:
    """Q of mRMR for n three-state columns and a two-class target."""
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal((samples, 10))
    X = hidden @ rng.standard_normal((10, n)) * rng.random(n) + rng.standard_normal((samples, n))
    target = X[:, :5].sum(axis=1) + rng.standard_normal(samples) > 0
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    states = [mean - deviation > X, np.abs(X - mean) <= deviation, mean + deviation < X]
    states = [state.astype(np.float64) for state in states]
    classes = [target.astype(np.float64)[:, None], (~target).astype(np.float64)[:, None]]

    def entropy(groups_a: list[np.ndarray], groups_b: list[np.ndarray]) -> np.ndarray:
        total = np.zeros((groups_a[0].shape[1], groups_b[0].shape[1]))
        for a in groups_a:
            for b in groups_b:
                p = a.T @ b / samples
                total -= p * np.log(np.maximum(p, 1e-300))
        return total

    own = entropy(states, [np.ones((samples, 1))])[:, 0]
    redundancy = own[:, None] + own - entropy(states, states)
    relevance = own + entropy(classes, [np.ones((samples, 1))])[0] - entropy(states, classes)[:, 0]
    Q = -(redundancy + redundancy.T) / (4 * (k - 1))
    np.fill_diagonal(Q, relevance)
    return Q


def gaussian_problem(n: int, k: int, dtype: type, samples: int = 300) -> np.ndarray:
    """The same kind of Q for large n, from correlations, in place."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((samples, 10)) @ rng.standard_normal((10, n)) * rng.random(n)
    X = (X + rng.standard_normal((samples, n))).astype(dtype)
    X -= X.mean(axis=0)
    X /= np.linalg.norm(X, axis=0)
    target = X[:, :5].sum(axis=1)
    target /= np.linalg.norm(target)
    Q = X.T @ X
    Q *= Q
    np.minimum(Q, 0.999, out=Q)
    np.negative(Q, out=Q)
    np.log1p(Q, out=Q)
    Q *= 0.25 / (k - 1)
    np.fill_diagonal(Q, -0.5 * np.log1p(-np.minimum((X.T @ target) ** 2, 0.999)))
    return Q
