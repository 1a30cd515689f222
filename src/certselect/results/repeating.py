"""The call and the command that give a result again, from its settings."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from certselect.results.result import Result
from certselect.settings import About, Option, Settings, all_settings

# What stands for the user's own table where its name is not known.
TABLE = "TABLE.csv"
# Settings by column: pairs in a file, where a column may be a number, and a dictionary in a call.
_PAIRS = ("costs", "kinds")


def python_call(result: Result, table: str = TABLE) -> str:
    """`choose_subset` with every setting that is not the usual one.

    Weights that came as an array go with a table in memory: `table`, `target` and `weights` are left to the reader.
    """
    size, target = _size(result), _target(result)
    named = repr(target[0] if len(target) == 1 else target)
    given = [repr(table), named, repr(size)]
    if result.provenance.weighted:
        given = ["table", named if result.provenance.target else "target", repr(size), "sample_weight=weights"]
    given += [f"{name}={value!r}" for name, value in _stated(result).items()]
    return f"choose_subset({', '.join(given)})"


def command(result: Result, table: str = TABLE) -> str:
    """`certselect select` with the same settings; empty where the command line has no words for one of them."""
    if result.provenance.weighted:
        return ""
    size = _size(result)
    words = ["certselect", "select", table]
    words += [word for name in _target(result) for word in ("--target", name)]
    words += [] if size is None else ["-k", str(size)]
    known = all_settings()
    for name, value in _stated(result).items():
        options = _options(name, known[name], value, result.explanation["feature"])
        if options is None:
            return ""
        words += options
    # A name with line breaks or other marks would reach the reader as something else.
    return shlex.join(words) if all(map(str.isprintable, words)) else ""


def _size(result: Result) -> int | float | str | None:
    if result.size_rule is not None:
        return result.size_rule.asked
    return None if result.selection.any_size else result.selection.k


def _target(result: Result) -> list[str]:
    return list(result.provenance.target) or ["TARGET"]


def _stated(result: Result) -> dict[str, Any]:
    """The settings that are not the usual ones, by their flat names."""
    usual = Settings().to_dict()
    return {
        name: _by_column(value) if name in _PAIRS else value
        for group, values in result.settings.to_dict().items()
        for name, value in values.items()
        if value != usual[group][name]
    }


def _by_column(value: list[Any]) -> dict[Any, Any] | list[Any]:
    """Pairs as a dictionary; costs may also be a list, one for each column."""
    return dict(value) if all(isinstance(each, list) for each in value) else value


def _options(name: str, about: About, value: Any, features: Sequence[str]) -> list[str] | None:
    """A setting as the command line spells it."""
    words: list[str] = []
    for option in about.options:
        part = value.get(option.part) if option.kind == "groups" else value
        if option.kind == "groups" and any("," in _name(column, features) for group in part or () for column in group):
            return None  # a comma ends a name there
        spelled = None if part is None else list(_spelled(option, part, features))
        if spelled is None:
            continue
        flag = option.flag or f"--{name.replace('_', '-')}"
        words += [word for text in spelled for word in ([flag] if option.kind == "flag" else [flag, text])]
    return words or None


def _spelled(option: Option, value: Any, features: Sequence[str]) -> Iterator[str]:
    """What stands behind the flag each time it is given."""
    if option.kind == "flag":
        if value is True if option.part is None else value == option.part:
            yield ""
    elif option.kind == "columns":
        yield from (_name(column, features) for column in value)
    elif option.kind == "groups":
        yield from (",".join(_name(column, features) for column in group) for group in value)
    elif option.kind == "kinds":
        yield from (f"{_name(column, features)}={kind}" for column, kind in value.items())
    elif option.kind == "assignments":
        yield from (f"{name}={json.dumps(each)}" for name, each in value.items())
    elif option.kind == "costs":
        yield "COSTS.csv"
    else:
        yield str(value)


def _name(column: str | int, features: Sequence[str]) -> str:
    return features[column] if isinstance(column, int) else column
