"""Every format gives the same table, in memory and in blocks; a format from outside the package is one file."""

import io
import json
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import certselect
from certselect import choose_subset, information_terms, list_formats, load_result, read_file, register_format
from certselect.errors import InvalidInput
from certselect.table import formats
from certselect.table.files import open_files, read_columns
from certselect.table.formats import Format, csv
from certselect.table.formats.csv import CsvFiles
from certselect.table.streams.file_rows import DataFile, FileRows
from certselect.table.streams.row_source import UNKNOWN, ArrowStream
from command_line import error_of, in_process
from streamed import BUDGET, assert_same_terms, parts_of, plain_table

pytestmark = pytest.mark.filterwarnings("ignore::certselect.errors.ColumnsLeftOutWarning")
TABLE = plain_table(150)

# A format from outside the package, in one file.
JSON_LINES = """
import pyarrow.json
from certselect import FileUnits, Format, register_format

class JsonLines(FileUnits):
    kind = "JSON lines"

    def columns_of(self, file):
        return pyarrow.json.read_json(file.opened()).schema

    def rows_of(self, file, columns, n_rows):
        return pyarrow.json.read_json(file.opened()).select(columns).to_batches()

JSON_LINES = Format("json_lines", (".jsonl",), JsonLines, (b"{",), "JSON lines")
"""


def json_text(table):
    return "".join(json.dumps(row) + "\n" for row in table.to_pylist())


def write(table, file):
    """A table in the format of a suffix."""
    file = Path(file)
    if file.suffix in (".csv", ".tsv"):
        options = pa.csv.WriteOptions(delimiter="\t" if file.suffix == ".tsv" else ",")
        pa.csv.write_csv(table, file, options)
    elif file.suffix == ".parquet":
        pa.parquet.write_table(table, file, row_group_size=37)
    elif file.suffix == ".feather":
        pa.feather.write_feather(table, file, chunksize=41)
    elif file.suffix == ".arrows":
        with pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=29)
    else:
        file.write_text(json_text(table))
    return file


@pytest.fixture
def json_lines(monkeypatch):
    monkeypatch.setattr(formats._registry, "_registered", {})
    names = {}
    exec(JSON_LINES, names)
    register_format(names["JSON_LINES"])


@pytest.fixture(params=["in memory", "in blocks"])
def way(request, monkeypatch):
    if request.param == "in blocks":
        monkeypatch.setattr(FileRows, "n_bytes", UNKNOWN)
        monkeypatch.setattr(ArrowStream, "rows_within", lambda self, budget: None)
    return request.param


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "feather", "arrows", "jsonl"])
def test_every_format_gives_the_same_terms(suffix, way, json_lines, tmp_path):
    wanted = information_terms(TABLE, "y", measure="plugin", correction="none")
    one = write(TABLE, tmp_path / f"one.{suffix}")
    assert_same_terms(information_terms(one, "y", memory=BUDGET, measure="plugin", correction="none"), wanted)
    folder = tmp_path / "parts"
    folder.mkdir()
    for number, part in enumerate(parts_of(TABLE)):
        write(part, folder / f"{number}.{suffix}")
    write(TABLE.slice(0, 0), folder / f"9.{suffix}")
    for rows in (folder, f"{folder}/?.{suffix}"):
        assert_same_terms(information_terms(rows, "y", memory=BUDGET, measure="plugin", correction="none"), wanted)


def test_a_format_from_outside_works_everywhere(json_lines, way, tmp_path, monkeypatch):
    file = write(TABLE, tmp_path / "rows.jsonl")
    wanted = choose_subset(TABLE, "y", 3, criterion="jmi", measure="plugin", correction="none")
    result = choose_subset(file, "y", 3, criterion="jmi", measure="plugin", correction="none")
    assert (result.names, result.selection.objective) == (wanted.names, wanted.selection.objective)
    assert result.verify(file).holds
    done = in_process("select", file, "-t", "y", "-k", 3, "--quiet", "--json", tmp_path / "out.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert load_result(tmp_path / "out.json").names == wanted.names
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(file.read_bytes())))
    assert in_process("select", "-", "-t", "y", "-k", 3, "--quiet").returncode == 0
    assert read_file(file, "y").feature_names == tuple(TABLE.column_names[:-1])
    file.write_text('{"a": 1\n')
    assert "rows.jsonl', which cannot be read as JSON lines" in error_of(in_process("select", file, "-t", "y"))


