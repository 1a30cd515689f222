"""Names are matched in any case, and a slip of the pen is answered with the name that was probably meant."""

import pytest

from certselect.errors import InvalidInput
from certselect.names import Columns, did_you_mean, find_name, shown

CRITERIA = ["jmi", "mrmr", "mifs", "max_relevance"]


@pytest.mark.parametrize("given", ["mrmr", "mRMR", "MRMR"])
def test_case_does_not_matter(given):
    assert find_name("criterion", given, CRITERIA) == "mrmr"


def test_a_known_name_keeps_its_own_case():
    assert find_name("criterion", "my_OWN", ["jmi", "My_Own"]) == "My_Own"


def test_the_nearest_name_is_suggested():
    with pytest.raises(InvalidInput) as caught:
        find_name("criterion", "mrrm", CRITERIA)
    text = "Got criterion='mrrm'; expected one of jmi, mrmr, mifs, max_relevance. Did you mean 'mrmr'?"
    assert str(caught.value) == text


def test_nothing_is_suggested_for_what_is_like_none():
    with pytest.raises(InvalidInput, match=r"Check the spelling\.$"):
        find_name("criterion", "accuracy?", ["jmi", "mifs"])


def test_known_names_may_be_an_iterator():
    assert find_name("criterion", "JMI", iter(CRITERIA)) == "jmi"
    with pytest.raises(InvalidInput, match="Did you mean 'jmi'"):
        find_name("criterion", "jmii", iter(CRITERIA))


@pytest.mark.parametrize("given", [None, 3, b"jmi", ["jmi"], object()])
def test_what_is_no_name_is_refused(given):
    with pytest.raises(InvalidInput, match="as a str"):
        find_name("criterion", given, CRITERIA)


def test_what_else_is_taken_is_said():
    with pytest.raises(InvalidInput, match=r"expected False or True, or tight\. Did you mean 'tight'"):
        find_name("certify", "thight", ["tight"], also="False or True")


def test_errors_stay_short_and_quick_whatever_is_given():
    with pytest.raises(InvalidInput) as caught:
        find_name("criterion", "jmi" * 10**6, CRITERIA)
    assert len(str(caught.value)) < 300
    assert did_you_mean("jmi" + " " * 10**6, CRITERIA) == "Check the spelling."


def test_a_value_that_cannot_be_shown_does_not_hide_the_error():
    class Broken:
        def __repr__(self):
            raise RuntimeError

    assert "Broken" in shown(Broken())
    assert shown(10**5000) == "<int>"  # too many digits for Python to write out
    assert shown("jmi") == "'jmi'"


def test_a_name_that_two_columns_have_is_nobodys():
    with pytest.raises(InvalidInput, match=r"'a' in include, the name of 2 columns.*by its index"):
        Columns(["a", "b", "a"]).find("include", "a")
    assert Columns(["a", "b", "a"]).find("include", 2) == 2
