"""What a number of rows near one stands for, where rows count differently.

The bias that psi(n) takes away goes by the number of rows, the density by their weight. m rows
in a ball, the row itself among them, of weight W and with Q the sum of the squares of their
weights, where n of them are counted, stand for

    psi(n) + ln(W / m) + (1 / m + Q / W^2) / 2 - w / W

w being the row's own weight. ln W is too large by w / W, for the row itself is always there, and
too small by Q / 2 W^2, as a logarithm of any sum of chance; psi(n) takes both away where all
weights are equal, and what is added to it and to ln(W / m) is 0 then.

The heft of rows is (W, Q), and (how many they are, 0) without weights.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, forceinline=True)
def psi_of(nearer, no_farther, heft, own, psi, weights):
    """What psi counts in a ball, times the row's own weight.

    Rows nearer than rho, and no farther than rho, both with the row itself, and the heft of the latter.
    """
    n = max(nearer, no_farther - 1)
    if weights is None:
        return psi[n]
    weight = heft[0] / weights.largest
    scatter = heft[1] / weights.per_square / (weight * weight)
    share = own / weights.largest
    excess = np.log(weight / no_farther) + (1.0 / no_farther + scatter) / 2.0 - share / weight
    return np.int64(np.rint((psi[n] + excess * weights.per_nat) * share))


@njit(nogil=True, forceinline=True)
def psi_of_span(span, psi, weights, ahead, own):
    """As `psi_of`, of what `span_of` found; `ahead` is the heft before each place."""
    first, nearer, behind_nearer, behind = span
    return psi_of(
        behind_nearer - nearer, behind - first, heft_between(first, behind, ahead, weights), own, psi, weights
    )


@njit(nogil=True, forceinline=True)
def psi_of_all(n, heft, own, psi, weights):
    """As `psi_of`, of n rows that are all nearer."""
    return psi_of(n, n, heft, own, psi, weights)


@njit(nogil=True)
def heft_ahead(xs, ys, order, begin, weights):
    """The heft of the rows before each place (places + 1, 2), in some order, of rows begin.. that have both values."""
    if weights is None:
        return np.empty((0, 2), np.int64)
    ahead = np.zeros((len(order) + 1, 2), np.int64)
    n = 0
    for row in order:
        if not (np.isnan(xs[row]) or np.isnan(ys[row])):
            ahead[n + 1, 0] = ahead[n, 0] + weights.whole[begin + row]
            ahead[n + 1, 1] = ahead[n, 1] + weights.squares[begin + row]
            n += 1
    return ahead


@njit(nogil=True, forceinline=True)
def weight_at(place, ahead, weights):
    """Weight of the row at a place; 1 without weights."""
    if weights is None:
        return np.int64(1)
    return ahead[place + 1, 0] - ahead[place, 0]


@njit(nogil=True, forceinline=True)
def heft_between(begin, end, ahead, weights):
    """Heft of the rows from one place to before another."""
    if weights is None:
        return np.int64(end - begin), np.int64(0)
    return ahead[end, 0] - ahead[begin, 0], ahead[end, 1] - ahead[begin, 1]
