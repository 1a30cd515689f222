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


def psi_near(columns, rows, i, rho, weights):
    """psi of the rows near one, and what weights add to it."""
    nearer, no_farther = 0, []
    for j in rows:
        d = farthest(columns, i, j)
        tie = d == rho or math.isclose(d, rho, rel_tol=1e-9)
        nearer += d < rho and not tie
        if (d < rho or tie) and d < math.inf:
            no_farther.append(j)
    return psi(max(nearer, len(no_farther) - 1)) + of_weights(no_farther, i, weights)


def of_weights(rows, i, weights):
    """The logarithm of the mean weight of some rows, among them i, without its bias."""
    whole, squares = math.fsum(weights[j] for j in rows), math.fsum(weights[j] ** 2 for j in rows)
    bias = weights[i] / whole - squares / whole**2 / 2 - 1 / len(rows) / 2
    return math.log(whole / len(rows)) - bias


def psi_all(rows, i, weights):
    return psi(len(rows)) + of_weights(rows, i, weights)


def shared_in_group(x, y, rows, k, weights):
    """Weighted sum over rows of what I(X;Y) is the mean of, and the weight used; x, y are (column, discrete)."""
    if x[1] != y[1]:
        labels = x[0] if x[1] else y[0]
        rows = [i for i in rows if sum(labels[j] == labels[i] for j in rows) > 1]
    if len(rows) < 2:
        return 0.0, 0
    used = math.fsum(weights[i] for i in rows)
    if len({x[0][i] for i in rows}) == 1 or len({y[0][i] for i in rows}) == 1:
        return 0.0, used
    total = 0.0
    for i in rows:
        rho = math.inf if x[1] and y[1] else kth_distance([x, y], rows, i, k)
        part = psi_all(rows, i, weights) + psi_near([x, y], rows, i, rho, weights)
        total += weights[i] * (part - psi_near([x], rows, i, rho, weights) - psi_near([y], rows, i, rho, weights))
    return total, used


def shared(x, y, groups, k, weights):
    """I(X;Y) within groups of rows, averaged over rows, as it comes: it may be negative."""
    total, used = 0.0, 0
    for group in groups:
        rows = [i for i in group if x[0][i] is not None and y[0][i] is not None]
        part, weight = shared_in_group(x, y, rows, k, weights)
        total += part
        used += weight
    return total / used if used else 0.0


def shared_with_many(xs, zs, groups, k, weights):
    """I(X;Z) for several columns X and several columns Z; None if there are no rows."""
    total, used = 0.0, 0
    for group in groups:
        rows = [i for i in group if all(x[0][i] is not None for x in xs)]
        if len(rows) < 2:
            continue
        used += math.fsum(weights[i] for i in rows)
        if len({tuple(x[0][i] for x in xs) for i in rows}) == 1:
            continue
        for i in rows:
            rho = kth_distance([*xs, *zs], rows, i, k)
            if all(discrete for _, discrete in [*xs, *zs]):
                rho = math.inf
            part = psi_all(rows, i, weights) + psi_near([*xs, *zs], rows, i, rho, weights)
            total += weights[i] * (part - psi_near(xs, rows, i, rho, weights) - psi_near(zs, rows, i, rho, weights))
    return total / used if used else None


def joint_relevance(x, y, labels, targets, classes, k, weights):
    """I(X,Y;C) + I(X,Y;Z|C); None if no rows have both."""
    parts = []
    if len(classes) > 1:
        both = [i for group in classes for i in group if x[0][i] is not None and y[0][i] is not None]
        both = [i for i in both if sum(labels[j] == labels[i] for j in both) > 1]
        parts.append(shared_with_many([x, y], [(labels, True)], [both], k, weights))
    if targets:
        parts.append(shared_with_many([x, y], [(z, False) for z in targets], classes, k, weights))
    if all(part is None for part in parts):
        return None
    return max(sum(part for part in parts if part is not None), 0.0)


def alone(x, k, weights):
    """I(X;X)."""
    rows = [i for i, value in enumerate(x[0]) if value is not None]
    if len({x[0][i] for i in rows}) < 2:
        return 0.0
    total = 0.0
    for i in rows:
        rho = math.inf if x[1] else kth_distance([x], rows, i, k)
        total += weights[i] * (psi_all(rows, i, weights) - psi_near([x], rows, i, rho, weights))
    return total / math.fsum(weights[i] for i in rows)


def terms(columns, discrete, labels, targets, k, weights=None):
    """Relevance, redundancy and conditional redundancy of (list of columns), as lists."""
    n = len(columns)
    weights = [1] * len(labels) if weights is None else weights
    columns = [
        (column, True) if kind else (in_deviations(column), False)
        for column, kind in zip(columns, discrete, strict=True)
    ]
    targets = [in_deviations(target) for target in targets]
    everyone = [list(range(len(labels)))]
    classes = [[i for i in everyone[0] if labels[i] == label] for label in sorted(set(labels))]
    relevance = []
    for x in columns:
        value = shared(x, (labels, True), everyone, k, weights) if len(classes) > 1 else 0.0
        if len(targets) == 1:
            value += shared(x, (targets[0], False), classes, k, weights)
        elif targets:
            value += shared_with_many([x], [(z, False) for z in targets], classes, k, weights) or 0.0
        relevance.append(max(value, 0.0))
    redundancy = [[0.0] * n for _ in range(n)]
    conditional = [[0.0] * n for _ in range(n)]
    for i, x in enumerate(columns):
        for j, y in enumerate(columns):
            if i == j:
                redundancy[i][i] = alone(x, k, weights)
                conditional[i][i] = redundancy[i][i] - relevance[i]
                continue
            redundancy[i][j] = max(shared(x, y, everyone, k, weights), 0.0)
            constant = any(len({value for value in column if value is not None}) < 2 for column, _ in (x, y))
            joint = None if constant else joint_relevance(x, y, labels, targets, classes, k, weights)
            interaction = 0.0 if joint is None else relevance[i] + relevance[j] - joint
            conditional[i][j] = redundancy[i][j] - interaction
    return relevance, redundancy, conditional
