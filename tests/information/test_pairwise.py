"""Missing values left out pair by pair: every term is that of the rows it has."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_corrections
from information.coded_by_hand import CORRECTIONS, KINDS, coded, everything, terms_of


def gappy(seed, m, sizes, n_classes, share):
    """Columns that lack a share of their values each, and a target."""
    rng = np.random.default_rng(seed)
    columns = []
    for size, missing in zip(sizes, share, strict=True):
        values, gone = rng.integers(0, size, m), rng.random(m) < missing
        columns.append([None if lost else int(value) for value, lost in zip(values, gone, strict=True)])
    return columns, rng.integers(0, n_classes, m)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_terms_equal_the_twin(data):
    m, n = data.draw(st.integers(1, 20)), data.draw(st.integers(1, 4))
    level = st.none() | st.integers(0, data.draw(st.sampled_from([1, 4, 30])))
    columns = [data.draw(st.lists(level, min_size=m, max_size=m)) for _ in range(n)]
    target = data.draw(st.lists(st.integers(0, 2), min_size=m, max_size=m))
    correction = data.draw(st.sampled_from(CORRECTIONS))
    terms = terms_of(coded(columns, target), correction, compiled=data.draw(st.booleans()))
    relevance, redundancy, conditional = naive_corrections.terms(columns, target, [1] * m, correction)
    close = {"rtol": 1e-10, "atol": 1e-12}
    np.testing.assert_allclose(terms.relevance, relevance, **close)
    np.testing.assert_allclose(terms.redundancy, redundancy, **close)
    np.testing.assert_allclose(terms.conditional_redundancy, conditional, **close)
    np.testing.assert_allclose(terms.entropy, np.diag(redundancy), **close)


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("weighted", [False, True])
def test_backends_threads_and_rows_agree(correction, weighted):
    sizes, share = [3, 200, 2, 5, 90, 4, 7, 3], [0.2, 0.1, 0, 0.5, 0, 0.9, 0.1, 1]
    columns, target = gappy(1, 250, sizes, 3, share)
    weights = np.random.default_rng(2).integers(1, 4, 250) if weighted else None
    table = coded(columns, target, weights=weights)
    plain = terms_of(table, correction)
    for n_jobs in (1, 4):
        assert (everything(terms_of(table, correction, compiled=True, n_jobs=n_jobs)) == everything(plain)).all()
    compiled = terms_of(table, correction, compiled=True)
    for kind in KINDS:
        whole = getattr(plain, kind)
        assert (whole == whole.T).all()
        assert (compiled.pairs.rows(kind, np.arange(8)) == whole).all()


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_complete_features_keep_the_terms_of_the_complete_table(correction):
    columns, target = gappy(4, 130, [3, 4, 5, 70], 2, [0, 0.3, 0, 0])
    complete = [0, 2, 3]
    expected = terms_of(coded([columns[i] for i in complete], target), correction, compiled=True)
    for compiled in (False, True):
        terms = terms_of(coded(columns, target), correction, compiled=compiled)
        assert (terms.relevance[complete] == expected.relevance).all()
        assert (terms.entropy[complete] == expected.entropy).all()
        assert terms.target_entropy == expected.target_entropy
        for kind in KINDS:
            assert (getattr(terms, kind)[np.ix_(complete, complete)] == getattr(expected, kind)).all()


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_a_pair_is_measured_on_its_rows_alone(correction):
    """The pair's terms are those of a table of the rows where both are there."""
    columns, target = gappy(9, 80, [4, 3, 6], 3, [0.3, 0.2, 0.4])
    terms = terms_of(coded(columns, target), correction)
    for i in range(3):
        for j in range(i):
            rows = [s for s in range(80) if columns[i][s] is not None and columns[j][s] is not None]
            alone = terms_of(coded([[columns[f][s] for s in rows] for f in (i, j)], target[rows]), correction)
            for kind in KINDS:
                # In other units of rounding, for the tables differ in size.
                assert getattr(terms, kind)[i, j] == pytest.approx(getattr(alone, kind)[0, 1], rel=1e-12, abs=1e-13)


def test_pairs_without_a_common_row_share_nothing():
    columns = [[0, 1, 0, None, None, None], [None, None, None, 1, 0, 1], [None] * 6, [0, 1, 1, 0, 1, 1]]
    for correction in CORRECTIONS:
        for compiled in (False, True):
            terms = terms_of(coded(columns, [0, 1] * 3), correction, compiled=compiled)
            assert np.isfinite(everything(terms)).all()
            assert terms.relevance[2] == terms.entropy[2] == 0
            for kind in KINDS:
                assert getattr(terms, kind)[0, 1] == 0
                assert (getattr(terms, kind)[2] == 0).all()


def test_no_absent_code_at_all_is_a_complete_table():
    columns, target = gappy(3, 40, [3, 4], 2, [0, 0])
    table = coded(columns, target)
    marked = dataclasses.replace(table, absent=np.full(2, -1, dtype=np.int64))
    assert (everything(terms_of(marked, "none")) == everything(terms_of(table, "none"))).all()
