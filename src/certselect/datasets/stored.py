"""Data sets as .npz files: the form of the cache and of a folder named by CERTSELECT_DATA.

A dense file holds `X` and `y`, and `feature_names` where there are any. Measured values may be
kept as float32 to save room; `decimals` is then how many decimals were published, and
rounding to these gives back the published numbers. A sparse file is one of
`scipy.sparse.save_npz` (CSR) with `y` beside the parts of the matrix.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from certselect.datasets.content import Content
from certselect.writing import write_whole


def read_stored(path: Path) -> Content:
    """Read an .npz file; nothing in it is ever executed.

    Raises
    ------
    ValueError
        If it cannot be read, or is something else.
    """
    if not zipfile.is_zipfile(path):
        raise ValueError("it is no .npz file, or a damaged one")
    try:
        # Opened here: NumPy would leave a damaged file open.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            X = _sparse(held) if "indptr" in held else _dense(held)
            labels = held["y"]
            names = tuple(map(str, held["feature_names"])) if "feature_names" in held else None
    except (OSError, EOFError, KeyError, TypeError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"it cannot be read ({error})") from None
    content = Content(X, labels, names)
    shape = content.shape
    if len(shape) != 2 or labels.shape != shape[:1] or (names is not None and len(names) != shape[1]):
        raise ValueError("X, y and feature_names do not fit together")
    return content


def _dense(held: Any) -> np.ndarray:
    X = held["X"].astype(np.float64)
    return np.round(X, int(held["decimals"])) if "decimals" in held else X


def _sparse(held: Any) -> csr_array:
    if held["format"].item() not in (b"csr", "csr"):
        raise ValueError("its sparse matrix is not CSR")
    X = csr_array((held["data"], held["indices"], held["indptr"]), shape=tuple(map(int, held["shape"])))
    X.check_format(full_check=True)  # an index out of range would otherwise be followed
    return X


def write_stored(path: Path, X: np.ndarray | csr_array, y: np.ndarray, names: tuple[str, ...] | None) -> None:
    """Write an .npz file, whole or not at all: it gets its name when it is finished."""
    parts: dict[str, Any] = {"y": y}
    if isinstance(X, csr_array):
        parts |= {"format": b"csr", "shape": X.shape, "data": X.data, "indices": X.indices, "indptr": X.indptr}
    else:
        parts["X"] = X
    if names is not None:
        parts["feature_names"] = np.array(names)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, lambda file: np.savez_compressed(file, **parts))
