"""The table of how well features predict says what the results kept say, and these reach the bars that are set."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def outcomes():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import measure_outcomes

    yield measure_outcomes
    sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture(scope="module")
def results(outcomes):
    return json.loads(outcomes.RESULTS.read_text(encoding="utf-8"))


def test_the_page_is_what_the_results_make_of_it(outcomes, results):
    assert outcomes.section(results) in outcomes.PAGE.read_text(encoding="utf-8")
    assert list(results) == [task.name for task in outcomes.TASKS]
    assert all(list(scores) == list(outcomes.MEASURES) for scores in results.values())


def test_every_measure_reaches_what_counting_reaches_on_tied_tables(results):
    for name in ("handwritten digits", "Arrhythmia", *(name for name in results if "zeros" in name)):
        assert min(results[name].values()) >= results[name]["uniform"] - 0.05, name
    assert min(results["handwritten digits"].values()) >= 0.8


def test_auto_is_never_far_below_counting(results):
    for name, scores in results.items():
        assert scores["auto"] >= scores["uniform"] - 0.05, name


def test_what_is_far_below_is_named(outcomes):
    scores = {"uniform": 0.9, "quantile": 0.86, "copula": 0.84, "neighbors": 0.9, "auto": 0.95}
    said = outcomes.section({"made up": scores})
    assert "| made up | 0.90 | 0.86 | **0.84** | 0.90 | 0.95 |" in said
    assert "`quantile`: none; `copula`: made up; `neighbors`: none" in said


def test_features_are_chosen_and_judged_on_other_rows(outcomes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    assert outcomes.outcome(X, (X[:, 2] > 0).astype(int), 1, outcomes.MEASURES["quantile"], 0) > 0.85
    assert outcomes.outcome(X, rng.integers(0, 2, 60), 1, outcomes.MEASURES["quantile"], 0) < 0.7
    assert outcomes.outcome(X, X[:, 1], 1, outcomes.MEASURES["auto"], 0) > 0.8


def test_the_kept_scores_can_be_had_again(outcomes, results):
    wine = next(task for task in outcomes.TASKS if task.name == "wine")
    X, y = wine.draw(np.random.default_rng(0))
    for measure in ("uniform", "auto"):
        how = outcomes.MEASURES[measure]
        again = np.mean([outcomes.outcome(X, y, wine.features, how, seed) for seed in range(outcomes.DRAWS)])
        assert again == pytest.approx(results["wine"][measure], abs=0.01)
