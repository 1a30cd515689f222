"""Slow twin of the Gaussian-copula estimator: plain loops over lists, None for a missing value, no fixed point."""

import math
from statistics import NormalDist


def digamma(x):
    """The derivative of ln Gamma, by its recurrence and then its asymptotic series."""
    total = 0.0
    while x < 20:
        total -= 1 / x
        x += 1
    square = 1 / (x * x)
    return total + math.log(x) - 0.5 / x - square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))


def scores(values, weights):
    """Normal quantiles of mean ranks among the values that are not None."""
    there = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None]
    total = math.fsum(weight for _, weight in there)
    out = []
    for value in values:
        if value is None:
            out.append(None)
            continue
        below = math.fsum(weight for other, weight in there if other < value)
        tied = math.fsum(weight for other, weight in there if other == value)
        out.append(NormalDist().inv_cdf((below + (tied + 1) / 2) / (total + 1)))
    return out


def residuals(column, known, weights):
    """What is left of a column after the constant and each of the known columns, one after the other."""
    basis = []
    for vector in [[1.0] * len(column), *known]:
        rest = _without(vector, basis, weights)
        if _dot(rest, rest, weights) > 1e-10 * _dot(vector, vector, weights):
            basis.append(rest)
    return _without(column, basis, weights), len(basis) - 1


def pair(a, b, known, weights):
    """I(A;B | known) of lists of scores, over the rows where both are there; and the weight of those rows."""
    rows = [i for i in range(len(a)) if a[i] is not None and b[i] is not None]
    weights = [weights[i] for i in rows]
    total = math.fsum(weights)
    given = [[column[i] for i in rows] for column in known]
    (rest_a, rank), (rest_b, _) = (residuals([side[i] for i in rows], given, weights) for side in (a, b))
    if total - rank < 3:
        return 0.0, total
    share = _dot(rest_a, rest_a, weights), _dot(rest_b, rest_b, weights)
    if min(share) < 1e-9:
        return 0.0, total
    unexplained = 1 - _dot(rest_a, rest_b, weights) ** 2 / (share[0] * share[1])
    if unexplained < 1e-12:
        return math.log(total), total
    bias = (digamma((total - rank - 1) / 2) - digamma((total - rank - 2) / 2)) / 2
    return min(max(-math.log(unexplained) / 2 - bias, 0.0), math.log(total)), total


def with_numbers(a, numbers, weights):
    """I(A; numbers) of lists of scores, over the rows where A is there; and the weight of those rows."""
    rows = [i for i in range(len(a)) if a[i] is not None]
    weights = [weights[i] for i in rows]
    total = math.fsum(weights)
    column = [a[i] for i in rows]
    alone, _ = residuals(column, [], weights)
    rest, rank = residuals(column, [[number[i] for i in rows] for number in numbers], weights)
    if total - rank < 3 or _dot(alone, alone, weights) < 1e-9:
        return 0.0, total
    unexplained = _dot(rest, rest, weights) / _dot(alone, alone, weights)
    if unexplained < 1e-12:
        return math.log(total), total
    bias = (digamma((total - 1) / 2) - digamma((total - 1 - rank) / 2)) / 2
    return min(max(-math.log(unexplained) / 2 - bias, 0.0), math.log(total)), total


def with_labels(a, labels, weights):
    """I(A;C) of a list of scores from the variance of all rows and of each class's, which are 0 for a constant only."""
    rows = [i for i in range(len(a)) if a[i] is not None]
    if len({a[i] for i in rows}) < 2:
        return 0.0
    total = math.fsum(weights[i] for i in rows)
    information, entropy = _log_variance([a[i] for i in rows], [weights[i] for i in rows]), 0.0
    for label in {labels[i] for i in rows}:
        inside = [i for i in rows if labels[i] == label]
        share = math.fsum(weights[i] for i in inside) / total
        information -= share * _log_variance([a[i] for i in inside], [weights[i] for i in inside])
        entropy -= share * math.log(share)
    return min(max(information / 2, 0.0), entropy)


def terms(columns, labels, numbers, weights=None):
    """Relevance, redundancy and conditional redundancy of columns, as lists."""
    weights = weights or [1] * len(labels)
    whole = [scores(column, weights) for column in columns]
    classes = []
    for label in sorted(set(labels)):
        rows = [i for i in range(len(labels)) if labels[i] == label]
        inside = [weights[i] for i in rows]
        classes.append(
            (
                [scores([column[i] for i in rows], inside) for column in columns],
                [scores([number[i] for i in rows], inside) for number in numbers],
                inside,
            )
        )
    relevance = []
    for i, column in enumerate(whole):
        value = with_labels(column, labels, weights) if len(classes) > 1 else 0.0
        if numbers:
            value += _average([with_numbers(inside[i], known, heavy) for inside, known, heavy in classes])
        relevance.append(value)
    redundancy = [[pair(a, b, [], weights)[0] for b in whole] for a in whole]
    conditional = [
        [
            _average([pair(inside[i], inside[j], known, heavy) for inside, known, heavy in classes])
            for j in range(len(whole))
        ]
        for i in range(len(whole))
    ]
    return relevance, redundancy, conditional


def _average(parts):
    total = math.fsum(weight for _, weight in parts)
    return math.fsum(value * weight for value, weight in parts) / total if total else 0.0


def _log_variance(column, weights):
    """ln of the variance of a normal sample, less its bias."""
    total = math.fsum(weights)
    rest, _ = residuals(column, [], weights)
    return math.log(_dot(rest, rest, weights) / total) - digamma((total - 1) / 2) - math.log(2 / total)


def _dot(a, b, weights):
    return math.fsum(x * y * w for x, y, w in zip(a, b, weights, strict=True))


def _without(vector, basis, weights):
    rest = list(vector)
    for other in basis:
        factor = _dot(rest, other, weights) / _dot(other, other, weights)
        rest = [x - factor * y for x, y in zip(rest, other, strict=True)]
    return rest
