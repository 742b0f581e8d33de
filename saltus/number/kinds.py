"""The kinds of number that physics runs on, as Numba types: floats, lanes of floats, duals.

A lane is L simulations side by side in one SIMD register; a dual is a value with 8 tangents. Both behave as scalars in
kernels. Symbols, the fourth kind, need no type: kernels then run uncompiled (see `saltus.number.kernels.interpret`).
"""

from llvmlite import ir
from numba import types
from numba.extending import models, register_model

from saltus.number.internals import Conversion
from saltus.number.processor import register_bits

NTANGENT = 8  # tangents of a dual


# lanes and duals are no `types.Number`, whose union with another type is that of NumPy's types: theirs is what converts
class LaneType(types.Hashable):
    """`width` IEEE numbers of `bits` bits, one simulation each."""

    def __init__(self, bits: int, width: int):
        self.bits, self.width = bits, width
        super().__init__(f"lane{bits}x{width}")

    @property
    def scalar(self):
        return types.float64 if self.bits == 64 else types.float32

    @property
    def ir_scalar(self):
        return ir.DoubleType() if self.bits == 64 else ir.FloatType()

    @property
    def ir_type(self):
        return ir.VectorType(self.ir_scalar, self.width)

    @property
    def mask(self):
        return MASKS[self.width]

    @property
    def nbytes(self):
        return self.bits // 8 * self.width

    def can_convert_from(self, typingctx, other):
        real = isinstance(other, (types.Float, types.Integer, types.Boolean))
        return Conversion.safe if real or other == self.mask else None


class MaskType(types.Type):
    """One truth value a lane."""

    def __init__(self, width: int):
        self.width = width
        super().__init__(f"mask{width}")

    def can_convert_from(self, typingctx, other):
        return Conversion.safe if isinstance(other, types.Boolean) else None

    @property
    def ir_type(self):
        return ir.VectorType(ir.IntType(1), self.width)


class DualType(types.Hashable):
    """A float64 value with `NTANGENT` float64 tangents."""

    def __init__(self):
        super().__init__(f"dual{NTANGENT}")

    nbytes = 16 * NTANGENT  # the value's slot is padded to the alignment of the tangents

    def can_convert_from(self, typingctx, other):
        return Conversion.safe if isinstance(other, (types.Float, types.Integer, types.Boolean)) else None


lane64 = LaneType(64, register_bits() // 64)
lane32 = LaneType(32, register_bits() // 32)
dual = DualType()
MASKS = {width: MaskType(width) for width in (2, 4, 8, 16)}
TANGENTS = ir.VectorType(ir.DoubleType(), NTANGENT)
LANES = {"float64": lane64, "float32": lane32}


@register_model(LaneType)
class _LaneModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, fe_type.ir_type)


@register_model(MaskType)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, fe_type.ir_type)


class _TangentType(types.Type):
    """The tangents of a dual; appears in its data model only."""

    def __init__(self):
        super().__init__(f"tangents{NTANGENT}")


@register_model(_TangentType)
class _TangentModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, TANGENTS)


tangents = _TangentType()


@register_model(DualType)
class _DualModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, [("value", types.float64), ("tangent", tangents)])


def splat(builder, value, vector):
    """A vector with `value` in every place."""
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(one, one, zeros)


def is_real(ty) -> bool:
    """Whether `ty` is a number that lanes and duals combine with."""
    return isinstance(ty, (types.Float, types.Integer))
