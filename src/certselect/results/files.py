"""Results in files: written whole or not at all, read without pickle and under stated limits."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from certselect.criteria import Criterion, find_criterion
from certselect.errors import InvalidInput
from certselect.results.parsing import from_dict
from certselect.results.result import Result
from certselect.writing import write_whole

# A larger file is not read: proofs, by far the largest part, are kept only up to 128 MiB.
MOST_BYTES = 1 << 29


def as_text(result: Result) -> str:
    """The result as JSON, a line for each of its parts; refuses a criterion that the file's reader could not find."""
    searching = result.settings.searching
    if isinstance(searching.criterion, Criterion):
        try:
            known = find_criterion(searching.criterion.name)
        except InvalidInput:
            known = None
        if known != searching.criterion:
            raise InvalidInput(
                f"a result by a criterion that is not registered under its name {searching.criterion.name!r}",
                "one that whoever reads the file can find by that name",
                "Call register_criterion first, and choose again with the criterion's name.",
            )
    parts = (f"{json.dumps(name)}: {json.dumps(part, allow_nan=False)}" for name, part in result.to_dict().items())
    return "{\n" + ",\n".join(parts) + "\n}\n"


def write_result(result: Result, path: str | os.PathLike[str]) -> None:
    """Write the result to a file, whole or not at all: a reader or a kill finds the old file or the new one."""
    write_text(as_text(result), path)


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Put text into a file, whole or not at all."""
    write_whole(path, lambda file: file.write(text.encode()))


def load_result(path: str | os.PathLike[str]) -> Result:
    """Read a result that `Result.save` or `certselect select --json` wrote.

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
    return from_dict(read_json(Path(path)))


def read_json(file: Path) -> Any:
    """What a JSON file holds, if it is no larger than a result can be."""
    try:
        size = file.stat().st_size
        if size > MOST_BYTES or not file.is_file():  # a device may have no end
            raise InvalidInput(f"{str(file)!r} of {size} bytes", f"a file of at most {MOST_BYTES}", "Name a result.")
        return json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=_each_key_once)
    except OSError as error:
        raise InvalidInput(
            f"the file {str(file)!r}, which cannot be read ({error})", "a file", "Check the path."
        ) from None
    except InvalidInput:
        raise
    except (ValueError, RecursionError) as error:
        got = f"what is not JSON ({error}), in the file {str(file)!r}"
        raise InvalidInput(got, "a result of certselect", "Name another file.") from None


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of the file; one that has a key twice says two things at once."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise ValueError("a key that occurs twice in one object")
    return entries
