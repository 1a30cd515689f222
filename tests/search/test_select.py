"""select: what a Selection says, which calls are refused, and what Ctrl-C leaves."""

import sys

import numpy as np
import pytest

from certselect.errors import IdleSettingWarning, InvalidInput, QuickerSearchWarning
from certselect.progress import listening
from certselect.search import Selection, list_strategies, select
from certselect.search.strategies import backward as backward_file
from certselect.search.strategies import exhaustive as exhaustive_file

STRATEGIES = list(list_strategies())


def symmetric_problem(make_problem, seed=0, n=10, k=4, criterion="jmi", **options):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) - 0.3, 1)
    return make_problem(rng.random(n), upper + upper.T, criterion, k, **options)


def interrupt_at(call):
    """A progress listener that presses Ctrl-C at a certain report."""
    reports = []

    def listener(stage, done, total):
        reports.append(stage)
        if len(reports) == call:
            raise KeyboardInterrupt

    return listener


def assert_interrupted_subset(selection, problem):
    assert selection.status == "interrupted"
    chosen = selection.indices.tolist()
    assert len(set(chosen)) == problem.k == len(chosen)
    assert set(chosen) <= set(problem.candidates.tolist())
    assert selection.objective == problem.value(chosen)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_selection_says_what_was_done(make_problem, strategy):
    problem = symmetric_problem(make_problem, candidates=[0, 1, 3, 4, 6, 7, 9])
    selection = select(problem, strategy, random_state=0)
    assert isinstance(selection, Selection)
    assert selection.strategy == strategy
    assert selection.criterion == "jmi"
    assert selection.k == 4
    assert selection.names == tuple(f"X{i + 1}" for i in selection.indices)
    assert selection.dropped == ("X3", "X6", "X9")
    assert selection.objective == problem.value(selection.indices)
    assert selection.indices.dtype == np.intp
    assert set(selection.seconds) == ({"search", "certificate"} if strategy == "cobra" else {"search"})
    assert selection.seconds["search"] >= 0
    if selection.status == "proven optimal" or strategy == "cobra":
        assert selection.upper_bound >= selection.objective
    else:
        assert np.isnan(selection.upper_bound)
        assert np.isnan(selection.gap)


def test_auto_is_the_default_and_cobra_with_polish_on_small_problems(make_problem):
    problem = symmetric_problem(make_problem)
    selection = select(problem, random_state=0)
    assert selection.strategy == "cobra"
    assert {"polish", "certificate"} <= set(selection.seconds)
    for same in (select(problem, "Auto", random_state=0), select(problem, "cobra", random_state=0, polish=True)):
        assert selection.indices.tolist() == same.indices.tolist()
        assert selection.scores == same.scores
    assert select(problem, random_state=0, draws=7).drawn_size != selection.drawn_size  # cobra's options are auto's


def test_auto_is_forward_with_polish_beyond_and_says_so(make_problem, monkeypatch):
    monkeypatch.setattr(sys.modules["certselect.search.select"], "MOST_FOR_COBRA", 9)
    problem = symmetric_problem(make_problem)
    with pytest.warns(QuickerSearchWarning, match=r"10 features are too many .* up to 9: used forward") as caught:
        selection = select(problem)
    assert caught[0].filename == __file__
    asked = select(problem, "forward", polish=True)
    assert (selection.strategy, selection.indices.tolist()) == ("forward", asked.indices.tolist())
    assert select(symmetric_problem(make_problem, candidates=range(9)), random_state=0).strategy == "cobra"
    idle = pytest.warns(IdleSettingWarning, match="draws=5 has no effect: strategy='auto' uses forward")
    with idle, pytest.warns(QuickerSearchWarning):
        assert select(problem, draws=5).strategy == "forward"
    with pytest.raises(InvalidInput, match="drows=5 with strategy='cobra'"):
        select(problem, drows=5)


def test_unknown_strategy(make_problem):
    with pytest.raises(InvalidInput) as error:
        select(symmetric_problem(make_problem), "foward")
    assert str(error.value) == (
        "Got strategy='foward'; expected one of annealing, backward, cobra, exact, exhaustive, floating, "
        "forward, genetic, qpfs, relevance, soss, auto. Did you mean 'forward'?"
    )


def test_unknown_option_names_those_there_are(make_problem):
    problem = symmetric_problem(make_problem)
    with pytest.raises(InvalidInput) as error:
        select(problem, "annealing", step=5)
    assert str(error.value) == (
        "Got step=5 with strategy='annealing'; expected only the options steps, temperature. Did you mean 'steps'?"
    )
    with pytest.raises(InvalidInput) as error:
        select(problem, "forward", steps=5)
    assert str(error.value) == (
        "Got steps=5 with strategy='forward'; expected no options: this strategy has none. Leave it out."
    )
    with pytest.raises(InvalidInput) as error:
        select(problem, "annealing", Steps=5)
    assert str(error.value).endswith("expected only the options steps, temperature. Write it in lower case.")
    with pytest.raises(InvalidInput, match=r"heat=1 with strategy='annealing'.*Check the spelling"):
        select(problem, "annealing", strategy_options={"heat": 1})


@pytest.mark.parametrize("wrong", [-1, 1.5, "seed", True, [1]])
def test_random_state_is_checked(make_problem, wrong):
    with pytest.raises(InvalidInput) as error:
        select(symmetric_problem(make_problem), "genetic", random_state=wrong)
    assert str(error.value) == (
        f"Got random_state={wrong!r}; expected None, a whole number (0 or more), a numpy Generator or a RandomState. "
        "Use an int for an answer that can be repeated."
    )


