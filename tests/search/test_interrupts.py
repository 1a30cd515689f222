"""Ctrl-C at every point of a run: the answer says so, is allowed, its bound holds, and nothing long is begun then."""

import heapq
import itertools
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import pressed as pressed_keys
from certselect import SubsetProblem, certify, information_terms, select, selection_path
from certselect.certificate import open_problem, replay
from certselect.search import certified, conclude, find_strategy
from certselect.search.strategies.exact import prover_for
from certselect.search.strategy import Strategy
from pressed import Pressed, spread

MOST_POINTS = 12
N, K = 9, 3
STRATEGIES = {
    "relevance": {},
    "forward": {},
    "backward": {},
    "floating": {},
    "exhaustive": {},
    "exact": {},
    "cobra": {"draws": 20},
    "annealing": {"steps": 40},
    "genetic": {"population": 4, "generations": 3},
    "soss": {"draws": 20},
    "qpfs": {},
}
WAYS = {
    "search": {},
    "polish": {"polish": True},
    "bound": {"certify": True},
    "proof": {"certify": "tight", "polish": True},
}
RULES = {"include": [2], "feature_groups": {"all_or_none": [[0, 1]], "at_most_one": [[3, 4]]}}


def matrix(seed=1):
    rng = np.random.default_rng(seed)
    half = 0.3 * rng.random((N, N))
    return np.diag(0.5 + rng.random(N)) - 0.5 * (half + half.T)


def problem_of(k=K, **constraints):
    return SubsetProblem.from_matrix(matrix(), k, **constraints)


def best_value(problem):
    """The largest value of an allowed subset, by trying all."""
    sizes = problem.allowed_sizes if problem.any_size else [problem.k]
    return max(
        problem.of_size(size).value(subset)
        for size in sizes
        for subset in itertools.combinations(range(N), size)
        if problem.constraints is None or problem.constraints.allows(np.array(subset))
    )


class Work:
    """What is begun that may take long, and how much of it after Ctrl-C."""

    def __init__(self, monkeypatch):
        self.begun, self.pressed, self.late = [], None, []
        for module, name in [(certified, "relax"), (certified, "prove"), (conclude, "polish_by_swaps")]:
            monkeypatch.setattr(module, name, self.watched(name, getattr(module, name)))
        # Watched, a strategy is still this package's own, which is believed its proof.
        monkeypatch.setattr(conclude, "is_built_in", lambda strategy: True)

    def watched(self, name, function):
        def watching(*arguments, **options):
            self.begun.append(name)
            if self.pressed is not None and self.pressed.where:
                self.late.append(name)
            return function(*arguments, **options)

        return watching

    def strategy(self, name):
        """The strategy, watched."""
        record = find_strategy(name)
        fields = {field: getattr(record, field) for field in ("summary", "in_order_of_choice", "nested", "warm_start")}
        watched = self.watched("search", record.run)
        watched.__wrapped__ = record.run  # for its options
        return Strategy(name, watched, **fields)

    def press(self, at):
        self.begun.clear()
        self.late.clear()
        self.pressed = Pressed(at)
        return self.pressed


@pytest.fixture
def work(monkeypatch):
    return Work(monkeypatch)


def at_every_point(work, run, most=MOST_POINTS):
    """(answer, where) of the run pressed at each point but those before the search began, where it may just end."""
    run()  # what is looked up once is not looked up again
    with work.press(0) as undisturbed:
        run()
    assert undisturbed.points
    for at in spread(undisturbed.points, most):
        try:
            with work.press(at) as pressed:
                answer = run()
        except KeyboardInterrupt:
            assert "search" not in work.begun, f"what was found is lost: {pressed.where}"
            continue
        assert pressed.where
        assert work.late == [], f"begun after Ctrl-C at {pressed.where}"
        yield answer, pressed.where


