"""All pairs of features lie on disk where memory has no room for them; what needs them in memory is refused before."""

import gc
import math
import mmap
import os
import tempfile
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from certselect import information_terms, memory, select, selection_path, subset_problem
from certselect.certificate import bound
from certselect.errors import InvalidInput, QuickerSearchWarning
from certselect.progress import listening
from certselect.search import list_strategies
from certselect.search.certified import certify

N = 2500


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, (30, N)).astype(np.int8), rng.integers(0, 2, 30)


@pytest.fixture
def small_machine(monkeypatch):
    monkeypatch.setattr(memory, "machine_bytes", lambda: 3.0 * N**2 * 8 - 1)


@pytest.fixture
def on_disk(monkeypatch, tmp_path):
    """No array is small enough for memory; the folder that their files are in."""
    monkeypatch.setattr(memory, "_LEAST_BUDGET", 0)
    monkeypatch.setattr(memory, "free_bytes", lambda: 0.0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def is_mapped(array: np.ndarray) -> bool:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return isinstance(getattr(array.base, "obj", array.base), mmap.mmap)


NEEDING = [name for name, record in list_strategies().items() if record.needs_all_pairs]
OTHERS = [name for name, record in list_strategies().items() if not record.needs_all_pairs]
# Those that look at pair terms and make no matrices of them.
FROM_DISK = ["annealing", "backward", "genetic"]


def test_the_strategies_are_told_apart():
    assert {"cobra", "soss", "qpfs", "exact", *FROM_DISK} <= set(NEEDING)
    assert {"forward", "relevance"} <= set(OTHERS)


@pytest.mark.parametrize("strategy", sorted(set(NEEDING) - set(FROM_DISK)))
def test_searches_that_need_all_pairs_in_memory_are_refused(table, small_machine, strategy):
    terms = information_terms(*table)
    with pytest.raises(InvalidInput, match=rf"all pairs of {N} features, 0\.14 GiB; .*{N - 1}.*strategy='forward'"):
        select(subset_problem(terms, 1, criterion="jmi"), strategy)  # so few subsets that even "exhaustive" would try
    with pytest.raises(InvalidInput, match="all pairs"):
        selection_path(terms, [1, 2], strategy=strategy, criterion="jmi")
    assert not {"redundancy", "conditional_redundancy", "interaction"} & terms.__dict__.keys()


@pytest.mark.parametrize("strategy", OTHERS)
def test_the_others_go_on_and_have_a_bound_by_row_sums(table, small_machine, strategy, monkeypatch):
    monkeypatch.setattr(bound, "ZEROS_UP_TO", N - 1)
    problem = subset_problem(information_terms(*table), 3, criterion="jmi")
    selection = select(problem, strategy)
    assert len(selection.indices) == 3
    with pytest.warns(QuickerSearchWarning, match=f"{N} features are too many for a relaxation in this machine's mem"):
        bounded = certify(problem, selection)
    assert bounded.certificate is not None
    assert bounded.certificate.shown_by == bound.BY_ROW_SUMS
    assert bounded.upper_bound >= bounded.objective


@pytest.mark.parametrize("claim", [True, "tight"])
def test_a_bound_on_disk_is_the_bound_in_memory(table, small_machine, on_disk, monkeypatch, claim):
    monkeypatch.setattr(bound, "ZEROS_UP_TO", N - 1)
    problem = subset_problem(information_terms(*table), 3, criterion="jmi")
    with pytest.warns(QuickerSearchWarning, match="on disk"):
        bounded = select(problem, "forward", certify=claim)
    assert is_mapped(problem.reduced.matrix)
    monkeypatch.undo()
    in_memory = subset_problem(information_terms(*table), 3, criterion="jmi")
    assert not is_mapped(in_memory.matrix)
    assert np.array_equal(problem.reduced.matrix, in_memory.matrix)
    assert bounded.upper_bound == bound.row_sum_bound(in_memory.matrix, 3)


def test_a_bound_is_refused_before_the_search_where_the_disk_is_too_small(table, small_machine, monkeypatch):
    monkeypatch.setattr(memory, "_DISK_SHARE", 1e-12)
    terms = information_terms(*table)
    with pytest.raises(InvalidInput, match="TMPDIR"):
        select(subset_problem(terms, 3, criterion="jmi"), "forward", certify=True)
    with pytest.raises(InvalidInput, match="TMPDIR"):
        selection_path(terms, [1, 2], strategy="forward", certify=True, criterion="jmi")


def test_multipliers_that_take_a_factorisation_are_refused(table, small_machine):
    problem = subset_problem(information_terms(*table), 3, criterion="jmi")
    selection = select(problem, "forward")
    with pytest.warns(QuickerSearchWarning), pytest.raises(InvalidInput, match="all pairs"):
        certify(problem, selection, multipliers=np.ones(N + 1))


def test_a_sample_of_the_rows_has_room(table, small_machine):
    pytest.importorskip("clarabel")
    selection = select(
        subset_problem(information_terms(*table), 3, criterion="jmi"), "qpfs", nystroem=20, random_state=0
    )
    assert len(selection.indices) == 3


def test_single_precision_takes_half_the_room(table, small_machine):
    subset_problem(information_terms(*table, dtype="float32"), 3, criterion="jmi").check_room_for_pairs()
    with pytest.raises(InvalidInput):
        subset_problem(information_terms(*table, dtype="float64"), 3, criterion="jmi").check_room_for_pairs()


def test_containers_count(tmp_path, monkeypatch):
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "_LIMITS", (str(limit), str(tmp_path / "none")))
    whole = memory.machine_bytes()
    assert whole > 2**20
    limit.write_text("max\n")
    assert memory.machine_bytes() == whole
    limit.write_text("1048576\n")
    assert memory.machine_bytes() == 2**20
    monkeypatch.delattr(memory.os, "sysconf")
    limit.unlink()
    assert memory.machine_bytes() == math.inf


