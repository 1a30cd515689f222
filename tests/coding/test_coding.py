"""code_table on whole tables: shapes, widths, holes, options; and codings applied to new rows."""

from __future__ import annotations

import json

import numpy as np
import pytest

import naive_coding as naive
from certselect.coding import code_table
from certselect.coding.tiles import over_columns
from certselect.errors import InvalidInput
from certselect.table import Block, Table, read_table


def labels(m):
    return np.arange(m) % 2


def coded(X, **options):
    options = {"discretize": "uniform", "bins": 5, "integers": "levels"} | options
    if options["discretize"] not in ("uniform", "quantile"):
        del options["bins"]
    return code_table(read_table(X, labels(len(X))), **options)


def assert_levels(found, X):
    for j, codes in enumerate(found.codes):
        column = X[:, j].tolist()
        distinct = {value: code for code, value in enumerate(sorted(set(column)))}
        assert codes.tolist() == [distinct[value] for value in column]
        assert found.levels[j] == len(distinct)
        assert found.constant[j] == (len(distinct) == 1)


def mixed_rows():
    return [[1, 0.5, "u", True], [5, 1.5, "v", False], [1, 2.5, "u", True], [9, 0.25, "", True]]


def test_a_mixed_table_has_every_feature_at_its_place():
    found = coded(mixed_rows(), bins=2)
    assert found.codes.tolist() == [[0, 1, 0, 2], [0, 1, 1, 0], [1, 2, 1, 0], [1, 0, 1, 1]]
    assert found.codes.dtype == np.uint8
    assert found.codes.flags.c_contiguous
    assert found.levels.tolist() == [3, 2, 3, 2]
    assert found.levels.dtype == np.int64
    assert found.constant.tolist() == [False] * 4
    assert found.target.dtype == np.int32
    assert found.feature_names == ("x0", "x1", "x2", "x3")
    assert [found.coding.edges(i) is None for i in range(4)] == [True, False, True, True]
    assert found.coding.edges(1).tolist() == [1.375]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64, bool, ">i8"])
@pytest.mark.parametrize(("m", "p"), [(2, 1), (7, 3), (300, 1100), (1100, 300)])
def test_binary_integers_of_every_width_and_layout(order, dtype, m, p):
    X = np.random.default_rng(m).integers(0, 2, (m, p)).astype(dtype, order=order)
    X[:, 0] = X[0, 0]
    found = coded(X)
    assert_levels(found, X)


@pytest.mark.parametrize("order", ["C", "F"])
def test_integers_with_holes_wide_ranges_and_negative_values(order):
    rng = np.random.default_rng(0)
    m = 600
    columns = [
        rng.integers(-3, 4, m),
        rng.choice([-5, 2, 11], m),  # holes, few
        rng.choice([0, 1, 255], m),  # as wide as a byte
        rng.choice([-1, 0, 255], m),  # one wider
        rng.choice([7, 100, 200], m),
        rng.integers(0, 500, m),
        rng.integers(0, 40_000, m) * 2,
        rng.choice([-(2**63), 2**63 - 1, 0], m),
        rng.integers(-(2**63), 2**63 - 1, m),
        np.arange(m) * 3,
        np.full(m, -(2**63)),
        np.full(m, 2**63 - 1),
    ]
    X = np.array(columns, order=order).T
    found = coded(X)
    assert_levels(found, X)
    assert found.codes.dtype == np.uint16  # 600 levels
    few = coded(X[:200])
    assert few.codes.dtype == np.uint8  # no more than 200 levels, whatever the range
    assert_levels(few, X[:200])


