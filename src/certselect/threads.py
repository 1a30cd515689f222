"""Running parts of a computation side by side.

The kernels release Python's lock, so ordinary threads run them on all cores.
That honours `n_jobs` exactly, may itself be called from several threads or
after a fork, and leaves a pause between parts for progress and Ctrl-C; Numba's
own parallel loops allow none of the three.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from numbers import Integral

from threadpoolctl import ThreadpoolController

from certselect.errors import InvalidInput
from certselect.names import shown
from certselect.progress import report

# Up to this size of matrices a search and its bound are as quick on one thread of linear algebra, even on idle cores.
SMALL = 500


def thread_count(n_jobs: int | None) -> int:
    """How many threads `n_jobs` stands for: None or -1 all cores, -2 all but one, and so on.

    `NUMBA_NUM_THREADS`, which joblib sets in its worker processes, caps it: a
    selector inside a parallel grid search then does not fight its neighbours.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if os.environ.get("NUMBA_NUM_THREADS", "").isdigit():
        cores = max(1, min(cores, int(os.environ["NUMBA_NUM_THREADS"])))
    if n_jobs is None:
        return cores
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool):
        raise InvalidInput(
            f"n_jobs={shown(n_jobs)}", "a whole number, or None for all cores", "Leave n_jobs out to use all cores."
        )
    if n_jobs == 0:
        raise InvalidInput("n_jobs=0", "a positive number, or -1 for all cores", "Leave n_jobs out to use all cores.")
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def run_parts(stage: str, parts: Sequence[Callable[[], None]], n_threads: int) -> None:
    """Run all parts on up to `n_threads` threads, reporting each that is finished."""
    if n_threads == 1 or len(parts) == 1:
        for done, part in enumerate(parts, start=1):
            part()
            report(stage, done, len(parts))
        return
    with ThreadPoolExecutor(n_threads) as pool:
        running = [pool.submit(part) for part in parts]
        try:
            for done, future in enumerate(as_completed(running), start=1):
                future.result()
                report(stage, done, len(parts))
        except BaseException:  # Ctrl-C too: what has not started need not start
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def one_blas_thread(when: bool) -> AbstractContextManager[object]:
    """A block in which NumPy's and SciPy's linear algebra runs on one thread, if `when`.

    For small matrices: threads cost more than they bring there, and on busy cores they
    wait for each other some twenty times longer than the work takes.
    """
    return _blas().limit(limits=1) if when else nullcontext()


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()
