"""The worked examples of the paper, from made-up samples with exactly its probabilities."""

import math

import numpy as np
import pytest

from certselect import information_terms, select, subset_problem
from certselect.criteria import SubsetProblem, find_criterion


def samples(*cells):
    """Rows (x1, x2, ..., c), each repeated as often as its cell says."""
    rows = np.array([row for row, times in cells for _ in range(times)])
    return rows[:, :-1], rows[:, -1]


def test_example_1_the_better_feature_by_information_errs_more_often():
    # Pr(X1=1|C=1)=1, Pr(X1=-1|C=-1)=0.5; Pr(X2=1|C=1)=0.9, Pr(X2=-1|C=-1)=0.7; balanced classes.
    X, y = samples(
        ((1, 1, 1), 90), ((1, -1, 1), 10),
        ((1, 1, -1), 15), ((1, -1, -1), 35), ((-1, 1, -1), 15), ((-1, -1, -1), 35),
    )  # fmt: skip
    bits = information_terms(X, y, measure="plugin", correction="none").relevance / math.log(2)
    assert bits == pytest.approx([0.311, 0.296], abs=5e-4)


def test_example_2_information_prefers_the_feature_that_finds_the_rare_class():
    # Pr(C=1)=0.9; Pr(X1=1|C=1)=1, Pr(X1=-1|C=-1)=0.5; Pr(X2=1|C=1)=0.8, Pr(X2=-1|C=-1)=1.
    X, y = samples(((1, 1, 1), 720), ((1, -1, 1), 180), ((1, -1, -1), 50), ((-1, -1, -1), 50))
    bits = information_terms(X, y, measure="plugin", correction="none").relevance / math.log(2)
    assert bits == pytest.approx([0.186, 0.206], abs=5e-4)


class Interactions:
    def __init__(self, matrix):
        self._matrix = matrix

    def row(self, feature):
        return self._matrix[feature]

    def matrix(self):
        return self._matrix


@pytest.mark.parametrize("criterion", ["d1", "jmi"])
def test_example_3_backward_elimination_keeps_the_synergy_and_misses_the_best_pair(criterion):
    interaction = np.zeros((4, 4))
    interaction[0, 1] = interaction[1, 0] = -0.4  # I(X1,X2;C) = 0.4 although each alone says nothing
    relevance = np.array([0.0, 0.0, 0.2, 0.25])
    names = ("X1", "X2", "X3", "X4")
    problem = SubsetProblem(
        relevance, Interactions(interaction), find_criterion(criterion), 2, names, np.arange(4)
    )  # fmt: skip
    backward, best = select(problem, "backward"), select(problem, "exhaustive")
    assert set(backward.names) == {"X1", "X2"}
    assert set(best.names) == {"X3", "X4"}
    assert backward.objective == pytest.approx(0.4)
    assert best.objective == pytest.approx(0.45)


def test_xor_is_found_by_information_of_pairs_only():
    """The synergy of the paper's Figure 1 in its purest form."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (400, 6))
    y = bits[:, 0] ^ bits[:, 1]
    terms = information_terms(bits, y, measure="plugin", correction="none")
    assert terms.relevance.max() < 0.02
    best = select(subset_problem(terms, 2, "jmi"), "exhaustive")
    assert sorted(best.indices.tolist()) == [0, 1]
    assert best.objective == pytest.approx(math.log(2), rel=1e-2)
