"""Slow twin of the Gaussian-copula estimator: plain loops over lists, None for a missing value, no fixed point."""

import math
from collections import Counter
from statistics import NormalDist

import naive
import naive_coding


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


def tied(values, weights):
    """The part of all pairs of rows that have the same value."""
    sizes = Counter()
    for value, weight in zip(values, weights, strict=True):
        if value is not None:
            sizes[value] += weight
    total = math.fsum(sizes.values())
    return math.fsum(max(size * (size - 1), 0) for size in sizes.values()) / max(total * (total - 1), 1)


def tie_spreads(values, weights):
    """The mean of (z - score)^2 over the normal numbers z whose ranks the ties of each value fill; 0 for few rows."""
    there = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None]
    total = math.fsum(weight for _, weight in there)
    normal = NormalDist()
    known, out = {}, []
    for value, score in zip(values, scores(values, weights), strict=True):
        if value is not None and value not in known:
            below = math.fsum(weight for other, weight in there if other < value)
            size = math.fsum(weight for other, weight in there if other == value)
            low, high = (normal.inv_cdf((below + rank + 0.5) / (total + 1)) for rank in (0, size))
            share = size / (total + 1)
            mean = (normal.pdf(low) - normal.pdf(high)) / share
            square = 1 + (low * normal.pdf(low) - high * normal.pdf(high)) / share
            known[value] = square - 2 * score * mean + score**2 if size >= max(2, 0.01 * total) else 0.0
        out.append(known.get(value, 0.0))
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
    """I(A;B | known) of lists of scores, over the rows where both are there, without limits; and their weight."""
    rows = [i for i in range(len(a)) if a[i] is not None and b[i] is not None]
    weights = [weights[i] for i in rows]
    total = math.fsum(weights)
    given = [[column[i] for i in rows] for column in known]
    (rest_a, rank), (rest_b, _) = (residuals([side[i] for i in rows], given, weights) for side in (a, b))
    if total - rank < 3:
        return 0.0, total
    bias = (digamma((total - rank - 1) / 2) - digamma((total - rank - 2) / 2)) / 2
    share = _dot(rest_a, rest_a, weights), _dot(rest_b, rest_b, weights)
    if min(share) < 1e-9:
        return -bias, total
    unexplained = 1 - _dot(rest_a, rest_b, weights) ** 2 / (share[0] * share[1])
    return (math.inf if unexplained < 1e-12 else -math.log(unexplained) / 2 - bias), total


def shared(alone, given, one, other, rows):
    """I(A;B;Z) from I(A;B), I(A;B|Z), I(A;Z) and I(B;Z)."""
    if alone == math.inf:
        return min(one, other)
    return min(max(alone - given, one + other - math.log(max(rows, 1))), one, other)


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


def with_labels(a, spreads, labels, weights):
    """I(A;C) of a list of scores: how far each class's normal distribution is from that of all rows, on average."""
    rows = [i for i in range(len(a)) if a[i] is not None]
    total = math.fsum(weights[i] for i in rows)
    if total < 3 or len({a[i] for i in rows}) < 2:
        return 0.0
    mean, variance = _mean_and_variance(a, spreads, weights, rows)
    information = 0.0
    for label in {labels[i] for i in rows}:
        inside = [i for i in rows if labels[i] == label]
        size = math.fsum(weights[i] for i in inside)
        if size < 3:
            continue
        own_mean, own = _mean_and_variance(a, spreads, weights, inside)
        said = math.inf
        if own > 1e-9 * variance:
            said = math.log(variance / own) + (own + (own_mean - mean) ** 2) / variance - 1
            said = (said - _log_bias(total) + _log_bias(size)) / 2
        information += size / total * min(said, math.log(total / size))
    return max(information, 0.0)


