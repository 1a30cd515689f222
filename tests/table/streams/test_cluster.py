"""Passes on a cluster: the integers of one process, whoever counts and whoever dies in the middle."""

import os
import threading
import time
from functools import partial

import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import pytest

from as_before import counted
from certselect import information_terms
from certselect.errors import InvalidInput
from certselect.information import joint_counts
from certselect.progress import listening
from certselect.table.files import open_files
from certselect.table.streams.cluster import ClusterRunner
from certselect.table.streams.dask_source import open_dask
from certselect.table.streams.row_source import BatchFactory
from certselect.table.streams.saved_passes import SavedPasses
from certselect.threads import thread_count
from cluster_cases import (
    PATIENCE,
    Deadly,
    Waiting,
    assert_same_terms,
    local_client,
    made_frame,
    streamed,
    write_parquet,
)

BUDGET = 1 << 30

# One of the columns of `made_frame` numbers its rows.
pytestmark = [
    pytest.mark.cluster,
    pytest.mark.filterwarnings("ignore::certselect.errors.ColumnsLeftOutWarning"),
]


@pytest.fixture(scope="module")
def frame():
    return made_frame(2000, gaps=True)


@pytest.fixture(scope="module")
def want(frame):
    return information_terms(frame.drop(columns="y"), frame["y"].to_numpy(), measure="plugin", correction="none")


@pytest.fixture(scope="module")
def file(frame, tmp_path_factory):
    return write_parquet(frame, tmp_path_factory.mktemp("table") / "rows.parquet", 250)


@pytest.fixture(scope="module")
def client(file):
    # Compiled here, kernels are found by the workers, which would write them over each other's.
    _ = streamed(open_files(file)).redundancy
    with local_client() as client:
        yield client


def as_csv_files(frame, folder):
    frame = frame.drop(columns=["category", "date"])  # which text files have no type for
    for number, part in enumerate(np.array_split(np.arange(len(frame)), 4)):
        frame.iloc[part].to_csv(folder / f"{number}.csv", index=False)
    return open_files(folder)


def test_row_groups_are_counted_as_one_table(client, file, want):
    assert_same_terms(streamed(open_files(file), runner=ClusterRunner(client, BUDGET)), want)


def test_what_is_too_large_to_come_with_every_task_is_fetched(client, file, want, monkeypatch):
    monkeypatch.setattr("certselect.table.streams.cluster._ALONG", 0)
    assert_same_terms(streamed(open_files(file), runner=ClusterRunner(client, BUDGET)), want)


def test_text_files_are_counted_as_one_table(client, frame, tmp_path):
    source = as_csv_files(frame, tmp_path)
    assert_same_terms(streamed(source, runner=ClusterRunner(client, BUDGET)), streamed(source))


@pytest.mark.parametrize(
    "keywords",
    [
        {"missing": "pairwise"},
        {"discretize": "uniform"},
        {"discretize": "mean_std"},
        {"discretize": "mdlp"},
        {"weight": "few", "bins": "freedman_diaconis"},
        {"weight": "few", "correction": "chance"},
        {"missing": "pairwise", "correction": "chance"},
    ],
    ids=str,
)
def test_settings_count_alike(client, frame, file, keywords):
    want = information_terms(frame, "y", **counted(keywords))
    assert_same_terms(streamed(open_files(file), runner=ClusterRunner(client, BUDGET), **keywords), want)


def test_a_function_of_the_user_is_called_in_this_process(client, frame, want):
    here = threading.Lock()  # which could not be sent to a worker

    def blocks():
        with here:
            return [frame[start : start + 700] for start in range(0, len(frame), 700)]

    assert_same_terms(streamed(BatchFactory(blocks), runner=ClusterRunner(client, BUDGET)), want)


def test_many_pairs_are_divided_among_tasks(client, file, want, monkeypatch):
    monkeypatch.setattr(joint_counts, "READ", 1e-6)
    monkeypatch.setattr(joint_counts, "_LIGHT", 1 << 14)
    numbers = []
    divide = joint_counts.JointCounts.divided
    monkeypatch.setattr(
        joint_counts.JointCounts, "divided", lambda counts: numbers.append(divide(counts)) or numbers[-1]
    )
    assert_same_terms(streamed(open_files(file), runner=ClusterRunner(client, BUDGET)), want)
    assert max(map(len, numbers)) > 3


def test_progress_is_told_by_rows(client, file):
    told = []
    with listening(lambda *stage: told.append(stage)):
        streamed(open_files(file), runner=ClusterRunner(client, BUDGET))
    stages = list(dict.fromkeys(stage for stage, _, _ in told))
    assert {"reading", "counting"} <= set(stages)
    for stage in stages:
        rows = [done for name, done, _ in told if name == stage]
        assert rows[-1] == 2000
        assert {total for name, _, total in told if name == stage} == {2000}


@pytest.mark.slow
def test_workers_that_die_change_nothing(client, file, want, tmp_path):
    """Killed in the first, the second and the third pass, while they have learnt something that nobody else knows."""
    source, killed = Waiting(open_files(file), tmp_path, unit=4, stops=(0, 2, 4)), []
    killer = threading.Thread(target=source.kill_who_waits, args=(killed,), daemon=True)
    killer.start()
    assert_same_terms(streamed(source, runner=ClusterRunner(client, BUDGET)), want)
    killer.join()
    assert len(killed) == 3
    assert os.getpid() not in killed


