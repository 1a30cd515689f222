"""Which device is chosen, with a made-up CuPy in place of the real one."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from certselect.errors import DeviceWarning, InvalidInput
from certselect.relaxation import device as device_module
from certselect.relaxation.arrays import CPU, Arrays, GpuArrays
from certselect.relaxation.device import LEAST_FOR_GPU, on_device, or_on_the_cpu
from certselect.relaxation.device import arrays_for as arrays_here
from relaxation.stand_in import AsOnGpu

GIB = 2**30


def arrays_for(device: str, n: int, matrices: float) -> tuple[Arrays, str]:
    with on_device(device):
        return arrays_here(n, matrices)


def fails(error: Exception) -> Any:
    def fail(*_: Any) -> Any:
        raise error

    return fail


@pytest.fixture
def made_cupy(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A CuPy with one device of 8 GiB, 6 of them free and 1 more kept for arrays to come."""
    cupy = ModuleType("cupy")
    runtime = SimpleNamespace(
        getDeviceCount=lambda: 1,
        memGetInfo=lambda: (6 * GIB, 8 * GIB),
        getDeviceProperties=lambda number: {"name": b"Made-up 1"},
    )
    memory = SimpleNamespace(OutOfMemoryError=type("OutOfMemoryError", (Exception,), {}))
    cupy.cuda = SimpleNamespace(runtime=runtime, memory=memory, Device=lambda: SimpleNamespace(id=0))
    cupy.arange = np.arange
    cupy.get_default_memory_pool = lambda: SimpleNamespace(free_bytes=lambda: GIB)
    cupyx, scipy, linalg = (ModuleType(name) for name in ("cupyx", "cupyx.scipy", "cupyx.scipy.linalg"))
    cupyx.errstate, cupyx.scipy, scipy.linalg, linalg.solve_triangular = None, scipy, linalg, None
    for module in (cupy, cupyx, scipy, linalg):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return cupy


@pytest.fixture
def no_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)  # importing it fails


@pytest.mark.parametrize("device", ["gpu", "", None, 3])
def test_another_word_is_refused(device: Any) -> None:
    with pytest.raises(InvalidInput, match="'auto' or 'cpu' or 'cuda'"):
        arrays_for(device, 10, 1)


@pytest.mark.usefixtures("made_cupy")
def test_a_gpu_is_taken_where_it_gains() -> None:
    arrays, sentence = arrays_for("auto", LEAST_FOR_GPU, 10)
    assert type(arrays) is GpuArrays
    assert sentence == "Computed on the GPU (Made-up 1)."
    assert arrays_for("auto", LEAST_FOR_GPU - 1, 10) == (CPU, "")
    assert arrays_for("cpu", 10**5, 10) == (CPU, "")
    assert type(arrays_for("cuda", 5, 10)[0]) is GpuArrays


@pytest.mark.usefixtures("made_cupy")
def test_a_gpu_is_not_started_where_there_is_no_time_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_module, "_started", False)
    with on_device("auto"):
        arrays, said = arrays_here(LEAST_FOR_GPU, 1.0, 19.0)
        assert arrays is CPU
        assert "starting a GPU may take 20 s" in said
        assert type(arrays_here(LEAST_FOR_GPU, 1.0, 21.0)[0]) is GpuArrays
        assert type(arrays_here(LEAST_FOR_GPU, 1.0, 1.0)[0]) is GpuArrays  # it runs by now
    monkeypatch.setattr(device_module, "_started", False)
    with on_device("cuda"):
        assert type(arrays_here(LEAST_FOR_GPU, 1.0, 1.0)[0]) is GpuArrays


@pytest.mark.usefixtures("no_cupy")
def test_without_cupy() -> None:
    assert arrays_for("auto", 2000, 10) == (CPU, "Computed on the CPU: CuPy is not installed.")
    with pytest.warns(DeviceWarning, match=r"CuPy is not installed.*pip install 'certselect\[gpu\]'") as caught:
        assert arrays_for("cuda", 5, 10)[0] is CPU
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("where", "what", "said"),
    [
        ("getDeviceCount", lambda: 0, "there is no CUDA device"),
        ("getDeviceCount", fails(RuntimeError("cudaErrorInsufficientDriver")), "cudaErrorInsufficientDriver"),
    ],
)
def test_without_a_device(made_cupy: ModuleType, where: str, what: Any, said: str) -> None:
    setattr(made_cupy.cuda.runtime, where, what)
    arrays, sentence = arrays_for("auto", 2000, 10)
    assert arrays is CPU
    assert said in sentence
    with pytest.warns(DeviceWarning, match=said):
        assert arrays_for("cuda", 2000, 10)[0] is CPU


def test_with_a_device_on_which_nothing_runs(made_cupy: ModuleType) -> None:
    made_cupy.arange = fails(OSError("libnvrtc.so.12 is not there"))
    assert "libnvrtc.so.12" in arrays_for("auto", 2000, 10)[1]


def test_with_too_little_memory(made_cupy: ModuleType) -> None:
    n = 2**14  # 2 GiB a matrix, and 7 GiB are there
    assert type(arrays_for("auto", n, 3.5)[0]) is GpuArrays
    arrays, sentence = arrays_for("auto", n, 4)
    assert arrays is CPU
    assert sentence == "Computed on the CPU: 16384 features need 8 GiB of the GPU's memory, of which 7 GiB are free."
    with pytest.warns(DeviceWarning, match="8 GiB"):
        assert arrays_for("cuda", n, 4)[0] is CPU


class TestMemoryThatEndsInTheMiddle:
    def test_goes_on_on_the_cpu_once(self) -> None:
        tried = []

        def work(arrays: Arrays) -> str:
            tried.append(arrays.name)
            if arrays is not CPU:
                raise MemoryError
            return "done"

        with pytest.warns(DeviceWarning, match="too little memory"):
            assert or_on_the_cpu(AsOnGpu(), work) == "done"
        assert tried == ["cuda", "cpu"]

    def test_other_errors_pass(self) -> None:
        with pytest.raises(ZeroDivisionError):
            or_on_the_cpu(AsOnGpu(), fails(ZeroDivisionError()))
        with pytest.raises(MemoryError):  # of this machine: there is no other place
            or_on_the_cpu(CPU, fails(MemoryError()))

    def test_nothing_is_said_where_all_goes_well(self) -> None:
        assert or_on_the_cpu(AsOnGpu(), lambda arrays: arrays.name) == "cuda"
