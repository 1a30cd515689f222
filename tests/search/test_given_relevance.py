"""Relevance from elsewhere in place of the measured one: the same problem by hand, files, and what is refused."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest

from certselect import (
    SubsetSelector,
    choose_subset,
    information_terms,
    select,
    selection_path,
    stop_at_chance,
    subset_problem,
    verify,
)
from certselect.criteria import list_criteria
from certselect.criteria.stepwise import StepwiseCriterion
from certselect.errors import IdleSettingWarning, InvalidInput
from command_line import error_of, in_process

QUADRATIC = [name for name, found in list_criteria().items() if not isinstance(found, StepwiseCriterion)]
ALONE = ("disr", "jim")  # these look at pairs only
SCORES = [3.0, 0.0, 1.0, 5.0, 2.0, 0.5, 9.0]


def table(seed=0, m=120):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (m, 6))
    y = (X[:, 0] + X[:, 1] * (X[:, 2] > 0)) % 3
    names = [*"abcdef", "constant"]
    return pd.DataFrame(np.column_stack([X, np.zeros(m, dtype=int)]), columns=names), pd.Series(y, name="y")


@pytest.mark.parametrize("criterion", [name for name in QUADRATIC if name not in ALONE])
def test_scores_replace_single_terms_with_the_same_sum(criterion):
    X, y = table()
    terms = information_terms(X, y, measure="plugin", correction="none")
    measured = subset_problem(terms, 3, criterion)
    given = subset_problem(terms, 3, criterion, relevance=SCORES)
    candidates = given.candidates.tolist()
    scale = sum(max(measured.linear[i], 0.0) for i in candidates) / sum(SCORES[i] for i in candidates)
    assert given.linear[candidates] == pytest.approx([scale * SCORES[i] for i in candidates])
    assert given.linear[6] == 0.0  # constant
    for subset in itertools.combinations(candidates, 3):
        pairs = measured.value(subset) - measured.linear[list(subset)].sum()
        assert given.value(subset) == pytest.approx(pairs + scale * sum(SCORES[i] for i in subset))
    best = max(given.value(subset) for subset in itertools.combinations(candidates, 3))
    found = select(given, "exact")
    assert (found.objective, found.status) == (best, "proven optimal")
    assert "with given relevance" in given.criterion.formula


def test_the_sum_of_measured_terms_counts_those_above_zero():
    X, y = table(3)
    terms = information_terms(X, y, correction="miller_madow", measure="plugin")
    problem = subset_problem(terms, 2, relevance=SCORES, criterion="jmi")
    measured = terms.relevance[problem.candidates]
    assert problem.linear.sum() == pytest.approx(measured[measured > 0].sum())


def test_by_order_by_name_and_by_series():
    X, y = table()
    by_name = dict(zip(X.columns, SCORES, strict=True))
    one = choose_subset(
        X, y, 3, strategy="exact", relevance=SCORES, criterion="jmi", measure="plugin", correction="none"
    )
    for given in (by_name, pd.Series(by_name).sample(frac=1, random_state=1), np.array(SCORES)):
        other = choose_subset(
            X, y, 3, strategy="exact", relevance=given, criterion="jmi", measure="plugin", correction="none"
        )
        assert other.selection.indices.tolist() == one.selection.indices.tolist()
        assert other.selection.objective == one.selection.objective
    del by_name["constant"]  # which cannot be chosen
    assert (
        choose_subset(
            X, y, 3, strategy="exact", relevance=by_name, criterion="jmi", measure="plugin", correction="none"
        ).selection.objective
        == one.selection.objective
    )
    selector = SubsetSelector(
        3, strategy="exact", relevance=SCORES, criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y)
    assert selector.objective_ == one.selection.objective
    path = selection_path(
        information_terms(X, y, measure="plugin", correction="none"),
        [3],
        strategy="exact",
        relevance=SCORES,
        criterion="jmi",
    )
    assert path[0].objective == one.selection.objective


def test_files_hold_the_scores_and_are_verified(tmp_path):
    X, y = table()
    result = choose_subset(
        X,
        y,
        3,
        strategy="exact",
        relevance=dict(zip(X.columns, SCORES, strict=True)),
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    result.save(tmp_path / "r.json")
    assert verify(tmp_path / "r.json", X, y).holds
    claim = json.loads((tmp_path / "r.json").read_text())
    assert claim["settings"]["searching"]["relevance"][0] == ["a", 3.0]
    claim["settings"]["searching"]["relevance"][0][1] = 30.0
    assert verify(claim, X, y).verdict == "false claim"
    claim["settings"]["searching"]["relevance"] = None
    assert verify(claim, X, y).verdict == "false claim"
    chosen = result.explain().query("chosen")
    assert all("by given relevance" in why for why in chosen["why"])
    assert (
        chosen["relevance"].tolist()
        == information_terms(X, y, measure="plugin", correction="none").relevance[sorted(result.indices)].tolist()
    )


def test_the_command_line_reads_files(tmp_path):
    X, y = table()
    X.assign(y=y).to_csv(tmp_path / "table.csv", index=False)
    pd.DataFrame({"feature": X.columns, "relevance": SCORES}).to_csv(tmp_path / "scores.csv", index=False)
    arguments = [tmp_path / "table.csv", "--target", "y", "-k", "3", "--relevance", tmp_path / "scores.csv"]
    done = in_process("select", *arguments, "--max-shared", "0.5", "--json", tmp_path / "r.json")
    assert done.returncode == 0, done.stderr
    chosen = json.loads((tmp_path / "r.json").read_text())
    assert chosen["settings"]["searching"]["relevance"] == [list(pair) for pair in zip(X.columns, SCORES, strict=True)]
    assert chosen["settings"]["constraints"]["max_shared"] == 0.5
    assert in_process("verify", tmp_path / "r.json", tmp_path / "table.csv").returncode == 0
    (tmp_path / "scores.csv").write_text("feature,relevance\na,1\na,2\n")
    assert "two relevance for 'a'" in error_of(in_process("select", *arguments))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([1.0, 2.0], "shape"),
        ({"a": 1.0}, "relevance without 'b'"),
        ({"nowhere": 1.0}, "nowhere"),
        ([0.0] * 7, "sum is 0"),
        ([-1.0] + [1.0] * 6, "the relevance -1.0 of column 0"),
        ([float("nan")] + [1.0] * 6, "the relevance nan of column 0"),
        ("abc", "relevance="),
        ([["a", 1.0], ["b"]], "pairs"),
    ],
)
def test_what_is_refused(given, said):
    X, y = table()
    with pytest.raises(InvalidInput, match=said):
        choose_subset(X, y, 3, relevance=given, criterion="jmi", measure="plugin", correction="none")


def test_where_it_has_no_meaning():
    X, y = table()
    with pytest.raises(InvalidInput, match="relevance with criterion='cmim'"):
        choose_subset(X, y, 3, criterion="cmim", relevance=SCORES, measure="plugin", correction="none")
    with pytest.warns(IdleSettingWarning, match="criterion='disr' looks at pairs alone"):
        choose_subset(X, y, 3, criterion="disr", relevance=SCORES, measure="plugin", correction="none")
    with pytest.raises(InvalidInput, match="against chance with given relevance"):
        stop_at_chance(X, y, relevance=SCORES, criterion="jmi", measure="plugin", correction="none")
