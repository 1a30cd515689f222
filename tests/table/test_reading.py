"""Arrays, lists and frames of every kind give the same table."""

from __future__ import annotations

import datetime
import decimal
import subprocess
import sys

import numpy as np
import pytest

from certselect.coding import code_table
from certselect.table import Table, read_table

Y = ["b", "a", "b", "a"]


def kinds(table: Table) -> dict[str, str]:
    return {table.feature_names[i]: block.kind for block in table.blocks for i in block.positions.tolist()}


def columns(table: Table) -> dict[str, list]:
    """Every column as Python values, categories by name."""
    found = {}
    for block in table.blocks:
        for place, position in enumerate(block.positions.tolist()):
            values = block.values[:, place].tolist()
            if block.kind == "category":
                values = [block.vocabularies[place][code] for code in values]
            found[table.feature_names[position]] = values
    return found


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.uint64, ">i4"])
def test_integer_arrays_are_not_copied(dtype):
    X = np.array([[0, 1], [1, 0], [1, 1], [0, 0]]).astype(dtype)
    table = read_table(X, Y)
    assert [block.kind for block in table.blocks] == ["integer"]
    assert np.shares_memory(table.blocks[0].values, X)
    assert table.feature_names == ("x0", "x1")
    assert table.blocks[0].positions.dtype == np.intp


@pytest.mark.parametrize(
    ("given", "kept"), [(np.float16, np.float32), (np.float32, np.float32), (np.longdouble, np.float64), (">f8", "f8")]
)
def test_floating_arrays_keep_their_numbers(given, kept):
    X = np.array([[0.5, 1], [1, 0], [1, 1], [0, 0]]).astype(given)
    (block,) = read_table(X, Y).blocks
    assert block.kind == "number"
    assert block.values.dtype == kept
    assert block.values.tolist() == X.tolist()
    assert np.shares_memory(block.values, X) == (np.dtype(given) == kept)


def test_views_and_subclasses_are_read():
    X = np.arange(16).reshape(4, 4)
    for view in (X[::-1, ::2], np.asfortranarray(X), np.ma.array(X), X.view(np.matrix)):
        table = read_table(view, Y)
        assert table.blocks[0].values.tolist() == view.tolist()


def test_a_masked_cell_is_missing():
    X = np.ma.array(np.eye(4), mask=np.eye(4) == 1)
    with pytest.raises(ValueError, match=r"NaN.*'x0', 'x1', 'x2', 'x3', in 4 of 4 rows"):
        read_table(X, Y)


def test_object_columns_become_what_their_values_are():
    X = np.array(
        [
            [1, 1.5, True, "a", 1, np.int64(3), decimal.Decimal("0.5"), 2**70],
            [2, 2, False, "", "1", np.float32(0.5), decimal.Decimal(2), -1],
            [3, 2.5, True, "b", type(None), True, decimal.Decimal(3), 0],
            [3, np.float64(7), np.bool_(True), "b", 1.0, 1, decimal.Decimal(4), 0],
        ],
        dtype=object,
    )
    table = read_table(X, Y)
    assert list(kinds(dict_order(table)).values()) == [
        "integer",
        "number",
        "integer",
        "category",
        "category",
        "number",
        "number",
        "category",
    ]
    found = columns(table)
    assert found["x2"] == [True, False, True, True]
    assert found["x4"] == X[:, 4].tolist()
    assert found["x7"] == [2**70, -1, 0, 0]


def dict_order(table: Table) -> Table:
    """The same table with blocks of one column each, in order of features."""
    blocks = [
        type(block)(block.kind, block.positions[j : j + 1], block.values[:, j : j + 1], block.vocabularies[j : j + 1])
        for block in table.blocks
        for j in range(len(block.positions))
    ]
    blocks.sort(key=lambda block: int(block.positions[0]))
    return Table(tuple(blocks), table.feature_names, table.target, table.classes, table.target_numbers)


@pytest.mark.parametrize("dtype", ["U3", "S3", object])
def test_strings_are_categories_in_order(dtype):
    X = np.array([["b"], ["a"], ["c"], ["a"]], dtype=dtype)
    (block,) = read_table(X, Y).blocks
    assert block.kind == "category"
    assert block.values.dtype == np.int32
    assert block.values[:, 0].tolist() == [1, 0, 2, 0]
    assert list(block.vocabularies[0]) == sorted(set(X[:, 0].tolist()))


def test_lists_of_rows_are_read_column_by_column():
    table = read_table([[0, 1.5, "red"], [1, 0.5, "blue"], [1, 2.0, "red"], [0, 1.0, ""]], Y)
    assert kinds(table) == {"x0": "integer", "x1": "number", "x2": "category"}
    assert columns(table)["x2"] == ["red", "blue", "red", ""]


