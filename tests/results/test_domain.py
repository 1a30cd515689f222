"""Statements name the columns they are not about, in Python, in files, in reports and on the command line."""

import numpy as np
import pandas as pd
import pytest

from certselect import choose_subset, load_result, select, subset_problem, verify
from certselect.criteria import ColumnConstraints
from certselect.criteria.domain import Domain
from certselect.errors import FewerFeaturesWarning
from certselect.information import information_terms
from command_line import in_process

pytestmark = pytest.mark.filterwarnings("ignore::certselect.errors.ColumnsLeftOutWarning")


def table(m=200):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, m)
    frame = pd.DataFrame(rng.normal(size=(m, 5)) + y[:, None] * np.linspace(0, 1, 5), columns=list("abcde"))
    frame["best"] = y + 0.01 * rng.normal(size=m)
    frame["ticket"] = [f"t{i}" for i in rng.permutation(m)]
    frame["notes"] = [f"n{i}" for i in rng.integers(0, 3 * m // 4, m)]
    frame["same"] = 1
    frame["again"] = frame["a"]
    return frame.assign(y=y)


LEFT_OUT = {"identifier": ("ticket",), "text": ("notes",), "constant": ("same",), "duplicate": ("again",)}
WORDS = "'ticket' as an identifier, 'notes' as text, 'same' as constant, 'again' as a duplicate"
SKIPPED = "'ticket' as an identifier, 'notes' as text, 'best' as asked, 'same' as constant, 'again' as a duplicate"
EXCLUDED = "'ticket' as an identifier, 'notes' as text, 'best' as excluded, 'same' as constant, 'again' as a duplicate"
CASES = {
    "nothing asked": ({}, LEFT_OUT, f"6 columns considered (4 left out: {WORDS})"),
    "skipped": (
        {"kinds": {"best": "skip"}},
        LEFT_OUT | {"skipped": ("best",)},
        f"5 columns considered (5 left out: {SKIPPED})",
    ),
    "excluded": (
        {"exclude": ["best"]},
        LEFT_OUT | {"excluded": ("best",)},
        f"5 columns considered (5 left out: {EXCLUDED})",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_statement_names_its_domain(case, tmp_path):
    settings, left_out, words = CASES[case]
    frame = table()
    result = choose_subset(frame, "y", 2, strategy="exact", **settings)
    assert dict(result.selection.domain.left_out) == left_out
    assert result.statement == f"Proven optimal: no other 2 of the {words} score higher."
    assert result.statement in repr(result)
    result.save(tmp_path / "r.json")
    assert load_result(tmp_path / "r.json").statement == result.statement
    for outcome in (result.verify(frame), verify(tmp_path / "r.json", frame)):
        assert outcome.statement == result.statement
        assert dict(outcome.domain.left_out) == left_out
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = in_process("verify", tmp_path / "r.json", tmp_path / "t.csv")
    assert result.statement in done.stdout
    # A selection without a result says the same.
    assert result.selection.statement == result.statement


def test_a_column_that_is_hidden_is_not_hidden_from_who_verifies():
    """However many are left out, `verify` lists them all, with a bound and without."""
    frame = table()
    frame = pd.concat([frame, pd.DataFrame({f"h{i}": frame["best"] + i for i in range(9)})], axis=1)
    hidden = ["best", *(f"h{i}" for i in range(9))]
    for settings in ({"certify": True}, {}):
        result = choose_subset(frame, "y", 2, strategy="forward", exclude=hidden, **settings)
        assert result.verify(frame).domain.left_out["excluded"] == tuple(hidden)
        assert ("'best', 'h0', 'h1' and 7 more as excluded" in result.statement) == bool(settings)


def test_answers_with_duplicates_are_not_called_different():
    frame = table()[["a", "again", "b", "c", "y"]]
    included = choose_subset(
        frame, "y", 3, include=["a", "again"], certify=True, criterion="jmi", measure="plugin", correction="none"
    )
    assert {"a", "again"} <= set(included.names)
    assert "different" not in included.statement
    assert "duplicate" not in included.statement
    assert (
        choose_subset(
            frame, "y", 2, certify=True, criterion="jmi", measure="plugin", correction="none"
        ).statement.count("'again' as a duplicate")
        == 1
    )


def test_the_only_choice_is_called_that():
    X = table()[list("abcde")]
    y = table()["y"]
    assert (
        choose_subset(X, y, 5, criterion="jmi", measure="plugin", correction="none").statement
        == "The only possible choice: all 5 columns."
    )
    assert (
        choose_subset(X, y, 5, strategy="forward", criterion="jmi", measure="plugin", correction="none")
        .verify(X, y)
        .holds
    )
    two = choose_subset(X, y, 2, include=["a", "b"], criterion="jmi", measure="plugin", correction="none")
    assert two.statement == "The only possible choice: no other 2 of the 5 columns respect the constraints."
    assert two.verify(X, y).statement == two.statement
    one = choose_subset(X[["a"]], y, 1, criterion="jmi", measure="plugin", correction="none")
    assert one.statement == "The only possible choice: the 1 column."
    three = choose_subset(
        X, y, 3, include=["a", "b"], certify=True, criterion="jmi", measure="plugin", correction="none"
    )
    assert "that respect the constraints" in three.statement


def test_a_domain_follows_from_a_problem():
    terms = information_terms(table().drop(columns="y"), table()["y"], measure="plugin", correction="none")
    problem = subset_problem(terms, 2, "max_relevance", exclude=["b"])
    assert problem.domain == Domain(10, LEFT_OUT | {"excluded": ("b",)})
    assert problem.domain.n_considered == 5
    assert select(problem, "exhaustive").domain == problem.domain
    assert isinstance(problem.constraints, ColumnConstraints)


def test_fewer_columns_than_asked_for_are_explained_by_their_reasons():
    said = r"has 6 that can be chosen \(1 is an identifier, 1 is text, 1 is constant, 1 is a copy of another\)"
    with pytest.warns(FewerFeaturesWarning, match=said):
        choose_subset(table(), "y", 50, criterion="jmi", measure="plugin", correction="none")
