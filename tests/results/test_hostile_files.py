"""Nothing in a file can do harm: thousands of broken ones are refused with a sentence, and no lie is confirmed."""

import copy
import json
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certselect import load_result, verify
from certselect.errors import InvalidInput
from certselect.results import files
from certselect.results.parsing import from_dict
from results.made_results import made

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


def put(stored, path, entry):
    """A copy with another entry there, that shares all the rest."""
    if not path:
        return entry
    changed = stored.copy()
    changed[path[0]] = put(stored[path[0]], path[1:], entry)
    return changed


def get(stored, path):
    for step in path:
        stored = stored[step]
    return stored


def without(stored, path):
    parent = get(stored, path[:-1]).copy()
    del parent[path[-1]]
    return put(stored, path[:-1], parent)


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


def stored_again(stored):
    return stored | {"selection": stored["selection"].copy()}


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


# What is not checked, as docs/result-format.md says, and what may change without a lie: a subset is one in any order;
# a bound may be shown by other multipliers, or be claimed larger than what is shown; what is asked of a search does not
# change what it found; settings that are left out or idle are the defaults.
UNCHECKED = {
    ("selection", "scores"),
    ("selection", "drawn_size"),
    ("provenance", "seconds"),
    ("provenance", "versions"),
    ("provenance", "target"),  # the target itself is passed to verify
    ("provenance", "picked"),
    ("choice",),
    ("settings", "reading"),  # a Table was read already, an array has no missing values
    ("settings", "measuring"),
    ("settings", "searching"),
    ("certificate",),
}


@pytest.mark.parametrize("kind", KINDS)
def test_no_claim_that_matters_can_be_changed(kind):
    result, data, _ = made(kind)
    stored = result.to_dict()
    believed = 0
    for path, changed in attacks(stored):
        if not path or any(path[: len(known)] == known for known in UNCHECKED) or changed == stored:
            continue
        outcome = verify(changed, *data)
        if outcome.holds:
            believed += 1
            same = from_dict(changed).to_dict()
            # Fewer features called proven, or a tie in another order.
            for key in ("proven_in", "proven_out"):
                assert set(same["selection"][key]) <= set(stored["selection"][key])
                same["selection"][key] = stored["selection"][key]
            ties = [[sorted(tie) for tie in each["selection"].pop("ties")] for each in (same, stored_again(stored))]
            assert all(tie in ties[1] for tie in ties[0])
            # Under other constraints the same may be true, and is proven again under these.
            for key in ("format", "version", "statement", "certificate", "explanation", "provenance", "choice"):
                assert same[key] == stored[key], path
            assert same["selection"] == {key: value for key, value in stored["selection"].items() if key != "ties"}
    assert believed < 100


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


def test_broken_files_take_neither_time_nor_memory():
    """Lengths and sizes that are claimed are not believed: a proof of a million units, ten million features."""
    stored = made("tight constraints").result.to_dict()
    proof = copy.deepcopy(stored["certificate"]["proof"])
    step = {"size": 1 << 20, "upper_triangle": "A" * 1000, "weights": "", "out": [], "into": [], "twins": []}
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