def test_an_array_on_disk_is_an_array(on_disk):
    array = memory.large_array((3, 5), np.float32)
    assert is_mapped(array)
    assert type(array) is np.ndarray
    assert array.flags.c_contiguous
    assert array.flags.writeable
    array[:] = np.arange(15).reshape(3, 5)
    assert array.sum() == 105
    assert array.dtype == np.float32


def test_what_fits_stays_in_memory():
    assert not is_mapped(memory.large_array((3, 5), np.float32))


@pytest.mark.skipif(os.name == "nt", reason="there a file keeps its name until it is closed")
def test_nothing_is_left_behind_whatever_happens(on_disk):
    array = memory.large_array((100, 100), np.float64)
    part = array[:50]
    del array
    part[:] = 1.0  # whoever holds a part of it holds the file
    assert part.sum() == 5000
    assert not list(on_disk.iterdir()), "a file without a name needs nobody to remove it"


def maps_of(folder) -> bool:
    """Whether this process has a file of that folder mapped, be it with or without a name."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return str(folder) in maps.read()


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="tells which files are mapped")
def test_the_file_goes_with_the_terms(on_disk):
    terms = information_terms(*wide(), n_jobs=1)
    problem = subset_problem(terms, 2, criterion="jmi")
    select(problem, "backward")
    assert maps_of(on_disk)
    del problem, terms
    gc.collect()
    assert not maps_of(on_disk)


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="tells which files are mapped")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_file_goes_when_counting_is_interrupted(on_disk, n_jobs):
    seen = []

    def stop(stage: str, done: int, total: int) -> None:
        if stage == "pairs":
            seen.append(maps_of(on_disk))
            raise KeyboardInterrupt

    terms = information_terms(*wide(), n_jobs=n_jobs)
    with listening(stop), pytest.raises(KeyboardInterrupt):
        terms.pair_matrix("interaction")
    assert seen == [True]
    gc.collect()
    assert not maps_of(on_disk)
    assert not list(on_disk.iterdir())
    assert np.array_equal(terms.pair_matrix("interaction")[3], terms.counted_rows("interaction", np.array([3]))[0])


def test_a_disk_without_room_is_named(on_disk, monkeypatch):
    with pytest.raises(InvalidInput, match=r"GiB free in .*the folder for temporary files.* Set TMPDIR"):
        memory.large_array((2**30, 2**20), np.float64)
    monkeypatch.setattr(memory, "free_bytes", lambda: 2.0**20)
    monkeypatch.setattr(memory, "_DISK_SHARE", 1e-12)
    assert not is_mapped(memory.large_array((300, 300), np.float64)), "too much for the budget, but not for memory"
    with pytest.raises(InvalidInput, match="TMPDIR"):
        memory.large_array((400, 400), np.float64)


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="blocks cannot be reserved there")
def test_a_disk_that_fills_up_meanwhile_is_an_error_and_no_crash(on_disk, monkeypatch):
    def full(*_: int) -> None:
        raise OSError(memory.errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(InvalidInput, match=r"No space left.* Set TMPDIR"):
        memory.large_array((10, 10), np.float64)
    monkeypatch.setattr(os, "posix_fallocate", lambda *_: (_ for _ in ()).throw(OSError(memory.errno.EOPNOTSUPP, "no")))
    assert is_mapped(memory.large_array((10, 10), np.float64)), "a file system without reservations"


def wide(n: int = 150, m: int = 600, seed: int = 0):
    """Columns of unlike numbers of levels, enough cells for the compiled counters."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, rng.choice([2, 3, 5, 40], n), (m, n))
    X[:, 1] = X[:, 0]
    return X, (X[:, 0] + rng.integers(0, 3, m)) % 3


