"""Every coding method against its slow twin, and the promises all of them make."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import naive_coding as naive
from certselect.coding import code_table
from certselect.coding.cuts import bins_per_column
from certselect.coding.quantiles import DenseOrder
from certselect.settings.measuring import METHODS
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
    found = coded(column, discretize="uniform", bins=bins)
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
    assert found.codes[0].tolist() == naive.mean_std(column)


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
    column = [-2.0, 2.0, -1.0, 1.0, *[0.0] * 6]  # mean 0, deviation 1
    found = coded(column, discretize="mean_std")
    assert found.codes[0].tolist() == [0, 2, *[1] * 8]
    beyond = np.searchsorted(found.coding.edges(0), [-1.0, np.nextafter(-1.0, -2), 1.0, np.nextafter(1.0, 2)], "right")
    assert beyond.tolist() == [1, 0, 1, 2]


any_two = st.tuples(
    st.one_of(st.floats(0.1, 10), st.integers(-9, 9).map(lambda i: i / 10), st.floats(-1, 1)),
    st.one_of(st.floats(0.1, 10), st.integers(-9, 9).map(lambda i: i / 10), st.floats(-1, 1)),
    st.sampled_from([1.0, 1e-300, 1e300, 1e-150, 3.0, 1e9]),
).map(lambda drawn: sorted((drawn[0] * drawn[2], drawn[1] * drawn[2])))


@settings(max_examples=200, deadline=None)
@given(any_two, st.integers(1, 40), st.integers(1, 40), st.sampled_from([0.0, 1.0, 1e6]))
@example([0.3, 0.9], 5, 5, 0.0)
@example([0.1, 0.7], 5, 5, 0.0)
@example([0.1, 0.7], 5, 5, 1e9)
@example([5e-324, 1e-323], 3, 3, 0.0)
@example([-1.7e308, 1.7e308], 3, 3, 0.0)
@example([1.0, np.nextafter(1.0, 2)], 3, 3, 0.0)
@example([1.0, np.nextafter(1.0, 2)], 1, 2, 0.0)
def test_mean_std_keeps_two_numbers_apart_in_any_parts(two, n_low, n_high, common):
    """In equal parts they lie at mean -+ std to the bit, and rounding decided which of such columns were erased."""
    low, high = (x + common * abs(two[1]) for x in two)
    if low == high:
        return
    column = [low] * n_low + [high] * n_high
    found = coded(column, discretize="mean_std")
    assert not found.constant[0]
    assert len(set(found.codes[0, :n_low].tolist())) == len(set(found.codes[0, n_low:].tolist())) == 1
    assert found.codes[0, 0] < found.codes[0, -1]
    if n_low == n_high:
        assert found.levels[0] == 2
        assert low < found.coding.edges(0)[0] <= high
    elif high - low > 1e-6 * max(abs(low), abs(high)):
        assert found.codes[0].tolist() == naive.mean_std(column)


def test_mean_std_cuts_balanced_columns_at_their_mean_however_they_are_given():
    column = np.array([0.3, 0.9] * 6)
    plain = coded(column, discretize="mean_std")
    np.testing.assert_allclose(plain.coding.edges(0), [0.6], rtol=1e-15)
    assert plain.codes[0].tolist() == [0, 1] * 6
    y = np.arange(12) % 3
    tenths = np.array([[0.1] * 6, [0.2, 0.05, 0.05, 0.1, 0.1, 0.1]]).T.ravel()  # as much at either, but for rounding
    for weights in (np.arange(1, 7).repeat(2), tenths, np.arange(1, 7).repeat(2) * 10**8):
        weighted = code_table(read_table(column[:, None], y, sample_weight=weights), discretize="mean_std")
        assert weighted.codes[0].tolist() == [0, 1] * 6
        assert weighted.levels[0] == 2
    gaps = np.append(column, [np.nan] * 3)[:, None]
    for missing in ("level", "pairwise"):
        gappy = code_table(read_table(gaps, np.arange(15) % 3, missing=missing), discretize="mean_std")
        assert gappy.codes[0].tolist() == [0, 1] * 6 + [2] * 3
        assert gappy.coding.edges(0).tolist() == plain.coding.edges(0).tolist()
    single = code_table(table_of(column, dtype=np.float32), discretize="mean_std")
    assert single.codes[0].tolist() == [0, 1] * 6


def test_mean_std_keeps_two_numbers_apart_that_rounding_made_three():
    column = [0.1] * 8 + [0.3] * 7 + [0.1 + 0.2]  # not 0.3
    found = coded(column, discretize="mean_std")
    assert found.codes[0].tolist() == [0] * 8 + [1] * 8


@quick
@given(st.lists(st.sampled_from([-1.0, 0.0, 0.0, 0.0, 2.5]), min_size=4, max_size=30), st.integers(2, 9))
def test_a_number_with_several_quantiles_has_a_level_of_its_own(column, bins):
    found = coded(column, discretize="quantile", bins=bins)
    assert found.coding.edges(0).tolist() == naive.quantile(column, bins)
    for number in set(column):
        if sum(naive.quantile_of(column, t / bins) == number for t in range(1, bins)) > 1:
            code = found.codes[0, column.index(number)]
            assert {x for x, c in zip(column, found.codes[0], strict=True) if c == code} == {number}
    assert found.levels[0] <= bins


def test_quantiles_tell_the_signs_apart_of_mostly_zeros():
    column = np.repeat([-1.0, 0.0, 1.0], [5, 90, 5])
    found = coded(column, discretize="quantile", bins=5)
    assert found.codes[0].tolist() == [0] * 5 + [1] * 90 + [2] * 5
    assert found.coding.edges(0).tolist() == [0.0, 5e-324]
    few = coded(
        np.repeat([0.0, 1.5, 2.5], [80, 10, 10]), discretize="quantile", bins=5
    )  # zeros, and the rest on its own
    assert naive.levels(few.codes[0].tolist()) == [0] * 80 + [1] * 10 + [2] * 10
    rare = coded(np.repeat([0.0, 1.5, 2.5], [85, 10, 5]), discretize="quantile", bins=5)  # too few to be told apart
    assert rare.codes[0].tolist() == [0] * 85 + [1] * 15
    most = coded(
        np.repeat([-2.0, -1.0, 3.0], [5, 5, 90]), discretize="quantile", bins=5
    )  # nothing is above the largest
    assert most.codes[0].tolist() == [0] * 10 + [1] * 90
    assert most.levels[0] == 2
    sizes = coded(np.concatenate([np.zeros(160), 1 + np.arange(40)]), discretize="quantile", bins=5)
    assert sizes.codes[0].tolist() == np.repeat([0, 1, 2, 3, 4], [160, 10, 10, 10, 10]).tolist()
    single = code_table(table_of(column * 0.1 + 1, dtype=np.float32), discretize="quantile", bins=5)
    assert single.codes[0].tolist() == found.codes[0].tolist()


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
    found = coded(np.arange(900.0) / 2, np.arange(900), discretize="mdlp")  # 3^900 is no float
    assert found.levels[0] > 1  # halving gains 1 bit for (log2 899 + log2(3^900 - 2) - 900) / 900 = 0.6


@quick
@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-300, 300), min_size=2, max_size=40))
def test_integer_levels_are_their_twin(column):
    found = code_table(table_of(column, dtype=np.int64), integers="levels")
    assert found.codes[0].tolist() == naive.levels(column)
    assert found.levels[0] == len(set(column))
    assert found.constant[0] == (len(set(column)) == 1)
    assert found.coding.edges(0) is None


@quick
@given(st.lists(st.text(max_size=3), min_size=2, max_size=30))
def test_category_levels_are_their_twin(column):
    found = code_table(read_table([[value] for value in column], np.arange(len(column)) % 2))
    assert found.codes[0].tolist() == naive.levels(column)


@pytest.mark.parametrize("rule", ["sturges", "freedman_diaconis", "sqrt"])
@quick
@given(st.lists(thousandths, min_size=2, max_size=50))
def test_bin_rules_are_their_twin(rule, column):
    order = DenseOrder(np.sort([column], axis=1))
    found = int(bins_per_column(order, np.array([min(column)]), np.array([max(column)]), rule)[0])
    # The Freedman-Diaconis number is a quotient rounded up: the last bit may tip it.
    assert abs(found - naive.n_bins(column, rule)) <= (rule == "freedman_diaconis")
    uniform = coded(column, discretize="uniform", bins=rule)
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
