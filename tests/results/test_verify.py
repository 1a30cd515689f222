"""Saved results, true and tampered with."""

import json

import numpy as np
import pytest
from certselect.cli.result_file import result_of

from certselect import verify
from certselect.criteria import subset_problem
from certselect.information import information_terms
from certselect.search import select
from certselect.table import read_table


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 180)
    X = rng.normal(size=(180, 9)) + y[:, None] * np.linspace(0, 1.5, 9)
    return read_table(X, y)


@pytest.fixture
def claim(table):
    terms = information_terms(table, discretize="quantile", bins=4)
    selection = select(subset_problem(terms, 4, "mrmr"), "forward", certify=True)
    return json.loads(json.dumps(result_of(selection, terms, target="y", beta=None, seed=0)))


def test_a_true_claim_holds(claim, table):
    outcome = verify(claim, table)
    assert outcome.holds, outcome.reasons
    assert outcome.objective == claim["objective"]
    assert outcome.upper_bound == pytest.approx(claim["upper_bound"], rel=1e-9)


def test_a_claim_without_a_bound_holds(claim, table):
    claim.update(upper_bound=None, gap=None, certificate=None)
    outcome = verify(claim, table)
    assert outcome.holds
    assert np.isnan(outcome.upper_bound)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"objective": 9.0}, "worth"),
        ({"upper_bound": 1e-3}, "the multipliers prove"),
        ({"gap": 0.0}, "leave a gap"),
        ({"features": ["x0", "x1", "x2", "x3"]}, "the features at these positions"),
        ({"indices": [0, 1, 2, 3]}, "not"),
        ({"indices": [0, 0, 1, 2]}, "not distinct"),
        ({"indices": [0, 1, 2, 99]}, "not distinct"),
        ({"indices": [0, 1, 2, -1]}, "not distinct"),
        ({"k": 5}, "k is 5"),
        ({"k": "4"}, "'k' is '4'"),
        ({"criterion": "jmi"}, "worth"),
        ({"coding": {"discretize": "uniform", "bins": 4, "integers": "levels"}}, "worth"),
        ({"n_samples": 179}, "n_samples"),
        ({"certificate": None}, "prove none"),
        ({"certificate": {"multipliers": [1.0, 2.0]}}, "prove none"),
        ({"certificate": {"multipliers": "none"}}, "prove none"),
        ({"certificate": {"multipliers": [0.0] * 10}}, "the multipliers prove"),
        ({"features": None}, "'features' is None"),
        ({"coding": {"spell": "abracadabra"}}, "cannot be done"),
        ({"coding": {"discretize": "by hand"}}, "cannot be done"),
        ({"criterion": "the best"}, "cannot be done"),
        ({"beta": "much"}, "cannot be done"),
        ({"k": 0}, "cannot be done"),
        ({"upper_bound": float("nan")}, "the multipliers prove"),
        ({"upper_bound": "high"}, "the multipliers prove"),
        ({"upper_bound": None, "gap": 0.1}, "leave a gap"),
        ({"gap": "small"}, "leave a gap"),
        ({"objective": float("nan")}, "worth"),
    ],
)
def test_tampering_fails_with_the_reason(claim, table, change, said):
    outcome = verify(claim | change, table)
    assert not outcome.holds
    assert any(said in reason for reason in outcome.reasons), outcome.reasons


def test_another_table_fails(claim, table):
    values = np.array(table.blocks[0].values)
    values[:60] = values[:60][::-1]
    outcome = verify(claim, read_table(values, table.target))
    assert not outcome.holds


def test_files_that_are_no_result(tmp_path, table):
    path = tmp_path / "r.json"
    for text in ("", "not json", "[1, 2]"):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"r\.json"):
            verify(path, table)
    with pytest.raises(ValueError, match=r"missing\.json"):
        verify(tmp_path / "missing.json", table)
    path.write_text("{}")
    assert not verify(path, table).holds
