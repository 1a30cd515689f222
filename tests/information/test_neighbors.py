"""The nearest-neighbour estimator: against its slow twins, closed forms and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array
from sklearn.datasets import make_friedman1
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

import naive_neighbors as naive
from certselect.errors import InvalidInput
from certselect.information import information_terms, measure_table
from certselect.information.neighbors import neighbor_terms
from certselect.progress import listening
from certselect.settings import Measuring
from certselect.table.model import Block, SparseBlock, Table
from naive import fit_together

KINDS = ("redundancy", "conditional_redundancy", "interaction")
FLOAT64 = np.dtype(np.float64)


def made_table(columns, labels=None, numbers=None, missing=None, weights=None):
    """A table of arrays: floats and integers are numbers, bools and letters are discrete."""
    m = len(columns[0])
    blocks = []
    for place, column in enumerate(columns):
        lacking = None if missing is None or not missing[place].any() else missing[place][:, None]
        at = np.array([place])
        if column.dtype.kind == "U":
            names, codes = np.unique(column, return_inverse=True)
            codes = codes.astype(np.int32)
            codes[lacking[:, 0] if lacking is not None else []] = -1
            blocks.append(Block("category", at, codes[:, None], (tuple(names.tolist()),), lacking))
        else:
            kind = "number" if column.dtype.kind == "f" else "integer"
            values = column.copy()
            if lacking is not None:
                values[lacking[:, 0]] = np.nan if kind == "number" else 0
            blocks.append(Block(kind, at, values[:, None], (), lacking))
    classes, target = (
        np.unique(labels, return_inverse=True) if labels is not None else (np.array(["all"]), np.zeros(m, int))
    )
    return Table(
        tuple(blocks),
        tuple(f"x{i}" for i in range(len(columns))),
        target.astype(np.int32),
        tuple(classes.tolist()),
        np.empty((m, 0)) if numbers is None else np.asarray(numbers, dtype=float).reshape(m, -1),
        weights=None if weights is None else np.asarray(weights, dtype=float),
        missing="error" if missing is None else "pairwise",
    )


def measured(table, n_neighbors=3, n_jobs=1, dtype=FLOAT64):
    return neighbor_terms(table, n_neighbors=n_neighbors, dtype=np.dtype(dtype), n_jobs=n_jobs)


def mixed_columns(rng, m):
    """Numbers, rounded numbers, integers, many zeros, bools, letters and a constant, some of them related."""
    common = rng.normal(size=m)
    return [
        common + rng.normal(size=m),
        np.round(common + rng.normal(size=m), 1),
        rng.integers(0, 4, m),
        np.maximum(common + 0.5 * rng.normal(size=m), 0.0),
        common + rng.normal(size=m) > 0.3,
        np.array(list("abcde"))[np.clip(np.round(common + 2), 0, 4).astype(int)],
        np.full(m, 2.5),
    ]


def labels_of(rng, m):
    """Three classes of rows and two of one or two."""
    return np.array(["rare", "few", "few", *rng.choice(["a", "b", "c"], m - 3)])


def assert_equals_twins(columns, labels, numbers, k, missing=None, weights=None):
    table = made_table(columns, labels, numbers, missing, weights)
    terms = measured(table, k)
    lists = [column.tolist() for column in columns]
    if missing is not None:
        lists = [
            [None if lacks else value for value, lacks in zip(column, lacking, strict=True)]
            for column, lacking in zip(lists, missing, strict=True)
        ]
    m = len(columns[0])
    relevance, redundancy, conditional = naive.terms(
        lists,
        [column.dtype.kind in "bU" for column in columns],
        ["all"] * m if labels is None else labels.tolist(),
        [] if numbers is None else np.asarray(numbers, dtype=float).reshape(m, -1).T.tolist(),
        k,
        None if weights is None else weights.tolist(),
    )
    np.testing.assert_allclose(terms.relevance, relevance, atol=1e-12, rtol=0)
    np.testing.assert_allclose(terms.redundancy, redundancy, atol=1e-12, rtol=0)
    _, _, rest = fit_together(relevance, redundancy, conditional)
    np.testing.assert_allclose(terms.conditional_redundancy, np.maximum(rest, 0), atol=1e-12, rtol=0)
    np.testing.assert_allclose(terms.interaction, np.subtract(redundancy, rest), atol=1e-12, rtol=0)
    np.testing.assert_allclose(terms.entropy, np.diag(redundancy), atol=1e-12, rtol=0)


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("target", ["labels", "number", "two numbers", "labels and number", "labels and two numbers"])
@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "gaps"])
def test_terms_equal_the_slow_twins(target, k, gaps):
    rng = np.random.default_rng(len(target) + k)
    m = 30
    columns = mixed_columns(rng, m)
    labels = labels_of(rng, m) if "labels" in target else None
    signal = columns[0] + 0.3 * rng.normal(size=m)
    numbers = {"labels": None}.get(target, signal)
    if "two" in target:
        numbers = np.stack([signal, np.round(columns[1] + rng.normal(size=m))], axis=1)
    missing = rng.random((len(columns), m)) < 0.15 if gaps else None
    assert_equals_twins(columns, labels, numbers, k, missing)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 30), st.integers(1, 6), st.booleans(), st.booleans(), st.booleans(), st.integers(0, 2**32 - 1))
def test_small_tables_equal_the_slow_twins(m, spread, labelled, numbered, gaps, seed):
    """Few rows of few values: every tie, every class too small, columns without a value."""
    rng = np.random.default_rng(seed)
    columns = [
        rng.integers(0, spread, m),
        rng.integers(0, spread, m) / 3.0,
        np.array(list("abcdefg"))[rng.integers(0, spread, m)],
        rng.random(m) < 0.5,
    ]
    labels = rng.choice(["a", "b", "c"], m) if labelled else None
    numbers = rng.integers(0, 2 * spread, m) / 7.0 if numbered or not labelled else None
    missing = rng.random((4, m)) < 0.3 if gaps else None
    if gaps:
        missing[:2, 0] = False  # a column of numbers without any is none
    assert_equals_twins(columns, labels, numbers, int(rng.integers(1, m)), missing)


@pytest.mark.parametrize("target", ["labels", "number"])
def test_windows_longer_than_a_vector_equal_the_slow_twins(target):
    rng = np.random.default_rng(5)
    m = 90
    x = rng.normal(size=m)
    columns = [x, 0.9 * x + 0.4 * rng.normal(size=m), rng.exponential(size=m) ** 3, rng.poisson(2.0, m)]
    labels = np.where(x + rng.normal(size=m) > 0, "up", "down") if target == "labels" else None
    assert_equals_twins(columns, labels, x**2 if target == "number" else None, 4)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_gaussian_numbers_have_the_known_information(rho):
    """m = 2000, mean of 4 tables: within 0.05 nats of the closed forms."""
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        cov = np.array([[1, rho, 0.6], [rho, 1, 0.5], [0.6, 0.5, 1]])
        values, vectors = np.linalg.eigh(cov)
        x, y, z = (vectors * np.sqrt(values)) @ rng.normal(size=(3, 2000))
        terms = measured(made_table([x, y], None, z))
        found.append([terms.redundancy[0, 1], terms.conditional_redundancy[0, 1], *terms.relevance])
    partial = (rho - 0.6 * 0.5) / np.sqrt((1 - 0.6**2) * (1 - 0.5**2))
    exact = -0.5 * np.log1p(-np.square([rho, partial, 0.6, 0.5]))
    np.testing.assert_allclose(np.mean(found, axis=0), exact, atol=0.05)


def test_information_given_labels_is_that_within_classes():
    """Two classes shifted apart, correlated 0.7 within: only the shift adds to what x and y share."""
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        c = rng.integers(0, 2, 2000)
        x, y = np.linalg.cholesky(np.array([[1, 0.7], [0.7, 1]])) @ rng.normal(size=(2, 2000)) + 4 * c
        terms = measured(made_table([x, y], c))
        found.append(terms.conditional_redundancy[0, 1])
        assert terms.interaction[0, 1] > 0.3
    assert np.mean(found) == pytest.approx(-0.5 * np.log(1 - 0.49), abs=0.05)


def test_relevance_is_what_scikit_learn_finds():
    rng = np.random.default_rng(1)
    m = 600
    hidden = rng.normal(size=m)
    X = rng.normal(size=(m, 8)) + hidden[:, None] * np.linspace(0, 3, 8)
    number = hidden + 0.2 * rng.normal(size=m)
    label = np.digitize(number, [-1.0, 0.2, 3.2])
    classes = measured(made_table(list(X.T), label)).relevance
    numbers = measured(made_table(list(X.T), None, number)).relevance
    np.testing.assert_allclose(classes, mutual_info_classif(X, label, random_state=0), atol=0.02)
    np.testing.assert_allclose(numbers, mutual_info_regression(X, number, random_state=0), atol=0.02)
    # A discrete feature of a number is a number of a discrete target with the roles exchanged.
    discrete = measured(made_table([label.astype(str)], None, number)).relevance
    expected = mutual_info_regression(label[:, None], number, discrete_features=True, random_state=0)
    np.testing.assert_allclose(discrete, expected, atol=0.02)


def test_labels_and_numbers_add_up_by_the_chain_rule():
    rng = np.random.default_rng(2)
    x, c = rng.normal(size=300), rng.integers(0, 2, 300)
    z = x + c + rng.normal(size=300)
    both = measured(made_table([x], c, z)).relevance[0]
    parts = [measured(made_table([x[c == label]], None, z[c == label] / z.std())).relevance[0] for label in (0, 1)]
    sizes = [np.mean(c == label) for label in (0, 1)]
    # Deviations are those of all rows in the one and of a class in the other, hence the slack.
    assert both == pytest.approx(measured(made_table([x], c)).relevance[0] + np.dot(sizes, parts), abs=0.05)


@pytest.mark.parametrize("target", ["labels", "numbers", "both"])
def test_rows_are_the_rows_of_symmetric_matrices(target):
    rng = np.random.default_rng(3)
    m = 120
    columns = mixed_columns(rng, m)
    table = made_table(
        columns,
        labels_of(rng, m) if target != "numbers" else None,
        rng.normal(size=(m, 2)) if target != "labels" else None,
    )
    terms = measured(table, n_jobs=2)
    for kind in KINDS:
        matrix = terms.pairs.matrix(kind)
        assert (matrix == matrix.T).all()
        assert (terms.pairs.rows(kind, np.arange(len(columns))[::-1])[::-1] == matrix).all()
    redundancy, conditional = terms.pairs.both()
    assert (redundancy == terms.pairs.matrix("redundancy")).all()
    assert (conditional == terms.pairs.matrix("conditional_redundancy")).all()
    np.testing.assert_allclose(conditional, np.maximum(redundancy - terms.interaction, 0), atol=1e-15, rtol=0)
    assert (redundancy >= 0).all()
    assert (np.diag(redundancy) == terms.entropy).all()
    assert (np.diag(terms.interaction) == terms.relevance).all()
    halved = measured(table, dtype=np.float32)
    for kind in ("redundancy", "interaction"):
        assert halved.pair_matrix(kind).dtype == np.float32
        assert (halved.pair_matrix(kind) == terms.pair_matrix(kind).astype(np.float32)).all()


@pytest.mark.parametrize("target", ["labels", "numbers", "both"])
@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "gaps"])
def test_order_of_rows_names_and_threads_change_no_bit(target, gaps):
    rng = np.random.default_rng(4)
    m = 200
    columns = mixed_columns(rng, m)
    labels = labels_of(rng, m) if target != "numbers" else None
    numbers = rng.normal(size=(m, 2)) if target != "labels" else None
    missing = rng.random((len(columns), m)) < 0.1 if gaps else None
    one = measured(made_table(columns, labels, numbers, missing), n_jobs=1)
    shuffle = rng.permutation(m)
    renamed = {"a": "z", "b": "y", "c": "x", "few": "w", "rare": "v"}
    other = made_table(
        [column[shuffle] for column in columns],
        None if labels is None else np.array([renamed[label] for label in labels[shuffle]]),
        None if numbers is None else numbers[shuffle],
        None if missing is None else missing[:, shuffle],
    )
    three = measured(other, n_jobs=3)
    assert (one.relevance == three.relevance).all()
    assert (one.entropy == three.entropy).all()
    np.testing.assert_equal(one.target_entropy, three.target_entropy)
    for kind in KINDS:
        assert (one.pair_matrix(kind) == three.pair_matrix(kind)).all()


def test_units_of_a_column_do_not_matter():
    rng = np.random.default_rng(6)
    columns = [rng.normal(size=150), rng.integers(0, 6, 150).astype(float), rng.exponential(size=150)]
    labels = np.where(columns[0] > 0.5, "high", "low")
    moved = [3.7 * columns[0] - 20, columns[1] / 7 + 0.1, columns[2] * 1e200]
    for numbers in (None, columns[0] + rng.normal(size=150)):
        one, other = measured(made_table(columns, labels, numbers)), measured(made_table(moved, labels, numbers))
        np.testing.assert_allclose(one.relevance, other.relevance, atol=1e-12)
        for kind in KINDS:
            np.testing.assert_allclose(one.pair_matrix(kind), other.pair_matrix(kind), atol=1e-12)


def plugin(x, y):
    """Mutual information of observed frequencies."""
    joint = np.array([[np.mean((x == a) & (y == b)) for b in np.unique(y)] for a in np.unique(x)])
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return float(np.sum(joint[joint > 0] * np.log(joint[joint > 0] / product[joint > 0])))


def test_columns_of_few_values_come_close_to_the_plug_in():
    rng = np.random.default_rng(7)
    m = 3000
    x = rng.integers(0, 4, m)
    y = np.where(rng.random(m) < 0.6, x, rng.integers(0, 4, m))
    exact = plugin(x, y)
    letters = [np.array(list("abcd"))[column] for column in (x, y)]
    for columns in ([x, y], letters, [x, letters[1]]):
        assert measured(made_table(columns, x > 1)).redundancy[0, 1] == pytest.approx(exact, abs=0.02)
    given = sum(np.mean((x > 1) == side) * plugin(x[(x > 1) == side], y[(x > 1) == side]) for side in (False, True))
    for columns in ([x, y], letters, [x, letters[1]]):
        conditional = measured(made_table(columns, x > 1)).conditional_redundancy[0, 1]
        assert conditional == pytest.approx(given, abs=0.02)


@pytest.mark.parametrize("step", [0.1, 0.25, 0.5, 1.0])
def test_rounded_numbers_share_what_the_numbers_share_and_not_more(step):
    """Independent columns share nothing however coarsely they are rounded; m = 400, mean of 5 tables."""
    found = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x, y = np.round(rng.normal(size=(2, 400)) / step) * step
        found.append(measured(made_table([x, y], None, rng.normal(size=400))).redundancy[0, 1])
    assert np.mean(found) < 0.05


def test_many_zeros_are_one_place():
    """max(X, 0) of correlated Gaussians: bins of the numbers behind the zeros give the same; mean of 4 tables."""
    rng = np.random.default_rng(8)
    x, y = np.maximum(np.linalg.cholesky(np.array([[1, 0.8], [0.8, 1]])) @ rng.normal(size=(2, 200_000)), 0.0)
    exact = plugin(np.digitize(x, np.linspace(1e-9, 2.5, 25)), np.digitize(y, np.linspace(1e-9, 2.5, 25)))
    found = [
        measured(made_table([x[at : at + 1000], y[at : at + 1000]], x[at : at + 1000] > 1)).redundancy[0, 1]
        for at in range(0, 4000, 1000)
    ]
    assert np.mean(found) == pytest.approx(exact, abs=0.03)


def test_rows_without_a_value_might_as_well_not_be_there():
    rng = np.random.default_rng(9)
    m = 90
    columns = [rng.normal(size=m), rng.integers(0, 5, m), rng.random(m) < 0.4]
    labels = rng.integers(0, 2, m)
    gaps = np.zeros((3, m), dtype=bool)
    gaps[:, rng.permutation(m)[:20]] = True  # the same rows in every column
    there = ~gaps[0]
    gappy = measured(made_table(columns, labels, None, gaps))
    short = measured(made_table([column[there] for column in columns], labels[there]))
    np.testing.assert_allclose(gappy.relevance, short.relevance, rtol=0, atol=1e-13)
    for kind in KINDS:
        np.testing.assert_allclose(gappy.pair_matrix(kind), short.pair_matrix(kind), rtol=0, atol=1e-13)


def test_constant_columns_share_nothing():
    rng = np.random.default_rng(10)
    x = rng.integers(0, 3, 80)
    for numbers in (None, rng.normal(size=80)):
        terms = measured(made_table([np.full(80, 7.0), x, np.full(80, "same")], x > 0, numbers))
        assert terms.constant.tolist() == [True, False, True]
        for place in (0, 2):
            assert terms.relevance[place] == terms.entropy[place] == 0
            for kind in KINDS:
                assert (terms.pair_matrix(kind)[place] == 0).all()


def test_a_column_without_any_value_shares_nothing():
    rng = np.random.default_rng(13)
    gaps = np.array([[True] * 30, [False] * 30])
    for numbers in (None, rng.normal(size=30)):
        table = made_table([rng.normal(size=30), rng.normal(size=30)], rng.integers(0, 2, 30), numbers, gaps)
        terms = measured(table)
        assert terms.relevance[0] == terms.entropy[0] == 0
        for kind in KINDS:
            assert (terms.pair_matrix(kind)[0] == 0).all()


def test_what_the_terms_say_of_themselves():
    rng = np.random.default_rng(11)
    x, c = rng.normal(size=40), np.repeat([0, 1], [10, 30])
    terms = measured(made_table([x], c))
    assert terms.target_entropy == pytest.approx(-(0.25 * np.log(0.25) + 0.75 * np.log(0.75)), abs=1e-15)
    assert terms.n_samples == 40
    assert terms.levels.tolist() == [0]
    assert terms.coding is None
    assert np.isnan(measured(made_table([x], c, x)).target_entropy)


def test_progress_is_reported():
    heard = []
    rng = np.random.default_rng(12)
    with listening(lambda stage, done, total: heard.append((stage, done, total))):
        terms = measured(made_table(list(rng.normal(size=(5, 30))), rng.integers(0, 2, 30)))
        _ = terms.redundancy
    assert ("relevance", 1, 1) in heard
    assert ("pairs", 5, 5) in heard


def test_a_row_has_as_many_neighbours_as_others():
    table = made_table([np.array([0.0, 1.0, 5.0])], np.array([0, 1, 1]))
    assert measured(table, 2).relevance.shape == (1,)
    for wrong in (0, -1, 3, 1.5, True, "3"):
        with pytest.raises(InvalidInput, match="n_neighbors"):
            measured(table, wrong)


WEIGHTS = {
    "whole": lambda rng, m: rng.integers(1, 6, m),
    "fractions": lambda rng, m: rng.exponential(size=m) + 0.01,
    "far apart": lambda rng, m: 10.0 ** rng.integers(-2, 3, m),
}


@pytest.mark.parametrize("target", ["labels", "number", "two numbers", "labels and number"])
@pytest.mark.parametrize("weighing", WEIGHTS)
def test_weighted_terms_equal_the_slow_twins(target, weighing):
    rng = np.random.default_rng(len(target))
    m = 30
    columns = mixed_columns(rng, m)
    labels = labels_of(rng, m) if "labels" in target else None
    numbers = None
    if "number" in target:
        numbers = np.stack(
            [columns[0] + 0.3 * rng.normal(size=m), np.round(rng.normal(size=m))][: 1 + ("two" in target)], 1
        )
    missing = rng.random((len(columns), m)) < 0.1
    assert_equals_twins(columns, labels, numbers, 3, missing, WEIGHTS[weighing](rng, m))


@pytest.mark.parametrize("weight", [2, 5, 0.3])
@pytest.mark.parametrize("target", ["labels", "numbers", "both"])
def test_equal_weights_change_no_bit(target, weight):
    """Weights say how much a row counts against others, not that it was seen again."""
    rng = np.random.default_rng(14)
    m = 80
    columns = mixed_columns(rng, m)
    labels = labels_of(rng, m) if target != "numbers" else None
    numbers = rng.normal(size=(m, 2)) if target != "labels" else None
    plain = measured(made_table(columns, labels, numbers))
    weighted = measured(made_table(columns, labels, numbers, weights=np.full(m, weight)))
    assert (plain.relevance == weighted.relevance).all()
    assert (plain.redundancy == weighted.redundancy).all()
    assert (plain.interaction == weighted.interaction).all()
    np.testing.assert_equal(plain.target_entropy, weighted.target_entropy)
    assert weighted.n_samples == m


@pytest.mark.parametrize("rho", [0.0, 0.6, 0.9])
@pytest.mark.parametrize("weighing", ["whole", "fractions"])
def test_weights_that_have_nothing_to_do_with_the_columns_invent_nothing(rho, weighing):
    """m = 500, mean of 8 tables: within 0.05 nats of the closed form."""
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x, e, z = rng.normal(size=(3, 500))
        y = rho * x + np.sqrt(1 - rho**2) * e
        terms = measured(made_table([x, y], None, z, weights=WEIGHTS[weighing](rng, 500)), 10)
        found.append([terms.redundancy[0, 1], *terms.relevance, terms.joint_relevance[0, 1]])
    np.testing.assert_allclose(np.mean(found, axis=0), [-0.5 * np.log1p(-(rho**2)), 0, 0, 0], atol=0.05)


def information_about_two_normals(share, shift):
    """I(X;C) where X is normal, and shifted in a class of this share; by a sum over a fine grid."""
    x, step = np.linspace(-9, 9 + shift, 20_000, retstep=True)
    normal, shifted = (np.exp(-0.5 * (x - at) ** 2) / np.sqrt(2 * np.pi) for at in (0, shift))
    mixture = (1 - share) * normal + share * shifted
    return -np.sum(mixture * np.log(mixture)) * step - 0.5 * np.log(2 * np.pi * np.e)


@pytest.mark.parametrize("n_neighbors", [3, 10])
def test_weights_that_balance_classes_give_the_information_of_balanced_classes(n_neighbors):
    """100 of 1000 rows in one class, mean of 4 tables: within 0.03 nats of the mixture in equal parts."""
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        c = (np.arange(1000) < 100).astype(int)
        x, y = rng.normal(size=(2, 1000)) + 1.5 * c
        terms = measured(made_table([x, y], c, weights=np.where(c, 9, 1)), n_neighbors)
        assert terms.target_entropy == pytest.approx(np.log(2), abs=1e-15)
        found.append([*terms.relevance, terms.joint_relevance[0, 1]])
    one, both = (information_about_two_normals(0.5, shift) for shift in (1.5, 1.5 * np.sqrt(2)))
    np.testing.assert_allclose(np.mean(found, axis=0), [one, one, both], atol=0.03)
    assert information_about_two_normals(0.1, 1.5) < one - 0.1  # what the rows without weights are about


def test_weighted_discrete_columns_come_close_to_weighted_frequencies():
    rng = np.random.default_rng(15)
    m = 3000
    x = rng.integers(0, 4, m)
    y = np.where(rng.random(m) < 0.6, x, rng.integers(0, 4, m))
    c = x % 2 == 1
    weights = np.where(x == 0, 5, 1) * rng.integers(1, 4, m)
    often = [np.repeat(column, weights) for column in (x, y, c)]
    letters = [np.array(list("abcd"))[column] for column in (x, y)]
    for columns in ([x, y], letters, [x, letters[1]]):
        terms = measured(made_table(columns, c, weights=weights))
        assert terms.redundancy[0, 1] == pytest.approx(plugin(often[0], often[1]), abs=0.02)
        assert terms.relevance[1] == pytest.approx(plugin(often[1], often[2]), abs=0.02)
        assert terms.joint_relevance[0, 1] == pytest.approx(plugin(4 * often[0] + often[1], often[2]), abs=0.02)


@pytest.mark.parametrize("target", ["labels", "numbers", "both"])
def test_order_of_weighted_rows_and_threads_change_no_bit(target):
    rng = np.random.default_rng(16)
    m = 200
    columns = mixed_columns(rng, m)
    labels = labels_of(rng, m) if target != "numbers" else None
    numbers = rng.normal(size=(m, 2)) if target != "labels" else None
    missing, weights = rng.random((len(columns), m)) < 0.1, rng.exponential(size=m)
    one = measured(made_table(columns, labels, numbers, missing, weights), n_jobs=1)
    shuffle = rng.permutation(m)
    other = made_table(
        [column[shuffle] for column in columns],
        None if labels is None else labels[shuffle],
        None if numbers is None else numbers[shuffle],
        missing[:, shuffle],
        weights[shuffle],
    )
    three = measured(other, n_jobs=3)
    assert (one.relevance == three.relevance).all()
    assert (one.entropy == three.entropy).all()
    np.testing.assert_equal(one.target_entropy, three.target_entropy)
    for kind in KINDS:
        assert (one.pair_matrix(kind) == three.pair_matrix(kind)).all()


def test_rows_of_weight_zero_are_left_out():
    rng = np.random.default_rng(17)
    X, y, weights = rng.normal(size=(60, 3)), rng.integers(0, 2, 60), rng.integers(0, 3, 60)
    weighted = information_terms(X, y, sample_weight=weights, measure="neighbors")
    there = weights > 0
    short = information_terms(X[there], y[there], sample_weight=weights[there], measure="neighbors")
    assert (weighted.relevance == short.relevance).all()
    assert (weighted.interaction == short.interaction).all()
    assert (weighted.redundancy == short.redundancy).all()


@pytest.mark.parametrize("target", ["labels", "number"])
def test_a_copy_adds_nothing(target):
    rng = np.random.default_rng(18)
    x, e = rng.normal(size=(2, 300))
    number = x + e
    labels, numbers = (np.digitize(number, [-1, 1]), None) if target == "labels" else (None, number)
    terms = measured(made_table([x, x, 3 * x + 1, e], labels, numbers))
    assert terms.relevance[0] > 0.2
    np.testing.assert_allclose(terms.interaction[:3, :3], terms.relevance[0], atol=1e-12)
    assert terms.interaction[0, 3] < -0.2  # what x and e say together is more


@pytest.mark.parametrize("noise", [0.1, 0.3, 1.0])
@pytest.mark.parametrize("n_neighbors", [3, 10])
def test_two_numbers_together_have_the_known_information(noise, n_neighbors):
    """Near-copies and others, m = 2000, mean of 4 tables: within 0.05 nats of the closed form."""
    found, exact = [], []
    mixing = np.array([[1, 0, 0, 0], [1, 0, noise, 0], [0, 1, 0, 0], [1, 1, 0, 0.7]])
    cov = mixing @ mixing.T
    pairs = [(0, 1), (0, 2), (1, 2)]
    for i, j in pairs:
        log_det = [np.linalg.slogdet(cov[np.ix_(some, some)])[1] for some in ([i, j], [3], [i, j, 3])]
        exact.append(0.5 * (log_det[0] + log_det[1] - log_det[2]))
    for seed in range(4):
        x = mixing @ np.random.default_rng(seed).normal(size=(4, 2000))
        joint = measured(made_table(list(x[:3]), None, x[3]), n_neighbors).joint_relevance
        found.append([joint[pair] for pair in pairs])
    np.testing.assert_allclose(np.mean(found, axis=0), exact, atol=0.05)


def chosen_forward(terms, size):
    """The features that JMI chooses one after the other."""
    chosen = [int(np.argmax(terms.relevance))]
    while len(chosen) < size:
        gain = terms.relevance - terms.interaction[:, chosen].sum(axis=1) / (size - 1)
        gain[chosen] = -np.inf
        chosen.append(int(np.argmax(gain)))
    return set(chosen)


def hits(measure, tables):
    """How many of the five features that make the target are chosen, over some tables."""
    return sum(len(chosen_forward(information_terms(X, y, measure=measure), 5) & set(range(5))) for X, y in tables)


def test_what_is_chosen_is_about_as_good_as_by_counting():
    friedman = [make_friedman1(400, 15, noise=1.0, random_state=seed) for seed in range(6)]
    linear = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 30))
        linear.append((X, (X[:, :5].sum(axis=1) + rng.normal(size=300) > 0).astype(int)))
    for tables in (friedman, linear):
        assert hits("neighbors", tables) >= hits("plugin", tables) - 1


def test_sparse_matrices_are_refused():
    table = made_table([np.arange(6.0)], np.repeat([0, 1], 3))
    sparse = SparseBlock("number", np.arange(1), csc_array(np.arange(6.0)[:, None]))
    with pytest.raises(InvalidInput, match="sparse"):
        measure_table(Table(**{**table.__dict__, "blocks": (sparse,)}), Measuring(measure="neighbors", n_neighbors=3))
