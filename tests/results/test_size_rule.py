"""How many features where no number is given: a share of the columns, or the fewest that carry nearly as much."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from as_before import counted, jmi
from certselect import SubsetSelector, choose_subset, information_terms, load_result, verify
from certselect.errors import InvalidInput
from certselect.results.size_rule import SizeRule, asked_size
from results.made_results import made, numbers, told_apart
from results.mutations import put


def noise(m=80, n=6):
    rng = np.random.default_rng(7)
    return rng.normal(size=(m, n)), np.tile([0, 1], m // 2)


@pytest.mark.parametrize(
    ("share", "size"), [(0.5, 3), (0.1, 1), (1e-9, 1), (0.99, 6), (0.15, 1), (2 / 7, 2), (np.float64(0.3), 2)]
)
def test_a_share_of_the_usable_columns(share, size):
    X, y = numbers()
    selector = SubsetSelector(share, strategy="forward").fit(X, y)
    assert selector.support_.sum() == size
    rule = selector.result_.size_rule
    assert (rule.asked, rule.usable) == (float(share), 7)
    assert rule.statement.startswith(f"Size: {share:g} of the 7 usable columns")
    assert selector.indices_.tolist() == SubsetSelector(size, strategy="forward").fit(X, y).indices_.tolist()


def test_a_share_is_of_what_can_be_chosen():
    X, y = numbers()
    X = np.column_stack([X, np.ones((len(y), 5))])
    assert choose_subset(X, y, 0.5, exclude=[0]).indices.size == 3  # of 6: five are constant
    # 0.29 * 100 is a little less than 29 in floating point.
    wide = np.random.default_rng(0).integers(0, 2, (40, 100))
    assert choose_subset(wide, np.tile([0, 1], 20), 0.29, strategy="relevance").indices.size == 29


def test_a_share_that_groups_do_not_allow_is_rounded_down():
    X, y = numbers()
    pairs = [[0, 1], [2, 3], [4, 5]]
    assert choose_subset(X, y, 0.5, feature_groups=pairs, exclude=[6]).indices.size == 2  # 3 cannot be had
    assert choose_subset(X, y, 0.2, feature_groups=pairs, exclude=[6]).indices.size == 2  # nor 1: the smallest


def information_of(X, y, path):
    """J(k) of the first columns of a path, by loops over plain counts and the exact chance level."""
    terms = information_terms(X, y, measure="plugin", correction="none")
    n_classes = len(np.unique(y))
    found = []
    for k in range(1, len(path) + 1):
        alone = sum(
            terms.relevance[i] - terms.chance[i] * (1 + 2 * np.sqrt(2 / ((terms.levels[i] - 1) * (n_classes - 1))))
            for i in path[:k]
        )
        pairs = [terms.redundancy[i, j] - terms.conditional_redundancy[i, j] for i, j in combinations(path[:k], 2)]
        found.append(alone - sum(pairs) / max(1, k - 1))
    return np.array(found)


@pytest.mark.parametrize("criterion", ["jmi", "mrmr", "max_relevance", "cmim"])
def test_auto_takes_the_fewest_that_carry_nearly_as_much(criterion):
    X, y = load_wine(return_X_y=True)
    plain = {"strategy": "forward", "criterion": criterion, "measure": "plugin", "correction": "none"}
    result = choose_subset(X, y, "auto", **plain)
    rule = result.size_rule
    path = choose_subset(X, y, 13, **plain).indices
    expected = information_of(X, y, path)
    np.testing.assert_allclose(rule.information, expected, rtol=1e-9)
    enough = np.flatnonzero(expected >= 0.9 * expected.max())[0] + 1
    assert len(result.indices) == enough == rule.size(result.problem)
    assert result.indices.tolist() == path[:enough].tolist()
    assert rule.statement in repr(result)
    assert result.provenance.seconds["size"] > 0
    assert result.verify(X, y).holds


def test_auto_takes_at_most_half_of_many_columns():
    X, y = load_breast_cancer(return_X_y=True)
    rule = choose_subset(X, y, "auto", strategy="forward").size_rule
    assert rule.size(None) <= 15
    wide = np.random.default_rng(0).normal(size=(100, 200))
    rule = choose_subset(wide, np.tile([0, 1], 50), "AUTO", strategy="forward").size_rule
    assert len(rule.information) == 64  # no more are looked at


def test_auto_follows_forward_selection_and_another_search_takes_the_size():
    X, y = told_apart()
    rule = choose_subset(X, y, "auto", strategy="forward").size_rule
    other = choose_subset(X, y, "auto", strategy="exact")
    assert other.size_rule == rule
    assert len(other.indices) == rule.size(other.problem)


def test_auto_keeps_one_feature_of_noise_and_says_so():
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 20, (80, 6)), np.tile([0, 1], 40)
    result = SubsetSelector("auto", discretize="quantile").fit(X, y).result_
    if max(result.size_rule.information) <= 0:
        assert len(result.indices) == 1
        assert "no feature of the 6 usable columns carries more" in result.size_rule.statement
    assert "No better than chance" in result.statement


def test_neither_the_order_of_rows_nor_weights_for_repetitions_matter():
    X, y = (part[:24] for part in noise(n=3))
    rng = np.random.default_rng(0)
    weights, order = rng.integers(0, 4, len(y)), rng.permutation(len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    found = [
        SubsetSelector("auto", strategy="forward").fit(*data, sample_weight=by).result_.size_rule
        for data, by in (
            ((X[rows], y[rows]), None),
            ((X[rows[::-1]], y[rows[::-1]]), None),
            ((X, y), weights),
            ((X[order], y[order]), weights[order]),
        )
    ]
    assert all(rule == found[0] for rule in found[1:])


def test_auto_in_blocks_is_auto_in_memory(tmp_path):
    X, y = load_wine(return_X_y=True, as_frame=True)
    X.assign(kind=y).to_csv(tmp_path / "wine.csv", index=False)
    here = choose_subset(tmp_path / "wine.csv", "kind", "auto", strategy="forward")
    blocks = choose_subset(tmp_path / "wine.csv", "kind", "auto", strategy="forward", memory="64MB")
    assert blocks.size_rule == here.size_rule
    assert blocks.names == here.names


@pytest.mark.parametrize("measure", ["gaussian_copula", "neighbors"])
def test_auto_by_other_measures(measure):
    X, y = load_wine(return_X_y=True)
    result = choose_subset(X, y, "auto", measure=measure, strategy="forward")
    assert 1 <= len(result.indices) <= 13
    assert result.verify(X, y).holds


def test_included_features_are_kept_whatever_they_add():
    X, y = noise()
    result = choose_subset(X, y, "auto", include=[4, 5])
    assert {4, 5} <= set(result.indices.tolist())
    assert result.size_rule.n_included == 2
    assert result.verify(X, y).holds
    everything = choose_subset(X, y, "auto", include=range(6))
    assert len(everything.indices) == 6
    assert everything.verify(X, y).holds


def test_the_words_by_hand():
    def said(*information, usable=9, included=0):
        return SizeRule("auto", usable, included, information).statement

    assert said(0.5, 0.95, 1.0) == ("Size: 2 features carry 95 % of what the best 3 do, by single features and pairs.")
    assert said(0.95, 1.0) == "Size: 1 feature carries 95 % of what the best 2 do, by single features and pairs."
    assert said(0.5, 1.0, included=1) == (
        "Size: 2 features carry 100 % of what the best 2 do, by single features and pairs."
    )
    assert said(0.95, 1.0, 0.9, included=2) == (
        "Size: the 2 included features carry 100 % of what the best 2 do, by single features and pairs."
    )
    assert said(-0.1, -0.2) == (
        "Size: no feature of the 9 usable columns carries more information than chance gives; the fewest are kept."
    )
    capped = SizeRule("auto", 22, 0, tuple(np.arange(1.0, 23.0)))
    assert capped.size(None) == 11
    assert capped.statement.endswith("pairs; at most half of the columns are taken.")
    assert SizeRule(0.25, 1).statement == "Size: 0.25 of the only usable column, one at least."


@pytest.mark.parametrize(
    ("constraints", "said"),
    [
        ({"feature_groups": [[0, 1]]}, r"'auto' with feature_groups; .*adding one column at a time.*a fraction"),
        ({"costs": {0: 1.0}, "budget": 1.0}, "'auto' with costs; .*without looking at costs"),
    ],
)
def test_constraints_that_the_rule_does_not_know_are_refused(constraints, said):
    with pytest.raises(InvalidInput, match=said):
        choose_subset(*numbers(), "auto", **jmi(counted(constraints)))
    assert len(choose_subset(*numbers(), 0.5, **jmi(counted(constraints))).indices) == 3


@pytest.mark.parametrize("wrong", [1.0, 0.0, -0.2, 1.5, 3.0, np.nan, np.inf, "all", "", True, [3], b"auto", object])
def test_what_is_neither_number_nor_share_is_refused_before_the_table_is_read(wrong):
    with pytest.raises(InvalidInput, match=r"a whole number, a fraction between 0 and 1 such as 0\.2, or 'auto'"):
        choose_subset("no such file.csv", "y", wrong)
    with pytest.raises(InvalidInput, match=r"n_features_to_select="):
        SubsetSelector(wrong).fit(None, None)


def test_what_can_be_asked_for():
    assert asked_size(np.int32(3)) == 3
    assert asked_size(None) is None
    assert asked_size("Auto") == "auto"
    assert asked_size(0.2) == 0.2


@pytest.mark.parametrize("kind", ["a share", "by chance", "by chance beside others"])
def test_files_keep_the_rule(kind, tmp_path):
    result, data, _ = made(kind)
    result.save(tmp_path / "result.json")
    kept = load_result(tmp_path / "result.json")
    assert kept.size_rule.statement == result.size_rule.statement
    assert kept.size_rule == result.size_rule
    assert kept.verify(*data).holds
    assert result.verify(*data).holds
    number = choose_subset(*numbers(), 3, criterion="jmi", measure="plugin", correction="none")
    assert number.size_rule is None
    assert number.to_dict()["size"] is None


def test_the_size_follows_from_the_rule():
    result, data, _ = made("by chance")
    stored = result.to_dict()
    size = stored["size"]
    k = stored["selection"]["k"]
    wrong = {
        "features had to be chosen": [{"information": [1.0]}, {"information": [*range(1, 8)]}],
        "columns are usable": [{"usable": 6, "information": size["information"][:6]}],
        "features are included": [{"n_included": 1}],
        "is given for a share": [{"information": []}, {"asked": 0.5}],
    }
    assert 1 < k < 7
    for said, changes in wrong.items():
        for change in changes:
            outcome = verify(put(stored, ("size",), size | change), *data)
            assert outcome.verdict == "false claim", (change, outcome)
            assert said in outcome.reasons[0], (change, outcome.reasons)
    share, data, _ = made("a share")
    changed = put(share.to_dict(), ("size",), share.to_dict()["size"] | {"asked": 0.9})
    assert "6 features had to be chosen, not 3" in verify(changed, *data).reasons[0]


@pytest.mark.parametrize(
    "change",
    [
        {"asked": 1.0},
        {"asked": 1},
        {"asked": "all"},
        {"asked": None},
        {"usable": 8},
        {"n_included": -1},
        {"n_included": 10**9},
        {"information": [None]},
        {"information": [0.01] * 8},
        {"information": "many"},
        {"p_values": [0.5]},
        {"more": 1},
    ],
)
def test_sizes_that_cannot_be_are_refused(change):
    result, data, _ = made("by chance")
    stored = result.to_dict()
    assert not verify(put(stored, ("size",), stored["size"] | change), *data).holds


def test_a_rule_beside_a_choice_is_refused():
    stored = made("cross-validated").result.to_dict() | {"size": made("a share").result.to_dict()["size"]}
    assert "null beside a choice" in verify(stored, *numbers()).reasons[0]
