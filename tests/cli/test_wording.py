"""Errors and notes speak of options, whatever Python calls them."""

import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certselect import SubsetProblem, list_strategies, select
from certselect.cli.wording import in_options, spelled
from certselect.errors import IdleSettingWarning, InvalidInput, either, keyword, option, render
from certselect.settings import Settings, all_settings

QUOTED = r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)"""
WRONG = [None, True, -1, 0, 1, 10**9, 2.5, float("nan"), "", "nothing", "tight ", [], [[]], [1.5], {"a": "b"}, {1: 2}]
# Settings that check each other.
TOGETHER = [
    {"costs": {"a": 1.0}},
    {"budget": 3.0},
    {"max_seconds": 1.0, "strategy_options": {"max_seconds": 2.0}},
    {"kinds": {"id": "levls"}},
    {"feature_groups": {"at_most_ones": [["a", "b"]]}},
]


def errors_of_settings():
    for keywords in [*({name: wrong} for name in all_settings() for wrong in WRONG), *TOGETHER]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                Settings.from_keywords(keywords)
        except InvalidInput as error:
            yield keywords, error


def errors_of_strategies():
    problem = SubsetProblem.from_matrix(np.eye(3), 2)
    for name, strategy in list_strategies().items():
        for option_name in strategy.options:
            for wrong in (-1, "nothing", []):
                try:
                    select(problem, name, **{option_name: wrong})
                except InvalidInput as error:
                    yield option_name, error


def outside_quotes(text):
    return re.sub(QUOTED, "''", text)


def test_no_error_of_the_settings_speaks_python():
    found = list(errors_of_settings())
    assert {name for keywords, _ in found for name in keywords} == set(all_settings()), "each can be wrong"
    keyword_of = re.compile(rf"(?<![\w-])({'|'.join(all_settings())})(=|\[)")
    with_underscore = [name for name in all_settings() if "_" in name]
    for keywords, error in found:
        for part in error.render(spelled):
            said = outside_quotes(part)
            assert not keyword_of.search(said), (keywords, said)
            assert not any(re.search(rf"\b{name}\b", said) for name in with_underscore), (keywords, said)
            assert " as a str" not in said
            assert " as an int" not in said


def test_an_error_carries_the_setting_that_it_is_about():
    for keywords, error in errors_of_settings():
        assert error.setting in keywords or "the cost" in error.got, (keywords, str(error))
    for option_name, error in errors_of_strategies():
        assert error.setting == "strategy_options", (option_name, str(error))


def test_every_setting_is_told_by_its_option():
    flags = {
        name: [option.flag or f"--{name.replace('_', '-')}" for option in about.options]
        for name, about in all_settings().items()
    }
    for name, options in flags.items():
        called, bare = keyword(name), keyword(name, spelled="")
        said = in_options(f"{keyword(name, [])} and in {called}. Leave {called} out. Pass {bare}, say.")
        either = " or ".join(options)
        assert said == f"{either} and in {either}. Leave {either} out. Pass {either}, say."


def test_no_error_of_a_strategys_option_speaks_python():
    found = list(errors_of_strategies())
    assert len({name for name, _ in found}) > 8
    for name, error in found:
        assert error.render(spelled)[0].startswith(f"--option {name}="), error
        assert re.sub(rf"--option {name}", "", in_options(error)).count(f"{name}=") == 0


@pytest.mark.parametrize(
    ("marked", "python", "shell"),
    [
        (f"{keyword('bins', 1)}; expected 2", "bins=1; expected 2", "--bins 1; expected 2"),
        (
            f"{keyword('discretize', 'mdlp')}, or {keyword('task', 'regression')}.",
            "discretize='mdlp', or task='regression'.",
            "--discretize mdlp, or --task regression.",
        ),
        (
            f"Use {keyword('measure', 'plugin', 'neighbors')}, or leave",
            "Use measure='plugin' or 'neighbors', or leave",
            "Use --measure plugin or neighbors, or leave",
        ),
        (keyword("weight", "my column"), "weight='my column'", "--weight 'my column'"),
        (
            f"{keyword('certify', True)} or {keyword('certify', 'tight')}",
            "certify=True or certify='tight'",
            "--certify or --tight",
        ),
        (keyword("n_features_to_select", 0), "n_features_to_select=0", "-k 0"),
        (
            f"{keyword('budget', spelled='5.5')} for {keyword('k', 3)}; Raise it, or lower {keyword('k')} to 2.",
            "budget=5.5 for k=3; Raise it, or lower k to 2.",
            "--budget 5.5 for -k 3; Raise it, or lower -k to 2.",
        ),
        (keyword("kinds", "levls", key="id"), "kinds['id']='levls'", "--kind id=levls"),
        (f"'id' in {keyword('kinds')}, which isn't there", "'id' in kinds, which isn't there", None),
        (f"the search's bins aren't {keyword('bins', 3)}", "the search's bins aren't bins=3", None),
        (
            f"{option('repir', True)} with {keyword('strategy', 'cobra')}",
            "repir=True with strategy='cobra'",
            "--option repir=True with --strategy cobra",
        ),
        (f"Leave {option('repair')} out", "Leave repair out", "Leave --option repair out"),
        (f"Pass {either('y', '--target')}.", "Pass y.", "Pass --target."),
        (
            f"missing labels in {keyword('y')}, in 3 of 40 rows",
            "missing labels in y, in 3 of 40 rows",
            "missing labels in the target, in 3 of 40 rows",
        ),
        ("the measure and its costs, in English", "the measure and its costs, in English", None),
        ("a/bins=3/t.csv and https://x.org/?k=3", "a/bins=3/t.csv and https://x.org/?k=3", None),
        (keyword("reading", {}), "reading={}", "reading={}"),
    ],
)
def test_sentences(marked, python, shell):
    shell = shell or {
        "'id' in kinds, which isn't there": "'id' in --kind, which isn't there",
        "the search's bins aren't bins=3": "the search's bins aren't --bins 3",
    }.get(python, python)
    assert render(marked) == python
    assert in_options(marked) == shell


def test_a_warning_carries_its_setting():
    with pytest.warns(IdleSettingWarning, match=r"^bins=7 has no effect with measure='gaussian_copula'\.$") as warned:
        Settings.from_keywords({"measure": "gaussian_copula", "bins": 7})
    assert warned[0].message.setting == "bins"
    assert in_options(warned[0].message) == "--bins 7 has no effect with --measure gaussian_copula."


@given(st.text())
def test_what_is_quoted_stays_as_it_is(text):
    assert in_options(f"the column {text!r} is there") == f"the column {text!r} is there"


def test_no_strategy_is_loaded_to_say_an_error():
    code = "import sys\nfrom certselect.cli.wording import in_options\nfrom certselect.errors import keyword, option\n"
    code += "said = in_options(f\"{keyword('bins', 1)}, {option('draws', 2)}\")\n"
    code += "print(said, any('strategies' in name for name in sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert out == "--bins 1, --option draws=2 False\n"


@given(st.text())
def test_any_text_can_be_said(text):
    assert isinstance(in_options(text), str)
