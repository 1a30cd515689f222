"""The innermost loop: population counts of ANDed bit rows, several at a time.

A tile counts `rows` bit rows of one side against eight bit rows of the other,
one per lane of a vector: for each word, one vector load, then AND, population
count and add per row, all in registers. It is written in LLVM's own terms
because no loop in Python syntax keeps that many vector accumulators in
registers; LLVM turns it into the widest instructions the processor has
(VPOPCNTQ where there is AVX-512, table look-ups or CNT elsewhere).
"""

# The type checker takes the functions compiled below for plain Python ones.
# pyright: reportCallIssue=false

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from certselect.information.kernels.lanes import LANES, spread_value


def _counting_tile(rows: int) -> Any:
    """A compiled function that writes (rows, LANES) counts over words first..last-1.

    Its arguments: left array, offset and stride between words (row r of word w
    is at offset + w * stride + r); right array, offset and stride (lane l of
    word w is at offset + w * stride + l); first and last word; result array and
    offset. All arrays hold unsigned 64-bit words; nothing is checked.
    """

    @intrinsic
    def emit(typingctx, left, left_at, left_step, right, right_at, right_step, first, last, out, out_at):
        signature = types.void(
            left, types.intp, types.intp, right, types.intp, types.intp, *[types.intp] * 2, out, types.intp
        )

        def codegen(context, builder, signature, arguments):
            def pointer(place: int, offset: ir.Value) -> ir.Value:
                array = context.make_array(signature.args[place])(context, builder, arguments[place])
                return builder.gep(array.data, [offset])

            word, vector = ir.IntType(64), ir.VectorType(ir.IntType(64), LANES)
            left_at, left_step = arguments[1], arguments[2]
            right_at, right_step = arguments[4], arguments[5]
            first, last = arguments[6], arguments[7]
            left_base, right_base = pointer(0, left_at), pointer(3, right_at)
            out_base = pointer(8, arguments[9])
            popcount = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(vector, [vector]), f"llvm.ctpop.v{LANES}i64"
            )
            zeros = ir.Constant(vector, [0] * LANES)

            before = builder.block
            loop = builder.append_basic_block("words")
            after = builder.append_basic_block("counted")
            builder.cbranch(builder.icmp_signed("<", first, last), loop, after)

            builder.position_at_end(loop)
            at = builder.phi(word)
            at.add_incoming(first, before)
            counts = [builder.phi(vector) for _ in range(rows)]
            right_word = builder.gep(right_base, [builder.mul(at, right_step)])
            left_word = builder.gep(left_base, [builder.mul(at, left_step)])
            lanes = builder.load(builder.bitcast(right_word, vector.as_pointer()), align=8)
            grown = []
            for row in range(rows):
                bits = builder.load(builder.gep(left_word, [ir.Constant(word, row)]))
                both = builder.call(popcount, [builder.and_(spread_value(builder, bits), lanes)])
                grown.append(builder.add(counts[row], both))
                counts[row].add_incoming(zeros, before)
                counts[row].add_incoming(grown[row], loop)
            following = builder.add(at, ir.Constant(word, 1))
            at.add_incoming(following, loop)
            builder.cbranch(builder.icmp_signed("<", following, last), loop, after)

            builder.position_at_end(after)
            finals = []
            for row in range(rows):
                final = builder.phi(vector)
                final.add_incoming(zeros, before)
                final.add_incoming(grown[row], loop)
                finals.append(final)
            for row, final in enumerate(finals):
                place = builder.gep(out_base, [ir.Constant(word, row * LANES)])
                builder.store(final, builder.bitcast(place, vector.as_pointer()), align=8)
            return context.get_dummy_value()

        return signature, codegen

    @njit(nogil=True, forceinline=True)
    def tile(left, left_at, left_step, right, right_at, right_step, first, last, out, out_at):
        emit(left, left_at, left_step, right, right_at, right_step, first, last, out, out_at)

    return tile


count_four_rows = _counting_tile(4)
count_one_row = _counting_tile(1)


@intrinsic
def level_bits(typingctx, codes, at, level):
    """One bit for each of the 64 bytes codes[at:at+64]: is it `level`?"""
    signature = types.uint64(codes, types.intp, types.uint8)

    def codegen(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        bytes64 = ir.VectorType(ir.IntType(8), 64)
        place = builder.gep(array.data, [arguments[1]])
        here = builder.load(builder.bitcast(place, bytes64.as_pointer()), align=1)
        equal = builder.icmp_unsigned("==", here, spread_value(builder, arguments[2], bytes64))
        return builder.bitcast(equal, ir.IntType(64))

    return signature, codegen
