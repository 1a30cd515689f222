"""Which rows are near a point, and how far the k-th of them is.

Searching for near rows is one question asked very often: is |value - centre| at most a radius? Asked of eight values
at once, the answers are a byte, and being near in several columns is an AND of bytes. NaN is not near anything.

`psi(n)` stands for n rows around a point within the distance rho of its k-th neighbour. Without ties n counts the
rows nearer than rho and the point itself, as Kraskov, Stoegbauer and Grassberger do. Rows exactly at rho are one in
the joint space then, and at most one in a margin; where there are more, all but one count too. In one formula, n is
the larger of "rows nearer than rho, itself included" and "others no farther than rho".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from certselect.information.kernels.lanes import LANES, spread_value

_FLOATS = ir.VectorType(ir.DoubleType(), LANES)
_WORD = ir.IntType(64)


def _comparing(comparison: str, absolute: bool) -> Any:
    """A function of values, at, centre and bound: bit t says how values[at + t] - centre compares with bound."""

    @intrinsic
    def compare(typingctx, values, at, centre, bound):
        signature = types.int64(values, types.intp, types.float64, types.float64)

        def codegen(context, builder, signature, arguments):
            array, at, centre, bound = arguments
            data = context.make_array(signature.args[0])(context, builder, array).data
            place = builder.bitcast(builder.gep(data, [at]), _FLOATS.as_pointer())
            apart = builder.fsub(builder.load(place, align=8), spread_value(builder, centre, _FLOATS))
            if absolute:
                fabs = _function(builder, ir.FunctionType(_FLOATS, [_FLOATS]), f"llvm.fabs.v{LANES}f64")
                apart = builder.call(fabs, [apart])
            bits = builder.fcmp_ordered(comparison, apart, spread_value(builder, bound, _FLOATS))
            return builder.zext(builder.bitcast(bits, ir.IntType(LANES)), _WORD)

        return signature, codegen

    return compare


# Is |values[at + t] - centre| <= bound? Nothing is checked, here and below.
near_bits = _comparing("<=", absolute=True)
# Is values[at + t] - centre < bound, and is it <= bound?
below_bits = _comparing("<", absolute=False)
up_to_bits = _comparing("<=", absolute=False)


def _of_bits(name: str, *flags: ir.Constant) -> Any:
    """A function of a word, by LLVM's own of that name."""

    @intrinsic
    def ask(typingctx, bits):
        def codegen(context, builder, signature, arguments):
            kind = ir.FunctionType(_WORD, [_WORD, *(flag.type for flag in flags)])
            return builder.call(_function(builder, kind, name), [*arguments, *flags])

        return types.int64(types.int64), codegen

    return ask


# How many bits are set; and the place of the lowest that is set: some must be.
count_bits = _of_bits("llvm.ctpop.i64")
lowest_bit = _of_bits("llvm.cttz.i64", ir.Constant(ir.IntType(1), 1))


def _function(builder: Any, function_type: ir.FunctionType, name: str) -> Any:
    return cgutils.get_or_insert_function(builder.module, function_type, name)


# Distances that differ by a billionth are equal: dividing integers by a standard deviation
# leaves rounding errors behind, which must not decide what ties.
_SLACK, _ROUNDING = 2.0**-30, 2.0**-40
_REACH = 1.3  # times the usual distance
# Farther than any two numbers, nearer than two different categories, which are FAR apart or more.
BEYOND, FAR = 1e299, 1e300


@njit(nogil=True, forceinline=True)
def inside(rho):
    """The largest distance that is nearer than rho; below 0, so that nothing is, where rho is 0."""
    return rho * (1.0 - _SLACK) if rho > 0.0 else -1.0


@njit(nogil=True, forceinline=True)
def edge(rho):
    """The largest distance that is no farther than rho."""
    return rho * (1.0 + _SLACK)


@njit(nogil=True, forceinline=True)
def just_below(rho):
    """A distance that leaves out those equal to rho but for rounding, and none that `inside` lets in."""
    return rho * (1.0 - _ROUNDING) if rho > 0.0 else -1.0


