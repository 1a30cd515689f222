"""What a measure of information is: a function from a table to its terms, and what to know about it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from certselect.errors import InvalidInput, keyword
from certselect.names import shown
from certselect.settings import Measuring
from certselect.settings.measuring import CORRECTIONS, MISSING, TASKS

if TYPE_CHECKING:
    import numpy as np

    from certselect.information.terms import Families, InformationTerms
    from certselect.table import Table

COUNTS, RANKS, DISTANCES, COUNTS_AND_RANKS = "counts", "ranks", "distances", "counts and ranks"
_SETTINGS = tuple(entry.name for entry in fields(Measuring) if entry.name != "measure")


@dataclass(frozen=True)
class Measure:
    """One way to estimate mutual information, and what others need to know to use it.

    Attributes
    ----------
    name : str
        Lower case; for the measures of this package that of their file.
    measured : callable
        `measured(table, measuring, *, dtype, n_jobs)` returns `InformationTerms`. The table is a `CodedTable` or a
        `SparseCodedTable` if the measure needs counts, otherwise a `Table`. `measuring` are the settings, `dtype` is
        that of pair terms, `n_jobs` the number of threads. If it needs counts and ranks, it gets the `Table` as well,
        by the keyword `table`.
    summary : str
        What it looks at and when to choose it, in a line.
    needs : {"counts", "ranks", "distances", "counts and ranks"}
        What it looks at. Before a measure of counts is called, columns are coded into levels. Columns are duplicates if
        they divide the rows alike where levels are counted, and otherwise if they put the rows in the same order.
    uses : tuple of str
        The settings of `Measuring` that have an effect with it; the user is warned of others.
    tasks : tuple of {"classification", "regression"}
        Kinds of target.
    corrections : tuple of str
        Those of the setting `correction` that it knows.
    weights : bool
        Whether rows may have weights.
    missing : tuple of {"level", "pairwise"}
        How it can treat missing values.
    sparse : bool
        Whether it takes sparse matrices.
    words : bool
        Whether it takes columns of categories.
    in_blocks : callable or None
        `in_blocks(table, measuring, dtype, measure_whole)`, for a `StreamedTable`: the same terms of a table that is
        read block by block. `measure_whole` measures a table in memory. None if there is no such way.
    prepared : callable or None
        From a `Table` to the one that is measured, where rows are put together: a test against chance shuffles the
        rows of that one.
    duplicates : callable or None
        From a `Table` and which columns are constant to families of columns that are duplicates, where those of
        `needs` do not suit.
    picks : callable or None
        From a `Table` and settings to the settings of another measure that suits the table, and why, in words:
        for "auto".
    """

    name: str
    measured: Callable[..., InformationTerms]
    summary: str
    needs: str
    uses: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ("classification", "regression")
    corrections: tuple[str, ...] = ("none",)
    weights: bool = True
    missing: tuple[str, ...] = ("pairwise",)
    sparse: bool = False
    words: bool = True
    in_blocks: Callable[..., InformationTerms] | None = None
    prepared: Callable[[Table], Table] | None = None
    duplicates: Callable[[Table, np.ndarray], Families] | None = None
    picks: Callable[[Table, Measuring], tuple[Measuring, str]] | None = None

    def __post_init__(self) -> None:
        for name in ("measured", "in_blocks", "prepared", "duplicates", "picks"):
            given = getattr(self, name)
            if not callable(given) and (given is not None or name == "measured"):
                raise InvalidInput(f"a measure with {name}={shown(given)}", "a function", "Pass the function itself.")
        self._check_call()
        if self.needs not in (COUNTS, RANKS, DISTANCES, COUNTS_AND_RANKS):
            got = f"a measure with needs={shown(self.needs)}"
            known = f"one of {COUNTS}, {RANKS}, {DISTANCES}, {COUNTS_AND_RANKS}"
            raise InvalidInput(got, known, "Name what the measure looks at.")
        known = {
            "uses": _SETTINGS,
            "tasks": tuple(TASKS)[1:],
            "corrections": tuple(CORRECTIONS),
            "missing": ("level", "pairwise"),
        }
        for name, names in known.items():
            given: Any = getattr(self, name)
            if not isinstance(given, tuple) or not set(given) <= set(names):
                got = f"a measure with {name}={shown(given)}"
                raise InvalidInput(got, f"a tuple of some of {', '.join(names)}", "Check the spelling.")

    def _check_call(self) -> None:
        """Refuse a function that cannot be called as measures are."""
        keywords = ("dtype", "n_jobs", *(("table",) if self.needs == COUNTS_AND_RANKS else ()))
        try:
            inspect.signature(self.measured).bind(None, None, **dict.fromkeys(keywords))
        except TypeError as error:
            raise InvalidInput(
                f"a function for the measure {self.name!r} that does not fit ({error})",
                f"measured(table, measuring, *, {', '.join(keywords)})",
                "Add these parameters.",
            ) from None
        except ValueError:  # a function that does not say what it takes
            pass

    def check_terms(self, terms: Any, table: Table) -> None:
        """Refuse what a measure returns if it does not describe the table: an error of the measure's author."""
        called, remedy = f"measure {self.name!r} returned ", "Report this to the author of the measure."
        if not hasattr(terms, "relevance") or not callable(getattr(getattr(terms, "pairs", None), "measured", None)):
            raise InvalidInput(f"{called}{shown(terms)}", "InformationTerms", remedy)

        def check_shape(name: str, values: Any, wanted: tuple[int, ...]) -> None:
            if getattr(values, "shape", None) != wanted:
                raise InvalidInput(f"{called}{name} of another shape", f"an array of shape {wanted}", remedy)

        n = table.n_features
        for name in ("relevance", "entropy", "levels", "constant"):
            check_shape(name, getattr(terms, name), (n,))
        usable = ~terms.constant.astype(bool)
        found = {"relevance": terms.relevance[usable]}
        first = usable.nonzero()[0][:1]
        if len(first):
            redundancy = terms.pairs.measured(("redundancy",), first)[0]
            check_shape("the redundancy of one feature", redundancy, (1, n))
            found["redundancy"] = redundancy[0][usable]
        for name, values in found.items():
            if not all(map(math.isfinite, values.tolist())):
                raise InvalidInput(f"{called}{name} that is NaN or infinite", "finite numbers", remedy)

    @property
    def of_levels(self) -> bool:
        """Whether it counts levels, into which columns are coded before."""
        return self.needs in (COUNTS, COUNTS_AND_RANKS)

    @property
    def supports(self) -> tuple[str, ...]:
        """What it supports, for people to read."""
        tasks = {"classification": "classes", "regression": "numbers to predict"}
        missing = {"level": "missing values as a level", "pairwise": "missing values pair by pair"}
        others = {
            "weights": self.weights,
            "categories": self.words,
            "sparse matrices": self.sparse,
            "tables in blocks": self.in_blocks is not None,
            "corrections": len(self.corrections) > 1,
        }
        return (
            *(tasks[task] for task in self.tasks),
            *(missing[how] for how in self.missing),
            *(words for words, supported in others.items() if supported),
        )

    def check(self, table: Table, measuring: Measuring) -> None:
        """Refuse a table or a setting that the measure cannot do with."""
        if table.sparse is not None and not self.sparse:
            raise InvalidInput(
                f"a sparse matrix with {self._named}",
                "a dense table",
                f"Use {keyword('measure', 'plugin')}, which counts what is not zero, or pass X.toarray().",
            )
        lacking, words = False, []
        for block in table.blocks:
            lacking = lacking or block.missing is not None
            if block.kind == "category" and not self.words:
                words.extend(table.feature_names[i] for i in block.positions)
        if lacking and (treated := self._treated(table)) not in self.missing:
            other = "pairwise" if "pairwise" in self.missing else "level"
            raise InvalidInput(
                f"missing values and {keyword('missing', treated)} with {self._named}",
                f"{keyword('missing', other)}: {MISSING[other]}" if self.missing else "a table without missing values",
                f"Pass {keyword('missing', other)}, or {keyword('measure', 'plugin')}.",
            )
        if table.task not in self.tasks:
            kinds = {"classification": "class labels", "regression": "numbers"}
            raise InvalidInput(
                f"a target of {kinds[table.task]} with {self._named}",
                f"a target of {kinds[self.tasks[0]]}" if self.tasks else "another measure",
                f"Use {keyword('measure', 'plugin')}.",
            )
        if table.weights is not None and not self.weights:
            raise InvalidInput(
                f"weights of rows with {self._named}", "rows that count once", f"Use {keyword('measure', 'plugin')}."
            )
        if words:
            some = ", ".join(map(repr, words[:5])) + (f" and {len(words) - 5} more" if len(words) > 5 else "")
            raise InvalidInput(
                f"categories in column{'s' if len(words) > 1 else ''} {some} with {self._named}",
                "columns whose values have an order: integers, bools and numbers",
                f"Use {keyword('measure', 'plugin', 'neighbors')}, or leave these columns out.",
            )
        if "correction" in self.uses and measuring.correction not in self.corrections:
            raise InvalidInput(
                f"{keyword('correction', measuring.correction)} with {self._named}",
                f"one of {', '.join(self.corrections)}",
                f"Leave {keyword('correction')} out.",
            )

    def _treated(self, table: Table) -> str:
        """How missing values of the table are treated."""
        if table.missing != "auto":
            return table.missing
        return "level" if self.of_levels else "pairwise"

    @property
    def _named(self) -> str:
        """As messages name it."""
        return keyword("measure", self.name)

    def check_blocks(self) -> None:
        """Refuse a table that is read block by block where the measure cannot do with it."""
        if self.in_blocks is None:
            raise InvalidInput(
                f"{keyword('measure', self.name)} for a table that is read block by block",
                keyword("measure", "plugin"),
                f"Pass {keyword('memory', spelled='')} enough to hold the table, or a sample of its rows.",
            )
