"""What a proof would cost on this machine, for those who were not given one."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from certselect.certificate.cholesky import factorised
from certselect.memory import has_room_for_proof
from certselect.threads import one_blas_thread, workers

# Rounds pass over their matrices so often until most features are decided, and each pass costs about so many
# products with a few dozen directions; deriving what they prove costs about so many factorisations. Measured on NCI
# and on gene-like tables of 2000 to 9588 columns.
ITERATIONS = 300
PRODUCTS = 10
FACTORISATIONS = 12
# What is timed here.
CORNER, DIRECTIONS, TRIES = 512, 64, 3


def cost_of_a_bound(n_features: int) -> str:
    """What a bound on so many features would take here, in a sentence."""
    if not has_room_for_proof(n_features):
        return f"This machine has too little memory for a bound on {n_features} features."
    return (
        f"A bound, by certify='tight' or strategy='exact', would take about {_in_words(seconds_for_bound(n_features))} "
        "or more on this machine."
    )


def seconds_for_bound(n_features: int) -> float:
    """About how long it takes to prove something worth knowing of so many features, judged by two small matrices."""
    matrix = np.random.default_rng(0).standard_normal((CORNER, CORNER))
    single = matrix.astype(np.float32)
    definite = matrix @ matrix.T
    with one_blas_thread(True):
        product = min(_timed(lambda: single @ single[:, :DIRECTIONS]) for _ in range(TRIES))
        factorisation = min(_timed(lambda: factorised(definite, definite.diagonal() + 1.0)) for _ in range(TRIES))
    passes = ITERATIONS * PRODUCTS * product * (n_features / CORNER) ** 2
    return (passes + FACTORISATIONS * factorisation * (n_features / CORNER) ** 3) / workers()


def _timed(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def _in_words(seconds: float) -> str:
    """With one digit, in seconds or minutes."""
    if seconds < 90.0:
        return f"{max(1.0, float(f'{seconds:.1g}')):g} seconds"
    return f"{max(2.0, float(f'{seconds / 60.0:.1g}')):g} minutes"
