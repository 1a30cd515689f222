"""Slow twins of counts, entropies, information terms and criteria: plain loops, nothing of the package."""

import math
from collections import Counter


def joint_counts(*columns):
    """How often each combination of values occurs."""
    counts = Counter()
    for row in zip(*columns, strict=True):
        counts[tuple(row)] += 1
    return counts


def entropy(*columns):
    """H of the columns together, in nats."""
    m = len(columns[0])
    return math.fsum(c / m * math.log(m / c) for c in joint_counts(*columns).values())


def information(a, b):
    """I(A;B), each cell by its own logarithm, so that nothing large cancels."""
    m = len(a)
    count_a, count_b = Counter(a), Counter(b)
    return math.fsum(c / m * math.log(c * m / (count_a[x] * count_b[y])) for (x, y), c in joint_counts(a, b).items())


def conditional_information(a, b, given):
    """I(A;B|C): the information within each class, averaged over the classes."""
    m = len(a)
    parts = []
    for c, size in Counter(given).items():
        rows = [i for i in range(m) if given[i] == c]
        parts.append(size / m * information([a[i] for i in rows], [b[i] for i in rows]))
    return math.fsum(parts)


def terms(columns, target):
    """Relevance, redundancy and conditional redundancy of all columns, as lists."""
    n = len(columns)
    relevance = [information(column, target) for column in columns]
    redundancy = [[information(columns[i], columns[j]) for j in range(n)] for i in range(n)]
    conditional = [[conditional_information(columns[i], columns[j], target) for j in range(n)] for i in range(n)]
    return relevance, redundancy, conditional


def fit_together(relevance, redundancy, conditional):
    """The same with as much conditional redundancy as lets no pair tell less than its better half."""
    n = len(relevance)
    least = [[redundancy[i][j] - min(relevance[i], relevance[j]) for j in range(n)] for i in range(n)]
    return relevance, redundancy, [[max(conditional[i][j], least[i][j]) for j in range(n)] for i in range(n)]


def criterion_value(name, subset, relevance, redundancy, conditional, size, beta=1.0):
    """Value of a subset with the pair weight of subsets of `size` features."""
    total = 0.0
    for i in subset:
        total += relevance[i]
    for place, i in enumerate(subset):
        for j in subset[:place]:
            if name == "max_relevance":
                pair = 0.0
            elif name == "mifs":
                pair = beta * redundancy[i][j]
            elif name == "mrmr":
                pair = redundancy[i][j] / (size - 1)
            elif name == "d1":
                pair = redundancy[i][j] - conditional[i][j]
            elif name == "jmi":
                pair = (redundancy[i][j] - conditional[i][j]) / (size - 1)
            else:
                raise ValueError(name)
            total -= pair
    return total
