"""The measure "mixed" against the mean of its slow twins, and in all ways of reading a table."""

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csc_array

import naive_copula
import naive_corrections
import naive_criteria
from certselect import choose_subset, information_terms, load_result
from certselect.coding import code_table
from certselect.errors import InvalidInput
from certselect.information import measure_table
from certselect.settings import Measuring
from certselect.table import read_table
from streamed import assert_same_terms, in_blocks, streamed_terms

CHANCE = {"measure": "mixed", "correction": "chance"}


def frame(m=80, seed=0, gaps=False):
    """Numbers, among them one with many ties, whole numbers of many values, and a category."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 4))
    X[:, 1] += X[:, 0]
    X[:, 2] = np.where(rng.random(m) < 0.6, 0.0, X[:, 2])
    table = pd.DataFrame(X, columns=list("abcd"))
    table["whole"] = rng.integers(0, 30, m)
    table["words"] = rng.choice(["p", "q", "r"], m)
    if gaps:
        table.loc[rng.random(m) < 0.2, "a"] = np.nan
        table.loc[rng.random(m) < 0.6, "d"] = np.nan  # missing values are too many equal ones
    y = X[:, 0] + (X[:, 2] > 0) + table["whole"] / 20 + rng.normal(size=m) / 2
    return table, y.to_numpy()


def by_ranks(scores, y, weights):
    """Relevance by ranks less chance, not limited, and its standard deviation, of lists of scores."""
    rest, total = naive_copula.residuals(y, [], weights)[0], math.fsum(weights)
    own = naive_copula.residuals(scores, [], weights)[0]
    product = math.fsum(w * a * b for w, a, b in zip(weights, rest, own, strict=True))
    lengths = [math.fsum(w * a * a for w, a in zip(weights, side, strict=True)) for side in (rest, own)]
    mean = (naive_copula.digamma((total - 1) / 2) - naive_copula.digamma((total - 2) / 2)) / 2
    return -math.log(1 - product**2 / (lengths[0] * lengths[1])) / 2 - mean, math.sqrt(2) * mean


def naive_terms(table, y, ranked, weights=None):
    """Relevance, cautious relevance, redundancy and overlap: the mean of both twins where columns are ranked."""
    read = read_table(table, y, task="regression", sample_weight=weights, missing="level")
    coded = code_table(read, Measuring(measure="plugin"))
    codes, target = coded.codes.tolist(), coded.target.tolist()
    weights = [1] * len(target) if weights is None else list(weights)
    scores = {}
    for i in ranked:
        values = [None if math.isnan(value) else float(value) for value in table.iloc[:, i]]
        scores[i] = [0.0 if score is None else score for score in naive_copula.scores(values, weights)]
    known, n = naive_copula.scores(list(y), weights), len(codes)
    relevance, cautious, redundancy, overlap = np.zeros(n), np.zeros(n), np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        relevance[i] = naive_corrections.information(codes[i], target, [0] * len(target), weights, "chance")
        cautious[i] = naive_criteria.cautious_relevance(codes[i], target, weights)
        if i in ranked:
            beyond, deviation = by_ranks(scores[i], known, weights)
            relevance[i] = relevance[i] / 2 + max(beyond, 0.0) / 2
            cautious[i] = cautious[i] / 2 + (beyond - 2 * deviation) / 2
        for j in range(n):
            alone = naive_corrections.information(codes[i], codes[j], [0] * len(target), weights, "chance")
            within = naive_corrections.information(codes[i], codes[j], target, weights, "chance")
            if i in ranked and j in ranked and i != j:
                of_ranks = naive_copula.pair(scores[i], scores[j], [], weights)[0]
                given = naive_copula.pair(scores[i], scores[j], [known], weights)[0]
                alone, within = alone / 2 + max(of_ranks, 0.0) / 2, within / 2 + max(given, 0.0) / 2
            redundancy[i, j], overlap[i, j] = alone, alone - within
    return relevance, cautious, redundancy, overlap


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_terms_equal_the_twins(gaps, weighted):
    table, y = frame(gaps=gaps)
    weights = np.random.default_rng(4).integers(1, 4, len(y)) if weighted else None
    ranked = [0, 1, 4] if gaps else [0, 1, 3, 4]
    twin = naive_terms(table, y, ranked, weights)
    terms = information_terms(table, y, task="regression", missing="level", sample_weight=weights, **CHANCE)
    others = ~np.eye(terms.n_features, dtype=bool)
    # Scores are rounded to whole units, which naive ones are not.
    np.testing.assert_allclose(terms.relevance, twin[0], rtol=0, atol=1e-6)
    np.testing.assert_allclose(terms.cautious_relevance, twin[1], rtol=0, atol=1e-6)
    np.testing.assert_allclose(terms.redundancy[others], twin[2][others], rtol=0, atol=1e-6)
    np.testing.assert_allclose(terms.overlap[others], twin[3][others], rtol=0, atol=1e-6)


@pytest.mark.parametrize("missing", ["level", "pairwise"])
def test_rows_are_those_of_the_matrices(missing):
    table, y = frame(gaps=True)
    rows, whole = (information_terms(table, y, task="regression", missing=missing, **CHANCE) for _ in range(2))
    for kind in ("overlap", "redundancy", "interaction", "conditional_redundancy", "doubled_overlap"):
        matrix = whole.pair_matrix(kind)
        assert (matrix == matrix.T).all()
        for i in range(rows.n_features):
            assert (rows.pair_row(kind, i) == matrix[i]).all()
    assert (whole.redundancy.diagonal() == whole.entropy).all()


def test_nothing_depends_on_the_order_of_rows_or_columns():
    table, y = frame(gaps=True)
    order = np.random.default_rng(1).permutation(len(y))
    one = information_terms(table, y, task="regression", **CHANCE)
    other = information_terms(table.iloc[order, ::-1], y[order], task="regression", **CHANCE, n_jobs=2)
    assert (one.cautious_relevance == other.cautious_relevance[::-1]).all()
    assert (one.overlap == other.overlap[::-1, ::-1]).all()


def test_sparse_tables_are_measured_like_dense_ones():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(90, 5)) * (rng.random((90, 5)) < [1.0, 0.9, 0.6, 0.3, 0.05])
    y = X[:, 0] + X[:, 1] + rng.normal(size=90)
    dense, sparse = (information_terms(some, y, task="regression", **CHANCE) for some in (X, csc_array(X)))
    assert (dense.cautious_relevance == sparse.cautious_relevance).all()
    assert (dense.overlap == sparse.overlap).all()


def test_noise_is_worth_nothing_and_seldom_significant():
    rng = np.random.default_rng(7)
    y = rng.normal(size=250)
    terms = information_terms(rng.normal(size=(250, 300)), y, task="regression", **CHANCE)
    assert terms.cautious_relevance.mean() < 0.0
    assert (terms.chance_p_values < 0.05).mean() < 0.07
    assert abs((terms.less_chance.beyond_chance).mean()) < 0.001


def test_it_sees_order_within_bins_and_shapes_that_neither_rise_nor_fall():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(400, 3))
    y = X[:, 0] + 1.5 * np.abs(X[:, 1]) + 0.1 * rng.normal(size=400)
    terms = information_terms(X, y, task="regression", **CHANCE)
    assert (terms.cautious_relevance[:2] > 0.05).all()
    assert terms.cautious_relevance[2] < 0.0


def test_classes_too():
    table, y = frame()
    classes = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    terms = information_terms(table, classes, **CHANCE)
    plugin = information_terms(table, classes, measure="plugin", correction="chance")
    assert (terms.relevance[[2, 5]] == plugin.relevance[[2, 5]]).all()
    assert (terms.relevance[[0, 1]] != plugin.relevance[[0, 1]]).all()


def test_duplicates_are_those_of_levels():
    table, y = frame()
    table["again"] = 3 * table["a"]
    table["other words"] = table["words"].map({"p": "x", "q": "y", "r": "z"})
    assert information_terms(table, y, task="regression", **CHANCE).copies == ((0, 6), (5, 7))


def test_auto_decides_by_the_task_and_the_number_of_rows():
    table, y = frame()
    numbers = information_terms(table, y, measure="auto")
    assert numbers.picked == "mixed: a target of numbers and at most 20000 rows"
    assert numbers.settings["measure"] == "mixed"
    assert information_terms(table, y > 0, measure="auto").picked == "plugin: a target of classes"
    X = np.random.default_rng(0).normal(size=(20_001, 1))
    many = information_terms(X, X[:, 0], measure="auto")
    assert many.picked == "plugin: a target of numbers and more than 20000 rows"


@pytest.mark.parametrize("measure", ["auto", "mixed"])
def test_a_table_in_blocks_is_read_whole_or_refused(measure):
    table, y = frame(m=700, gaps=True)
    rows = pa.Table.from_pandas(table.assign(y=y))
    asked = {"measure": measure, "correction": "chance", "task": "regression"}
    wanted = information_terms(rows, "y", **asked)
    assert_same_terms(streamed_terms(lambda: in_blocks(rows, [31, 90]), **asked), wanted)
    many = pa.concat_tables([rows] * 60)
    if measure == "mixed":
        with pytest.raises(InvalidInput, match="42000 rows in blocks with measure='mixed'.*Pass measure='plugin'"):
            streamed_terms(lambda: in_blocks(many, [5000]), **asked)
    else:
        assert streamed_terms(lambda: in_blocks(many, [5000]), **asked).settings["measure"] == "plugin"


def test_results_can_be_saved_and_verified(tmp_path):
    table, y = frame(gaps=True)
    result = choose_subset(table, y, 3, criterion="distinct", **CHANCE)
    result.save(tmp_path / "r.json")
    assert result.verify(table, y).verdict == "holds"
    assert load_result(tmp_path / "r.json").verify(table, y).verdict == "holds"


def test_settings_of_coding_count():
    table, y = frame()
    read = read_table(table, y, task="regression")
    few, many = (measure_table(read, Measuring(**CHANCE, bins=bins)) for bins in (2, 6))
    assert (few.relevance[[0, 1, 2, 4]] != many.relevance[[0, 1, 2, 4]]).all()
