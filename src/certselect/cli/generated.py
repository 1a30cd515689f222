"""The command line's options for settings, made from what the settings say of themselves.

    @app.command(cls=SettingsCommand)
    @with_settings(without=("certify",))
    def choose(table: TableFile, settings: Settings, out: Output) -> None: ...

has an option for each setting in the place of `settings`, with its default, its help
text and its help panel, and gets the `Settings` that the options say; and in the place of
`out` options that say where the result goes.
"""

from __future__ import annotations

import inspect
import json
import re
import warnings
from collections.abc import Callable, Collection
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from certselect.cli import options
from certselect.cli.command import Command
from certselect.cli.constraint_options import read_numbers, split_names, whole_number
from certselect.cli.output import Output
from certselect.cli.sheets import Format
from certselect.errors import InvalidInput
from certselect.names import find_name, shown
from certselect.settings import About, Option, all_settings
from certselect.settings.combinations import Combination, combine

PARAMETER, TRIED, OUTPUT = "settings", "tried", "out"
_BY_NAME = inspect.Parameter.KEYWORD_ONLY
# Where a result goes, and how much is said beside it.
_WHERE = {
    name: inspect.Parameter(name, _BY_NAME, default=default, annotation=annotation)
    for name, annotation, default in (
        ("json", options.Json, None),
        ("report", options.Report, None),
        ("format", options.Printed, Format.TABLE),
        ("quiet", options.Quiet, False),
        ("debug", options.Debug, False),
    )
}
_METAVARS = {"text": "NAME", "whole": "NUMBER", "number": "NUMBER"}
# A help text's place for names that only a registry knows: {module:function}.
_LISTED_BY = re.compile(r"\{([\w.]+):(\w+)\}")
# What an option is called now, where no spelling is near.
_RENAMED = {
    "--information": "--measure",
    "--together": "--all-or-none",
    "--candidates": "--sizes",
    "--max-k": "--max-size",
}


