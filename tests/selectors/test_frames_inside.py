"""What the estimator inside sees of a data frame: a frame of the same library, with its types."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from certselect import SubsetSelectorCV
from certselect.errors import InvalidInput
from certselect.table.frames import column_types, take_cells

LIBRARIES = ["pandas", "polars", "pyarrow"]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    city, noise = rng.choice(["Lima", "Oslo"], 150), rng.integers(0, 5, 150)
    number = rng.normal(size=150) + (city == "Oslo")
    frame = pd.DataFrame({"noise": noise, "city": pd.Categorical(city), "number": number})
    return frame, np.where(number + 2 * (city == "Oslo") > 1.0, "yes", "no")


def as_frame(frame, library):
    if library == "pandas":
        return frame
    return pl.from_pandas(frame) if library == "polars" else pa.Table.from_pandas(frame, preserve_index=False)


class Sees(ClassifierMixin, BaseEstimator):
    """Notes the tables it is given."""

    def __init__(self, tables=None):
        self.tables = tables

    def __sklearn_clone__(self):
        return Sees(self.tables)

    def fit(self, X, y):
        self.tables.append(X)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        self.tables.append(X)
        return np.full(X.shape[0], self.classes_[0])


@pytest.mark.parametrize("library", LIBRARIES)
def test_frames_stay_frames_with_their_types(people, library):
    frame, y = people
    X, seen = as_frame(frame, library), []
    selector = SubsetSelectorCV(Sees(seen), [2, 3], cv=2, criterion="jmi", measure="plugin", correction="none").fit(
        X, y
    )
    selector.predict(X)
    selector.score(X, y)
    assert len(seen) == 2 * 2 * 2 + 1 + 2  # a fit and a prediction for each score, the last fit, two predictions
    types = dict(zip(frame.columns, column_types(X)[1:], strict=True))
    for table in seen:
        assert type(table) is type(X)
        names = table.column_names if library == "pyarrow" else table.columns
        assert column_types(table)[1:] == [types[name] for name in names]
    names = list(selector.get_feature_names_out())
    assert list(seen[-1].column_names if library == "pyarrow" else seen[-1].columns) == names


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_are_found_by_name_and_by_type(people, library):
    frame, y = people
    X = as_frame(frame, library)
    by_name = make_column_transformer((OneHotEncoder(), ["city"]), remainder=StandardScaler())
    selector = SubsetSelectorCV(
        make_pipeline(by_name, LogisticRegression()),
        3,
        cv=3,
        include=["city"],
        criterion="jmi",
        measure="plugin",
        correction="none",
    ).fit(X, y)
    assert "city" in selector.get_feature_names_out()
    assert selector.score(X, y) > 0.9
    chosen = [column for column in frame.columns if column in selector.get_feature_names_out()]
    inside = make_pipeline(by_name, LogisticRegression()).fit(X[chosen], y)
    np.testing.assert_array_equal(selector.predict_proba(X), inside.predict_proba(X[chosen]))
    if library == "pandas":
        categories = make_column_selector(dtype_include="category")
        by_type = make_column_transformer((OneHotEncoder(), categories), remainder=StandardScaler())
        again = SubsetSelectorCV(
            make_pipeline(by_type, LogisticRegression()), 3, cv=3, criterion="jmi", measure="plugin", correction="none"
        ).fit(X, y)
        assert again.score(X, y) > 0.9
        with_names = SubsetSelectorCV(
            make_pipeline(by_type, LogisticRegression()),
            [3],
            cv=3,
            n_jobs=2,
            criterion="jmi",
            measure="plugin",
            correction="none",
        ).fit(X, y)
        assert with_names.score(X, y) > 0.9


@pytest.mark.parametrize("library", LIBRARIES)
def test_categories_reach_a_classifier_that_knows_them(people, library):
    frame, y = people
    X = as_frame(frame, library)
    boosted = HistGradientBoostingClassifier(max_iter=10, categorical_features="from_dtype")
    selector = SubsetSelectorCV(boosted, [2], cv=3, criterion="jmi", measure="plugin", correction="none").fit(X, y)
    assert set(selector.get_feature_names_out()) == {"city", "number"}
    assert selector.estimator_.is_categorical_.tolist() == [True, False]
    assert selector.score(X, y) > 0.9


def test_a_column_that_is_named_and_not_chosen_is_explained(people):
    frame, y = people
    by_name = make_column_transformer((OneHotEncoder(), ["city"]), remainder=StandardScaler())
    with pytest.raises(ValueError, match="column") as told:
        SubsetSelectorCV(
            make_pipeline(by_name, LogisticRegression()),
            [1],
            cv=2,
            exclude=["city"],
            criterion="jmi",
            measure="plugin",
            correction="none",
        ).fit(frame, y)
    assert told.value.__notes__[0].startswith("The estimator was given the columns ['n")
    those_there = make_column_transformer(
        (OneHotEncoder(), lambda X: [name for name in X.columns if name == "city"]), remainder=StandardScaler()
    )
    selector = SubsetSelectorCV(
        make_pipeline(those_there, LogisticRegression()), 3, cv=2, criterion="jmi", measure="plugin", correction="none"
    ).fit(frame, y)
    assert selector.score(frame, y) > 0.8


def test_a_frame_with_other_columns_is_refused(people):
    frame, y = people
    selector = SubsetSelectorCV(
        HistGradientBoostingClassifier(max_iter=2),
        [1],
        cv=2,
        exclude=["city"],
        criterion="jmi",
        measure="plugin",
        correction="none",
    ).fit(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        selector.predict(frame.rename(columns={"number": "other"}))


def test_scores_of_other_types_are_not_gone_on_from(people, tmp_path):
    """The same values, but a classifier takes them otherwise."""
    frame, y = people
    common = {"sizes": [2], "cv": 2, "exclude": ["noise"], "checkpoint": tmp_path / "saved.jsonl"}
    boosted = HistGradientBoostingClassifier(max_iter=2, categorical_features="from_dtype")
    SubsetSelectorCV(boosted, **common).fit(frame, y)
    coded = frame.assign(city=frame["city"].astype(pd.CategoricalDtype(["Lima", "Oslo"], ordered=True)))
    for other in (coded, pl.from_pandas(frame)):
        with pytest.raises(InvalidInput, match="another table"):
            SubsetSelectorCV(boosted, **common).fit(other, y)
    SubsetSelectorCV(boosted, **common).fit(frame.copy(), y)


def test_cells_by_hand():
    rows, columns = np.array([2, 0]), np.array([1])
    X = np.arange(6).reshape(3, 2)
    assert take_cells(X, rows, columns).tolist() == [[5], [1]]
    assert take_cells(X, None, columns).tolist() == [[1], [3], [5]]
    twice = pd.DataFrame(X, columns=["a", "a"])
    assert take_cells(twice, rows, columns)["a"].tolist() == [5, 1]
    assert take_cells(pa.table({"a": X[:, 0], "b": X[:, 1]}), rows, columns).to_pydict() == {"b": [5, 1]}
    assert take_cells(pl.DataFrame({"a": X[:, 0], "b": X[:, 1]}), rows, columns).to_dict(as_series=False) == {
        "b": [5, 1]
    }
