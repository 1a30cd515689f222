"""Choosing a size with no classifier: the curve, its elbow and the test against chance."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certselect import information_terms, select, subset_problem
from certselect.errors import InvalidInput
from certselect.evaluation.chance import stop_at_chance
from certselect.evaluation.sizes import ValueCurve, find_elbow, value_curve
from certselect.progress import listening
from certselect.table import read_table


def made(rows=120, columns=8, told=3, seed=0):
    """Columns of which the first few say something of the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    X = rng.integers(0, 3, (rows, columns))
    for column in range(told):
        copied = rng.random(rows) < 0.5
        X[copied, column] = y[copied]
    return X, y


def curve_of(values, sizes=None):
    sizes = np.arange(1, len(values) + 1) if sizes is None else np.asarray(sizes)
    return ValueCurve(sizes, np.asarray(values, dtype=float), np.full(len(values), np.nan), ())


# ---- the curve ----


@pytest.mark.parametrize("strategy", ["forward", "cobra"])
def test_the_curve_is_what_select_finds_with_bounds_that_hold(strategy):
    terms = information_terms(*made())
    curve = value_curve(terms, [5, 1, 3, 3], "mrmr", strategy, certify=True, random_state=0)
    assert curve.sizes.tolist() == [1, 3, 5]
    for size, value, bound, gap in zip(curve.sizes, curve.values, curve.upper_bounds, curve.gaps, strict=True):
        problem = subset_problem(terms, int(size), "mrmr")
        assert value <= select(problem, "exhaustive").objective + 1e-12 <= bound + 2e-12
        assert gap == pytest.approx((bound - value) / abs(value))
        if strategy == "forward":
            assert value == select(problem, "forward").objective


def test_without_certify_the_bounds_are_unknown_and_settings_are_passed_on():
    terms = information_terms(*made())
    curve = value_curve(terms, range(1, 4), "mifs", "floating", beta=0.3, exclude=[0])
    assert np.isnan(curve.upper_bounds).all()
    assert np.isnan(curve.gaps).all()
    assert all(0 not in selection.indices for selection in curve.selections)
    with pytest.raises(InvalidInput, match="one size or more"):
        value_curve(terms, [])
    with pytest.raises(InvalidInput, match="one size or more"):
        value_curve(terms, 3)


# ---- the elbow ----


def test_the_elbow_by_hand():
    # The chord of 0, 3, 4, 4.5, 5 over 1..5 is 0, 1.25, 2.5, 3.75, 5: heights 0, 1.75, 1.5, 0.75, 0.
    elbow = find_elbow(curve_of([0, 3, 4, 4.5, 5]))
    assert (elbow.k, elbow.height, elbow.first, elbow.last) == (2, 1.75, 1, 5)
    assert (
        elbow.statement == "Elbow between 1 and 5 features: up to 2 a feature adds more than the average, beyond less."
    )
    # A curve that falls in the end: chord 1, 1.5, 2 over 1, 3, 5.
    assert find_elbow(curve_of([1, 4, 2], sizes=[1, 3, 5])).k == 3


@pytest.mark.parametrize("values", [[1, 2, 3, 4], [0, 0.1, 1, 3], [2, 2, 2], [0.1, 0.2, 0.30000000000000004]])
def test_straight_and_hollow_curves_have_no_elbow(values):
    elbow = find_elbow(curve_of(values))
    assert (elbow.k, elbow.height) == (None, 0.0)
    assert "No elbow between 1 and" in elbow.statement


def test_two_points_are_a_line():
    with pytest.raises(InvalidInput, match="a curve of 2 sizes"):
        find_elbow(curve_of([1, 2]))


@given(
    st.lists(st.integers(-20, 20), min_size=3, max_size=12),
    st.integers(1, 9),
    st.integers(-5, 5),
)
def test_scales_do_not_move_the_elbow(values, scale, shift):
    values = np.array(values, dtype=float)
    elbow = find_elbow(curve_of(values))
    stretched = find_elbow(curve_of(values * scale + shift, sizes=3 * np.arange(1, len(values) + 1)))
    assert stretched.k == (None if elbow.k is None else 3 * elbow.k)
    # Slow twin: the distance of every point from the line through the ends.
    first, last = np.array([1.0, values[0]]), np.array([len(values), values[-1]])
    along = last - first
    above = [
        (along[0] * (value - first[1]) - along[1] * (size - first[0])) / math.hypot(*along)
        for size, value in enumerate(values, start=1)
    ]
    if elbow.k is None:
        assert max(above) <= 1e-9
    else:
        assert above[elbow.k - 1] == pytest.approx(max(above), abs=1e-9)
        assert max(above[: elbow.k - 1]) < max(above)


# ---- the test against chance ----


def entropy(*columns):
    counts = Counter(zip(*columns, strict=True)).values()
    total = sum(counts)
    return -sum(count / total * math.log(count / total) for count in counts)


