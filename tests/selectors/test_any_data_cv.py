"""SubsetSelectorCV on numbers to be told, weights, sparse matrices and missing values."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse
import sklearn
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV

from certselect import SubsetSelector
from certselect.selectors import SubsetSelectorCV


def regression_data(m=150):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, 6))
    return X, X[:, 1] - X[:, 4] + 0.3 * rng.normal(size=m)


@pytest.mark.parametrize("measure", ["plugin", "gaussian_copula", "neighbors"])
def test_a_regressor_gets_its_size(measure):
    X, y = regression_data()
    selector = SubsetSelectorCV(LinearRegression(), 4, measure=measure, criterion="mrmr").fit(X, y)
    assert {1, 4} <= set(selector.indices_.tolist())
    assert selector.n_features_ >= 2
    assert selector.score(X, y) > 0.8
    assert selector.terms_.settings["measure"] == measure


def test_whole_weights_choose_as_repeated_rows_do():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(90, 5)), rng.integers(0, 2, 90)
    weights = rng.integers(0, 3, 90)
    rows = np.arange(90)
    splits = [(rows[rows % 3 != fold], rows[rows % 3 == fold]) for fold in range(3)]
    selector = SubsetSelectorCV(
        LogisticRegression(), 4, splits, strategy="forward", criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y, sample_weight=weights)
    for fold, (train, _) in enumerate(splits):
        repeated = np.repeat(train, weights[train])
        for place, size in enumerate(selector.cv_results_["n_features"]):
            expected = SubsetSelector(
                int(size), strategy="forward", criterion="jmi", measure="plugin", correction="none"
            ).fit(X[repeated], y[repeated])
            chosen = selector.size_scores_.subsets[fold][place]
            assert chosen == expected.indices_.tolist()
    learnt = LogisticRegression().fit(X[:, selector.support_], y, sample_weight=weights)
    np.testing.assert_array_equal(selector.estimator_.coef_, learnt.coef_)


def test_weights_are_routed():
    X, y = regression_data()
    weights = np.random.default_rng(2).integers(1, 4, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        inner = LinearRegression().set_fit_request(sample_weight=False)
        scorer = get_scorer("neg_mean_absolute_error").set_score_request(sample_weight=True)
        selector = SubsetSelectorCV(
            inner, 3, scoring=scorer, criterion="jmi", measure="plugin", correction="none"
        ).set_fit_request(sample_weight=True)
        search = GridSearchCV(selector, {"criterion": ["mrmr", "jmi"]}, cv=2).fit(X, y, sample_weight=weights)
    assert search.best_estimator_.n_features_ <= 3
    weighted = SubsetSelector(2, strategy="forward", criterion="jmi", measure="plugin", correction="none").fit(
        X, y, sample_weight=weights
    )
    best = search.best_estimator_
    assert best.terms_.relevance.tolist() == weighted.terms_.relevance.tolist()


def test_sparse_equals_dense():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 120)
    X = rng.poisson(0.4, (120, 10)) * (rng.random((120, 10)) < 0.5 + 0.3 * y[:, None])
    dense = SubsetSelectorCV(LogisticRegression(), 4, cv=3, criterion="jmi", measure="plugin", correction="none").fit(
        X, y
    )
    sparse = SubsetSelectorCV(LogisticRegression(), 4, cv=3, criterion="jmi", measure="plugin", correction="none").fit(
        scipy.sparse.csr_matrix(X), y
    )
    assert sparse.indices_.tolist() == dense.indices_.tolist()
    np.testing.assert_allclose(
        sparse.cv_results_["mean_test_score"], dense.cv_results_["mean_test_score"], atol=0.02
    )  # the classifier's own solver may differ by a row
    assert scipy.sparse.issparse(sparse.transform(scipy.sparse.csr_matrix(X)))
    assert sparse.predict(scipy.sparse.csr_matrix(X)).shape == (120,)


def test_missing_values_go_to_a_classifier_that_takes_them():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 5))
    y = (X[:, 0] > 0).astype(int)
    X[rng.random(X.shape) < 0.1] = np.nan
    frame = pl.DataFrame(X, schema=list("abcde")).fill_nan(None)
    selector = SubsetSelectorCV(
        HistGradientBoostingClassifier(max_iter=10), 2, cv=3, criterion="jmi", measure="plugin", correction="none"
    ).fit(frame, y)
    assert "a" in selector.get_feature_names_out()
    assert selector.score(frame, y) > 0.9
    assert selector.transform(frame).shape == (200, selector.n_features_)
    with pytest.raises(ValueError, match="NaN"):
        SubsetSelectorCV(LogisticRegression(), 2, cv=3, criterion="jmi", measure="plugin", correction="none").fit(
            frame, y
        )
