"""What a saved search for the size was about, so that no other search goes on from it.

Objects are hashed by what they do. What is installed or part of Python or certselect counts by its name and
version. Of everything else a function counts with its bytecode, constants, default and closed-over values and with
the global names it uses; a class with its bases and all that its body defines.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from pickle import PicklingError
from types import BuiltinFunctionType, CodeType, FunctionType, GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any

import numpy as np
import sklearn
from joblib.hashing import NumpyHasher

from certselect import __version__
from certselect.criteria import find_criterion
from certselect.errors import InvalidInput
from certselect.search.registry import find_strategy, is_auto
from certselect.selectors.fold_scores import Split
from certselect.settings.combinations import values_of
from certselect.table import Block, SparseBlock, Table
from certselect.table.frames import column_types

# What does not change a subset or a score.
_WITHOUT_EFFECT = ("checkpoint", "n_jobs", "certify", "one_standard_error")
_ON_THEIR_OWN = ("cv", "sizes", "estimator", "scoring", "criterion", "strategy")
_INSTALLED = {"site-packages", "dist-packages"}  # folders
_READS_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME")
_CACHED = type(cache(len))
_METHODS = FunctionType | staticmethod | classmethod | property
_SLOTS = GetSetDescriptorType | MemberDescriptorType


def fingerprint(
    selector: Any,
    table: Table,
    values: Any,
    splits: Sequence[Split],
    sizes: Sequence[int],
    sample_weight: np.ndarray | None,
) -> dict[str, str]:
    """A hash of each thing the scores depend on, under the name a user knows it by."""
    apart = (*_WITHOUT_EFFECT, *_ON_THEIR_OWN)
    settings = {name: value for name, value in selector.get_params(deep=False).items() if name not in apart}
    if not isinstance(settings["random_state"], int | np.integer | None):
        settings["random_state"] = None  # a generator: its state tells nothing about the next run's
    parts = {
        "table": [_contents(block) for block in table.blocks]
        + [table.feature_names, table.target, table.classes, table.target_numbers, values.shape, column_types(values)],
        "split of the rows": [(split.train, split.test) for split in splits],
        "metadata": [sample_weight] + [(split.fit_params, split.score_params) for split in splits],
        "list of sizes": [int(size) for size in sizes],
        "estimator": (type(selector.estimator), selector.estimator.get_params()),
        "scoring": selector.scoring,
        "setting of the search": settings,
        "criterion": [find_criterion(criterion) for criterion in values_of(selector.criterion)],
        "strategy": [_record(strategy) for strategy in values_of(selector.strategy)],
        "version of certselect, scikit-learn or Python": (__version__, sklearn.__version__, sys.version_info[:2]),
    }
    hashes = {}
    for name, part in parts.items():
        try:
            hashes[name] = code_hash(part)
        except Exception as error:  # whatever a foreign object's pickling raises
            raise InvalidInput(
                f"another {name} than can be told apart from others ({error})",
                "functions and plain objects where a checkpoint is kept, without open files, locks or generators",
                "Leave the checkpoint out.",
            ) from error
    return hashes


def _record(strategy: Any) -> Any:
    """What a strategy's name stands for, without what a record remembers of its use."""
    if is_auto(strategy):
        return strategy
    record = find_strategy(strategy)
    return [(field.name, getattr(record, field.name)) for field in fields(record)]


def _contents(block: Block | SparseBlock) -> tuple[Any, ...]:
    """What a block holds, without what a sparse matrix remembers of its use."""
    if isinstance(block, SparseBlock):
        return block.kind, block.values.data, block.values.indices, block.values.indptr
    return block.kind, block.positions, block.values, block.vocabularies, block.missing


def code_hash(thing: Any) -> str:
    """A hash that is the same in another process, and another for whatever behaves otherwise.

    Raises whatever pickling raises for what cannot be taken apart: open files, locks, generators.
    """
    return str(_CodeHasher().hash(thing))


