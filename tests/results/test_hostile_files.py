"""Nothing in a file can do harm: thousands of broken ones are refused with a sentence, in little time and memory."""

import copy
import json
import re
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certselect import load_result, verify
from certselect.errors import InvalidInput
from certselect.results import claims, files
from certselect.results.parsing import from_dict
from results.made_results import made
from results.mutations import get, put, without

# With a lift; with a proof; with ties; with scores; without a bound.
KINDS = ["constraints", "tight constraints", "ties", "cross-validated", "strategy forward"]
DEEP: list = []
for _ in range(2000):
    DEEP = [DEEP]
JUNK = [None, True, False, 0, 1, -1, 2**63, 10**400, 0.5, -0.0, 1e308, float("nan"), float("inf"), "", "x0", "\ud800"]
JUNK += ["A" * 100_000, [], [None], [0], [[0]], ["x0"], {}, {"": 0}, {"size": 3}, DEEP, {"a": DEEP}]


def paths(stored, here=()):
    """The way to every entry, at every depth; of long lists the first and the last entry."""
    yield here
    if isinstance(stored, dict):
        for key, entry in stored.items():
            yield from paths(entry, (*here, key))
    elif isinstance(stored, list):
        for place in sorted({0, len(stored) - 1}) if stored else []:
            yield from paths(stored[place], (*here, place))


def attacks(stored):
    for path in paths(stored):
        for junk in JUNK:
            yield path, put(stored, path, junk)
        if path:
            yield path, without(stored, path)
        here = get(stored, path)
        if isinstance(here, list):
            yield path, put(stored, path, here * 2)
            yield path, put(stored, path, here[::-1])
        if isinstance(here, dict):
            yield path, put(stored, path, here | {"unknown": 1})
        if isinstance(here, str):
            yield path, put(stored, path, here + " ")


def refusal(read):
    """What is said against a file; None if it is read, and can be written again. Other exceptions are not caught."""
    try:
        read().to_dict()
    except InvalidInput as error:
        return str(error)
    return None


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_is_changed_is_read_or_refused_with_a_sentence(kind):
    stored = made(kind).result.to_dict()
    refused = read = 0
    for path, changed in attacks(stored):
        said = refusal(lambda changed=changed: from_dict(changed))
        read, refused = (read + 1, refused) if said is None else (read, refused + 1)
        assert said is None or (said.startswith("Got ") and 10 < len(said) < 3000), path
    assert refused > 1000
    assert read < refused


@pytest.mark.parametrize("kind", ["constraints", "tight constraints", "ties"])
def test_certificates_show_the_bound_or_are_refused(kind):
    """Whatever stands in a certificate: if the claim is confirmed, the bound is true of every subset."""
    result, data, _ = made(kind)
    stored = result.to_dict()
    rng = np.random.default_rng(0)
    for path, changed in attacks(stored):
        if path[:1] == ("certificate",) and rng.random() < 0.5:
            outcome = verify(changed, *data)
            assert isinstance(outcome.holds, bool)
            if outcome.holds:
                assert outcome.upper_bound <= stored["selection"]["upper_bound"] + 1e-9


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_torn_and_spoilt_files_are_refused(tmp_path_factory, data):
    text = files.as_text(made("strategy forward").result).encode()
    path = tmp_path_factory.mktemp("torn") / "r.json"
    if data.draw(st.booleans()):
        spoilt = text[: data.draw(st.integers(0, len(text) - 3))]
    else:
        place = data.draw(st.integers(0, len(text) - 1))
        spoilt = text[:place] + data.draw(st.binary(min_size=1, max_size=4)) + text[place + 1 :]
    path.write_bytes(spoilt)
    said = refusal(lambda: load_result(path))
    assert len(spoilt) >= len(text) if said is None else said.startswith("Got ")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff\xfe{}",
        b"\xef\xbb\xbf{}",
        b'{"format": "certselect result", "format": "certselect result"}',
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b"9" * 100_000,
        b"NaN",
        b'"' + b"x" * 1_000_000,
        b"\x00" * 1000,
    ],
)
def test_other_files_are_refused(tmp_path, text):
    path = tmp_path / "r.json"
    path.write_bytes(text)
    with pytest.raises(InvalidInput) as refused:
        load_result(path)
    assert len(str(refused.value)) < 1000


