"""The counting kernels against a slow twin, and against each other."""

import math
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from certselect.coding import code_table
from certselect.information.kernels import compiled, packing, plain
from certselect.information.kernels.bits import SMALL_MARGIN
from certselect.information.kernels.compiled import CompiledCounter
from certselect.information.kernels.entropy_sums import count_log_table
from certselect.information.kernels.plain import PlainCounter
from certselect.progress import listening
from certselect.table import read_table
from certselect.threads import run_parts, thread_count

KINDS = ("redundancy", "conditional_redundancy", "interaction")
FLOAT64 = np.dtype(np.float64)


def coded(columns, target):
    levels = dict.fromkeys(range(len(columns)), "levels")
    return code_table(read_table(np.array(columns).T, np.array(target), task="classification", kinds=levels))


def random_table(seed, m, levels, n_classes):
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, size, m) for size in levels]
    target = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, m - n_classes)])
    return coded(columns, target)


def plain_matrix(table, kind):
    return PlainCounter(table, FLOAT64).matrix(kind)


# Shapes that meet every path: one word and many, binary to more levels than samples,
# fewer features than lanes, many classes, features by bits and by scattering mixed.
SHAPES = {
    "binary": (150, [2] * 19, 2),
    "one word": (40, [3] * 9, 3),
    "many words": (1500, [5] * 10, 2),
    "mixed levels": (400, [2, 3, 90, 5, 17, 64, 65, 2, 33, 4, 120, 7], 3),
    "more levels than samples": (30, [500, 2, 500, 3], 2),
    "as many classes as half the samples": (60, [2, 3, 4], 30),
    "one feature": (50, [4], 2),
    "constant among others": (64, [1, 2, 1, 3], 2),
}


@pytest.fixture(params=SHAPES, ids=lambda name: name.replace(" ", "-"))
def table(request):
    return random_table(7, *SHAPES[request.param])


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_compiled_counts_equal_plain_counts(table, n_threads):
    fast, slow = CompiledCounter(table, n_threads, FLOAT64), PlainCounter(table, FLOAT64)
    assert (fast.sums.level == slow.sums.level).all()
    assert (fast.sums.level_class == slow.sums.level_class).all()
    assert fast.sums.classes == slow.sums.classes
    everyone = np.arange(len(table.codes))
    for kind in KINDS:
        expected = plain_matrix(table, kind)
        assert (fast.matrix(kind) == expected).all()
        assert (fast.rows(kind, everyone) == expected).all()


