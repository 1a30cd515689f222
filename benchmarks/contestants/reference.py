"""The slow reference: every joint table counted on its own, and the greedy search written as it is defined.

It shares no code with a contestant. A choice agrees with it where each column was as good as any other at its
turn, given those chosen before; of columns that tie exactly, any may be chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

TIE = 1e-10  # nats; rounding errors are far smaller, differences of counts far larger


@dataclass(frozen=True)
class Agreement:
    """Of `asked` columns: how many places are right before the first wrong one, and how many the two share at all."""

    asked: int
    right: int
    shared: int

    @property
    def whole(self) -> bool:
        return self.right == self.asked


class Reference:
    """Relevance and penalties of codes, by mRMR or JMI, in nats."""

    def __init__(self, X: np.ndarray, y: np.ndarray, criterion: str) -> None:
        self._X, self._y = np.asarray(X, dtype=np.int64), np.asarray(y, dtype=np.int64)
        self._conditional = criterion == "jmi"
        self._rows: dict[int, np.ndarray] = {}
        self.relevance = _information(self._y, self._X)

    def penalties(self, one: int) -> np.ndarray:
        """Of one column with each: I(X;Z), and for JMI without I(X;Z|Y) = I(X,Y;Z) - I(Y;Z)."""
        if one not in self._rows:
            column = self._X[:, one]
            penalties = _information(column, self._X)
            if self._conditional:
                with_class = column * (self._y.max() + 1) + self._y
                penalties += self.relevance - _information(with_class, self._X)
            self._rows[one] = penalties
        return self._rows[one]

    def scores(self, chosen: Sequence[int]) -> np.ndarray:
        """What each column is worth as the next; minus infinity for those chosen."""
        scores = self.relevance.copy()
        if chosen:
            scores -= np.mean([self.penalties(one) for one in chosen], axis=0)
        scores[list(chosen)] = -np.inf
        return scores

    def greedy(self, k: int) -> list[int]:
        chosen: list[int] = []
        for _ in range(k):
            scores = self.scores(chosen)
            chosen.append(int(np.flatnonzero(scores >= scores.max() - TIE)[0]))
        return chosen

    def value(self, chosen: Sequence[int]) -> float:
        """Relevance minus the mean penalty with the others, halved since each pair is seen from both sides."""
        places = list(chosen)
        pairs = sum(float(self.penalties(one)[other]) for at, one in enumerate(places) for other in places[:at])
        return float(self.relevance[places].sum() - (pairs / (len(places) - 1) if pairs else 0.0))

    def agreement(self, order: Sequence[int], k: int, *, in_order: bool = True) -> Agreement:
        """With a choice that tells its order, place by place; with one that does not, by what the subset is worth."""
        expected = self.greedy(k)
        shared = len({*order} & {*expected})
        if not in_order:
            same = len({*order}) == k and abs(self.value(order) - self.value(expected)) <= TIE
            return Agreement(k, k if same else 0, shared)
        for place in range(k):
            scores = self.scores(order[:place])
            if place >= len(order) or scores[order[place]] < scores.max() - TIE:
                return Agreement(k, place, shared)
        return Agreement(k, k, shared)


def _information(one: np.ndarray, X: np.ndarray) -> np.ndarray:
    """I(one; Z) for each column Z, from its joint table with `one`."""
    rows, columns = X.shape
    wide, high = int(one.max()) + 1, int(X.max()) + 1
    cells = (np.arange(columns) * wide + one[:, None]) * high + X
    joint = np.bincount(cells.ravel(), minlength=columns * wide * high).reshape(columns, wide, high)
    log_sums = [_log_sums(table) for table in (joint.reshape(columns, -1), joint.sum(axis=2), joint.sum(axis=1))]
    return (log_sums[0] - log_sums[1] - log_sums[2]) / rows + np.log(rows)


def _log_sums(tables: np.ndarray) -> np.ndarray:
    return (tables * np.log(np.maximum(tables, 1))).sum(axis=1)
