"""SubsetSelectorCV where it was found wanting: scores of NaN, declined weights, wrong settings, no splits."""

import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from certselect import SubsetSelector
from certselect.errors import InvalidInput
from certselect.selectors import MissingScoreWarning, SubsetSelectorCV, fold_scores

NEAREST = KNeighborsClassifier(3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
class TestScoresThatAreNoNumbers:
    def test_leave_one_out_with_r2(self):
        X, y = load_diabetes(return_X_y=True)
        selector = SubsetSelectorCV(
            LinearRegression(),
            2,
            LeaveOneOut(),
            strategy="forward",
            criterion="jmi",
            measure="plugin",
            correction="none",
        )
        said = r"no finite score by scoring='r2' in 12 of 12 splits; .*single row.*fewer splits, such as cv=5"
        with pytest.raises(InvalidInput, match=said):
            selector.fit(X[:12], y[:12])
        assert not hasattr(selector, "n_features_")
        selector.set_params(scoring="neg_mean_squared_error").fit(X[:12], y[:12])
        assert selector.n_features_ >= 1

    def test_test_parts_of_one_class_with_auc(self):
        X, y = np.random.default_rng(0).normal(size=(40, 4)), np.repeat([0, 1], 20)
        with pytest.raises(InvalidInput, match=r"'roc_auc' in 4 of 4 splits; .*one class only.*StratifiedKFold"):
            SubsetSelectorCV(
                LogisticRegression(),
                2,
                KFold(4),
                scoring="roc_auc",
                criterion="jmi",
                measure="plugin",
                correction="none",
            ).fit(X, y)

    def test_splits_without_a_score_are_left_out_and_named(self):
        rng = np.random.default_rng(0)
        y = np.r_[np.zeros(10), np.tile([0, 1], 15)].astype(int)
        X = rng.normal(size=(40, 4)) + y[:, None] * [2, 1, 0, 0]
        common = {"sizes": 3, "scoring": "roc_auc", "strategy": "forward"}
        with pytest.warns(MissingScoreWarning, match=r"in 1 of 4 splits, which are left out. There .* one class only"):
            selector = SubsetSelectorCV(LogisticRegression(), cv=KFold(4), **common).fit(X, y)
        scores = selector.size_scores_
        assert scores.counted.tolist() == [False, True, True, True]
        others = SubsetSelectorCV(LogisticRegression(), cv=list(KFold(4).split(X))[1:], **common).fit(X, y)
        np.testing.assert_array_equal(scores.mean, others.size_scores_.mean)
        np.testing.assert_array_equal(scores.standard_error, others.size_scores_.standard_error)
        np.testing.assert_array_equal(selector.cv_results_["mean_test_score"], others.cv_results_["mean_test_score"])
        np.testing.assert_array_equal(selector.cv_results_["std_test_score"], others.cv_results_["std_test_score"])
        assert selector.indices_.tolist() == others.indices_.tolist()
        assert selector.result_.verify(X, y).holds

    def test_sizes_without_a_score_in_every_split_are_not_chosen(self):
        X, y = np.random.default_rng(0).normal(size=(40, 4)), np.tile([0, 1], 20)
        with pytest.warns(MissingScoreWarning, match="NaN in some splits for k = 1, 3: where it did"):
            selector = SubsetSelectorCV(
                NEAREST,
                4,
                cv=2,
                scoring=only_even_sizes,
                strategy="forward",
                criterion="jmi",
                measure="plugin",
                correction="none",
            ).fit(X, y)
        assert selector.n_features_ == 2

    def test_no_size_has_a_score_in_every_split(self):
        X, y = np.random.default_rng(0).normal(size=(40, 4)), np.tile([0, 1], 20)
        lottery = iter([0.5, np.nan, np.nan, 0.5])
        with pytest.raises(InvalidInput, match=r"in one split or more, at every size.*pass another scoring"):
            SubsetSelectorCV(
                NEAREST,
                2,
                cv=2,
                scoring=lambda *_: next(lottery),
                strategy="forward",
                criterion="jmi",
                measure="plugin",
                correction="none",
            ).fit(X, y)

    def test_a_score_of_minus_infinity_everywhere_chooses_nothing(self):
        X, y = np.random.default_rng(0).normal(size=(40, 4)), np.tile([0, 1], 20)
        with pytest.raises(InvalidInput, match=r"no finite score .* in 2 of 2 splits"):
            SubsetSelectorCV(
                NEAREST,
                2,
                cv=2,
                scoring=lambda *_: -np.inf,
                strategy="forward",
                criterion="jmi",
                measure="plugin",
                correction="none",
            ).fit(X, y)


def only_even_sizes(estimator, X, y):
    return 0.5 if X.shape[1] % 2 == 0 else np.nan


class TestDeclinedWeights:
    """A request says who gets the weights: the selector, the estimator inside, the scorer, each for itself."""

    @pytest.fixture(autouse=True)
    def _routing(self, table):
        self.X, self.y = table
        self.weights = np.random.default_rng(0).integers(1, 5, 150).astype(float)
        self.plain = (
            SubsetSelector(2, criterion="jmi", measure="plugin", correction="none").fit(self.X, self.y).terms_.relevance
        )
        self.weighed = (
            SubsetSelector(2, criterion="jmi", measure="plugin", correction="none")
            .fit(self.X, self.y, sample_weight=self.weights)
            .terms_.relevance
        )
        assert (self.plain != self.weighed).any()
        with config_context(enable_metadata_routing=True):
            yield

    def selector(self, *, own, inner):
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=False)
        estimator = LogisticRegression().set_fit_request(sample_weight=inner)
        return SubsetSelectorCV(
            estimator,
            [2],
            cv=2,
            scoring=scorer,
            strategy="forward",
            criterion="jmi",
            measure="plugin",
            correction="none",
        ).set_fit_request(sample_weight=own)

    @pytest.mark.parametrize(
        ("own", "inner"), [(False, True), (True, True), (None, True), (True, False), (None, False)]
    )
    def test_each_gets_what_it_requests(self, own, inner):
        fitted = self.selector(own=own, inner=inner).fit(self.X, self.y, sample_weight=self.weights)
        # Nobody stands between the caller and the selector: what is not declined is taken.
        expected = self.plain if own is False else self.weighed
        assert fitted.terms_.relevance.tolist() == expected.tolist()
        learnt = LogisticRegression().fit(
            self.X[:, fitted.support_], self.y, sample_weight=self.weights if inner else None
        )
        np.testing.assert_array_equal(fitted.estimator_.coef_, learnt.coef_)

    def test_weights_that_all_decline_are_refused(self):
        with pytest.raises(TypeError, match="not routed to any object"):
            self.selector(own=False, inner=False).fit(self.X, self.y, sample_weight=self.weights)

    @pytest.mark.parametrize(("own", "inner"), [(False, True), (True, False), (False, False)])
    def test_the_same_within_another_search(self, own, inner):
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=not (own or inner))
        outer = GridSearchCV(self.selector(own=own, inner=inner), {"criterion": ["jmi"]}, cv=2, scoring=scorer)
        best = outer.fit(self.X, self.y, sample_weight=self.weights).best_estimator_
        assert best.terms_.relevance.tolist() == (self.weighed if own else self.plain).tolist()

    def test_a_generator_of_splits_is_not_used_up(self):
        splits = ((train, test) for train, test in StratifiedKFold(2).split(self.X, self.y))
        fitted = SubsetSelectorCV(
            NEAREST, [2], cv=splits, strategy="forward", criterion="jmi", measure="plugin", correction="none"
        ).fit(self.X, self.y)
        assert len(fitted.size_scores_.scores) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"strategy": "cobra", "strategy_options": {"draws": -1}}, "Got draws=-1;"),
        ({"strategy": "annealing", "strategy_options": {"steps": "many"}}, "Got steps='many';"),
        ({"strategy": "qpfs", "strategy_options": {"alpha": 3}}, "Got alpha=3;"),
        ({"strategy_options": {"draws": 0}}, "Got draws=0;"),
        ({"strategy": ["forward", "genetic"], "strategy_options": {"population": 1}}, "Got population=1 with"),
        ({"discretize": "quantil"}, "Got discretize='quantil';"),
        ({"strategy": "exact", "strategy_options": {"max_seconds": 3}}, "Got max_seconds=3 with strategy='exact'"),
    ],
)
def test_a_wrong_setting_is_told_as_itself_before_anything_is_measured(table, change, said, monkeypatch):
    monkeypatch.setattr(fold_scores, "measure_table", None)
    with pytest.raises(InvalidInput) as told:
        SubsetSelectorCV(NEAREST, 3, **change).fit(*table)
    assert str(told.value).startswith(said)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"include": ["nobody"]}, "Got 'nobody' in include;"),
        ({"criterion": "mifs", "beta": 1e300}, "Got criterion='mifs', whose weight of a pair is 1e+300"),
        ({"measure": "neighbors", "n_neighbors": 200}, "Got n_neighbors=200 for 150 rows;"),
        ({"strategy": "exhaustive", "strategy_options": {"max_subsets": 2}}, "Got 7 subsets of 1 out of 7 candidates;"),
    ],
)
def test_a_setting_that_does_not_suit_the_table_is_told_as_itself(table, change, said):
    with pytest.raises(InvalidInput) as told:
        SubsetSelectorCV(NEAREST, 3, **change).fit(*table)
    assert str(told.value).startswith(said)
    assert "split" not in str(told.value)


