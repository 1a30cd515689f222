"""Rows in an order of their own: what draws rows at random then depends on what they hold, not on how they came."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from certselect.table.model import Block, Table

_AT_ONCE = 256  # columns that are hashed side by side
_MOST_CELLS = 100_000_000  # of a table whose repeated rows are written out


def in_own_order(table: Table) -> Table:
    """The same rows, sorted by a hash of what they hold; whole weights are written out as repeated rows.

    Tables with the same rows in another order, or with weights in the place of repetitions,
    become one table. Weights that would make it too large for memory stay weights.
    """
    weights = table.weights
    if weights is not None and (weights == np.floor(weights)).all():
        total = float(weights.sum())
        if total * table.n_features <= max(_MOST_CELLS, 2 * table.n_samples * table.n_features):
            repeated = np.repeat(np.arange(table.n_samples), weights.astype(np.intp))
            table = replace(table, weights=None).rows(repeated)
    return table.rows(np.argsort(_hashes(table), kind="stable"))


def _hashes(table: Table) -> np.ndarray:
    """One number for each row; different for rows that differ, but for one chance in 2^64 for each pair of them."""
    rng = np.random.default_rng(0)
    hashes = np.zeros(table.n_samples, dtype=np.uint64)
    if table.sparse is not None:
        cells = table.sparse.values
        factors = np.repeat(_factors(rng, table.n_features), np.diff(cells.indptr))
        np.add.at(hashes, cells.indices, _mixed(_bits(cells.data), factors))
    else:
        for block in table.blocks:
            assert isinstance(block, Block)
            for part in _parts(block):
                hashes += _mixed(part, _factors(rng, part.shape[1])).sum(axis=1, dtype=np.uint64)
    beside = [table.target, *table.target_numbers.T, *([] if table.weights is None else [table.weights])]
    for column in beside:
        hashes += _mixed(_bits(column), _factors(rng, 1))
    return hashes


def _parts(block: Block) -> Iterator[np.ndarray]:
    for start in range(0, block.values.shape[1], _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        yield _bits(block.values[:, part])
        if block.missing is not None:
            yield block.missing[:, part].astype(np.uint64)


def _bits(values: np.ndarray) -> np.ndarray:
    """Values as whole numbers, equal ones as the same."""
    if values.dtype.kind != "f":
        return values.astype(np.int64).view(np.uint64)
    numbers = values.astype(np.float64) + 0.0  # -0.0 is 0.0
    numbers[np.isnan(numbers)] = np.nan  # which has many forms
    return numbers.view(np.uint64)


def _factors(rng: np.random.Generator, columns: int) -> np.ndarray:
    """An odd number for each column, by which its values enter the sum."""
    return rng.integers(2**64, size=columns, dtype=np.uint64, endpoint=False) | np.uint64(1)


def _mixed(bits: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """The last steps of splitmix64: every bit of the result depends on every bit of the value."""
    mixed = bits * factors + factors
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
