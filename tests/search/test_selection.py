"""What a Selection says in words is true to the number it stands for."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certselect.criteria import SubsetProblem
from certselect.search import Selection, select


def selection(gap, *, k=12, bound=1.0, **known):
    return Selection(np.arange(k), ("x",) * k, 0.5, (), "forward", "jmi", k, upper_bound=bound, gap=gap, **known)


@pytest.mark.parametrize(
    ("gap", "options", "said"),
    [
        (0.0002399, {}, "No 12 columns score more than 0.024 % above these."),
        (0.0002401, {}, "No 12 columns score more than 0.025 % above these."),
        (0.5, {}, "No 12 columns score more than 50 % above these."),
        (1.01e-6, {}, "No 12 columns score more than 0.00011 % above these."),
        (1e-6, {}, "No 12 columns score more than 0.0001 % above these."),
        (9.99e-9, {}, "No 12 columns score more than 0.0001 % above these."),
        (0.0, {}, "Proven optimal: no other 12 columns score higher."),
        (0.99e-9, {}, "Proven optimal to 1e-09 of the value: no other 12 columns score higher."),
        (1.01e-12, {}, "Proven optimal to 1.1e-12 of the value: no other 12 columns score higher."),
        (2.0**-52, {}, "Proven optimal to 2.3e-16 of the value: no other 12 columns score higher."),
        (2.0**-52, {"status": "proven optimal"}, "Proven optimal: no other 12 columns score higher."),
        (1.5, {}, "No 12 columns score more than 150 % above these."),
        (-1e-17, {}, "Proven optimal: no other 12 columns score higher."),
        (math.inf, {"bound": 0.25}, "No 12 columns score more than 0.25."),
        (math.nan, {}, ""),
        (0.0099, {"k": 1}, "No column scores more than 1 % above this one."),
        (
            0.0,
            {"k": 1, "constrained": True},
            "Proven optimal: no other column that respects the constraints scores higher.",
        ),
        (0.25, {"constrained": True}, "No 12 columns that respect the constraints score more than 25 % above these."),
        (
            0.25,
            {"constrained": True, "any_size": True},
            "No subset that respects the constraints scores more than 25 % above these.",
        ),
        (
            0.0,
            {"k": 1, "constrained": True, "any_size": True},
            "Proven optimal: no other subset that respects the constraints scores higher.",
        ),
    ],
)
def test_the_statement(gap, options, said):
    assert selection(gap, **options).statement == said


@given(gap=st.floats(1e-9, 1e3, exclude_min=True))
def test_the_percentage_is_never_rounded_down(gap):
    words = selection(gap).statement.split()
    percent = float(words[words.index("%") - 1])
    assert 100 * Fraction(gap) <= Fraction(words[words.index("%") - 1])
    assert percent <= 110.0001 * max(gap, 1e-6)


def test_nothing_is_stated_without_a_proof():
    problem = SubsetProblem.from_matrix(np.diag([3.0, 2.0, 1.0]), 2)
    assert select(problem, "forward").statement == ""
    assert select(problem, "exhaustive").statement == "Proven optimal: no other 2 of the 3 columns score higher."
    for name in ("proven_in", "proven_out", "ties"):
        assert getattr(select(problem, "forward"), name) == ()
