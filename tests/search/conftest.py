"""Problems made by hand: a given symmetric matrix of pair terms instead of data."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import naive_search
from certselect.criteria import SubsetProblem, find_criterion
from certselect.search import Strategy, register_strategy, registry


class GivenPairs:
    """A pair source over a matrix, counting what is asked of it and interrupting where told.

    A feature's term with itself is arbitrary, so it is NaN here: a search that
    used one would show it.
    """

    def __init__(self, matrix, interrupt_at=None):
        self.given = np.array(matrix, dtype=float)
        np.fill_diagonal(self.given, np.nan)
        self.interrupt_at = interrupt_at
        self.calls = []

    def _called(self, what):
        self.calls.append(what)
        if len(self.calls) == self.interrupt_at:
            raise KeyboardInterrupt

    def row(self, feature):
        self._called(feature)
        return self.given[feature]

    def matrix(self):
        self._called("matrix")
        return self.given


def _make_problem(linear, matrix, criterion="jmi", k=2, *, beta=None, candidates=None, interrupt_at=None):
    linear = np.array(linear, dtype=float)
    found = find_criterion(criterion, beta=beta)
    pairs = GivenPairs(matrix, interrupt_at) if found.pair is not None else None
    names = tuple(f"X{i + 1}" for i in range(len(linear)))
    everything = np.arange(len(linear))
    return SubsetProblem(linear, pairs, found, k, names, everything if candidates is None else np.array(candidates))


def _random_problem(rng, criterion, *, tied, largest=10, k=None):
    """A small problem and its exact twin; with `tied`, terms take few values, so that many subsets tie."""
    n = int(rng.integers(1, largest + 1))
    candidates = np.flatnonzero(rng.random(n) < 0.85)
    if not len(candidates):
        candidates = np.array([n - 1])
    if tied:  # multiples of 1/64: sums of them are exact in floating point
        linear = rng.integers(0, 4, n) / 64
        upper = rng.integers(-2, 4, (n, n)) / 64
    else:
        linear = rng.random(n)
        upper = rng.random((n, n)) - 0.3
    matrix = np.triu(upper, 1) + np.triu(upper, 1).T
    size = int(rng.integers(1, len(candidates) + 1)) if k is None else min(k, len(candidates))
    beta = float(rng.integers(0, 5) / 4) if criterion == "mifs" else None
    problem = _make_problem(linear, matrix, criterion, size, beta=beta, candidates=candidates)
    twin = naive_search.NaiveProblem(
        [Fraction(value) for value in linear],
        {(i, j): Fraction(float(matrix[i, j])) for i in range(n) for j in range(n) if i < j},
        criterion,
        Fraction(beta or 0),
        size,
        candidates.tolist(),
    )
    return problem, twin


@pytest.fixture
def make_problem():
    return _make_problem


@pytest.fixture
def random_problem():
    return _random_problem


@pytest.fixture
def add_strategy(monkeypatch):
    """Registers a search by its name until the test ends; those of the package can be stood in for as well."""

    def add(name, run, **known):
        monkeypatch.setattr(registry._registry, "_registered", dict(registry._registry._registered))
        monkeypatch.setattr(registry._registry, "_own", [own for own in registry._registry._own if own != name])
        register_strategy(Strategy(name, run, "made for a test", **known))

    return add
