"""How far the entries of a reduced matrix can be from the terms they stand for.

A subset's value is the exact sum of its terms: relevances, and pair terms times their weight. An
entry of the reduced matrix is such a term, and exact, except where it is a sum: over the columns of
two units, or over a unit and all required ones. Each addition rounds once, relative to the terms
that are added. A matrix in float32 loses half a unit of each of its entries as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from certselect.certificate.counting import unit_counts
from certselect.certificate.lift import Lift
from certselect.certificate.rounding import SINGLE_UNIT, UNIT, largest
from certselect.criteria.reduced import ReducedProblem
from certselect.criteria.units import UnitProblem

# Roundings of an entry beside the additions: products with the weight, the last sums.
FEW = 8
BLOCK = 256


class MatrixErrors(NamedTuple):
    """At most so far off is each entry of the diagonal (m,), each other entry, and the constant.

    `beside` says it of some rows (rows, m), so that there is no second matrix of that size; None where they are exact.
    """

    diagonal: np.ndarray
    beside: Callable[[slice], np.ndarray] | None
    constant: float


def matrix_errors(reduced: ReducedProblem) -> MatrixErrors:
    """Of a reduced problem, from the terms of the problem it came from."""
    problem, m = reduced.origin, len(reduced.matrix)
    exact = MatrixErrors(np.zeros(m), None, 0.0)
    if problem is None:
        return exact
    single = reduced.matrix.dtype == np.float32
    if reduced.plain and not reduced.required and not single:
        return exact
    terms, cost = problem.by_column, abs(problem.weight(problem.k))
    free, held = reduced.units.tolist(), problem.columns(reduced.required)
    members = [np.array(problem.columns([unit])) for unit in free]
    grouped = any(len(columns) > 1 for columns in members)
    diagonal = np.empty(m)
    for i, columns in enumerate(members):
        added = float(np.abs(terms.linear[columns]).sum())
        for column in columns.tolist() if cost else ():
            others = [other for other in (*columns.tolist(), *held) if other != column]
            added += cost * float(np.abs(terms.pair_row(column)[others]).sum(dtype=np.float64))
        diagonal[i] = (len(columns) * (len(columns) + len(held)) + FEW) * UNIT * added
    order = [column for columns in members for column in columns.tolist()]
    starts = np.cumsum([0, *map(len, members)])
    if single:
        diagonal += 2.0 * SINGLE_UNIT * np.abs(reduced.matrix.diagonal()).astype(np.float64)

    def beside(rows: slice) -> np.ndarray:
        off = np.zeros((rows.stop - rows.start, m))
        if grouped and cost:
            own = starts[rows.start : rows.stop + 1]
            pairs = np.abs(terms.pair_matrix[np.ix_(order[own[0] : own[-1]], order)])
            sums = np.add.reduceat(pairs, own[:-1] - own[0], axis=0, dtype=np.float64)
            sums = np.add.reduceat(sums, starts[:-1], axis=1)
            off += (np.outer(reduced.sizes[rows], reduced.sizes) + FEW) * (UNIT * 0.5 * cost) * sums
        if single:
            off += 2.0 * SINGLE_UNIT * np.abs(reduced.matrix[rows]).astype(np.float64)
        return off

    return MatrixErrors(diagonal, beside if single or (grouped and cost) else None, 2.0 * UNIT * abs(reduced.constant))


def lost_in_matrix(problem: UnitProblem, lift: Lift | None = None) -> float:
    """What these errors can have taken from any subset's value, by the largest entries: for matrices of any size."""
    reduced = problem.reduced
    single = reduced.matrix.dtype == np.float32
    k = float(problem.k)
    if reduced.plain and not reduced.required:
        return k * k * largest(reduced.matrix) * 2.0 * SINGLE_UNIT if single else 0.0
    required = problem.k - reduced.k
    unit = max(int(reduced.sizes.max(initial=1)), *map(len, problem.groups), 1)
    additions = unit * (unit + required) + FEW
    terms = problem.by_column
    entry = max(largest(terms.linear), 0.5 * abs(problem.weight(problem.k)) * largest(terms.pair_matrix))
    lost = additions * k * k * entry * (SINGLE_UNIT if single else UNIT)
    if lift is not None and lift.price > 0.0:
        lost += lift.price * additions * UNIT * problem.rules.budget
    return lost


def errors_of_units(errors: MatrixErrors, Q: np.ndarray, sizes: np.ndarray, k: int, floor: float) -> np.ndarray:
    """How much each unit (m,) can add to how far off a subset's value is; raised to `floor`, an entry is not."""
    off = np.where(Q.diagonal() + errors.diagonal < floor, 0.0, errors.diagonal)
    others = unit_counts(k, sizes).most - 1 if k > 0 else 0
    others = min(others, len(Q) - 1)
    if errors.beside is not None and others > 0:
        for top in range(0, len(Q), BLOCK):
            rows = slice(top, min(top + BLOCK, len(Q)))
            beside = errors.beside(rows)
            beside[Q[rows] + beside < floor] = 0.0
            np.fill_diagonal(beside[:, rows], 0.0)
            beside.partition(len(Q) - others, axis=1)
            off[rows] += beside[:, len(Q) - others :].sum(axis=1)
    return off * (1.0 + 2.0**-20)  # these sums are rounded too
