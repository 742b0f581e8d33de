"""The four samples of a pixel of a drawing in one SIMD register, and what a triangle does to them."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

NUMBER_BITS = 22
NUMBERS = 1 << NUMBER_BITS
_DOUBLES, _INTEGERS = ir.VectorType(ir.DoubleType(), 4), ir.VectorType(ir.IntType(64), 4)


def _put(typingctx, keys, first, at, steps, number):
    """Put a triangle on the samples `first` to `first` + 3 of `keys` (int64, flat), where it is in front.

    at: the triangle's three edge functions, not negative inside, and its inverse depth (positive) at the pixel's
    corner; steps: by how much each of the four is more at the samples, sixteen numbers. A sample's key is the inverse
    depth as bits, with the triangle's number in the lowest; the larger one wins. True if any sample has changed.
    """
    if not isinstance(keys, types.Array) or at != types.UniTuple(types.float64, 4) or steps.count != 16:
        return None

    def codegen(context, builder, sig, args):
        array = context.make_array(sig.args[0])(context, builder, args[0])
        place = builder.bitcast(builder.gep(array.data, [args[1]]), _INTEGERS.as_pointer())
        corner, offsets = (_elements(builder, args[k]) for k in (2, 3))
        values = [
            builder.fadd(_splat(builder, corner[k], _DOUBLES), _pack(builder, offsets[4 * k : 4 * k + 4], _DOUBLES))
            for k in range(4)
        ]
        zero = ir.Constant(_DOUBLES, [ir.Constant(ir.DoubleType(), 0.0)] * 4)
        inside = [builder.fcmp_ordered(">=", value, zero) for value in values[:3]]
        bits = builder.and_(builder.bitcast(values[3], _INTEGERS), _constant(-NUMBERS))
        key = builder.or_(bits, _splat(builder, args[4], _INTEGERS))
        old = builder.load(place, align=8)
        wins = builder.icmp_signed(">", key, old)
        for condition in inside:
            wins = builder.and_(wins, condition)
        builder.store(builder.select(wins, key, old), place, align=8)
        together = builder.bitcast(wins, ir.IntType(4))
        return builder.icmp_unsigned("!=", together, ir.Constant(ir.IntType(4), 0))

    return types.boolean(keys, types.int64, at, steps, types.int64), codegen


put: Any = intrinsic(_put)


def _elements(builder, pack):
    return [builder.extract_value(pack, k) for k in range(len(pack.type.elements))]


def _pack(builder, scalars, kind):
    vector = ir.Constant(kind, ir.Undefined)
    for k, scalar in enumerate(scalars):
        vector = builder.insert_element(vector, scalar, ir.Constant(ir.IntType(32), k))
    return vector


def _splat(builder, scalar, kind):
    return _pack(builder, [scalar] * 4, kind)


def _constant(value):
    return ir.Constant(_INTEGERS, [ir.Constant(ir.IntType(64), value)] * 4)
