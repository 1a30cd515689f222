"""Parts of a table: rows as a table of their own, what a classifier sees of it, the sizes its subsets can have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from certselect.criteria import SubsetProblem
from certselect.errors import FewerFeaturesWarning, InvalidInput, keyword, warn_user
from certselect.table import Block, Table

# Sizes tried where none are named: 1 to this many.
DEFAULT_LARGEST = 50


def check_split(train: np.ndarray, test: np.ndarray) -> None:
    """Refuse a split in which nothing can be learnt or tested."""
    for part, rows in (("training", train), ("test", test)):
        if not len(rows):
            raise InvalidInput(
                f"a split without {part} rows",
                "rows to learn from and rows to test on in every split",
                f"Check {keyword('cv')}.",
            )


def rows_of(table: Table, rows: np.ndarray) -> Table:
    """Those rows alone, with the classes that occur in them: nothing of the other rows is left."""
    part = table.rows(rows)
    if len(part.classes) == 1 and (part.target_numbers == part.target_numbers[0]).all():
        same = f"class {part.classes[0]!r}" if part.task == "classification" else "one value"
        raise _one_sided(f"training rows that are all of {same}")
    return part


def values_and_labels(table: Table) -> tuple[Any, np.ndarray]:
    """A table's columns as an array, each with its own values, and its target: what an estimator sees.

    Missing values are NaN in an array of numbers, None beside strings.
    """
    several = table.target_numbers.shape[1] + (len(table.classes) > 1)
    if several > 1 or (table.task == "classification" and isinstance(table.classes[0], tuple)):
        raise InvalidInput("several target columns", "one, to predict", "Choose the size for one of them.")
    labels = table.target_numbers[:, 0] if table.task == "regression" else np.array(table.classes)[table.target]
    if table.sparse is not None:
        return table.sparse.values.tocsr(), labels
    first = table.blocks[0]
    if len(table.blocks) == 1 and first.kind != "category" and (first.missing is None or first.kind == "number"):
        return first.values, labels
    values = np.empty((table.n_samples, table.n_features), dtype=object)
    for block in table.blocks:
        assert isinstance(block, Block)
        for place, position in enumerate(block.positions.tolist()):
            column = block.values[:, place].tolist()
            if block.kind == "category":
                column = [block.vocabularies[place][code] if code >= 0 else None for code in column]
            elif block.missing is not None:
                lacking = block.missing[:, place].tolist()
                column = [None if lacks else value for value, lacks in zip(column, lacking, strict=True)]
            values[:, position] = column
    return values, labels


def asked_sizes(sizes: Any) -> int | list[int]:
    """The largest size to try, or the sizes in ascending order."""
    if sizes is None:
        return DEFAULT_LARGEST
    if isinstance(sizes, int | np.integer) and not isinstance(sizes, bool):
        return _check_size(sizes)
    if isinstance(sizes, str | bytes | Mapping) or not isinstance(sizes, Iterable) or np.ndim(sizes) == 0:  # pyright: ignore[reportArgumentType]
        raise _no_sizes(sizes)
    asked = sorted({_check_size(k) for k in sizes})
    if not asked:
        raise _no_sizes(sizes)
    return asked


def sizes_to_try(problem: SubsetProblem, sizes: Any) -> list[int]:
    """The sizes to try, ascending: those asked for that the table and the constraints allow."""
    asked = asked_sizes(sizes)
    problem.nearest_size(1)  # says why, if nothing can be chosen
    allowed = problem.allowed_sizes
    if isinstance(asked, int):
        return [k for k in allowed if k <= asked] or allowed[:1]
    within = [k for k in asked if k <= allowed[-1]]
    for k in set(within).difference(allowed):
        problem.of_size(k)  # says why there is no subset of that size
    return within or allowed[-1:]


def warn_of_larger_sizes(asked: int | list[int], most: int) -> None:
    """Say that sizes which were named are beyond the largest one that can be chosen, by whatever settings."""
    if isinstance(asked, list) and asked[-1] > most:
        warn_user(
            f"Asked for subsets of up to {asked[-1]} features, but {most} is the most the table and the "
            f"constraints allow: larger sizes are left out.",
            FewerFeaturesWarning,
        )


def _check_size(k: object) -> int:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InvalidInput(f"the size {k!r} in {keyword('sizes')}", "whole numbers, 1 or more", "Check the sizes.")
    return int(k)


def _one_sided(got: str) -> InvalidInput:
    return InvalidInput(
        got,
        "two classes or values or more in the training rows of every split",
        "Use a splitter that keeps the classes together, such as StratifiedKFold, or larger training parts.",
    )


def _no_sizes(sizes: object) -> InvalidInput:
    return InvalidInput(
        keyword("sizes", sizes),
        "a largest size, or a list or range of sizes",
        f"Pass for example {keyword('sizes', spelled='range(1, 41)')}, or None for 1 to 50.",
    )