def check(selection, problem, best, where):
    assert selection.status == "interrupted", where
    assert len(set(selection.indices.tolist())) == selection.k, where
    assert problem.constraints is None or problem.constraints.allows(selection.indices), where
    assert selection.objective == pytest.approx(problem.of_size(selection.k).value(selection.indices)), where
    assert not selection.upper_bound < best - 1e-12, where
    assert math.isnan(selection.upper_bound) == (selection.statement == ""), where


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_select(work, strategy, way):
    options = {"strategy_options": STRATEGIES[strategy], "random_state": 0, **WAYS[way]}
    best = best_value(problem_of())
    points = at_every_point(work, lambda: select(problem_of(), work.strategy(strategy), **options))
    for selection, where in points:
        check(selection, problem_of(), best, where)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("strategy", ["forward", "cobra", "exact"])
@pytest.mark.parametrize("k", [5, None])
def test_select_under_constraints(work, strategy, way, k):
    limits = {**RULES, "costs": [1.0] * N, "budget": 4.5 if k is None else 7.0}
    options = {"strategy_options": STRATEGIES[strategy], "random_state": 0, **WAYS[way]}
    best = best_value(problem_of(k, **limits))
    points = at_every_point(work, lambda: select(problem_of(k, **limits), work.strategy(strategy), **options))
    for selection, where in points:
        check(selection, problem_of(k, **limits), best, where)


@pytest.mark.parametrize("k", [K, None])
@pytest.mark.parametrize("tight", [False, True])
def test_certify(work, tight, k):
    limits = {} if k else {"costs": [1.0] * N, "budget": 3.0}
    chosen = select(problem_of(k, **limits), "relevance")
    best = best_value(problem_of(k, **limits))
    work.begun.append("search")
    for selection, where in at_every_point(work, lambda: certify(problem_of(k, **limits), chosen, tight=tight)):
        check(selection, problem_of(k, **limits), best, where)
        assert selection.indices.tolist() == chosen.indices.tolist()
        assert k is None or selection.upper_bound < math.inf


def terms():
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 3, (40, N)), rng.integers(0, 2, 40)
    return information_terms(X, y, n_jobs=1, measure="plugin", correction="none")


SIZES = [2, 4, 4, 3, 6]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("strategy", ["relevance", "forward", "backward", "floating", "cobra", "exact", "qpfs"])
def test_path(work, strategy, way):
    options = {"strategy_options": STRATEGIES[strategy], "random_state": 0, **WAYS[way]}
    measured = terms()
    plain = {one.k: one for one in selection_path(measured, SIZES, "mrmr", strategy, **options)}
    points = at_every_point(work, lambda: selection_path(terms(), SIZES, "mrmr", work.strategy(strategy), **options))
    for path, where in points:
        assert path, where
        assert "interrupted" in {selection.status for selection in path}, where
        sizes = [selection.k for selection in path]
        assert sizes == [k for k in SIZES if k in sizes], where
        for selection in path:
            whole = plain[selection.k]
            assert len(set(selection.indices.tolist())) == selection.k, where
            if selection.status == "interrupted":
                assert not selection.upper_bound < whole.objective - 1e-12, where
            else:  # finished before Ctrl-C came
                assert selection.status == whole.status, where
                assert selection.indices.tolist() == whole.indices.tolist(), where
                np.testing.assert_equal(selection.upper_bound, whole.upper_bound)


def test_sizes_that_were_not_searched_are_left_out():
    """An interrupted ranking is no ranking: qpfs has none before its programme is solved."""

    def pressed(problem, candidates):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("certselect.search.strategies.qpfs.pair_terms", pressed)
        path = selection_path(terms(), [5, 2, 3], "mrmr", "qpfs")
    assert [(selection.k, selection.status) for selection in path] == [(2, "interrupted")]


