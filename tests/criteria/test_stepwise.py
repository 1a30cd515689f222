"""The criteria that are no sums over pairs: by hand, against their twins in every kind of table, without proofs."""

import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array
from sklearn.linear_model import LogisticRegression

import naive_criteria
from certselect import (
    SubsetSelector,
    SubsetSelectorCV,
    certify,
    choose_subset,
    information_terms,
    load_result,
    relax,
    select,
    selection_path,
    stop_at_chance,
    subset_problem,
    verify,
)
from certselect.criteria import CRITERIA, STEPWISE
from certselect.errors import FewerFeaturesWarning, InvalidInput
from certselect.information.terms import PairTerms

LN2 = math.log(2)
# Two fair coins, their XOR and a copy of the first coin.
COINS = np.array([[0, 0, 0, 0], [0, 1, 1, 0], [1, 0, 1, 1], [1, 1, 0, 1]])
# CMI ends early on small tables.
LASTING = [name for name in STEPWISE if name != "cmi"]


def table(seed=5, rows=90, columns=6):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    X = (rng.integers(0, 3, (rows, columns)) + y[:, None] * (rng.random((rows, columns)) < 0.4)) % 3
    return X, y


def lists(X):
    return [column.tolist() for column in np.asarray(X).T]


def assert_follows_the_twin(X, y, name, k, **settings):
    found = select(subset_problem(information_terms(X, y, **settings), k, name, copies="all"), "forward")
    order, scores = naive_criteria.stepwise_forward(name, lists(X), y.tolist(), k)
    assert found.indices.tolist() == order
    assert np.diff(found.scores, prepend=0.0) == pytest.approx(scores, rel=1e-9, abs=1e-12)
    assert found.objective == pytest.approx(math.fsum(scores), rel=1e-12, abs=1e-13)


@pytest.mark.parametrize(
    ("name", "order", "scores"),
    [
        # The target is the XOR of columns 0 and 1.
        ("cmim", [0, 1], [0.0, 0.0]),
        ("jmim", [0, 1], [0.0, LN2]),
        ("njmim", [0, 1], [0.0, 0.5]),
        ("cmi", [0, 1], [0.0, LN2]),
        ("miq", [2, 0], [LN2, 0.0]),
        ("cmim", [2, 0], [LN2, 0.0]),
        ("jmim", [2, 0], [LN2, LN2]),
        ("njmim", [2, 0], [LN2, 0.5]),
        # A copy of a chosen coin tells nothing beside it, so the least is nothing.
        ("cmim", [2, 0, 1], [LN2, 0.0, 0.0]),
        ("jmim", [0, 1, 3], [0.0, LN2, 0.0]),
        ("cmi", [0, 1, 3], [0.0, LN2, 0.0]),
    ],
)
def test_scores_by_hand(name, order, scores):
    problem = subset_problem(
        information_terms(COINS, COINS[:, 2], measure="plugin", correction="none"), len(order), name, copies="all"
    )
    assert problem.terms(order) == pytest.approx(scores, abs=1e-14)
    assert problem.value(order) == pytest.approx(sum(scores), abs=1e-14)


@pytest.mark.parametrize("name", STEPWISE)
@pytest.mark.parametrize("seed", range(3))
def test_forward_follows_the_twin(name, seed):
    assert_follows_the_twin(*table(seed, columns=7), name, 5)


@pytest.mark.parametrize("name", STEPWISE)
def test_forward_follows_the_twin_of_columns_of_many_levels(name):
    rng = np.random.default_rng(3)
    X, y = table(columns=5)
    X[:, 1] = rng.integers(0, 30, len(y))
    assert_follows_the_twin(X, y, name, 4, integers="levels")


