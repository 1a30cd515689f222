"""Results that survive a kill: one JSON file per grid and experiment, one object in it per question answered.

    experiments/results/<grid>/<experiment>.json       finished questions; committed
    experiments/unfinished/<grid>/<question>.json      one question each, while a run works on it; ignored by git

A question lies in a small file of its own until it is answered, so that saving it costs little, however much the
experiment knows already, and so that processes that work on other questions write other files. The answer is then
put among the others under a lock, which the system takes back from a process that dies. Both kinds of file are
written beside and renamed: a reader, or a kill at any moment, finds the old file or the new one. A run killed after
an answer was put there and before its small file was removed gives the same answer again.

A file is a list of objects, ordered by question, of a few lines each. Those of `accuracy` (whose searches are COBRA,
FS, BE and, for `comparison`, QPFS and SOSS):

    {"experiment": "accuracy", "set": "MAD", "measure": "JMI", "search": "FS", "protocol": "paper",
     "settings": "5f2c...",              fingerprint of everything the numbers depend on but versions
     "rows": 2000, "columns": 500, "usable": 500, "classes": 2,
     "sizes": [2, 3, 5],                 the grid's sizes this set admits
     "seconds": {"terms": 0.1,           coding, relevance and all pairs; one thread, mean over the folds searched
                 "search": 0.2},         all sizes together
     "subsets": {"2": [241, 475], ...},  columns of the data set, from 0; {} for the protocol "honest"
     "scores": {"SVM": {"2": {"mean": 0.61, "std": 0.02, "folds": [0.6, ...]}, ...}, ...},
     "finished": true}

`mean` is the mean over the folds, `folds` the accuracies of the 10 folds (of 10 random groups of rows for
leave-one-out), `std` their standard deviation with 10 - 1. Accuracies are fractions; all numbers have 4 digits.

    comparison        {"methods": {"COBRA": {"accuracy": 0.74, "std": 0.01, "sizes": {"SVM": 12, ...}}, ...},
                       "seconds": {"one_thread": {"matrix": 0.1, "COBRA": 0.5, "QPFS": .., "SOSS": ..},
                       "all_cores": {...}}, "cores": 2, "timed_size": 20, "finished": true}
    cross_classifier  {"size_for_lda": 48, "on_lda_features": {"SVM": 0.8, ...}, "own": {"SVM": 0.82, ...},
                       "own_sizes": {"SVM": 45, ...}}
    unscaled_network  {"accuracies": {"FS": {"2": 0.61, ...}, "COBRA": {...}}, "finished": true}
    similarity        {"subsets": {"5": [...], ...}, "ratio": 0.77, "lowest": 0.2, "finished": true}
    reference_greedy  in the folder `every_grid`: {"features": 50, "mRMR": {"equal": true, "differs_at": null},
                       "JMI": {...}}; `differs_at` is the first step, from 1, that differs
    three_words       likewise in `every_grid`: {"rows": 300, "kept": 2000, "distinct": 1700,
                       "triples": 800000000, "right": 246, "words": [5, 17, 99], "finished": true}

Every object carries its own question ("experiment", "set", ...) and "settings" as above.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from types import UnionType
from typing import Any

from experiments.kept_rows import RESULTS, Row, read_rows, replace_file

UNFINISHED = Path(__file__).parent / "unfinished"
DIGITS = 4
EVERY_GRID = "every_grid"  # folder of what no grid changes
ORDER = ("set", "measure", "search", "protocol")  # of the objects of a file


class UnfinishedFile:
    """What is known so far about one question; goes on from its small file if that was made with the same settings.

    Attributes
    ----------
    content : dict
        Change it, then `save`.
    """

    def __init__(self, folder: str, question: dict[str, str], settings: Any, kept: Iterable[Row] = ()) -> None:
        self.path = UNFINISHED / folder / ("-".join(question.values()) + ".json")
        fingerprint = settings_fingerprint(settings)
        known = (row for row in (*_saved(self.path), *kept) if row.get("settings") == fingerprint)
        self.content: Row = next(known, {**question, "settings": fingerprint})

    def save(self) -> None:
        """Write all, rounded."""
        replace_file(self.path, _text(self.content) + "\n")

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)


class Result(UnfinishedFile):
    """The same for a question whose answer is kept: goes on from that where no run is in the middle of it."""

    def __init__(self, folder: str, question: dict[str, str], settings: Any) -> None:
        self.question = question
        self.kept = RESULTS / folder / f"{question['experiment']}.json"
        super().__init__(folder, question, settings, filter(self._is_answer, read_rows(self.kept)))

    def finish(self) -> None:
        """Put the answer among those of the experiment, in the place of an older one; the small file goes."""
        with _locked(self.path.with_name(f"{self.question['experiment']}.lock")):
            others = [row for row in read_rows(self.kept) if not self._is_answer(row)]
            rows = sorted([*others, self.content], key=lambda row: [row.get(key, "") for key in ORDER])
            replace_file(self.kept, "[\n" + ",\n".join(map(_text, rows)) + "\n]\n")
        self.discard()

    def _is_answer(self, row: Row) -> bool:
        return all(row[key] == value for key, value in self.question.items())


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time; the file stays, for who removes it may remove the lock another has just taken."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def settings_fingerprint(settings: Any) -> str:
    """The same for the same settings in any process, another for others."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]


def rounded(value: Any) -> Any:
    """All numbers inside to 4 digits after the point."""
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    return value


def _saved(path: Path) -> list[Row]:
    """The content of a small file; none if there is no such file, or one no run of ours wrote whole."""
    try:
        return [json.loads(path.read_text())]
    except (OSError, ValueError):
        return []


def _text(content: Row) -> str:
    """JSON with one line for what is short and one per classifier or method, so that a change is one of few lines."""
    lines = []
    for long, entries in groupby(rounded(content).items(), key=lambda entry: _is_nested(entry[1])):
        texts = [f"{json.dumps(key)}: {_value_text(value)}" for key, value in entries]
        lines.append((",\n " if long else ", ").join(texts))
    return "{" + ",\n ".join(lines) + "}"


def _value_text(value: Any) -> str:
    if not _is_nested(value, dict):
        return json.dumps(value)
    return "{\n  " + ",\n  ".join(f"{json.dumps(name)}: {json.dumps(inner)}" for name, inner in value.items()) + "}"


def _is_nested(value: Any, inside: type | UnionType = dict | list) -> bool:
    return isinstance(value, dict) and any(isinstance(inner, inside) for inner in value.values())
