"""Slow twin of the constraints: every subset of a few columns, checked against the words of the statement."""

from itertools import combinations


def obeys(subset, statement):
    """Whether a set of columns is what the statement asks for; the statement is in indices, with a cost for each."""
    inside = [i in subset for i in range(statement["n"])]
    return (
        all(inside[i] for i in statement["include"])
        and not any(inside[i] for i in statement["exclude"])
        and all(len({inside[i] for i in group}) == 1 for group in statement["together"])
        and all(sum(inside[i] for i in group) <= 1 for group in statement["rivals"])
        and sum(statement["costs"][i] for i in subset) <= statement["budget"]
    )


def allowed_subsets(statement):
    """All of them, of one column or more, as frozen sets."""
    n = statement["n"]
    every = (frozenset(subset) for size in range(1, n + 1) for subset in combinations(range(n), size))
    return [subset for subset in every if obeys(subset, statement)]
