"""Every measure against what is known in closed form, where columns are tied, rare, copied or of one class alone."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, make_friedman1
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from certselect import information_terms, select, subset_problem

MEASURES = [
    {"measure": "plugin"},
    *({"measure": "plugin", "correction": name} for name in ("miller_madow", "grassberger", "shrinkage", "chance")),
    {"measure": "gaussian_copula"},
    {"measure": "neighbors"},
    {"measure": "auto"},
]
COPULA = {"measure": "gaussian_copula"}


def named(how):
    return how.get("correction", how["measure"])


def entropy(*shares):
    return -math.fsum(p * math.log(p) for p in shares if p)


def two_valued(rng, rows, share, other):
    """A column that is 1 in these shares of two equally frequent classes."""
    labels = np.arange(rows) % 2
    return (rng.random(rows) < np.where(labels, share, other)).astype(float), labels


@pytest.mark.parametrize("rows", [2000, 20_000, 200_000])
@pytest.mark.parametrize("shares", [(0.05, 0.001), (0.9, 0.1), (0.019, 0.001), (0.5, 0.3)])
def test_ranks_of_two_values_converge_to_the_truth(rows, shares):
    column, labels = two_valued(np.random.default_rng(rows), rows, *shares)
    mean = sum(shares) / 2
    true = entropy(mean, 1 - mean) - sum(entropy(p, 1 - p) for p in shares) / 2
    found = information_terms(column[:, None], labels, **COPULA).relevance[0]
    assert found == pytest.approx(true, abs=4 * math.sqrt(true / rows) + 2 / rows)


@pytest.mark.parametrize("balance", [0.5, 0.2, 0.05, 0.01])
@pytest.mark.parametrize("rows", [500, 5000])
def test_a_two_valued_column_is_worth_the_same_by_ranks_as_by_counts(rows, balance):
    rng = np.random.default_rng(3)
    column, labels = two_valued(rng, rows, 1.8 * balance, 0.2 * balance)
    X = np.column_stack([column, rng.normal(size=rows)])
    by_ranks = information_terms(X, labels, **COPULA)
    by_counts = information_terms(column[:, None].astype(int), labels, measure="plugin", correction="none")
    assert by_ranks.levels.tolist() == [2, 0]
    # What chance alone adds, 1 / 2N, is in counts as they are.
    assert by_ranks.relevance[0] == pytest.approx(max(by_counts.relevance[0] - 0.5 / rows, 0), rel=1e-9)
    assert rows < 5000 or by_ranks.relevance[0] == pytest.approx(by_counts.relevance[0], rel=0.1)


def test_rare_values_that_mean_nothing_are_worth_nothing():
    """98 % zeros, ten classes, 400 rows: what chance gives is below 0.02 nats in every column."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((400, 60)) < 0.98, 0.0, rng.normal(size=(400, 60)))
    terms = information_terms(X, rng.integers(0, 10, 400), **COPULA)
    assert terms.relevance.max() < 0.02
    assert terms.relevance.mean() < 0.003


@pytest.mark.parametrize("zeros", [0.5, 0.9])
def test_mixtures_of_zeros_and_numbers(zeros):
    """By whether the value is 0, and by how large it is otherwise; the truth is a sum and an integral."""
    rows = 20_000
    rng = np.random.default_rng(1)
    labels = np.arange(rows) % 2
    share = np.where(labels, zeros - 0.08, zeros + 0.08)
    by_zeros = np.where(rng.random(rows) < share, 0, rng.exponential(size=rows))
    true = entropy(zeros, 1 - zeros) - sum(entropy(p, 1 - p) for p in (zeros - 0.08, zeros + 0.08)) / 2
    size = rng.normal(size=rows) + 2 * labels + 10
    by_size = np.where(rng.random(rows) < zeros, 0, size)
    x = np.linspace(-8, 10, 200_001)
    density = np.exp(-np.array([x**2, (x - 2) ** 2]) / 2) / math.sqrt(2 * math.pi)
    mixed = density.mean(axis=0)
    within = np.trapezoid((density * np.log(np.maximum(density, 1e-300) / mixed)).mean(axis=0), x)
    found = information_terms(np.column_stack([by_zeros, by_size]), labels, **COPULA).relevance
    assert found[0] == pytest.approx(true, rel=0.25)
    if zeros == 0.5:  # of rare numbers there is one bin alone, which cannot tell large ones from small ones
        assert found[1] == pytest.approx(within * (1 - zeros), rel=0.2)


