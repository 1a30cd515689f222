"""The test against chance: p-values against slow twins, and how often noise passes."""

from dataclasses import replace

import numpy as np
import polars
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import naive_coding
import naive_copula
import naive_corrections
import naive_neighbors
from as_before import counted, jmi
from certselect import information_terms, select, stop_at_chance, subset_problem
from certselect.errors import InvalidInput
from certselect.evaluation import selection_stability
from certselect.evaluation.chance import ChanceTest
from certselect.progress import listening
from certselect.table import read_table


def made(rows=120, columns=8, told=3, seed=0):
    """Columns of which the first few carry information about the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    X = rng.integers(0, 3, (rows, columns))
    for column in range(told):
        copied = rng.random(rows) < 0.5
        X[copied, column] = y[copied]
    return X, y


def made_numbers(rows=24, columns=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    return X, X[:, 0] + 0.5 * X[:, 2] + 0.5 * rng.normal(size=rows)


# ---- slow twins ----


def averaged(size):
    return 1 / (size - 1) if size > 1 else 0


WEIGHTS = {
    "jmi": ("interaction", averaged),
    "mrmr": ("redundancy", averaged),
    "d1": ("interaction", lambda size: 1),
    "max_relevance": ("redundancy", lambda size: 0),
}


def slow_chance(measure, columns, path, criterion, orders, closed=()):
    """Shuffle the columns not chosen, measure everything anew, take the best gain of every step.

    `measure` takes a list of columns to relevance, redundancy and conditional redundancy; a
    column of one value is no candidate.
    """
    kind, weight = WEIGHTS[criterion]

    def best_gains(others):
        chosen = [columns[i] for i in path[:-1]]
        relevance, redundancy, conditional, constant = measure([*chosen, *others])

        def pair(step, j):
            here, there = step, len(chosen) + j
            both = redundancy[here][there]
            return both if kind == "redundancy" else both - conditional[here][there]

        return [
            max(
                (
                    relevance[len(chosen) + j] - weight(step + 1) * sum(pair(before, j) for before in range(step))
                    for j in range(len(columns))
                    if j not in path[:step] and j not in closed and not constant[len(chosen) + j]
                ),
                default=-np.inf,
            )
            for step in range(len(path))
        ]

    observed = np.array(best_gains(columns))
    reached = np.ones(len(path))
    for order in orders:
        moved = np.argsort(order)  # shuffling the others one way is shuffling target and chosen the other way
        reached += np.array(best_gains([[column[row] for row in moved] for column in columns])) >= observed - 1e-12
    return observed, reached / (1 + len(orders))


def one_value(columns):
    return [len(set(column)) == 1 for column in columns]


def assert_as_by_hand(tested, measure, columns, criterion, seed, closed=()):
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(columns[0])) for _ in range(tested.n_permutations)]
    observed, p_values = slow_chance(measure, columns, tested.indices.tolist(), criterion, orders, closed)
    first = tested.n_included
    assert np.isnan(tested.gains[:first]).all()
    assert np.isnan(tested.p_values[:first]).all()
    np.testing.assert_allclose(tested.gains[first:], observed[first:], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(tested.p_values[first:], p_values[first:])


@pytest.mark.parametrize("criterion", list(WEIGHTS))
@pytest.mark.parametrize("sparse", [False, True])
def test_p_values_are_those_of_counting_by_hand(criterion, sparse):
    X, y = made(rows=40, columns=5, told=2, seed=3)
    given = scipy.sparse.csr_array(X) if sparse else X
    tested = stop_at_chance(
        given, y, 4, criterion=criterion, n_permutations=19, random_state=8, measure="plugin", correction="none"
    )

    def count(columns):
        return *naive.terms(columns, y.tolist()), one_value(columns)

    assert_as_by_hand(tested, count, X.T.tolist(), criterion, seed=8)
    problem = subset_problem(information_terms(X, y, measure="plugin", correction="none"), 4, criterion)
    assert tested.indices.tolist() == select(problem, "forward").indices.tolist()


@pytest.mark.parametrize("criterion", ["jmi", "mrmr"])
@pytest.mark.parametrize("correction", ["none", "miller_madow"])
@pytest.mark.parametrize("sparse", [False, True])
def test_weights_are_shuffled_with_the_target(criterion, correction, sparse):
    X, y = made(rows=40, columns=4, told=2, seed=4)
    weights = np.random.default_rng(4).integers(1, 5, 40)
    tested = stop_at_chance(
        scipy.sparse.csc_array(X) if sparse else X,
        y,
        3,
        criterion=criterion,
        correction=correction,
        sample_weight=weights,
        n_permutations=19,
        random_state=5,
        measure="plugin",
    )

    def count(columns):
        return *naive_corrections.terms(columns, y.tolist(), weights.tolist(), correction), one_value(columns)

    assert_as_by_hand(tested, count, X.T.tolist(), criterion, seed=5)


def test_missing_values_keep_out_of_pairs():
    X, y = made(rows=40, columns=4, told=2, seed=6)
    X = np.where(np.random.default_rng(6).random(X.shape) < 0.2, np.nan, X)
    table = [[None if np.isnan(x) else x for x in column] for column in X.T.tolist()]
    tested = stop_at_chance(
        X,
        y,
        3,
        discretize="uniform",
        bins=3,
        missing="pairwise",
        n_permutations=19,
        random_state=1,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )

    def count(columns):
        return *naive_corrections.terms(columns, y.tolist(), [1] * 40, "none"), one_value(columns)

    assert_as_by_hand(tested, count, table, "jmi", seed=1)


@pytest.mark.parametrize("sparse", [False, True])
def test_cuts_by_classes_are_found_anew_for_every_permutation(sparse):
    """Cut points that suit the real classes would make them look better than shuffled ones."""
    rng = np.random.default_rng(0)  # a signal so weak that cutting once gives other p-values
    y = rng.integers(0, 2, 60)
    X = rng.normal(size=(60, 6))
    X[:, 1] += y
    X[:, 3] -= y
    tested = stop_at_chance(
        scipy.sparse.csr_array(X) if sparse else X,
        y,
        2,
        discretize="mdlp",
        n_permutations=39,
        random_state=2,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )

    def cut_and_count(columns):
        codes = [
            naive_coding.codes_of(column, naive_coding.mdlp(list(zip(column, y.tolist(), strict=True))))
            for column in columns
        ]
        return *naive.terms(codes, y.tolist()), one_value(codes)

    assert_as_by_hand(tested, cut_and_count, X.T.tolist(), "jmi", seed=2)


@pytest.mark.parametrize("sparse", [False, True])
def test_cuts_by_weights_are_found_anew_for_every_permutation(sparse):
    rng = np.random.default_rng(7)
    X, weights = rng.normal(size=(30, 3)), rng.integers(1, 6, 30)
    y = (X[:, 1] + rng.normal(size=30) > 0).astype(int)
    tested = stop_at_chance(
        scipy.sparse.csr_array(X) if sparse else X,
        y,
        2,
        sample_weight=weights,
        discretize="quantile",
        bins=3,
        n_permutations=19,
        random_state=3,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )

    def cut_and_count(columns):
        repeated = [naive_coding.repeated(column, weights) for column in columns]
        codes = [naive_coding.codes_of(column, naive_coding.quantile(column, 3)) for column in repeated]
        return *naive.terms(codes, naive_coding.repeated(y.tolist(), weights)), one_value(codes)

    assert_as_by_hand(tested, cut_and_count, X.T.tolist(), "jmi", seed=3)


@pytest.mark.parametrize("criterion", ["jmi", "mrmr"])
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("weighted", [False, True])
def test_ranks(criterion, task, weighted):
    X, numbers = made_numbers()
    y = numbers if task == "regression" else (numbers > 0).astype(int)
    weights = np.random.default_rng(0).integers(1, 4, len(y)) if weighted else None
    tested = stop_at_chance(
        X,
        y,
        3,
        measure="gaussian_copula",
        criterion=criterion,
        sample_weight=weights,
        n_permutations=19,
        random_state=4,
    )
    labels, targets = ([0] * len(y), [y.tolist()]) if task == "regression" else (y.tolist(), [])

    def by_ranks(columns):
        heavy = None if weights is None else weights.tolist()
        return *naive_copula.terms(columns, labels, targets, heavy), one_value(columns)

    rng = np.random.default_rng(4)
    orders = [rng.permutation(len(y)) for _ in range(19)]
    observed, p_values = slow_chance(by_ranks, X.T.tolist(), tested.indices.tolist(), criterion, orders)
    np.testing.assert_allclose(tested.gains, observed, rtol=0, atol=1e-4)  # scores are rounded to 20 bits
    np.testing.assert_array_equal(tested.p_values, p_values)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_neighbours(task):
    X, numbers = made_numbers(rows=20, columns=3)
    X[:, 1] = np.round(X[:, 1])
    y = numbers if task == "regression" else (numbers > 0).astype(int)
    tested = stop_at_chance(
        X, y, 2, measure="neighbors", n_neighbors=2, significance=0.2, n_permutations=9, random_state=4, criterion="jmi"
    )
    labels, targets = ([0] * len(y), [y.tolist()]) if task == "regression" else (y.tolist(), [])

    def by_distances(columns):
        terms = naive_neighbors.terms(columns, [False] * len(columns), labels, targets, 2)
        return *naive.fit_together(*terms), one_value(columns)

    assert_as_by_hand(tested, by_distances, X.T.tolist(), "jmi", seed=4)


@pytest.mark.parametrize("missing", ["level", "pairwise"])
@pytest.mark.parametrize("sparse", [False, True])
def test_coding_once_and_coding_every_permutation_agree(monkeypatch, missing, sparse):
    """Where cuts do not depend on the rows' order, both ways of shuffling are one; here with columns of all kinds."""
    rng = np.random.default_rng(9)
    X, y = made(rows=60, columns=5, told=3, seed=9)
    table = scipy.sparse.csr_array(X)
    if not sparse:
        words = [None if lost else "abc"[value] for value, lost in zip(X[:, 1], rng.random(60) < 0.1, strict=True)]
        numbers = np.where(rng.random(60) < 0.1, np.nan, X[:, 4] + rng.normal(size=60))
        table = polars.DataFrame({"a": X[:, 0], "b": words, "c": numbers, "d": X[:, 3] > 0, "e": X[:, 2]})
    settings = {"sample_weight": rng.integers(1, 4, 60), "missing": missing, "n_permutations": 19, "random_state": 3}
    once = stop_at_chance(table, y, 5, **jmi(counted(settings)))
    monkeypatch.setattr("certselect.evaluation.shuffled._levels_depend_on_rows", lambda *_: True)
    again = stop_at_chance(table, y, 5, **jmi(counted(settings)))
    assert once.indices.tolist() == again.indices.tolist()
    assert once.p_values.tolist() == again.p_values.tolist()
    assert len(set(once.p_values.tolist())) > 1


