"""What single strategies promise beyond agreeing with their twins."""

from dataclasses import replace

import numpy as np
import pytest

from certselect.criteria import Criterion
from certselect.errors import InvalidInput
from certselect.progress import listening
from certselect.search import list_strategies, select
from certselect.search.completion import most_relevant
from certselect.search.found import Found
from certselect.search.strategies import backward as backward_file
from certselect.search.strategies import exhaustive
from certselect.search.strategies import exhaustive as exhaustive_file
from certselect.search.strategies.backward import backward
from certselect.search.strategies.forward import forward

STRATEGIES = list(list_strategies())
# The usual 500 generations are for larger problems than these.
QUICK = {"genetic": {"population": 30, "generations": 40}}
EVERY_CRITERION = ["mrmr", "jmi", "mifs", "d1", "max_relevance"]


def symmetric(rng, n, low=-0.3):
    upper = np.triu(rng.random((n, n)) + low, 1)
    return upper + upper.T


@pytest.fixture
def example_3(make_problem):
    """The paper's Example 3: X1 and X2 are worth 0.4 together and nothing alone."""
    interaction = np.zeros((4, 4))
    interaction[0, 1] = interaction[1, 0] = -0.4
    return lambda criterion: make_problem([0.0, 0.0, 0.2, 0.25], interaction, criterion, k=2)


@pytest.mark.parametrize("criterion", ["d1", "jmi"])
def test_example_3_backward_keeps_the_pair_that_is_only_worth_something_together(example_3, criterion):
    kept = select(example_3(criterion), "backward")
    assert kept.names == ("X1", "X2")
    assert kept.objective == pytest.approx(0.4, abs=1e-15)
    best = select(example_3(criterion), "exhaustive")
    assert best.names == ("X3", "X4")
    assert best.objective == pytest.approx(0.45, abs=1e-15)


@pytest.mark.parametrize("criterion", EVERY_CRITERION)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_smallest_and_largest_sizes(make_problem, strategy, criterion):
    rng = np.random.default_rng(3)
    linear, matrix = rng.random(7), symmetric(rng, 7)
    candidates = [0, 2, 3, 5, 6]

    def chosen(k):
        problem = make_problem(linear, matrix, criterion, k, candidates=candidates)
        return select(problem, strategy, random_state=0, **QUICK.get(strategy, {})).indices.tolist()

    assert sorted(chosen(5)) == candidates
    assert len(set(chosen(4))) == 4
    assert set(chosen(4)) < set(candidates)
    if strategy != "backward":  # on its way down it may lose the most relevant feature
        assert chosen(1) == [max(candidates, key=lambda i: linear[i])]
    assert len(chosen(1)) == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("k", [1, 3, 6])
