"""Missing values of every library are marked alike, and what is there keeps its kind and its digits."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from certselect.errors import InvalidInput
from certselect.table import Table, read_table

Y = [0, 1, 0, 1]


def columns(table: Table) -> dict[str, tuple[str, list]]:
    """Kind and Python values of every column, categories by name, None where missing."""
    found = {}
    for block in table.blocks:
        for place, position in enumerate(block.positions.tolist()):
            values = block.values[:, place].tolist()
            if block.kind == "category":
                values = [block.vocabularies[place][code] if code >= 0 else None for code in values]
            missing = np.zeros(4, dtype=bool) if block.missing is None else block.missing[:, place]
            values = [None if gap else value for value, gap in zip(values, missing.tolist(), strict=True)]
            found[table.feature_names[position]] = block.kind, values
    return dict(sorted(found.items()))


def filler(block, place):
    """What the block holds in a column's missing cells."""
    return block.values[block.missing[:, place], place].tolist()


def gappy() -> dict[str, list]:
    return {
        "flag": [True, None, False, None],
        "full": [1, 2, 3, 4],
        "huge": [2**64 - 1, None, 2**64 - 2, 0],
        "real": [0.5, None, 1.5, 2.0],
        "text": ["b", None, "", "a"],
        "whole": [2**62 + 1, 2**62, None, -(2**63)],
    }


KINDS = {
    "flag": "integer",
    "full": "integer",
    "huge": "integer",
    "real": "number",
    "text": "category",
    "whole": "integer",
}


def frames() -> dict[str, object]:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    data = gappy()
    objects = pd.DataFrame(data, dtype=object)
    nullable = {"flag": "boolean", "huge": "UInt64", "real": "Float64", "text": "string", "whole": "Int64"}
    arrow = {"flag": "bool[pyarrow]", "huge": "uint64[pyarrow]", "real": "double[pyarrow]", "whole": "int64[pyarrow]"}
    types = [pa.bool_(), pa.int8(), pa.uint64(), pa.float32(), pa.string(), pa.int64()]
    tables = pa.table([pa.array(v, t) for v, t in zip(data.values(), types, strict=True)], names=list(data))
    return {
        "pandas objects": objects,
        "pandas NaN": objects.where(objects.notna(), np.nan),
        "pandas NA": objects.where(objects.notna(), pd.NA),
        "pandas NaT": objects.where(objects.notna(), pd.NaT),
        "pandas nullable": objects.astype(nullable),
        "pandas arrow": objects.astype({**arrow, "text": "string[pyarrow]"}),
        "pandas category": objects.astype({"text": pd.CategoricalDtype(["unused", "b", "a", ""], ordered=True)}),
        "polars": pl.DataFrame(data, schema_overrides={"huge": pl.UInt64}),
        "polars enum": pl.DataFrame(data, schema_overrides={"huge": pl.UInt64, "text": pl.Enum(["", "b", "z", "a"])}),
        "pyarrow": tables,
        "pyarrow dictionary": tables.set_column(4, "text", tables["text"].dictionary_encode()),
        "array": np.array(objects.to_numpy()),
        "list": objects.to_numpy().tolist(),
    }


@pytest.mark.parametrize("missing", ["level", "pairwise"])
@pytest.mark.parametrize("library", list(frames()))
def test_every_library_gives_the_same_table(library, missing):
    data = gappy()
    table = read_table(frames()[library], Y, missing=missing, feature_names=list(data))
    assert table.missing == missing
    assert columns(table) == {name: (KINDS[name], values) for name, values in data.items()}
    for block in table.blocks:
        for place in np.flatnonzero([] if block.missing is None else block.missing.any(axis=0)):
            fill = set(map(str, filler(block, place)))
            assert fill == {{"integer": str(block.values.dtype.type(0)), "number": "nan", "category": "-1"}[block.kind]}
    (text,) = (block for block in table.blocks if block.kind == "category")
    assert [word for word in text.vocabularies[0] if word != "unused"] == ["", "a", "b"]


@pytest.mark.parametrize("library", list(frames()))
def test_frames_keep_gaps_and_arrays_refuse_them(library):
    X = frames()[library]
    if library in ("array", "list"):
        with pytest.raises(InvalidInput, match="missing='level' or 'pairwise'"):
            read_table(X, Y)
    else:
        assert read_table(X, Y).missing == "auto"
    with pytest.raises(InvalidInput, match="NaN") as caught:
        read_table(X, Y, missing="error", feature_names=list(gappy()))
    assert "'flag', 'huge', 'real', 'text', 'whole', in 3 of 4 rows" in str(caught.value)


