"""Files of every version that is read stay what they are, and what they say can be checked by this version.

If one of these tests fails, do not change the files: they are what users have. A field is added with a version of its
own; docs/result-format.md says how.
"""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from certselect import choose_subset, load_result, verify
from certselect.criteria.domain import Domain
from certselect.errors import InvalidInput
from certselect.results.format import OLDEST, PATH, VERSION
from certselect.results.parsing import from_dict
from certselect.search.selection import COMPLETE, PROVEN_OPTIMAL, Selection
from results.made_results import Made, made

KEPT = sorted((Path(__file__).parent / "kept").glob("*/*.json"))
PLAIN = Domain(30)
FEWER = Domain(14, {"identifier": ("patient_id", "notes")})
MANY = Domain(30, {"excluded": ("a",), "constant": tuple("bcdefghijk")})
BOUND = "No 2 of the 30 columns score more than"
# What a selection says, by its gap, status and domain; of 2 features unless it is said otherwise.
STATEMENTS = [
    ({"gap": math.nan}, ""),
    ({"gap": 0.0}, "Proven optimal: no other 2 of the 30 columns score higher."),
    ({"gap": 1e-16}, "Proven optimal to 1e-16 of the value: no other 2 of the 30 columns score higher."),
    ({"gap": 1e-16, "status": PROVEN_OPTIMAL}, "Proven optimal: no other 2 of the 30 columns score higher."),
    ({"gap": 9.91e-10}, "Proven optimal to 1e-09 of the value: no other 2 of the 30 columns score higher."),
    ({"gap": 1.1e-9}, f"{BOUND} 0.0001 % above these."),
    ({"gap": 7.6e-7}, f"{BOUND} 0.0001 % above these."),
    ({"gap": 1.21e-6}, f"{BOUND} 0.00013 % above these."),
    ({"gap": 0.0231}, f"{BOUND} 2.4 % above these."),
    ({"gap": math.inf, "upper_bound": 0.1234567}, f"{BOUND} 0.123457."),
    ({"gap": 0.0231, "k": 1}, "No column of the 30 scores more than 2.4 % above this one."),
    (
        {"gap": 0.0231, "saved_domain": Domain(30, constrained=True)},
        "No 2 of the 30 columns that respect the constraints score more than 2.4 % above these.",
    ),
    ({"gap": 0.0, "any_size": True}, "Proven optimal: no other subset of the 30 columns scores higher."),
    (
        {"gap": 0.0, "saved_domain": FEWER},
        "Proven optimal: no other 2 of the 12 columns considered (2 left out: 'patient_id' and 'notes' as identifiers) "
        "score higher.",
    ),
    (
        {"gap": 0.0, "k": 1, "saved_domain": Domain(3, {"duplicate": ("b",)})},
        "Proven optimal: no other column of the 2 considered (1 left out: 'b' as a duplicate) scores higher.",
    ),
    (
        {"gap": 0.125, "saved_domain": MANY},
        "No 2 of the 19 columns considered (11 left out: 'a' as excluded, 'b', 'c', 'd' and 7 more as constant) "
        "score more than 13 % above these.",
    ),
    ({"gap": 0.0, "saved_domain": Domain(2, only_choice=True)}, "The only possible choice: all 2 columns."),
    (
        {"saved_domain": Domain(4, {"text": ("t", "u")}, only_choice=True)},
        "The only possible choice: all 2 columns considered (2 left out: 't' and 'u' as text).",
    ),
    (
        {"saved_domain": Domain(9, constrained=True, only_choice=True)},
        "The only possible choice: no other 2 of the 9 columns respect the constraints.",
    ),
    ({"gap": 0.0231, "saved_domain": None}, "No 2 columns score more than 2.4 % above these."),
]


