"""A sample of the attack, the same in every run; `make attack` runs the whole."""

import numpy as np
import pytest

from attack import hostile
from attack.claims import Ledger, check_selection
from attack.mutations import SETTINGS, attack_bytes, attack_file
from attack.problems import KINDS, Question, question
from attack.ways import attack_problem
from certselect import SubsetProblem, select

EACH = 12  # problems of each kind
EVERY = 40  # of the mutations of a file, this many-th
# What costs a second or more is left to the whole attack.
SLOW_TABLES = ("a hundred thousand levels",)
SLOW_DESTINATIONS = ("a pipe", "a device")
OFTEN_REFUSED = ("not quite symmetric", "beyond all scales")


def assert_unbroken(ledger, *claims):
    assert ledger.violations == []
    assert all(ledger.checked[claim] for claim in claims), ledger.checked


@pytest.mark.parametrize("kind", sorted(set(KINDS)))
def test_claims_about_small_problems_are_true(kind):
    ledger = Ledger()
    for seed in range(EACH):
        attack_problem(question(kind, seed), ledger)
    assert_unbroken(ledger, *() if kind in OFTEN_REFUSED else ("bound", "proven", "value", "statement"))


@pytest.mark.parametrize("kind", SETTINGS)
def test_no_false_file_is_confirmed(kind):
    ledger = Ledger()
    attack_file(kind, ledger, (hash_free_start(kind), EVERY))
    attack_bytes(kind, ledger, 10)
    assert_unbroken(ledger, "true files", "mutated files", "spoilt files")


def hash_free_start(kind):
    """Other mutations for each kind of file, the same in every process."""
    return sum(kind.encode()) % EVERY


@pytest.mark.parametrize("name", sorted(set(hostile.TABLES) - set(SLOW_TABLES)))
def test_hostile_tables_end_in_words(name):
    ledger = Ledger()
    hostile.attack_table(name, ledger)
    assert_unbroken(ledger, "hostile inputs", "input unchanged", "no leftovers")


@pytest.mark.parametrize("name", sorted(set(hostile.DESTINATIONS) - set(SLOW_DESTINATIONS)))
def test_writing_destroys_nothing(name):
    ledger = Ledger()
    hostile.attack_destination(name, ledger)
    assert_unbroken(ledger, "hostile inputs", "input unchanged")


@pytest.mark.parametrize("name", hostile.ARRAYS)
def test_hostile_data_in_memory_end_in_words(name):
    ledger = Ledger()
    hostile.attack_array(name, ledger)
    assert_unbroken(ledger, "hostile inputs")


def test_hostile_results_end_in_words():
    ledger = Ledger()
    hostile.attack_verify(ledger)
    assert_unbroken(ledger, "hostile inputs", "verify by exit code", "verified words")


def test_the_attack_can_fail():
    """A false claim is seen: the answer to one problem held against the oracle of another."""
    Q = np.diag([1.0, 2.0, 3.0, 4.0])
    asked, other = Question("by hand", 0, 2, {}, matrix=Q), SubsetProblem.from_matrix(Q - 10.0 * np.eye(4), 2)
    ledger = Ledger()
    check_selection(select(other, "exhaustive"), asked.oracle, ledger, "another problem")
    assert {claim for claim, _ in ledger.violations} >= {"value", "bound", "proven"}


def test_looking_for_ties_comes_to_an_end_where_bounds_lie_between_the_best_value_and_its_ties():
    """Rounds were held to make progress towards the value, below which bounds had come already."""
    ledger = Ledger()
    attack_problem(question("hopeless features", 2870), ledger, ("exact by proof",))
    assert_unbroken(ledger, "bound", "proven")
