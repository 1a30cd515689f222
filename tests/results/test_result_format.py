"""The format as it is written down: the schema accepts real files and no broken ones, the page names every key."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

from certselect.criteria.domain import LEFT_OUT_BECAUSE
from certselect.results.format import VERSION, json_schema
from results.made_results import KINDS, made
from results.mutations import put, without

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "result-format.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
# Objects whose keys are names of steps, libraries or a strategy's own options.
FREE = {"seconds", "versions", "strategy_options"}


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_is_that_of_the_declaration():
    """`python docs/make_schema.py` writes it again."""
    assert json_schema() == SCHEMA


@pytest.mark.parametrize("kind", KINDS)
def test_real_files_are_as_the_schema_says(kind):
    stored = json.loads(json.dumps(made(kind).result.to_dict()))
    assert [error.message for error in VALIDATOR.iter_errors(stored)] == []


def keys(stored, here=()):
    """The way to every key of every object, of lists the first entry."""
    if isinstance(stored, dict):
        for key, entry in stored.items():
            yield (*here, key)
            if key not in FREE:
                yield from keys(entry, (*here, key))
    elif isinstance(stored, list) and stored:
        yield from keys(stored[0], (*here, 0))


@pytest.mark.parametrize("kind", ["constraints", "tight constraints", "cross-validated"])
def test_the_schema_refuses_broken_files(kind):
    stored = json.loads(json.dumps(made(kind).result.to_dict()))
    optional = {"all_or_none", "at_most_one", "settings", "reading", "measuring", "constraints", "searching"}
    optional |= set(LEFT_OUT_BECAUSE)
    broken = 0
    for path in keys(stored):
        if path[-1] in FREE or "measured" in path:
            continue
        assert not VALIDATOR.is_valid(put(stored, path, {"other": [{}]})), path
        if path[0] != "settings" and path[-1] not in optional:
            assert not VALIDATOR.is_valid(without(stored, path)), path
        broken += 1
    assert broken > 50
    for change in (
        {"version": VERSION + 1},
        {"version": VERSION - 1},
        {"format": "other"},
        {"unknown": 1},
        {"selection": stored["selection"] | {"status": "very good"}},
        {"selection": stored["selection"] | {"indices": [-1]}},
        {"selection": stored["selection"] | {"indices": [1, 1]}},
        {"selection": stored["selection"] | {"objective": None}},
        {"provenance": stored["provenance"] | {"n_features": 0}},
        {"settings": stored["settings"] | {"measuring": {"bins": 1}}},
    ):
        assert not VALIDATOR.is_valid(stored | change), change


def test_the_page_names_every_key():
    page = (DOCS / "result-format.md").read_text()
    named = set(re.findall(r"`([a-z_0-9]+)`", page))
    written = {
        key
        for kind in KINDS
        for path in keys(made(kind).result.to_dict())
        for key in path
        if isinstance(key, str) and "measured" not in path[:-1]
    }
    assert len(written) > 60
    assert written <= named, written - named


def test_the_schema_names_every_key():
    def of(schema):
        if isinstance(schema, dict):
            yield from schema.get("properties", {})
            for part in schema.values():
                yield from of(part)
        elif isinstance(schema, list):
            for part in schema:
                yield from of(part)

    page = set(re.findall(r"`([a-z_0-9]+)`", (DOCS / "result-format.md").read_text()))
    assert set(of(SCHEMA)) <= page
