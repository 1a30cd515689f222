"""What a subset carries as a whole, against twins, with its bias and its chance level."""

import math

import numpy as np
import pytest
from scipy.sparse import csc_array

import naive_criteria
from certselect import choose_subset, information_terms, joint_information, subset_problem
from certselect.errors import InvalidInput
from certselect.theory import first_expansion, joint_table, mutual_information, second_expansion


def table(rows=120, columns=3, seed=4):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    return (rng.integers(0, 3, (rows, columns)) + y[:, None]) % 4, y


def lists(X):
    return [column.tolist() for column in X.T]


def test_all_columns_together_against_the_twin():
    X, y = table()
    found = joint_information(X, y)
    together = naive_criteria.together(*lists(X))
    assert found.plug_in == pytest.approx(naive_criteria.information(together, y.tolist()), rel=1e-12)
    assert found.target_entropy == pytest.approx(naive_criteria.entropy(y.tolist()), rel=1e-12)
    assert (found.n_combinations, found.n_samples) == (len(set(together)), len(y))
    cells = len(set(zip(together, y.tolist(), strict=True)))
    # Miller and Madow: half a count for every cell that occurs, in each of the three entropies.
    less = (cells - 1 - (len(set(together)) - 1) - (2 - 1)) / (2 * len(y))
    assert found.information == pytest.approx(max(0.0, found.plug_in - less), rel=1e-9)
    assert found.correction == "miller_madow"
    assert "carry about" in found.statement
    assert joint_information(X, X[:, 0]).information <= joint_information(X, X[:, 0]).target_entropy


def test_chance_is_what_shuffling_the_target_leaves():
    X, y = table(rows=60)
    rng = np.random.default_rng(0)
    found = joint_information(X, rng.permutation(y))
    shuffled = [joint_information(X, rng.permutation(y)).plug_in for _ in range(200)]
    assert found.chance == pytest.approx(np.mean(shuffled), rel=0.05)
    assert found.p_value > 0.001
    assert joint_information(X, X[:, 0]).p_value < 1e-3


def test_cmi_and_one_column_agree_with_it():
    X, y = table()
    terms = information_terms(X, y, measure="plugin", correction="none")
    assert joint_information(X[:, [1]], y).plug_in == terms.relevance[1]
    cmi = subset_problem(terms, 3, "cmi").value([2, 0, 1])
    assert joint_information(X, y).plug_in == pytest.approx(cmi, rel=1e-12)


def test_a_criterion_is_compared_with_what_it_stands_for():
    X, y = table(columns=6, rows=400)
    result = choose_subset(X, y, 3, criterion="jmi", order=3, measure="plugin", correction="none")
    together = joint_information(X[:, result.indices], y)
    # Of three features, the expansion over triples is 3/2 of all there is.
    assert result.selection.objective == pytest.approx(1.5 * together.plug_in, rel=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_order_three_is_the_theory(k):
    X, y = table(columns=4, rows=200)
    terms = information_terms(X, y, measure="plugin", correction="none")
    joint = joint_table(*X[:, :k].T, y)
    order = list(range(k))
    first = subset_problem(terms, k, "d1", order=3, copies="all").value(order)
    assert first == pytest.approx(first_expansion(joint, min(3, k)), rel=1e-10)
    second = subset_problem(terms, k, "jmi", order=3, copies="all").value(order)
    half = k / 2 if k > 1 else 1.0
    assert second == pytest.approx(half * second_expansion(joint, min(3, k)), rel=1e-10)
    if k <= 3:
        assert first == pytest.approx(mutual_information(joint, list(range(k)), -1), rel=1e-10)


def test_order_is_an_option_of_the_two_expansions():
    terms = information_terms(*table())
    assert subset_problem(terms, 2, "cife", order=3).criterion.name == "cife3"
    assert subset_problem(terms, 2, "jmi", order=2).criterion.name == "jmi"
    with pytest.raises(InvalidInput, match="order=3 with criterion='mrmr'; expected order with criterion='jmi' or"):
        subset_problem(terms, 2, "mrmr", order=3)
    with pytest.raises(InvalidInput, match="order=4"):
        subset_problem(terms, 2, "jmi", order=4)


def test_weights_gaps_and_sparse_columns():
    X, y = table()
    weights = np.random.default_rng(1).integers(1, 4, len(y))
    repeated = joint_information(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    weighted = joint_information(X, y, sample_weight=weights)
    assert weighted.plug_in == pytest.approx(repeated.plug_in, rel=1e-12)
    assert weighted.chance == pytest.approx(repeated.chance, rel=1e-9)
    assert joint_information(csc_array(X), y).plug_in == joint_information(X, y).plug_in
    holes = X.astype(float)
    holes[np.random.default_rng(2).random(X.shape) < 0.2] = np.nan
    kinds = dict.fromkeys(range(3), "levels")
    whole = ~np.isnan(holes).any(axis=1)
    there = joint_information(holes, y, missing="pairwise", kinds=kinds)
    assert there.n_samples == whole.sum()
    assert there.plug_in == pytest.approx(joint_information(X[whole], y[whole]).plug_in, rel=1e-12)
    assert joint_information(holes, y, missing="level", kinds=kinds).n_samples == len(y)
    for correction in ("grassberger", "shrinkage", "chance"):
        found = joint_information(X, y, correction=correction)
        assert found.correction == correction
        assert 0.0 <= found.information <= math.log(2) + 1e-12


def test_what_cannot_be_counted_is_refused():
    X, y = table()
    with pytest.raises(InvalidInput, match="measure='neighbors' for columns taken together"):
        joint_information(X, y, measure="neighbors")
    nowhere = X.astype(float)
    nowhere[::2, 0] = nowhere[1::2, 1] = np.nan
    with pytest.raises(InvalidInput, match="no row has values of all"):
        joint_information(nowhere, y, missing="pairwise", kinds=dict.fromkeys(range(3), "levels"))
