"""Coarse matrices: symmetric, as near as their grain says, and never of another form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certselect.certificate import coarse
from certselect.certificate.coarse import FINEST_BITS, LARGEST_GRAIN, TYPES, Coarse, grain_for, is_grain
from certselect.errors import InvalidInput

seeds = st.integers(0, 2**32 - 1)


def symmetric(rng: np.random.Generator, m: int) -> np.ndarray:
    G = rng.standard_normal((m, m)) * 10.0 ** rng.integers(-3, 3)
    return G + G.T


def plainly(matrix: Coarse) -> np.ndarray:
    """What the class says it stands for, entry by entry."""
    m, entries = len(matrix.diagonal), iter(matrix.entries.tolist())
    whole = np.diag(matrix.diagonal)
    for i in range(m):
        for j in range(i + 1, m):
            whole[i, j] = whole[j, i] = float(next(entries)) * matrix.grain
    return whole


@settings(max_examples=100, deadline=None)
@given(seeds, st.integers(0, 12), st.integers(-14, 3))
def test_entries_are_the_nearest_multiples_of_the_grain(seed: int, m: int, exponent: int) -> None:
    N = symmetric(np.random.default_rng(seed), m)
    rounded = Coarse.of(N, 2.0**exponent)
    whole = rounded.matrix()
    assert rounded.grain == 2.0**exponent
    assert np.array_equal(whole, plainly(rounded))
    assert np.array_equal(whole, whole.T)
    beside = ~np.eye(m, dtype=bool)
    off = np.abs(whole - N)[beside]
    assert (off <= 0.5 * rounded.grain).all()
    added = 0.6 * np.sqrt(m) * rounded.grain if off.any() else 0.0
    assert np.allclose(whole.diagonal() - N.diagonal(), added, rtol=0.0, atol=1e-12)
    assert len(rounded) == m
    assert rounded.nbytes == 8 * m + m * (m - 1) // 2 * rounded.entries.itemsize


@pytest.mark.parametrize("block", [1, 3, 7, 100])
def test_blocks_of_rows_make_no_difference(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    N = symmetric(np.random.default_rng(0), 20)
    wanted = Coarse.of(N)
    monkeypatch.setattr(coarse, "BLOCK", block)
    rounded = Coarse.of(N)
    assert np.array_equal(rounded.entries, wanted.entries)
    assert np.array_equal(rounded.matrix(), plainly(wanted))


def test_the_smallest_type_that_holds_the_entries_is_taken() -> None:
    for largest, kind in ((127, "int8"), (128, "int16"), (32767, "int16"), (32768, "int32"), (2**30 - 1, "int32")):
        N = np.array([[0.5, largest, 1.0], [largest, 0.25, -largest], [1.0, -largest, 1e9]], dtype=float)
        rounded = Coarse.of(N, 1.0)
        assert rounded.entries.dtype == kind
        assert np.array_equal(rounded.matrix(), N)


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e-5, 1.0, 1e150, 1e300])
def test_no_grain_is_finer_than_the_entries_allow(scale: float) -> None:
    N = np.array([[1.0, 1.0, 1e-5], [1.0, 1.0, -0.3], [1e-5, -0.3, 1.0]]) * scale
    for grain in (0.0, 1e-9 * scale * 1e-9):
        rounded = Coarse.of(N, grain)
        assert is_grain(rounded.grain)
        assert rounded.grain <= max(2.0**-1074, 2.0 ** (2 - FINEST_BITS) * scale)
        above = np.triu_indices(3, 1)
        assert np.abs(rounded.matrix() - N)[above].max() <= 0.5 * rounded.grain


def test_what_proves_nothing_is_left_out() -> None:
    N = np.array([[np.inf, np.nan, np.inf], [np.nan, 1.0, 3.0], [-np.inf, 3.0, np.nan]])
    with np.errstate(all="raise"):
        whole = Coarse.of(N).matrix()
        assert Coarse.of(np.full((2, 2), 1.7e308)).entries.tolist() == [0]
        assert np.isfinite(Coarse.of(np.full((2, 2), 1e301), 1e308).matrix()).all()
    assert np.array_equal(whole, [[np.inf, 0.0, 0.0], [0.0, 1.0, 3.0], [0.0, 3.0, np.nan]], equal_nan=True)


def test_products_of_the_largest_grain_are_finite() -> None:
    for kind in TYPES:
        ends = np.array([np.iinfo(kind).min, np.iinfo(kind).max, 1], dtype=kind)
        assert np.isfinite(Coarse(np.zeros(3), LARGEST_GRAIN, ends).matrix()).all()


@pytest.mark.parametrize(
    "change",
    [
        {"diagonal": np.zeros((3, 3))},
        {"diagonal": np.zeros(3, dtype=np.float32)},
        {"diagonal": np.zeros(4)},
        {"entries": np.zeros(4, dtype=np.int8)},
        {"entries": np.zeros((3, 1), dtype=np.int8)},
        {"entries": np.zeros(3, dtype=np.int64)},
        {"entries": np.zeros(3, dtype=np.uint8)},
        {"entries": np.zeros(3)},
        *({"grain": grain} for grain in (0.0, -1.0, 0.3, np.nan, np.inf, 2.0 * LARGEST_GRAIN, 1, True, "1")),
    ],
)
def test_other_forms_are_refused(change: dict[str, Any]) -> None:
    good = Coarse(np.zeros(3), 0.5, np.zeros(3, dtype=np.int8))
    with pytest.raises(InvalidInput, match="Round the matrix again"):
        replace(good, **change)


def test_what_is_semidefinite_stays_so() -> None:
    rng = np.random.default_rng(2)
    for m in (2, 3, 10, 200):
        G = rng.standard_normal((m, max(m // 3, 1)))
        N = G @ G.T
        for grain in (2.0**-6, 2.0**-12, 0.0):
            rounded = Coarse.of(N, grain).matrix()
            assert np.linalg.eigvalsh(rounded)[0] > -1e-12
            assert np.linalg.eigvalsh(N - rounded)[0] > -1.3 * np.sqrt(m) * Coarse.of(N, grain).grain


def test_what_is_left_to_prove_sets_the_grain() -> None:
    """Rounding at random moves no eigenvalue by as much as subsets may lose."""
    m, k, left = 300, 10, 0.01
    grain = grain_for(left, m, k)
    assert is_grain(grain)
    N = symmetric(np.random.default_rng(1), m) / 1e3
    moved = np.linalg.eigvalsh(Coarse.of(N, grain).matrix() - N)
    assert k * np.abs(moved).max() < 2.1 * coarse.PART * left  # with what was added to the diagonal
    assert grain_for(2.0 * left, m, k) == 2.0 * grain
    for unknown in (np.inf, np.nan, 0.0, -1.0):
        assert grain_for(unknown, m, k) == 0.0


@pytest.mark.parametrize("m", [1, 2, 5])
def test_nothing_is_a_matrix_of_zeros(m: int) -> None:
    assert (Coarse.nothing(m).matrix() == np.zeros((m, m))).all()
    only_diagonal = replace(Coarse.nothing(m), diagonal=np.arange(1.0, m + 1.0))
    assert (only_diagonal.matrix() == np.diag(np.arange(1.0, m + 1.0))).all()
