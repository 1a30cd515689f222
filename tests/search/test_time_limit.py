"""A time limit ends every search and bound, wherever it strikes; the answer is allowed, valued and says so.

No test waits: the clock is made of numbers.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from certselect import SubsetProblem, certify, choose_subset, information_terms, select, selection_path, subset_problem
from certselect.clock import NO_LIMIT, TimeLimit
from certselect.criteria.pairs import TermPairs
from certselect.errors import InvalidInput
from certselect.results.verifying import verify
from certselect.search import Strategy, certified, conclude, cost, list_strategies
from certselect.search.cost import EIGEN_CORNER, too_short
from certselect.search.found import Evidence, Found
from certselect.search.polish import polish
from certselect.search.strategies import exact as exact_module
from certselect.search.strategies.exact import KEPT_SECONDS, prover_for, start_well
from certselect.search.strategies.forward import forward

LIMIT = 1.0
STRATEGIES = [name for name, strategy in list_strategies().items() if strategy.run.__module__.startswith("certselect.")]
QUICK = {"annealing": {"steps": 400}, "genetic": {"population": 10, "generations": 8}, "cobra": {"draws": 30}}


@pytest.fixture
def clock(monkeypatch):
    """A clock that jumps behind every limit when it is read for the n-th time, after the reading that starts it."""

    def strikes_at(reading=math.inf):
        readings = []

        def read():
            readings.append(None)
            return 0.0 if len(readings) <= reading + 1 else 1e9

        monkeypatch.setattr("certselect.clock.now", read)
        return readings

    return strikes_at


@pytest.fixture(params=STRATEGIES)
def strategy(request):
    if list_strategies()[request.param].requires:
        pytest.importorskip("clarabel")
    return request.param


def redundant(n=12, k=4, seed=0, **constraints):
    """Worth alone, and less together."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)), 1)
    return SubsetProblem.from_matrix(np.diag(rng.random(n) + 1.0) - 0.2 * (upper + upper.T), k, **constraints)


CONSTRAINED = {
    "include": [3],
    "feature_groups": {"all_or_none": [[0, 1]], "at_most_one": [[4, 5, 6]]},
    "costs": {2: 2.0, 7: 1.0},
    "budget": 2.5,
}


def searched(problem, strategy, **asked):
    return select(problem, strategy, random_state=0, strategy_options=QUICK.get(strategy), **asked)


def check(problem, answer):
    chosen = answer.indices.tolist()
    assert problem.units.rules.allows(problem.units.units_of(chosen))
    assert answer.objective == problem.value(chosen)
    assert not answer.upper_bound < select(problem, "exhaustive").objective


@pytest.mark.parametrize("constraints", [{}, CONSTRAINED], ids=["free", "constrained"])
@pytest.mark.parametrize("certify", [False, True, "tight"])
def test_a_limit_that_is_over_at_once(clock, strategy, constraints, certify):
    problem = redundant(**constraints)
    clock(0)
    answer = searched(problem, strategy, certify=certify, polish=True, max_seconds=LIMIT)
    clock()
    check(problem, answer)
    assert answer.status in ("complete", "proven optimal")
    assert answer.out_of_time == (answer.status == "complete")
    assert answer.seconds.get("limit", LIMIT) == LIMIT
    if certify or list_strategies()[strategy].bounds:
        assert math.isfinite(answer.upper_bound)


@pytest.mark.parametrize("constraints", [{}, CONSTRAINED], ids=["free", "constrained"])
def test_wherever_it_strikes(clock, strategy, constraints):
    """One reading of the clock after the other, until the search is through."""
    problem = redundant(**constraints)
    for reading in range(1, 60):
        clock(reading)
        answer = searched(problem, strategy, certify=True, max_seconds=LIMIT)
        clock()
        check(problem, answer)
        if not answer.out_of_time:
            break


