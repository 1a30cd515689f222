"""StreamedTable: a table that is never in memory, and what its columns and its target are."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from certselect.errors import ColumnsLeftOutWarning, InvalidInput
from certselect.memory import memory_budget
from certselect.names import Columns
from certselect.settings import Constraints, Reading
from certselect.settings.measuring import MOST_WHOLE_LEVELS
from certselect.table.complete import name_columns
from certselect.table.kinds import DATE, IN_A_ROW, MOST_IN_A_ROW, SKIPPED, called_identifiers, gather_decisions
from certselect.table.model import Decision, Missing, Table
from certselect.table.parts import check_names
from certselect.table.reading import read_table, stated_kinds, warn_of_left_out
from certselect.table.streams.column_kinds import (
    MOST_NUMBERS,
    Feature,
    feature_of,
    is_dense,
    judge,
    may_identify,
    one_of_words,
)
from certselect.table.streams.stream_target import target_of
from certselect.threads import thread_count

if TYPE_CHECKING:
    import pyarrow as pa

    from certselect.table.streams.column_facts import ColumnFacts
    from certselect.table.streams.passes import Learnt, Runner
    from certselect.table.streams.row_source import RowSource
    from certselect.table.streams.row_weights import RowWeights

# Rows that are kept of all, for pictures of the chosen columns and to look for edges again: fewer of many columns.
_SAMPLE_ROWS, _FEWEST_ROWS = 20_000, 500


@dataclass(eq=False)
class StreamedTable:
    """A table read in blocks, as often as it takes.

    Attributes
    ----------
    source : RowSource
    target_name : str
    feature_names : tuple of str
    reading : Reading
    closed, wanted : sets of int
        Features that nobody looks at, and those that are not left out by their values.
    budget : int
        Bytes that what is learnt in one pass may take.
    runner : Runner
        Who goes over the rows.
    weighted : bool
        Whether a column of weights was named.
    weights : RowWeights or None
        None if every row counts once.
    features, classes, task, n_samples, missing, decisions
        Known after `survey`.
    """

    source: RowSource
    target_name: str
    feature_names: tuple[str, ...]
    reading: Reading
    closed: frozenset[int] = frozenset()
    wanted: frozenset[int] = frozenset()
    budget: int = 1 << 30
    runner: Runner | None = None
    n_threads: int = 1
    features: tuple[Feature, ...] = ()
    target: Feature | None = None
    classes: tuple[Hashable, ...] = ()
    task: str = ""
    n_samples: int = 0
    missing: Missing = "error"
    decisions: tuple[Decision, ...] = ()
    weighted: bool = False
    weights: RowWeights | None = None
    _positive: bool = False  # whether rows of weight 0 are left out
    _sample: pa.Table | None = None

    @property
    def n_features(self) -> int:
        return len(self.feature_names)

    @property
    def kept_rows(self) -> pa.Table:
        """Some rows, evenly spread over all."""
        assert self._sample is not None, "kept by the survey"
        return self._sample

    @property
    def lacking(self) -> list[int]:
        """The features that have no value in some rows."""
        return [i for i, one in enumerate(self.features) if one.facts.missing and one.kind != "skip"]

    def open_columns(self) -> list[str]:
        """The features that are looked at."""
        return [name for i, name in enumerate(self.feature_names) if i not in self.closed]

    def typed_columns(self) -> tuple[list[str], list[str]]:
        """The columns that are looked at, the target among them, whose type says floats, and integers."""
        import pyarrow as pa

        types = {name: self.source.schema.field(name).type for name in (*self.open_columns(), self.target_name)}
        floats = [name for name, kind in types.items() if pa.types.is_floating(kind)]
        return floats, [name for name, kind in types.items() if pa.types.is_integer(kind)]

    def run(self, learnt: Any, stage: str) -> Any:
        from certselect.table.streams.passes import InThisProcess

        runner, weight = self.runner or InThisProcess(self.budget), self.reading.weight
        if self._positive and weight is not None:
            from certselect.table.streams.row_weights import PositiveRows

            found = runner.run(self.source, PositiveRows(learnt, weight), stage).learnt
        else:
            found = runner.run(self.source, learnt, stage)
        self.source.check()
        return found

    @property
    def total_weight(self) -> int:
        """How many rows there are, each counted as often as its weight."""
        return self.n_samples if self.weights is None else round(self.weights.total)

    def survey(self, also: Sequence[Learnt] = (), *, all_levels: bool = False) -> list[Any]:
        """Learn what the columns are, and in the same pass what others want to know; returns these.

        `all_levels` if columns of whole numbers are levels, however many they have.
        """
        from certselect.table.streams.column_facts import Survey
        from certselect.table.streams.passes import Together
        from certselect.table.streams.row_sample import RowSample

        n_rows, kept_too = self.source.n_rows, []
        if self.reading.weight is not None:
            from certselect.table.streams.row_weights import read_weights

            self.weights, n_rows, self._positive = read_weights(self.reading.weight, self.run)
            kept_too = [self.reading.weight]
        asked = [*self.open_columns(), self.target_name]
        given, _ = stated_kinds(self.reading.kinds, None, self.feature_names)
        many = {self.target_name, *(self.feature_names[i] for i, kind in given.items() if kind == "levels")}
        many.update(asked if all_levels else ())
        kept = min(_SAMPLE_ROWS, max(_FEWEST_ROWS, self.budget // 16 // (8 * len(asked))))
        told_apart = {name: MOST_NUMBERS if name in many else MOST_WHOLE_LEVELS for name in asked}
        parts = [Survey(asked, told_apart, self.n_threads), RowSample([*asked, *kept_too], n_rows, kept), *also]
        survey, sample, *others = self.run(Together(parts), "reading").parts
        self._sample = sample.rows
        facts = survey.facts
        self.n_samples = facts[self.target_name].rows
        if self.n_samples == 0:
            raise InvalidInput(
                f"a table of {self.n_features} columns without any row", "one row for each sample", "Check the files."
            )
        self._settle_features(facts)
        label = facts[self.target_name]
        settled = target_of(self.target_name, label, self.reading.task, self._different_labels(label))
        self.target, self.task, self.classes = settled.feature, settled.task, settled.classes
        self.decisions += settled.decisions
        self._settle_missing(facts)
        warn_of_left_out(self.decisions, self.feature_names)
        return others

    def as_sample(self) -> Table | None:
        """Some of the rows as a table in memory, its columns of the kinds they have here; None if of one class only."""
        kinds = {i: one.kind for i, one in enumerate(self.features)}
        stated = {i: kind for i, kind in kinds.items() if kind == "skip" or one_of_words(self.features[i])}
        rows = self.kept_rows
        try:
            return read_table(
                self._frame_of(rows),
                rows.column(self.target_name),
                task=self.task,
                missing="level",
                kinds=stated,
                wanted=[i for i, kind in kinds.items() if kind != "skip"],
            )
        except InvalidInput:
            return None

    def whole(self) -> Table:
        """The whole table in memory, where it has so few rows that all are kept."""
        assert self.kept_rows.num_rows == self.n_samples, "a table of few rows"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ColumnsLeftOutWarning)  # the survey has warned
            return read_table(
                self._frame_of(self.kept_rows),
                self.kept_rows.column(self.target_name),
                sample_weight=None if self.weights is None else self.kept_rows.column(self.weights.name),
                task=self.reading.task,
                missing=self.source.usual_missing if self.reading.missing == "auto" else self.reading.missing,
                kinds=self.reading.kinds,
                unread=sorted(self.closed),
                wanted=sorted(self.wanted),
            )

    def _frame_of(self, rows: pa.Table) -> pa.Table:
        """The features of some rows, nulls where columns are not read."""
        import pyarrow as pa

        nothing = pa.nulls(rows.num_rows, pa.int8())
        return pa.table({name: rows[name] if name in rows.column_names else nothing for name in self.feature_names})

    def _settle_features(self, facts: Mapping[str, ColumnFacts]) -> None:
        given, _ = stated_kinds(self.reading.kinds, None, self.feature_names)
        judged = dict(self._judged(facts, given))
        ranks = [i for i, (_, why) in judged.items() if why.endswith(IN_A_ROW)]
        if len(ranks) > MOST_IN_A_ROW:
            judged = {i: verdict for i, verdict in judged.items() if i not in ranks}
        self.features = tuple(
            feature_of(name, facts.get(name), given.get(i), judged.get(i, ("", ""))[0])
            for i, name in enumerate(self.feature_names)
        )
        made = [(kind, why, i) for i, (kind, why) in judged.items()]
        self.decisions = gather_decisions(made)
        asked = Columns(self.feature_names)
        skipped = sorted(asked.find("kinds", i) for i, kind in (self.reading.kinds or {}).items() if kind == "skip")
        if skipped:
            self.decisions += (Decision(SKIPPED, "as asked", tuple(skipped)),)

    def _judged(
        self, facts: Mapping[str, ColumnFacts], given: Mapping[int, str]
    ) -> Iterator[tuple[int, tuple[str, str]]]:
        """What columns are by their values, where nobody said it, and why."""
        called = called_identifiers(self.feature_names)
        exact = self._different(facts, called)
        for i, name in enumerate(self.feature_names):
            if name in facts and i not in given:
                verdict = judge(facts[name], exact.get(name), i in called)
                if verdict is not None and (verdict[0] == DATE or i not in self.wanted):
                    yield i, verdict

    def _different(self, facts: Mapping[str, ColumnFacts], called: Collection[int]) -> dict[str, int]:
        """How many different values columns have that may be identifiers, where blocks alone do not tell."""
        doubtful = [
            name
            for i, name in enumerate(self.feature_names)
            if (column := facts.get(name)) is not None
            and column.overlapping
            and column.kind != "category"
            and may_identify(column)
            and (i in called or is_dense(column))
        ]
        return self._count_different(doubtful) if doubtful else {}

    def _different_labels(self, label: ColumnFacts) -> int | None:
        """How many different values the target has; None where nothing hangs on it."""
        if label.values is not None:
            return len(label.values)
        if label.missing or label.infinite or not label.whole or label.dated or label.kind == "category":
            return None
        return self._count_different([self.target_name])[self.target_name] if self.reading.task == "auto" else None

    def _count_different(self, names: Sequence[str]) -> dict[str, int]:
        """How many different whole numbers columns have, in a pass or a few."""
        from certselect.table.streams.column_facts import DifferentIntegers

        # Twice eight bytes for each: what is there, and what it is merged with.
        n_parts = math.ceil(16 * self.n_samples * len(names) / (self.budget // 4))
        found = [self.run(DifferentIntegers(names, part, n_parts), "identifiers").counts for part in range(n_parts)]
        return {name: sum(counts[name] for counts in found) for name in names}

    def _settle_missing(self, facts: Mapping[str, ColumnFacts]) -> None:
        stated: Any = self.reading.missing
        asked: Missing = self.source.usual_missing if stated == "auto" else stated
        lacking = [self.feature_names[i] for i in self.lacking]
        if lacking and asked == "error":
            many = "columns" if len(lacking) > 1 else "column"
            most = max(facts[name].missing for name in lacking)
            raise InvalidInput(
                f"missing values (NaN, None or null) in {many} {name_columns(lacking)}, in up to {most} of "
                f"{self.n_samples} rows",
                "a value in every cell",
                "Fill them in or drop those rows or columns before selecting, or pass missing='level' or 'pairwise'.",
            )
        self.missing = asked if lacking else "error"


def open_stream(
    source: RowSource,
    target: str,
    reading: Reading,
    constraints: Constraints | None = None,
    *,
    memory: int | str | None = None,
    runner: Runner | None = None,
    n_jobs: int | None = None,
) -> StreamedTable:
    """A table to be read in blocks; its names and settings are checked before the first of them."""
    names = tuple(source.schema.names)
    check_names(names, [target], reading.weight)
    features = tuple(name for name in names if name not in (target, reading.weight))
    asked = constraints or Constraints()
    _, closed = stated_kinds(reading.kinds, asked.exclude, features)
    wanted = {Columns(features).find("include", column) for column in asked.include or ()}
    return StreamedTable(
        source,
        target,
        features,
        reading,
        frozenset(closed),
        frozenset(wanted),
        memory_budget(memory),
        runner,
        thread_count(n_jobs),
        weighted=reading.weight is not None,
    )
