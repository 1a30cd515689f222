"""What a data set holds, and a checksum that shows whether two sources hold the same.

Files differ where the data do not: text or binary, float32 or int8, "ad." or 1 for a
class. So the sum is taken of the content, brought into one form, never of a file.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table to choose features of, and its classes.

    Attributes
    ----------
    name : str
        As in the paper: "MAD".
    title : str
        In full: "Madelon".
    X : ndarray of float64 (m, n), or csr_array of float64
        NaN where a value is missing.
    y : ndarray of int64 (m,)
    feature_names : tuple of str, or None
        None where the source has no names.
    """

    name: str
    title: str
    X: np.ndarray | csr_array
    y: np.ndarray
    feature_names: tuple[str, ...] | None


@dataclass(frozen=True, eq=False)
class Content:
    """What a file was read to, with labels as the file has them (numbers or text)."""

    X: np.ndarray | csr_array
    labels: np.ndarray
    feature_names: tuple[str, ...] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.X.shape or ())  # SciPy's types allow None


def same_form(X: np.ndarray | csr_array) -> np.ndarray | csr_array:
    """float64, one kind of NaN and of zero; sparse: sorted, no cell twice, no zero stored."""
    if isinstance(X, csr_array):
        X = csr_array(X, dtype=np.float64, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        return X
    X = np.asarray(X, dtype=np.float64, order="C") + 0.0  # -0.0 becomes 0.0
    X[np.isnan(X)] = np.nan
    return X


def order_of_appearance(labels: np.ndarray) -> np.ndarray:
    """0 for the first label and those equal to it, 1 for the next one seen, and so on: names do not matter."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return place[inverse]


def content_sum(X: np.ndarray | csr_array, labels: np.ndarray) -> str:
    """SHA-256 of shape, values and classes, the same for every way to store them."""
    X = same_form(X)
    parts = [np.array(X.shape, dtype="<i8")]
    if isinstance(X, csr_array):
        parts += [X.data.astype("<f8"), X.indices.astype("<i8"), X.indptr.astype("<i8")]
    else:
        parts.append(X.astype("<f8"))
    parts.append(order_of_appearance(labels).astype("<i8"))
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.tobytes())
    return digest.hexdigest()
