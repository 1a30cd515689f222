"""How many features, with no classifier: the value along the path and its elbow."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from certselect.criteria import Criterion
from certselect.errors import InvalidInput
from certselect.information import InformationTerms
from certselect.search import Selection, selection_path
from certselect.search.registry import AUTO
from certselect.search.selection import INTERRUPTED
from certselect.settings import Searching
from certselect.settings.fields import as_plain

# Heights over the chord equal but for rounding tie.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class ValueCurve:
    """What subsets of each size are worth, and the most that any subset of that size can be worth.

    Attributes
    ----------
    sizes : ndarray of int (s,)
        Ascending.
    values, upper_bounds : ndarray (s,)
        In nats. A bound is NaN where none was proven.
    selections : tuple of Selection
        The subsets.
    """

    sizes: np.ndarray
    values: np.ndarray
    upper_bounds: np.ndarray
    selections: tuple[Selection, ...]

    @property
    def gaps(self) -> np.ndarray:
        """How much better, as a fraction, a subset of that size can be at most; NaN where no bound was proven."""
        return np.array([selection.gap for selection in self.selections])

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write a report of the curve that people can read: one HTML file that needs no network."""
        from certselect.report import write_report

        sizes = f"{self.sizes[0]} to {self.sizes[-1]}"
        question = f"What are the best subsets of {sizes} features worth?"
        write_report({"title": "Value by number of features", "question": question, "path": curve_facts(self)}, path)


def value_curve(
    terms: InformationTerms,
    sizes: Iterable[int],
    criterion: str | Criterion = Searching.criterion,
    strategy: str = AUTO,
    **settings: Any,
) -> ValueCurve:
    """See what each further feature adds, with proven bounds on what it could add.

    Look at it before choosing a size by any rule. Where value and bound are close, the
    curve is that of the best subsets, and no search would change it.

    Parameters
    ----------
    terms : InformationTerms
        From `information_terms`.
    sizes : iterable of int
        The sizes, in any order.
    criterion, strategy, **settings
        As for `selection_path`. `certify=True` or "tight" proves a bound at every size; the
        strategy "cobra", and so "auto" where it chooses "cobra", always does.

    Returns
    -------
    ValueCurve

    Examples
    --------
    >>> import numpy as np
    >>> from certselect import information_terms, value_curve
    >>> X = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]])
    >>> terms = information_terms(X, [0, 1, 2, 3], correction="none")
    >>> curve = value_curve(terms, [1, 2, 3], criterion="jmi", copies="all")
    >>> (curve.values / np.log(2)).round(6)  # in bits; the third column repeats the first
    array([1. , 2. , 2.5])
    >>> bool((curve.upper_bounds >= curve.values).all())
    True
    """
    listed = list(sizes) if isinstance(sizes, Iterable) else sizes
    if isinstance(listed, list) and all(isinstance(size, int | np.integer) for size in listed):
        listed = sorted(set(listed))  # anything else is refused by the path
    path = selection_path(terms, listed, criterion, strategy, **settings)
    return ValueCurve(
        sizes=np.array([selection.k for selection in path]),
        values=np.array([selection.objective for selection in path]),
        upper_bounds=np.array([selection.upper_bound for selection in path]),
        selections=tuple(path),
    )


@dataclass(frozen=True)
class Elbow:
    """The size after which features add less than the average one of the curve.

    Attributes
    ----------
    k : int or None
        None if the curve has no elbow: no size lies above the chord.
    height : float
        By how much the value at k exceeds the chord's (nats).
    first, last : int
        The sizes the chord joins; another `last` may give another elbow.
    """

    k: int | None
    height: float
    first: int
    last: int

    @property
    def statement(self) -> str:
        """The elbow in words."""
        between = f"between {self.first} and {self.last} features"
        if self.k is None:
            return f"No elbow {between}: further features add no less than the first ones."
        return f"Elbow {between}: up to {self.k} a feature adds more than the average, beyond less."


def find_elbow(curve: ValueCurve) -> Elbow:
    """Choose the size where the value curve bends most.

    The elbow is the size whose value lies highest above the chord, the straight line
    from the curve's first point to its last; of several such sizes, the smallest. Scaling
    the axes makes no difference, but the end of the curve does: let it end at the largest
    size you would use. An elbow is no evidence against chance: pure noise has one too.

    Parameters
    ----------
    curve : ValueCurve
        From `value_curve`, of three sizes or more.

    Examples
    --------
    >>> import numpy as np
    >>> from certselect import ValueCurve, find_elbow
    >>> curve = ValueCurve(np.array([1, 2, 3, 4]), np.array([1.0, 1.8, 1.9, 2.0]), np.full(4, np.nan), ())
    >>> find_elbow(curve).k
    2
    """
    if len(curve.sizes) < 3:
        raise InvalidInput(
            f"a curve of {len(curve.sizes)} sizes", "three or more: a line through two has no elbow", "Add sizes."
        )
    sizes, values = curve.sizes.astype(np.float64), curve.values
    chord = values[0] + (values[-1] - values[0]) * (sizes - sizes[0]) / (sizes[-1] - sizes[0])
    height = values - chord
    rounding = _ROUNDING * float(np.abs(values).max())
    top = int(np.argmax(height >= height.max() - rounding))
    none = height[top] <= rounding
    return Elbow(
        k=None if none else int(curve.sizes[top]),
        height=0.0 if none else float(height[top]),
        first=int(curve.sizes[0]),
        last=int(curve.sizes[-1]),
    )


def changes(curve: ValueCurve) -> list[str]:
    """What comes in at each size; where subsets do not nest, also how many leave."""
    said, before = [], frozenset()
    for selection in curve.selections:
        names = dict(zip(selection.indices.tolist(), selection.names, strict=True))
        come = [name for column, name in names.items() if column not in before]
        left = len(before.difference(names))
        some = ", ".join(come[:3]) + (f" and {len(come) - 3} more" if len(come) > 3 else "")
        said.append(some + (f" ({left} leave)" if left else ""))
        before = frozenset(names)
    return said


def curve_facts(curve: ValueCurve, chosen: int | None = None) -> dict[str, Any]:
    """Value and bound by size, what comes in with each, and the size that was `chosen`, if one was."""
    whole = len(curve.sizes) > 2 and all(selection.status != INTERRUPTED for selection in curve.selections)
    return {
        "sizes": [int(size) for size in curve.sizes],
        "values": as_plain(curve.values),
        "bounds": as_plain(curve.upper_bounds),
        "gaps": as_plain(curve.gaps) if len(curve.selections) else [None] * len(curve.sizes),
        "changes": changes(curve) if len(curve.selections) else [],
        "statement": find_elbow(curve).statement if whole else "",
        "chosen": chosen,
    }
