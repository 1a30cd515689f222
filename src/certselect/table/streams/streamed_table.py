"""StreamedTable: a table that is never in memory, and what its columns and its target are."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from certselect.errors import InvalidInput
from certselect.memory import memory_budget
from certselect.names import Columns
from certselect.settings import Constraints, Reading
from certselect.settings.measuring import MOST_WHOLE_LEVELS
from certselect.table.complete import name_columns
from certselect.table.kinds import (
    DATE,
    DENSE,
    IDENTIFIER,
    IN_A_ROW,
    MEASURED,
    MOST_IN_A_ROW,
    MOST_LEVELS,
    NEARLY_ALL,
    SKIPPED,
    TEXT,
    TOO_MANY,
    called_identifiers,
    gather_decisions,
)
from certselect.table.labels import in_order
from certselect.table.model import Decision, Missing, Table
from certselect.table.parts import check_names
from certselect.table.reading import read_table, stated_kinds, warn_of_left_out
from certselect.table.target import FEW_ROWS_EACH, MANY_CLASSES, NO_LABELS
from certselect.table.times import dates_in_text
from certselect.threads import thread_count

if TYPE_CHECKING:
    import pyarrow as pa

    from certselect.table.streams.column_facts import ColumnFacts
    from certselect.table.streams.passes import Learnt, Runner
    from certselect.table.streams.row_source import RowSource

# Levels of a column, and classes of a target, that are counted block by block.
MOST_NUMBERS = 1000
# Rows that are kept of all, for pictures of the chosen columns and to look for edges again: fewer of many columns.
_SAMPLE_ROWS, _FEWEST_ROWS = 20_000, 500


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
        Features that nobody looks at, and those that are not left out by their values.
    budget : int
        Bytes that what is learnt in one pass may take.
    runner : Runner
        Who goes over the rows.
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

        found = (self.runner or InThisProcess(self.budget)).run(self.source, learnt, stage)
        self.source.check()
        return found

    def survey(self, also: Sequence[Learnt] = (), *, all_levels: bool = False) -> list[Any]:
        """Learn what the columns are, and in the same pass what others want to know; returns these.

        `all_levels` if columns of whole numbers are levels, however many they have.
        """
        from certselect.table.streams.column_facts import Survey
        from certselect.table.streams.passes import Together
        from certselect.table.streams.row_sample import RowSample

        asked = [*self.open_columns(), self.target_name]
        given, _ = stated_kinds(self.reading.kinds, None, self.feature_names)
        many = {self.target_name, *(self.feature_names[i] for i, kind in given.items() if kind == "levels")}
        many.update(asked if all_levels else ())
        kept = min(_SAMPLE_ROWS, max(_FEWEST_ROWS, self.budget // 16 // (8 * len(asked))))
        told_apart = {name: MOST_NUMBERS if name in many else MOST_WHOLE_LEVELS for name in asked}
        parts = [Survey(asked, told_apart, self.n_threads), RowSample(asked, self.source.n_rows, kept), *also]
        survey, sample, *others = self.run(Together(parts), "reading").parts
        self._sample = sample.rows
        facts = survey.facts
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
        import pyarrow as pa

        kinds = {i: one.kind for i, one in enumerate(self.features)}
        stated = {i: kind for i, kind in kinds.items() if kind == "skip" or one_of_words(self.features[i])}
        rows = self.kept_rows
        nothing = pa.nulls(rows.num_rows, pa.int8())
        frame = pa.table({name: rows[name] if name in rows.column_names else nothing for name in self.feature_names})
        try:
            return read_table(
                frame,
                rows.column(self.target_name),
                task=self.task,
                missing="level",
                kinds=stated,
                wanted=[i for i, kind in kinds.items() if kind != "skip"],
            )
        except InvalidInput:
            return None

    def _settle_features(self, facts: Mapping[str, ColumnFacts]) -> None:
        given, _ = stated_kinds(self.reading.kinds, None, self.feature_names)
        judged = dict(self._judged(facts, given))
        ranks = [i for i, (_, why) in judged.items() if why.endswith(IN_A_ROW)]
        if len(ranks) > MOST_IN_A_ROW:
            judged = {i: verdict for i, verdict in judged.items() if i not in ranks}
        self.features = tuple(
            self._feature(i, name, facts.get(name), given.get(i), judged.get(i, ("", ""))[0])
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
            if name not in facts or i in given:
                continue
            column = facts[name]
            if column.dated:
                yield i, (DATE, MEASURED)
                continue
            if column.boolean or column.rows <= MOST_LEVELS:
                continue
            verdict = (
                _judge_words(column)
                if column.kind == "category"
                else _judge_numbers(column, exact.get(name), i in called)
            )
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
            and _may_identify(column)
            and (i in called or _is_dense(column))
        ]
        if not doubtful:
            return {}
        from certselect.table.streams.column_facts import DifferentIntegers

        # Twice eight bytes for each: what is there, and what it is merged with.
        n_parts = math.ceil(16 * self.n_samples * len(doubtful) / (self.budget // 4))
        found = [self.run(DifferentIntegers(doubtful, part, n_parts), "identifiers").counts for part in range(n_parts)]
        return {name: sum(counts[name] for counts in found) for name in doubtful}

    def _feature(self, i: int, name: str, facts: ColumnFacts | None, given: str | None, judged: str) -> Feature:
        if facts is None:
            from certselect.table.streams.column_facts import ColumnFacts

            return Feature("skip", ColumnFacts())
        if judged in (IDENTIFIER, TEXT) or given == "skip":
            return Feature("skip", facts)
        if facts.kind == "category":
            if judged == DATE or given == "number":
                return Feature("number", facts, words=_numbers_of(facts, name))
            if facts.values is None or len(facts.values) > MOST_NUMBERS:
                raise _too_many_levels(name)
            return Feature("levels", facts, in_order(list(facts.values)))
        if facts.infinite:
            raise InvalidInput(
                f"infinity or -infinity (inf) in column {name!r}, in {facts.infinite} of {facts.rows} rows",
                "finite numbers",
                "Replace the infinities or drop those rows or columns before selecting.",
            )
        if given == "number" or (facts.kind == "number" and given is None and not self._is_gapped(facts)):
            return Feature("number", facts)
        if given == "levels":
            if facts.values is None:
                raise _too_many_levels(name)
            return Feature("levels", facts, tuple(sorted(facts.values)))  # pyright: ignore[reportArgumentType]
        return Feature("whole", facts, () if facts.values is None else tuple(sorted(facts.values)))  # pyright: ignore[reportArgumentType]

    def _is_gapped(self, facts: ColumnFacts) -> bool:
        """Whether floats are the integers that there would be without gaps."""
        return facts.whole and 0 < facts.missing < facts.rows and not facts.dated

    def _settle_missing(self, facts: Mapping[str, ColumnFacts]) -> None:
        asked: Missing = "level" if self.reading.missing == "auto" else self.reading.missing  # type: ignore[assignment]
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

    def _settle_target(self, facts: ColumnFacts) -> None:
        name, task = self.target_name, self.reading.task
        if facts.missing or facts.infinite:
            what = "missing labels (NaN, None or null)" if facts.missing else "infinity (inf)"
            raise InvalidInput(
                f"{what} in y, in {facts.missing or facts.infinite} of {facts.rows} rows",
                "a label for every row",
                "Drop those rows before selecting.",
            )
        if facts.dated:
            raise InvalidInput(f"dates or times in {name!r}", "numbers or categories", "Convert them first.")
        numbers = facts.kind != "category" and not facts.boolean
        if task == "regression" and facts.kind == "category":
            raise InvalidInput(
                "task='regression' and a target that holds something else than numbers",
                "numbers in every column of the target",
                "Convert them, or pass task='classification'.",
            )
        measured = task == "regression" or (facts.kind == "number" and not facts.whole)
        if measured and task == "classification":
            raise InvalidInput(
                "a target of numbers that are not whole (Unknown label type: continuous)",
                "class labels",
                "Pass task='regression', or bin the target first.",
            )
        many = len(facts.values) if facts.values is not None else None
        too_many = many is None or (many > MANY_CLASSES and facts.rows < FEW_ROWS_EACH * many)
        if not measured and task == "auto" and numbers and too_many:
            said = f"{many} different" if many is not None else f"more than {MOST_NUMBERS}"
            how = f"{said} whole numbers in {facts.rows} rows are a number to predict, not classes"
            self.decisions += (Decision("target", how),)
            measured = True
        ends = facts.low, facts.high
        if (facts.low is not None and len({*map(float, ends)} if measured else {*ends}) == 1) or many == 1:
            raise InvalidInput(
                f"the same target {name!r} in all rows",
                "at least two classes, or numbers that differ",
                "No feature carries information about a target that never changes: check that the right column was "
                "named.",
            )
        if measured:
            self.task, self.classes, self.target = "regression", NO_LABELS, Feature("number", facts)
            return
        if facts.values is None or len(facts.values) > MOST_NUMBERS:
            raise InvalidInput(
                f"a target {name!r} of more than {MOST_NUMBERS} classes, read block by block",
                f"{MOST_NUMBERS} at most",
                "Pass task='regression' if it is a number to predict.",
            )
        labels: list[Hashable] = [bool(value) if facts.boolean else value for value in facts.values]
        self.task, self.classes = "classification", in_order(labels)
        self.target = Feature("levels", facts, self.classes)


def one_of_words(feature: Feature) -> bool:
    """Whether a column's kind is not the one that its type says."""
    return (feature.facts.kind == "category") != (feature.kind == "levels")


