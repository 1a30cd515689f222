"""The exact method: equal to exhaustive search, proofs that can be replayed, early ends, ties, tight bounds."""

import itertools
import math

import numpy as np
import pytest

from certselect import SubsetProblem, certify, information_terms, memory, select, subset_problem
from certselect.certificate import open_problem, replay
from certselect.errors import InvalidInput
from certselect.progress import listening
from linearised import best_by_highs


def random_matrix(rng, n, k, kind):
    """Four kinds of problems: any sign, redundancy-like, whole numbers (many ties), all positive."""
    A = rng.standard_normal((n, n))
    Q = (A + A.T) / 2
    if kind == 1:
        Q = -np.abs(Q) / (2 * max(k - 1, 1))
        np.fill_diagonal(Q, 2 * rng.random(n))
    elif kind == 2:
        Q = np.round(Q)
    elif kind == 3:
        Q = np.abs(Q)
    if n > 4 and rng.random() < 0.2:  # a duplicate
        Q[1], Q[:, 1] = Q[0], Q[:, 0]
        Q[1, 1] = Q[0, 0]
        Q[0, 1] = Q[1, 0] = rng.standard_normal()
    return Q


def random_constraints(rng, n, k):
    order = rng.permutation(n).tolist()
    stated, groups = {}, {}
    if rng.random() < 0.3:
        stated["include"] = order[:1]
    if rng.random() < 0.3:
        stated["exclude"] = order[-1:]
    if rng.random() < 0.4 and n >= 6:
        groups["all_or_none"] = [order[1:3]]
    if rng.random() < 0.4 and n >= 8:
        groups["at_most_one"] = [order[3:6]]
    if groups:
        stated["feature_groups"] = groups
    if rng.random() < 0.4:
        stated["costs"] = rng.integers(0, 5, n).astype(float).tolist()
        stated["budget"] = float(rng.integers(2, 3 * k + 2))
    return stated


def problems(seed, count, smallest, largest, *, any_size=True):
    """Random problems with and without constraints; those that allow nothing are left out."""
    rng = np.random.default_rng(seed)
    made = 0
    while made < count:
        n = int(rng.integers(smallest, largest + 1))
        k = int(rng.integers(1, n + 1))
        stated = random_constraints(rng, n, k) if rng.random() < 0.7 else {}
        size = None if any_size and "budget" in stated and rng.random() < 0.3 else k
        Q = random_matrix(rng, n, k, made % 4)
        try:
            problem = SubsetProblem.from_matrix(Q, size, **stated)
        except InvalidInput:
            continue
        made += 1
        yield problem


def all_values(problem):
    """Every allowed subset and its value, one by one."""
    allows = problem.constraints.allows if problem.constraints is not None else lambda subset: True
    columns = range(problem.n_features)
    return {s: problem.value(s) for s in itertools.combinations(columns, problem.k) if allows(s)}


def assert_best(answer, problem):
    best = select(problem, "exhaustive")
    assert answer.status == "proven optimal"
    assert answer.objective == pytest.approx(best.objective, rel=1e-11, abs=1e-11)
    assert 0.0 <= answer.upper_bound - answer.objective <= answer.tolerance
    if problem.constraints is not None:
        assert problem.constraints.allows(answer.indices.tolist())


@pytest.mark.parametrize("seed", range(10))
def test_equals_exhaustive_search(seed):
    for problem in problems(seed, 200, 1, 12):
        assert_best(select(problem, "exact"), problem)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 104))
def test_equals_exhaustive_search_on_larger_ones(seed):
    for problem in problems(seed, 25, 13, 16):
        assert_best(select(problem, "exact"), problem)


@pytest.fixture
def nothing_listed(monkeypatch):
    """No case is small enough to list its subsets: everything has to be proved by bounds."""
    monkeypatch.setattr(open_problem, "MOST_LISTED", 1)
    monkeypatch.setattr(open_problem, "MOST_MASKED", 0)


@pytest.mark.parametrize("seed", range(20, 24))
def test_equals_exhaustive_search_by_bounds_alone(seed, nothing_listed):
    for problem in problems(seed, 60, 2, 11):
        assert_best(select(problem, "exact"), problem)


