"""The comparison with another implementation: on a made-up set, and what the page says of it."""

import json
import math

import numpy as np
import pytest
from experiments.kept_rows import read_rows, write_rows
from experiments.page_agreement import agreement as told
from experiments.page_agreement import agrees
from experiments.preparation import Samples

import naive_criteria
from certselect import information_terms, select, subset_problem
from experiments import agreement


@pytest.fixture
def made_up(monkeypatch, tmp_path):
    """A set of 8 columns, and the reference's choices of 3 of them by slow twins."""
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 50)
    X = (rng.integers(0, 3, (50, 8)) + y[:, None]) % 3
    monkeypatch.setattr(agreement, "load", lambda name: agreement_samples(X, y))
    monkeypatch.setattr(agreement, "CODES", {"DBW": lambda X: X})
    monkeypatch.setattr(
        agreement, "subset_problem", lambda terms, k, name, **how: subset_problem(terms, 3, name, **how)
    )
    columns = [column.tolist() for column in X.T]
    rows = [
        {"dataset": "dbw", "criterion": name, **chosen(columns, y.tolist(), ours)}
        for name, ours in agreement.CRITERION.items()
    ]
    (tmp_path / "praznik20.json").write_text(json.dumps(rows))
    return tmp_path


def agreement_samples(X, y):
    return Samples(X.astype(float), y)


def chosen(columns, target, name):
    """Forward selection by the words of the reference, from twins that share nothing with the package."""

    def score(x, held):
        if not held:
            gini = name == "jim"
            return naive_criteria.impurity_gain([x], target) if gini else naive_criteria.information(x, target)
        if name in ("cmim", "jmim", "njmim", "cmi"):
            return naive_criteria.step_score(name, x, held, target)
        if name == "mrmr":
            mean = math.fsum(naive_criteria.information(x, w) for w in held) / len(held)
            return naive_criteria.information(x, target) - mean
        if name == "max_relevance":
            return naive_criteria.information(x, target)
        pair = {
            "jmi": naive_criteria.joint_relevance,
            "disr": naive_criteria.symmetrical_relevance,
            "jim": lambda a, b, c: naive_criteria.impurity_gain([a, b], c),
        }[name]
        return math.fsum(pair(x, w, target) for w in held)

    order, scores = [], []
    for _ in range(3):
        open_scores = {i: score(x, [columns[j] for j in order]) for i, x in enumerate(columns) if i not in order}
        order.append(max(open_scores, key=open_scores.get))
        scores.append(open_scores[order[-1]])
    return {"order": order, "scores": scores}


def test_every_criterion_agrees_with_its_definition(made_up):
    agreement.run(sets=["DBW", "LNG"], jobs=1, printed=made_up, results=made_up)
    rows = read_rows(made_up / "agreement.json")
    assert [row["criterion"] for row in rows] == sorted(agreement.CRITERION)
    assert all(agrees(row) for row in rows), rows
    assert max(row["apart"] for row in rows) < 1e-12
    page = told(made_up)
    assert "in 9 of 9 cases" in page
    assert "| MIM (`max_relevance`) | 3 |" in page


def test_another_score_or_a_better_feature_is_seen(made_up):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (40, 5)), rng.integers(0, 2, 40)
    problem = subset_problem(information_terms(X, y, measure="plugin", correction="none"), 3, "jmim", copies="all")
    ours = select(problem, "forward")
    right = {"order": ours.indices.tolist(), "scores": np.diff(ours.scores, prepend=0.0).tolist()}
    assert agrees(agreement.compared("DBW", "JMIM", problem, right))
    off = {**right, "scores": [score + 1e-6 for score in right["scores"]]}
    assert not agrees(agreement.compared("DBW", "JMIM", problem, off))
    other = next(i for i in range(5) if i not in right["order"])
    worse = {**right, "order": [*right["order"][:2], other]}
    row = agreement.compared("DBW", "JMIM", problem, worse)
    assert row["missed"] > 1e-6
    assert not agrees(row)
    write_rows(made_up / "agreement.json", [row])
    page = told(made_up)
    assert "Not the same: DBW JMIM." in page
    assert "differs" in page


def test_without_results_the_page_says_how_to_get_them(tmp_path):
    assert "python -m experiments agreement" in told(tmp_path)


def test_codes_are_those_of_the_reference():
    X = np.array([[0.0, 1.0], [0.0, 2.0], [9.0, 3.0]])
    assert agreement.three_states(X).tolist() == [[1, 0], [1, 1], [2, 2]]
    gaps = np.array([[np.nan, 0.0, 1.0, np.nan, 1.0], [1.0, 0.0, 2.0, 1.0, 0.0]])
    assert agreement.CODES["IAD"](gaps)[:, 3:].tolist() == [[0, 1], [1, 0]]
    assert agreement.CODES["NCI"](np.array([[-2.0, 0.0, 2.0]])).tolist() == [[0.0, 1.0, 2.0]]
