"""Slow twins of every criterion, straight from columns of levels: plain loops, nothing of the package."""

import math
from collections import Counter
from itertools import combinations

import naive_corrections
from naive import conditional_information, entropy, information


def impurity_gain(columns, target):
    """By how much the columns together lower the Gini impurity of the target."""
    m = len(target)
    cells = Counter(zip(*columns, strict=True))
    joint = Counter(zip(*columns, target, strict=True))
    left = math.fsum(count * count / cells[key[:-1]] for key, count in joint.items()) / m
    return left - math.fsum(count * count for count in Counter(target).values()) / m**2


def together(*columns):
    """Several columns as one."""
    return list(zip(*columns, strict=True))


def joint_relevance(a, b, target):
    return information(together(a, b), target)


def symmetrical_relevance(a, b, target):
    whole = entropy(a, b, target)
    return joint_relevance(a, b, target) / whole if whole else 0.0


def interaction(a, b, target):
    return information(a, b) - conditional_information(a, b, target)


def cautious_relevance(x, target, weights=None):
    """I(X;C) less the mean and two standard deviations over all orders of the target, from the rows that have X."""
    rows = [i for i in range(len(x)) if x[i] is not None]
    column, classes = [x[i] for i in rows], [target[i] for i in rows]
    weights = [1 if weights is None else weights[i] for i in rows]
    if not rows:
        return 0.0
    mean = naive_corrections.chance(column, classes, weights) / math.fsum(weights)
    plain = naive_corrections.information(column, classes, [0] * len(rows), weights, "none")
    freedom = (len(set(column)) - 1) * (len(set(classes)) - 1)
    return plain - mean - 2 * mean * math.sqrt(2 / freedom) if freedom else plain - mean


def overlap(a, b, target, weights=None):
    """I(A;B) - I(A;B|C), each less its mean by chance and not below 0."""
    weights = weights or [1] * len(a)
    alone = naive_corrections.information(a, b, [0] * len(a), weights, "chance")
    return alone - naive_corrections.information(a, b, target, weights, "chance")


def distinct_value(columns, target, weights=None):
    """The value by the criterion "distinct" of terms less chance."""
    value = math.fsum(cautious_relevance(column, target, weights) for column in columns)
    shared = [overlap(a, b, target, weights) for a, b in combinations(columns, 2)]
    return value - math.fsum(one + max(0.0, one) for one in shared) / max(1, len(columns) - 1)


def symmetric_uncertainty(a, b):
    whole = entropy(a) + entropy(b)
    return 2 * information(a, b) / whole if whole else 0.0


def pair_gain(name, a, b, target, size, beta=1.0, gamma=1.0):
    """What a pair adds to a subset of `size` features."""
    averaged = 1 / (size - 1)
    return {
        "jmi": lambda: -averaged * interaction(a, b, target),
        "distinct": lambda: -averaged * (interaction(a, b, target) + max(0.0, interaction(a, b, target))),
        "mrmr": lambda: -averaged * information(a, b),
        "mifs": lambda: -beta * information(a, b),
        "d1": lambda: -interaction(a, b, target),
        "disr": lambda: symmetrical_relevance(a, b, target),
        "icap": lambda: -max(0.0, interaction(a, b, target)),
        "condred": lambda: conditional_information(a, b, target),
        "linear": lambda: gamma * conditional_information(a, b, target) - beta * information(a, b),
        "jim": lambda: impurity_gain([a, b], target),
        "nmrmr": lambda: -averaged * symmetric_uncertainty(a, b),
        "max_relevance": lambda: 0.0,
    }[name]()


def quadratic_value(name, columns, target, **weights):
    """Value of a set of columns by a criterion that is a sum over pairs."""
    size = len(columns)
    single = {"jim": lambda x, c: impurity_gain([x], c), "distinct": cautious_relevance}.get(name, information)
    singles = (
        math.fsum(single(column, target) for column in columns) if size == 1 or name not in ("disr", "jim") else 0.0
    )
    return singles + math.fsum(pair_gain(name, a, b, target, size, **weights) for a, b in combinations(columns, 2))


