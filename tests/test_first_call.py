"""What the first call after installation costs, and that later processes pay nothing."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.alone

# Every kernel: bit rows, scattering (a column of 200 levels), all pairs and single rows.
SCRIPT = """
import json, resource, sys, time
import numpy as np
from certselect import information_terms
from certselect.progress import listening
rng = np.random.default_rng(0)
X = rng.integers(0, 4, (2000, 100))
X[:, :8] = rng.integers(0, 200, (2000, 8))
y = rng.integers(0, 2, 2000)
stages = set()
started = time.process_time()
with listening(lambda stage, done, total: stages.add(stage)):
    terms = information_terms(X, y, integers="levels", n_jobs=1)
    terms.pair_row("redundancy", 3), terms.interaction, terms.conditional_redundancy
seconds = time.process_time() - started
from certselect.information.kernels import bits, scatter
kernels = [bits.pack_blocks, bits.count_groups, scatter.sum_features, scatter.scatter_pairs]
print(json.dumps({
    "seconds": seconds,
    "compiled": sum(len(kernel.stats.cache_misses) for kernel in kernels),
    "loaded": sum(len(kernel.stats.cache_hits) for kernel in kernels),
    "said": any("compiling" in stage for stage in stages),
    "value": float(terms.interaction.sum()),
}))
"""


# What Numba itself costs on this machine at this moment: loading it, and compiling a small function.
NUMBA_ALONE = """
import time
started = time.process_time()
import numba
import numpy as np
@numba.njit
def sorted_sums(a, b):
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            out[i] += a[i] * b[j]
    return np.sort(out)
sorted_sums(np.ones(3), np.ones(4))
print(time.process_time() - started)
"""


@pytest.fixture(scope="module")
def two_processes(tmp_path_factory):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path_factory.mktemp("kernels"))}
    results = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], check=True, capture_output=True, text=True, env=environment
        )  # fmt: skip
        results.append(json.loads(done.stdout))
    return results


def test_the_first_call_compiles_in_little_time_and_says_so(two_processes):
    """Measured: four times what Numba alone takes. Seconds by themselves change with what else the machine does."""
    first, _ = two_processes
    numba = subprocess.run([sys.executable, "-c", NUMBA_ALONE], check=True, capture_output=True, text=True)
    assert first["compiled"] == 4
    assert first["said"]
    assert first["seconds"] < 6 * float(numba.stdout)


def test_later_processes_compile_nothing(two_processes):
    first, second = two_processes
    assert (second["compiled"], second["loaded"]) == (0, 4)
    assert not second["said"]
    assert second["seconds"] < first["seconds"] / 3
    assert second["value"] == first["value"]