@pytest.mark.parametrize("rows", [200, 2000, 20_000])
@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-6, 1e-3])
def test_ranks_count_no_copy_twice(rows, noise):
    """y = b + 0.3 c + e: b and a copy of it tell what b tells, b and c tell more."""
    rng = np.random.default_rng(rows)
    b, c, e = rng.normal(size=(3, rows))
    y = b + 0.3 * c + 0.3 * e
    X = np.column_stack([b, b + noise * rng.normal(size=rows), c])
    terms = information_terms(X, y, **COPULA)
    alone, both = (math.log(1.18 / left) / 2 for left in (0.18, 0.09))
    within = 4 / math.sqrt(rows)
    assert terms.relevance[0] == pytest.approx(alone, abs=within)
    assert terms.joint_relevance[0, 1] == pytest.approx(terms.relevance[:2].max(), abs=0.001)
    assert terms.joint_relevance[0, 2] == pytest.approx(both, abs=within)
    assert select(subset_problem(terms, k=2, criterion="jmi"), "forward").indices[1] == 2


@pytest.mark.parametrize("target", ["labels", "number", "labels and number"])
@pytest.mark.parametrize("how", MEASURES, ids=named)
def test_a_copy_adds_nothing_by_any_measure(how, target):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 4))
    X[:, 1] = X[:, 0]
    X[:, 3] = np.round(X[:, 0])  # a coarser copy
    number = X[:, 0] + rng.normal(size=300)
    labels = np.where(X[:, 2] + rng.normal(size=300) > 0, "a", "b")
    y = {"labels": labels, "number": number, "labels and number": np.column_stack([labels, number]).astype(object)}
    terms = information_terms(X, y[target], **how)
    better = np.maximum(terms.relevance[:, None], terms.relevance)
    joint = terms.joint_relevance
    assert (joint >= better - 1e-12).all()
    # A correction that takes more than there was leaves that much of a copy.
    left = 1 / len(X) if "correction" in how else 1e-12
    assert joint[0, 1] == pytest.approx(terms.relevance[0], abs=left)
    np.testing.assert_allclose(np.diag(terms.interaction), terms.relevance, rtol=0, atol=1e-14)
    np.testing.assert_allclose(np.diag(joint), terms.relevance, rtol=0, atol=1e-14)
    assert (terms.conditional_redundancy >= 0).all()


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(8, 40),
    st.sampled_from(MEASURES),
    st.booleans(),
    st.sampled_from([0.0, 0.2]),
)
def test_a_pair_never_tells_less_than_its_better_half(seed, rows, how, numbers, gaps):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    X[:, 1] = np.round(X[:, 1] * rng.choice([0.5, 1, 3]))
    X[:, 2] = X[:, 0] * rng.choice([-1, 1]) + rng.choice([0, 1e-7, 0.1]) * rng.normal(size=rows)
    y = rng.normal(size=rows) if numbers else np.arange(rows) % 3
    X[rng.random(X.shape) < gaps] = np.nan
    terms = information_terms(X, y, missing="pairwise", task="regression" if numbers else "classification", **how)
    better = np.maximum(terms.relevance[:, None], terms.relevance)
    assert (terms.joint_relevance >= better - 1e-12).all()
    assert (terms.redundancy >= 0).all()
    assert np.isfinite(terms.interaction).all()