def information_given(x, target, given):
    """I(X;C|all columns given)."""
    return conditional_information(x, target, together(*given)) if given else information(x, target)


def step_score(name, x, chosen, target):
    """What a column adds to those chosen before it."""
    if not chosen:
        return information(x, target)
    if name == "cmim":
        return min(information(x, target), *(conditional_information(x, target, w) for w in chosen))
    if name == "jmim":
        return min(joint_relevance(x, w, target) for w in chosen)
    if name == "njmim":
        return min(symmetrical_relevance(x, w, target) for w in chosen)
    if name == "cmi":
        return information_given(x, target, chosen)
    if name == "miq":
        redundancy = math.fsum(information(x, w) for w in chosen) / len(chosen)
        return information(x, target) / max(redundancy, 1e-12)
    if name == "cife3":
        return first_expansion([*chosen, x], target) - first_expansion(chosen, target)
    if name == "jmi3":
        return second_expansion([*chosen, x], target) - second_expansion(chosen, target)
    raise ValueError(name)


def first_expansion(columns, target):
    """sum I(Xi;C) - sum I(Xi;Xj;C) + sum I(Xi;Xj;Xl;C), each interaction by inclusion and exclusion of joint ones."""
    total = 0.0
    for size in (1, 2, 3):
        for some in combinations(columns, size):
            parts = [part for r in range(1, size + 1) for part in combinations(some, r)]
            shared = math.fsum((-1) ** (len(part) - 1) * information(together(*part), target) for part in parts)
            total += (-1) ** (size - 1) * shared
    return total


def second_expansion(columns, target):
    """k/2 times the mean of I(A;C) over the triples A; k/2 I(all;C) for two features, I(X;C) for one."""
    size = len(columns)
    if size < 3:
        return information(together(*columns), target)
    triples = [information(together(*some), target) for some in combinations(columns, 3)]
    return size / 2 * math.fsum(triples) / len(triples)


def steps_along(name, columns, order, target):
    """What each column of an order added to those before it."""
    return [step_score(name, columns[i], [columns[j] for j in order[:place]], target) for place, i in enumerate(order)]


def first_of_best(scores, scale):
    """The lowest key whose score equals the largest, to rounding."""
    best = max(scores.values())
    return min(key for key, score in scores.items() if score >= best - 1e-12 * max(abs(best), scale))


def stepwise_forward(name, columns, target, k):
    """The order in which forward selection chooses, and the scores; CMI ends where nothing is added."""
    scale = max(information(column, target) for column in columns)
    order, scores = [], []
    while len(order) < k:
        chosen = [columns[i] for i in order]
        open_scores = {
            i: step_score(name, column, chosen, target) for i, column in enumerate(columns) if i not in order
        }
        best = first_of_best(open_scores, scale)
        if name == "cmi" and order and open_scores[best] <= 1e-12 * max(scale, math.fsum(scores)):
            break
        order.append(best)
        scores.append(open_scores[best])
    return order, scores


def stepwise_floating(name, columns, target, k):
    """Sequential floating forward selection: the best order of k columns that it comes by."""
    scale = max(information(column, target) for column in columns)
    best_value, best_order, order = {}, None, []

    def value(some):
        return math.fsum(steps_along(name, columns, some, target))

    def beats(new, known):
        return known is None or new > known + 1e-12 * max(abs(known), scale)

    def record():
        nonlocal best_order
        if beats(value(order), best_value.get(len(order))):
            best_value[len(order)] = value(order)
            if len(order) == k:
                best_order = list(order)

    while len(order) < k:
        chosen = [columns[i] for i in order]
        scores = {i: step_score(name, column, chosen, target) for i, column in enumerate(columns) if i not in order}
        order.append(first_of_best(scores, scale))
        record()
        while len(order) > 1:
            left = {i: value([j for j in order if j != i]) for i in order}
            most = max(left.values())
            tied = [i for i, here in left.items() if here >= most - 1e-12 * max(abs(value(order) - most), scale)]
            out = max(tied)
            if not beats(left[out], best_value.get(len(order) - 1)):
                break
            order.remove(out)
            record()
    return best_order
