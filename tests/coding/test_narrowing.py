"""Integers as levels, with the compiled pass and without: the distinct values of each column, numbered in order."""

import sys

import numpy as np
import pytest

from certselect.coding.levels import integer_levels
from certselect.table import Block

COMPILED = "certselect.coding.narrowing"


@pytest.fixture(params=[True, False], ids=["compiled", "NumPy"])
def compiled(request, monkeypatch):
    if request.param:
        __import__(COMPILED)
    else:
        monkeypatch.delitem(sys.modules, COMPILED, raising=False)
    return request.param


def columns_with_gaps(m, rng):
    """Every span around the limits of bytes and of residues, from many starts, with and without numbers between."""
    for span in (0, 1, 2, 3, 17, 62, 63, 64, 65, 127, 254, 255, 256, 300):
        for start in (0, 1, -1, -64, -300, 63, 1000, 2**62, -(2**63)):
            for kept in (span + 1, 2, max(2, span // 2), max(2, span - 1)):
                inside = (
                    rng.choice(np.arange(1, span), max(0, min(kept, span + 1) - 2), replace=False) if span > 1 else []
                )
                yield start + rng.choice(np.array([0, span, *inside]), m)


@pytest.mark.parametrize("m", [1, 5, 64, 130])
def test_levels_are_the_distinct_values_in_order(compiled, m):
    table = np.array(list(columns_with_gaps(m, np.random.default_rng(m)))).T.copy()
    positions = np.arange(table.shape[1])
    met = []
    for levels, codes in integer_levels(Block("integer", positions, table), n_threads=2):
        for position, n_levels, code in zip(levels.positions, levels.levels, codes, strict=True):
            values, want = np.unique(table[:, position], return_inverse=True)
            assert n_levels == len(values)
            np.testing.assert_array_equal(code, want)
            met.append(position)
    assert sorted(met) == positions.tolist()
