"""Columns that determine the target: most often the target under another name, or something learnt after it.

A column of levels determines classes if at most 1 % of their entropy is left where its level is known, and if it has at
most one level in ten rows: an identifier determines everything. A column of numbers determines a target that is a
number if it has the same order, or the reverse: a rank correlation of 0.999 or more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from certselect.criteria import SubsetProblem
from certselect.errors import keyword, render
from certselect.information import InformationTerms
from certselect.names import shown
from certselect.table import StreamedTable, Table
from certselect.table.model import SparseBlock

MOST_LEFT = 0.01  # of the target's entropy
FEWEST_ROWS_PER_LEVEL = 10
SAME_ORDER = 0.999
# Columns whose order is compared with the target's: a leak is among the most relevant ones.
_MOST_COMPARED = 20
# Fewer rows have the same order by chance, and a column with many gaps does not replace the target.
_FEWEST_ROWS, _LEAST_KNOWN = 30, 0.9
LEVELS, ORDER = "levels", "order"


@dataclass(frozen=True)
class TargetLeak:
    """A column that determines the target.

    Attributes
    ----------
    column : int
    name : str
    shown_by : {"levels", "order"}
    share : float
        Of levels, the share of the target's entropy that they account for; of an order, the rank correlation with the
        target, without its sign.
    """

    column: int
    name: str
    shown_by: str
    share: float

    @property
    def words(self) -> str:
        """The finding, for a list of several."""
        found = f"{100 * self.share:.4g} % of its entropy" if self.shown_by == LEVELS else "the same order"
        return f"{shown(self.name)} ({found})"


def leak_statement(leaks: Iterable[TargetLeak]) -> str:
    """What is wrong and what to do, in a sentence or two, as Python spells settings; empty without a leak.

    >>> leak_statement([TargetLeak(3, "alive", "levels", 1.0)])
    "'alive' (100 % of its entropy) determines the target. If it is not known when you predict, pass exclude=['alive']."
    """
    return render(leak_warning(leaks))


def leak_warning(leaks: Iterable[TargetLeak]) -> str:
    """The statement with its setting marked, for a warning."""
    found = list(leaks)
    if not found:
        return ""
    listed = ", ".join(leak.words for leak in found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
    names = ", ".join(shown(leak.name) for leak in found[:5])
    one = len(found) == 1
    return (
        f"{listed} {'determines' if one else 'each determine'} the target. "
        f"If {'it is' if one else 'they are'} not known when you predict, "
        f"pass {keyword('exclude', spelled=f'[{names}]')}."
    )


def find_leaks(table: Table | StreamedTable, terms: InformationTerms, problem: SubsetProblem) -> tuple[TargetLeak, ...]:
    """The columns that could be chosen and determine the target, by place.

    Entropies are those of `terms`. Orders are compared for the twenty most relevant columns of numbers; of a table that
    is read in blocks, on the rows that are kept in memory.
    """
    open_columns = np.setdiff1d([*problem.candidates.tolist(), *problem.copies], problem.excluded).astype(np.intp)
    found = _by_order if table.task == "regression" else _by_levels  # a number is not determined by the bin it is in
    return tuple(sorted(found(table, terms, open_columns), key=attrgetter("column")))


def _by_levels(table: Table | StreamedTable, terms: InformationTerms, open_columns: np.ndarray) -> Iterator[TargetLeak]:
    """Columns whose levels leave nearly nothing of the entropy of the classes."""
    if not terms.target_entropy > 0.0:
        return
    chance = np.nan_to_num(terms.chance) if terms.settings.get("correction") == "chance" else 0.0
    share = np.minimum((terms.relevance + chance) / terms.target_entropy, 1.0)  # as counted: less nothing by chance
    few = (terms.levels > 0) & (terms.levels * FEWEST_ROWS_PER_LEVEL <= terms.n_samples)
    for column in open_columns[((share >= 1.0 - MOST_LEFT) & few)[open_columns]].tolist():
        yield TargetLeak(column, terms.feature_names[column], LEVELS, float(share[column]))


def _by_order(table: Table | StreamedTable, terms: InformationTerms, open_columns: np.ndarray) -> Iterator[TargetLeak]:
    """Columns of numbers whose order is the target's."""
    relevant = open_columns[np.argsort(-terms.relevance[open_columns], kind="stable")][:_MOST_COMPARED]
    # The same order shows in bins, of which the column may have fewer than the target.
    if np.isfinite(terms.target_entropy) and terms.target_entropy > 0.0:
        relevant = relevant[terms.relevance[relevant] >= terms.target_entropy / 4.0]
    if not len(relevant):
        return
    rows = table.as_sample() if isinstance(table, StreamedTable) else table
    if rows is None or rows.n_samples < _FEWEST_ROWS or rows.target_numbers.shape[1] != 1:
        return
    numbers = rows.target_numbers[:, 0]
    for column, values in _numbers_of(rows, relevant):
        known = np.isfinite(values)
        if known.sum() < _LEAST_KNOWN * len(values):
            continue
        share = _rank_correlation(values[known], numbers[known])
        if share >= SAME_ORDER:
            yield TargetLeak(column, terms.feature_names[column], ORDER, share)


def _numbers_of(table: Table, columns: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The values of those of these columns that are numbers, as floats with NaN where there is no value."""
    wanted = set(columns.tolist())
    for block in table.blocks:
        if block.kind == "category":
            continue
        for place, column in enumerate(block.positions.tolist()):
            if column not in wanted:
                continue
            if isinstance(block, SparseBlock):
                yield column, block.values[:, [place]].toarray().ravel().astype(np.float64)
                continue
            values = block.values[:, place].astype(np.float64)
            if block.missing is not None:
                values = np.where(block.missing[:, place], np.nan, values)
            yield column, values


def _rank_correlation(values: np.ndarray, numbers: np.ndarray) -> float:
    """Spearman's correlation without its sign; 0 where one of them takes one value only."""
    from scipy.stats import rankdata

    first, second = (rankdata(each) - (len(each) + 1) / 2.0 for each in (values, numbers))
    size = float(np.sqrt((first @ first) * (second @ second)))
    return min(1.0, abs(float(first @ second)) / size) if size > 0.0 else 0.0
