"""Files, folders and functions that are not what they should be: a clear error, or the right answer."""

import gzip
import os
import re

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

from as_before import counted
from certselect import information_terms
from certselect.errors import InvalidInput
from streamed import always_in_blocks, assert_same_terms, csv_folder, csv_text, parquet_folder, parts_of, plain_table  # noqa: F401

pytestmark = [
    pytest.mark.usefixtures("always_in_blocks"),
    pytest.mark.filterwarnings("ignore::certselect.errors.ColumnsLeftOutWarning"),
]
TABLE = plain_table(150).drop(["same", "copy_of_few"])
FIRST, SECOND, LAST = parts_of(TABLE)


def terms(rows, **settings):
    return information_terms(rows, "y", memory="64MB", **counted(settings))


def with_column(table, name, values):
    return table.set_column(table.column_names.index(name), name, pa.array(values))


def written(folder, *parts, kind="parquet"):
    folder.mkdir()
    for number, part in enumerate(parts):
        file = folder / f"part-{number}.{kind}"
        if kind == "csv":
            file.write_bytes(csv_text(part))
        else:
            pa.parquet.write_table(part, file)
    return folder


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


def refusal(rows, **settings):
    with pytest.raises(InvalidInput) as refused:
        terms(rows, **settings)
    said = str(refused.value)
    assert len(said) < 1200
    assert "\x1b" not in said
    return said


KINDS = pytest.mark.parametrize("kind", ["parquet", "csv"])


@KINDS
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda part: part.drop(["few"]), "part-2.{kind}' without column 'few'"),
        (
            lambda part: part.append_column("more", part["few"]),
            "part-2.{kind}' with column 'more', which others do not",
        ),
        (lambda part: part.rename_columns(["\x1b[2J", *part.column_names[1:]]), r"'\x1b[2J', which others do not have"),
        (lambda part: with_column(part, "numbers", [np.inf] * 50), "inf) in column 'numbers', in 50 of 150 rows"),
        (lambda part: with_column(part, "numbers", [np.inf, -np.inf] * 25), "in column 'numbers', in 50 of 150 rows"),
        (
            lambda part: with_column(part, "y", [None, *[1] * 49]),
            "missing labels (NaN, None or null) in y, in 1 of 150",
        ),
    ],
)
def test_a_part_that_is_wrong_is_named(kind, change, said, data):
    rows = written(data, FIRST, SECOND, change(LAST), kind=kind)
    assert said.format(kind=kind) in refusal(rows)


@KINDS
def test_parts_in_another_order_or_without_rows(kind, data):
    turned = SECOND.select(TABLE.column_names[::-1])
    rows = written(data, FIRST.slice(0, 0), FIRST, turned, SECOND.slice(0, 0), LAST, kind=kind)
    assert_same_terms(terms(rows), information_terms(TABLE, "y", measure="plugin", correction="none"))


@KINDS
@pytest.mark.parametrize("name", ["few", "many"])
def test_integers_that_become_fractions_in_the_last_part(kind, name, data):
    last = with_column(LAST, name, LAST[name].to_numpy() + 0.5)
    whole = pa.concat_tables([FIRST, SECOND, last], promote_options="permissive")
    assert_same_terms(
        terms(written(data, FIRST, SECOND, last, kind=kind)),
        information_terms(whole, "y", measure="plugin", correction="none"),
    )


@KINDS
def test_values_first_seen_late_and_parts_without_any(kind, data):
    first = with_column(FIRST, "few", pa.nulls(50))
    last = with_column(LAST, "words", [*["ash"] * 49, "late"])
    whole = pa.concat_tables([first, SECOND, last], promote_options="permissive")
    assert_same_terms(
        terms(written(data, first, SECOND, last, kind=kind)),
        information_terms(whole, "y", measure="plugin", correction="none"),
    )


def test_integers_that_become_text_in_the_last_part(tmp_path):
    last = with_column(LAST, "few", [*map(str, LAST["few"].to_pylist()[:-1]), "many"])
    said = refusal(written(tmp_path / "parquet", FIRST, SECOND, last))
    assert re.search(r"column 'few' of type string in file '.*part-2.parquet'; expected int64", said)
    # Text files have no types: all cells together say what a column is.
    whole = pa.concat_tables([with_column(part, "few", part["few"].cast("string")) for part in (FIRST, SECOND, last)])
    rows = written(tmp_path / "csv", FIRST, SECOND, last, kind="csv")
    assert_same_terms(terms(rows), information_terms(whole, "y", measure="plugin", correction="none"))


