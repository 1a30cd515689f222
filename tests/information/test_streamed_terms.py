"""Tables read in blocks give the terms and selections of the table in memory, float for float."""

import re
import warnings

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import as_before
from certselect import choose_subset, information_terms
from certselect.coding.streamed import code_stream
from certselect.errors import ColumnsLeftOutWarning, InvalidInput
from certselect.information.joint_counts import JointCounts
from certselect.information.kernels.entropy_sums import CountLogs, StreamedLogs
from certselect.information.level_layout import LevelLayout
from certselect.settings import Settings
from certselect.table.streams.row_source import BatchFactory
from certselect.table.streams.streamed_table import open_stream
from streamed import (
    FILES,
    FUNCTIONS,
    always_in_blocks,  # noqa: F401 (a fixture)
    assert_same_terms,
    in_blocks,
    odd_table,
    plain_columns,
    plain_table,
    streamed_terms,
)

pytestmark = pytest.mark.filterwarnings("ignore::certselect.errors.ColumnsLeftOutWarning")

SETTINGS = [
    {},
    {"discretize": "uniform", "bins": 4},
    {"bins": 7, "integers": "numbers"},
    {"bins": "sturges"},
    {"bins": "sqrt", "discretize": "uniform"},
    {"bins": "freedman_diaconis"},
    {"bins": "freedman_diaconis", "discretize": "uniform"},
    {"discretize": "mean_std"},
    {"discretize": "mdlp"},
    {"discretize": "mdlp", "integers": "numbers"},
    {"integers": "levels"},
    {"correction": "miller_madow"},
    {"correction": "grassberger"},
    {"correction": "shrinkage"},
    {"correction": "chance"},
]
WITH_GAPS = [
    {},
    {"discretize": "uniform"},
    {"discretize": "mean_std"},
    {"discretize": "mean_std", "missing": "pairwise"},
    {"discretize": "mdlp", "missing": "pairwise"},
    {"bins": "freedman_diaconis"},
    {"integers": "levels", "bins": 3},
    {"missing": "pairwise"},
    {"missing": "pairwise", "correction": "shrinkage"},
    {"missing": "pairwise", "correction": "chance"},
    {"missing": "pairwise", "correction": "grassberger", "bins": "sturges"},
    {"kinds": {"words_90": "skip", "int8": "number", "decimal": "levels", "code": "levels", "date": "levels"}},
]


def in_memory(table, target="y", **settings):
    return information_terms(table, target, **as_before.counted(settings))


@pytest.mark.parametrize("source", [*FILES, *FUNCTIONS])
def test_every_source_gives_the_same_terms_and_the_same_subset(source, tmp_path, always_in_blocks):  # noqa: F811
    table = plain_table(300)
    rows = {**FILES, **FUNCTIONS}[source](table, tmp_path / "data")
    if source == "partitions":
        table = table.select([name for name in table.column_names if name != "few"] + ["few"])
    got = information_terms(rows, "y", memory="64MB", measure="plugin", correction="none")
    assert_same_terms(got, in_memory(table))
    assert got.copies == (tuple(sorted(map(table.drop(["y"]).column_names.index, ("few", "copy_of_few")))),)
    chosen, wanted = (
        choose_subset(rows, "y", 3, memory="64MB", criterion="jmi", measure="plugin", correction="none"),
        choose_subset(table, "y", 3, criterion="jmi", measure="plugin", correction="none"),
    )
    assert chosen.names == wanted.names
    assert chosen.selection.objective == wanted.selection.objective
    assert chosen.selection.upper_bound == wanted.selection.upper_bound


@pytest.mark.parametrize("kind", ["array", "pandas", "polars", "arrow"])
def test_what_is_in_memory_agrees_with_what_is_not(kind):
    table = plain_table(200).drop(["words"])
    made = {
        "array": lambda: (np.column_stack([table[name].to_numpy() for name in table.column_names[:3]]), None),
        "pandas": lambda: (table.to_pandas(), "y"),
        "polars": lambda: (__import__("polars").from_arrow(table), "y"),
        "arrow": lambda: (table, "y"),
    }
    X, target = made[kind]()
    if target is None:
        table = table.select([*table.column_names[:3], "y"])
        got = information_terms(
            X, table["y"].to_numpy(), feature_names=table.column_names[:3], measure="plugin", correction="none"
        )
    else:
        got = information_terms(X, target, measure="plugin", correction="none")
    assert_same_terms(streamed_terms(lambda: in_blocks(table, [13])), got)


