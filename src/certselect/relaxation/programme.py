"""The pair of problems the interior-point method works on: lifted, projected on the face, copies merged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from certselect.relaxation.arrays import Arrays
from certselect.relaxation.copies import Copies
from certselect.relaxation.face import inside_face, objective_on_face, unit_normal


@dataclass(frozen=True, eq=False)
class Programme:
    """Maximise <K, Y> + apart's  subject to  diag(Y) + s = counts, with s >= 0 at `several` and none elsewhere.

    Without copies that is <K, Y> and diag(Y) = e. Matrices are those of `arrays`, vectors are NumPy's.

    Attributes
    ----------
    K : matrix (N', N')
        The lifted objective on the face.
    normal : ndarray (N',)
        Of the face, of unit length.
    counts : ndarray of float (N',)
        Copies that each entry stands for.
    several : ndarray of int
        The entries that stand for more than one.
    apart : ndarray
        What each s is worth.
    """

    k: int
    sizes: np.ndarray | None
    copies: Copies | None
    arrays: Arrays
    K: Any
    normal: np.ndarray
    counts: np.ndarray
    several: np.ndarray
    apart: np.ndarray

    @classmethod
    def of(cls, Q: np.ndarray, k: int, sizes: np.ndarray | None, copies: Copies | None, arrays: Arrays) -> Programme:
        """For max x'Qx with sizes'x = k; copies are of the same size."""
        normal = unit_normal(len(Q), k, sizes)
        counts, several, apart = np.ones(len(normal)), np.empty(0, dtype=np.intp), np.empty(0)
        if copies is not None:
            counts, several, apart = copies.counts.astype(np.float64), copies.several, copies.apart(Q)
            Q, normal = copies.merge_objective(Q), copies.merge_vector(normal)
        K = objective_on_face(Q, normal, np.sqrt(counts[1:]), arrays)
        return cls(k, sizes, copies, arrays, K, normal, counts, several, apart)

    @property
    def multiplicity(self) -> np.ndarray:
        """For each s, of how many eigenvalues of the unmerged Y it is the sum."""
        return self.counts[self.several] - 1.0

    def inside(self) -> tuple[Any, np.ndarray]:
        """(Y, s) strictly inside the face."""
        if self.copies is None:
            return inside_face(len(self.K) - 1, self.k, self.sizes, self.arrays), np.empty(0)
        return self.merged_matrix(inside_face(len(self.copies.class_of) - 1, self.k, self.sizes))

    def merged_matrix(self, Y: np.ndarray) -> tuple[Any, np.ndarray]:
        """A Y of all entries as (Y, s) of this programme."""
        if self.copies is None:
            return self.arrays.symmetric(Y), np.empty(0)
        merged = self.copies.merge_matrix(Y)
        # What the diagonal of a class has beside its part along e_c is spread over the differences of copies.
        s = np.bincount(self.copies.class_of, Y.diagonal()) - merged.diagonal()
        return self.arrays.symmetric(merged), s[self.several]

    def merged_multipliers(self, d: np.ndarray) -> np.ndarray:
        """A d of all entries as one of this programme."""
        return d if self.copies is None else self.copies.merge_vector(d) / np.sqrt(self.counts)

    def unmerged_matrix(self, Y: Any, s: np.ndarray) -> np.ndarray:
        """Y of all entries."""
        Y = self.arrays.fetched(Y)
        return Y if self.copies is None else self.copies.expand(Y, s / self.multiplicity)

    def unmerged_multipliers(self, d: np.ndarray) -> np.ndarray:
        """d of all entries, an array of its own."""
        return d.copy() if self.copies is None else d[self.copies.class_of]
