"""Saved results, true and tampered with."""

import json
from copy import deepcopy

import numpy as np
import pytest

from as_before import counted, jmi
from certselect import choose_subset, verify
from certselect.errors import InvalidInput
from certselect.results.parsing import from_dict
from certselect.table import read_table

SETTINGS = {"criterion": "mrmr", "strategy": "forward", "discretize": "quantile", "bins": 4, "random_state": 0}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 180)
    X = rng.normal(size=(180, 9)) + y[:, None] * np.linspace(0, 1.5, 9)
    return read_table(X, y)


@pytest.fixture(scope="module")
def true_claim(table):
    return json.loads(
        json.dumps(choose_subset(table, None, 4, certify=True, **jmi(counted(SETTINGS))).to_dict(), allow_nan=False)
    )


@pytest.fixture
def claim(true_claim):
    return deepcopy(true_claim)


def changed(claim, change):
    """The claim with some entries replaced, each named by its path: "selection.k"."""
    for path, value in change.items():
        *parts, last = path.split(".")
        place = claim
        for part in parts:
            place = place[part]
        place[last] = value
    return claim


def test_a_true_claim_holds(claim, table):
    outcome = verify(claim, table)
    assert outcome.holds, outcome.reasons
    assert outcome.objective == claim["selection"]["objective"]
    assert outcome.upper_bound == pytest.approx(claim["selection"]["upper_bound"], rel=1e-9)
    assert outcome.statement == claim["statement"] != ""


def test_a_claim_without_a_bound_holds(claim, table):
    change = {"selection.upper_bound": None, "selection.gap": None, "certificate": None, "statement": ""}
    outcome = verify(changed(claim, change), table)
    assert outcome.holds
    assert np.isnan(outcome.upper_bound)
    assert outcome.statement == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"selection.objective": 9.0}, "worth"),
        ({"selection.upper_bound": 1e-3}, "it is proven that no 4 features exceed"),
        ({"selection.gap": 0.0, "statement": "Proven: no 4 features score more than these."}, "leave a gap"),
        ({"selection.gap": 0.0}, "leave a gap"),
        ({"selection.features": ["x0", "x1", "x2", "x3"]}, "the table gives features"),
        ({"selection.indices": [0, 1, 2, 3], "carried": None}, "the table gives features"),
        ({"selection.indices": [0, 0, 1, 2]}, "different whole numbers"),
        ({"selection.indices": [0, 1, 2, 99]}, "different whole numbers below 9"),
        ({"selection.indices": [0, 1, 2, -1]}, "different whole numbers"),
        ({"selection.indices": [0, 1, 2, False]}, "different whole numbers"),
        ({"selection.indices": [0, 1, 2]}, "a name for each index"),
        ({"selection.k": 5}, "are not 5 different columns"),
        ({"selection.k": "4"}, "k '4'"),
        ({"selection.criterion": "jmi"}, "the table gives criterion 'mrmr'"),
        ({"selection.criterion": "jmi", "settings.searching.criterion": "jmi"}, "worth"),
        ({"selection.status": "proven optimal"}, "called proven optimal"),
        ({"selection.status": "very good"}, "'complete' or 'proven optimal'"),
        ({"selection.dropped": ["x0"]}, "leaves out other columns than are dropped"),
        ({"selection.dropped": ["x0"], "domain.left_out": {"constant": ["x0"]}}, "the table gives dropped"),
        ({"selection.constrained": True, "statement": ""}, "the table gives constrained"),
        ({"domain.n_columns": 10}, "the domain is 9 columns, not 10 columns"),
        ({"domain.n_columns": 0}, "1 to 10000000"),
        ({"domain.constrained": True}, "the domain is 9 columns, not 9 columns, constrained"),
        ({"domain.only_choice": True}, "not 9 columns, without a choice"),
        ({"domain.left_out": {"excluded": ["x0"]}}, "the domain is 9 columns, not 8 columns considered"),
        ({"domain.left_out": {"duplicate": ["x0"]}}, "the domain is 9 columns, not 8 columns considered"),
        ({"domain.left_out": {"identifier": ["x0"]}}, "leaves out other columns than are dropped"),
        ({"domain.left_out": {"excluded": []}}, "reasons with columns"),
        ({"domain.left_out": {"forgotten": ["x0"]}}, "keys among identifier"),
        ({"domain.left_out": {"excluded": [f"a{i}" for i in range(10)]}}, "9 columns at most"),
        ({"selection.strategy": "cobra"}, "'forward' was asked for"),
        ({"settings.searching.strategy": "auto", "selection.strategy": "exact"}, "'auto' was asked for"),
        ({"selection.proven_in": ["x8"]}, "which nothing shows"),
        ({"selection.proven_out": ["x0"]}, "which nothing shows"),
        ({"selection.ties": [[0, 1, 2, 3], [5, 6, 7, 8]]}, "not the first of the ties"),
        ({"selection.ties": [[0, 1, 2]]}, "ties"),
        ({"settings.measuring.discretize": "uniform"}, "the table gives measured"),
        ({"settings.measuring.discretize": "uniform", "provenance.measured.discretize": "uniform"}, "worth"),
        ({"settings.measuring.measure": "neighbors", "provenance.measured": {}}, "measured"),
        ({"provenance.measured": {}}, "the table gives measured"),
        ({"settings.measuring.bins": 10**9, "provenance.measured.bins": 10**9}, "bins=1000000000; expected"),
        ({"provenance.n_samples": 179}, "but the result was made from 179"),
        ({"provenance.n_features": 8}, "the number of features|one for each feature"),
        ({"provenance.seed": 7}, "the seed is 7, but 0 was asked for"),
        ({"provenance.seed": None}, "the seed is None"),
        ({"provenance.fingerprint": "0" * 64}, "not what the fingerprint tells"),
        (
            {"certificate": {"multipliers": [1.0, 2.0]}},
            "without 'lift'|without 'proof'|without 'known'|without 'shown|without 'proof_too_large'|without 'method'",
        ),
        ({"certificate": "none"}, "an object"),
        ({"certificate.multipliers": [1.0, 2.0]}, "proves none"),
        ({"certificate.multipliers": "none"}, "multipliers 'none'"),
        ({"certificate.multipliers": [0.0] * 10}, "it is proven that no 4 features exceed"),
        ({"certificate.method": "the author's word"}, "'row sums' or 'cholesky'"),
        ({"certificate.method": "proof"}, "another method for multipliers"),
        ({"certificate.shown_by": 3}, "shown_by"),
        ({"certificate.known": 1.0}, "null beside multipliers"),
        ({"selection.features": None}, "features None"),
        ({"settings.measuring": {"spell": "abracadabra"}}, "spell"),
        ({"settings.measuring.discretize": "by hand"}, "by hand"),
        ({"settings.searching.criterion": "the best"}, "criterion 'the best' is not installed"),
        ({"settings.searching.beta": "much"}, "much"),
        ({"settings.searching.beta": 2.0}, "cannot be done"),
        ({"selection.k": 10}, "k 10; expected 1 to 9"),
        ({"selection.k": 0}, "k 0; expected a whole number, 1 or more"),
        ({"selection.upper_bound": float("nan")}, "upper_bound nan"),
        ({"selection.upper_bound": "high"}, "upper_bound 'high'"),
        ({"selection.upper_bound": None, "selection.gap": 0.1}, "a gap of 0.1 is claimed without a bound"),
        ({"selection.upper_bound": None, "selection.gap": None, "statement": ""}, "no bound that it could show"),
        ({"selection.gap": "small"}, "gap 'small'"),
        ({"selection.objective": float("nan")}, "objective nan"),
        ({"explanation.relevance": [0.0] * 9}, "the explanation of"),
        ({"explanation.chosen": [True] * 9}, "the explanation of"),
        ({"explanation.proven": [True] * 9}, "the explanation of"),
        ({"explanation.reason": ["adds"] * 9}, "the explanation of"),
        ({"explanation.reason": ["because"] * 9}, "'identifier' or 'text'"),
        ({"version": 1}, "version 1"),
        ({"version": 3}, "a result of version 3, which an older certselect wrote; expected a result of version 4 to 6"),
        ({"version": 7}, "a result of version 7, which a newer certselect wrote; expected a result of version 4 to 6"),
        ({"version": True}, "version True"),
        ({"format": "other"}, "the format 'other'"),
    ],
)
def test_tampering_fails_with_the_reason(claim, table, change, said):
    import re

    outcome = verify(changed(claim, change), table)
    assert not outcome.holds
    assert any(re.search(said, reason) for reason in outcome.reasons), outcome.reasons