def test_every_span_is_right_beside_the_width_of_a_byte():
    for span in (1, 2, 3, 15, 16, 17, 254, 255, 256, 257, 65_534, 65_535, 65_536):
        for low in (0, -100, 2**40):
            X = np.array([[low], [low + span], [low + span // 2], [low]])
            assert_levels(coded(X), X)


def test_uint64_beyond_int64():
    X = np.array([[2**64 - 1], [0], [2**63], [2**64 - 2]], dtype=np.uint64)
    assert_levels(coded(X), X)


def test_many_categories():
    words = [f"word {i}" for i in range(100_000)]
    both = np.array([words, words[::-1]], dtype=object).T
    found = code_table(read_table(both, labels(len(words)), kinds={0: "levels", 1: "levels"}))
    assert found.codes.dtype == np.uint32
    assert found.levels.tolist() == [100_000, 100_000]
    order = sorted(range(len(words)), key=lambda i: words[i])
    assert found.codes[0, order].tolist() == list(range(100_000))
    assert np.array_equal(found.codes[1], found.codes[0, ::-1])


def test_unused_vocabulary_entries_are_dropped():
    block = Block("category", np.array([0]), np.array([[3], [1], [1]], dtype=np.int32), (("a", "b", "c", "d"),))
    found = code_table(Table((block,), ("f",), np.array([0, 1, 1], dtype=np.int32), (0, 1), np.empty((3, 0))))
    assert found.codes.tolist() == [[1, 0, 0]]
    assert found.levels.tolist() == [2]


def test_integers_may_be_cut_like_numbers_but_not_bools():
    X = np.array([[0], [1], [50], [100]])
    found = coded(X, integers="numbers", bins=4)
    assert found.codes.tolist() == [[0, 0, 2, 3]]
    assert found.coding.edges(0).tolist() == [25, 50, 75]
    assert np.array_equal(found.codes, coded(X.astype(float), bins=4).codes)
    flags = coded(X > 0, integers="numbers")
    assert flags.codes.tolist() == [[0, 1, 1, 1]]
    assert flags.coding.edges(0) is None


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("m", "p"), [(2, 1), (300, 1100), (1100, 300)])
@pytest.mark.parametrize("bins", [2, 5, 17, 18, 300])
def test_numbers_of_every_layout_follow_their_edges(order, dtype, m, p, bins):
    X = np.random.default_rng(m).normal(size=(m, p)).astype(dtype, order=order)
    X[:, -1] = 3
    found = coded(X, bins=bins)
    assert found.codes.dtype == (np.uint16 if bins > 256 and p > 1 else np.uint8)
    assert found.constant.tolist() == [False] * (p - 1) + [True] if p > 1 else [True]
    for j in range(0, p, 97):
        column = X[:, j].astype(float).tolist()
        assert found.coding.edges(j).tolist() == naive.uniform(column, bins)
        expected = np.searchsorted(found.coding.edges(j), np.array(column), side="right")
        assert np.array_equal(found.codes[j], expected)


def test_columns_that_span_all_floats():
    top = np.finfo(float).max
    X = np.array([[-top, top, -1e308, 5e-324], [top, top, 1e308, 0], [0, 0, 0, 0], [1, -top, 1, 0]])
    for method in ("uniform", "quantile"):
        for bins in (2, 5, "sturges", "freedman_diaconis", "sqrt"):
            found = coded(X, discretize=method, bins=bins)
            for j in range(4):
                assert not np.isnan(found.coding.edges(j)).any()
            assert not found.constant.any()
    for method in ("mean_std", "mdlp"):  # which have their own number of bins
        found = coded(X, discretize=method)
        for j in range(4):
            assert not np.isnan(found.coding.edges(j)).any()
    assert coded(X).codes.tolist() == [[0, 4, 2, 2], [4, 4, 2, 0], [0, 4, 2, 2], [1, 0, 0, 0]]
    np.testing.assert_allclose(coded(X, bins=4).coding.edges(0), [-top / 2, 0, top / 2], rtol=1e-15)
    assert coded(X[:, :1], discretize="quantile", bins=2).coding.edges(0).tolist() == [0.5]


def test_the_sign_of_zero_is_the_same_in_any_order():
    for zeros in ([0.0, -0.0], [-0.0, 0.0]):
        X = np.array([[-1.0], *[[zeros[0]]] * 4, [1.0]])
        middle, above = coded(X, discretize="quantile", bins=3).coding.edges(0)
        assert above == 5e-324
        X = np.repeat([[-5e-324], [zeros[0]], [zeros[1]]], [40, 20, 20], axis=0)
        (cut,) = code_table(read_table(X, X[:, 0] < 0), discretize="mdlp").coding.edges(0)
        for edge in (middle, cut):
            assert edge == 0
            assert not np.signbit(edge)


def test_mostly_equal_numbers_are_not_made_constant_by_quantiles():
    found = coded(np.array([[0.0]] * 18 + [[1.0], [2.0]]), discretize="quantile")
    assert not found.constant[0]
    assert found.codes[0].tolist() == [0] * 18 + [1, 1]


def test_mixed_bin_counts_of_freedman_and_diaconis():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=400), rng.standard_cauchy(400), rng.integers(0, 2, 400) * 1.0, np.zeros(400)])
    for method in ("uniform", "quantile"):
        found = coded(X, discretize=method, bins="freedman_diaconis")
        assert found.levels[0] < found.levels[1] <= 256
        assert found.levels[3] == 1
        for j in range(4):
            expected = np.searchsorted(found.coding.edges(j), X[:, j], side="right")
            assert np.array_equal(found.codes[j], expected)


