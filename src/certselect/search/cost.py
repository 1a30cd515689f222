"""What a proof or an eigenvalue problem would cost on this machine, judged by a small one."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from certselect import clock
from certselect.certificate.cholesky import factorised
from certselect.clock import Stopwatch, TimeLimit
from certselect.errors import keyword
from certselect.memory import has_room_for_proof
from certselect.threads import one_blas_thread, threads_for, workers

# Until most features are decided, rounds take about so many iterations, each of which costs about so many products
# with a few dozen directions; and there are a few proofs, each of which costs about so many factorisations. Measured
# on NCI and on gene-like tables of 2000 to 9588 columns.
ITERATIONS = 80
PRODUCTS = 20
PROOFS = 3
FACTORISATIONS = 7
# What is timed here.
CORNER, DIRECTIONS, TRIES = 1024, 64, 2
# Of matrices so much larger than that, twice the corner is timed: several cores have too little to do with less.
LARGE = 4 * CORNER
# The eigenvalues of a matrix of this size take some milliseconds; the mean of a few tries counts.
EIGEN_CORNER, EIGEN_TRIES = 256, 3


def cost_of_a_bound(n_features: int) -> str:
    """What a bound on so many features would take here, in a sentence."""
    if not has_room_for_proof(n_features):
        return f"This machine has too little memory for a bound on {n_features} features."
    return (
        f"A bound, by {keyword('certify', 'tight')} or {keyword('strategy', 'exact')}, would take about "
        f"{_in_words(seconds_for_bound(n_features))} "
        "or more on this machine."
    )


def seconds_for_bound(n_features: int) -> float:
    """About how long it takes to prove something worth knowing of so many features, judged by a small matrix."""
    matrix = np.random.default_rng(0).standard_normal((CORNER, CORNER), dtype=np.float32)
    with one_blas_thread(True):
        product = min(_timed(lambda: matrix @ matrix[:, :DIRECTIONS]) for _ in range(TRIES))
    passes = ITERATIONS * PRODUCTS * product * (n_features / CORNER) ** 2
    return passes / workers() + PROOFS * seconds_per_cube(n_features) * n_features**3


def seconds_per_cube(size: int) -> float:
    """About how long the proof from one slack matrix takes here and now, by the cube of its size."""
    corner = min(size, CORNER) if size < LARGE else 2 * CORNER
    matrix = np.random.default_rng(0).standard_normal((corner, corner))
    diagonal = np.full(corner, 2.0 * corner)
    with threads_for(size):
        factorisation = min(_timed(lambda: factorised(matrix, diagonal)) for _ in range(TRIES))
    return FACTORISATIONS * factorisation / corner**3


def _timed(work: Callable[[], object]) -> float:
    watch = Stopwatch()
    work()
    return watch.seconds


def too_short(limit: TimeLimit, size: int) -> bool:
    """Whether the eigenvalues of a symmetric matrix of this size, or as much work, would take longer than is left.

    A decomposition, or a solver's first steps, cannot be interrupted once it has begun. Judged by how long a small
    matrix takes here and now: the time grows with the cube of the size.
    """
    if limit.ends == math.inf or size <= EIGEN_CORNER:
        return limit.over
    corner = np.random.default_rng(0).standard_normal((EIGEN_CORNER, EIGEN_CORNER))
    with threads_for(size):
        started = clock.now()
        for _ in range(EIGEN_TRIES):
            np.linalg.eigvalsh(corner)
        seconds = (clock.now() - started) / EIGEN_TRIES
    return seconds * (size / EIGEN_CORNER) ** 3 > limit.left


def _in_words(seconds: float) -> str:
    """With one digit, in seconds or minutes."""
    if seconds < 90.0:
        return f"{max(1.0, float(f'{seconds:.1g}')):g} seconds"
    return f"{max(2.0, float(f'{seconds / 60.0:.1g}')):g} minutes"
