"""Running parts of a computation side by side.

The kernels release Python's lock, so ordinary threads run them on all cores.
That honours `n_jobs` exactly, may itself be called from several threads or
after a fork, and leaves a pause between parts for progress and Ctrl-C; Numba's
own parallel loops allow none of the three.

Linear algebra has threads of its own, which wait for each other by spinning: beside a neighbour
who uses the cores too, two of them can take many times as long as one. Hence `threads_for`
looks at what others leave free, and `n_jobs` limits these threads as well.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from numbers import Integral
from typing import Any, NamedTuple

from threadpoolctl import ThreadpoolController

from certselect.errors import InvalidInput, keyword
from certselect.progress import report

# Up to this size of matrices a search, its bound and a proof are as quick on one thread, even on idle cores.
SMALL = 600
# Over how many seconds the use of cores is looked at, and after how many it may have changed.
LOOK_FOR, OUTDATED = 0.05, 5.0
# A core that others use for less than this part of the time is free.
NEGLIGIBLE_USE = 0.3
_jobs: ContextVar[int | None] = ContextVar("n_jobs", default=None)


def thread_count(n_jobs: int | None) -> int:
    """How many threads `n_jobs` stands for: None or -1 all cores, -2 all but one, and so on.

    `NUMBA_NUM_THREADS`, which joblib sets in its worker processes, caps it: a
    selector inside a parallel grid search then does not fight its neighbours.
    In a task of a Dask worker it is one, since each of its threads has a task.
    """
    if n_jobs is None:
        return _usable_cores()
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool):
        raise InvalidInput(
            keyword("n_jobs", n_jobs),
            "a whole number, or None for all cores",
            f"Leave {keyword('n_jobs')} out to use all cores.",
        )
    if n_jobs == 0:
        raise InvalidInput(
            keyword("n_jobs", 0),
            "a positive number, or -1 for all cores",
            f"Leave {keyword('n_jobs')} out to use all cores.",
        )
    return n_jobs if n_jobs > 0 else max(1, _usable_cores() + 1 + n_jobs)


def _usable_cores() -> int:
    if "distributed" in sys.modules and _is_in_dask_task():
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = os.environ.get("NUMBA_NUM_THREADS", "")
    return max(1, min(cores, int(limit))) if limit.isdigit() else cores


def _is_in_dask_task() -> bool:
    try:
        sys.modules["distributed"].get_worker()
    except ValueError:
        return False
    return True


def run_parts(stage: str, parts: Sequence[Callable[[], None]], n_threads: int) -> None:
    """Run all parts on up to `n_threads` threads, reporting each that is finished."""
    side_by_side(lambda part: part(), parts, n_threads, stage)


def side_by_side(
    work: Callable[[Any], Any], parts: Sequence[Any], n_threads: int, stage: str | None = None
) -> list[Any]:
    """What `work` gives for each part, in order: short parts, many times a second, on up to `n_threads` threads.

    The calling thread takes its share, so nothing waits for a thread that gets no core; the others stay for the next
    call, as starting them would cost more than the work. With a `stage`, the calling thread reports what is finished.
    """
    if _jobs.get() is not None:
        n_threads = min(n_threads, workers())
    results: list[Any] = [None] * len(parts)
    if n_threads == 1 or len(parts) == 1:  # as of each row of a small table, which takes less than a lock and a wait
        for place, part in enumerate(parts):
            results[place] = work(part)
            if stage is not None:
                report(stage, place + 1, len(parts))
        return results
    left, lock = iter(range(len(parts))), threading.Lock()
    done = told = 0

    def take(*, reporting: bool = False) -> None:
        nonlocal done
        while True:
            with lock:
                place = next(left, None)
            if place is None:
                return
            try:
                results[place] = work(parts[place])
            except BaseException:  # Ctrl-C too: what has not begun need not begin
                leave_the_rest()
                raise
            with lock:
                done += 1
            if reporting:
                tell()

    def tell() -> None:
        nonlocal told
        if stage is not None:
            with lock:
                fresh, told = range(told + 1, done + 1), done
            for number in fresh:
                report(stage, number, len(parts))

    def leave_the_rest() -> None:
        with lock:
            for _ in left:
                pass

    helpers = [_helpers.submit(take) for _ in range(min(n_threads, len(parts)) - 1)]
    try:
        take(reporting=True)
    finally:  # after Ctrl-C too: nobody may still write into what the caller goes on with
        leave_the_rest()
        begun = [helper for helper in helpers if not helper.cancel()]
        try:
            wait(begun)
        except KeyboardInterrupt:
            wait(begun)
            raise
    for helper in begun:
        helper.result()
    tell()
    return results


def threads_for(size: int) -> AbstractContextManager[None]:
    """A block of linear algebra with matrices of this size: on one thread for small ones, else on the free cores.

    Threads cost more than they bring for small matrices, and on busy cores they wait for each
    other some twenty times longer than the work takes.
    """
    return blas_threads(1 if size <= SMALL else _neighbours.free_cores())


def on_jobs(n_jobs: int | None) -> AbstractContextManager[None]:
    """A block in which nothing runs on more threads than `n_jobs` stands for; None for no such limit."""
    return nullcontext() if n_jobs is None else _limited_to(n_jobs)


@contextmanager
def _limited_to(n_jobs: int) -> Iterator[None]:
    token = _jobs.set(n_jobs)
    try:
        with blas_threads(thread_count(n_jobs)):
            yield
    finally:
        _jobs.reset(token)


def workers() -> int:
    """How many threads of our own may run here: as many as the `n_jobs` of the block around it stands for."""
    return thread_count(_jobs.get())


def one_blas_thread(when: bool) -> AbstractContextManager[None]:
    """A block in which linear algebra runs on one thread, if `when`."""
    return blas_threads(1 if when else None)


@contextmanager
def blas_threads(most: int | None) -> Iterator[None]:
    """A block in which NumPy's and SciPy's linear algebra runs on at most so many threads; None for no limit.

    Nobody gets more threads than there were: who sets a number by OPENBLAS_NUM_THREADS, OMP_NUM_THREADS or
    threadpoolctl keeps it. As a rule the number of threads is that of the whole process, so of blocks
    that overlap, be it in several threads, the smallest limit holds for all.
    """
    if most is None:
        yield
        return
    block, scopes = object(), (_process, _thread.scope)
    try:
        for scope in scopes:
            scope.enter(block, most)
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


_UNSETTLED = -1


class _Block(NamedTuple):
    thread: int  # in which it runs
    most: int


class _Scope:
    """Blocks under way that share some libraries: the smallest limit holds, the last brings back what was before."""

    def __init__(self, *, per_thread: bool) -> None:
        self._per_thread = per_thread
        self._lock = threading.Lock()
        self._inside: dict[object, _Block] = {}
        self._before: list[int] | None = None
        self._own: list[set[int]] = []  # the numbers that each library has had from us, or before
        self._limit: int | None = None  # the one that is set everywhere

    def enter(self, block: object, most: int) -> None:
        with self._lock:
            self._inside[block] = _Block(threading.get_ident(), most)
            if self._before is None:
                before = [library.num_threads for library in _blas(self._per_thread)]
                self._own, self._before = [{number} for number in before], before
            self._limit_to(self._smallest())

    def leave(self, block: object) -> None:
        """May be called again for the same block, if Ctrl-C came in between."""
        with self._lock:
            self._inside.pop(block, None)
            if self._before is None:
                return
            self._limit_to(self._smallest())
            if not self._inside:
                self._before = None

    def _smallest(self) -> int | None:
        return min((block.most for block in self._inside.values()), default=None)

    def _limit_to(self, limit: int | None) -> None:
        """Give each library the number of before, or the limit if that is less."""
        if limit == self._limit:
            return
        assert self._before is not None, "noted by the first block"
        self._limit = _UNSETTLED  # should Ctrl-C come now, the next block to begin or end sees to it
        for library, before, own in zip(_blas(self._per_thread), self._before, self._own, strict=True):
            now, number = library.num_threads, before if limit is None else min(before, limit)
            if now in own and now != number:  # somebody else who has set it since is to have it
                own.add(number)
                _set_threads(library, number)
        self._limit = limit

    def after_fork(self) -> None:
        """Forget, in a new process, the threads that were not copied: their blocks do not come to an end there.

        The number is brought back by the next block that ends: this is no place to call libraries.
        """
        self._lock = threading.Lock()
        here = threading.get_ident()
        self._inside = {name: block for name, block in self._inside.items() if block.thread == here}


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


class _Use(NamedTuple):
    """Seconds since some time in the past: by the clock, of this process on all cores, and of all cores idle."""

    now: float
    own: float
    idle: float


class _Neighbours:
    """How many cores other processes leave free, seen over a moment or since it was last asked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: _Use | None = None
        self._free: int | None = None

    def free_cores(self) -> int | None:
        """Cores that are idle or in use by this very process, one at least; None where the system does not tell."""
        with self._lock:
            use = _use_of_cores()
            if use is not None and (self._last is None or use.now - self._last.now > OUTDATED):
                self._last = use
                time.sleep(LOOK_FOR)
                use = _use_of_cores()
            if use is None or self._last is None:
                return None
            span = use.now - self._last.now
            if span >= LOOK_FOR:
                free = (use.idle - self._last.idle + use.own - self._last.own) / span
                self._last, self._free = use, max(1, math.floor(free + NEGLIGIBLE_USE))
            return self._free

    def after_fork(self) -> None:
        """In a new process nobody holds the lock, and the time it has used begins anew."""
        self._lock, self._last = threading.Lock(), None


def _use_of_cores() -> _Use | None:
    """Of the cores this process may use; None where the system does not tell, as those other than Linux."""
    try:
        with open("/proc/stat", encoding="ascii") as lines:
            cores = [line.split() for line in lines if line.startswith("cpu")]
        allowed = {f"cpu{number}" for number in os.sched_getaffinity(0)}
        ticks = sum(int(idle) + int(waiting) for name, _, _, _, idle, waiting, *_ in cores if name in allowed)
        return _Use(time.perf_counter(), time.process_time(), ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, AttributeError, ValueError):
        return None


class _Helpers:
    """Threads that stay, as many as there are cores."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None

    def submit(self, work: Callable[[], None]) -> Future[None]:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(thread_count(None), thread_name_prefix="certselect")
            return self._pool.submit(work)

    def after_fork(self) -> None:
        """A new process has none of them."""
        self._lock, self._pool = threading.Lock(), None


_helpers = _Helpers()
_process, _thread, _neighbours = _Scope(per_thread=False), _OfThisThread(), _Neighbours()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_process.after_fork)
    os.register_at_fork(after_in_child=_neighbours.after_fork)
    os.register_at_fork(after_in_child=_helpers.after_fork)
