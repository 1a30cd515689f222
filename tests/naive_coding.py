"""Slow twins of the coding room: plain Python loops that share no code with the package."""

from __future__ import annotations

import math
from fractions import Fraction


def codes_of(column, edges):
    """How many edges each number has reached."""
    codes = []
    for x in column:
        count = 0
        for edge in edges:
            if x >= edge:
                count += 1
        codes.append(count)
    return codes


def distinct_edges(edges, column):
    """Edges without repetition, moved above the smallest number; none for a constant column."""
    low, high = min(column), max(column)
    if low == high:
        return []
    kept = []
    for edge in edges:
        edge = max(edge, math.nextafter(low, math.inf))
        if not kept or edge > kept[-1]:
            kept.append(edge)
    return kept


def uniform(column, bins):
    low, high = min(column), max(column)
    if math.isinf(high - low):
        edges = [2 * (low / 2 + t * ((high / 2 - low / 2) / bins)) for t in range(1, bins)]
    else:
        edges = [low + t * ((high - low) / bins) for t in range(1, bins)]
    return distinct_edges(edges, column)


def quantile_of(column, share):
    """The quantile by linear interpolation between neighbours in order, from the nearer one."""
    ordered = sorted(column)
    place = share * (len(ordered) - 1)
    left = math.floor(place)
    right = min(left + 1, len(ordered) - 1)
    part = place - left
    step = ordered[right] - ordered[left]
    if part >= 0.5:
        return ordered[right] - step * (1 - part)
    return ordered[left] + step * part


def quantile(column, bins, weights=None):
    """Edges at the quantiles; if one number holds several, it is cut out and the rest cut on its own."""

    def at_quantiles(some, count):
        if weights is None:
            return [quantile_of([column[i] for i in some], t / count) for t in range(1, count)]
        inside = [column[i] for i in some], [weights[i] for i in some]
        return [weighted_quantile_of(*inside, t / count) for t in range(1, count)]

    quantiles = at_quantiles(range(len(column)), bins)
    holders = sorted({q for q in quantiles if quantiles.count(q) > 1})
    if holders:
        number = max(holders, key=quantiles.count)
        rest = [i for i, x in enumerate(column) if x != number]
        below, above = min(column) < number, number < max(column)
        total = len(rest) if weights is None else math.fsum(weights[i] for i in rest)
        count = max(1, min(bins - 1 - (below and above), math.floor(total / 10)))
        quantiles = at_quantiles(rest, count)
        smallest = min((column[i] for i in rest if column[i] > number), default=None)
        quantiles = [math.nextafter(q, math.inf) if q == smallest else q for q in quantiles]
        quantiles += [number] * below + [math.nextafter(number, math.inf)] * above
    return edges_at(quantiles, column)


def edges_at(quantiles, column):
    """An edge at every quantile, and one right above a number that holds several, unless it is the largest."""
    edges = set(quantiles)
    for q in quantiles:
        if quantiles.count(q) > 1 and q < max(column):
            edges.add(math.nextafter(q, math.inf))
    return distinct_edges(sorted(edges), column)


def mean_std(column):
    """States 0, 1, 2: below mean - std, between, above mean + std, in exact arithmetic.

    If all are between, 0 and 1: below the mean, and not.
    """
    column = [Fraction(x) for x in column]
    mean = sum(column) / len(column)
    variance = sum((x - mean) ** 2 for x in column) / len(column)
    states = []
    for x in column:
        if (x - mean) ** 2 <= variance:
            states.append(1)
        else:
            states.append(0 if x < mean else 2)
    if all(state == 1 for state in states):
        return [int(x >= mean) for x in column] if min(column) < max(column) else [0] * len(column)
    return states


def levels(column):
    """Place of each value among the distinct values in order."""
    distinct = sorted(set(column))
    return [distinct.index(value) for value in column]


def n_bins(column, rule):
    m = len(column)
    sturges = math.ceil(math.log2(m)) + 1
    if rule == "sturges":
        found = sturges
    elif rule == "sqrt":
        found = math.ceil(math.sqrt(m))
    else:
        spread = quantile_of(column, 0.75) - quantile_of(column, 0.25)
        if spread == 0:
            return min(max(sturges, 2), 256)
        found = math.ceil((max(column) - min(column)) / (2 * spread * m ** (-1 / 3)))
    return min(max(found, 2), 256)


def entropy(labels):
    total = 0.0
    for label in set(labels):
        share = labels.count(label) / len(labels)
        total -= share * math.log2(share)
    return total


def mdlp(rows):
    """Cuts of (number, label) rows by Fayyad and Irani's recursion."""
    rows = sorted(rows)
    labels = [label for _, label in rows]
    n, k = len(rows), len(set(labels))
    candidates = []
    for i in range(1, n):
        if rows[i - 1][0] < rows[i][0]:
            left, right = labels[:i], labels[i:]
            candidates.append((i, (len(left) * entropy(left) + len(right) * entropy(right)) / n))
    if not candidates:
        return []
    least = min(score for _, score in candidates)
    i, score = next((i, score) for i, score in candidates if score <= least + 1e-11)
    left, right = labels[:i], labels[i:]
    gain = entropy(labels) - score
    change = k * entropy(labels) - len(set(left)) * entropy(left) - len(set(right)) * entropy(right)
    if gain <= (math.log2(n - 1) + math.log2(3**k - 2) - change) / n:
        return []
    below, above = rows[i - 1][0], rows[i][0]
    middle = below / 2 + above / 2
    return [*mdlp(rows[:i]), middle if middle > below else above, *mdlp(rows[i:])]


def with_gaps(column, code):
    """Codes of the values that are there, and the next one for None; `code` codes a column without gaps."""
    found = code([x for x in column if x is not None])
    left = iter(found)
    last = max(found, default=-1) + 1
    return [last if x is None else next(left) for x in column]


def repeated(values, weights):
    """Every value as often as its whole weight says."""
    return [value for value, weight in zip(values, weights, strict=True) for _ in range(int(weight))]


def weighted_quantile_of(column, weights, share):
    """As quantile_of, row r being the first number up to which more than r of the weight lies."""
    pairs = sorted(zip(column, weights, strict=True))
    place = max(share * (math.fsum(weights) - 1), 0.0)

    def row(rank):
        for i, (x, _) in enumerate(pairs):
            if math.fsum(weight for _, weight in pairs[: i + 1]) > rank:
                return x
        return pairs[-1][0]

    left, right = row(math.floor(place)), row(math.floor(place) + 1)
    part = place - math.floor(place)
    return right - (right - left) * (1 - part) if part >= 0.5 else left + (right - left) * part


def weighted_mean_std(column, weights):
    total = math.fsum(weights)
    mean = math.fsum(w * x for x, w in zip(column, weights, strict=True)) / total
    variance = math.fsum(w * (x - mean) ** 2 for x, w in zip(column, weights, strict=True)) / total
    return mean - math.sqrt(variance), mean + math.sqrt(variance)


def joint(columns):
    """Place of every row among the distinct rows in order, and these."""
    rows = list(zip(*columns, strict=True))
    distinct = sorted(set(rows))
    return [distinct.index(row) for row in rows], distinct


def expanded(starts, rows, codes, background, m):
    """A sparse coded table's codes written out, feature by feature."""
    table = []
    for i in range(len(background)):
        feature = [int(background[i])] * m
        for cell in range(starts[i], starts[i + 1]):
            feature[rows[cell]] = int(codes[cell])
        table.append(feature)
    return table
