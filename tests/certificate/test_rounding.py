"""Numbers of order one and sums rounded up, against exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certselect.certificate.rounding import largest, order_of, round_up
from certselect.relaxation import Status, solve

numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)


@given(st.floats(2.0**-1001, 1.7976931348623157e308))
def test_dividing_by_its_order_brings_a_number_to_order_one_and_back(number: float) -> None:
    scale = order_of(number)
    assert math.frexp(scale)[0] == 0.5
    assert 0.5 <= number / scale < 2.0
    assert Fraction(number / scale) * Fraction(scale) == Fraction(number)


@pytest.mark.parametrize("tiny", [0.0, 5e-324, 1e-310, 2.0**-1002])
def test_below_the_smallest_order_there_is_no_other(tiny: float) -> None:
    assert order_of(tiny) == 2.0**-1000
    assert 1.0 / order_of(tiny) == 2.0**1000


@given(st.lists(numbers, max_size=20))
def test_sums_are_rounded_up_and_no_further(terms: list[float]) -> None:
    total, exact = round_up(terms), sum(map(Fraction, terms))
    if total == math.inf:
        assert exact > Fraction(1.79e308) or math.isinf(sum(map(abs, terms)))
    else:
        assert Fraction(total) >= exact
        assert math.nextafter(total, -math.inf) == -math.inf or Fraction(math.nextafter(total, -math.inf)) < exact


@given(st.lists(numbers, max_size=20))
def test_the_largest_is_that_of_absolute_values(values: list[float]) -> None:
    assert largest(np.array(values)) == max(map(abs, values), default=0.0)


@pytest.mark.parametrize("size", [1e-305, 1.5e308])
def test_matrices_at_either_end_of_the_floats_are_relaxed(size: float) -> None:
    answer = solve(np.diag([size, size / 4, size / 8]), 1)
    assert answer.status is Status.SOLVED
    assert answer.dual_value == pytest.approx(size, rel=1e-4)