@njit(nogil=True, forceinline=True)
def fill_buckets(values, n, bucket_at):
    """Cut the range of n sorted values into n buckets; where each begins. Returns buckets per unit.

    They save the first steps of a search: where values are spread evenly, all of them.
    """
    lowest = values[0]
    span = values[n - 1] - lowest
    per_unit = n / span if span > 0.0 else 0.0
    bucket = 0
    for place in range(n):
        own = min(n, int((values[place] - lowest) * per_unit))
        while bucket <= own:
            bucket_at[bucket] = place
            bucket += 1
    while bucket <= n:
        bucket_at[bucket] = n
        bucket += 1
    return per_unit


@njit(nogil=True, forceinline=True)
def span_of(values, n, bucket_at, per_unit, centre, rho):
    """Where rows no farther than rho from `centre` begin, where nearer ones begin and end, and where the former end.

    `values` holds at least eight more than n, whatever they are: they are read along.
    """
    near, far = inside(rho), edge(rho)
    first = _first_from(values, _guess(values, n, bucket_at, per_unit, centre - far), n, centre, -far)
    nearer = _first_from(values, first, n, centre, -near)
    behind_nearer = _first_beyond(values, _guess(values, n, bucket_at, per_unit, centre + near), n, centre, near)
    behind = _first_beyond(values, behind_nearer, n, centre, far)
    return first, nearer, behind_nearer, behind


@njit(nogil=True, forceinline=True)
def _guess(values, n, bucket_at, per_unit, value):
    """A place no later than the first one from `value` on."""
    bucket = (value - values[0]) * per_unit
    if bucket <= 0.0:
        return np.int64(0)
    return np.int64(bucket_at[min(n, int(min(bucket, 1e9)))])


@njit(nogil=True, forceinline=True)
def _first_from(values, place, n, centre, offset):
    """The first place at or behind `place` with value - centre >= offset."""
    before = lowest_bit(~below_bits(values, place, centre, offset))
    if before < LANES:
        return min(place + before, n)
    step = LANES
    while place + step <= n and values[place + step - 1] - centre < offset:
        place += step
        step *= 2
    while step > 1:
        step //= 2
        if place + step <= n and values[place + step - 1] - centre < offset:
            place += step
    return place


@njit(nogil=True, forceinline=True)
def _first_beyond(values, place, n, centre, offset):
    """The first place at or behind `place` with value - centre > offset."""
    before = lowest_bit(~up_to_bits(values, place, centre, offset))
    if before < LANES:
        return min(place + before, n)
    step = LANES
    while place + step <= n and values[place + step - 1] - centre <= offset:
        place += step
        step *= 2
    while step > 1:
        step //= 2
        if place + step <= n and values[place + step - 1] - centre <= offset:
            place += step
    return place


@njit(nogil=True, forceinline=True)
def kth_distance(values, n, place, k):
    """Distance from one of n sorted values to the k-th nearest of the others."""
    centre = values[place]
    shortest = np.inf
    # The k nearest and the value itself stand side by side: try where they may begin.
    for first in range(max(0, place - k), min(place, n - 1 - k) + 1):
        shortest = min(shortest, max(centre - values[first], values[first + k] - centre))
    return shortest


@njit(nogil=True, forceinline=True)
def insert_distance(distance, nearest, k):
    """Put a distance into the k ascending ones; the largest, which leaves, is returned.

    Without a branch: whether a distance belongs in there is what no processor can foresee.
    """
    for place in range(k):
        smaller = min(nearest[place], distance)
        distance = max(nearest[place], distance)
        nearest[place] = smaller
    return distance


@njit(nogil=True, forceinline=True)
def next_reach(reach, rho):
    """How far to look first for the neighbours of the next row, from how far those of the last ones were.

    A guess that is too short costs a second search, one that is too long a longer one;
    what is found is the same.
    """
    if rho >= BEYOND:
        return reach
    return _REACH * rho if reach >= BEYOND else reach + (_REACH * rho - reach) / 16.0
