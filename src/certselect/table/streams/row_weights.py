"""Weights of the rows of a stream, which one column holds: the floats that `table.weights` reads from it in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from certselect.errors import InvalidInput
from certselect.table.streams.arrow_columns import read_cells
from certselect.table.streams.passes import digest
from certselect.table.weights import MOST_WHOLE

if TYPE_CHECKING:
    from certselect.table.streams.passes import Learnt
    from certselect.table.streams.row_source import Rows

_HALF = 27  # bits of the lower half of a mantissa
_LOWEST = 1100  # no float64 has an exponent below minus this


class ExactSum:
    """The sum of floats, none negative, without any rounding: mantissas are added up for each exponent."""

    def __init__(self) -> None:
        self.halves = np.zeros((2, 2 * _LOWEST + 100), dtype=np.int64)

    def take(self, numbers: np.ndarray) -> None:
        mantissa, exponent = np.frexp(numbers)
        whole = np.ldexp(mantissa, 53).astype(np.int64)
        for total, half in zip(self.halves, (whole & ((1 << _HALF) - 1), whole >> _HALF), strict=True):
            total += np.bincount(exponent + _LOWEST, half, minlength=len(total)).astype(np.int64)

    def scaled(self, exponent: int = 0) -> float:
        """The sum times 2^-exponent, rounded once, as `math.fsum` does."""
        low, high = (sum(int(half[place]) << int(place) for place in np.flatnonzero(half)) for half in self.halves)
        total, shift = low + (high << _HALF), 53 + _LOWEST + exponent
        return total / (1 << shift) if shift >= 0 else float(total << -shift)


class WeightSum:
    """How many rows have a weight above 0, the sum of the weights, and what kind of numbers they are; `Learnt`.

    `weights` turns what the column holds into weights, once that is known: they are added up in a second pass.
    """

    def __init__(self, name: str, weights: RowWeights | None = None) -> None:
        self.columns = (name,)
        self._weights = weights
        self.sum = ExactSum()
        self.rows = self.zeros = 0
        self.low, self.high = np.inf, 0.0
        self.whole = True

    def take(self, block: Rows, where: str) -> None:
        numbers = _numbers(block, self.columns[0]) if self._weights is None else self._weights.of(block)
        above = numbers[numbers > 0]
        self.rows, self.zeros = self.rows + len(above), self.zeros + len(numbers) - len(above)
        if not len(above):
            return
        self.sum.take(above)
        self.low, self.high = min(self.low, float(above.min())), max(self.high, float(above.max()))
        self.whole = self.whole and bool((above == np.floor(above)).all())

    def add(self, other: WeightSum) -> None:
        self.sum.halves += other.sum.halves
        self.rows, self.zeros = self.rows + other.rows, self.zeros + other.zeros
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.whole = self.whole and other.whole

    @property
    def key(self) -> str:
        return digest("weights", self.columns, self._weights and self._weights.key)

    def saved(self) -> dict[str, np.ndarray]:
        return {
            "halves": self.sum.halves,
            "counts": np.array([self.rows, self.zeros, int(self.whole)]),
            "ends": np.array([self.low, self.high]),
        }

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        if saved["halves"].shape != self.sum.halves.shape or saved["counts"].min() < 0:
            raise ValueError("weights of something else")
        self.sum.halves[:] = saved["halves"]
        self.rows, self.zeros, whole = saved["counts"].tolist()
        self.low, self.high = saved["ends"].tolist()
        self.whole = bool(whole)


@dataclass(frozen=True)
class RowWeights:
    """How the numbers of a column become weights.

    Attributes
    ----------
    name : str
    rows : int
        With a weight above 0; the others are left out.
    exponent, divisor : int and float, or None
        Weights that are not whole are divided by 2^exponent and by this number, and multiplied by `rows`.
    whole : bool
        All weights are whole numbers.
    total : float
        Of all weights, as `math.fsum` adds them up.
    """

    name: str
    rows: int
    exponent: int | None = None
    divisor: float = 1.0
    whole: bool = True
    total: float = 0.0

    def of(self, block: Rows) -> np.ndarray:
        """The weights of a block, all of whose rows have one above 0."""
        numbers = _numbers(block, self.name)
        if self.exponent is None:
            return numbers
        scaled = np.ldexp(numbers, -self.exponent) / self.divisor * self.rows
        return np.maximum(scaled, np.nextafter(0.0, 1.0))

    def units(self, block: Rows, shift: int) -> np.ndarray:
        """Weights as whole multiples of 2^-shift, int64; however light, a row does not vanish."""
        return np.maximum(np.rint(np.ldexp(self.of(block), shift)), 1).astype(np.int64)

    @property
    def key(self) -> str:
        return digest(self.name, self.rows, self.exponent, self.divisor)


def read_weights(name: str, run: Callable[[Any, str], Any]) -> tuple[RowWeights | None, int, bool]:
    """The weights of a stream, None if each row counts once; how many rows have one, and whether others have none."""
    found: WeightSum = run(WeightSum(name), "weights")
    rows, zeros = found.rows, found.zeros > 0
    if rows < 2 and zeros:
        raise InvalidInput(
            f"a weight in {name!r} that is zero for all rows but {rows}",
            "at least two rows with a weight above 0",
            "Rows of weight 0 are left out: check the weights.",
        )
    total = found.sum.scaled()
    if found.whole and total < MOST_WHOLE:
        alike = found.low == found.high == 1
        return None if alike else RowWeights(name, rows, total=total), rows, zeros
    if found.low == found.high:
        return None, rows, zeros
    exponent = int(np.frexp(found.high)[1])
    weights = RowWeights(name, rows, exponent, found.sum.scaled(exponent))
    again: WeightSum = run(
        PositiveRows(WeightSum(name, weights), name) if zeros else WeightSum(name, weights), "weights"
    )
    scaled = again.learnt if isinstance(again, PositiveRows) else again
    assert isinstance(scaled, WeightSum)
    return RowWeights(name, rows, exponent, weights.divisor, scaled.whole, scaled.sum.scaled()), rows, zeros


class PositiveRows:
    """What is learnt of the rows whose weight is above 0; `Learnt` and, if what is learnt is, `Divisible`."""

    def __init__(self, learnt: Learnt, name: str) -> None:
        self.learnt = learnt
        self._name = name
        self.columns = tuple(dict.fromkeys((*learnt.columns, name)))

    def take(self, block: Rows, where: str) -> None:
        kept = np.flatnonzero(_numbers(block, self._name) > 0)
        self.learnt.take(block if len(kept) == block.num_rows else block.take(kept), where)

    def add(self, other: PositiveRows) -> None:
        self.learnt.add(other.learnt)

    def divided(self) -> Sequence[PositiveRows]:
        divided = getattr(self.learnt, "divided", None)
        parts = [self.learnt] if divided is None else divided()
        return [self] if len(parts) == 1 else [PositiveRows(part, self._name) for part in parts]

    def put_in(self, part: PositiveRows) -> None:
        put_in: Callable[[Any], None] | None = getattr(self.learnt, "put_in", None)
        if put_in is None:
            self.learnt = part.learnt
        else:
            put_in(part.learnt)

    @property
    def key(self) -> str:
        return digest("rows of weight", self._name, self.learnt.key)

    def saved(self) -> dict[str, np.ndarray]:
        return self.learnt.saved()

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        self.learnt.restore(saved)


def _numbers(block: Rows, name: str) -> np.ndarray:
    column = read_cells(block.column(name), name)
    if column.kind == "category" or column.dated:
        raise InvalidInput(
            f"weights in {name!r} that are something else than numbers",
            "one finite number for every row, 0 or more",
            "Check the column.",
        )
    numbers = column.values.astype(np.float64)
    lacking = np.isnan(numbers) if column.missing is None else column.missing
    for wrong, what in (
        (lacking, "missing weights (NaN, None or null)"),
        (np.isinf(numbers), "infinite weights"),
        (numbers < 0, "negative weights"),
    ):
        if wrong.any():
            raise InvalidInput(
                f"{what} in {name!r}", "one finite number for every row, 0 or more", "Check the column, or drop rows."
            )
    return numbers
