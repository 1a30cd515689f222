"""Results that survive a kill: one small JSON file per question, written whole or not at all.

    experiments/results/<grid>/<experiment>-<set>[-<measure>-<search>-<protocol>].json

Files of `accuracy` (whose searches are COBRA, FS, BE and, for `comparison`, QPFS and SOSS):

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

    comparison-<set>        {"methods": {"COBRA": {"accuracy": 0.74, "std": 0.01, "sizes": {"SVM": 12, ...}}, ...},
                             "seconds": {"one_thread": {"matrix": 0.1, "COBRA": 0.5, "QPFS": .., "SOSS": ..},
                             "all_cores": {...}}, "cores": 2, "timed_size": 20, "finished": true}
    cross_classifier-<set>  {"size_for_lda": 48, "on_lda_features": {"SVM": 0.8, ...}, "own": {"SVM": 0.82, ...},
                             "own_sizes": {"SVM": 45, ...}}
    unscaled_network-<set>  {"accuracies": {"FS": {"2": 0.61, ...}, "COBRA": {...}}, "finished": true}
    similarity-<set>        {"subsets": {"5": [...], ...}, "ratio": 0.77, "lowest": 0.2, "finished": true}
    reference_greedy-<set>  in the folder `every_grid`: {"features": 50, "mRMR": {"equal": true, "differs_at": null},
                             "JMI": {...}}; `differs_at` is the first step, from 1, that differs
    three_words-DEX         likewise in `every_grid`: {"rows": 300, "kept": 2000, "distinct": 1700,
                             "triples": 800000000, "right": 246, "words": [5, 17, 99], "finished": true}

Files carry their own question ("experiment", "set", ...) and "settings" as above. What a run needs only until it has
finished (subsets of every training fold) lies in experiments/unfinished, which is never committed.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
UNFINISHED = Path(__file__).parent / "unfinished"
DIGITS = 4
EVERY_GRID = "every_grid"  # folder of what no grid changes


class ResultFile:
    """What is known so far about one question; goes on from the file if that was made with the same settings.

    Attributes
    ----------
    content : dict
        Change it, then `save`.
    """

    def __init__(self, path: Path, question: dict[str, str], settings: Any) -> None:
        self.path = path
        fingerprint = settings_fingerprint(settings)
        self.content: dict[str, Any] = {**question, "settings": fingerprint}
        saved = _read(path)
        if saved is not None and saved.get("settings") == fingerprint:
            self.content = saved

    def save(self) -> None:
        """Write all, rounded; a reader or a kill at any moment finds the old file or the new one."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(prefix=self.path.stem, suffix=".part", dir=self.path.parent)
        try:
            with os.fdopen(handle, "w") as file:
                file.write(_text(self.content))
            os.chmod(beside, 0o644)  # temporary files are private, results are not
            os.replace(beside, self.path)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)


def result_file(folder: str, question: dict[str, str], settings: Any) -> ResultFile:
    """The file of a question, whose values in order are its name."""
    return ResultFile(RESULTS / folder / _name(question), question, settings)


def unfinished_file(folder: str, question: dict[str, str], settings: Any) -> ResultFile:
    """A file beside it for what is not worth keeping once the question is answered."""
    UNFINISHED.mkdir(parents=True, exist_ok=True)
    (UNFINISHED / ".gitignore").write_text("*\n")
    return ResultFile(UNFINISHED / folder / _name(question), question, settings)


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


def _name(question: dict[str, str]) -> str:
    return "-".join(question.values()) + ".json"


def _text(content: dict[str, Any]) -> str:
    """JSON with one line per entry and one per classifier or size, so that a change is a change of few lines."""
    lines = []
    for key, value in rounded(content).items():
        if isinstance(value, dict) and any(isinstance(inner, dict | list) for inner in value.values()):
            inside = ",\n".join(f"  {json.dumps(name)}: {json.dumps(inner)}" for name, inner in value.items())
            lines.append(f"{json.dumps(key)}: {{\n{inside}\n}}")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _read(path: Path) -> dict[str, Any] | None:
    """None if there is no such file, or one no run of ours wrote whole."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None
