"""Choosing the size: what each protocol sees, the rule that chooses, splitters, delegation."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from certselect import SubsetSelector
from certselect.errors import FewerFeaturesWarning, InvalidInput
from certselect.selectors import OptimisticScoreWarning, SubsetSelectorCV
from certselect.selectors.size_scores import SizeScores

NEAREST = KNeighborsClassifier(3)


def slow_scores(estimator, X, y, sizes, splits, **settings):
    """The honest protocol by the plain selector: one fit of everything for each split and size."""
    scores = np.empty((len(splits), len(sizes)))
    for row, (train, test) in enumerate(splits):
        for column, size in enumerate(sizes):
            pipeline = make_pipeline(SubsetSelector(size, **settings), clone(estimator))
            scores[row, column] = pipeline.fit(X[train], y[train]).score(X[test], y[test])
    return scores


@pytest.mark.parametrize(
    "settings",
    [
        {"strategy": "forward"},
        {"strategy": "backward", "criterion": "mrmr", "discretize": "quantile", "bins": 3},
        {"strategy": "relevance", "criterion": "max_relevance", "discretize": "mean_std"},
        {"strategy": "floating", "criterion": "mifs", "beta": 0.3, "polish": True},
        {"strategy": "annealing", "random_state": 3},
        {"strategy": "exact"},
        {"strategy": "forward", "exclude": [0, 2]},
    ],
    ids=lambda settings: settings["strategy"],
)
def test_every_score_is_what_the_plain_selector_gives(table, settings):
    X, y = table
    splits = list(StratifiedKFold(3).split(X, y))
    sizes = [1, 2, 4]
    selector = SubsetSelectorCV(NEAREST, sizes, cv=3, **settings).fit(X, y)
    expected = slow_scores(NEAREST, X, y, sizes, splits, **settings)
    results = selector.cv_results_
    np.testing.assert_array_equal([results[f"split{split}_test_score"] for split in range(3)], expected)
    np.testing.assert_array_equal(results["mean_test_score"], expected.mean(axis=0))
    np.testing.assert_array_equal(results["std_test_score"], expected.std(axis=0))
    assert results["n_features"].tolist() == sizes
    assert selector.n_features_ == sizes[np.argmax(expected.mean(axis=0))]
    for split, (train, _) in enumerate(splits):
        for place, size in enumerate(sizes):
            plain = SubsetSelector(size, **settings).fit(X[train], y[train])
            assert (results[f"split{split}_support"][place] == plain.support_).all()


def test_the_final_subset_and_classifier_are_those_of_all_rows(table):
    X, y = table
    selector = SubsetSelectorCV(
        NEAREST, 5, strategy="cobra", random_state=1, certify=True, criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y)
    plain = SubsetSelector(
        selector.n_features_, strategy="cobra", random_state=1, criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y)
    assert selector.indices_.tolist() == plain.indices_.tolist()
    assert (selector.support_ == plain.support_).all()
    assert selector.selection_.gap == plain.gap_
    classifier = clone(NEAREST).fit(X[:, plain.support_], y)
    assert (selector.predict(X) == classifier.predict(X[:, plain.support_])).all()
    assert (selector.predict_proba(X) == classifier.predict_proba(X[:, plain.support_])).all()
    assert selector.score(X, y) == classifier.score(X[:, plain.support_], y)
    assert (selector.transform(X) == X[:, plain.support_]).all()
    assert selector.classes_.tolist() == [0, 1, 2]


def test_noise_scores_as_chance_by_the_honest_protocol_and_not_by_the_papers():
    """60 rows, 500 tossed coins, two classes as frequent: nothing can be known, and one protocol says so."""
    honest, paper = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 2, (60, 500)), np.repeat([0, 1], 30)
        common = {"sizes": [10], "strategy": "forward", "cv": StratifiedKFold(5, shuffle=True, random_state=seed)}
        scores = SubsetSelectorCV(LinearDiscriminantAnalysis(), **common).fit(X, y)
        honest.append(scores.cv_results_["mean_test_score"][0])
        with pytest.warns(OptimisticScoreWarning, match="test rows in sight"):
            scores = SubsetSelectorCV(LinearDiscriminantAnalysis(), protocol="paper", **common).fit(X, y)
        paper.append(scores.cv_results_["mean_test_score"][0])
    # 360 tosses of a coin: 95 % of the time their mean is within 1.96 standard errors of a half.
    interval = 1.96 * np.sqrt(0.25 / 360)
    assert abs(np.mean(honest) - 0.5) < interval
    assert np.mean(paper) - 0.5 > 5 * interval


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["forward", "relevance", "floating"]))
def test_labels_of_test_rows_do_not_change_what_is_chosen(seed, strategy):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 12)), np.tile([0, 1], 20)
    train, test = np.arange(25), np.arange(25, 40)
    changed_y, changed_X = y.copy(), X.copy()
    changed_y[test] = rng.permutation(y[test])
    changed_X[test] = rng.normal(size=(15, 12)) * 100
    chosen = [
        SubsetSelectorCV(
            NEAREST, 4, cv=[(train, test)], strategy=strategy, criterion="jmi", measure="plugin", correction="none"
        )
        .fit(*data)
        .cv_results_["split0_support"]
        for data in ((X, y), (X, changed_y), (changed_X, y))
    ]
    assert (chosen[0] == chosen[1]).all()
    assert (chosen[0] == chosen[2]).all()


class Spy(ClassifierMixin, BaseEstimator):
    """Notes the rows it is given: the first column of the table numbers them."""

    def __init__(self, seen=None):
        self.seen = seen

    def __sklearn_clone__(self):
        return Spy(self.seen)

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.rows_ = set(X[:, 0].tolist())
        return self

    def predict(self, X):
        self.seen.append((self.rows_, set(X[:, 0].tolist()), X.shape[1]))
        return np.full(len(X), self.classes_[0])


def test_classifiers_learn_from_training_rows_and_see_raw_columns():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(30.0), rng.normal(size=(30, 3))])
    y, seen = np.tile([0, 1], 15), []
    splits = list(KFold(3).split(X))
    SubsetSelectorCV(
        Spy(seen), [2, 3], cv=splits, include=[0], criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y)
    expected = [(set(train.tolist()), set(test.tolist()), size) for size in (2, 3) for train, test in splits]
    assert seen == expected


def test_the_paper_protocol_chooses_once_for_all_splits(table):
    X, y = table
    with pytest.warns(OptimisticScoreWarning):
        selector = SubsetSelectorCV(
            NEAREST,
            [2, 3],
            cv=4,
            protocol="paper",
            strategy="forward",
            criterion="jmi",
            measure="plugin",
            correction="none",
        ).fit(X, y)
    plain = [
        SubsetSelector(size, strategy="forward", criterion="jmi", measure="plugin", correction="none")
        .fit(X, y)
        .support_
        for size in (2, 3)
    ]
    for split in range(4):
        assert (selector.cv_results_[f"split{split}_support"] == plain).all()
    expected = [cross_val_score(NEAREST, X[:, support], y, cv=4) for support in plain]
    scores = [selector.cv_results_[f"split{split}_test_score"] for split in range(4)]
    np.testing.assert_array_equal(np.transpose(scores), expected)


@pytest.mark.parametrize("strategy", ["forward", "annealing"])
def test_jobs_do_not_matter(table, strategy):
    X, y = table
    fits = [
        SubsetSelectorCV(
            NEAREST,
            4,
            cv=3,
            strategy=strategy,
            random_state=5,
            n_jobs=jobs,
            criterion="jmi",
            measure="plugin",
            correction="none",
        ).fit(X, y)
        for jobs in (1, 2)
    ]
    for name, values in fits[0].cv_results_.items():
        np.testing.assert_array_equal(values, fits[1].cv_results_[name])
    assert fits[0].indices_.tolist() == fits[1].indices_.tolist()


# Means 0.5, 0.8, 0.84; deviations of the last over 4 splits sqrt(0.0032/3), standard error half of that, 0.01633.
BY_HAND = np.array([[0.5, 0.8, 0.80], [0.5, 0.8, 0.88], [0.5, 0.8, 0.84], [0.5, 0.8, 0.84]])


def test_the_rules_by_hand():
    scores = SizeScores(np.array([1, 5, 9]), BY_HAND, [])
    assert scores.standard_error[2] == pytest.approx(np.sqrt(0.0032 / 3) / 2)
    assert scores.best() == 2
    assert scores.best(one_standard_error=True) == 2  # 0.80 < 0.84 - 0.0163
    wider = BY_HAND.copy()
    wider[:2, 2] = 0.74, 0.94  # standard error 0.0408
    assert SizeScores(np.array([1, 5, 9]), wider, []).best(one_standard_error=True) == 1
    tied = SizeScores(np.array([1, 5, 9]), BY_HAND[:, [0, 1, 1]], [])
    assert tied.best() == 1
    one_split = SizeScores(np.array([1, 5]), np.array([[0.3, 0.4]]), [])
    assert one_split.best(one_standard_error=True) == 1
    unfinished = BY_HAND.copy()
    unfinished[3, 2] = np.nan
    assert SizeScores(np.array([1, 5, 9]), unfinished, []).best() == 1


@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=2, max_size=6))
def test_one_standard_error_never_chooses_a_larger_size(columns):
    scores = SizeScores(np.arange(1, len(columns) + 1), np.array(columns).T / 4, [])
    plain, smaller = scores.best(), scores.best(one_standard_error=True)
    assert smaller <= plain
    assert scores.mean[smaller] >= scores.mean[plain] - scores.standard_error[plain] - 1e-9
    assert (scores.mean <= scores.mean[plain] + 1e-9).all()
    assert (scores.mean[:plain] < scores.mean[plain]).all()


def test_grouped_and_time_series_splitters(table):
    X, y = table
    people = np.arange(150) // 10
    selector = SubsetSelectorCV(
        NEAREST, 3, cv=GroupKFold(5), strategy="forward", criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y, groups=people)
    splits = list(GroupKFold(5).split(X, y, people))
    scores = [selector.cv_results_[f"split{split}_test_score"] for split in range(5)]
    np.testing.assert_array_equal(scores, slow_scores(NEAREST, X, y, [1, 2, 3], splits, strategy="forward"))
    with pytest.raises(ValueError, match="groups"):
        SubsetSelectorCV(NEAREST, 3, cv=GroupKFold(5), criterion="jmi", measure="plugin", correction="none").fit(X, y)
    selector = SubsetSelectorCV(
        NEAREST, 3, cv=TimeSeriesSplit(4), strategy="forward", criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y)
    splits = list(TimeSeriesSplit(4).split(X))
    scores = [selector.cv_results_[f"split{split}_test_score"] for split in range(4)]
    np.testing.assert_array_equal(scores, slow_scores(NEAREST, X, y, [1, 2, 3], splits, strategy="forward"))


def test_metadata_is_routed(table):
    X, y = table
    weights = np.random.default_rng(0).integers(1, 4, 150).astype(float)
    with pytest.raises(ValueError, match=r"coef_init.*set_config\(enable_metadata_routing=True\)"):
        SubsetSelectorCV(LogisticRegression(), 2, criterion="jmi", measure="plugin", correction="none").fit(
            X, y, coef_init=weights
        )
    with config_context(enable_metadata_routing=True):
        weighted = LogisticRegression().set_fit_request(sample_weight=True)
        plain = make_scorer(accuracy_score).set_score_request(sample_weight=False)
        selector = SubsetSelectorCV(
            weighted, [2], cv=3, scoring=plain, strategy="forward", criterion="jmi", measure="plugin", correction="none"
        ).fit(X, y, sample_weight=weights)
        people = np.arange(150) // 10
        grouped = SubsetSelectorCV(
            LogisticRegression(), [2], cv=GroupKFold(3), criterion="jmi", measure="plugin", correction="none"
        ).fit(X, y, groups=people)
    for split, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
        support = (
            SubsetSelector(2, strategy="forward", criterion="jmi", measure="plugin", correction="none")
            .fit(X[train], y[train], sample_weight=weights[train])
            .support_
        )
        classifier = LogisticRegression().fit(X[train][:, support], y[train], sample_weight=weights[train])
        expected = classifier.score(X[test][:, support], y[test])
        assert selector.cv_results_[f"split{split}_test_score"][0] == expected
    whole = LogisticRegression().fit(X[:, selector.support_], y, sample_weight=weights)
    np.testing.assert_array_equal(selector.estimator_.coef_, whole.coef_)
    plain = SubsetSelectorCV(
        LogisticRegression(), [2], cv=GroupKFold(3), criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y, groups=people)
    np.testing.assert_array_equal(plain.cv_results_["mean_test_score"], grouped.cv_results_["mean_test_score"])


def test_sizes(table):
    X, y = table  # 7 usable columns
    sizes = lambda asked: (
        SubsetSelectorCV(NEAREST, asked, cv=2, criterion="jmi", measure="plugin", correction="none")
        .fit(X, y)
        .cv_results_["n_features"]
        .tolist()
    )  # noqa: E731
    assert sizes(None) == [1, 2, 3, 4, 5, 6, 7]
    assert sizes(3) == [1, 2, 3]
    assert sizes(50) == [1, 2, 3, 4, 5, 6, 7]
    assert sizes(np.array([4, 2, 4])) == [2, 4]
    with pytest.warns(FewerFeaturesWarning, match="up to 9 features, but 7 is the most"):
        assert sizes([2, 9]) == [2]
    with pytest.warns(FewerFeaturesWarning):
        assert sizes([9]) == [7]
    for wrong in ([], "all", 0, [2.5], [0], True, 2.0):
        with pytest.raises(InvalidInput, match="sizes"):
            sizes(wrong)


def test_constraints_hold_in_every_split(table):
    X, y = table
    constraints = {"include": [3], "exclude": [0], "feature_groups": [[1, 2]], "costs": {4: 5.0, 5: 1.0}, "budget": 1.0}
    selector = SubsetSelectorCV(NEAREST, cv=3, **constraints).fit(X, y)
    # 3 alone; with 5 or 6; with both or 1 and 2; with 1, 2 and one more; all but 0 and 4.
    assert selector.cv_results_["n_features"].tolist() == [1, 2, 3, 4, 5]
    for split in range(3):
        supports = selector.cv_results_[f"split{split}_support"]
        assert supports.sum(axis=1).tolist() == [1, 2, 3, 4, 5]
        assert supports[:, 3].all()
        assert not supports[:, [0, 4, 7]].any()
        assert (supports[:, 1] == supports[:, 2]).all()
    assert SubsetSelectorCV(
        NEAREST, cv=3, feature_groups=[[0, 1], [2, 3], [4, 5, 6]], criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y).cv_results_["n_features"].tolist() == [2, 3, 4, 5, 7]
    with pytest.raises(InvalidInput, match="groups cannot add up to"):
        SubsetSelectorCV(
            NEAREST,
            [2, 6],
            feature_groups=[[0, 1], [2, 3], [4, 5, 6]],
            criterion="jmi",
            measure="plugin",
            correction="none",
        ).fit(X, y)


def test_columns_constant_in_a_split_are_left_out_there():
    rng = np.random.default_rng(1)
    y = np.tile([0, 1], 20)
    X = rng.integers(0, 3, (40, 3)) + y[:, None]
    X[:30, 1] = 7  # constant where the second split trains
    splits = [(np.arange(10, 40), np.arange(10)), (np.arange(30), np.arange(30, 40))]
    selector = SubsetSelectorCV(
        NEAREST, cv=splits, include=[1], criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y)
    assert selector.cv_results_["n_features"].tolist() == [1, 2, 3]
    assert selector.cv_results_["split0_support"].sum(axis=1).tolist() == [1, 2, 3]
    assert selector.cv_results_["split1_support"].sum(axis=1).tolist() == [1, 2, 2]
    assert not selector.cv_results_["split1_support"][:, 1].any()
    assert selector.cv_results_["split0_support"][:, 1].all()


def test_frames_of_all_kinds():
    rng = np.random.default_rng(0)
    y = np.array(["ill", "well"])[rng.integers(0, 2, 200)]
    frame = pd.DataFrame(
        {
            "city": np.where((y == "ill") & (rng.random(200) < 0.8), "Oslo", rng.choice(["Rome", "Lima"], 200)),
            "flag": rng.integers(0, 2, 200).astype(bool),
            "size": rng.choice(["S", "M", "L"], 200),
        }
    )
    classifier = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    selector = SubsetSelectorCV(
        classifier, one_standard_error=True, criterion="jmi", measure="plugin", correction="none"
    ).fit(frame, y)
    assert selector.get_feature_names_out().tolist() == ["city"]
    assert selector.score(frame, y) > 0.8
    assert selector.set_output(transform="pandas").transform(frame).columns.tolist() == ["city"]
    assert set(selector.predict(frame)) == {"ill", "well"}


def test_regressors_and_other_scores(table):
    X, y = table
    selector = SubsetSelectorCV(
        Ridge(), 3, cv=3, strategy="forward", criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y)
    train, test = next(iter(KFold(3).split(X)))
    support = (
        SubsetSelector(3, strategy="forward", criterion="jmi", measure="plugin", correction="none")
        .fit(X[train], y[train])
        .support_
    )
    expected = Ridge().fit(X[train][:, support], y[train]).score(X[test][:, support], y[test])
    assert selector.cv_results_["split0_test_score"][2] == pytest.approx(expected, rel=1e-12)
    assert not hasattr(selector, "predict_proba")
    entropy = SubsetSelectorCV(
        LogisticRegression(), 2, scoring="neg_log_loss", criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y)
    assert (entropy.cv_results_["mean_test_score"] < 0).all()
    assert entropy.score(X, y) < 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"protocol": "hopeful"}, "protocol='hopeful'; expected one of honest, paper"),
        ({"strategy": "best"}, "strategy='best'"),
        ({"cv": [(np.arange(150)[:0], np.arange(5))]}, "a split without training rows"),
        ({"scoring": "luck"}, "luck"),
    ],
)
def test_what_cannot_be_is_refused(table, change, said):
    with pytest.raises(ValueError, match=said):
        SubsetSelectorCV(NEAREST, 2, **change).fit(*table)


def test_training_rows_of_one_class_are_named():
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.repeat(["a", "b"], 15)
    with pytest.raises(
        InvalidInput, match=r"rows that are all of class 'a' \(in a split with 10 training rows\).*StratifiedKFold"
    ):
        SubsetSelectorCV(
            NEAREST, cv=[(np.arange(10), np.arange(10, 30))], criterion="jmi", measure="plugin", correction="none"
        ).fit(X, y)


def test_it_is_a_classifier_like_others():
    X, y = load_iris(return_X_y=True)
    selector = SubsetSelectorCV(
        make_pipeline(StandardScaler(), LogisticRegression()),
        2,
        cv=3,
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    assert clone(selector).get_params()["cv"] == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cross_val_score(selector, X, y, cv=3).mean() > 0.9
