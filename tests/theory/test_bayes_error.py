"""Bounds on the Bayes error from mutual information."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import theory.naive_theory as naive
from certselect.errors import InvalidInput
from certselect.theory import (
    bayes_error,
    entropy,
    fano_lower_bound,
    fano_weak_lower_bound,
    hellman_raviv_upper_bound,
    mutual_information,
)
from theory.made_tables import tables

LN2 = math.log(2)


def test_errors_of_the_papers_examples():
    # Example 1: 0.25 and 0.2; Example 2: 0.05 for X1.
    assert bayes_error([[0.25, 0.0], [0.25, 0.5]]) == pytest.approx(0.25)
    assert bayes_error([[0.35, 0.05], [0.15, 0.45]]) == pytest.approx(0.2)
    assert bayes_error([[0.05, 0.0], [0.05, 0.9]]) == pytest.approx(0.05)
    # For X2 of Example 2 the paper prints 0.18, the error of saying what X2 says; always saying 1 errs 0.1.
    assert bayes_error([[0.1, 0.18], [0.0, 0.72]]) == pytest.approx(0.1)


def test_bounds_by_hand():
    # A fair coin seen through a channel that flips it 11 times in 100: H(C|X) = h(0.11), Fano is exact.
    h = -0.11 * math.log(0.11) - 0.89 * math.log(0.89)
    assert fano_lower_bound(LN2 - h, LN2, 2) == pytest.approx(0.11)
    assert hellman_raviv_upper_bound(LN2 - h, LN2) == pytest.approx(h / LN2 / 2)
    assert fano_weak_lower_bound(LN2 - h, LN2, 2) == 0.0
    # Eight equal classes, one bit known: 2 bits are left. eq_3: Pe >= (2 - 1) / log2(7).
    assert fano_weak_lower_bound(LN2, 3 * LN2, 8) == pytest.approx(1 / math.log2(7))
    assert hellman_raviv_upper_bound(LN2, 3 * LN2) == pytest.approx(1.0)
    assert fano_lower_bound(0.0, 3 * LN2, 8) == pytest.approx(7 / 8)
    assert fano_lower_bound(0.0, 0.0, 1) == 0.0
    # Errors spread evenly over the other classes meet Fano's bound: here 0.3, over 4 classes.
    left = -0.7 * math.log(0.7) - 0.3 * math.log(0.1)
    assert fano_lower_bound(2 * LN2 - left, 2 * LN2, 4) == pytest.approx(0.3)


@settings(deadline=None, max_examples=200)
@given(tables(most_variables=4))
def test_the_bayes_error_lies_between_the_bounds(table):
    features = list(range(table.ndim - 1))
    information, uncertainty = mutual_information(table, features, -1), entropy(table, -1)
    error, classes = bayes_error(table), table.shape[-1]
    assert error == pytest.approx(naive.bayes_error(table), abs=1e-12)
    lower = fano_lower_bound(information, uncertainty, classes)
    assert fano_weak_lower_bound(information, uncertainty, classes) <= lower + 1e-9
    assert lower <= error + 1e-9
    assert error <= hellman_raviv_upper_bound(information, uncertainty) + 1e-9


@given(st.integers(2, 12), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_fanos_bound_falls_with_information(classes, one, other):
    whole = math.log(classes)
    less, more = sorted((one, other))
    assert fano_lower_bound(less * whole, whole, classes) >= fano_lower_bound(more * whole, whole, classes) - 1e-12


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fano_lower_bound(1.0, 0.5, 2), "I\\(X;C\\) <= H\\(C\\)"),
        (lambda: hellman_raviv_upper_bound(-0.1, 0.5), "I\\(X;C\\) <= H\\(C\\)"),
        (lambda: hellman_raviv_upper_bound(float("nan"), 0.5), "I\\(X;C\\) <= H\\(C\\)"),
        (lambda: fano_lower_bound(0.1, 1.0, 2), "bits times ln 2"),
        (lambda: fano_weak_lower_bound(0.0, 0.0, 0), "ln\\(n_classes\\)"),
    ],
)
def test_refusals_say_what_is_wrong(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()


def test_a_better_informed_feature_may_err_more_often():
    first, second = np.array([[0.25, 0.0], [0.25, 0.5]]), np.array([[0.35, 0.05], [0.15, 0.45]])
    assert mutual_information(first, 0, 1) > mutual_information(second, 0, 1)
    assert bayes_error(first) > bayes_error(second)
