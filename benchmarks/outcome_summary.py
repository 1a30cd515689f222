"""What the results of all contestants on all tables come to: means, ranks and where the default loses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from certselect.evaluation import AlgorithmComparison, compare_algorithms
from outcome_contestants import AUTO, CONTESTANTS, DEFAULT, OURS, PEERS
from outcome_scoring import SIZES
from outcome_tables import SOURCES

RANKED_DIGITS = 3  # scores that differ by less tie
FAR = 0.02  # of accuracy or R2: what is worth a word
FEWEST_TABLES = 2  # ranks on fewer say nothing
ENOUGH = 0.95  # of the features asked for: who chooses fewer on average is compared apart

Row = dict[str, Any]


@dataclass(frozen=True)
class Standing:
    """Where a contestant stands among others: its mean rank, and whether it differs from the default."""

    mean_rank: float
    pvalue: float  # of the difference to the default, adjusted for all pairs
    tables: int


class Outcome:
    """All rows, by table and contestant.

    A score is a mean over splits and models, and over sizes unless one is named. Rows that hold a reason in the place
    of scores count as absent.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = {(row["table"], row["contestant"]): row for row in rows}

    @cached_property
    def tables(self) -> list[str]:
        """Those on which the default was run."""
        return [source.name for source in SOURCES if self.has(source.name, DEFAULT.name)]

    @cached_property
    def class_tables(self) -> list[str]:
        return [source.name for source in SOURCES if source.classes and source.name in self.tables]

    @cached_property
    def number_tables(self) -> list[str]:
        return [name for name in self.tables if name not in self.class_tables]

    @cached_property
    def ours(self) -> list[str]:
        return self._present(contestant.name for contestant in OURS)

    @cached_property
    def peers(self) -> list[str]:
        return self._present(contestant.name for contestant in PEERS)

    @cached_property
    def settings(self) -> list[str]:
        """Ours but for those that were told nothing."""
        return [name for name in self.ours if name not in (DEFAULT.name, AUTO.name)]

    def _present(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if len(self.tables_of(name, self.tables)) >= FEWEST_TABLES]

    def has(self, table: str, contestant: str) -> bool:
        return "splits" in self.rows.get((table, contestant), {})

    def tables_of(self, contestant: str, among: Sequence[str]) -> list[str]:
        return [table for table in among if self.has(table, contestant)]

    def by_split(self, table: str, contestant: str, size: int | None = None) -> np.ndarray:
        of_sizes = self.rows[table, contestant]["splits"]
        return np.mean(list(of_sizes.values()), axis=0) if size is None else np.array(of_sizes[str(size)])

    def score(self, table: str, contestant: str, size: int | None = None) -> float:
        return float(self.by_split(table, contestant, size).mean())

    def standard_error(self, table: str, contestant: str) -> float:
        """Over the splits, as if they shared no rows."""
        scores = self.by_split(table, contestant)
        return float(scores.std(ddof=1) / np.sqrt(len(scores)))

    def mean(self, contestant: str, among: Sequence[str], size: int | None = None) -> float:
        """Over the tables it ran on; NaN if on none."""
        found = [self.score(table, contestant, size) for table in self.tables_of(contestant, among)]
        return float(np.mean(found)) if found else float("nan")

    def lead(self, contestant: str, over: str, among: Sequence[str], size: int | None = None) -> float:
        """Mean difference of two contestants over the tables that both ran on."""
        both = self.tables_of(over, self.tables_of(contestant, among))
        return self.mean(contestant, both, size) - self.mean(over, both, size)

    def standings(self, names: Sequence[str]) -> dict[str, Standing]:
        """Of contestants one of which is the default. One that did not run on every table is ranked, on those
        where it ran, among those that ran on all."""
        complete = [name for name in names if self.tables_of(name, self.tables) == self.tables]
        found = {}
        for name in names:
            tables = self.tables_of(name, self.tables)
            compared = self._compared([*complete, name] if name not in complete else complete, tables)
            pvalue = 1.0 if name == DEFAULT.name else compared.pairwise[name, DEFAULT.name]
            found[name] = Standing(compared.mean_ranks[name], pvalue, len(tables))
        return found

    def _compared(self, names: Sequence[str], tables: Sequence[str]) -> AlgorithmComparison:
        scores = [[round(self.score(table, name), RANKED_DIGITS) for name in names] for table in tables]
        return compare_algorithms(scores, names=names)

    def friedman(self, names: Sequence[str]) -> float:
        """p-value of no difference among those that ran on every table."""
        complete = [name for name in names if self.tables_of(name, self.tables) == self.tables]
        return self._compared(complete, self.tables).friedman_pvalue

    def chosen(self, contestant: str, size: int) -> float:
        """How many features it chose on average where so many were asked for."""
        rows = [self.rows[table, contestant] for table in self.tables_of(contestant, self.tables)]
        return float(np.mean([row["chosen"][str(size)] for row in rows]))

    def chooses_fewer(self, contestant: str) -> bool:
        return any(self.chosen(contestant, size) < ENOUGH * size for size in SIZES)

    @cached_property
    def best_setting(self) -> str:
        """Ours with the highest mean accuracy, of those that ran on every table and choose as many as asked for."""
        return self._best(name for name in self.settings if not self.chooses_fewer(name))

    @cached_property
    def best_of_fewer(self) -> str | None:
        """The same of those that choose fewer, if any do."""
        fewer = [name for name in self.settings if self.chooses_fewer(name)]
        return self._best(fewer) if fewer else None

    def _best(self, names: Iterable[str]) -> str:
        complete = [name for name in names if self.tables_of(name, self.tables) == self.tables]
        return max(complete, key=lambda name: self.mean(name, self.class_tables))

    @cached_property
    def shown(self) -> list[str]:
        """Those of the first table: the default, auto, our best setting and other packages."""
        return [DEFAULT.name, *self._present([AUTO.name]), self.best_setting, *self.peers]

    def losses(self) -> list[tuple[str, str, float]]:
        """Tables where another package is far ahead of the default, which one is furthest, and by how much."""
        found = []
        for table in self.tables:
            leads = {name: self.lead(name, DEFAULT.name, [table]) for name in self.peers if self.has(table, name)}
            best = max(leads, key=lambda name: leads[name], default=None)
            if best is not None and leads[best] > FAR:
                found.append((table, best, leads[best]))
        return sorted(found, key=lambda loss: -loss[2])

    def auto_below_default(self) -> list[tuple[str, float]]:
        """Tables where the measure auto is far below counting, which is the default."""
        both = self.tables_of(AUTO.name, self.tables)
        behind = [(table, -self.lead(AUTO.name, DEFAULT.name, [table])) for table in both]
        return sorted(((table, by) for table, by in behind if by > FAR), key=lambda entry: -entry[1])

    def gaps(self) -> dict[str, list[str]]:
        """Contestants without scores on some table: who and why, then the tables."""
        found: dict[str, list[str]] = {}
        for contestant in CONTESTANTS:
            for table in self.tables:
                if not self.has(table, contestant):
                    why = self.rows.get((table, contestant), {}).get("reason", "not run yet")
                    found.setdefault(f"{contestant}: {why}", []).append(table)
        return found