KINDS = ["redundancy", "conditional_redundancy", "interaction", "symmetric_uncertainty", "symmetrical_relevance"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "how",
    [{}, {"sample_weight": True}, {"correction": "miller_madow"}, {"correction": "chance"}, {"sparse": True}],
    ids=lambda how: next(iter(how), "plain"),
)
def test_terms_on_disk_are_those_in_memory(on_disk, how, dtype):
    X, y = wide(n=150 if "correction" not in how else 60, m=600 if "correction" not in how else 3000)
    how = dict(how)
    if how.pop("sparse", False):
        X = sparse.csc_array(np.where(X > 2, X, 0)[:200])
        y = y[:200]
    if how.pop("sample_weight", False):
        how["sample_weight"] = np.arange(len(y)) % 3 + 1
    here = information_terms(X, y, dtype=dtype, n_jobs=2, **how)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "_LEAST_BUDGET", 2**40)
        there = information_terms(X, y, dtype=dtype, n_jobs=2, **how)
        expected = [there.pair_matrix(kind) for kind in KINDS]
    for kind, matrix in zip(KINDS, expected, strict=True):
        assert not is_mapped(matrix)
        assert is_mapped(here.pair_matrix(kind))
        assert here.pair_matrix(kind).dtype == dtype
        assert np.array_equal(here.pair_matrix(kind), matrix)


@pytest.mark.parametrize("measure", ["gaussian_copula", "neighbors"])
def test_measures_of_numbers_go_to_disk_too(on_disk, measure):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 12))
    X[:, 3] = np.round(X[:, 3])  # tied, so counted
    y = X[:, 0] + X[:, 3] > 0
    here = information_terms(X, y, measure=measure)
    matrices = [here.pair_matrix(kind) for kind in KINDS[:3]]
    assert all(map(is_mapped, matrices))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "_LEAST_BUDGET", 2**40)
        there = information_terms(X, y, measure=measure)
        for kind, matrix in zip(KINDS[:3], matrices, strict=True):
            assert np.array_equal(there.pair_matrix(kind), matrix)


@pytest.mark.parametrize("groups", [None, [[2, 7, 9], [3, 149]]], ids=["columns", "units"])
@pytest.mark.parametrize("strategy", FROM_DISK)
def test_searches_choose_the_same_from_disk(on_disk, strategy, groups):
    X, y = wide()
    asked = {"exclude": [5], "include": [8], "feature_groups": groups, "copies": "all"}
    options = {"annealing": {"steps": 2000}, "genetic": {"generations": 20}}.get(strategy, {})

    def chosen():
        problem = subset_problem(
            information_terms(X, y, dtype="float32", measure="plugin", correction="none"), 6, **asked
        )
        found = select(problem, strategy, polish=True, random_state=0, **options)
        return problem, found.indices.tolist(), found.scores

    problem, *here = chosen()
    assert is_mapped(problem.units.pair_matrix)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "_LEAST_BUDGET", 2**40)
        problem, *there = chosen()
    assert not is_mapped(problem.units.pair_matrix)
    assert here == there


@pytest.mark.parametrize("strategy", FROM_DISK)
def test_searches_make_no_second_matrix(on_disk, strategy):
    """What is made beside the pair terms is a small part of them."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (40, 1500)).astype(np.int8), rng.integers(0, 2, 40)
    problem = subset_problem(
        information_terms(X, y, dtype="float64", measure="plugin", correction="none"), 5, criterion="jmi"
    )
    options = {"annealing": {"steps": 200}, "genetic": {"generations": 2}}.get(strategy, {})
    assert is_mapped(problem.units.pair_matrix)
    tracemalloc.start()
    try:
        select(problem, strategy, polish=True, random_state=0, **options)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 0.75 * problem.pair_matrix.nbytes


def test_a_problem_without_pair_terms_takes_no_room():
    problem = subset_problem(information_terms(*wide(20)), 3, "max_relevance")
    assert problem.pair_matrix.strides == (0, 0)
    assert select(problem, "backward").indices.tolist() == sorted(select(problem, "forward").indices.tolist())


@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.float32])
def test_forward_takes_what_the_terms_say_it_takes(kind):
    """Codes, bit rows and rows of pairs, as InformationTerms says; nothing else that is as large as the table."""
    rng = np.random.default_rng(0)
    m, n, k, levels = 1000, 5000, 10, 4
    X = (rng.integers(0, levels, (m, n)) if kind != np.float32 else rng.random((m, n))).astype(kind)
    y = rng.integers(0, 2, m)

    def chosen() -> None:
        select(
            subset_problem(
                information_terms(X, y, bins=levels, n_jobs=1, measure="plugin", correction="none"), k, criterion="jmi"
            ),
            "forward",
            polish=True,
        )

    chosen()  # which loads the kernels
    tracemalloc.start()
    try:
        chosen()
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    of_columns, blocks = 500 * n, 1_000_000  # names and numbers of single columns, and what is worked on at a time
    assert most < m * n * (1 + (levels - 1) / 8) + 38 * k * n + of_columns + blocks
