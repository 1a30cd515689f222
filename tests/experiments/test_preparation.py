"""What searches count and what classifiers see."""

from pathlib import Path

import numpy as np
import pytest
from experiments.classifiers import KINDS, SETTINGS, fold_accuracy, make_classifier
from experiments.grids import GRIDS, SETS
from experiments.preparation import RECIPES, Recipe, measure
from experiments.splits import split_rows
from scipy.sparse import csr_array

from certselect.datasets import Dataset
from experiments import preparation

PRINTED = Path(__file__).parents[2] / "experiments" / "printed"


def test_numbers_have_three_states_and_gaps_are_one_more():
    column = np.array([-9.0, 0, 0, 0, 0, 9, np.nan])
    measured = measure(np.column_stack([column, np.zeros(7)]), np.array([0, 1, 0, 1, 0, 1, 0]), Recipe())
    assert measured.columns.tolist() == [0], "a constant column leaves"
    assert measured.codes.tolist() == [[0, 1, 1, 1, 1, 2, 3]]


def test_zeros_and_ones_stay_two_states_however_rare():
    X = np.array([[1.0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 0], [0, 1, 0]])
    measured = measure(X, np.array([0, 1, 0, 1, 1]), Recipe())
    assert [len(np.unique(row)) for row in measured.codes] == [2, 2, 2]


def test_levels_stay_as_they_are():
    X = np.array([[-2.0], [0], [0], [0], [2], [np.nan]])
    measured = measure(X, np.array([0, 1, 0, 1, 0, 1]), Recipe(levels=True))
    assert len(np.unique(measured.codes)) == 4


def test_the_most_relevant_are_kept_in_their_order(made_up):
    measured = measure(made_up.X, made_up.y, Recipe(levels=True, kept=3))
    every = measure(made_up.X, made_up.y, Recipe(levels=True))
    assert {2, 3} < set(measured.columns.tolist())
    assert measured.columns.tolist() == sorted(measured.columns.tolist())
    worst_kept = measured.terms.relevance.min()
    assert np.sum(every.terms.relevance > worst_kept) == 2
    assert len(measure(made_up.X, made_up.y, Recipe(levels=True, kept=3), kept=5).columns) == 5
    assert len(measure(made_up.X, made_up.y, Recipe(levels=True), kept=5).columns) == 11, "only what the paper cuts"


def test_sparse_sets_become_dense(monkeypatch):
    sparse = Dataset("DEX", "Sparse", csr_array(np.eye(3)), np.array([0, 1, 1]), None)
    monkeypatch.setattr(preparation, "load_dataset", lambda name: sparse)
    assert preparation.load("DEX").X.tolist() == np.eye(3).tolist()


def test_recipes_validate_and_cut_as_the_paper_says():
    printed = np.genfromtxt(PRINTED / "datasets.csv", delimiter=",", names=True, dtype=None, encoding="utf8")
    for line in printed:
        recipe = RECIPES[str(line["mnemonic"])]
        assert recipe.leave_one_out == (line["validation"] == "leave-one-out")
        assert (recipe.kept or -1) == line["kept_by_relevance"]


def test_every_grid_has_the_papers_sizes_of_madelon():
    for grid in GRIDS.values():
        assert {12, 13} <= set(grid.sizes_of("MAD"))
        assert set(grid.sets) <= set(SETS)
    assert GRIDS["coarse"].sizes_of("CNA")[-1] == 150


def test_folds_are_stratified_and_repeat():
    y = np.repeat([0, 1], 50)
    splits = split_rows(y, leave_one_out=False, seed=0)
    assert [int(y[test].sum()) for _, test in splits.rows] == [5] * 10
    again = split_rows(y, leave_one_out=False, seed=0)
    assert all((a[1] == b[1]).all() for a, b in zip(splits.rows, again.rows, strict=True))
    assert splits.group_means(np.arange(10.0)).tolist() == list(range(10))


def test_rows_left_out_are_grouped_by_ten():
    splits = split_rows(np.repeat([0, 1], 16), leave_one_out=True, seed=0)
    assert len(splits.rows) == 32
    assert sorted(np.bincount(splits.group)) == [3] * 8 + [4] * 2
    assert splits.group_means(np.ones(32)).tolist() == [1.0] * 10


@pytest.mark.parametrize("name", list(KINDS))
def test_every_classifier_learns_with_gaps_and_units(name):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    X = np.column_stack([y * 1000.0 + rng.normal(size=80), rng.normal(size=80)])
    X[3, 1] = np.nan
    rows = np.arange(80)
    train, test = rows[rows % 4 > 0], rows[rows % 4 == 0]
    assert fold_accuracy(name, X, y, train, test) == 1.0
    assert name in SETTINGS
    assert make_classifier(name).steps[0][0] == "simpleimputer"