@KINDS
def test_tables_of_nothing(kind, tmp_path):
    assert "without any row" in refusal(written(tmp_path / "a", FIRST.slice(0, 0), FIRST.slice(0, 0), kind=kind))
    assert "one of the columns: 'numbers'" in refusal(written(tmp_path / "b", FIRST.drop(["y"]), kind=kind))
    same = with_column(FIRST, "y", [1] * 50)
    assert "one class only of all rows: 1" in refusal(written(tmp_path / "c", same, same, kind=kind))


@KINDS
def test_a_file_cut_in_the_middle(kind, data):
    rows = written(data, FIRST, SECOND, LAST, kind=kind)
    file = rows / f"part-1.{kind}"
    file.write_bytes(file.read_bytes()[: file.stat().st_size * 3 // 5])
    assert f"part-1.{kind}', which cannot be read as" in refusal(rows)


def test_zipped_files_that_are_cut_or_damaged(data):
    rows = csv_folder(TABLE, data, zipped=True)
    file = rows / "part-1.csv.gz"
    content = file.read_bytes()
    file.write_bytes(content[:-20])
    assert "part-1.csv.gz', which cannot be read as text" in refusal(rows)
    file.write_bytes(bytes([*content[:400], content[400] ^ 1, *content[401:]]))
    assert "part-1.csv.gz', which cannot be read as text" in refusal(rows)
    file.write_bytes(gzip.compress(b""))
    assert "part-1.csv.gz'" in refusal(rows)


def test_a_parquet_page_that_does_not_match_its_checksum(data):
    rows = written(data, FIRST, SECOND)
    file = rows / "part-1.parquet"
    pa.parquet.write_table(
        SECOND, file, compression="none", use_dictionary=False, write_page_checksum=True, column_encoding="PLAIN"
    )
    content, number = bytearray(file.read_bytes()), SECOND["numbers"][20].as_py()
    at = content.index(np.float64(number).tobytes())
    content[at] ^= 1
    file.write_bytes(content)
    assert "part-1.parquet', which cannot be read as" in refusal(rows)


def test_what_others_leave_in_folders(data):
    rows = parquet_folder(TABLE, data)
    (rows / "_SUCCESS").touch()
    (rows / ".part-0.parquet.crc").write_bytes(b"crc")
    (rows / "_temporary").mkdir()
    (rows / "_temporary" / "part-9.parquet").write_bytes(b"half")
    assert_same_terms(terms(rows), information_terms(TABLE, "y", measure="plugin", correction="none"))
    (rows / "more.csv").write_text("a,y\n1,2\n")
    assert "files of several formats (csv, parquet) together in" in refusal(rows)
    (rows / "notes.md").write_text("notes")
    assert "notes.md' among the files of" in refusal(rows)


def test_empty_files_beside_others(data):
    rows = csv_folder(TABLE, data)
    (rows / "part-0a.csv").touch()
    (rows / "part-9.csv").write_text(",".join(TABLE.column_names) + "\n")
    assert_same_terms(terms(rows), information_terms(TABLE, "y", measure="plugin", correction="none"))
    for file in rows.iterdir():
        file.write_bytes(b"")
    assert "files without a byte" in refusal(rows)


def test_paths_where_nothing_is(tmp_path):
    assert "where there is no file" in refusal(str(tmp_path / "*.parquet"))
    (tmp_path / "empty").mkdir()
    assert "in which there is no file" in refusal(tmp_path / "empty")


def test_names_that_occur_twice(tmp_path):
    twice = pa.Table.from_arrays([FIRST["numbers"], FIRST["few"], FIRST["y"]], names=["a", "a", "y"])
    for rows in (written(tmp_path / "parquet", twice), written(tmp_path / "csv", twice, kind="csv"), lambda: [twice]):
        assert "occur more than once: 'a'" in refusal(rows)


@KINDS
def test_hostile_names(kind, tmp_path):
    names = ["../a.b", "numbers.x", "a\x1b[2J\nb", "x" * 3000, "'\";--", "y"]
    rows = TABLE.select(["numbers", "ties", "few", "many", "words", "y"]).rename_columns(names)
    folder = written(tmp_path / "a folder, [with] marks*", rows, kind=kind)
    assert_same_terms(terms(folder), information_terms(rows, "y", measure="plugin", correction="none"))


def test_a_key_in_the_names_of_folders_may_be_the_target(data):
    keys = pa.dataset.partitioning(pa.schema([("y", pa.int32())]), flavor="hive")
    pa.dataset.write_dataset(TABLE, data, format="parquet", partitioning=keys)
    assert_same_terms(terms(data), information_terms(TABLE, "y", measure="plugin", correction="none"))
    dataset = pa.dataset.dataset(data, partitioning="hive")
    assert_same_terms(terms(dataset), information_terms(TABLE, "y", measure="plugin", correction="none"))


def test_datasets_of_every_kind(tmp_path):
    wanted = information_terms(TABLE, "y", measure="plugin", correction="none")
    parquet, text = (
        written(tmp_path / "p", FIRST, SECOND, LAST),
        written(tmp_path / "c", FIRST, SECOND, LAST, kind="csv"),
    )
    one, rest = (
        pa.dataset.dataset(written(tmp_path / name, *own)) for name, own in [("1", [FIRST]), ("2", [SECOND, LAST])]
    )
    for rows in (pa.dataset.dataset(parquet), pa.dataset.dataset(text, format="csv"), pa.dataset.dataset([one, rest])):
        assert_same_terms(terms(rows), wanted)
    for rows, said in [
        (pa.dataset.dataset(parquet).filter(pa.dataset.field("few") > 1), "an Arrow dataset with a filter"),
        (pa.dataset.dataset(parquet).scanner(), "expected a dataset"),
    ]:
        assert said in refusal(rows)


def test_a_dataset_whose_files_lack_a_column(data):
    rows = pa.dataset.dataset(written(data, FIRST, SECOND.drop(["few"])))
    whole = pa.concat_tables([FIRST, SECOND.drop(["few"])], promote_options="default")
    assert_same_terms(terms(rows), information_terms(whole, "y", measure="plugin", correction="none"))


def test_files_that_change_between_two_passes(data, monkeypatch):
    from certselect.table.streams.passes import InThisProcess

    rows = written(data, FIRST, SECOND, kind="csv")
    run = InThisProcess.run

    def and_then(self, *arguments):
        found = run(self, *arguments)
        file = rows / "part-1.csv"
        file.write_bytes(file.read_bytes())
        os.utime(file, ns=(0, 0))
        return found

    monkeypatch.setattr(InThisProcess, "run", and_then)
    assert "files that were written to while they were read" in refusal(rows)


# Functions


def test_functions_that_bring_other_rows_each_time():
    calls = iter(range(9))

    def random():
        rng = np.random.default_rng(next(calls))
        yield pa.table({"a": rng.standard_normal(60), "y": np.arange(60) % 2})

    def shuffled_target():
        rng = np.random.default_rng(next(calls))
        yield pa.table({"a": np.arange(60) % 7, "y": rng.permutation(np.arange(60) % 2)})

    def other_words():
        yield pa.table(
            {"a": ["u", "v"] * 30, "y": ["no", "yes", "yes"] * 20 if next(calls) % 2 else ["no"] * 30 + ["yes"] * 30}
        )

    used_up = iter([FIRST, SECOND, LAST])
    for rows in (random, shuffled_target, other_words, lambda: used_up):
        assert "other rows when it was called again" in refusal(rows)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (None, "a function that returns None"),
        (FIRST, "a function that returns"),
        ({"a": [1]}, "'a' as block 0"),
        ("text", "'t' as block 0"),
        ([], "brings no block of rows"),
        ([np.zeros((3, 2))], "as block 0 of a table"),
        ([FIRST, None], "None as block 1 of a table"),
        ([FIRST, FIRST.drop(["few"])], "block 1 of the table without column 'few'"),
        ([FIRST.slice(0, 0)], "without any row"),
    ],
)
def test_functions_that_bring_something_else(made, said):
    assert said in refusal(lambda: made)


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("numbers", "float32", "float64"),  # digits would be lost
        ("few", "bool", "int64"),  # 2 would become True
        ("words", "string", "int64"),
        ("few", "int64", "string"),  # "007" would become 7
        ("few", "int64", "timestamp[s]"),
    ],
)
def test_types_that_would_lose_something(name, first, second):
    def cast(part, kind):
        values = part[name] if kind != "int64" else part["few"]
        values = values.cast("int64") if kind == "bool" else values
        return part.set_column(part.column_names.index(name), name, values.cast(kind))

    said = refusal(lambda: [cast(FIRST, first), cast(SECOND, second)])
    assert f"column '{name}' of type" in said
    assert "in block 1 of the table; expected" in said


