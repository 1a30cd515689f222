"""Joint tables, entropies, mutual and interaction information."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

import theory.naive_theory as naive
from certselect.errors import InvalidInput
from certselect.theory import entropy, interaction_information, joint_table, mutual_information
from theory.made_tables import samples_of, tables

LN2 = math.log(2)
XOR = np.zeros((2, 2, 2))
XOR[0, 0, 0] = XOR[1, 1, 0] = XOR[0, 1, 1] = XOR[1, 0, 1] = 1


def test_entropy_by_hand():
    # H(1/2, 1/4, 1/4) = 1.5 bits; with a fair coin beside it 2.5.
    table = np.outer([2, 1, 1], [1, 1])
    assert entropy(table, 0) / LN2 == pytest.approx(1.5)
    assert entropy(table, [1]) / LN2 == pytest.approx(1.0)
    assert entropy(table) / LN2 == pytest.approx(2.5)
    assert entropy(table, []) == 0.0


def test_information_of_the_papers_examples_in_bits():
    # Example 1: 0.311 and 0.296 bits; Example 2: 0.186 and 0.206.
    for table, bits in (
        ([[0.25, 0.0], [0.25, 0.5]], 0.311),
        ([[0.35, 0.05], [0.15, 0.45]], 0.296),
        ([[0.05, 0.0], [0.05, 0.9]], 0.186),
        ([[0.1, 0.18], [0.0, 0.72]], 0.206),
    ):
        assert mutual_information(table, 0, -1) / LN2 == pytest.approx(bits, abs=5e-4)


def test_interaction_by_hand():
    copies = np.zeros((2, 2, 2, 2))
    copies[0, 0, 0, 0] = copies[1, 1, 1, 1] = 1
    assert interaction_information(XOR) / LN2 == pytest.approx(-1.0)  # I(X1;X2) - I(X1;X2|C) = 0 - 1 bit
    assert interaction_information(copies) / LN2 == pytest.approx(1.0)  # all four share one bit
    assert interaction_information(XOR, [0, 1], given=2) / LN2 == pytest.approx(1.0)
    # Four-way parity: nothing in any three, so I = -I(Y1;Y2;Y3|Y4) = -(0 - 1 bit).
    parity = np.zeros((2, 2, 2, 2))
    for place in np.ndindex(2, 2, 2, 2):
        parity[place] = sum(place) % 2 == 0
    assert interaction_information(parity) / LN2 == pytest.approx(1.0)


@settings(deadline=None, max_examples=40)
@given(tables())
def test_entropies_and_interactions_equal_their_twins(table):
    everything = list(range(table.ndim))
    assert entropy(table) == pytest.approx(naive.entropy(table, everything), abs=1e-12)
    assert mutual_information(table, everything[:-1], -1) == pytest.approx(
        naive.information(table, everything[:-1], [table.ndim - 1]), abs=1e-12
    )
    assert interaction_information(table) == pytest.approx(naive.interaction(table, everything), abs=1e-11)
    within = naive.conditional(lambda part: naive.interaction(part, everything[:-1]), table, [table.ndim - 1])
    assert interaction_information(table, given=-1) == pytest.approx(within, abs=1e-11)


@settings(deadline=None, max_examples=40)
@given(tables())
def test_interaction_does_not_depend_on_the_order_of_variables(table):
    axes = list(range(table.ndim))
    assert interaction_information(table, axes[::-1]) == pytest.approx(interaction_information(table, axes), abs=1e-12)


@settings(deadline=None, max_examples=30)
@given(tables())
def test_counting_columns_gives_the_table_back(table):
    X, y = samples_of(table)
    counted = joint_table(*X.T, y)
    used = [np.flatnonzero(table.sum(axis=tuple(j for j in range(table.ndim) if j != i))) for i in range(table.ndim)]
    np.testing.assert_array_equal(counted, table[np.ix_(*used)])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: joint_table(), "no column"),
        (lambda: joint_table([0, 1], [0]), "one length"),
        (lambda: joint_table([], []), "without samples"),
        (lambda: joint_table(*(np.arange(200) for _ in range(4))), "combinations of values"),
        (lambda: entropy([[1.0, -1.0]]), "0 or more"),
        (lambda: entropy([[0.0, 0.0]]), "a table of zeros"),
        (lambda: entropy([]), "an empty table"),
        (lambda: entropy([[1, 2]], 2), "different axes"),
        (lambda: mutual_information(XOR, [0, 1], 1), "different axes"),
        (lambda: interaction_information(XOR, []), "no variable"),
    ],
)
def test_refusals_say_what_is_wrong(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()
