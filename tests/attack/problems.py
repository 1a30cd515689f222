"""Small problems on which claims break, by kind and seed: the same kind and seed give the same problem everywhere."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from attack.oracle import Oracle, Wishes
from certselect import SubsetProblem, information_terms, subset_problem

BETAS = (0.0, 0.5, 1.0, 7.0, 1e7, 1e17)
CRITERIA = ("jmi", "mrmr", "mifs", "d1", "max_relevance")
PAIR_TERMS = {
    "jmi": "interaction",
    "mrmr": "redundancy",
    "mifs": "redundancy",
    "d1": "interaction",
    "max_relevance": None,
}


@dataclass(frozen=True)
class Table:
    """A table of whole numbers, its target and the criterion its columns are chosen by."""

    X: np.ndarray
    y: np.ndarray
    criterion: str
    beta: float | None

    @cached_property
    def terms(self) -> Any:
        return information_terms(self.X, self.y, integers="levels", measure="plugin", correction="none")

    def weight(self, size: int) -> float:
        """What a unit of pair term costs, by the criterion's formula."""
        if self.criterion in ("jmi", "mrmr"):
            return 1.0 / (size - 1) if size > 1 else 0.0
        if self.criterion == "mifs":
            return 1.0 if self.beta is None else self.beta
        return 1.0 if self.criterion == "d1" else 0.0


@dataclass(frozen=True)
class Question:
    """A problem, as the package is asked it and as the oracle understands it."""

    kind: str
    seed: int
    k: int | None
    constraints: dict[str, Any]
    matrix: np.ndarray | None = None
    table: Table | None = None

    @property
    def n(self) -> int:
        return self.matrix.shape[0] if self.matrix is not None else self.table.X.shape[1]

    def problem(self) -> SubsetProblem:
        if self.matrix is not None:
            return SubsetProblem.from_matrix(self.matrix, self.k, **self.constraints)
        table = self.table
        stated = self.constraints | {"copies": "all"}  # the oracle knows nothing of copies
        return subset_problem(table.terms, self.k, table.criterion, beta=table.beta, **stated)

    @property
    def servable(self) -> bool:
        """Whether the package may not refuse it: symmetric, at a scale that is far from the ends of the range."""
        if self.matrix is None:
            return True
        largest = float(np.abs(self.matrix).max())
        return bool((self.matrix == self.matrix.T).all()) and (largest == 0.0 or 1e-145 <= largest <= 1e145)

    @cached_property
    def wishes(self) -> Wishes:
        usable = range(self.n)
        if self.table is not None:  # columns of one value cannot be chosen
            usable = [i for i in usable if len(set(self.table.X[:, i].tolist())) > 1]
        stated, groups = self.constraints, self.constraints.get("feature_groups", {})
        return Wishes(
            frozenset(usable),
            tuple(stated.get("include", ())),
            tuple(stated.get("exclude", ())),
            tuple(map(tuple, groups.get("all_or_none", ()))),
            tuple(map(tuple, groups.get("at_most_one", ()))),
            tuple(stated["costs"]) if "costs" in stated else None,
            stated.get("budget", 0.0),
        )

    @cached_property
    def oracle(self) -> Oracle:
        if self.matrix is not None:
            Q = self.matrix.astype(np.float64)
            pairs = (2.0 * Q).tolist()  # exact: a power of two
            return Oracle(Q.diagonal().tolist(), lambda size: pairs, self.k, self.wishes)
        table, kind = self.table, PAIR_TERMS[self.table.criterion]
        terms = table.terms.pair_matrix(kind).astype(np.float64) if kind else np.zeros((self.n, self.n))
        # Each product is rounded once: these floats are the terms of the sum.
        return Oracle(
            table.terms.relevance.tolist(), lambda size: (-table.weight(size) * terms).tolist(), self.k, self.wishes
        )

    @property
    def way_back(self) -> str:
        """How to get this problem again."""
        return f"question({self.kind!r}, {self.seed})"


def generator(*words: str | int) -> np.random.Generator:
    """The same random numbers for the same words in every process."""
    return np.random.default_rng([zlib.crc32(str(word).encode()) for word in words])


def question(kind: str, seed: int) -> Question:
    """The problem of this kind and seed."""
    rng = generator(kind, seed)
    if kind == TABLE:
        asked = _table(rng, seed)
    else:
        n = 1 if rng.random() < 0.02 else int(rng.integers(2, 13 if rng.random() < 0.3 else 9))
        k = int(rng.choice([1, n, max(1, n - 1)])) if rng.random() < 0.25 else int(rng.integers(1, n + 1))
        asked = Question(kind, seed, k, {}, MATRICES[kind](rng, n, k))
    # What cannot be served may be beyond the oracle too.
    return _constrained(asked, rng) if rng.random() < 0.4 and asked.servable else asked


