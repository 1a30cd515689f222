"""Marks in messages: settings are named by one function, and values cannot be taken for marks."""

import ast
import pickle
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import certselect
from certselect.cli.wording import in_options
from certselect.errors import (
    CertselectWarning,
    IdleSettingWarning,
    InvalidInput,
    UnknownColumn,
    either,
    first_setting,
    keyword,
    option,
    render,
    shown,
)
from certselect.settings import all_settings

SOURCES = Path(certselect.__file__).parent
# A proof or a theorem has a k and an order of its own, not the user's. The command line writes options itself.
OWN_NAMES = ("certificate", "theory", "cli", "datasets")
PARAMETERS = {"checkpoint", "cv", "k", "memory", "n_features_to_select", "n_jobs", "protocol", "resume"}
PARAMETERS |= {"sample_weight", "scoring", "sizes", "target"}
MESSAGES = {"InvalidInput", "UnknownColumn", "UnusableType", "NotInstalled", "warn_user"}
PARTS = {"got", "expected", "remedy", "what", "hint", "why", "said"}  # variables that hold part of a message
MARKS = st.sampled_from(["\ufdd0", "\ufdd1", "\ufdd2", "value", "name", "bins", "option", "either", "a", "'", " "])
HOSTILE = st.one_of(st.text(), st.lists(MARKS, max_size=12).map("".join))


class Foreign:
    """An object with a `repr` of its own, which is shown as it is."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


@given(HOSTILE)
def test_no_value_is_taken_for_a_mark(text):
    for value in (text, Foreign(text)):
        message = f"{keyword('bins', value)} in {shown(value)}"
        said = render(message)
        assert said == f"bins={shown(value)} in {shown(value)}"
        assert in_options(message).endswith(f" in {shown(value)}")
        assert not set(said) & {"\ufdd0", "\ufdd1", "\ufdd2"}


@given(HOSTILE)
def test_any_text_is_rendered(text):
    assert not set(render(text)) & {"\ufdd0", "\ufdd1", "\ufdd2"}
    assert render(f"{keyword('bins')}, {text}").startswith("bins, ")
    if "\ufdd0" not in text:
        assert first_setting(text) is None


@given(HOSTILE)
def test_names_of_settings_and_options_cannot_end_a_mark(text):
    assert first_setting(option(text, 1)) == "strategy_options"
    assert render(keyword("kinds", "skip", key=text)) == f"kinds[{shown(text)}]='skip'"
    assert render(either("a", text)) == "a"


def test_an_error_shows_python_and_keeps_its_marks():
    error = UnknownColumn(keyword("weight", "w"), keyword("kinds", "skip", key="a"), f"Leave {keyword('weight')} out.")
    for same in (error, pickle.loads(pickle.dumps(error)), error.changed()):
        assert type(same) is UnknownColumn
        assert str(same) == "Got weight='w'; expected kinds['a']='skip'. Leave weight out."
        assert (same.got, same.setting) == ("weight='w'", "weight")
        assert in_options(same) == "Got --weight w; expected --kind a=skip. Leave --weight out."
        assert same.args == ("weight='w'", "kinds['a']='skip'", "Leave weight out.")
    longer = error.changed(before="a file with ", after=" in it", remedy="Look.")
    assert str(longer) == "Got a file with weight='w' in it; expected kinds['a']='skip'. Look."
    assert in_options(longer).startswith("Got a file with --weight w in it; ")
    assert InvalidInput("a file", "another", "Look.").setting is None


def test_a_warning_shows_python_and_keeps_its_marks():
    warning = IdleSettingWarning(f"{keyword('bins', 3)} has no effect.")
    for same in (warning, pickle.loads(pickle.dumps(warning))):
        assert isinstance(same, CertselectWarning)
        assert (str(same), same.setting, in_options(same)) == (
            "bins=3 has no effect.",
            "bins",
            "--bins 3 has no effect.",
        )


def messages(tree):
    """The expressions of which messages are made: what is raised, warned of, or kept for that."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in MESSAGES:
            yield from (*node.args, *(each.value for each in node.keywords))
        elif isinstance(node, ast.Assign) and any(getattr(target, "id", "") in PARTS for target in node.targets):
            yield node.value


def unmarked(path):
    """Texts in messages that spell a setting as Python does, without a mark."""
    names = "|".join(sorted({*all_settings(), *PARAMETERS}, key=len, reverse=True))
    spelled = "|".join(name for name in names.split("|") if "_" in name)
    plain = re.compile(rf"(?<![\w/.?&-])(?:(?:{names})(?:=|\['?)|(?:{spelled})(?!\w))|\bas an? (?:int|str|bool)\b")
    for message in messages(ast.parse(path.read_text(encoding="utf-8"))):
        for piece in texts(message):
            if plain.search(piece.value):
                yield f"{path.name}:{piece.lineno}: {piece.value}"


def texts(node):
    """The literal texts of an expression, but for the arguments of functions that mark them."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node
    if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("keyword", "option", "either")):
        for child in ast.iter_child_nodes(node):
            yield from texts(child)


def test_the_search_for_unmarked_names_finds_them(tmp_path):
    file = tmp_path / "raising.py"
    file.write_text('raise InvalidInput(f"bins={bins}", f"{keyword(\'bins\', 3)}", "Pass y as an int.")\n')
    assert [found.partition(": ")[2] for found in unmarked(file)] == ["bins=", "Pass y as an int."]


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(SOURCES.rglob("*.py")) if path.relative_to(SOURCES).parts[0] not in OWN_NAMES],
    ids=lambda path: path.relative_to(SOURCES).as_posix(),
)
def test_every_setting_in_a_message_is_marked(path):
    assert list(unmarked(path)) == []