def test_what_one_run_has_passed_is_there_without_the_bounds_still_to_come(work, monkeypatch):
    sizes = []

    def at_second(problem, **options):
        sizes.append(problem.k)
        if len(sizes) == 2:
            raise KeyboardInterrupt
        return real(problem, **options)

    real = certified.relax
    monkeypatch.setattr(certified, "relax", at_second)
    path = selection_path(terms(), [2, 3, 4, 5], "mrmr", "forward", certify=True)
    assert sizes == [2, 3]
    assert [selection.k for selection in path] == [2, 3, 4, 5]
    assert [selection.status for selection in path] == ["complete"] + ["interrupted"] * 3
    assert [math.isnan(selection.upper_bound) for selection in path] == [False, False, True, True]
    whole = selection_path(terms(), [2, 3, 4, 5], "mrmr", "forward")
    assert [one.indices.tolist() for one in path] == [one.indices.tolist() for one in whole]


@pytest.mark.parametrize("rules", [{}, RULES], ids=["plain", "rules"])
def test_a_proof_shows_its_bound_wherever_ctrl_c_comes(monkeypatch, rules):
    """Between any two lines of the prover, with rounds, decisions and cases: nothing is listed."""
    monkeypatch.setattr(open_problem, "MOST_LISTED", 1)
    monkeypatch.setattr(open_problem, "MOST_MASKED", 0)
    monkeypatch.setattr(pressed_keys, "BY_LINE", (*pressed_keys.BY_LINE, "search/prover.py"))
    problem = problem_of(4, **rules)
    best = best_value(problem)
    with Pressed(within="search/prover.py") as undisturbed:
        select(problem, "exact")
    shown = 0
    for at in spread(undisturbed.points, 80):
        with Pressed(at, within="search/prover.py") as pressed:
            answer = select(problem, "exact")
        certificate = answer.certificate
        if certificate is not None and certificate.proof is not None:
            replayed = replay(problem.reduced, certificate.known, certificate.proof)
            assert best <= replayed.bound <= certificate.bound * (1 + 1e-9), pressed.where
            shown += len(certificate.proof.steps) > 0
    assert shown > 20


def test_a_proof_by_trying_all_asks_for_no_bound_that_nobody_needs(monkeypatch):
    def at_once(problem, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(certified, "relax", at_once)
    selection = select(problem_of(), "exhaustive", certify=True)
    assert selection.status == "proven optimal"
    assert selection.statement.startswith("Proven optimal: no other 3 of the ")


def test_the_time_of_an_interrupted_stage_is_known(monkeypatch):
    def at_once(problem, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(certified, "relax", at_once)
    selection = select(problem_of(), "forward", polish=True, certify=True)
    assert set(selection.seconds) == {"search", "polish", "relaxation", "certificate"}


@pytest.mark.parametrize("at", range(1, 8))
def test_ctrl_c_around_the_first_round_of_a_proof_proves_nothing(at):
    """Before any bound there is none: "nothing open" and "nothing begun" are not the same."""
    Q = matrix()
    Q[0, 0] += 5.0
    problem = SubsetProblem.from_matrix(Q, K)
    poor = select(problem, "relevance")
    chosen = np.setdiff1d(np.arange(N), poor.indices)[:K]
    with Pressed(at, within="search/prover.py") as pressed:
        answer = certify(problem, replace(poor, indices=chosen, objective=problem.value(chosen)), tight=True)
    assert pressed.where
    assert answer.status == "interrupted"
    assert answer.upper_bound >= best_value(problem)
    assert answer.gap > 0.0


def test_no_case_of_a_proof_is_lost_between_being_taken_up_and_worked_on(monkeypatch):
    """The bound after Ctrl-C is that of all cases, the one just taken from the list among them."""
    problem = problem_of()
    prover = prover_for(problem.units, problem.units.units_of([0, 1, 2]))

    def press(cases):
        cases.pop(0)
        raise KeyboardInterrupt

    monkeypatch.setattr("certselect.search.prover.heapq", SimpleNamespace(heappop=press, heappush=heapq.heappush))
    with pytest.raises(KeyboardInterrupt):
        prover.run()
    prover.interrupted()
    assert prover.bound == math.inf
