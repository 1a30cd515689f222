"""Tables whose columns have nothing to do with the target: what a test against chance compares with.

The target, the weights and copies of the columns chosen so far are shuffled together, by one
permutation of the rows, and stand beside the columns as they were. So whatever the columns share
with each other stays, whatever the chosen ones share with the target stays, and nothing but
chance is left between the two. Shuffling the columns instead would be the same, but then each of
them would have to be counted anew with each of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from certselect.coding import CodedTable, SparseCodedTable, code_table
from certselect.coding.cuts import only_ends
from certselect.information import InformationTerms, measure_table
from certselect.information.measure import COUNTS
from certselect.information.registry import find_measure
from certselect.settings import Measuring
from certselect.table import Block, SparseBlock, Table


def shuffled_terms(
    table: Table, measuring: Measuring, path: np.ndarray, n_jobs: int | None
) -> Callable[[np.ndarray], InformationTerms]:
    """From a permutation of the rows to the information terms of the shuffled table.

    The first n features are the columns as they stand; behind them are the shuffled copies of
    the path's columns, in the path's order. `measuring` names a measure other than "auto".
    """
    measure = find_measure(measuring.measure)
    if measure.needs != COUNTS or _levels_depend_on_rows(table, measuring):
        return lambda order: measure_table(_shuffle_table(table, path, order), measuring, n_jobs=n_jobs)
    coded = code_table(table, measuring, n_jobs=n_jobs)

    def count(order: np.ndarray) -> InformationTerms:
        if isinstance(coded, SparseCodedTable):
            shuffled = _shuffle_cells(coded, path, order)
        else:
            shuffled = _shuffle_codes(coded, path, order)
        return measure.measured(shuffled, measuring, dtype=np.dtype(np.float64), n_jobs=n_jobs)

    return count


def _levels_depend_on_rows(table: Table, measuring: Measuring) -> bool:
    """Whether shuffled rows would be discretised otherwise, by other classes or other weights beside the numbers.

    Cuts that suit the real target favour it: what chance reaches must be found with its own cuts.
    """
    cut = any(
        block.kind == "number" or (block.kind == "integer" and measuring.integers == "numbers")
        for block in table.blocks
    )
    by_weights = table.weights is not None and not only_ends(measuring.discretize, measuring.bins)
    return cut and (measuring.discretize == "mdlp" or by_weights)


def _shuffle_codes(coded: CodedTable, path: np.ndarray, order: np.ndarray) -> CodedTable:
    return replace(
        coded,
        codes=np.concatenate([coded.codes, coded.codes[np.ix_(path, order)]]),
        levels=_extended(coded.levels, path),
        constant=_extended(coded.constant, path),
        absent=None if coded.absent is None else _extended(coded.absent, path),
        target=coded.target[order],
        weights=None if coded.weights is None else coded.weights[order],
        feature_names=_extended_names(coded.feature_names, path),
    )


def _shuffle_cells(coded: SparseCodedTable, path: np.ndarray, order: np.ndarray) -> SparseCodedTable:
    new_row = np.argsort(order)  # where each row goes
    rows, codes = [coded.rows], [coded.codes]
    for column in path.tolist():
        cells = slice(coded.starts[column], coded.starts[column + 1])
        moved = new_row[coded.rows[cells]]
        ascending = np.argsort(moved)
        rows.append(moved[ascending].astype(coded.rows.dtype))
        codes.append(coded.codes[cells][ascending])
    stored = np.diff(coded.starts)[path]
    return replace(
        coded,
        starts=np.concatenate([coded.starts, coded.starts[-1] + np.cumsum(stored)]),
        rows=np.concatenate(rows),
        codes=np.concatenate(codes),
        background=_extended(coded.background, path),
        levels=_extended(coded.levels, path),
        constant=_extended(coded.constant, path),
        target=coded.target[order],
        weights=None if coded.weights is None else coded.weights[order],
        feature_names=_extended_names(coded.feature_names, path),
    )


def _shuffle_table(table: Table, path: np.ndarray, order: np.ndarray) -> Table:
    if table.sparse is not None:
        blocks = (_shuffle_sparse(table.sparse, path, order),)
    else:
        dense = [block for block in table.blocks if isinstance(block, Block)]
        blocks = (*dense, *(_shuffle_block(block, path, order, table.n_features) for block in dense))
    return replace(
        table,
        blocks=tuple(block for block in blocks if len(block.positions)),
        feature_names=_extended_names(table.feature_names, path),
        target=table.target[order],
        target_numbers=table.target_numbers[order],
        weights=None if table.weights is None else table.weights[order],
    )


def _shuffle_block(block: Block, path: np.ndarray, order: np.ndarray, n_features: int) -> Block:
    """The columns of a block that are in the path, shuffled, at their places behind the features."""
    steps = np.flatnonzero(np.isin(path, block.positions))
    columns = np.searchsorted(block.positions, path[steps])
    chosen = Block(
        block.kind,
        n_features + steps,
        block.values[:, columns],
        tuple(block.vocabularies[column] for column in columns) if block.vocabularies else (),
        None if block.missing is None else block.missing[:, columns],
    )
    return chosen.rows(order)


def _shuffle_sparse(block: SparseBlock, path: np.ndarray, order: np.ndarray) -> SparseBlock:
    from scipy.sparse import csc_array, hstack

    shuffled = block.values[:, path].tocsr()[order].tocsc()
    values = csc_array(hstack([block.values, shuffled], format="csc"))
    values.sort_indices()
    positions = np.arange(len(block.positions) + len(path), dtype=np.intp)
    return replace(block, positions=positions, values=values)


def _extended(of_features: np.ndarray, path: np.ndarray) -> np.ndarray:
    return np.concatenate([of_features, of_features[path]])


def _extended_names(names: tuple[str, ...], path: np.ndarray) -> tuple[str, ...]:
    return (*names, *(f"{names[i]} (shuffled)" for i in path))
