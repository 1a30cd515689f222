"""Why each feature was chosen or left out, against values worked out another way."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from certselect import SubsetSelector, information_terms, select, subset_problem
from certselect.criteria.pairs import TermPairs
from certselect.errors import InvalidInput
from certselect.evaluation.feature_report import feature_report
from certselect.selectors import SubsetSelectorCV


def data(seed=0, m=300):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, m)
    signal = [y ^ (rng.random(m) < share) for share in (0.1, 0.2, 0.3)]
    copy = signal[0].copy()
    copy[:4] ^= 1
    X = np.column_stack([*signal, copy, rng.integers(0, 2, m), np.ones(m, dtype=int)])
    return X, y, ["best", "second", "third", "nearly best", "coin", "same"]


@pytest.mark.parametrize("criterion", ["jmi", "mrmr", "mifs", "max_relevance"])
def test_losses_are_differences_of_values(criterion):
    X, y, names = data()
    terms = information_terms(X, y, feature_names=names)
    problem = subset_problem(terms, 2, criterion)
    selection = select(problem, "exhaustive")
    report = feature_report(selection, terms)
    chosen = selection.indices.tolist()
    for i, name in enumerate(names):
        assert report["feature"][i] == name
        assert report["chosen"][i] == (i in chosen)
        assert report["relevance"][i] == terms.relevance[i]
        if name == "same":
            assert math.isnan(report["swap_loss"][i])
            assert math.isnan(report["worth"][i])
        elif i not in chosen:
            swapped = [problem.value([i if c == out else c for c in chosen]) for out in chosen]
            assert report["swap_loss"][i] == pytest.approx(selection.objective - max(swapped), abs=1e-12)
            assert report["swap_loss"][i] >= -1e-12
            assert math.isnan(report["worth"][i])
        else:
            weight = problem.weight(2)
            other = next(c for c in chosen if c != i)
            expected = terms.relevance[i] - weight * problem.pair_row(i)[other]
            assert report["worth"][i] == pytest.approx(expected, abs=1e-12)
            assert math.isnan(report["swap_loss"][i])
        closest = max((c for c in chosen if c != i), key=lambda c: terms.redundancy[i, c])
        assert report["closest"][i] == names[closest]
        assert report["shared"][i] == terms.redundancy[i, closest]
        if terms.entropy[i] > 0:
            assert report["shared_part"][i] == pytest.approx(terms.redundancy[i, closest] / terms.entropy[i])


def words(terms, k, criterion="jmi", strategy="auto", **constraints):
    selection = select(subset_problem(terms, k, criterion, **constraints), strategy)
    report = feature_report(selection, terms)
    return dict(zip(report["feature"], report["why"], strict=True))


def test_the_words():
    X, y, names = data()
    terms = information_terms(X, y, feature_names=names)
    said = words(terms, 2, "mrmr", "exact")
    assert said["same"] == "proven, left out: constant"
    assert said["best"].startswith("proven, chosen: worth 0.")
    assert said["best"].endswith(" nats (relevance minus redundancy penalty)")
    assert said["nearly best"].startswith("proven, left out: shares 9")
    assert said["nearly best"].endswith(" % of its information with 'best'")
    assert "carries" in said["coin"]
    assert " nats of information about the target, the chosen features " in said["coin"]
    forced = words(terms, 2, include=["coin"], exclude=["best"])
    assert forced["coin"] == "chosen: always included"
    assert forced["best"] == "left out: excluded"
    assert forced["third"].endswith("other features score higher together")
    alike = words(information_terms(X[:, :3], y, feature_names=names[:3]), 2, "max_relevance", "exhaustive")
    loss = terms.relevance[1] - terms.relevance[2]
    assert alike["third"] == f"proven, left out: in place of 'second' it would change the score by {-loss:+.2g} nats"


def test_one_feature_has_no_closest():
    X, y, names = data()
    terms = information_terms(X, y, feature_names=names)
    report = feature_report(select(subset_problem(terms, 1)), terms)
    assert report["closest"][0] is None
    assert math.isnan(report["shared_part"][0])
    assert report["closest"][1] == "best"


@pytest.mark.parametrize("criterion", ["jmi", "mrmr", "max_relevance"])
@pytest.mark.parametrize("constraints", [{}, {"costs": [1, 1, 1, 2, 1, 1], "budget": 3}])
def test_only_pair_rows_of_chosen_features_are_asked_for(criterion, constraints):
    """A kept result has no others."""
    X, y, names = data()
    terms = information_terms(X, y, feature_names=names)
    selection = select(subset_problem(terms, None if constraints else 3, criterion, **constraints), "forward")
    expected = feature_report(selection, terms)
    chosen = selection.indices.tolist()

    class Kept:
        def rows(self, kind, features):
            assert set(features.tolist()) <= set(chosen)
            assert kind in ("redundancy", selection.problem.criterion.pair)
            return terms.pairs.rows(kind, features)

    kept = replace(terms, pairs=Kept(), _rows={})
    problem = selection.problem
    if problem.pairs is not None:
        problem = replace(problem, pairs=TermPairs(kept, problem.pairs.kind))
    assert str(feature_report(replace(selection, problem=problem), kept)) == str(expected)


def test_what_cannot_be_explained_is_refused():
    X, y, names = data()
    terms = information_terms(X, y, feature_names=names)
    selection = select(subset_problem(terms, 2))
    with pytest.raises(InvalidInput, match="does not know its problem"):
        feature_report(replace(selection, problem=None), terms)
    with pytest.raises(InvalidInput, match="terms of other features"):
        feature_report(selection, information_terms(X, y))


def test_the_frame_is_of_the_users_library():
    X, y, names = data()
    columns = {name: X[:, i] for i, name in enumerate(names)}
    fitted = {
        pd.DataFrame: SubsetSelector(2).fit(pd.DataFrame(columns), y),
        pl.DataFrame: SubsetSelector(2).fit(pl.DataFrame(columns), y),
        pa.Table: SubsetSelector(2).fit(pa.table(columns), y),
    }
    for library, selector in fitted.items():
        assert isinstance(selector.report_frame(), library)
    assert isinstance(SubsetSelector(2).fit(X, y).report_frame(), pd.DataFrame)
    assert isinstance(SubsetSelector(2).fit(X, y).report_frame("polars"), pl.DataFrame)
    with pytest.raises(InvalidInput, match="library='dask'"):
        fitted[pd.DataFrame].report_frame("dask")


def test_numbers_share_their_squared_correlation():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    y = X[:, 0] + 0.1 * rng.normal(size=2000)
    terms = information_terms(X, y, measure="gaussian_copula")
    part = feature_report(select(subset_problem(terms, 1)), terms)["shared_part"]
    assert part[1] == pytest.approx(0.64, abs=0.03)
    assert part[2] < 0.01


def test_the_size_chooser_explains_itself_too():
    from sklearn.neighbors import KNeighborsClassifier

    X, y, names = data()
    frame = pl.DataFrame({name: X[:, i] for i, name in enumerate(names)})
    report = SubsetSelectorCV(KNeighborsClassifier(), 3, cv=3).fit(frame, y).report_frame()
    assert isinstance(report, pl.DataFrame)
    assert report["feature"].to_list() == names
    assert report["chosen"].sum() >= 1
