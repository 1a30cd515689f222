"""A stand-in for a GPU: NumPy's arrays, kept apart from those of this machine as strictly as CuPy keeps its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import scipy.linalg

from certselect.relaxation.arrays import GpuArrays


class OnGpu(np.ndarray):
    """An array "on the device": whatever mixes it with one that is not fails, as it would with CuPy."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        _check_place((inputs, out))
        if out:
            options["out"] = _here(out)
        result = getattr(ufunc, method)(*_here(inputs), **options)
        return out[0] if out else _there(result)

    def __array_function__(self, func, types, args, kwargs):
        _check_place((args, kwargs))
        return _there(func(*_here(args), **_here(kwargs)))

    def __getitem__(self, key):
        _check_place(key)
        return _there(super().__getitem__(key))

    def __setitem__(self, key, value):
        _check_place((key, value))
        super().__setitem__(key, value)


class _Namespace:
    """What `cupy` offers, as far as NumPy offers it too."""

    TRANSFERS = ("array", "asarray")

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if name == "linalg":
            return _Namespace(found)
        if isinstance(found, type) or not callable(found):
            return found

        def call(*args, **kwargs):
            if name not in self.TRANSFERS:
                _check_place((args, kwargs))
            result = found(*_here(args), **_here(kwargs))
            return kwargs["out"] if kwargs.get("out") is not None else _there(result)

        return call

    def asnumpy(self, array):
        return np.array(_here(array))


class AsOnGpu(GpuArrays):
    """The code written for a GPU, run without one."""

    def __init__(self) -> None:
        self.xp = _Namespace(np)
        self._errstate = lambda linalg: nullcontext()
        self._solve_triangular = _on_gpu(scipy.linalg.solve_triangular)
        self.out_of_memory = (MemoryError,)

    def release(self) -> None:
        pass


def _on_gpu(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args, **kwargs):
        _check_place((args, kwargs))
        return _there(function(*_here(args), **_here(kwargs)))

    return call


def _parts(value):
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, (tuple, list)) else []


def _check_place(value):
    if isinstance(value, np.ndarray) and value.ndim and not isinstance(value, OnGpu):
        raise TypeError("an array of this machine among those of the GPU")
    for part in _parts(value):
        _check_place(part)


def _here(value):
    if isinstance(value, OnGpu):
        return value.view(np.ndarray)
    if isinstance(value, dict):
        return {key: _here(part) for key, part in value.items()}
    return type(value)(map(_here, value)) if type(value) in (tuple, list) else value


def _there(value):
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value).view(OnGpu)  # a single number, too, is an array there
    return tuple(map(_there, value)) if isinstance(value, tuple) else value