class _CodeHasher(NumpyHasher):
    def __init__(self) -> None:
        super().__init__(hash_name="sha1")
        self._met: dict[int, tuple[int, Any]] = {}  # kept, so that no other object gets its id

    def save(self, obj: Any) -> None:
        if isinstance(obj, ModuleType):
            obj = "module", obj.__name__, _version(obj.__name__)
        elif isinstance(obj, BuiltinFunctionType) and isinstance(obj.__self__, ModuleType):
            self._check_named(obj, obj.__self__.__name__)
        elif isinstance(obj, FunctionType | type):
            obj = self._described(obj)
        elif isinstance(obj, _CACHED):
            obj = "cached", obj.__wrapped__
        elif isinstance(obj, staticmethod | classmethod):
            obj = type(obj).__name__, obj.__func__
        elif isinstance(obj, property):
            obj = "property", obj.fget, obj.fset, obj.fdel
        super().save(obj)

    def save_global(self, obj: Any, name: str | None = None, pack: Any = None) -> None:
        """What says of itself that its name is all there is to it."""
        self._check_named(obj, getattr(obj, "__module__", None) or "builtins")
        super().save_global(obj, name)

    @staticmethod
    def _check_named(obj: Any, module: str) -> None:
        if not _is_installed(module):
            raise PicklingError(f"cannot pickle {obj!r} but by its name")

    def _described(self, obj: Any) -> tuple[Any, ...]:
        if id(obj) in self._met:  # a method may close over its own class
            return "met", self._met[id(obj)][0]
        self._met[id(obj)] = len(self._met), obj
        name = obj.__module__, obj.__qualname__
        if _is_installed(obj.__module__) and "<locals>" not in obj.__qualname__:
            return "installed", *name, _version(obj.__module__)
        return ("class", *name, *_class_parts(obj)) if isinstance(obj, type) else ("def", *name, *_parts(obj))


def _parts(function: FunctionType) -> tuple[Any, ...]:
    """What a function does, but for its name."""
    closed_over = [part for cell in function.__closure__ or () for part in _content(cell)]
    known = function.__globals__
    used = sorted(name for name in _global_names(function.__code__) if name in known)
    return (
        _as_text(function.__code__),
        function.__defaults__,
        function.__kwdefaults__,
        closed_over,
        [(name, known[name]) for name in used],
    )


def _class_parts(cls: type) -> tuple[Any, ...]:
    body = {
        name: value
        for name, value in vars(cls).items()
        # Other names with underscores are what Python makes of the body: slots, annotations, abstract methods.
        if isinstance(value, _METHODS)
        or not (name.startswith("__") or name == "_abc_impl" or isinstance(value, _SLOTS))
    }
    return cls.__bases__, sorted(body.items(), key=lambda entry: entry[0])


def _as_text(code: CodeType) -> str:
    """Bytecode with what it refers to; no line numbers, so that a function may move within its file."""
    constants = ", ".join(map(_constant, code.co_consts))
    shape = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return f"{code.co_code.hex()} {getattr(code, 'co_exceptiontable', b'').hex()} {shape} {names} [{constants}]"


def _constant(value: Any) -> str:
    if isinstance(value, CodeType):
        return _as_text(value)
    if isinstance(value, frozenset):  # in an order that does not change from process to process
        return f"frozenset({sorted(map(_constant, value))})"
    return f"({', '.join(map(_constant, value))},)" if isinstance(value, tuple) else repr(value)


def _global_names(code: CodeType) -> set[str]:
    """The global names that a function, or one inside it, reads."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname in _READS_GLOBAL}
    return names.union(*(_global_names(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def _content(cell: Any) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:  # a name that was not assigned yet
        return []


@cache
def _is_installed(module: str | None) -> bool:
    if module is None:  # a function that was made of a text
        return False
    top = module.partition(".")[0]
    file = getattr(sys.modules.get(module), "__file__", None)
    return top == "certselect" or top in sys.stdlib_module_names or bool(_INSTALLED & set(Path(file or "").parts))


def _version(module: str) -> str:
    return str(getattr(sys.modules.get(module.partition(".")[0]), "__version__", ""))
