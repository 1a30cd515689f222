"""A table of every kind of column, and the same rows as every source there is, for tests that compare them."""

import gzip
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet
import pytest

from as_before import counted
from certselect.information.information_terms import measure_table
from certselect.settings import Settings
from certselect.table.streams.file_rows import FileRows
from certselect.table.streams.row_source import UNKNOWN, BatchFactory
from certselect.table.streams.streamed_table import open_stream

BUDGET = "64MB"
TERMS = ("relevance", "entropy", "redundancy", "conditional_redundancy", "interaction", "chance", "chance_p_values")
TERMS += ("cautious_relevance", "allowance", "overlap")


def plain_columns(m, seed=0):
    """Columns that every kind of file keeps as they are."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, m)
    return {
        "numbers": rng.standard_normal(m) + y,
        "ties": np.round(rng.standard_normal(m) + 0.25, 1) + 0.05,
        "mostly_zero": np.where(rng.random(m) < 0.7, 0.0, rng.standard_normal(m)),
        "few": rng.integers(0, 4, m),
        "many": rng.integers(-50, 100, m) + y,
        "words": np.array(["ash", "beech", "cedar", 'über, "quoted"'])[rng.integers(0, 4, m)],
        "same": np.full(m, 3),
        "id": rng.permutation(m),
        "copy_of_few": rng.integers(0, 4, m),
        "y": y,
    }


def plain_table(m, seed=0):
    columns = plain_columns(m, seed)
    columns["copy_of_few"] = 7 - 2 * columns["few"]
    return pa.table(columns)


def odd_table(m, seed=0):
    """What only Arrow holds: narrow, wide and missing numbers, dictionaries, dates, decimals, hundreds of levels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, m)

    def gaps(values, kind=None, share=0.2):
        return pa.array(
            [None if lacking else v for v, lacking in zip(values, rng.random(m) < share, strict=True)], kind
        )

    floats = rng.standard_normal(m)
    days = [date(2020, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 900, m)]
    columns = {
        "float32": floats.astype(np.float32),
        "float16": floats.astype(np.float16),
        "nan": np.where(rng.random(m) < 0.2, np.nan, floats + y),
        "null_floats": gaps(floats),
        "whole_floats": rng.integers(0, 5, m).astype(float),
        "whole_with_gaps": np.where(rng.random(m) < 0.2, np.nan, rng.integers(0, 5, m)),
        "int8": rng.integers(-3, 3, m).astype(np.int8),
        "uint16": rng.integers(0, 300, m).astype(np.uint16),
        "huge": rng.integers(0, 40, m).astype(np.uint64) + np.uint64(2**63 + 5),
        "far_apart": rng.choice(np.array([-(2**62), 0, 2**62]), m),
        "null_integers": gaps(rng.integers(0, 60, m).tolist(), pa.int32()),
        "bool": rng.random(m) < 0.3,
        "null_bool": gaps((rng.random(m) < 0.5).tolist()),
        "null_words": gaps(rng.choice(["a", "b", "c"], m).tolist()),
        "dictionary": gaps(rng.choice(["u", "v", "w"], m).tolist()).dictionary_encode(),
        "date": pa.array(days),
        "time": gaps([datetime(2021, 5, 1) + timedelta(seconds=int(s)) for s in rng.integers(0, 10**6, m)]),
        "date_text": [f"{d:%d.%m.%Y}" for d in days],
        "decimal": [Decimal(int(v)) / 4 for v in rng.integers(0, 12, m)],
        "empty": pa.nulls(m, pa.float64()),
        "nothing": pa.nulls(m),
        "words_90": np.array([f"w{k}" for k in rng.integers(0, 90, m)]),
        "copy": pa.array(np.array(["p", "q"])[y].tolist()),
        "code": [f"c{k}" for k in rng.permutation(m)],
        "y": y,
    }
    return pa.table(columns)


