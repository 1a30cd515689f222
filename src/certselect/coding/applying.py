"""New rows coded by the levels and edges of a Coding."""

from __future__ import annotations

import numpy as np

from certselect.coding.assembly import CodedCells, CodedColumns, assemble, assemble_sparse
from certselect.coding.levels import CategoryLevels
from certselect.coding.model import CodedTable, Coding, Part, SparseCodedTable
from certselect.coding.sparse import refuse_pairwise
from certselect.coding.target import joint_classes
from certselect.coding.tiles import filled
from certselect.errors import InvalidInput
from certselect.table import Block, SparseBlock, Table


def apply_coding(coding: Coding, table: Table) -> CodedTable | SparseCodedTable:
    """What `Coding.apply` does."""
    if table.feature_names != coding.feature_names:
        raise InvalidInput(
            f"a table with other columns ({_difference(table.feature_names, coding.feature_names)})",
            f"the {len(coding.feature_names)} columns the coding was made from, in the same order",
            "Select and order the columns as they were.",
        )
    target = _target(coding, table)
    if table.sparse is not None:
        return assemble_sparse(coding, _code_cells(coding, table.sparse, table.n_samples), target, table.weights)
    holders = {
        position: (block, place)
        for block in table.blocks
        if isinstance(block, Block)
        for place, position in enumerate(block.positions.tolist())
    }
    coded = []
    for part in coding.parts:
        codes = np.zeros((len(part.positions), table.n_samples), dtype=np.int64)
        missing = np.zeros((table.n_samples, len(part.positions)), dtype=bool)
        for j, position in enumerate(part.positions.tolist()):
            block, place = holders[position]
            if block.missing is not None:
                missing[:, j] = block.missing[:, place]
            if missing[:, j].any():
                _check_lacking(coding, position)
            if not missing[:, j].all():
                codes[j] = _code_column(part, j, block, place, coding.feature_names[position])
        coded.append(CodedColumns(part, codes, missing if missing.any() else None))
    return assemble(coding, coded, target, table.weights, fitted=False)


def _code_column(part: Part, j: int, block: Block, place: int, name: str) -> np.ndarray:
    """Codes of a column of a dense table, missing cells with the code of another cell."""
    gaps = None if block.missing is None else block.missing[:, [place]]
    values = filled(block.values[:, [place]], gaps)[:, 0]
    if isinstance(part, CategoryLevels):
        labels = values.tolist()
        if block.kind == "category":
            labels = [block.vocabularies[place][code] for code in labels]
        return part.code_column(j, labels, name)
    if block.kind == "category":
        raise InvalidInput(
            f"categories in column {name!r}", "numbers, as in the rows the coding was made from", "Convert them."
        )
    return part.code_column(j, values, name)


def _code_cells(coding: Coding, block: SparseBlock, n_samples: int) -> CodedCells:
    """Codes of the stored cells and of 0, column by column."""
    if coding.missing == "pairwise" and block.missing is not None:
        raise refuse_pairwise()
    values = block.values
    codes = np.empty(values.nnz, dtype=np.int64)
    background = np.zeros(len(block.positions), dtype=np.int64)
    for part in coding.parts:
        levels = part.levels.tolist()
        for j, position in enumerate(part.positions.tolist()):
            cells = slice(values.indptr[position], values.indptr[position + 1])
            own = values.data[cells]
            missing = np.isnan(own)
            if missing.any():
                _check_lacking(coding, position)
            present = own[~missing]
            if len(own) < n_samples:
                present = np.append(present, present.dtype.type(0))
            name = coding.feature_names[position]
            if isinstance(part, CategoryLevels):
                found = part.code_column(j, present.tolist(), name)
            else:
                found = part.code_column(j, present, name)
            if len(own) < n_samples:
                background[position], found = found[-1], found[:-1]
            codes[cells][~missing] = found
            codes[cells][missing] = levels[j]
    return CodedCells(values.indptr.astype(np.int64), values.indices, codes, background)


def _check_lacking(coding: Coding, position: int) -> None:
    if coding.lacking is None or not coding.lacking[position]:
        raise InvalidInput(
            f"missing values in column {coding.feature_names[position]!r}",
            "a value in every row, as in the rows the coding was made from",
            "Fill them in, drop those rows, or make the coding from rows that lack some.",
        )


def _target(coding: Coding, table: Table) -> np.ndarray:
    if table.target_numbers.shape[1] != len(coding.target_edges):
        raise InvalidInput(
            f"a target with {table.target_numbers.shape[1]} columns of numbers",
            f"{len(coding.target_edges)}, as in the rows the coding was made from",
            "Pass task='regression' or task='classification' when reading both tables.",
        )
    codes, classes = joint_classes(table, coding.target_edges)
    known = {label: code for code, label in enumerate(coding.classes)}
    unknown = [label for label in classes if label not in known]
    if unknown:
        raise InvalidInput(
            f"class {unknown[0]!r} in the target",
            f"only the {len(coding.classes)} classes the coding was made from",
            "Drop those rows, or make the coding from rows of every class.",
        )
    return np.array([known[label] for label in classes], dtype=np.int32)[codes]


def _difference(got: tuple[str, ...], expected: tuple[str, ...]) -> str:
    if len(got) != len(expected):
        return f"{len(got)} of them"
    first = next(i for i, (new, old) in enumerate(zip(got, expected, strict=True)) if new != old)
    return f"{got[first]!r} where {expected[first]!r} was"
