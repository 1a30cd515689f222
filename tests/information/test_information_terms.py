"""Properties the terms must have whatever the table, and what `information_terms` accepts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certselect import information_terms, subset_problem
from certselect.information import plugin
from naive import entropy

MATRICES = ("redundancy", "conditional_redundancy", "interaction", "joint_relevance")


@st.composite
def tables(draw):
    m, n = draw(st.integers(2, 40)), draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(0, draw(st.integers(1, 6)) + 1, (m, n))
    y = np.concatenate([[0, 1], rng.integers(0, draw(st.integers(2, 4)), m - 2)])
    return X, y


@settings(max_examples=60, deadline=None)
@given(tables())
def test_information_is_bounded_by_entropy(table):
    terms = information_terms(*table)
    assert (terms.relevance >= 0).all()
    assert (terms.relevance <= np.minimum(terms.entropy, terms.target_entropy) + 1e-15).all()
    for matrix in (terms.redundancy, terms.conditional_redundancy):
        assert (matrix >= 0).all()
        assert (matrix <= np.minimum.outer(terms.entropy, terms.entropy) + 1e-15).all()
        assert (matrix == matrix.T).all()
    np.testing.assert_allclose(np.diag(terms.redundancy), terms.entropy, atol=1e-15)
    np.testing.assert_allclose(np.diag(terms.interaction), terms.relevance, atol=1e-15)


@settings(max_examples=60, deadline=None)
@given(tables())
def test_the_chain_rule_holds(table):
    """I(Xi,Xj;C) of two columns taken as one equals relevance, relevance and interaction put together."""
    X, y = table
    terms = information_terms(X, y, measure="plugin", correction="none")
    i, j = 0, X.shape[1] - 1
    both = information_terms((X[:, [i]] * 100 + X[:, [j]]), y, kinds={0: "levels"}, measure="plugin", correction="none")
    assert both.relevance[0] == pytest.approx(terms.joint_relevance[i, j], rel=1e-12, abs=1e-14)


@settings(max_examples=60, deadline=None)
@given(tables(), st.randoms(use_true_random=False))
def test_relabelling_and_reordering_change_nothing(table, random):
    X, y = table
    terms = information_terms(X, y, measure="plugin", correction="none")
    rows = random.sample(range(len(y)), len(y))
    columns = random.sample(range(X.shape[1]), X.shape[1])
    names = random.sample(range(1000), int(X.max()) + 1)
    labels = random.sample(["a", "b", "c", "d"], 4)
    changed = information_terms(
        np.array(names)[X][rows][:, columns],
        [labels[c] for c in y[rows]],
        n_jobs=random.choice([1, 2, 3]),
        measure="plugin",
        correction="none",
    )
    assert (changed.relevance == terms.relevance[columns]).all()
    assert (changed.entropy == terms.entropy[columns]).all()
    assert changed.target_entropy == terms.target_entropy
    for name in MATRICES:
        assert (getattr(changed, name) == getattr(terms, name)[np.ix_(columns, columns)]).all()


@settings(max_examples=60, deadline=None)
@given(tables())
def test_jmi_is_the_sum_of_joint_relevances(table):
    terms = information_terms(*table)
    chosen = np.flatnonzero(~terms.constant)
    k = len(chosen)
    if k < 2:
        return
    value = subset_problem(terms, k, "jmi", copies="all").value(chosen)
    joint = terms.joint_relevance[np.ix_(chosen, chosen)]
    assert joint[np.triu_indices(k, 1)].sum() == pytest.approx((k - 1) * value, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_large_tables_do_not_depend_on_jobs_or_on_what_is_asked_first(n_jobs):
    rng = np.random.default_rng(5)
    X, y = rng.integers(0, 4, (3000, 120)), rng.integers(0, 3, 3000)
    reference = information_terms(X, y, n_jobs=1, measure="plugin", correction="none")
    terms = information_terms(X, y, n_jobs=n_jobs, measure="plugin", correction="none")
    rows = [terms.pair_row("interaction", i) for i in range(120)]
    assert (np.array(rows) == reference.interaction).all()
    assert (terms.conditional_redundancy == reference.conditional_redundancy).all()
    assert (terms.redundancy - terms.conditional_redundancy == terms.interaction).all()


def test_without_compiled_kernels_the_terms_are_the_same(monkeypatch):
    rng = np.random.default_rng(6)
    X, y = rng.integers(0, 5, (500, 30)), rng.integers(0, 2, 500)
    compiled = information_terms(X, y, measure="plugin", correction="none")
    compiled.pairs._cells = 10**9  # enough work to be worth the kernels
    matrices = {name: getattr(compiled, name) for name in MATRICES}
    assert compiled.pairs._compiled is not None
    monkeypatch.setattr(plugin, "_compiled_for", set())
    plugin._counted_plainly.clear()
    plain = information_terms(X, y, measure="plugin", correction="none")
    for name in MATRICES:
        assert (getattr(plain, name) == matrices[name]).all()
    assert plain.pairs._compiled is None


def test_a_row_is_counted_once_and_the_matrix_serves_it_afterwards():
    rng = np.random.default_rng(1)
    terms = information_terms(rng.integers(0, 3, (60, 5)), rng.integers(0, 2, 60), measure="plugin", correction="none")
    row = terms.pair_row("redundancy", 2)
    assert terms.pair_row("redundancy", 2) is row
    assert (terms.redundancy[2] == row).all()


def test_float32_halves_the_matrices_only():
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 3, (80, 6)), rng.integers(0, 2, 80)
    wide, narrow = (
        information_terms(X, y, measure="plugin", correction="none"),
        information_terms(X, y, dtype="float32", measure="plugin", correction="none"),
    )
    assert narrow.interaction.dtype == np.float32
    assert narrow.relevance.dtype == np.float64
    assert (narrow.interaction == wide.interaction.astype(np.float32)).all()
    assert (narrow.pair_row("redundancy", 1) == wide.redundancy[1].astype(np.float32)).all()
    with pytest.raises(ValueError, match="dtype=int64"):
        information_terms(X, y, dtype=int, measure="plugin", correction="none")


def test_names_entropies_and_constants():
    X = np.array([[0, 7, 1], [1, 7, 0], [0, 7, 0], [1, 7, 1]])
    terms = information_terms(
        X, ["u", "v", "u", "v"], feature_names=["same as y", "constant", "noise"], measure="plugin", correction="none"
    )
    assert terms.feature_names == ("same as y", "constant", "noise")
    assert terms.constant.tolist() == [False, True, False]
    assert terms.levels.tolist() == [2, 1, 2]
    assert terms.n_samples == 4
    assert terms.relevance[0] == pytest.approx(entropy(["u", "v", "u", "v"]))
    assert terms.relevance[1] == 0
    assert (terms.interaction[1] == 0).all()


def test_many_small_tables_get_the_compiled_kernels_once_that_is_worth_it(monkeypatch, tmp_path):
    rng = np.random.default_rng(8)
    X, y = rng.integers(0, 3, (60, 5)), rng.integers(0, 2, 60)
    monkeypatch.setattr(plugin, "_compiled_for", set())
    monkeypatch.setattr(
        plugin, "_MANY_PLAIN_CELLS", 2000
    )  # one table with its pairs is 60 x 5 x 6, so the second passes it
    monkeypatch.setattr(plugin, "_KERNELS", tmp_path)
    plugin._counted_plainly.clear()

    def compiled():
        terms = information_terms(X, y, measure="plugin", correction="none")
        assert terms.redundancy.shape == (5, 5)
        return terms.pairs._compiled is not None

    assert [compiled() for _ in range(3)] == [False, False, False]  # nothing is on the disk
    (tmp_path / "bits.count_groups-1.py311.nbi").touch()
    plugin._counted_plainly.clear()
    assert [compiled() for _ in range(4)] == [False, True, True, True]


def test_a_small_table_of_another_kind_does_not_wait_for_the_compiler(monkeypatch):
    rng = np.random.default_rng(7)
    X, y = rng.integers(0, 3, (60, 5)), rng.integers(0, 2, 60)
    monkeypatch.setattr(plugin, "_compiled_for", set())
    plugin._counted_plainly.clear()
    kinds = [
        information_terms(X, y, measure="plugin", correction="none"),
        information_terms(X, y, dtype="float32", measure="plugin", correction="none"),
        information_terms(X * 99, y, measure="plugin", correction="none"),
    ]
    plugin._compiled_for.add(kinds[0].pairs._needs())
    for terms, compiled in zip(kinds, (True, False, True), strict=True):
        assert terms.interaction.shape == (5, 5)
        assert (terms.pairs._compiled is not None) == compiled
    wide = information_terms(rng.integers(0, 10**6, (60, 5)), y, measure="plugin", correction="none")
    assert wide.interaction.shape == (5, 5)
    assert (wide.pairs._compiled is not None) == (wide.levels.max() <= 64 and wide.pairs._table.codes.dtype == np.uint8)
