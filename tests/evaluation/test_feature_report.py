"""Why each feature was chosen or left out, against values worked out another way."""

import math
import re
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
from certselect.information.terms import PairTerms
from certselect.selectors import SubsetSelectorCV
from certselect.table.output import ReportTable


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
    terms = information_terms(X, y, feature_names=names, measure="plugin", correction="none")
    problem = subset_problem(terms, 2, criterion)
    selection = select(problem, "exhaustive")
    report = feature_report(selection, terms)
    chosen = selection.indices.tolist()
    for i, name in enumerate(names):
        assert report["feature"][i] == name
        assert report["chosen"][i] == (i in chosen)
        assert report["relevance"][i] == terms.relevance[i]
        np.testing.assert_equal(report["chance"][i], terms.chance[i])
        np.testing.assert_allclose(report["p_value"][i], terms.chance_p_values[i], rtol=0, atol=1e-15)
        if name == "same":
            assert report["swap_with"][i] is None
            assert math.isnan(report["swap_loss"][i])
            assert math.isnan(report["worth"][i])
        elif i not in chosen:
            swapped = [problem.value([i if c == out else c for c in chosen]) for out in chosen]
            assert report["swap_loss"][i] == pytest.approx(selection.objective - max(swapped), abs=1e-12)
            assert report["swap_with"][i] == names[chosen[int(np.argmax(swapped))]]
            assert report["swap_loss"][i] >= -1e-12
            assert math.isnan(report["worth"][i])
        else:
            weight = problem.weight(2)
            other = next(c for c in chosen if c != i)
            expected = terms.relevance[i] - weight * problem.pair_row(i)[other]
            assert report["worth"][i] == pytest.approx(expected, abs=1e-12)
            others = [c for c in range(5) if c not in chosen]
            swapped = [problem.value([new if c == i else c for c in chosen]) for new in others]
            assert report["swap_loss"][i] == pytest.approx(selection.objective - max(swapped), abs=1e-12)
            assert report["swap_with"][i] == names[others[int(np.argmax(swapped))]]
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
    terms = information_terms(X, y, feature_names=names, measure="plugin", correction="none")
    said = words(terms, 2, "mrmr", "exact")
    assert said["same"] == "proven, left out: constant"
    assert re.fullmatch(
        r"proven, chosen: adds 0\.\d+ nats to the score; "
        r"replacing it by 'nearly best', the best exchange, would lose 0\.\d+ nats",
        said["best"],
    )
    assert re.fullmatch(
        r"proven, left out: putting it in for 'best', the best exchange, would lose 0\.\d+ nats; "
        r"shares 9\d % of its information with 'best'",
        said["nearly best"],
    )
    assert re.search(r"would lose 0\.\d+ nats; by itself no better than chance \(p = 0\.\d+\)$", said["coin"])
    assert "chance" not in said["best"]
    forced = words(terms, 2, include=["coin"], exclude=["best"])
    assert re.fullmatch(
        r"chosen: always included; by itself no better than chance \(p = 0\.\d+\)",
        forced["coin"],
    )
    assert forced["best"] == "left out: excluded"
    assert forced["third"] == "left out: other features score higher together"
    alike = words(
        information_terms(X[:, :3], y, feature_names=names[:3], measure="plugin", correction="none"),
        2,
        "max_relevance",
        "exhaustive",
    )
    loss = terms.relevance[1] - terms.relevance[2]
    exchange = "putting it in for 'second', the best exchange, would lose"
    assert alike["third"] == f"proven, left out: {exchange} {loss:.3g} nats"


def test_an_exchange_that_gains_says_so_and_one_of_equals_changes_nothing():
    X, y, _ = data()
    terms = information_terms(
        np.column_stack([X[:, 0], X[:, 0], X[:, 1]]),
        y,
        feature_names=["a", "copy", "c"],
        measure="plugin",
        correction="none",
    )
    problem = subset_problem(terms, 1, "max_relevance", copies="all")
    worse = replace(select(problem), indices=np.array([2]), names=("c",))
    report = feature_report(worse, terms)
    gained = terms.relevance[0] - terms.relevance[2]
    assert report["why"][0] == f"left out: putting it in for 'c', the best exchange, would gain {gained:.3g} nats"
    assert report["why"][2].endswith(f"; replacing it by 'a', the best exchange, would gain {gained:.3g} nats")
    same = feature_report(select(problem), terms)["why"][1]
    assert "putting it in for 'a', the best exchange, would change nothing; shares 100 %" in same


