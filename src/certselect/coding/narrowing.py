"""One pass over a table of integers, compiled: smallest, largest, low byte and residues of every column.

Imports the compiler, so it is imported by the code that loads the counting kernels,
when a first table is large enough for them; until then NumPy does the same.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_TILE = 64  # rows and columns turned at a time: their bytes fit in the first-level cache


# The signature is given so that the function is compiled, or loaded, when this module is.
@njit("void(int64[:, ::1], int64, int64, int64[::1], int64[::1], uint64[::1], uint8[:, ::1])", nogil=True, cache=True)
def narrow_columns(values, first, last, lowest, highest, residues, low_bytes):
    """Fill lowest, highest, residues (p,) and low_bytes (p, m) for the columns first..last-1 of values (m, p).

    Bit b of the residues is set if a value leaves b when divided by 64.
    """
    # Plain loops over pieces of rows, which become vector instructions; then the tile is
    # turned, reading nothing but its bytes.
    n_rows = values.shape[0]
    low, high, seen = np.empty(_TILE, np.int64), np.empty(_TILE, np.int64), np.empty(_TILE, np.uint64)
    tile = np.empty((_TILE, _TILE), np.uint8)
    for left in range(first, last, _TILE):
        width = min(_TILE, last - left)
        low[:width] = values[0, left : left + width]
        high[:width] = low[:width]
        seen[:width] = np.uint64(0)
        for top in range(0, n_rows, _TILE):
            height = min(_TILE, n_rows - top)
            for r in range(height):
                row = values[top + r, left : left + width]
                bytes_of_row = tile[r]
                for c in range(width):
                    low[c] = min(low[c], row[c])
                for c in range(width):
                    high[c] = max(high[c], row[c])
                for c in range(width):
                    seen[c] |= np.uint64(1) << np.uint64(row[c] & 63)
                for c in range(width):
                    bytes_of_row[c] = np.uint8(row[c])
            for c in range(width):
                column = low_bytes[left + c, top : top + height]
                for r in range(height):
                    column[r] = tile[r, c]
        lowest[left : left + width] = low[:width]
        highest[left : left + width] = high[:width]
        residues[left : left + width] = seen[:width]