def test_a_setting_that_does_not_suit_the_training_rows_comes_first(table):
    with pytest.raises(InvalidInput) as told:
        SubsetSelectorCV(NEAREST, 3, cv=2, measure="neighbors", n_neighbors=100, criterion="jmi").fit(*table)
    assert str(told.value).startswith("Got n_neighbors=100 for 75 rows (in a split with 75 training rows);")


def test_options_are_tried_on_no_search_of_the_users(table):
    """Only the searches of this package are run on a feature of nothing to check their options."""
    from certselect.search.strategy import Strategy

    asked = []

    def first(problem, found, rng, /, *, width=1):
        asked.append(len(problem.candidates))
        found.indices.extend(problem.candidates[: problem.k].tolist())

    own = Strategy("first columns", first, "the first k columns")
    SubsetSelector(
        2, strategy=own, strategy_options={"width": 2}, criterion="jmi", measure="plugin", correction="none"
    ).fit(*table)
    assert asked == [7]


@pytest.mark.parametrize("cv", [[], (), iter([])], ids=["list", "tuple", "generator"])
def test_no_splits(table, cv):
    with pytest.raises(InvalidInput, match=r"which gives no splits; expected one split or more"):
        SubsetSelectorCV(NEAREST, 2, cv=cv, criterion="jmi", measure="plugin", correction="none").fit(*table)


@pytest.mark.parametrize("part", ["training", "test"])
def test_half_a_split(table, part):
    rows, none = np.arange(100), np.arange(0)
    with pytest.raises(InvalidInput, match=f"a split without {part} rows"):
        SubsetSelectorCV(
            NEAREST,
            2,
            cv=[(none, rows) if part == "training" else (rows, none)],
            criterion="jmi",
            measure="plugin",
            correction="none",
        ).fit(*table)


def test_nothing_is_said_where_nothing_is_wrong(table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SubsetSelectorCV(NEAREST, 2, cv=2, criterion="jmi", measure="plugin", correction="none").fit(*table)
