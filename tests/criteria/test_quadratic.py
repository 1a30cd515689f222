"""The criteria that are sums over pairs: by hand, against their twins in every kind of table, with proofs."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array

import naive_criteria
from certselect import choose_subset, information_terms, load_result, select, stop_at_chance, subset_problem
from certselect.criteria import CRITERIA, find_criterion
from certselect.errors import InvalidInput

LN2 = math.log(2)
QUOTIENTS = ["disr", "nmrmr"]
# Two fair coins, their XOR and a copy of the first coin.
COINS = np.array([[0, 0, 0, 0], [0, 1, 1, 0], [1, 0, 1, 1], [1, 1, 0, 1]])


def table(seed=5, rows=80, columns=6):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    X = (rng.integers(0, 3, (rows, columns)) + y[:, None] * (rng.random((rows, columns)) < 0.4)) % 4
    return X, y


def twin_value(name, X, y, subset, **weights):
    X, y = np.asarray(X), np.asarray(y)
    return naive_criteria.quadratic_value(name, [X[:, i].tolist() for i in subset], y.tolist(), **weights)


@pytest.mark.parametrize(
    ("name", "subset", "value"),
    [
        # Target: the XOR of columns 0 and 1. Alone they tell nothing, together one bit; H(X0,X1,C) is two bits.
        ("disr", [0, 1], 0.5),
        ("condred", [0, 1], LN2),
        ("icap", [0, 1], 0.0),
        ("nmrmr", [0, 1], 0.0),
        ("jim", [0, 1], 0.5),
        ("linear", [0, 1], LN2),
        # With its copy, a coin is as wise as before; the redundancy is all of both.
        ("disr", [0, 3], 0.0),
        ("nmrmr", [0, 3], -1.0),
        ("jim", [0, 3], 0.0),
        ("condred", [0, 3], LN2),
        # The target itself and anything: one bit, of the one bit of the target and the one of the other column.
        ("disr", [0, 2], 0.5),
        ("icap", [0, 2], LN2),
        ("jim", [0, 2], 0.5),
        ("jim", [2], 0.5),
        ("disr", [2], LN2),
    ],
)
def test_values_by_hand(name, subset, value):
    terms = information_terms(COINS, COINS[:, 2], measure="plugin", correction="none")
    problem = subset_problem(terms, len(subset), name, copies="all")
    assert problem.value(subset) == pytest.approx(value, abs=1e-14)


def test_the_family_of_brown_holds_its_members():
    terms = information_terms(*table())
    k, subset = 4, [0, 2, 3, 5]

    def value(name, **weights):
        return subset_problem(terms, k, name, **weights).value(subset)

    mean = 1 / (k - 1)
    for name, beta, gamma in (
        ("mifs", 1.0, 0.0),
        ("d1", 1.0, 1.0),
        ("condred", 0.0, 1.0),
        ("mrmr", mean, 0.0),
        ("jmi", mean, mean),
        ("max_relevance", 0.0, 0.0),
    ):
        assert value(name) == pytest.approx(value("linear", beta=beta, gamma=gamma), rel=1e-12)
    assert value("linear", beta=0.3, gamma=0.7) == pytest.approx(
        twin_value("linear", *table(), subset, beta=0.3, gamma=0.7), rel=1e-12
    )
    for wrong in ({"gamma": -1.0}, {"gamma": math.inf}, {"beta": True}):
        with pytest.raises(InvalidInput, match="a finite number, 0 or more"):
            find_criterion("linear", **wrong)
    with pytest.raises(InvalidInput, match=r"gamma=0\.5 with criterion='mifs'; expected gamma with criterion='linear'"):
        find_criterion("mifs", gamma=0.5)


@pytest.mark.parametrize("name", CRITERIA)
def test_rows_and_the_whole_matrix_say_the_same(name):
    X, y = table()
    row_by_row, whole = (
        subset_problem(information_terms(X, y, measure="plugin", correction="none"), 3, name) for _ in range(2)
    )
    matrix = whole.pair_matrix
    assert np.array_equal(matrix, matrix.T)
    off = ~np.eye(len(matrix), dtype=bool)
    for i in range(len(matrix)):
        assert np.array_equal(row_by_row.pair_row(i)[off[i]], matrix[i][off[i]])
        assert np.array_equal(whole.pair_row(i), matrix[i])
    single = subset_problem(information_terms(X, y, dtype="float32", measure="plugin", correction="none"), 3, name)
    assert single.value([0, 1, 2]) == pytest.approx(whole.value([0, 1, 2]), rel=1e-5)


@pytest.mark.parametrize("name", CRITERIA)
def test_compiled_counts_give_the_same_floats(name, monkeypatch):
    X, y = table()
    plain = subset_problem(information_terms(X, y, measure="plugin", correction="none"), 3, name)
    rows = [plain.pair_row(i).tolist() for i in range(6)]
    monkeypatch.setattr("certselect.information.plugin._PLAIN_CELLS", 0)
    monkeypatch.setattr("certselect.information.plugin._compiled_for", set())
    compiled = subset_problem(information_terms(X, y, measure="plugin", correction="none"), 3, name)
    assert [compiled.pair_row(i).tolist() for i in range(6)] == rows
    assert np.array_equal(compiled.pair_matrix, plain.pair_matrix)


@pytest.mark.parametrize("name", CRITERIA)
def test_whole_weights_are_repeated_rows(name):
    X, y = table()
    weights = np.random.default_rng(1).integers(1, 4, len(y))
    weighted = subset_problem(
        information_terms(X, y, sample_weight=weights, measure="plugin", correction="none"), 3, name
    )
    repeated = subset_problem(
        information_terms(np.repeat(X, weights, axis=0), np.repeat(y, weights), measure="plugin", correction="none"),
        3,
        name,
    )
    for subset in ([0, 1, 2], [1, 3, 5]):
        assert weighted.value(subset) == pytest.approx(repeated.value(subset), rel=1e-12, abs=1e-14)
    assert weighted.value([0, 1, 2]) == pytest.approx(
        twin_value(name, np.repeat(X, weights, axis=0), np.repeat(y, weights), [0, 1, 2]), rel=1e-12, abs=1e-14
    )


@pytest.mark.parametrize("name", CRITERIA)
def test_sparse_tables_are_what_they_are_dense(name):
    X, y = table()
    dense, sparse = (
        subset_problem(information_terms(form, y, measure="plugin", correction="none"), 3, name)
        for form in (X, csc_array(X))
    )
    for subset in ([0, 1, 2], [1, 3, 5]):
        assert sparse.value(subset) == dense.value(subset)


@pytest.mark.parametrize("name", CRITERIA)
def test_missing_values(name):
    X, y = table()
    X = X.astype(float)
    X[np.random.default_rng(2).random(X.shape) < 0.2] = np.nan
    level = subset_problem(
        information_terms(
            X, y, missing="level", kinds=dict.fromkeys(range(6), "levels"), measure="plugin", correction="none"
        ),
        3,
        name,
    )
    coded = np.where(np.isnan(X), 9, X).astype(int)
    assert level.value([0, 1, 2]) == pytest.approx(twin_value(name, coded, y, [0, 1, 2]), rel=1e-12, abs=1e-14)
    apart = information_terms(
        X, y, missing="pairwise", kinds=dict.fromkeys(range(6), "levels"), measure="plugin", correction="none"
    )
    problem = subset_problem(apart, 2, name)
    assert np.isfinite(problem.pair_matrix).all()
    if name == "jim":  # of the rows that have both columns
        there = ~np.isnan(X[:, [0, 1]]).any(axis=1)
        assert problem.value([0, 1]) == pytest.approx(twin_value(name, coded[there], y[there], [0, 1]), rel=1e-12)


@pytest.mark.parametrize("correction", ["miller_madow", "grassberger", "shrinkage", "chance"])
@pytest.mark.parametrize("name", CRITERIA)
def test_corrections(name, correction):
    terms = information_terms(*table(), correction=correction)
    if name == "jim":
        with pytest.raises(InvalidInput, match="Gini impurity with correction="):
            subset_problem(terms, 3, name)
        return
    problem = subset_problem(terms, 3, name)
    assert np.isfinite(problem.pair_matrix).all()
    best = select(problem, "exact")
    assert best.objective == pytest.approx(select(problem, "exhaustive").objective, rel=1e-12)
    if name in QUOTIENTS:
        assert 0.0 <= problem.pair_matrix.min() <= problem.pair_matrix.max() <= 1.0


@pytest.mark.parametrize("measure", ["gaussian_copula", "neighbors"])
@pytest.mark.parametrize("name", CRITERIA)
def test_measures_without_entropies_say_so(name, measure):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    terms = information_terms(rng.normal(size=(60, 4)) + y[:, None], y, measure=measure)
    if name in [*QUOTIENTS, "jim"]:
        with pytest.raises(InvalidInput, match=f"with measure={measure!r}; expected measure='plugin'"):
            select(subset_problem(terms, 2, name), "forward")
    else:
        assert select(subset_problem(terms, 2, name), "exact").status == "proven optimal"


def test_several_targets_are_one_of_their_combinations():
    X, y = table()
    pair = np.stack([y, X[:, 5]], axis=1)
    for name in CRITERIA:
        one = subset_problem(
            information_terms(X[:, :5], y * 10 + X[:, 5], measure="plugin", correction="none"), 3, name
        ).value([0, 1, 2])
        assert subset_problem(information_terms(X[:, :5], pair, measure="plugin", correction="none"), 3, name).value(
            [0, 1, 2]
        ) == pytest.approx(one)


@pytest.mark.parametrize("name", CRITERIA)
def test_every_search_and_proof_knows_every_criterion(name):
    X, y = table(seed=9, columns=8)
    problem = subset_problem(information_terms(X, y, measure="plugin", correction="none"), 3, name, copies="all")
    best = select(problem, "exhaustive")
    assert select(problem, "exact").objective == pytest.approx(best.objective, rel=1e-12)
    for strategy in ("forward", "floating", "backward", "cobra", "annealing", "genetic", "relevance"):
        found = select(problem, strategy, random_state=0, certify=True)
        assert found.objective <= best.objective + 1e-12
        assert found.upper_bound >= best.objective - 1e-9
        assert problem.value(found.indices) == found.objective
    grouped = subset_problem(
        information_terms(X, y, measure="plugin", correction="none"),
        3,
        name,
        feature_groups=[[0, 2]],
        costs=np.ones(8),
        budget=3.0,
        copies="all",
    )
    assert select(grouped, "exact").objective == pytest.approx(select(grouped, "exhaustive").objective, rel=1e-12)


@pytest.mark.parametrize("name", ["disr", "jim"])
def test_pairs_alone_still_begin_with_the_most_relevant(name):
    X, y = table()
    terms = information_terms(X, y, measure="plugin", correction="none")
    singles = terms.relevance if name == "disr" else terms.single("impurity_gain")
    for strategy in ("forward", "floating"):
        found = select(subset_problem(terms, 3, name), strategy)
        assert found.indices[0] == singles.argmax()
        assert found.scores[0] == singles.max()
    for strategy in ("forward", "floating", "exact"):
        assert select(subset_problem(terms, 1, name), strategy).indices.tolist() == [singles.argmax()]


@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(CRITERIA)))
def test_neither_names_of_levels_nor_the_order_of_rows_matter(seed, name):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (30, 4)), rng.integers(0, 2, 30)
    order = rng.permutation(30)
    one = subset_problem(
        information_terms(X, y, measure="plugin", correction="none"), 2, name, copies="all"
    ).pair_matrix
    other = subset_problem(
        information_terms((2 - X)[order], 1 - y[order], measure="plugin", correction="none"), 2, name, copies="all"
    ).pair_matrix
    assert np.array_equal(one, other)


@pytest.mark.parametrize("name", CRITERIA)
def test_results_are_saved_verified_and_explained(name, tmp_path):
    X, y = table(columns=7)
    options = {"beta": 0.4, "gamma": 0.2} if name == "linear" else {}
    result = choose_subset(X, y, 3, criterion=name, strategy="exact", **options)
    result.save(tmp_path / "chosen.json")
    again = load_result(tmp_path / "chosen.json")
    outcome = again.verify(X, y)
    assert outcome.holds, outcome.reasons
    assert outcome.objective == pytest.approx(result.selection.objective, rel=1e-12)
    assert again.settings.searching.criterion_options == {"beta": None, "gamma": None, "order": None, **options}
    assert again.selection.unit == result.selection.unit == CRITERIA[name].unit
    worth = [result.explanation["worth"][i] for i in result.indices]
    assert np.isfinite(worth).all()
    result.to_html(tmp_path / "report.html")
    assert "nats to the score" in result.explanation["why"][result.indices[0]] or not CRITERIA[name].unit


@pytest.mark.parametrize("name", CRITERIA)
def test_chance_is_known_of_every_criterion(name):
    X, y = table(rows=200)
    tested = stop_at_chance(
        X, y, criterion=name, n_permutations=19, max_features=3, measure="plugin", correction="none"
    )
    assert (
        tested.indices.tolist()
        == select(
            subset_problem(information_terms(X, y, measure="plugin", correction="none"), 3, name), "forward"
        ).indices.tolist()
    )
    assert tested.p_values[0] == 0.05