def terms(columns, labels, numbers, weights=None):
    """Relevance, redundancy, and redundancy - interaction of columns, as lists.

    Weights that are not whole are for columns that are not tied.
    """
    weights = weights or [1] * len(labels)
    bins = number_of_bins(labels, len(numbers), weights)
    tied_numbers = [number for number in numbers if tied(number, weights) > 0.2]
    numbers = [number for number in numbers if tied(number, weights) <= 0.2]
    for number in tied_numbers:
        labels = list(zip(labels, _bins_beside_mode(number, weights, bins, 1, 1), strict=True))
    limit = 0.03 if len(set(labels)) > 1 else 0.2
    counted = [tied(column, weights) > limit for column in columns]
    relevance, redundancy, interaction = ranked_terms(columns, labels, numbers, weights)
    if any(counted):
        bins = number_of_bins(labels, len(numbers), weights)
        target = labels
        for number in numbers:
            target = list(zip(target, _bins(number, weights, bins), strict=True))
        sizes = Counter(naive_coding.repeated(target, weights))
        small = [label for label in sizes if sizes[label] < 3]
        largest = min(sizes, key=lambda label: (-sizes[label], label))
        together = "small" if sum(sizes[label] for label in small) >= 3 else largest
        target = naive_coding.repeated([together if label in small else label for label in target], weights)
        cells = len(set(labels)), 2 + len(numbers)
        codes = []
        for column, is_counted in zip(columns, counted, strict=True):
            own = _bins_beside_mode(column, weights, bins, *cells) if is_counted else _bins(column, weights, bins)
            codes.append(naive_coding.repeated(own, weights))
        for i, one in enumerate(codes):
            if counted[i]:
                there = [place for place, code in enumerate(one) if code is not None]
                relevance[i] = max(_counted([one[t] for t in there], [target[t] for t in there]), 0.0)
            for j, other in enumerate(codes):
                if counted[i] or counted[j]:
                    alone, within = _counted(one, other), _counted(one, other, target)
                    there = [code for code in one if code is not None]
                    redundancy[i][j] = max(alone, 0.0) if i != j else naive.entropy(there) if there else 0.0
                    interaction[i][j] = alone - within
    n = len(columns)
    for i in range(n):
        for j in range(n):
            limit = min(relevance[i], relevance[j])
            interaction[i][j] = limit if i == j else min(interaction[i][j], limit)
    rest = [[redundancy[i][j] - interaction[i][j] for j in range(n)] for i in range(n)]
    return relevance, redundancy, rest


def number_of_bins(labels, n_numbers, weights):
    bins = math.floor((math.fsum(weights) / (2 * len(set(labels)))) ** (1 / (2 + n_numbers)))
    return min(max(bins, 3), 6)