def test_shares_of_chosen_features_are_no_reason_against_others():
    """What a chosen column shares with another is no less than what one that was left out does."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    terms = information_terms(X, y, measure="plugin", correction="none")
    report = feature_report(select(subset_problem(terms, 8, criterion="jmi"), "forward"), terms)
    for why, part in zip(report["why"], report["shared_part"], strict=True):
        assert ("shares" in why) <= (part >= 0.9)
        assert why.startswith(("chosen: adds ", "left out: putting it in for "))


def test_other_measures_say_nothing_of_chance():
    X, y, names = data()
    terms = information_terms(X[:, :5], y, measure="gaussian_copula", feature_names=names[:5])
    report = feature_report(select(subset_problem(terms, 2, criterion="jmi")), terms)
    assert np.isnan(report["chance"]).all()
    assert not any("chance" in why for why in report["why"])


def test_one_feature_has_no_closest():
    X, y, names = data()
    terms = information_terms(X, y, feature_names=names, measure="plugin", correction="none")
    report = feature_report(select(subset_problem(terms, 1, criterion="jmi")), terms)
    assert report["closest"][0] is None
    assert math.isnan(report["shared_part"][0])
    assert report["closest"][1] == "best"


@pytest.mark.parametrize("criterion", ["jmi", "mrmr", "max_relevance"])
@pytest.mark.parametrize("constraints", [{}, {"costs": [1, 1, 1, 2, 1, 1], "budget": 3}])
def test_only_pair_rows_of_chosen_features_are_asked_for(criterion, constraints):
    """A kept result has no others."""
    X, y, names = data()
    terms = information_terms(X, y, feature_names=names, measure="plugin", correction="none")
    selection = select(subset_problem(terms, None if constraints else 3, criterion, **constraints), "forward")
    expected = feature_report(selection, terms)
    chosen = selection.indices.tolist()

    class Kept(PairTerms):
        def measured(self, kinds, features=None):
            assert set(features.tolist()) <= set(chosen)
            assert kinds in (("redundancy",), (selection.problem.criterion.pair,))
            return terms.pairs.measured(kinds, features)

    kept = replace(terms, pairs=Kept(), _rows={})
    problem = selection.problem
    if problem.pairs is not None:
        problem = replace(problem, pairs=TermPairs(kept, problem.pairs.kind))
    assert str(feature_report(replace(selection, problem=problem), kept)) == str(expected)


def test_what_cannot_be_explained_is_refused():
    X, y, names = data()
    terms = information_terms(X, y, feature_names=names, measure="plugin", correction="none")
    selection = select(subset_problem(terms, 2, criterion="jmi"))
    with pytest.raises(InvalidInput, match="does not know its problem"):
        feature_report(replace(selection, problem=None), terms)
    with pytest.raises(InvalidInput, match="terms of other features"):
        feature_report(selection, information_terms(X, y, measure="plugin", correction="none"))


def test_the_frame_is_of_the_users_library():
    X, y, names = data()
    columns = {name: X[:, i] for i, name in enumerate(names)}
    fitted = {
        pd.DataFrame: SubsetSelector(2, criterion="jmi", measure="plugin", correction="none").fit(
            pd.DataFrame(columns), y
        ),
        pl.DataFrame: SubsetSelector(2, criterion="jmi", measure="plugin", correction="none").fit(
            pl.DataFrame(columns), y
        ),
        pa.Table: SubsetSelector(2, criterion="jmi", measure="plugin", correction="none").fit(pa.table(columns), y),
    }
    for library, selector in fitted.items():
        assert isinstance(selector.report_frame(), library)
    assert isinstance(
        SubsetSelector(2, criterion="jmi", measure="plugin", correction="none").fit(X, y).report_frame(), pd.DataFrame
    )
    assert isinstance(
        SubsetSelector(2, criterion="jmi", measure="plugin", correction="none").fit(X, y).report_frame("polars"),
        pl.DataFrame,
    )
    with pytest.raises(InvalidInput, match="library='dask'"):
        fitted[pd.DataFrame].report_frame("dask")


def test_without_a_library_of_frames_the_report_reads_well(monkeypatch):
    X, y, _ = data()
    result = SubsetSelector(2, criterion="jmi", measure="plugin", correction="none").fit(X, y).result_
    monkeypatch.setattr("certselect.table.output.find_spec", lambda name: None if name != "pyarrow" else object())
    told = result.explain()
    assert isinstance(told, ReportTable)
    assert {name: told[name] for name in told} == dict(result.explanation)
    head, first, *_ = repr(told).splitlines()
    assert head.split()[:4] == ["feature", "chosen", "relevance", "chance"]
    assert first.startswith("x0")
    assert first.endswith(result.explanation["why"][0])
    assert "nan" not in repr(told)
    assert "<th>feature</th>" in told._repr_html_()
    assert isinstance(result.explain("pyarrow"), pa.Table)


def test_long_tables_are_cut_and_names_cannot_harm():
    table = ReportTable({"feature": ["<b>", "a\x1b[2J", *map(str, range(40))], "adds": [0.5, None, *[1.0] * 40]})
    assert len(table) == 2
    lines = repr(table).splitlines()
    assert lines[:3] == ["feature   adds", "<b>        0.5", "a\\x1b[2J"]
    assert lines[-1] == "... 12 more rows"
    assert "<td>&lt;b&gt;</td>" in table._repr_html_()


def test_numbers_share_their_squared_correlation():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    y = X[:, 0] + 0.1 * rng.normal(size=2000)
    terms = information_terms(X, y, measure="gaussian_copula")
    part = feature_report(select(subset_problem(terms, 1, criterion="jmi")), terms)["shared_part"]
    assert part[1] == pytest.approx(0.64, abs=0.03)
    assert part[2] < 0.01


def test_the_size_chooser_explains_itself_too():
    from sklearn.neighbors import KNeighborsClassifier

    X, y, names = data()
    frame = pl.DataFrame({name: X[:, i] for i, name in enumerate(names)})
    report = (
        SubsetSelectorCV(KNeighborsClassifier(), 3, cv=3, criterion="jmi", measure="plugin", correction="none")
        .fit(frame, y)
        .report_frame()
    )
    assert isinstance(report, pl.DataFrame)
    assert report["feature"].to_list() == names
    assert report["chosen"].sum() >= 1
