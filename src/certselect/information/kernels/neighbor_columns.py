"""What the nearest-neighbour kernels are given: columns in comparable units, sorted, and psi in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import digamma


@dataclass(frozen=True, eq=False)
class GroupedColumns:
    """All columns with their rows group by group.

    `values` (n, m) are numbers or codes, `order` (n, m) sorts the rows of each group, counted
    from its first; group g has the rows group_at[g] .. group_at[g + 1] - 1.
    """

    values: np.ndarray
    order: np.ndarray
    group_at: np.ndarray


def group_columns(values: np.ndarray, group_at: np.ndarray) -> GroupedColumns:
    order = np.empty(values.shape, dtype=np.int32)
    for begin, end in pairwise(group_at):
        order[:, begin:end] = np.argsort(values[:, begin:end], axis=1)
    return GroupedColumns(values, order, group_at)


def standardise(values: np.ndarray, numbers: np.ndarray, complete: bool) -> None:
    """Divide columns of numbers by their standard deviations, in place; constants become 0.

    Sums run over sorted values: the order of rows changes no bit.
    """
    for column in np.flatnonzero(numbers):
        own = values[column]
        given = np.sort(own)
        if not complete:
            given = given[: len(given) - np.isnan(given).sum()]
        if not len(given):
            continue
        # A power of two first, which is exact: squares of huge numbers would overflow.
        exponent = int(np.frexp(max(-given[0], given[-1]))[1])
        given = np.ldexp(given, -exponent)
        deviation = float(np.sqrt(np.mean((given - np.mean(given)) ** 2)))
        values[column] = np.ldexp(own, -exponent) / deviation if given[0] < given[-1] else own * 0.0


def psi_table(n_samples: int) -> tuple[np.ndarray, float]:
    """psi(0..n_samples) as whole multiples of a small unit, psi(0) as 0, and the unit.

    A sum takes five of them per row at most, and 62 bits hold it.
    """
    bits = 62 - int(np.ceil(np.log2(5.0 * n_samples * max(1.0, np.log(n_samples)))))
    table = np.concatenate([[0.0], digamma(np.arange(1.0, n_samples + 1.0))])
    return np.rint(np.ldexp(table, bits)).astype(np.int64), 2.0**-bits