def test_sentences_of_a_file_are_not_believed(claim, table):
    """Whatever they say: what is shown is made from the numbers, in the words of the reader."""
    words = "Proven optimal: no other 4 of the 9 columns score higher."
    change = {"statement": words, "explanation.why": ["because"] * 9, "provenance.picked": words}
    true = from_dict(deepcopy(claim))
    outcome = verify(changed(claim, {**change, "certificate.shown_by": words}), table)
    assert outcome.holds
    assert outcome.statement == true.statement != words
    assert from_dict(claim).to_dict() == true.to_dict()
    assert from_dict(claim).explanation["why"] == true.explanation["why"]


def test_without_its_certificate_a_bound_has_to_be_found_by_valuing_all_subsets(claim, table):
    assert verify(changed(claim, {"certificate": None}), table).holds  # 126 subsets
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 40)), np.arange(60) % 2
    wide = choose_subset(
        X, y, 10, strategy="forward", certify=True, criterion="jmi", measure="plugin", correction="none"
    ).to_dict()
    assert verify(wide, X, y).holds
    outcome = verify(wide | {"certificate": None}, X, y)
    assert any("without a certificate, of more subsets than can be valued again" in each for each in outcome.reasons)


def test_a_bound_below_what_the_multipliers_show_is_refused(table):
    """Said in a result that is consistent in itself: a bound between the value and what is proven."""
    values = np.array(table.blocks[0].values)
    X, y = np.column_stack([values, values[:, 8]]), table.target  # the most relevant column twice
    claim = choose_subset(
        X, y, 4, certify=True, copies="all", **(jmi(counted(SETTINGS | {"strategy": "relevance"})))
    ).to_dict()
    assert verify(claim, X, y).holds
    value, bound = claim["selection"]["objective"], claim["selection"]["upper_bound"]
    between = value + 0.9 * (bound - value)
    assert between < bound * (1 - 1e-4)
    left = (between - value) / value
    percent = verify(changed(deepcopy(claim), {"selection.upper_bound": between, "selection.gap": left}), X, y)
    assert not percent.holds
    said = percent.reasons[0].partition("bound and gap say: ")[2].strip("'")
    change = {"selection.upper_bound": between, "selection.gap": left, "statement": said}
    outcome = verify(changed(claim, change), X, y)
    assert "it is proven that no 4 features exceed" in outcome.reasons[0]