def test_a_criterion_of_ones_own(make_problem, strategy, k):
    """Its weight is asked for sizes from 1 on only, so 1/size will do."""
    rng = np.random.default_rng(9)
    problem = make_problem(rng.random(6), symmetric(rng, 6), "jmi", k)
    own = Criterion("own", "interaction", lambda size: 1 / size, "sum I(Xi;C) - 1/k sum I(Xi;Xj;C)")
    selection = select(
        replace(problem, criterion=own), strategy, random_state=0, polish=True, **QUICK.get(strategy, {})
    )
    assert len(set(selection.indices.tolist())) == k
    assert selection.criterion == "own"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_single_feature(make_problem, strategy):
    selection = select(make_problem([0.5], [[0.0]], "mrmr", 1), strategy, random_state=0, **QUICK.get(strategy, {}))
    assert selection.indices.tolist() == [0]
    assert selection.objective == 0.5


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_all_terms_zero_gives_the_lowest_indices(make_problem, strategy):
    selection = select(
        make_problem(np.zeros(6), np.zeros((6, 6)), "jmi", 3), strategy, random_state=0, **QUICK.get(strategy, {})
    )
    assert selection.indices.tolist() == [0, 1, 2]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_single_precision_pair_terms(make_problem, strategy):
    rng = np.random.default_rng(8)
    problem = make_problem(rng.random(9), symmetric(rng, 9), "jmi", 4)
    single = problem.pairs.given = problem.pairs.given.astype(np.float32)
    selection = select(problem, strategy, random_state=0, **QUICK.get(strategy, {}))
    chosen = selection.indices.tolist()
    assert len(set(chosen)) == 4
    # Rounded when they were stored; summed in double precision all the same.
    shared = sum(float(single[i, j]) for i in chosen for j in chosen if i < j)
    assert selection.scores[-1] == pytest.approx(problem.linear[chosen].sum() - shared / 3, rel=1e-14)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_exact_copy_never_wins_over_the_lower_column(make_problem, strategy):
    """Column 7 repeats column 2: under mRMR only one is worth having, and it is column 2."""
    rng = np.random.default_rng(0)
    copy_of = [0, 1, 2, 3, 4, 5, 6, 2]
    full = symmetric(rng, 7, low=0.0) * 0.1
    np.fill_diagonal(full, 5.0)
    linear = np.array([0.1, 0.1, 0.9, 0.2, 0.1, 0.2, 0.1])
    problem = make_problem(linear[copy_of], full[np.ix_(copy_of, copy_of)], "mrmr", 3)
    chosen = select(problem, strategy, random_state=0, **QUICK.get(strategy, {})).indices.tolist()
    assert 2 in chosen
    assert (7 in chosen) == (strategy == "relevance")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_columns_in_another_order_give_the_same_named_answer(make_problem, strategy):
    rng = np.random.default_rng(11)
    linear, matrix, order = rng.random(9), symmetric(rng, 9), rng.permutation(9)
    straight = select(make_problem(linear, matrix, "jmi", 4), strategy, random_state=0, **QUICK.get(strategy, {}))
    moved = select(
        make_problem(linear[order], matrix[np.ix_(order, order)], "jmi", 4),
        strategy,
        random_state=0,
        **QUICK.get(strategy, {}),
    )
    assert sorted(order[moved.indices]) == sorted(straight.indices)


def test_forward_asks_for_the_rows_of_the_chosen_only(make_problem):
    rng = np.random.default_rng(2)
    problem = make_problem(rng.random(30), symmetric(rng, 30), "jmi", 6)
    found = Found()
    forward(problem.units, found, rng)
    assert problem.pairs.calls == found.indices[:5]  # the last one's row decides nothing


@pytest.mark.parametrize("strategy", ["floating", "relevance"])
def test_no_matrix_where_rows_do(make_problem, strategy):
    rng = np.random.default_rng(2)
    problem = make_problem(rng.random(30), symmetric(rng, 30), "jmi", 6)
    select(problem, strategy, polish=True)
    assert "matrix" not in problem.pairs.calls
    assert len(problem.pairs.calls) > 0


@pytest.mark.parametrize("criterion", ["jmi", "d1"])
def test_backward_from_many_features_does_not_drift(make_problem, criterion):
    """Each removal judged from scratch, in the same floating point, removes the same features."""
    rng = np.random.default_rng(4)
    matrix = symmetric(rng, 150)
    problem = make_problem(rng.random(150), matrix, criterion, 3)
    found = Found()
    backward(problem.units, found, rng)
    left = list(range(150))
    for out in found.removed:
        weight = problem.weight(len(left) - 1)
        losses = problem.linear[left] - weight * matrix[np.ix_(left, left)].sum(axis=1)
        assert out == left[int(losses.argmin())]
        left.remove(out)
    assert found.indices == left
    assert found.scores[-1] == pytest.approx(problem.value(left), rel=1e-12)


