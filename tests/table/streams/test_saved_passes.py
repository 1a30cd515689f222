"""A run over a table in blocks that is killed, and goes on from what it has saved."""

import io
import json
import pickle
import subprocess
import sys
import zipfile
from contextlib import contextmanager
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from as_before import counted
from certselect import information_terms
from certselect.errors import InvalidInput
from certselect.table.streams import saved_passes
from certselect.table.streams.passes import InThisProcess
from streamed import always_in_blocks, assert_same_terms, csv_folder, parquet_folder, plain_table  # noqa: F401

pytestmark = [
    pytest.mark.usefixtures("always_in_blocks"),
    pytest.mark.filterwarnings("ignore::certselect.errors.ColumnsLeftOutWarning"),
]

TABLE = plain_table(240).drop(["id"])
# Tells whoever started it before and after everything it saves, and waits for a line until it goes on.
CHILD = """
import sys, warnings
from certselect import information_terms
from certselect.table.streams import file_rows, saved_passes
warnings.simplefilter("ignore")
file_rows.FileRows.n_bytes = 1 << 62
saved_passes.EVERY = saved_passes._TIMES_ITS_OWN = 0.0
save = saved_passes.SavedPasses.save
def told(self, position, learnt):
    for when in ("before", "after"):
        print(when, position.rows, flush=True)
        sys.stdin.readline()
        if when == "before":
            save(self, position, learnt)
saved_passes.SavedPasses.save = told
terms = information_terms(sys.argv[1], "y", memory="64MB", resume=sys.argv[2], measure="plugin", correction="none")
print("done", terms.n_samples, terms.redundancy.tobytes().hex(), flush=True)
"""


@pytest.fixture
def saved_often(monkeypatch):
    monkeypatch.setattr(saved_passes, "EVERY", 0.0)
    monkeypatch.setattr(saved_passes, "_TIMES_ITS_OWN", 0.0)


@pytest.fixture
def folder(tmp_path):
    return parquet_folder(TABLE, tmp_path / "data")


@pytest.fixture
def resume(tmp_path):
    return tmp_path / "resume.npz"


def measured(folder, resume, target="y", memory="64MB", **settings):
    return information_terms(folder, target, memory=memory, resume=resume, **counted(settings))


