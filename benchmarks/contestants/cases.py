"""Which questions are asked: a short set, and everything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from . import choosers, measures, parts, solvers
from .match import Case
from .tables import (
    CANCER,
    COLON,
    DEXTER,
    IRIS,
    MADELON,
    MORE_PAPER_TABLES,
    NCI,
    PAPER_TABLES,
    SMALL,
    SMALL_TABLES,
    Shape,
)

CRITERIA = {"mrmr": "mRMR", "jmi": "JMI"}
# All growth starts here and doubles one size at a time.
START, START_K = Shape(1000, 100, 4, 2), 10
AXES = ("rows", "columns", "levels", "classes", "k")
JOBS = (
    *("forward", "back to back", *(f"growth in {axis}" for axis in AXES), "pairs", "default fit", "command line"),
    *("relevance of numbers", "relaxation", "exact", "parts"),
)
PAIR_TABLES = (
    Shape(2000, 500, 5, 2),
    Shape(300, 2000, 2, 2),
    Shape(60, 2000, 3, 9),
    Shape(1560, 617, 5, 26),
)
MORE_PAIR_TABLES = (Shape(20000, 500, 5, 2), Shape(2000, 500, 50, 2))


def forward_case(shape: Shape, k: int, criterion: str, *, patient: bool, starts_cold: bool = False) -> Case:
    return Case(
        "forward",
        f"{shape}, {CRITERIA[criterion]}, k = {k}",
        partial(choosers.forward, shape, k, criterion, patient=patient),
        {"rows": shape.rows, "columns": shape.columns, "k": k, "criterion": criterion},
        starts_cold,
    )


def chosen_from(shape: Shape) -> tuple[int, ...]:
    """10 and 50, or half the columns where there are too few."""
    return tuple(k for k in (10, 50) if k < shape.columns) or (shape.columns // 2,)


def forward_cases(*, long: bool) -> Iterator[Case]:
    for shape in (*SMALL_TABLES, *PAPER_TABLES, *(MORE_PAPER_TABLES if long else ())):
        sizes = chosen_from(shape)
        for criterion in CRITERIA:
            for k in sizes:
                first = shape in (CANCER, COLON, MADELON) and criterion == "mrmr" and k == sizes[0]
                wide = shape in (NCI, DEXTER) and criterion == "jmi" and k == 50
                yield forward_case(shape, k, criterion, patient=long, starts_cold=long or first or wide)


def back_to_back_cases() -> Iterator[Case]:
    """Without the pause that lets other programs' BLAS threads come to rest."""
    for shape in (COLON, MADELON):
        case = forward_case(shape, 50, "mrmr", patient=False)
        match = partial(choosers.forward, shape, 50, "mrmr", only_same=True)
        yield replace(case, job="back to back", match=match, back_to_back=True)


def growth_cases(*, long: bool) -> Iterator[Case]:
    doublings = range(6 if long else 4)
    for criterion in CRITERIA if long else ["mrmr"]:
        for axis in AXES:
            for times in (2**doubling for doubling in doublings):
                shape = START if axis == "k" else replace(START, **{axis: getattr(START, axis) * times})
                k = START_K * times if axis == "k" else START_K
                if k >= shape.columns:
                    continue
                size = k if axis == "k" else getattr(shape, axis)
                yield Case(
                    f"growth in {axis}",
                    f"{CRITERIA[criterion]}, {axis} = {size}",
                    partial(choosers.forward, shape, k, criterion, only_same=True),
                    {"axis": axis, "size": size, "criterion": criterion},
                )


def pair_cases(*, long: bool) -> Iterator[Case]:
    for shape in (*PAIR_TABLES, *(MORE_PAIR_TABLES if long else ())):
        label = f"{shape}, {shape.levels} levels, {shape.classes} classes"
        yield Case("pairs", label, partial(choosers.pairs, shape), starts_cold=long)


def whole_cases() -> Iterator[Case]:
    for shape, k in ((IRIS, 2), (CANCER, 10), (SMALL, 10)):
        yield Case("default fit", f"{shape}, k = {k}", partial(choosers.default_fit, shape, k))
    yield Case("command line", f"{CANCER}, k = 10", partial(choosers.command_line, CANCER, 10), back_to_back=True)


def number_cases(*, long: bool) -> Iterator[Case]:
    m, n = (2000, 500) if long else (1000, 100)
    for measure in ("neighbors", "gaussian_copula"):
        for classes in (True, False):
            label = f"{m} x {n}, {measure}, {'three classes' if classes else 'a number'}"
            match = partial(measures.relevance, m, n, classes=classes, measure=measure)
            yield Case("relevance of numbers", label, match)


def solver_cases(*, long: bool) -> Iterator[Case]:
    for n in (30, 100) if long else (30,):
        yield Case("relaxation", f"n = {n}, k = 12", partial(solvers.relaxation, n, 12))
    for n in (20, 30, 40) if long else (20, 30):
        yield Case("exact", f"n = {n}, k = 5", partial(solvers.exact, n, 5))


def part_cases(*, long: bool) -> Iterator[Case]:
    for n in (500, 1000, 2000) if long else (500,):
        for k in (12, 50):
            yield Case(
                "parts",
                f"interior point, n = {n}, k = {k}, in matrix products, one thread",
                partial(parts.interior_point, n, k),
                at_most=150.0,
            )
    n = 2000 if long else 500
    yield Case(
        "parts",
        f"rounding 1000 draws, n = {n}, in relaxations",
        partial(parts.rounding, n, 50, 1000),
        at_most=0.2 if long else None,
    )
    m, n = (2000, 500) if long else (600, 200)
    sizes = range(1, 41) if long else range(1, 21)
    yield Case(
        "parts",
        f"choosing among {len(sizes)} sizes, {m} x {n}, 5 splits, in paths and fits",
        partial(parts.choosing, m, n, sizes),
        at_most=3.0,
    )
    for m, n in ((2000, 500), (2000, 2000)) if long else ((2000, 500),):
        label = f"copula of all pairs, {m} x {n}, in products and sorts"
        yield Case("parts", label, partial(parts.copula, m, n), at_most=3.0)


def all_cases(*, long: bool) -> list[Case]:
    return [
        *forward_cases(long=long),
        *back_to_back_cases(),
        *growth_cases(long=long),
        *pair_cases(long=long),
        *whole_cases(),
        *number_cases(long=long),
        *solver_cases(long=long),
        *part_cases(long=long),
    ]
