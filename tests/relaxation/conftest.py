"""Every backend that is present: tests that take `arrays` name none."""

import pytest

from certselect.relaxation.arrays import CPU, Arrays, GpuArrays
from relaxation.stand_in import AsOnGpu


@pytest.fixture(params=["cpu", "stand-in for a GPU", pytest.param("cuda", marks=pytest.mark.gpu)])
def arrays(request: pytest.FixtureRequest) -> Arrays:
    if request.param == "cpu":
        return CPU
    if request.param != "cuda":
        return AsOnGpu()
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        pytest.skip(f"no CUDA device: {error}")
    return GpuArrays()
