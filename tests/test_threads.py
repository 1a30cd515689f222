"""One thread of linear algebra: blocks may overlap, fail and be interrupted, and the number of before comes back."""

import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest
import scipy.linalg  # noqa: F401 - brings the real libraries with it
from hypothesis import given
from hypothesis import strategies as st

from certselect import threads
from certselect.threads import (
    SMALL,
    _Block,
    _Neighbours,
    _Scope,
    _Use,
    blas_threads,
    on_jobs,
    one_blas_thread,
    side_by_side,
    threads_for,
)


class Library:
    """What threadpoolctl gives: one number for the process, which it lets only one thread set."""

    internal_api, threading_layer = "openblas", "pthreads"

    def __init__(self, number=8, interrupt_at=None):
        self.number, self.interrupt_at, self.calls, self.controller = number, interrupt_at, 0, None

    def _call(self):
        self.calls += 1
        if self.calls == self.interrupt_at:
            raise KeyboardInterrupt

    @property
    def num_threads(self):
        self._call()
        return self.number

    def set_num_threads(self, number):
        self._call()
        self.controller = self.controller or threading.current_thread()
        if self.controller is threading.current_thread():
            self.number = number

    def clear_controlling_thread(self, force=False):
        if force or self.controller is threading.current_thread():
            self.controller = None


class LibraryPerThread(Library):
    """One in which each thread has its own number."""

    threading_layer = "openmp"

    def __init__(self, number=8):
        self.first, self.numbers = number, {}

    @property
    def num_threads(self):
        return self.numbers.get(threading.get_ident(), self.first)

    def set_num_threads(self, number):
        self.numbers[threading.get_ident()] = number


@pytest.fixture
def use(monkeypatch):
    """Use these libraries instead of the real ones."""

    def use(*libraries):
        given = SimpleNamespace(select=lambda user_api: SimpleNamespace(lib_controllers=list(libraries)))
        monkeypatch.setattr(threads, "ThreadpoolController", lambda: given)
        threads._blas.cache_clear()

    yield use
    threads._blas.cache_clear()


