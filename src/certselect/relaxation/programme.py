"""The pair of problems the interior-point method works on: lifted, projected on the face, copies merged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certselect.relaxation.copies import Copies
from certselect.relaxation.face import inside_face, lifted_objective, project, unit_normal


@dataclass(frozen=True, eq=False)
class Programme:
    """Maximise <K, Y> + apart's  subject to  diag(Y) + s = counts, with s >= 0 at `several` and none elsewhere.

    Without copies that is <K, Y> and diag(Y) = e.

    Attributes
    ----------
    K : ndarray (N', N')
        The lifted objective on the face, Fortran order.
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
    K: np.ndarray
    normal: np.ndarray
    counts: np.ndarray
    several: np.ndarray
    apart: np.ndarray

    @classmethod
    def of(cls, Q: np.ndarray, k: int, sizes: np.ndarray | None, copies: Copies | None) -> Programme:
        """For max x'Qx with sizes'x = k; where there are sizes, there must be no copies."""
        C, normal = lifted_objective(Q), unit_normal(len(Q), k, sizes)
        counts, several, apart = np.ones(len(C)), np.empty(0, dtype=np.intp), np.empty(0)
        if copies is not None:
            apart = copies.apart(C)
            C, normal = copies.merge_matrix(C), copies.merge_vector(normal)
            counts, several = copies.counts.astype(np.float64), copies.several
        project(C, normal)
        return cls(k, sizes, copies, C, normal, counts, several, apart)

    @property
    def multiplicity(self) -> np.ndarray:
        """For each s, of how many eigenvalues of the unmerged Y it is the sum."""
        return self.counts[self.several] - 1.0

    def inside(self) -> np.ndarray:
        """A Y strictly inside the face."""
        if self.copies is None:
            return inside_face(len(self.K) - 1, self.k, self.sizes)
        return self.copies.merge_matrix(inside_face(len(self.copies.class_of) - 1, self.k))

    def merged(self, Y: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A pair (Y, d) of all entries as one of this programme."""
        if self.copies is None:
            return Y, d
        return self.copies.merge_matrix(Y), self.copies.merge_vector(d) / np.sqrt(self.counts)

    def unmerged_matrix(self, Y: np.ndarray, s: np.ndarray) -> np.ndarray:
        """Y of all entries."""
        return Y if self.copies is None else self.copies.expand(Y, s / self.multiplicity)

    def unmerged_multipliers(self, d: np.ndarray) -> np.ndarray:
        """d of all entries, an array of its own."""
        return d.copy() if self.copies is None else d[self.copies.class_of]
