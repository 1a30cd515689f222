"""Results in files: written whole or not at all, read without pickle and under stated limits."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from certselect.criteria import find_criterion
from certselect.errors import InvalidInput
from certselect.information import find_measure
from certselect.results.parsing import from_dict
from certselect.results.result import Result
from certselect.writing import write_whole

# A larger file is not read: proofs, by far the largest part, are kept only up to 128 MiB.
MOST_BYTES = 1 << 29


def as_text(result: Result) -> str:
    """The result as JSON, a line for each of its parts; refuses records that the file's reader could not find."""
    _check_registered("criterion", result.settings.searching.criterion, find_criterion)
    _check_registered("measure", result.settings.measuring.measure, find_measure)
    parts = (f"{json.dumps(name)}: {json.dumps(part, allow_nan=False)}" for name, part in result.to_dict().items())
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _check_registered(what: str, given: Any, find: Callable[[str], Any]) -> None:
    """Refuse a record that is not registered under its name, by which a file knows it."""
    if isinstance(given, str):
        return
    try:
        known = find(given.name)
    except InvalidInput:
        known = None
    if known != given:
        raise InvalidInput(
            f"a result by a {what} that is not registered under its name {given.name!r}",
            "one that readers of the file can find by that name",
            f"Call register_{what} first, and choose again with the name of the {what}.",
        )


def write_result(result: Result, path: str | os.PathLike[str]) -> None:
    """Write the result to a file, whole or not at all: a reader or a kill finds the old file or the new one."""
    write_text(as_text(result), path)


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Put text into a file, whole or not at all."""
    write_whole(path, lambda file: file.write(text.encode()))


def load_result(path: str | os.PathLike[str] | BinaryIO) -> Result:
    """Read a result that `Result.save` or `certselect select --json` wrote, from a file or an open binary one.

    Nothing in the file is executed or trusted; what is not as the format describes is
    refused. `Result.verify` says whether its claims are true.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from certselect import choose_subset, load_result
    >>> X = np.array([[0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1]])
    >>> result = choose_subset(X, [0, 0, 1, 1], 1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result.save(os.path.join(folder, "chosen.json"))
    ...     load_result(os.path.join(folder, "chosen.json")).verify(X, [0, 0, 1, 1]).holds
    True
    """
    return from_dict(read_json(path))


def read_json(source: str | os.PathLike[str] | BinaryIO) -> Any:
    """What a JSON file holds, if it is no larger than a result can be."""
    called = f"the file {str(source)!r}" if isinstance(source, str | os.PathLike) else "what was sent"
    try:
        text = _read(Path(source)) if isinstance(source, str | os.PathLike) else source.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise InvalidInput(
                f"{called}, which is longer", f"a result of at most {MOST_BYTES} bytes", "Name a result."
            )
        return json.loads(text.decode("utf-8"), object_pairs_hook=_each_key_once)
    except OSError as error:
        raise InvalidInput(f"{called}, which cannot be read ({error})", "a file", "Check the path.") from None
    except InvalidInput:
        raise
    except (ValueError, RecursionError) as error:
        got = f"what is not JSON ({error}), in {called}"
        raise InvalidInput(got, "a result of certselect", "Name another file.") from None


def _read(file: Path) -> bytes:
    if not file.is_file():  # a device may have no end
        file.stat()  # which says why, if nothing is there
        raise InvalidInput(f"{str(file)!r}, which is no file", "a result", "Name a result.")
    with file.open("rb") as opened:
        return opened.read(MOST_BYTES + 1)


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of the file; one that has a key twice says two things at once."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise ValueError("a key that occurs twice in one object")
    return entries
