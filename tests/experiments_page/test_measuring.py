"""The experiments behind the page, on a table so small that every subset can be tried."""

import json
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from experiments.kept_rows import read_rows, write_rows

from certselect import information_terms, subset_problem
from experiments import guarantees, madelon, optimum, rank_tests, synergy


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    return SimpleNamespace(X=rng.normal(size=(120, 14)) + y[:, None] * rng.random(14), y=y)


def best_value(problem, n, k):
    return max(problem.value(np.array(subset)) for subset in combinations(range(n), k))


def test_optimum_is_what_trying_every_subset_finds_and_goes_on_where_it_was(data, tmp_path, monkeypatch):
    monkeypatch.setattr(optimum, "load", lambda name: data)
    optimum.run(sets=["LNG"], sizes=[2], results=tmp_path, seconds=20.0)
    optimum.run(sets=["LNG"], sizes=[2, 3], results=tmp_path, seconds=20.0)
    rows = read_rows(tmp_path / "optimum.json")
    assert [(row["criterion"], row["k"]) for row in rows] == [("mrmr", 2), ("mrmr", 3), ("jmi", 2), ("jmi", 3)]
    terms = optimum.measure(data.X, data.y, optimum.RECIPES["LNG"]).terms
    for row in rows:
        best = best_value(subset_problem(terms, row["k"], row["criterion"]), row["n"], row["k"])
        assert row["proven"]
        assert row["values"]["exact"] == pytest.approx(best, rel=1e-10)
        assert row["bound"] >= best - 1e-12
    before = (tmp_path / "optimum.json").read_bytes()
    monkeypatch.setattr(optimum, "load", lambda name: pytest.fail("nothing is missing"))
    optimum.run(sets=["LNG"], sizes=[2, 3], results=tmp_path)
    assert (tmp_path / "optimum.json").read_bytes() == before


def test_madelon_keeps_the_best_subset_its_accuracy_and_what_mrmr_says_of_jmis(data, tmp_path, monkeypatch):
    monkeypatch.setattr(madelon, "load", lambda name: data)
    asked = (madelon.Ask("mrmr", 3), madelon.Ask("mifs", 3, 0.0), madelon.Ask("jmi", 3))
    monkeypatch.setattr(madelon, "ASKED", asked)
    madelon.run(codings=["quantile 5"], results=tmp_path, seconds=20.0)
    by_mrmr, free, by_jmi = read_rows(tmp_path / "madelon.json")
    terms = information_terms(data.X, data.y, discretize="quantile", bins=5, measure="plugin", correction="none")
    problem = subset_problem(terms, 3, "mrmr")
    assert by_mrmr["proven"]
    assert by_mrmr["values"]["exact"] == pytest.approx(best_value(problem, 14, 3), rel=1e-10)
    assert by_mrmr["value_of_jmi_subset"] == pytest.approx(problem.value(np.array(by_jmi["best"])))
    assert free["best"] == sorted(np.argsort(-terms.relevance)[:3].tolist())
    assert 50.0 < by_jmi["best_accuracy"] <= 100.0
    assert by_jmi["best_accuracy"] == pytest.approx(madelon.accuracy(data.X, data.y, by_jmi["best"]), abs=1e-4)


def test_guarantees_follow_the_printed_rows():
    rows = guarantees.ratios(240)
    assert [row["part"] for row in rows] == ["1/2", "1/3", "1/4", "1/6", "1/8", "1/10", "1/20"]
    assert rows[1]["BE"] == pytest.approx(0.25)
    assert all(row["COBRA"] > 0.0 for row in rows)


def test_ellipse_and_line_say_nothing_apart_and_much_together():
    found = synergy.informations(*synergy.ellipse_and_line())
    assert found["I(x;C)"] < 0.01
    assert found["I(y;C)"] < 0.01
    assert found["I(x,y;C)"] > 0.9 * found["H(C)"]
    assert found["H(C)"] == pytest.approx(np.log(2))


def test_small_experiments_write_what_the_page_reads(tmp_path):
    guarantees.run(results=tmp_path)
    synergy.run(results=tmp_path)
    assert len(read_rows(tmp_path / "guarantees.json")) == 7
    assert read_rows(tmp_path / "synergy.json")[0]["points"] == 2 * synergy.POINTS_PER_CLASS


def test_rank_tests_say_the_printed_pvalues(tmp_path, capsys):
    rank_tests.run(results=tmp_path)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "printed, mRMR, Average: Friedman 0.030, FS-COBRA 0.042, COBRA-BE 0.078, FS-BE 0.965"
    assert "ours, paper, JMI, NN: too few data sets" in lines


def test_rows_are_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "rows.json"
    assert read_rows(path) == []
    write_rows(path, [{"k": 1}])
    with pytest.raises(TypeError):
        write_rows(path, [{"k": object()}])
    assert json.loads(path.read_text()) == [{"k": 1}]
    assert list(tmp_path.iterdir()) == [path]
