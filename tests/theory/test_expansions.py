"""Both expansions, their cuts, and the criteria that are such cuts."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings

import theory.naive_theory as naive
from certselect import information_terms, subset_problem
from certselect.errors import InvalidInput
from certselect.theory import (
    d1,
    d2,
    first_expansion,
    interaction_information,
    kirkwood_approximation,
    mifs_from_kirkwood,
    mutual_information,
    second_expansion,
    theorem_1_counter_example,
)
from theory.made_tables import random_table, samples_of, tables

LN2 = math.log(2)


def test_two_equal_features_and_a_third_by_hand():
    """X1 = X2 = first bit of the class, X3 its second bit: 2 bits in all."""
    table = np.zeros((2, 2, 2, 4))
    for c in range(4):
        table[c // 2, c // 2, c % 2, c] = 1
    # Relevances 1 + 1 + 1; I(X1;X2;C) = 1, the other pairs and the triple 0.
    assert [first_expansion(table, r) / LN2 for r in (1, 2, 3)] == pytest.approx([3, 2, 2])
    # Means of I(A;C): singles 1; pairs (1 + 2 + 2)/3; all 2.
    assert [second_expansion(table, r) / LN2 for r in (1, 2, 3)] == pytest.approx([1, 5 / 3, 2])
    assert d1(table) / LN2 == pytest.approx(2)
    assert d2(table) / LN2 == pytest.approx(2.5)  # 3 - 1/2
    assert mifs_from_kirkwood(table) / LN2 == pytest.approx(2)  # 3 - I(X1;X2)


@pytest.mark.parametrize("n_features", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(4))
def test_all_orders_together_are_the_mutual_information(n_features, seed):
    rng = np.random.default_rng(seed)
    table = random_table(rng, *rng.integers(2, 4, n_features + 1), empty=0.2 * seed)
    exact = naive.information(table, list(range(n_features)), [n_features])
    assert first_expansion(table, n_features) == pytest.approx(exact, abs=1e-10)
    assert second_expansion(table, n_features) == pytest.approx(exact, abs=1e-10)


@settings(deadline=None, max_examples=30)
@given(tables(most_variables=4))
def test_cuts_equal_their_twins(table):
    for order in range(1, table.ndim):
        assert first_expansion(table, order) == pytest.approx(naive.first_cut(table, order), abs=1e-10)
        assert second_expansion(table, order) == pytest.approx(naive.second_cut(table, order), abs=1e-10)


@settings(deadline=None, max_examples=60)
@given(tables())
def test_cuts_of_the_second_expansion_rise_to_the_mutual_information(table):
    n = table.ndim - 1
    cuts = [0.0, *(second_expansion(table, order) for order in range(1, n + 1))]
    assert all(after >= before - 1e-12 for before, after in pairwise(cuts))
    assert cuts[-1] == pytest.approx(mutual_information(table, range(n), -1), abs=1e-12)
    if n >= 2:
        assert d2(table) == pytest.approx(n / 2 * cuts[2], abs=1e-12)
        assert d1(table) == pytest.approx(first_expansion(table, 2), abs=1e-12)


@settings(deadline=None, max_examples=30)
@given(tables())
def test_cuts_are_the_criteria_of_the_search(table):
    X, y = samples_of(table)
    n = X.shape[1]
    # A search refuses constant targets and never chooses constant features.
    assume(all(len(set(column)) > 1 for column in [*X.T, y]))
    terms = information_terms(X, y, measure="plugin", correction="none")
    for criterion, value in (
        ("d1", d1(table)),
        ("d2", d2(table)),
        ("jmi", d2(table)),
        ("mifs", mifs_from_kirkwood(table)),
    ):
        assert subset_problem(terms, n, criterion).value(range(n)) == pytest.approx(value, abs=1e-10)


def test_d1_and_d2_are_the_criteria_on_five_features():
    table = random_table(np.random.default_rng(1), 2, 3, 2, 2, 3, 3)
    X, y = samples_of(table)
    terms = information_terms(X, y, measure="plugin", correction="none")
    assert subset_problem(terms, 5, "d1").value(range(5)) == pytest.approx(d1(table), abs=1e-10)
    assert subset_problem(terms, 5, "jmi").value(range(5)) == pytest.approx(d2(table), abs=1e-10)
    assert subset_problem(terms, 5, "mifs").value(range(5)) == pytest.approx(mifs_from_kirkwood(table), abs=1e-10)
    pair = interaction_information(table, [1, 3, 5])
    assert terms.interaction[1, 3] == pytest.approx(pair, abs=1e-10)


@settings(deadline=None, max_examples=40)
@given(tables(fewest_variables=1))
def test_kirkwood_equals_its_twin(table):
    found = kirkwood_approximation(table)
    assert found.shape == table.shape
    for place, value in naive.kirkwood(table).items():
        assert found[place] == pytest.approx(value, rel=1e-9, abs=1e-15)


def test_kirkwood_is_exact_for_pairs_and_for_independent_variables():
    rng = np.random.default_rng(0)
    pair = rng.random((3, 4))
    np.testing.assert_allclose(kirkwood_approximation(pair), pair / pair.sum(), rtol=1e-12)
    independent = np.einsum("i,j,k->ijk", [0.2, 0.8], [0.5, 0.1, 0.4], [0.3, 0.7])
    np.testing.assert_allclose(kirkwood_approximation(independent), independent, rtol=1e-12)
    copies = np.zeros((2, 2, 2))
    copies[0, 0, 0] = copies[1, 1, 1] = 1
    assert kirkwood_approximation(copies).sum() == pytest.approx(2.0)  # no distribution


def test_theorem_1_both_criteria_are_negative_where_information_is_zero():
    example = theorem_1_counter_example()
    assert example.table.sum() == 1.0
    assert example.mutual_information == pytest.approx(0.0, abs=1e-15)
    assert example.mrmr == pytest.approx(-LN2)
    assert example.mifs == pytest.approx(-LN2)
    X, y = samples_of((4 * example.table).astype(int))
    terms = information_terms(X, y, measure="plugin", correction="none")
    for criterion, value in (("mrmr", example.mrmr), ("mifs", example.mifs)):
        assert subset_problem(terms, 2, criterion, copies="all").value([0, 1]) == pytest.approx(value)
        assert subset_problem(terms, 2, criterion, copies="all").value([0]) == pytest.approx(
            0.0, abs=1e-15
        )  # not monotone


@pytest.mark.parametrize("order", [0, 3])
@pytest.mark.parametrize("expansion", [first_expansion, second_expansion])
def test_orders_there_are_not_are_refused(expansion, order):
    with pytest.raises(InvalidInput, match="1 to 2, the number of features"):
        expansion(np.ones((2, 2, 2)), order)


def test_a_table_without_a_class_is_refused():
    with pytest.raises(InvalidInput, match="one axis"):
        d1(np.ones(3))
