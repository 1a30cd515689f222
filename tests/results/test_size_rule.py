"""How many features where no number is given: a share of the columns, or as many as add more than chance."""

import numpy as np
import pytest

from certselect import SubsetSelector, choose_subset, load_result, stop_at_chance, verify
from certselect.errors import InvalidInput
from certselect.results.size_rule import SizeRule, asked_size
from certselect.table import read_table
from certselect.table.order import in_own_order
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
    selector = SubsetSelector(share, strategy="forward", criterion="jmi", measure="plugin", correction="none").fit(X, y)
    assert selector.support_.sum() == size
    rule = selector.result_.size_rule
    assert (rule.asked, rule.usable) == (float(share), 7)
    assert rule.statement.startswith(f"Size: {share:g} of the 7 usable columns")
    assert (
        selector.indices_.tolist()
        == SubsetSelector(size, strategy="forward", criterion="jmi", measure="plugin", correction="none")
        .fit(X, y)
        .indices_.tolist()
    )


def test_a_share_is_of_what_can_be_chosen():
    X, y = numbers()
    X = np.column_stack([X, np.ones((len(y), 5))])
    assert (
        choose_subset(X, y, 0.5, exclude=[0], criterion="jmi", measure="plugin", correction="none").indices.size == 3
    )  # of 6: five are constant
    # 0.29 * 100 is a little less than 29 in floating point.
    wide = np.random.default_rng(0).integers(0, 2, (40, 100))
    assert (
        choose_subset(
            wide, np.tile([0, 1], 20), 0.29, strategy="relevance", criterion="jmi", measure="plugin", correction="none"
        ).indices.size
        == 29
    )


def test_a_share_that_groups_do_not_allow_is_rounded_down():
    X, y = numbers()
    pairs = [[0, 1], [2, 3], [4, 5]]
    assert (
        choose_subset(
            X, y, 0.5, feature_groups=pairs, exclude=[6], criterion="jmi", measure="plugin", correction="none"
        ).indices.size
        == 2
    )  # 3 cannot be had
    assert (
        choose_subset(
            X, y, 0.2, feature_groups=pairs, exclude=[6], criterion="jmi", measure="plugin", correction="none"
        ).indices.size
        == 2
    )  # nor 1: the smallest


def test_auto_stops_at_chance():
    X, y = told_apart()
    expected = stop_at_chance(in_own_order(read_table(X, y)), criterion="jmi", measure="plugin", correction="none")
    assert (
        stop_at_chance(X, y, criterion="jmi", measure="plugin", correction="none").k == expected.k
    )  # the p-values differ by chance
    result = choose_subset(X, y, "auto", strategy="forward", criterion="jmi", measure="plugin", correction="none")
    assert expected.k == 3
    assert len(result.indices) == expected.k
    assert result.indices.tolist() == expected.indices[: expected.k].tolist()
    rule = result.size_rule
    assert rule.p_values == tuple(expected.p_values)
    assert (rule.significance, rule.n_permutations) == (expected.significance, expected.n_permutations)
    assert f"Size: {expected.k} features add more than chance, the next one does not (p = " in rule.statement
    assert rule.statement in repr(result)
    assert result.provenance.seconds["size"] > 0
    # Another search finds its own subset of that size, by the same criterion and measure.
    other = choose_subset(
        X,
        y,
        "AUTO",
        criterion="max_relevance",
        discretize="quantile",
        strategy="exact",
        measure="plugin",
        correction="none",
    )
    assert sorted(other.indices.tolist()) == [0, 2, 5]


def test_auto_keeps_one_feature_of_noise_and_says_so():
    X, y = noise()
    assert stop_at_chance(X, y, criterion="jmi", measure="plugin", correction="none").k == 0
    selector = SubsetSelector("auto", criterion="jmi", measure="plugin", correction="none").fit(X, y)
    assert selector.support_.sum() == 1
    said = selector.result_.size_rule.statement
    assert said.startswith("Size: no feature adds more than chance (p = ")
    assert said.endswith("; the best one is kept all the same.")


