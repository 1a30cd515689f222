"""How alike subsets are: along one path, and between two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from certselect.errors import InvalidInput
from certselect.search import Selection

Subset = Selection | Iterable[int]


def similarity_ratios(path: Sequence[Subset]) -> np.ndarray:
    """Measure how much of each subset is kept in the next larger one along a path.

    The paper's similarity ratio of the i-th subset: S_i = |F_i & F_(i+1)| / |F_i|. It is 1 for searches
    whose subsets nest, such as "forward" and "backward"; below 1, the search chose some other
    features at the next size. The paper reports the mean over 50 sizes from 5 on.

    Parameters
    ----------
    path : sequence of Selection, or of collections of column indices
        By ascending size, as `selection_path` gives them for ascending `sizes`.

    Returns
    -------
    ndarray (len(path) - 1,)
        The mean is the paper's figure.

    Examples
    --------
    >>> from certselect.evaluation import similarity_ratios
    >>> similarity_ratios([[3], [3, 5], [1, 3, 4]])  # 3 stays, then 5 goes
    array([1. , 0.5])
    """
    sets = _as_sets("path", path)
    if len(sets) < 2:
        raise InvalidInput(f"a path of {len(sets)} subset(s)", "two or more", "Select for several sizes.")
    if any(len(one) > len(following) for one, following in pairwise(sets)):
        raise InvalidInput(
            "a path whose subsets get smaller", "subsets by ascending size", "Sort the path by size, smallest first."
        )
    return _overlaps(sets[:-1], sets[1:])


def path_overlaps(path: Sequence[Subset], other: Sequence[Subset]) -> np.ndarray:
    """Measure how far two searches agree, size by size: |F_i & G_i| / |F_i|.

    Parameters
    ----------
    path, other : sequences of Selection, or of collections of column indices
        Subsets of the same sizes in the same order.

    Returns
    -------
    ndarray (len(path),)

    Examples
    --------
    >>> from certselect.evaluation import path_overlaps
    >>> path_overlaps([[3], [3, 5]], [[3], [1, 3]])
    array([1. , 0.5])
    """
    ours, theirs = _as_sets("path", path), _as_sets("other", other)
    if not ours or [len(subset) for subset in ours] != [len(subset) for subset in theirs]:
        raise InvalidInput(
            f"paths with subsets of sizes {_sizes(ours)} and {_sizes(theirs)}",
            "subsets of the same sizes in the same order",
            "Select for the same sizes by both searches.",
        )
    return _overlaps(ours, theirs)


def _overlaps(subsets: Sequence[frozenset[int]], others: Sequence[frozenset[int]]) -> np.ndarray:
    return np.array([len(one & other) / len(one) for one, other in zip(subsets, others, strict=True)])


def _as_sets(name: str, path: Sequence[Subset]) -> list[frozenset[int]]:
    subsets = [subset.indices.tolist() if isinstance(subset, Selection) else list(subset) for subset in path]
    for place, subset in enumerate(subsets):
        if not subset or len(set(subset)) < len(subset):
            raise InvalidInput(
                f"{name}[{place}] = {subset}", "a subset of one or more different features", "Check the path."
            )
    return [frozenset(int(feature) for feature in subset) for subset in subsets]


def _sizes(subsets: Sequence[frozenset[int]]) -> str:
    sizes = ", ".join(str(len(subset)) for subset in subsets[:5])
    return f"[{sizes}{', ...' if len(subsets) > 5 else ''}]"