def test_another_package_brings_a_format(tmp_path):
    (tmp_path / "pkg.py").write_text(JSON_LINES)
    info = tmp_path / "pkg-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pkg\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[certselect.formats]\njson_lines = pkg:JSON_LINES\n")
    write(TABLE, tmp_path / "rows.jsonl")
    write(TABLE, tmp_path / "rows.csv")
    code = """
import sys
from certselect import choose_subset, list_formats
choose_subset("rows.csv", "y", 2)
assert "pkg" not in sys.modules  # nothing is loaded before it is needed
print(choose_subset("rows.jsonl", "y", 2).names == choose_subset("rows.csv", "y", 2).names, *list_formats())
"""
    source = Path(certselect.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(source)])}
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, env=environment, cwd=tmp_path
    )
    assert ran.stdout.split() == ["True", "csv", "feather", "parquet", "json_lines"], ran.stderr


def test_formats_are_checked(json_lines):
    assert list(list_formats()) == ["csv", "feather", "parquet", "json_lines"]
    assert all(found.summary for found in list_formats().values())
    for wrong, said in [
        (lambda: Format("x", (), CsvFiles), "suffixes=() of a format"),
        (lambda: Format("x", ("csv",), CsvFiles), "suffixes=('csv',)"),
        (lambda: Format("x", (".XY",), CsvFiles), "suffixes=('.XY',)"),
        (lambda: register_format(Format("x", (".csv",), CsvFiles)), "a format with the suffix '.csv'"),
        (lambda: register_format(Format("csv", (".xy",), CsvFiles)), "a format named 'csv'"),
        (lambda: register_format("x"), "'x' as a format; expected a Format"),
    ]:
        with pytest.raises(InvalidInput) as refused:
            wrong()
        assert said in str(refused.value)


def test_the_command_line_lists_formats(json_lines):
    listed = json.loads(in_process("formats", "--format", "json").stdout)
    assert [row["format"] for row in listed] == ["csv", "feather", "parquet", "json_lines"]
    assert [row["suffixes"] for row in listed][2:] == [[".parquet", ".pq"], [".jsonl"]]
    assert ".jsonl" in in_process("formats").stdout


def test_an_unknown_suffix_is_refused_with_those_of_all_formats(json_lines, tmp_path):
    with pytest.raises(InvalidInput, match=r"a name ending in \.csv, .*\.parquet, \.pq, \.jsonl\."):
        read_file(tmp_path / "rows.xlsx", "y")


def test_old_feather_files_are_refused(tmp_path):
    file = tmp_path / "old.feather"
    file.write_bytes(b"FEA1" + bytes(60))
    with pytest.raises(InvalidInput, match="which is Feather of version 1"):
        read_file(file, "y")


@pytest.mark.parametrize("share", [0, 0.3, 0.7])
@pytest.mark.parametrize("suffix", ["feather", "arrows", "parquet"])
def test_binary_files_that_are_cut(suffix, share, tmp_path):
    file = write(TABLE, tmp_path / f"cut.{suffix}")
    file.write_bytes(file.read_bytes()[: int(share * file.stat().st_size)])
    with pytest.raises(InvalidInput, match=rf"cut.{suffix}'"):
        read_file(file, "y")


# Types of text files

CELLS = [
    ["1", "2", "-7"], ["0", "1"], ["0.5", "1e3", "nan"], ["true", "false"], ["2020-01-01", "1999-12-31"], ["", "NA"],
    ["2020-01-01 10:00:00"], ["2020-01-01T10:00:00.5"], ["2020-01-01T10:00:00Z"], ["10:30:00"], ["a b", "c"],
    ["99999999999999999999"], ["9223372036854775808", " 18446744073709551615"], ["-9223372036854775809", "-0"],
    ["1e30"],
    ["3000-01-01 00:00:00"], ["inf"], ["007"], ["1,5"], [" 1"], ["01/02/2020"],
]  # fmt: skip


def texts(columns):
    rows = zip(*columns, strict=True)
    header = ",".join(f"c{place}" for place in range(len(columns)))
    return "\n".join([header, *(",".join(f'"{cell}"' if "," in cell else cell for cell in row) for row in rows), ""])