def test_digits_can_be_told_by_features_that_ranks_choose():
    """Pixels that are 0 in nearly all rows were rated at all there is to know."""
    X, y = load_digits(return_X_y=True)
    seen = np.arange(len(y)) % 3 > 0
    terms = information_terms(X[seen], y[seen], **COPULA)
    mostly_zero = (X[seen] == 0).mean(axis=0) > 0.95
    assert terms.relevance[mostly_zero].max() < 0.1
    reached = {}
    for name, how in {"ranks": COPULA, "counts": {}, "auto": {"measure": "auto"}}.items():
        terms = information_terms(X[seen], y[seen], **how)
        chosen = list(select(subset_problem(terms, k=10, criterion="jmi"), "forward").indices)
        judge = KNeighborsClassifier().fit(X[seen][:, chosen], y[seen])
        reached[name] = judge.score(X[~seen][:, chosen], y[~seen])
    assert reached["ranks"] > 0.8
    assert min(reached.values()) > reached["counts"] - 0.05


@pytest.mark.parametrize("how", [COPULA, {"measure": "auto"}, {"discretize": "quantile"}], ids=str)
def test_sizes_count_beside_many_zeros(how):
    """Nine of ten rows are 0, and the class hangs on how large the others are."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((2000, 3)) < 0.9, 0.0, rng.uniform(1, 11, (2000, 3)))
    labels = np.where(X[:, 0] > 0, X[:, 0] > 6, rng.random(2000) < 0.5).astype(int)
    terms = information_terms(X, labels, **how)
    assert terms.relevance[0] == pytest.approx(0.1 * math.log(2), rel=0.25)
    assert terms.relevance[1:].max() < 0.01


def test_coarser_columns_lose_little_by_little():
    """Rounded to steps of a deviation's share, where ranks give way to counts: no better column is overtaken."""
    rng = np.random.default_rng(1)
    y = rng.normal(size=400)
    x = 0.95 * y + math.sqrt(1 - 0.95**2) * rng.normal(size=400)
    steps = np.array([1e-6, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5])
    found = information_terms(np.round(x[:, None] / steps), y, **COPULA).relevance
    assert (np.abs(np.diff(found)) < 0.1).all()
    rival = information_terms((y + 0.55 * rng.normal(size=400))[:, None], y, **COPULA).relevance[0]
    assert found.min() > rival


def test_classes_of_two_rows_prove_nothing():
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.integers(0, 2, 200), rng.integers(0, 6, 200), rng.normal(size=200)])
    labels = np.repeat(np.arange(100), 2).astype(str)
    assert information_terms(X, labels, **COPULA).relevance.tolist() == [0, 0, 0]


def test_dependent_whole_numbers_stay_rows_to_neighbours():
    """Ten codings of one column of twelve levels: rows are equal by themselves, however many columns say so."""
    rng = np.random.default_rng(3)
    level = rng.integers(0, 12, 1000)
    labels = np.where(rng.random(1000) < 0.7, level % 4, rng.integers(0, 4, 1000))
    X = np.column_stack([rng.permutation(12)[level] for _ in range(10)])
    shares = np.array([0.775, 0.075, 0.075, 0.075])
    found = information_terms(X, labels, measure="neighbors").relevance
    np.testing.assert_allclose(found, math.log(4) - entropy(*shares), rtol=0.15)


def test_auto_finds_what_counting_finds_in_friedmans_function():
    reached = {"counts": [], "auto": []}
    for seed in range(3):
        X, y = make_friedman1(600, 15, noise=1.0, random_state=seed)
        for name, scores in reached.items():
            terms = information_terms(X[:400], y[:400], measure="auto" if name == "auto" else "plugin")
            chosen = list(select(subset_problem(terms, k=5, criterion="jmi"), "forward").indices)
            judge = KNeighborsRegressor().fit(X[:400, chosen], y[:400])
            scores.append(judge.score(X[400:, chosen], y[400:]))
    assert np.mean(reached["auto"]) > np.mean(reached["counts"]) - 0.02
