"""Entropies from counts in whole numbers, so that no order of summation matters.

Every entropy of a table of N samples is made of sums of a function phi over
counts: N H = phi(N) - sum phi(c). The observed frequencies have phi(c) = c ln c;
a correction for the bias of few samples is another phi. Here phi is rounded
once, to a whole multiple of a small unit, and kept as a 64-bit integer. Sums of
integers are exact: relabelled levels, shuffled rows, another number of threads
or another backend give the same integer, and so the same float.

Grassberger's phi is c G(c), but for all samples together it is N ln N: his
estimate is H = ln N - (1/N) sum c G(c). A table of a single cell has phi(N) in
both places, so that a constant has no entropy; his formula gives it ln N - G(N).

References
----------
G. A. Miller (1955), Note on the bias of information estimates.
P. Grassberger (2003), Entropy estimates from insufficient samplings.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from certselect.information.kernels.logarithm import natural_log
from certselect.settings import Measuring

# Four sums of size phi(N) or less are put together at most, and a signed 64-bit integer holds 63 bits.
_BITS = 61
# A feature of more levels gets no bit rows: counting it by scattering is cheaper.
FEW_LEVELS = 64
# Longer tables of phi than 2**22 entries (32 MB) are made only for as many samples.
_LONGEST_TABLE = 1 << 22
# Entries where a whole table would be too long: behind them phi is computed.
_FIRST_ENTRIES = 1 << 16
# No cell's phi lies further below 0: Grassberger's at a count of 1, others at fractions of a count.
_LOWEST = 1.28
_EULER_GAMMA = np.longdouble("0.577215664901532860606512")


@lru_cache(maxsize=8)
def count_log_table(n_samples: int, correction: str = "none") -> tuple[np.ndarray, int]:
    """phi(c) for c = 0..n_samples as integers, and the number of fraction bits they carry.

    The last is phi of all samples: a cell that holds them is the only one.
    """
    values = _phi(n_samples, correction)
    if correction == "grassberger":
        values[-1] = _phi(n_samples, "none")[-1]
    fraction_bits = _fraction_bits(max(float(values[-1]), -n_samples * float(values[1])))
    return _fixed_point(values, fraction_bits), fraction_bits


def _phi(last: int, correction: str) -> np.ndarray:
    """phi(0), ..., phi(last)."""
    # Extended precision where the platform has it: the entries use up to 61 bits.
    counts = np.arange(last + 1, dtype=np.longdouble)
    if correction != "grassberger":
        return _phi_of(counts, correction)
    # G(2k) = G(2k + 1) = -gamma - ln 2 + 2 (1 + 1/3 + ... + 1/(2k - 1))
    steps = 2 / np.arange(1, last, 2, dtype=np.longdouble)
    halves = np.concatenate([np.zeros(1, dtype=np.longdouble), np.cumsum(steps)])
    return counts * (halves[np.arange(last + 1) // 2] - _EULER_GAMMA - np.log(np.longdouble(2)))


def _phi_of(counts: np.ndarray, correction: str) -> np.ndarray:
    """phi of counts in extended precision: c ln c, less a half with Miller and Madow's correction, 0 of 0."""
    values = counts * np.log(np.maximum(counts, 1))
    return values - 0.5 * (counts > 0) if correction == "miller_madow" else values


def _fixed_point(values: np.ndarray, fraction_bits: int) -> np.ndarray:
    table = np.rint(np.ldexp(values, fraction_bits)).astype(np.int64)
    table.setflags(write=False)
    return table


def _fraction_bits(largest: float) -> int:
    return _BITS - math.ceil(math.log2(max(largest, 1.0))) - 1


