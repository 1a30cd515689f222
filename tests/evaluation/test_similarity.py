"""Similarity ratios along a path and overlaps between two."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certselect import information_terms, selection_path
from certselect.errors import InvalidInput
from certselect.evaluation import path_overlaps, similarity_ratios


@pytest.fixture(scope="module")
def terms():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 150)
    return information_terms(
        rng.normal(size=(150, 15)) + y[:, None] * rng.random(15), y, measure="plugin", correction="none"
    )


def test_by_hand():
    path = [[3], [3, 5], [1, 3, 4], (0, 2, 6, 8), {0, 2, 3, 6, 8}]
    assert similarity_ratios(path).tolist() == [1.0, 0.5, 0.0, 1.0]
    assert path_overlaps([[3], [3, 5], [1, 3, 4]], [[3], [1, 2], [4, 3, 0]]).tolist() == [1.0, 0.0, 2 / 3]


@given(st.permutations(range(8)), st.permutations(range(8)), st.integers(1, 7))
def test_equals_counting(one, other, size):
    shared = sum(1 for feature in one[:size] if feature in other[: size + 1])
    assert similarity_ratios([one[:size], other[: size + 1]]).tolist() == [shared / size]
    shared = sum(1 for feature in one[:size] if feature in other[:size])
    assert path_overlaps([one[:size]], [other[:size]]).tolist() == [shared / size]


@pytest.mark.parametrize("strategy", ["forward", "backward", "relevance"])
def test_nested_searches_have_ratio_one(terms, strategy):
    path = selection_path(terms, range(1, 11), "mrmr", strategy)
    assert similarity_ratios(path).tolist() == [1.0] * 9
    assert path_overlaps(path, path).tolist() == [1.0] * 10


def test_selections_count_like_their_indices(terms):
    path = selection_path(terms, range(3, 9), "mrmr", "annealing", random_state=0, strategy_options={"steps": 200})
    forward = selection_path(terms, range(3, 9), "mrmr", "forward")
    indices = [selection.indices.tolist() for selection in path]
    assert similarity_ratios(path).tolist() == similarity_ratios(indices).tolist()
    assert path_overlaps(path, forward).tolist() == path_overlaps(indices, forward).tolist()


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ([], "path of 0"),
        ([[1]], "path of 1"),
        ([[1, 2], [1]], "ascending size"),
        ([[], [1]], r"path\[0\] = \[\]"),
        ([[1], [2, 2]], r"path\[1\]"),
    ],
)
def test_refusals_along_a_path(path, words):
    with pytest.raises(InvalidInput, match=words):
        similarity_ratios(path)


@pytest.mark.parametrize(("path", "other"), [([], []), ([[1]], [[1], [1, 2]]), ([[1], [1, 2]], [[1], [2]])])
def test_paths_of_different_sizes_are_refused(path, other):
    with pytest.raises(InvalidInput, match="same sizes in the same order"):
        path_overlaps(path, other)
