"""Joint tables: probabilities or counts of a few variables together, one axis per variable."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any

import numpy as np
from scipy.special import entr

from certselect.errors import InvalidInput

MOST_CELLS = 10**7


def joint_table(*columns: Any) -> np.ndarray:
    """Count how often each combination of values occurs in some columns.

    Everything in this room works on such a table: one axis per variable, in the
    order given, the class last where there is one. Level i of an axis is the i-th
    smallest value of its column.

    Parameters
    ----------
    *columns : arrays of one length
        Codes, booleans or labels, one entry per sample.

    Returns
    -------
    ndarray of int
        Counts, of shape (levels of the first column, levels of the second, ...).

    Examples
    --------
    >>> from certselect.theory import joint_table
    >>> joint_table([0, 0, 1, 1], ["no", "no", "no", "yes"])
    array([[2, 0],
           [1, 1]])
    """
    arrays = [np.asarray(column) for column in columns]
    if not arrays or any(array.ndim != 1 for array in arrays) or len({len(array) for array in arrays}) != 1:
        shapes = ", ".join(str(array.shape) for array in arrays) or "no column"
        raise InvalidInput(shapes, "columns of one length", "Pass each variable as its own 1-D array.")
    if len(arrays[0]) == 0:
        raise InvalidInput("columns without samples", "one sample or more", "Check how the samples were chosen.")
    coded = [np.unique(array, return_inverse=True) for array in arrays]
    shape = tuple(len(levels) for levels, _ in coded)
    cells = np.prod(shape, dtype=float)
    if cells > MOST_CELLS:
        raise InvalidInput(
            f"{cells:.0f} combinations of values", f"at most {MOST_CELLS}", "Take fewer variables or fewer levels."
        )
    counts = np.zeros(shape, dtype=np.int64)
    np.add.at(counts, tuple(codes for _, codes in coded), 1)
    return counts


class JointDistribution:
    """A checked joint table, scaled to sum 1, that remembers the entropies it was asked for."""

    def __init__(self, table: Any) -> None:
        array = np.asarray(table, dtype=float)
        if array.ndim == 0 or array.size == 0 or not np.isfinite(array).all() or (array < 0).any():
            raise InvalidInput(
                f"a table of shape {array.shape} with unusable cells" if array.size else "an empty table",
                "probabilities or counts: finite, 0 or more, one axis per variable",
                "Build one from columns with joint_table.",
            )
        total = array.sum()
        if total == 0:
            raise InvalidInput("a table of zeros", "some cell above 0", "Check how the table was counted.")
        self.probabilities = array / total
        self._entropies: dict[frozenset[int], float] = {}

    @property
    def n_variables(self) -> int:
        return self.probabilities.ndim

    def axes(self, axes: int | Iterable[int]) -> list[int]:
        """Axes counted from 0, none twice; negative ones count from the end."""
        given = [index(axis) for axis in ([axes] if isinstance(axes, int | np.integer) else axes)]
        found = [axis + self.n_variables * (axis < 0) for axis in given]
        if any(not 0 <= axis < self.n_variables for axis in found) or len(set(found)) < len(found):
            raise InvalidInput(
                f"axes {given}",
                f"different axes of a table with {self.n_variables}",
                "Axes count the table's variables from 0; the class is the last, -1.",
            )
        return found

    def margin(self, axes: Iterable[int]) -> np.ndarray:
        """Probabilities of some variables; the others' axes are kept, with length 1."""
        kept = set(axes)
        return self.probabilities.sum(axis=tuple(i for i in range(self.n_variables) if i not in kept), keepdims=True)

    def entropy(self, axes: Iterable[int]) -> float:
        """H of some variables together, in nats; 0 of none."""
        kept = frozenset(axes)
        if kept not in self._entropies:
            self._entropies[kept] = float(entr(self.margin(kept)).sum()) if kept else 0.0
        return self._entropies[kept]

    def information(self, first: Iterable[int], second: Iterable[int], given: Iterable[int] = ()) -> float:
        """I(first;second|given) in nats, as rounding leaves it."""
        a, b, c = set(first), set(second), set(given)
        return self.entropy(a | c) + self.entropy(b | c) - self.entropy(a | b | c) - self.entropy(c)


def features_and_class(table: Any) -> tuple[JointDistribution, list[int], int]:
    """The distribution, the axes of its features and that of its class, which is the last."""
    joint = JointDistribution(table)
    if joint.n_variables < 2:
        raise InvalidInput(
            "a table with one axis", "one axis per feature and a last one for the class", "Add an axis for the class."
        )
    return joint, list(range(joint.n_variables - 1)), joint.n_variables - 1
