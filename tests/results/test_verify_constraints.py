"""Saved results of constrained problems, true and tampered with."""

import json
import re
from copy import deepcopy

import numpy as np
import pytest

from certselect import choose_subset, verify
from certselect.certificate import Lift
from certselect.results.certificate_text import lift_as_json
from certselect.table import read_table

CONSTRAINTS = {
    "include": ["x8"],
    "exclude": [0],
    "feature_groups": {"all_or_none": [[1, 2]], "at_most_one": [[5, 6, 7]]},
    "costs": {"x3": 2.0, "x4": 1.0, "x5": 0.5, "x7": 3.0},
    "budget": 2.5,
}
SETTINGS = {"criterion": "mrmr", "strategy": "forward", "polish": True, "discretize": "quantile", "bins": 4}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 180)
    X = rng.normal(size=(180, 9)) + y[:, None] * np.linspace(0, 1.5, 9)
    return read_table(X, y)


def claim_of(table, **constraints):
    result = choose_subset(table, None, 4, certify=True, **SETTINGS, **constraints)
    return json.loads(json.dumps(result.to_dict(), allow_nan=False))


@pytest.fixture(scope="module")
def true_claim(table):
    return claim_of(table, **CONSTRAINTS)


@pytest.fixture
def claim(true_claim):
    return deepcopy(true_claim)


def test_a_true_claim_holds(claim, table):
    assert claim["settings"]["constraints"]["include"] == ["x8"]
    assert claim["selection"]["indices"] == [8, 6, 1, 2]
    assert claim["certificate"]["lift"]["pairs"]["size"] == len(claim["certificate"]["multipliers"]) - 1
    outcome = verify(claim, table)
    assert outcome.holds, outcome.reasons
    assert outcome.objective == claim["selection"]["objective"]
    assert outcome.upper_bound == pytest.approx(claim["selection"]["upper_bound"], rel=1e-9)


def test_a_price_is_part_of_the_proof(table):
    claim = claim_of(table, costs=np.arange(9.0), budget=12)
    assert claim["certificate"]["lift"]["price"] > 0.0
    assert verify(claim, table).holds
    claim["certificate"]["lift"] = None
    assert any("it is proven that no 4 features exceed" in reason for reason in verify(claim, table).reasons)


def test_exclusion_alone_needs_no_lift(table):
    claim = claim_of(table, exclude=["x8"])
    assert claim["certificate"]["lift"] is None
    assert verify(claim, table).holds


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"include": [3]}, "columns that may be chosen together"),
        ({"include": [1]}, "prove"),
        ({"exclude": [8]}, "cannot be done"),
        ({"exclude": [6]}, "columns that may be chosen together"),
        ({"exclude": [4]}, "the domain is"),
        ({"feature_groups": {"at_most_one": [[6, 8]]}}, "columns that may be chosen together"),
        ({"costs": [0, 0, 0, 0, 0, 0, 9, 0, 0]}, "columns that may be chosen together"),
        ({"budget": 0.0}, "prove"),
        ({"budget": -1.0}, "no result that can be checked"),
        ({"budget": 1e999}, "no result that can be checked"),
        ({"costs": [1e999] * 9}, "no result that can be checked"),
        ({"costs": [10**400] * 9}, "no result that can be checked"),
        ({"costs": [1.0]}, "cannot be done"),
        ({"costs": "free"}, "no result that can be checked"),
        ({"include": 8}, "no result that can be checked"),
        ({"include": [[8]]}, "no result that can be checked"),
        ({"include": [99]}, "cannot be done"),
        ({"feature_groups": {"all_or_none": [[1, 2], [2, 3]]}}, "cannot be done"),
        ({"feature_groups": {"all_or_none": 3}}, "no result that can be checked"),
        ({"feature_groups": {"at_most_one": [3]}}, "no result that can be checked"),
        ({"feature_groups": {"exactly_one": [[1, 2]]}}, "no result that can be checked"),
        ({"feature_groups": {"all_or_none": [[1, 2]], "at_most_one": []}}, "prove"),
    ],
)
def test_other_constraints_fail_with_the_reason(claim, table, change, said):
    claim["settings"]["constraints"].update(change)
    outcome = verify(claim, table)
    assert not outcome.holds
    assert any(said in reason for reason in outcome.reasons), outcome.reasons


