"""The pair of problems the interior-point method works on: lifted, projected on the face, copies merged.

Entries can be copies of each other. Columns with the same levels row by row (or renamed) have the
same information with everything else: exchanging two of them leaves Q as it is. Real tables are
full of them: rare words, genes that always come together. Averaging a solution over all such
exchanges changes neither its value nor that it is one, so only averaged ones need to be looked for.
For a class of m copies these have one entry t for any two copies and one with everything else. In
the orthonormal basis

    e_c / sqrt(m)     for every class c of m entries,   and its complement within the class,

Y is a smaller matrix Y_c and, for each class, the number 1 - t (m - 1 times). As diag(Y) = e,
its entry of the class is 1 + (m - 1) t, so that with s = (m - 1)(1 - t)

    diag(Y_c) + s = m,    s >= 0,    <C, Y> = <C_c, Y_c> + sum of (Q_ii - Q_ij) s  over the classes,

and in the dual d_i = d_c for all i in c, with d_c >= Q_ii - Q_ij beside the matrix inequality.

Where entries count for sizes, copies are of the same size too: exchanging them then leaves the face
Y a = 0 as it is, a = (2k - sum(s), -s_1, ..., -s_n), because a is constant on a class. All of the above holds as it
stands, with a_c = sqrt(m) a_i for the normal of the face, on which the differences of copies lie anyway. A
start may miss diag(Y) = e there: its s is what the diagonal of a class has beside Y_c, whatever that comes to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from certselect.certificate.twins import first_copies
from certselect.relaxation.arrays import Arrays
from certselect.relaxation.face import inside_face, objective_on_face, unit_normal


@dataclass(frozen=True, eq=False)
class Copies:
    """Which entries of y = (1, 2x - 1) are copies; N' classes of N = n + 1 entries, entry 0 by itself.

    Attributes
    ----------
    class_of : ndarray of int (N,)
        Classes are numbered by their first entry.
    first : ndarray of int (N',)
        The first entry of each class.
    counts : ndarray of int (N',)
    """

    class_of: np.ndarray
    first: np.ndarray
    counts: np.ndarray

    @property
    def several(self) -> np.ndarray:
        """The classes with more than one entry."""
        return np.flatnonzero(self.counts > 1)

    def merge_vector(self, v: np.ndarray) -> np.ndarray:
        """The parts of v along e_c / sqrt(m), for every class."""
        return np.bincount(self.class_of, v) / np.sqrt(self.counts)

    def merge_matrix(self, M: np.ndarray) -> np.ndarray:
        """The symmetric matrix of these parts (Fortran order); M averaged over exchanges of copies has the same."""
        return _merged(M, self.class_of, self.counts)

    def merge_objective(self, Q: np.ndarray) -> np.ndarray:
        """The same of a matrix that is without entry 0."""
        return _merged(Q, self.class_of[1:] - 1, self.counts[1:])

    def apart(self, Q: np.ndarray) -> np.ndarray:
        """Q_ii - Q_ij for two copies i and j, of the classes in `several`: what Q is on differences of copies."""
        one = self.first[self.several] - 1
        other = np.array([np.flatnonzero(self.class_of == c)[1] for c in self.several], dtype=np.intp) - 1
        return Q[one, one].astype(np.float64) - Q[one, other]

    def expand(self, merged: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """The matrix of all entries (Fortran order) with these parts, and `spread` on differences of copies."""
        lengths = np.sqrt(self.counts)
        common = merged / lengths / lengths[:, None]
        full = np.asfortranarray(common[np.ix_(self.class_of, self.class_of)])
        on_difference = np.zeros(len(self.counts))
        on_difference[self.several] = spread
        for c in self.several:
            members = np.flatnonzero(self.class_of == c)
            full[np.ix_(members, members)] -= on_difference[c] / self.counts[c]
        full[np.diag_indices_from(full)] += on_difference[self.class_of]
        return full


def _merged(M: np.ndarray, class_of: np.ndarray, counts: np.ndarray) -> np.ndarray:
    from scipy.sparse import csr_array  # here: most problems have no copies

    lengths = 1.0 / np.sqrt(counts)
    basis = csr_array((lengths[class_of], (class_of, np.arange(len(M)))), shape=(len(counts), len(M)))
    by_rows = M.T if M.flags.f_contiguous else M  # it is symmetric, and read by rows
    merged = basis @ np.ascontiguousarray((basis @ by_rows).T)
    return np.asfortranarray(0.5 * (merged + merged.T))


def find_copies(Q: np.ndarray, sizes: np.ndarray | None = None) -> Copies | None:
    """The classes of entries of one size whose exchange leaves Q exactly as it is; None where there are none."""
    alike = first_copies(Q)[None] if sizes is None else np.stack([first_copies(Q), sizes])
    _, first, class_of, counts = np.unique(alike, axis=1, return_index=True, return_inverse=True, return_counts=True)
    if len(first) == len(Q):
        return None
    # Numbered by their first entries, also where one class of Q is several of unlike sizes.
    order = np.argsort(first)
    return Copies(
        class_of=np.concatenate([[0], np.argsort(order)[class_of.reshape(-1)] + 1]),
        first=np.concatenate([[0], first[order] + 1]),
        counts=np.concatenate([[1], counts[order]]),
    )


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
