"""Saved results of a search for the size, from which a stopped run goes on.

A text file, one JSON object a line: what the run is about, then every finished piece as
it comes. A process killed while it writes leaves a torn last line, which is dropped.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from certselect.errors import InvalidInput

_FORMAT = "certselect choice of size, 1"


class Checkpoint:
    """The subsets and scores a run has so far, in memory and, given a path, in a file.

    Attributes
    ----------
    subsets : dict from searches to lists of lists of int
        Of each search that is finished: the columns of every size.
    scores : dict from (split, size) to float
    """

    def __init__(self, path: str | os.PathLike[str] | None, about: dict[str, str]) -> None:
        self.subsets: dict[int, list[list[int]]] = {}
        self.scores: dict[tuple[int, int], float] = {}
        self._path = None if path is None else Path(path)
        if self._path is None:
            return
        whole = self._read(self._path, about)
        try:
            if whole:
                os.truncate(self._path, whole)
            else:
                self._path.write_bytes(b"")
                self._append({"format": _FORMAT, "about": about})
        except OSError as error:
            raise InvalidInput(
                f"checkpoint {str(self._path)!r}, which cannot be written ({error})",
                "a file in a folder that can be written to",
                "Check the path.",
            ) from None

    def save_subsets(self, search: int, subsets: list[list[int]]) -> None:
        self.subsets[search] = subsets
        self._append({"search": search, "subsets": subsets})

    def save_score(self, split: int, size: int, score: float) -> None:
        self.scores[split, size] = score
        # NaN is no JSON; null stands for it.
        self._append({"split": split, "size": size, "score": score if score == score else None})

    def _append(self, record: dict[str, Any]) -> None:
        if self._path is not None:
            with self._path.open("ab") as file:  # opened anew: what is closed survives the process
                file.write(json.dumps(record, allow_nan=False).encode() + b"\n")

    def _read(self, path: Path, about: dict[str, str]) -> int:
        """Take over what the file has, and say how many of its bytes are whole lines."""
        try:
            text = path.read_bytes() if path.exists() else b""
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
            if first["format"] != _FORMAT:
                raise ValueError
            self._check_same(path, first["about"], about)
            for record in records:
                self._take(record)
        except InvalidInput:
            raise
        except (ValueError, KeyError, TypeError, IndexError):
            raise InvalidInput(
                f"checkpoint {str(path)!r}, which holds something else",
                "a file an earlier run of this search saved, or one that is not there yet",
                "Name another file.",
            ) from None
        return whole

    @staticmethod
    def _check_same(path: Path, saved: dict[str, str], about: dict[str, str]) -> None:
        changed = [name for name in about if saved[name] != about[name]]
        if changed:
            raise InvalidInput(
                f"checkpoint {str(path)!r} of a run with another {', another '.join(changed)}",
                "saved results of this very search",
                "Name another file, or remove this one to start again.",
            )

    def _take(self, record: dict[str, Any]) -> None:
        if "subsets" in record:
            self.subsets[int(record["search"])] = [[int(i) for i in columns] for columns in record["subsets"]]
        else:
            score = record["score"]
            self.scores[int(record["split"]), int(record["size"])] = float("nan") if score is None else float(score)
