"""Ties: what equals the largest value counts as the largest, and the lowest index comes first."""

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certselect.search.ties import TIE, descending, first_best, last_best, tie_width


def naive_descending(values, width):
    """Again and again, the lowest index among those within the width of the largest left."""
    left, order = list(range(len(values))), []
    while left:
        largest = max(values[i] for i in left)
        first = min(i for i in left if values[i] >= largest - width(largest))
        order.append(first)
        left.remove(first)
    return order


# Steps of a third of a width and of several: chains of neighbours that equal each other, whose ends do not.
near_ties = st.lists(st.integers(-12, 12).map(lambda steps: 1.0 + steps * TIE / 3), max_size=14)
any_values = st.lists(st.floats(-1e6, 1e6), max_size=14)


@given(values=near_ties | any_values | st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.0]), max_size=14))
def test_descending_takes_the_first_of_equals_again_and_again(values):
    for width in (partial(tie_width, scale=1.0), partial(tie_width, scale=0.0), lambda largest: 0.3, lambda largest: 0):
        assert list(descending(np.array(values), width)) == naive_descending(values, width)


def test_chains_of_ties_occur():
    """The twin would prove little if equal neighbours never had ends that differ."""
    width = partial(tie_width, scale=1.0)
    values = 1.0 - np.array([2, 1, 0]) * 0.75 * TIE
    assert list(descending(values, width)) == [1, 2, 0]
    assert list(descending(values[::-1], width)) == [0, 1, 2]
    assert list(descending(values, lambda largest: 2.0)) == [0, 1, 2]


def test_descending_looks_no_further_than_asked():
    """The first of ten thousand values, without comparing them all in Python."""
    asked = []

    def width(largest):
        asked.append(largest)
        return 0.0

    values = np.random.default_rng(0).permutation(10_000).astype(float)
    assert list(itertools.islice(descending(values, width), 3)) == np.argsort(-values)[:3].tolist()
    assert len(asked) < 10


def test_sorting_with_ties_is_taking_the_first_best_again_and_again():
    rng = np.random.default_rng(12)
    for _ in range(200):
        values = rng.integers(-2, 3, int(rng.integers(0, 9))) / 3 * (1 + 1e-15 * rng.integers(-3, 4))
        values = values + 1e-16 * rng.integers(-3, 4, len(values))
        left, expected = values.copy(), []
        while len(expected) < len(values):
            expected.append(first_best(left, 1.0))
            left[expected[-1]] = -np.inf
        assert list(descending(values, partial(tie_width, scale=1.0))) == expected


@pytest.mark.parametrize(("values", "first", "last"), [([1, 3, 2], 1, 1), ([3, 1, 3], 0, 2), ([3 - 1e-13, 3, 0], 0, 1)])
def test_first_and_last_of_the_best(values, first, last):
    assert first_best(np.array(values, dtype=float), 1.0) == first
    assert last_best(np.array(values, dtype=float), 1.0) == last
