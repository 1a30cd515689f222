"""A result is kept, checked and shown: whatever it is of, and by whichever way it came."""

import copy
import json
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certselect import Result, SubsetSelector, SubsetSelectorCV, choose_subset, load_result, verify
from certselect.errors import IdleSettingWarning, InvalidInput
from certselect.results import files
from results.made_results import KINDS, made, numbers


def facts(result):
    """What a file says, but for the sentence that a reader cannot make again: why a measure was picked."""
    stored = result.to_dict()
    return stored | {"provenance": stored["provenance"] | {"picked": None}}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_result_can_be_kept_checked_and_shown(kind, tmp_path):
    result, data, weights = made(kind)
    assert result.verify(*data, sample_weight=weights).reasons == ()
    path = tmp_path / "chosen.json"
    result.save(path)
    again = load_result(path)
    assert isinstance(again, Result)
    assert result.to_dict() == json.loads(path.read_text())
    assert facts(again) == facts(result)
    outcome = again.verify(*data, sample_weight=weights)
    assert outcome.reasons == ()
    assert outcome.holds
    assert outcome.statement == again.statement == again.to_dict()["statement"]
    assert again.names == result.names
    assert again.indices.tolist() == result.indices.tolist()
    told, told_again = result.explanation, again.explanation
    assert list(told["feature"]) == list(told_again["feature"])
    assert verify(path, *data, sample_weight=weights) == outcome
    np.testing.assert_equal(list(told["worth"]), list(told_again["worth"]))
    # As long as a person reads, and nothing of the table in it.
    for shown in (repr(result), repr(again)):
        assert len(shown) < 400
        assert len(shown.splitlines()) <= 4
        assert shown.startswith(f"Result: {len(result.names)} of {result.provenance.n_features} features")
        assert all(repr(name) in shown for name in result.names[:6])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", [lambda r: pickle.loads(pickle.dumps(r)), copy.copy, copy.deepcopy])
def test_copies_and_pickles_are_the_same_result(kind, way):
    result, data, weights = made(kind)
    again = way(result)
    assert again.to_dict() == result.to_dict()
    assert again.statement == result.statement
    assert repr(again) == repr(result)
    assert again.verify(*data, sample_weight=weights).holds


def test_a_short_repr_says_what_there_is_to_know():
    X, y = numbers()
    result = choose_subset(
        X,
        y,
        2,
        strategy="exhaustive",
        feature_names=[f"gene {i}" for i in range(7)],
        criterion="jmi",
        measure="plugin",
        correction="none",
    )
    first, second, third = repr(result).splitlines()
    assert (
        first == f"Result: 2 of 7 features, jmi = {result.selection.objective:.6g} nats, by exhaustive (proven optimal)"
    )
    assert second == "  " + ", ".join(map(repr, result.names))
    assert third == "  Proven optimal: no other 2 of the 7 columns score higher."
    assert (
        repr(choose_subset(X, y, 7, strategy="forward", criterion="jmi", measure="plugin", correction="none"))
        .splitlines()[1]
        .endswith(" and 1 more")
    )


def test_where_no_bound_was_computed_that_is_said_and_never_nan():
    X, y = numbers()
    plain = choose_subset(X, y, 2, strategy="forward", criterion="jmi", measure="plugin", correction="none")
    assert plain.statement == ""
    assert (
        repr(plain).splitlines()[2]
        == "  No bound was computed: certify=True computes one, from all 21 pairs of 7 columns."
    )
    assert "nan" not in repr(plain)
    any_size = choose_subset(
        X, y, None, strategy="forward", costs=[1] * 7, budget=3, criterion="jmi", measure="plugin", correction="none"
    )
    assert repr(any_size).splitlines()[2] == "  No bound was computed."


