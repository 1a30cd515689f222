"""Files of this version stay what they are: whoever changes a field or a word of a statement raises the version.

If one of these tests fails, do not mend the files by hand: raise VERSION in results/format.py, say in
docs/result-format.md what has changed, and write the files again.
"""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from certselect import load_result, verify
from certselect.errors import InvalidInput
from certselect.results.format import PATH, VERSION
from certselect.results.parsing import from_dict
from certselect.search.selection import COMPLETE, PROVEN_OPTIMAL, Selection
from results.made_results import made

KEPT = sorted((Path(__file__).parent / "kept").glob("*.json"))
# What a selection says, by its gap and status; of 2 features unless it is said otherwise.
STATEMENTS = [
    ({"gap": math.nan}, ""),
    ({"gap": 0.0}, "Proven: no 2 features score more than these."),
    ({"gap": 1e-16}, "Proven to 1e-16 of the value: no 2 features score more than these."),
    ({"gap": 1e-16, "status": PROVEN_OPTIMAL}, "Proven: no 2 features score more than these."),
    ({"gap": 9.91e-10}, "Proven to 1e-09 of the value: no 2 features score more than these."),
    ({"gap": 1.1e-9}, "No 2 features score more than 0.0001 % above these."),
    ({"gap": 7.6e-7}, "No 2 features score more than 0.0001 % above these."),
    ({"gap": 1.21e-6}, "No 2 features score more than 0.00013 % above these."),
    ({"gap": 0.0231}, "No 2 features score more than 2.4 % above these."),
    ({"gap": math.inf, "upper_bound": 0.1234567}, "No 2 features score more than 0.123457."),
    ({"gap": 0.0231, "k": 1}, "No feature scores more than 2.4 % above this one."),
    (
        {"gap": 0.0231, "constrained": True},
        "No 2 features that respect the constraints score more than 2.4 % above these.",
    ),
    ({"gap": 0.0231, "without_copies": True}, "No 2 different features score more than 2.4 % above these."),
    ({"gap": 0.0, "any_size": True}, "Proven: no features score more than these."),
]


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.stem)
def test_a_file_of_this_version_is_read_and_holds(file):
    stored = json.loads(file.read_text())
    assert stored["version"] == VERSION
    outcome = verify(file, *made(file.stem.replace("-", " ") if file.stem != "cross-validated" else file.stem).data)
    assert outcome.holds, outcome.reasons
    assert outcome.statement == stored["statement"] == load_result(file).statement


def test_there_are_such_files():
    assert len(KEPT) == 4


@pytest.mark.parametrize(("known", "words"), STATEMENTS)
def test_the_words_of_statements_are_those_of_this_version(known, words):
    plain = Selection(np.arange(2), ("a", "b"), 1.0, (), "forward", "jmi", 2, COMPLETE, upper_bound=2.0)
    assert VERSION == 4
    assert replace(plain, **known).statement == words


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": VERSION - 1}, "which an older certselect wrote; expected a result of version"),
        ({"version": VERSION + 1}, "which a newer certselect wrote; expected a result of version"),
        ({"version": None}, "the format 'certselect result', version None"),
        ({"format": PATH}, "a path (what `certselect path --json` saved)"),
        ({"format": "\x1b[2J"}, r"the format '\x1b[2J'"),
    ],
)
def test_what_another_version_wrote_is_not_called_false(change, words):
    stored = json.loads(KEPT[0].read_text()) | change
    with pytest.raises(InvalidInput) as refused:
        from_dict(stored)
    assert words in str(refused.value)
    assert verify(stored, np.eye(3)).verdict == "broken file"
