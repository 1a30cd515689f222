"""Saved results of a search for the size, from which a stopped run goes on.

A text file, one JSON object a line: what the run is about, then every finished piece as
it comes. A process killed while it writes leaves a torn last line, which is dropped. Every
line has a digest of what it says and of what the run is about: one that was damaged, edited
or brought from another file is noticed. Whoever makes the digests anew can still lie.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from certselect.errors import InvalidInput
from certselect.settings.fields import as_float, as_whole
from certselect.writing import check_destination

_FORMAT = "certselect choice of size, 2"
_MOST_BYTES = 1 << 30  # of a file that is read; a score takes some hundred
# Numbers that JSON has no word for.
_SPELLED = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


@dataclass(frozen=True)
class Pieces:
    """What a run consists of, and so what its file may hold."""

    n_searches: int
    n_splits: int
    sizes: Sequence[int]
    n_features: int
    scores_between: tuple[float, float]


class Checkpoint:
    """The subsets and scores a run has so far, in memory and, given a path, in a file.

    Attributes
    ----------
    subsets : dict from searches to lists of lists of int
        Of each search that is finished: the columns of every size.
    scores : dict from (split, size) to float
    """

    def __init__(self, path: str | os.PathLike[str] | None, about: dict[str, str], pieces: Pieces) -> None:
        self.subsets: dict[int, list[list[int]]] = {}
        self.scores: dict[tuple[int, int], float] = {}
        self._path = None if path is None else check_destination(path)
        self._about, self._pieces = about, pieces
        if self._path is None:
            return
        whole = self._read(self._path)
        try:
            if self._path.exists():
                os.truncate(self._path, whole)
        except OSError as error:
            raise self._not_written(error) from None
        if not whole:
            self._append({"format": _FORMAT, "about": about})

    def save_subsets(self, search: int, subsets: list[list[int]]) -> None:
        self.subsets[search] = subsets
        self._append(self._signed({"search": search, "subsets": subsets}))

    def save_score(self, split: int, size: int, score: float) -> None:
        self.scores[split, size] = score
        stored = score if math.isfinite(score) else json.dumps(score)  # a word of `_SPELLED`
        self._append(self._signed({"split": split, "size": size, "score": stored}))

    def _signed(self, record: dict[str, Any]) -> dict[str, Any]:
        """The record with its digest."""
        said = json.dumps([self._about, record], sort_keys=True)
        return {**record, "digest": sha256(said.encode()).hexdigest()}

    def _append(self, record: dict[str, Any]) -> None:
        if self._path is None:
            return
        try:
            with self._path.open("ab") as file:  # opened anew: what is closed survives the process
                file.write(json.dumps(record, allow_nan=False).encode() + b"\n")
        except OSError as error:
            raise self._not_written(error) from None

    def _read(self, path: Path) -> int:
        """Take over what the file has, and say how many of its bytes are whole lines."""
        try:
            if not path.exists():
                return 0
            if path.stat().st_size > _MOST_BYTES:
                raise self._other("holds something else")
            text = path.read_bytes()
        except OSError as error:
            raise InvalidInput(
                f"checkpoint {str(path)!r}, which cannot be read ({error})", "a file", "Check the path."
            ) from None
        whole = text.rfind(b"\n") + 1
        lines = text[:whole].splitlines()
        # Killed within the first line, there is nothing yet to go on from; other files are not ours to overwrite.
        beginning = json.dumps({"format": _FORMAT})[:-1].encode()
        if not lines and beginning.startswith(text[: len(beginning)]):
            return 0
        try:
            first, *records = [json.loads(line) for line in lines]
            kind, saved = first["format"], dict(first["about"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._other("holds something else") from None
        if kind != _FORMAT:
            raise self._other("holds something else")
        changed = [name for name in self._about if saved.get(name) != self._about[name]]
        if changed:
            raise self._other(f"is of a run with another {', another '.join(changed)}")
        for number, record in enumerate(records, start=2):
            if not self._take(record):
                raise self._other(f"is damaged in line {number}")
        return whole

    def _take(self, record: Any) -> bool:
        """Take over a line of the file, if all of it is as this run would have written it."""
        if not isinstance(record, dict):
            return False
        said = {name: value for name, value in record.items() if name != "digest"}
        if record != self._signed(said):
            return False
        if said.keys() == {"search", "subsets"}:
            return self._take_subsets(said["search"], said["subsets"])
        return said.keys() == {"split", "size", "score"} and self._take_score(**said)

    def _take_subsets(self, search: Any, subsets: Any) -> bool:
        columns = range(self._pieces.n_features)
        possible = (
            _is_one_of(search, range(self._pieces.n_searches))
            and search not in self.subsets
            and isinstance(subsets, list)
            and len(subsets) == len(self._pieces.sizes)
            and all(isinstance(subset, list) and subset for subset in subsets)
            and all(_is_one_of(column, columns) for subset in subsets for column in subset)
            and all(len(set(subset)) == len(subset) for subset in subsets)
        )
        if possible:
            self.subsets[search] = subsets
        return possible

    def _take_score(self, split: Any, size: Any, score: Any) -> bool:
        number = _SPELLED.get(score) if isinstance(score, str) else as_float(score)
        lowest, highest = self._pieces.scores_between
        if number is None:
            return False
        possible = (
            _is_one_of(split, range(self._pieces.n_splits))
            and _is_one_of(size, self._pieces.sizes)
            and (split, size) not in self.scores
            and (math.isnan(number) or lowest <= number <= highest)
        )
        if possible:
            self.scores[split, size] = number
        return possible

    def _other(self, what: str) -> InvalidInput:
        return InvalidInput(
            f"the checkpoint {str(self._path)!r}, which {what}",
            "saved scores of this very search, or no file yet",
            "Name another file, or delete this one to start again.",
        )

    def _not_written(self, error: OSError) -> InvalidInput:
        return InvalidInput(
            f"the checkpoint {str(self._path)!r}, which cannot be written ({error.strerror or error})",
            "a file in a folder that can be written to",
            "Check the path and the room on the disk.",
        )


def _is_one_of(value: Any, known: Sequence[int]) -> bool:
    return as_whole(value) is not None and value in known
