"""Counting of sparse tables: the integers of the dense tables they stand for."""

import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from certselect.coding import CodedTable, Coding, SparseCodedTable
from certselect.information.kernels import sparse
from certselect.information.kernels.entropy_sums import CountLogs
from certselect.information.kernels.plain import PlainCounter
from certselect.information.kernels.sparse import SparseCounter
from certselect.progress import listening

KINDS = ("redundancy", "conditional_redundancy", "interaction")
FLOAT64 = np.dtype(np.float64)
NO_CODING = Coding("uniform", 5, "levels", (), (), ())


def sparse_table(columns, background, target):
    """Codes (n, m) as a sparse table: what is not a column's background is listed, all of it where that is -1."""
    codes = np.asarray(columns)
    listed = codes != np.asarray(background)[:, None]
    starts = np.concatenate([[0], np.cumsum(listed.sum(axis=1))])
    features, rows = np.nonzero(listed)
    levels = codes.max(axis=1) + 1
    constant = (codes == codes[:, :1]).all(axis=1)
    target = np.asarray(target, dtype=np.int32)
    names = tuple(f"x{i}" for i in range(len(codes)))
    return SparseCodedTable(
        starts,
        rows.astype(np.int32),
        codes[features, rows].astype(np.uint32),
        np.asarray(background, dtype=np.int64),
        levels,
        constant,
        target,
        tuple(range(target.max() + 1)),
        names,
        NO_CODING,
    )


def dense_table(columns, target):
    codes = np.ascontiguousarray(columns, dtype=np.uint8)
    target = np.asarray(target, dtype=np.int32)
    constant = (codes == codes[:, :1]).all(axis=1)
    names = tuple(f"x{i}" for i in range(len(codes)))
    levels = codes.max(axis=1).astype(np.int64) + 1
    return CodedTable(codes, levels, constant, target, tuple(range(target.max() + 1)), names, NO_CODING)


def counter(table, weights=None, correction="none", n_jobs=1, dtype=FLOAT64):
    total = table.n_samples if weights is None else int(weights.sum())
    return SparseCounter(table, CountLogs(total, table.n_samples, correction), dtype, n_jobs, weights)


def random_columns(seed, m=80, n=12, n_classes=3, levels=6, density=0.2):
    """Mostly background, which is any level; a full column, an empty one and a copy among them."""
    rng = np.random.default_rng(seed)
    background = rng.integers(0, levels, n)
    columns = np.where(rng.random((n, m)) < density, rng.integers(0, levels, (n, m)), background[:, None])
    columns[0] = rng.integers(0, levels, m)
    background[0] = -1
    columns[1] = background[1]
    columns[2] = columns[3]
    background[2] = background[3]
    target = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, m - n_classes)])
    return columns, background, target


def assert_same_as_dense(ours, dense):
    for name in ("level", "level_class", "classes", "total", "unit"):
        assert np.all(getattr(ours.sums, name) == getattr(dense.sums, name))
    everyone = np.arange(len(ours.sums.level))
    both = dict(zip(KINDS, ours.both(), strict=False))
    for kind in KINDS:
        expected = dense.matrix(kind)
        matrix = ours.matrix(kind)
        assert (matrix == expected).all()
        assert (matrix == matrix.T).all()
        assert (ours.rows(kind, everyone[::-1]) == expected[::-1]).all()
        assert kind not in both or (both[kind] == expected).all()


@pytest.mark.parametrize("n_classes", [1, 2, 5])
@pytest.mark.parametrize("levels", [2, 3, 6])
def test_counts_equal_those_of_the_dense_table(n_classes, levels):
    columns, background, target = random_columns(n_classes, n_classes=n_classes, levels=levels)
    dense = PlainCounter(dense_table(columns, target), FLOAT64)
    assert_same_as_dense(counter(sparse_table(columns, background, target)), dense)
    assert_same_as_dense(counter(sparse_table(columns, background, target), n_jobs=3), dense)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_table_counts_as_the_dense_one_and_as_the_twin(data):
    m, n = data.draw(st.integers(2, 25)), data.draw(st.integers(1, 5))
    level = st.one_of(st.just(0), st.integers(0, data.draw(st.integers(1, 5))))
    columns = [data.draw(st.lists(level, min_size=m, max_size=m)) for _ in range(n)]
    background = [data.draw(st.sampled_from([-1, 0, 0, 0, max(column)])) for column in columns]
    target = data.draw(st.lists(st.integers(0, data.draw(st.integers(0, 4))), min_size=m, max_size=m))
    target = np.unique(target, return_inverse=True)[1]
    ours = counter(sparse_table(columns, background, target))
    assert_same_as_dense(ours, PlainCounter(dense_table(columns, target), FLOAT64))
    relevance, redundancy, conditional = naive.terms(columns, target.tolist())
    close = {"rtol": 1e-12, "atol": 1e-14}
    np.testing.assert_allclose(ours.sums.relevance, relevance, **close)
    np.testing.assert_allclose(ours.matrix("redundancy"), redundancy, **close)
    np.testing.assert_allclose(ours.matrix("conditional_redundancy"), conditional, **close)


