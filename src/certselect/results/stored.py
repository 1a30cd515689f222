"""Entries of a stored result, read one by one: each is as the format has it, or a sentence says which is not."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

from certselect.errors import InvalidInput
from certselect.names import shown

REMEDY = "Make the result anew: result.save(...), or certselect select ... --json FILE."
MOST = sys.float_info.max


class Contradiction(InvalidInput):
    """A result of the right form that says two things that cannot both be true."""


class Part:
    """A part of a stored result: reads its entries, or says which of them is wrong."""

    def __init__(self, stored: Any, where: str) -> None:
        self.stored, self.where = stored, where

    def wrong(self, name: str, expected: str) -> InvalidInput:
        return InvalidInput(self._with(name), expected, REMEDY)

    def contradicts(self, name: str, expected: str) -> Contradiction:
        return Contradiction(self._with(name), expected, REMEDY)

    def _with(self, name: str) -> str:
        return f"{self.where} with {name} {shown(self.get(name))}"

    def only(self, known: set[str]) -> None:
        """Refuse entries that are missing, and entries that nobody knows."""
        if not isinstance(self.stored, Mapping):
            raise InvalidInput(f"{self.where} {shown(self.stored)}", "an object", REMEDY)
        for name in known.symmetric_difference(self.stored):
            what = "without" if name in known else "with an unknown entry"
            expected = "just the entries that docs/result-format.md lists"
            raise InvalidInput(f"{self.where} {what} {shown(name)}", expected, REMEDY)

    def get(self, name: str) -> Any:
        return self.stored.get(name) if isinstance(self.stored, Mapping) else None

    def part(self, name: str) -> Part:
        return Part(self.get(name), f"a {name}")

    def parts(self, name: str) -> list[Part]:
        """The entries of a list of objects."""
        listed = self._checked(name, lambda value: isinstance(value, list), "a list of objects")
        return [Part(each, f"an entry of {name}") for each in listed]

    def text(self, name: str) -> str:
        return self._checked(name, text, "text")

    def whole(self, name: str) -> int:
        return self._checked(name, whole_number, "a whole number, 0 or more")

    def truth(self, name: str) -> bool:
        return self._checked(name, truth, "true or false")

    def number(self, name: str) -> float:
        """NaN for null."""
        value = self._checked(name, number, "a finite number or null")
        return math.nan if value is None else float(value)

    def listed(self, name: str) -> list[Any]:
        return self._checked(name, lambda value: isinstance(value, list), "a list")

    def list_of(self, name: str, check: Callable[[Any], bool]) -> list[Any]:
        return self._checked(name, lambda value: each_is(value, check), "a list of such entries as the format has")

    def different(self, name: str) -> tuple[str, ...]:
        """A list of names, none of which occurs twice."""
        names = self.list_of(name, text)
        if len(set(names)) < len(names):
            raise self.wrong(name, "different names")
        return tuple(names)

    def mapping_of(self, name: str, check: Callable[[Any], bool]) -> dict[str, Any]:
        value = self.get(name)
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise self.wrong(name, "an object")
        if not all(check(each) for each in value.values()):
            raise self.wrong(name, "such values as the format has")
        return dict(value)

    def _checked(self, name: str, check: Callable[[Any], bool], expected: str) -> Any:
        value = self.get(name)
        if not check(value):
            raise self.wrong(name, expected)
        return value


def truth(value: Any) -> bool:
    return isinstance(value, bool)


def text(value: Any) -> bool:
    return isinstance(value, str)


def whole_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def duration(value: Any) -> bool:
    """Seconds, or null where they are not known."""
    return number(value) and (value is None or value >= 0)


def number(value: Any) -> bool:
    """A number that a float can hold, or null for one that is not known."""
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MOST)


def each_is(value: Any, check: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(check(entry) for entry in value)


def with_nan(listed: list[Any]) -> list[float]:
    return [math.nan if value is None else float(value) for value in listed]
