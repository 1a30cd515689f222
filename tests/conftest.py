"""Hypothesis draws the same examples in every run; `--hypothesis-profile=default` looks for new ones.

In a run of several processes (`pytest -n 2`) each keeps compiled kernels in a folder of its own: Numba numbers the
files of its cache without asking others, so that two processes could write one over the other's.
"""

import os
from pathlib import Path

from hypothesis import settings

os.environ["MPLBACKEND"] = "agg"  # pictures are drawn, no window opens
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

if worker := os.environ.get("PYTEST_XDIST_WORKER"):
    # Before anything imports Numba; processes that tests start inherit it.
    os.environ["NUMBA_CACHE_DIR"] = str(Path(__file__).parents[1] / ".pytest_cache" / "kernels" / worker)


def pytest_collection_modifyitems(config, items):
    """Side by side, what takes long comes first, so that no process ends long after the others."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)
