"""Settings: defaults, checks, plain JSON and back, and a word about those that have no effect."""

import json
import pickle
import subprocess
import sys
import warnings
from dataclasses import FrozenInstanceError, dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certselect.errors import IdleSettingWarning, InvalidInput
from certselect.information.registry import find_measure, measure_names
from certselect.settings import GROUPS, Constraints, Measuring, Reading, Searching, Settings, all_settings
from certselect.settings.measuring import MOST_BINS

DEFAULTS = {
    "task": "auto",
    "missing": "auto",
    "kinds": None,
    "weight": None,
    "measure": "plugin",
    "correction": "none",
    "n_neighbors": 5,
    "discretize": "quantile",
    "bins": "auto",
    "integers": "auto",
    "target_bins": "auto",
    "include": None,
    "exclude": None,
    "feature_groups": None,
    "costs": None,
    "budget": None,
    "max_shared": None,
    "copies": "first",
    "criterion": "jmi",
    "beta": None,
    "gamma": None,
    "order": 2,
    "relevance": None,
    "strategy": "auto",
    "strategy_options": None,
    "polish": False,
    "certify": False,
    "max_seconds": None,
    "device": "auto",
    "random_state": None,
}


@dataclass(frozen=True)
class OwnCriterion:
    name: str = "own"


def refused(keywords, *words):
    with pytest.raises(InvalidInput) as caught:
        Settings.from_keywords(keywords)
    for word in words:
        assert word in str(caught.value)


def test_defaults():
    assert Settings().flat() == DEFAULTS
    assert Settings.from_keywords({}) == Settings.from_keywords(DEFAULTS) == Settings()
    assert {name: about.default for name, about in all_settings().items()} == DEFAULTS


def test_defaults_are_as_their_checks_keep_them():
    # They are not checked again in every call.
    for name, about in all_settings().items():
        assert about.check(name, about.default) == about.default, name


def test_every_setting_explains_itself():
    for name, about in all_settings().items():
        assert about.help, name
        assert not about.help.endswith("."), name
        assert about.panel, name
        assert about.options, name
    assert len({about.panel for about in all_settings().values()}) == 4


def test_settings_load_nothing_heavy():
    heavy = "{'numpy', 'scipy', 'sklearn', 'pandas', 'numba', 'typer', 'rich'}"
    code = f"import certselect.settings, sys; print({heavy} & {{name.split('.')[0] for name in sys.modules}})"
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert out.strip() == "set()"


# Flat keywords


def test_keywords_go_to_their_group_and_back():
    keywords = DEFAULTS | {"task": "regression", "bins": 7, "include": ["a"], "strategy": "exact"}
    settings = Settings.from_keywords(keywords)
    assert settings.reading == Reading(task="regression")
    assert settings.measuring == Measuring(bins=7, measure="plugin", correction="none")
    assert settings.constraints == Constraints(include=["a"])
    assert settings.searching == Searching(strategy="exact")
    assert settings.flat() == keywords


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("estimator", "measure"),
        ("information", "measure"),
        ("groups", "feature_groups"),
        ("candidates", "sizes"),
    ],
)
def test_old_keywords_are_answered_with_the_new_ones(old, new):
    refused({old: "plugin"}, f"{old!r} is now called {new!r}")


def test_an_unknown_keyword_is_answered_with_the_nearest():
    refused({"max_second": 3}, "'max_second'", "Did you mean 'max_seconds'?")
    refused({"xyzzy": 3}, "Check the spelling; options of a strategy go into strategy_options.")
    refused({3: 3}, "Keywords are str.")


# Checks


@pytest.mark.parametrize("name", [name for name, about in all_settings().items() if about.choices and name != "bins"])
def test_choices_are_matched_in_any_case(name):
    for choice in all_settings()[name].choices:
        found = Settings.from_keywords({name: choice.upper()})
        assert found.flat()[name] == choice
    refused({name: "nonsense"}, f"{name}='nonsense'", next(iter(all_settings()[name].choices)))


def test_a_misspelt_choice_is_answered_with_the_nearest():
    refused({"measure": "nieghbors"}, "Did you mean 'neighbors'?")
    refused({"bins": "sturgess"}, "a whole number, 2 to 10000", "Did you mean 'sturges'?")
    refused({"certify": "tigt"}, "False, True or 'tight'", "Pass 'tight'")


