"""Every deterministic search against its slow twin, ties included."""

import numpy as np
import pytest

import naive_search
from certselect.search import select
from certselect.search.found import Found
from certselect.search.polish import polish
from certselect.search.strategies import exhaustive as exhaustive_file

CRITERIA = ["mrmr", "jmi", "mifs", "d1", "max_relevance"]
PROBLEMS = 120
every_kind = pytest.mark.parametrize(
    ("criterion", "tied"), [(name, tied) for name in CRITERIA for tied in (True, False)]
)


def problems(random_problem, criterion, tied, **options):
    rng = np.random.default_rng([CRITERIA.index(criterion), tied])
    return [random_problem(rng, criterion, tied=tied, **options) for _ in range(PROBLEMS)]


def assert_same_search(selection, twin, indices, scores):
    assert selection.indices.tolist() == indices
    assert selection.scores == pytest.approx([float(score) for score in scores], rel=1e-12, abs=1e-14)
    assert selection.objective == pytest.approx(float(twin.value(indices, twin.k)), rel=1e-12, abs=1e-14)
    assert selection.status == "complete"


@every_kind
@pytest.mark.parametrize("strategy", ["relevance", "forward", "backward", "floating"])
def test_sequential_search_equals_its_twin(random_problem, strategy, criterion, tied):
    for problem, twin in problems(random_problem, criterion, tied):
        indices, scores = getattr(naive_search, strategy)(twin)
        assert_same_search(select(problem, strategy), twin, indices, scores)


@every_kind
def test_exhaustive_finds_the_lexicographically_first_best_subset(random_problem, criterion, tied):
    for problem, twin in problems(random_problem, criterion, tied):
        indices, value = naive_search.exhaustive(twin)
        selection = select(problem, "exhaustive")
        assert selection.indices.tolist() == indices
        assert selection.objective == pytest.approx(float(value), rel=1e-12, abs=1e-14)
        assert selection.scores[-1] == pytest.approx(float(value), rel=1e-12, abs=1e-14)
        assert list(selection.scores) == sorted(selection.scores)
        assert selection.status == "proven optimal"
        assert 0.0 <= selection.upper_bound - selection.objective <= selection.tolerance


@pytest.mark.parametrize("at_once", [1, 2, 5, 64])
def test_exhaustive_by_small_blocks_is_the_same(random_problem, monkeypatch, at_once):
    monkeypatch.setattr(exhaustive_file, "SUBSETS_AT_ONCE", at_once)
    for problem, twin in problems(random_problem, "jmi", True):
        assert select(problem, "exhaustive").indices.tolist() == naive_search.exhaustive(twin)[0]


@every_kind
def test_polish_equals_its_twin_and_no_swap_is_left(random_problem, criterion, tied):
    rng = np.random.default_rng(7)
    for problem, twin in problems(random_problem, criterion, tied):
        start = rng.permutation(twin.candidates)[: twin.k].tolist()
        found = Found(list(start))
        polish(problem.units, found)
        indices, scores = naive_search.polish(twin, start)
        assert found.indices == indices
        assert found.scores == pytest.approx([float(score) for score in scores], rel=1e-12, abs=1e-14)
        ended = twin.value(indices, twin.k)
        assert ended >= twin.value(start, twin.k)
        for place in range(twin.k):
            for new in set(twin.candidates) - set(indices):
                assert twin.value([*indices[:place], new, *indices[place + 1 :]], twin.k) <= ended


@every_kind
@pytest.mark.parametrize("strategy", ["relevance", "forward", "backward", "floating"])
def test_polish_through_select_never_lowers_the_value(random_problem, strategy, criterion, tied):
    for problem, twin in problems(random_problem, criterion, tied):
        plain, polished = select(problem, strategy), select(problem, strategy, polish=True)
        assert twin.value(polished.indices.tolist(), twin.k) >= twin.value(plain.indices.tolist(), twin.k)
        assert polished.scores[: len(plain.scores)] == plain.scores
        if len(polished.scores) > len(plain.scores):
            assert polished.scores[-1] == pytest.approx(polished.objective, rel=1e-12, abs=1e-14)
        assert set(polished.seconds) == {"search", "polish"}


def test_floating_steps_back_somewhere(random_problem):
    """The twin test would prove little of the removals if none ever happened."""
    lengths = [
        len(select(problem, "floating").scores) - problem.k for problem, _ in problems(random_problem, "jmi", False)
    ]
    assert sum(extra > 0 for extra in lengths) >= 3


def test_polish_swaps_somewhere(random_problem):
    swaps = [
        len(select(problem, "relevance", polish=True).scores) - problem.k
        for problem, _ in problems(random_problem, "jmi", False)
    ]
    assert sum(count > 0 for count in swaps) >= 10
