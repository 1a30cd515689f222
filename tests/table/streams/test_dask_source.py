"""Dask's frames and arrays, a partition at a time: the terms of the table in memory, or a clear error."""

import dask
import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import pytest

from certselect import information_terms
from certselect.errors import InvalidInput, UnusableType
from certselect.table.streams.dask_source import is_dask, open_dask
from cluster_cases import assert_same_terms, made_frame, streamed

# One of the columns of `made_frame` numbers its rows.
pytestmark = pytest.mark.filterwarnings("ignore::certselect.errors.ColumnsLeftOutWarning")
RNG = np.random.default_rng(0)
CODES, TARGETS = RNG.integers(0, 5, (600, 6)), RNG.integers(0, 2, 600)


def in_parts(frames, meta=None):
    """A frame of these partitions, whatever they are."""
    return dask.dataframe.from_map(lambda part: part, frames, meta=frames[0].iloc[:0] if meta is None else meta)


def terms_of(X, y):
    source, target = open_dask(X, y)
    return streamed(source, target)


def in_memory(frame):
    return information_terms(frame.drop(columns="y"), frame["y"].to_numpy(), measure="plugin", correction="none")


@pytest.mark.parametrize("gaps", [False, True])
def test_a_frame_is_the_table_it_stands_for(gaps):
    frame = made_frame(900, gaps=gaps)
    X = dask.dataframe.from_pandas(frame, npartitions=4)
    assert_same_terms(terms_of(X, "y"), in_memory(frame))
    assert_same_terms(terms_of(X.drop(columns="y"), X["y"]), in_memory(frame))
    assert_same_terms(terms_of(X.drop(columns="y"), X["y"].to_dask_array()), in_memory(frame))


def test_columns_that_nobody_looks_at_are_not_computed():
    frame = made_frame(500)
    X = dask.dataframe.from_pandas(frame, npartitions=3)
    source, target = open_dask(X.drop(columns="y"), X["y"])
    kinds = dict.fromkeys(["few", "category", "rank"], "skip")
    want = information_terms(
        frame.drop(columns="y"), frame["y"].to_numpy(), kinds=kinds, measure="plugin", correction="none"
    )
    assert_same_terms(streamed(source, target, kinds=kinds), want)
    names = {part.columns[0] for part in source._asked(["number"])}
    assert names == {"number"}


def test_partitions_may_be_empty():
    frame = made_frame(800)
    X = dask.dataframe.from_pandas(frame, npartitions=4)
    some = frame[frame["rank"] > 500].drop(columns="rank")
    assert_same_terms(terms_of(X[X["rank"] > 500].drop(columns="rank"), "y"), in_memory(some))
    parts = [frame.iloc[:0], frame.iloc[:300], frame.iloc[:0], frame.iloc[300:]]
    assert_same_terms(terms_of(in_parts(parts), "y"), in_memory(frame))


def test_a_table_of_empty_partitions_is_refused():
    frame = made_frame(50).iloc[:0]
    with pytest.raises(InvalidInput, match="without any row"):
        terms_of(in_parts([frame, frame]), "y")


def test_categories_may_differ_between_partitions():
    frame = made_frame(400).assign(category=lambda f: f["text"])
    cut = [frame[:100], frame[100:250], frame[250:]]
    cut[0] = cut[0][cut[0]["text"] != "c"]
    parts = [part.assign(category=pd.Categorical(part["category"])) for part in cut]
    unknown = dask.dataframe.utils.clear_known_categories(parts[0].iloc[:0])
    whole = pd.concat(cut).assign(category=lambda f: pd.Categorical(f["category"]))
    assert_same_terms(terms_of(in_parts(parts, unknown), "y"), in_memory(whole))


def test_objects_are_what_their_first_cells_are():
    frame = made_frame(400)
    frame["text"] = frame["text"].astype(object)
    frame.loc[:99, "text"] = None  # the whole first partition
    frame["number"] = frame["number"].astype(object)
    parts = [frame[start : start + 100] for start in range(0, 400, 100)]
    with dask.config.set({"dataframe.convert-string": False}):
        got = terms_of(in_parts(parts), "y")
    assert_same_terms(got, in_memory(frame.assign(number=frame["number"].astype(float))))