def _judge_words(column: ColumnFacts) -> tuple[str, str] | None:
    known = column.values
    dated = dates_in_text(in_order(list(known))) if known else None
    if dated is not None:
        return DATE, MEASURED + dated[1]
    if known is None and column.different >= NEARLY_ALL * column.present:
        return IDENTIFIER, "another value in nearly every row of a block"
    levels = column.different if known is None else len(known)
    if levels <= MOST_LEVELS:
        return None
    if levels >= NEARLY_ALL * column.present:
        return IDENTIFIER, f"{levels} different values in {column.present} rows"
    if known is not None and levels > TOO_MANY * column.present:
        return TEXT, f"{levels} levels in {column.present} rows, too many to count"
    if known is None or levels > MOST_NUMBERS:
        return TEXT, f"more than {MOST_NUMBERS} levels, too many to count block by block"
    return None


def _judge_numbers(column: ColumnFacts, exact: int | None, named_so: bool) -> tuple[str, str] | None:
    if not _may_identify(column) or not (named_so or _is_dense(column)):
        return None
    different = column.different if exact is None else exact
    if different < NEARLY_ALL * column.present or different <= MOST_LEVELS:
        return None
    how = ", and called so" if named_so else IN_A_ROW
    return IDENTIFIER, f"{different} different whole numbers in {column.present} rows{how}"