WRONG = {
    "task": [None, 3, "labels", True],
    "missing": [None, "drop"],
    "kinds": ["age", 3, {"age": "real"}, {1.5: "levels"}, {"age": None}, [["age"]], [["age", "skip"], ["age", "skip"]]],
    "weight": [3, "", ["w"]],
    "measure": [None, 0],
    "correction": [None, False],
    "n_neighbors": [0, -1, 2.0, "3", True, None, np.float64(3)],
    "discretize": [None, 5],
    "bins": [1, 0, MOST_BINS + 1, 10**9, 5.0, "5", True, None, [5]],
    "integers": [None, 1],
    "target_bins": [1, MOST_BINS + 1, "sturges", 2.5, None],
    "include": ["a", b"a", 3, {"a": 1}, iter(["a"]), [1.5], [True], [None], [["a"]], np.array(3)],
    "exclude": ["a", 3, [1.5]],
    "feature_groups": ["ab", ["ab"], [[1.5]], {"all": [["a"]]}, {"at_most_one": ["ab"]}, {3: []}, 3, [3]],
    "copies": [None, "none", True, 1],
    "max_shared": [-0.1, 1.1, "0.9", True, float("nan")],
    "beta": ["1", True, float("nan"), float("inf"), -1, 10**400],
    "gamma": ["1", True, float("nan"), float("inf"), -1, 10**400],
    "relevance": ["a", 3, [-1.0], [None], {"a": "1"}],
    "order": ["2", True, 1, 4, 2.5, None],
    "criterion": [None, 3, "", ["jmi"]],
    "strategy": [None, 3, ""],
    "strategy_options": ["draws=5", ["draws"], {3: 4}, 3],
    "polish": [1, "yes", None],
    "certify": [1, "yes", None],
    "max_seconds": [0, -1, float("nan"), float("inf"), "3", True],
    "device": ["gpu", None, 0, ""],
    "random_state": [-1, "0", 1.5, True, [0]],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_wrong_values_are_refused_by_name(name, value):
    refused({name: value}, name)


@pytest.mark.parametrize(
    "costs",
    [
        "abc",
        3,
        np.array(3.0),
        np.ones((2, 2)),
        [1, -1],
        [1, None],
        {"a": "1"},
        {"a": float("nan")},
        {"a": True},
        {"a": 10**400},
        {1.5: 1},
        pd.Series([1, 2], index=["a", "a"]),
    ],
    ids=str,
)
def test_wrong_costs_are_refused(costs):
    refused({"costs": costs, "budget": 1}, "cost")


def test_costs_and_budget_need_each_other():
    refused({"costs": {"a": 1}}, "costs without a budget")
    refused({"budget": 3}, "budget=3 without costs")
    for budget in (-1, float("inf"), "3", True):
        refused({"costs": {"a": 1}, "budget": budget}, "budget")


def test_one_time_limit():
    refused({"max_seconds": 3, "strategy_options": {"max_seconds": 4}}, "max_seconds", "strategy_options")
    assert Searching(strategy_options={"max_seconds": 4}).max_seconds is None


def test_numpys_scalars_are_numbers_and_bools():
    measuring = Measuring(bins=np.int64(7), target_bins=np.int32(4), measure="plugin", correction="none")
    assert measuring == Measuring(bins=7, target_bins=4, measure="plugin", correction="none")
    assert type(measuring.bins) is int
    searching = Searching(beta=np.float32(0.5), polish=np.True_, certify=np.False_, random_state=np.int64(3))
    assert searching == Searching(beta=0.5, polish=True, certify=False, random_state=3)
    assert json.loads(json.dumps(searching.to_dict())) == searching.to_dict()


def test_settings_take_their_own_groups_only():
    with pytest.raises(InvalidInput, match="Measuring settings"):
        Settings(measuring={"bins": 5})  # type: ignore[arg-type]


def test_settings_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Settings().measuring.bins = 7  # type: ignore[misc]
    options = {"draws": 5}
    searching = Searching(strategy_options=options)
    options["draws"] = 6
    assert searching.strategy_options == {"draws": 5}


# What has no effect


@pytest.mark.parametrize(
    ("keywords", "sentences"),
    [
        ({"measure": "neighbors", "bins": 7}, ["bins=7 has no effect with measure='neighbors'."]),
        ({"measure": "gaussian_copula", "n_neighbors": 4}, ["n_neighbors=4 has no effect with"]),
        ({"n_neighbors": 4}, ["n_neighbors=4 has no effect with measure='plugin'."]),
        ({"discretize": "mdlp", "bins": 7}, ["bins=7 has no effect with discretize='mdlp'."]),
        ({"discretize": "mean_std", "bins": "sqrt", "measure": "auto"}, ["bins='sqrt' has no effect with discretize="]),
        (
            {"measure": "gaussian_copula", "discretize": "mdlp", "integers": "numbers", "bins": 7, "target_bins": 3}
            | {"correction": "shrinkage", "n_neighbors": 2},
            ["discretize='mdlp'", "integers='numbers'", "bins=7", "target_bins=3", "correction=", "n_neighbors=2"],
        ),
    ],
)
def test_an_idle_setting_is_named_once_with_what_makes_it_idle(keywords, sentences):
    for make in (lambda: Settings.from_keywords(keywords), lambda: Measuring(**keywords)):
        with pytest.warns(IdleSettingWarning) as caught:
            make()
        assert len(caught) == 1
        message = str(caught[0].message)
        assert message.count("has no effect with") == len(sentences)
        for sentence in sentences:
            assert sentence in message


@pytest.mark.parametrize(
    "keywords",
    [
        {"measure": "auto", "bins": 7, "correction": "shrinkage", "target_bins": 3},
        {"measure": "neighbors", "n_neighbors": 4, "bins": "auto"},
        {"bins": 7, "discretize": "quantile", "integers": "numbers", "correction": "miller_madow", "target_bins": 3},
        {"measure": "gaussian_copula"},
    ],
)
def test_settings_that_matter_or_have_their_default_are_taken_in_silence(keywords):
    assert Settings.from_keywords(keywords).measuring.idle() == {}  # a warning would be an error


def test_the_warning_points_at_the_users_line():
    for make in (
        lambda: Settings.from_keywords({"n_neighbors": 4}),
        lambda: replace(Measuring(measure="plugin", correction="none"), n_neighbors=4),
    ):
        with pytest.warns(IdleSettingWarning) as caught:
            make()
        assert Path(caught[0].filename).name == Path(__file__).name


def test_reading_saved_settings_does_not_warn_again():
    with pytest.warns(IdleSettingWarning):
        settings = Settings.from_keywords({"n_neighbors": 4})
    assert Settings.from_dict(settings.to_dict()) == settings


# Constraints as the user gave them


def test_constraints_keep_what_was_given_and_write_one_form():
    include, groups, costs = np.array(["b", "a"]), [("c", 3), {"e"}], pd.Series([1, 2.5], index=["a", "b"])
    constraints = Constraints(include=include, feature_groups=groups, costs=costs, budget=np.int64(3))
    assert constraints.include is include
    assert constraints.feature_groups is groups
    assert constraints.costs is costs
    written = {
        "include": ["b", "a"],
        "exclude": None,
        "feature_groups": {"all_or_none": [["c", 3], ["e"]]},
        "costs": [["a", 1.0], ["b", 2.5]],
        "budget": 3.0,
        "max_shared": None,
        "copies": "first",
    }
    assert constraints.to_dict() == written
    assert json.loads(json.dumps(written)) == written
    assert Constraints.from_dict(written) == constraints
    assert Constraints.from_dict(written).costs == {"a": 1.0, "b": 2.5}


def test_costs_per_column_and_by_index():
    assert Constraints(costs=np.array([1.0, 0.0]), budget=1).to_dict()["costs"] == [1.0, 0.0]
    by_index = Constraints(costs={0: 1, "b": 2}, budget=1)
    assert by_index.to_dict()["costs"] == [[0, 1.0], ["b", 2.0]]
    assert Constraints.from_dict(json.loads(json.dumps(by_index.to_dict()))).costs == {0: 1.0, "b": 2.0}


def test_empty_constraints_are_none():
    assert Constraints(include=[], exclude=(), feature_groups={"at_most_one": None}) == Constraints()
    assert Constraints(include=["a"]) != Constraints(exclude=["a"])
    assert Constraints() != Reading()


def test_a_set_is_written_in_the_same_order_every_time():
    assert Constraints(include={"c", "a", "b", 1}).to_dict()["include"] == [1, "a", "b", "c"]


# Plain JSON and back


def test_objects_are_written_by_name_or_as_null():
    generator = np.random.default_rng(0)
    searching = Searching(
        criterion=OwnCriterion(), random_state=generator, strategy_options={"f": print, "n": np.arange(2), "t": (1, 2)}
    )
    assert searching.random_state is generator
    assert searching.criterion == OwnCriterion()
    plain = searching.to_dict()
    assert plain["criterion"] == "own"
    assert plain["random_state"] is None
    assert plain["strategy_options"] == {"f": None, "n": [0, 1], "t": [1, 2]}
    nested = []
    for _ in range(5000):
        nested = [nested]
    deep = Searching(strategy_options={"deep": nested, "far": float("inf"), "inner": {"a": np.float64(1)}}).to_dict()
    assert len(json.dumps(deep)) < 500
    assert deep["strategy_options"]["far"] is None
    assert deep["strategy_options"]["inner"] == {"a": 1.0}


def of_choices(name):
    return st.sampled_from(sorted(all_settings()[name].choices))


features = st.text() | st.integers()
lists = st.none() | st.lists(features, min_size=1)
grouped = st.lists(st.lists(features))
positive = st.none() | st.floats(min_value=0, exclude_min=True, allow_infinity=False)
costs = st.floats(min_value=0, allow_infinity=False)
priced = (st.lists(costs) | st.dictionaries(features, costs)).flatmap(
    lambda given: costs.map(lambda budget: {"costs": given, "budget": budget})
)
literals = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=4,
)
keyword_sets = st.builds(
    lambda plain, prices: plain | prices,
    st.fixed_dictionaries(
        {},
        optional={
            **{name: of_choices(name) for name in ("task", "missing", "correction", "discretize")},
            "measure": st.sampled_from(measure_names()),
            "integers": of_choices("integers"),
            "weight": st.none() | st.text(min_size=1),
            "n_neighbors": st.integers(min_value=1),
            "bins": st.integers(2, MOST_BINS) | of_choices("bins"),
            "target_bins": st.integers(2, MOST_BINS),
            "include": lists,
            "exclude": lists,
            "feature_groups": st.none() | grouped | st.fixed_dictionaries({"at_most_one": grouped}),
            "criterion": st.text(min_size=1),
            "beta": st.none() | costs,
            "gamma": st.none() | costs,
            "order": st.sampled_from([2, 3]),
            "strategy": st.text(min_size=1),
            "strategy_options": st.none() | st.dictionaries(st.text(), literals, max_size=3),
            "polish": st.booleans(),
            "certify": st.sampled_from([False, True, "tight"]),
            "max_seconds": positive,
            "device": st.sampled_from(["auto", "cpu", "cuda"]),
            "random_state": st.none() | st.integers(min_value=0),
        },
    ),
    st.just({}) | priced,
)