def test_a_result_explains_itself_in_the_library_of_the_frame(tmp_path):
    X, y = numbers()
    frame = pl.DataFrame(X, schema=[f"c{i}" for i in range(7)])
    result = SubsetSelector(2, criterion="jmi", measure="plugin", correction="none").fit(frame, y).result_
    told = result.explain()
    assert isinstance(told, pl.DataFrame)
    assert told["feature"].to_list() == list(frame.columns)
    assert told.filter(pl.col("chosen"))["feature"].to_list() == sorted(result.names)
    assert isinstance(result.explain("pandas"), pd.DataFrame)
    result.save(tmp_path / "r.json")
    pd.testing.assert_frame_equal(load_result(tmp_path / "r.json").explain("pandas"), result.explain("pandas"))


def test_a_result_of_cross_validation_keeps_the_scores(tmp_path):
    result, _, _ = made("cross-validated")
    result.save(tmp_path / "r.json")
    choice = load_result(tmp_path / "r.json").choice
    assert choice.sizes.tolist() == [1, 2, 3, 4]
    for name in ("split_scores", "mean_scores", "standard_errors"):
        np.testing.assert_array_equal(getattr(choice, name), getattr(result.choice, name))
    assert choice.estimator == "KNeighborsClassifier(n_neighbors=3)"
    stored = result.to_dict()
    for forged in ({"sizes": [1, 2, 3, 9]}, {"chosen": 1}, {"sizes": [4, 3, 2, 1]}):
        assert not verify(stored | {"choice": stored["choice"] | forged}, *numbers()).holds


