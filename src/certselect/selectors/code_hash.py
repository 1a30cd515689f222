"""Hashes of objects by what they do: functions and classes count by their code, not by their names alone.

What is installed or part of Python or certselect counts by its name and version. Of everything
else a function counts with its bytecode, constants, default and closed-over values and with
the global names it uses; a class with its bases and all that its body defines.
"""

from __future__ import annotations

import dis
import sys
from functools import cache
from pathlib import Path
from pickle import PicklingError
from types import BuiltinFunctionType, CodeType, FunctionType, GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any

from joblib.hashing import NumpyHasher

_INSTALLED = {"site-packages", "dist-packages"}  # folders
_READS_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME")
_CACHED = type(cache(len))
_METHODS = FunctionType | staticmethod | classmethod | property
_SLOTS = GetSetDescriptorType | MemberDescriptorType


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
