"""The Gaussian-copula estimator against a slow twin, closed forms, and itself on changed tables."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import naive_copula
from certselect.errors import InvalidInput
from certselect.information import gaussian_copula, measure_table
from certselect.information.gaussian_copula import copula_terms
from certselect.information.normal_scores import fixed_point, normal_scores
from certselect.progress import listening
from certselect.settings import Measuring
from certselect.table import Block, Table

KINDS = ("redundancy", "conditional_redundancy", "interaction")
FLOAT64 = np.dtype(np.float64)


def make_table(X, labels=None, numbers=None, weights=None):
    """A table as reading would make it: NaN is missing, labels and numbers are what the target has."""
    X = np.asarray(X)
    m, n = X.shape
    target = np.zeros(m, dtype=np.int32) if labels is None else np.asarray(labels, dtype=np.int32)
    numbers = np.empty((m, 0)) if numbers is None else np.asarray(numbers, dtype=np.float64).reshape(m, -1)
    floating = X.dtype.kind == "f"
    lacking = np.isnan(X) if floating and np.isnan(X).any() else None
    block = Block("number" if floating else "integer", np.arange(n), X, missing=lacking)
    names = tuple(f"x{j}" for j in range(n))
    classes = tuple(range(target.max() + 1))
    return Table((block,), names, target, classes, numbers, weights, "error" if lacking is None else "pairwise")


def terms_of(table, n_jobs=1, dtype=FLOAT64):
    return copula_terms(table, dtype=dtype, n_jobs=n_jobs)


def assert_same(one, other, places=None):
    """Float for float; `places` says where the features of `one` stand in `other`."""
    places = np.arange(one.n_features) if places is None else places
    assert (one.relevance == other.relevance[places]).all()
    assert (one.entropy == other.entropy[places]).all()
    assert one.target_entropy == other.target_entropy or math.isnan(one.target_entropy)
    for kind in KINDS:
        assert (one.pair_matrix(kind) == other.pair_matrix(kind)[np.ix_(places, places)]).all()


def as_lists(table):
    columns = [
        [None if math.isnan(value) else value for value in column]
        for column in table.blocks[0].values.T.astype(float).tolist()
    ]
    weights = None if table.weights is None else table.weights.tolist()
    return columns, table.target.tolist(), table.target_numbers.T.tolist(), weights


def assert_like_the_twin(table, atol):
    terms = terms_of(table)
    relevance, redundancy, rest = map(np.array, naive_copula.terms(*as_lists(table)))
    np.testing.assert_allclose(terms.relevance, relevance, rtol=0, atol=atol)
    np.testing.assert_allclose(terms.redundancy, redundancy, rtol=0, atol=atol)
    np.testing.assert_allclose(terms.interaction, redundancy - rest, rtol=0, atol=atol)
    np.testing.assert_allclose(terms.conditional_redundancy, np.maximum(rest, 0), rtol=0, atol=atol)
    np.testing.assert_allclose(terms.entropy, np.diag(redundancy), rtol=0, atol=atol)


def mixed_columns(seed, m, n=7):
    """Correlated numbers, among them a coarse one with ties, a copy, a mirrored one and a constant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n)) + rng.normal(size=(m, 1))
    X[:, 1] = np.round(X[:, 1])
    X[:, 3] = -np.exp(X[:, 2])
    X[:, 4] = X[:, 0]
    X[:, 5] = 7.0
    return X


def tables(m=60, seed=0):
    """One table of each kind of target, complete and unweighted."""
    rng = np.random.default_rng(seed)
    X = mixed_columns(seed, m)
    labels = np.concatenate([np.repeat([0, 1, 2], 5), rng.integers(0, 3, m - 15)])
    y = X[:, 0] + rng.normal(size=m)
    collinear = np.column_stack([y, np.round(rng.normal(size=m), 1), -(y**3)])
    return {
        "labels": make_table(X, labels),
        "number": make_table(X, None, y),
        "numbers": make_table(X, None, collinear),
        "labels and number": make_table(X, labels, y),
    }


