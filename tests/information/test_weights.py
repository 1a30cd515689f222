"""Weights of samples: whole numbers are repeated rows float for float, others agree with a slow twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_corrections
from certselect.information.kernels.weights import whole_weights
from certselect.information.plugin import plugin_terms
from information.coded_by_hand import CORRECTIONS, KINDS, coded, counted, everything, rounded_alike, terms_of

FLOAT64 = np.dtype(np.float64)


def repeated(columns, target, weights):
    """The table with every row as often as its weight says."""
    rows = np.repeat(np.arange(len(target)), weights)
    return coded([[column[i] for i in rows] for column in columns], [target[i] for i in rows])


@st.composite
def weighted_tables(draw):
    """Columns with and without absent values, classes, and whole weights."""
    m, n = draw(st.integers(2, 25)), draw(st.integers(1, 4))
    level = st.integers(0, draw(st.sampled_from([1, 3, 30])))
    value = draw(st.sampled_from([level, st.none() | level]))
    columns = [draw(st.lists(value, min_size=m, max_size=m)) for _ in range(n)]
    target = draw(st.lists(st.integers(0, 2), min_size=m, max_size=m))
    weights = draw(st.lists(st.sampled_from([1, 2, 3, 11]), min_size=m, max_size=m))
    return columns, target, weights


@settings(max_examples=80, deadline=None)
@given(weighted_tables(), st.sampled_from(CORRECTIONS), st.booleans())
def test_whole_weights_are_repeated_rows_float_for_float(table, correction, compiled):
    columns, target, weights = table
    weighted = terms_of(coded(columns, target, weights=weights), correction, compiled=compiled)
    many = terms_of(repeated(columns, target, weights), correction, compiled=compiled)
    assert (everything(weighted) == everything(many)).all()
    assert weighted.n_samples == len(target)
    assert many.n_samples == sum(weights)


@settings(max_examples=40, deadline=None)
@given(weighted_tables(), st.sampled_from(["none", "miller_madow", "shrinkage", "chance"]), st.integers(0, 2**32 - 1))
def test_any_weights_agree_with_the_twin(table, correction, seed):
    columns, target, _ = table
    weights = np.random.default_rng(seed).random(len(target)) + 0.01
    weights *= len(target) / weights.sum()
    terms = terms_of(coded(columns, target, weights=weights), correction)
    relevance, redundancy, conditional = naive_corrections.terms(columns, target, weights.tolist(), correction)
    close = {"rtol": 1e-8, "atol": 1e-9}
    np.testing.assert_allclose(terms.relevance, relevance, **close)
    np.testing.assert_allclose(terms.redundancy, redundancy, **close)
    np.testing.assert_allclose(terms.conditional_redundancy, conditional, **close)
    np.testing.assert_allclose(terms.entropy, np.diag(redundancy), **close)


@pytest.mark.parametrize("correction", ["none", "miller_madow", "shrinkage", "chance"])
@pytest.mark.parametrize("many", [False, True])
def test_backends_threads_rows_and_order_agree_for_any_weights(correction, many):
    rng = np.random.default_rng(3)
    m, sizes = 300, [3, 5, 250, 2, 4, 90, 5, 5, 3, 2] if many else [3, 5, 2]
    columns, target = [rng.integers(0, size, m) for size in sizes], rng.integers(0, 4, m)
    weights = rng.gamma(0.5, size=m) + 1e-9
    table = coded([column.tolist() for column in columns], target, weights=weights)
    plain = terms_of(table, correction)
    for n_jobs in (1, 4):
        assert (everything(terms_of(table, correction, compiled=True, n_jobs=n_jobs)) == everything(plain)).all()
    order = rng.permutation(m)
    shuffled = coded([column[order].tolist() for column in columns], target[order], weights=weights[order])
    assert (everything(terms_of(shuffled, correction, compiled=True)) == everything(plain)).all()
    some = np.array([2, 0])
    compiled = terms_of(table, correction, compiled=True)
    narrow = terms_of(table, correction, compiled=True, dtype=np.float32)
    for kind in KINDS:
        whole = getattr(plain, kind)
        assert (whole == whole.T).all()
        assert (compiled.pairs.rows(kind, some) == whole[some]).all()
        assert rounded_alike(getattr(narrow, kind), whole, correction)


def test_weights_of_one_are_no_weights():
    rng = np.random.default_rng(0)
    columns, target = rng.integers(0, 5, (6, 80)).tolist(), rng.integers(0, 3, 80)
    for correction in CORRECTIONS:
        plain = terms_of(coded(columns, target), correction, compiled=True)
        assert (everything(terms_of(coded(columns, target, weights=[1] * 80), correction)) == everything(plain)).all()


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_heavy_weights_beyond_any_table_of_counts(correction):
    """Nine million samples in all: phi is computed, by both backends in the same way."""
    rng = np.random.default_rng(1)
    columns, target = rng.integers(0, 4, (3, 50)).tolist(), rng.integers(0, 2, 50)
    weights = rng.integers(1, 9, 50) * 40_000
    table = coded(columns, target, weights=weights)
    terms = terms_of(table, correction)
    assert len(counted(terms)._by_cells.logs.table) < weights.sum()
    assert (everything(terms_of(table, correction, compiled=True)) == everything(terms)).all()
    # Of so many samples Grassberger's correction is nothing, and its recursion would take the twin minutes.
    twin, atol = ("none", 1e-6) if correction == "grassberger" else (correction, 1e-12)
    relevance, redundancy, conditional = naive_corrections.terms(columns, target.tolist(), weights.tolist(), twin)
    np.testing.assert_allclose(terms.relevance, relevance, rtol=1e-10, atol=atol)
    np.testing.assert_allclose(terms.redundancy, redundancy, rtol=1e-10, atol=atol)
    np.testing.assert_allclose(terms.conditional_redundancy, conditional, rtol=1e-10, atol=atol)


def test_grassberger_refuses_weights_that_are_not_whole():
    with pytest.raises(ValueError, match=r"not whole numbers with correction='grassberger'.*'miller_madow'"):
        plugin_terms(
            coded([[0, 1, 1]], [0, 1, 0], weights=[0.5, 1, 1.5]), correction="grassberger", dtype=FLOAT64, n_jobs=1
        )


def test_weights_in_whole_numbers():
    whole, bits = whole_weights(np.array([1.0, 7.0, 2.0]))
    assert (whole.tolist(), bits) == ([1, 7, 2], 0)
    given_weights = np.array([0.25, 1.5, 1e-30, 1.0])
    fixed, bits = whole_weights(given_weights)
    assert fixed.min() == 1, "a light sample stays"
    assert int(fixed.sum()) < 2**53
    np.testing.assert_allclose(fixed[[0, 1, 3]] / 2.0**bits, given_weights[[0, 1, 3]], rtol=1e-15)
