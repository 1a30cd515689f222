"""Seconds and memory: contestants take turns in one process, and each starts once more in a process of its own."""

from __future__ import annotations

import gc
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .clock import OwnClock

PAUSE = 0.1  # seconds: BLAS threads of the one before spin for a while after their work is done
DIGITS = 3  # that seconds are kept with
NO_COMPILING = 60.0  # seconds: a first call that took longer was not ruled by loading and compiling


@dataclass(frozen=True)
class Seconds:
    """Of a contestant that was asked several times: the median, the fastest, the slowest and how often."""

    median: float
    fastest: float
    slowest: float
    runs: int

    @classmethod
    def of(cls, spent: list[float]) -> Seconds:
        median, fastest, slowest = (shortened(one) for one in (statistics.median(spent), min(spent), max(spent)))
        return cls(median, fastest, slowest, len(spent))

    @property
    def plain(self) -> dict[str, Any]:
        return asdict(self)


def shortened(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """An answer and the seconds it took: those of its own clock where it brings one."""
    began = time.perf_counter()
    answer = run()
    spent = time.perf_counter() - began
    return (answer.answer, answer.seconds) if isinstance(answer, OwnClock) else (answer, spent)


def taking_turns(
    runs: Mapping[str, Callable[[], Any]], *, turns: int, patience: float, pause: float = PAUSE
) -> tuple[dict[str, Any], dict[str, Seconds], dict[str, str]]:
    """Answers, seconds and failures by name.

    A first call loads and compiles and is not counted, unless it takes minutes. Whoever has taken more than `patience`
    seconds in the turns so far sits out those that are left.
    """
    answers: dict[str, Any] = {}
    failures: dict[str, str] = {}
    spent: dict[str, list[float]] = {}
    for name, run in runs.items():
        try:
            answers[name], first = timed(run)
        except Exception as failure:  # whatever another package raises is its result
            failures[name] = f"{type(failure).__name__}: {failure}".splitlines()[0][:200]
            continue
        spent[name] = [first] if first > NO_COMPILING else []
    for _ in range(turns):
        for name in answers:
            if spent[name] and sum(spent[name]) > min(patience, NO_COMPILING):
                continue
            gc.collect()
            time.sleep(pause)
            spent[name].append(timed(runs[name])[1])
    return answers, {name: Seconds.of(times) for name, times in spent.items()}, failures


def in_a_new_process(script: Sequence[str], limit: float) -> dict[str, float] | None:
    """What `cold` finds in a process of its own; None where that takes longer than the limit, or fails."""
    command = [sys.executable, "-W", "ignore", *script]
    try:
        told = subprocess.run(command, check=True, capture_output=True, text=True, timeout=limit).stdout
    except subprocess.SubprocessError:
        return None
    return json.loads(told.splitlines()[-1])


def cold(run: Callable[[], Any]) -> dict[str, float] | None:
    """A first call, which loads what it needs: its seconds, the peak of this process in MB, and that before it.

    None for whoever works in a process of its own, whose loading and memory are not seen here.
    """
    before = peak_megabytes()
    began = time.perf_counter()
    if isinstance(run(), OwnClock):
        return None
    seconds = time.perf_counter() - began
    return {"seconds": shortened(seconds), "memory": round(peak_megabytes()), "before": round(before)}


def peak_megabytes() -> float:
    """Of this process alone.

    Linux tells it of the program that runs now; what getrusage tells there may still be the peak of the program that
    started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 1024
