"""SubsetSelector on what users have: mixed frames, missing values, sparse matrices, weights, any target."""

import pickle
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from certselect import SubsetSelector, information_terms
from certselect.errors import IdleSettingWarning, InvalidInput
from certselect.table import read_table

MEASURES = ["plugin", "gaussian_copula", "neighbors"]


def mixed_columns(m=240, seed=0):
    """Columns of every kind as Python lists, with holes, and labels that three of them tell."""
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "green", "blue"], m)
    size = rng.integers(0, 4, m)
    weight = rng.normal(size=m) + (colour == "red")
    flag = rng.random(m) < 0.5
    y = np.where((colour == "red") ^ (size > 1), "yes", "no")

    def with_holes(values):
        return [None if hole else value for value, hole in zip(values.tolist(), rng.random(m) < 0.1, strict=True)]

    columns = {
        "colour": with_holes(colour),
        "size": with_holes(size),
        "weight": with_holes(weight),
        "flag": with_holes(flag),
        "noise": rng.normal(size=m).tolist(),
    }
    return columns, y


def frames(columns):
    """The same columns as every kind of frame, and in several dtypes of each."""
    plain = pl.DataFrame(columns)
    nullable = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    return {
        "polars": plain,
        "polars with a category": plain.with_columns(pl.col("colour").cast(pl.Categorical)),
        "polars with an enum": plain.with_columns(pl.col("colour").cast(pl.Enum(["red", "green", "blue", "unused"]))),
        "pandas": nullable.astype({"size": "Int64", "weight": "float64", "flag": "boolean"}),
        "pandas with a category": nullable.astype({"colour": "category", "size": "Int8", "flag": "boolean"}),
        "pandas objects": nullable,
        "pandas by Arrow": pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
        "Arrow": pa.table(columns),
        "Arrow dictionary": pa.table({**columns, "colour": pa.array(columns["colour"]).dictionary_encode()}),
    }


@pytest.mark.parametrize("missing", ["auto", "level", "pairwise"])
def test_every_kind_of_frame_gives_the_same_answer(missing):
    columns, y = mixed_columns()
    answers = {}
    for kind, frame in frames(columns).items():
        selector = SubsetSelector(
            2, strategy="exhaustive", missing=missing, criterion="jmi", measure="plugin", correction="none"
        ).fit(frame, y)
        answers[kind] = (
            list(selector.get_feature_names_out()),
            selector.objective_,
            selector.terms_.relevance.tolist(),
        )
    assert len(set(map(str, answers.values()))) == 1, answers
    assert set(answers["polars"][0]) == {"colour", "size"}


def test_an_array_of_the_same_values_gives_the_same_answer():
    columns, y = mixed_columns()
    array = np.array(list(columns.values()), dtype=object).T
    by_frame = SubsetSelector(2, criterion="jmi", measure="plugin", correction="none").fit(pl.DataFrame(columns), y)
    by_array = SubsetSelector(2, missing="level", criterion="jmi", measure="plugin", correction="none").fit(array, y)
    assert by_array.indices_.tolist() == by_frame.indices_.tolist()
    assert by_array.objective_ == by_frame.objective_
    with pytest.raises(InvalidInput, match="missing"):
        SubsetSelector(2, criterion="jmi", measure="plugin", correction="none").fit(array, y)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_with_holes_passes_through_the_selector(library):
    columns, y = mixed_columns()
    frame = frames(columns)[library]
    selector = (
        SubsetSelector(2, criterion="jmi", measure="plugin", correction="none")
        .set_output(transform=library)
        .fit(frame, y)
    )
    chosen = selector.transform(frame)
    assert list(chosen.columns) == [name for name in columns if name in set(selector.get_feature_names_out())]
    assert chosen.shape == (240, 2)
    assert SubsetSelector(2, criterion="jmi", measure="plugin", correction="none").fit(frame, y).transform(
        frame
    ).shape == (240, 2)


def test_shuffled_rows_give_the_same_terms():
    columns, y = mixed_columns()
    order = np.random.default_rng(1).permutation(len(y))
    frame = pl.DataFrame(columns)
    for missing in ("level", "pairwise"):
        here = information_terms(frame, y, missing=missing, measure="plugin", correction="none")
        there = information_terms(frame[order], y[order], missing=missing, measure="plugin", correction="none")
        np.testing.assert_array_equal(here.interaction, there.interaction)
        np.testing.assert_array_equal(here.relevance, there.relevance)