def _symmetric(upper: np.ndarray) -> np.ndarray:
    return np.triu(upper) + np.triu(upper, 1).T


def _signs(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.choice([-1.0, 1.0], size=(n, n))


def _ordinary(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    return _symmetric(rng.normal(size=(n, n)))


def _like_information(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """Relevance on the diagonal, redundancy beside it."""
    Q = -_symmetric(rng.random((n, n))) / max(k - 1, 1) / rng.choice([1.0, 4.0])
    np.fill_diagonal(Q, rng.random(n))
    return Q


def _one_extreme_scale(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    return _ordinary(rng, n, k) * 10.0 ** rng.uniform(-140, 140)


def _beyond_all_scales(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """Where squares or sums leave the range: to be served or refused at the door."""
    scale = 10.0 ** (rng.uniform(145, 308) if rng.random() < 0.5 else -rng.uniform(145, 323))
    with np.errstate(over="ignore", under="ignore"):
        return np.clip(_ordinary(rng, n, k) * scale, -1.79e308, 1.79e308)


def _mixed_scales(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    widest = rng.choice([5.0, 20.0, 140.0])
    return _symmetric(_signs(rng, n) * 10.0 ** rng.uniform(-widest, widest, size=(n, n)))


def _hopeless_features(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    Q = _ordinary(rng, n, k) if rng.random() < 0.5 else np.diag(rng.integers(1, 9, n).astype(float))
    hopeless = rng.random(n) < 0.3
    Q[hopeless, hopeless] = -(10.0 ** rng.uniform(3, 20))
    return Q


def _huge_negative_pairs(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    Q = np.diag(rng.integers(0, 9, n).astype(float)) if rng.random() < 0.5 else _ordinary(rng, n, k)
    return np.where(_symmetric(rng.random((n, n))) < 0.3, Q - 1e17 * (1.0 - np.eye(n)), Q)


def _huge_that_cancel(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """Huge costs of features and huge gains of pairs: what is left of their sum is small."""
    huge = 2.0 ** rng.integers(20, 70)
    Q = rng.integers(-8, 9, size=(n, n)).astype(float)
    Q = _symmetric(Q) + huge / max(k - 1, 1)
    np.fill_diagonal(Q, -huge + rng.integers(0, 9, n))
    return Q


def _chains_of_near_ties(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    step = rng.choice([2.3e-16, 0.9e-12, 0.4e-12, 1.1e-12])
    Q = np.diag(1.0 + step * rng.permutation(n))
    return Q + _symmetric(rng.integers(-2, 3, (n, n)).astype(float)) * step if rng.random() < 0.5 else Q


def _exact_ties(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    most = int(rng.integers(1, 4))
    return _symmetric(rng.integers(-most, most + 1, (n, n)).astype(float))


def _copies(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """Features whose rows are equal, as duplicate columns have them; worth less together than apart, or more."""
    original = rng.integers(0, max(1, n // 2), n)
    Q = _like_information(rng, n, k)[np.ix_(original, original)]
    same = original[:, None] == original[None, :]
    Q[same] = rng.choice([-1.0, 1.0, 0.0]) * rng.random()
    np.fill_diagonal(Q, rng.random(n)[original])
    return Q


def _cancelling_to_zero(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """Every whole subset is worth 0, or a rounding error."""
    terms = rng.normal(size=n) if rng.random() < 0.5 else rng.integers(1, 9, n).astype(float)
    Q = -(terms[:, None] + terms[None, :]) / (2.0 * max(k - 1, 1))
    np.fill_diagonal(Q, terms)
    return Q


def _all_zero(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    return np.zeros((n, n)) * rng.choice([1.0, -1.0])


def _all_negative(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    return -np.abs(_ordinary(rng, n, k)) * 10.0 ** rng.uniform(-3, 3)


def _rank_one(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    v = rng.normal(size=n) if rng.random() < 0.5 else rng.integers(-3, 4, n).astype(float)
    return rng.choice([-1.0, 1.0]) * np.outer(v, v)


def _subnormal_beside_normal(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    tiny = _symmetric(rng.integers(-9, 10, (n, n)).astype(float)) * 5e-324
    return np.where(_symmetric(rng.random((n, n))) < 0.6, tiny, _exact_ties(rng, n, k))


def _single_precision(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    base = (_ordinary, _exact_ties, _like_information, _hopeless_features, _copies)[rng.integers(5)](rng, n, k)
    return (base * 10.0 ** rng.uniform(-15, 15)).astype(np.float32)


def _not_quite_symmetric(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """An entry beside its mirror image, off by what a tolerance of the largest entry would let pass."""
    Q = _hopeless_features(rng, n, k)
    if n > 1:
        i, j = rng.choice(n, 2, replace=False)
        Q[i, j] += 10.0 ** rng.uniform(-16, 1)
    return Q


MATRICES: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "ordinary": _ordinary,
    "like information": _like_information,
    "one extreme scale": _one_extreme_scale,
    "beyond all scales": _beyond_all_scales,
    "mixed scales": _mixed_scales,
    "hopeless features": _hopeless_features,
    "huge negative pairs": _huge_negative_pairs,
    "huge that cancel": _huge_that_cancel,
    "chains of near-ties": _chains_of_near_ties,
    "exact ties": _exact_ties,
    "copies": _copies,
    "cancelling to zero": _cancelling_to_zero,
    "all zero": _all_zero,
    "all negative": _all_negative,
    "rank one": _rank_one,
    "subnormal beside normal": _subnormal_beside_normal,
    "single precision": _single_precision,
    "not quite symmetric": _not_quite_symmetric,
}
TABLE = "table"
# Tables come more often: they go through everything, files included.
KINDS = (*MATRICES, TABLE, TABLE, TABLE)


def _table(rng: np.random.Generator, seed: int) -> Question:
    """Few rows and few levels, so that ties, copies and constant columns abound."""
    while True:
        m, n, levels = int(rng.integers(2, 41)), int(rng.integers(2, 7)), int(rng.integers(2, 5))
        X = rng.integers(0, levels, (m, n))
        y = rng.integers(0, int(rng.integers(2, 4)), m)
        for i in range(n):
            told = rng.random()
            if told < 0.2:
                X[:, i] = X[:, rng.integers(n)]
            elif told < 0.4:
                X[:, i] = np.where(rng.random(m) < 0.7, y, X[:, i])
        usable = sum(len(set(X[:, i].tolist())) > 1 for i in range(n))
        if usable and len(set(y.tolist())) > 1:
            break
    criterion = str(rng.choice(CRITERIA))
    beta = float(rng.choice(BETAS)) if criterion == "mifs" and rng.random() < 0.9 else None
    return Question(TABLE, seed, int(rng.integers(1, usable + 1)), {}, table=Table(X, y, criterion, beta))


def _constrained(asked: Question, rng: np.random.Generator) -> Question:
    """The question under some constraints that allow a subset; without any if no try does."""
    for _ in range(5):
        stated, any_size = _some_constraints(rng, asked.n)
        tried = Question(asked.kind, asked.seed, None if any_size else asked.k, stated, asked.matrix, asked.table)
        if tried.wishes.any and tried.oracle.values:
            return tried
    return asked


def _some_constraints(rng: np.random.Generator, n: int) -> tuple[dict[str, Any], bool]:
    columns = rng.permutation(n).tolist()
    stated: dict[str, Any] = {}
    if rng.random() < 0.3:
        stated["include"] = sorted(columns[: int(rng.integers(1, 3))])
    if rng.random() < 0.4:
        stated["exclude"] = sorted(columns[-int(rng.integers(1, 3)) :])
    groups: dict[str, list[list[int]]] = {}
    order = rng.permutation(n).tolist()
    units = [[i] for i in order]
    if rng.random() < 0.4 and n >= 3:
        units = []
        while order:
            size = int(rng.integers(1, 4))
            units.append(order[:size])
            order = order[size:]
        groups["all_or_none"] = [sorted(unit) for unit in units if len(unit) > 1]
    if rng.random() < 0.4:
        # One member of each unit, so that no feature is in two groups, itself or with its unit.
        first = [unit[0] for unit in units]
        cut = int(rng.integers(2, 5))
        groups["at_most_one"] = [sorted(first[:cut])]
        if rng.random() < 0.5 and len(first) >= cut + 2:
            groups["at_most_one"].append(sorted(first[cut : cut + 3]))
    groups = {kind: listed for kind, listed in groups.items() if listed}
    if groups:
        stated["feature_groups"] = groups
    any_size = False
    if rng.random() < 0.4:
        # Quarters: sums of costs are exact, so that nothing is a question of rounding.
        costs = rng.integers(0, 9, n) / 4.0
        stated["costs"], stated["budget"] = costs.tolist(), float(rng.integers(1, 4 * n) / 4.0)
        any_size = bool(rng.random() < 0.3)
    return stated, any_size
