"""Read ARFF, Weka's text format, as far as tables of numbers with a class in the last column need it."""

from __future__ import annotations

import re

import numpy as np

from certselect.datasets.content import Content

_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\S+)\s+(.+)""", re.IGNORECASE)


def read_arff(text: str) -> Content:
    """Numbers, or nominal values that are numbers, in dense or sparse rows; "?" for missing, the class last.

    Raises
    ------
    ValueError
        If the text is anything else.
    """
    names: list[str] = []
    absent: list[str] = []  # what a sparse row means by leaving a column out
    lines = enumerate(text.split("\n"), 1)  # splitlines would split at letters of other encodings too
    for _, line in lines:
        if line.strip().lower() == "@data":
            break
        if found := _ATTRIBUTE.match(line.strip()):
            name, kind = found.groups()
            names.append(re.sub(r"\\(.)", r"\1", _unquoted(name)))
            absent.append(_unquoted(kind.strip("{} ").split(",")[0]) if kind.startswith("{") else "0")
    else:
        raise ValueError("ARFF without @data")
    rows, labels = [], []
    for number, line in lines:
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        cells = _sparse_cells(line, absent) if line.startswith("{") else [_unquoted(cell) for cell in line.split(",")]
        if len(cells) != len(names):
            raise ValueError(f"line {number} has {len(cells)} values, not {len(names)}")
        *values, label = cells
        rows.append([float("nan" if value == "?" else value) for value in values])
        labels.append(label)
    if not rows:
        raise ValueError("ARFF without rows")
    return Content(np.array(rows), np.array(labels), tuple(names[:-1]))


def _sparse_cells(line: str, absent: list[str]) -> list[str]:
    cells = list(absent)
    for pair in line.strip("{} ").split(","):
        if pair.strip():
            place, _, value = pair.strip().partition(" ")
            if not 0 <= int(place) < len(cells):
                raise ValueError(f"a value for column {place}, of {len(cells)}")
            cells[int(place)] = _unquoted(value)
    return cells


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
