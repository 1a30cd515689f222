"""QPFS: the programme's solution is checked by its optimality conditions, outside the solver."""

import sys

import numpy as np
import pytest

from certselect import information_terms, select, subset_problem
from certselect.criteria import SubsetProblem
from certselect.errors import InvalidInput
from certselect.search.found import Found
from certselect.search.strategies.qpfs import exact_weights, nystroem_weights, pair_terms, qpfs, ranked, sampled_rows

pytest.importorskip("clarabel")


def run(problem, seed=0, **options):
    found = Found()
    qpfs(problem.units, found, np.random.default_rng(seed), **options)
    return found


def random_psd(rng, n, rank):
    factor = rng.random((n, rank))
    return factor @ factor.T / rank


def assert_optimal(x, H, r, alpha):
    """x >= 0, sum 1, and the gradient is the same wherever x > 0 and no smaller elsewhere."""
    n = len(r)
    shifted = H + max(0.0, -float(np.linalg.eigvalsh(H)[0])) * np.eye(n)
    gradient = (1.0 - alpha) * shifted @ x - alpha * r
    size = max(np.abs(H).max(), np.abs(r).max())
    assert x.min() >= -1e-7
    assert x.sum() == pytest.approx(1.0, abs=1e-7)
    price = float(gradient @ x)
    assert gradient.min() >= price - 1e-6 * size
    assert np.abs((gradient - price) * x).max() <= 1e-6 * size


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.9, None])
def test_solution_is_optimal(alpha):
    rng = np.random.default_rng(60)
    for seed in range(15):
        n = int(rng.integers(1, 30))
        H = random_psd(rng, n, 5) if seed % 3 else rng.normal(size=(n, n))
        H, r = (H + H.T) / 2, rng.random(n)
        x = exact_weights(H, r, alpha)
        used = np.abs(H).mean() / (np.abs(H).mean() + r.mean()) if alpha is None else alpha
        assert_optimal(x, H, r, used)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_diagonal_closed_form(scale):
    """H = Diag(h) and equal relevance: x_i is proportional to 1 / h_i."""
    h = np.array([1.0, 2.0, 4.0, 8.0])
    x = exact_weights(scale * np.diag(h), np.full(4, 3.0 * scale), 0.4)
    np.testing.assert_allclose(x, (1 / h) / (1 / h).sum(), atol=1e-6)


def test_water_filling_closed_form():
    """H = I, alpha = 1/2: x = max(0, r - level), the level such that the sum is 1."""
    r = np.array([1.0, 0.7, 0.4, -0.5])
    x = exact_weights(np.eye(4), r, 0.5)
    np.testing.assert_allclose(x, [19 / 30, 1 / 3, 1 / 30, 0.0], atol=1e-6)


def test_default_alpha_balances_and_one_side_alone_decides():
    H, r = np.diag([1.0, 3.0]), np.array([0.5, 1.5])
    np.testing.assert_allclose(exact_weights(H, r, None), exact_weights(H, r, 0.5), atol=1e-7)
    np.testing.assert_allclose(exact_weights(H, np.zeros(2), None), [0.75, 0.25], atol=1e-6)
    np.testing.assert_allclose(exact_weights(np.zeros((2, 2)), r, None), [0.0, 1.0], atol=1e-6)


