"""What a measure from outside the package returns is checked, and errors name the measure."""

from dataclasses import replace

import numpy as np
import pytest

from certselect import Measure, information_terms
from certselect.errors import InvalidInput
from certselect.information.plugin import plugin_terms

RNG = np.random.default_rng(0)
X, Y = RNG.integers(0, 3, (60, 4)), RNG.integers(0, 2, 60)


class Short:
    def measured(self, kinds, features=None):
        return tuple(np.zeros((1, 2)) for _ in kinds)


def returning(change):
    def measured(coded, measuring, *, dtype, n_jobs):
        return change(plugin_terms(coded, dtype=dtype, n_jobs=n_jobs))

    return Measure("theirs", measured, "made for a test", needs="counts", uses=("bins",))


def error_of(change):
    with pytest.raises(InvalidInput) as error:
        information_terms(X, Y, measure=returning(change))
    return str(error.value)


def test_sound_terms_pass():
    assert information_terms(X, Y, measure=returning(lambda terms: terms)).n_features == 4


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda terms: None, "measure 'theirs' returned None; expected InformationTerms"),
        (lambda terms: replace(terms, relevance=terms.relevance[:2]), "returned relevance of another shape"),
        (lambda terms: replace(terms, levels=terms.levels[:2]), "expected an array of shape (4,)"),
        (lambda terms: replace(terms, relevance=[0.5] * 4), "returned relevance of another shape"),
        (lambda terms: replace(terms, relevance=np.full(4, np.nan)), "returned relevance that is NaN or infinite"),
        (lambda terms: replace(terms, pairs=None), "expected InformationTerms"),
        (lambda terms: replace(terms, pairs=Short()), "the redundancy of one feature of another shape"),
    ],
)
def test_other_terms_are_refused(change, said):
    error = error_of(change)
    assert said in error
    assert "'theirs'" in error


def test_a_function_without_the_parameters_is_refused():
    with pytest.raises(InvalidInput, match=r"measure 'theirs' that does not fit.*dtype"):
        Measure("theirs", lambda table, measuring, *, n_jobs: None, "made for a test", needs="counts")