@pytest.mark.parametrize("seed", range(8))
def test_the_types_of_text_depend_on_the_cells_alone(seed, tmp_path, monkeypatch):
    """As one file parsed at once, one file by blocks, and several files, whichever cells stand where."""
    rng = np.random.default_rng(seed)
    columns = []
    for _ in range(12):
        late = rng.integers(len(CELLS), size=2)
        places = rng.choice([late[0], late[1]], 120, p=[0.9, 0.1])
        places[: rng.integers(110)] = late[0]
        columns.append([str(rng.choice(CELLS[place])) for place in places])
    file = tmp_path / "one.csv"
    file.write_text(texts(columns))
    at_once = read_columns(file)
    monkeypatch.setattr(csv, "_BLOCK", 600)
    by_blocks = CsvFiles([DataFile(str(file))])
    assert by_blocks.schema.equals(at_once.schema)
    cuts = [0, *sorted(rng.choice(np.arange(1, 120), 2, replace=False).tolist()), 120]
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in range(3):
        part = [column[cuts[number] : cuts[number + 1]] for column in columns]
        (folder / f"{number}.csv").write_text(texts(part))
    parts = open_files(folder)
    blocks = [block for unit in range(3) for block in parts.blocks(unit, at_once.column_names, 50)]
    for table in (
        pa.Table.from_batches(list(by_blocks.blocks(0, at_once.column_names, 50))),
        pa.Table.from_batches(blocks),
        open_files(folder).all_rows(),
    ):
        assert table.schema.equals(at_once.schema)
        assert [str(row) for row in table.to_pylist()] == [str(row) for row in at_once.to_pylist()]


def test_a_row_longer_than_a_block_of_text(tmp_path, monkeypatch):
    monkeypatch.setattr(FileRows, "n_bytes", UNKNOWN)
    file = tmp_path / "long.csv"
    file.write_text("a,b,y\n" + "u,1,0\nv,2,1\n" * 30 + f"{'u' * 5_000_000},3,1\n" + "u,1,0\n" * 3)
    assert information_terms(file, "y", memory=BUDGET, measure="plugin", correction="none").n_samples == 64


# Objects that export record batches


def relation(table):
    connection = duckdb.connect()
    connection.register("rows", table)
    connection.execute("create table stored as select * from rows")
    return connection.table("stored")


def test_duckdb(way):
    wanted = information_terms(TABLE, "y", measure="plugin", correction="none")
    rows = relation(TABLE)
    for _ in range(2):
        assert_same_terms(information_terms(rows, "y", memory=BUDGET, measure="plugin", correction="none"), wanted)
    query = rows.project("*").filter("few > 0")
    part = TABLE.filter(pa.compute.greater(TABLE["few"], 0))
    assert_same_terms(
        information_terms(query, "y", memory=BUDGET, measure="plugin", correction="none"),
        information_terms(part, "y", measure="plugin", correction="none"),
    )
    result = choose_subset(rows, "y", 3, memory=BUDGET, criterion="jmi", measure="plugin", correction="none")
    assert result.names == choose_subset(TABLE, "y", 3, criterion="jmi", measure="plugin", correction="none").names
    assert result.verify(rows).holds
    assert result.verify(TABLE).holds


def test_duckdb_in_memory_is_read_like_a_frame():
    rows = relation(TABLE.append_column("w", pa.array(np.arange(150) % 3)))
    found = information_terms(rows, "y", weight="w", measure="plugin", correction="none")
    assert_same_terms(
        found, information_terms(rows.to_arrow_table(), "y", weight="w", measure="plugin", correction="none")
    )


def test_duckdb_of_other_rows_each_time(monkeypatch):
    monkeypatch.setattr(ArrowStream, "rows_within", lambda self, budget: None)
    drawn = duckdb.connect().sql("select random() as a, range % 2 as y from range(100)")
    with pytest.raises(
        InvalidInput, match="an object of type DuckDBPyRelation that brought other rows when it was read again"
    ):
        information_terms(drawn, "y", memory=BUDGET, measure="plugin", correction="none")


def reader(table=TABLE):
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=40))


def test_a_reader_is_read_once():
    wanted = information_terms(TABLE, "y", measure="plugin", correction="none")
    assert_same_terms(information_terms(reader(), "y", measure="plugin", correction="none"), wanted)
    assert_same_terms(
        information_terms(lambda: reader(), "y", memory=BUDGET, measure="plugin", correction="none"), wanted
    )
    large = pa.table({f"x{j}": np.arange(600_000) % (j + 2) for j in range(20)})
    with pytest.raises(
        InvalidInput, match=r"an object of type RecordBatchReader, which can be read once only.*Pass a function that"
    ):
        information_terms(reader(large), "x0", memory=BUDGET, measure="plugin", correction="none")


