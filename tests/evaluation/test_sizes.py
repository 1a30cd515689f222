"""Choosing a size with no classifier: the curve and its elbow."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certselect import information_terms, select, subset_problem
from certselect.errors import InvalidInput
from certselect.evaluation.sizes import ValueCurve, find_elbow, value_curve


def made(rows=120, columns=8, told=3, seed=0):
    """Columns of which the first few say something of the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    X = rng.integers(0, 3, (rows, columns))
    for column in range(told):
        copied = rng.random(rows) < 0.5
        X[copied, column] = y[copied]
    return X, y


def curve_of(values, sizes=None):
    sizes = np.arange(1, len(values) + 1) if sizes is None else np.asarray(sizes)
    return ValueCurve(sizes, np.asarray(values, dtype=float), np.full(len(values), np.nan), ())


# ---- the curve ----


@pytest.mark.parametrize("strategy", ["forward", "cobra"])
def test_the_curve_is_what_select_finds_with_bounds_that_hold(strategy):
    terms = information_terms(*made(), measure="plugin", correction="none")
    curve = value_curve(terms, [5, 1, 3, 3], "mrmr", strategy, certify=True, random_state=0)
    assert curve.sizes.tolist() == [1, 3, 5]
    for size, value, bound, gap in zip(curve.sizes, curve.values, curve.upper_bounds, curve.gaps, strict=True):
        problem = subset_problem(terms, int(size), "mrmr")
        assert value <= select(problem, "exhaustive").objective + 1e-12 <= bound + 2e-12
        assert gap == pytest.approx((bound - value) / abs(value))
        if strategy == "forward":
            assert value == select(problem, "forward").objective


def test_without_certify_the_bounds_are_unknown_and_settings_are_passed_on():
    terms = information_terms(*made(), measure="plugin", correction="none")
    curve = value_curve(terms, range(1, 4), "mifs", "floating", beta=0.3, exclude=[0])
    assert np.isnan(curve.upper_bounds).all()
    assert np.isnan(curve.gaps).all()
    assert all(0 not in selection.indices for selection in curve.selections)
    with pytest.raises(InvalidInput, match="one size or more"):
        value_curve(terms, [])
    with pytest.raises(InvalidInput, match="one size or more"):
        value_curve(terms, 3)
    with pytest.raises(InvalidInput, match="one size or more"):
        value_curve(terms, [2, None])
    with pytest.raises(InvalidInput, match="whole number"):
        value_curve(terms, [2, "3"])
    with pytest.raises(InvalidInput, match="Did you mean 'certify'"):
        value_curve(terms, [2], certfy=True)


def test_settings_are_those_of_the_selectors():
    terms = information_terms(*made(), measure="plugin", correction="none")
    searched = value_curve(
        terms, np.array([4, 2]), "mrmr", "annealing", strategy_options={"steps": 50}, polish=True, random_state=1
    )
    assert searched.sizes.tolist() == [2, 4]
    for size, selection in zip(searched.sizes, searched.selections, strict=True):
        problem = subset_problem(terms, int(size), "mrmr")
        again = select(problem, "annealing", steps=50, polish=True, random_state=1)
        assert selection.indices.tolist() == again.indices.tolist()
    within = value_curve(terms, [1, 2], costs=[2, 1, 1, 1, 1, 1, 1, 1], budget=2)
    assert all(0 not in selection.indices for selection in within.selections[1:])
    # "auto" solves the relaxations of so few columns, and so proves bounds.
    assert np.isfinite(value_curve(terms, [1, 2]).upper_bounds).all()


# ---- the elbow ----


def test_the_elbow_by_hand():
    # The chord of 0, 3, 4, 4.5, 5 over 1..5 is 0, 1.25, 2.5, 3.75, 5: heights 0, 1.75, 1.5, 0.75, 0.
    elbow = find_elbow(curve_of([0, 3, 4, 4.5, 5]))
    assert (elbow.k, elbow.height, elbow.first, elbow.last) == (2, 1.75, 1, 5)
    assert (
        elbow.statement == "Elbow between 1 and 5 features: up to 2 a feature adds more than the average, beyond less."
    )
    # A curve that falls in the end: chord 1, 1.5, 2 over 1, 3, 5.
    assert find_elbow(curve_of([1, 4, 2], sizes=[1, 3, 5])).k == 3


@pytest.mark.parametrize("values", [[1, 2, 3, 4], [0, 0.1, 1, 3], [2, 2, 2], [0.1, 0.2, 0.30000000000000004]])
def test_straight_and_hollow_curves_have_no_elbow(values):
    elbow = find_elbow(curve_of(values))
    assert (elbow.k, elbow.height) == (None, 0.0)
    assert "No elbow between 1 and" in elbow.statement


def test_two_points_are_a_line():
    with pytest.raises(InvalidInput, match="a curve of 2 sizes"):
        find_elbow(curve_of([1, 2]))


@given(
    st.lists(st.integers(-20, 20), min_size=3, max_size=12),
    st.integers(1, 9),
    st.integers(-5, 5),
)
def test_scales_do_not_move_the_elbow(values, scale, shift):
    values = np.array(values, dtype=float)
    elbow = find_elbow(curve_of(values))
    stretched = find_elbow(curve_of(values * scale + shift, sizes=3 * np.arange(1, len(values) + 1)))
    assert stretched.k == (None if elbow.k is None else 3 * elbow.k)
    # Slow twin: the distance of every point from the line through the ends.
    first, last = np.array([1.0, values[0]]), np.array([len(values), values[-1]])
    along = last - first
    above = [
        (along[0] * (value - first[1]) - along[1] * (size - first[0])) / math.hypot(*along)
        for size, value in enumerate(values, start=1)
    ]
    if elbow.k is None:
        assert max(above) <= 1e-9
    else:
        assert above[elbow.k - 1] == pytest.approx(max(above), abs=1e-9)
        assert max(above[: elbow.k - 1]) < max(above)
