"""How far a reduced matrix is from the terms it stands for, against exact sums of these."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certselect.certificate.matrix_errors import errors_of_units, matrix_errors
from certselect.certificate.open_problem import OpenProblem
from certselect.criteria import SubsetProblem


def made(seed: int) -> SubsetProblem:
    """Groups, included columns or neither, entries of mixed sizes, in double or single precision."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    Q = rng.standard_normal((n, n)) * 10.0 ** rng.integers(-3, rng.choice([1, 12]), (n, n))
    Q = np.triu(Q) + np.triu(Q, 1).T
    if rng.random() < 0.3:
        Q = Q.astype(np.float32)
    order = rng.permutation(n).tolist()
    constraints = {}
    if rng.random() < 0.6:
        constraints["feature_groups"] = [order[:2]]
    if rng.random() < 0.6:
        constraints["include"] = order[2:3]
    return SubsetProblem.from_matrix(Q, 3, **constraints)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_no_value_is_further_off_than_is_said(seed: int, raised: bool) -> None:
    problem = made(seed)
    reduced = problem.reduced
    m, errors = len(reduced.matrix), matrix_errors(reduced)
    floor = float(np.median(np.minimum(reduced.matrix, 0.0))) if raised and m else -np.inf
    Q = np.maximum(reduced.matrix.astype(np.float64), floor)
    off = errors_of_units(errors, reduced.matrix.astype(np.float64), reduced.sizes, reduced.k, floor)
    for count in range(m + 1):
        for positions in combinations(range(m), count):
            if reduced.sizes[list(positions)].sum() != reduced.k:
                continue
            columns = problem.columns_of(positions)
            value = sum(map(Fraction, problem.terms(columns)), Fraction(0))
            told = Fraction(reduced.constant) + sum(
                (Fraction(float(Q[i, j])) for i in positions for j in positions), Fraction(0)
            )
            allowed = Fraction(errors.constant) + sum((Fraction(float(off[i])) for i in positions), Fraction(0))
            assert value <= told + allowed
            if not raised:
                assert told - allowed <= value


def test_columns_without_groups_are_exact() -> None:
    A = np.random.default_rng(0).standard_normal((6, 6))
    for Q in (A + A.T, (A + A.T).astype(np.float32)):
        errors = matrix_errors(SubsetProblem.from_matrix(Q, 3).reduced)
        assert errors.beside is None
        assert errors.constant == 0.0
        assert not errors.diagonal.any()


def test_what_is_in_takes_its_errors_along_and_what_is_out_does_not() -> None:
    Q = np.diag([1.0, 2.0, 3.0, 4.0])
    Q[0, 1] = Q[1, 0] = 1e20
    opened = OpenProblem.of(SubsetProblem.from_matrix(Q, 2).reduced)
    assert opened.lost == 0.0
    beside = opened.with_unit(0)  # the diagonal entry of unit 1 is 2e20 now, and rounded
    assert beside.lost > 1e3
    assert beside.without(np.array([True, False, False])).lost == pytest.approx(0.0, abs=1e-14)
