"""One gap for certificates, relaxations and files."""

import math

import pytest

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
