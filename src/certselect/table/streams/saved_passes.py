"""SavedPasses: what a run over a stream has learnt so far, in a file, so that a killed run goes on from there.

The file has one entry for each pass: what was to be learnt, of which data, how far it is, and what was learnt. It is
replaced whole, and read without pickle. Entries of other data, or of a pass that asks for something else, are not used.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from certselect.clock import Stopwatch
from certselect.errors import InvalidInput, keyword
from certselect.names import shown
from certselect.writing import check_destination, write_whole

_FORMAT = "certselect passes, 1"
_ABOUT = "about"
# Seconds between two savings, and how many times longer than saving takes.
EVERY, _TIMES_ITS_OWN = 10.0, 20.0

Arrays = Mapping[str, np.ndarray]


class Position(NamedTuple):
    """How far a pass is: units that were taken whole, blocks of the next one, and rows in all."""

    units: int = 0
    blocks: int = 0
    rows: int = 0
    whole: bool = False

    def check(self, n_units: int, n_rows: int | None) -> None:
        """Refuse a place that a table of so many units, and so many rows if that is known, does not have."""
        last = self.units == n_units
        if not 0 <= self.units <= n_units or last != self.whole or self.blocks < 0 or self.rows < 0:
            raise ValueError("no such place")
        if n_rows is not None and (self.rows > n_rows or (last and self.rows != n_rows)):
            raise ValueError("no such row")


class SavedPasses:
    """The passes of one run, in a file.

    Parameters
    ----------
    path : path
        Of a file that is there already, from a run like this one, or will be.
    identity : str
        Of the data, as `RowSource` has it.
    files : sequence of str
        That the data are read from, which are not to be written to.
    folder : str, optional
        All of whose files are read, a saved run among them if it were there.
    """

    def __init__(
        self, path: str | os.PathLike[str], identity: str, files: Sequence[str] = (), folder: str | None = None
    ) -> None:
        if not isinstance(path, str | os.PathLike):
            raise InvalidInput(
                keyword("resume", path), "the path of a file", f"Name one, or leave {keyword('resume')} out."
            )
        if not identity:
            raise InvalidInput(
                f"{keyword('resume', spelled='')} for rows that cannot be told from others without reading them",
                "files, or an Arrow dataset of files",
                f"Leave {keyword('resume')} out.",
            )
        self._path = check_destination(path, files)
        if folder is not None and _is_part_of(self._path, folder):
            raise InvalidInput(
                f"{keyword('resume', str(path))}, within the folder {folder!r}, all of whose files are read",
                "a file elsewhere, which nobody takes for a part of the table",
                "Name one in another folder.",
            )
        self._identity = identity
        self._kept: list[dict[str, np.ndarray]] = []
        self._about: list[dict[str, object]] = []
        self._begun = 0
        self._since_saved, self._took = Stopwatch(), 0.0
        if self._path.exists() and self._path.stat().st_size:
            self._read()

    def begin(self, key: str) -> tuple[Position, Arrays | None]:
        """Where the next pass, which learns what `key` stands for, is to go on, and what it knows by then."""
        number, self._begun = self._begun, self._begun + 1
        if number < len(self._about) and self._about[number]["key"] == key:
            place = self._about[number]["position"]
            assert isinstance(place, list)
            units, blocks, rows, whole = place
            if rows or whole:
                return Position(units, blocks, rows, bool(whole)), self._kept[number]
        self._about, self._kept = self._about[:number], self._kept[:number]
        self._about.append({"key": key, "position": list(Position())})
        self._kept.append({})
        return Position(), None

    @property
    def due(self) -> bool:
        return self._since_saved.seconds >= max(EVERY, _TIMES_ITS_OWN * self._took)

    def save(self, position: Position, learnt: Arrays) -> None:
        """Keep what the pass that was begun last has learnt up to a position."""
        watch = Stopwatch()
        self._about[self._begun - 1]["position"] = list(position)
        self._kept[self._begun - 1] = dict(learnt)
        said = json.dumps({"format": _FORMAT, "identity": self._identity, "passes": self._about})
        arrays = {_ABOUT: as_bytes(said.encode())}
        for number, kept in enumerate(self._kept):
            arrays.update({f"{number}/{name}": array for name, array in kept.items()})
        write_whole(self._path, lambda file: np.savez(file, **arrays))  # pyright: ignore[reportArgumentType]
        self._since_saved, self._took = Stopwatch(), watch.seconds

    def _read(self) -> None:
        # Opened here, since NumPy leaves a file open that is no archive.
        with self.reading(), open(self._path, "rb") as file, np.load(file, allow_pickle=False) as stored:
            about = json.loads(bytes(stored[_ABOUT]))
            if not isinstance(about, dict) or about.get("format") != _FORMAT:
                raise ValueError("another format")
            if about["identity"] != self._identity:
                raise InvalidInput(
                    f"the file {str(self._path)!r}, which was saved by a run over other data",
                    "one of this table, as it is now",
                    "Remove it, or name another file to resume from.",
                )
            self._about = [
                {"key": str(one["key"]), "position": [int(one["position"][part]) for part in range(len(Position()))]}
                for one in about["passes"]
            ]
            self._kept = [
                {name.partition("/")[2]: stored[name] for name in stored.files if name.startswith(f"{number}/")}
                for number in range(len(self._about))
            ]

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Whatever goes wrong in here is the file's fault, and is told so."""
        try:
            yield
        except InvalidInput:
            raise
        except (OSError, ValueError, LookupError, TypeError, AttributeError, EOFError, zlib.error) as error:
            raise self._unreadable(error) from None
        except (zipfile.BadZipFile, NotImplementedError, MemoryError, OverflowError, pa.ArrowException) as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: Exception) -> InvalidInput:
        return InvalidInput(
            f"the file {str(self._path)!r}, which cannot be read as a saved run ({shown(str(error))})",
            f"what an earlier run with this {keyword('resume', spelled='')} has written",
            "Remove it, or name another file.",
        )


def _is_part_of(path: Path, folder: str) -> bool:
    place, whole = path.resolve(), Path(folder).resolve()
    return place.is_relative_to(whole) and not is_hidden(place, whole)


def is_hidden(file: Path, folder: str | os.PathLike[str]) -> bool:
    """Whether a file is what those who write folders of files leave beside them: _SUCCESS, .part.crc, ..."""
    return any(part.startswith(("_", ".")) for part in file.relative_to(folder).parts)


def as_bytes(content: bytes) -> np.ndarray:
    return np.frombuffer(content, dtype=np.uint8)


def packed_table(table: pa.Table) -> np.ndarray:
    """A table as bytes, to be saved."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return np.frombuffer(sink.getvalue(), dtype=np.uint8)


def unpacked_table(content: np.ndarray) -> pa.Table:
    with pa.ipc.open_stream(pa.py_buffer(content.tobytes())) as reader:
        return reader.read_all()