@pytest.mark.parametrize("indefinite", [False, True])
def test_nystroem_with_all_rows_is_exact(make_problem, indefinite):
    rng = np.random.default_rng(61)
    for _ in range(10):
        n = int(rng.integers(2, 25))
        upper = np.triu(rng.normal(size=(n, n)) if indefinite else rng.random((n, n)), 1)
        problem = make_problem(rng.random(n), upper + upper.T, "mrmr", max(1, n // 2))
        candidates, r = problem.candidates, problem.linear
        H = pair_terms(problem.units, candidates)
        sample, B = sampled_rows(problem.units, candidates, n, rng)
        np.testing.assert_array_equal(B, H)
        np.testing.assert_allclose(nystroem_weights(sample, B, r, None), exact_weights(H, r, None), atol=2e-5)
        assert run(problem, nystroem=1.0).indices == run(problem).indices
        assert run(problem, nystroem=n).indices == run(problem).indices


def test_nystroem_from_as_many_rows_as_the_rank_is_exact():
    rng = np.random.default_rng(62)
    H, r = random_psd(rng, 40, 4), rng.random(40)
    sample = np.array([3, 8, 20, 21, 35])
    approximate = nystroem_weights(sample, H[sample], r, 0.2)
    assert_optimal(approximate, H, r, 0.2)


def test_nystroem_asks_for_its_rows_only(make_problem):
    rng = np.random.default_rng(63)
    upper = np.triu(rng.random((50, 50)), 1)
    problem = make_problem(rng.random(50), upper + upper.T, "mrmr", 6)
    found = run(problem, nystroem=0.2)
    assert "matrix" not in problem.pairs.calls
    sampled = set(problem.pairs.calls[:10])
    assert len(sampled) == 10
    assert set(problem.pairs.calls) <= sampled | set(found.indices)
    assert run(problem, nystroem=0.2).indices == found.indices  # same seed
    assert len({tuple(run(problem, seed, nystroem=0.2).indices) for seed in range(6)}) > 1


def test_own_terms_are_those_of_the_table():
    """For redundancy the entropy: what information terms give, by rows and whole, needs no completion."""
    rng = np.random.default_rng(64)
    X = rng.integers(0, 3, (200, 6))
    X[:, 1] = X[:, 0]
    terms = information_terms(X, (X[:, 0] + rng.integers(0, 2, 200)) % 3, measure="plugin", correction="none")
    for criterion, own in (("mrmr", terms.entropy), ("jmi", terms.relevance)):
        problem = subset_problem(terms, 6, criterion, copies="all")
        everything = np.arange(6)
        np.testing.assert_allclose(np.diag(pair_terms(problem.units, everything)), own, rtol=1e-12)
        _, B = sampled_rows(problem.units, everything, 6, rng)
        np.testing.assert_allclose(np.diag(B), own, rtol=1e-12)
        chosen = run(problem).indices
        assert chosen.index(1) == chosen.index(0) + 1  # the two copies share a weight


def test_undefined_own_terms_are_the_largest_of_their_row(make_problem):
    problem = make_problem([1.0, 1.0, 1.0], [[0, 0.5, 0.2], [0.5, 0, -0.3], [0.2, -0.3, 0]], "jmi", 1)
    assert np.diag(pair_terms(problem.units, np.arange(3))).tolist() == [0.5, 0.5, 0.2]


def test_ranking_by_weight_then_relevance_then_index(make_problem):
    problem = make_problem([0.1, 0.9, 0.3, 0.3, 0.5, 0.2], np.zeros((6, 6)), "mrmr", 5, candidates=[0, 2, 3, 4, 5])
    weights = np.array([0.3, 1e-9, 0.0, -1e-9, 0.7])
    assert list(ranked(problem.units, problem.candidates, weights)) == [5, 0, 4, 2, 3]
    equal = np.array([0.25, 0.25 + 1e-9, 0.5, 0.0, 0.0])
    assert list(ranked(problem.units, problem.candidates, equal))[:3] == [3, 0, 2]


@pytest.mark.parametrize("criterion", ["mrmr", "jmi", "mifs", "d1", "max_relevance"])
def test_valid_nested_subsets(random_problem, criterion):
    rng = np.random.default_rng(65)
    for seed in range(15):
        problem, twin = random_problem(rng, criterion, tied=seed % 2 == 0)
        found = run(problem)
        assert len(set(found.indices)) == problem.k
        assert set(found.indices) <= set(problem.candidates.tolist())
        values = [float(twin.value(found.indices[:size])) for size in range(1, problem.k + 1)]
        assert found.scores == pytest.approx(values, rel=1e-11, abs=1e-13)
        smaller = SubsetProblem(
            problem.linear,
            problem.pairs,
            problem.criterion,
            max(1, problem.k - 2),
            problem.feature_names,
            problem.candidates,
        )
        assert run(smaller).indices == found.indices[: smaller.k]


def test_relevance_alone_needs_no_solver(make_problem, monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    matrix = np.full((3, 3), 0.4)
    assert run(make_problem([0.2, 0.5, 0.5], matrix, "max_relevance", 2)).indices == [1, 2]
    assert run(make_problem([0.2, 0.5, 0.5], matrix, "mrmr", 2), alpha=1).indices == [1, 2]
    with pytest.raises(InvalidInput, match=r"pip install certselect\[solvers\]"):
        run(make_problem([0.2, 0.5, 0.5], matrix, "mrmr", 2))


def test_zero_problem_takes_the_first_features(make_problem):
    assert run(make_problem(np.zeros(5), np.zeros((5, 5)), "mrmr", 3)).indices == [0, 1, 2]
    assert run(make_problem([2.0], [[0.0]], "mrmr", 1)).indices == [0]


def test_ctrl_c_leaves_the_most_relevant(make_problem):
    matrix = np.ones((4, 4))
    for options in ({}, {"nystroem": 2}):
        problem = make_problem([0.1, 0.4, 0.2, 0.3], matrix, "mrmr", 2, interrupt_at=1)
        selection = select(problem, "qpfs", **options)
        assert (selection.indices.tolist(), selection.status) == ([1, 3], "interrupted")


@pytest.mark.parametrize(
    ("option", "wrong"),
    [
        ("alpha", -0.1),
        ("alpha", 1.5),
        ("alpha", "much"),
        ("alpha", float("nan")),
        ("alpha", True),
        ("nystroem", 0.0),
        ("nystroem", 1.5),
        ("nystroem", 0),
        ("nystroem", "some"),
    ],
)
def test_options_are_checked(make_problem, option, wrong):
    with pytest.raises(InvalidInput) as error:
        run(make_problem([1.0, 2.0], np.ones((2, 2)), "mrmr", 1), **{option: wrong})
    assert str(error.value).startswith(f"Got {option}={wrong!r}; expected")
