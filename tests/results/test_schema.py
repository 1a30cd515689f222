"""What the declaration of the file format is made of: fields of several versions, sentences, and refusals in words."""

import math
from types import SimpleNamespace

import jsonschema
import pytest

from certselect.errors import InvalidInput
from certselect.results.schema import (
    KNOWN_NUMBER,
    NUMBER,
    TEXT,
    TRUTH,
    Field,
    Record,
    Records,
    between,
    either,
    list_of,
    mapping_of,
    one_of,
    whole,
)

PART = Record("a part", {"name": Field(TEXT), "size": Field(NUMBER)})
WHOLE = Record(
    "a whole",
    {
        "count": Field(whole(1, 9), of="n"),
        "parts": Field(Records(PART)),
        "said": Field(TEXT, words=True),
        "checked": Field(TRUTH, since=6, older=False),
        "share": Field(between(0, 1, with_high=False, nullable=True), since=7, older=math.nan),
    },
)
OBJECT = SimpleNamespace(
    n=3, parts=[{"name": "a", "size": math.nan}, {"name": "b", "size": 2}], said="so", checked=True, share=0.5
)


def stored(**change):
    return WHOLE.of_object(OBJECT) | change


def test_what_is_written_is_as_the_schema_says_and_read_again():
    file = stored()
    jsonschema.Draft202012Validator(WHOLE.schema()).validate(file)
    assert file == {
        "count": 3,
        "parts": [{"name": "a", "size": None}, {"name": "b", "size": 2.0}],
        "said": "so",
        "checked": True,
        "share": 0.5,
    }
    again = WHOLE.of_file(file)
    assert again.keys() == {"count", "parts", "checked", "share"}, "a sentence is not read"
    assert math.isnan(again["parts"][0]["size"])


def test_files_of_earlier_versions_lack_later_fields():
    file = stored()
    del file["share"]
    six = WHOLE.of_file(file, version=6)
    assert six["checked"]
    assert math.isnan(six["share"])
    del file["checked"]
    assert WHOLE.of_file(file, version=5)["checked"] is False
    for version, entries in ((5, stored()), (6, file), (7, file)):
        with pytest.raises(InvalidInput, match=r"a whole with(out| an unknown entry) '(checked|share)'"):
            WHOLE.of_file(entries, version=version)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"count": 0}, "a whole with count 0; expected 1 to 9"),
        ({"count": 10}, "expected 1 to 9"),
        ({"count": True}, "expected 1 to 9"),
        ({"count": 3.0}, "expected 1 to 9"),
        ({"said": None}, "a whole with said None; expected text"),
        ({"checked": 1}, "expected true or false"),
        ({"share": 1.0}, "a number between 0 and 1"),
        ({"parts": {}}, "expected a list of objects"),
        ({"parts": [3]}, "a part 3; expected an object"),
        ({"parts": [{"name": "a"}]}, "a part without 'size'"),
        ({"parts": [{"name": "a", "size": math.inf}]}, "a part with size inf; expected a finite number or null"),
        ({"parts": [{"name": "a", "size": 10**400}]}, "expected a finite number or null"),
    ],
)
def test_what_is_otherwise_is_refused_by_its_name(change, said):
    with pytest.raises(InvalidInput) as refused:
        WHOLE.of_file(stored(**change))
    assert said in str(refused.value)
    if not any(isinstance(value, list) for value in change.values()):
        assert not jsonschema.Draft202012Validator(WHOLE.schema()).is_valid(stored(**change)) or change == {
            "count": 3.0
        }


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        (list_of(whole(), different=True, at_least=1), [[0], [2, 1]], [[], [1, 1], [1, True], [-1], "12", None]),
        (mapping_of(TEXT), [{}, {"a": "b"}], [{"a": 1}, {1: "a"}, [], None]),
        (mapping_of(NUMBER, ["a"]), [{}, {"a": None}, {"a": 1}], [{"b": 1}, {"a": "1"}]),
        (either(TEXT, whole()), ["", 0], [None, -1, 0.5, True]),
        (one_of("a", 2), ["a", 2], ["b", True, 2.0, None, []]),
        (KNOWN_NUMBER, [0, -1.5], [None, math.nan, "1", True]),
    ],
)
def test_kinds_take_what_they_say(kind, right, wrong):
    for value in right:
        assert kind.accepts(value), value
        kind.of_file(value, "here", "name")
    for value in wrong:
        assert not kind.accepts(value), value
        with pytest.raises(InvalidInput, match="here with name"):
            kind.of_file(value, "here", "name")
