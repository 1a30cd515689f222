"""From a table to its information terms, in one call."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from certselect.clock import Stopwatch
from certselect.coding import CodedTable, Coding, SparseCodedTable, code_table
from certselect.coding.copies import copies_by_rank, copies_of
from certselect.errors import InvalidInput
from certselect.information.choice import cut_integers
from certselect.information.measure import COUNTS_AND_RANKS, Measure
from certselect.information.numeric import numeric_columns
from certselect.information.registry import find_measure, is_built_in
from certselect.information.terms import Families, InformationTerms
from certselect.settings import Measuring, Settings
from certselect.table import StreamedTable, Table, open_source
from certselect.table.streams.in_blocks import InBlocks

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


def information_terms(
    X: Any,
    y: Any = None,
    *,
    feature_names: Sequence[str] | None = None,
    sample_weight: Any = None,
    dtype: DTypeLike = np.float64,
    n_jobs: int | None = None,
    memory: int | str | None = None,
    resume: str | os.PathLike[str] | None = None,
    client: Any = None,
    **settings: Any,
) -> InformationTerms:
    """Measure the information each feature carries about the target, and what pairs of features share.

    Computes I(Xi;C) now and I(Xi;Xj), I(Xi;Xj|C) when asked for, in nats. One
    result serves every criterion, every k and every search.

    Parameters
    ----------
    X : array, sparse matrix, data frame, Table, path, pyarrow.dataset.Dataset or function
        One row per sample. A `Table` brings its target, weights and task along. Files of a format in
        `list_formats()`, folders and globs of them (``data/*.parquet``), Arrow datasets, and what a function without
        arguments returns, an iterable of record batches each time it is called, may be larger than memory: they are
        then read in blocks, with the same result. So are Dask's data frames and arrays. docs/scaling.md says what
        that costs.
    y : array, series or frame, or the name of a column
        The class of each sample (any hashable labels) or a number to predict, or
        several columns of either. Of data that hold the target, its name.
    sample_weight : array, optional
        How much each row counts. Whole numbers stand for repeated rows, others are scaled
        to add up to the number of rows. "neighbors" takes equal rows for one row of their weight.
    feature_names : sequence of str, optional
        Names of the columns of an array.
    dtype : {float64, float32}
        Of the pair terms: float32 halves the memory of the whole matrices.
    n_jobs : int, optional
        How many cores to use; all if None. The result does not depend on it.
    memory : int or str, optional
        How much memory may be used for rows that do not all fit into it, such as "2GB": bytes, or a number and a
        unit. A quarter of what is free if None. What takes less is read at once.
    resume : path, optional
        A file that keeps what was counted of a table in blocks, now and then: a run that was killed goes on from
        it. It is used for the same data only.
    client : distributed.Client, optional
        A Dask cluster whose workers read and count the rows, of files that they can read or of Dask's own data.

    **settings
        How the table is read and measured, as for the selectors:

        measure : {"auto", "plugin", "mixed", "gaussian_copula", "neighbors"} or one that was registered
            "auto" (the default) is "plugin" for classes and "mixed" for numbers to predict, "plugin" beyond 20 000
            rows; `picked` of the result names it, with the reason.
            "plugin" discretises columns into levels and counts exactly. For
            categories, whole numbers and mixed tables, and for numbers; sparse input.
            "mixed" is the mean of "plugin" and "gaussian_copula" where columns can be ranked: it sees
            dependence of any shape, and order within bins. All other columns are counted.
            "gaussian_copula" works on ranks, in closed form, all pairs by one matrix product.
            For numbers whose dependence is rising or falling; any number of columns. Columns
            with many equal values are counted.
            "neighbors" is Kraskov, Stoegbauer and Grassberger's and its kin for mixed columns.
            For dependence of any shape in some hundreds of columns.
        correction : {"none", "miller_madow", "grassberger", "shrinkage", "chance"}
            Bias correction for counts, where cells hold few samples. "chance" subtracts what
            shuffled columns would have (the default).
        n_neighbors : int, default 5
            Of "neighbors": more of them mean less variance and more bias.
        discretize : {"quantile", "uniform", "mean_std", "mdlp"}
            How numbers become levels where they are counted: equal counts (the default), equal widths, three
            states at mean +- standard deviation, or cuts chosen by the classes (Fayyad and Irani).
        bins : int or {"auto", "sturges", "freedman_diaconis", "sqrt"}
            Number of levels for "uniform" and "quantile". "auto": 3 to 5, more for more rows.
        integers : {"auto", "levels", "numbers"}
            Whether "plugin" takes integer columns as levels, or as numbers to be discretised.
            "auto": as levels up to 10 different values. The other measures take them as numbers.
        target_bins : int or "auto"
            Bins of equal counts that "plugin" cuts a target of numbers into.
        kinds : mapping from columns to {"number", "levels", "skip"}, optional
            What a column is, where it would be taken for something else.
        task : {"auto", "classification", "regression"}
            "auto": a target of whole numbers is treated as classes, unless there are more than 20
            of them in fewer than 5 rows each.
        missing : {"auto", "error", "level", "pairwise"}
            What becomes of NaN, None and null: refused; a level of their own ("plugin" and "mixed");
            or each term is estimated from the rows that have its columns. "auto" is "error"
            for arrays; for data frames "level" where levels are counted, else "pairwise".

    Returns
    -------
    InformationTerms

    Examples
    --------
    >>> import numpy as np
    >>> from certselect import information_terms
    >>> X = np.array([[0, 1], [0, 0], [1, 1], [1, 0]])
    >>> terms = information_terms(X, y=["no", "no", "yes", "yes"])
    >>> terms.relevance.round(6)  # the first column is the class, ln 2 less chance; the second is independent
    array([0.462098, 0.      ])
    """
    stated = Settings.from_keywords(settings, groups=("reading", "measuring"))
    watch = Stopwatch()
    blocks = InBlocks(memory, resume, n_jobs, client)
    table = open_source(X, y, stated.reading, feature_names=feature_names, sample_weight=sample_weight, blocks=blocks)[
        0
    ]
    read = watch.seconds
    terms = measure_table(table, stated.measuring, dtype=dtype, n_jobs=n_jobs)
    return replace(terms, seconds={**terms.seconds, "coding": read + terms.seconds["coding"]})


def measure_table(
    table: Table | StreamedTable, measuring: Measuring, *, dtype: DTypeLike = np.float64, n_jobs: int | None = None
) -> InformationTerms:
    """The information terms of a table that was read already, by settings."""
    floating = np.dtype(dtype)
    if floating not in (np.float32, np.float64):
        raise InvalidInput(f"dtype={floating}", "float32 or float64", "Use float32 to halve the memory.")
    record = find_measure(measuring.measure)
    if isinstance(table, StreamedTable):
        record.check_blocks()
        assert record.in_blocks is not None, "it would have been refused"
        return record.in_blocks(table, measuring, floating, partial(measure_table, dtype=dtype, n_jobs=n_jobs))
    watch = Stopwatch()
    picked = ""
    if record.picks is not None:
        measuring, why = record.picks(table, measuring)
        record = find_measure(measuring.measure)
        picked = f"{record.name}: {why}"
    record.check(table, measuring)
    if not record.of_levels:
        terms = _checked(record, record.measured(table, measuring, dtype=floating, n_jobs=n_jobs), table)
        settings = {name: getattr(measuring, name) for name in record.uses}
        find_copies, coding, decisions = partial(_ranked_copies, table, terms.constant), 0.0, ()
    else:
        coded = code_table(table, measuring, n_jobs=n_jobs)
        coding = watch.seconds
        ranks_too = {"table": table} if record.needs == COUNTS_AND_RANKS else {}
        terms = record.measured(coded, measuring, dtype=floating, n_jobs=n_jobs, **ranks_too)
        terms = _checked(record, terms, table)
        settings = _settings_used(record, measuring, coded.coding)
        find_copies = partial(_counted_copies, coded, terms, record)
        whole = np.zeros(0, dtype=np.intp)
        for block in table.blocks:
            if block.kind == "integer":
                whole = np.concatenate([whole, block.positions])
        decisions = cut_integers(whole, coded.coding)
    if record.duplicates is not None:
        find_copies = partial(record.duplicates, table, terms.constant)
    return replace(
        terms,
        settings={"measure": record.name, **settings},
        picked=picked,
        decisions=(*table.decisions, *decisions),
        find_copies=find_copies,
        seconds={"coding": coding, **terms.seconds},
    )


def _checked(record: Measure, terms: InformationTerms, table: Table) -> InformationTerms:
    """The terms that a measure returned; those of measures from outside the package are checked."""
    if not is_built_in(record):
        record.check_terms(terms, table)
    return terms


def _settings_used(record: Measure, measuring: Measuring, coding: Coding) -> dict[str, Any]:
    """The settings that give the terms again, those of the coding as it used them."""
    described, settings = coding.describe(), {}
    for name in record.uses:
        if name not in described:
            settings[name] = getattr(measuring, name)
    for name, value in described.items():
        if value is not None:
            settings[name] = value
    return settings


def _counted_copies(coded: CodedTable | SparseCodedTable, terms: InformationTerms, record: Measure) -> Families:
    alike = np.stack([terms.relevance, terms.entropy], axis=1)
    return copies_of(coded, alike[:, 1:] if record.needs == COUNTS_AND_RANKS else alike, terms.constant)


def _ranked_copies(table: Table, constant: np.ndarray) -> Families:
    return copies_by_rank(numeric_columns(table).values, constant)