@pytest.mark.parametrize("seed", [30, 31])
def test_the_proof_can_be_replayed(seed, nothing_listed):
    for problem in problems(seed, 40, 3, 10, any_size=False):
        answer = select(problem, "exact")
        certificate = answer.certificate
        bound = replay(problem.reduced, certificate.known, certificate.proof).bound
        assert bound == pytest.approx(certificate.bound, rel=1e-9)
        assert bound == pytest.approx(answer.objective, rel=1e-9, abs=1e-9)
        assert bound >= max(all_values(problem).values()) - 1e-12


def test_lists_all_ties():
    for problem in problems(40, 150, 2, 9, any_size=False):
        values = all_values(problem)
        best = max(values.values())
        tied = sorted(subset for subset, value in values.items() if value >= best - 1e-13 * abs(best))
        answer = select(problem, "exact", ties=True, max_ties=1000)
        assert sorted(answer.ties) == tied
        assert tuple(sorted(answer.indices.tolist())) == tied[0]


def test_ties_by_bounds_alone(nothing_listed):
    # Three interchangeable features, two of which are best: three equal answers.
    Q = np.diag([1.0, 1.0, 1.0, 0.2, 0.1])
    answer = select(SubsetProblem.from_matrix(Q, 2), "exact", ties=True)
    assert answer.ties == ((0, 1), (0, 2), (1, 2))
    assert answer.indices.tolist() == [0, 1]


def test_stops_looking_for_ties_at_the_limit():
    answer = select(SubsetProblem.from_matrix(np.eye(12), 6), "exact", ties=True, max_ties=5)
    assert len(answer.ties) == 5
    assert answer.status == "proven optimal"


def test_all_equal_features_choose_the_lowest():
    answer = select(SubsetProblem.from_matrix(np.zeros((40, 40)), 10), "exact")
    assert answer.indices.tolist() == list(range(10))
    assert answer.status == "proven optimal"


def test_many_duplicates_are_no_trouble():
    rng = np.random.default_rng(3)
    A = rng.random((20, 20))
    kinds = np.repeat(np.arange(20), 3)
    Q = -((A + A.T) / 20)[np.ix_(kinds, kinds)]
    np.fill_diagonal(Q, rng.random(20)[kinds])
    answer = select(SubsetProblem.from_matrix(Q, 10), "exact", max_seconds=60)
    assert answer.status == "proven optimal"
    # Of three duplicates the first is chosen.
    assert all(i % 3 == 0 or i - 1 in answer.indices for i in answer.indices)


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_highs(seed):
    rng = np.random.default_rng(seed)
    n, k = 26, 7
    Q = random_matrix(rng, n, k, seed % 2)
    answer = select(SubsetProblem.from_matrix(Q, k), "exact")
    assert answer.status == "proven optimal"
    assert answer.objective == pytest.approx(best_by_highs(Q, k), rel=1e-8)


@pytest.fixture(scope="module")
def hard_problem():
    """Random signs: the relaxation is far off and takes many cases."""
    rng = np.random.default_rng(7)
    A = rng.standard_normal((90, 90))
    return SubsetProblem.from_matrix((A + A.T) / 2, 40)


def test_time_limit_leaves_a_gap_that_holds(hard_problem):
    answer = select(hard_problem, "exact", max_seconds=1.5)
    assert answer.status == "complete"
    assert 0.0 < answer.gap < 1.0
    assert answer.seconds["search"] < 20
    bound = replay(hard_problem.reduced, answer.certificate.known, answer.certificate.proof).bound
    assert bound == pytest.approx(answer.upper_bound, rel=1e-12)
    assert answer.statement.startswith("No 40 of the ")


def test_interrupted_after_some_rounds(hard_problem):
    rounds = 0

    def stop(stage, done, total):
        nonlocal rounds
        if stage.startswith("proof"):
            rounds += 1
            if rounds == 4:
                raise KeyboardInterrupt

    with listening(stop):
        answer = select(hard_problem, "exact")
    assert answer.status == "interrupted"
    assert len(answer.indices) == 40
    assert answer.upper_bound > answer.objective
    bound = replay(hard_problem.reduced, answer.certificate.known, answer.certificate.proof).bound
    assert bound == pytest.approx(answer.upper_bound, rel=1e-12)


