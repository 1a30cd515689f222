"""A subset's value beside its bound."""

import math

import numpy as np
import pytest

from certselect import information_terms, select, subset_problem
from certselect.certificate import Certificate, certificate_of
from certselect.criteria.definitions import CRITERIA
from certselect.criteria.problem import SubsetProblem
from certselect.errors import InvalidInput
from certselect.relaxation import relax


class Pairs:
    def __init__(self, matrix: np.ndarray) -> None:
        self._matrix = matrix

    def row(self, feature: int) -> np.ndarray:
        return self._matrix[feature]

    def matrix(self) -> np.ndarray:
        return self._matrix


def made(candidates: list[int], k: int) -> SubsetProblem:
    rng = np.random.default_rng(0)
    pairs = rng.random((8, 8))
    names = tuple("abcdefgh")
    return SubsetProblem(rng.random(8), Pairs(pairs + pairs.T), CRITERIA["mrmr"], k, names, np.array(candidates))


@pytest.mark.parametrize("candidates", [list(range(8)), [0, 2, 3, 5, 7]])
def test_certificate_of_a_relaxed_problem(candidates: list[int]) -> None:
    problem = made(candidates, 3)
    answer = relax(problem)
    assert answer.matrix.shape == (len(candidates) + 1,) * 2
    certificate = certificate_of(problem, candidates[:3], answer.multipliers)
    assert certificate.value == problem.value(candidates[:3])
    assert certificate.bound == pytest.approx(answer.dual_value, rel=1e-8)
    assert certificate.gap == pytest.approx((certificate.bound - certificate.value) / abs(certificate.value))
    assert "Cholesky" in certificate.shown_by


@pytest.mark.parametrize("indices", [[0, 2], [0, 1, 2], [0, 2, 9]])
def test_other_subsets_are_refused(indices: list[int]) -> None:
    with pytest.raises(InvalidInput):
        certificate_of(made([0, 2, 3, 5, 7], 3), indices, np.zeros(6))


def test_gap_where_the_value_is_zero() -> None:
    assert Certificate(0.0, 0.0, np.zeros(2), "").gap == 0.0
    assert Certificate(0.0, 0.1, np.zeros(2), "").gap == math.inf
    assert Certificate(-2.0, -1.0, np.zeros(2), "").gap == 0.5


def test_single_precision_terms_are_allowed_for():
    """The matrix is rounded to float32, the value is not: the bound covers the difference."""
    rng = np.random.default_rng(0)
    for seed in range(20):
        X, y = rng.integers(0, 3, (60, 8)), rng.integers(0, 2, 60)
        problem = subset_problem(
            information_terms(X, y, dtype="float32", measure="plugin", correction="none"), 4, "mrmr"
        )
        best = select(problem, "exhaustive")
        certificate = certificate_of(problem, best.indices, relax(problem).multipliers)
        assert certificate.bound >= best.objective, seed
