"""File formats by name: those of the package, registered ones, those of other packages.

A file `formats/NAME.py` with a `FORMAT` named NAME in it adds a format to the package. Each format has one reader, for
tables in memory and in blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from certselect.errors import InvalidInput
from certselect.registered import Registry

if TYPE_CHECKING:
    from certselect.table.streams.file_rows import DataFile


@dataclass(frozen=True, eq=False)
class Format:
    """A file format: how to recognise its files, and how to read them.

    Attributes
    ----------
    name : str
        In lower case.
    suffixes : tuple of str
        Ends of file names, in lower case, such as (".parquet", ".pq").
    open : callable
        ``open(files, folder)`` returns the rows of one or several files (`DataFile`) with the same columns. `folder`
        is the folder whose subfolders "key=value" may be partitions, or None. A subclass of `FileUnits` will do.
    first_bytes : tuple of bytes
        What the files begin with, so that the format is recognised on standard input; empty if that varies.
    summary : str

    Examples
    --------
    >>> from certselect import Format, list_formats
    >>> list_formats()["parquet"].suffixes
    ('.parquet', '.pq')
    """

    name: str
    suffixes: tuple[str, ...]
    open: Callable[[Sequence[DataFile], str | None], Any]
    first_bytes: tuple[bytes, ...] = ()
    summary: str = ""

    def __post_init__(self) -> None:
        given = self.suffixes
        if not isinstance(given, tuple) or not given or not all(_is_suffix(suffix) for suffix in given):
            raise InvalidInput(
                f"suffixes={given!r:.80} of a format", 'a tuple such as (".jsonl",), in lower case', "Name one."
            )


def _is_suffix(suffix: object) -> bool:
    return isinstance(suffix, str) and len(suffix) > 1 and suffix.startswith(".") and suffix == suffix.lower()


@cache
def _load(name: str) -> Format:
    return import_module(f"{__name__}.{name}").FORMAT


_OWN = sorted(module.name for module in iter_modules(__path__))
_registry = Registry("format", "certselect.formats", Format, _load, _OWN)


def register_format(format: Format) -> None:
    """Make a file format available by the suffixes of its files, in every function and command.

    Its suffixes must not be those of one of the package's own formats. `docs/extending.md` has an example.
    """
    own = {suffix for name in _OWN for suffix in _load(name).suffixes}
    taken = [suffix for suffix in getattr(format, "suffixes", ()) if suffix in own]
    if taken:
        raise InvalidInput(
            f"a format with the suffix {taken[0]!r}",
            "suffixes that the package itself does not read",
            "Choose another suffix.",
        )
    _registry.register(format)


def list_formats() -> dict[str, Format]:
    """All file formats by name."""
    return {name: _registry.find(name) for name in _registry.names()}


def all_suffixes() -> tuple[str, ...]:
    """The suffixes of all formats, those of a format together."""
    return tuple(suffix for one in list_formats().values() for suffix in one.suffixes)


def format_of(file_name: str) -> Format | None:
    """The format of a file by its suffix; None if no format has it."""
    lowered = file_name.lower()
    for names in (_OWN, _registry.names):  # formats of other packages are looked up for other suffixes only
        for name in names if isinstance(names, list) else names():
            if lowered.endswith(_registry.find(name).suffixes):
                return _registry.find(name)
    return None


def format_of_content(content: bytes) -> Format:
    """The format of a file by its first bytes; text if no format has them."""
    for found in list_formats().values():
        if content.startswith(found.first_bytes):
            return found
    return _load("csv")