def test_a_limit_that_does_not_strike_changes_nothing(strategy):
    problem = redundant()
    limited, free = (searched(problem, strategy, certify=True, **limit) for limit in ({"max_seconds": 1e6}, {}))
    assert not limited.out_of_time
    assert limited.indices.tolist() == free.indices.tolist()
    assert (limited.scores, limited.upper_bound) == (free.scores, free.upper_bound)


def test_the_first_steps_are_kept_and_the_most_relevant_fill_up(clock):
    problem = redundant(k=6)
    whole = select(problem, "forward")
    readings = clock(3)
    answer = select(problem, "forward", max_seconds=LIMIT)
    assert len(readings) == 5  # the start, three steps and one that was not made
    assert answer.indices[:3].tolist() == whole.indices[:3].tolist()
    others = [i for i in np.argsort(-problem.linear).tolist() if i not in answer.indices[:3]]
    assert answer.indices[3:].tolist() == others[:3]
    assert answer.scores[:3] == whole.scores[:3]
    assert len(answer.scores) == 6
    assert answer.scores[-1] == pytest.approx(answer.objective, abs=1e-12)


def test_what_a_limit_cut_short_verifies(clock, strategy):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (50, 9)), rng.integers(0, 2, 50)
    for reading in (0, 3):
        clock(reading)
        asked = {"strategy": strategy, "strategy_options": QUICK.get(strategy), "max_seconds": LIMIT}
        result = choose_subset(X, y, 4, random_state=0, **asked)
        clock()
        assert verify(result, X, y).reasons == ()
        if result.selection.out_of_time:
            assert result.provenance.seconds["limit"] == LIMIT


def test_nothing_is_begun_behind_the_limit(clock, monkeypatch):
    problem = redundant()
    for name in ("relax", "prove"):
        monkeypatch.setattr(certified, name, None)  # cannot be called
    clock(0)
    answer = select(problem, "forward", certify=True, max_seconds=LIMIT)
    assert answer.out_of_time
    assert "relaxation" not in answer.seconds
    assert answer.upper_bound >= answer.objective


def test_half_of_the_time_is_for_the_bound(monkeypatch):
    """Unless the search is one that bounds by itself."""
    now, limits = [0.0], {}
    monkeypatch.setattr("certselect.clock.now", lambda: now[0])

    def slow(problem, found, rng, /):
        limits["search"] = found.limit.left
        now[0] += 2.0
        forward(problem, found, rng)

    def bounded(problem, *, max_seconds, **options):
        limits["bound"] = max_seconds
        raise KeyboardInterrupt

    monkeypatch.setattr(certified, "relax", bounded)
    select(redundant(), Strategy("slow", slow, "waits"), certify=True, max_seconds=10.0)
    assert limits == {"search": 5.0, "bound": 8.0}
    now[0] = 0.0
    select(redundant(), Strategy("slow", slow, "waits"), max_seconds=10.0)
    assert limits["search"] == 10.0
    now[0] = 0.0
    select(redundant(), Strategy("slow", slow, "waits", bounds=True), certify=True, max_seconds=10.0)
    assert limits["search"] == 10.0


def test_half_of_the_time_of_the_exact_method_is_for_the_proof(monkeypatch):
    now, limits = [0.0], {}
    monkeypatch.setattr("certselect.clock.now", lambda: now[0])

    def slow_start(problem, found, rng):
        limits["start"] = found.limit.left
        now[0] += 6.0
        forward(problem, found, rng)

    def proving(problem, found, *, max_seconds, all_best):
        limits["proof"] = (max_seconds, found.limit.left)

    monkeypatch.setattr(exact_module, "start_well", slow_start)
    monkeypatch.setattr(exact_module, "prove", proving)
    select(redundant(), "exact", max_seconds=10.0)
    assert limits == {"start": 5.0, "proof": (4.0 - KEPT_SECONDS, 4.0)}