def bent_data(m=600, seed=0):
    """A target that hangs on column 0 in a line, on column 1 in a bend, on no other."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 6))
    return X, X[:, 0] + 1.5 * (X[:, 1] ** 2 - 1) + 0.3 * rng.normal(size=m)


@pytest.mark.parametrize("measure", ["plugin", "neighbors", "auto"])
def test_regression_finds_lines_and_bends(measure):
    X, y = bent_data()
    selector = SubsetSelector(2, measure=measure, criterion="mrmr", strategy="exhaustive").fit(X, y)
    assert sorted(selector.indices_) == [0, 1]


def test_ranks_see_the_line_and_not_the_bend():
    X, y = bent_data()
    relevance = SubsetSelector(2, measure="gaussian_copula", criterion="jmi").fit(X, y).terms_.relevance
    assert relevance.argmax() == 0
    assert relevance[1] < 0.02
    assert relevance[0] > 0.1


def test_the_task_is_inferred_and_can_be_overridden():
    X, y = bent_data(200)
    whole = np.round(y).astype(int)
    assert (
        SubsetSelector(2, criterion="jmi", measure="plugin", correction="none").fit(X, y).terms_.settings["target_bins"]
        == 3
    )
    assert (
        "target_bins"
        not in SubsetSelector(2, criterion="jmi", measure="plugin", correction="none").fit(X, whole).terms_.settings
    )
    assert (
        SubsetSelector(2, task="regression", target_bins=3, criterion="jmi", measure="plugin", correction="none")
        .fit(X, whole)
        .terms_.settings["target_bins"]
        == 3
    )
    with pytest.raises(InvalidInput, match="Unknown label type: continuous"):
        SubsetSelector(2, task="classification", criterion="jmi", measure="plugin", correction="none").fit(X, y)
    with pytest.raises(InvalidInput, match="task='ranking'"):
        SubsetSelector(2, task="ranking", criterion="jmi", measure="plugin", correction="none").fit(X, y)


@pytest.mark.parametrize("measure", MEASURES)
def test_several_targets_at_once(measure):
    """Each target column hangs on a feature of its own; together they need both."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 5))
    numbers = X[:, [1, 3]] + 0.2 * rng.normal(size=(400, 2))
    labels = np.where(X[:, [1, 3]] > 0, "high", "low")
    for y in (numbers, labels, pl.DataFrame({"a": numbers[:, 0], "b": labels[:, 1]})):
        selector = SubsetSelector(2, measure=measure, criterion="mrmr", strategy="exhaustive").fit(X, y)
        assert sorted(selector.indices_) == [1, 3]


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("options", [
    *({"correction": name} for name in ("none", "miller_madow", "grassberger", "shrinkage", "chance")),
    *({"discretize": name} for name in ("quantile", "mean_std", "mdlp")),
    {"bins": "sturges", "integers": "numbers"},
    {"measure": "gaussian_copula"},
    {"measure": "neighbors"},
])  # fmt: skip
def test_whole_weights_equal_repeated_rows(task, options):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 5))
    X[:, 1:] = X[:, 1:].round(1)
    y = X[:, 0] + rng.normal(size=60) if task == "regression" else rng.integers(0, 3, 60)
    weights = rng.integers(0, 4, 60)
    weighted = SubsetSelector(2, **options).fit(X, y, sample_weight=weights)
    repeated = SubsetSelector(2, **options).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_array_equal(weighted.terms_.relevance, repeated.terms_.relevance)
    np.testing.assert_array_equal(weighted.terms_.interaction, repeated.terms_.interaction)
    assert weighted.indices_.tolist() == repeated.indices_.tolist()
    assert weighted.objective_ == repeated.objective_


@pytest.mark.parametrize("weight", [3, 0.5])
def test_equal_weights_are_none_to_neighbors(weight):
    """A row that was written down twice is not its own nearest neighbour."""
    X, y = bent_data(100)
    plain = SubsetSelector(2, measure="neighbors", criterion="jmi").fit(X, y)
    weighted = SubsetSelector(2, measure="neighbors", criterion="jmi").fit(X, y, sample_weight=np.full(100, weight))
    np.testing.assert_array_equal(weighted.terms_.relevance, plain.terms_.relevance)
    np.testing.assert_array_equal(weighted.terms_.interaction, plain.terms_.interaction)
    assert weighted.objective_ == plain.objective_


