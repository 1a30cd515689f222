"""What the library says, in the words of the command line: `--bins 1` for `bins=1`.

Errors and warnings name settings as Python spells them. Here, and nowhere else, such names become
options, by what the settings say of themselves.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache

from certselect.settings import all_settings

# Parameters of functions and selectors that are no settings, by the options that state them.
_PARAMETERS = {
    "checkpoint": "--resume",
    "cv": "--cv",
    "k": "-k",
    "memory": "--memory",
    "n_features_to_select": "-k",
    "n_jobs": "--jobs",
    "protocol": "--protocol",
    "resume": "--resume",
    "sample_weight": "--weight",
    "scoring": "--scoring",
    "sizes": "--sizes",
    "target": "--target",
}
# What a person types has no type, and the target is called so.
_PHRASES = {
    "Pass y": "Pass --target",
    "as a bool": "as true or false",
    "as an int": "as a whole number",
    "as a str": "as text",
    "in y": "in the target",
}
_QUOTED = r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)"""
_VALUE = rf"(?:{_QUOTED}|\[[^\]]*\]|\{{[^}}]*\}}|[^\s;,)'\"]*[^\s;,.:)'\"])"
_BEGINNING = r"(?<![\w/.?&-])"  # not within a word, a path or an address
# Words after which a name is a setting's, even if it is an English word as well.
_BEFORE_A_NAME = r"(?<=\bin )|(?<=\bLeave )|(?<=\bPass )|(?<=\bpass )|(?<=\bout of )|(?<=\bRaise )|(?<=\blower )"
_STRATEGIES = "certselect.search.strategies."  # modules of them
_NO_NAME = "(?!)"  # matches nothing
_PLAIN = re.compile(r"[\w./+-]+")  # what needs no quotes in a shell


def in_flags(message: str) -> str:
    """The message with options in the place of Python's keywords; what it quotes stays as it is.

    >>> in_flags("Got bins=1; expected 2 or more. Leave bins out, or pass discretize='mdlp'. No column 'bins=1'.")
    "Got --bins 1; expected 2 or more. Leave --bins out, or pass --discretize mdlp. No column 'bins=1'."
    """
    flags = _flags()
    pattern = _pattern(frozenset(flags), frozenset(_options_of_strategies()))
    return pattern.sub(lambda found: _said(found, flags), message)


@cache
def _flags() -> Mapping[str, tuple[tuple[str, object], ...]]:
    """Every setting's options, each with the value it stands for or None."""
    spelled = {
        name: tuple((option.flag or f"--{name.replace('_', '-')}", option.part) for option in about.options)
        for name, about in all_settings().items()
    }
    return spelled | {name: ((flag, None),) for name, flag in _PARAMETERS.items()}


def _options_of_strategies() -> Iterable[str]:
    """What --option may name, of the strategies that are loaded: an error can be about no other."""
    loaded = [getattr(module, "STRATEGY", None) for name, module in [*sys.modules.items()] if _STRATEGIES in name]
    return {name for strategy in loaded if strategy is not None for name in strategy.options}


@cache
def _pattern(flags: frozenset[str], options: frozenset[str]) -> re.Pattern[str]:
    names, inner = ("|".join(sorted(some, key=len, reverse=True)) for some in (flags, {*options - flags, _NO_NAME}))
    telling = "|".join(name for name in sorted(flags) if "_" in name)  # no English word has that
    phrases = "|".join(map(re.escape, _PHRASES))
    parts = [
        rf"{_BEGINNING}(?P<set>{names})=(?P<value>{_VALUE})?(?P<more>(?: or {_QUOTED})*)",
        rf"{_BEGINNING}(?P<entry>{names})\[(?P<key>{_QUOTED}|\d+)\]=(?P<entered>{_VALUE})",
        # What is none of a strategy's options is called so by the error that says it.
        rf"{_BEGINNING}(?<!--option )(?P<option>{inner}|\w+(?=={_VALUE} with strategy=))(?==)",
        rf"(?P<quoted>{_QUOTED})",
        rf"(?<![\w-])(?P<told>{telling})(?![\w-])",
        rf"(?:{_BEFORE_A_NAME})(?:(?P<meant>{names})|(?P<of_strategy>{inner}))(?![\w=-])",
        rf"\b(?P<phrase>{phrases})\b",
    ]
    return re.compile("|".join(parts))


def _said(found: re.Match[str], flags: Mapping[str, tuple[tuple[str, object], ...]]) -> str:
    name = found["set"] or found["told"] or found["meant"]
    if name is not None:
        others = re.sub(_QUOTED, lambda quoted: _bare(quoted[0]), found["more"] or "")
        return _option(flags[name], found["value"] or "") + others
    if found["quoted"] is not None:
        return found["quoted"]
    if found["entry"] is not None:
        return f"{flags[found['entry']][0][0]} {_bare(found['key'])}={_bare(found['entered'])}"
    return _PHRASES[found["phrase"]] if found["phrase"] else f"--option {found['option'] or found['of_strategy']}"


def _option(spelled: tuple[tuple[str, object], ...], value: str) -> str:
    """A setting with its value; of several options that spell it the one that stands for the value, or all."""
    meant = [flag for flag, part in spelled if part is not None and value in (repr(part), str(part))]
    if meant:
        return meant[0]
    alone = [flag for flag, _ in spelled]
    if not value or value[0] in "[{" or len(alone) > 1:
        return " or ".join(alone)
    return f"{alone[0]} {_bare(value)}"


def _bare(value: str) -> str:
    """A value without the quotes that Python puts around it, where a shell needs none."""
    inner = value[1:-1]
    return inner if value[0] in "'\"" and _PLAIN.fullmatch(inner) else value
