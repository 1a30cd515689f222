"""Columns as they come in real tables: identifiers, dates, texts, whole numbers, and what the user says they are."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from certselect import choose_subset, verify
from certselect.errors import ColumnsLeftOutWarning, InvalidInput
from certselect.results.wording import in_words
from certselect.settings import Reading
from certselect.table import read_table
from certselect.table.model import Decision
from certselect.table.times import dates_in_text

ROWS = 120


def _clinic() -> pd.DataFrame:
    """A table as a clinic keeps it: an identifier, a date, copies, a constant, an age, a skewed count."""
    rng = np.random.default_rng(7)
    ill = rng.integers(0, 2, ROWS)
    weight = rng.normal(70, 10, ROWS) + 8 * ill
    days = pd.to_timedelta(rng.integers(0, 300, ROWS) + 200 * ill, unit="D")
    return pd.DataFrame(
        {
            "record": rng.permutation(ROWS) + 5000,
            "patient": [f"P{i:04d}" for i in rng.permutation(ROWS)],
            "visit": pd.Timestamp("2021-03-01") + days,
            "kg": weight,
            "kg again": weight,
            "lb": weight * 2.2046226,
            "ward": 3,
            "age": rng.integers(20, 80, ROWS) + 10 * ill,
            "visits": np.floor(rng.lognormal(1 + ill, 1.2, ROWS)).astype(int),
            "sex": rng.choice(["m", "f"], ROWS),
            "ill": ill,
        }
    )


def _sources(folder):
    table = _clinic()
    table.to_csv(folder / "clinic.csv", index=False)
    table.to_parquet(folder / "clinic.parquet")
    return [
        folder / "clinic.csv",
        folder / "clinic.parquet",
        table,
        pl.from_pandas(table),
        pa.Table.from_pandas(table),
    ]


def test_real_table_gives_the_same_answer_in_every_form_with_every_decision_in_words(tmp_path):
    results = []
    for source in _sources(tmp_path):
        with pytest.warns(ColumnsLeftOutWarning, match="'record' .identifier.*'patient' .identifier"):
            results.append(choose_subset(source, "ill", 5, criterion="jmi", measure="plugin", correction="none"))
    first = results[0]
    assert not {"record", "patient", "ward", "kg again", "lb"} & set(first.names)
    assert {"visit", "kg", "age", "visits"} <= set(first.names)
    said = in_words(first.provenance.decisions, first.problem.feature_names)
    assert said == [
        f"'record' left out as an identifier: {ROWS} different whole numbers in {ROWS} rows, and called so",
        f"'patient' left out as an identifier: {ROWS} different values in {ROWS} rows",
        "'visit' read as a date or time: measured as a number",
        "'age', 'visits' read as numbers: whole numbers of more than 10 different values, measured as numbers",
        "'kg again', 'lb' not chosen beside their copy: says the same as 'kg'",
    ]
    for other in results[1:]:
        assert other.names == first.names
        assert other.objective == first.objective if hasattr(other, "objective") else True
        assert other.selection.objective == first.selection.objective
        assert other.provenance.decisions == first.provenance.decisions
    assert first.statement.startswith("The only possible choice: all 5 columns considered (5 left out: ")


def test_result_of_one_form_is_verified_by_the_others(tmp_path):
    sources = _sources(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnsLeftOutWarning)
        choose_subset(sources[0], "ill", 4, criterion="jmi", measure="plugin", correction="none").save(
            tmp_path / "chosen.json"
        )
        for source in sources:
            assert verify(tmp_path / "chosen.json", source).holds


def test_forged_decision_is_a_false_claim(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnsLeftOutWarning)
        found = choose_subset(_clinic(), "ill", 4, criterion="jmi", measure="plugin", correction="none").to_dict()
        found["provenance"]["decisions"][0]["facts"] = {"different": 3, "rows": 5}
        outcome = verify(found, _clinic())
    assert outcome.verdict == "false claim"
    assert "columns were not taken as is said" in outcome.reasons[0]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (np.arange(ROWS), "identifier"),
        (np.arange(ROWS)[::-1] + 10**12, "identifier"),
        (np.arange(ROWS) * 1.0, "identifier"),
        ([f"row {i}" for i in range(ROWS)], "identifier"),
        ([f"row {i}" for i in range(ROWS - 4)] + [None] * 4, "identifier"),
        ([f"text {i % 80}" for i in range(ROWS)], "text"),
        ([f"town {i % 30}" for i in range(ROWS)], None),
        (np.arange(ROWS) ** 3, None),
        (np.arange(ROWS) + 0.5, None),
        (np.arange(ROWS) // 2, None),
        (np.arange(ROWS) % 2 == 0, None),
    ],
)
def test_columns_that_tell_one_row_from_another_are_left_out(column, kind):
    frame = pd.DataFrame({"x": np.arange(ROWS) % 3, "column": column})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnsLeftOutWarning)
        table = read_table(frame, np.arange(ROWS) % 2)
    assert [decision.kind for decision in table.decisions] == ([] if kind is None else [kind])
    assert all(decision.columns == (1,) for decision in table.decisions)


@pytest.mark.parametrize("name", ["id", "patient_id", "ID", "customerId", "Unnamed: 0", "uuid", "index", "record no"])
def test_scattered_whole_numbers_called_so_are_identifiers(name):
    scattered = np.random.default_rng(0).permutation(10**6)[:ROWS]
    with pytest.warns(ColumnsLeftOutWarning, match="and called so"):
        table = read_table(pd.DataFrame({name: scattered, "x": scattered % 2}), np.arange(ROWS) % 2)
    assert table.decisions[0].kind == "identifier"


@pytest.mark.parametrize(
    "name", ["width", "idle", "paid", "valid", "humidity", "price_index", "BMI index", "serial dilution"]
)
def test_names_that_only_hold_the_letters_are_none(name):
    scattered = np.random.default_rng(0).permutation(10**6)[:ROWS]
    assert read_table(pd.DataFrame({name: scattered}), np.arange(ROWS) % 2).decisions == ()


def test_gaps_between_identifiers_and_few_rows_hide_none(tmp_path):
    numbers = pd.array(np.arange(ROWS) + 7000, dtype="Int64")
    numbers[::25] = pd.NA
    frame = pd.DataFrame({"nr.": numbers, "x": np.arange(ROWS) % 5})
    frame.to_csv(tmp_path / "t.csv", index=False)
    for X in (frame, pl.from_pandas(frame), pd.read_csv(tmp_path / "t.csv")):
        with pytest.warns(ColumnsLeftOutWarning, match="'nr.'"):
            assert read_table(X, np.arange(ROWS) % 2).decisions[0].columns == (0,)
    for rows in (21, 25, 39):
        with pytest.warns(ColumnsLeftOutWarning):
            read_table(np.column_stack([np.arange(rows) + 1, np.arange(rows) % 2]), np.arange(rows) % 2)


def test_ranks_are_no_identifiers():
    rng = np.random.default_rng(0)
    ranks = np.array([rng.permutation(ROWS) for _ in range(3)]).T
    assert read_table(ranks, np.arange(ROWS) % 2).decisions == ()


@pytest.mark.filterwarnings("ignore::certselect.errors.TargetLeakWarning")
def test_column_without_values_can_be_anything():
    frame = pd.DataFrame({"empty": [None] * 30, "x": np.arange(30) % 2})
    for kind in ("number", "levels", "skip"):
        assert choose_subset(
            frame, np.arange(30) % 2, 1, kinds={"empty": kind}, criterion="jmi", measure="plugin", correction="none"
        ).names == ("x",)


def test_index_that_is_the_name_of_another_column_is_refused():
    frame = pd.DataFrame({1: np.arange(30) % 2, 0: np.arange(30) % 3})
    with pytest.raises(InvalidInput, match="1 in kinds, the index of one column and the name of another"):
        read_table(frame, np.arange(30) % 2, kinds={1: "skip"})
    assert read_table(frame, np.arange(30) % 2, kinds={"1": "skip"}).decisions[0].columns == (0,)


def test_skipped_column_cannot_be_included():
    with pytest.raises(InvalidInput, match="'x0' in include, and its kind is 'skip'"):
        choose_subset(
            np.arange(60).reshape(30, 2) % 7,
            np.arange(30) % 2,
            1,
            kinds={0: "skip"},
            include=[0],
            criterion="jmi",
            measure="plugin",
            correction="none",
        )


def test_times_of_day_as_text_are_the_times_a_file_holds(tmp_path):
    texts = [f"{i % 24:02d}:{7 * i % 60:02d}" for i in range(60)]
    frame = pd.DataFrame({"t": texts, "y": [i % 2 for i in range(60)]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    from_file, from_frame = (
        choose_subset(source, "y", 1, criterion="jmi", measure="plugin", correction="none")
        for source in (tmp_path / "t.csv", frame)
    )
    assert from_file.selection.objective == from_frame.selection.objective
    assert from_file.provenance.decisions == from_frame.provenance.decisions


def test_durations_of_months_are_refused():
    with pytest.raises(InvalidInput, match="so many seconds"):
        read_table(np.arange(30).astype("m8[M]")[:, None], np.arange(30) % 2)


def test_order_of_rows_decides_nothing():
    frame = _clinic().drop(columns="ill")
    y = _clinic()["ill"].to_numpy()
    order = np.random.default_rng(1).permutation(ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnsLeftOutWarning)
        assert read_table(frame, y).decisions == read_table(frame.iloc[order], y[order]).decisions


def test_small_tables_are_not_judged():
    frame = pd.DataFrame({"id": range(20), "name": [f"n{i}" for i in range(20)]})
    assert read_table(frame, np.arange(20) % 2).decisions == ()


def test_kinds_that_were_said_hold():
    frame = _clinic().drop(columns="ill")
    y = _clinic()["ill"]
    said = {"record": "number", "patient": "levels", "age": "levels", "sex": "skip", "visit": "levels", 6: "number"}
    table = read_table(frame, y, kinds=said)
    kinds = {i: block.kind for block in table.blocks for i in block.positions.tolist()}
    names = list(frame)
    assert kinds[names.index("record")] == "number"
    assert kinds[names.index("patient")] == kinds[names.index("age")] == kinds[names.index("visit")] == "category"
    assert kinds[names.index("ward")] == "number"
    skipped = next(block for block in table.blocks if names.index("sex") in block.positions)
    assert not skipped.values[:, skipped.positions.tolist().index(names.index("sex"))].any()
    assert table.decisions == (Decision("skipped", (names.index("sex"),)),)


def test_text_of_numbers_can_be_numbers():
    frame = pd.DataFrame({"x": [str(i / 4) for i in range(30)], "y": [None, *["7"] * 29]})
    table = read_table(frame, np.arange(30) % 2, kinds={"x": "number", "y": "number"})
    values = np.hstack([block.values for block in table.blocks])
    assert values[:, 0].tolist() == [i / 4 for i in range(30)]
    assert np.isnan(values[0, 1])
    with pytest.raises(InvalidInput, match=r"'7\.5 kg' in column 'x', which shall be a number"):
        read_table(pd.DataFrame({"x": ["7.5 kg", "8"]}), [0, 1], kinds={"x": "number"})


@pytest.mark.filterwarnings("ignore::certselect.errors.TargetLeakWarning")
def test_skipped_and_excluded_columns_are_not_looked_at():
    class Unreadable:
        __hash__ = None

    frame = pd.DataFrame({"bad": [Unreadable() for _ in range(30)], "worse": [np.inf] * 30, "x": np.arange(30) % 2})
    y = np.arange(30) % 2
    assert choose_subset(
        frame, y, 1, exclude=["bad"], kinds={"worse": "skip"}, criterion="jmi", measure="plugin", correction="none"
    ).names == ("x",)
    array = np.column_stack([np.full(30, np.nan), y])
    assert choose_subset(array, y, 1, exclude=[0], criterion="jmi", measure="plugin", correction="none").names == (
        "x1",
    )


@pytest.mark.filterwarnings("ignore::certselect.errors.TargetLeakWarning")
def test_excluded_dates_of_a_sparse_matrix_and_kinds_of_one():
    from scipy.sparse import csr_array

    X = csr_array(np.column_stack([np.full(30, np.nan), np.arange(30) % 2]))
    y = np.arange(30) % 2
    assert choose_subset(X, y, 1, exclude=[0], criterion="jmi", measure="plugin", correction="none").names == ("x1",)
    assert choose_subset(X, y, 1, kinds={0: "skip"}, criterion="jmi", measure="plugin", correction="none").names == (
        "x1",
    )
    with pytest.raises(InvalidInput, match="columns of a sparse matrix are all of one type"):
        choose_subset(X, y, 1, kinds={1: "levels"}, criterion="jmi", measure="plugin", correction="none")


def test_included_identifier_is_kept():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ColumnsLeftOutWarning)
        frame = _clinic().drop(columns="patient")
        assert (
            "record"
            in choose_subset(
                frame, "ill", 3, include=["record"], criterion="jmi", measure="plugin", correction="none"
            ).names
        )


def test_unknown_columns_and_kinds_are_refused():
    frame = _clinic()
    with pytest.raises(InvalidInput, match=r"'agee' in kinds; expected the name of a feature, 'age' perhaps"):
        choose_subset(frame, "ill", 3, kinds={"agee": "number"}, criterion="jmi", measure="plugin", correction="none")
    with pytest.raises(InvalidInput, match=r"kinds\['age'\]='numbre'.*'number'"):
        choose_subset(frame, "ill", 3, kinds={"age": "numbre"}, criterion="jmi", measure="plugin", correction="none")
    with pytest.raises(InvalidInput, match="a mapping from columns"):
        choose_subset(frame, "ill", 3, kinds="age", criterion="jmi", measure="plugin", correction="none")
    with pytest.raises(InvalidInput, match="a column twice in kinds"):
        Reading(kinds=[("age", "number"), ("age", "levels")])


def test_kinds_are_saved_by_name_and_by_index():
    reading = Reading(kinds={"age": "Number", 3: "skip"})
    assert reading.to_dict()["kinds"] == [["age", "number"], [3, "skip"]]
    assert Reading.from_dict(reading.to_dict()) == reading


MOMENTS = [datetime.datetime(2020, 1, 1) + datetime.timedelta(days=7 * i, hours=i) for i in range(30)]
EXPECTED = [(moment - datetime.datetime(1970, 1, 1)).total_seconds() for moment in MOMENTS]


@pytest.mark.parametrize(
    "column",
    [
        MOMENTS,
        np.array(MOMENTS, dtype="datetime64[us]"),
        pd.Series(MOMENTS).dt.tz_localize("UTC"),
        [moment.isoformat() for moment in MOMENTS],
        [moment.isoformat(sep=" ") for moment in MOMENTS],
        [moment.strftime("%d.%m.%Y %H:%M:%S") for moment in MOMENTS],
    ],
    ids=["datetime", "datetime64", "time zone", "ISO", "ISO with a space", "German"],
)
def test_dates_are_seconds(column):
    table = read_table(pd.DataFrame({"when": column}), np.arange(30) % 2)
    assert table.blocks[0].kind == "number"
    assert table.blocks[0].values[:, 0].tolist() == EXPECTED
    assert [decision.kind for decision in table.decisions] == ["date"]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_dates_times_and_durations_of_every_library(library):
    dates = [moment.date() for moment in MOMENTS]
    data = {
        "date": [None, *dates[1:]],
        "time": [moment.time() for moment in MOMENTS],
        "duration": [moment - MOMENTS[0] for moment in MOMENTS],
    }
    table = read_table(library(data), np.arange(30) % 2)
    columns = {int(i): block.values[:, j] for block in table.blocks for j, i in enumerate(block.positions)}
    assert np.isnan(columns[0][0])
    assert columns[0][1] == (dates[1] - datetime.date(1970, 1, 1)).days * 86400.0
    assert columns[1].tolist() == [moment.hour * 3600.0 for moment in MOMENTS]
    assert columns[2][3] == (MOMENTS[3] - MOMENTS[0]).total_seconds()
    assert table.decisions == (Decision("date", (0, 1, 2)),)


def test_array_of_dates():
    dates = np.array(MOMENTS, dtype="datetime64[us]")[:, None]
    dates[0] = "NaT"
    table = read_table(dates, np.arange(30) % 2, missing="level")
    assert np.isnan(table.blocks[0].values[0, 0])
    assert table.blocks[0].values[1:, 0].tolist() == EXPECTED[1:]


def test_month_before_day_where_both_would_do():
    assert dates_in_text(["03/04/2021"]) == (
        [(datetime.date(2021, 3, 4) - datetime.date(1970, 1, 1)).days * 86400.0],
        {"written": "month/day/year"},
    )
    assert dates_in_text(["03/04/2021", "13/04/2021"])[1] == {"written": "day/month/year"}


@pytest.mark.parametrize(
    "texts", [[], ["7", "8"], ["1.5"], ["2021-13-01"], ["2021-01-01", "yesterday"], ["20210101"], ["a-b"], [("x",)]]
)
def test_texts_that_are_no_dates(texts):
    assert dates_in_text(texts) is None


def test_dates_and_durations_in_one_column_are_refused_and_dates_beside_text_are_levels():
    mixed = [datetime.date(2020, 1, 1), datetime.timedelta(days=1)] * 10
    with pytest.raises(InvalidInput, match="dates, times and durations mixed in column 'x'"):
        read_table(pd.DataFrame({"x": pd.Series(mixed, dtype=object)}), [0, 1] * 10)
    beside = [datetime.date(2020, 1, 1), "never"] * 10
    assert read_table(pd.DataFrame({"x": pd.Series(beside, dtype=object)}), [0, 1] * 10).blocks[0].kind == "category"


def test_whole_numbers_with_a_gap_are_the_same_in_pandas_and_polars():
    grades = [None, *([1, 2, 3, 4] * 10)]
    y = [0, *([0, 1] * 20)]
    kinds = [read_table(library({"grade": grades}), y).blocks[0].kind for library in (pd.DataFrame, pl.DataFrame)]
    assert kinds == ["integer", "integer"]
    values = [read_table(library({"grade": grades}), y).blocks[0].values for library in (pd.DataFrame, pl.DataFrame)]
    assert (values[0] == values[1]).all()