class Exported:
    """What a library without a frame of its own would pass: batches by the PyCapsule protocol alone."""

    def __init__(self, make):
        self._make = make

    def __arrow_c_stream__(self, requested_schema=None):
        return self._make().__arrow_c_stream__(requested_schema)


def test_any_object_that_exports_batches(way):
    wanted = information_terms(TABLE, "y", measure="plugin", correction="none")
    assert_same_terms(
        information_terms(Exported(reader), "y", memory=BUDGET, measure="plugin", correction="none"), wanted
    )
    frame = pl.from_arrow(TABLE)
    assert_same_terms(
        information_terms(Exported(lambda: frame), "y", memory=BUDGET, measure="plugin", correction="none"), wanted
    )


def test_an_export_that_is_used_up_is_noticed(monkeypatch):
    monkeypatch.setattr(ArrowStream, "rows_within", lambda self, budget: None)
    only = reader()
    with pytest.raises(InvalidInput, match="an object of type Exported that brought"):
        information_terms(Exported(lambda: only), "y", memory=BUDGET, measure="plugin", correction="none")


def test_a_column_alone_is_no_table():
    class Column:
        def __arrow_c_stream__(self, requested_schema=None):
            return pl.Series([1, 2]).__arrow_c_stream__(requested_schema)

    with pytest.raises(InvalidInput, match="an object of type Column, which cannot be read as record batches"):
        information_terms(Column(), "y", measure="plugin", correction="none")


def test_polars_collected_in_batches():
    lazy = pl.from_arrow(TABLE).lazy()
    found = information_terms(
        lambda: lazy.collect_batches(chunk_size=40, maintain_order=True),
        "y",
        memory=BUDGET,
        measure="plugin",
        correction="none",
    )
    assert_same_terms(found, information_terms(TABLE, "y", measure="plugin", correction="none"))


# Parts that differ in their types, but not in their values


def test_dictionaries_and_plain_texts_in_one_folder(way, tmp_path):
    first, second, last = parts_of(TABLE)
    place = TABLE.column_names.index("words")
    encoded = second.set_column(place, "words", second["words"].dictionary_encode())
    narrow = pa.dictionary(pa.int8(), pa.string())
    smaller = last.set_column(place, "words", last["words"].cast(narrow))
    for suffix in ("parquet", "feather"):
        folder = tmp_path / suffix
        folder.mkdir()
        for number, part in enumerate((first, encoded, smaller)):
            write(part, folder / f"{number}.{suffix}")
        assert_same_terms(
            information_terms(folder, "y", memory=BUDGET, measure="plugin", correction="none"),
            information_terms(TABLE, "y", measure="plugin", correction="none"),
        )


def decimals(digits, scale):
    cells = [None if k % 7 == 0 else Decimal(k % 11) / 4 for k in range(50)]
    return pa.array(cells, pa.decimal128(digits, scale))


def test_decimals_of_different_precision(way, tmp_path):
    kinds = [(5, 2), (12, 2), (20, 4)]
    parts = [
        part.append_column("price", decimals(*kind)).select(["price", "few", "y"])
        for part, kind in zip(parts_of(TABLE), kinds, strict=True)
    ]
    widest = pa.decimal128(20, 4)
    whole = pa.concat_tables([part.set_column(0, "price", part["price"].cast(widest)) for part in parts])
    wanted = information_terms(whole, "y", measure="plugin", correction="none")
    assert_same_terms(information_terms(lambda: parts, "y", memory=BUDGET, measure="plugin", correction="none"), wanted)
    for number, part in enumerate(parts):
        write(part, tmp_path / f"{number}.parquet")
    assert_same_terms(information_terms(tmp_path, "y", memory=BUDGET, measure="plugin", correction="none"), wanted)
    finer = parts[2].set_column(0, "price", pa.array([Decimal("0.125")] * 50, pa.decimal128(20, 4)))
    with pytest.raises(InvalidInput, match="column 'price' of type decimal"):
        information_terms(lambda: [parts[0], finer], "y", memory=BUDGET, measure="plugin", correction="none")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