def slow_chance(X, y, path, kind, weight, orders):
    """Shuffle the columns not chosen, count everything anew by dictionaries, take the best gain of every step."""

    def shared(a, b):
        return entropy(a) + entropy(b) - entropy(a, b)

    def pair(f, s):
        if kind == "redundancy":
            return shared(f, s)
        together = entropy(f, y) + entropy(s, y) - entropy(f, s, y) - entropy(y)
        return shared(f, s) - together

    def best_gain(columns, chosen):
        left = [j for j in range(X.shape[1]) if j not in chosen]
        return max(
            shared(columns[j], y) - weight(len(chosen) + 1) * sum(pair(columns[j], X[:, s].tolist()) for s in chosen)
            for j in left
        )

    y = y.tolist()
    real = [column.tolist() for column in X.T]
    observed = [best_gain(real, path[:step]) for step in range(len(path))]
    reached = np.ones(len(path))
    for order in orders:
        moved = np.argsort(order)  # shuffling the others one way is shuffling target and chosen the other way
        shuffled = [column[moved].tolist() for column in X.T]
        reached += [best_gain(shuffled, path[:step]) >= observed[step] - 1e-12 for step in range(len(path))]
    return np.array(observed), reached / (1 + len(orders))


@pytest.mark.parametrize(
    ("criterion", "kind", "weight"),
    [
        ("jmi", "interaction", lambda size: 1 / (size - 1) if size > 1 else 0),
        ("mrmr", "redundancy", lambda size: 1 / (size - 1) if size > 1 else 0),
        ("d1", "interaction", lambda size: 1),
        ("max_relevance", "redundancy", lambda size: 0),
    ],
)
def test_p_values_are_those_of_counting_by_hand(criterion, kind, weight):
    X, y = made(rows=40, columns=5, told=2, seed=3)
    tested = stop_at_chance(X, y, 4, criterion, n_permutations=19, random_state=8)
    rng = np.random.default_rng(8)
    orders = [rng.permutation(40) for _ in range(19)]
    observed, p_values = slow_chance(X, y, tested.indices.tolist(), kind, weight, orders)
    np.testing.assert_allclose(tested.gains, observed, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(tested.p_values, p_values)
    assert tested.indices.tolist() == select(subset_problem(information_terms(X, y), 4, criterion)).indices.tolist()


def test_it_stops_after_the_columns_that_say_something():
    X, y = made(rows=400, columns=30, told=3)
    tested = stop_at_chance(X, y, 6, n_permutations=99)
    assert tested.k == 3
    assert sorted(tested.indices[:3].tolist()) == [0, 1, 2]
    assert (tested.p_values[:3] == 0.01).all()
    assert tested.p_values[3] > 0.05
    assert tested.statement.startswith("3 features add more than chance, the next one does not (p = ")
    assert tested.names[:3] == tuple(f"x{i}" for i in tested.indices[:3])
    few = stop_at_chance(X, y, 2, n_permutations=99)
    assert few.statement.startswith("All 2 features tried add more than chance")


def test_noise_passes_as_seldom_as_promised():
    """Of 60 tables of noise, a first feature passes in about 1 in 10 at significance 0.1; 13 or more has p < 0.01."""
    passed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 3, (50, 20)), rng.integers(0, 2, 50)
        passed += stop_at_chance(X, y, 1, significance=0.1, n_permutations=39, random_state=seed).k > 0
    assert 0 < passed < 13


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000))
def test_seeds_jobs_and_kinds_of_input_do_not_matter(seed):
    X, y = made(rows=30, columns=5, seed=seed)
    X[:, 4] = 2  # a constant is never chosen
    one = stop_at_chance(X, y, n_permutations=19, random_state=seed, n_jobs=1)
    other = stop_at_chance(read_table(X, y), n_permutations=19, random_state=seed, n_jobs=2)
    assert one.p_values.tolist() == other.p_values.tolist()
    assert one.k == other.k
    assert len(one.indices) == 4
    assert 4 not in one.indices
    assert ((one.p_values >= 0.05) & (one.p_values <= 1)).all()


def test_progress_and_ctrl_c():
    X, y = made()
    seen = []
    with listening(lambda *progress: seen.append(progress)):
        stop_at_chance(X, y, 2, n_permutations=20)
    assert [progress for progress in seen if progress[0] == "permutations"] == [
        ("permutations", done, 20) for done in range(1, 21)
    ]

    def press(stage, done, total):
        if stage == "forward":
            raise KeyboardInterrupt

    with listening(press), pytest.raises(KeyboardInterrupt):
        stop_at_chance(X, y, 2, n_permutations=20)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"significance": 0}, "significance=0; expected a number between 0 and 1"),
        ({"significance": 0.01, "n_permutations": 50}, "n_permutations=50 for significance=0.01; expected 99 or more"),
        ({"n_permutations": 0}, "n_permutations=0"),
        ({"max_k": 99}, "k=99"),
        ({"criterion": "best"}, "criterion='best'"),
    ],
)
def test_what_cannot_be_is_refused(change, said):
    with pytest.raises(InvalidInput, match=said):
        stop_at_chance(*made(), **change)
    with pytest.raises(InvalidInput, match="all constant"):
        stop_at_chance(np.ones((6, 2), dtype=int), [0, 1] * 3)
