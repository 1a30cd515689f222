"""The selector beyond scikit-learn's own checks: answers, names, frames, pipelines, refusals."""

import pickle
import sys
import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from as_before import counted, jmi
from certselect import SubsetSelector, information_terms, select, subset_problem
from certselect.errors import FewerFeaturesWarning, InterruptedWarning, QuickerSearchWarning
from certselect.progress import listening
from certselect.search import list_strategies

select_module = sys.modules["certselect.search.select"]  # its name is also that of its function


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 240)
    X = rng.normal(size=(240, 8)) + y[:, None] * rng.random(8)
    X[:, 6] = X[:, 1]  # a duplicate of an earlier column
    X[:, 7] = 1.0  # a constant
    return X, y


@pytest.mark.parametrize("strategy", ["auto", *list_strategies()])
def test_it_is_the_flow_and_nothing_else(table, strategy):
    X, y = table
    selector = SubsetSelector(
        3, criterion="mrmr", strategy=strategy, random_state=1, polish=True, measure="plugin", correction="none"
    ).fit(X, y)
    problem = subset_problem(information_terms(X, y, measure="plugin", correction="none"), 3, "mrmr")
    expected = select(problem, strategy, random_state=1, polish=True)
    assert selector.indices_.tolist() == expected.indices.tolist()
    assert selector.objective_ == expected.objective
    assert np.flatnonzero(selector.support_).tolist() == sorted(expected.indices.tolist())
    np.testing.assert_equal((selector.upper_bound_, selector.gap_), (expected.upper_bound, expected.gap))
    assert selector.selection_.dropped == ("x7",)
    assert (selector.transform(X) == X[:, selector.support_]).all()


def test_duplicates_go_to_the_lowest_index(table):
    X, y = table
    selector = SubsetSelector(1, criterion="max_relevance", measure="plugin", correction="none").fit(X[:, [6, 1]], y)
    assert selector.indices_.tolist() == [0]


def test_frames_and_arrays_choose_the_same_and_keep_names(table):
    import pandas as pd
    import polars as pl

    X, y = table
    names = [f"gene {i}" for i in range(8)]
    labels = np.array(["low", "mid", "high"])[y]
    chosen = SubsetSelector(4, criterion="jmi", measure="plugin", correction="none").fit(X, y).indices_.tolist()
    for frame, target in (
        (pd.DataFrame(X, columns=names), pd.Series(labels)),
        (pl.DataFrame(X, schema=names), pl.Series(labels)),
    ):
        selector = SubsetSelector(4, criterion="jmi", measure="plugin", correction="none").fit(frame, target)
        assert selector.indices_.tolist() == chosen
        assert selector.feature_names_in_.tolist() == names
        assert selector.get_feature_names_out().tolist() == [names[i] for i in sorted(chosen)]
        assert selector.selection_.names == tuple(names[i] for i in chosen)
        assert not hasattr(selector.fit(X[:, :5], y), "feature_names_in_"), "an array has none"
        assert selector.n_features_in_ == 5
    out = (
        SubsetSelector(4, criterion="jmi", measure="plugin", correction="none")
        .set_output(transform="pandas")
        .fit(pd.DataFrame(X, columns=names), y)
    )
    transformed = out.transform(pd.DataFrame(X, columns=names))
    assert transformed.columns.tolist() == [names[i] for i in sorted(chosen)]


def test_mixed_frames_work_unprepared():
    import pandas as pd

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    frame = pd.DataFrame(
        {
            "city": np.where((y == 1) & (rng.random(300) < 0.8), "Oslo", rng.choice(["Rome", "Lima"], 300)),
            "flag": rng.integers(0, 2, 300).astype(bool),
            "size": pd.Categorical(rng.choice(["S", "M", "L"], 300)),
            "weight": rng.normal(size=300) + y,
            "count": rng.integers(0, 4, 300),
        }
    )
    selector = (
        SubsetSelector(2, criterion="jmi", measure="plugin", correction="none")
        .set_output(transform="pandas")
        .fit(frame, y)
    )
    assert selector.selection_.names == ("city", "weight")
    assert selector.transform(frame).columns.tolist() == ["city", "weight"]
    plain = SubsetSelector(2, criterion="jmi", measure="plugin", correction="none").fit(frame, y).transform(frame)
    assert plain.shape == (300, 2)
    assert set(plain[:, 0]) == {"Oslo", "Rome", "Lima"}


