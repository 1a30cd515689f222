"""The judge of the benchmarks judges rightly: contestants, the reference, who differs, seconds and memory."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from certselect import information_terms, select, subset_problem

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module", autouse=True)
def benchmarks():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield
    sys.path.remove(str(ROOT / "benchmarks"))


def coded_table(*sizes, seed=0):
    from contestants.problems import coded_table

    return coded_table(*sizes, seed)


def relevance_order(question):
    """A contestant that knows nothing of redundancy."""
    from contestants.reference import Reference

    return np.argsort(-Reference(question.X, question.y, "mrmr").relevance, kind="stable")


# Contestants


def test_every_contestant_that_is_installed_puts_columns_in_an_order():
    from contestants.clock import OwnClock
    from contestants.selectors import ADAPTERS, Question

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = rng.integers(0, 3, (80, 6))
    X[:, 4] = np.where(rng.random(80) < 0.9, y, X[:, 4])
    here = [one for one in ADAPTERS.values() if one.why_missing() is None and one.name != "Boruta"]
    assert len(here) >= 6
    for adapter in here:
        answer = adapter(Question(X, y, (2,), codes=True))
        order = [int(place) for place in (answer.answer if isinstance(answer, OwnClock) else answer)]
        assert len(set(order)) == len(order), adapter.name
        assert set(order) <= set(range(6)), adapter.name
        assert 4 in order[:2] if adapter.in_order else 4 in order, adapter.name
        if adapter.criteria:
            assert order[0] == 4, adapter.name


def test_one_that_is_not_installed_is_left_out_with_a_message(monkeypatch):
    from contestants import choosers, selectors
    from contestants.tables import Shape

    absent = selectors.of_package("somebody", relevance_order, "anything", "no_such_module", criteria=("mrmr",))
    monkeypatch.setitem(selectors.ADAPTERS, "somebody", absent)
    monkeypatch.setattr(choosers, "TAKE_PART", ("NumPy greedy", "somebody"))
    match = choosers.forward(Shape(40, 6, 3, 2), 2, "mrmr")
    assert match.missing == {"somebody": "not installed (pip install somebody)"}
    assert list(match.runs) == ["certselect", "NumPy greedy"]


def test_slow_ones_are_left_to_the_long_set(monkeypatch):
    from contestants import choosers, selectors
    from contestants.tables import Shape

    slow = selectors.Adapter("somebody", relevance_order, "anything", ("mrmr",), quick_columns=5)
    monkeypatch.setitem(selectors.ADAPTERS, "somebody", slow)
    monkeypatch.setattr(choosers, "TAKE_PART", ("somebody",))
    assert "bench-all" in choosers.forward(Shape(40, 6, 3, 2), 2, "mrmr").missing["somebody"]
    assert "somebody" in choosers.forward(Shape(40, 6, 3, 2), 2, "mrmr", patient=True).runs


STAND_IN = """\
#!{python}
import sys
import numpy as np
if sys.argv[1] == "-e":
    sys.exit(print("{here}"))