@pytest.mark.parametrize(("asked", "given"), [({"max_seconds": 7.0}, 7.0), ({}, 60.0)])
def test_a_tight_bound_has_the_time_that_is_left_or_a_minute(monkeypatch, asked, given):
    monkeypatch.setattr("certselect.clock.now", lambda: 0.0)
    told = []

    def proving(problem, found, *, max_seconds, known):
        told.append(max_seconds)
        found.cut_short = True

    monkeypatch.setattr(certified, "prove", proving)
    at_once = select(redundant(), "forward", certify="tight", **asked)
    assert at_once.gap < math.inf  # by the plain relaxation, in the time that was kept for it
    afterwards = certify(redundant(), select(redundant(), "forward"), tight=True, **asked)
    assert told == [given - KEPT_SECONDS] * 2
    assert at_once.seconds["limit"] == afterwards.seconds["limit"] == given


@pytest.mark.parametrize("strategy", ["forward", "backward", "cobra", "annealing"])
def test_every_size_of_a_path_is_answered(clock, strategy):
    rng = np.random.default_rng(1)
    terms = information_terms(rng.integers(0, 3, (60, 10)), rng.integers(0, 2, 60), measure="plugin", correction="none")
    options = {"strategy_options": QUICK.get(strategy), "random_state": 0, "polish": True}
    whole = selection_path(terms, range(1, 8), strategy=strategy, **options)
    for reading in (0, 5, 12):
        clock(reading)
        path = selection_path(terms, range(1, 8), strategy=strategy, max_seconds=LIMIT, **options)
        clock()
        assert [selection.k for selection in path] == list(range(1, 8))
        for limited, free in zip(path, whole, strict=True):
            assert len(set(limited.indices.tolist())) == limited.k
            assert limited.out_of_time or limited.indices.tolist() == free.indices.tolist()
        assert any(selection.out_of_time for selection in path)


def test_sizes_share_the_time(monkeypatch):
    now, left = [0.0], []
    monkeypatch.setattr("certselect.clock.now", lambda: now[0])

    def slow(problem, found, rng, /):
        left.append(found.limit.left)
        now[0] += 1.0
        forward(problem, found, rng)

    rng = np.random.default_rng(1)
    terms = information_terms(rng.integers(0, 3, (60, 10)), rng.integers(0, 2, 60), measure="plugin", correction="none")
    selection_path(terms, [1, 2, 3, 4], strategy=Strategy("slow", slow, "waits"), max_seconds=10.0, criterion="jmi")
    assert left == [2.5, 3.0, 4.0, 7.0]


@pytest.mark.parametrize("strategy", ["forward", "exact", "cobra"])
def test_any_size_within_a_budget(clock, strategy):
    problem = redundant(8, None, costs=np.arange(1.0, 9.0), budget=9.0)
    best = select(problem, "exhaustive").objective
    for reading in (0, 4, 15):
        clock(reading)
        answer = searched(problem, strategy, certify=True, max_seconds=LIMIT)
        bounded = certify(problem, answer, max_seconds=LIMIT)
        clock()
        assert problem.of_size(answer.k).value(answer.indices) == answer.objective <= best * (1 + 1e-12)
        assert answer.seconds.get("limit", LIMIT) == LIMIT
        assert min(answer.upper_bound, bounded.upper_bound) >= best * (1 - 1e-12)


def test_bounds_of_any_size_that_had_too_little_time_say_so(clock):
    problem = redundant(8, None, costs=np.arange(1.0, 9.0), budget=9.0)
    best = select(problem, "exhaustive")
    clock(0)
    hurried = certify(problem, best, max_seconds=LIMIT)
    clock()
    assert (hurried.out_of_time, certify(problem, best, max_seconds=LIMIT).out_of_time) == (True, False)
    assert hurried.upper_bound >= best.objective


def test_polish_and_the_start_of_the_exact_method_end_too(clock):
    problem = redundant(k=5).units
    clock(0)
    found = Found(indices=[7, 8, 9, 10, 11], limit=TimeLimit.of(LIMIT))
    polish(problem, found)
    assert (found.indices, found.scores, found.cut_short) == ([7, 8, 9, 10, 11], [], True)
    clock(2)
    found = Found(limit=TimeLimit.of(LIMIT))
    start_well(problem, found, np.random.default_rng(0))
    assert found.cut_short
    assert len(found.indices) == 5
    assert len(found.scores) == 1  # nothing was removed backward