def killed_after(folder, resume, steps):
    """A process that is killed when it has told something so many times; what it has told."""
    command = [sys.executable, "-c", CHILD, str(folder), str(resume)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        told = []
        for line in child.stdout:
            told.append(line.split())
            if told[-1][0] == "done" or len(told) == steps:
                break
            child.stdin.write("\n")
            child.stdin.flush()
        child.kill()
    return told


@pytest.mark.slow
def test_killed_five_times_with_the_result_of_an_undisturbed_run(folder, resume):
    wanted = information_terms(TABLE, "y", measure="plugin", correction="none")
    undisturbed = killed_after(folder, resume.with_name("other.npz"), 1000)
    each = len(undisturbed) // 6  # of what it tells; in the middle of saving, and between two savings
    assert each >= 2
    for steps in (each, each + 1, each, each + 1, each - 1):
        told = killed_after(folder, resume, steps)
        assert told[-1][0] != "done", "killed too late"
    *told, (_, rows, terms) = killed_after(folder, resume, 1000)
    assert int(rows) == 240
    assert bytes.fromhex(terms) == wanted.redundancy.tobytes()
    assert undisturbed[-1][1:] == [rows, terms]
    assert len(told) < len(undisturbed) / 2, "it went on from where it was"


class Stopped(Exception):
    pass


@contextmanager
def stopping(after=10**6):
    """Passes stop after so many blocks in all; a list of the rows of those that were taken."""
    run, taken = InThisProcess.run, []

    def noting(self, source, learnt, stage):
        take = learnt.take

        def once(block, where):
            if len(taken) == after:
                raise Stopped
            take(block, where)
            taken.append(block.num_rows)

        learnt.take = once
        return run(self, source, learnt, stage)

    with mock.patch.object(InThisProcess, "run", noting):
        yield taken


@pytest.mark.usefixtures("saved_often")
@pytest.mark.parametrize("kind", [parquet_folder, csv_folder])
@pytest.mark.parametrize(
    "asked",
    [{}, {"weight": "w"}, {"weight": "w", "discretize": "mean_std"}, {"discretize": "mdlp"}, {"correction": "chance"}],
)
def test_stopped_at_every_block(kind, asked, tmp_path, resume):
    table = plain_table(100)
    if "weight" in asked:
        table = table.append_column("w", pa.array(np.arange(100) % 7 / 3))
    folder = kind(table, tmp_path / "rows")
    wanted = information_terms(table, "y", **counted(asked))
    with stopping() as undisturbed:
        assert_same_terms(measured(folder, resume, **asked), wanted)
    assert len(undisturbed) > 5
    for n in range(len(undisturbed)):
        resume.unlink()
        with stopping(after=n) as before, pytest.raises(Stopped):
            measured(folder, resume, **asked)
        with stopping() as after:
            assert_same_terms(measured(folder, resume, **asked), wanted)
        assert before + after == undisturbed, "every block is taken once"


@pytest.mark.usefixtures("saved_often")
def test_what_was_saved_is_used_for_the_same_question_only(folder, resume):
    table = TABLE
    measured(folder, resume)
    for asked in ({"bins": 4}, {"discretize": "uniform"}, {"correction": "shrinkage"}, {}):
        assert_same_terms(measured(folder, resume, **asked), information_terms(table, "y", **counted(asked)))
    for target in ("few", "numbers", "y"):
        assert_same_terms(
            measured(folder, resume, target), information_terms(table, target, measure="plugin", correction="none")
        )
    assert_same_terms(
        measured(folder, resume, memory="2GB"), information_terms(table, "y", measure="plugin", correction="none")
    )


@pytest.mark.usefixtures("saved_often")
def test_blocks_of_another_budget_are_not_taken_for_these(tmp_path, resume, monkeypatch):
    table = plain_table(3000)
    (tmp_path / "data").mkdir()
    pyarrow.parquet.write_table(table, tmp_path / "data" / "one.parquet")
    monkeypatch.setattr("certselect.table.streams.passes._FEWEST_ROWS", 7)
    monkeypatch.setattr("certselect.table.streams.passes._BYTES_PER_CELL", 30_000)
    with stopping(after=3), pytest.raises(Stopped):
        measured(tmp_path / "data", resume)
    assert_same_terms(
        measured(tmp_path / "data", resume, memory="100MB"),
        information_terms(table, "y", measure="plugin", correction="none"),
    )


@pytest.mark.usefixtures("saved_often")
def test_other_data_are_refused(folder, resume, tmp_path):
    measured(folder, resume)
    other = parquet_folder(plain_table(240), tmp_path / "other")
    with pytest.raises(InvalidInput, match="saved by a run over other data"):
        measured(other, resume)
    pyarrow.parquet.write_table(plain_table(80, seed=9).drop(["id"]), folder / "part-1.parquet")
    with pytest.raises(InvalidInput, match="saved by a run over other data"):
        measured(folder, resume)


def test_rows_without_a_name_cannot_be_resumed(resume):
    table = plain_table(60)
    for rows in (lambda: table.to_batches(), pyarrow.dataset.dataset(table)):
        with pytest.raises(InvalidInput, match="cannot be told from others"):
            measured(rows, resume)
    assert not resume.exists()


def forged(content, **changed):
    """The file with other arrays; None leaves one out."""
    with np.load(io.BytesIO(content)) as stored:
        arrays = {**{name: stored[name] for name in stored.files}, **changed}
    sink = io.BytesIO()
    np.savez(sink, **{name: array for name, array in arrays.items() if array is not None})
    return sink.getvalue()


def counts_in(content):
    with np.load(io.BytesIO(content)) as stored:
        return next(name for name in stored.files if name.endswith("/counts"))


def about(content, change):
    with np.load(io.BytesIO(content)) as stored:
        said = json.loads(bytes(stored["about"]))
    change(said)
    return forged(content, about=np.frombuffer(json.dumps(said).encode(), dtype=np.uint8))


def at(position):
    def change(said):
        said["passes"][-1]["position"] = position

    return lambda content: about(content, change)


class Planted:
    def __reduce__(self):
        return (print, ("unpickled",))


def pickled(content):
    sink = io.BytesIO()
    np.savez(sink, about=np.array([Planted()], dtype=object))
    return sink.getvalue()


def other_member(content):
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("about.npy", b"no array")
    return sink.getvalue()


FORGED = {
    "cut": lambda content: content[: len(content) // 2],
    "cut at its end": lambda content: content[:-7],
    "garbage": lambda content: b"\x00\x01garbage" * 40,
    "a flipped bit": lambda content: bytes([*content[:2000], content[2000] ^ 4, *content[2001:]]),
    "a pickle": lambda content: pickle.dumps({"a": 1}),
    "a pickle inside": pickled,
    "no array": other_member,
    "text": lambda content: b"a,b\n1,2\n",
    "no facts": lambda content: forged(content, **{"0/0/facts": None}),
    "facts of nothing": lambda content: forged(content, **{"0/0/facts": np.frombuffer(b"[]", dtype=np.uint8)}),
    "rows that are none": lambda content: forged(content, **{"0/1/rows": np.zeros(9, dtype=np.uint8)}),
    "counts of another shape": lambda content: forged(content, **{counts_in(content): np.zeros(3, dtype=np.int64)}),
    "another format": lambda content: about(content, lambda said: said.update(format="of others")),
    "no passes": lambda content: about(content, lambda said: said.pop("passes")),
    "passes of a kind": lambda content: about(content, lambda said: said.update(passes={"key": 1})),
    "a place before the first": at([-3, 0, 5, False]),
    "a place behind the last": at([10**6, 0, 5, False]),
    "an end that is none": at([1, 0, 5, True]),
    "more rows than there are": at([1, 0, 10**9, False]),
    "a place in words": at(["one", 0, 5, False]),
    "half a place": at([1]),
}


@pytest.mark.usefixtures("saved_often")
@pytest.mark.parametrize("how", FORGED)
def test_files_that_are_no_saved_run(how, folder, resume, capsys):
    wanted = measured(folder, resume)
    content = resume.read_bytes()
    with np.load(resume) as stored:
        assert {"0/0/facts", "0/1/rows"} <= set(stored.files), "what is forged here is there"
    resume.write_bytes(FORGED[how](content))
    with pytest.raises(InvalidInput) as refused:
        measured(folder, resume)
    said = str(refused.value)
    assert "resume.npz', which cannot be read as a saved run" in said
    assert len(said) < 500
    assert "unpickled" not in capsys.readouterr().out
    resume.write_bytes(content)
    assert_same_terms(measured(folder, resume), wanted)


def test_an_empty_file_is_filled(folder, resume):
    resume.touch()
    measured(folder, resume)
    assert resume.stat().st_size > 1000


def test_levels_of_any_integer_are_saved(tmp_path, resume):
    rng = np.random.default_rng(0)
    large = rng.integers(0, 3, 240).astype(np.uint64) + np.uint64(2**64 - 5)
    folder = parquet_folder(TABLE.append_column("large", [large]), tmp_path / "large")
    want = information_terms(folder, "y", memory="64MB", measure="plugin", correction="none")
    assert_same_terms(measured(folder, resume), want)
    assert_same_terms(measured(folder, resume), want)


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda counts: counts[:1],
        lambda counts: -counts,
        lambda counts: counts.astype(float) * np.nan,
        lambda counts: counts * 0,
        lambda counts: counts[:, :, :-1],
    ],
    ids=["fewer", "negative", "nan", "nothing", "narrow"],
)
def test_spoilt_counts_are_the_files_fault(folder, resume, spoilt):
    measured(folder, resume)
    with np.load(resume) as stored:
        arrays = {name: stored[name] for name in stored.files}
    name = [name for name in arrays if name.endswith("/counts")][-1]
    with open(resume, "wb") as file:
        np.savez(file, **{**arrays, name: spoilt(arrays[name])})
    with pytest.raises(InvalidInput, match="cannot be read as a saved run"):
        measured(folder, resume)


@pytest.mark.parametrize("change", [{"rows": "x"}, {"low": None}, {"missing": -1}, {"whole": 1}, {"kind": "words"}])
def test_spoilt_facts_are_the_files_fault(folder, resume, change):
    measured(folder, resume)
    with np.load(resume) as stored:
        arrays = {name: stored[name] for name in stored.files}
    name = next(name for name in arrays if name.endswith("/facts"))
    facts = json.loads(bytes(arrays[name]))
    facts[0].update(change)
    said = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    with open(resume, "wb") as file:
        np.savez(file, **{**arrays, name: said})
    with pytest.raises(InvalidInput, match="cannot be read as a saved run"):
        measured(folder, resume)


def test_where_a_run_cannot_be_saved(folder):
    part = next(folder.glob("*.parquet"))
    before = part.read_bytes()
    with pytest.raises(InvalidInput, match="a file of this command"):
        measured(folder, part)
    assert part.read_bytes() == before
    with pytest.raises(InvalidInput, match="all of whose files are read"):
        measured(folder, folder / "resume.npz")
    with pytest.raises(InvalidInput, match="the path of a file"):
        measured(folder, 5)
    measured(folder, folder / "_resume.npz")
    measured(folder, folder / "_resume.npz")
