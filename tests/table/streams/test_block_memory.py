"""What blocks of rows take in memory, whatever the files are like."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from certselect.table.files import open_files
from certselect.table.streams.passes import block_rows
from certselect.table.streams.row_sample import RowSample
from streamed import plain_table


def test_a_large_row_group_is_never_in_memory_as_a_whole(tmp_path):
    numbers = np.random.default_rng(0).standard_normal(1_500_000)
    table = pa.table({"x": numbers, "z": -numbers})
    pa.parquet.write_table(table, tmp_path / "one.parquet", row_group_size=len(numbers))
    rows = open_files(tmp_path / "one.parquet")
    assert len(rows.units) == 1
    before, most, start = pa.total_allocated_bytes(), 0, 0
    for block in rows.blocks(0, ["z", "x"], 50_000):
        most = max(most, pa.total_allocated_bytes() - before)
        wanted = table.select(["z", "x"]).slice(start, 50_000).combine_chunks().to_batches()[0]
        assert block.equals(wanted)
        start += block.num_rows
    assert start == len(numbers)
    assert most < table.nbytes / 3


@pytest.mark.parametrize("budget", [64_000_000, 10**9, 10**12])
def test_blocks_are_small_beside_the_budget(budget):
    for columns in (1, 20, 400):
        assert 8 * columns * block_rows(columns, budget) <= budget / 16 or block_rows(columns, budget) == 1024


@pytest.mark.parametrize("n_rows", [None, 5000])
def test_a_sample_stays_small_and_comes_from_everywhere(n_rows):
    table = plain_table(5000)
    sample = RowSample(["numbers", "y"], n_rows, 100)
    for start in range(0, 5000, 37):
        sample.take(table.slice(start, 37).combine_chunks().to_batches()[0], "a block")
    kept = sample.rows["numbers"].to_pylist()
    assert 100 <= len(kept) <= 200
    places = np.flatnonzero(np.isin(table["numbers"].to_numpy(), kept))
    assert np.diff(places).max() <= 64
    assert places[0] < 64
    assert places[-1] > 5000 - 64
