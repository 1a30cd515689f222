"""Results verified in another place: with less memory, and without what they were made by."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from certselect import Strategy, choose_subset, load_result, register_criterion, register_strategy, verify
from certselect.criteria import Criterion, SameWeight, known
from certselect.errors import InvalidInput
from certselect.results import verifying
from certselect.search import registry
from certselect.table import StreamedTable
from certselect.table.streams import in_blocks
from command_line import in_process
from results.made_results import numbers
from results.mutations import put

LITTLE, MUCH = "64MB", "4GB"


@pytest.fixture
def parquet(tmp_path):
    """A file that is read in blocks with little memory, with identifiers of both kinds and a column of words."""
    rng = np.random.default_rng(0)
    m = 20_000
    y = rng.integers(0, 2, m)
    columns = {f"n{i}": rng.normal(size=m) + y * i / 4 for i in range(4)}
    columns |= {"ticket": [f"t{i}" for i in rng.permutation(m)], "town": [f"town {i}" for i in rng.integers(0, 50, m)]}
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(columns | {"y": y}), path, row_group_size=2000)
    return path


@pytest.mark.filterwarnings("ignore::certselect.errors.ColumnsLeftOutWarning")
def test_the_verdict_does_not_depend_on_memory(parquet, tmp_path, monkeypatch):
    # No table is as large as the least memory that can be asked for, in a test.
    budget = lambda memory: 700_000 if memory == LITTLE else 2**32  # noqa: E731
    monkeypatch.setattr(in_blocks, "memory_budget", budget)
    for chosen_with, verified_with in ((LITTLE, MUCH), (MUCH, LITTLE)):
        choose_subset(parquet, "y", 2, measure="auto", memory=chosen_with, criterion="jmi").save(tmp_path / "r.json")
        result = load_result(tmp_path / "r.json")
        table = verifying._read(result, verifying.Given(parquet, memory=verified_with))
        assert isinstance(table, StreamedTable) == (verified_with == LITTLE)
        result = result.with_table(parquet, memory=verified_with)
    assert result.verify(parquet, memory=MUCH).reasons == ()
    done = in_process("verify", tmp_path / "r.json", parquet, "--memory", LITTLE)
    assert done.returncode == 0, done.stderr
    assert "'ticket' as an identifier" in done.stdout


def test_an_amount_of_memory_that_is_none_is_refused(parquet):
    X, y = numbers()
    with pytest.raises(InvalidInput, match="memory='much'"):
        choose_subset(X, y, 2, criterion="jmi", measure="plugin", correction="none").verify(X, y, memory="much")


@pytest.fixture
def registered():
    """A criterion and a strategy that are registered now and forgotten by `forget`."""
    register_criterion(Criterion("of_ours", "redundancy", SameWeight(0.5), "sum I(Xi;C) - 1/2 sum I(Xi;Xj)"))
    register_strategy(
        Strategy("in_turn", lambda problem, found, rng, /: found.indices.extend(range(problem.k)), "the first columns")
    )

    def forget():
        known._registry._registered.pop("of_ours", None)
        registry._registry._registered.pop("in_turn", None)

    yield forget
    forget()


@pytest.mark.parametrize(
    ("settings", "lacking"),
    [
        ({"criterion": "of_ours", "certify": True}, "criterion 'of_ours' is not installed"),
        ({"strategy": "in_turn"}, "strategy 'in_turn' is not installed"),
    ],
)
def test_what_is_not_installed_is_not_called_false(registered, tmp_path, settings, lacking):
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("abcdefg")).assign(y=y)
    frame.to_csv(tmp_path / "t.csv", index=False)
    saved = tmp_path / "r.json"
    choose_subset(tmp_path / "t.csv", "y", 3, **settings).save(saved)
    assert verify(saved, tmp_path / "t.csv").holds
    registered()
    outcome = verify(saved, tmp_path / "t.csv")
    assert (outcome.verdict, outcome.reasons, outcome.statement) == ("cannot be checked here", (lacking,), "")
    assert not outcome.holds
    with pytest.raises(verifying.NotInstalled, match=lacking):
        load_result(saved).with_table(tmp_path / "t.csv")
    done = in_process("verify", saved, tmp_path / "t.csv")
    assert done.returncode == 6
    assert done.stderr.strip() == f"cannot be checked here: {lacking}"
    # What is false is false all the same, where it can be seen.
    if "strategy" in settings:
        stored = json.loads(saved.read_text())
        assert verify(put(stored, ("selection", "objective"), 9.0), tmp_path / "t.csv").verdict == "false claim"


def test_a_measure_that_is_not_installed_is_named():
    X, y = numbers()
    stored = choose_subset(X, y, 2, criterion="jmi", measure="plugin", correction="none").to_dict()
    outcome = verify(put(stored, ("settings", "measuring", "measure"), "copulas"), X, y)
    assert (outcome.verdict, outcome.reasons) == ("cannot be checked here", ("measure 'copulas' is not installed",))
