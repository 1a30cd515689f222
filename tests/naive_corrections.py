"""Slow twins of corrected, weighted and pairwise information: plain loops, nothing of the package.

A missing value is None. Weights are added as fractions, so nothing is rounded before the logarithm.
"""

import math
from fractions import Fraction
from itertools import product


def weighed_counts(columns, weights):
    """Weight of each combination of values."""
    counts = {}
    for row, weight in zip(zip(*columns, strict=True), weights, strict=True):
        counts[row] = counts.get(row, 0) + Fraction(weight)
    return counts


def grassberger_log(n):
    """Grassberger's G(n), by its recursion."""
    value = -0.57721566490153286 - math.log(2)
    even = 0
    while even + 2 <= n:
        value += 2 / (even + 1)
        even += 2
    return value


def entropy(columns, weights, correction):
    """H of the columns together, by the formula of each correction."""
    counts = [float(count) for count in weighed_counts(columns, weights).values()]
    total = float(sum(Fraction(weight) for weight in weights))
    if len(counts) == 1:
        return 0.0  # what takes one value has no entropy, whatever a formula says
    if correction == "grassberger":
        return math.log(total) - math.fsum(c * grassberger_log(int(c)) for c in counts) / total
    observed = -math.fsum(c / total * math.log(c / total) for c in counts)
    return observed + ((len(counts) - 1) / (2 * total) if correction == "miller_madow" else 0.0)


def chance(a, b, weights):
    """N times the mean information of two columns over all orders of the rows of one of them.

    A row of weight w is w rows. Weights that are not whole have no orders, and millions of samples too many:
    then it is what the mean begins with, (levels - 1)(levels - 1) / 2.
    """
    total = sum(map(Fraction, weights))
    rows, columns = (list(weighed_counts([column], weights).values()) for column in (a, b))
    if any(Fraction(weight).denominator > 1 for weight in weights) or total > 10_000:
        return (len(rows) - 1) * (len(columns) - 1) / 2
    expected, total = [], int(total)
    for i, j in product(map(int, rows), map(int, columns)):
        for n in range(max(1, i + j - total), min(i, j) + 1):
            likely = Fraction(math.comb(i, n) * math.comb(total - i, j - n), math.comb(total, j))
            expected.append(float(likely) * n * math.log(n * total / (i * j)))
    return math.fsum(expected)


def chance_given(a, b, given, weights):
    """The same within each group of rows, each with as many orders as it has; per sample of all."""
    groups = [[i for i in range(len(a)) if given[i] == group] for group in set(given)]
    parts = [chance(*([column[i] for i in rows] for column in (a, b, weights))) for rows in groups]
    return math.fsum(parts) / float(sum(map(Fraction, weights)))


def shrunk_table(columns, weights):
    """Shrunk probability of every combination of the values that occur, empty ones too."""
    counts = weighed_counts(columns, weights)
    total = sum(counts.values())
    values = [sorted(set(column)) for column in columns]
    cells = {row: counts.get(row, Fraction(0)) / total for row in product(*values)}
    equal = Fraction(1, len(cells))
    apart = (total - 1) * sum((equal - p) ** 2 for p in cells.values())
    weight = min(Fraction(1), (1 - sum(p * p for p in cells.values())) / apart) if apart > 0 else Fraction(1)
    return {row: float(weight * equal + (1 - weight) * p) for row, p in cells.items()}


def table_entropy(table, places):
    """H of some of the variables of a table of probabilities."""
    margin = {}
    for row, p in table.items():
        key = tuple(row[place] for place in places)
        margin.setdefault(key, []).append(p)
    sums = [math.fsum(parts) for parts in margin.values()]
    return -math.fsum(p * math.log(p) for p in sums if p > 0)


def information(a, b, given, weights, correction):
    """I(A;B|given) of the rows where both have a value; 0 if there are none, and never negative."""
    rows = [i for i in range(len(a)) if a[i] is not None and b[i] is not None]
    if not rows:
        return 0.0
    a, b, c = [a[i] for i in rows], [b[i] for i in rows], [given[i] for i in rows]
    weights = [weights[i] for i in rows]
    if correction == "shrinkage":
        table = shrunk_table([a, b, c], weights)
        value = table_entropy(table, (0, 2)) + table_entropy(table, (1, 2))
        value -= table_entropy(table, (0, 1, 2)) + table_entropy(table, (2,))
    else:
        value = entropy([a, c], weights, correction) + entropy([b, c], weights, correction)
        value -= entropy([a, b, c], weights, correction) + entropy([c], weights, correction)
        value -= chance_given(a, b, c, weights) if correction == "chance" else 0.0
    return max(value, 0.0)


def own_entropies(a, target, weights, correction):
    """H(A) and H(A|C) of the rows where A has a value."""
    rows = [i for i in range(len(a)) if a[i] is not None]
    if not rows:
        return 0.0, 0.0
    a, c, weights = [a[i] for i in rows], [target[i] for i in rows], [weights[i] for i in rows]
    if correction == "shrinkage":
        table = shrunk_table([a, c], weights)
        own = table_entropy(shrunk_table([a], weights), (0,))
        within = table_entropy(table, (0, 1)) - table_entropy(table, (1,))
    else:
        own = entropy([a], weights, correction)
        within = entropy([a, c], weights, correction) - entropy([c], weights, correction)
    return max(own, 0.0), max(within, 0.0)


def terms(columns, target, weights, correction):
    """Relevance, redundancy and conditional redundancy of all columns, as lists."""
    n, everyone = len(columns), [0] * len(target)
    relevance = [information(column, target, everyone, weights, correction) for column in columns]
    redundancy = [[information(a, b, everyone, weights, correction) for b in columns] for a in columns]
    conditional = [[information(a, b, target, weights, correction) for b in columns] for a in columns]
    for i in range(n):
        redundancy[i][i], conditional[i][i] = own_entropies(columns[i], target, weights, correction)
    return relevance, redundancy, conditional
