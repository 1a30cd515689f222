"""One gap for certificates, relaxations and files."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certselect.certificate import gap


@pytest.mark.parametrize(
    ("value", "bound", "expected"),
    [
        (2.0, 3.0, 0.5),
        (-2.0, -1.0, 0.5),
        (2.0, 2.0, 0.0),
        (0.0, 0.0, 0.0),
        (0.0, -0.0, 0.0),
        (0.0, 1e-300, math.inf),
        (1.0, math.inf, math.inf),
    ],
)
def test_the_gap_is_relative_to_the_value(value: float, bound: float, expected: float) -> None:
    assert gap(value, bound) == expected


@pytest.mark.parametrize(("value", "bound"), [(math.nan, 1.0), (1.0, math.nan), (0.0, math.nan), (math.nan, 0.0)])
def test_what_is_unknown_stays_unknown(value: float, bound: float) -> None:
    assert math.isnan(gap(value, bound))


@given(value=st.floats(1e-9, 1e9) | st.floats(-1e9, -1e-9), above=st.floats(0.0, 1e9))
def test_the_gap_is_rounded_up(value: float, above: float) -> None:
    bound = value + above
    exact = (Fraction(bound) - Fraction(value)) / abs(Fraction(value))
    assert exact <= Fraction(gap(value, bound)) <= exact * (1 + Fraction(1, 2**52)) + Fraction(1, 2**1074)
