"""What is called proven is so at every scale that is accepted: faults that an attack found, each with its cause."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from certselect import SubsetProblem, choose_subset, information_terms, select, subset_problem, verify
from certselect.certificate import open_problem, replay
from certselect.errors import InvalidInput
from certselect.search.found import Found
from certselect.search.hopeless import hopeless_floor
from certselect.search.polish import polish, settle_ties

problem_of = SubsetProblem.from_matrix
best_searches = pytest.mark.parametrize("strategy", ["exact", "exhaustive"])


def exact_value(Q: np.ndarray, subset: tuple[int, ...]) -> Fraction:
    return sum((Fraction(float(Q[i, j])) for i in subset for j in subset), Fraction(0))


def exact_best(Q: np.ndarray, k: int) -> Fraction:
    return max(exact_value(Q, subset) for subset in combinations(range(len(Q)), k))


@best_searches
def test_a_huge_pair_term_takes_nothing_from_the_others(strategy: str) -> None:
    """Taken out of a sum again, -1e17 left a rounding error of 1 in what a swap would change."""
    Q = np.diag([1.0, 2.0, 0.0])
    Q[0, 1] = Q[1, 0] = -1e17
    answer = select(problem_of(Q, 2), strategy)
    assert (answer.indices.tolist(), answer.objective, answer.upper_bound) == ([1, 2], 2.0, 2.0)
    assert answer.status == "proven optimal"
    assert answer.tolerance == 2e-12


@best_searches
def test_a_huge_weight_of_redundancy_takes_nothing_from_relevance(strategy: str) -> None:
    """x0 and x1 are alike, x2 is independent, and the target is x1."""
    rows = [(0, 0)] * 3 + [(0, 1)] + [(1, 0)] + [(1, 1)] * 3
    X = np.array([(a, b, c) for a, b in rows for c in (0, 1)])
    problem = subset_problem(information_terms(X, X[:, 1], measure="plugin", correction="none"), 2, "mifs", beta=1e17)
    answer = select(problem, strategy)
    assert answer.indices.tolist() == [1, 2]
    assert answer.upper_bound == pytest.approx(math.log(2))


@best_searches
def test_a_hopeless_feature_is_no_measure_for_the_others(strategy: str) -> None:
    answer = select(problem_of(np.diag([1.0, 2.0, 3.0, -1e13]), 1), strategy)
    assert (answer.indices.tolist(), answer.upper_bound, answer.tolerance) == ([2], 3.0, 3e-12)


@best_searches
def test_ties_do_not_chain(strategy: str) -> None:
    """Each is within a tie of the next; the ends are 1.8e-9 apart."""
    values = 1.0 + 0.9e-12 * np.arange(2000)
    answer = select(problem_of(np.diag(values), 1), strategy)
    assert answer.objective == values.max() == answer.upper_bound


def test_a_matrix_that_is_not_symmetric_is_refused_whatever_its_largest_entry() -> None:
    A = np.diag([1.0, 1.0, -1e13])
    A[1, 0] = 1.0
    with pytest.raises(InvalidInput, match="not symmetric"):
        problem_of(A, 2)


def test_what_a_matrix_lacks_of_symmetry_by_rounding_is_averaged_away() -> None:
    Q = np.corrcoef(np.random.default_rng(0).random((6, 20)) ** 3)
    Q[0, 1] *= 1.0 + 2.0**-50
    problem = problem_of(Q, 3)
    assert np.array_equal(problem.matrix, problem.matrix.T)
    assert problem.matrix == pytest.approx(Q, rel=1e-14)


@pytest.mark.parametrize("scale", [1e-150, 1e-140, 1e-60, 1e60, 1e140])
@best_searches
def test_scales_that_are_accepted_are_served(scale: float, strategy: str) -> None:
    Q = scale * np.array([[1.0, 0.5, 0.0], [0.5, 2.0, 0.0], [0.0, 0.0, 2.4]])
    answer = select(problem_of(Q, 2), strategy)
    assert answer.indices.tolist() == [1, 2]
    assert answer.status == "proven optimal"
    assert exact_best(Q, 2) <= Fraction(answer.upper_bound) <= Fraction(answer.objective) + Fraction(answer.tolerance)


@pytest.mark.parametrize("scale", [1e-200, 1e-300, 1e160, 1e308])
def test_scales_that_cannot_be_served_are_refused_at_the_door(scale: float) -> None:
    with pytest.raises(InvalidInput, match="Multiply everything by the same number"):
        problem_of(scale * np.eye(3), 2)


@pytest.mark.parametrize("beta", [1e160, 1e308])
def test_weights_that_cannot_be_served_are_refused(beta: float) -> None:
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    with pytest.raises(InvalidInput, match="whose weight of a pair is"):
        subset_problem(information_terms(X, X[:, 0], measure="plugin", correction="none"), 1, "mifs", beta=beta)


def penalised(n: int, penalty: float) -> np.ndarray:
    """An ordinary problem in which every other pair is forbidden by a penalty, as people write it."""
    rng = np.random.default_rng(7)
    A = rng.random((n, n))
    Q = -(A + A.T) / n
    forbidden = np.triu(rng.random((n, n)) < 0.3, 1)
    Q[forbidden | forbidden.T] = -penalty
    np.fill_diagonal(Q, rng.random(n))
    return Q


@pytest.mark.parametrize("penalty", [1e3, 1e9, 1e15, 1e100])
def test_penalties_of_any_size_give_the_same_proof(penalty: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_problem, "MOST_LISTED", 1)
    monkeypatch.setattr(open_problem, "MOST_MASKED", 0)
    problem = problem_of(penalised(14, penalty), 4)
    answer = select(problem, "exact", max_seconds=60.0)
    assert answer.status == "proven optimal"
    assert answer.indices.tolist() == select(problem_of(penalised(14, 100.0), 4), "exhaustive").indices.tolist()
    certificate = answer.certificate
    assert certificate is not None
    assert certificate.proof is not None
    assert math.isfinite(certificate.proof.floor) == (penalty > 1e7)
    assert replay(problem.reduced, certificate.known, certificate.proof).bound == answer.upper_bound


def test_ordinary_entries_are_never_raised() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((12, 12))
    for scale in (1e-100, 1.0, 1e100):
        reduced = problem_of(scale * (A + A.T), 5).reduced
        assert hopeless_floor(reduced, list(range(5))) == -math.inf


@pytest.mark.parametrize("beta", [1e3, 1e7, 1e11])
def test_a_true_file_is_confirmed_however_large_the_weight(beta: float) -> None:
    """The proof and its replay counted rounding differently."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, (40, 14))
    result = choose_subset(
        X,
        X[:, 0] ^ (X[:, 1] > 0),
        5,
        strategy="exact",
        criterion="mifs",
        beta=beta,
        measure="plugin",
        correction="none",
    )
    outcome = verify(result.to_dict(), X, X[:, 0] ^ (X[:, 1] > 0))
    assert outcome.holds, outcome.reasons
    assert outcome.statement == result.statement != ""


