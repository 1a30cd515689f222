"""Saved results of constrained problems, true and tampered with."""

import json
from copy import deepcopy

import numpy as np
import pytest
from certselect.cli.result_file import result_of

from certselect import certify, verify
from certselect.certificate import Lift
from certselect.criteria import subset_problem
from certselect.information import information_terms
from certselect.results import lift_as_json
from certselect.search import select
from certselect.table import read_table

CONSTRAINTS = {
    "include": ["x8"],
    "exclude": [0],
    "feature_groups": {"all_or_none": [[1, 2]], "at_most_one": [[5, 6, 7]]},
    "costs": {"x3": 2.0, "x4": 1.0, "x5": 0.5, "x7": 3.0},
    "budget": 2.5,
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 180)
    X = rng.normal(size=(180, 9)) + y[:, None] * np.linspace(0, 1.5, 9)
    return read_table(X, y)


@pytest.fixture(scope="module")
def true_claim(table):
    terms = information_terms(table, discretize="quantile", bins=4)
    problem = subset_problem(terms, 4, "mrmr", **CONSTRAINTS)
    selection = certify(problem, select(problem, "exhaustive"))
    result = result_of(selection, terms, target="y", beta=None, seed=0, constraints=problem.constraints)
    return json.loads(json.dumps(result, allow_nan=False))


@pytest.fixture
def claim(true_claim):
    return deepcopy(true_claim)


def test_a_true_claim_holds(claim, table):
    assert claim["constraints"]["include"] == [8]
    assert claim["indices"] == [1, 2, 6, 8]
    assert claim["certificate"]["lift"]["pairs"]["size"] == len(claim["certificate"]["multipliers"]) - 1
    outcome = verify(claim, table)
    assert outcome.holds, outcome.reasons
    assert outcome.objective == claim["objective"]
    assert outcome.upper_bound == pytest.approx(claim["upper_bound"], rel=1e-9)


def test_a_price_is_part_of_the_proof(table):
    terms = information_terms(table, discretize="quantile", bins=4)
    problem = subset_problem(terms, 4, "mrmr", costs=np.arange(9.0), budget=12)
    selection = certify(problem, select(problem, "exhaustive"))
    assert selection.certificate.lift.price > 0.0
    claim = result_of(selection, terms, target="y", beta=None, seed=0, constraints=problem.constraints)
    assert verify(claim, table).holds
    claim["certificate"]["lift"] = None
    assert any("the multipliers prove" in reason for reason in verify(claim, table).reasons)


def test_exclusion_alone_needs_no_lift(table):
    terms = information_terms(table, discretize="quantile", bins=4)
    problem = subset_problem(terms, 4, "mrmr", exclude=["x8"])
    selection = certify(problem, select(problem, "exhaustive"))
    claim = result_of(selection, terms, target="y", beta=None, seed=0, constraints=problem.constraints)
    assert claim["certificate"]["lift"] is None
    assert verify(claim, table).holds


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"include": [3]}, "not a subset that the constraints allow"),
        ({"include": [1]}, "prove"),
        ({"exclude": [8]}, "cannot be done"),
        ({"exclude": [6]}, "usable columns"),
        ({"exclude": [4]}, "prove"),
        ({"at_most_one": [[6, 8]]}, "not a subset that the constraints allow"),
        ({"costs": [0, 0, 0, 0, 0, 0, 9, 0, 0]}, "not a subset that the constraints allow"),
        ({"budget": 0.0}, "prove"),
        ({"budget": -1.0}, "cannot be done"),
        ({"budget": 1e999}, "cannot be done"),
        ({"costs": [1e999] * 9}, "cannot be done"),
        ({"costs": [10**400] * 9}, "cannot be done"),
        ({"costs": [1.0]}, "cannot be done"),
        ({"costs": "free"}, "cannot be done"),
        ({"include": 8}, "cannot be done"),
        ({"include": [[8]]}, "cannot be done"),
        ({"include": [99]}, "cannot be done"),
        ({"all_or_none": [[1, 2], [2, 3]]}, "cannot be done"),
        ({"all_or_none": 3}, "cannot be done"),
        ({"at_most_one": [3]}, "cannot be done"),
        ({"exactly_one": [[1, 2]]}, "cannot be done"),
        ({"at_most_one": []}, "prove"),
    ],
)
def test_other_constraints_fail_with_the_reason(claim, table, change, said):
    claim["constraints"].update(change)
    outcome = verify(claim, table)
    assert not outcome.holds
    assert any(said in reason for reason in outcome.reasons), outcome.reasons


@pytest.mark.parametrize("constraints", [[], "none", 3, True])
def test_constraints_that_are_none(claim, table, constraints):
    assert any("cannot be done" in reason for reason in verify(claim | {"constraints": constraints}, table).reasons)


def test_a_bound_does_not_hold_without_the_constraints(claim, table):
    outcome = verify(claim | {"constraints": None}, table)
    assert not outcome.holds


def lift_of(claim, *, value=0.0, price=0.0):
    m = len(claim["certificate"]["multipliers"]) - 1
    pairs = np.full((m, m), value, dtype=np.float32)
    np.fill_diagonal(pairs, 0.0)
    return lift_as_json(Lift(pairs, price))


@pytest.mark.parametrize(
    ("tamper", "said"),
    [
        (lambda claim: lift_of(claim, value=-0.5), "0 or more"),
        (lambda claim: lift_of(claim, value=np.nan), "finite"),
        (lambda claim: lift_of(claim, value=np.inf), "finite"),
        (lambda claim: lift_of(claim, price=-2.0), "a price of -2"),
        (lambda claim: lift_of(claim, price=np.inf), "a price of inf"),
        (lambda claim: lift_of(claim, price=1e308), "prove"),
        (lambda claim: lift_of(claim, value=0.1), "the multipliers prove"),
        (lambda claim: {"price": 0.0, "pairs": {"size": 10**12, "upper_triangle": ""}}, "of size 1000000000000"),
        (lambda claim: {"price": 0.0, "pairs": {"size": 5, "upper_triangle": "AAAA"}}, "lift"),
        (lambda claim: [], "without a price"),
    ],
)
def test_hostile_lifts_are_refused_with_the_reason(claim, table, tamper, said):
    claim["certificate"]["lift"] = tamper(claim)
    outcome = verify(claim, table)
    assert not outcome.holds
    assert any(said in reason for reason in outcome.reasons), outcome.reasons


@pytest.mark.parametrize(
    "change",
    [
        {"certificate": [1.0]},
        {"certificate": {"multipliers": [10**400]}},
        {"certificate": {"multipliers": {"a": 1}}},
        {"upper_bound": 10**400},
        {"objective": 10**400},
        {"gap": 10**400},
    ],
)
def test_hostile_values_are_refused(claim, table, change):
    outcome = verify(claim | change, table)
    assert not outcome.holds
    assert outcome.reasons


def test_hostile_files_are_refused(tmp_path, table):
    path = tmp_path / "r.json"
    for text in ("[" * 100_000, "1" * 5000):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"r\.json"):
            verify(path, table)