TARGETS = list(tables())


def with_gaps(table, seed=1, share=0.2):
    X = np.array(table.blocks[0].values)
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return make_table(X, table.target, table.target_numbers)


def shuffled(table, seed=5):
    return table.rows(np.random.default_rng(seed).permutation(table.n_samples))


@pytest.mark.parametrize("target", TARGETS)
def test_terms_equal_the_twin(target):
    assert_like_the_twin(tables()[target], 1e-6)


@pytest.mark.parametrize("target", TARGETS)
def test_terms_of_pairs_that_miss_values_equal_the_twin(target):
    table = with_gaps(tables()[target])
    table.blocks[0].values[:, 5] = np.random.default_rng(3).random(table.n_samples)  # a constant column has no gaps
    assert_like_the_twin(make_table(table.blocks[0].values, table.target, table.target_numbers), 1e-6)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("gaps", [False, True])
def test_whole_weights_are_repeated_rows(target, gaps):
    table = with_gaps(tables()[target]) if gaps else tables()[target]
    weights = np.random.default_rng(2).integers(1, 5, table.n_samples)
    repeated = table.rows(np.repeat(np.arange(table.n_samples), weights))
    weighted = replace(table, weights=weights.astype(np.float64))
    assert_same(terms_of(weighted), terms_of(repeated))
    assert_same(terms_of(replace(table, weights=np.ones(table.n_samples))), terms_of(table))


@pytest.mark.parametrize("target", TARGETS)
def test_terms_with_fractional_weights_equal_the_twin(target):
    table = tables()[target]
    weights = np.random.default_rng(2).uniform(0.2, 3, table.n_samples)
    table = replace(table, weights=weights / weights.sum() * len(weights))
    assert_same(terms_of(table), terms_of(shuffled(table)))
    X = np.array(table.blocks[0].values)
    X[:, [1, 5]] = np.random.default_rng(3).normal(size=(len(X), 2))  # the twin counts repeated rows alone
    assert_like_the_twin(replace(make_table(X, table.target, table.target_numbers), weights=table.weights), 1e-5)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("gaps", [False, True])
def test_nothing_but_the_order_of_values_matters(target, gaps, monkeypatch):
    table = with_gaps(tables()[target]) if gaps else tables()[target]
    terms = terms_of(table)
    assert_same(terms_of(shuffled(table)), terms)
    X = np.array(table.blocks[0].values)
    stretched = np.column_stack([np.exp(X[:, :2]), X[:, 2:5] ** 3, 3 * X[:, 5:] + 1])
    assert_same(terms_of(make_table(stretched, table.target, table.target_numbers)), terms)
    renamed = np.array([2, 0, 1])[table.target] if table.target.any() else table.target
    assert_same(terms_of(make_table(X, renamed, table.target_numbers)), terms)
    places = np.random.default_rng(0).permutation(X.shape[1])
    assert_same(terms_of(make_table(X[:, places], table.target, table.target_numbers)), terms, places)
    # Small pieces, on three threads.
    monkeypatch.setattr(gaussian_copula, "_LARGEST_TILE", 2)
    monkeypatch.setattr(gaussian_copula, "_SMALLEST_TILE", 2)
    monkeypatch.setattr(gaussian_copula, "CELLS_AT_ONCE", 200)
    monkeypatch.setattr(gaussian_copula, "_RANKED_AT_ONCE", 100)
    assert_same(terms_of(table, n_jobs=3), terms)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("gaps", [False, True])
