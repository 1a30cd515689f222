"""Information by chance: against all orders of tiny tables, scikit-learn, and decimals of many digits."""

from decimal import Decimal, localcontext
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array
from sklearn.metrics.cluster._expected_mutual_info_fast import expected_mutual_information

import naive_corrections
from certselect import information_terms
from certselect.information.kernels import chance_cells, chance_tables
from certselect.information.kernels.chance_cells import expected_cells
from certselect.information.plugin import plugin_terms
from information.coded_by_hand import coded, everything, terms_of


def cell(a, b, total):
    """What one cell is expected to add."""
    return float(expected_cells(np.array([a]), np.array([b]), np.array([total]))[0])


def cell_by_decimals(a, b, total):
    """The same with forty digits, by the ratios of neighbouring probabilities."""
    with localcontext() as context:
        context.prec = 40
        mode = (a + 1) * (b + 1) // (total + 2)
        weights = {mode: Decimal(1)}
        for step in (1, -1):
            n, weight = mode, Decimal(1)
            while weight > Decimal("1e-30"):
                weights[n] = weight
                if step == 1:
                    weight = weight * (a - n) * (b - n) / ((n + 1) * (total - a - b + n + 1))
                else:
                    weight = weight * n * (total - a - b + n) / ((a - n + 1) * (b - n + 1))
                n += step
        mean = Decimal(a) * b / total
        added = sum(weight * n * (n / mean).ln() for n, weight in weights.items() if n)
        return float(added / sum(weights.values()))


@pytest.mark.parametrize("rows", [["a", "a", "b", "c", "c"], [0, 0, 0, 1, 1, 1], [0, 1, 2, 3], [1, 1, 1, 1, 0, 2]])
@pytest.mark.parametrize("classes", [2, 3])
def test_it_is_the_mean_over_all_orders_of_the_target(rows, classes):
    target = [i % classes for i in range(len(rows))]
    everyone = [1] * len(rows)
    told = [naive_corrections.information(rows, order, everyone, everyone, "none") for order in permutations(target)]
    terms = information_terms([[value] for value in rows], target, measure="plugin", correction="none")
    assert terms.chance[0] == pytest.approx(np.mean(told), rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=8), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_it_is_that_of_scikit_learn(counts, n_classes, seed):
    column = np.repeat(np.arange(len(counts)), counts)
    target = np.random.default_rng(seed).integers(0, n_classes, len(column))
    table = np.zeros((len(counts), n_classes), dtype=np.int64)
    np.add.at(table, (column, target), 1)
    theirs = expected_mutual_information(table[:, table.any(axis=0)], len(column))
    found = terms_of(coded([column.tolist()], np.unique(target, return_inverse=True)[1]), "none").chance[0]
    assert found == pytest.approx(theirs, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("a", "b", "total"),
    [
        *((1, 1, 1), (1, 1, 2), (200, 1000, 2000), (900, 1999, 2000), (1100, 1500, 2000), (3, 10, 10**6)),
        *((20, 700, 10**6), (1000, 500, 10**6), (16_000, 17_000, 10**6), (200_000, 3, 10**6), (30_000, 9_000, 10**6)),
    ],
)
def test_cells_have_ten_digits_whatever_their_size(a, b, total):
    assert cell(a, b, total) == pytest.approx(cell_by_decimals(a, b, total), rel=1e-10)
    assert cell(a, b, total) == cell(b, a, total)


@pytest.mark.parametrize("fewest", chance_cells._FEWEST)
@pytest.mark.parametrize("share", [0.001, 0.2, 0.5, 0.9])
def test_moments_are_enough_for_large_means(fewest, share):
    """A little above each number from which so many moments are used, cells are as by their sum."""
    mean = max(1.02 * fewest * (1 - share) ** 2, 0.26 * fewest)
    total = int(np.ceil(mean / share**2))
    a = int(np.ceil(share * total))
    if mean > 3000 and share > 0.001:
        return  # the sum itself has no more digits
    assert cell(a, a, total) == pytest.approx(cell_by_decimals(a, a, total), rel=4e-12)


def test_sums_of_different_lengths_miss_nothing(monkeypatch):
    rng = np.random.default_rng(8)
    totals = rng.integers(1, 600, 300)
    a, b = (np.ceil(totals * rng.random(300) ** power).astype(np.int64) for power in (1, 3))
    found = expected_cells(a, b, totals)
    monkeypatch.setattr(chance_cells, "_FEWEST", (np.inf,))
    np.testing.assert_allclose(found, expected_cells(a, b, totals), rtol=1e-9, atol=1e-11)
    exact = [cell_by_decimals(*map(int, one)) for one in zip(a, b, totals, strict=True)]
    np.testing.assert_allclose(found, exact, rtol=1e-10, atol=1e-13)


