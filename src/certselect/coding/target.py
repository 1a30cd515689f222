"""The target as classes: labels as they are, numbers cut into bins of equal counts."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise

import numpy as np

from certselect.coding.cuts import find_edges
from certselect.coding.quantiles import RowWeights
from certselect.table import Table
from certselect.table.target import NO_LABELS

_DIGITS = range(6, 18)  # of an edge in the name of a bin: as few as keep the edges apart


def cut_target(table: Table, bins: int, weights: RowWeights | None) -> tuple[np.ndarray, ...]:
    """Edges of every target column that is numbers, so that the bins have equal counts as far as ties allow."""
    return tuple(
        find_edges(column[:, None], "quantile", bins, table.target, len(table.classes), weights)[0]
        for column in table.target_numbers.T
    )


def joint_classes(table: Table, edges: tuple[np.ndarray, ...]) -> tuple[np.ndarray, tuple[Hashable, ...]]:
    """Class of every row (int32), and the classes: the combinations of labels and bins that occur, in order."""
    if not edges:
        return table.target, table.classes
    bins = [
        np.searchsorted(own, column, side="right") for own, column in zip(edges, table.target_numbers.T, strict=True)
    ]
    joint = table.target.astype(np.int64)
    for own, column in zip(edges, bins, strict=True):
        # Numbered anew after each column, the combinations never outgrow rows x bins.
        joint = np.unique(joint * (len(own) + 1) + column, return_inverse=True)[1]
    _, first = np.unique(joint, return_index=True)
    names = [bin_names(own) for own in edges]
    labelled = table.classes != NO_LABELS
    classes: list[Hashable] = []
    for row in first:
        intervals = [own[column[row]] for own, column in zip(names, bins, strict=True)]
        label = [table.classes[table.target[row]]] if labelled else []
        classes.append(tuple(label + intervals) if labelled or len(intervals) > 1 else intervals[0])
    return joint.astype(np.int32), tuple(classes)


def bin_names(edges: np.ndarray) -> list[str]:
    if not len(edges):
        return ["any number"]
    # The edge of a number that has a bin of its own is followed by the next float: that bin is
    # called by the number, the one behind it begins "> " the number.
    follows = np.zeros(len(edges), dtype=bool)
    for i in range(1, len(edges)):
        follows[i] = not follows[i - 1] and edges[i] == np.nextafter(edges[i - 1], np.inf)
    texts: list[str] = []
    for digits in _DIGITS:
        texts = [f"{edge:.{digits}g}" for edge in edges[~follows]]
        if len(set(texts)) == len(texts):
            break
    texts = [texts[place] for place in np.cumsum(~follows) - 1]
    names = [f"< {texts[0]}"]
    for i, (low, high) in enumerate(pairwise(texts)):
        begin = f"> {low}" if follows[i] else low
        names.append(low if follows[i + 1] else f"{begin} to {high}")
    return [*names, f"> {texts[-1]}" if follows[-1] else f">= {texts[-1]}"]
