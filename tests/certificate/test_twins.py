"""Interchangeable units, against exchanging every two of them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from certificate.made_reduced import made_reduced
from certselect.certificate.open_problem import OpenProblem
from certselect.certificate.twins import first_copies, interchangeable, twins_of


def unchanged(problem: OpenProblem, i: int, j: int) -> bool:
    """Whether everything that is said about the units reads the same with the two exchanged."""
    order = np.arange(len(problem))
    order[[i, j]] = j, i
    said = [problem.sizes, problem.rival, *([] if problem.costs is None else [problem.costs])]
    same = np.array_equal(problem.matrix, problem.matrix[np.ix_(order, order)])
    return same and all(np.array_equal(values, values[order]) for values in said)


@settings(max_examples=300)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_twins_are_the_units_whose_exchange_changes_nothing(seed: int, twins: bool) -> None:
    problem = OpenProblem.of(made_reduced(seed, twins=twins))
    m = len(problem)
    expected = set()
    for j in range(m):
        same = [i for i in range(j) if unchanged(problem, i, j)]
        assert all(interchangeable(problem, i, j) == interchangeable(problem, j, i) == (i in same) for i in range(j))
        if same:
            expected.add((same[0], j))
    found = twins_of(problem)
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_zeros_of_both_signs_are_the_same_number() -> None:
    Q = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, -0.0], [0.0, -0.0, 2.0]])
    assert first_copies(Q).tolist() == [0, 0, 2]