@given(keyword_sets)
def test_settings_survive_json_flattening_and_pickling(keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdleSettingWarning)
        settings = Settings.from_keywords(keywords)
        assert Settings.from_keywords(settings.flat()) == settings
    written = settings.to_dict()
    assert list(written) == list(GROUPS)
    assert Settings.from_dict(json.loads(json.dumps(written, allow_nan=False))) == settings
    assert pickle.loads(pickle.dumps(settings)) == settings
    for name, value in keywords.items():
        assert settings.flat()[name] == value


def test_what_a_file_leaves_out_has_its_default():
    assert Settings.from_dict({}) == Settings()
    assert Settings.from_dict({"measuring": {"bins": 7}}) == Settings(
        measuring=Measuring(bins=7, measure="plugin", correction="none")
    )


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(list(all_settings())), anything)
def test_whatever_a_file_holds_is_taken_or_refused(name, value):
    group = next(key for key, group in GROUPS.items() if name in group().to_dict())
    try:
        settings = Settings.from_dict({group: {name: value}})
    except InvalidInput:
        return
    written = settings.to_dict()
    assert Settings.from_dict(json.loads(json.dumps(written, allow_nan=False))).to_dict() == written


@pytest.mark.parametrize(
    ("plain", "words"),
    [
        (None, "a mapping"),
        ([], "a mapping"),
        ({"measurin": {}}, "Did you mean 'measuring'?"),
        ({"measuring": None}, "measuring=None"),
        ({"measuring": {"bin": 3}}, "Did you mean 'bins'?"),
        ({"measuring": {3: 3}}, "Keys are str"),
        ({"measuring": {"measure": ["plugin"]}}, "measure="),
        ({"measuring": {"bins": "5"}}, "bins='5'"),
        ({"constraints": {"costs": [["a", 1.0], ["b"]], "budget": 1}}, "pairs"),
        ({"constraints": {"costs": [["a", 1.0], 3], "budget": 1}}, "pairs"),
        ({"constraints": {"costs": [[[], 1.0]], "budget": 1}}, "pairs"),
        ({"constraints": {"costs": [[1.5, 1.0]], "budget": 1}}, "1.5 in costs"),
        ({"constraints": {"costs": [["a", None]], "budget": 1}}, "the cost None of 'a'"),
        ({"constraints": {"costs": {"a": 1}}}, "without a budget"),
        ({"constraints": []}, "constraints=[]"),
        ({"searching": {"criterion": {"name": "jmi"}}}, "criterion="),
        ({"searching": {"random_state": {"random": 1}}}, "random_state="),
    ],
)
def test_hostile_files_are_refused_with_a_reason(plain, words):
    with pytest.raises(InvalidInput) as caught:
        Settings.from_dict(plain)
    assert words in str(caught.value)


def test_a_measure_of_a_file_is_looked_up_when_it_is_needed():
    """So that a file can be read where the measure is not registered."""
    read = Settings.from_dict({"measuring": {"measure": "Nieghbors", "bins": 3}})
    assert read.measuring.measure == "nieghbors"
    with pytest.raises(InvalidInput, match="Did you mean 'neighbors'"):
        find_measure(read.measuring.measure)