@pytest.mark.parametrize("largest", [SMALL_MARGIN - 1, SMALL_MARGIN, SMALL_MARGIN + 1])
def test_levels_of_few_samples_are_looked_up_together(largest):
    """Every level of a feature counts, level 0 too: beside one that is larger, cells are looked up one by one."""
    rng = np.random.default_rng(largest)
    m = 2 * SMALL_MARGIN - 2
    halves = rng.permutation(np.arange(m) < largest)
    thirds = rng.permutation(np.arange(m) // (largest // 2) % 3)
    others = [rng.integers(0, levels, m) for levels in (2, 3, 3, 4, 5, 1, 2)]
    table = coded([halves, ~halves, thirds, *others], rng.integers(0, 3, m))
    fast = CompiledCounter(table, 1, FLOAT64)
    for kind in KINDS:
        expected = plain_matrix(table, kind)
        assert (fast.matrix(kind) == expected).all()
        assert (fast.rows(kind, np.arange(len(table.codes))) == expected).all()


def test_sums_equal_the_twins_counts(table):
    """The integers themselves: sums over the twin's joint counts, in the same units."""
    logs, _ = count_log_table(table.codes.shape[1])
    columns = [column.tolist() for column in table.codes]
    target = table.target.tolist()
    counter = PlainCounter(table, FLOAT64)
    for i, column in enumerate(columns):
        assert counter.sums.level[i] == sum(int(logs[c]) for c in naive.joint_counts(column).values())
        assert counter.sums.level_class[i] == sum(int(logs[c]) for c in naive.joint_counts(column, target).values())
        whole, within = counter._joint_sums(table.codes[i].astype(np.int64), int(table.levels[i]), conditional=True)
        for j, other in enumerate(columns):
            assert whole[j] == sum(int(logs[c]) for c in naive.joint_counts(column, other).values())
            assert within[j] == sum(int(logs[c]) for c in naive.joint_counts(column, other, target).values())


@pytest.mark.parametrize("chunk", [8, 3000])
def test_plain_counts_in_several_parts_are_the_same(table, chunk, monkeypatch):
    """One feature at a time, most of them sorted; and some at once."""
    expected = [plain_matrix(table, kind) for kind in KINDS]
    monkeypatch.setattr(plain, "_CHUNK", chunk)
    assert all((plain_matrix(table, kind) == one).all() for kind, one in zip(KINDS, expected, strict=True))


@pytest.mark.parametrize("forced", ["bits", "scatter"])
def test_bits_and_scattering_agree(table, forced, monkeypatch):
    price = 1e9 if forced == "bits" else 0.0
    monkeypatch.setattr(compiled, "_SCATTER", price)
    monkeypatch.setattr(compiled, "_SCATTER_SLICES", price)
    counter = CompiledCounter(table, 2, FLOAT64)
    for kind in KINDS:
        assert (counter.matrix(kind) == plain_matrix(table, kind)).all()


def test_too_many_classes_for_bit_rows_are_scattered(monkeypatch):
    monkeypatch.setattr(packing, "_FREE_MEMORY", 0)
    monkeypatch.setattr(packing, "_MOST_GROWTH", 0)
    table = random_table(3, 90, [2, 3, 4], 40)
    assert packing.pack_table(table, 1).n_packed == 0
    counter = CompiledCounter(table, 1, FLOAT64)
    for kind in KINDS:
        assert (counter.matrix(kind) == plain_matrix(table, kind)).all()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_terms_equal_the_twin(data):
    m = data.draw(st.integers(2, 60))
    n = data.draw(st.integers(1, 6))
    level = st.integers(0, data.draw(st.sampled_from([1, 2, 6, 100])))
    columns = [data.draw(st.lists(level, min_size=m, max_size=m)) for _ in range(n)]
    target = data.draw(st.lists(st.integers(0, 3), min_size=m, max_size=m).filter(lambda t: len(set(t)) > 1))
    table = coded(columns, target)
    relevance, redundancy, conditional = naive.terms(columns, target)
    counter = CompiledCounter(table, 1, FLOAT64)
    close = {"rtol": 1e-12, "atol": 1e-15}
    np.testing.assert_allclose(counter.sums.relevance, relevance, **close)
    np.testing.assert_allclose(counter.sums.entropy, [naive.entropy(column) for column in columns], **close)
    assert counter.sums.target_entropy == pytest.approx(naive.entropy(target), rel=1e-12)
    both = counter.both()
    np.testing.assert_allclose(both[0], redundancy, **close)
    np.testing.assert_allclose(both[1], conditional, **close)
    assert (both[0] == counter.matrix("redundancy")).all()
    assert (both[1] == counter.matrix("conditional_redundancy")).all()
    assert (both[0] - both[1] == counter.matrix("interaction")).all()


def test_float32_is_the_rounded_float64(table):
    narrow = CompiledCounter(table, 2, np.dtype(np.float32))
    for kind in KINDS:
        assert narrow.matrix(kind).dtype == np.float32
        assert (narrow.matrix(kind) == plain_matrix(table, kind).astype(np.float32)).all()


def test_a_hundred_thousand_levels_need_no_dense_table():
    m = 100_000
    rng = np.random.default_rng(0)
    columns = [rng.permutation(m), rng.permutation(m), rng.integers(0, 3, m)]
    table = coded(columns, rng.integers(0, 2, m))
    tracemalloc.start()
    fast = CompiledCounter(table, 1, FLOAT64).matrix("interaction")
    slow = plain_matrix(table, "interaction")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (fast == slow).all()
    # Two columns of distinct values share ln m; given the class, all but H(C) of it.
    redundancy = plain_matrix(table, "redundancy")
    assert redundancy[0, 1] == pytest.approx(math.log(m), rel=1e-12)
    assert peak < 100e6, "a dense table of 10^10 cells would be 80 GB"


def test_the_table_of_logarithms_is_right_and_cannot_overflow():
    for m in (1, 2, 3, 1000, 10**6):
        logs, fraction_bits = count_log_table(m)
        assert logs[0] == 0
        assert logs[-1] / 2.0**fraction_bits == pytest.approx(m * math.log(m), rel=1e-15, abs=1e-15)
        assert 2 * int(logs[-1]) < 2**62
        assert (np.diff(logs) >= 0).all()


def test_n_jobs(monkeypatch):
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    assert [thread_count(n) for n in (None, -1, -2, -9, 1, 7)] == [4, 4, 3, 1, 1, 7]
    monkeypatch.setenv("NUMBA_NUM_THREADS", "2")  # as joblib does in its workers
    assert thread_count(None) == 2
    with pytest.raises(ValueError, match="n_jobs=0"):
        thread_count(0)


def test_parts_run_once_each_and_report():
    seen, heard = [], []
    with listening(lambda *told: heard.append(told)):
        run_parts("stage", [lambda i=i: seen.append(i) for i in range(10)], 3)
    assert sorted(seen) == list(range(10))
    assert heard == [("stage", done, 10) for done in range(1, 11)]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_interrupted_run_starts_nothing_more(n_threads):
    started = []

    def interrupted():
        started.append("interrupted")
        raise KeyboardInterrupt

    def late():
        time.sleep(0.001)
        started.append("late")

    with pytest.raises(KeyboardInterrupt):
        run_parts("stage", [interrupted] + [late] * 2000, n_threads)
    assert len(started) < 1000