def test_polish_believes_no_change_that_is_rounding() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        Q = rng.standard_normal((7, 7)) * 10.0 ** rng.integers(-2, 18, (7, 7))
        Q = np.triu(Q) + np.triu(Q, 1).T
        units = problem_of(Q, 3).units
        found = Found(indices=[0, 1, 2])
        polish(units, found)
        values = [exact_value(Q, (0, 1, 2)), *map(Fraction, found.scores)]
        assert exact_value(Q, tuple(found.indices)) >= values[0]
        assert values[1:] == sorted(set(values[1:]))


def test_lower_features_replace_equals_of_the_best_only() -> None:
    Q = np.diag(1.0 + 0.4e-12 * np.arange(8))
    units, found = problem_of(Q, 1).units, Found(indices=[7])
    settle_ties(units, found, best=Q[7, 7], width=0.5e-12)
    assert found.indices == [6]


def test_what_is_proven_of_features_is_about_the_answer_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not about the best subset that the proof came to know: features of every subset as good, and of none."""
    monkeypatch.setattr(open_problem, "MOST_LISTED", 1)
    monkeypatch.setattr(open_problem, "MOST_MASKED", 0)
    rng, decided = np.random.default_rng(5), 0
    for _ in range(40):
        n, k = 9, int(rng.integers(1, 6))
        A = rng.random((n, n))
        Q = np.diag(rng.random(n)) - (A + A.T) / 20
        for strategy in ("exact", "relevance"):
            answer = select(problem_of(Q, k), strategy, certify="tight")
            into, out = ({int(name[1:]) for name in names} for names in (answer.proven_in, answer.proven_out))
            value = exact_value(Q, tuple(answer.indices.tolist()))
            as_good = [s for s in combinations(range(n), k) if exact_value(Q, s) >= value]
            assert all(into <= set(subset) and not out & set(subset) for subset in as_good)
            decided += len(into) + len(out)
    assert decided > 100  # else nothing was shown


@pytest.mark.parametrize("penalty", [1.0, 1e3, 1e5, 1e6, 1e9])
def test_a_floor_is_that_of_its_definition_whether_or_not_it_is_found_in_a_hurry(penalty: float) -> None:
    """Row sums are left out where they could only lower it."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        Q = rng.standard_normal((9, 9))
        Q[2, 5] = -penalty
        Q = Q + Q.T
        reduced = problem_of(Q, 3).reduced
        positions = rng.permutation(9)[:3].tolist()
        positive = np.maximum(Q, 0.0)
        rows = positive.diagonal() + np.sort(positive, axis=1)[:, -3:].sum(axis=1)
        terms = [abs(float(Q[i, j])) for i in positions for j in positions]
        beyond = max(np.sort(rows)[-3:].sum(), math.fsum(terms))
        floor = -4.0 * 2.0 ** math.frexp(beyond)[1]
        assert hopeless_floor(reduced, positions) == (floor if Q.min() < 2.0**16 * floor else -math.inf)