def test_neighbours_of_columns_of_several_kinds():
    X, y = made(rows=60, columns=4, told=1)
    frame = polars.DataFrame({"a": X[:, 0], "b": ["abc"[value] for value in X[:, 1]], "c": X[:, 2] > 0, "d": X[:, 3]})
    tested = stop_at_chance(frame, y, 3, measure="neighbors", n_permutations=19, criterion="jmi")
    assert (tested.k, tested.names[0]) == (1, "a")


# ---- what is included and excluded ----


def test_included_features_begin_the_path_untested_and_excluded_ones_are_no_candidates():
    X, y = made(rows=60, columns=6, told=3, seed=3)
    tested = stop_at_chance(
        X,
        y,
        5,
        include=[5, 1],
        exclude=["x0"],
        n_permutations=19,
        random_state=6,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    assert tested.indices[:2].tolist() == [1, 5]
    assert 0 not in tested.indices
    assert tested.n_included == 2

    def count(columns):
        return *naive.terms(columns, y.tolist()), one_value(columns)

    assert_as_by_hand(tested, count, X.T.tolist(), "jmi", seed=6, closed=(0,))
    assert 2 <= tested.k <= 5
    assert "beside the 2 included" in tested.statement


def test_nothing_but_what_is_included():
    X, y = made(rows=60, columns=6, told=0)
    tested = stop_at_chance(
        X, y, 2, include=[3], n_permutations=19, criterion="jmi", measure="plugin", correction="none"
    )
    assert tested.k == 1
    assert tested.statement.startswith("No feature adds more than chance beside the 1 included, not even the first")
    assert (
        len(
            stop_at_chance(
                *made(columns=30), include=[3], n_permutations=19, criterion="jmi", measure="plugin", correction="none"
            ).p_values
        )
        == 21
    )


def test_small_p_values_behind_the_first_failure_do_not_count():
    tested = ChanceTest(
        k=1,
        indices=np.arange(4),
        names=("a", "b", "c", "d"),
        gains=np.array([0.2, 0.1, 0.1, 0.05]),
        p_values=np.array([0.01, 0.08, 0.01, 0.01]),
        significance=0.05,
        n_permutations=99,
    )
    assert "Small p-values behind step 2 do not count: each takes the features before it for granted" in repr(tested)
    assert tested.columns["outcome"] == ["above chance", "stops here", "not counted", "not counted"]
    statement, head, *rows = repr(tested).splitlines()
    assert statement == tested.statement
    assert head.split() == ["step", "feature", "adds", "p_value", "outcome"]
    assert rows[1].split() == ["2", "b", "0.1", "0.08", "stops", "here"]
    assert tested.to_frame("polars")["p_value"].to_list() == [0.01, 0.08, 0.01, 0.01]
    passed = replace(tested, k=4, p_values=np.full(4, 0.01))
    assert passed.columns["outcome"] == ["above chance"] * 4
    assert "do not count" not in passed.statement


def test_what_is_included_is_said_in_the_table():
    tested = stop_at_chance(
        *made(columns=5), 2, include=[3], n_permutations=19, criterion="jmi", measure="plugin", correction="none"
    )
    assert tested.columns["outcome"][0] == "included"
    assert tested.columns["feature"][0] == "x3"


def test_mdlp_is_named_where_it_cuts_nothing():
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidInput, match="none of whose 10 features discretize='mdlp' cuts"):
        stop_at_chance(
            rng.normal(size=(100, 10)),
            rng.integers(0, 2, 100),
            discretize="mdlp",
            n_permutations=19,
            criterion="jmi",
            measure="plugin",
            correction="none",
        )


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_target_of_many_whole_numbers_is_read_as_the_warning_advises(task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = np.round(100 * X[:, 0] + 10 * rng.normal(size=150))
    tested = stop_at_chance(X, y, 2, n_permutations=19, task=task, criterion="jmi", measure="plugin", correction="none")
    assert tested.names[0] == "x0"
    assert tested.k >= 1
    assert (
        selection_stability(
            X, y, 1, n_resamples=3, task=task, criterion="jmi", measure="plugin", correction="none"
        ).n_resamples
        == 3
    )


# ---- what it is for ----


def test_it_stops_after_the_columns_that_say_something():
    X, y = made(rows=400, columns=30, told=3)
    tested = stop_at_chance(X, y, 6, n_permutations=99, criterion="jmi", measure="plugin", correction="none")
    assert tested.k == 3
    assert sorted(tested.indices[:3].tolist()) == [0, 1, 2]
    assert (tested.p_values[:3] == 0.01).all()
    assert tested.p_values[3] > 0.05
    assert tested.statement.startswith("3 features add more than chance, the next one does not (p = ")
    assert tested.names[:3] == tuple(f"x{i}" for i in tested.indices[:3])
    few = stop_at_chance(X, y, 2, n_permutations=99, criterion="jmi", measure="plugin", correction="none")
    assert few.statement.startswith("All 2 features tried add more than chance")


NOISE = {
    "counts": {},
    "weighted counts": {"sample_weight": "any"},
    "cuts by classes": {"discretize": "mdlp", "numbers": True},
    "weighted quantiles": {"discretize": "quantile", "numbers": True, "sample_weight": "any"},
    "regression by counts": {"task": "regression"},
    "ranks": {"measure": "gaussian_copula", "numbers": True},
    "weighted regression by ranks": {
        "measure": "gaussian_copula", "numbers": True, "task": "regression", "sample_weight": "any",
    },
    "neighbours": {"measure": "neighbors", "numbers": True},
    "weighted regression by neighbours": {
        "measure": "neighbors", "numbers": True, "task": "regression", "sample_weight": "whole",
    },
    "gaps": {"missing": "pairwise", "numbers": True, "gaps": True},
    "gaps in ranks": {"missing": "pairwise", "measure": "gaussian_copula", "numbers": True, "gaps": True},
}  # fmt: skip


@pytest.mark.parametrize("case", list(NOISE))
def test_noise_passes_as_seldom_as_promised(case):
    """Of 60 tables of noise, a first feature passes in about 1 in 10 at significance 0.1; 13 or more has p < 0.01."""
    settings = dict(NOISE[case])
    numbers, gaps, weights = (settings.pop(name, None) for name in ("numbers", "gaps", "sample_weight"))
    passed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(50, 8)) if numbers else rng.integers(0, 3, (50, 20))
        y = rng.normal(size=50) if settings.get("task") == "regression" else rng.integers(0, 2, 50)
        if weights:
            # Weights that the target depends on, as those of a stratified sample do.
            heavy = np.where(y > np.median(y), 3, 1) * rng.integers(1, 3, 50)
            settings["sample_weight"] = heavy if weights == "whole" else heavy * rng.random(50)
        if gaps:
            X[rng.random(X.shape) < 0.2] = np.nan
        if (
            case == "cuts by classes"
            and information_terms(X, y, discretize="mdlp", measure="plugin", correction="none").constant.all()
        ):
            continue  # no column is cut at all, so none passes
        tested = stop_at_chance(
            X, y, 1, significance=0.1, n_permutations=39, random_state=seed, **jmi(counted(settings))
        )
        passed += tested.k > 0
    assert 0 < passed < 13