@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(STEPWISE)), st.integers(2, 5))
def test_forward_follows_the_twin_where_much_is_tied(seed, name, k):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, (12, 5)), rng.integers(0, 2, 12)
    varied = X[:, X.min(axis=0) < X.max(axis=0)]
    k = min(k, varied.shape[1])
    if k == 0 or len(set(y.tolist())) == 1:
        return
    terms = information_terms(varied, y, measure="plugin", correction="none")
    order, scores = naive_criteria.stepwise_forward(name, lists(varied), y.tolist(), k)
    problem = subset_problem(terms, k, name, copies="all")
    if len(order) < k:
        with pytest.warns(FewerFeaturesWarning, match=f"Asked for {k} features, but beside {len(order)} no other"):
            found = select(problem)
    else:
        found = select(problem)
    assert found.indices.tolist() == order
    assert found.objective == pytest.approx(math.fsum(scores), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", LASTING)
@pytest.mark.parametrize("seed", range(4))
def test_floating_follows_the_twin(name, seed):
    X, y = table(seed, rows=40, columns=6)
    found = select(
        subset_problem(information_terms(X, y, measure="plugin", correction="none"), 4, name, copies="all"), "floating"
    )
    assert found.indices.tolist() == naive_criteria.stepwise_floating(name, lists(X), y.tolist(), 4)


def test_cmi_is_the_information_of_all_together():
    X, y = table(rows=300)
    terms = information_terms(X, y, measure="plugin", correction="none")
    for strategy in ("forward", "floating"):
        found = select(subset_problem(terms, 3, "cmi"), strategy)
        chosen = naive_criteria.together(*(lists(X)[i] for i in found.indices))
        assert found.objective == pytest.approx(naive_criteria.information(chosen, y.tolist()), rel=1e-12)


@pytest.mark.parametrize("name", STEPWISE)
def test_whole_weights_are_repeated_rows(name):
    X, y = table()
    weights = np.random.default_rng(1).integers(1, 4, len(y))
    weighted = subset_problem(
        information_terms(X, y, sample_weight=weights, measure="plugin", correction="none"), 3, name
    )
    assert_follows_the_twin(np.repeat(X, weights, axis=0), np.repeat(y, weights), name, 3)
    repeated = subset_problem(
        information_terms(np.repeat(X, weights, axis=0), np.repeat(y, weights), measure="plugin", correction="none"),
        3,
        name,
    )
    assert weighted.value([0, 3, 1]) == pytest.approx(repeated.value([0, 3, 1]), rel=1e-12)
    scaled = subset_problem(
        information_terms(X, y, sample_weight=weights * 0.3, measure="plugin", correction="none"), 3, name
    )
    assert scaled.value([0, 3, 1]) == pytest.approx(repeated.value([0, 3, 1]), rel=1e-9)


@pytest.mark.parametrize("name", STEPWISE)
def test_sparse_tables_are_what_they_are_dense(name):
    X, y = table()
    dense, sparse = (
        subset_problem(information_terms(form, y, measure="plugin", correction="none"), 3, name)
        for form in (X, csc_array(X))
    )
    assert sparse.terms([0, 2, 1]) == dense.terms([0, 2, 1])
    assert select(sparse).indices.tolist() == select(dense).indices.tolist()


@pytest.mark.parametrize("name", STEPWISE)
def test_missing_values(name):
    X, y = table(rows=150)
    X = X.astype(float)
    X[np.random.default_rng(2).random(X.shape) < 0.1] = np.nan
    coded = np.where(np.isnan(X), 9, X).astype(int)
    kinds = dict.fromkeys(range(6), "levels")
    level = subset_problem(
        information_terms(X, y, missing="level", kinds=kinds, measure="plugin", correction="none"), 3, name
    )
    expected = naive_criteria.steps_along(name, lists(coded), [0, 2, 1], y.tolist())
    assert level.terms([0, 2, 1]) == pytest.approx(expected, rel=1e-11)
    apart = subset_problem(
        information_terms(X, y, missing="pairwise", kinds=kinds, measure="plugin", correction="none"), 3, name
    )
    assert np.isfinite(apart.terms([0, 2, 1])).all()
    if name == "cmi":  # of the rows that have all three
        there = ~np.isnan(X[:, [0, 2, 1]]).any(axis=1)
        expected = naive_criteria.information_given(
            coded[there, 1].tolist(), y[there].tolist(), lists(coded[there][:, [0, 2]])
        )
        assert apart.terms([0, 2, 1])[2] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("correction", ["miller_madow", "grassberger", "shrinkage", "chance"])
@pytest.mark.parametrize("name", STEPWISE)
def test_corrections(name, correction):
    terms = information_terms(*table(rows=200), correction=correction)
    problem = subset_problem(terms, 2, name)
    if name == "cmi" and correction == "chance":
        with pytest.raises(InvalidInput, match=r"several features\) with correction='chance'"):
            select(problem)
        return
    found = select(problem)
    assert np.isfinite(found.scores).all()
    if name == "cmi":  # beside one feature it is what pairs say
        pair = terms.relevance - terms.pair_row("interaction", 0)
        other = np.delete(np.arange(6), 0)
        assert terms.relevance_given([0])[other] == pytest.approx(np.maximum(pair, 0)[other], abs=1e-2)


@pytest.mark.parametrize("measure", ["gaussian_copula", "neighbors"])
@pytest.mark.parametrize("name", STEPWISE)
def test_other_measures_where_they_have_the_terms(name, measure):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    problem = subset_problem(information_terms(rng.normal(size=(60, 4)) + y[:, None], y, measure=measure), 3, name)
    if name in ("njmim", "cmi", "jmi3", "cife3"):
        with pytest.raises(InvalidInput, match=f"with measure={measure!r}; expected measure='plugin'"):
            select(problem)
    else:
        assert len(select(problem, "floating").indices) == 3


def test_conditional_information_beside_one_feature_is_that_of_pairs():
    terms = information_terms(*table())
    for i in range(6):
        expected = terms.relevance - terms.pair_row("interaction", i)
        assert np.delete(terms.relevance_given([i]), i) == pytest.approx(np.delete(expected, i), abs=1e-14)


@pytest.mark.parametrize("correction", ["none", "miller_madow"])
def test_compiled_counts_give_the_same_floats(correction, monkeypatch):
    X, y = table(rows=300)
    X[:, 3] = np.random.default_rng(0).integers(0, 40, 300)
    coded = {"correction": correction, "integers": "levels"}
    plain = information_terms(X, y, **coded)
    together = ([0], [0, 3], [1, 2], [0, 1, 2, 4])
    expected = [plain.relevance_given(some) for some in together]
    monkeypatch.setattr("certselect.information.kernels.joint_cells.PLAIN_CELLS", 0)
    compiled = information_terms(X, y, **coded)
    for some, row in zip(together, expected, strict=True):
        assert np.array_equal(compiled.relevance_given(some), row)
        assert np.array_equal(compiled.relevance_given(some, np.array([5, 3])), row[[5, 3]])
    if correction == "none":
        assert np.array_equal(compiled.single("impurity_gain"), plain.single("impurity_gain"))
        assert np.array_equal(compiled.pair_matrix("impurity_gain"), plain.pair_matrix("impurity_gain"))
    monkeypatch.setattr("certselect.information.kernels.joint_cells._CHUNK", 1)  # sorted, one feature at a time
    monkeypatch.setattr("certselect.information.kernels.joint_cells._MOST_CELLS", 0)
    thin = information_terms(X, y, **coded)
    for some, row in zip(together, expected, strict=True):
        assert np.array_equal(thin.relevance_given(some), row)


class Counting(PairTerms):
    """Pair terms that note for which features they are asked."""

    def __init__(self, pairs):
        self.pairs, self.asked = pairs, []

    def measured(self, kinds, features=None):
        self.asked += features.tolist()
        return self.pairs.measured(kinds, features)


@pytest.mark.parametrize("name", ["cmim", "jmim", "njmim", "miq", "disr"])
def test_only_rows_of_chosen_features_are_counted_and_each_once(name):
    terms = information_terms(*table(columns=30))
    counting = Counting(terms.pairs)
    found = select(subset_problem(replace(terms, pairs=counting), 5, name), "forward")
    chosen = found.indices.tolist()
    # The value of a sum over pairs asks for one row more: that of the last feature, or one that stands for it.
    assert counting.asked[:4] == chosen[:4]
    assert counting.asked[4:] in ([], [chosen[4]] if name == "disr" else [])


def test_no_certificate_exists_and_that_is_said():
    X, y = table()
    terms = information_terms(X, y, measure="plugin", correction="none")
    for name in STEPWISE:
        problem = subset_problem(terms, 2, name)
        first = next(iter(CRITERIA))
        said = f"with criterion='{name}'; expected strategy='forward' or 'floating'.*no sum over pairs.*{first}, "
        for strategy in ("cobra", "exact", "exhaustive", "backward", "annealing", "relevance"):
            with pytest.raises(InvalidInput, match=f"strategy='{strategy}' {said}"):
                select(problem, strategy)
        for asked in ({"certify": True}, {"certify": "tight"}, {"polish": True}):
            (option,) = asked
            with pytest.raises(InvalidInput, match=f"{option}=.* {said}"):
                select(problem, "forward", **asked)
            with pytest.raises(InvalidInput, match=said):
                selection_path(terms, [1, 2], name, **asked)
            with pytest.raises(InvalidInput, match=said):
                choose_subset(X, y, 2, criterion=name, **asked)
        found = select(problem)
        for prove in (lambda: certify(problem, found), lambda: relax(problem), lambda: problem.matrix):  # noqa: B023
            with pytest.raises(InvalidInput, match=said):
                prove()
        with pytest.raises(InvalidInput, match="a sum over pairs"):
            stop_at_chance(X, y, criterion=name, measure="plugin", correction="none")


@pytest.mark.parametrize("name", LASTING)
def test_results_are_saved_verified_explained_and_pickled(name, tmp_path):
    X, y = table(columns=7)
    selector = SubsetSelector(3, criterion=name, measure="plugin", correction="none").fit(X, y)
    result = selector.result_
    assert (result.selection.strategy, result.selection.status) == ("forward", "complete")
    assert math.isnan(selector.upper_bound_)
    assert f"No bound exists for {name}" in repr(result)
    result.save(tmp_path / "chosen.json")
    again = load_result(tmp_path / "chosen.json")
    assert f"No bound exists for {name}" in repr(again)
    outcome = again.verify(X, y)
    assert outcome.holds, outcome.reasons
    assert outcome.objective == result.selection.objective
    assert outcome.unit == STEPWISE[name].unit
    worth = [result.explanation["worth"][i] for i in result.indices]
    assert math.fsum(worth) == pytest.approx(result.selection.objective, rel=1e-12)
    assert result.explanation["why"][result.indices[0]].startswith("chosen: adds ")
    left = next(i for i in range(7) if i not in result.indices)
    assert "others added more when they were chosen" in result.explanation["why"][left]
    result.to_html(tmp_path / "report.html")
    assert "No bound exists" in (tmp_path / "report.html").read_text()
    kept = pickle.loads(pickle.dumps(result))
    np.testing.assert_equal(dict(kept.explanation), dict(result.explanation))
    assert kept.fingerprint == result.fingerprint
    stored = json.loads((tmp_path / "chosen.json").read_text())
    for change, reason in (
        ({"objective": stored["selection"]["objective"] * 1.01}, "these features are worth"),
        ({"upper_bound": stored["selection"]["objective"] * 2, "gap": 1.0}, "bound"),
    ):
        wrong = verify({**stored, "selection": stored["selection"] | change}, X, y)
        assert not wrong.holds
        assert reason in str(wrong.reasons)


def test_the_order_of_choice_is_part_of_what_is_verified(tmp_path):
    X, y = table(columns=7)
    result = choose_subset(X, y, 3, criterion="cmim", measure="plugin", correction="none")
    stored = result.to_dict()
    chosen = stored["selection"]
    lists_in_order = [name for name, value in chosen.items() if isinstance(value, list) and len(value) == 3]
    turned = {name: chosen[name][::-1] for name in lists_in_order if name != "scores"}
    assert not verify({**stored, "selection": chosen | turned}, X, y).holds


def test_cmi_ends_where_nothing_is_added(tmp_path):
    X, y = table(rows=30, columns=8)
    with pytest.warns(FewerFeaturesWarning, match="no other adds anything by criterion='cmi'"):
        result = choose_subset(X, y, 8, criterion="cmi", measure="plugin", correction="none")
    order, scores = naive_criteria.stepwise_forward("cmi", lists(X), y.tolist(), 8)
    assert result.indices.tolist() == order
    assert result.selection.k == len(order) < 8
    assert result.selection.objective == pytest.approx(math.fsum(scores), rel=1e-12)
    result.save(tmp_path / "chosen.json")
    outcome = load_result(tmp_path / "chosen.json").verify(X, y)
    assert outcome.holds, outcome.reasons
    np.testing.assert_equal(dict(pickle.loads(pickle.dumps(result)).explanation), dict(result.explanation))
    terms = information_terms(X, y, measure="plugin", correction="none")
    # Of several sizes each is answered, by the most relevant features where nothing else adds anything.
    path = selection_path(terms, range(1, 9), "cmi")
    assert [len(one.indices) for one in path] == list(range(1, 9))
    assert path[-1].indices[: len(order)].tolist() == order
    assert path[-1].objective == pytest.approx(result.selection.objective, rel=1e-12)
    share = choose_subset(X, y, 0.9, criterion="cmi", measure="plugin", correction="none")
    assert len(share.indices) == share.selection.k == 7
    assert share.verify(X, y).holds, share.verify(X, y).reasons
    with pytest.warns(FewerFeaturesWarning):
        floated = select(subset_problem(terms, 8, "cmi"), "floating")
    assert floated.k == len(floated.indices) < 8


def test_a_search_that_is_out_of_time_or_interrupted_is_filled_up(monkeypatch):
    X, y = table(columns=8)
    terms = information_terms(X, y, measure="plugin", correction="none")
    problem = subset_problem(terms, 4, "cmim")
    late = select(problem, max_seconds=1e-9)
    assert late.out_of_time
    assert len(late.indices) == len(late.scores) == 4
    assert late.objective == pytest.approx(problem.value(late.indices), rel=1e-12)
    rows = []

    def interrupted(self, kind, feature):
        rows.append(feature)
        if len(rows) == 2:
            raise KeyboardInterrupt
        return pair_row(self, kind, feature)

    pair_row = type(terms).pair_row
    monkeypatch.setattr(type(terms), "pair_row", interrupted)
    stopped = select(subset_problem(information_terms(X, y, measure="plugin", correction="none"), 4, "cmim"))
    assert (stopped.status, len(stopped.indices)) == ("interrupted", 4)
    assert stopped.indices[:2].tolist() == select(problem).indices[:2].tolist()


def test_several_sizes_and_cross_validation():
    X, y = table(rows=60)
    terms = information_terms(X, y, measure="plugin", correction="none")
    for name in LASTING:
        path = selection_path(terms, [3, 1, 2], name)
        for k, one in zip([3, 1, 2], path, strict=True):
            assert one.indices.tolist() == select(subset_problem(terms, k, name)).indices.tolist()
            assert one.scores == select(subset_problem(terms, k, name)).scores
    chosen = SubsetSelectorCV(
        LogisticRegression(), criterion=["cmim", "jmi"], sizes=[1, 2, 3], cv=2, measure="plugin", correction="none"
    ).fit(X, y)
    assert chosen.result_.settings.searching.criterion in ("cmim", "jmi")
    # No split of 30 rows has six features that each add something.
    ended = SubsetSelectorCV(
        LogisticRegression(), criterion="cmi", sizes=[6], cv=2, measure="plugin", correction="none"
    ).fit(X[:30], y[:30])
    assert len(ended.indices_) == 6
    assert ended.result_.verify(X[:30], y[:30]).holds


@pytest.mark.parametrize("strategy", ["forward", "floating"])
@pytest.mark.parametrize("name", LASTING)
def test_constraints_hold(name, strategy):
    X, y = table(columns=8)
    terms = information_terms(X, y, measure="plugin", correction="none")
    found = select(subset_problem(terms, 3, name, include=[6], exclude=[0], copies="all"), strategy)
    assert found.indices[0] == 6
    assert 0 not in found.indices
    groups = {"all_or_none": [[1, 4]], "at_most_one": [[2, 3, 5]]}
    problem = subset_problem(terms, 4, name, feature_groups=groups, costs=np.ones(8), budget=4.0, copies="all")
    found = select(problem, strategy)
    assert (1 in found.indices) == (4 in found.indices)
    assert len({2, 3, 5}.intersection(found.indices.tolist())) <= 1
    assert found.objective == pytest.approx(problem.value(found.indices), rel=1e-12)
    any_size = select(subset_problem(terms, None, name, costs=np.ones(8), budget=3.0, copies="all"), strategy)
    assert len(any_size.indices) <= 3