class CountLogs:
    """phi of any count, in fixed point.

    Looked up where a table of all counts up to the total is no longer than the
    data or `_LONGEST_TABLE`. For weights that are not whole numbers, or whose
    sum is beyond that, phi is computed when asked for: the same to about 1e-15,
    and the same float for float for every backend.

    Parameters
    ----------
    total_count : int
        Sum of all counts, in units of 2**-weight_bits.
    n_rows : int
        Number of samples; no table has more cells that are not empty.
    correction : {"none", "miller_madow", "grassberger"}
    weight_bits : int
        Counts are multiples of 2**-weight_bits; 0 for whole numbers.

    Attributes
    ----------
    table : ndarray of int64
        phi of the counts 0 .. len(table) - 1, as cells of a table of `total_count`.
    fraction_bits : int
        phi is given in multiples of 2**-fraction_bits.
    total : int
        phi of all counts together.
    unit : float
        Of sums of phi, in nats per sample.
    """

    def __init__(
        self, total_count: int, n_rows: int, correction: str = "none", weight_bits: int = 0
    ) -> None:
        self.correction = correction
        self.weight_bits = weight_bits
        self._total_count = total_count
        samples = math.ldexp(total_count, -weight_bits)
        if weight_bits == 0 and total_count <= max(_LONGEST_TABLE, n_rows):
            self.table, self.fraction_bits = count_log_table(total_count, correction)
        else:
            self.fraction_bits = _fraction_bits(max(abs(samples * math.log(samples)) + 1, n_rows * _LOWEST))
            entries = _FIRST_ENTRIES if weight_bits == 0 else 0
            self.table = _fixed_point(_phi(entries, correction), self.fraction_bits)
        known = total_count < len(self.table)
        self.total = int(self.table[total_count] if known else self._computed(np.array([total_count]))[0])
        self.unit = 1.0 / (samples * 2.0**self.fraction_bits)

    def of(self, counts: np.ndarray) -> np.ndarray:
        """phi of int64 counts, as int64."""
        return _looked_up(counts, self.table, self._computed)

    def of_cells(self, counts: np.ndarray, samples: np.ndarray) -> np.ndarray:
        """Sums of phi over the cells of several tables, counts (tables, cells) of samples (tables,) each.

        The tables may leave out samples, some more than others.
        """
        sums = self.of(counts).sum(axis=1)
        if self.correction == "grassberger":
            alone = (counts == samples[:, None]).any(axis=1)
            everyone = samples[alone]
            sums[alone] = _looked_up(everyone, self.everyone_table, self._count_times_log)
        return sums

    @cached_property
    def everyone_table(self) -> np.ndarray:
        """phi of the only cell of a table, by how many samples that holds; as long as `table`."""
        if self.correction != "grassberger":
            return self.table
        return _fixed_point(_phi(len(self.table) - 1, "none"), self.fraction_bits)

    def _computed(self, counts: np.ndarray) -> np.ndarray:
        if self.correction != "grassberger":
            return self._count_times_log(counts, 0.5 if self.correction == "miller_madow" else 0.0)
        half = (counts // 2).astype(np.float64)
        values = counts * (natural_log(2 * half) + 1 / (24 * half * half))  # G far from 0
        found = np.rint(values * 2.0**self.fraction_bits).astype(np.int64)
        return np.where(counts == self._total_count, self._count_times_log(counts), found)

    def _count_times_log(self, counts: np.ndarray, less: float = 0.0) -> np.ndarray:
        samples = counts * 2.0**-self.weight_bits
        return np.rint((samples * natural_log(samples) - less) * 2.0**self.fraction_bits).astype(np.int64)


class StreamedLogs(CountLogs):
    """phi of any count of a table of so many samples that a list of all would be too long: the same integers.

    Grassberger's phi is a long sum, which is not added up anew for single counts: beyond 4 million samples it is
    the same to about 1e-15 only.
    """

    def __init__(self, n_samples: int, correction: str) -> None:
        # A list of more entries takes longer to make, and more memory, than the counts of a stream that ask for it.
        self._listed = n_samples <= _FIRST_ENTRIES or correction == "grassberger"
        if self._listed:
            super().__init__(n_samples, 0, correction)
            return
        self.correction, self.weight_bits, self._total_count = correction, 0, n_samples
        ends = _phi_of(np.array([1, n_samples], dtype=np.longdouble), correction)
        self.fraction_bits = _fraction_bits(max(float(ends[1]), -n_samples * float(ends[0])))
        self.table = _fixed_point(_phi(_FIRST_ENTRIES, correction), self.fraction_bits)
        self.total = int(self.of(np.array([n_samples]))[0])
        self.unit = 1.0 / (n_samples * 2.0**self.fraction_bits)

    def _computed(self, counts: np.ndarray) -> np.ndarray:
        if self._listed:
            return super()._computed(counts)
        return _fixed_point(_phi_of(counts.astype(np.longdouble), self.correction), self.fraction_bits)


def streamed_logs(total_count: int, n_rows: int, correction: str, weight_bits: int = 0) -> CountLogs:
    """The integers of `CountLogs` for a stream, without a list of all counts where that would be long."""
    if weight_bits == 0 and total_count <= max(_LONGEST_TABLE, n_rows):
        return StreamedLogs(total_count, correction)
    return CountLogs(total_count, n_rows, correction, weight_bits)


def _looked_up(counts: np.ndarray, table: np.ndarray, computed: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    known = counts < len(table)
    if known.all():
        return table[counts]
    result = np.empty(counts.shape, dtype=np.int64)
    result[known] = table[counts[known]]
    result[~known] = computed(counts[~known])
    return result


@dataclass(frozen=True, eq=False)
class EntropySums:
    """Sums of phi over the counts of each feature alone, in fixed point.

    `level` (n,) sums over a feature's levels, `level_class` (n,) over its levels
    within each class, `classes` over the classes; `total` is phi of all samples.
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
        """I(Xi;C), never negative: rounding of phi or a correction of it may lead below 0."""
        return np.maximum(self.level_class - self.level - self.classes + self.total, 0) * self.unit

    def redundancy(self, feature: int, joint: np.ndarray) -> np.ndarray:
        """I(Xi;Xj) of a feature with all, from sums of phi over joint counts (n,); never negative either."""
        return np.maximum(joint - self.level[feature] - self.level + self.total, 0) * self.unit

    def conditional_redundancy(self, feature: int, within: np.ndarray) -> np.ndarray:
        """I(Xi;Xj|C) of a feature with all, from sums of phi over joint counts within classes (n,)."""
        return np.maximum(within - self.level_class[feature] - self.level_class + self.classes, 0) * self.unit


def class_sums(target: np.ndarray, n_classes: int, logs: CountLogs) -> tuple[np.ndarray, int]:
    """Samples of each class, and the sum of phi over them."""
    sizes = np.bincount(target, minlength=n_classes)
    return sizes, int(logs.of(sizes).sum())