def test_no_cell_depends_on_which_others_are_asked_for():
    rng = np.random.default_rng(4)
    totals = rng.integers(1, 3000, 400)
    a, b = (rng.integers(1, totals + 1) for _ in range(2))
    together = expected_cells(a, b, totals)
    assert together.tolist() == [cell(*one) for one in zip(a, b, totals, strict=True)]


def test_no_count_is_too_large():
    """Ten to the fifteen samples: the first term of the series is all there is, and nothing overflows."""
    total = 10**15
    a = np.array([1, total // 3, total - 1, total])
    assert expected_cells(a, a, np.full(4, total))[1] == pytest.approx((1 - 1 / 3) ** 2 / 2, rel=1e-9)
    assert np.isfinite(expected_cells(a, a[::-1], np.full(4, total))).all()
    assert expected_cells(a, a, np.full(4, total))[3] == 0


def test_sparse_tables_have_the_chance_of_dense_ones():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 4, (60, 12)) * (rng.random((60, 12)) < 0.3)
    X[:, 3] = 2  # constant, and nowhere 0
    y = rng.integers(0, 3, 60)
    weights = rng.integers(1, 4, 60)
    for given_weights in (None, weights):
        for correction in ("none", "chance"):
            found = [
                information_terms(table, y, correction=correction, sample_weight=given_weights, measure="plugin")
                for table in (X, csc_array(X))
            ]
            assert (everything(found[0]) == everything(found[1])).all()
            assert (found[0].chance == found[1].chance).all()
            assert (found[0].chance_p_values == found[1].chance_p_values).all()


def test_each_feature_is_shuffled_among_the_rows_where_it_has_a_value():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (40, 3)).astype(object)
    y = rng.integers(0, 2, 40)
    X[:15, 1] = None
    terms = information_terms(X, y, missing="pairwise", measure="plugin", correction="none")
    alone = information_terms(X[15:, [1]], y[15:], measure="plugin", correction="none")
    np.testing.assert_allclose(terms.chance[1], alone.chance[0], rtol=1e-12)
    np.testing.assert_allclose(terms.chance_p_values[1], alone.chance_p_values[0], rtol=1e-9)
    np.testing.assert_allclose(
        terms.chance[0], information_terms(X[:, [0]], y, measure="plugin", correction="none").chance[0], rtol=1e-12
    )


def test_weights_that_are_not_whole_have_the_first_term_of_the_series():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 4, (50, 2)), rng.integers(0, 3, 50)
    terms = information_terms(X, y, sample_weight=rng.random(50) + 0.5, measure="plugin", correction="none")
    np.testing.assert_allclose(terms.chance, 3 * 2 / (2 * 50), rtol=1e-12)


@pytest.mark.parametrize(
    "setting", [{"measure": "gaussian_copula"}, {"measure": "neighbors"}, {"correction": "miller_madow"}], ids=str
)
def test_nobody_knows_what_other_estimates_have_by_chance(setting):
    rng = np.random.default_rng(2)
    terms = information_terms(rng.normal(size=(60, 3)), rng.integers(0, 2, 60), **setting)
    assert np.isnan(terms.chance).all()
    assert np.isnan(terms.chance_p_values).all()


@pytest.mark.parametrize("levels", [2, 5, 40])
def test_noise_is_found_above_chance_as_often_as_the_test_says(levels):
    rng = np.random.default_rng(levels)
    noise, y = rng.integers(0, levels, (120, 1500)), rng.integers(0, 2, 120)
    p_values = information_terms(noise, y, measure="plugin", correction="none").chance_p_values
    for level in (0.05, 0.2):
        share = (p_values < level).mean()
        assert share < 1.3 * level, (level, share)
        # Of many levels with few samples each the test is cautious.
        assert levels == 40 or share > 0.7 * level, (level, share)


def test_what_is_not_above_the_expectation_is_never_significant():
    rng = np.random.default_rng(5)
    terms = information_terms(
        rng.integers(0, 6, (80, 300)), rng.integers(0, 3, 80), measure="plugin", correction="none"
    )
    below = terms.relevance <= terms.chance
    assert below.sum() > 100
    assert (terms.chance_p_values[below] > 0.3).all()


def test_an_identifier_is_worth_nothing_above_chance():
    y = [0, 1] * 20
    names = np.arange(40)
    terms = information_terms(
        np.column_stack([names, y]), y, correction="chance", kinds={0: "levels"}, measure="plugin"
    )
    assert terms.relevance[0] == pytest.approx(0.0, abs=1e-15)
    assert terms.chance[0] == pytest.approx(np.log(2), rel=1e-12)
    assert terms.relevance[1] == pytest.approx(
        np.log(2) - information_terms(np.transpose([y]), y, measure="plugin", correction="none").chance[0]
    )
    assert terms.chance_p_values[0] > 0.3
    assert terms.chance_p_values[1] < 1e-9


