"""Hashes by code: the same for the same behaviour in another process, another for whatever behaves otherwise."""

import functools
import importlib
import os
import pickle
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from types import ModuleType

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, make_scorer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from certselect.selectors.fingerprint import code_hash

KNOWN = {"dataclass": dataclass, "ABC": ABC, "abstractmethod": abstractmethod, "Enum": Enum, "cache": functools.cache}


def made(text, name="scorer", **known):
    """What a module of that text would define."""
    names = {"__name__": "users_module", "np": np, **KNOWN, **known}
    exec(text, names)
    return names[name]


BODIES = [
    "def scorer(e, X, y): return 1.0",
    "def scorer(e, X, y): return 2.0",
    "def scorer(e, X, y, weight=1.0): return weight",
    "def scorer(e, X, y, weight=2.0): return weight",
    "def scorer(e, X, y, *, weight=2.0): return weight",
    "def scorer(e, X, y): return e.score(X, y)",
    "def scorer(e, X, y): return e.other(X, y)",
    "def scorer(e, X, y): return (lambda: 1)()",
    "def scorer(e, X, y): return (lambda: 2)()",
    "def scorer(e, X, y): return y in {'a', 'b', 'c'}",
    "def scorer(e, X, y): return y in {'a', 'b', 'd'}",
    "def scorer(e, X, y): return helper()\ndef helper(): return 1",
    "def scorer(e, X, y): return helper()\ndef helper(): return 2",
    "WEIGHT = 1.0\ndef scorer(e, X, y): return WEIGHT",
    "WEIGHT = 2.0\ndef scorer(e, X, y): return WEIGHT",
    "TABLE = np.zeros(3)\ndef scorer(e, X, y): return TABLE",
    "TABLE = np.ones(3)\ndef scorer(e, X, y): return TABLE",
    "def closed(c):\n    def scorer(e, X, y): return c\n    return scorer\nscorer = closed(1)",
    "def closed(c):\n    def scorer(e, X, y): return c\n    return scorer\nscorer = closed(2)",
    "class Scorer:\n    def __call__(self, e, X, y): return 1\nscorer = Scorer",
    "class Scorer:\n    def __call__(self, e, X, y): return 2\nscorer = Scorer",
    "class Scorer:\n    weight = 1\n    def __call__(self, e, X, y): return self.weight\nscorer = Scorer",
    "class Scorer:\n    weight = 2\n    def __call__(self, e, X, y): return self.weight\nscorer = Scorer",
    "class Scorer:\n    @staticmethod\n    def of(e): return 1\nscorer = Scorer",
    "class Scorer:\n    @staticmethod\n    def of(e): return 2\nscorer = Scorer",
    "class Scorer:\n    @property\n    def of(self): return 1\nscorer = Scorer",
    "class Scorer:\n    @property\n    def of(self): return 2\nscorer = Scorer",
    "class Base:\n    def of(self): return 1\nclass Scorer(Base):\n    pass\nscorer = Scorer",
    "class Base:\n    def of(self): return 2\nclass Scorer(Base):\n    pass\nscorer = Scorer",
    "@dataclass\nclass Scorer:\n    weight: float = 1.0\nscorer = Scorer()",
    "@dataclass\nclass Scorer:\n    weight: float = 2.0\nscorer = Scorer()",
    "class Scorer(ABC):\n    @abstractmethod\n    def of(self): return 1\nscorer = Scorer",
    "class Scorer(ABC):\n    @abstractmethod\n    def of(self): return 2\nscorer = Scorer",
    "class Scorer(Enum):\n    a = 1\nscorer = Scorer",
    "class Scorer(Enum):\n    a = 2\nscorer = Scorer",
    "class Scorer:\n    __slots__ = ('a',)\n    def of(self): return 1\nscorer = Scorer",
    "class Scorer:\n    __slots__ = ('a',)\n    def of(self): return 2\nscorer = Scorer",
    "@cache\ndef scorer(e, X, y): return 1",
    "@cache\ndef scorer(e, X, y): return 2",
    "scorer = lambda e, X, y: 1.0",
    "scorer = lambda e, X, y: 2.0",
]


def test_other_behaviour_has_another_hash():
    hashes = [code_hash(made(text)) for text in BODIES]
    assert len(set(hashes)) == len(BODIES)
    assert [code_hash(made(text)) for text in BODIES] == hashes


def test_a_function_may_move_within_its_file():
    text = BODIES[0]
    assert code_hash(made("\n\n\nother = 3\n" + text)) == code_hash(made(text))


def test_what_holds_a_function_has_its_hash():
    one, two = made(BODIES[0]), made(BODIES[1])
    for hold in (make_scorer, FunctionTransformer, functools.partial, lambda held: {"a": [held]}):
        assert code_hash(hold(one)) == code_hash(hold(made(BODIES[0])))
        assert code_hash(hold(one)) != code_hash(hold(two))


def test_a_class_that_speaks_of_itself():
    text = "class Scorer(dict):\n    def of(self): return super().of() + len(Scorer.{name})\nscorer = Scorer"
    assert code_hash(made(text.format(name="a"))) == code_hash(made(text.format(name="a")))
    assert code_hash(made(text.format(name="a"))) != code_hash(made(text.format(name="b")))


def test_installed_functions_count_by_name():
    assert code_hash(accuracy_score) != code_hash(f1_score)
    assert code_hash(make_pipeline(StandardScaler(), KNeighborsClassifier(3))) != code_hash(
        make_pipeline(StandardScaler(), KNeighborsClassifier(4))
    )


@pytest.mark.parametrize(
    "what", [threading.Lock(), (i for i in range(3)), made("scorer = lambda: l", l=threading.Lock())]
)
def test_what_cannot_be_taken_apart_has_no_hash(what):
    with pytest.raises(TypeError, match="cannot pickle"):
        code_hash(what)


def test_what_only_its_name_tells_is_refused():
    """As a compiled function of the user's own, whose body cannot be seen."""

    class Named:
        def __reduce__(self):
            return "SENTINEL"

    named = Named()
    sys.modules["users_module"] = ModuleType("users_module")
    sys.modules["users_module"].SENTINEL = named
    try:
        Named.__module__ = named.__module__ = "users_module"
        with pytest.raises(pickle.PicklingError, match="but by its name"):
            code_hash(named)
    finally:
        del sys.modules["users_module"]


# As sklearn changes the classes of its users: methods are wrapped, requests for metadata added.
OWN = """
from sklearn.base import BaseEstimator, TransformerMixin
from certselect.selectors.fingerprint import code_hash

class Own(TransformerMixin, BaseEstimator):
    words = {"one", "two", "three", "four"}

    def __init__(self, scale=1.0):
        self.scale = scale

    def fit(self, X, y=None, sample_weight=None):
        return self

    def transform(self, X):
        return X * self.scale if self.scale in {"one", "two", "three"} else X

HASH = code_hash([Own, Own(2.0), Own.fit, Own().transform])
"""


def test_another_process_finds_the_same(tmp_path, monkeypatch):
    (tmp_path / "users_file.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    here = importlib.import_module("users_file").HASH
    del sys.modules["users_file"]
    # Another order of sets, and bytecode out of a file.
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    printing = [sys.executable, "-c", "import users_file; print(users_file.HASH)"]
    done = subprocess.run(printing, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == here