def test_mixed_categories_have_an_order_that_rows_do_not_change():
    cells = [1, "1", (2, 3), 1.0, True, "a", frozenset({1}), b"1"]
    labels = [0, 1] * 4
    tables = []
    for turn in range(len(cells)):
        X = np.empty((8, 1), dtype=object)
        X[:, 0] = cells[turn:] + cells[:turn]
        tables.append(read_table(X, labels))
    vocabularies = {tuple(map(repr, table.blocks[0].vocabularies[0])) for table in tables}
    assert len(vocabularies) == 1
    assert len(tables[0].blocks[0].vocabularies[0]) == 6  # 1, 1.0 and True are equal


def all_kinds() -> dict[str, list]:
    return {
        "whole": [3, 1, 2, 1],
        "real": [0.5, 1.5, -2.0, 0.25],
        "flag": [True, False, False, True],
        "text": ["x", "", "y", "x"],
        "more": [7, 7, 8, 9],
    }


def frames() -> dict[str, object]:
    import narwhals as nw
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    data = all_kinds()
    nullable = {"whole": "Int64", "real": "Float64", "flag": "boolean", "text": "string", "more": "Int8"}
    arrow = {"whole": "int64[pyarrow]", "real": "double[pyarrow]", "flag": "bool[pyarrow]", "text": "string[pyarrow]"}
    return {
        "pandas": pd.DataFrame(data),
        "pandas objects": pd.DataFrame(data, dtype=object),
        "pandas nullable": pd.DataFrame(data).astype(nullable),
        "pandas arrow": pd.DataFrame(data).astype(arrow),
        "pandas category": pd.DataFrame(data).astype({"text": pd.CategoricalDtype(["y", "x", "", "unused"])}),
        "polars": pl.DataFrame(data),
        "narwhals": nw.from_native(pl.DataFrame(data)),
        "polars category": pl.DataFrame(data).with_columns(pl.col("text").cast(pl.Categorical)),
        "polars enum": pl.DataFrame(data).with_columns(pl.col("text").cast(pl.Enum(["unused", "y", "x", ""]))),
        "pyarrow": pa.table(data),
        "pyarrow dictionary": pa.table({**data, "text": pa.array(data["text"]).dictionary_encode()}),
    }


@pytest.mark.parametrize("library", list(frames()))
def test_frames_of_every_library_give_the_same_table(library):
    data = all_kinds()
    table = read_table(frames()[library], Y)
    assert table.feature_names == tuple(data)
    assert kinds(table) == {
        "whole": "integer",
        "real": "number",
        "flag": "integer",
        "text": "category",
        "more": "integer",
    }
    assert columns(table) == data
    assert [block.vocabularies for block in table.blocks if block.kind == "category"] == [(("", "x", "y"),)]
    assert table.target.tolist() == [1, 0, 1, 0]
    rows = [list(row) for row in zip(*data.values(), strict=True)]
    expected = code_table(read_table(rows, Y))
    assert code_table(table).codes.tolist() == expected.codes.tolist()
    assert code_table(table).levels.tolist() == expected.levels.tolist()


def test_uniform_frames_are_the_array_they_hold():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    rng = np.random.default_rng(0)
    for X in (rng.integers(0, 9, (30, 7)), rng.normal(size=(30, 7)).astype(np.float32), rng.random((30, 7)) < 0.5):
        names = [f"c{j}" for j in range(7)]
        y = rng.integers(0, 3, 30)
        expected = code_table(read_table(X, y, feature_names=names))
        arrow = pa.table({name: X[:, j] for j, name in enumerate(names)})
        for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names), arrow):
            table = read_table(frame, y)
            assert len(table.blocks) == 1
            assert table.blocks[0].values.dtype == X.dtype
            assert np.array_equal(code_table(table).codes, expected.codes)
            assert table.feature_names == expected.feature_names


def test_a_pandas_frame_of_one_dtype_is_not_copied():
    import pandas as pd

    frame = pd.DataFrame(np.zeros((4, 3), dtype=np.int64))
    table = read_table(frame, Y)
    assert np.shares_memory(table.blocks[0].values, frame.to_numpy())
    assert table.feature_names == ("0", "1", "2")


def test_int64_and_uint64_columns_do_not_become_floats():
    import polars as pl

    frame = pl.DataFrame(
        {"i": [-(2**63), 2**63 - 1, 0, 1], "u": pl.Series([2**64 - 1, 2**64 - 2, 0, 1], dtype=pl.UInt64)}
    )
    assert columns(read_table(frame, Y)) == frame.to_dict(as_series=False)