def test_types_that_hold_the_others_values():
    wide = with_column(SECOND, "few", SECOND["few"].to_numpy().astype(np.float64))
    narrow = with_column(LAST, "few", LAST["few"].to_numpy().astype(np.int8))
    as_words = LAST.set_column(3, "few", narrow["few"]).set_column(5, "words", LAST["words"].dictionary_encode())
    assert_same_terms(
        terms(lambda: [FIRST, wide, as_words]), information_terms(TABLE, "y", measure="plugin", correction="none")
    )
    views = [part.set_column(5, "words", part["words"].cast(pa.string_view())) for part in (FIRST, SECOND, LAST)]
    assert_same_terms(terms(lambda: views), information_terms(TABLE, "y", measure="plugin", correction="none"))
    lost = with_column(SECOND, "few", SECOND["few"].to_numpy() + 0.5)
    assert "column 'few' of type double in block 1" in refusal(lambda: [FIRST, lost])


def test_errors_of_the_function_are_its_own():
    def broken():
        yield FIRST
        raise RuntimeError("no connection")

    with pytest.raises(RuntimeError, match="no connection"):
        terms(broken)


@pytest.mark.parametrize("values", [[{"a": 1}] * 50, [[1, 2]] * 50])
def test_cells_that_are_no_values(values):
    assert "column 'few'" in refusal(lambda: [with_column(FIRST, "few", values)])


