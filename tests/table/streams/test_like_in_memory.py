"""What once was another answer in blocks than in memory, or none: found by an attack, each with its smallest table."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from certselect import information_terms
from certselect.errors import InvalidInput
from streamed import always_in_blocks, assert_same_terms  # noqa: F401

pytestmark = [
    pytest.mark.usefixtures("always_in_blocks"),
    pytest.mark.filterwarnings("ignore::certselect.errors.ColumnsLeftOutWarning"),
]
M = 4000
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, M)
NOISE = RNG.standard_normal(M)


def both(columns, n_rows=500, **settings):
    """The terms of a table in memory, and of its blocks."""
    table = pa.table({**columns, "b": NOISE + Y, "y": columns.get("y", Y)})
    want = information_terms(table, "y", **settings)
    return want, information_terms(lambda: table.to_batches(max_chunksize=n_rows), "y", **settings)


def refused(columns, match, n_rows=500, **settings):
    table = pa.table({**columns, "b": NOISE + Y, "y": columns.get("y", Y)})
    for rows in (table, lambda: table.to_batches(max_chunksize=n_rows)):
        with pytest.raises(InvalidInput, match=match):
            information_terms(rows, "y", **settings)


@pytest.mark.parametrize("n_values", [8, 12, 300])
def test_decimals_that_begin_with_gaps(n_values):
    price = [None] * 1200 + [Decimal(int(v)) / 4 for v in RNG.integers(0, n_values, M - 1200)]
    want, found = both({"a": pa.array(price, pa.decimal128(10, 2))})
    assert_same_terms(found, want)


def test_whole_targets_are_classes_where_each_has_rows_enough():
    """Fewer rows to a value are a number to predict, as in memory; more than 1000 classes are refused."""
    want, found = both({"a": Y, "y": RNG.integers(0, 1800, M)})
    assert found.target_entropy == want.target_entropy
    assert found.decisions == want.decisions
    y = np.arange(6 * 1100) % 1100
    table = pa.table({"a": y % 2, "y": y})
    with pytest.raises(InvalidInput, match=r"more than 1000 classes.*task='regression'"):
        information_terms(lambda: table.to_batches(max_chunksize=500), "y", measure="plugin", correction="none")
    information_terms(
        lambda: table.to_batches(max_chunksize=500), "y", task="regression", measure="plugin", correction="none"
    )


def test_chance_is_subtracted_alike_from_columns_of_many_levels():
    words = {name: pa.array([f"w{v}" for v in RNG.integers(0, 60, M)]) for name in ("a", "c")}
    want, found = both(words, measure="auto", correction="chance")
    assert_same_terms(found, want)


@pytest.mark.parametrize("word", ["nan", "inf", "1e400", "x"])
@pytest.mark.parametrize("discretize", ["quantile", "uniform"])
def test_texts_that_are_no_numbers(word, discretize):
    cells = pa.array(RNG.choice([word, "2", "3", "7"], M))
    refused({"a": cells}, f"'{word}' in column 'a'", kinds={"a": "number"}, discretize=discretize)


def test_an_infinity_among_identifiers():
    numbers = np.arange(M, dtype=float)
    numbers[-1] = np.inf
    refused({"a": numbers}, "infinity")


def test_many_whole_numbers_as_levels_are_refused_in_words():
    table = pa.table({"a": RNG.integers(0, 2000, 3 * M), "y": np.tile(Y, 3)})
    with pytest.raises(InvalidInput, match="column 'a' of more than 1000 levels"):
        information_terms(
            lambda: table.to_batches(max_chunksize=500), "y", integers="levels", measure="plugin", correction="none"
        )


def test_many_numbers_as_text_are_told_to_be_converted():
    table = pa.table({"a": np.arange(20_000).astype(str), "y": np.arange(20_000) % 2})
    with pytest.raises(InvalidInput, match="Convert it, or read the table into memory"):
        information_terms(
            lambda: table.to_batches(max_chunksize=500), "y", kinds={"a": "number"}, measure="plugin", correction="none"
        )


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"])
def test_texts_of_every_encoding(tmp_path, encoding):
    table = pa.table({"a": NOISE + Y, "w": RNG.choice(["u", "v", "w"], M), "y": Y})
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(2):
        pyarrow.parquet.write_table(
            table.slice(number * M // 2, M // 2),
            folder / f"{number}.parquet",
            use_dictionary=False,
            column_encoding={"w": encoding},
            row_group_size=700,
        )
    assert_same_terms(
        information_terms(folder, "y", measure="plugin", correction="none"),
        information_terms(table, "y", measure="plugin", correction="none"),
    )


def test_texts_whose_encoding_changes_within_a_row_group(tmp_path):
    """A dictionary that became too large is left by the writer after some pages."""
    words = np.array([f"word {v:07}" for v in range(900)])[RNG.integers(0, 900, M)]
    table = pa.table({"a": NOISE + Y, "w": words, "y": Y})
    file = tmp_path / "rows.parquet"
    options = {"dictionary_pagesize_limit": 2000, "data_page_size": 1000, "version": "2.6", "data_page_version": "2.0"}
    pyarrow.parquet.write_table(table, file, **options)
    assert_same_terms(
        information_terms(str(tmp_path / "*.parquet"), "y", measure="plugin", correction="none"),
        information_terms(table, "y", measure="plugin", correction="none"),
    )


def test_the_keys_of_partitions_that_a_glob_finds(tmp_path):
    for key in (0, 1):
        (tmp_path / "data" / f"key={key}").mkdir(parents=True)
        part = pa.table({"a": NOISE[key::2], "y": Y[key::2]})
        pyarrow.parquet.write_table(part, tmp_path / "data" / f"key={key}" / "rows.parquet")
    whole = information_terms(tmp_path / "data", "y", measure="plugin", correction="none")
    assert "key" in whole.feature_names
    assert_same_terms(
        information_terms(str(tmp_path / "data/*/*.parquet"), "y", measure="plugin", correction="none"), whole
    )


@pytest.mark.parametrize("late", [".5Z", "", "Z and more"])
def test_times_in_text_files_that_change_their_form_late(tmp_path, late):
    file = tmp_path / "rows.csv"
    stamps = [f"2021-01-{i % 28 + 1:02}T10:{i % 60:02}:{i % 59:02}" for i in range(150_000)]
    lines = [f"{stamp}{'Z' if i < 149_990 else late},{i * 7919 % 1000 / 100},{i % 2}" for i, stamp in enumerate(stamps)]
    file.write_text("\n".join(["when,b,y", *lines, ""]))
    whole = information_terms(
        pd.read_csv(file).drop(columns="y"), np.arange(150_000) % 2, measure="plugin", correction="none"
    )
    found = information_terms(file, "y", memory="64MB", measure="plugin", correction="none")
    assert found.levels[1] == whole.levels[1]
    assert found.relevance[1] == whole.relevance[1]
    assert (found.decisions[0].kind == "date") == (late == ".5Z")


def test_tabs_go_by_the_name_of_the_file_alone(tmp_path):
    folder = tmp_path / "export.tsv.d"
    folder.mkdir()
    (folder / "1.csv").write_text("a,b,y\n" + "".join(f"{i % 3},{i % 5},{i % 2}\n" for i in range(60)))
    assert information_terms(folder, "y", measure="plugin", correction="none").feature_names == ("a", "b")


def test_names_that_occur_twice_in_text_files(tmp_path):
    for number in range(2):
        (tmp_path / f"{number}.csv").write_text("a,a,y\n1,2,0\n2,3,1\n")
    with pytest.raises(InvalidInput, match="more than once"):
        information_terms(tmp_path, "y", measure="plugin", correction="none")


def test_a_function_that_returns_a_frame_is_told_to_return_several():
    frame = pd.DataFrame({"a": NOISE, "y": Y})
    with pytest.raises(InvalidInput, match="a function that returns an iterable of record batches"):
        information_terms(lambda: frame, "y", measure="plugin", correction="none")


def test_decimals_that_are_drawn_anew_are_noticed():
    rng = np.random.default_rng(1)

    def drawn():
        cells = pa.array([Decimal(int(v)) / 4 for v in rng.integers(0, 9, 500)], pa.decimal128(10, 2))
        return [pa.record_batch({"a": cells, "y": Y[:500]})]

    with pytest.raises(InvalidInput, match="brought other rows"):
        information_terms(drawn, "y", measure="plugin", correction="none")
