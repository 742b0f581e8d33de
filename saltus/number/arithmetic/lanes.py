"""Arithmetic of lanes: what Python's operators mean on L simulations side by side.

Registered at Numba's lowest level, which compiles several times faster than overloads do. Fast-math flags are not set
here: Numba adds those of the kernel in which an operation stands.
"""

import operator

from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, lower_cast

from saltus.number.internals import AbstractTemplate, infer_global, signature
from saltus.number.kinds import LaneType, MaskType, is_real, splat


def lane_of(args):
    """The lane type among `args` if all others are numbers that convert to it, else None."""
    found = None
    for a in args:
        if isinstance(a, LaneType):
            if found is not None and a != found:
                return None
            found = a
        elif not is_real(a):
            return None
    return found


@lower_cast(types.Boolean, LaneType)
@lower_cast(types.Float, LaneType)
@lower_cast(types.Integer, LaneType)
def _number_to_lane(context, builder, fromty, toty, value):
    return splat(builder, context.cast(builder, value, fromty, toty.scalar), toty.ir_type)


@lower_cast(MaskType, LaneType)
def _mask_to_lane(context, builder, fromty, toty, value):
    return builder.uitofp(value, toty.ir_type)


@lower_cast(types.Boolean, MaskType)
def _truth_to_mask(context, builder, fromty, toty, value):
    bit = builder.icmp_unsigned("!=", value, ir.Constant(value.type, 0))
    return splat(builder, bit, toty.ir_type)


def _register_arithmetic(operators, instruction):
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            lane = lane_of(args) if len(args) == 2 else None
            return signature(lane, lane, lane) if lane is not None else None

    for op in operators:
        infer_global(op)(type(f"Lane_{op.__name__}", (Template,), {}))

        @lower_builtin(op, LaneType, LaneType)
        def lower(context, builder, sig, args):
            return getattr(builder, instruction)(*args)


def _register_comparison(op, predicate, ordered=True):
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            lane = lane_of(args) if len(args) == 2 else None
            return signature(lane.mask, lane, lane) if lane is not None else None

    infer_global(op)(type(f"Lane_{op.__name__}", (Template,), {}))

    @lower_builtin(op, LaneType, LaneType)
    def lower(context, builder, sig, args):
        compare = builder.fcmp_ordered if ordered else builder.fcmp_unordered
        return compare(predicate, *args)


def _register_mask_operator(op, instruction):
    @infer_global(op)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == 2 and isinstance(args[0], MaskType) and args[0] == args[1]:
                return signature(args[0], *args)

    @lower_builtin(op, MaskType, MaskType)
    def lower(context, builder, sig, args):
        return getattr(builder, instruction)(*args)


_register_arithmetic((operator.add, operator.iadd), "fadd")
_register_arithmetic((operator.sub, operator.isub), "fsub")
_register_arithmetic((operator.mul, operator.imul), "fmul")
_register_arithmetic((operator.truediv, operator.itruediv), "fdiv")
_register_comparison(operator.lt, "<")
_register_comparison(operator.le, "<=")
_register_comparison(operator.gt, ">")
_register_comparison(operator.ge, ">=")
_register_comparison(operator.eq, "==")
_register_comparison(operator.ne, "!=", ordered=False)
_register_mask_operator(operator.and_, "and_")
_register_mask_operator(operator.or_, "or_")


@infer_global(operator.invert)
class _MaskInvert(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) == 1 and isinstance(args[0], MaskType):
            return signature(args[0], args[0])


@lower_builtin(operator.invert, MaskType)
def _lower_invert(context, builder, sig, args):
    return builder.xor(args[0], ir.Constant(args[0].type, [1] * sig.args[0].width))


@infer_global(operator.neg)
class _LaneNegative(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) == 1 and isinstance(args[0], LaneType):
            return signature(args[0], args[0])


@lower_builtin(operator.neg, LaneType)
def _lower_negative(context, builder, sig, args):
    return builder.fneg(args[0])
