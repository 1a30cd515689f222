"""What certselect is compared with: the same work, done with care in NumPy alone."""

from __future__ import annotations

import numpy as np


def _one_hot(X: np.ndarray, levels: int) -> np.ndarray:
    m, n = X.shape
    hot = np.zeros((m, n * levels), dtype=np.float32)
    hot[np.arange(m)[:, None], np.arange(n) * levels + X] = 1
    return hot


def _log_table(m: int) -> np.ndarray:
    counts = np.arange(m + 1, dtype=np.float64)
    return counts * np.log(np.maximum(counts, 1))


def _sum_blocks(sums: np.ndarray, left: int, right: int, levels: int) -> np.ndarray:
    return sums.reshape(left, levels, right, levels).sum(axis=(1, 3))


def gemm_pairs(X: np.ndarray, y: np.ndarray, levels: int) -> tuple[np.ndarray, np.ndarray]:
    """Redundancy and conditional redundancy of all pairs by one-hot float32 matrix products.

    Rows sorted by class, one product per class and chunk of features, the upper
    triangle only, counts of all classes added up for the total, and c ln c looked
    up in a table.
    """
    m, n = X.shape
    order = np.argsort(y, kind="stable")
    hot, sizes = _one_hot(X[order], levels), np.bincount(y)
    ends = np.cumsum(sizes)
    table = _log_table(m)
    whole, within = np.zeros((n, n)), np.zeros((n, n))
    chunk = max(1, min(n, 20_000_000 // (n * levels * levels)))  # about 80 MB of counts at a time
    for start in range(0, n, chunk):
        stop = min(n, start + chunk)
        total = np.zeros(((stop - start) * levels, hot.shape[1] - start * levels), dtype=hot.dtype)
        for end, size in zip(ends, sizes, strict=True):
            part = hot[end - size : end]
            counts = part[:, start * levels : stop * levels].T @ part[:, start * levels :]
            looked_up = table.take(counts.astype(np.int32))
            within[start:stop, start:] += _sum_blocks(looked_up, stop - start, n - start, levels)
            total += counts
        looked_up = table.take(total.astype(np.int32))
        whole[start:stop, start:] = _sum_blocks(looked_up, stop - start, n - start, levels)
    per_class = np.stack([hot[end - size : end].sum(axis=0) for end, size in zip(ends, sizes, strict=True)])
    alone = table.take(per_class.sum(axis=0).astype(np.int32)).reshape(n, levels).sum(axis=1)
    alone_within = table.take(per_class.astype(np.int32)).sum(axis=0).reshape(n, levels).sum(axis=1)
    redundancy = (whole - alone[:, None] - alone + table[m]) / m
    conditional = (within - alone_within[:, None] - alone_within + table[sizes].sum()) / m
    upper = np.triu_indices(n, 1)
    for terms in (redundancy, conditional):
        terms.T[upper] = terms[upper]
    return redundancy, conditional


def numpy_greedy(X: np.ndarray, y: np.ndarray, levels: int, k: int, criterion: str) -> list[int]:
    """Forward selection with mRMR or JMI: one one-hot matrix product per chosen column."""
    m, n = X.shape
    hot, sizes = _one_hot(X, levels), np.bincount(y)
    table = _log_table(m)
    classes = (y[:, None] == np.arange(len(sizes))).astype(np.float32)

    def log_sums(left: np.ndarray) -> np.ndarray:
        """Sum of c ln c over the cells of each feature with the columns of `left`."""
        counts = (left.T @ hot).astype(np.int32)
        return table.take(counts).sum(axis=0).reshape(n, levels).sum(axis=1)

    alone = log_sums(np.ones((m, 1), dtype=np.float32))
    with_class = log_sums(classes)
    relevance = (with_class - alone - table[sizes].sum() + table[m]) / m
    shared, chosen = np.zeros(n), []
    score = relevance.copy()
    for step in range(k):
        best = int(np.argmax(score))
        chosen.append(best)
        if step == k - 1:
            break
        column = hot[:, best * levels : (best + 1) * levels]
        redundancy = (log_sums(column) - alone[best] - alone + table[m]) / m
        if criterion == "mrmr":
            shared += redundancy
        else:
            sliced = (column[:, :, None] * classes[:, None, :]).reshape(m, -1)
            conditional = (log_sums(sliced) - with_class[best] - with_class + table[sizes].sum()) / m
            shared += redundancy - conditional
        score = relevance - shared / (step + 1)
        score[chosen] = -np.inf
    return chosen
