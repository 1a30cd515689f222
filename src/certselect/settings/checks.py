"""Checks of single settings: each takes a name and a value and returns the value to keep.

NumPy's scalars pass as the numbers they are without NumPy being imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from math import inf
from typing import Any

from certselect.errors import InvalidInput, keyword
from certselect.names import AS_FLAG, AS_TEXT, AS_WHOLE, find_name, shown
from certselect.settings.fields import as_float, as_whole

Check = Callable[[str, Any], Any]


def one_of(choices: Iterable[str]) -> Check:
    """One of these names, in any case."""
    return lambda name, value: find_name(name, value, choices)


def whole(smallest: int, largest: float = inf) -> Check:
    """A whole number that is large enough, and not too large."""

    def check(name: str, value: Any) -> int:
        number = as_whole(value)
        if number is not None and smallest <= number <= largest:
            return number
        remedy = (
            f"Pass {keyword(name)} {AS_WHOLE}." if number is None else f"Leave {keyword(name)} out for its default."
        )
        raise InvalidInput(keyword(name, value), _range(smallest, largest), remedy)

    return check


def whole_or_one_of(smallest: int, largest: int, rules: Iterable[str]) -> Check:
    """A whole number within these, or the name of a rule."""

    def check(name: str, value: Any) -> int | str:
        number = as_whole(value)
        if number is not None and smallest <= number <= largest:
            return number
        if isinstance(value, str):
            return find_name(name, value, rules, also=_range(smallest, largest))
        wanted = f"{_range(smallest, largest)}, or one of {', '.join(rules)}"
        raise InvalidInput(keyword(name, value), wanted, f"Leave {keyword(name)} out for its default.")

    return check


def _range(smallest: int, largest: float) -> str:
    return f"a whole number, {smallest} or more" if largest == inf else f"a whole number, {smallest} to {largest}"


def check_probability(name: str, value: object, usual: float) -> float:
    """The value as a float, if it is a number between 0 and 1, both excluded; `usual` is what the error suggests."""
    number = as_float(value)
    if number is not None and 0.0 < number < 1.0:
        return number
    raise InvalidInput(keyword(name, value), "a number between 0 and 1", f"The usual one is {usual:g}.")


def number_or_none(*, above: bool) -> Check:
    """None or a finite number: above 0, or 0 as well."""

    def check(name: str, value: Any) -> float | None:
        number = as_float(value)
        if value is None or (number is not None and (number > 0.0 or (number == 0.0 and not above))):
            return number
        wanted = "a finite number above 0" if above else "a finite number, 0 or more"
        raise InvalidInput(keyword(name, value), wanted, f"Leave {keyword(name)} out for its default.")

    return check


def feature(name: str, given: Any) -> str | int:
    """The name or the index of a column."""
    found = str(given) if isinstance(given, str) else as_whole(given)
    if found is not None:
        return found
    raise InvalidInput(
        f"{shown(given)} in {keyword(name)}",
        "the name or the index of a feature",
        "Name features by str, number them by int.",
    )


def listed(name: str, given: Any) -> list[Any]:
    """The members of a list, which can be read again and again; a set's in an order of its own."""
    if isinstance(given, str | bytes | Mapping | Iterator) or not isinstance(given, Iterable):
        raise InvalidInput(keyword(name, given), "a list", f"Pass {keyword(name, spelled='[...]')}.")
    try:
        return sorted(given, key=str) if isinstance(given, Set) else list(given)
    except TypeError:  # an array without dimensions says that it can be iterated over
        raise InvalidInput(keyword(name, given), "a list", f"Pass {keyword(name, spelled='[...]')}.") from None


def per_feature(word: str, remedy: str) -> Check:
    """One number, 0 or more, for each column in their order, or for each feature that is named; `word` is one of them.

    As JSON the latter are pairs of a feature and its number, which are read too.
    """

    def number(feature: str, given: Any) -> float:
        found = as_float(given)
        if found is None or found < 0.0:
            raise InvalidInput(f"the {word} {shown(given)} of {feature}", "a finite number, 0 or more", remedy)
        return found

    def check(name: str, given: Any) -> list[float] | dict[str | int, float] | None:
        if given is None:
            return None
        pairs = given.items() if hasattr(given, "items") else None
        if pairs is None:
            values = listed(name, given)
            if not any(isinstance(value, list) for value in values):
                return [number(f"column {i}", value) for i, value in enumerate(values)]
            if any(not isinstance(value, list) or len(value) != 2 or isinstance(value[0], list) for value in values):
                raise InvalidInput(
                    keyword(name, given), f"numbers, or pairs of a feature and its {word}", "Check the pairs."
                )
            pairs = values
        numbers: dict[str | int, float] = {}
        for given_feature, value in pairs:  # of a mapping, or a pandas Series, which may have a name twice
            column = feature(name, given_feature)
            if column in numbers:
                raise InvalidInput(f"two {name} for {column!r}", "one", "Remove one of them.")
            numbers[column] = number(repr(column), value)
        return numbers

    return check


def plain_per_feature(given: Any) -> list[Any] | None:
    """Keys of JSON are str, and a feature may be named by its index: a mapping becomes pairs."""
    return [list(pair) for pair in given.items()] if isinstance(given, dict) else given


def text(name: str, value: Any) -> str:
    """A name that is looked up elsewhere."""
    if isinstance(value, str) and value:
        return str(value)
    raise InvalidInput(keyword(name, value), "a name", f"Pass the name {AS_TEXT}.")


def record(name: str, value: Any) -> Any:
    """The name of a record, or the record itself."""
    return value if isinstance(getattr(value, "name", None), str) else text(name, value)


def name_of(value: Any) -> str:
    """The name of a record that was given by its name or itself."""
    return str(getattr(value, "name", value))


def text_or_none(name: str, value: Any) -> str | None:
    """None or a name."""
    return None if value is None else text(name, value)


def is_flag(value: object) -> bool:
    """Whether the value is a bool, NumPy's included."""
    return isinstance(value, bool) or (type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"))


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if is_flag(value):
        return bool(value)
    raise InvalidInput(keyword(name, value), "True or False", f"Pass {keyword(name)} {AS_FLAG}.")
