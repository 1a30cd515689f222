"""Order statistics and codes of a stream, against sorted columns and the coding of the table in memory."""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certselect.coding import code_table
from certselect.coding.block_coding import LevelCoder
from certselect.coding.brackets import code_by_edges, look_up, split_by_bounds
from certselect.coding.moments import exact_sums, exponents
from certselect.coding.streamed import code_stream
from certselect.coding.streamed_order import Bracketed, Brackets, Sample, StreamedOrder, first_brackets
from certselect.coding.streamed_sums import NumbersByClass
from certselect.errors import InvalidInput
from certselect.progress import listening
from certselect.settings import Measuring, Reading, Settings
from certselect.table import read_table
from certselect.table.files import open_files
from certselect.table.streams.row_source import BatchFactory
from certselect.table.streams.row_weights import ExactSum
from certselect.table.streams.streamed_table import open_stream
from streamed import in_blocks, odd_table, plain_table

pytestmark = pytest.mark.filterwarnings("ignore::certselect.errors.ColumnsLeftOutWarning")

numbers = st.lists(
    st.one_of(st.integers(-3, 3).map(float), st.floats(allow_infinity=False, width=32)), min_size=1, max_size=60
)
bounds = st.lists(st.integers(-4, 4).map(float), unique=True, max_size=11).map(sorted)


@given(values=numbers, bounds=bounds)
def test_numbers_between_bounds(values, bounds):
    values, bounds = np.array(values), np.array(bounds)
    counts, kept = np.zeros(len(bounds) + 1, dtype=np.int64), np.empty(len(values) + 1)
    n_kept = split_by_bounds(values, bounds, counts, kept)
    there = values[~np.isnan(values)]
    reached = np.array([sum(bound <= value for bound in bounds) for value in there], dtype=int)
    np.testing.assert_array_equal(counts, np.bincount(reached, minlength=len(bounds) + 1))
    np.testing.assert_array_equal(kept[:n_kept], there[reached % 2 == 1])


@given(values=numbers, edges=bounds)
def test_codes_by_edges(values, edges):
    codes = np.empty(len(values), dtype=np.uint8)
    code_by_edges(np.array(values), np.array(edges), 99, codes)
    assert codes.tolist() == [99 if value != value else sum(edge <= value for edge in edges) for value in values]


def test_codes_that_are_looked_up():
    codes, table = np.empty(4, dtype=np.int64), np.array([5, -1, 7])
    assert look_up(np.array([10, 12, 12, 10]), 10, table, codes)
    assert codes.tolist() == [5, 7, 7, 5]
    for strange in (9, 11, 13):
        assert not look_up(np.array([10, strange, 12, 10]), 10, table, codes)


