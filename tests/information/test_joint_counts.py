"""Counts of a stream that are divided among several counters, and put together again."""

import pickle

import numpy as np
import pytest

from certselect.errors import InvalidInput
from certselect.information import joint_counts
from certselect.table.files import open_files
from certselect.table.streams.passes import InThisProcess
from cluster_cases import made_frame, streamed, write_parquet

# One of the columns of `made_frame` numbers its rows.
pytestmark = pytest.mark.filterwarnings("ignore::certselect.errors.ColumnsLeftOutWarning")


class ByParts:
    """Divides what is counted, counts each part in a pass of its own, and keeps whole and parts."""

    def __init__(self):
        self.met = []

    def run(self, source, learnt, stage):
        whole = InThisProcess(1 << 30).run(source, learnt, stage)
        if isinstance(whole, joint_counts.JointCounts):
            parts = [InThisProcess(1 << 30).run(source, part, stage) for part in whole.divided() if part is not whole]
            self.met.append((whole, parts))
        return whole


@pytest.fixture
def counted(tmp_path, monkeypatch):
    monkeypatch.setattr(joint_counts, "READ", 1e-6)
    monkeypatch.setattr(joint_counts, "_LIGHT", 1 << 13)
    runner = ByParts()
    _ = streamed(open_files(write_parquet(made_frame(400), tmp_path / "rows.parquet", 150)), runner=runner).redundancy
    return [(whole, parts) for whole, parts in runner.met if parts]


def again(whole):
    like = {"most": whole.n_rows, "later_only": whole._later_only}
    return joint_counts.JointCounts(whole._coding, whole._layout, whole.features, 1, **like)


def test_parts_put_together_are_the_whole(counted):
    assert counted
    for whole, parts in counted:
        assert len(parts) > 2
        assert sum((part.features for part in parts), ()) == whole.features
        empty = again(whole)
        for part in reversed(parts):
            empty.put_in(part)
        assert empty.n_rows == whole.n_rows
        np.testing.assert_array_equal(empty.sizes, whole.sizes)
        np.testing.assert_array_equal(empty.margins, whole.margins)
        for i in whole.features:
            np.testing.assert_array_equal(empty.joint(i), whole.joint(i))


def test_parts_of_tables_that_differ_are_refused(counted):
    whole, (first, second, *_) = counted[0]
    second.n_rows -= 1
    empty = again(whole)
    empty.put_in(first)
    with pytest.raises(InvalidInput, match="rows where there had been"):
        empty.put_in(second)


def test_light_counts_are_not_divided(tmp_path):
    runner = ByParts()
    _ = streamed(open_files(write_parquet(made_frame(400), tmp_path / "rows.parquet", 150)), runner=runner).redundancy
    assert runner.met
    assert all(parts == [] for _, parts in runner.met)


def test_counts_that_travelled_add_up(counted):
    whole, parts = counted[0]
    for part in parts:
        sent = pickle.loads(pickle.dumps(part))
        both = pickle.loads(pickle.dumps(again(part)))
        both.add(sent)
        both.add(sent)
        for i in part.features:
            np.testing.assert_array_equal(both.joint(i), 2 * part.joint(i))
        assert both.n_rows == 2 * whole.n_rows


def test_counts_have_room_for_all_rows(counted):
    whole, _ = counted[0]
    many = joint_counts.JointCounts(whole._coding, whole._layout, whole.features, 1, most=1 << 31)
    assert joint_counts.count_type((1 << 31) - 1) == np.int32
    assert many.n_bytes == 2 * again(whole).n_bytes