def with_settings(
    *, without: Collection[str] = (), several: Collection[str] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command one option per setting, but for those it is `without`, which keep their defaults.

    Those of which it tries `several` take values separated by commas, and may be repeated.
    Such a command gets the settings of the first combination, and as `tried` the values of
    those settings that have more than one.
    """
    known = all_settings()
    left_out = {find_name("without", name, known) for name in without}
    offered = {name: about for name, about in known.items() if name not in left_out}
    parameters = {
        _parameter_name(name, option): _parameter(name, option, about, several=name in several)
        for name, about in offered.items()
        for option in about.options
    }

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        stated = inspect.signature(command, eval_str=True)

        @wraps(command)
        def run(**given: Any) -> Any:
            where = {name: given.pop(name) for name in _WHERE if OUTPUT in stated.parameters}
            out = Output.of(**where) if where else Output()
            out.check(given)
            # What remains of `given` are the command's own parameters.
            values = {name: given.pop(name) for name in parameters}
            keywords = {
                name: _values(name, about, values) if name in several else _value(name, about, values)
                for name, about in offered.items()
            }
            combinations = _noting_idle_ones(keywords, out)
            given[PARAMETER] = combinations[0].settings
            if several:
                given[TRIED] = {name: keywords[name] for name in combinations[0].named}
            if where:
                given[OUTPUT] = out
            return command(**given)

        visible: list[inspect.Parameter] = []
        for name, parameter in stated.parameters.items():
            if several and name == TRIED:
                continue
            generated = {PARAMETER: parameters, OUTPUT: _WHERE}.get(name)
            visible += [parameter.replace(kind=_BY_NAME)] if generated is None else generated.values()
        setattr(run, "__signature__", stated.replace(parameters=visible))  # noqa: B010 (a type checker knows none)
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in visible}
        return run

    return decorate


class SettingsCommand(Command):
    """A command whose help names criteria and strategies, which are looked up only when the help is printed.

    An option that was renamed is answered with its new name.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except Exception as error:  # NoSuchOption, of click or of typer, whichever this typer has
            new = _RENAMED.get(getattr(error, "option_name", ""))
            if any(new in parameter.opts for parameter in self.params):
                setattr(error, "possibilities", [new])  # noqa: B010 (a type checker knows none)
            raise

    def format_help(self, ctx: Any, formatter: Any) -> None:
        for parameter in self.params:
            text = getattr(parameter, "help", None)
            if text:
                setattr(parameter, "help", _LISTED_BY.sub(_names, text))  # noqa: B010 (arguments may have none)
        super().format_help(ctx, formatter)


def _names(place: re.Match[str]) -> str:
    return ", ".join(getattr(import_module(place[1]), place[2])())


def help_text(about: About, option: Option) -> str:
    """What `--help` says of an option, with its choices."""
    if option.help:
        return f"{option.help}."
    choices = ", ".join(f"{name} ({words})" if words else name for name, words in about.choices.items())
    choices = choices or (f"{{{about.names}}}" if about.names else "")
    return f"{about.help}: {choices}." if choices else f"{about.help}."


def _parameter_name(name: str, option: Option) -> str:
    return option.flag.lstrip("-").replace("-", "_") or name


def _parameter(name: str, option: Option, about: About, *, several: bool) -> inspect.Parameter:
    kind, _ = _KINDS[option.kind]
    default = option.default if option.default is not None else about.default
    if option.kind == "bins":
        default = str(default)
    words = help_text(about, option)
    if several:
        kind, default = list[str], [default]
        words += " Several, separated by commas, are tried."
    declared = typer.Option(
        option.flag or f"--{name.replace('_', '-')}",
        help=words,
        metavar=option.metavar or ("NAME,..." if several else _METAVARS.get(option.kind)),
        rich_help_panel=about.panel,
    )
    return inspect.Parameter(
        _parameter_name(name, option),
        _BY_NAME,
        default=default,
        annotation=Annotated[kind | None if default is None else kind, declared],
    )


def _value(name: str, about: About, given: dict[str, Any]) -> Any:
    """A setting out of the options that spell it."""
    read = []
    for option in about.options:
        value = given[_parameter_name(name, option)]
        _, parse = _KINDS[option.kind]
        read.append((option.part, None if value in (None, []) else parse(value)))  # typer: no list is []
    if about.options[0].part is None:
        return read[0][1]
    if about.options[0].kind == "flag":  # the last flag given says most
        return next((part for part, value in reversed(read) if value), about.default)
    return {part: value for part, value in read if value} or None


def _values(name: str, about: About, given: dict[str, Any]) -> Any:
    """The values of a setting of which several may be tried: a list if there are."""
    [option] = about.options
    texts = [text.strip() for listed in given[_parameter_name(name, option)] for text in listed.split(",")]
    _, parse = _KINDS[option.kind]
    values = [parse(text) for text in texts]
    return values if len(values) > 1 else values[0]


def _noting_idle_ones(keywords: dict[str, Any], out: Output) -> list[Combination]:
    """The settings to try; warnings are said as this command line says them, without a line of code."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        combinations = combine(keywords)
    out.note(warned)
    return combinations


def _assignments(given: list[str]) -> dict[str, Any]:
    """The options of ["draws=500", "repair=best"]: values are read as JSON where they are JSON."""
    values: dict[str, Any] = {}
    for assignment in given:
        name, equals, text = assignment.partition("=")
        name = name.strip().replace("-", "_")
        if not name or not equals:
            raise InvalidInput(f"--option {shown(assignment)}", "NAME=VALUE, like draws=500", "Write an equals sign.")
        if name in values:
            raise InvalidInput(f"two values for --option {shown(name)}", "one", "Remove one of them.")
        values[name] = _literal(text.strip())
    return values


def _kinds(given: list[str]) -> dict[str, str]:
    """The kinds of ["zip=levels", "a=b=skip"]: a name may hold an equals sign, a kind does not."""
    kinds: dict[str, str] = {}
    for assignment in given:
        name, equals, kind = assignment.rpartition("=")
        if not name or not equals:
            raise InvalidInput(f"--kind {shown(assignment)}", "COLUMN=KIND, like zip=levels", "Write an equals sign.")
        if name in kinds:
            raise InvalidInput(f"two kinds for --kind {shown(name)}", "one kind for each column", "Remove one of them.")
        kinds[name] = kind.strip()
    return kinds


def _literal(text: str) -> Any:
    constant = text.lower()  # True, as Python writes it, is meant as well
    try:
        return json.loads(constant if constant in ("true", "false", "null") else text)
    except (ValueError, RecursionError):
        return text


def _same(value: Any) -> Any:
    return value


# kind of an option -> the type typer reads, and what becomes of it
_KINDS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "text": (str, _same),
    "whole": (int, _same),
    "number": (float, _same),
    "flag": (bool, _same),
    "bins": (str, lambda text: text if (number := whole_number(text)) is None else number),
    "columns": (list[str], _same),
    "groups": (list[str], lambda listed: [split_names(names) for names in listed]),
    "costs": (Path, partial(read_numbers, option="costs", column="cost")),
    "relevance": (Path, partial(read_numbers, option="relevance", column="relevance")),
    "kinds": (list[str], _kinds),
    "assignments": (list[str], _assignments),
}
