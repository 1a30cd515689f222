"""The whole flow in one call: a table and a target in, a Result out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from certselect.clock import Stopwatch, TimeLimit
from certselect.criteria import SubsetProblem, find_criterion, unsized_problem
from certselect.errors import TargetLeakWarning, warn_user
from certselect.evaluation.leaks import find_leaks, leak_warning
from certselect.information import InformationTerms, measure_table
from certselect.results.columns import take_columns
from certselect.results.provenance import Provenance, versions
from certselect.results.result import Result
from certselect.results.size_choice import SizeChoice
from certselect.results.size_rule import SizeRule, asked_size, find_rule
from certselect.results.wording import copy_decisions
from certselect.search import Selection
from certselect.search.registry import find_strategy, is_auto, is_built_in
from certselect.search.select import check_provable, select_by
from certselect.search.selection import INTERRUPTED
from certselect.settings import Searching, Settings
from certselect.table import StreamedTable, Table, open_source
from certselect.table.output import frame_library
from certselect.table.streams.in_blocks import InBlocks
from certselect.threads import on_jobs


def choose_subset(
    table: Any,
    target: Any = None,
    n_features_to_select: int | float | str | None = 10,
    *,
    feature_names: Sequence[str] | None = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    memory: int | str | None = None,
    resume: str | os.PathLike[str] | None = None,
    client: Any = None,
    **settings: Any,
) -> Result:
    """Which columns of a table predict the target best together? The whole way in one call.

    Reads the table, measures mutual information, searches for the subset with the largest
    value of the criterion, and says how far from the best it can be.

    Parameters
    ----------
    table : path, data frame, array, sparse matrix, Table, pyarrow.dataset.Dataset or function
        Files of a format in `list_formats()` (one, a folder or a glob such as ``data/*.parquet``), data in memory, an
        Arrow dataset, or a function that returns an iterable of record batches; one row per sample.
    target : str, list of str, array, series or frame
        The name of the column to predict, of a file or data frame that holds it, or the
        target itself; several columns are several targets.
    n_features_to_select : int, float, "auto" or None, default=10
        How many features to choose; all if the table has fewer, with a warning. A fraction
        between 0 and 1 for that share of the usable columns, "auto" for the fewest that carry
        nearly as much information as the best number does (`result.size_rule` shows how it came
        about). None, with a budget, for any number it pays for.
    feature_names : sequence of str, optional
        Names of the columns of an array.
    sample_weight : array, optional
        How much each row counts: whole numbers stand for repeated rows. `weight="COLUMN"`
        names a column of the table instead.
    n_jobs : int, optional
        How many cores to use; all if None. The answer does not depend on it.
    memory, resume, client
        For tables larger than memory, as in `information_terms`.
    **settings
        Those of `SubsetSelector`, which describes them all.

    Returns
    -------
    Result

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certselect import choose_subset
    >>> flowers = load_iris(as_frame=True).frame
    >>> result = choose_subset(flowers, "target", 2, criterion="jmi", strategy="exact")
    >>> result.names
    ('petal length (cm)', 'petal width (cm)')
    >>> result.statement
    'Proven optimal: no other 2 of the 4 columns score higher.'
    """
    stated, size = Settings.from_keywords(settings), asked_size(n_features_to_select)
    rows, names, seconds = read_checked(
        table,
        target,
        stated,
        sample_weight=sample_weight,
        feature_names=feature_names,
        blocks=InBlocks(memory, resume, n_jobs, client),
    )
    library = None if isinstance(table, Table) else frame_library(table)
    return choose(rows, size, stated, target=names, library=library, seconds=seconds, n_jobs=n_jobs)


def read_checked(
    table: Any,
    target: Any,
    settings: Settings,
    *,
    sample_weight: Any = None,
    feature_names: Any = None,
    blocks: InBlocks | None = None,
) -> tuple[Table | StreamedTable, tuple[str, ...], dict[str, float]]:
    """The table as the settings say, the names of its target columns, and the time it took to read."""
    check_search(settings.searching)
    watch = Stopwatch()
    rows, names = open_source(
        table,
        target,
        settings.reading,
        sample_weight=sample_weight,
        feature_names=feature_names,
        constraints=settings.constraints,
        blocks=blocks,
    )
    return rows, names, {"reading": watch.seconds}


def check_search(searching: Searching) -> None:
    """Tell a slip of the pen before a large table is read."""
    check_provable(find_criterion(searching.criterion, **searching.criterion_options), searching)
    options = searching.all_options
    strategy = None if is_auto(searching.strategy) else find_strategy(searching.strategy, options)
    if options and (strategy is None or is_built_in(strategy)):
        # Values of options are checked by the search they are for: let it choose one feature of one.
        asked = replace(searching, certify=False, max_seconds=None, random_state=0)
        select_by(SubsetProblem.from_matrix(np.eye(1), 1), asked)


def choose(
    table: Table | StreamedTable,
    size: int | float | str | None,
    settings: Settings,
    *,
    target: tuple[str, ...] = (),
    library: str | None = None,
    seconds: Mapping[str, float] | None = None,
    n_jobs: int | None = None,
) -> Result:
    """The result for a table that was read already, by settings; `size` is what `asked_size` makes of it.

    The time limit began before the `seconds` that were spent already.
    """
    limit = TimeLimit.of(settings.searching.max_seconds, already=sum((seconds or {}).values()))
    terms = measure_table(table, settings.measuring, n_jobs=n_jobs)
    searching = settings.searching
    whole = unsized_problem(terms, searching.criterion, constraints=settings.constraints, **searching.problem_options)
    rule = None
    if isinstance(size, float | str):
        watch = Stopwatch()
        with on_jobs(n_jobs):
            rule = find_rule(size, whole, terms, settings.constraints)
        seconds = {**(seconds or {}), "size": watch.seconds}
        size = rule.size(whole)
        whole = replace(whole, exactly=True)  # a rule that is named gives that many
    with on_jobs(n_jobs):
        selection = select_by(whole.of_usable_size(size), searching, limit)
    origin: dict[str, Any] = {"target": target, "library": library, "seconds": seconds, "size_rule": rule}
    try:
        return make_result(settings, selection, terms, table, **origin)
    except KeyboardInterrupt:  # what was found is not lost
        return make_result(settings, replace(selection, status=INTERRUPTED), terms, table, **origin)


def make_result(
    settings: Settings,
    selection: Selection,
    terms: InformationTerms,
    table: Table | StreamedTable,
    *,
    target: tuple[str, ...] = (),
    library: str | None = None,
    seconds: Mapping[str, float] | None = None,
    choice: SizeChoice | None = None,
    size_rule: SizeRule | None = None,
) -> Result:
    """What was found, with where it came from."""
    kept = settings.constraints.kept()
    settings = settings if kept is settings.constraints else replace(settings, constraints=kept)
    seed = settings.searching.random_state
    spent = {**(seconds or {}), **terms.seconds, **selection.seconds}
    provenance = Provenance(
        n_samples=terms.n_samples,
        n_features=terms.n_features,
        target=target,
        measured=terms.settings,
        picked=terms.picked,
        decisions=(*terms.decisions, *copy_decisions(selection.problem)),
        weighted=table.weighted and settings.reading.weight is None,
        seed=int(seed) if isinstance(seed, int | np.integer) else None,
        seconds=spent,
        versions=versions() | ({"device": selection.computed_on} if selection.computed_on else {}),
    )
    columns, leaks = take_columns(table, selection.indices), ()
    if selection.problem is not None:
        leaks = find_leaks(table, terms, selection.problem)
        if leaks:
            warn_user(leak_warning(leaks), TargetLeakWarning)
    return Result(
        settings, selection, provenance, choice, terms, library, size_rule=size_rule, columns=columns, leaks=leaks
    )
