"""Stability: the index against the paper's formulas, and the selections behind it."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certselect import information_terms, select, subset_problem
from certselect.errors import IdleSettingWarning, InvalidInput
from certselect.evaluation import selection_stability, stability_index
from certselect.evaluation.stability import _draw_rows
from certselect.progress import listening
from certselect.table import read_table


def naive_stability(rows):
    """Index and variance, symbol by symbol as in the paper, in fractions; None where undefined."""
    M, d = len(rows), len(rows[0])
    p = [Fraction(sum(row[f] for row in rows), M) for f in range(d)]
    k = [sum(row) for row in rows]
    mean_k = Fraction(sum(k), M)
    if mean_k in (0, d):
        return None
    scale = mean_k / d * (1 - mean_k / d)
    phi = 1 - sum(Fraction(M, M - 1) * p[f] * (1 - p[f]) for f in range(d)) / d / scale
    parts = [
        (
            Fraction(sum(p[f] for f in range(d) if rows[i][f])) / d
            - k[i] * mean_k / d**2
            + phi / 2 * (2 * mean_k * k[i] / d**2 - Fraction(k[i], d) - mean_k / d + 1)
        )
        / scale
        for i in range(M)
    ]
    mean = sum(parts) / M
    return phi, Fraction(4, M**2) * sum((part - mean) ** 2 for part in parts)


def matrices():
    shapes = st.tuples(st.integers(2, 6), st.integers(1, 7))
    return shapes.flatmap(
        lambda shape: st.lists(
            st.lists(st.integers(0, 1), min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
        )
    )


class TestIndex:
    def test_by_hand(self):
        # p = 1, 2/3, 1/3, 0; Phi = 1 - (2 x 3/2 x 2/9 / 4) / (1/4) = 1/3; phi_i = 1, 1, 2/3.
        found = stability_index([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]])
        assert found.index == pytest.approx(1 / 3)
        assert found.standard_error == pytest.approx(math.sqrt(24) / 27)
        assert found.lower == pytest.approx(1 / 3 - 1.959963984540054 * math.sqrt(24) / 27)
        assert found.upper == pytest.approx(1 / 3 + 1.959963984540054 * math.sqrt(24) / 27)

    def test_equal_subsets_are_fully_stable(self):
        found = stability_index([[True, False, True, False, False]] * 4)
        assert (found.index, found.standard_error, found.lower, found.upper) == (1.0, 0.0, 1.0, 1.0)

    def test_opposite_subsets_reach_the_lower_end(self):
        assert stability_index([[1, 0], [0, 1]]).index == pytest.approx(-1.0)

    def test_random_subsets_of_any_size_are_at_zero(self):
        rng = np.random.default_rng(0)
        for size in (2, 10, 35):
            chosen = rng.random((400, 40)).argsort(axis=1) < size
            assert abs(stability_index(chosen).index) < 0.01

    @given(matrices())
    @settings(deadline=None)
    def test_equals_the_slow_twin(self, rows):
        found, twin = stability_index(rows), naive_stability(rows)
        if twin is None:
            assert math.isnan(found.index)
            assert math.isnan(found.lower)
            return
        assert found.index == pytest.approx(float(twin[0]), abs=1e-12)
        assert found.standard_error == pytest.approx(math.sqrt(twin[1]), abs=1e-7)

    def test_is_kunchevas_mean_consistency_where_sizes_are_equal(self):
        d, size, rng = 12, 5, np.random.default_rng(1)
        subsets = [set(rng.permutation(d)[:size].tolist()) for _ in range(8)]
        consistency = [
            (len(one & other) * d - size**2) / (size * (d - size)) for one, other in combinations(subsets, 2)
        ]
        chosen = [[int(f in subset) for f in range(d)] for subset in subsets]
        assert stability_index(chosen).index == pytest.approx(sum(consistency) / len(consistency))

    def test_the_interval_covers_the_truth_as_often_as_it_says(self):
        rng = np.random.default_rng(2)
        p = rng.random(30)
        truth = 1 - np.mean(p * (1 - p)) / (p.mean() * (1 - p.mean()))
        covered = 0
        for _ in range(500):
            found = stability_index(rng.random((100, 30)) < p, confidence=0.9)
            covered += found.lower <= truth <= found.upper
        assert 0.86 < covered / 500 < 0.94

    def test_a_higher_confidence_is_a_wider_interval(self):
        chosen = np.random.default_rng(3).random((20, 9)) < 0.4
        widths = [found.upper - found.lower for found in (stability_index(chosen, confidence=c) for c in (0.5, 0.99))]
        assert widths[0] < widths[1]

    @pytest.mark.parametrize(
        ("chosen", "words"),
        [
            ([[1, 0]], "shape"),
            ([1, 0], "shape"),
            (np.zeros((3, 0)), "shape"),
            ([[0, 2], [1, 0]], "other than 0 and 1"),
            ([[0.5, 1], [1, 0]], "other than 0 and 1"),
            ([["a", "b"], ["a", "c"]], "other than 0 and 1"),
        ],
    )
    def test_refusals(self, chosen, words):
        with pytest.raises(InvalidInput, match=words):
            stability_index(chosen)

    @pytest.mark.parametrize("confidence", [0, 1, 95, True, "high"])
    def test_levels_that_are_none(self, confidence):
        with pytest.raises(InvalidInput, match="between 0 and 1"):
            stability_index([[1, 0], [0, 1]], confidence=confidence)


@pytest.fixture(scope="module")
def data():
    """Three strong features among 20, more rows of one class than of the other."""
    rng = np.random.default_rng(0)
    y = (rng.random(121) < 0.3).astype(int)
    X = rng.normal(size=(121, 20))
    X[:, [2, 7, 11]] += 2.5 * y[:, None]
    return X, y


def interrupting(stage, call):
    """A listener that presses Ctrl-C at a certain report of a stage."""
    seen = []

    def listener(reported, done, total):
        seen.append(reported)
        if seen.count(stage) == call:
            seen.append("pressed")
            raise KeyboardInterrupt

    return listener


@pytest.mark.parametrize("resample", ["half", "bootstrap"])
def test_strong_features_are_always_chosen(data, resample):
    found = selection_stability(*data, 3, criterion="mrmr", n_resamples=30, resample=resample, random_state=0)
    assert found.chosen.shape == (30, 20)
    assert (found.chosen.sum(axis=1) == 3).all()
    assert found.frequencies[[2, 7, 11]].min() > 0.8
    assert list(found.most_frequent(0.8)) == sorted(
        ("x2", "x7", "x11"), key=lambda name: -found.frequencies[int(name[1:])]
    )
    assert found.stability == stability_index(found.chosen)
    assert (found.status, found.n_resamples) == ("complete", 30)


def test_noise_is_less_stable(data):
    X, y = data
    noise = np.random.default_rng(1).permutation(y)
    strong, weak = (
        selection_stability(
            X, labels, 3, strategy="forward", random_state=0, criterion="jmi", measure="plugin", correction="none"
        ).stability
        for labels in (y, noise)
    )
    assert weak.upper < strong.lower
    assert weak.index < 0.5


@pytest.mark.parametrize("resample", ["half", "bootstrap"])
@pytest.mark.parametrize("strategy", ["auto", "forward", "backward", "cobra", "qpfs", "exact", "annealing"])
def test_each_row_is_what_select_chooses_there(data, strategy, resample):
    X, y = data
    options = {"steps": 300} if strategy == "annealing" else {}
    found = selection_stability(
        X,
        y,
        4,
        strategy=strategy,
        resample=resample,
        n_resamples=3,
        random_state=5,
        bins=4,
        polish=strategy == "qpfs",
        strategy_options=options,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    seeds = np.random.default_rng(5).integers(2**63, size=3)
    for seed, row in zip(seeds, found.chosen, strict=True):
        rng = np.random.default_rng(seed)
        rows = _draw_rows(y, resample, rng)
        problem = subset_problem(
            information_terms(X[rows], y[rows], bins=4, measure="plugin", correction="none"), 4, criterion="jmi"
        )
        selection = select(problem, strategy, polish=strategy == "qpfs", random_state=rng, **options)
        assert np.flatnonzero(row).tolist() == sorted(selection.indices.tolist())


def test_the_answer_hangs_on_the_seed_alone(data):
    X, y = data
    settings = {"strategy": "annealing", "strategy_options": {"steps": 200}, "n_resamples": 6}
    once = selection_stability(X, y, 5, random_state=3, n_jobs=1, **settings)
    again = selection_stability(X, y, 5, random_state=3, n_jobs=3, **settings)
    other = selection_stability(X, y, 5, random_state=4, **settings)
    assert (once.chosen == again.chosen).all()
    assert (once.chosen != other.chosen).any()


def test_threads_do_not_matter_where_kernels_are_compiled():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (400, 260)), rng.integers(0, 2, 400)
    one, two = (
        selection_stability(
            X,
            y,
            20,
            strategy="backward",
            n_resamples=2,
            random_state=0,
            n_jobs=n_jobs,
            criterion="jmi",
            measure="plugin",
            correction="none",
        )
        for n_jobs in (1, 2)
    )
    assert (one.chosen == two.chosen).all()


def test_fewer_resamples_are_the_first_of_more(data):
    many = selection_stability(*data, 3, n_resamples=9, random_state=1)
    few = selection_stability(*data, 3, n_resamples=4, random_state=1)
    assert (many.chosen[:4] == few.chosen).all()


def test_frames_tables_and_arrays_give_the_same(data):
    X, y = data
    names = [f"f{i}" for i in range(20)]
    array = selection_stability(
        X,
        y,
        3,
        n_resamples=4,
        random_state=0,
        feature_names=names,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    frame = selection_stability(
        polars.DataFrame(X, schema=names),
        y,
        3,
        n_resamples=4,
        random_state=0,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    table = selection_stability(
        read_table(X, y, feature_names=names),
        None,
        3,
        n_resamples=4,
        random_state=0,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    assert array.feature_names == frame.feature_names == table.feature_names == tuple(names)
    assert (array.chosen == frame.chosen).all()
    assert (array.chosen == table.chosen).all()


@given(st.lists(st.integers(1, 9), min_size=2, max_size=4), st.integers(0, 99))
def test_resamples_keep_every_class(sizes, seed):
    target = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes)).astype(np.int32)
    half = _draw_rows(target, "half", np.random.default_rng(seed))
    assert len(set(half.tolist())) == len(half)
    assert np.bincount(target[half]).tolist() == [-(-size // 2) for size in sizes]
    bootstrap = _draw_rows(target, "bootstrap", np.random.default_rng(seed))
    assert np.bincount(target[bootstrap]).tolist() == sizes
    assert (np.diff(bootstrap) >= 0).all()


def test_bootstrap_rows_repeat_and_every_row_is_drawn_alike():
    target = np.repeat([0, 1], [10, 30]).astype(np.int32)
    rng = np.random.default_rng(0)
    assert any(len(np.unique(_draw_rows(target, "bootstrap", rng))) < 40 for _ in range(3))
    for resample, mean in (("half", 0.5), ("bootstrap", 1.0)):
        counts = sum(np.bincount(_draw_rows(target, resample, rng), minlength=40) for _ in range(2000))
        assert np.abs(counts / 2000 - mean).max() < 0.11


def test_rows_of_every_kind_of_column_are_taken():
    X = polars.DataFrame({"c": ["a", "b", "c", "a"], "n": [0.5, 1.5, 2.5, 3.5], "i": [4, 5, 6, 7]})
    part = read_table(X, [0, 1, 0, 1]).rows(np.array([0, 3, 3]))
    values = {part.feature_names[block.positions[0]]: block.values[:, 0].tolist() for block in part.blocks}
    assert values == {"c": [0, 0, 0], "n": [0.5, 3.5, 3.5], "i": [4, 7, 7]}
    assert part.target.tolist() == [0, 1, 1]


def test_features_that_lose_their_values_on_a_resample_are_not_chosen():
    y = np.repeat([0, 1], 10)
    rare = np.zeros(20, dtype=int)
    rare[13] = 1
    found = selection_stability(
        np.column_stack([rare, y]),
        y,
        2,
        n_resamples=40,
        random_state=0,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    assert found.frequencies[1] == 1.0
    assert 0.2 < found.frequencies[0] < 0.8
    alone = selection_stability(
        rare[:, None], y, 1, n_resamples=40, random_state=0, criterion="jmi", measure="plugin", correction="none"
    )
    assert 0.2 < alone.frequencies[0] < 0.8, "an empty subset is a subset"


@pytest.mark.parametrize(
    ("stage", "call", "left"), [("resamples", 4, 4), ("resamples", 10, 10), ("forward", 3 * 2 + 1, 2)]
)
def test_ctrl_c_leaves_what_is_finished(data, stage, call, left):
    with listening(interrupting(stage, call)):
        found = selection_stability(*data, 3, strategy="forward", n_resamples=10, random_state=0)
    whole = selection_stability(*data, 3, strategy="forward", n_resamples=10, random_state=0)
    assert (found.status, found.n_resamples) == ("interrupted", left)
    assert (found.chosen == whole.chosen[:left]).all()
    assert found.stability == stability_index(found.chosen)


def test_ctrl_c_before_anything_is_finished(data):
    with listening(interrupting("forward", 1)):
        found = selection_stability(*data, 3, strategy="forward", n_resamples=10, random_state=0)
    assert (found.status, found.n_resamples) == ("interrupted", 0)
    assert np.isnan(found.frequencies).all()
    assert found.most_frequent() == {}
    assert math.isnan(found.stability.index)


def test_progress_is_told(data):
    heard = []
    with listening(lambda stage, done, total: heard.append((stage, done, total))):
        selection_stability(*data, 3, n_resamples=3, random_state=0)
    assert [report for report in heard if report[0] == "resamples"] == [("resamples", i, 3) for i in (1, 2, 3)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_features_to_select": 21}, "21"),
        ({"n_features_to_select": 0}, "=0"),
        ({"n_features_to_select": 2.5}, "2.5"),
        ({"n_features_to_select": None}, "None"),
        ({"n_resamples": 1}, "n_resamples=1"),
        ({"resample": "third"}, "one of half, bootstrap"),
        ({"strategy": "best"}, "strategy='best'"),
        ({"criterion": "best"}, "criterion='best'"),
        ({"measure": "best"}, "measure='best'"),
        ({"beta": 1.0}, "beta"),
        ({"draws": 5}, "'draws'"),
        ({"strategy": "forward", "strategy_options": {"draws": 5}}, "draws=5"),
        ({"include": ["x99"]}, "'x99' in include"),
        ({"confidence": 2}, "confidence=2"),
        ({"random_state": -1}, "random_state=-1"),
        ({"sample_weight": [1, 2]}, "2 weights for 121 rows"),
        ({"weight": "w"}, "weight='w'"),
        ({"measure": "neighbors", "n_neighbors": 61}, "a resample of 61 rows, and in them n_neighbors=61"),
    ],
)
def test_refusals(data, arguments, words):
    with pytest.raises(InvalidInput, match=words):
        selection_stability(*data, **{"n_features_to_select": 3, **arguments})


# ---- weights, constraints, and what "auto" stands for ----


def chosen_by_hand(X, y, size, seed, *, weights=None, n_resamples=4, reading=None, **settings):
    """What `select` chooses on each resample, read anew from its rows; exhaustive, so that no search decides."""
    target = np.zeros(len(y), dtype=int) if reading else y
    if weights is not None:  # as the whole table has them: scaling fractions twice differs in the last digit
        weights = read_table(X, y, sample_weight=weights).weights
    for row_seed in np.random.default_rng(seed).integers(2**63, size=n_resamples):
        rows = _draw_rows(target, "half", np.random.default_rng(row_seed))
        heavy = None if weights is None else weights[rows]
        terms = information_terms(X[rows], y[rows], sample_weight=heavy, **(reading or {}), **settings)
        yield sorted(select(subset_problem(terms, size, criterion="jmi"), "exhaustive").indices.tolist())


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("measure", ["plugin", "gaussian_copula", "neighbors"])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_rows_keep_their_weights_by_every_measure(data, whole, measure, task):
    X, y = data[0][:, :8], data[1]
    rng = np.random.default_rng(3)
    weights = rng.integers(1, 9, len(y)) if whole else 10 * rng.random(len(y))
    if task == "regression":
        y = 3 * X[:, 2] + rng.normal(size=len(y))
    found = selection_stability(
        X,
        y,
        2,
        measure=measure,
        task=task,
        sample_weight=weights,
        strategy="exhaustive",
        n_resamples=4,
        random_state=7,
        criterion="jmi",
    )
    reading = {"task": task} if task == "regression" else None
    by_hand = chosen_by_hand(X, y, 2, 7, weights=weights, reading=reading, measure=measure)
    assert [np.flatnonzero(row).tolist() for row in found.chosen] == list(by_hand)


def test_whole_numbers_to_predict_are_numbers(data):
    X = data[0]
    y = np.round(40 * X[:, 4] + 5 * np.random.default_rng(0).normal(size=len(X)))
    found = selection_stability(
        X, y, 1, task="regression", n_resamples=10, random_state=0, criterion="jmi", measure="plugin", correction="none"
    )
    assert found.frequencies[4] == 1.0
    told_nothing = selection_stability(
        X, y, 1, n_resamples=10, random_state=0, criterion="jmi", measure="plugin", correction="none"
    )
    assert (told_nothing.chosen == found.chosen).all()


def test_constraints_hold_on_every_resample(data):
    X, y = data
    found = selection_stability(
        X,
        y,
        4,
        include=["x0"],
        exclude=[2],
        feature_groups=[[7, 8]],
        n_resamples=8,
        random_state=0,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    assert found.frequencies[0] == 1.0
    assert found.frequencies[2] == 0.0
    assert (found.chosen[:, 7] == found.chosen[:, 8]).all()
    assert (found.chosen.sum(axis=1) == 4).all()
    costs = np.ones(20)
    costs[7] = 5
    cheap = selection_stability(
        X,
        y,
        3,
        costs=costs,
        budget=3,
        n_resamples=4,
        random_state=0,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    assert cheap.frequencies[7] == 0.0
    any_size = selection_stability(
        X,
        y,
        None,
        criterion="max_relevance",
        costs=costs,
        budget=4,
        n_resamples=4,
        random_state=0,
        measure="plugin",
        correction="none",
    )
    assert (any_size.chosen.sum(axis=1) == 4).all()


def test_a_resample_that_does_not_allow_the_size_takes_the_next_smaller_one():
    """The rare column is constant on about half of the resamples: included, and in a group of two."""
    y = np.repeat([0, 1], 10)
    rare = np.zeros(20, dtype=int)
    rare[13] = 1
    rng = np.random.default_rng(0)
    X = np.column_stack([rare, y, rng.integers(0, 2, (20, 2))])
    found = selection_stability(
        X, y, 2, include=[0], n_resamples=40, random_state=0, criterion="jmi", measure="plugin", correction="none"
    )
    assert 0.2 < found.frequencies[0] < 0.8
    assert (found.chosen.sum(axis=1) == 2).all()
    # Sizes 2 and 4 are allowed on all rows; where one column of a pair is lost, 1, 2 and 3 are.
    pairs = selection_stability(
        X,
        y,
        4,
        feature_groups=[[0, 1], [2, 3]],
        n_resamples=40,
        random_state=0,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    sizes = pairs.chosen.sum(axis=1)
    assert set(sizes.tolist()) == {3, 4}
    assert (sizes == 3 + pairs.chosen[:, 0]).all()
    # Without the rare column 3 and 4 cannot be had: pairs alone are left.
    even = selection_stability(
        np.column_stack([X, 1 - X[:, 1]]),
        y,
        3,
        feature_groups=[[1, 4], [2, 3]],
        n_resamples=40,
        random_state=0,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    assert set(even.chosen.sum(axis=1).tolist()) == {2, 3}
    assert ((even.chosen.sum(axis=1) == 3) == even.chosen[:, 0]).all()


def test_a_resample_whose_target_never_changes_chooses_nothing():
    X = np.random.default_rng(0).normal(size=(12, 3))
    y = np.zeros(12)
    y[4] = 1.5
    found = selection_stability(
        X, y, 1, n_resamples=30, random_state=0, criterion="jmi", measure="plugin", correction="none"
    )
    assert set(found.chosen.sum(axis=1).tolist()) == {0, 1}
    lost = [
        4 not in _draw_rows(np.zeros(12, dtype=int), "half", np.random.default_rng(seed))
        for seed in np.random.default_rng(0).integers(2**63, size=30)
    ]
    assert (found.chosen.sum(axis=1) == 0).tolist() == lost


def test_auto_is_settled_by_the_whole_table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    y = X[:, 1] ** 2 + 0.1 * rng.normal(size=120)
    auto = selection_stability(X, y, 1, measure="auto", n_resamples=6, random_state=0, criterion="jmi")
    named = selection_stability(X, y, 1, measure="neighbors", n_resamples=6, random_state=0, criterion="jmi")
    assert (auto.chosen == named.chosen).all()  # though 60 rows are few for neighbours
    assert auto.frequencies[1] == 1.0


def test_bounds_are_not_kept_and_that_is_said(data):
    with pytest.warns(IdleSettingWarning, match="certify=True has no effect"):
        selection_stability(*data, 2, certify=True, n_resamples=2, random_state=0)