@pytest.mark.parametrize("measure", ["plugin", "neighbors"])
def test_neither_the_order_of_rows_nor_weights_for_repetitions_matter(measure):
    X, y = (part[:24] for part in noise(n=3))
    rng = np.random.default_rng(0)
    weights, order = rng.integers(0, 4, len(y)), rng.permutation(len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    found = [
        SubsetSelector("auto", strategy="forward", measure=measure, criterion="jmi")
        .fit(*data, sample_weight=by)
        .result_.size_rule
        for data, by in (
            ((X[rows], y[rows]), None),
            ((X[rows[::-1]], y[rows[::-1]]), None),
            ((X, y), weights),
            ((X[order], y[order]), weights[order]),
        )
    ]
    assert all(rule == found[0] for rule in found[1:])


def test_auto_weighs_rows():
    X, y = (part[:40] for part in noise(n=3))
    weights = np.linspace(0.0, 3.0, len(y))
    result = (
        SubsetSelector("auto", criterion="jmi", measure="plugin", correction="none")
        .fit(X, y, sample_weight=weights)
        .result_
    )
    ordered = in_own_order(read_table(X, y, sample_weight=weights))
    assert result.size_rule.p_values == tuple(
        stop_at_chance(ordered, criterion="jmi", measure="plugin", correction="none").p_values
    )


def test_included_features_are_not_tested():
    X, y = noise()
    result = choose_subset(X, y, "auto", include=[4, 5], criterion="jmi", measure="plugin", correction="none")
    assert sorted(result.indices.tolist()) == [4, 5]
    assert np.isnan(result.size_rule.p_values[:2]).all()
    assert "no feature adds more than chance beside the 2 included (p = " in result.size_rule.statement
    everything = choose_subset(X, y, "auto", include=range(6), criterion="jmi", measure="plugin", correction="none")
    assert len(everything.indices) == 6
    assert "every usable feature is included" in everything.size_rule.statement
    assert everything.verify(X, y).holds


def test_the_words_by_hand():
    def said(*p_values, usable=9, included=0):
        return SizeRule("auto", usable, included, p_values, 0.05, 199).statement

    how = "significance 0.05, 199 permutations"
    assert said(0.01, 0.2) == f"Size: 1 feature adds more than chance, the next one does not (p = 0.200, {how})."
    assert said(0.01, 0.01) == f"Size: all 2 features tested add more than chance ({how}); there may be more."
    assert said(0.01, usable=1) == f"Size: the only feature tested adds more than chance ({how})."
    assert said(np.nan, 0.01, 0.3, included=1) == (
        f"Size: 1 feature adds more than chance beside the 1 included, the next one does not (p = 0.300, {how})."
    )
    assert SizeRule(0.25, 1).statement == "Size: 0.25 of the only usable column, one at least."
    assert "p = 0.05003, significance 0.05" in said(0.01, 0.05003)


@pytest.mark.parametrize(
    ("constraints", "said"),
    [
        ({"feature_groups": [[0, 1]]}, r"'auto' with feature_groups; .*adds one column at a time.*pass a fraction"),
        ({"costs": {0: 1.0}, "budget": 1.0}, "'auto' with costs; .*has nothing to do with chance"),
    ],
)
def test_constraints_that_the_test_does_not_know_are_refused(constraints, said):
    with pytest.raises(InvalidInput, match=said):
        choose_subset(*numbers(), "auto", **constraints)
    assert len(choose_subset(*numbers(), 0.5, **constraints).indices) == 3


@pytest.mark.parametrize("wrong", [1.0, 0.0, -0.2, 1.5, 3.0, np.nan, np.inf, "all", "", True, [3], b"auto", object])
def test_what_is_neither_number_nor_share_is_refused_before_the_table_is_read(wrong):
    with pytest.raises(InvalidInput, match=r"a whole number, a fraction between 0 and 1 such as 0\.2, or 'auto'"):
        choose_subset("no such file.csv", "y", wrong, criterion="jmi", measure="plugin", correction="none")
    with pytest.raises(InvalidInput, match=r"n_features_to_select="):
        SubsetSelector(wrong, criterion="jmi", measure="plugin", correction="none").fit(None, None)


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
    np.testing.assert_array_equal(kept.size_rule.p_values, result.size_rule.p_values)
    assert kept.verify(*data).holds
    assert result.verify(*data).holds
    number = choose_subset(*numbers(), 3)
    assert number.size_rule is None
    assert number.to_dict()["size"] is None


def with_statement(stored):
    """The size with the sentence that its numbers make, so that nothing but these is wrong."""
    numbers = {name: value for name, value in stored.items() if name != "statement"}
    p_values = tuple(np.nan if value is None else value for value in numbers.pop("p_values"))
    significance = numbers.pop("significance")
    rule = SizeRule(**numbers, p_values=p_values, significance=np.nan if significance is None else significance)
    return stored | {"statement": rule.statement}


def test_the_size_follows_from_the_rule():
    result, data, _ = made("by chance")
    stored = result.to_dict()
    size = stored["size"]
    k = stored["selection"]["k"]
    wrong = {
        "features had to be chosen": [{"p_values": [0.005] * (k - 1) + [0.5]}, {"p_values": [0.005] * 7}],
        "columns are usable": [{"usable": 6, "p_values": size["p_values"][:6]}],
        "features are included": [{"n_included": 1}],
        "do not fit together": [{"n_permutations": 10}, {"significance": None}, {"n_permutations": 0}],
        "something to test": [{"p_values": []}],
        "not included": [{"p_values": [None, *size["p_values"][1:]]}],
        "is said to have been tested": [{"asked": 0.5}],
    }
    for said, changes in wrong.items():
        for change in changes:
            outcome = verify(put(stored, ("size",), with_statement(size | change)), *data)
            assert outcome.verdict == "false claim", (change, outcome)
            assert said in outcome.reasons[0], (change, outcome.reasons)
    share, data, _ = made("a share")
    changed = put(share.to_dict(), ("size",), with_statement(share.to_dict()["size"] | {"asked": 0.9}))
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
        {"p_values": [0.0]},
        {"p_values": [2.0]},
        {"p_values": [0.01] * 8},
        {"p_values": "many"},
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