def test_numbers_at_the_ends_of_their_range():
    table = with_column(TABLE, "numbers", np.where(np.arange(150) < 50, 1.7e308, TABLE["numbers"].to_numpy()))
    table = with_column(table, "ties", np.where(np.arange(150) % 2, -1.7e308, 5e-324))
    assert_same_terms(
        terms(lambda: parts_of(table)), information_terms(table, "y", measure="plugin", correction="none")
    )


# What columns are taken for


def test_record_numbers_that_come_again_are_none():
    """Blocks of which each has other numbers in every row, but the same ones as the block before."""
    numbers = np.random.default_rng(0).permutation(10**7)[:50]
    for name, own in [
        ("customer_id", numbers),
        ("any", np.arange(50)),
        ("customer_id", numbers.astype(np.uint64) + 2**63),
    ]:
        parts = [part.append_column(name, pa.array(own)) for part in parts_of(TABLE)]
        assert_same_terms(
            terms(lambda parts=parts: parts),
            information_terms(pa.concat_tables(parts), "y", measure="plugin", correction="none"),
        )
    parts = [
        part.append_column("record", pa.array(own))
        for part, own in zip(parts_of(TABLE), np.arange(150).reshape(50, 3).T, strict=True)
    ]
    got = terms(lambda: parts)
    assert_same_terms(got, information_terms(pa.concat_tables(parts), "y", measure="plugin", correction="none"))
    assert any(decision.kind == "identifier" for decision in got.decisions)


def test_record_numbers_are_counted_in_several_passes_where_memory_is_short(monkeypatch):
    rng = np.random.default_rng(1)
    part = pa.table({"id": rng.permutation(5000)[:3000], "x": rng.standard_normal(3000), "y": rng.integers(0, 2, 3000)})
    blocks = [part, part.set_column(0, "id", pa.array(rng.permutation(9000)[:3000]))]
    wanted = information_terms(pa.concat_tables(blocks), "y", measure="plugin", correction="none")
    monkeypatch.setattr("certselect.table.streams.streamed_table.memory_budget", lambda memory: 100_000)
    assert_same_terms(terms(lambda: blocks), wanted)


def test_half_filled_ranges_are_no_record_numbers():
    """A block of nearly as many possible values as rows, of which few occur, beside one where all do."""
    rng = np.random.default_rng(2)
    made = [np.arange(900), 900 + rng.integers(0, 930, 1000)]
    made[1][:2] = 900, 1829
    parts = [pa.table({"row": own, "x": rng.standard_normal(len(own)), "y": own % 2}) for own in made]
    assert_same_terms(
        terms(lambda: parts), information_terms(pa.concat_tables(parts), "y", measure="plugin", correction="none")
    )


def test_too_many_levels_and_classes():
    words = [f"w{k}" for k in range(1100)]
    table = pa.table({"words": words * 3, "x": np.arange(3300) % 5, "y": np.arange(3300) % 2})
    assert "column 'words' of more than 1000 levels" in refusal(lambda: [table], kinds={"words": "levels"})
    with pytest.raises(InvalidInput, match="a target 'words' of more than 1000 classes"):
        information_terms(lambda: [table], "words", measure="plugin", correction="none")
    many = pa.table({"code": [f"c{k}" for k in range(20_000)], "x": np.arange(20_000) % 5, "y": np.arange(20_000) % 2})
    decisions = terms(lambda: parts_of(many)).decisions
    assert [(one.kind, one.facts) for one in decisions] == [("identifier", {"different": 20_000, "rows": 20_000})]


@pytest.mark.parametrize("target", [None, ["y", "few"], np.zeros(150), 3])
def test_targets_that_name_no_column(target):
    with pytest.raises(InvalidInput, match="for a table that is read block by block"):
        information_terms(lambda: [TABLE], target, measure="plugin", correction="none")


@pytest.mark.parametrize("memory", ["nonsense", "1MB", -5, True, "2XB", float("nan"), "1e9"])
def test_amounts_of_memory_that_are_none(memory):
    with pytest.raises(InvalidInput, match="expected 64MB or more, such as '2GB'"):
        information_terms(lambda: [TABLE], "y", memory=memory, measure="plugin", correction="none")
