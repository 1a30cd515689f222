"""All pairs of features are refused before they are counted where memory has no room for them."""

import math

import numpy as np
import pytest

from certselect import information_terms, memory, select, selection_path, subset_problem
from certselect.errors import InvalidInput
from certselect.search import list_strategies
from certselect.search.certified import certify

N = 2500


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, (30, N)).astype(np.int8), rng.integers(0, 2, 30)


@pytest.fixture
def small_machine(monkeypatch):
    monkeypatch.setattr(memory, "machine_bytes", lambda: 3.0 * N**2 * 8 - 1)


NEEDING = [name for name, record in list_strategies().items() if record.needs_all_pairs]
OTHERS = [name for name, record in list_strategies().items() if not record.needs_all_pairs]


def test_the_strategies_are_told_apart():
    assert {"cobra", "soss", "qpfs", "backward", "exact"} <= set(NEEDING)
    assert {"forward", "relevance"} <= set(OTHERS)


@pytest.mark.parametrize("strategy", NEEDING)
def test_searches_that_need_all_pairs_are_refused(table, small_machine, strategy):
    terms = information_terms(*table)
    with pytest.raises(InvalidInput, match=rf"all pairs of {N} features, 0\.14 GiB; .*strategy='forward'"):
        select(subset_problem(terms, 1), strategy)  # so few subsets that even "exhaustive" would try
    with pytest.raises(InvalidInput, match="all pairs"):
        selection_path(terms, [1, 2], strategy=strategy)
    assert not {"redundancy", "conditional_redundancy", "interaction"} & terms.__dict__.keys()


@pytest.mark.parametrize("strategy", OTHERS)
def test_the_others_go_on(table, small_machine, strategy):
    problem = subset_problem(information_terms(*table), 3)
    selection = select(problem, strategy)
    assert len(selection.indices) == 3
    for claim in (True, "tight"):
        with pytest.raises(InvalidInput, match="all pairs"):
            select(problem, strategy, certify=claim)
    with pytest.raises(InvalidInput, match="all pairs"):
        certify(problem, selection)


def test_a_sample_of_the_rows_has_room(table, small_machine):
    pytest.importorskip("clarabel")
    selection = select(subset_problem(information_terms(*table), 3), "qpfs", nystroem=20, random_state=0)
    assert len(selection.indices) == 3


def test_single_precision_takes_half_the_room(table, small_machine):
    subset_problem(information_terms(*table, dtype="float32"), 3).check_room_for_pairs()
    with pytest.raises(InvalidInput):
        subset_problem(information_terms(*table, dtype="float64"), 3).check_room_for_pairs()


def test_containers_count(tmp_path, monkeypatch):
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "_LIMITS", (str(limit), str(tmp_path / "none")))
    whole = memory.machine_bytes()
    assert whole > 2**20
    limit.write_text("max\n")
    assert memory.machine_bytes() == whole
    limit.write_text("1048576\n")
    assert memory.machine_bytes() == 2**20
    monkeypatch.delattr(memory.os, "sysconf")
    limit.unlink()
    assert memory.machine_bytes() == math.inf