script, folder, rows, columns, k, criterion, threads = sys.argv[1:]
assert criterion == "jmi" and threads == "2" and "readBin" in open(script).read()
rows, columns = int(rows), int(columns)
codes = np.fromfile(folder + "/codes.bin", "<i4")
X, y = codes[: rows * columns].reshape(columns, rows), codes[rows * columns :]
same = [(column == y).sum() for column in X]
print("seconds", 0.25)
print("chosen", *(np.argsort(same)[::-1][: int(k)] + 1))
"""


@pytest.fixture
def rscript(tmp_path, monkeypatch):
    """Puts a program that follows the protocol in the place of R."""
    from contestants.praznik import why_no_praznik

    def install(here):
        program = tmp_path / "Rscript"
        program.write_text(STAND_IN.format(python=sys.executable, here=here))
        program.chmod(0o755)
        why_no_praznik.cache_clear()
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    yield install
    why_no_praznik.cache_clear()


def test_praznik_is_asked_through_a_file_and_brings_its_own_seconds(rscript):
    from contestants.judge import taking_turns
    from contestants.praznik import praznik_order, why_no_praznik

    rscript("TRUE")
    assert why_no_praznik() is None
    y = np.array([0, 1, 1, 0, 1])
    X = np.column_stack([1 - y, y, [0, 1, 1, 0, 0]])
    answers, seconds, _ = taking_turns(
        {"praznik": lambda: praznik_order(X, y, 2, "jmi", 2)}, turns=1, patience=1.0, pause=0.0
    )
    assert answers == {"praznik": [1, 2]}
    assert seconds["praznik"].median == 0.25


def test_r_without_praznik_is_said_to_be(rscript, monkeypatch):
    from contestants.praznik import why_no_praznik

    rscript("FALSE")
    assert "install.packages('praznik')" in why_no_praznik()
    why_no_praznik.cache_clear()
    monkeypatch.setenv("PATH", "")
    assert "no Rscript" in why_no_praznik()


@pytest.mark.parametrize("criterion", ["mrmr", "jmi"])
def test_counting_in_numpy_agrees_with_the_reference(criterion):
    from contestants.one_hot import gemm_pairs, numpy_greedy
    from contestants.reference import Reference

    X, y = coded_table(120, 15, 4, 3)
    reference = Reference(X, y, criterion)
    assert reference.agreement(numpy_greedy(X, y, 4, 8, criterion), 8).whole
    redundancy, conditional = gemm_pairs(X, y, 4)
    penalty = redundancy if criterion == "mrmr" else redundancy - conditional
    np.testing.assert_allclose(np.delete(penalty[3], 3), np.delete(reference.penalties(3), 3), atol=1e-12)


def test_a_whole_match_on_each_job_that_needs_no_other_package():
    from contestants import choosers, measures, solvers
    from contestants.match import OURS
    from contestants.tables import Shape

    forward = choosers.forward(Shape(80, 12, 3, 2), 4, "jmi", only_same=True)
    found = forward.facts(OURS, forward.runs[OURS]())
    assert (found["right"], found["shared"], found["asked"]) == (4, 4, 4)
    assert found["gap"] < 0.5
    pairs = choosers.pairs(Shape(80, 12, 3, 2))
    assert all(pairs.facts(name, run())["apart"] < 1e-12 for name, run in pairs.runs.items())
    exact = solvers.exact(12, 4)
    values = [exact.facts(name, run())["value"] for name, run in exact.runs.items()]
    assert values[0] == pytest.approx(values[1], rel=1e-8)
    numbers = measures.relevance(150, 3, classes=True, measure="neighbors")
    apart = [numbers.facts(name, run()).get("apart") for name, run in numbers.runs.items()]
    assert apart[0] is None
    assert apart[1] < 0.02


# The reference


@pytest.mark.parametrize("criterion", ["mrmr", "jmi"])
def test_the_reference_is_the_criterion(criterion):
    from contestants.reference import Reference

    X, y = coded_table(90, 12, 3, 3, seed=5)
    problem = subset_problem(
        information_terms(X, y, integers="levels", measure="plugin", correction="none"), 5, criterion, copies="all"
    )
    chosen = select(problem, "forward")
    reference = Reference(X, y, criterion)
    assert reference.greedy(5) == chosen.indices.tolist()
    assert reference.value(chosen.indices) == pytest.approx(chosen.objective, abs=1e-12)


def test_ties_are_free_and_mistakes_are_not():
    from contestants.reference import Agreement, Reference

    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    good, poor = np.array([0, 0, 0, 1, 1, 1, 1, 1]), np.array([0, 1, 0, 1, 0, 1, 0, 1])
    reference = Reference(np.column_stack([good, good, poor]), y, "mrmr")
    by_hand = (3 * np.log(2) + np.log(0.4) + 4 * np.log(1.6)) / 8
    assert reference.relevance == pytest.approx([by_hand, by_hand, 0.0], abs=1e-15)
    assert reference.agreement([0, 2], 2) == Agreement(2, 2, 2)
    assert reference.agreement([1, 2], 2) == Agreement(2, 2, 1)
    assert reference.agreement([2, 0], 2) == Agreement(2, 0, 2)
    assert reference.agreement([0, 1], 2) == Agreement(2, 1, 1)
    assert reference.agreement([0], 2).right == 1
    assert reference.agreement([2, 0], 2, in_order=False).whole
    assert not reference.agreement([0, 1], 2, in_order=False).whole


# Who differs


def test_the_smallest_table_still_shows_the_difference():
    from contestants.differences import differs, first_difference
    from contestants.selectors import Adapter
    from contestants.shrink import Example

    blind = Adapter("blind", relevance_order, "relevance alone")
    found = first_difference(blind, "mrmr")
    assert found is not None
    X, y = np.array(found["X"]), np.array(found["y"])
    assert found["k"] == 2
    assert X.size <= 24
    assert differs(blind, Example(X, y, 2), "mrmr")
    assert found["chosen"] != found["right"]


def test_nobody_differs_who_is_right_or_fails():
    from contestants.differences import first_difference
    from contestants.reference import Reference
    from contestants.selectors import Adapter

    def failing(question):
        raise ValueError("no")

    right = Adapter("right", lambda question: Reference(question.X, question.y, "mrmr").greedy(question.most), "mRMR")
    assert first_difference(right, "mrmr") is None
    assert first_difference(Adapter("failing", failing, "nothing"), "mrmr") is None


def test_shrinking_keeps_tables_proper_and_ends():
    from contestants.shrink import Example, smallest

    X, y = coded_table(40, 10, 3, 2)
    seen = []

    def differs(one):
        seen.append(one.is_proper)
        return one.X.shape[0] >= 7 and one.X.shape[1] >= 3

    found = smallest(Example(X, y, 4), differs)
    assert (found.X.shape, found.k) == ((7, 3), 1)
    assert [len(np.unique(column)) for column in found.X.T] == [2, 2, 2]
    assert all(seen)
    assert smallest(Example(X, y, 4), differs, most_trials=1).X.shape[0] > 7


# Seconds and memory


def test_contestants_take_turns_and_a_failure_is_a_result():
    from contestants.judge import taking_turns

    calls = []

    def failing():
        raise RuntimeError("no memory\nand more")

    runs = {"a": lambda: calls.append("a") or 1, "b": lambda: calls.append("b") or 2, "c": failing}
    answers, seconds, failures = taking_turns(runs, turns=2, patience=10.0, pause=0.0)
    assert calls == ["a", "b", "a", "b", "a", "b"]
    assert answers == {"a": 1, "b": 2}
    assert failures == {"c": "RuntimeError: no memory"}
    assert seconds["a"].runs == 2
    assert seconds["a"].fastest <= seconds["a"].median <= seconds["a"].slowest


def test_whoever_is_slow_sits_out():
    from contestants.clock import OwnClock
    from contestants.judge import taking_turns

    runs = {"slow": lambda: OwnClock(1, 3.0), "endless": lambda: OwnClock(1, 300.0), "quick": lambda: OwnClock(1, 0.5)}
    _, seconds, _ = taking_turns(runs, turns=5, patience=2.0, pause=0.0)
    assert {name: found.runs for name, found in seconds.items()} == {"slow": 1, "endless": 1, "quick": 5}


def test_a_new_process_tells_its_own_memory():
    from contestants.judge import in_a_new_process, peak_megabytes

    held = np.ones(30_000_000)  # 240 MB, which the new process has not
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'benchmarks')!r}); import json\n"
    code += "from contestants.judge import cold; print('loading'); print(json.dumps(cold(lambda: bytearray(50 << 20))))"
    told = in_a_new_process(["-c", code], 60.0)
    assert told is not None
    assert peak_megabytes() > held.nbytes / 2**20
    assert told["before"] < 120
    assert 45 < told["memory"] - told["before"] < 60
    assert told["seconds"] > 0
    assert in_a_new_process(["-c", "raise SystemExit(1)"], 60.0) is None
    assert in_a_new_process(["-c", "import time; time.sleep(60)"], 0.2) is None


def test_a_cold_start_has_loaded_no_contestant():
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'benchmarks')!r})\nimport bench\n"
    code += (
        "from contestants.tables import SMALL; SMALL.codes()\nprint(*sorted({m.split('.')[0] for m in sys.modules}))"
    )
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert "numpy" in told
    assert not {"certselect", "scipy", "sklearn", "numba", "pandas", "polars", "matplotlib", "mrmr"} & set(told)


def test_codes_of_a_table():
    from contestants.tables import coded

    X = np.column_stack([[7.0, 7, 9, 9, 7, 9], [0.0, 1, 2, 3, 4, 10], [1, np.nan, 2, 1, 1, 1], np.full(6, 3.0)])
    assert coded(X).T.tolist() == [[0, 0, 1, 1, 0, 1], [0, 0, 1, 1, 2, 3], [0, 2, 1, 0, 0, 0], [0, 0, 1, 1, 0, 1]]


def test_the_load_is_that_of_now(monkeypatch):
    from contestants import results

    monkeypatch.setattr(results, "LOOK_FOR", 0.05)
    told = iter([10.0, 10.1])
    monkeypatch.setattr(results, "_busy_seconds", lambda: next(told))
    assert 0.0 < results.load() <= 2.0
    monkeypatch.setattr(results, "_busy_seconds", lambda: None)
    assert results.load() is None
    monkeypatch.undo()
    assert results._busy_seconds() is None or results._busy_seconds() > 0.0