def test_neighbors_take_fractions_of_a_row():
    X, y = bent_data(100)
    halved = SubsetSelector(2, measure="neighbors", criterion="jmi").fit(X, y, sample_weight=np.linspace(0.5, 2.0, 100))
    doubled = SubsetSelector(2, measure="neighbors", criterion="jmi").fit(
        X, y, sample_weight=np.linspace(1.0, 4.0, 100)
    )
    np.testing.assert_allclose(halved.terms_.relevance, doubled.terms_.relevance, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_equals_dense(kind, weighted):
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 90)
    dense = rng.poisson(0.3, (90, 12)) * (rng.random((90, 12)) < 0.4 + 0.1 * y[:, None])
    weights = rng.integers(1, 4, 90) if weighted else None
    for X in (dense, dense * 0.5, -dense):
        for correction in ("none", "grassberger"):
            by_dense = SubsetSelector(4, correction=correction, criterion="jmi", measure="plugin").fit(
                X, y, sample_weight=weights
            )
            by_sparse = SubsetSelector(4, correction=correction, criterion="jmi", measure="plugin").fit(
                kind(X), y, sample_weight=weights
            )
            np.testing.assert_array_equal(by_sparse.terms_.interaction, by_dense.terms_.interaction)
            np.testing.assert_array_equal(by_sparse.terms_.redundancy, by_dense.terms_.redundancy)
            np.testing.assert_array_equal(by_sparse.terms_.relevance, by_dense.terms_.relevance)
            assert by_sparse.indices_.tolist() == by_dense.indices_.tolist()
        chosen = by_sparse.transform(scipy.sparse.csr_array(X))
        assert scipy.sparse.issparse(chosen)
        np.testing.assert_array_equal(chosen.toarray(), X[:, np.sort(by_sparse.indices_)])


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_a_wide_sparse_table_takes_little_memory():
    """20 000 sparse columns, forward, k = 50: the process stays below 500 MB; dense pair terms alone take 3 GB."""
    code = r"""
import re
from pathlib import Path
import numpy as np, scipy.sparse
from certselect import SubsetSelector
rng = np.random.default_rng(0)
y = rng.integers(0, 2, 300)
X = scipy.sparse.random_array((300, 20000), density=0.005, rng=rng, format="csr",
                              data_sampler=lambda size: rng.integers(1, 1000, size)).astype(np.int64)
selector = SubsetSelector(50, strategy="forward").fit(X, y)
assert len(set(selector.indices_)) == 50
# Not getrusage, which counts what the parent process held when it forked.
print(int(re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024)
"""
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 500


def test_weights_are_routed_through_a_pipeline():
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(90, 5)), rng.integers(0, 2, 90)
    weights = rng.integers(1, 4, 90)
    with sklearn.config_context(enable_metadata_routing=True):
        selector = SubsetSelector(2, criterion="jmi", measure="plugin", correction="none").set_fit_request(
            sample_weight=True
        )
        classifier = LogisticRegression().set_fit_request(sample_weight=False).set_score_request(sample_weight=True)
        pipeline = make_pipeline(selector, classifier).fit(X, y, sample_weight=weights)
        search = GridSearchCV(pipeline, {"subsetselector__n_features_to_select": [1, 2]}, cv=3)
        search.fit(X, y, sample_weight=weights)
    alone = SubsetSelector(2, criterion="jmi", measure="plugin", correction="none").fit(X, y, sample_weight=weights)
    assert pipeline[0].objective_ == alone.objective_
    assert (
        pipeline[0].objective_
        != SubsetSelector(2, criterion="jmi", measure="plugin", correction="none").fit(X, y).objective_
    )
    assert search.best_estimator_[0].n_features_to_select in (1, 2)


def test_a_mixed_frame_works_in_a_pipeline_with_a_regressor():
    columns, _ = mixed_columns()
    frame = pd.DataFrame(columns).drop(columns=["flag", "size"]).assign(colour=columns["colour"])
    y = np.where(frame["colour"] == "red", 3.0, 0.5) + np.random.default_rng(0).normal(size=len(frame)) / 10
    model = make_pipeline(
        SubsetSelector(1, criterion="jmi", measure="plugin", correction="none").set_output(transform="pandas"),
        OneHotEncoder(),
        TransformedTargetRegressor(LinearRegression()),
    )
    assert model.fit(frame, y).score(frame, y) > 0.9
    assert model[0].get_feature_names_out().tolist() == ["colour"]


