"""What was measured, in a file, with the machine it was measured on; and the ratios that are made of it."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .match import OURS

RESULTS = Path(__file__).parent.parent / "results" / "bench.json"
PACKAGES = (
    *("certselect", "numpy", "scipy", "numba", "scikit-learn", "mrmr-selection", "mrmrs", "fast-select"),
    *("feature-engine", "fastcan", "ITMO-FS", "mlxtend", "cvxpy", "scs", "clarabel", "pandas", "polars"),
)

# A machine of which other programs used more cores than this before the run was not quiet.
QUIET = 0.5
LOOK_FOR = 5.0  # seconds

Row = dict[str, Any]  # of one case


def machine() -> dict[str, Any]:
    """What ratios may depend on."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "threads": {name: os.environ.get(name, "not set") for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")},
        "packages": dict(_installed()),
    }


def load() -> float | None:
    """How many cores are in use now, while this program waits; None where the system does not tell.

    The load average, which remembers minutes, would still count what installed the contestants.
    """
    before, began = _busy_seconds(), time.perf_counter()
    time.sleep(LOOK_FOR)
    after = _busy_seconds()
    return None if before is None or after is None else round((after - before) / (time.perf_counter() - began), 2)


def _busy_seconds() -> float | None:
    """Seconds that all cores together have worked since the machine started."""
    try:
        _, user, nice, system, _, _, *others = Path("/proc/stat").read_text().partition("\n")[0].split()
    except (OSError, ValueError):
        return None
    return sum(map(int, (user, nice, system, *others[:3]))) / os.sysconf("SC_CLK_TCK")


def is_rough(results: dict[str, Any]) -> bool:
    """Whether other work on the machine, or what the notes tell, makes the ratios unfit to be quoted."""
    return bool(results.get("notes")) or (results.get("load_before") or 0.0) > QUIET


def _processor() -> str:
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        text = listed.read_text()
        named = text.partition("model name")[2].partition(":")[2].partition("\n")[0].strip()
        return f"{named or platform.machine()}{', AVX-512' if 'avx512f' in text else ''}"
    return platform.processor() or platform.machine()


def _installed() -> Iterator[tuple[str, str]]:
    for name in PACKAGES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            continue


def read(path: Path = RESULTS) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def write(results: dict[str, Any], path: Path = RESULTS) -> None:
    """One case to a line, so that a change can be read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in results.items() if key != "cases"]
    cases = ",\n".join(json.dumps(case) for case in results["cases"])
    path.write_text("{\n" + ",\n".join([*head, f'"cases": [\n{cases}\n]']) + "\n}\n", encoding="utf-8")


def seconds(row: Row, name: str) -> float | None:
    """Median seconds of a contestant in a case, if it ran."""
    found = row["contestants"].get(name, {}).get("seconds")
    return found["median"] if found else None


def ratios(row: Row) -> dict[str, float]:
    """How many times as long as ours each of the others took: above 1, ours is faster."""
    ours = seconds(row, OURS)
    if ours is None:
        return {}
    taken = {name: seconds(row, name) for name in row["contestants"] if name != OURS}
    return {name: spent / ours for name, spent in taken.items() if spent is not None}


def of_job(rows: Iterable[Row], job: str) -> list[Row]:
    return [row for row in rows if row["job"] == job]