@pytest.mark.parametrize("asked", SETTINGS, ids=str)
def test_every_setting(asked):
    table = plain_table(260)
    assert_same_terms(streamed_terms(lambda: in_blocks(table, [31, 90]), **asked), in_memory(table, **asked))


@pytest.mark.parametrize("asked", WITH_GAPS, ids=str)
def test_every_kind_of_column(asked):
    table = odd_table(180)
    assert_same_terms(streamed_terms(lambda: in_blocks(table, [31, 90]), **asked), in_memory(table, **asked))


@pytest.mark.parametrize("rows", [49, 300])
@pytest.mark.parametrize("columns", ["all numbers", "every kind"])
@pytest.mark.parametrize(
    "asked", [{}, {"correction": "chance"}, {"task": "regression"}, {"kinds": {"nan": "skip"}}], ids=str
)
def test_the_measure_that_auto_picks(rows, columns, asked):
    table = odd_table(rows) if columns == "every kind" else plain_table(rows).select(["numbers", "y"])
    if "kinds" in asked and columns == "all numbers":
        asked = {"kinds": {"numbers": "number"}}
    wanted = in_memory(table, measure="auto", **asked)
    assert_same_terms(streamed_terms(lambda: in_blocks(table, [31]), measure="auto", **asked), wanted)
    assert wanted.settings["measure"] == ("mixed" if "task" in asked else "plugin")


@pytest.mark.parametrize("levels", [63, 64, 65, 300])
def test_columns_of_many_levels(levels):
    rng = np.random.default_rng(levels)
    table = pa.table(
        {
            "wide": [f"w{k}" for k in rng.integers(0, levels, 900)],
            "other": [f"v{k}" for k in rng.integers(0, levels + 1, 900)],
            "narrow": rng.integers(0, 3, 900),
            "y": rng.integers(0, 2, 900),
        }
    )
    assert_same_terms(streamed_terms(lambda: in_blocks(table, [111])), in_memory(table))