def test_pipelines_grids_clones_and_pickles():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(
        SubsetSelector(2, criterion="jmi", measure="plugin", correction="none"), LogisticRegression(max_iter=1000)
    )
    grid = GridSearchCV(
        pipeline, {"subsetselector__n_features_to_select": [1, 2], "subsetselector__bins": [3, 5]}, cv=3
    )
    assert grid.fit(X, y).best_score_ > 0.9
    selector = SubsetSelector(2, criterion="mifs", beta=0.3, measure="plugin", correction="none").fit(X, y)
    assert clone(selector).get_params() == selector.get_params()
    again = pickle.loads(pickle.dumps(selector))
    assert (again.transform(X) == selector.transform(X)).all()
    for i in selector.indices_:
        assert (again.terms_.pair_row("redundancy", i) == selector.terms_.redundancy[i]).all()


def test_threads_side_by_side_give_the_same_answer():
    """Numba's own parallel loops would abort here."""
    rng = np.random.default_rng(9)
    X, y = rng.integers(0, 5, (2000, 150)), rng.integers(0, 2, 2000)
    alone = (
        SubsetSelector(10, strategy="backward", n_jobs=1, criterion="jmi", measure="plugin", correction="none")
        .fit(X, y)
        .indices_.tolist()
    )
    jobs = [
        joblib.delayed(
            SubsetSelector(10, strategy="backward", n_jobs=2, criterion="jmi", measure="plugin", correction="none").fit
        )(X, y)
        for _ in range(4)
    ]
    for fitted in joblib.Parallel(n_jobs=4, prefer="threads")(jobs):
        assert fitted.indices_.tolist() == alone


@pytest.mark.parametrize("strategy", ["auto", *list_strategies()])
def test_row_order_and_jobs_do_not_matter(table, strategy):
    X, y = table
    order = np.random.default_rng(0).permutation(len(y))
    one = SubsetSelector(
        3, strategy=strategy, random_state=7, n_jobs=1, criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y)
    other = SubsetSelector(
        3, strategy=strategy, random_state=7, n_jobs=3, criterion="jmi", measure="plugin", correction="none"
    ).fit(X[order], y[order])
    assert one.indices_.tolist() == other.indices_.tolist()
    assert one.objective_ == other.objective_


@pytest.mark.parametrize("strategy", ["auto", *list_strategies()])
@pytest.mark.parametrize("k", [1, 6, 7])
def test_smallest_and_largest_subsets(table, strategy, k):
    X, y = table  # 8 columns, one of them constant
    selector = SubsetSelector(
        k, strategy=strategy, copies="all", random_state=0, criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y)
    assert len(set(selector.indices_.tolist())) == k
    assert 7 not in selector.indices_


def test_more_features_than_there_are_keeps_all_and_warns(table):
    X, y = table
    with pytest.warns(FewerFeaturesWarning, match="Asked for 8 features, but the table has 7 .*1 is constant"):
        selector = SubsetSelector(8, copies="all", criterion="jmi", measure="plugin", correction="none").fit(X, y)
    assert selector.support_.tolist() == [True] * 7 + [False]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SubsetSelector(7, copies="all", criterion="jmi", measure="plugin", correction="none").fit(X, y)


