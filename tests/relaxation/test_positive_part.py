"""Followed eigenvectors against all of them, on matrices whose spectra have outliers at both ends."""

import numpy as np
import pytest

from certselect.clock import TimeLimit
from certselect.relaxation.arrays import CPU
from certselect.relaxation.positive_part import PositivePart

SIZE = 300


def with_spectrum(values: np.ndarray, seed: int) -> np.ndarray:
    basis = np.linalg.qr(np.random.default_rng(seed).standard_normal((SIZE, SIZE)))[0]
    M = (basis * values) @ basis.T
    return 0.5 * (M + M.T)


def positive_part(M: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(M)
    kept = vectors[:, values > 0.0]
    return (kept * values[values > 0.0]) @ kept.T


def spectrum(seed: int, *, highest: float, lowest: float, n_positive: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = -rng.uniform(0.1, 1.0, SIZE)
    values[:n_positive] = rng.uniform(0.2, 0.5, n_positive)
    values[0], values[-1], values[-2] = highest, lowest, 0.9 * lowest
    return values


class Changing:
    """A matrix that changes under the eyes of the one who follows it."""

    def __init__(self, M: np.ndarray, dtype: type) -> None:
        self.M, self.dtype = M, dtype

    def product(self, V: np.ndarray) -> np.ndarray:
        return self.M.astype(self.dtype) @ V


def followed(dtype: type, M: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The matrix turns a little at every look, nine since the last look down: the highest and the lowest too."""
    changing = Changing(M, dtype)
    part = PositivePart(changing.product, SIZE, dtype, CPU)
    turn = np.random.default_rng(seed).standard_normal((SIZE, SIZE))
    turn = 0.002 * (turn - turn.T) / np.sqrt(SIZE)
    step = np.linalg.solve(np.eye(SIZE) - turn, np.eye(SIZE) + turn)  # orthogonal
    _, vectors = np.linalg.eigh(M)
    low, high = vectors[:, 0], vectors[:, -1]
    angle = 0.01
    together = (
        np.eye(SIZE)
        + (np.cos(angle) - 1.0) * (np.outer(low, low) + np.outer(high, high))
        + np.sin(angle) * (np.outer(low, high) - np.outer(high, low))
    )
    for look in range(39):
        part.factor(look)
        changing.M = step @ together @ changing.M @ together.T @ step.T
    on_the_way = part.factor(39)
    return changing.M, on_the_way, part.factor(40, to_prove=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("highest", "lowest"), [(0.6, -1.0), (40.0, -1.0), (0.6, -60.0), (30.0, -50.0), (5e4, -80.0)])
def test_all_that_is_positive_is_found_in_a_matrix_that_turns(seed, highest, lowest, dtype):
    M = with_spectrum(spectrum(seed, highest=highest, lowest=lowest, n_positive=25), seed)
    M, on_the_way, F = followed(dtype, M, seed)
    assert (on_the_way**2).sum(axis=0).max() == pytest.approx(highest, rel=2e-3), "none of the highest is lost"
    exact = positive_part(M)
    assert np.abs(F @ F.T - exact).max() <= 1e-3 * np.abs(exact).max()
    # What a proof pays for: the largest eigenvalue that was left out, beside those of order one.
    left = np.linalg.eigvalsh(M - F.astype(np.float64) @ F.T.astype(np.float64))[-1]
    assert left <= max(0.02, 1e-5 * highest)


def test_many_positive_directions_are_found_for_a_proof_though_few_were_followed():
    M = with_spectrum(spectrum(0, highest=5.0, lowest=-20.0, n_positive=120), 0)
    part = PositivePart(Changing(M, np.float64).product, SIZE, np.float64, CPU)
    assert part.factor(0).shape[1] < 60
    F = part.factor(1, to_prove=True)
    assert F.shape[1] >= 115
    assert np.linalg.eigvalsh(M - F @ F.T)[-1] <= 0.02


def test_nothing_overflows_when_the_matrix_jumps():
    """What was held apart is no longer what is highest, and what is highest now is raised with all the others."""
    changing = Changing(with_spectrum(spectrum(0, highest=50.0, lowest=-2.0, n_positive=10), 0), np.float32)
    part = PositivePart(changing.product, SIZE, np.float32, CPU)
    for look in range(12):
        part.factor(look)
    changing.M = with_spectrum(spectrum(1, highest=1e6, lowest=-2.0, n_positive=10), 1)
    with np.errstate(all="raise", under="ignore"):
        first = part.factor(13, to_prove=True)
        assert np.isfinite(first).all()
        part.jumped = True
        for look in range(14, 20):
            F = part.factor(look, to_prove=True)
    assert (F * F).sum(axis=0).max() == pytest.approx(1e6, rel=1e-3)


def test_a_matrix_with_nothing_positive_has_no_factor():
    M = with_spectrum(-np.linspace(0.5, 2.0, SIZE), 3)
    part = PositivePart(Changing(M, np.float64).product, SIZE, np.float64, CPU)
    assert part.factor(0).shape == (SIZE, 0)
    assert part.factor(1, to_prove=True).shape == (SIZE, 0)


class Clock:
    """Goes on by a second for each product of a matrix with one direction, and by nothing else."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


def hurried(monkeypatch: pytest.MonkeyPatch, seconds: float) -> tuple[float, float, float]:
    """How far what is left is from nothing positive, how long that took, and how long it was said to take once."""
    M = with_spectrum(spectrum(0, highest=5.0, lowest=-20.0, n_positive=120), 0)
    clock, changing = Clock(), Changing(M, np.float64)
    monkeypatch.setattr("certselect.clock.perf_counter", clock.perf_counter)

    def product(V: np.ndarray) -> np.ndarray:
        clock.now += V.shape[1]
        return changing.product(V)

    part = PositivePart(product, SIZE, np.float64, CPU)
    for look in range(3):
        part.factor(look)
    said, began = part.seconds_to_look, clock.now
    F = part.factor(3, to_prove=True, limit=TimeLimit.of(seconds))
    return float(np.linalg.eigvalsh(M - F @ F.T)[-1]), clock.now - began, said


def test_what_is_looked_for_to_prove_something_ends_with_the_time(monkeypatch):
    """Directions are looked for once in any case; after that only where there is time, and the more the better."""
    left, whole, _ = hurried(monkeypatch, np.inf)
    assert left <= 0.02
    none_left, least, said = hurried(monkeypatch, 0.0)
    assert least <= said <= 2.0 * least
    assert none_left > 10 * max(left, 0.02)
    ends = np.linspace(least, whole, 6)[1:-1]
    missed = []
    for seconds in ends:
        still, took, _ = hurried(monkeypatch, seconds)
        assert took <= seconds
        missed.append(still)
    assert missed == sorted(missed, reverse=True)
    assert missed[-1] < none_left
