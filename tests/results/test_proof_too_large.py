"""A proof that grew too large to keep: the result says so, and its file claims what multipliers show."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from certselect import choose_subset, load_result, verify
from certselect.certificate import certificate_of
from certselect.errors import InvalidInput
from certselect.results.parsing import from_dict
from certselect.results.result import Result


def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    return (rng.integers(0, 3, (80, 9)) + y[:, None] * (rng.random((80, 9)) < 0.3)).astype(int), y


def without_proof() -> Result:
    """What the exact method found, with multipliers in place of its proof."""
    result = choose_subset(*table(), 3, strategy="exact", criterion="jmi", measure="plugin", correction="none")
    assert result.selection.status == "proven optimal"
    assert result.problem is not None
    assert result.about_proof == ""
    multipliers = np.zeros(len(result.problem.reduced.matrix) + 1)
    plain = replace(certificate_of(result.problem, result.indices, multipliers), proof_too_large=True)
    return replace(result, selection=replace(result.selection, certificate=plain))


def test_the_file_claims_what_the_multipliers_show(tmp_path: Path) -> None:
    result = without_proof()
    assert result.certificate is not None
    assert result.certificate.bound > result.selection.upper_bound
    result.save(tmp_path / "chosen.json")
    read = load_result(tmp_path / "chosen.json")
    assert read.selection.upper_bound == result.certificate.bound
    assert read.selection.status == "complete"
    assert math.isnan(read.selection.tolerance)
    assert (read.selection.proven_in, read.selection.proven_out) == ((), ())
    outcome = read.verify(*table())
    assert outcome.holds
    assert outcome.statement == read.statement
    assert outcome.unconfirmed == ()


def test_both_say_so_in_words(tmp_path: Path) -> None:
    result = without_proof()
    result.save(tmp_path / "chosen.json")
    read = load_result(tmp_path / "chosen.json")
    for each in (result, read):
        assert "too large to keep" in each.about_proof
        assert each.about_proof in repr(each)
    assert json.loads((tmp_path / "chosen.json").read_text())["certificate"]["proof_too_large"] is True


def test_what_the_search_knew_beyond_that_is_not_confirmed() -> None:
    result = without_proof()
    outcome = result.verify(*table())
    assert outcome.holds
    proof, _, chance = result.statement.partition(" No better than chance: ")
    assert outcome.unconfirmed[0] == f"{proof} (by the search; what the result keeps proves less)"
    assert outcome.statement.endswith(f" No better than chance: {chance}")  # this is counted again
    assert "that the result is proven optimal" in outcome.unconfirmed


def test_a_tighter_bound_than_the_multipliers_show_is_refused() -> None:
    result = without_proof()
    stored = result.to_dict()
    value, tight = result.selection.objective, result.selection.upper_bound
    stored["selection"] |= {"upper_bound": tight, "gap": (tight - value) / value}
    stored["statement"] = result.statement
    assert not verify(stored, *table()).holds


@pytest.mark.parametrize("wrong", [None, 0, "yes", "missing"])
def test_the_entry_is_true_or_false(wrong: object) -> None:
    stored = without_proof().to_dict()
    stored["certificate"]["proof_too_large"] = wrong
    if wrong == "missing":
        del stored["certificate"]["proof_too_large"]
    with pytest.raises(InvalidInput, match="proof_too_large"):
        from_dict(stored)


def test_beside_a_proof_it_is_false() -> None:
    stored = choose_subset(
        *table(), 3, strategy="exact", criterion="jmi", measure="plugin", correction="none"
    ).to_dict()
    assert stored["certificate"]["proof_too_large"] is False
    stored["certificate"]["proof_too_large"] = True
    with pytest.raises(InvalidInput, match="false beside a proof"):
        from_dict(stored)
