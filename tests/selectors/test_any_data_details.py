"""Where kinds of data meet: weights and "auto", copies of categories, frames that come out, names that occur twice."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from as_before import counted, jmi
from certselect import SubsetSelector, information_terms
from certselect.errors import InvalidInput
from certselect.selectors import SubsetSelectorCV


@pytest.mark.parametrize("whole", [False, True])
def test_auto_picks_the_same_for_weights_and_for_repeated_rows(whole):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 4)), rng.integers(0, 2, 80)
    X = np.round(X * 3).astype(int) if whole else X
    weights = rng.integers(1, 4, 80)
    weighted = information_terms(X, y, measure="auto", sample_weight=weights)
    repeated = information_terms(np.repeat(X, weights, axis=0), np.repeat(y, weights), measure="auto")
    assert weighted.picked == repeated.picked
    assert weighted.settings["measure"] == "plugin"
    np.testing.assert_array_equal(weighted.relevance, repeated.relevance)


@pytest.mark.filterwarnings("ignore::certselect.errors.TargetLeakWarning")
@pytest.mark.parametrize("measure", ["plugin", "neighbors"])
def test_a_copy_of_a_category_holds_all_of_its_information(measure):
    rng = np.random.default_rng(1)
    flag = rng.random(200) < 0.3
    frame = pd.DataFrame({"flag": flag, "copy": flag, "noise": rng.normal(size=200)})
    selector = SubsetSelector(1, **jmi(counted({"measure": measure})))
    report = selector.fit(frame, flag.astype(int)).report_frame()
    assert report["chosen"].tolist() == [True, False, False]
    assert report["shared_part"][1] == 1.0
    assert report["why"][1] == "left out: says the same as 'flag'"


@pytest.mark.filterwarnings("ignore::certselect.errors.TargetLeakWarning")
def test_columns_of_a_frame_keep_their_types():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 60)
    columns = {
        "text": np.where(y, "a", "b"),
        "number": y + rng.normal(size=60),
        "flag": rng.random(60) < 0.4,
        "noise": rng.random(60),
    }
    frame = pl.DataFrame(columns)
    selector = SubsetSelector(3, exclude=["noise"], criterion="jmi", measure="plugin", correction="none").fit(frame, y)
    out = selector.set_output(transform="polars").transform(frame)
    assert out.schema == frame.drop("noise").schema
    assert out.equals(frame.drop("noise"))
    with pytest.raises(ValueError, match="feature names"):
        selector.transform(frame.rename({"text": "other"}))
    by_pandas = SubsetSelector(3, exclude=["noise"], criterion="jmi", measure="plugin", correction="none").set_output(
        transform="pandas"
    )
    kept = by_pandas.fit_transform(pd.DataFrame(columns), y)
    assert kept.dtypes.tolist() == pd.DataFrame(columns).drop(columns="noise").dtypes.tolist()


@pytest.mark.parametrize("make", [pd.DataFrame, lambda values, columns: pa.table(list(values.T), names=columns)])
def test_names_that_occur_twice_are_told_and_can_be_replaced(make):
    X = np.random.default_rng(3).normal(size=(30, 2))
    frame, y = make(X, columns=["a", "a"]), np.arange(30) % 2
    with pytest.raises(InvalidInput, match="more than once: 'a'"):
        SubsetSelector(1, criterion="jmi", measure="plugin", correction="none").fit(frame, y)
    terms = information_terms(frame, y, feature_names=["first", "second"], measure="plugin", correction="none")
    assert terms.relevance.tolist() == information_terms(X, y, measure="plugin", correction="none").relevance.tolist()


def test_gaps_in_a_frame_suit_every_measure():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 3))
    y = X[:, 1] > 0
    X[rng.random(X.shape) < 0.1] = np.nan
    frame = pd.DataFrame(X, columns=list("abc"))
    for measure in ("plugin", "gaussian_copula", "neighbors", "auto"):
        selector = SubsetSelector(1, measure=measure, criterion="jmi").fit(frame, y)
        assert selector.get_feature_names_out().tolist() == ["b"]
    with pytest.raises(InvalidInput, match="missing='pairwise'"):
        SubsetSelector(1, measure="neighbors", missing="level", criterion="jmi").fit(frame, y)


@pytest.mark.filterwarnings("ignore::certselect.errors.TargetLeakWarning")
def test_a_regressor_makes_whole_numbers_measurements():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(100, 4))
    y = np.round(20 * X[:, 2]).astype(int)
    selector = SubsetSelectorCV(Ridge(), 2, cv=3, criterion="jmi", measure="plugin", correction="none").fit(X, y)
    assert selector.terms_.settings["target_bins"] == 3
    assert 2 in selector.indices_


def test_weights_reach_the_last_step_of_a_pipeline():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(90, 3)), rng.integers(0, 2, 90)
    weights = rng.integers(1, 5, 90)
    tree = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2, random_state=0))
    selector = SubsetSelectorCV(tree, [2], cv=3, criterion="jmi", measure="plugin", correction="none").fit(
        X, y, sample_weight=weights
    )
    scaled = StandardScaler().fit_transform(X[:, selector.support_])
    alone = DecisionTreeClassifier(max_depth=2, random_state=0).fit(scaled, y, sample_weight=weights)
    np.testing.assert_array_equal(selector.estimator_[-1].tree_.threshold, alone.tree_.threshold)


def test_what_would_take_too_long_is_refused():
    X, y = np.random.default_rng(7).normal(size=(8000, 1)), np.arange(8000)
    with pytest.raises(InvalidInput, match="discretize='mdlp' with 8000 classes"):
        SubsetSelector(
            1, discretize="mdlp", task="classification", criterion="jmi", measure="plugin", correction="none"
        ).fit(X, y)
