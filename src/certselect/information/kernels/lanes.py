"""Eight 64-bit integers in one vector register, as a value Numba code can hold.

Written as arrays or tuples, eight lanes go through memory or are taken apart;
as a type of their own they stay whole, and a step over eight feature pairs is
one instruction where the processor has registers that wide, a few elsewhere.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

LANES = 8
_VECTOR = ir.VectorType(ir.IntType(64), LANES)
_FLOATS = ir.VectorType(ir.DoubleType(), LANES)


class _LanesType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="certselect.lanes")


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, numba_type: types.Type) -> None:
        super().__init__(manager, numba_type, _VECTOR)


lanes_type = _LanesType()


def _index(lane: int) -> ir.Constant:
    return ir.Constant(ir.IntType(32), lane)


def _place(context: Any, builder: Any, array_type: Any, array: Any, at: Any, vector: ir.Type = _VECTOR) -> Any:
    """Pointer to eight elements of an array, from `at` on."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())


def spread_value(builder: Any, value: Any, vector: ir.VectorType = _VECTOR) -> Any:
    """LLVM for one value in every lane."""
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, value, _index(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, undefined, zeros)


@intrinsic
def load(typingctx, array, at):
    """array[at : at + 8]"""

    def codegen(context, builder, signature, arguments):
        return builder.load(_place(context, builder, signature.args[0], *arguments), align=8)

    return lanes_type(array, types.intp), codegen


@intrinsic
def spread(typingctx, value):
    """The same value in every lane."""

    def codegen(context, builder, signature, arguments):
        return spread_value(builder, arguments[0])

    return lanes_type(value), codegen


@intrinsic
def subtract(typingctx, left, right):
    """left - right, lane by lane."""

    def codegen(context, builder, signature, arguments):
        return builder.sub(*arguments)

    return lanes_type(lanes_type, lanes_type), codegen


@intrinsic
def add(typingctx, left, right):
    """left + right, lane by lane."""

    def codegen(context, builder, signature, arguments):
        return builder.add(*arguments)

    return lanes_type(lanes_type, lanes_type), codegen


@intrinsic
def counted(typingctx, counts, word, lanes):
    """counts + how many bits a word has in common with each lane."""

    def codegen(context, builder, signature, arguments):
        counts, word, lanes = arguments
        count = ir.FunctionType(_VECTOR, [_VECTOR])
        popcount = cgutils.get_or_insert_function(builder.module, count, f"llvm.ctpop.v{LANES}i64")
        return builder.add(counts, builder.call(popcount, [builder.and_(spread_value(builder, word), lanes)]))

    return lanes_type(lanes_type, types.uint64, lanes_type), codegen


@intrinsic
def store(typingctx, array, at, values):
    """array[at : at + 8] = values"""

    def codegen(context, builder, signature, arguments):
        array, at, values = arguments
        builder.store(values, _place(context, builder, signature.args[0], array, at), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes_type), codegen


@intrinsic
def add_looked_up(typingctx, sums, table, places):
    """sums + table[places], lane by lane, unchecked."""

    def codegen(context, builder, signature, arguments):
        sums, table, places = arguments
        data = context.make_array(signature.args[1])(context, builder, table).data
        found = ir.Constant(_VECTOR, ir.Undefined)
        for lane in range(LANES):
            place = builder.extract_element(places, _index(lane))
            found = builder.insert_element(found, builder.load(builder.gep(data, [place])), _index(lane))
        return builder.add(sums, found)

    return lanes_type(lanes_type, table, lanes_type), codegen


@intrinsic
def shifted(typingctx, values, bits, added, start):
    """(values << bits) + added + start, lane by lane; `bits` and `start` are the same in all."""

    def codegen(context, builder, signature, arguments):
        values, bits, added, start = arguments
        moved = builder.shl(values, spread_value(builder, bits))
        return builder.add(builder.add(moved, added), spread_value(builder, start))

    return lanes_type(lanes_type, types.int64, lanes_type, types.int64), codegen


@intrinsic
def add_to(typingctx, array, at, values):
    """array[at : at + 8] += values"""

    def codegen(context, builder, signature, arguments):
        array, at, values = arguments
        place = _place(context, builder, signature.args[0], array, at)
        builder.store(builder.add(builder.load(place, align=8), values), place, align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes_type), codegen


@intrinsic
def store_scaled(typingctx, array, values, unit):
    """array[:8] = max(values, 0) * unit, as floats."""

    def codegen(context, builder, signature, arguments):
        array, values, unit = arguments
        zeros = ir.Constant(_VECTOR, [0] * LANES)
        positive = builder.select(builder.icmp_signed(">", values, zeros), values, zeros)
        floats = builder.fmul(builder.sitofp(positive, _FLOATS), spread_value(builder, unit, _FLOATS))
        first = ir.Constant(ir.IntType(64), 0)
        builder.store(floats, _place(context, builder, signature.args[0], array, first, _FLOATS), align=8)
        return context.get_dummy_value()

    return types.void(array, lanes_type, types.float64), codegen
