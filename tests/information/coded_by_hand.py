"""Coded tables made by hand, and all their terms, by every backend."""

from typing import Any, cast

import numpy as np

from certselect.coding import CodedTable
from certselect.information import plugin
from certselect.information.plugin import plugin_terms

KINDS = ("redundancy", "conditional_redundancy", "interaction")
CORRECTIONS = ("none", "miller_madow", "grassberger", "shrinkage", "chance")


def coded(columns, target, *, weights=None, dtype=np.uint8, spare_levels=0):
    """Columns of whole numbers from 0 on; None is an absent value."""
    n, m = len(columns), len(target)
    codes = np.zeros((n, m), dtype=dtype)
    levels = np.zeros(n, dtype=np.int64)
    absent = np.full(n, -1, dtype=np.int64)
    constant = np.zeros(n, dtype=bool)
    for i, column in enumerate(columns):
        present = [value for value in column if value is not None]
        levels[i] = max(present, default=-1) + 1 + spare_levels
        constant[i] = len(set(present)) < 2
        if len(present) < m:
            absent[i] = levels[i]
            levels[i] += 1
        codes[i] = [absent[i] if value is None else value for value in column]
    target = np.array(target, dtype=np.int32)
    names = tuple(f"x{i}" for i in range(n))
    weights = None if weights is None else np.array(weights, dtype=np.float64)
    some_absent = absent if (absent >= 0).any() else None
    classes = tuple(range(int(target.max()) + 1))
    return CodedTable(codes, levels, constant, target, classes, names, cast(Any, None), some_absent, weights)


def terms_of(table, correction, *, compiled=False, n_jobs=1, dtype=np.float64):
    """Terms whose pairs are surely counted by the compiled kernels, or surely without them."""
    kept, limit = set(plugin._compiled_for), plugin._PLAIN_CELLS
    plugin._compiled_for.clear()
    plugin._counted_plainly.clear()
    plugin._PLAIN_CELLS = -1 if compiled else 10**18
    try:
        terms = plugin_terms(table, correction=correction, dtype=np.dtype(dtype), n_jobs=n_jobs)
        _ = terms.conditional_redundancy, terms.interaction
        assert (counted(terms)._compiled is not None) == compiled
    finally:
        plugin._PLAIN_CELLS = limit
        plugin._compiled_for.clear()
        plugin._compiled_for.update(kept)
    return terms


def counted(terms):
    """Who counted the pairs of terms, before chance was subtracted."""
    return getattr(terms.pairs, "counted", terms.pairs)


def rounded_alike(narrow, whole, correction):
    """Whether float32 terms are the rounded ones; chance is subtracted from what was rounded before."""
    if correction == "chance":
        return np.allclose(narrow, whole, rtol=1e-6, atol=1e-6)
    return (narrow == whole.astype(np.float32)).all()


def everything(terms):
    """All terms in one flat array, to be compared with `==`."""
    singles = [terms.relevance, terms.entropy, [terms.target_entropy]]
    return np.concatenate([*singles, *(getattr(terms, kind).ravel() for kind in KINDS)])
