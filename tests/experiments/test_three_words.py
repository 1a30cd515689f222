"""Every triple is counted, and the best one is the best."""

import json
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from experiments import three_words


def told_right(columns, positive):
    """The larger class of every cell, cell by cell."""
    return sum(
        max(np.sum(positive[inside]), np.sum(~positive[inside]))
        for cell in product([False, True], repeat=columns.shape[1])
        for inside in [(columns == cell).all(axis=1)]
    )


@settings(deadline=None)  # the first example compiles
@given(
    occurs=arrays(bool, st.tuples(st.integers(2, 80), st.integers(3, 6))),
    seed=st.integers(0, 1000),
)
def test_the_best_triple_is_that_of_a_plain_count(occurs, seed):
    positive = np.random.default_rng(seed).random(len(occurs)) < 0.5
    plain = {triple: told_right(occurs[:, triple], positive) for triple in combinations(range(occurs.shape[1]), 3)}
    best = max(plain.values())
    right, triple = three_words.most_told_right(occurs, positive)
    assert right == best
    assert triple == min(triple for triple, value in plain.items() if value == best)


def test_two_processes_count_what_one_counts():
    rng = np.random.default_rng(2)
    occurs, positive = rng.random((70, 90)) < 0.3, rng.random(70) < 0.5
    assert three_words.most_told_right(occurs, positive, 2) == three_words.most_told_right(occurs, positive)


def test_the_result_names_columns_of_the_data_set(world, grid, made_up, monkeypatch):
    made_up.y[:] = made_up.y > 1
    three_words.run(grid, ["LNG"], 1)
    path = world / "results" / "every_grid" / "three_words.json"
    assert not path.exists()
    three_words.run(grid, ["DEX"], 1)
    (content,) = json.loads(path.read_text())
    occurs = np.nan_to_num(made_up.X) > 0
    assert content["right"] == told_right(occurs[:, content["words"]], made_up.y > 0)
    assert (content["rows"], content["finished"]) == (30, True)
    monkeypatch.setattr(three_words, "most_told_right", lambda *given: pytest.fail("counted again"))
    three_words.run(grid, ["DEX"], 1)