def test_rows_matrices_and_both_agree_and_are_symmetric(target, gaps):
    table = with_gaps(tables()[target]) if gaps else tables()[target]
    terms = terms_of(table)
    both = dict(zip(KINDS, terms.pairs.both(), strict=False))
    narrow = terms_of(table, dtype=np.dtype(np.float32))
    for kind in KINDS:
        matrix = terms.pairs.matrix(kind)
        assert (matrix == matrix.T).all()
        assert (terms.pairs.rows(kind, np.array([4, 0, 4])) == matrix[[4, 0, 4]]).all()
        assert (terms.pairs.rows(kind, np.arange(len(matrix))) == matrix).all()
        np.testing.assert_allclose(narrow.pairs.matrix(kind), matrix, rtol=0, atol=1e-6)
        assert kind not in both or (both[kind] == matrix).all()
    rest = terms.redundancy - terms.interaction
    np.testing.assert_allclose(terms.conditional_redundancy, np.maximum(rest, 0), rtol=0, atol=1e-15)
    assert (np.diag(terms.redundancy) == terms.entropy).all()
    assert (np.diag(terms.interaction) == terms.relevance).all()
    better = np.maximum(terms.relevance[:, None], terms.relevance)
    assert (terms.joint_relevance >= better - 1e-15).all()


def test_copies_mirrored_columns_and_constants():
    table = tables(200)["labels"]
    terms = terms_of(table)
    assert terms.redundancy[0, 4] == terms.redundancy[2, 3] == terms.entropy[0] == math.log(200)
    assert terms.constant.tolist() == [False] * 5 + [True, False]
    for kind in KINDS:
        assert (terms.pair_matrix(kind)[5] == 0).all()
        assert (terms.pair_matrix(kind)[0] == terms.pair_matrix(kind)[4]).all()
    assert terms.relevance[5] == terms.entropy[5] == 0
    assert terms.relevance[0] == terms.relevance[4]
    assert terms.target_entropy == pytest.approx(naive.entropy(table.target.tolist()), rel=1e-13)
    assert terms.levels.tolist() == [0, 5, 0, 0, 0, 1, 0]  # rounded normal numbers, and a constant, are counted
    assert terms.coding is None
    assert terms.n_samples == 200
    assert math.isnan(terms_of(tables()["number"]).target_entropy)