def test_nothing_missing_is_nothing_to_be_done():
    import pandas as pd

    for missing in ("auto", "error", "level", "pairwise"):
        for X in (np.eye(4), pd.DataFrame(np.eye(4))):
            table = read_table(X, Y, missing=missing)
            assert table.missing == "error"
            assert table.blocks[0].missing is None


def test_arrays_of_floats_are_marked_and_not_copied():
    X = np.eye(4) / 2
    X[1, 2] = np.nan
    (block,) = read_table(X, Y, missing="level").blocks
    assert block.values is X
    assert np.argwhere(block.missing).tolist() == [[1, 2]]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32, object, "U3"])
def test_masked_arrays(dtype):
    values = np.arange(8).reshape(4, 2) % 3 + (0.5 if dtype is np.float32 else 0)
    X = np.ma.array(values, mask=[[0, 1], [0, 0], [0, 1], [0, 0]]).astype(dtype)
    table = read_table(X, Y, missing="pairwise")
    missing = np.zeros((4, 2), dtype=bool)
    for block in table.blocks:
        assert block.kind == {"f": "number", "U": "category"}.get(np.dtype(dtype).kind, "integer")
        if block.missing is not None:
            missing[:, block.positions] = block.missing
    assert missing.tolist() == X.mask.tolist()
    assert columns(table)["x0"][1] == X.data[:, 0].tolist()
    with pytest.raises(InvalidInput, match="column 'x1', in 2 of 4 rows"):
        read_table(X, Y)


def test_columns_without_any_value_are_read():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    for X in (
        np.full((4, 1), np.nan),
        np.full((4, 1), None),
        pd.DataFrame({"a": [None] * 4}),
        pd.DataFrame({"a": pd.array([None] * 4, dtype="Int64")}),
        pd.DataFrame({"a": pd.Categorical([None] * 4)}),
        pl.DataFrame({"a": [None] * 4}),
        pl.DataFrame({"a": [None] * 4}, schema={"a": pl.Boolean}),
        pa.table({"a": pa.nulls(4)}),
        pa.table({"a": pa.nulls(4, pa.string())}),
        pa.table({"a": pa.nulls(4, pa.float32())}),
    ):
        (block,) = read_table(X, Y, missing="level").blocks
        assert block.missing.all()
        with pytest.raises(InvalidInput, match="in 4 of 4 rows"):
            read_table(X, Y, missing="error")


def test_categories_that_are_numbers_stay_categories():
    import pandas as pd
    import pyarrow as pa

    for X in (
        pd.DataFrame({"a": pd.Categorical([7, 5, 7, None], categories=[7, 6, 5])}),
        pd.DataFrame({"a": pd.Categorical([7, 5, 7, None], categories=[5, 7], ordered=True)}),
        pa.table({"a": pa.array([7, 5, 7, None]).dictionary_encode()}),
    ):
        (block,) = read_table(X, Y).blocks
        assert block.kind == "category"
        labels = [block.vocabularies[0][code] for code in block.values[:3, 0]]
        assert labels == [7, 5, 7]
        assert list(block.vocabularies[0]) == sorted(block.vocabularies[0])


def test_rows_of_a_table_with_gaps():
    table = read_table(frames()["polars"], Y, missing="level")
    part = table.rows(np.array([3, 0, 0]))
    assert [name for name, (_, values) in columns_of_rows(part).items() if None in values] == ["flag"]
    assert part.missing == "level"
    assert table.rows(np.array([0, 3])).target.tolist() == [0, 1]


def columns_of_rows(table: Table) -> dict[str, tuple[str, list]]:
    repeated = table.rows(np.array([0, 1, 2, 2]))
    return columns(repeated)


def test_many_different_strings_are_read():
    words = np.array([f"word {i * 7919 % 200_000}" for i in range(200_000)], dtype=object)
    (block,) = read_table(words[:, None], np.arange(200_000) % 2, kinds={0: "levels"}).blocks
    assert len(block.vocabularies[0]) == 200_000
    assert list(block.vocabularies[0]) == sorted(words)


def test_odd_numbers_are_told_apart_or_missing():
    huge = np.array([[10**400], [1.5], [10**400], [2.5]], dtype=object)
    table = read_table(huge, Y)
    assert table.blocks[0].kind == "category"
    assert table.blocks[0].values[:, 0].tolist() == [2, 0, 2, 1]
    signalling = np.array([[Decimal("1.5")], [Decimal("sNaN")], [Decimal("2.5")], [Decimal("1.5")]], dtype=object)
    block = read_table(signalling, Y, missing="level").blocks[0]
    assert block.kind == "number"
    assert block.missing[:, 0].tolist() == [False, True, False, False]
