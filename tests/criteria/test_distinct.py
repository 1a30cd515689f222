"""The criterion "distinct" against its slow twin, in all ways of counting, and what it is for."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_array

import naive_criteria
from certselect import information_terms, select, subset_problem
from certselect.evaluation.feature_report import feature_report
from information.coded_by_hand import coded, terms_of

EVERY = range(6)


def columns(seed=0, m=60, gaps=False):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, m)
    X = (rng.integers(0, 4, (m, 6)) + y[:, None] * (rng.random((m, 6)) < 0.4)) % 5
    X[:, 4] = rng.integers(0, 25, m)
    X[:, 5] = np.where(rng.random(m) < 0.9, X[:, 0], X[:, 5])
    lists = X.T.tolist()
    if gaps:
        lists = [[None if rng.random() < 0.2 else value for value in column] for column in lists]
    return lists, y.tolist(), rng.integers(1, 4, m).tolist()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("compiled", [False, True])
def test_values_equal_the_twin(weighted, gaps, compiled):
    X, y, weights = columns(gaps=gaps)
    weights = weights if weighted else None
    terms = terms_of(coded(X, y, weights=weights), "chance", compiled=compiled)
    twin = [naive_criteria.cautious_relevance(column, y, weights) for column in X]
    np.testing.assert_allclose(terms.cautious_relevance, twin, rtol=0, atol=1e-13)
    for k in (1, 2, 4):
        problem = subset_problem(terms, k, "distinct", copies="all")
        for subset in list(combinations(EVERY, k))[:6]:
            twin = naive_criteria.distinct_value([X[i] for i in subset], y, weights)
            assert problem.value(subset) == pytest.approx(twin, rel=0, abs=1e-12)


def test_rows_and_matrices_are_the_same_floats_and_bring_redundancies_along():
    X, y, _ = columns()
    rows, whole = (terms_of(coded(X, y), "chance") for _ in range(2))
    matrix = whole.overlap
    for i in EVERY:
        others = np.arange(6) != i
        assert (rows.pair_row("overlap", i) == matrix[i])[others].all()
        assert (rows.pair_row("doubled_overlap", i) == whole.pair_matrix("doubled_overlap")[i])[others].all()
        assert (rows.known_rows("redundancy")[i] == whole.redundancy[i]).all()


@pytest.mark.parametrize("correction", ["none", "chance"])
def test_sparse_tables_are_measured_like_dense_ones(correction):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, (80, 7)) * (rng.random((80, 7)) < 0.4)
    y = (X[:, 0] + rng.integers(0, 2, 80)) % 2
    dense, sparse = (information_terms(some, y, correction=correction) for some in (X, csc_array(X)))
    assert (dense.cautious_relevance == sparse.cautious_relevance).all()
    assert (dense.overlap == sparse.overlap).all()


def test_what_is_corrected_otherwise_has_no_allowance():
    X, y, _ = columns()
    terms = information_terms(np.transpose(X), y, correction="miller_madow")
    assert (terms.cautious_relevance == terms.relevance).all()
    assert (terms.allowance == 0.0).all()


def test_measured_as_counted_it_is_less_what_shuffled_targets_give():
    X, y, _ = columns(m=200)
    terms = information_terms(np.transpose(X), y)
    rng = np.random.default_rng(0)
    by_chance = [information_terms(np.transpose(X), rng.permutation(y)).relevance for _ in range(300)]
    mean, deviation = np.mean(by_chance, axis=0), np.std(by_chance, axis=0)
    np.testing.assert_allclose(terms.relevance - terms.cautious_relevance, mean + 2 * deviation, rtol=0.15)
    assert np.all(terms.allowance <= 2.0 * 1.6 * deviation)


def test_the_allowance_is_kept_without_the_table():
    X, y, _ = columns()
    terms = information_terms(np.transpose(X), y, correction="chance")
    kept = terms.keeping([0, 1], ["doubled_overlap"])
    assert (kept.cautious_relevance == terms.cautious_relevance).all()
    assert (kept.pair_row("doubled_overlap", 1) == terms.pair_row("doubled_overlap", 1)).all()


def test_it_leaves_near_duplicates_and_text_of_many_levels_and_keeps_interactions():
    rng = np.random.default_rng(5)
    m = 600
    a, b, c, d = rng.integers(0, 2, (4, m))
    y = (a ^ b) + 2 * ((c + (rng.random(m) < 0.2)) % 2)
    frame = pd.DataFrame({"a": a, "b": b, "c": c, "c again": np.where(rng.random(m) < 0.97, c, 1 - c), "d": d})
    for i in range(5):
        frame[f"text {i}"] = rng.integers(0, 100, m).astype(str)
    terms = information_terms(frame, y, correction="chance")
    best = select(subset_problem(terms, 3, "distinct"), "exact")
    assert [frame.columns[i] for i in sorted(best.indices)] == ["a", "b", "c"]
    assert (terms.cautious_relevance[5:] < 0.0).all()
    jmi = select(subset_problem(information_terms(frame, y), 3, "jmi"), "exact")
    assert any(frame.columns[i].startswith("text") for i in jmi.indices)


def test_the_worth_in_an_explanation_is_the_cautious_relevance_less_what_pairs_cost():
    X, y, _ = columns()
    terms = information_terms(np.transpose(X), y, correction="chance")
    best = select(subset_problem(terms, 3, "distinct"), "exact")
    worth = np.array(feature_report(best, terms)["worth"])[best.indices]
    pairs = terms.pair_matrix("doubled_overlap")[np.ix_(best.indices, best.indices)]
    np.fill_diagonal(pairs, 0.0)
    np.testing.assert_allclose(worth, terms.cautious_relevance[best.indices] - pairs.sum(axis=1) / 2, atol=1e-12)
    assert best.objective == pytest.approx(terms.cautious_relevance[best.indices].sum() - pairs.sum() / 4, abs=1e-12)