HOSTILE = ["", " ", "a\nb", "naïve ☃", "^a.*$", "*", "x" * 10_000, "target", "'\"\\", "\x00"]


def test_hostile_names_are_kept_as_they_are():
    import pandas as pd
    import polars as pl

    data = {name: [i, 1, 2, 3] for i, name in enumerate(HOSTILE)}
    for frame in (pd.DataFrame(data), pl.DataFrame(data)):
        table = read_table(frame, Y)
        assert table.feature_names == tuple(HOSTILE)
        assert columns(table) == data
    mixed = pd.DataFrame({name: [1, "a", 2, 3] for name in HOSTILE})
    assert read_table(mixed, Y).feature_names == tuple(HOSTILE)
    with pytest.raises(ValueError, match="NaN"):
        read_table(pl.DataFrame({name: [None, "a", "b", "c"] for name in HOSTILE}), Y, missing="error")


def test_names_that_are_no_strings_become_strings():
    import pandas as pd

    frame = pd.DataFrame([[1, 2.5, "a"]] * 4, columns=pd.Index([0, ("a", 1), None], dtype=object))
    assert read_table(frame, Y).feature_names == ("0", "('a', 1)", "None")
    nested = pd.DataFrame(np.eye(4)[:, :2], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))
    assert read_table(nested, Y).feature_names == ("('a', 1)", "('a', 2)")
    nested[("b", 1)] = ["u", "v", "u", "v"]
    assert columns(read_table(nested, Y))["('b', 1)"] == ["u", "v", "u", "v"]


def test_given_names_replace_the_frames():
    import pandas as pd

    frame = pd.DataFrame(np.eye(4)[:, :2], columns=["a", "a"])
    assert read_table(frame, Y, feature_names=["p", 5]).feature_names == ("p", "5")


def test_wide_arrays_are_read_without_a_look_at_each_column():
    X = np.zeros((300, 20_000), dtype=np.int64)
    table = read_table(X, np.arange(300) % 2)
    assert table.blocks[0].values is X
    assert table.n_features == 20_000
    assert table.n_samples == 300
    assert table.feature_names[-1] == "x19999"


def test_a_sum_that_overflows_is_no_infinity():
    X = np.full((4, 2), 1.7e308)
    assert read_table(X, Y).blocks[0].values is X


def test_objects_with_an_array_in_them_are_read():
    class Holder:
        def __array__(self, dtype=None, copy=None):
            return np.eye(4, dtype=dtype)

    assert read_table(Holder(), Y).blocks[0].values.tolist() == np.eye(4).tolist()


def test_importing_the_room_loads_nothing_heavy():
    code = "import certselect.table, certselect.coding, sys; print([m for m in sys.modules if '.' not in m])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"pandas", "polars", "pyarrow", "numba", "scipy", "sklearn"} & set(eval(loaded))


def test_dates_in_an_object_column_are_numbers():
    X = np.array([[datetime.date(1970, 1, 2)]] * 4, dtype=object)
    (block,) = read_table(X, Y).blocks
    assert block.kind == "number"
    assert block.values.ravel().tolist() == [86400.0] * 4


@pytest.mark.parametrize("kind", ["float32", "float64", "int16", "uint64"])
def test_numbers_of_arrow_tables_in_pieces(kind):
    import pyarrow as pa

    gap = None if kind.startswith("float") else 9
    pieces = [pa.array([1, gap, 3, 4], kind)[1:], pa.array([], kind), pa.array([5, gap], kind)[:1]]
    table = pa.table({"a": pa.chunked_array(pieces), "b": pa.array([7, 8, 9, 6], kind)})
    for part in (table, table.slice(1, 3)):
        expected = np.array(part.to_pandas(), dtype=np.float64)
        found = np.empty_like(expected)
        for block in read_table(part, [0, 1, 1, 0][: len(part)], missing="level").blocks:
            values = block.values.astype(np.float64)
            found[:, block.positions] = values if block.missing is None else np.where(block.missing, np.nan, values)
        np.testing.assert_array_equal(found, expected)


def test_a_file_of_numbers_with_gaps_is_read_without_loading_pandas(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c,y\n1,0.5,2,u\n2,,3,v\n3,1.5,4,u\n4,2.5,5,v\n")
    script = (
        "import sys\nfrom certselect import choose_subset\n"
        f"choose_subset({str(tmp_path / 't.csv')!r}, 'y', 1)\n"
        "print([name for name in ('pandas', 'scipy.stats', 'numba') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