def test_weights_count_as_repeated_rows():
    columns, background, target = random_columns(4)
    weights = np.random.default_rng(0).integers(1, 6, len(target))
    dense = PlainCounter(dense_table(np.repeat(columns, weights, axis=1), np.repeat(target, weights)), FLOAT64)
    assert_same_as_dense(counter(sparse_table(columns, background, target), weights), dense)
    once = np.ones(len(target), dtype=np.int64)
    dense = PlainCounter(dense_table(columns, target), FLOAT64)
    assert_same_as_dense(counter(sparse_table(columns, background, target), once), dense)


@pytest.mark.parametrize("correction", ["miller_madow", "grassberger"])
def test_corrected_counts_equal_those_of_the_dense_table(correction):
    columns, background, target = random_columns(5)
    dense = PlainCounter(dense_table(columns, target), FLOAT64, correction)
    assert_same_as_dense(counter(sparse_table(columns, background, target), correction=correction), dense)


def test_cells_gathered_in_pieces_count_the_same(monkeypatch):
    columns, background, target = random_columns(6)
    weights = np.random.default_rng(1).integers(1, 6, len(target))
    table = sparse_table(columns, background, target)
    for heavy in (None, weights):
        expected = counter(table, heavy).matrix("interaction")
        monkeypatch.setattr(sparse, "_GATHERED_AT_ONCE", 7)
        assert (counter(table, heavy).matrix("interaction") == expected).all()
        monkeypatch.undo()


def test_nothing_listed_at_all():
    columns, target = np.zeros((3, 6), dtype=int), [0, 1, 0, 1, 1, 1]
    dense = PlainCounter(dense_table(columns, target), FLOAT64)
    assert_same_as_dense(counter(sparse_table(columns, [0, 0, 0], target)), dense)


def test_float32_is_the_rounded_float64_and_progress_is_told():
    table = sparse_table(*random_columns(7, n=150))
    heard = []
    with listening(lambda *told: heard.append(told)):
        narrow = counter(table, dtype=np.dtype(np.float32)).matrix("interaction")
    assert narrow.dtype == np.float32
    assert (narrow == counter(table).matrix("interaction").astype(np.float32)).all()
    assert heard == [("pairs", 1, 3), ("pairs", 2, 3), ("pairs", 3, 3)]


def test_twenty_thousand_features_take_little_time_and_memory():
    """300 documents of some 95 of 20 000 words each, the words as frequent as words are."""
    rng = np.random.default_rng(0)
    m, n = 300, 20_000
    frequency = 1 / np.arange(1, n + 1)
    cells = np.unique([row * n + rng.choice(n, 95, p=frequency / frequency.sum()) for row in range(m)])
    rows, features = np.divmod(cells, n)
    order = np.lexsort((rows, features))
    starts = np.searchsorted(features[order], np.arange(n + 1))
    target = (np.arange(m) % 2).astype(np.int32)
    table = SparseCodedTable(
        starts,
        rows[order].astype(np.int32),
        np.ones(len(cells), dtype=np.uint32),
        np.zeros(n, dtype=np.int64),
        np.full(n, 2),
        np.diff(starts) == 0,
        target,
        (0, 1),
        tuple(map(str, range(n))),
        NO_CODING,
    )
    tracemalloc.start()
    started = time.perf_counter()
    found = counter(table).rows("interaction", np.arange(50))
    seconds = time.perf_counter() - started
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seconds < 5, "some 0.2 s where nothing else runs"
    assert peak < 60e6
    codes = np.zeros((50, m), dtype=int)
    codes[features[features < 50], rows[features < 50]] = 1
    dense = PlainCounter(dense_table(codes, target), FLOAT64).matrix("interaction")
    assert (found[:, :50] == dense).all()
