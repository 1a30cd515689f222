"""On which device a relaxation is computed, and what to do where the wanted one is missing or too small."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import TypeVar

from certselect.errors import DeviceWarning, keyword, warn_user
from certselect.names import shown
from certselect.relaxation.arrays import CPU, Arrays, GpuArrays
from certselect.settings.searching import check_device

# Below this many entries a GPU spends its time waiting for the next command.
LEAST_FOR_GPU = 1500
BYTES_EACH = 8
# What the first use of a GPU in a process may take: CuPy compiles what it was never asked for on that machine.
SECONDS_TO_START = 20.0
REMEDY = (
    "For a GPU, install CuPy (pip install 'certselect[gpu]', or cupy-cuda13x where CUDA 13 is installed) and a driver; "
    f"{keyword('device', 'cpu')} avoids this message."
)

Answer = TypeVar("Answer")
_started = False
_asked_for: ContextVar[str] = ContextVar("device", default="auto")


@contextmanager
def on_device(device: str) -> Iterator[None]:
    """A block in which relaxations are computed where this says: "auto", "cpu" or "cuda"."""
    token = _asked_for.set(check_device("device", device))
    try:
        yield
    finally:
        _asked_for.reset(token)


def use_device(device: str) -> None:
    """The same from here on, for as long as the context lasts that this is called in."""
    _asked_for.set(check_device("device", device))


def arrays_for(n: int, matrices: float, max_seconds: float = math.inf) -> tuple[Arrays, str]:
    """Where to compute with n entries, and a sentence that says so; an empty one where no GPU is in question.

    By the device of the block around it (see `on_device`): "auto" is the GPU where CuPy and a device are there, its
    memory suffices, n is at least 1500 and there is time to start it; "cuda" is the GPU for any n, and the CPU with a
    `DeviceWarning` where that is impossible.

    Parameters
    ----------
    n : int
        Entries of the relaxation, copies counted once if they are merged.
    matrices : float
        How many n x n matrices of 8-byte numbers have to fit into the GPU's free memory.
    max_seconds : float
        How long the work may take.
    """
    global _started
    device = _asked_for.get()
    if device == "cpu" or (device == "auto" and n < LEAST_FOR_GPU):
        return CPU, ""
    if device == "auto" and not _started and max_seconds < SECONDS_TO_START and _is_installed("cupy"):
        return CPU, f"Computed on the CPU: starting a GPU may take {SECONDS_TO_START:g} s, longer than the time limit."
    missing = _missing() or _too_little_memory(n, matrices)
    if not missing:
        _started = True
        return GpuArrays(), f"Computed on the GPU ({_device_name()})."
    if device == "cuda":
        warn_user(
            f"{keyword('device', 'cuda')} was asked for, but {missing}. The CPU is used instead. {REMEDY}",
            DeviceWarning,
        )
    return CPU, f"Computed on the CPU: {missing}."


def or_on_the_cpu(arrays: Arrays, work: Callable[[Arrays], Answer]) -> Answer:
    """`work(arrays)`, and once more on the CPU where the GPU's memory ends in the middle of it."""
    try:
        return work(arrays)
    except arrays.out_of_memory:
        pass  # what the error holds on to has to go before memory can be given back
    arrays.release()
    warn_user(
        f"The GPU has too little memory for this problem, so it was started again on the CPU. "
        f"Choose {keyword('device', 'cpu')}, or end other programs on the GPU.",
        DeviceWarning,
    )
    return work(CPU)


def _is_installed(package: str) -> bool:
    """Told without importing it, which may be what takes long."""
    if package in sys.modules:
        return sys.modules[package] is not None
    return find_spec(package) is not None


def _missing() -> str:
    """What keeps a GPU from being used, as the end of a sentence; empty if nothing does."""
    try:
        import cupy  # type: ignore[import-not-found]
    except ImportError:
        return "CuPy is not installed"
    except Exception as error:  # a broken installation fails in many ways
        return f"CuPy cannot be loaded ({shown(str(error))})"
    try:
        if cupy.cuda.runtime.getDeviceCount() == 0:
            return "there is no CUDA device"
        # Drivers, compilers and headers are looked for when the first kernel runs.
        int(cupy.arange(3).sum())
    except Exception as error:
        return f"no CUDA device answers ({shown(str(error))})"
    return ""


def _too_little_memory(n: int, matrices: float) -> str:
    import cupy  # type: ignore[import-not-found]

    free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
    needed = matrices * BYTES_EACH * n**2
    if needed <= free:
        return ""
    return f"{n} features need {needed / 2**30:.3g} GiB of the GPU's memory, of which {free / 2**30:.3g} GiB are free"


def _device_name() -> str:
    import cupy  # type: ignore[import-not-found]

    return cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()