@pytest.mark.parametrize("strategy", ["soss", "qpfs", "cobra", "forward"])
def test_what_would_take_too_long_is_not_begun(monkeypatch, strategy):
    """Judged by a small matrix: here one of 4 columns that takes a second, so 27 s for 12."""
    if list_strategies()[strategy].requires:
        pytest.importorskip("clarabel")
    now = [0.0]
    monkeypatch.setattr(cost, "EIGEN_CORNER", 4)
    monkeypatch.setattr("certselect.clock.now", lambda: now[0])

    def slow(corner):
        assert corner.shape == (4, 4)
        now[0] += 1.0

    monkeypatch.setattr(cost, "np", SimpleNamespace(linalg=SimpleNamespace(eigvalsh=slow), random=np.random))
    bound = {"certify": strategy == "forward"}
    hurried = searched(redundant(), strategy, max_seconds=29.5, **bound)
    now[0] = 0.0
    patient = searched(redundant(), strategy, max_seconds=30.5, **bound)
    assert hurried.out_of_time
    assert not patient.out_of_time
    assert len(hurried.indices) == len(patient.indices) == 4


def test_large_matrices_are_judged_by_a_small_one():
    assert too_short(TimeLimit.of(1e-9), EIGEN_CORNER + 1)
    assert not too_short(TimeLimit.of(1e9), EIGEN_CORNER + 1)
    assert not too_short(NO_LIMIT, EIGEN_CORNER + 1)


def test_searches_of_others_get_what_is_left(monkeypatch):
    now, told = [0.0], {}
    monkeypatch.setattr("certselect.clock.now", lambda: now[0])

    def own(problem, found, rng, /, *, max_seconds=None):
        told["own"] = max_seconds
        found.indices.extend(problem.candidates[: problem.k].tolist())

    def reads(problem, found, rng, /):
        told["reads"] = (found.limit.left, found.out_of_time())
        found.indices.extend(problem.candidates[: problem.k].tolist())

    select(redundant(), Strategy("own", own, "has a limit of its own"), max_seconds=3.0)
    assert told["own"] == 3.0
    select(redundant(), Strategy("own", own, "has a limit of its own"), strategy_options={"max_seconds": 2.0})
    assert told["own"] == 2.0
    select(redundant(), Strategy("own", own, "has a limit of its own"))
    assert told["own"] is None
    select(redundant(), Strategy("reads", reads, "looks at the limit"), max_seconds=3.0)
    assert told["reads"] == (3.0, False)


@pytest.mark.parametrize("strategy", ["auto", "exact", "forward"])
def test_the_limit_is_no_option_of_a_strategy(strategy):
    with pytest.raises(InvalidInput, match="a setting of its own") as refused:
        select(redundant(), strategy, strategy_options={"max_seconds": 3})
    assert "max_seconds" in refused.value.remedy


@pytest.mark.parametrize("wrong", [0, -1, math.nan, math.inf, "3", True])
def test_limits_that_are_none(wrong):
    for strategy in ("auto", "forward", "exact"):
        with pytest.raises(InvalidInput, match="max_seconds"):
            select(redundant(), strategy, max_seconds=wrong)


def test_what_was_spent_before_counts(monkeypatch):
    monkeypatch.setattr("certselect.clock.now", lambda: 100.0)
    limit = TimeLimit.of(10.0, already=4.0)
    assert (limit.seconds, limit.left, limit.over) == (10.0, 6.0, False)
    assert limit.part(0.5).left == 3.0
    assert limit.part(0.5).seconds == 10.0
    assert TimeLimit.of(10.0, already=11.0).over
    assert TimeLimit.of(None, already=11.0) is NO_LIMIT is NO_LIMIT.part(0.1)
    assert NO_LIMIT.left == math.inf


