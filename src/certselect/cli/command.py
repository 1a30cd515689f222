"""Commands with help as this command line prints it: flags without a type, and examples in a panel at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from certselect.cli import exits
from certselect.cli.printing import show, tell_block


class _Explained:
    """Help whose epilog is examples, a line each: what to type, two spaces or more, and what it does."""

    epilog: str | None

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))  # type: ignore[misc] (what it is mixed with has it)

    def invoke(self, ctx: Any) -> Any:
        """Run it. Ctrl-C that leaves it, because there is nothing yet to show, is said to have come."""
        try:
            return super().invoke(ctx)  # type: ignore[misc]
        except KeyboardInterrupt:
            tell_block("interrupted before there was a result")
            raise typer.Exit(exits.INTERRUPTED) from None

    def format_help(self, ctx: Any, formatter: Any) -> None:
        examples, self.epilog = self.epilog, None
        try:
            super().format_help(ctx, formatter)  # type: ignore[misc]
        finally:
            self.epilog = examples
        if examples:
            _show_examples(examples.splitlines())


class Command(_Explained, TyperCommand):
    """A command."""


class Group(_Explained, TyperGroup):
    """All commands, with exit codes below them."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)  # in the order they were added in, which is that of first use

    def format_help(self, ctx: Any, formatter: Any) -> None:
        super().format_help(ctx, formatter)
        _show_exit_codes()


def _without_types(parameters: Sequence[Any]) -> list[Any]:
    """The parameters, flags with nothing where the others have the kind of their value."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return list(parameters)


def _show_examples(lines: Sequence[str]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid()
    for line in lines:
        typed, _, does = line.partition("  ")
        table.add_row(Text(typed, style="bold cyan"))
        table.add_row(Text(f"  {does.strip()}"))
    _show_panel("Examples", table)


def _show_exit_codes() -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for code, meaning in exits.MEANINGS.items():
        table.add_row(Text(str(code), style="bold cyan"), Text(meaning))
    _show_panel("Exit codes", table)


def _show_panel(title: str, inside: Any) -> None:
    """Print a panel as typer prints those of the options."""
    from rich.panel import Panel

    show(Panel(inside, title=title, title_align="left", border_style="dim"))