def test_a_part_at_which_every_worker_dies_is_refused(client, file):
    client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))
    try:
        with pytest.raises(InvalidInput, match=r"worker after worker died.*more memory"):
            streamed(Deadly(open_files(file)), runner=ClusterRunner(client, BUDGET))
    finally:
        client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 3))
        until = time.monotonic() + PATIENCE
        while len(client.nthreads()) < 2:  # new workers start in the place of dead ones
            assert time.monotonic() < until
            time.sleep(0.05)


def test_what_a_worker_finds_wrong_is_said_here(client, frame, tmp_path):
    write_parquet(frame, tmp_path / "a.parquet", 500)
    broken = tmp_path / "b.parquet"
    write_parquet(frame, broken, 500)
    content = bytearray(broken.read_bytes())
    content[2000:9000] = b"\xff" * 7000  # the pages of a column; what the file says of itself is whole
    broken.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"b\.parquet"):
        streamed(open_files(tmp_path), runner=ClusterRunner(client, BUDGET), discretize="uniform")


def test_ctrl_c_leaves_no_tasks(client, file):
    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listening(interrupt):
        streamed(open_files(file), runner=ClusterRunner(client, BUDGET))
    until = time.monotonic() + PATIENCE  # the scheduler forgets a task that is running when it is told that it ended
    while left := client.run_on_scheduler(_own_tasks):
        assert time.monotonic() < until, left
        time.sleep(0.05)


def _own_tasks(dask_scheduler):
    return [str(key) for key in dask_scheduler.tasks if "certselect" in str(key)]


def test_finished_passes_are_not_gone_over_again(client, file, want, tmp_path):
    source = open_files(file)
    keep = tmp_path / "passes.npz"
    assert_same_terms(streamed(source, runner=ClusterRunner(client, BUDGET, SavedPasses(keep, source.identity))), want)
    told = []
    with listening(lambda *stage: told.append(stage)):
        again = streamed(source, runner=ClusterRunner(client, BUDGET, SavedPasses(keep, source.identity)))
    assert_same_terms(again, want)
    assert told == []
    assert_same_terms(streamed(source, runner=None), want)


def test_a_task_runs_on_one_thread(client):
    assert client.submit(thread_count, None).result() == 1


def test_no_client_is_refused():
    with pytest.raises(InvalidInput, match=r"distributed\.Client"):
        ClusterRunner("tcp://127.0.0.1:8786", BUDGET)


# Dask's own tables, computed on the workers


def noted_part(folder, number, n_rows=400):
    """A partition that leaves a note of where it was made."""
    (folder / f"{os.getpid()}").touch()
    return made_frame(n_rows, seed=number)


def test_partitions_never_come_to_this_process(client, tmp_path):
    parts = [made_frame(400, seed=number) for number in range(5)]
    X = dask.dataframe.from_map(partial(noted_part, tmp_path), range(5), meta=parts[0].iloc[:0])
    source, target = open_dask(X, "y")
    whole = pd.concat(parts, ignore_index=True)
    want = information_terms(whole.drop(columns="y"), whole["y"].to_numpy(), measure="plugin", correction="none")
    assert_same_terms(streamed(source, target, ClusterRunner(client, BUDGET)), want)
    made_in = {int(note.name) for note in tmp_path.iterdir()}
    assert made_in
    assert os.getpid() not in made_in


def test_a_frame_with_its_target_apart(client, frame, want):
    X = dask.dataframe.from_pandas(frame, npartitions=5)
    source, target = open_dask(X.drop(columns="y"), X["y"])
    assert_same_terms(streamed(source, target, ClusterRunner(client, BUDGET)), want)


def test_a_frame_that_is_kept_on_the_cluster(client, frame, want):
    source, target = open_dask(dask.dataframe.from_pandas(frame, npartitions=4).persist(), "y")
    assert_same_terms(streamed(source, target, ClusterRunner(client, BUDGET)), want)
    assert_same_terms(streamed(source, target), want)


def test_an_array(client):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (1000, 7)), rng.integers(0, 2, 1000)
    source, target = open_dask(dask.array.from_array(X, chunks=(300, 4)), dask.array.from_array(y, chunks=170))
    assert_same_terms(
        streamed(source, target, ClusterRunner(client, BUDGET)),
        information_terms(X, y, measure="plugin", correction="none"),
    )


def test_a_partition_of_another_type_is_named(client, frame):
    X = dask.dataframe.from_pandas(frame[["number", "few", "y"]], npartitions=3)
    wrong = X.map_partitions(half_a_text, meta=X._meta)
    source, target = open_dask(wrong, "y")
    with pytest.raises(InvalidInput, match=r"'few'.*partition 2.*int64"):
        streamed(source, target, ClusterRunner(client, BUDGET))


def half_a_text(part, partition_info=None):
    last = partition_info is not None and partition_info["number"] == 2
    return part.assign(few=part["few"].astype(str)) if last else part


def test_partitions_that_change_from_pass_to_pass_are_noticed(client, frame):
    plain = frame[["number", "few", "y"]]
    random = dask.dataframe.from_pandas(plain, npartitions=3).map_partitions(
        lambda part: part.assign(number=np.random.default_rng().standard_normal(len(part))), meta=plain.iloc[:0]
    )
    with pytest.raises(InvalidInput, match=r"other cells in column 'number'.*persist"):
        information_terms(random, "y", client=client, measure="plugin", correction="none")


def test_clients_that_cannot_work_are_refused(file):
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as cluster:
        with pytest.raises(InvalidInput, match=r"distributed\.Client"):
            ClusterRunner(cluster, BUDGET)
        with Client(cluster) as client, pytest.raises(InvalidInput, match="no workers"):
            ClusterRunner(client, BUDGET)
        with pytest.raises(InvalidInput, match="that is connected"):
            ClusterRunner(client, BUDGET)