def ranked_terms(columns, labels, numbers, weights):
    """Relevance, redundancy and interaction by ranks."""
    whole = [scores(column, weights) for column in columns]
    classes = []
    for label in sorted(set(labels)):
        rows = [i for i in range(len(labels)) if labels[i] == label]
        inside = [weights[i] for i in rows]
        if len(set(labels)) == 1 or math.fsum(inside) >= 3:
            ranked = [scores([column[i] for i in rows], inside) for column in columns]
            classes.append((ranked, [scores([number[i] for i in rows], inside) for number in numbers], inside))
    labelled = len(set(labels)) > 1
    n = len(columns)
    by_labels = [0.0] * n
    if labelled:
        by_labels = [with_labels(whole[i], tie_spreads(columns[i], weights), labels, weights) for i in range(n)]
    by_numbers = [[with_numbers(inside[i], known, heavy) for inside, known, heavy in classes] for i in range(n)]
    present = [[i for i, value in enumerate(column) if value is not None] for column in columns]
    relevance = []
    for i in range(n):
        total = math.fsum(weights[row] for row in present[i])
        within = math.fsum(value * size for value, size in by_numbers[i]) / total if numbers and total else 0.0
        relevance.append(by_labels[i] + within)
    redundancy, interaction = [[0.0] * n for _ in range(n)], [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            alone, total = pair(whole[i], whole[j], [], weights)
            most = math.log(max(total, 1))
            redundancy[i][j] = min(max(alone, 0.0), most)
            if not total:
                continue
            within = 0.0
            for place, (inside, known, heavy) in enumerate(classes):
                own, size = pair(inside[i], inside[j], [], heavy)
                within += size / total * min(own, math.log(max(size, 1)))
                if numbers:
                    given, _ = pair(inside[i], inside[j], known, heavy)
                    one, other = by_numbers[i][place][0], by_numbers[j][place][0]
                    interaction[i][j] += size / total * shared(own, given, one, other, size)
            if labelled:
                interaction[i][j] += shared(min(alone, most), within, by_labels[i], by_labels[j], total)
    return relevance, redundancy, interaction


def _bins(column, weights, bins):
    """In which of some bins of equal counts the mean rank of each value is; None where there is no value."""
    edges = [NormalDist().inv_cdf(t / bins) for t in range(1, bins)]
    # Scores are rounded to a millionth: those at an edge are not told apart from it.
    return [None if z is None else sum(z >= edge - 1e-6 for edge in edges) for z in scores(column, weights)]


def _bins_beside_mode(column, weights, bins, n_classes, cut):
    """The most frequent value on its own, the others in up to bins - 1 of equal counts by their mean ranks."""
    sizes = Counter()
    for value, weight in zip(column, weights, strict=True):
        if value is not None:
            sizes[value] += weight
    if not sizes:
        return [None] * len(column)
    mode = min(sizes, key=lambda value: (-sizes[value], value))
    rest = sum(sizes.values()) - sizes[mode]
    count = min(max(math.floor((rest / (2 * n_classes)) ** (1 / cut)), 1), bins - 1)
    below = sum(size for value, size in sizes.items() if value < mode)
    codes = []
    for value in column:
        if value is None or value == mode:
            codes.append(None if value is None else bins - 1)
            continue
        middle = sum(size for other, size in sizes.items() if other < value) + sizes[value] / 2
        edges = [rest * t / count for t in range(1, count)]
        edges = [edge if edge < below else edge + sizes[mode] for edge in edges]
        codes.append(sum(middle >= edge - 1e-6 for edge in edges))
    return codes


def _counted(one, other, given=None):
    """I(A;B) or I(A;B|C) of codes less what chance alone adds, over the rows where both are there."""
    rows = [i for i in range(len(one)) if one[i] is not None and other[i] is not None]
    if not rows:
        return 0.0
    given = [0] * len(one) if given is None else given
    a, b, c = ([column[i] for i in rows] for column in (one, other, given))
    chance = 0.0
    for label in set(given):
        # The levels of a class are those of all its rows, not only of those that have the other column.
        free = [
            len({code for code, own in zip(side, given, strict=True) if own == label and code is not None}) - 1
            for side in (one, other)
        ]
        chance += max(free[0], 0) * max(free[1], 0) / (2 * len(rows))
    return naive.conditional_information(a, b, c) - chance


def _mean_and_variance(a, spreads, weights, rows):
    total = math.fsum(weights[i] for i in rows)
    mean = math.fsum(weights[i] * a[i] for i in rows) / total
    return mean, math.fsum(weights[i] * ((a[i] - mean) ** 2 + spreads[i]) for i in rows) / total


def _log_bias(total):
    """By how much ln of the variance of a normal sample is off on average."""
    return digamma((total - 1) / 2) + math.log(2 / total)


def _dot(a, b, weights):
    return math.fsum(x * y * w for x, y, w in zip(a, b, weights, strict=True))


def _without(vector, basis, weights):
    rest = list(vector)
    for other in basis:
        factor = _dot(rest, other, weights) / _dot(other, other, weights)
        rest = [x - factor * y for x, y in zip(rest, other, strict=True)]
    return rest