def test_names_that_are_numbers():
    frame = pd.DataFrame(CODES)
    X = dask.dataframe.from_pandas(frame, npartitions=3)
    y = dask.dataframe.from_pandas(pd.Series(TARGETS), npartitions=3)
    assert_same_terms(terms_of(X, y), information_terms(frame, TARGETS, measure="plugin", correction="none"))


def test_a_target_called_like_a_column():
    X = dask.dataframe.from_pandas(pd.DataFrame(CODES, columns=list("abcdey")), npartitions=3)
    y = dask.dataframe.from_pandas(pd.Series(TARGETS, name="y"), npartitions=3)
    source, target = open_dask(X, y)
    assert (target, source.schema.names) == ("y_", [*"abcdey", "y_"])
    assert streamed(source, target).feature_names == tuple("abcdey")


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, np.float32, np.float64, bool, "U1"])
def test_an_array_is_the_table_it_stands_for(dtype):
    X = CODES.astype(dtype)
    want = information_terms(X, TARGETS, measure="plugin", correction="none")
    rows = dask.array.from_array(X, chunks=(170, 4))
    assert_same_terms(terms_of(rows, TARGETS), want)
    assert_same_terms(terms_of(rows, dask.array.from_array(TARGETS, chunks=100)), want)


def test_an_array_with_words_as_targets():
    words = np.array(["no", "yes"], dtype=object)[TARGETS]
    X = dask.array.from_array(CODES, chunks=(170, 6))
    assert_same_terms(terms_of(X, words), information_terms(CODES, words, measure="plugin", correction="none"))
    assert_same_terms(
        terms_of(X, words.astype("U3")), information_terms(CODES, words, measure="plugin", correction="none")
    )


def test_an_array_whose_chunks_have_unknown_sizes():
    rows, targets = dask.array.from_array(CODES, chunks=(170, 6)), dask.array.from_array(TARGETS, chunks=170)
    kept = rows[:, 0] > 1
    X, y = rows[kept], targets[kept]
    assert np.isnan(X.shape[0])
    chosen = CODES[:, 0] > 1
    assert_same_terms(
        terms_of(X, y), information_terms(CODES[chosen], TARGETS[chosen], measure="plugin", correction="none")
    )
    with pytest.raises(InvalidInput, match="compute_chunk_sizes"):
        open_dask(X, TARGETS[chosen])


def test_what_does_not_belong_together_is_refused():
    frame = made_frame(600)
    X, y = dask.dataframe.from_pandas(frame.drop(columns="y"), npartitions=3), frame["y"]
    for other in (
        dask.dataframe.from_pandas(y, npartitions=2),
        dask.dataframe.from_pandas(y[::-1][:550], npartitions=3),
    ):
        with pytest.raises(InvalidInput, match="partitions that are not those of X"):
            open_dask(X, other)
    shorter = in_parts([y[:200], y[200:399], y[400:]])
    with pytest.raises(InvalidInput, match="200 rows and 199 targets in partition 1"):
        terms_of(X, shorter)
    with pytest.raises(InvalidInput, match="different indexes in partition 0"):
        terms_of(X, in_parts([y[:200][::-1], y[200:400], y[400:]]))
    rows = dask.array.from_array(CODES, chunks=(200, 6))
    for targets in (TARGETS[1:], dask.array.from_array(TARGETS[1:]), CODES):
        with pytest.raises(InvalidInput, match=r"one target for every row|one dimension"):
            open_dask(rows, targets)


def test_what_is_no_table_is_refused():
    X = dask.dataframe.from_pandas(made_frame(50), npartitions=2)
    rows = dask.array.from_array(CODES)
    with pytest.raises(UnusableType, match="Dask data frame, or a Dask array of two dimensions"):
        open_dask(rows[:, 0], TARGETS)
    with pytest.raises(UnusableType, match="name of a column or a Dask series"):
        open_dask(X, made_frame(50)["y"])
    with pytest.raises(UnusableType, match="name of a column or a Dask series"):
        open_dask(X, X[["y"]])
    with pytest.raises(InvalidInput, match="beside an array"):
        open_dask(rows, "y")
    with pytest.raises(UnusableType, match="of type object"):
        open_dask(rows.astype(object), TARGETS)
    with pytest.raises(InvalidInput, match="target='z'"):
        terms_of(X, "z")