# ---- everything else ----


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000))
def test_seeds_jobs_and_kinds_of_input_do_not_matter(seed):
    X, y = made(rows=30, columns=5, seed=seed)
    X[:, 4] = 2  # a constant is never chosen
    one = stop_at_chance(
        X, y, n_permutations=19, random_state=seed, n_jobs=1, criterion="jmi", measure="plugin", correction="none"
    )
    other = stop_at_chance(
        read_table(X, y),
        n_permutations=19,
        random_state=seed,
        n_jobs=2,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    assert one.p_values.tolist() == other.p_values.tolist()
    assert one.k == other.k
    assert len(one.indices) == 4
    assert 4 not in one.indices
    assert ((one.p_values >= 0.05) & (one.p_values <= 1)).all()


def test_what_auto_measures_is_settled_once():
    """By all rows as they are: shuffled ones are not looked at to choose a measure."""
    X, y = made_numbers(rows=120, columns=4)
    auto = stop_at_chance(X, y, 2, measure="auto", n_permutations=19, criterion="jmi", correction="none")
    named = stop_at_chance(X, y, 2, measure="mixed", n_permutations=19, criterion="jmi", correction="none")
    assert auto.p_values.tolist() == named.p_values.tolist()
    assert auto.gains.tolist() == named.gains.tolist()
    X, y = np.random.default_rng(0).integers(0, 35, (80, 4)).astype(str), np.arange(80) % 2
    corrected = stop_at_chance(X, y, 2, measure="auto", n_permutations=19, criterion="jmi", correction="none")
    by_name = stop_at_chance(X, y, 2, correction="none", n_permutations=19, criterion="jmi", measure="plugin")
    assert corrected.gains.tolist() == by_name.gains.tolist()
    assert corrected.p_values.tolist() == by_name.p_values.tolist()


def test_names_and_the_task_are_passed_on():
    X, y = made(rows=60, columns=3, told=1)
    tested = stop_at_chance(
        X,
        10 * y + X[:, 1],
        2,
        task="regression",
        feature_names=list("abc"),
        n_permutations=19,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    assert set(tested.names) <= set("abc")
    same = stop_at_chance(
        read_table(X, 10 * y + X[:, 1], task="regression"),
        None,
        2,
        n_permutations=19,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    assert tested.p_values.tolist() == same.p_values.tolist()


def test_progress_and_ctrl_c():
    X, y = made()
    seen = []
    with listening(lambda *progress: seen.append(progress)):
        stop_at_chance(X, y, 2, n_permutations=20, criterion="jmi", measure="plugin", correction="none")
    assert [progress for progress in seen if progress[0] == "permutations"] == [
        ("permutations", done, 20) for done in range(1, 21)
    ]

    def press(stage, done, total):
        if stage == "forward":
            raise KeyboardInterrupt

    with listening(press), pytest.raises(KeyboardInterrupt):
        stop_at_chance(X, y, 2, n_permutations=20, criterion="jmi", measure="plugin", correction="none")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"significance": 0}, "significance=0; expected a number between 0 and 1"),
        ({"significance": True}, "significance=True; expected a number between 0 and 1"),
        ({"significance": 0.01, "n_permutations": 50}, "n_permutations=50 for significance=0.01; expected 99 or more"),
        ({"n_permutations": 0}, "n_permutations=0"),
        ({"max_features": 99}, "max_features=99; expected 1 to 8"),
        ({"max_features": 0}, "max_features=0"),
        ({"max_features": 2, "include": [0, 1]}, "max_features=2 with 2 features to include; expected 3 or more"),
        ({"include": list(range(8))}, "every usable feature in include"),
        ({"criterion": "best"}, "criterion='best'"),
        ({"estimator": "plugin"}, "'estimator' is now called 'measure'"),
        ({"strategy": "cobra"}, "strategy='cobra'; expected 'forward' or 'auto'"),
        ({"strategy_options": {"draws": 5}}, "no strategy_options"),
        ({"polish": True}, "polish=True"),
        ({"certify": "tight"}, "certify='tight'"),
        ({"max_seconds": 3}, "max_seconds=3"),
        ({"feature_groups": [[0, 1]]}, "one column is tested at a time"),
        ({"costs": [1] * 8, "budget": 3}, "nothing to do with chance"),
        ({"weight": "w"}, "weight='w' beside data and target apart"),
        ({"random_state": -1}, "random_state=-1"),
    ],
)
def test_what_cannot_be_is_refused(change, said):
    with pytest.raises(InvalidInput, match=said):
        stop_at_chance(*made(), **jmi(counted(change)))


def test_a_table_comes_alone_and_varies():
    with pytest.raises(InvalidInput, match="all constant"):
        stop_at_chance(np.ones((6, 2), dtype=int), [0, 1] * 3, criterion="jmi", measure="plugin", correction="none")
    X, y = made()
    with pytest.raises(InvalidInput, match="a Table and a target, sample_weight beside it"):
        stop_at_chance(read_table(X, y), y, sample_weight=y + 1, criterion="jmi", measure="plugin", correction="none")
    with pytest.raises(InvalidInput, match="a Table and task beside it"):
        stop_at_chance(read_table(X, y), task="regression", criterion="jmi", measure="plugin", correction="none")