def test_exhaustive_enumerates_what_is_left_out_where_that_is_less(make_problem, monkeypatch):
    """A subset of 57 has 1596 pairs to sum, the 3 features left out of it have 3."""
    rng = np.random.default_rng(6)
    linear = rng.random(60)
    problem = make_problem(linear, np.zeros((60, 60)), "jmi", 57)
    sizes = []
    whole_subsets = exhaustive._Choice.whole_subsets

    def watched(choice):
        for whole in whole_subsets(choice):
            sizes.append(len(whole.members))
            yield whole

    monkeypatch.setattr(exhaustive._Choice, "whole_subsets", watched)
    selection = select(problem, "exhaustive")
    assert set(sizes) == {3}
    assert set(range(60)) - set(selection.indices.tolist()) == set(np.argsort(linear)[:3].tolist())


def test_exhaustive_refuses_too_many_subsets(make_problem):
    problem = make_problem(np.ones(60), np.zeros((60, 60)), "jmi", 10)
    with pytest.raises(InvalidInput) as error:
        select(problem, "exhaustive")
    assert str(error.value) == (
        "Got 75,394,027,566 subsets of 10 out of 60 candidates; "
        "expected at most max_subsets=2,000,000 for strategy='exhaustive'. "
        "Use another strategy ('forward' with polish=True is quick), or raise max_subsets and wait."
    )
    assert problem.pairs.calls == []  # refused before any pair is computed


def test_exhaustive_limit_can_be_set(make_problem):
    problem = make_problem(np.arange(6.0), np.zeros((6, 6)), "jmi", 3)
    assert select(problem, "exhaustive", max_subsets=20).indices.tolist() == [3, 4, 5]
    with pytest.raises(InvalidInput, match="max_subsets=19"):
        select(problem, "exhaustive", max_subsets=19)


@pytest.mark.parametrize("strategy", ["forward", "backward", "floating", "exhaustive", "annealing", "genetic"])
def test_long_searches_tell_how_far_they_are(make_problem, strategy, monkeypatch):
    monkeypatch.setattr(backward_file, "REPORT_EVERY", 2)
    monkeypatch.setattr(exhaustive_file, "SUBSETS_AT_ONCE", 16)
    rng = np.random.default_rng(1)
    problem = make_problem(rng.random(12), symmetric(rng, 12), "jmi", 5)
    told = []
    with listening(lambda *progress: told.append(progress)):
        select(problem, strategy, random_state=0)
    own = [(done, total) for stage, done, total in told if stage == strategy]
    assert len(own) >= 3
    assert all(0 < done <= total for done, total in own)
    assert len({total for _, total in own}) == 1
    assert own[-1][0] == own[-1][1]  # and that they are done
    if strategy != "floating":  # which may step back
        assert [done for done, _ in own] == sorted(done for done, _ in own)


def test_backward_forgets_the_rounding_of_what_it_removed(make_problem):
    """Twenty features of huge pair terms go first; what they leave behind must not tell the equal rest apart."""
    rng = np.random.default_rng(5)
    matrix = symmetric(rng, 40, low=1.0) * 1e8
    matrix[20:, 20:] = 0.0
    found = Found()
    backward(make_problem(np.full(40, 0.5), matrix, "jmi", 1).units, found, rng)
    assert set(found.removed[:20]) == set(range(20))
    assert found.removed[20:] == list(range(39, 20, -1))


def test_floating_removes_the_highest_of_equally_cheap_features_whatever_the_order_of_choice(make_problem):
    interaction = np.zeros((6, 6))
    interaction[np.triu_indices(6, 1)] = [3, 3, -1, -2, 0, 2, -1, -3, -3, 1, 1, 0, 2, 0, -3]
    problem = make_problem([0, 1, 3, 2, 2, 1], interaction + interaction.T, "d1", 4)
    assert select(problem, "floating").indices.tolist() == [1, 4, 5, 3]


def test_most_relevant_heeds_the_index_not_the_order_given(make_problem):
    problem = make_problem([0.2, 0.5, 0.5, 0.5, 0.7], np.zeros((5, 5)), "jmi", 2)
    assert list(most_relevant(problem.units, [3, 1, 4, 2])) == [4, 1, 2, 3]