@pytest.mark.parametrize("constraints", [[], "none", 3, True, None])
def test_constraints_that_are_none(claim, table, constraints):
    claim["settings"]["constraints"] = constraints
    assert any("no result that can be checked" in reason for reason in verify(claim, table).reasons)


def test_a_bound_does_not_hold_without_the_constraints(claim, table):
    claim["settings"]["constraints"] = {}
    outcome = verify(claim, table)
    assert not outcome.holds


@pytest.mark.parametrize(("strategy", "proven"), [("exhaustive", True), ("exact", False), ("forward", False)])
def test_of_any_size_what_can_be_valued_again_is_claimed(table, strategy, proven):
    """Sizes are bounded one by one, and a file holds no proof of each: only what was valued is claimed."""
    settings = SETTINGS | {"strategy": strategy}
    result = choose_subset(table, None, None, certify=True, **settings, costs=np.ones(9), budget=3)
    assert (result.selection.status == "proven optimal") == (strategy != "forward")
    claim = result.to_dict()
    assert (claim["selection"]["status"] == "proven optimal") == proven
    assert (claim["statement"] != "") == proven
    assert verify(claim, table).holds
    assert result.verify(table).holds
    claim["selection"] |= {"status": "proven optimal", "upper_bound": None, "gap": None}
    claim["statement"] = ""
    assert not verify(claim, table).holds
    # Another size has more to say: the claim of an optimum is found out by valuing them all.
    less = choose_subset(
        table, None, 1, **(SETTINGS | {"strategy": "exhaustive"}), costs=np.ones(9), budget=3
    ).to_dict()
    less["selection"]["any_size"] = True
    less["statement"] = "Proven: no features that respect the constraints score more than this one."
    outcome = verify(less, table)
    assert any("exceed" in reason for reason in outcome.reasons), outcome.reasons


def test_values_of_all_subsets_need_no_multipliers(table):
    """An optimum that was found by valuing every subset is one, whatever a relaxation would show."""
    result = choose_subset(table, None, 4, **(SETTINGS | {"strategy": "exhaustive"}), certify=True, **CONSTRAINTS)
    assert result.certificate is None
    claim = result.to_dict()
    assert claim["certificate"] is None
    assert (
        claim["statement"]
        == result.statement
        == "Proven optimal: no other 4 of the 8 columns considered (1 left out: 'x0' as excluded) that respect the "
        "constraints score higher."
    )
    assert verify(claim, table).holds


def test_more_subsets_than_are_valued_again_claim_no_optimum(table):
    result = choose_subset(
        table,
        None,
        3,
        strategy="exhaustive",
        strategy_options={"max_subsets": 3_000_000},
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    assert result.statement == "Proven optimal: no other 3 of the 9 columns score higher."
    assert result.to_dict()["statement"] == ""
    assert result.verify(table).holds


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
        (lambda claim: lift_of(claim, value=0.1), "it is proven that no 4 features exceed"),
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
    ("where", "value"),
    [
        ("certificate", [1.0]),
        ("certificate", {"multipliers": [10**400]}),
        ("certificate", {"multipliers": {"a": 1}}),
        ("upper_bound", 10**400),
        ("objective", 10**400),
        ("gap", 10**400),
        pytest.param("objective", 10**5000, id="too long to be shown"),
    ],
)
def test_hostile_values_are_refused(claim, table, where, value):
    (claim if where == "certificate" else claim["selection"])[where] = value
    outcome = verify(claim, table)
    assert not outcome.holds
    assert all(re.match("this is no result that can be checked: Got ", reason) for reason in outcome.reasons)


def test_hostile_files_are_refused(tmp_path, table):
    path = tmp_path / "r.json"
    for text in ("[" * 100_000, "1" * 5000):
        path.write_text(text)
        outcome = verify(path, table)
        assert outcome.verdict == "broken file"
        assert len(outcome.reasons[0]) <= 240
