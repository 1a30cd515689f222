"""Every coding method against its slow twin, and the promises all of them make."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_coding as naive
from certselect.coding import code_table
from certselect.coding.cuts import BIN_RULES, METHODS, bins_per_column
from certselect.table import read_table

quick = settings(max_examples=60, deadline=None)
anything = st.floats(allow_nan=False, allow_infinity=False)
tied = st.integers(-3, 3).map(float)  # many equal numbers
thousandths = st.integers(-(10**9), 10**9).map(lambda i: i / 1000)  # of a size whose squares the twins can add
numbers = st.one_of(
    st.lists(anything, min_size=2, max_size=30),
    st.lists(tied, min_size=2, max_size=30),
    st.lists(st.one_of(st.just(0.0), st.just(-0.0), st.floats(-1e-307, 1e-307)), min_size=2, max_size=30),
)


def table_of(column, labels=None, dtype=np.float64):
    labels = labels if labels is not None else np.arange(len(column)) % 2
    return read_table(np.array(column, dtype=dtype)[:, None], labels, task="classification")


def coded(column, labels=None, **options):
    return code_table(table_of(column, labels), **options)


@quick
@given(numbers, st.integers(2, 40))
def test_uniform_is_its_twin(column, bins):
    found = coded(column, bins=bins)
    edges = naive.uniform(column, bins)
    assert found.coding.edges(0).tolist() == edges
    assert found.codes[0].tolist() == naive.codes_of(column, edges)
    assert found.levels[0] == len(edges) + 1
    assert found.constant[0] == (min(column) == max(column))


@quick
@given(st.lists(st.one_of(st.floats(-1e100, 1e100), tied), min_size=2, max_size=30), st.integers(2, 20))
def test_quantile_is_its_twin(column, bins):
    found = coded(column, discretize="quantile", bins=bins)
    edges = naive.quantile(column, bins)
    np.testing.assert_allclose(found.coding.edges(0), edges, rtol=1e-12)
    assert found.codes[0].tolist() == naive.codes_of(column, found.coding.edges(0))
    assert found.constant[0] == (min(column) == max(column))


@quick
@given(st.lists(st.integers(-40, 40), min_size=16, max_size=16))
def test_mean_std_is_its_twin_bit_for_bit_where_sums_are_exact(column):
    found = coded(column, discretize="mean_std")
    expected = naive.mean_std(column) if min(column) < max(column) else [0] * 16
    assert found.codes[0].tolist() == expected


@quick
@given(st.lists(thousandths, min_size=2, max_size=40))
def test_mean_std_is_its_twin_away_from_the_edges(column):
    found = coded(column, discretize="mean_std")
    edges = found.coding.edges(0)
    if min(column) == max(column):
        assert len(edges) == 0
        return
    scale = max(map(abs, column))
    far = [i for i, x in enumerate(column) if all(abs(x - edge) > 1e-12 * scale for edge in edges)]
    twin = naive.mean_std(column)
    assert [found.codes[0, i] for i in far] == [twin[i] for i in far]


def test_mean_std_counts_its_own_ends_as_between():
    found = coded([-1.0, -1.0, 1.0, 1.0], discretize="mean_std")  # mean 0, deviation 1
    assert found.codes[0].tolist() == [1, 1, 1, 1]
    assert found.levels[0] == 3
    assert found.constant[0]
    beyond = np.searchsorted(found.coding.edges(0), [-1.0, np.nextafter(-1.0, -2), 1.0, np.nextafter(1.0, 2)], "right")
    assert beyond.tolist() == [1, 0, 1, 2]


@quick
@given(st.lists(st.tuples(st.integers(0, 12).map(float), st.integers(0, 2)), min_size=4, max_size=60))
def test_mdlp_is_its_twin(rows):
    column, labels = [x for x, _ in rows], [label for _, label in rows]
    if len(set(labels)) < 2:
        labels[0] = labels[0] + 1
    found = coded(column, labels, discretize="mdlp")
    edges = naive.mdlp(list(zip(column, labels, strict=True)))
    assert found.coding.edges(0).tolist() == edges
    assert found.codes[0].tolist() == naive.codes_of(column, edges)
    assert found.constant[0] == (not edges)


@pytest.mark.parametrize("seed", range(5))
def test_mdlp_is_its_twin_where_it_cuts_more_than_once(seed):
    rng = np.random.default_rng(seed)
    column = rng.normal(size=120)
    labels = (np.digitize(column, [-0.5, 0.6]) + (rng.random(120) < 0.1)) % 3
    found = coded(column.tolist(), labels, discretize="mdlp")
    edges = naive.mdlp(list(zip(column.tolist(), labels.tolist(), strict=True)))
    assert len(edges) >= 2
    assert found.coding.edges(0).tolist() == edges


def test_mdlp_takes_the_lowest_of_equally_good_cuts():
    half = {0: [2], 2: [0, 1, 2], 3: [0, 1], 4: [1, 2, 1], 5: [1], 6: [1, 1], 7: [0, *[2] * 7]}
    rows = [(float(x), label) for x, labels in half.items() for label in labels]
    rows += [(-1 - x, 2 - label) for x, label in rows]  # its mirror image: rounding alone would tell the sides apart
    found = coded([x for x, _ in rows], [label for _, label in rows], discretize="mdlp")
    assert found.coding.edges(0).tolist() == naive.mdlp(rows) == [-7.5]


def test_mdlp_with_one_class_per_row_still_has_a_price():
    found = coded(np.arange(900.0), np.arange(900), discretize="mdlp")  # 3^900 is no float
    assert found.levels[0] > 1  # halving gains 1 bit for (log2 899 + log2(3^900 - 2) - 900) / 900 = 0.6


@quick
@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-300, 300), min_size=2, max_size=40))
def test_integer_levels_are_their_twin(column):
    found = code_table(table_of(column, dtype=np.int64))
    assert found.codes[0].tolist() == naive.levels(column)
    assert found.levels[0] == len(set(column))
    assert found.constant[0] == (len(set(column)) == 1)
    assert found.coding.edges(0) is None


@quick
@given(st.lists(st.text(max_size=3), min_size=2, max_size=30))
def test_category_levels_are_their_twin(column):
    found = code_table(read_table([[value] for value in column], np.arange(len(column)) % 2))
    assert found.codes[0].tolist() == naive.levels(column)


@pytest.mark.parametrize("rule", BIN_RULES)
@quick
@given(st.lists(thousandths, min_size=2, max_size=50))
def test_bin_rules_are_their_twin(rule, column):
    found = int(bins_per_column(np.array([column]), rule)[0])
    # The Freedman-Diaconis number is a quotient rounded up: the last bit may tip it.
    assert abs(found - naive.n_bins(column, rule)) <= (rule == "freedman_diaconis")
    uniform = coded(column, bins=rule)
    assert uniform.coding.edges(0).tolist() == naive.uniform(column, found)


@pytest.mark.parametrize("method", METHODS)
@quick
@given(numbers, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(method, column, random):
    labels = [i % 2 for i in range(len(column))]
    order = list(range(len(column)))
    random.shuffle(order)
    one = coded(column, labels, discretize=method)
    other = coded([column[i] for i in order], [labels[i] for i in order], discretize=method)
    assert one.coding.edges(0).tobytes() == other.coding.edges(0).tobytes()
    assert one.codes[0, order].tolist() == other.codes[0].tolist()


@pytest.mark.parametrize("method", METHODS)
@quick
@given(numbers)
def test_edges_ascend_and_codes_follow_the_numbers(method, column):
    rule = {"bins": "freedman_diaconis"} if method in ("uniform", "quantile") else {}
    found = coded(column, discretize=method, **rule)
    edges = found.coding.edges(0)
    assert not np.isnan(edges).any()
    assert (edges[1:] > edges[:-1]).all()
    assert (np.diff(found.codes[0, np.argsort(column)].astype(int)) >= 0).all()
    assert found.codes.max() < found.levels[0]
    assert np.array_equal(np.searchsorted(edges, column, side="right"), found.codes[0]), "the edges say it all"


@pytest.mark.parametrize("method", METHODS)
@quick
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=2, max_size=30))
def test_float32_is_coded_as_the_same_numbers_in_float64(method, column):
    single = code_table(table_of(column, dtype=np.float32), discretize=method)
    double = code_table(table_of(column), discretize=method)
    assert single.codes.tolist() == double.codes.tolist()
    assert single.coding.edges(0).tolist() == double.coding.edges(0).tolist()