@given(
    values=numbers.map(lambda own: [0.0 if value != value else value for value in own]),
    seed=st.integers(0, 99),
    room=st.sampled_from([1, 5, 1000]),
)
def test_ranks_against_a_sorted_column(values, seed, room):
    rng = np.random.default_rng(seed)
    ordered, shuffled = np.sort(values), rng.permutation(values)
    parts = np.array_split(shuffled, 3)
    passes = []

    def look(asked):
        passes.append(asked)
        found = Brackets(asked, {}, 1)
        for part in parts:
            found.take(pa.record_batch({"x": part}), "a block")
        return found.parts

    sample = np.sort(rng.choice(values, max(1, len(values) // 4)))
    order = StreamedOrder(["x"], np.array([len(values)]), {"x": Sample(sample)}, {}, look, room)
    ranks = np.unique(rng.integers(0, len(values), 4))
    np.testing.assert_array_equal(order.at(ranks[None])[0], ordered[ranks])
    for number in (ordered[ranks[0]], ordered[-1]):
        (first,), (behind,) = order.run(np.array([number]))
        assert (first, behind) == ((ordered < number).sum(), (ordered <= number).sum())
    assert len(passes) < 12


def test_no_more_numbers_are_kept_than_there_is_room_for():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.standard_normal(40_000), np.full(9000, 0.25)])
    rng.shuffle(values)
    kept = []

    def look(asked):
        found = Brackets(asked, {}, 1)
        for part in np.array_split(values, 7):
            found.take(pa.record_batch({"x": part}), "a block")
        kept.append(len(found.parts["x"].merged()[0]))
        return found.parts

    sample = np.sort(rng.choice(values, 1000))
    order = StreamedOrder(["x"], np.array([len(values)]), {"x": Sample(sample)}, {}, look, 700)
    ranks = np.array([[9000, 16_000, 24_500, 33_000, 48_999]])
    np.testing.assert_array_equal(order.at(ranks)[0], np.sort(values)[ranks[0]])
    assert max(kept) < 1400, "a sample tells about how many there are, not more"
    assert len(kept) <= 5


def test_brackets_of_parts_add_up():
    rng = np.random.default_rng(0)
    values = np.round(rng.standard_normal(500), 1)
    brackets = np.array([[-1.0, -0.5], [0.2, 0.9]])
    whole, first, second = (Bracketed.between(brackets) for _ in range(3))
    whole.take(values)
    first.take(values[:200])
    second.take(values[200:])
    first.add(second)
    np.testing.assert_array_equal(first.counts, whole.counts)
    for got, wanted in zip(first.merged(), whole.merged(), strict=True):
        np.testing.assert_array_equal(got, wanted)
    ordered = np.sort(values)
    for rank in range(500):
        inside = any(low <= ordered[rank] <= high for low, high in brackets)
        assert whole.at(rank) == (ordered[rank] if inside else None)


@given(sample=numbers.map(lambda own: np.sort([0.0 if value != value else value for value in own])))
def test_brackets_are_apart_and_ascending(sample):
    for found in (Sample(sample).brackets_around(np.array([0.0, 0.3, 0.31, 1.0])), first_brackets(sample, 4)):
        assert (found[:, 0] <= found[:, 1]).all()
        assert (found[1:, 0] > found[:-1, 1]).all()


def test_numbers_that_are_never_found_are_a_table_that_changes():
    def look(asked):
        return {name: Bracketed.between(own) for name, own in asked.items()}

    order = StreamedOrder(["x"], np.array([10]), {"x": Sample(np.arange(3.0))}, {}, look, 1000)
    with pytest.raises(InvalidInput, match="a table that does not change"):
        order.at(np.array([[5]]))


@pytest.mark.parametrize("asked", [{}, {"discretize": "uniform"}, {"bins": 6, "integers": "numbers"}], ids=str)
@pytest.mark.parametrize("made", [plain_table, odd_table])
def test_codes_are_those_of_the_table_in_memory(made, asked):
    table = made(220)
    stated = Settings.from_keywords(asked, groups=("reading", "measuring"))
    stream = open_stream(BatchFactory(lambda: in_blocks(table, [31])), "y", stated.reading, memory="64MB")
    coding = code_stream(stream, stated.measuring)
    got, target = coding.code_block(table.combine_chunks().to_batches()[0], "the table", 1)
    wanted = code_table(read_table(table.drop(["y"]), table["y"], missing="level"), stated.measuring)
    np.testing.assert_array_equal(coding.coding.levels, wanted.coding.levels)
    assert coding.coding.describe() == wanted.coding.describe()
    for i in range(len(got)):
        pairs = {*zip(got[i].tolist(), wanted.codes[i].tolist(), strict=True)}
        assert len(pairs) == len({own for own, _ in pairs}) == len({other for _, other in pairs})
    assert target.tolist() == table["y"].to_pylist()


@pytest.mark.parametrize("budget", [2_000, 50_000])
def test_columns_are_looked_at_a_few_at_a_time_where_memory_is_short(budget, monkeypatch):
    rng = np.random.default_rng(3)
    table = pa.table({**{f"x{i}": rng.standard_normal(400) for i in range(6)}, "y": rng.integers(0, 2, 400)})
    stated = Settings.from_keywords({}, groups=("reading", "measuring"))
    stream = open_stream(BatchFactory(lambda: in_blocks(table, [90])), "y", stated.reading)
    stream.budget = budget
    looked, run = [], stream.run

    def noted(learnt, stage):
        if stage == "bins of equal counts":
            looked.append(learnt.columns)
        return run(learnt, stage)

    monkeypatch.setattr(stream, "run", noted)
    got = code_stream(stream, stated.measuring).coding
    wanted = code_table(read_table(table.drop(["y"]), table["y"]), stated.measuring).coding
    np.testing.assert_array_equal(got.parts[0].edges, wanted.parts[0].edges)
    assert (len(looked) >= 6) == (budget == 2_000)


def stream_of(table, budget, **asked):
    stated = Settings.from_keywords(asked, groups=("reading", "measuring"))
    stream = open_stream(BatchFactory(lambda: in_blocks(table, [90])), "y", stated.reading)
    stream.budget = budget
    return stream, stated.measuring


@pytest.mark.parametrize(("budget", "passes"), [(1 << 30, 1), (60_000, 3)])
def test_cuts_between_classes_where_memory_is_short(budget, passes, monkeypatch):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 400)
    table = pa.table({**{f"x{i}": rng.standard_normal(400) + (i + 1) * y for i in range(3)}, "y": y})
    stream, measuring = stream_of(table, budget, discretize="mdlp")
    looked, run = [], stream.run

    def noted(learnt, stage):
        looked.append(stage)
        return run(learnt, stage)

    monkeypatch.setattr(stream, "run", noted)
    got = code_stream(stream, measuring).coding
    wanted = code_table(read_table(table.drop(["y"]), table["y"]), measuring).coding
    np.testing.assert_array_equal(got.parts[0].edges, wanted.parts[0].edges)
    assert len(got.parts[0].edges) >= 3
    assert looked.count("cuts between classes") == passes


