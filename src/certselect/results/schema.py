"""What a declaration of the file format is made of: kinds of values, fields and objects.

A kind checks, writes, reads and describes a value. `format` declares the file with them; from that one declaration
results are written, parsed and described by a JSON Schema.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from certselect.errors import InvalidInput
from certselect.names import shown

REMEDY = "Make the result anew: result.save(...), or certselect select ... --json FILE."
_MOST, _MOST_WHOLE = sys.float_info.max, 2**63 - 1


class Contradiction(InvalidInput):
    """A result of the right form that says two things that cannot both be true."""


def wrong(where: str, name: str, value: Any, expected: str) -> InvalidInput:
    """The error for an entry that is not as the format has it."""
    return InvalidInput(f"{where} with {name} {shown(value)}", expected, REMEDY)


def only(stored: Mapping[str, Any], known: Set[str], called: str) -> None:
    """Refuse an object without some of the known entries, or with others."""
    for name in known ^ stored.keys():
        what = "without" if name in known else "with an unknown entry"
        raise InvalidInput(
            f"{called} {what} {shown(name)}", "just the entries that docs/result-format.md lists", REMEDY
        )


@dataclass(frozen=True)
class Kind:
    """What a field holds: how a value is checked, written, read and described.

    Attributes
    ----------
    expected : str
        What errors say of it.
    form : mapping
        Its JSON Schema.
    accepts : callable
        Whether a value of a file is one.
    write, read : callable
        To the value of a file, and back from one that was accepted.
    nullable : bool
        Whether the value may be null, which stands for what is not known.
    """

    expected: str
    form: Mapping[str, Any]
    accepts: Callable[[Any], bool]
    write: Callable[[Any], Any] = lambda value: value
    read: Callable[[Any], Any] = lambda value: value
    nullable: bool = False

    def of_file(self, value: Any, where: str, name: str, version: int = 0) -> Any:
        """The value of a file, checked and read."""
        if value is None and self.nullable:
            return self.read(None)
        if not self.accepts(value):
            raise wrong(where, name, value, self.expected)
        return self.read(value)

    def of_object(self, value: Any) -> Any:
        return self.write(value)

    def schema(self) -> dict[str, Any]:
        return dict(self.form)


@dataclass(frozen=True)
class Field:
    """An entry of an object of the file.

    Attributes
    ----------
    kind : Kind or Record
    since, until : int
        The first and the last version that has it.
    of : str
        The attribute that it holds, if that has another name.
    words : bool
        Whether it is a sentence, which no reader believes.
    older : object
        What it is in a file of a version that does not have it.
    """

    kind: Any
    since: int = 0
    until: int = sys.maxsize
    of: str = ""
    words: bool = False
    older: Any = None


@dataclass(frozen=True)
class Record:
    """An object of the file with these fields; `rules` are further words of its JSON Schema."""

    called: str
    fields: Mapping[str, Field]
    nullable: bool = False
    rules: Mapping[str, Any] = field(default_factory=dict)

    @property
    def _written(self) -> dict[str, Field]:
        """The fields of the present version."""
        return {name: entry for name, entry in self.fields.items() if entry.until == sys.maxsize}

    def of_object(self, source: Any) -> dict[str, Any] | None:
        """The object of the file that holds these attributes, or entries, of the source."""
        if source is None and self.nullable:
            return None
        get = source.__getitem__ if isinstance(source, Mapping) else lambda name: getattr(source, name)
        return {name: entry.kind.of_object(get(entry.of or name)) for name, entry in self._written.items()}

    def of_file(
        self, stored: Any, where: str = "", name: str = "", version: int = sys.maxsize
    ) -> dict[str, Any] | None:
        """The entries of an object of the file, each checked and read; sentences are left out.

        What is missing, unknown or of another kind is refused.
        """
        if stored is None and self.nullable:
            return None
        if not isinstance(stored, Mapping):
            raise (
                wrong(where, name, stored, "an object")
                if name
                else InvalidInput(f"{self.called} {shown(stored)}", "an object", REMEDY)
            )
        known = {each for each, entry in self.fields.items() if entry.since <= version <= entry.until}
        only(stored, known, self.called)
        found = {}
        for each, entry in self.fields.items():
            if each not in known:
                found[each] = entry.older
                continue
            value = entry.kind.of_file(stored[each], self.called, each, version)
            if not entry.words:
                found[each] = value
        return found

    def schema(self) -> dict[str, Any]:
        return {
            "type": ["object", "null"] if self.nullable else "object",
            "additionalProperties": False,
            "required": list(self._written),
            "properties": {name: entry.kind.schema() for name, entry in self._written.items()},
            **self.rules,
        }


@dataclass(frozen=True)
class Records:
    """A list of objects of one kind."""

    record: Record
    at_least: int = 0

    def of_object(self, sources: Sequence[Any]) -> list[Any]:
        return [self.record.of_object(source) for source in sources]

    def of_file(self, stored: Any, where: str, name: str, version: int) -> list[Any]:
        if not isinstance(stored, list):
            raise wrong(where, name, stored, "a list of objects")
        return [self.record.of_file(each, version=version) for each in stored]

    def schema(self) -> dict[str, Any]:
        least = {"minItems": self.at_least} if self.at_least else {}
        return {"type": "array", **least, "items": self.record.schema()}


def is_whole(value: Any, least: int = 0, most: int = _MOST_WHOLE) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def is_number(value: Any) -> bool:
    """Whether it is a number that a float can hold."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _MOST


