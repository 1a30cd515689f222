"""Slow twins of the nearest-neighbour estimator: every pair of rows is looked at, in plain loops.

A column is a list of numbers or labels with None where missing; `discrete` columns are equal
or infinitely far apart. Shares no code with the package.
"""

from __future__ import annotations

import math

EULER = 0.57721566490153286061


def psi(n):
    """The digamma function of a whole number."""
    return math.fsum([-EULER, *(1.0 / i for i in range(1, n))])


def in_deviations(column):
    """Numbers in units of their standard deviation."""
    given = [value for value in column if value is not None]
    mean = math.fsum(given) / len(given)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in given) / len(given))
    return [None if value is None else value / (deviation or 1.0) for value in column]


def distance(column, discrete, i, j):
    if discrete:
        return 0.0 if column[i] == column[j] else math.inf
    return abs(column[i] - column[j])


def farthest(columns, i, j):
    """The largest distance of two rows in any of some (column, discrete)."""
    return max(distance(column, discrete, i, j) for column, discrete in columns)


def kth_distance(columns, rows, i, k):
    """Distance of the k-th nearest other row, of the last that is at any distance, or infinity."""
    finite = sorted(d for d in (farthest(columns, i, j) for j in rows if j != i) if d < math.inf)
    return finite[min(k, len(finite)) - 1] if finite else math.inf


def count(columns, rows, i, rho):
    nearer, others = 0, 0
    for j in rows:
        d = farthest(columns, i, j)
        tie = d == rho or math.isclose(d, rho, rel_tol=1e-9)
        nearer += d < rho and not tie
        others += j != i and (d < rho or tie) and d < math.inf
    return max(nearer, others)


def shared_in_group(x, y, rows, k):
    """Sum over rows of what I(X;Y) is the mean of, and the rows used; x, y are (column, discrete)."""
    if x[1] != y[1]:
        labels = x[0] if x[1] else y[0]
        rows = [i for i in rows if sum(labels[j] == labels[i] for j in rows) > 1]
    if len(rows) < 2:
        return 0.0, 0
    if len({x[0][i] for i in rows}) == 1 or len({y[0][i] for i in rows}) == 1:
        return 0.0, len(rows)
    total = len(rows) * psi(len(rows))
    for i in rows:
        rho = math.inf if x[1] and y[1] else kth_distance([x, y], rows, i, k)
        total += psi(count([x, y], rows, i, rho)) - psi(count([x], rows, i, rho)) - psi(count([y], rows, i, rho))
    return total, len(rows)


def shared(x, y, groups, k):
    """I(X;Y) within groups of rows, averaged over rows, as it comes: it may be negative."""
    total, used = 0.0, 0
    for group in groups:
        rows = [i for i in group if x[0][i] is not None and y[0][i] is not None]
        part, n = shared_in_group(x, y, rows, k)
        total += part
        used += n
    return total / used if used else 0.0


def shared_with_many(x, targets, groups, k):
    """I(X;Z) for several numbers Z."""
    total, used = 0.0, 0
    zs = [(z, False) for z in targets]
    for group in groups:
        rows = [i for i in group if x[0][i] is not None]
        if len(rows) < 2:
            continue
        used += len(rows)
        if len({x[0][i] for i in rows}) == 1:
            continue
        for i in rows:
            rho = kth_distance([x, *zs], rows, i, k)
            total += psi(len(rows)) + psi(count([x, *zs], rows, i, rho))
            total -= psi(count([x], rows, i, rho)) + psi(count(zs, rows, i, rho))
    return total / used if used else 0.0


def shared_given(x, y, targets, groups, k):
    """I(X;Y|Z) for some numbers Z."""
    total, used = 0.0, 0
    zs = [(z, False) for z in targets]
    for group in groups:
        rows = [i for i in group if x[0][i] is not None and y[0][i] is not None]
        if len(rows) < 2:
            continue
        used += len(rows)
        for i in rows:
            rho = kth_distance([x, y, *zs], rows, i, k)
            total += psi(count([x, y, *zs], rows, i, rho)) + psi(count(zs, rows, i, rho))
            total -= psi(count([x, *zs], rows, i, rho)) + psi(count([y, *zs], rows, i, rho))
    return total / used if used else 0.0


def alone(x, k):
    """I(X;X)."""
    rows = [i for i, value in enumerate(x[0]) if value is not None]
    if len({x[0][i] for i in rows}) < 2:
        return 0.0
    total = 0.0
    for i in rows:
        rho = math.inf if x[1] else kth_distance([x], rows, i, k)
        total += psi(len(rows)) - psi(count([x], rows, i, rho))
    return total / len(rows)


def terms(columns, discrete, labels, targets, k):
    """Relevance, redundancy and conditional redundancy of (list of columns), as lists."""
    n = len(columns)
    columns = [
        (column, True) if kind else (in_deviations(column), False)
        for column, kind in zip(columns, discrete, strict=True)
    ]
    targets = [in_deviations(target) for target in targets]
    everyone = [list(range(len(labels)))]
    classes = [[i for i in everyone[0] if labels[i] == label] for label in sorted(set(labels))]
    relevance = []
    for x in columns:
        value = shared(x, (labels, True), everyone, k) if len(classes) > 1 else 0.0
        if len(targets) == 1:
            value += shared(x, (targets[0], False), classes, k)
        elif targets:
            value += shared_with_many(x, targets, classes, k)
        relevance.append(max(value, 0.0))
    redundancy = [[0.0] * n for _ in range(n)]
    conditional = [[0.0] * n for _ in range(n)]
    for i, x in enumerate(columns):
        for j, y in enumerate(columns):
            if i == j:
                redundancy[i][i] = alone(x, k)
                conditional[i][i] = max(redundancy[i][i] - relevance[i], 0.0)
                continue
            redundancy[i][j] = max(shared(x, y, everyone, k), 0.0)
            given = shared_given(x, y, targets, classes, k) if targets else shared(x, y, classes, k)
            conditional[i][j] = max(given, 0.0)
    return relevance, redundancy, conditional