def _may_identify(column: ColumnFacts) -> bool:
    whole = column.kind == "integer" or (column.kind == "number" and column.whole)
    return whole and column.low is not None and column.different >= NEARLY_ALL * column.present


def _is_dense(column: ColumnFacts) -> bool:
    return float(column.high) - float(column.low) < DENSE * column.present


def _numbers_of(facts: ColumnFacts, name: str) -> dict[str, float]:
    """The number that each word of a column stands for."""
    if facts.values is None:
        raise _too_many_levels(name)
    words = list(in_order(list(facts.values)))
    dated = dates_in_text(words)
    try:
        return dict(zip(map(str, words), dated[0] if dated else map(float, words), strict=True))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(
            f"texts in column {name!r}, which shall be a number",
            "numbers or dates in every row",
            "Convert them first, or leave the column out of kinds.",
        ) from None


def _too_many_levels(name: str) -> InvalidInput:
    return InvalidInput(
        f"column {name!r} of more than {MOST_NUMBERS} levels in a table that is read block by block",
        f"{MOST_NUMBERS} levels at most",
        f"Pass kinds={{{name!r}: 'skip'}} or 'number', or read the table into memory.",
    )


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
    if reading.weight is not None:
        raise InvalidInput(
            f"weight={reading.weight!r} for a table that is read block by block",
            "rows that count once each",
            "Pass memory= enough to hold the table, or leave weight out.",
        )
    names = tuple(source.schema.names)
    check_names(names, [target], None)
    features = tuple(name for name in names if name != target)
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
    )


def sample_span(rows: pa.Table, name: str) -> int:
    """How far the integers of a column of a sample are apart."""
    values = rows.column(name).drop_null().to_numpy()
    return int(values.max()) - int(values.min()) if len(values) else 0


def sample_numbers(rows: pa.Table, name: str) -> np.ndarray:
    """The finite numbers of a column of a sample, ascending; infinite ones are refused by whoever meets them all."""
    from certselect.table.streams.arrow_columns import read_cells

    column = read_cells(rows.column(name).combine_chunks(), name)
    values = column.values.astype(np.float64)
    return np.sort(values[np.isfinite(values)] if column.missing is None else values[~column.missing])