def test_a_proven_optimum_can_be_claimed_only_with_its_proof(table):
    result = choose_subset(table, None, 3, strategy="exact", criterion="mrmr", measure="plugin", correction="none")
    claim = result.to_dict()
    assert claim["selection"]["status"] == "proven optimal"
    assert verify(claim, table).holds
    other = choose_subset(table, None, 3, strategy="relevance", criterion="mrmr", measure="plugin", correction="none")
    assert other.selection.objective < result.selection.objective
    forged = other.to_dict() | {"certificate": claim["certificate"]}
    forged["selection"] |= {"status": "proven optimal", "upper_bound": other.selection.objective, "gap": 0.0}
    forged["statement"] = "Proven: no 3 features score more than these."
    assert any("exceed" in reason for reason in verify(forged, table).reasons)
    forged["certificate"] = None
    assert any("exceed" in reason for reason in verify(forged, table).reasons)


def test_features_are_proven_in_and_out_by_the_steps_of_the_proof(table):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 40)) + y[:, None] * np.linspace(0, 1, 40)
    result = choose_subset(X, y, 6, strategy="exact", criterion="mrmr", measure="plugin", correction="none")
    selection = result.selection
    assert selection.proven_out, "the check below must have something to find"
    claim = result.to_dict()
    assert verify(claim, X, y).holds
    chosen = next(name for name in selection.names if name not in selection.proven_in)
    for key, wrong in (("proven_out", chosen), ("proven_in", selection.proven_out[0]), ("proven_in", "no such")):
        forged = deepcopy(claim)
        forged["selection"][key].append(wrong)
        assert any("which nothing shows" in reason for reason in verify(forged, X, y).reasons)


def test_ties_are_subsets_of_the_same_value(table):
    values = np.array(table.blocks[0].values)
    X, y = np.column_stack([values, values[:, 8]]), table.target  # two columns alike
    result = choose_subset(
        X,
        y,
        3,
        strategy="exact",
        copies="all",
        strategy_options={"ties": True},
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    ties = result.selection.ties
    assert len(ties) == 2
    claim = result.to_dict()
    assert verify(claim, X, y).holds
    for wrong in ([ties[0], ties[0]], [ties[1]], [*ties, (0, 1, 2)]):
        forged = deepcopy(claim)
        forged["selection"]["ties"] = [list(tie) for tie in wrong]
        assert not verify(forged, X, y).holds


def test_another_table_fails(claim, table):
    values = np.array(table.blocks[0].values)
    values[:60] = values[:60][::-1]
    outcome = verify(claim, read_table(values, table.target))
    assert not outcome.holds


def test_a_table_that_differs_where_nothing_was_chosen_fails(claim, table):
    """The features chosen are worth the same, but another table is another table."""
    values = np.array(table.blocks[0].values)
    left_out = next(i for i in range(9) if i not in claim["selection"]["indices"])
    values[:, left_out] = np.random.default_rng(0).normal(size=180)
    claim = changed(claim, {"selection.upper_bound": None, "selection.gap": None, "certificate": None, "statement": ""})
    outcome = verify(claim, read_table(values, table.target))
    assert any("fingerprint" in reason for reason in outcome.reasons)


def test_files_that_are_no_result(tmp_path, table):
    path = tmp_path / "r.json"
    for text in ("", "not json", '{"a": 1, "a": 2}', "\ufeff{}"):
        path.write_text(text, encoding="utf-8")
        outcome = verify(path, table)
        assert outcome.verdict == "broken file"
        assert "not JSON" in outcome.reasons[0]
    with pytest.raises(InvalidInput, match=r"missing\.json"):
        verify(tmp_path / "missing.json", table)
    for text in ("{}", "[1, 2]", "null", "3"):
        path.write_text(text)
        assert verify(path, table).verdict == "broken file"


def test_a_table_brings_its_own_target(claim, table):
    with pytest.raises(InvalidInput, match="a Table and a target beside it"):
        verify(claim, table, table.target)
    with pytest.raises(InvalidInput, match="a Table and sample_weight beside it"):
        verify(claim, table, sample_weight=np.ones(180))
    with pytest.raises(InvalidInput, match="Pass y"):
        verify(claim, np.array(table.blocks[0].values))