def test_partitions_that_are_not_as_the_meta_says_are_named():
    frame = made_frame(300)[["number", "few", "text", "y"]]
    parts = [frame[:100], frame[100:200], frame[200:]]

    def changed(part):
        return in_parts([parts[0], parts[1], part], frame.iloc[:0])

    with pytest.raises(InvalidInput, match=r"'few' of type double in partition 2.*expected int64"):
        terms_of(changed(parts[2].assign(few=parts[2]["few"] + 0.5)), "y")
    with pytest.raises(InvalidInput, match=r"'number' of type (large_)?string in partition 2"):
        terms_of(changed(parts[2].assign(number="1.5")), "y")
    with pytest.raises(InvalidInput, match=r"partition 2.* without column 'few'"):
        terms_of(changed(parts[2].drop(columns="few")), "y")
    with pytest.raises(InvalidInput, match=r"partition 2.* with column 'more'"):
        terms_of(changed(parts[2].assign(more=1)), "y")
    mixed = parts[2].assign(text=[1, "a"] * 50)
    with (
        dask.config.set({"dataframe.convert-string": False}),  # else Dask makes texts of them
        pytest.raises(InvalidInput, match=r"cells of column 'text' in partition 2"),
    ):
        terms_of(changed(mixed), "y")


def test_chunks_that_are_not_as_the_array_says_are_named():
    X = dask.array.from_array(CODES, chunks=(200, 6))
    narrow = X.map_blocks(lambda block: block[:, :5], dtype=X.dtype, chunks=X.chunks)
    with pytest.raises(InvalidInput, match=r"partition 0.*array of 6 columns"):
        terms_of(narrow, TARGETS)
    halves = X.map_blocks(lambda block: block + 0.5, dtype=X.dtype)
    with pytest.raises(InvalidInput, match=r"'x0' of type double in partition 0"):
        terms_of(halves, TARGETS)


def test_only_collections_are_dask():
    assert is_dask(dask.array.from_array(CODES))
    assert not is_dask(CODES)
    assert not is_dask(made_frame(5))


@pytest.mark.parametrize("names", [["a", "a", "y"], [1, "1", "y"]])
def test_names_that_occur_twice_are_refused(names):
    frame = pd.DataFrame({"p": RNG.standard_normal(60), "q": RNG.standard_normal(60), "y": np.arange(60) % 2})
    frame.columns = names
    with pytest.raises(InvalidInput, match="more than once"):
        information_terms(dask.dataframe.from_pandas(frame, npartitions=2), "y", measure="plugin", correction="none")


def test_missing_cells_of_arrays_are_refused_as_in_memory():
    X = RNG.standard_normal((600, 2))
    X[0, 0] = np.nan
    chunks = dask.array.from_array(X, chunks=(100, 2))
    targets = dask.array.from_array(TARGETS, chunks=100)
    with pytest.raises(InvalidInput, match="missing values"):
        information_terms(chunks, targets, measure="plugin", correction="none")
    assert (
        information_terms(chunks, targets, missing="level", measure="plugin", correction="none").levels[0]
        > information_terms(X[1:], TARGETS[1:], measure="plugin", correction="none").levels[0]
    )


def test_partitions_that_change_from_pass_to_pass_are_noticed():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": RNG.standard_normal(600), "b": RNG.standard_normal(600), "y": np.arange(600) % 2})
    random = dask.dataframe.from_pandas(frame, npartitions=3).map_partitions(
        lambda part: part.assign(a=rng.standard_normal(len(part))), meta=frame.iloc[:0]
    )
    with pytest.raises(InvalidInput, match=r"other cells in column 'a'.*persist"):
        information_terms(random, "y", measure="plugin", correction="none")
