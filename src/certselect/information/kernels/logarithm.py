"""A natural logarithm made of additions and multiplications alone.

The logarithms of NumPy, of the C library and of compiled loops differ in the
last bit, so terms would depend on who counted. This one takes the logarithm of
the leading bits from a table and the rest from a short series: operations that
every processor rounds in the same way. `cell_lists.natural_log` is the same, compiled.
"""

from __future__ import annotations

import numpy as np

# One entry for each value of the eight bits behind the leading one of a number in [1/2, 1).
_CENTERS = (np.arange(256) + 256.5) / 512
LOG_OF_CENTER = np.log(_CENTERS.astype(np.longdouble)).astype(np.float64)
ONE_OVER_CENTER = 1 / _CENTERS
LN_2 = 0.6931471805599453


def natural_log(values: np.ndarray) -> np.ndarray:
    """ln of positive float64 numbers, to about 1e-16 of the larger of 1 and the result."""
    mantissas, exponents = np.frexp(values)
    entries = (mantissas * 512).astype(np.int64) - 256
    r = (mantissas - (entries + 256.5) / 512) * ONE_OVER_CENTER[entries]  # within 2**-9
    series = r * (1 - r * (1 / 2 - r * (1 / 3 - r * (1 / 4 - r * (1 / 5 - r * (1 / 6))))))
    return exponents * LN_2 + (LOG_OF_CENTER[entries] + series)
