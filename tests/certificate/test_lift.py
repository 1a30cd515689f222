"""Lifts: what is allowed, what is refused, and that no allowed subset exceeds a lifted bound."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certificate.made_lifts import made_lift
from certselect import SubsetProblem
from certselect.certificate import Lift, certificate_of, prove_reduced
from certselect.criteria.reduced import ReducedProblem
from certselect.errors import InvalidInput
from certselect.relaxation import relax
from relaxation.made_constraints import exact_value, made_problem
from relaxation.made_problems import redundancy_like

seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=250, deadline=None)
@given(seeds)
def test_no_allowed_subset_exceeds_the_bound_whatever_multipliers_and_lift(seed: int) -> None:
    problem, allowed = made_problem(seed)
    rng = np.random.default_rng(seed)
    lift = made_lift(rng, problem.reduced)
    size = float(np.abs(problem.matrix).max())
    d = rng.standard_normal(len(problem.reduced.matrix) + 1) * size * 10.0 ** rng.integers(-2, 3)
    if rng.random() < 0.3:
        d = relax(problem, max_iterations=3).multipliers
    best = max(allowed, key=lambda subset: exact_value(problem.matrix, subset))
    certificate = certificate_of(problem, best, d, lift)
    assert Fraction(certificate.bound) >= exact_value(problem.matrix, best)
    assert certificate.bound >= certificate.value == problem.value(best)
    assert certificate.lift is not None
    again = certificate_of(problem, best, d, certificate.lift)
    assert again.bound == certificate.bound


def test_only_allowed_subsets_are_certified() -> None:
    problem = SubsetProblem.from_matrix(
        redundancy_like(6, 2, 0),
        2,
        exclude=[5],
        feature_groups={"at_most_one": [[0, 1]]},
        costs=[1, 1, 1, 1, 9, 1],
        budget=3,
    )
    d = np.zeros(len(problem.reduced.matrix) + 1)
    assert certificate_of(problem, [0, 2], d).bound > 0.0
    for refused in ([0, 1], [2, 4], [2, 5], [0, 2, 3]):
        with pytest.raises(InvalidInput):
            certificate_of(problem, refused, d)


@pytest.fixture
def reduced() -> ReducedProblem:
    return SubsetProblem.from_matrix(
        redundancy_like(6, 3, 0), 3, feature_groups={"at_most_one": [[1, 4]]}, costs=np.full(6, 2.0), budget=10
    ).reduced


def pairs_with(entries: dict[tuple[int, int], float], size: int = 6) -> np.ndarray:
    pairs = np.zeros((size, size))
    for (i, j), value in entries.items():
        pairs[i, j] = value
    return pairs


@pytest.mark.parametrize(
    ("lift", "said"),
    [
        (Lift(pairs_with({(2, 3): -0.1, (3, 2): -0.1})), r"entry \(2, 3\)"),
        (Lift(pairs_with({(1, 3): -0.1, (3, 1): -0.1})), r"entry \(1, 3\)"),
        (Lift(pairs_with({(2, 3): 0.1})), "other side"),
        (Lift(pairs_with({(2, 2): 0.1})), "0 on the diagonal"),
        (Lift(pairs_with({(0, 1): np.nan, (1, 0): np.nan})), "finite"),
        (Lift(pairs_with({(1, 4): -np.inf, (4, 1): -np.inf})), "finite"),
        (Lift(np.zeros((5, 5))), "shape"),
        (Lift(np.zeros((6, 6), dtype=int)), "floats"),
        (Lift(price=-0.1), "price of -0.1"),
        (Lift(price=np.nan), "price of nan"),
        (Lift(price=np.inf), "price of inf"),
    ],
)
def test_lifts_that_prove_nothing_are_refused(reduced: ReducedProblem, lift: Lift, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        prove_reduced(reduced, np.zeros(7), lift)


def test_a_price_needs_a_budget() -> None:
    reduced = SubsetProblem.from_matrix(redundancy_like(6, 3, 0), 3).reduced
    with pytest.raises(InvalidInput, match="without a budget"):
        prove_reduced(reduced, np.zeros(7), Lift(price=1.0))


def test_rivals_may_be_lifted_either_way(reduced: ReducedProblem) -> None:
    for value in (-3.0, 3.0):
        lift = Lift(pairs_with({(1, 4): value, (4, 1): value}))
        assert np.isfinite(prove_reduced(reduced, np.zeros(7), lift).bound)


def test_what_overflows_is_refused(reduced: ReducedProblem) -> None:
    with pytest.raises(InvalidInput, match="finite"):
        prove_reduced(reduced, np.zeros(7), Lift(price=1.7e308))
    assert prove_reduced(reduced, np.zeros(7), Lift(price=8e307)).bound == np.inf
    problem = SubsetProblem.from_matrix(redundancy_like(6, 3, 0), 3)
    with pytest.raises(InvalidInput, match="finite"):
        certificate_of(problem, [0, 1, 2], np.zeros(7), Lift(pairs_with({(0, 1): 1e60, (1, 0): 1e60})))