def test_a_target_among_the_features_leaves_nothing_to_share():
    table = tables()["number"]
    X = np.array(table.blocks[0].values)
    X[:, 6] = np.tanh(table.target_numbers[:, 0] / 10)
    terms = terms_of(make_table(X, None, table.target_numbers))
    assert terms.relevance[6] == pytest.approx(math.log(table.n_samples), rel=1e-14)
    ranked = terms.levels == 0
    np.testing.assert_allclose(terms.conditional_redundancy[6, ranked], 0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(terms.interaction[6, ranked], terms.redundancy[6, ranked], rtol=0, atol=1e-12)
    rest = math.log(table.n_samples) - terms.relevance[0]
    assert terms.conditional_redundancy[0, 0] == pytest.approx(rest, rel=1e-14)


@pytest.mark.parametrize("r", [0.0, 0.3, -0.8, 0.99])
def test_gaussian_closed_forms(r):
    """Of 4000 samples, monotonically distorted: within 4 standard errors (|r| / sqrt(N)) and 3 / N for what is bent."""
    m = 4000
    rng = np.random.default_rng(11)
    a, y = rng.normal(size=(2, m))
    b = r * a + math.sqrt(1 - r * r) * rng.normal(size=m)
    # Given y, the columns have the correlation r; without it they share y as well.
    X = np.column_stack([np.exp(a), b**3, np.exp(a + y), (b + y) ** 3])
    terms = terms_of(make_table(X, None, y))
    within = 4 * abs(r) / math.sqrt(m) + 3 / m
    assert terms.redundancy[0, 1] == pytest.approx(-math.log(1 - r * r) / 2, abs=within)
    together = (1 + r) / 2
    assert terms.redundancy[2, 3] == pytest.approx(-math.log(1 - together**2) / 2, abs=4 / math.sqrt(m))
    assert terms.conditional_redundancy[2, 3] == pytest.approx(-math.log(1 - r * r) / 2, abs=within)
    assert terms.relevance[2] == pytest.approx(math.log(2) / 2, abs=4 / math.sqrt(2 * m))


def test_independent_columns_share_nothing_on_average():
    """The correction takes away what chance adds: before clipping at 0, terms average 0, so half the sum stays."""
    rng = np.random.default_rng(4)
    terms = terms_of(make_table(rng.normal(size=(40, 150)), None, rng.normal(size=(40, 2))))
    pairs = np.triu_indices(150, 1)
    values = terms.redundancy[pairs]
    # r^2 of 40 samples averages 1/39; the uncorrected terms would average 0.0133 or more.
    assert values.mean() < 0.0075
    assert 0.25 < (values > 0).mean() < 0.4
    assert terms.conditional_redundancy[pairs].mean() < 0.0085


def test_missing_values_are_left_out_pair_by_pair():
    """With gaps in two columns alone, a pair's terms are those of a table of the rows both have, ranks kept."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(80, 3)) + rng.normal(size=(80, 1))
    X[:20, 0] = np.nan
    terms = terms_of(make_table(X, None, X[:, 2]))
    # Column 0 is ranked over its own 60 rows; so is the copy that has the same gaps.
    alone = terms_of(make_table(np.column_stack([X[20:, 0], X[20:, 0] ** 3])))
    assert terms.entropy[0] == alone.entropy[0] == math.log(60)
    twice = terms_of(make_table(X[:, [0, 0]]))
    assert (twice.redundancy == alone.redundancy).all()
    # Column 1 keeps the ranks it has among 80 rows.
    fixed = fixed_point(None, 80)
    scores = normal_scores(X.T, fixed, None).scores
    r = np.corrcoef(scores[0, 20:], scores[1, 20:])[0, 1]
    bias = (naive_copula.digamma(59 / 2) - naive_copula.digamma(58 / 2)) / 2
    assert terms.redundancy[0, 1] == pytest.approx(-math.log(1 - r * r) / 2 - bias, rel=1e-6)


def test_a_class_in_which_a_column_is_constant_says_how_rare_that_value_is():
    """ln 1/P(v) for the value v, and no more than the class is rare; a class of two rows says nothing."""
    rng = np.random.default_rng(0)
    labels = np.concatenate([np.repeat(np.arange(20), 100), [20, 20]])
    X = rng.normal(size=(2002, 3))
    X[labels < 3, 1] = 0.0  # 15 % of the rows, three classes of twenty
    X[labels == 3, 2] = 9.0  # all of one class
    X[labels == 20] = 50.0
    terms = terms_of(make_table(X, labels))
    assert (terms.levels == 0).all(), "ranked all the same"
    assert terms.relevance[0] < 0.01, "two rows are no evidence"
    for column, share in ((1, 0.15), (2, 0.05)):
        true = share * math.log(1 / share) + (1 - share) * math.log(1 / (1 - share))
        assert 0.6 * true < terms.relevance[column] < true, "as if only one class had this value, it would be more"
    both = terms_of(make_table((labels < 2)[:, None], labels < 2))
    assert both.relevance[0] == pytest.approx(both.target_entropy, abs=1 / 2002)


def test_tiny_tables():
    for m in (2, 3, 4, 5):
        X = np.arange(2.0 * m).reshape(m, 2) ** 2
        labels = np.arange(m) % 2
        for table in (make_table(X, labels), make_table(X, None, np.arange(m)), make_table(X, labels, np.arange(m))):
            terms = terms_of(table)
            assert (terms.entropy == (math.log(m) if m > 2 else 0)).all()
            for kind in KINDS:
                assert np.isfinite(terms.pair_matrix(kind)).all()
            assert (terms.relevance >= 0).all()


def test_one_column_no_common_rows_and_a_column_without_values():
    rng = np.random.default_rng(0)
    assert terms_of(make_table(rng.normal(size=(9, 1)), None, rng.normal(size=9))).redundancy.shape == (1, 1)
    X = rng.normal(size=(20, 4))
    X[:10, 0] = X[10:, 1] = X[:, 3] = np.nan
    terms = terms_of(make_table(X, np.arange(20) % 2, rng.normal(size=20)))
    for kind in KINDS:
        assert terms.pair_matrix(kind)[0, 1] == 0
        assert (terms.pair_matrix(kind)[3] == 0).all()
        assert np.isfinite(terms.pair_matrix(kind)).all()


def test_bools_and_integers_are_numbers_and_blocks_may_differ():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, (50, 2))
    flags = rng.random((50, 1)) < 0.5
    labels = rng.integers(0, 2, 50).astype(np.int32)
    blocks = (Block("integer", np.array([0, 2]), X), Block("integer", np.array([1]), flags))
    table = Table(blocks, ("a", "b", "c"), labels, (0, 1), np.empty((50, 0)))
    plain = np.column_stack([X[:, 0], flags[:, 0], X[:, 1]]).astype(float)
    assert_same(terms_of(table), terms_of(make_table(plain, labels)))


def test_categories_are_refused_by_name():
    codes = np.zeros((4, 2), dtype=np.int32)
    codes[0] = 1
    block = Block("category", np.arange(2), codes, (("a", "b"), ("c", "d")))
    table = Table((block,), ("colour", "shape"), np.array([0, 1, 0, 1], dtype=np.int32), (0, 1), np.empty((4, 0)))
    with pytest.raises(InvalidInput, match=r"categories in columns 'colour', 'shape'.*plugin.*neighbors"):
        measure_table(table, Measuring(measure="gaussian_copula"))


def test_long_work_is_reported():
    heard = []
    with listening(lambda stage, done, total: heard.append((stage, done, total))):
        _ = terms_of(make_table(np.random.default_rng(0).normal(size=(30, 200)), None, np.arange(30))).redundancy
    assert {stage for stage, _, _ in heard} == {"ranks", "relevance", "pairs"}
    assert heard[-1][1] == heard[-1][2] > 5


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_small_tables_with_ties_gaps_and_weights_equal_the_twin(data):
    # One number at most: two whose scores hang together but for the last digits are told apart by rounding alone.
    m, n, t = data.draw(st.integers(4, 14)), data.draw(st.integers(1, 3)), data.draw(st.integers(0, 1))
    value = st.integers(0, 5) if data.draw(st.booleans()) else st.one_of(st.none(), st.integers(0, 5))
    columns = [data.draw(st.lists(value, min_size=m, max_size=m)) for _ in range(n)]
    numbers = [data.draw(st.lists(st.integers(0, 8), min_size=m, max_size=m)) for _ in range(t)]
    weights = data.draw(st.one_of(st.none(), st.lists(st.integers(1, 3), min_size=m, max_size=m)))
    X = np.array([[np.nan if v is None else float(v) for v in column] for column in columns]).T
    table = make_table(X, None, np.array(numbers, dtype=float).reshape(t, m).T)
    table = replace(table, weights=None if weights is None else np.array(weights, dtype=float))
    assert_like_the_twin(table, 1e-5)


@pytest.mark.parametrize("m", [2, 3, 10, 1000, 100_000])
def test_sums_of_scores_are_exact(m):
    """As integers and as floats, in whichever order, and with weights of any size."""
    rng = np.random.default_rng(0)
    for weights in (None, rng.integers(1, 1000, m).astype(float), rng.uniform(0.01, 2, m)):
        fixed = fixed_point(weights, m)
        values = np.stack([rng.permutation(m), rng.permutation(m)]).astype(float)
        scores = normal_scores(values, fixed, fixed.weights).scores.astype(np.float64)
        heavy = np.ones(m) if fixed.weights is None else fixed.weights
        assert (np.rint(scores) == scores).all()
        assert (np.rint(heavy) == heavy).all()
        squares = [int(w) * int(z) ** 2 for w, z in zip(heavy.tolist(), scores[0].tolist(), strict=True)]
        assert sum(squares) < 2**53
        assert sum(squares) == (heavy * scores[0]) @ scores[0]