def overlapping():
    """Two threads, the first out of its block while the second is still in."""
    inside, entered, left = threading.Event(), threading.Event(), threading.Event()
    may_end = threading.Event()

    def first():
        with one_blas_thread(True):
            inside.set()
            assert entered.wait(60)
        left.set()
        assert may_end.wait(60)  # alive, and so in control, when the second one leaves

    def second():
        assert inside.wait(60)
        with one_blas_thread(True):
            entered.set()
            assert left.wait(60)
        may_end.set()

    running = [threading.Thread(target=target) for target in (first, second)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


@pytest.mark.parametrize("kind", [Library, LibraryPerThread])
def test_overlapping_blocks_of_two_threads_bring_the_number_back(use, kind):
    library = kind()
    use(library)
    overlapping()
    assert library.num_threads == 8
    assert set(getattr(library, "numbers", {}).values()) <= {8}


def test_overlapping_blocks_over_the_real_libraries():
    before = [library.num_threads for kind in (False, True) for library in threads._blas(kind)]
    if not before:
        pytest.skip("no library of linear algebra whose threads can be told")
    try:
        for library in threads._blas(False):
            threads._set_threads(library, 2)
        overlapping()
        assert [library.num_threads for library in threads._blas(False)] == [2] * len(threads._blas(False))
    finally:
        for library, number in zip(threads._blas(False), before, strict=False):
            threads._set_threads(library, number)


def test_nested_blocks_and_blocks_that_are_not_wanted(use):
    library = Library()
    use(library)
    with one_blas_thread(False):
        assert library.number == 8
        with one_blas_thread(True), one_blas_thread(True), one_blas_thread(False):
            assert library.number == 1
        assert library.number == 8


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_block_that_fails_brings_the_number_back(use, error):
    library = Library()
    use(library)
    with pytest.raises(error), one_blas_thread(True):
        raise error
    assert library.number == 8


@pytest.mark.parametrize("at", range(1, 13))
def test_ctrl_c_while_numbers_are_set_brings_them_back(use, at):
    """Two libraries: read, read, read, set, read, set on the way in, and read, set, read, set on the way out."""
    one, two = Library(8), Library(3)
    one._call = two._call = lambda: press()
    calls = []

    def press():
        calls.append(None)
        if len(calls) == at:
            raise KeyboardInterrupt

    use(one, two)
    if at <= 10:
        with pytest.raises(KeyboardInterrupt), one_blas_thread(True):
            assert (one.number, two.number) == (1, 1)
    else:
        with one_blas_thread(True):
            assert (one.number, two.number) == (1, 1)
    assert (one.number, two.number) == (8, 3)
    assert not threads._process._inside


def test_what_somebody_else_sets_meanwhile_stays(use):
    library = Library()
    use(library)
    with one_blas_thread(True):
        library.number = 5
        with one_blas_thread(True):
            assert library.number == 5
    assert library.number == 5
    library.number = 1
    with one_blas_thread(True):
        pass
    assert library.number == 1


@given(st.data())
def test_any_order_of_entering_and_leaving(data):
    """The smallest limit of all blocks under way holds, the number of before as soon as there is none."""
    library, scope, inside = Library(6), _Scope(per_thread=False), []
    limits = data.draw(st.lists(st.integers(1, 8), min_size=5, max_size=5))
    waiting = list(range(5))
    real, threads._blas = threads._blas, lambda per_thread: [library]
    try:
        while waiting or inside:
            enters = bool(waiting) and (not inside or data.draw(st.booleans()))
            if enters:
                inside.append(waiting.pop())
                scope.enter(inside[-1], limits[inside[-1]])
            else:
                block = inside.pop(data.draw(st.integers(0, len(inside) - 1)))
                scope.leave(block)
                if data.draw(st.booleans()):
                    scope.leave(block)  # again, as after Ctrl-C
            assert library.number == min([6, *(limits[block] for block in inside)])
    finally:
        threads._blas = real


def test_a_new_process_forgets_the_threads_it_does_not_have(use):
    library, scope = Library(), _Scope(per_thread=False)
    use(library)
    other = threading.Thread(target=scope.enter, args=("of another thread", 1))
    other.start()
    other.join()
    scope._inside["of another thread"] = _Block(-1, 1)  # identifiers of threads that ended are used again
    scope._lock.acquire()  # as another thread may have when the process is copied
    scope.after_fork()
    scope.enter("mine", 1)
    scope.leave("mine")
    assert library.number == 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_within_another_threads_block():
    code = """
import os, threading
import scipy.linalg
from certselect import threads
from certselect.threads import one_blas_thread

for library in threads._blas(False):
    threads._set_threads(library, 2)
inside, done = threading.Event(), threading.Event()

def other():
    with one_blas_thread(True):
        inside.set()
        done.wait()

thread = threading.Thread(target=other)
thread.start()
inside.wait()
child = os.fork()
if child == 0:
    with one_blas_thread(True):
        pass
    os._exit(0 if all(library.num_threads == 2 for library in threads._blas(False)) else 1)
status = os.waitpid(child, 0)[1]
done.set()
thread.join()
assert all(library.num_threads == 2 for library in threads._blas(False))
raise SystemExit(status != 0)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def seen(monkeypatch):
    """Readings of how long cores were in use, one after the other, instead of the machine's own; no real sleep."""

    def show(*readings):
        monkeypatch.setattr(threads, "_neighbours", _Neighbours())
        left = [reading if reading is None else _Use(*reading) for reading in readings]
        monkeypatch.setattr(threads, "_use_of_cores", lambda: left.pop(0))
        monkeypatch.setattr(threads.time, "sleep", lambda seconds: None)
        return left

    return show


@pytest.mark.parametrize(
    ("idle", "own", "free"),
    [
        (8.0, 0.0, 8),  # nobody works
        (7.8, 0.1, 8),  # nobody to speak of
        (0.0, 8.0, 8),  # all of it is ours
        (6.9, 0.1, 7),  # one core in use
        (0.0, 0.7, 1),  # all in use, and we get less than one
        (0.0, 0.0, 1),
    ],
)
def test_the_cores_that_others_leave_free(seen, use, idle, own, free):
    library = Library(8)
    use(library)
    seen((100.0, 5.0, 50.0), (101.0, 5.0 + own, 50.0 + idle))
    with threads_for(10_000):
        assert library.number == free
    assert library.number == 8


def test_small_matrices_are_for_one_thread_and_nobody_looks_at_cores_for_them(seen, use):
    library = Library(8)
    use(library)
    readings = seen()
    with threads_for(SMALL):
        assert library.number == 1
    assert readings == []


def test_what_is_free_is_looked_at_again_since_last_time(seen, use):
    library = Library(4)
    use(library)
    left = seen(
        (10.0, 0.0, 0.0), (10.1, 0.0, 0.4), (10.11, 0.0, 0.4), (12.0, 1.9, 0.4), (90.0, 9.0, 9.0), (90.1, 9, 9.4)
    )
    numbers = []
    for _ in range(4):
        with threads_for(SMALL + 1):
            numbers.append(library.number)
    assert numbers == [4, 4, 1, 4]  # free; too soon to tell anew; others came; after a long time, looked at anew
    assert left == []


def test_where_the_system_does_not_tell_the_number_stays(seen, use):
    library = Library(4)
    use(library)
    seen(None, None)
    with threads_for(SMALL + 1):
        assert library.number == 4


def test_no_more_threads_than_were_set_before(seen, use):
    library = Library(2)
    use(library)
    seen((10.0, 0.0, 0.0), (11.0, 0.0, 16.0))
    with threads_for(SMALL + 1):
        assert library.number == 2
    with blas_threads(5):
        assert library.number == 2


def test_jobs_limit_linear_algebra_too(use):
    library = Library(8)
    use(library)
    with on_jobs(None):
        assert library.number == 8
    with on_jobs(3):
        assert library.number == 3
        with on_jobs(1):
            assert library.number == 1
        assert library.number == 3
    assert library.number == 8


@pytest.mark.skipif(not os.path.exists("/proc/stat"), reason="this system does not tell the use of its cores")
def test_the_real_cores():
    use = threads._use_of_cores()
    assert use is not None
    assert use.idle >= 0.0
    assert 1 <= _Neighbours().free_cores() <= len(os.sched_getaffinity(0))


def test_parts_side_by_side_take_no_more_threads_than_the_block_around_them():
    here = threading.get_ident()
    with on_jobs(1):
        assert set(side_by_side(lambda part: threading.get_ident(), range(50), 8)) == {here}


def test_parts_side_by_side_come_in_order_whatever_thread_took_them():
    for n_threads in (1, 2, 3, 50):
        assert side_by_side(lambda part: part * part, range(20), n_threads) == [part * part for part in range(20)]
    assert side_by_side(str, [], 4) == []


def test_two_threads_really_work_at_the_same_time():
    met = threading.Barrier(2)  # passes when two are there, and breaks after a while otherwise
    assert side_by_side(lambda part: met.wait(timeout=60), [0, 1], 2) in ([0, 1], [1, 0])


def test_parts_within_parts_do_not_wait_for_each_other():
    def inner(part):
        return sum(side_by_side(lambda number: number + part, range(5), 4))

    assert side_by_side(inner, range(8), 8) == [10 + 5 * part for part in range(8)]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_ends_what_was_not_begun_and_waits_for_what_was(error):
    began, go_on, done = threading.Event(), threading.Event(), []
    caller = threading.get_ident()

    def work(part):
        if threading.get_ident() == caller:
            assert began.wait(timeout=60)
            threading.Timer(0.01, go_on.set).start()
            raise error
        began.set()
        assert go_on.wait(timeout=60)
        done.append(part)

    with pytest.raises(error):
        side_by_side(work, range(1000), 2)
    assert len(done) == 1, "the other thread's part was waited for, and no further one begun"


def test_an_error_in_another_thread_is_the_callers():
    caller, met = threading.get_ident(), threading.Barrier(2)

    def work(part):
        met.wait(timeout=60)
        if threading.get_ident() != caller:
            raise ValueError(part)

    with pytest.raises(ValueError):
        side_by_side(work, [0, 1], 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes can be copied")
def test_a_copied_process_has_threads_of_its_own():
    code = """
import os
from certselect.threads import side_by_side
assert side_by_side(abs, range(9), 2) == list(range(9))
child = os.fork()
if child == 0:
    os._exit(0 if side_by_side(abs, range(9), 2) == list(range(9)) else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=300).returncode == 0
