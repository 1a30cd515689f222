"""The same values give the same table, whatever holds them: arrays, lists, frames, files, and rows in blocks."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from as_before import counted
from certselect import information_terms
from certselect.errors import InvalidInput
from streamed import TERMS, always_in_blocks, odd_table, parts_of  # noqa: F401

pytestmark = [
    pytest.mark.usefixtures("always_in_blocks"),
    pytest.mark.filterwarnings("ignore::certselect.errors.ColumnsLeftOutWarning"),
]
M = 120


class Columns:
    """Columns of values as Python lists, None where one is missing, drawn from one generator."""

    def __init__(self, m, seed=0):
        self.m, self.rng = m, np.random.default_rng(seed)
        self.y = self.rng.integers(0, 2, m).tolist()

    def gaps(self, values, share=0.2):
        return [None if lacking else v for v, lacking in zip(values, self.rng.random(self.m) < share, strict=True)]

    def floats(self):
        return (self.rng.standard_normal(self.m) + np.array(self.y)).tolist()

    def whole(self, n=4):
        return self.rng.integers(0, n, self.m).tolist()

    def words(self, n):
        return [f"w{k}" for k in self.rng.integers(0, n, self.m)]


def floats(m):
    c = Columns(m, 1)
    return {
        "floats": c.floats(),
        "floats_with_gaps": c.gaps(c.floats()),
        "first_missing": [None, *c.floats()[1:]],
        "whole_with_gaps": c.gaps([float(v) for v in c.whole()]),
        "many_whole_with_gaps": c.gaps([float(v) for v in c.whole(40)]),
        "large_whole_with_gaps": c.gaps([float(2**60 + 1024 * v) for v in c.whole()]),
        "large_half_of_64_bits": c.gaps([float(-(2**62) * v) for v in c.whole(2)]),
        "half_with_gaps": c.gaps([v / 2 for v in c.whole()]),
        "negative_zero": c.gaps([v * -0.0 if v % 2 else float(v) for v in c.whole()]),
        "id": c.gaps([float(v) for v in c.rng.permutation(m)], 0.02),
    }


def whole_numbers(m):
    c = Columns(m, 2)
    return {
        "few": c.whole(),
        "many": c.whole(60),
        "wide": (c.rng.integers(-5, 5, m) * 10**12).tolist(),
        "record": (c.rng.permutation(m) + 7000).tolist(),
        "customerId": (c.rng.permutation(m) * 1_000_003).tolist(),
        "flag": c.whole(2),
    }


def mixed(m):
    c = Columns(m, 3)
    days = [date(2020, 1, 1) + timedelta(days=int(d)) for d in c.rng.integers(0, 400, m)]
    return {
        "whole": c.whole(),
        "whole_with_gaps": c.gaps(c.whole(15)),
        "floats": c.floats(),
        "floats_with_gaps": c.gaps(c.floats()),
        "whole_floats_with_gaps": c.gaps([float(v) for v in c.whole()]),
        "flag": [v > 1 for v in c.whole()],
        "flag_with_gaps": c.gaps([v > 1 for v in c.whole()]),
        "words": c.words(5),
        "words_with_gaps": c.gaps(c.words(5)),
        "notes": c.words(m),
        "code": [f"c{k}" for k in c.rng.permutation(m)],
        "code_with_gaps": c.gaps([f"c{k}" for k in c.rng.permutation(m)]),
        "date_text": [f"{d:%d.%m.%Y}" for d in days],
        "empty_words": [v if v != "w0" else "" for v in c.words(4)],
        "record": list(range(m)),
        "row_number": c.gaps(list(range(m)), 0.03),
    }


def times(m):
    c = Columns(m, 4)
    days = [date(2020, 1, 1) + timedelta(days=int(d)) for d in c.rng.integers(0, 400, m)]
    stamps = [datetime(2021, 5, 1) + timedelta(seconds=int(s)) for s in c.rng.integers(0, 10**6, m)]
    return {"day": days, "day_with_gaps": c.gaps(days), "stamp": stamps, "stamp_with_gaps": c.gaps(stamps)}


def decimals(m):
    c = Columns(m, 5)
    return {
        "price": [Decimal(v) / 4 for v in c.whole(12)],
        "price_with_gaps": c.gaps([Decimal(v) / 4 for v in c.whole(12)]),
        "whole_with_gaps": c.gaps([Decimal(v) for v in c.whole()]),
    }


def ranks(m):
    """More than two columns that fill their range are ranks, not identifiers."""
    c = Columns(m, 6)
    return {f"rank_{i}": c.rng.permutation(m).tolist() for i in range(3)} | {"record": list(range(m))}


def texts(m):
    """Texts of more levels than are counted, and identifiers of more values than one block holds."""
    c = Columns(m, 7)
    return {
        "levels_1100": [f"w{k % 1100}" for k in range(m)],
        "levels_900": [f"w{k % 900}" for k in range(m)],
        "code": [f"c{k}" for k in c.rng.permutation(m)],
        "nearly_code": [f"c{k}" for k in c.rng.integers(0, 20 * m, m)],
        "blocks": [f"c{k % (m // 3)}" for k in range(m)],
        "floats": c.floats(),
    }


TABLES = {
    "floats": (floats, M),
    "whole numbers": (whole_numbers, M),
    "mixed": (mixed, M),
    "few rows": (mixed, 15),
    "times": (times, M),
    "decimals": (decimals, M),
    "ranks": (ranks, M),
    "texts": (texts, 3000),
}


def pandas_default(columns):
    return pd.DataFrame(columns)


def pandas_nullable(columns):
    of_pandas = {pa.int64(): pd.Int64Dtype(), pa.float64(): pd.Float64Dtype(), pa.bool_(): pd.BooleanDtype()}
    return arrow(columns).to_pandas(types_mapper={**of_pandas, pa.string(): pd.StringDtype()}.get)


def pandas_arrow(columns):
    return arrow(columns).to_pandas(types_mapper=pd.ArrowDtype)


def arrow(columns):
    return pa.table(columns)


def in_pieces(columns):
    table = arrow(columns)
    return pa.concat_tables([table.slice(0, 7), table.slice(7, 0), table.slice(7)])


def rows_of(columns):
    return [list(row) for row in zip(*columns.values(), strict=True)]


def object_array(columns):
    made = np.empty((len(next(iter(columns.values()))), len(columns)), dtype=object)
    for place, values in enumerate(columns.values()):
        made[:, place] = values
    return made


def float_array(columns):
    return np.array([[np.nan if v is None else v for v in row] for row in rows_of(columns)], dtype=np.float64)


def masked_array(columns):
    array = float_array(columns)
    return np.ma.MaskedArray(np.where(np.isnan(array), 7.0, array), np.isnan(array))


def batches(columns, n_rows):
    table = arrow(columns)
    return lambda: table.to_batches(max_chunksize=n_rows)


def dask(columns):
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_pandas(pandas_arrow(columns), npartitions=3)


def parquet(columns, folder):
    folder.mkdir()
    pa.parquet.write_table(arrow(columns), folder / "one.parquet", row_group_size=50)
    return folder / "one.parquet"


def feather_free_csv(columns, folder):
    folder.mkdir()
    pa.csv.write_csv(arrow(columns), folder / "one.csv")
    return folder / "one.csv"


APART = {"list": rows_of, "object array": object_array}
FRAMES = {
    "pandas default": pandas_default,
    "pandas nullable": pandas_nullable,
    "pandas Arrow": pandas_arrow,
    "polars": pl.DataFrame,
    "Arrow": arrow,
    "Arrow in pieces": in_pieces,
    "batches": lambda columns: batches(columns, 1000),
    "small batches": lambda columns: batches(columns, 17),
    "Dask": dask,
}
ARRAYS = {
    "floats": {
        "float array": float_array,
        "masked array": masked_array,
        "transposed": lambda c: np.asfortranarray(float_array(c)),
    },
    "whole numbers": {"integer array": lambda c: np.array(rows_of(c)), "int32": lambda c: np.array(rows_of(c))},
}
# What a text file does not keep: whole floats without a point, and texts that look like dates.
NOT_IN_TEXT = {"date_text", "negative_zero", "empty_words", "words_with_gaps", "code_with_gaps"}


def target_of(m):
    return Columns(m).y


def refused(X, y, **settings):
    try:
        return information_terms(X, y, **settings)
    except InvalidInput as error:
        return str(error)


def assert_same(got, wanted):
    assert got.feature_names == wanted.feature_names
    assert got.decisions == wanted.decisions
    np.testing.assert_array_equal(got.levels, wanted.levels)
    np.testing.assert_array_equal(got.constant, wanted.constant)
    for name in TERMS:
        np.testing.assert_array_equal(getattr(got, name), getattr(wanted, name), err_msg=name)
    assert got.copies == wanted.copies


@pytest.mark.parametrize("missing", ["level", "pairwise"])
@pytest.mark.parametrize("container", [*FRAMES, *APART, "arrays", "Parquet"])
@pytest.mark.parametrize("name", TABLES)
def test_same_values_same_table(name, container, missing, tmp_path):
    make, m = TABLES[name]
    columns, y = make(m), target_of(m)
    wanted = information_terms(arrow(columns), y, missing=missing, measure="plugin", correction="none")
    if container in FRAMES:
        found = [(FRAMES[container]({**columns, "y": y}), "y")]
    elif container == "Parquet":
        found = [(parquet({**columns, "y": y}, tmp_path / "files"), "y")]
    else:
        made = [APART[container]] if container in APART else ARRAYS.get(name, {}).values()
        found = [(one(columns), y) for one in made]
    for X, target in found:
        names = {} if target == "y" else {"feature_names": list(columns)}
        assert_same(information_terms(X, target, missing=missing, **counted(names)), wanted)


@pytest.mark.parametrize("missing", ["level", "pairwise"])
@pytest.mark.parametrize("name", ["whole numbers", "mixed", "texts", "ranks"])
def test_same_values_in_text_files(name, missing, tmp_path):
    make, m = TABLES[name]
    columns = {key: values for key, values in make(m).items() if key not in NOT_IN_TEXT}
    y = target_of(m)
    wanted = information_terms(arrow(columns), y, missing=missing, measure="plugin", correction="none")
    file = feather_free_csv({**columns, "y": y}, tmp_path / "files")
    assert_same(information_terms(file, "y", missing=missing, measure="plugin", correction="none"), wanted)


TARGETS = {
    "two classes": lambda c: c.y,
    "bools": lambda c: [v > 0 for v in c.y],
    "words": lambda c: c.words(3),
    "whole numbers": lambda c: c.whole(19),
    "many whole numbers": lambda c: c.whole(60),
    "numbers": lambda c: c.floats(),
    "whole floats": lambda c: [float(v) for v in c.whole()],
    "far apart": lambda c: [v * 10**12 for v in c.whole()],
}
TASKS = {"auto": TARGETS, "classification": TARGETS.keys() - {"numbers"}, "regression": TARGETS.keys() - {"words"}}


@pytest.mark.parametrize("container", [*FRAMES, *APART, "Parquet"])
@pytest.mark.parametrize("task", TASKS)
def test_same_values_same_target(task, container, tmp_path):
    for target in TASKS[task]:
        c = Columns(M, 8)
        y = TARGETS[target](c)
        columns = {"whole": c.whole(), "floats": c.floats()}
        wanted = information_terms(arrow({**columns, "y": y}), "y", task=task, measure="plugin", correction="none")
        if container in APART:
            X, label, names = APART[container](columns), y, {"feature_names": list(columns)}
        elif container == "Parquet":
            X, label, names = parquet({**columns, "y": y}, tmp_path / target), "y", {}
        else:
            X, label, names = FRAMES[container]({**columns, "y": y}), "y", {}
        found = information_terms(X, label, task=task, **counted(names))
        assert_same(found, wanted)
        assert found.target_entropy == wanted.target_entropy


REFUSED = {
    "infinity": ({"x": [1.5, float("inf"), None, float("-inf")] * 30}, {"missing": "level"}),
    "infinity in an identifier": ({"id": [float("inf"), *map(float, range(119))]}, {}),
    "infinity as levels": ({"x": [1.0, float("inf")] * 60}, {"kinds": {"x": "levels"}}),
    "gaps": ({"x": [1.5, None, 2.5, 3.0] * 30}, {"missing": "error"}),
    "gaps in words": ({"x": ["a", None, "b", "c"] * 30}, {"missing": "error"}),
}


@pytest.mark.parametrize("container", [*FRAMES, *APART, "Parquet"])
@pytest.mark.parametrize("name", REFUSED)
def test_same_values_same_refusal(name, container, tmp_path):
    added, settings = REFUSED[name]
    c = Columns(M, 9)
    columns = {"floats": c.floats(), **added}
    wanted = refused(arrow({**columns, "y": c.y}), "y", **settings)
    assert isinstance(wanted, str)
    if container in APART:
        assert refused(APART[container](columns), c.y, feature_names=list(columns), **settings) == wanted
        return
    made = {**columns, "y": c.y}
    X = parquet(made, tmp_path / "files") if container == "Parquet" else FRAMES[container](made)
    assert refused(X, "y", **settings) == wanted


@pytest.mark.parametrize("measure", ["plugin", "gaussian_copula", "neighbors"])
def test_floats_of_pandas_with_arrow_are_numbers(measure):
    """Two such columns were taken for whole numbers, one missing value erased them, and infinities were accepted."""
    c = Columns(M, 10)
    columns = {"x": [None, *c.floats()[1:]], "z": c.floats(), "y": c.y}
    settings = {"measure": measure, "missing": "pairwise"}
    found, wanted = (information_terms(make(columns), "y", **settings) for make in (pandas_arrow, arrow))
    assert_same(found, wanted)
    assert (found.relevance > 0).all()


ODD = {
    "pandas default": lambda table: table.to_pandas(),
    "pandas Arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
    "pandas blocks": lambda table: lambda: [part.to_pandas(types_mapper=pd.ArrowDtype) for part in parts_of(table)],
    "polars blocks": lambda table: lambda: [pl.from_arrow(part) for part in parts_of(table)],
    "batches": lambda table: lambda: table.to_batches(max_chunksize=31),
}


@pytest.mark.parametrize("container", ODD)
@pytest.mark.parametrize("column", odd_table(10).column_names)
def test_same_odd_values(column, container):
    table = odd_table(M)
    columns = {name: table[name] for name in dict.fromkeys([column, "float32", "y"])}
    wanted = information_terms(pa.table(columns), "y", missing="level", measure="plugin", correction="none")
    assert_same(
        information_terms(ODD[container](pa.table(columns)), "y", missing="level", measure="plugin", correction="none"),
        wanted,
    )