def in_blocks(table, sizes):
    """The rows in record batches of these sizes, over and over."""
    start, batches = 0, []
    while start < table.num_rows:
        size = sizes[len(batches) % len(sizes)]
        batches.append(pa.concat_batches(table.slice(start, size).combine_chunks().to_batches()))
        start += size
    return batches


def parts_of(table, n=3):
    cuts = np.linspace(0, table.num_rows, n + 1).astype(int)
    return [table.slice(a, b - a) for a, b in pairwise(cuts.tolist())]


def csv_text(table):
    sink = pa.BufferOutputStream()
    pyarrow.csv.write_csv(table, sink)
    return sink.getvalue().to_pybytes()


def parquet_folder(table, folder):
    folder.mkdir()
    for number, part in enumerate(parts_of(table)):
        pa.parquet.write_table(part, folder / f"part-{number}.parquet", row_group_size=37)
    return folder


def csv_folder(table, folder, *, zipped=False):
    folder.mkdir()
    for number, part in enumerate(parts_of(table)):
        text = csv_text(part)
        name = f"part-{number}.csv" + (".gz" if zipped else "")
        (folder / name).write_bytes(gzip.compress(text) if zipped else text)
    return folder


def partitions(table, folder):
    """Folders few=0, few=1, ...: rows in another order, and the column behind the others."""
    keys = pa.dataset.partitioning(pa.schema([table.schema.field("few")]), flavor="hive")
    pa.dataset.write_dataset(table, folder, format="parquet", partitioning=keys)
    return folder


def one_file(table, folder):
    folder.mkdir()
    pa.parquet.write_table(table, folder / "one.parquet", row_group_size=50)
    return folder / "one.parquet"


FILES = {
    "one Parquet file": one_file,
    "Parquet folder": parquet_folder,
    "Parquet glob": lambda table, folder: f"{parquet_folder(table, folder)}/part-*.parquet",
    "partitions": partitions,
    "CSV folder": csv_folder,
    "CSV glob": lambda table, folder: f"{csv_folder(table, folder)}/*.csv",
    "zipped CSV folder": lambda table, folder: csv_folder(table, folder, zipped=True),
    "Arrow dataset": lambda table, folder: pa.dataset.dataset(parquet_folder(table, folder)),
    "dataset in memory": lambda table, folder: pa.dataset.dataset(table.to_batches(max_chunksize=17)),
}
FUNCTIONS = {
    "record batches": lambda table, folder: lambda: iter(in_blocks(table, [7, 1, 64])),
    "pandas blocks": lambda table, folder: lambda: [part.to_pandas() for part in parts_of(table)],
    "polars blocks": lambda table, folder: lambda: [pl.from_arrow(part) for part in parts_of(table)],
}


@pytest.fixture
def always_in_blocks(monkeypatch):
    """Tables of files as well are read in blocks, however small."""
    monkeypatch.setattr(FileRows, "n_bytes", UNKNOWN)


def streamed_terms(make, target="y", memory=BUDGET, **settings):
    """Information terms of what a function brings, read in blocks; plain counts where no other measure is named."""
    stated = Settings.from_keywords(counted(settings), groups=("reading", "measuring"))
    table = open_stream(BatchFactory(make), target, stated.reading, memory=memory)
    return measure_table(table, stated.measuring)


def assert_same_terms(got, wanted):
    assert got.n_samples == wanted.n_samples
    assert got.feature_names == wanted.feature_names
    np.testing.assert_array_equal(got.levels, wanted.levels)
    np.testing.assert_array_equal(got.constant, wanted.constant)
    for name in TERMS:
        np.testing.assert_array_equal(getattr(got, name), getattr(wanted, name), err_msg=name)
    assert got.target_entropy == wanted.target_entropy
    assert got.copies == wanted.copies
    assert set(got.decisions) == set(wanted.decisions)
    assert got.settings == wanted.settings
    assert got.picked == wanted.picked
