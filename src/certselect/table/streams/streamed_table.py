"""StreamedTable: a table that is never in memory, and what its columns and its target are."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from certselect.errors import ColumnsLeftOutWarning, InvalidInput, keyword
from certselect.memory import memory_budget
from certselect.settings import Constraints, Reading
from certselect.settings.measuring import MOST_WHOLE_LEVELS
from certselect.table.columns import dates_and_times, in_order
from certselect.table.complete import infinite_values, missing_values
from certselect.table.facts import MOST_LEVELS_COUNTED, MOST_WORDS, ColumnFacts
from certselect.table.kinds import DATE, LEFT_OUT, decisions_on, judge, numbers_in_text
from certselect.table.model import Decision, Missing, Table
from certselect.table.parts import check_names
from certselect.table.reading import read_table, stated_kinds, warn_of_left_out
from certselect.table.series import refuse_gaps
from certselect.table.target import NO_LABELS, judge_target, refuse_constant
from certselect.threads import thread_count

if TYPE_CHECKING:
    import pyarrow as pa

    from certselect.table.streams.passes import Learnt, Runner
    from certselect.table.streams.row_source import RowSource
    from certselect.table.streams.row_weights import RowWeights

# Rows that are kept of all, for pictures of the chosen columns and to look for edges again: fewer of many columns.
_SAMPLE_ROWS, FEWEST_ROWS = 20_000, 500


@dataclass(frozen=True, eq=False)
class Feature:
    """What a column is to be measured as.

    `kind` is "number", "levels" or "skip"; `values` are the levels in order, `words` what stands for each number
    where those are written as text.
    """

    kind: str
    facts: ColumnFacts
    values: tuple[Hashable, ...] = ()
    words: Mapping[str, float] | None = None


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
        Features that are not read, and those that are never left out because of their values.
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
        from certselect.table.streams.passes import Together
        from certselect.table.streams.row_sample import RowSample
        from certselect.table.streams.survey import Survey

        n_rows, kept_too = self.source.n_rows, []
        if self.reading.weight is not None:
            from certselect.table.streams.row_weights import read_weights

            self.weights, n_rows, self._positive = read_weights(self.reading.weight, self.run)
            kept_too = [self.reading.weight]
        asked = [*self.open_columns(), self.target_name]
        given = self._given()
        many = {self.target_name, *(self.feature_names[i] for i, kind in given.items() if kind == "levels")}
        many.update(asked if all_levels else ())
        kept = min(_SAMPLE_ROWS, max(FEWEST_ROWS, self.budget // 16 // (8 * len(asked))))
        told_apart = {name: MOST_LEVELS_COUNTED if name in many else MOST_WHOLE_LEVELS for name in asked}
        parts = [Survey(asked, told_apart, self.n_threads), RowSample([*asked, *kept_too], n_rows, kept), *also]
        survey, sample, *others = self.run(Together(parts), "reading").parts
        self._sample = sample.rows
        facts = survey.facts
        for one in facts.values():
            one.settle()
        self.n_samples = facts[self.target_name].rows
        if self.n_samples == 0:
            raise InvalidInput(
                f"a table of {self.n_features} columns without any row", "one row for each sample", "Check the files."
            )
        self._settle_features(facts)
        self._settle_target(facts[self.target_name])
        self._settle_missing(facts)
        warn_of_left_out(self.decisions, self.feature_names)
        return others

    def as_sample(self) -> Table | None:
        """Some of the rows as a table in memory, its columns of the kinds they have here; None if of one class only."""
        kinds = {i: one.kind for i, one in enumerate(self.features)}
        stated = {i: kind for i, kind in kinds.items() if kind == "skip" or _is_of_another_type(self.features[i])}
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

    @property
    def is_kept_whole(self) -> bool:
        """Whether memory has room for all rows: `whole` returns them."""
        return self.kept_rows.num_rows == self.n_samples

    def whole(self) -> Table:
        """The whole table in memory, where it has so few rows that all are kept."""
        assert self.is_kept_whole, "a table of few rows"
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
        given = self._given()
        places = {i: facts[name] for i, name in enumerate(self.feature_names) if name in facts}
        infinite = {i: one.infinite for i, one in places.items() if one.infinite}
        if infinite:
            raise infinite_values([self.feature_names[i] for i in infinite], self._in_rows(infinite.values()))
        verdicts = judge(places, self.feature_names, given, self.wanted, self._count)
        self.features = tuple(
            _feature_of(name, places.get(i), given.get(i), verdicts[i].kind if i in verdicts else "")
            for i, name in enumerate(self.feature_names)
        )
        self.decisions = decisions_on(verdicts, self.reading.kinds, self.feature_names)

    def _settle_target(self, facts: ColumnFacts) -> None:
        name = self.target_name
        refuse_gaps(facts.missing, facts.rows, "y", "label")
        if facts.infinite:
            raise infinite_values([name], self._in_rows([facts.infinite]))
        if facts.dated:
            raise dates_and_times(repr(name))
        measured, decision = judge_target(facts, self.reading.task, partial(self._different_labels, facts))
        self.decisions += () if decision is None else (decision,)
        if measured:
            refuse_constant(NO_LABELS, np.array([[facts.low], [facts.high]], dtype=np.float64), trimmed=self._positive)
            self.target, self.task, self.classes = Feature("number", facts), "regression", NO_LABELS
            return
        if facts.values is None or len(facts.values) > MOST_LEVELS_COUNTED:
            raise InvalidInput(
                f"a target {name!r} of more than {MOST_LEVELS_COUNTED} classes, read block by block",
                f"{MOST_LEVELS_COUNTED} at most",
                f"Pass {keyword('task', 'regression')} if it is a number to predict.",
            )
        self.classes = in_order([bool(value) if facts.boolean else value for value in facts.values])
        refuse_constant(self.classes, np.empty((0, 0)), trimmed=self._positive)
        self.target, self.task = Feature("levels", facts, self.classes), "classification"

    def _given(self) -> dict[int, str]:
        return stated_kinds(self.reading.kinds, None, None, self.feature_names)[0]

    def _in_rows(self, counts: Iterable[int]) -> str:
        """In how many rows something occurs, by the counts of several columns."""
        listed = list(counts)
        return f"{'up to ' if len(listed) > 1 else ''}{max(listed)} of {self.n_samples}"

    def _different_labels(self, facts: ColumnFacts) -> int:
        return len(facts.values) if facts.values is not None else self._count_different([self.target_name])[0]

    def _count(self, columns: Sequence[int]) -> dict[int, int]:
        counts = self._count_different([self.feature_names[i] for i in columns])
        return dict(zip(columns, counts, strict=True))

    def _count_different(self, names: Sequence[str]) -> list[int]:
        """How many different values columns have, in a pass or a few."""
        from certselect.table.streams.survey import DifferentValues

        # Twice eight bytes for each: what is there, and what it is merged with.
        n_parts = math.ceil(16 * self.n_samples * len(names) / (self.budget // 4))
        found = [self.run(DifferentValues(names, part, n_parts), "identifiers").counts for part in range(n_parts)]
        return [sum(counts[name] for counts in found) for name in names]

    def _settle_missing(self, facts: Mapping[str, ColumnFacts]) -> None:
        stated: Any = self.reading.missing
        asked: Missing = self.source.usual_missing if stated == "auto" else stated
        lacking = [self.feature_names[i] for i in self.lacking]
        if lacking and asked == "error":
            raise missing_values(lacking, self._in_rows(facts[name].missing for name in lacking))
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
    _, closed, wanted = stated_kinds(reading.kinds, asked.exclude, asked.include, features)
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


def _feature_of(name: str, facts: ColumnFacts | None, given: str | None, judged: str) -> Feature:
    """What a column is measured as, by its facts, the kind that the user gave and the kind that it was judged to be."""
    if facts is None:
        return Feature("skip", ColumnFacts())
    if judged in LEFT_OUT:
        return Feature("skip", facts)
    if facts.kind == "category":
        if judged == DATE or given == "number":
            return Feature("number", facts, words=_numbers_of(facts, name))
        if facts.values is None or len(facts.values) > MOST_LEVELS_COUNTED:
            raise too_many_levels(name)
        return Feature("levels", facts, in_order(list(facts.values)))
    if given == "number" or (facts.kind == "number" and given is None and not _is_gapped(facts)):
        return Feature("number", facts)
    if given == "levels":
        if facts.values is None:
            raise too_many_levels(name)
        return Feature("levels", facts, tuple(sorted(facts.values)))  # pyright: ignore[reportArgumentType]
    return Feature("whole", facts, () if facts.values is None else tuple(sorted(facts.values)))  # pyright: ignore[reportArgumentType]


def _is_gapped(facts: ColumnFacts) -> bool:
    """Whether floats are the integers that there would be without gaps."""
    return facts.whole and 0 < facts.missing < facts.rows and not facts.dated


def _is_of_another_type(feature: Feature) -> bool:
    """Whether a column's kind is not the one that its type says."""
    return (feature.facts.kind == "category") != (feature.kind == "levels")


def _numbers_of(facts: ColumnFacts, name: str) -> dict[str, float]:
    """The number that each word of a column stands for."""
    if facts.values is None:
        raise InvalidInput(
            f"numbers or dates as text in column {name!r} of a table that is read block by block, of more than "
            f"{MOST_WORDS} different ones",
            "a column of a type for numbers or dates",
            "Convert it, or read the table into memory.",
        )
    words = list(in_order(list(facts.values)))
    return dict(zip(map(str, words), numbers_in_text(words, name), strict=True))


def too_many_levels(name: str) -> InvalidInput:
    return InvalidInput(
        f"column {name!r} of more than {MOST_LEVELS_COUNTED} levels in a table that is read block by block",
        f"{MOST_LEVELS_COUNTED} levels at most",
        f"Pass {keyword('kinds', {name: 'skip'}, 'number')}, or read the table into memory.",
    )
