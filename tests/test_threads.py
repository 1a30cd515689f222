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
from certselect.threads import _Scope, one_blas_thread


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


@pytest.mark.parametrize("at", range(1, 11))
def test_ctrl_c_while_numbers_are_set_brings_them_back(use, at):
    """Two libraries: read, read, set, set on the way in, and read, set, read, set on the way out."""
    one, two = Library(8), Library(3)
    one._call = two._call = lambda: press()
    calls = []

    def press():
        calls.append(None)
        if len(calls) == at:
            raise KeyboardInterrupt

    use(one, two)
    if at <= 8:
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
    """One thread as long as any block is under way, the number of before as soon as none is."""
    library, scope, waiting, inside = Library(6), _Scope(per_thread=False), list(range(5)), []
    real, threads._blas = threads._blas, lambda per_thread: [library]
    try:
        while waiting or inside:
            enters = bool(waiting) and (not inside or data.draw(st.booleans()))
            if enters:
                inside.append(waiting.pop())
                scope.enter(inside[-1])
            else:
                block = inside.pop(data.draw(st.integers(0, len(inside) - 1)))
                scope.leave(block)
                if data.draw(st.booleans()):
                    scope.leave(block)  # again, as after Ctrl-C
            assert library.number == (1 if inside else 6)
    finally:
        threads._blas = real


def test_a_new_process_forgets_the_threads_it_does_not_have(use):
    library, scope = Library(), _Scope(per_thread=False)
    use(library)
    other = threading.Thread(target=scope.enter, args=("of another thread",))
    other.start()
    other.join()
    scope._inside["of another thread"] = -1  # identifiers of threads that ended are used again
    scope._lock.acquire()  # as another thread may have when the process is copied
    scope.after_fork()
    scope.enter("mine")
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
