"""Slow twins of the theory: dictionaries and plain loops, nothing of the package."""

import math
from itertools import combinations, permutations, product


def cells(table):
    """Probability of each combination of levels, as a dictionary."""
    total = float(table.sum())
    return {
        place: float(table[place]) / total
        for place in product(*(range(size) for size in table.shape))
        if table[place] > 0
    }


def margin(table, axes):
    found = {}
    for place, p in cells(table).items():
        key = tuple(place[axis] for axis in axes)
        found[key] = found.get(key, 0.0) + p
    return found


def entropy(table, axes):
    return math.fsum(-p * math.log(p) for p in margin(table, axes).values())


def information(table, first, second):
    """I(A;B), each cell by its own logarithm."""
    joint, a, b = margin(table, [*first, *second]), margin(table, first), margin(table, second)
    return math.fsum(
        p * math.log(p / (a[key[: len(first)]] * b[key[len(first) :]])) for key, p in joint.items()
    )  # fmt: skip


def conditional(measure, table, given):
    """A measure of the table within each combination of the given variables, averaged over these."""
    total = 0.0
    for levels, p in margin(table, given).items():
        index = [slice(None)] * table.ndim
        for axis, level in zip(given, levels, strict=True):
            index[axis] = slice(level, level + 1)
        total += p * measure(table[tuple(index)])
    return total


def interaction(table, axes):
    """The recursion of eq_7, as it stands."""
    if len(axes) == 1:
        return entropy(table, axes)
    *others, last = axes
    return interaction(table, others) - conditional(lambda part: interaction(part, others), table, [last])


def first_cut(table, order):
    """eq_8 by the recursion of eq_7."""
    target = table.ndim - 1
    total = 0.0
    for size in range(1, order + 1):
        for some in combinations(range(target), size):
            total += (-1) ** (size - 1) * interaction(table, [*some, target])
    return total


def second_cut(table, order):
    """eq_10.5: the first `order` terms of the chain rule, over all orders of the features, divided by N!."""
    target = table.ndim - 1
    total, count = 0.0, 0
    for sequence in permutations(range(target)):
        count += 1
        for place in range(order):
            before, feature = list(sequence[:place]), sequence[place]
            total += conditional(lambda part, i=feature: information(part, [i], [target]), table, before)
    return total / count


def kirkwood(table):
    """`kirk`, cell by cell."""
    n = table.ndim
    singles = [margin(table, [i]) for i in range(n)]
    pairs = {(i, j): margin(table, [i, j]) for i, j in combinations(range(n), 2)}
    found = {}
    for place in product(*(range(size) for size in table.shape)):
        value = 1.0
        for (i, j), pair in pairs.items():
            value *= pair.get((place[i], place[j]), 0.0)
        if value:
            for i in range(n):
                # No pairs, n = 1: the level's own probability, 0 if it never occurs.
                single = singles[i].get((place[i],), 0.0)
                value = value * single if n == 1 else value / single ** (n - 2)
        found[place] = value
    return found


def bayes_error(table):
    """The share of samples that are not of the most frequent class of their cell."""
    best = {}
    for place, p in cells(table).items():
        best[place[:-1]] = max(best.get(place[:-1], 0.0), p)
    return 1.0 - math.fsum(best.values())
