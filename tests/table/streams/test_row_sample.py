"""Samples of rows that are merged: as dense in one part as in another."""

import pickle

import numpy as np
import pyarrow as pa

from certselect.table.streams.row_sample import RowSample


def sample_of(numbers, most=100):
    sample = RowSample(["x"], None, most)
    for start in range(0, len(numbers), 50):
        sample.take(pa.record_batch({"x": numbers[start : start + 50]}), "here")
    return sample


def test_merged_samples_are_equally_dense():
    """One that had to drop rows, merged with one that had not, in either order and in a tree."""
    many, few = np.arange(3000), np.arange(3000, 3150)
    for first, second in ((many, few), (few, many)):
        merged = RowSample(["x"], None, 100)
        merged.add(sample_of(first))
        merged.add(sample_of(second))
        kept = merged.rows["x"].to_numpy()
        dense = [np.isin(kept, part).sum() / len(part) for part in (many, few)]
        assert len(kept) <= 200
        assert dense[0] > 0
        assert 0.5 <= dense[1] / dense[0] <= 2


def test_merging_changes_only_who_is_merged_into():
    other = sample_of(np.arange(150))
    before = other.rows
    merged = sample_of(np.arange(3000))
    merged.add(other)
    assert other.rows.equals(before)


def test_a_sample_travels_in_one_piece():
    sample = RowSample(["x"], None, 100)
    assert pickle.loads(pickle.dumps(sample)).rows.num_rows == 0
    for start in range(0, 90, 10):
        sample.take(pa.record_batch({"x": np.arange(start, start + 10)}), "here")
    buffers = []
    sent = pickle.loads(pickle.dumps(sample, protocol=5, buffer_callback=buffers.append), buffers=buffers)
    assert len(buffers) == 1
    assert sent.rows.equals(sample.rows)
    sent.add(sample)
    assert sent.rows.num_rows == 180