@pytest.mark.parametrize("wrong", [1, None, "tightest", "yes", 0.5])
def test_certify_is_checked(make_problem, wrong):
    with pytest.raises(InvalidInput) as error:
        select(symmetric_problem(make_problem), certify=wrong)
    assert str(error.value) == (
        f"Got certify={wrong!r}; expected False, True or 'tight'. Pass 'tight' for a smaller bound."
    )


@pytest.mark.parametrize("wrong", [1, 0, "no", "best", None, []])
@pytest.mark.parametrize(("strategy", "option"), [("cobra", "repair"), ("exact", "ties")])
def test_options_that_are_flags_take_nothing_else(make_problem, strategy, option, wrong):
    with pytest.raises(InvalidInput, match=f"{option}=.*; expected True or False"):
        select(symmetric_problem(make_problem), strategy, **{option: wrong})


@pytest.mark.parametrize("at", [1, 2, 3])
def test_interrupted_forward_keeps_its_choices_and_adds_the_most_relevant(make_problem, at):
    problem = symmetric_problem(make_problem, interrupt_at=at)
    whole = select(symmetric_problem(make_problem), "forward")
    selection = select(problem, "forward")
    assert_interrupted_subset(selection, problem)
    chosen = selection.indices.tolist()
    assert chosen[:at] == whole.indices[:at].tolist()
    assert selection.scores == whole.scores[:at]
    others = sorted(set(range(10)) - set(chosen[:at]), key=lambda i: -problem.linear[i])
    assert chosen[at:] == others[: 4 - at]


def test_filling_up_takes_the_lowest_index_of_equals(make_problem):
    problem = make_problem([0.5, 0.1, 0.3, 0.3, 0.3, 0.0], np.zeros((6, 6)), "jmi", 3, interrupt_at=1)
    assert select(problem, "forward").indices.tolist() == [0, 2, 3]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_interrupt_at_the_first_pair_term(make_problem, strategy):
    problem = symmetric_problem(make_problem, candidates=[1, 2, 3, 5, 7, 8], interrupt_at=1)
    assert_interrupted_subset(select(problem, strategy, random_state=0, polish=True), problem)


@pytest.mark.parametrize("strategy", ["backward", "floating", "exhaustive", "annealing", "genetic"])
@pytest.mark.parametrize("at", [1, 2, 4])
def test_interrupt_on_the_way(make_problem, strategy, at, monkeypatch):
    monkeypatch.setattr(backward_file, "REPORT_EVERY", 1)
    monkeypatch.setattr(exhaustive_file, "SUBSETS_AT_ONCE", 10)
    problem = symmetric_problem(make_problem, n=12, k=4)
    with listening(interrupt_at(at)):
        selection = select(problem, strategy, random_state=0)
    assert_interrupted_subset(selection, problem)


def test_interrupted_backward_keeps_the_most_relevant_of_what_is_left(make_problem, monkeypatch):
    monkeypatch.setattr(backward_file, "REPORT_EVERY", 1)
    with listening(interrupt_at(3)):
        selection = select(symmetric_problem(make_problem), "backward")
    left = select(symmetric_problem(make_problem, k=7), "backward")
    linear = symmetric_problem(make_problem).linear
    assert selection.indices.tolist() == sorted(sorted(left.indices, key=lambda i: -linear[i])[:4])
    assert selection.scores == left.scores


def test_interrupted_floating_after_a_whole_subset_keeps_it(make_problem):
    """Interrupted on its last report, when it had k features: what it had is the answer."""
    problem = symmetric_problem(make_problem)
    reports = []
    with listening(lambda *progress: reports.append(progress)):
        whole = select(problem, "floating")
    with listening(interrupt_at(len(reports))):
        stopped = select(problem, "floating")
    assert stopped.status == "interrupted"
    assert stopped.indices.tolist() == whole.indices.tolist()


def test_interrupted_polish_keeps_the_swaps_made(make_problem):
    def problem(interrupt_at=None):
        rng = np.random.default_rng(0)
        upper = np.triu(rng.normal(size=(20, 20)), 1)
        return make_problem(rng.random(20), upper + upper.T, "d1", 4, interrupt_at=interrupt_at)

    start, end = select(problem(), "relevance"), select(problem(), "relevance", polish=True)
    assert len(end.scores) >= 4 + 2  # two swaps or more, else there is nothing to interrupt
    # The search asks for 3 rows, as many as it takes to value 4 features; the polish for its 4 members', to value them,
    # to value them with the first newcomer, and for its own. Then the second newcomer fails.
    stopped = problem(interrupt_at=3 + 4 + 3 + 3 + 1 + 1)
    selection = select(stopped, "relevance", polish=True)
    assert_interrupted_subset(selection, stopped)
    assert (selection.indices != start.indices).sum() == 1
    assert selection.scores == end.scores[:5]
    assert start.objective < selection.objective < end.objective


def test_an_interrupted_search_is_not_polished(make_problem):
    selection = select(symmetric_problem(make_problem, interrupt_at=2), "forward", polish=True)
    assert selection.status == "interrupted"
    assert set(selection.seconds) == {"search"}


def test_a_strategy_that_is_interrupted_before_it_found_anything(make_problem, add_strategy):
    def asleep(problem, found, rng, /):
        raise KeyboardInterrupt

    add_strategy("asleep", asleep)
    problem = symmetric_problem(make_problem)
    selection = select(problem, "asleep")
    assert_interrupted_subset(selection, problem)
    assert selection.indices.tolist() == select(problem, "relevance").indices.tolist()
    assert selection.scores == ()


def test_other_errors_pass_through(make_problem, add_strategy):
    def broken(problem, found, rng, /):
        raise MemoryError("all gone")

    add_strategy("broken", broken)
    with pytest.raises(MemoryError, match="all gone"):
        select(symmetric_problem(make_problem), "broken")
