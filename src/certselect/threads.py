"""Running parts of a computation side by side.

The kernels release Python's lock, so ordinary threads run them on all cores.
That honours `n_jobs` exactly, may itself be called from several threads or
after a fork, and leaves a pause between parts for progress and Ctrl-C; Numba's
own parallel loops allow none of the three.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from functools import cache
from numbers import Integral
from typing import Any

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


@contextmanager
def one_blas_thread(when: bool) -> Iterator[None]:
    """A block in which NumPy's and SciPy's linear algebra runs on one thread, if `when`.

    For small matrices: threads cost more than they bring there, and on busy cores they
    wait for each other some twenty times longer than the work takes. As a rule the number of
    threads is that of the whole process, so blocks that overlap in several threads share it.
    """
    if not when:
        yield
        return
    block, scopes = object(), (_process, _thread.scope)
    try:
        for scope in scopes:
            scope.enter(block)
        yield
    finally:
        try:
            _leave(block, scopes)
        except KeyboardInterrupt:  # Ctrl-C counts, once the numbers are back
            _leave(block, scopes)
            raise


def _leave(block: object, scopes: tuple[_Scope, ...]) -> None:
    for scope in scopes:
        scope.leave(block)


class _Scope:
    """Blocks under way that share some libraries: the first sets one thread, the last brings back what was before."""

    def __init__(self, *, per_thread: bool) -> None:
        self._per_thread = per_thread
        self._lock = threading.Lock()
        self._inside: dict[object, int] = {}  # blocks, with the thread each runs in
        self._before: list[int] | None = None

    def enter(self, block: object) -> None:
        with self._lock:
            self._inside[block] = threading.get_ident()
            if self._before is None:
                libraries = _blas(self._per_thread)
                self._before = [library.num_threads for library in libraries]
                for library in libraries:
                    _set_threads(library, 1)

    def leave(self, block: object) -> None:
        """May be called again for the same block, if Ctrl-C came in between."""
        with self._lock:
            self._inside.pop(block, None)
            if self._inside or self._before is None:
                return
            for library, number in zip(_blas(self._per_thread), self._before, strict=True):
                if library.num_threads == 1:  # else somebody else has set it since, who is to have it
                    _set_threads(library, number)
            self._before = None

    def after_fork(self) -> None:
        """Forget, in a new process, the threads that were not copied: their blocks do not come to an end there.

        The number is brought back by the next block that ends: this is no place to call libraries.
        """
        self._lock = threading.Lock()
        here = threading.get_ident()
        self._inside = {block: thread for block, thread in self._inside.items() if thread == here}


class _OfThisThread(threading.local):
    def __init__(self) -> None:
        self.scope = _Scope(per_thread=True)


def _set_threads(library: Any, number: int) -> None:
    # threadpoolctl lets the first thread that sets a number decide for all others, as long as it lives, and
    # ignores those. Here the last block to end decides, whatever its thread; nobody is kept from it afterwards.
    let_anyone = getattr(library, "clear_controlling_thread", None)
    if let_anyone is not None:
        let_anyone(force=True)
    library.set_num_threads(number)
    if let_anyone is not None:
        let_anyone()


@cache
def _blas(per_thread: bool) -> list[Any]:
    """The libraries that do linear algebra: those in which each thread has a number of its own, or the others."""
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    return [library for library in libraries if _has_number_per_thread(library) == per_thread]


def _has_number_per_thread(library: Any) -> bool:
    """Whether threadpoolctl sets the number of one thread alone; as a rule it is that of the whole process."""
    return library.internal_api == "mkl" or (library.internal_api == "openblas" and library.threading_layer == "openmp")


_process, _thread = _Scope(per_thread=False), _OfThisThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_process.after_fork)