def test_files_without_rows_may_have_any_columns(suffix, way, tmp_path):
    bare = pa.table({"words": pa.array([], pa.int64()), "other": pa.array([], pa.string())})
    for number, part in enumerate([bare, *parts_of(TABLE), bare]):
        write(part, tmp_path / f"{number}.{suffix}")
    assert_same_terms(
        information_terms(tmp_path, "y", memory=BUDGET, measure="plugin", correction="none"),
        information_terms(TABLE, "y", measure="plugin", correction="none"),
    )


def test_blocks_without_rows_may_have_any_types():
    bare = pa.table({name: pa.array([], pa.null()) for name in TABLE.column_names})
    found = information_terms(
        lambda: [bare, *parts_of(TABLE), bare], "y", memory=BUDGET, measure="plugin", correction="none"
    )
    assert_same_terms(found, information_terms(TABLE, "y", measure="plugin", correction="none"))


def test_a_file_in_another_encoding_is_named(way, tmp_path):
    for number, encoding in enumerate(("utf-8", "latin-1")):
        (tmp_path / f"{number}.csv").write_bytes(("a,b,y\n" + "ä,1,0\nü,2,1\n" * 20).encode(encoding))
    with pytest.raises(InvalidInput, match=r"text that is not UTF-8 in column 'a' of file '.*1\.csv'"):
        information_terms(tmp_path, "y", memory=BUDGET, measure="plugin", correction="none")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("change", ["type", "column", "cut"])
def test_a_file_that_is_written_again_between_passes(suffix, change, tmp_path, monkeypatch):
    monkeypatch.setattr(FileRows, "n_bytes", UNKNOWN)
    for number, part in enumerate(parts_of(TABLE)):
        write(part, tmp_path / f"{number}.{suffix}")
    last, rows = tmp_path / f"2.{suffix}", open_files(tmp_path)
    assert rows.schema
    if change == "cut":
        last.write_bytes(last.read_bytes()[:-200])
    elif change == "column":
        write(TABLE.drop(["few"]), last)
    else:
        write(TABLE.set_column(3, "few", TABLE["words"]), last)

    def a_pass():
        for _ in rows.blocks(len(rows.units) - 1, ["few", "y"], 50):
            pass
        rows.check()

    with pytest.raises(InvalidInput, match="files that were written to while they were read"):
        a_pass()


# Types that few tables have


def in_blocks(**columns):
    table = pa.table({**columns, "b": np.arange(60) % 5, "y": np.arange(60) % 2})
    return lambda: table.to_batches(max_chunksize=20)


def test_runs_are_read_as_the_values_they_stand_for():
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([20, 40, 60], pa.int32()), pa.array(["a", "b", "a"]))
    plain = pa.array(["a"] * 20 + ["b"] * 20 + ["a"] * 20)
    assert_same_terms(
        information_terms(in_blocks(a=runs), "y", measure="plugin", correction="none"),
        information_terms(in_blocks(a=plain), "y", measure="plugin", correction="none"),
    )


def not_utf_8():
    offsets = pa.py_buffer(np.arange(61, dtype=np.int32).tobytes())
    return pa.Array.from_buffers(pa.string(), 60, [None, offsets, pa.py_buffer(b"\xff" * 30 + b"a" * 30)])


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (not_utf_8(), "text that is not UTF-8 in column 'a'"),
        (pa.array(range(4_000_000, 4_000_060), pa.int32()).cast(pa.date32()), "in column 'a' that are out of range"),
    ],
)
def test_cells_that_python_cannot_represent(cells, said):
    with pytest.raises(InvalidInput, match=said):
        information_terms(in_blocks(a=cells), "y")
    assert information_terms(in_blocks(a=cells), "y", kinds={"a": "skip"}).n_features == 2
    whole = pa.Table.from_batches(in_blocks(a=cells)())
    for held in (whole, whole.to_pandas(types_mapper=pd.ArrowDtype)):
        with pytest.raises(InvalidInput, match=said):
            information_terms(held, "y")
        assert information_terms(held, "y", kinds={"a": "skip"}).n_features == 2


def test_a_target_that_is_not_utf_8():
    with pytest.raises(InvalidInput, match="text that is not UTF-8 in y"):
        information_terms(np.arange(120.0).reshape(60, 2), pa.chunked_array([not_utf_8()]))


def test_intervals_as_levels():
    cells = pa.array([(0, k % 3, 0) for k in range(60)], pa.month_day_nano_interval())
    found = information_terms(in_blocks(a=cells), "y", kinds={"a": "levels"}, measure="plugin", correction="none")
    assert found.levels.tolist() == [3, 5]
