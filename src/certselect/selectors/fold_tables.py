"""Parts of a table: rows as a table of their own, what a classifier sees of it, the sizes its subsets can have."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from certselect.criteria import find_features, subset_problem
from certselect.errors import FewerFeaturesWarning, InvalidInput
from certselect.information import InformationTerms
from certselect.table import Block, Table

# Sizes tried where none are named: 1 to this many.
DEFAULT_LARGEST = 50


def rows_of(table: Table, rows: np.ndarray) -> Table:
    """Those rows alone, with the classes that occur in them: nothing of the other rows is left."""
    if not len(rows):
        raise _one_sided("no training rows")
    part = table.rows(rows)
    if len(part.classes) == 1 and (part.target_numbers == part.target_numbers[0]).all():
        same = f"class {part.classes[0]!r}" if part.task == "classification" else "one value"
        raise _one_sided(f"{len(rows)} training rows that are all of {same}")
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


def allowed_sizes(terms: InformationTerms, constraints: Mapping[str, Any]) -> list[int]:
    """The sizes, ascending, that some subset the constraints allow has in this table."""
    stated = dict(constraints)
    if all(stated[name] is None for name in ("include", "groups", "costs", "budget")):
        choosable = ~terms.constant
        choosable[list(find_features(terms.feature_names, "exclude", stated["exclude"]))] = False
        if not choosable.any():
            subset_problem(terms, 1, **stated)  # says why nothing can be chosen
        return list(range(1, int(choosable.sum()) + 1))
    if stated["costs"] is None and stated["budget"] is None:
        # Without prices every size is within a budget of nothing, and with a budget any size may be asked for.
        stated.update(costs={}, budget=0.0)
    return subset_problem(terms, None, **stated).allowed_sizes


def candidate_sizes(terms: InformationTerms, candidates: Any, constraints: Mapping[str, Any]) -> list[int]:
    """The sizes to try, ascending: those asked for that the table has."""
    allowed = allowed_sizes(terms, constraints)
    if candidates is None:
        return [k for k in allowed if k <= DEFAULT_LARGEST] or allowed[:1]
    if isinstance(candidates, int | np.integer) and not isinstance(candidates, bool):
        return [k for k in allowed if k <= _check_size(candidates)] or allowed[:1]
    if isinstance(candidates, str) or not isinstance(candidates, Iterable):
        raise _no_sizes(candidates)
    asked = sorted({_check_size(k) for k in candidates})
    if not asked:
        raise _no_sizes(candidates)
    within = [k for k in asked if k <= allowed[-1]]
    if len(within) < len(asked):
        warnings.warn(
            f"Asked for subsets of up to {asked[-1]} features, but {allowed[-1]} is the most the table and the "
            f"constraints allow: larger sizes are left out.",
            FewerFeaturesWarning,
            stacklevel=4,
        )
    for k in set(within).difference(allowed):
        subset_problem(terms, k, **constraints)  # says why there is no subset of that size
    return within or allowed[-1:]


def nearest_allowed(sizes: Iterable[int], allowed: list[int]) -> list[int]:
    """For each size the largest allowed one that is not above it, or else the smallest."""
    return [max((size for size in allowed if size <= k), default=allowed[0]) for k in sizes]


def _check_size(k: object) -> int:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InvalidInput(f"the size {k!r} in candidates", "whole numbers, 1 or more", "Check the candidates.")
    return int(k)


def _one_sided(got: str) -> InvalidInput:
    return InvalidInput(
        got,
        "two classes or values or more in the training rows of every split",
        "Use a splitter that keeps the classes together, such as StratifiedKFold, or larger training parts.",
    )


def _no_sizes(candidates: object) -> InvalidInput:
    return InvalidInput(
        f"candidates={candidates!r}",
        "a largest size, or a list or range of sizes",
        "Pass for example candidates=range(1, 41), or None for 1 to 50.",
    )