def test_constants_have_nothing_by_chance():
    terms = information_terms([[0, 0], [0, 1], [0, 0]], [0, 1, 1], measure="plugin", correction="none")
    assert terms.chance[0] == 0
    assert terms.chance_p_values[0] == 1


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_less_chance_a_pair_tells_no_less_than_its_better_half_and_a_copy_nothing_more(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(4, 60))
    X, y = rng.integers(0, int(rng.integers(2, 8)), (m, 3)), rng.integers(0, 3, m)
    terms = information_terms(np.column_stack([X, X[:, 0]]), y, correction="chance", measure="plugin")
    assert (terms.relevance >= 0).all()
    assert (terms.redundancy >= 0).all()
    assert (terms.conditional_redundancy >= 0).all()
    better = np.maximum(terms.relevance[:, None], terms.relevance)
    assert (terms.joint_relevance >= better - 1e-12).all()
    assert terms.joint_relevance[0, 3] == pytest.approx(terms.relevance[0], abs=1e-12)


PATHS = {
    "NumPy, some rows": {"_FEW_SUMS": 0},
    "compiled": {"_FEW_SUMS": 0, "_PLAIN_SUMS": -1},
    "compiled, row by row": {"_FEW_SUMS": 0, "_PLAIN_SUMS": -1, "_MOST_PATTERN_SUMS": -1},
    "NumPy, nothing kept": {"_FEW_SUMS": 0, "MOST_KEPT": 0},
    "compiled, nothing kept": {"_FEW_SUMS": 0, "_PLAIN_SUMS": -1, "MOST_KEPT": 0},
    "only the cells asked for": {"_FEW_SUMS": 0, "_ALL_AT_ONCE": 0},
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("weighted", [False, True])
def test_every_path_gives_the_same_floats(path, weighted, monkeypatch):
    rng = np.random.default_rng(6)
    columns = [*rng.integers(0, 9, (6, 70)), *rng.permuted(np.tile(np.arange(70) % 3, (5, 1)), axis=1), np.arange(70)]
    table = coded([c.tolist() for c in columns], [0, 1] * 35, weights=rng.integers(1, 4, 70) if weighted else None)
    usual = everything(terms_of(table, "chance"))
    one_by_one = terms_of(table, "chance").pair_row("interaction", 3)
    for name, value in PATHS[path].items():
        monkeypatch.setattr(chance_tables, name, value)
    for n_jobs in (1, 2):
        assert (everything(terms_of(table, "chance", n_jobs=n_jobs)) == usual).all()
    rows = plugin_terms(table, correction="chance", dtype=np.dtype(float), n_jobs=2)
    assert (rows.pair_row("interaction", 3) == one_by_one).all()


def test_compiled_cells_are_the_same_floats():
    rng = np.random.default_rng(9)
    for top in (5, 60, 2000, 10**5, 10**9):
        totals = rng.integers(1, top + 1, 500)
        a, b = (np.maximum(1, np.ceil(totals * rng.random(500) ** power)).astype(np.int64) for power in (1, 3))
        assert (expected_cells(a, b, totals) == expected_cells(a, b, totals, compiled=True)).all()


def test_where_counts_are_rounded_chance_is_nearly_the_same(monkeypatch):
    rng = np.random.default_rng(10)
    table = coded([(rng.integers(0, 30, 9000) ** 2 // 80).tolist() for _ in range(4)], [0, 1, 2] * 3000)
    exact = terms_of(table, "chance").by_chance
    monkeypatch.setattr(chance_tables, "_MOST_COUNTS", 8)
    rounded = terms_of(table, "chance").by_chance
    for kind in ("redundancy", "conditional_redundancy"):
        less = [np.full((4, 4), 9.0) for _ in range(2)]
        for one, chance in zip(less, (exact, rounded), strict=True):
            chance.subtract(kind, np.arange(4), one, compiled=False)
        assert (less[0] != less[1]).any()
        np.testing.assert_allclose(9 - less[0], 9 - less[1], rtol=5e-3)


def test_the_deviation_is_that_of_shuffled_targets():
    rng = np.random.default_rng(11)
    column, y = rng.integers(0, 4, 300), rng.integers(0, 3, 300)
    terms = information_terms(column[:, None], y, measure="plugin", correction="none")
    shuffled = information_terms(
        np.transpose([rng.permutation(column) for _ in range(2000)]), y, measure="plugin", correction="none"
    )
    assert terms.by_chance.deviation[0] == pytest.approx(shuffled.relevance.std(), rel=0.1)
    assert (
        information_terms([[0, 0], [0, 1], [0, 0]], [0, 1, 1], measure="plugin", correction="none").by_chance.deviation[
            0
        ]
        == 0
    )