def test_the_default_is_cobra_with_polish_and_a_bound(table):
    X, y = table
    selector = SubsetSelector(3, random_state=0, criterion="jmi", measure="plugin", correction="none").fit(X, y)
    same = SubsetSelector(
        3, strategy="cobra", polish=True, random_state=0, criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y)
    best = SubsetSelector(3, strategy="exhaustive", criterion="jmi", measure="plugin", correction="none").fit(X, y)
    assert selector.selection_.strategy == "cobra"
    assert selector.indices_.tolist() == same.indices_.tolist()
    assert selector.objective_ <= best.objective_ + 1e-15 <= selector.upper_bound_ + 2e-15
    assert 0 <= selector.gap_ < 0.1


def test_beyond_its_size_the_default_says_that_it_searched_another_way(table, monkeypatch):
    monkeypatch.setattr(select_module, "MOST_FOR_COBRA", 6)
    X, y = table  # 7 usable features
    with pytest.warns(QuickerSearchWarning, match="7 features are too many .* used forward selection"):
        selector = SubsetSelector(3, copies="all", criterion="jmi", measure="plugin", correction="none").fit(X, y)
    same = SubsetSelector(
        3, strategy="forward", polish=True, copies="all", criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y)
    assert selector.indices_.tolist() == same.indices_.tolist()
    assert selector.selection_.strategy == "forward"
    assert np.isnan(selector.gap_)
    assert not np.isnan(
        SubsetSelector(3, strategy="forward", certify=True, criterion="jmi", measure="plugin", correction="none")
        .fit(X, y)
        .gap_
    )


def test_one_feature_and_more_levels_than_samples():
    assert SubsetSelector(1, criterion="jmi", measure="plugin", correction="none").fit(
        [[0], [1], [0], [1]], [0, 1, 0, 1]
    ).support_.tolist() == [True]
    X = np.arange(40).reshape(20, 2)
    assert (
        len(SubsetSelector(1, criterion="jmi", measure="plugin", correction="none").fit(X, np.arange(20) % 2).indices_)
        == 1
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"n_features_to_select": 0}, "n_features_to_select=0"),
        ({"n_features_to_select": 2.5}, "whole number"),
        ({"criterion": "best"}, "one of distinct, jmi, mrmr, mifs"),
        ({"strategy": "best"}, "one of annealing, backward, cobra"),
        ({"discretize": "best"}, "uniform"),
        ({"bins": 1}, "bins"),
        ({"bins": "best"}, "sturges"),
        ({"integers": "best"}, "levels"),
        ({"beta": 0.5}, "criterion='mifs'"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_bad_parameters_are_refused_with_the_remedy(table, change, said):
    with pytest.raises(ValueError, match=said):
        SubsetSelector(**jmi(counted(change))).fit(*table)


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        ([[0.0, np.nan], [1.0, 2.0]], [0, 1], "NaN"),
        ([[0.0, np.inf], [1.0, 2.0]], [0, 1], "inf"),
        (np.empty((0, 3)), [], "3 columns without any row"),
        (np.empty((3, 0)), [0, 1, 0], "0 feature"),
        ([[0, 1], [1, 0]], [1, 1], "one class"),
        ([[0, 1], [1, 0]], [0, 1, 1], "2"),
        ([[0, 1], [0, 1]], [0, 1], "all constant"),
    ],
)
def test_bad_tables_are_refused_with_the_reason(X, y, said):
    with pytest.raises(ValueError, match=said):
        SubsetSelector(1, criterion="jmi", measure="plugin", correction="none").fit(X, y)


@pytest.mark.parametrize(("stage", "certify"), [("forward", False), ("relaxation", True), ("proof", "tight")])
def test_ctrl_c_is_said_where_nobody_looks_at_the_status(stage, certify):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 40)), rng.integers(0, 2, 60)

    def press(current, done, total):
        if current.partition(",")[0] == stage:
            raise KeyboardInterrupt

    selector = SubsetSelector(
        4, strategy="forward", certify=certify, n_jobs=1, criterion="jmi", measure="plugin", correction="none"
    )
    with listening(press), pytest.warns(InterruptedWarning, match="Ctrl-C ended the search early"):
        selector.fit(X, y)
    assert selector.selection_.status == "interrupted"
    assert selector.support_.sum() == 4
