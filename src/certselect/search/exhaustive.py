"""Exhaustive search: every subset of size k, for problems small enough to have no doubt about."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from certselect.criteria.problem import SubsetProblem
from certselect.progress import report
from certselect.search.options import check_count
from certselect.search.ruled_exhaustive import check_affordable, exhaustive_under_rules
from certselect.search.selection import PROVEN_OPTIMAL
from certselect.search.strategy import Found
from certselect.search.ties import beats, tie_width, value_scale

SUBSETS_AT_ONCE = 1 << 14


def exhaustive(
    problem: SubsetProblem, found: Found, rng: np.random.Generator, /, *, max_subsets: int = 2_000_000
) -> None:
    """Value every subset of k candidates and keep the best, the lexicographically first of equals.

    Where k is more than half of the candidates, the smaller sets that are left
    out are enumerated instead. With R left out of all candidates A,

        D(A - R) = D(A) - sum over R of (linear_m - w * shared_m) - w * (pairs inside R),

    shared_m being the sum of m's pair terms with all others: the same kind of
    sum, and A - R comes first in lexicographic order where R comes last.

    Under rules, every set of units of the right size that holds the required ones is
    enumerated, and the allowed ones are valued.
    """
    if problem.rules is not None:
        exhaustive_under_rules(problem, problem.rules, found, check_count("max_subsets", max_subsets, 1))
        return
    candidates = np.sort(problem.candidates)
    count = math.comb(len(candidates), problem.k)
    check_affordable(count, check_count("max_subsets", max_subsets, 1), problem)
    scale = value_scale(problem)
    relevance = problem.linear[candidates].astype(float)
    cost = problem.pair_matrix[np.ix_(candidates, candidates)].astype(float)
    np.fill_diagonal(cost, 0.0)
    cost *= problem.weight(problem.k)

    leave_out = 2 * problem.k > len(candidates)
    if leave_out:
        size, base = len(candidates) - problem.k, float(relevance.sum() - cost.sum() / 2)
        worth = cost.sum(axis=1) - relevance
    else:
        size, base, worth = problem.k, 0.0, relevance

    best, holder, done = -np.inf, -np.inf, 0
    for members, sums in _subsets_and_values(worth, cost, size):
        values = base + sums
        best = max(best, float(values.max()))
        equals = np.flatnonzero(values >= best - tie_width(best, scale))
        if len(equals) and (leave_out or beats(best, holder, scale)):
            pick = equals[-1 if leave_out else 0]
            if beats(float(values[pick]), holder, scale):
                found.scores.append(float(values[pick]))
            holder = float(values[pick])
            chosen = members[:, pick]
            found.indices = (np.delete(candidates, chosen) if leave_out else candidates[chosen]).tolist()
        done += len(values)
        report("exhaustive", done, count)
    found.status = PROVEN_OPTIMAL


def _subsets_and_values(
    worth: np.ndarray, cost: np.ndarray, size: int, to_come: int = 0
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All subsets of that size in lexicographic order, by blocks: members (size, m) and values (m,).

    A subset's value is its members' worth less the cost of its pairs. Subsets of
    one member less are grown by each feature behind their last, so that what
    subsets have in common is summed once; `to_come` features must still fit
    behind the last one.
    """
    if size == 0:
        yield np.empty((0, 1), dtype=np.intp), np.zeros(1)
        return
    end = len(worth) - to_come
    for parents, values in _subsets_and_values(worth, cost, size - 1, to_come + 1):
        first = parents[-1] + 1 if size > 1 else np.zeros(1, dtype=np.intp)
        ends = np.cumsum(end - first)  # where each parent's children end among all children
        start = 0
        while start < len(ends):
            before = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, before + SUBSETS_AT_ONCE, side="right")))
            parent = np.repeat(np.arange(start, stop), end - first[start:stop])
            # Counting down from each parent's end: the children take first..end-1 in turn.
            last = np.arange(before, before + len(parent)) - ends[parent] + end
            members = np.concatenate([parents[:, parent], last[None]])
            grown = values[parent] + worth[last]
            for member in members[:-1]:
                grown -= cost[member, last]
            yield members, grown
            start = stop