TARGETS = {
    "texts": lambda y: np.array(["no", "yes", "perhaps"])[y],
    "bools": lambda y: y > 0,
    "whole floats": lambda y: y.astype(float),
    "far integers": lambda y: y.astype(np.uint64) + np.uint64(2**63),
    "numbers": lambda y: y + np.linspace(0, 1, len(y)),
    "tied numbers": lambda y: np.where(y == 0, 0.5, np.arange(len(y)) % 17),
    "many whole numbers": lambda y: np.arange(len(y)) * 3 % 101,
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("asked", [{}, {"target_bins": 3}, {"task": "regression"}], ids=str)
def test_every_target(target, asked):
    columns = plain_columns(240)
    columns["y"] = TARGETS[target](columns["y"])
    table = pa.table(columns)
    try:
        wanted = in_memory(table, **asked)
    except InvalidInput as error:
        with pytest.raises(InvalidInput, match=re.escape(str(error)[4:19])):
            streamed_terms(lambda: in_blocks(table, [50]), **asked)
        return
    assert_same_terms(streamed_terms(lambda: in_blocks(table, [50]), **asked), wanted)


WEIGHTS = {
    "whole": lambda rng, m: rng.integers(1, 5, m),
    "whole, some 0": lambda rng, m: rng.integers(0, 4, m).astype(float),
    "fractions": lambda rng, m: rng.random(m) + 0.01,
    "fractions, some 0": lambda rng, m: np.where(rng.random(m) < 0.3, 0.0, rng.random(m)),
    "far apart": lambda rng, m: 10.0 ** rng.uniform(-30, 30, m),
    "large": lambda rng, m: rng.integers(1, 2**40, m),
    "all 1": lambda rng, m: np.ones(m),
    "all alike": lambda rng, m: np.where(rng.random(m) < 0.3, 0.0, 0.7),
}
WEIGHTED = [
    {},
    {"discretize": "uniform", "bins": "sqrt"},
    {"discretize": "mean_std", "correction": "miller_madow"},
    {"discretize": "mdlp"},
    {"bins": "freedman_diaconis", "correction": "shrinkage"},
    {"correction": "chance"},
    {"measure": "auto"},
    {"missing": "pairwise", "correction": "chance"},
]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("asked", WEIGHTED, ids=str)
@pytest.mark.parametrize("made", [plain_table, odd_table])
def test_weights(weights, asked, made):
    table = made(130)
    if made is plain_table and "missing" in asked:
        asked = {"task": "regression", "target_bins": 3}
    table = table.append_column("w", pa.array(WEIGHTS[weights](np.random.default_rng(1), 130)))
    wanted = in_memory(table, weight="w", **asked)
    assert_same_terms(streamed_terms(lambda: in_blocks(table, [31, 50]), weight="w", **asked), wanted)


def test_auto_ranks_weighted_rows_as_in_memory():
    table = plain_table(60).select(["numbers", "y"]).append_column("w", pa.array(np.arange(60) % 3 / 2))
    asked = {"weight": "w", "measure": "auto", "task": "regression"}
    wanted = in_memory(table, **asked)
    assert wanted.settings["measure"] == "mixed"
    assert_same_terms(streamed_terms(lambda: in_blocks(table, [7]), **asked), wanted)


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1.0, -1.0, 2.0, 1.0], "negative weights in 'w'"),
        ([1.0, np.nan, 2.0, 1.0], "missing weights"),
        ([1.0, np.inf, 2.0, 1.0], "infinite weights"),
        ([0.0, 0.0, 2.0, 0.0], "zero for all rows but 1"),
        (["a", "b", "c", "d"], "something else than numbers"),
    ],
)
def test_weights_that_are_refused(weights, said):
    table = pa.table({"x": [1, 2, 1, 2], "y": [0, 1, 0, 1], "w": weights})
    with pytest.raises(InvalidInput, match=said):
        streamed_terms(lambda: in_blocks(table, [2]), weight="w")


def test_include_and_exclude():
    table = plain_table(200)
    asked = {"include": ["id"], "exclude": ["many", "words"]}
    got = choose_subset(lambda: in_blocks(table, [40]), "y", 3, **asked)
    wanted = choose_subset(table, "y", 3, **asked)
    assert got.names == wanted.names
    assert "id" in got.names
    assert got.selection.objective == wanted.selection.objective
    assert got.selection.upper_bound == wanted.selection.upper_bound


def test_missing_values_are_refused_where_they_shall_be():
    with pytest.raises(InvalidInput, match=r"in columns 'nan', 'null_floats', .* and 5 more"):
        streamed_terms(lambda: in_blocks(odd_table(60), [10]), missing="error")


SMALL = plain_table(70, seed=5)


@settings(max_examples=25)
@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=6),
    seed=st.integers(0, 2**32 - 1),
    correction=st.sampled_from(["none", "shrinkage"]),
    empty=st.booleans(),
)
def test_blocks_of_any_size_in_any_order(sizes, seed, correction, empty):
    batches = in_blocks(SMALL, sizes)
    order = np.random.default_rng(seed).permutation(len(batches))
    blocks = [batches[i] for i in order] + ([batches[0].slice(0, 0)] if empty else [])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnsLeftOutWarning)
        got = streamed_terms(lambda: blocks, correction=correction)
        assert_same_terms(got, in_memory(SMALL, correction=correction))


def test_rows_may_come_in_another_order_each_time():
    table, calls = plain_table(150), iter(range(100))

    def shuffled():
        return in_blocks(table.take(np.random.default_rng(next(calls)).permutation(150)), [40])

    assert_same_terms(streamed_terms(shuffled), in_memory(table))


# Slow twins


