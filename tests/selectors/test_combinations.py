"""Choosing k and the settings together: the same scores as one selector each, terms counted once, one rule for all."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from certselect import load_result
from certselect.errors import IdleSettingWarning, InvalidInput
from certselect.results.size_choice import best_choice
from certselect.selectors import OptimisticScoreWarning, SubsetSelectorCV, fold_scores
from certselect.selectors.size_scores import StoppedEarly
from certselect.settings.combinations import combine

NEAREST = KNeighborsClassifier(3)
# Quick, and whatever is combined.
FORWARD = {"strategy": "forward"}
SEVERAL = {"criterion": ["jmi", "max_relevance"], "discretize": ["uniform", "quantile"]}


def one_by_one(X, y, several, **common):
    """The slow twin: a selector of its own for every combination, in the order of the lists."""
    for values in itertools.product(*several.values()):
        yield SubsetSelectorCV(NEAREST, **dict(zip(several, values, strict=True)), **common).fit(X, y)


@pytest.mark.parametrize("protocol", ["honest", "paper"])
@pytest.mark.parametrize(
    "several",
    [
        SEVERAL,
        {"measure": ["plugin", "gaussian_copula"], "criterion": ("mrmr", "jmi")},
        {"bins": [2, "sturges"], "correction": ["none", "miller_madow"], "strategy": ["forward", "relevance"]},
        {"discretize": ["mdlp", "mean_std"]},
    ],
    ids=lambda several: "-".join(several),
)
@pytest.mark.filterwarnings("ignore::certselect.selectors.OptimisticScoreWarning")
@pytest.mark.filterwarnings("ignore::certselect.errors.FewerFeaturesWarning")
def test_scores_are_those_of_a_selector_for_each_combination(table, several, protocol):
    X, y = table
    common = {"sizes": [1, 3, 5], "cv": 3, "protocol": protocol, "random_state": 0}
    # In the order in which settings are named, whatever the order of the keywords.
    order = ("criterion", "measure", "correction", "discretize", "bins", "strategy")
    several = {name: several[name] for name in order if name in several}
    together = SubsetSelectorCV(NEAREST, **several, **common).fit(X, y)
    apart = list(one_by_one(X, y, several, **common))
    assert len(together.combination_scores_) == len(apart)
    for scores, alone in zip(together.combination_scores_, apart, strict=True):
        assert scores.sizes[scores.tried].tolist() == alone.size_scores_.sizes.tolist()
        np.testing.assert_array_equal(scores.scores[:, scores.tried], alone.size_scores_.scores)
        tried = np.flatnonzero(scores.tried).tolist()
        assert [[each[place] for place in tried] for each in scores.subsets] == alone.size_scores_.subsets
        assert {name: getattr(alone, name) for name in several} == scores.settings
    best = max(alone.cv_results_["mean_test_score"].max() for alone in apart)
    assert together.cv_results_["mean_test_score"].max() == pytest.approx(best)
    chosen = together.result_.choice.chosen
    assert together.indices_.tolist() == apart[chosen].indices_.tolist() or (
        together.n_features_ != apart[chosen].n_features_
    )
    for name in several:
        stated = {k: v for group in together.result_.settings.to_dict().values() for k, v in group.items()}
        assert stated[name] == together.combination_scores_[chosen].settings[name]
    columns = X[:, together.support_]
    assert (together.predict(X) == clone(NEAREST).fit(columns, y).predict(columns)).all()


def test_terms_are_counted_once_per_split_and_coding(table, monkeypatch):
    X, y = table
    measured, measure = [], fold_scores.measure_table

    def counting(rows, measuring, **how):
        measured.append((rows.n_samples, measuring.discretize))
        return measure(rows, measuring, **how)

    monkeypatch.setattr(fold_scores, "measure_table", counting)
    SubsetSelectorCV(
        NEAREST,
        3,
        cv=3,
        criterion=["jmi", "mrmr", "d1"],
        discretize=["uniform", "quantile"],
        measure="plugin",
        correction="none",
    ).fit(X, y)
    # All rows and three splits, for each of two codings; three criteria share them.
    assert sorted(measured) == sorted([(rows, how) for how in ("uniform", "quantile") for rows in (150, 100, 100, 100)])
    measured.clear()
    with pytest.warns(OptimisticScoreWarning):
        SubsetSelectorCV(
            NEAREST,
            3,
            cv=3,
            protocol="paper",
            criterion=["jmi", "mrmr"],
            bins=[3, 4],
            measure="plugin",
            correction="none",
        ).fit(X, y)
    assert [rows for rows, _ in measured] == [150, 150]


def test_jobs_do_not_matter(table):
    X, y = table
    fits = [
        SubsetSelectorCV(NEAREST, 3, cv=2, strategy="soss", random_state=5, n_jobs=jobs, **SEVERAL).fit(X, y)
        for jobs in (1, 2)
    ]
    for one, other in zip(*(fit.combination_scores_ for fit in fits), strict=True):
        np.testing.assert_array_equal(one.scores, other.scores)
    assert fits[0].indices_.tolist() == fits[1].indices_.tolist()


# Rows are combinations, columns the sizes.
ERRORS = np.full((2, 3), 0.05)


@pytest.mark.parametrize(
    ("means", "plain", "within_one_error"),
    [
        ([[0.6, 0.80, 0.9], [0.6, 0.88, 0.89]], (0, 2), (1, 1)),  # the smaller size of the other combination
        ([[0.6, 0.86, 0.9], [0.6, 0.88, 0.89]], (0, 2), (1, 1)),  # both within: the higher mean at that size
        ([[0.6, 0.88, 0.9], [0.6, 0.88, 0.89]], (0, 2), (0, 1)),  # equal there: the first
        ([[0.6, 0.70, 0.9], [0.6, 0.90, 0.70]], (1, 1), (1, 1)),  # equal means: the smaller size
        ([[0.6, 0.70, 0.9], [0.6, 0.70, 0.9]], (0, 2), (0, 2)),  # equal in all: the first
        ([[0.6, 0.70, np.nan], [np.nan, 0.75, 0.8]], (1, 2), (1, 1)),
        ([[np.nan] * 3, [0.9, 0.9, np.nan]], (1, 0), (1, 0)),
        ([[0.9, 0.9, -np.inf], [-np.inf] * 3], (0, 0), (0, 0)),
    ],
)
def test_the_rule_by_hand(means, plain, within_one_error):
    means = np.array(means)
    assert best_choice(means, ERRORS, one_standard_error=False) == plain
    assert best_choice(means, ERRORS, one_standard_error=True) == within_one_error


@given(st.lists(st.lists(st.integers(0, 5), min_size=4, max_size=4), min_size=1, max_size=4), st.booleans())
def test_the_rule_is_the_plain_one(means, one_standard_error):
    """Against loops: of all that reach the threshold the smallest size, then the highest mean, then the first."""
    means = np.array(means) / 5
    errors = np.linspace(0.0, 0.3, means.size).reshape(means.shape)
    top = max(
        ((i, j) for i in range(len(means)) for j in range(4)), key=lambda at: (means[at], -at[1], -at[0])
    )  # of equal means the smallest size, then the first
    least = means[top] - (errors[top] if one_standard_error else 0.0) - 1e-12
    within = [(j, -means[i, j], i) for i in range(len(means)) for j in range(4) if means[i, j] >= least]
    size, _, combination = min(within)
    assert best_choice(means, errors, one_standard_error=one_standard_error) == (combination, size)


def test_one_standard_error_chooses_no_larger_size(table):
    X, y = table
    plain = SubsetSelectorCV(NEAREST, 5, cv=3, **SEVERAL, **FORWARD).fit(X, y)
    smaller = SubsetSelectorCV(NEAREST, 5, cv=3, one_standard_error=True, **SEVERAL, **FORWARD).fit(X, y)
    assert smaller.n_features_ <= plain.n_features_
    best = plain.result_.choice
    place = plain.cv_results_["n_features"].tolist().index(plain.n_features_)
    least = best.mean_scores[place] - best.standard_errors[place]
    chosen = smaller.cv_results_["n_features"].tolist().index(smaller.n_features_)
    assert smaller.cv_results_["mean_test_score"][chosen] >= least - 1e-9


def test_the_result_keeps_every_combination(table, tmp_path):
    X, y = table
    selector = SubsetSelectorCV(NEAREST, 4, cv=3, **SEVERAL).fit(X, y)
    selector.result_.save(tmp_path / "result.json")
    kept = load_result(tmp_path / "result.json")
    assert kept.verify(X, y).holds
    assert kept.choice.chosen == selector.result_.choice.chosen
    assert [tried.words for tried in kept.choice.combinations] == [
        "criterion=jmi, discretize=uniform",
        "criterion=jmi, discretize=quantile",
        "criterion=max_relevance, discretize=uniform",
        "criterion=max_relevance, discretize=quantile",
    ]
    for tried, scores in zip(kept.choice.combinations, selector.combination_scores_, strict=True):
        np.testing.assert_array_equal(tried.split_scores, scores.scores)
        np.testing.assert_array_equal(tried.mean_scores, scores.mean)


def test_sizes_that_a_coding_does_not_allow_are_not_tried():
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 60)
    X = np.column_stack([y + 0.3 * rng.normal(size=120), rng.normal(size=(120, 3))])
    # mdlp finds no cut in noise: one column is left.
    selector = SubsetSelectorCV(
        NEAREST, cv=3, discretize=["mdlp", "uniform"], criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y)
    by_classes, by_width = selector.combination_scores_
    assert by_width.tried.all()
    assert by_classes.tried.tolist() == [True, False, False, False]
    assert np.isnan(by_classes.mean[1:]).all()
    assert not np.isnan(by_width.mean).any()
    assert selector.result_.verify(X, y).holds


def test_what_has_no_effect_makes_no_combination():
    keywords = {"measure": ["plugin", "gaussian_copula"], "discretize": ["quantile", "uniform"], "bins": 7}
    found = combine(keywords)
    assert [(each.settings.measuring.measure, each.settings.measuring.discretize) for each in found] == [
        ("plugin", "quantile"),
        ("plugin", "uniform"),
        ("gaussian_copula", "quantile"),
    ]
    assert [each.settings.measuring.bins for each in found] == [7, 7, 7]
    with pytest.warns(IdleSettingWarning, match="n_neighbors=9 has no effect"):
        combine({"measure": ["plugin", "gaussian_copula"], "n_neighbors": 9})
    assert len(combine({"criterion": ["jmi", "jmi"]})) == 1
    assert combine({"criterion": "jmi"})[0].named == {}
    assert combine({"criterion": ["jmi"]})[0].named == {"criterion": "jmi"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"criterion": []}, r"criterion=\[\]; expected one value or more"),
        ({"criterion": ["jmi", "jmmi"]}, "criterion='jmmi'.*Did you mean 'jmi'"),
        ({"discretize": ["uniform", "quantil"]}, "discretize='quantil'.*Did you mean 'quantile'"),
        ({"bins": [3, 1]}, "bins=1"),
        ({"strategy": ["forward", "best"]}, "strategy='best'"),
        ({"polish": [True, False]}, r"polish=\[True, False\]; expected True or False"),
        ({"criterion": ["jmi", "mifs"], "beta": 0.5}, "beta=0.5 with criterion='jmi'"),
    ],
)
def test_wrong_values_are_named_before_anything_is_measured(table, change, said, monkeypatch):
    monkeypatch.setattr(fold_scores, "measure_table", None)
    with pytest.raises(InvalidInput, match=said):
        SubsetSelectorCV(NEAREST, 2, **change).fit(*table)


class Presses:
    """Presses Ctrl-C once as many classifiers as are left have been fitted."""

    def __init__(self, monkeypatch):
        self.left, fit = 10**9, KNeighborsClassifier.fit

        def fit_or_stop(classifier, X, y):
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
            return fit(classifier, X, y)

        monkeypatch.setattr(KNeighborsClassifier, "fit", fit_or_stop)


def test_a_stopped_run_goes_on_from_its_file(table, tmp_path, monkeypatch):
    X, y = table
    common = {"sizes": 3, "cv": 2, "random_state": 2, **SEVERAL}
    whole = SubsetSelectorCV(NEAREST, **common).fit(X, y)
    presses, saved = Presses(monkeypatch), tmp_path / "saved.jsonl"
    presses.left = 11
    with pytest.raises(StoppedEarly) as stopped:
        SubsetSelectorCV(NEAREST, **common, checkpoint=saved).fit(X, y)
    so_far = stopped.value.combinations
    assert sum(np.isfinite(scores.scores).sum() for scores in so_far) == 11
    assert all(np.isfinite(scores.scores[:, 0]).all() for scores in so_far)  # whole sizes first, of all combinations
    assert stopped.value.so_far in so_far
    assert not np.isnan(stopped.value.so_far.mean[0])
    presses.left = 4 * 2 * 3 - 11 + 1  # no score is computed twice; one more is the final fit
    again = SubsetSelectorCV(NEAREST, **common, checkpoint=saved).fit(X, y)
    assert presses.left == 0
    for one, other in zip(whole.combination_scores_, again.combination_scores_, strict=True):
        np.testing.assert_array_equal(one.scores, other.scores)
        assert one.subsets == other.subsets
    assert again.indices_.tolist() == whole.indices_.tolist()
    lines = [json.loads(line) for line in saved.read_text().splitlines()]
    assert sorted(line["search"] for line in lines if "search" in line) == list(range(4 * 2))
    assert {line["split"] for line in lines if "score" in line} == set(range(4 * 2))


def test_saved_scores_of_other_combinations_are_refused(table, tmp_path):
    X, y = table
    common = {"sizes": 2, "cv": 2, "random_state": 0, "checkpoint": tmp_path / "saved.jsonl"}
    SubsetSelectorCV(NEAREST, criterion=["jmi", "mrmr"], bins=[3, 4], **common).fit(X, y)
    for change, said in (
        ({"criterion": ["mrmr", "jmi"], "bins": [3, 4]}, "another criterion"),
        ({"criterion": ["jmi", "d1"], "bins": [3, 4]}, "another criterion"),
        ({"criterion": "jmi", "bins": [3, 4]}, "another criterion"),
        ({"criterion": ["jmi", "mrmr"], "bins": [4, 3]}, "another setting of the search"),
    ):
        with pytest.raises(InvalidInput, match=said):
            SubsetSelectorCV(NEAREST, **change, **common).fit(X, y)


def test_it_is_a_classifier_like_others(table):
    X, y = table
    selector = SubsetSelectorCV(DecisionTreeClassifier(random_state=0), 3, cv=2, **SEVERAL)
    assert clone(selector).get_params()["criterion"] == ["jmi", "max_relevance"]
    assert cross_val_score(selector, X, y, cv=2).shape == (2,)
