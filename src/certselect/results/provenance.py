"""Where a result came from: which table, measured how, by which versions, in how much time."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from certselect import __version__
from certselect.information import InformationTerms
from certselect.table.model import Decision

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "narwhals", "pyarrow")


@dataclass(frozen=True)
class Provenance:
    """What is known of the table and the run.

    Attributes
    ----------
    n_samples, n_features : int
        Rows and columns to choose from.
    target : tuple of str
        Names of the column or columns to predict; empty if they came without a name.
    fingerprint : str
        Tells this table from others by what was measured of it: the information in every
        column, and that shared by the chosen columns with all. The order of the rows and the
        type of file make no difference. A checksum, not a signature. Empty until it is needed:
        `Result.fingerprint` has it.
    measured : mapping
        The settings of measuring as they were settled, with what "auto" stood for.
    picked : str
        What `measure="auto"` chose, and why; empty if it was not asked.
    decisions : tuple of Decision
        What was made of columns that was not asked for, and why: identifiers left out, dates
        measured as numbers, copies of others; and of the target.
    weighted : bool
        Whether the rows were weighted by an array, which is not kept; not so by a column of the table,
        which the settings name.
    seed : int or None
        Of the random strategies, if it was a number.
    seconds : mapping
        Time spent, by step.
    versions : mapping
        Of certselect, Python and the libraries that took part.
    """

    n_samples: int
    n_features: int
    fingerprint: str = ""
    target: tuple[str, ...] = ()
    measured: Mapping[str, Any] = field(default_factory=dict)
    picked: str = ""
    decisions: tuple[Decision, ...] = ()
    weighted: bool = False
    seed: int | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


def fingerprint(terms: InformationTerms, chosen: Iterable[int]) -> str:
    """A checksum of the information in every column, and of that shared by the chosen ones with all.

    Terms are the same float for float whatever the order of rows; between processors the
    last digits of logarithms may differ, so single precision is what is summed up.
    """
    columns = sorted(int(i) for i in chosen)
    digest = hashlib.sha256(repr((terms.n_samples, terms.feature_names, columns)).encode())
    shared = (terms.pair_row("redundancy", i) for i in columns)
    for numbers in (np.array([terms.target_entropy]), terms.relevance, terms.entropy, *shared):
        digest.update((np.asarray(numbers).astype("<f4") + np.float32(0.0)).tobytes())  # adding 0 makes 0 of -0
    return digest.hexdigest()


@cache
def versions() -> dict[str, str]:
    """Of certselect, Python and the libraries that take part."""
    found = {"certselect": __version__, "python": sys.version.split()[0]}
    for library in _LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:  # vendored, or run from a source tree
            continue
    return found