@pytest.mark.parametrize("measure", [*MEASURES, "auto"])
@pytest.mark.parametrize("sparse", [False, True])
def test_clones_and_pickles_answer_alike(measure, sparse, tmp_path):
    if sparse and measure in ("gaussian_copula", "neighbors"):
        pytest.skip("dense only")
    rng = np.random.default_rng(2)
    X, y = rng.poisson(1.0, (80, 6)).astype(float), rng.integers(0, 2, 80)
    X = scipy.sparse.csr_array(X) if sparse else X
    selector = SubsetSelector(3, measure=measure, random_state=0, criterion="jmi").fit(X, y)
    again = clone(selector).fit(X, y)
    joblib.dump(selector, tmp_path / "selector.joblib")
    for other in (again, pickle.loads(pickle.dumps(selector)), joblib.load(tmp_path / "selector.joblib")):
        assert other.indices_.tolist() == selector.indices_.tolist()
        assert other.objective_ == selector.objective_
        for i in selector.indices_:
            kept = other.terms_.pair_row("redundancy", i)
            np.testing.assert_array_equal(kept, selector.terms_.redundancy[i])
        assert other.report_frame("pandas").equals(selector.report_frame("pandas"))


def test_auto_says_what_it_picked():
    X, y = bent_data()
    tied = np.where(X > 1, X, 0)
    picked = {
        "numbers": information_terms(X, y, measure="auto"),
        "few rows of a class": information_terms(X[:45], np.arange(45) < 3, measure="auto"),
        "tied numbers": information_terms(tied, y, measure="auto"),
        "whole numbers": information_terms(np.round(X).astype(int), y > 0, measure="auto"),
        "many whole numbers": information_terms(np.round(X * 9).astype(int), y > 0, measure="auto"),
        "sparse": information_terms(scipy.sparse.csr_array(X > 1), y > 0, measure="auto"),
    }
    said = {name: terms.picked.split(":")[0] for name, terms in picked.items()}
    assert said == dict.fromkeys(picked, "plugin") | {"numbers": "mixed", "tied numbers": "mixed"}
    assert picked["many whole numbers"].coding.edges(0) is not None
    assert picked["whole numbers"].coding.edges(0) is None
    assert picked["numbers"].settings["bins"] == picked["numbers"].settings["target_bins"] == 4
    assert information_terms(X, y, measure="plugin", correction="none").picked == ""


def test_auto_changes_no_setting_that_was_given():
    X, y = bent_data()
    given = {"measure": "auto", "discretize": "mdlp", "target_bins": 7, "correction": "miller_madow"}
    kept = information_terms(X, y, **given).settings
    assert {name: kept[name] for name in given} == given | {"measure": "mixed"}
    with pytest.warns(IdleSettingWarning, match="n_neighbors=7 has no effect with measure='auto'"):
        assert information_terms(X, y > 0, measure="auto", n_neighbors=7).settings["measure"] == "plugin"
    assert information_terms(X, y, measure="auto", bins=9).settings["bins"] == 9


def test_a_table_brings_its_target_along():
    X, y = bent_data(100)
    table = read_table(X, y)
    assert (
        information_terms(table, measure="plugin", correction="none").relevance.tolist()
        == information_terms(X, y, measure="plugin", correction="none").relevance.tolist()
    )
    with pytest.raises(InvalidInput, match="brings its own"):
        information_terms(table, y, measure="plugin", correction="none")


@pytest.mark.parametrize(("options", "named"), [
    ({"measure": "kernel"}, "measure='kernel'"),
    ({"correction": "bootstrap"}, "bootstrap"),
    ({"missing": "drop"}, "missing='drop'"),
    ({"measure": "neighbors", "n_neighbors": 0}, "n_neighbors=0"),
    ({"target_bins": 1}, "target_bins=1"),
])  # fmt: skip
def test_unknown_options_are_named(options, named):
    X, y = bent_data(60)
    with pytest.raises(InvalidInput, match=named):
        SubsetSelector(2, **options).fit(X, y)