def test_a_key_that_occurs_twice_is_refused_at_any_depth(tmp_path):
    text = files.as_text(made("strategy forward").result)
    path = tmp_path / "r.json"
    path.write_text(text.replace('"k": 3', '"k": 2, "k": 3'))
    with pytest.raises(InvalidInput, match="occurs twice"):
        load_result(path)


def test_files_of_the_format_before_say_how_to_make_a_new_one(tmp_path):
    old = {"features": ["a"], "indices": [0], "objective": 0.5, "coding": {"bins": 5}, "criterion": "jmi", "k": 1}
    path = tmp_path / "old.json"
    path.write_text(json.dumps(old))
    with pytest.raises(
        InvalidInput, match=r"before version 1.*Make the result anew: result\.save\(\.\.\.\), or certsel"
    ):
        load_result(path)
    assert not verify(path, *made("strategy forward").data).holds


def test_files_that_are_too_large_or_have_no_end_are_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_BYTES", 1000)
    path = tmp_path / "r.json"
    path.write_bytes(b" " * 1001)
    with pytest.raises(InvalidInput, match="at most 1000"):
        load_result(path)
    for endless in ("/dev/zero", tmp_path):
        with pytest.raises(InvalidInput):
            load_result(endless)


def test_cases_without_steps_and_many_ties_are_refused_before_they_cost_anything(monkeypatch):
    """A few bytes each, and each a problem to build or a subset to value."""
    result, data, _ = made("ties")
    stored = result.to_dict()
    ends = {"steps": [], "unit": None}
    cases = {"floor": None, "parts": [{"steps": [], "unit": 0}] * 20_000 + [ends] * 20_001}
    outcome = verify(put(stored, ("certificate", "proof"), cases), *data)
    assert outcome.verdict == "broken file"
    assert "distinguishes cases without a step" in outcome.reasons[0]
    valued = []
    monkeypatch.setattr("certselect.results.consistency.is_allowed", lambda tie, problem: valued.append(tie))
    answer = sorted(stored["selection"]["indices"])
    for ties in ([answer] * 300_000, [answer] * 2):
        outcome = verify(put(stored, ("selection", "ties"), ties), *data)
        assert outcome.verdict == "false claim"
        assert re.search("more than can be valued again|listed twice", outcome.reasons[0])
    assert valued == []


def test_subsets_of_all_sizes_together_are_valued_up_to_a_limit(monkeypatch):
    """Each size may have few enough, and all together too many."""
    result, data, _ = made("any size")  # 7 + 21 + 35 subsets
    stored = result.to_dict()
    for most, holds in ((63, True), (62, False)):
        monkeypatch.setattr(claims, "MOST_SUBSETS", most)
        outcome = verify(stored, *data)
        assert outcome.holds == holds
    assert "more subsets than can be valued again" in outcome.reasons[0]
    assert result.to_dict()["statement"] == "", "what cannot be valued again is not claimed"


def test_wide_tables_are_not_searched_for_want_of_a_certificate(monkeypatch):
    result, data, _ = made("decided features")
    stored = put(result.to_dict(), ("certificate",), None)
    monkeypatch.setattr(claims, "MOST_SUBSETS", 1000)
    monkeypatch.setattr("certselect.results.verifying.select", None)
    assert "without a certificate" in verify(stored, *data).reasons[0]


def test_broken_files_take_neither_time_nor_memory():
    """Lengths and sizes that are claimed are not believed: a proof of a million units, ten million features."""
    stored = made("tight constraints").result.to_dict()
    proof = copy.deepcopy(stored["certificate"]["proof"])
    step = {"size": 1 << 20, "grain": 1.0, "type": "int8", "above_diagonal": "A" * 1000, "diagonal": "", "weights": ""}
    step |= {"out": [], "into": [], "twins": []}
    proof["parts"][0]["steps"] = [step]
    cases = [
        put(stored, ("certificate", "proof"), proof),
        put(stored, ("provenance", "n_features"), 10_000_000),
        put(put(stored, ("provenance", "n_features"), 10_000_000), ("certificate", "proof"), proof),
        put(stored, ("provenance", "n_features"), 10**12),
        put(stored, ("selection", "indices"), list(range(100_000))),
    ]
    tracemalloc.start()
    started = time.perf_counter()
    try:
        for changed in cases:
            with pytest.raises(InvalidInput):
                from_dict(changed)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 16 << 20
    assert time.perf_counter() - started < 5.0
