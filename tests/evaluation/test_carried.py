"""How much the chosen features carry together, and whether chance would give as much."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from certselect import choose_subset, joint_information, load_result, verify
from certselect.evaluation.carried import LEVEL, CarriedInformation


def noise(seed, m=150, n=40):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, n)), rng.integers(0, 2, m)


def says_chance(X, y, k=5, **settings):
    return "No better than chance" in choose_subset(X, y, k, strategy="forward", **settings).statement


@pytest.mark.parametrize("k", [1, 3, 10])
def test_random_numbers_are_no_better_than_chance(k):
    assert sum(says_chance(*noise(seed), k) for seed in range(100)) >= 95


@pytest.mark.parametrize("shape", [(60, 300), (400, 10), (30, 15)])
def test_random_tables_of_other_shapes(shape):
    rng = np.random.default_rng(1)
    found = 0
    for seed in range(40):
        X, y = noise(seed, *shape)
        X[:, ::3] = rng.integers(0, 2, X[:, ::3].shape)
        X[:, 1] = rng.integers(0, 12, len(X))
        y = rng.choice(3, len(X), p=[0.7, 0.2, 0.1])
        found += says_chance(X, y, 4, correction="chance")
    assert found >= 38


def test_a_random_number_to_predict():
    found = 0
    for seed in range(40):
        X, _ = noise(seed)
        y = np.random.default_rng(seed + 1000).normal(size=len(X))
        found += says_chance(X, y)
    assert found >= 38


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_diabetes])
@pytest.mark.parametrize("measure", ["plugin", "gaussian_copula", "neighbors"])
def test_strong_tables_are_better(load, measure):
    X, y = load(return_X_y=True)
    for k in (1, 3):
        result = choose_subset(X, y, k, measure=measure, strategy="forward")
        assert result.carried.above_chance
        assert "chance" not in result.statement
        assert 0.05 < result.share_of_target <= 1.0


@pytest.mark.parametrize("parts", [2, 3])
def test_pure_interactions_are_better_than_chance(parts):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, (300, 20))
        y = X[:, :parts].sum(axis=1) % 2
        result = choose_subset(X, y, 4, include=range(parts), criterion="jmi")
        assert result.carried.above_chance
        assert result.share_of_target > 0.9
        assert set(range(parts)) <= set(result.carried.counted)


def test_the_share_is_that_of_the_joint_information():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (500, 6))
    y = (X[:, 0] + X[:, 1] + (rng.random(500) < 0.1)) % 3
    result = choose_subset(X, y, 2, strategy="exact")
    assert sorted(result.indices.tolist()) == [0, 1]
    whole = joint_information(X[:, :2], y)
    carried = result.carried
    assert carried.counted == (0, 1)
    assert carried.target_entropy == pytest.approx(whole.target_entropy, rel=1e-12)
    assert carried.chance == pytest.approx(whole.chance, rel=1e-9)
    assert carried.information == pytest.approx(whole.plug_in - whole.chance, rel=1e-9)
    assert carried.p_value == 0.0 or carried.p_value < 1e-30
    assert carried.statement in repr(result)


def test_the_words_by_hand():
    carried = CarriedInformation(0.5, 0.02, 0.7, (1, 2), 8, 30, 1e-9, 569)
    assert carried.statement == (
        "8 of 30 features carry at least 71 % of the target's information (3 % expected by chance, subtracted)."
    )
    assert carried.verdict == ""
    one = CarriedInformation(0.0, 0.02, 0.7, (1,), 1, 30, 0.5, 569)
    assert one.statement.startswith("1 of 30 feature carries 0 % of")
    assert one.verdict == (
        "No better than chance: as good a choice from as many shuffled columns is found with p = 0.500 (level 0.01)."
    )
    assert LEVEL == 0.01


def test_weights_are_repeated_rows():
    X, y = load_wine(return_X_y=True)
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    weighed = choose_subset(X, y, 3, sample_weight=weights).carried
    repeated = choose_subset(X[rows], y[rows], 3).carried
    assert weighed.information == pytest.approx(repeated.information, rel=1e-9)
    assert weighed.p_value == pytest.approx(repeated.p_value, rel=1e-6)


def test_pickles_and_files_keep_it(tmp_path):
    import pickle

    X, y = load_wine(return_X_y=True)
    result = choose_subset(X, y, 4)
    assert pickle.loads(pickle.dumps(result)).carried == result.carried
    assert pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(result)))).carried == result.carried
    result.save(tmp_path / "result.json")
    again = load_result(tmp_path / "result.json")
    assert again.carried == result.carried
    assert again.share_of_target == result.share_of_target
    assert again.verify(X, y).holds
    stored = result.to_dict()
    for name, value in (("information", 0.99), ("p_value", 0.5), ("counted", [int(result.indices[0])])):
        changed = stored | {"carried": stored["carried"] | {name: value}}
        assert not verify(changed, X, y).holds, name
    for name, value in (("information", -1.0), ("counted", [10**6]), ("target_entropy", 0), ("p_value", 2.0)):
        changed = stored | {"carried": stored["carried"] | {name: value}}
        assert verify(changed, X, y).verdict == "broken file", name


def test_blocks_count_the_rows_they_keep(tmp_path):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X.assign(kind=y).to_csv(tmp_path / "table.csv", index=False)
    here = choose_subset(X, y, 3, strategy="forward")
    blocks = choose_subset(tmp_path / "table.csv", "kind", 3, strategy="forward", memory="64MB")
    assert blocks.carried.share == pytest.approx(here.carried.share, abs=0.05)
    assert blocks.carried.above_chance


def test_gaps_sparse_columns_and_constant_rows():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{i}": rng.normal(size=200) for i in range(5)})
    y = (frame["x0"] + frame["x1"] > 0).astype(int)
    frame = frame.mask(rng.random(frame.shape) < 0.2)
    for missing in ("level", "pairwise"):
        carried = choose_subset(frame, y, 3, missing=missing).carried
        assert carried.above_chance
        assert 0.1 < carried.share < 1.0