def test_a_pickled_selector_is_small_and_whole(tmp_path):
    """A fit on 2000 x 500 pickles below 200 kB; the copy transforms, explains, saves and verifies."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    X = rng.normal(size=(2000, 500)) + y[:, None] * rng.random(500) / 2
    selector = SubsetSelector(10, criterion="jmi", measure="plugin", correction="none").fit(X, y)
    text = pickle.dumps(selector)
    assert len(text) < 200_000
    joblib.dump(selector, tmp_path / "selector.joblib")
    selector.result_.save(tmp_path / "first.json")
    for again in (pickle.loads(text), joblib.load(tmp_path / "selector.joblib"), copy.deepcopy(selector)):
        assert (again.transform(X) == selector.transform(X)).all()
        pd.testing.assert_frame_equal(again.report_frame("pandas"), selector.report_frame("pandas"))
        again.result_.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == (tmp_path / "first.json").read_bytes()
        assert again.result_.verify(X, y).holds
        assert len(pickle.dumps(again)) < 200_000
        assert again.selection_.gap == selector.gap_
    with pytest.raises(InvalidInput, match="not saved with the result"):
        _ = again.terms_.redundancy


def test_results_come_back_from_other_processes():
    X, y = numbers()
    tasks = [joblib.delayed(choose_subset)(X, y, k, strategy="forward") for k in (2, 3)]
    for k, result in zip((2, 3), joblib.Parallel(n_jobs=2)(tasks), strict=True):
        assert (
            result.to_dict()["selection"]
            == choose_subset(
                X, y, k, strategy="forward", criterion="jmi", measure="plugin", correction="none"
            ).to_dict()["selection"]
        )
        assert result.verify(X, y).holds


def test_a_cross_validated_selector_pickles_with_its_result():
    X, y = numbers()
    from sklearn.neighbors import KNeighborsClassifier

    selector = SubsetSelectorCV(
        KNeighborsClassifier(3), 3, cv=3, strategy="forward", criterion="jmi", measure="plugin", correction="none"
    ).fit(X, y)
    again = pickle.loads(pickle.dumps(selector))
    assert (again.predict(X) == selector.predict(X)).all()
    assert again.result_.to_dict() == selector.result_.to_dict()
    assert again.result_.verify(X, y).holds


SETTINGS = {
    "criterion": st.sampled_from(["jmi", "MRMR", "mifs", "d1", "max_relevance"]),
    "strategy": st.sampled_from(["forward", "backward", "relevance", "exhaustive", "annealing"]),
    "measure": st.sampled_from(["plugin", "gaussian_copula", "auto"]),
    "correction": st.sampled_from(["none", "grassberger"]),
    "discretize": st.sampled_from(["uniform", "quantile", "mean_std"]),
    "bins": st.sampled_from([2, np.int64(7), "sqrt"]),
    "polish": st.booleans(),
    "certify": st.booleans(),
    "random_state": st.sampled_from([None, 3, np.uint8(4), 10**30]),
    "include": st.sampled_from([None, [], ["x1"], np.array([1]), (0,), {"x4", 5}]),
    "exclude": st.sampled_from([None, [3]]),
    "feature_groups": st.sampled_from([None, [[1, "x2"]], {"at_most_one": [[5, 6]]}]),
    "budget": st.sampled_from([None, np.float32(2.5), 9]),
}


@settings(max_examples=30, deadline=None)
@given(st.fixed_dictionaries({}, optional=SETTINGS), st.integers(3, 5))
@pytest.mark.filterwarnings("ignore::certselect.errors.IdleSettingWarning")
def test_whatever_the_settings_a_file_says_the_same_as_the_result(tmp_path_factory, keywords, k):
    X, y = numbers()
    if keywords.get("budget") is not None:
        keywords["costs"] = {"x0": 1, 4: np.float64(0.5)}
    path = tmp_path_factory.mktemp("kept") / "r.json"
    result = choose_subset(X, y, k, **keywords)
    result.save(path)
    again = load_result(path)
    assert facts(again) == facts(result)
    assert again.settings.to_dict() == result.settings.to_dict()
    assert again.verify(X, y).reasons == ()


def test_reading_warns_of_nothing(tmp_path, recwarn):
    X, y = numbers()
    with pytest.warns(IdleSettingWarning):
        choose_subset(X, y, 2, measure="gaussian_copula", bins=7, criterion="jmi").save(tmp_path / "r.json")
    recwarn.clear()
    assert load_result(tmp_path / "r.json").verify(X, y).holds
    assert not recwarn


def test_random_states_that_are_no_numbers_are_not_written():
    X, y = numbers()
    for state in (np.random.default_rng(3), np.random.RandomState(3)):
        stored = choose_subset(
            X, y, 3, strategy="annealing", random_state=state, criterion="jmi", measure="plugin", correction="none"
        ).to_dict()
        assert stored["settings"]["searching"]["random_state"] is None
        assert stored["provenance"]["seed"] is None
        assert verify(stored, X, y).holds


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    result, _, _ = made("certified")
    path = tmp_path / "r.json"
    path.write_text("the old one")
    with monkeypatch.context() as broken:
        broken.setattr(files.os, "replace", lambda *names: (_ for _ in ()).throw(OSError("no space left")))
        with pytest.raises(InvalidInput, match=r"r\.json.*cannot be written \(no space left\)"):
            result.save(path)
    with monkeypatch.context() as broken:
        broken.setattr(files, "as_text", lambda result: (_ for _ in ()).throw(RuntimeError("no text")))
        with pytest.raises(RuntimeError):
            result.save(path)
    assert path.read_text() == "the old one"
    assert [file.name for file in tmp_path.iterdir()] == ["r.json"]
    result.save(path)
    assert load_result(path).names == result.names
    long = tmp_path / ("n" * 250 + ".json")
    result.save(long)
    assert load_result(str(long)).names == result.names


def test_twenty_thousand_columns_take_seconds(tmp_path):
    import time

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    X = rng.integers(0, 3, (100, 20_000)) + y[:, None] * (rng.random(20_000) < 0.1)
    result = choose_subset(X, y, 5, strategy="forward", criterion="jmi", measure="plugin", correction="none")
    started = time.perf_counter()
    result.save(tmp_path / "r.json")
    again = load_result(tmp_path / "r.json")
    assert time.perf_counter() - started < 10.0
    assert (tmp_path / "r.json").stat().st_size < 10_000_000
    assert again.verify(X, y).holds