def test_ctrl_c_behind_the_limit_begins_nothing(clock, monkeypatch):
    monkeypatch.setattr(conclude, "valued", _once_interrupted(conclude.valued))
    monkeypatch.setattr(certified, "relax", None)
    clock(0)
    answer = select(redundant(), "cobra", max_seconds=LIMIT)
    assert answer.status == "interrupted"
    assert math.isnan(answer.upper_bound)


def _once_interrupted(function):
    calls = []

    def interrupted(*args):
        calls.append(None)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return function(*args)

    return interrupted


@pytest.mark.parametrize("way", ["certify", "select", "exact"])
def test_the_plain_relaxation_stands_in_for_a_proof_that_was_cut_short(monkeypatch, way):
    """The proof has no time for more than the sums of rows; the better of both bounds is the answer's."""
    problem = redundant(n=30, k=4)
    greedy = select(problem, "forward", polish=True)
    plain = certify(problem, greedy)

    def poor(problem, found, *, max_seconds, **asked):
        prover = prover_for(problem, found.indices)
        prover._look_at_rows(prover.root)
        prover.interrupted()
        found.evidence, found.cut_short = Evidence(proved=prover.proved()), True

    monkeypatch.setattr(certified, "prove", poor)
    monkeypatch.setattr(exact_module, "prove", poor)
    if way == "certify":
        found = certify(problem, greedy, tight=True, max_seconds=1e6)
    elif way == "select":
        found = select(problem, "forward", polish=True, certify="tight", max_seconds=1e6)
    else:
        found = select(problem, "exact", max_seconds=1e6)
    assert found.out_of_time
    assert plain.upper_bound < poorly_bounded(problem, greedy)
    assert found.upper_bound == pytest.approx(plain.upper_bound, rel=1e-9)
    assert found.certificate is not None
    assert found.certificate.proof is None


def poorly_bounded(problem, selection):
    prover = prover_for(problem.units, problem.units.units_of(selection.indices))
    prover._look_at_rows(prover.root)
    return prover.root.bound


@pytest.mark.parametrize("strategy", ["forward", "exact", "cobra", "backward", "qpfs", "soss", "auto"])
def test_without_time_for_all_pairs_there_is_no_bound(monkeypatch, strategy):
    """Where counting alone would take longer, the answer is that of forward selection, in time, and says so."""
    if strategy in ("qpfs", "soss"):
        pytest.importorskip("clarabel")
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 3, (60, 12)), rng.integers(0, 2, 60)
    monkeypatch.setattr(conclude, "FEW", 5)
    monkeypatch.setattr(TermPairs, "seconds_for_matrix", lambda pairs: 30.0)
    free = information_terms(X, y, measure="plugin", correction="none")
    greedy = select(subset_problem(free, 4, criterion="jmi"), "forward")
    terms = information_terms(X, y, measure="plugin", correction="none")
    hurried = select(subset_problem(terms, 4, criterion="jmi"), strategy, certify=True, max_seconds=59.0)
    assert "interaction" not in terms.__dict__  # nobody asked for the matrix
    assert hurried.out_of_time
    assert math.isnan(hurried.gap)
    assert hurried.objective >= greedy.objective - 1e-12
    patient = select(
        subset_problem(information_terms(X, y, measure="plugin", correction="none"), 4, criterion="jmi"),
        strategy,
        certify=True,
        max_seconds=130.0,
    )
    assert not patient.out_of_time
    assert patient.gap < 1.0


def test_how_long_all_pairs_take_is_judged_by_some_rows():
    rng = np.random.default_rng(3)
    terms = information_terms(rng.integers(0, 3, (60, 12)), rng.integers(0, 2, 60), measure="plugin", correction="none")
    pairs = TermPairs(terms, "interaction")
    assert pairs.seconds_for_matrix() > 0.0
    assert pairs.matrix().shape == (12, 12)
    assert pairs.seconds_for_matrix() == 0.0
    assert SubsetProblem.from_matrix(np.eye(5), k=2).units.pairs.seconds_for_matrix() == 0.0
