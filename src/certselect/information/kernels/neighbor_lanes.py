"""Which of eight neighbouring numbers are near a point: one bit each.

Searching for near rows is one question asked very often: is |value - centre| at most
a radius? Asked of eight values at once, the answers are a byte, and being near in
several columns is an AND of bytes. NaN is near nothing.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
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