def counted(table, asked, features, *, later_only=False, blocks=(23,)):
    stated = Settings.from_keywords(asked, groups=("reading", "measuring"))
    stream = open_stream(BatchFactory(lambda: in_blocks(table, blocks)), "y", stated.reading, memory="64MB")
    coding = code_stream(stream, stated.measuring)
    layout = LevelLayout(coding.coding.levels)
    learnt = JointCounts(coding, layout, features, 2, most=table.num_rows, later_only=later_only)
    return coding, layout, stream.run(learnt, "counting")


@pytest.mark.parametrize("asked", [{}, {"integers": "levels"}], ids=str)
def test_joint_counts_against_a_plain_loop(asked):
    table = plain_table(160)
    features = [7, 0, 4, 5]
    coding, layout, found = counted(table, asked, features)
    codes, target = coding.code_block(table.combine_chunks().to_batches()[0], "the table", 1)
    assert found.n_rows == 160
    np.testing.assert_array_equal(found.sizes, np.bincount(target, minlength=coding.n_classes))
    for i in features:
        counts = np.zeros((coding.n_classes, layout.levels[i], layout.width), dtype=int)
        for j, start in enumerate(layout.starts):
            np.add.at(counts, (target, codes[i], start + codes[j].astype(int)), 1)
        np.testing.assert_array_equal(found.joint(i), counts)
    margins = np.zeros((coding.n_classes, layout.width), dtype=int)
    for j, start in enumerate(layout.starts):
        np.add.at(margins, (target, start + codes[j].astype(int)), 1)
    np.testing.assert_array_equal(found.margins, margins)


def test_counts_of_parts_add_up():
    table = plain_table(120)
    coding, layout, whole = counted(table, {}, [0, 3])
    parts = []
    for rows in (table.slice(0, 70), table.slice(70)):
        part = JointCounts(coding, layout, [0, 3], 1, most=120)
        part.take(rows.combine_chunks().to_batches()[0], "a part")
        parts.append(part)
    parts[0].add(parts[1])
    for i in (0, 3):
        np.testing.assert_array_equal(parts[0].joint(i), whole.joint(i))
    assert parts[0].n_rows == 120


@pytest.mark.parametrize("room", [1, 30_000])
def test_little_room_means_more_passes_and_the_same_terms(monkeypatch, room):
    table = plain_table(150)
    wanted = in_memory(table)
    monkeypatch.setattr("certselect.information.streamed_pairs._SHARE", room / 64e6)
    monkeypatch.setattr("certselect.information.streamed_pairs._AHEAD", 0.0)
    assert_same_terms(streamed_terms(lambda: in_blocks(table, [40])), wanted)
    got = streamed_terms(lambda: in_blocks(table, [40]))
    np.testing.assert_array_equal(got.pair_row("redundancy", 4), wanted.redundancy[4])


def test_little_room_and_chance(monkeypatch):
    table, asked = odd_table(120), {"missing": "pairwise", "correction": "chance"}
    wanted = in_memory(table, **asked)
    monkeypatch.setattr("certselect.information.streamed_pairs._SHARE", 3e4 / 64e6)
    monkeypatch.setattr("certselect.information.streamed_pairs._AHEAD", 0.0)
    got = streamed_terms(lambda: in_blocks(table, [40]), **asked)
    np.testing.assert_array_equal(got.pair_row("interaction", 4), wanted.interaction[4])
    assert_same_terms(streamed_terms(lambda: in_blocks(table, [40]), **asked), wanted)


@pytest.mark.parametrize("correction", ["none", "miller_madow"])
def test_logarithms_that_are_not_listed_are_the_same(correction, monkeypatch):
    wanted = CountLogs(5000, 5000, correction)
    monkeypatch.setattr("certselect.information.kernels.entropy_sums._FIRST_ENTRIES", 100)
    got = StreamedLogs(5000, correction)
    counts = np.arange(5001)
    np.testing.assert_array_equal(got.of(counts), wanted.of(counts))
    assert (got.total, got.unit, got.fraction_bits) == (wanted.total, wanted.unit, wanted.fraction_bits)


def test_what_cannot_be_counted_in_blocks_is_said():
    def blocks():
        return in_blocks(plain_table(60), [20])

    with pytest.raises(InvalidInput, match="measure='neighbors' for a table that is read block by block"):
        information_terms(blocks, "y", measure="neighbors")