def test_more_different_numbers_than_fit_are_refused_by_mdlp():
    rng = np.random.default_rng(5)
    table = pa.table({"x": rng.standard_normal(400), "y": rng.integers(0, 2, 400)})
    stream, measuring = stream_of(table, 20_000, discretize="mdlp")
    with pytest.raises(InvalidInput, match=r"'x', read block by block; expected at most 208 different numbers"):
        code_stream(stream, measuring)


def test_a_wrong_guess_of_how_many_numbers_differ_means_another_pass():
    target = LevelCoder("y", (0, 1), -1)
    learnt = NumbersByClass(["few", "many"], {}, target, 2, None, 24 * 60)
    other = NumbersByClass(["few", "many"], {}, target, 2, None, 24 * 60)
    for part, seed in ((learnt, 0), (other, 1)):
        many = np.random.default_rng(seed).standard_normal(40)
        part.take(pa.record_batch({"few": np.arange(40.0) % 3, "many": many, "y": np.arange(40) % 2}), "a block")
        assert part.found["many"] is not None
    learnt.add(other)
    assert learnt.found["many"] is None
    numbers, counts = learnt.found["few"]
    assert numbers.tolist() == [0, 1, 2]
    assert counts.sum(axis=0).tolist() == [40, 40]
    again = NumbersByClass(["few", "many"], {}, target, 2, None, 24 * 60)
    again.restore(learnt.saved())
    assert again.found["many"] is None
    np.testing.assert_array_equal(again.found["few"][1], counts)


@given(
    values=st.lists(st.floats(-1e300, 1e300) | st.integers(-5, 5).map(float), min_size=1, max_size=30),
    weights=st.lists(st.integers(1, 2**50 - 1), min_size=30, max_size=30),
    cut=st.integers(0, 30),
)
def test_sums_are_exact_however_the_rows_are_divided(values, weights, cut):
    column, units = np.array(values), np.array(weights[: len(values)])
    exponent = exponents(column.min(keepdims=True), column.max(keepdims=True))
    whole = [round(Fraction(value) * 2 ** (53 - int(exponent[0]))) for value in column.tolist()]
    for own in (None, units):
        times = [1] * len(whole) if own is None else own.tolist()
        parts = [slice(None, cut), slice(cut, None)]
        found = sum(exact_sums(column[None, part], exponent, None if own is None else own[part]) for part in parts)
        assert found[0].tolist() == [sum(w * k**power for w, k in zip(times, whole, strict=True)) for power in range(3)]


@given(st.lists(st.floats(0, allow_nan=False, allow_infinity=False, exclude_min=True), min_size=1, max_size=50))
def test_weights_add_up_as_fsum_adds_them(weights):
    first, second = ExactSum(), ExactSum()
    first.take(np.array(weights[::2]))
    second.take(np.array(weights[1::2]))
    first.halves += second.halves
    if sum(map(Fraction, weights)) < Fraction(2) ** 1023:
        assert first.scaled() == math.fsum(weights)
    exponent = int(np.frexp(max(weights))[1])
    assert first.scaled(exponent) == float(sum(map(Fraction, weights)) / Fraction(2) ** exponent)


def test_numbers_that_a_quick_sample_brackets_take_no_pass_of_their_own(tmp_path):
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.standard_normal(4000) for j in range(3)}
    file = tmp_path / "rows.parquet"
    pa.parquet.write_table(pa.table({**columns, "y": rng.integers(0, 2, 4000)}), file, row_group_size=500)
    told = []
    with listening(lambda stage, *_: told.append(stage)):
        code_stream(
            open_stream(open_files(file), "y", Reading(), memory="64MB"), Measuring(measure="plugin", correction="none")
        )
    assert set(told) == {"reading"}
