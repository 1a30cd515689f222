"""Entropies from counts in whole numbers, so that no order of summation matters.

Every entropy of a table of m samples is made of sums of c ln c over counts c:
m H = m ln m - sum c ln c. Here c ln c is rounded once, to a whole multiple of a
small unit, and kept as a 64-bit integer. Sums of integers are exact: relabelled
levels, shuffled rows, another number of threads or another backend give the
same integer, and so the same float.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

# Two sums of size m ln m are added at most, and a signed 64-bit integer holds 63 bits.
_BITS = 61
# A feature of more levels gets no bit rows: counting it by scattering is cheaper.
FEW_LEVELS = 64


@lru_cache(maxsize=8)
def count_log_table(n_samples: int) -> tuple[np.ndarray, int]:
    """c ln c for c = 0..n_samples as integers, and the number of fraction bits they carry."""
    # Extended precision where the platform has it: the entries use up to 61 bits.
    counts = np.arange(n_samples + 1, dtype=np.longdouble)
    logs = np.log(np.maximum(counts, 1))
    largest = max(float(n_samples * logs[-1]), 1.0)
    fraction_bits = _BITS - int(np.ceil(np.log2(largest))) - 1
    table = np.rint(np.ldexp(counts * logs, fraction_bits)).astype(np.int64)
    table.setflags(write=False)
    return table, fraction_bits


@dataclass(frozen=True, eq=False)
class EntropySums:
    """Sums of c ln c over the counts of each feature alone, in units of 2**-fraction_bits.

    `level` (n,) sums over a feature's levels, `level_class` (n,) over its levels
    within each class, `classes` over the classes; `total` is m ln m.
    """

    level: np.ndarray
    level_class: np.ndarray
    classes: int
    total: int
    unit: float  # of the sums, in nats per sample

    @property
    def entropy(self) -> np.ndarray:
        """H(Xi)."""
        return (self.total - self.level) * self.unit

    @property
    def target_entropy(self) -> float:
        """H(C)."""
        return (self.total - self.classes) * self.unit

    @property
    def relevance(self) -> np.ndarray:
        """I(Xi;C), never negative: rounding of the table may leave a unit or two below 0."""
        return np.maximum(self.level_class - self.level - self.classes + self.total, 0) * self.unit


def class_sums(target: np.ndarray, n_classes: int) -> tuple[np.ndarray, int]:
    """Samples of each class, and the sum of c ln c over them."""
    sizes = np.bincount(target, minlength=n_classes)
    table, _ = count_log_table(len(target))
    return sizes, int(table[sizes].sum())