def test_shuffled_rows_keep_their_codes():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(500, 20)), rng.integers(0, 3, 500)
    order = rng.permutation(500)
    for method in ("uniform", "quantile", "mean_std", "mdlp"):
        one = code_table(read_table(X, y), discretize=method)
        other = code_table(read_table(X[order], y[order]), discretize=method)
        assert np.array_equal(one.codes[:, order], other.codes)
        assert all(one.coding.edges(j).tobytes() == other.coding.edges(j).tobytes() for j in range(20))


def test_threads_change_nothing(monkeypatch):
    rng = np.random.default_rng(2)
    tables = [
        read_table(X, labels(200))
        for X in (rng.normal(size=(200, 700)), rng.integers(0, 3, (200, 700)) * 5, rng.integers(0, 9999, (200, 9)))
    ]
    for options in ({}, {"discretize": "mean_std"}, {"discretize": "quantile", "bins": "sqrt"}, {"discretize": "mdlp"}):
        alone = [code_table(table, **options, n_jobs=1) for table in tables]
        with monkeypatch.context() as many:
            many.setattr("certselect.coding.tiles._WORTH_THREADS", 0)
            together = [code_table(table, **options, n_jobs=3) for table in tables]
        for one, other in zip(alone, together, strict=True):
            assert np.array_equal(one.codes, other.codes)
            assert np.array_equal(one.levels, other.levels)


def test_an_error_in_a_thread_reaches_the_caller(monkeypatch):
    monkeypatch.setattr("certselect.coding.tiles._WORTH_THREADS", 0)

    def fail(columns):
        raise RuntimeError(f"columns {columns.start} to {columns.stop}")

    with pytest.raises(RuntimeError, match=r"columns (0 to 5|5 to 10)"):
        over_columns(fail, 10, 1, 512, 2)


def test_the_table_is_not_written_to():
    X = np.random.default_rng(0).integers(-9, 9, (50, 4))
    X.setflags(write=False)
    Z = X / 7
    Z.setflags(write=False)
    for method in ("uniform", "quantile", "mean_std", "mdlp"):
        assert coded(Z, discretize=method).codes.shape == (4, 50)
    assert coded(X).codes.shape == (4, 50)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"discretize": "equal"}, "one of uniform, quantile, mean_std, mdlp"),
        ({"discretize": ["uniform"]}, "one of uniform"),
        ({"bins": 1}, "2 to 10000, or one of auto, sturges, freedman_diaconis, sqrt"),
        ({"bins": True}, "bins=True"),
        ({"bins": 2.0}, "bins=2.0"),
        ({"bins": "most"}, "bins='most'"),
        ({"bins": None}, "bins=None"),
        ({"integers": "bins"}, "one of auto, levels, numbers"),
    ],
)
def test_unknown_options_are_refused_with_the_choices(options, words):
    with pytest.raises(InvalidInput) as caught:
        coded(np.eye(3), **options)
    assert words in str(caught.value)


def test_a_coding_describes_itself_in_json():
    described = coded(np.eye(3), bins=np.int64(4)).coding.describe()
    expected = {"discretize": "uniform", "bins": 4, "integers": "levels", "target_bins": None}
    assert json.loads(json.dumps(described)) == expected
    assert coded(np.eye(3), discretize="mdlp").coding.describe()["bins"] is None
    with pytest.raises(InvalidInput, match="0 to 2"):
        coded(np.eye(3)).coding.edges(3)
