"""Tables whose pairs are each measured from all cells of their own joint table.

Bit rows count samples, with margins that all pairs share. Samples that weigh
differently, pairs that leave out rows of their own (missing values) and
estimates that look at a joint table as a whole (shrinkage) need every cell of
every pair: `cells_plain` counts them with NumPy, `cells_compiled` with Numba.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certselect.coding import CodedTable
from certselect.errors import InvalidInput
from certselect.information.kernels.entropy_sums import CountLogs
from certselect.information.kernels.weights import whole_weights


@dataclass(frozen=True, eq=False)
class CellTable:
    """A coded table with what it takes to measure its pairs cell by cell.

    Attributes
    ----------
    codes, levels
        As in `CodedTable`.
    absent : ndarray of int64 (n,)
        The code that leaves a row out of a feature's terms; -1 if there is none.
    target : ndarray of int64 (m,)
    n_classes : int
    weights : ndarray of int64 (m,)
        In units of 2**-logs.weight_bits; all 1 for samples that weigh the same.
    logs : CountLogs
        Not looked at where `shrinks`, but for its weight_bits.
    shrinks : bool
        Frequencies are shrunk towards equal ones before they are measured.
    """

    codes: np.ndarray
    levels: np.ndarray
    absent: np.ndarray
    target: np.ndarray
    n_classes: int
    weights: np.ndarray
    logs: CountLogs
    shrinks: bool


@dataclass(frozen=True, eq=False)
class SingleTerms:
    """Terms of single features, each from the rows where it has a value.

    `relevance` is I(Xi;C), `entropy` H(Xi), `conditional_entropy` H(Xi|C), all (n,);
    `target_entropy` is H(C) of all rows.
    """

    relevance: np.ndarray
    entropy: np.ndarray
    conditional_entropy: np.ndarray
    target_entropy: float

    def diagonal(self, kind: str) -> np.ndarray:
        """Pair terms of features with themselves."""
        if kind == "redundancy":
            return self.entropy
        return self.conditional_entropy if kind == "conditional_redundancy" else self.entropy - self.conditional_entropy


def needs_cells(table: CodedTable, correction: str) -> bool:
    """Whether bit rows cannot serve a table."""
    absent = table.absent is not None and bool((table.absent >= 0).any())
    return absent or table.weights is not None or correction == "shrinkage"


def cell_table(table: CodedTable, correction: str) -> CellTable:
    n, m = table.codes.shape
    weights, logs = counting_units(table.weights, m, correction)
    return CellTable(
        codes=table.codes,
        levels=table.levels,
        absent=np.full(n, -1, dtype=np.int64) if table.absent is None else table.absent,
        target=table.target.astype(np.int64),
        n_classes=len(table.classes),
        weights=np.ones(m, dtype=np.int64) if weights is None else weights,
        logs=logs,
        shrinks=correction == "shrinkage",
    )


def counting_units(weights: np.ndarray | None, m: int, correction: str) -> tuple[np.ndarray | None, CountLogs]:
    """Weights of m samples as whole numbers, if there are any, and phi of sums of them."""
    phi = "none" if correction == "shrinkage" else correction
    if weights is None:
        return None, CountLogs(m, m, phi)
    whole, bits = whole_weights(weights)
    refuse_broken_counts(bits, correction)
    return whole, CountLogs(int(whole.sum()), m, phi, bits)


def refuse_broken_counts(bits: int, correction: str) -> None:
    """Refuse Grassberger's correction for weights that are multiples of a unit of so many bits."""
    if bits and correction == "grassberger":
        raise InvalidInput(
            "sample weights that are not whole numbers with correction='grassberger'",
            "whole numbers, that is, repeated rows: the correction is one for counts",
            "Use correction='miller_madow' or 'shrinkage'.",
        )
