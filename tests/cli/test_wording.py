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
from certselect.cli.wording import in_flags
from certselect.errors import InvalidInput
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
        for option in strategy.options:
            for wrong in (-1, "nothing", []):
                try:
                    select(problem, name, **{option: wrong})
                except InvalidInput as error:
                    yield option, error


def outside_quotes(text):
    return re.sub(QUOTED, "''", text)


def test_no_error_of_the_settings_speaks_python():
    found = list(errors_of_settings())
    assert {name for keywords, _ in found for name in keywords} == set(all_settings()), "each can be wrong"
    keyword = re.compile(rf"(?<![\w-])({'|'.join(all_settings())})(=|\[)")
    with_underscore = [name for name in all_settings() if "_" in name]
    for keywords, error in found:
        for part in (error.got, error.expected, error.remedy):
            said = outside_quotes(in_flags(part))
            assert not keyword.search(said), (keywords, said)
            assert not any(re.search(rf"\b{name}\b", said) for name in with_underscore), (keywords, said)
            assert " as a str" not in said
            assert " as an int" not in said


def test_every_setting_is_told_by_its_option():
    flags = {
        name: [option.flag or f"--{name.replace('_', '-')}" for option in about.options]
        for name, about in all_settings().items()
    }
    for name, spelled in flags.items():
        said = in_flags(f"{name}=[] and in {name}. Leave {name} out. Pass {name}=, say.")
        either = " or ".join(spelled)
        assert said == f"{either} and in {either}. Leave {either} out. Pass {either}, say."


def test_no_error_of_a_strategys_option_speaks_python():
    found = list(errors_of_strategies())
    assert len({option for option, _ in found}) > 8
    for option, error in found:
        assert in_flags(error.got).startswith(f"--option {option}="), error
        assert re.sub(rf"--option {option}", "", in_flags(str(error))).count(f"{option}=") == 0


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ("bins=1; expected 2", "--bins 1; expected 2"),
        ("discretize='mdlp', or task='regression'.", "--discretize mdlp, or --task regression."),
        ("Use measure='plugin' or 'neighbors', or leave", "Use --measure plugin or neighbors, or leave"),
        ("weight='my column'", "--weight 'my column'"),
        ("certify=True or certify='tight'", "--certify or --tight"),
        ("n_features_to_select=0", "-k 0"),
        ("budget=5.5 for k=3; Raise it, or lower k to 2.", "--budget 5.5 for -k 3; Raise it, or lower -k to 2."),
        ("kinds['id']='levls'", "--kind id=levls"),
        ("'id' in kinds, which isn't there", "'id' in --kind, which isn't there"),
        ("the search's bins aren't bins=3", "the search's bins aren't --bins 3"),
        ("repir=True with strategy='cobra'", "--option repir=True with --strategy cobra"),
        ("Pass y.", "Pass --target."),
        ("missing labels in y, in 3 of 40 rows", "missing labels in the target, in 3 of 40 rows"),
        ("the measure and its costs, in English", "the measure and its costs, in English"),
        ("a/bins=3/t.csv and https://x.org/?k=3", "a/bins=3/t.csv and https://x.org/?k=3"),
    ],
)
def test_sentences(python, shell):
    assert in_flags(python) == shell


@given(st.text())
def test_what_is_quoted_stays_as_it_is(text):
    assert in_flags(f"the column {text!r} is there") == f"the column {text!r} is there"


def test_no_strategy_is_loaded_to_say_an_error():
    code = "import sys\nfrom certselect.cli.wording import in_flags\n"
    code += "print(in_flags('bins=1, draws=2'), any('strategies' in name for name in sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert out == "--bins 1, draws=2 False\n"


@given(st.text())
def test_any_text_can_be_said(text):
    assert isinstance(in_flags(text), str)