@pytest.mark.parametrize("file", KEPT, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_file_of_any_version_is_read_and_holds(file):
    stored = json.loads(file.read_text())
    assert f"version-{stored['version']}" == file.parent.name
    again, live = load_result(file), alike(file, stored)
    outcome = verify(file, *live.data)
    assert outcome.holds, outcome.reasons
    assert outcome.statement == again.statement == live.result.to_dict()["statement"]
    # Read again, it says what this version says of the same table.
    assert again.selection.domain == live.result.selection.domain
    assert list(again.explanation["reason"]) == list(live.result.explanation["reason"])
    assert again.verify(*live.data).holds
    with_table = again.with_table(*live.data)
    assert with_table.provenance.decisions == live.result.provenance.decisions
    assert list(with_table.explanation["why"]) == list(live.result.explanation["why"])
    assert from_dict(again.to_dict()).verify(*live.data).holds


def alike(file, stored):
    """What this version makes of the same table and settings; of the size that an earlier rule of "auto" gave."""
    live = made(kind(file))
    if stored["version"] < 6 and stored["size"] is not None and stored["size"]["asked"] == "auto":
        (frame,) = live.data
        flat = live.result.settings.flat() | {"n_features_to_select": stored["selection"]["k"]}
        sized = choose_subset(frame, *live.result.provenance.target, **flat)
        return Made(sized, live.data)
    return live


def kind(file):
    return file.stem if file.stem == "cross-validated" else file.stem.replace("-", " ")


def test_there_are_files_of_every_version():
    assert [len(list(KEPT[0].parents[1].glob(f"version-{version}/*"))) for version in range(OLDEST, VERSION + 1)] == [
        4
    ] * (VERSION + 1 - OLDEST)


@pytest.mark.parametrize("file", KEPT, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_false_claims_of_any_version_are_found(file):
    stored, data = json.loads(file.read_text()), made(kind(file)).data
    parts = {name: stored[name] for name in ("selection", "explanation", "provenance")}
    for part, change in (
        ("selection", {"objective": stored["selection"]["objective"] * 1.01}),
        ("selection", {"upper_bound": stored["selection"]["objective"] / 2}),
        ("selection", {"dropped": []} if stored["selection"]["dropped"] else {"dropped": ["x0"]}),
        ("explanation", {"relevance": stored["explanation"]["relevance"][::-1]}),
        ("provenance", {"decisions": [{"kind": "date", "columns": [0], "facts": {}, "why": ""}]}),
        ("provenance", {"fingerprint": "0" * 64}),
    ):
        if stored["version"] == 4 and "decisions" in change:
            change["decisions"][0].pop("facts")
        assert not verify(stored | {part: parts[part] | change}, *data).holds, (part, change)


@pytest.mark.parametrize(("known", "words"), STATEMENTS)
def test_the_words_of_statements(known, words):
    plain = Selection(np.arange(2), ("a", "b"), 1.0, (), "forward", "jmi", 2, COMPLETE, upper_bound=2.0)
    assert replace(plain, **{"saved_domain": PLAIN, **known}).statement == words


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": OLDEST - 1}, "which an older certselect wrote; expected a result of version"),
        ({"version": VERSION + 1}, "which a newer certselect wrote; expected a result of version"),
        ({"version": None}, "the format 'certselect result', version None"),
        ({"format": PATH}, "a path (what `certselect path --json` saved)"),
        ({"format": "\x1b[2J"}, r"the format '\x1b[2J'"),
    ],
)
def test_versions_that_are_not_read_are_not_called_false(change, words):
    stored = json.loads(KEPT[0].read_text()) | change
    with pytest.raises(InvalidInput) as refused:
        from_dict(stored)
    assert words in str(refused.value)
    assert verify(stored, np.eye(3)).verdict == "broken file"


@pytest.mark.parametrize("version", range(OLDEST, VERSION + 1))
def test_a_file_of_another_version_than_it_says_is_refused(version):
    [first, *_] = sorted((KEPT[0].parents[1] / f"version-{version}").glob("*"))
    stored = json.loads(first.read_text())
    for other in range(OLDEST, VERSION + 1):
        if other != version:
            with pytest.raises(InvalidInput, match="just the entries"):
                from_dict(stored | {"version": other})
