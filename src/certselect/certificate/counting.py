"""How many units can make up k columns, and whether a question about them makes sense."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from certselect.errors import InvalidInput


class Counts(NamedTuple):
    """How many units a subset can have: at least, at most."""

    fewest: int
    most: int


def unit_counts(k: int, sizes: np.ndarray | None) -> Counts:
    """Of subsets with sizes'x = k (sizes all 1 if not given), by sizes alone; fewest > most where there are none."""
    if sizes is None:
        return Counts(k, k)
    ascending = np.sort(sizes)
    most = int(np.searchsorted(np.cumsum(ascending), k, side="right"))
    fewest = int(np.searchsorted(np.cumsum(ascending[::-1]), k, side="left")) + 1 if k > 0 else 0
    return Counts(fewest, most)


def check_sizes(n: int, k: int, sizes: np.ndarray | None) -> None:
    """Refuse sizes that are not one for each of n units, and a k beyond their sum; k = 0 needs sizes."""
    if sizes is not None and (sizes.shape != (n,) or sizes.dtype.kind not in "iu" or (sizes < 1).any()):
        raise InvalidInput(f"sizes {sizes}", f"{n} whole numbers, 1 or more", "Pass one for each row of Q.")
    least, greatest = (1, n) if sizes is None else (0, int(sizes.sum()))
    if not least <= k <= greatest:
        raise InvalidInput(f"k={k}", f"{least} to {greatest}", "Choose a size the matrix has subsets of.")