def _is_list_of(kind: Kind) -> Callable[[Any], bool]:
    def accepts(value: Any) -> bool:
        return isinstance(value, list) and all((each is None and kind.nullable) or kind.accepts(each) for each in value)

    return accepts


def finite(value: Any) -> float | None:
    """The number, null for what is not finite."""
    return float(value) if value is not None and math.isfinite(value) else None


def nan(value: Any) -> float:
    """The number, NaN for null."""
    return math.nan if value is None else float(value)


TEXT = Kind("text", {"type": "string"}, lambda value: isinstance(value, str))
TRUTH = Kind("true or false", {"type": "boolean"}, lambda value: isinstance(value, bool), bool)
NUMBER = Kind("a finite number or null", {"type": ["number", "null"]}, is_number, finite, nan, nullable=True)
KNOWN_NUMBER = Kind("a finite number", {"type": "number"}, is_number, finite, float)
NAME_OR_NULL = Kind("text or null", {"type": ["string", "null"]}, lambda value: isinstance(value, str), nullable=True)
PLAIN = Kind(
    "text, a number, true or false",
    {"type": ["string", "number", "boolean"]},
    lambda value: isinstance(value, str | bool) or is_number(value),
)


def whole(least: int = 0, most: int | None = None) -> Kind:
    limit = {} if most is None else {"maximum": most}
    expected = f"a whole number, {least} or more" if most is None else f"{least} to {most}"
    form = {"type": "integer", "minimum": least, **limit}
    return Kind(expected, form, lambda value: is_whole(value, least, most or _MOST_WHOLE), int)


def one_of(*choices: Any) -> Kind:
    expected = " or ".join(map(repr, choices))
    # 1 is not true, and 5.0 is no version.
    same = [(type(choice), choice) for choice in choices]
    form = {"const": choices[0]} if len(choices) == 1 else {"enum": list(choices)}
    return Kind(expected, form, lambda value: isinstance(value, str | int) and (type(value), value) in same)


def list_of(kind: Kind, *, different: bool = False, at_least: int = 0, expected: str = "") -> Kind:
    """A list; `different` if no entry may occur twice."""
    each = _is_list_of(kind)

    def accepts(value: Any) -> bool:
        return each(value) and len(value) >= at_least and (not different or len(set(value)) == len(value))

    form = {"type": "array", "items": dict(kind.form)}
    form |= {"uniqueItems": True} if different else {}
    form |= {"minItems": at_least} if at_least else {}
    return Kind(
        expected or f"a list, each entry of it {kind.expected}",
        form,
        accepts,
        lambda values: [kind.write(value) for value in values],
        lambda values: [kind.read(value) for value in values],
    )


def mapping_of(kind: Kind, names: Sequence[str] | None = None) -> Kind:
    """An object whose keys are free, or among these names."""

    def accepts(value: Any) -> bool:
        known = names is None or (isinstance(value, Mapping) and set(value) <= set(names))
        return (
            known
            and isinstance(value, Mapping)
            and all(isinstance(key, str) for key in value)
            and all((each is None and kind.nullable) or kind.accepts(each) for each in value.values())
        )

    form: dict[str, Any] = {"type": "object"}
    if names is None:
        form["additionalProperties"] = dict(kind.form)
    else:
        form |= {"additionalProperties": False, "properties": {name: dict(kind.form) for name in names}}
    among = "" if names is None else f" with keys among {', '.join(names)}"
    return Kind(
        f"an object{among}, each value of it {kind.expected}",
        form,
        accepts,
        lambda given: {str(name): kind.write(value) for name, value in given.items()},
        lambda given: {name: kind.read(value) for name, value in given.items()},
    )


def either(*kinds: Kind) -> Kind:
    return Kind(
        " or ".join(kind.expected for kind in kinds),
        {"anyOf": [dict(kind.form) for kind in kinds]},
        lambda value: any(kind.accepts(value) for kind in kinds),
    )


def foreign(form: Mapping[str, Any]) -> Kind:
    """What another module writes and reads, with its JSON Schema."""
    return Kind("", form, lambda value: True, nullable=True)


def between(low: float, high: float, *, with_high: bool, nullable: bool = False) -> Kind:
    """A number above `low` and below `high`."""
    end = {"maximum" if with_high else "exclusiveMaximum": high}
    form = {"type": ["number", "null"] if nullable else "number", "exclusiveMinimum": low, **end}

    def accepts(value: Any) -> bool:
        return isinstance(value, float) and low < value and (value <= high if with_high else value < high)

    expected = f"a number between {low:g} and {high:g}"
    return Kind(expected, form, accepts, finite, nan, nullable=nullable)


# Numbers packed into text.
PACKED = foreign({"type": "string", "contentEncoding": "base64", "pattern": "^[A-Za-z0-9+/]*={0,2}$"})
