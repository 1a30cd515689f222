"""The file format, declared once: results are written, parsed and described to machines by this declaration.

Only results/ knows the keys; docs/result-format.md describes them one by one. Sentences (`words=True`) are for people
who read the file: a reader makes its own from the facts. To add a field, add an entry with the version it comes with
(`since`), the attribute that it holds and a test. Fields are only ever added, so that later versions read files of
this one.

`python docs/make_schema.py` writes docs/result-format.schema.json again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from certselect.certificate import Certificate
from certselect.certificate.bound import BY_CHOLESKY, BY_COUNTING, BY_ROW_SUMS
from certselect.certificate.certificate import BY_PROOF
from certselect.criteria.domain import LEFT_OUT_BECAUSE
from certselect.evaluation.feature_report import REASONS
from certselect.results.certificate_text import LIFT, PROOF, lift_as_json, proof_as_json
from certselect.results.claims import claimed
from certselect.results.result import Result
from certselect.results.schema import (
    KNOWN_NUMBER,
    NAME_OR_NULL,
    NUMBER,
    PLAIN,
    TEXT,
    TRUTH,
    Field,
    Kind,
    Record,
    Records,
    between,
    either,
    finite,
    foreign,
    is_number,
    is_whole,
    list_of,
    mapping_of,
    nan,
    one_of,
    whole,
)
from certselect.results.size_choice import HONEST, PAPER
from certselect.results.size_rule import AUTO
from certselect.results.wording import OlderDecision
from certselect.search.selection import COMPLETE, INTERRUPTED, PROVEN_OPTIMAL
from certselect.settings.combinations import COMBINED
from certselect.settings.container import GROUPS
from certselect.settings.fields import About, described
from certselect.table.model import DECIDED, Decision

# Files of versions OLDEST to VERSION are read.
FORMAT, VERSION, OLDEST = "certselect result", 5, 4
PATH = "certselect path"  # what `certselect path` saves, which holds many subsets and no proofs
# No table has more columns, and no result more lists of that length, than a machine can hold.
MOST_FEATURES = 10_000_000

NAMES = list_of(TEXT)
DIFFERENT_NAMES = list_of(TEXT, different=True, expected="different names")
NUMBERS = list_of(NUMBER, expected="a list of numbers or nulls")
TRUTHS = list_of(TRUTH)
SUBSET = list_of(whole(), different=True, at_least=1, expected="different whole numbers")
# How a certificate shows its bound: the word in the file, and the sentence.
METHODS = {"row sums": BY_ROW_SUMS, "cholesky": BY_CHOLESKY, "counting": BY_COUNTING, "proof": BY_PROOF}

_FEATURE = {"type": ["string", "integer"]}
_FEATURES = {"type": "array", "items": _FEATURE}
_BY_FEATURE = {"type": "array", "items": False, "minItems": 2}
_PER_FEATURE: dict[str, Any] = {
    "anyOf": [
        {"type": "null"},
        {"type": "array", "items": {"type": "number", "minimum": 0}},
        {
            "type": "array",
            "items": {**_BY_FEATURE, "prefixItems": [_FEATURE, {"type": "number", "minimum": 0}]},
        },
    ]
}
# Settings whose form does not follow from their choices.
_SETTINGS: dict[str, dict[str, Any]] = {
    "kinds": {
        "type": ["array", "null"],
        "items": {**_BY_FEATURE, "prefixItems": [_FEATURE, {"enum": ["number", "levels", "skip"]}]},
    },
    "weight": {"type": ["string", "null"], "minLength": 1},
    "n_neighbors": {"type": "integer", "minimum": 1},
    "include": {"anyOf": [{"type": "null"}, _FEATURES]},
    "exclude": {"anyOf": [{"type": "null"}, _FEATURES]},
    "feature_groups": {
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {name: {"type": "array", "items": _FEATURES} for name in ("all_or_none", "at_most_one")},
    },
    "costs": _PER_FEATURE,
    "relevance": _PER_FEATURE,
    "budget": {"type": ["number", "null"], "minimum": 0},
    "max_shared": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
    "criterion": {"type": "string", "minLength": 1},
    "beta": {"type": ["number", "null"], "minimum": 0},
    "gamma": {"type": ["number", "null"], "minimum": 0},
    "order": {"enum": [2, 3]},
    "strategy": {"type": "string", "minLength": 1},
    "strategy_options": {"type": ["object", "null"]},
    "polish": {"type": "boolean"},
    "certify": {"enum": [False, True, "tight"]},
    "max_seconds": {"type": ["number", "null"], "exclusiveMinimum": 0},
    "device": {"enum": ["auto", "cpu", "cuda"]},
    "random_state": {"type": ["integer", "null"], "minimum": 0},
}


def _setting_schema(name: str, about: About) -> dict[str, Any]:
    if name in _SETTINGS:
        return _SETTINGS[name]
    if any(option.kind == "bins" for option in about.options):
        return {"anyOf": [{"type": "integer", "minimum": 2}, {"enum": list(about.choices)}]}
    # Names of a registry are open: a file may be about a record that is registered elsewhere.
    return {"enum": list(about.choices)} if about.choices else {"type": "string", "minLength": 1}


def _settings_schema() -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            group: {
                "type": "object",
                "additionalProperties": False,
                "properties": {name: _setting_schema(name, about) for name, about in described(settings).items()},
            }
            for group, settings in GROUPS.items()
        },
    }


SELECTION = Record(
    "a selection",
    {
        "features": Field(list_of(TEXT, at_least=1), of="names"),
        "indices": Field(SUBSET),
        "k": Field(whole(1)),
        "any_size": Field(TRUTH),
        "constrained": Field(TRUTH),
        "without_copies": Field(TRUTH),
        "criterion": Field(TEXT),
        "objective": Field(KNOWN_NUMBER),
        "upper_bound": Field(NUMBER),
        "gap": Field(NUMBER),
        "tolerance": Field(NUMBER),
        "strategy": Field(TEXT),
        "status": Field(one_of(COMPLETE, PROVEN_OPTIMAL, INTERRUPTED)),
        "scores": Field(NUMBERS),
        "drawn_size": Field(NUMBER),
        "dropped": Field(DIFFERENT_NAMES),
        "proven_in": Field(DIFFERENT_NAMES),
        "proven_out": Field(DIFFERENT_NAMES),
        "ties": Field(list_of(SUBSET)),
    },
)
DOMAIN = Record(
    "a domain",
    {
        "n_columns": Field(whole(1, MOST_FEATURES)),
        "left_out": Field(mapping_of(DIFFERENT_NAMES, LEFT_OUT_BECAUSE)),
        "constrained": Field(TRUTH),
        "only_choice": Field(TRUTH),
    },
)
_NULL = {"type": "null"}
CERTIFICATE = Record(
    "a certificate",
    {
        "multipliers": Field(
            Kind(
                "a list of numbers or nulls",
                {"type": ["array", "null"], "items": dict(NUMBER.form), "minItems": 1},
                NUMBERS.accepts,
                lambda values: None if values is None else NUMBERS.write(values),
                lambda values: None if values is None else NUMBERS.read(values),
                nullable=True,
            )
        ),
        "lift": Field(foreign(LIFT.schema())),
        "proof": Field(foreign(PROOF.schema())),
        "known": Field(NUMBER),
        "method": Field(one_of(*METHODS), since=5),
        "shown_by": Field(TEXT, words=True),
        "proof_too_large": Field(TRUTH),
    },
    nullable=True,
    rules={
        "anyOf": [
            {"type": "null"},
            {"properties": {"multipliers": {"type": "array"}, "proof": _NULL, "known": _NULL}},
            {
                "properties": {
                    "multipliers": _NULL,
                    "lift": _NULL,
                    "proof": {"type": "object"},
                    "known": {"type": "number"},
                    "proof_too_large": {"const": False},
                }
            },
        ]
    },
)
# The columns of the explanation.
EXPLANATION = Record(
    "an explanation",
    {
        "feature": Field(NAMES),
        "chosen": Field(TRUTHS),
        "relevance": Field(NUMBERS),
        "chance": Field(NUMBERS),
        "p_value": Field(NUMBERS),
        "closest": Field(list_of(NAME_OR_NULL)),
        "shared": Field(NUMBERS),
        "shared_part": Field(NUMBERS),
        "worth": Field(NUMBERS),
        "swap_with": Field(list_of(NAME_OR_NULL)),
        "swap_loss": Field(NUMBERS),
        "proven": Field(TRUTHS),
        "reason": Field(list_of(one_of(*REASONS)), since=5),
        "why": Field(NAMES, words=True),
    },
)
DECISION = Record(
    "a decision",
    {
        "kind": Field(one_of(*DECIDED)),
        "columns": Field(list_of(whole())),
        "facts": Field(
            Kind(
                "an object of text, numbers, trues and falses",
                {"type": ["object", "null"], "additionalProperties": dict(PLAIN.form)},
                mapping_of(PLAIN).accepts,
                lambda facts: None if facts is None else dict(facts),
                nullable=True,
            ),
            since=5,
        ),
        "why": Field(TEXT, words=True),
    },
)
PROVENANCE = Record(
    "a provenance",
    {
        "n_samples": Field(whole()),
        "n_features": Field(whole(1, MOST_FEATURES)),
        "target": Field(DIFFERENT_NAMES),
        "fingerprint": Field(TEXT),
        "measured": Field(mapping_of(either(TEXT, whole()))),
        "picked": Field(TEXT, words=True),
        "decisions": Field(Records(DECISION)),
        "weighted": Field(TRUTH),
        "seed": Field(foreign({"type": ["integer", "null"], "minimum": 0})),
        "seconds": Field(
            mapping_of(
                Kind(
                    "0 or more, or null",
                    {"type": ["number", "null"], "minimum": 0},
                    lambda value: is_number(value) and value >= 0,
                    finite,
                    nan,
                    nullable=True,
                )
            )
        ),
        "versions": Field(mapping_of(TEXT)),
    },
)
SIZE = Record(
    "a size",
    {
        "statement": Field(TEXT, words=True),
        "asked": Field(either(one_of(AUTO), between(0, 1, with_high=False))),
        "usable": Field(whole()),
        "n_included": Field(whole()),
        "p_values": Field(list_of(between(0, 1, with_high=True, nullable=True))),
        "significance": Field(NUMBER),
        "n_permutations": Field(whole()),
    },
    nullable=True,
)
COMBINATION = Record(
    "a combination",
    {
        "settings": Field(mapping_of(either(TEXT, whole()), COMBINED)),
        "mean_scores": Field(NUMBERS),
        "standard_errors": Field(NUMBERS),
        "split_scores": Field(list_of(NUMBERS)),
    },
)
CHOICE = Record(
    "a choice",
    {
        "estimator": Field(TEXT),
        "scoring": Field(TEXT),
        "protocol": Field(one_of(HONEST, PAPER)),
        "one_standard_error": Field(TRUTH),
        "sizes": Field(list_of(whole(1), different=True)),
        "combinations": Field(Records(COMBINATION, 1)),
        "chosen": Field(whole()),
    },
    nullable=True,
)
RESULT = Record(
    "the result",
    {
        "format": Field(one_of(FORMAT)),
        "version": Field(Kind(f"{VERSION}", {"const": VERSION}, is_whole)),
        "statement": Field(TEXT, words=True),
        "settings": Field(foreign(_settings_schema())),
        "selection": Field(SELECTION),
        "domain": Field(DOMAIN, since=5),
        "certificate": Field(CERTIFICATE),
        "explanation": Field(EXPLANATION),
        "provenance": Field(PROVENANCE),
        "size": Field(SIZE),
        "choice": Field(CHOICE),
    },
)


def as_dict(result: Result) -> dict[str, Any]:
    """Everything needed to read, compare, repeat and verify a selection; what is unknown is null."""
    result = claimed(result)
    selection, origin = result.selection, result.provenance
    stored = RESULT.of_object(
        {
            "format": FORMAT,
            "version": VERSION,
            "statement": selection.statement,
            "settings": result.settings.to_dict(),
            "selection": selection,
            "domain": selection.domain,
            "certificate": _certificate(selection.certificate),
            "explanation": result.explanation,
            "provenance": {
                **{name: getattr(origin, name) for name in PROVENANCE.fields},
                "fingerprint": result.fingerprint,
                "decisions": [_decision(one) for one in origin.decisions],
            },
            "size": result.size_rule,
            "choice": result.choice,
        }
    )
    assert stored is not None, "a result is not null"
    return stored


def _certificate(certificate: Certificate | None) -> Mapping[str, Any] | None:
    if certificate is None:
        return None
    method = next(word for word, sentence in METHODS.items() if sentence == certificate.shown_by)
    return {
        **{name: getattr(certificate, name) for name in ("multipliers", "known", "shown_by", "proof_too_large")},
        "method": method,
        "lift": lift_as_json(certificate.lift),
        "proof": None if certificate.proof is None else proof_as_json(certificate.proof),
    }


def _decision(one: Decision) -> Mapping[str, Any]:
    facts = None if isinstance(one, OlderDecision) else one.facts
    return {"kind": one.kind, "columns": one.columns, "facts": facts, "why": one.why}


def json_schema() -> dict[str, Any]:
    """The JSON Schema of files of this version, as docs/result-format.schema.json has it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{FORMAT}, version {VERSION}",
        "description": "What Result.save and certselect select --json write; see docs/result-format.md.",
        **RESULT.schema(),
    }