def test_interrupted_at_the_very_start(hard_problem):
    def stop(stage, done, total):
        raise KeyboardInterrupt

    with listening(stop):
        answer = select(hard_problem, "exact")
    assert answer.status == "interrupted"
    assert len(set(answer.indices.tolist())) == 40


def test_too_many_features_are_refused(monkeypatch):
    monkeypatch.setattr(memory, "machine_bytes", lambda: memory.PROOF_BYTES * 36 - 1)
    with pytest.raises(InvalidInput, match="6 candidates for strategy='exact'"):
        select(SubsetProblem.from_matrix(np.eye(6), 2), "exact")
    select(SubsetProblem.from_matrix(np.eye(5), 2), "exact")


@pytest.mark.parametrize("option", [{"max_seconds": 0}, {"max_seconds": math.nan}, {"max_ties": 0}])
def test_refuses_options(option):
    with pytest.raises(InvalidInput):
        select(SubsetProblem.from_matrix(np.eye(6), 2), "exact", **option)


def measurements(seed=0, rows=200, columns=30):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    X = rng.standard_normal((rows, columns)) + y[:, None] * rng.random(columns)
    X[:, : columns // 3] += 2.0 * X[:, :1]  # features that say much the same
    return X, y


@pytest.mark.parametrize("criterion", ["mrmr", "jmi", "mifs", "d1", "max_relevance"])
def test_on_measurements(criterion):
    problem = subset_problem(information_terms(*measurements()), 6, criterion)
    answer = select(problem, "exact")
    assert answer.status == "proven optimal"
    assert answer.objective >= select(problem, "forward", polish=True).objective - 1e-12
    assert best_by_highs(problem.candidate_matrix, 6) == pytest.approx(answer.objective, rel=1e-8)


@pytest.mark.parametrize("strategy", ["relevance", "forward", "cobra", "exhaustive"])
def test_tight_certificates_of_any_search(strategy):
    problem = subset_problem(information_terms(*measurements(columns=14)), 4, "mrmr")
    answer = select(problem, strategy, certify="tight", random_state=0)
    best = select(problem, "exhaustive")
    assert answer.upper_bound == pytest.approx(best.objective, rel=1e-9)
    assert (answer.status == "proven optimal") == (answer.objective >= best.objective - 1e-12)
    if answer.status == "proven optimal":
        assert answer.statement == "Proven optimal: no other 4 of the 14 columns score higher."


def test_tight_is_never_looser_than_plain():
    for seed in range(5):
        terms = information_terms(*measurements(seed), discretize="uniform", bins=5)
        problem = subset_problem(terms, 8, "mrmr")
        answer = select(problem, "forward")
        plain, tight = certify(problem, answer), certify(problem, answer, tight=True, max_seconds=20)
        assert tight.upper_bound <= plain.upper_bound + 1e-12
        assert tight.gap < 1e-3


def test_tight_says_what_is_decided():
    problem = subset_problem(information_terms(*measurements(1)), 8, "mrmr")
    answer = certify(problem, select(problem, "relevance"), tight=True)
    best = select(problem, "exact")
    assert answer.status == "complete"
    assert answer.upper_bound == pytest.approx(best.objective, rel=1e-9)
    assert answer.certificate.known == pytest.approx(best.objective, rel=1e-9)
    assert not set(answer.proven_out) & set(best.names)
    assert set(answer.proven_in) <= set(best.names)


def test_tight_of_any_size_within_a_budget():
    X, y = measurements(columns=10)
    problem = subset_problem(
        information_terms(X, y, measure="plugin", correction="none"), None, "mrmr", costs=[1.0] * 10, budget=4.0
    )
    answer = certify(problem, select(problem, "forward"), tight=True)
    assert answer.upper_bound == pytest.approx(select(problem, "exhaustive").objective, rel=1e-9)


def test_interrupting_a_tight_certificate_keeps_the_answer(hard_problem):
    def stop(stage, done, total):
        if stage.startswith("proof"):
            raise KeyboardInterrupt

    with listening(stop):
        answer = select(hard_problem, "forward", certify="tight")
    assert answer.status == "interrupted"
    assert answer.upper_bound > answer.objective
