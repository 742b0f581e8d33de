"""Arithmetic of duals: a value and its derivatives along 8 directions, carried together (forward differentiation).

A comparison looks at the value alone, so a dual takes the same branches as a float. Division and square root follow the
chain rule; see Griewank & Walther, Evaluating Derivatives (2008), table 3.
"""

import operator

from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, lower_cast

from saltus.number.internals import AbstractTemplate, cgutils, infer_global, signature, struct_value
from saltus.number.kinds import TANGENTS, DualType, dual, is_real, splat


def pack(context, builder, value, tangent):
    """A dual from its value and tangents."""
    d = cgutils.create_struct_proxy(dual)(context, builder)
    d.value, d.tangent = value, tangent
    return struct_value(d)


def unpack(context, builder, x):
    """Value and tangents of a dual."""
    d = cgutils.create_struct_proxy(dual)(context, builder, value=x)
    return d.value, d.tangent


@lower_cast(types.Boolean, DualType)
@lower_cast(types.Float, DualType)
@lower_cast(types.Integer, DualType)
def _number_to_dual(context, builder, fromty, toty, value):
    return pack(context, builder, context.cast(builder, value, fromty, types.float64), ir.Constant(TANGENTS, None))


def _dual_pair(args):
    return len(args) == 2 and dual in args and all(a == dual or is_real(a) for a in args)


def _register_arithmetic(operators, rule):
    """`rule(builder, a, da, b, db)` gives value and tangents; da or db is None for a plain number."""

    class Template(AbstractTemplate):
        def generic(self, args, kws):
            if _dual_pair(args):
                return signature(dual, *(a if a == dual else types.float64 for a in args))

    for op in operators:
        infer_global(op)(type(f"Dual_{op.__name__}", (Template,), {}))

        @lower_builtin(op, DualType, DualType)
        def both(context, builder, sig, args):
            (a, da), (b, db) = (unpack(context, builder, x) for x in args)
            return pack(context, builder, *rule(builder, a, da, b, db))

        @lower_builtin(op, DualType, types.Float)
        def left(context, builder, sig, args):
            a, da = unpack(context, builder, args[0])
            return pack(context, builder, *rule(builder, a, da, args[1], None))

        @lower_builtin(op, types.Float, DualType)
        def right(context, builder, sig, args):
            b, db = unpack(context, builder, args[1])
            return pack(context, builder, *rule(builder, args[0], None, b, db))


def _sum(builder, a, da, b, db):
    if da is None or db is None:
        return builder.fadd(a, b), db if da is None else da
    return builder.fadd(a, b), builder.fadd(da, db)


def _difference(builder, a, da, b, db):
    if da is None:
        return builder.fsub(a, b), builder.fneg(db)
    return builder.fsub(a, b), da if db is None else builder.fsub(da, db)


def _product(builder, a, da, b, db):
    """d(ab) = a db + b da."""
    left = None if db is None else builder.fmul(splat(builder, a, TANGENTS), db)
    right = None if da is None else builder.fmul(splat(builder, b, TANGENTS), da)
    if left is None or right is None:
        return builder.fmul(a, b), right if left is None else left
    return builder.fmul(a, b), builder.fadd(left, right)


def _quotient(builder, a, da, b, db):
    """d(a/b) = (da - (a/b) db) / b."""
    q = builder.fdiv(a, b)
    inverse = splat(builder, builder.fdiv(ir.Constant(ir.DoubleType(), 1.0), b), TANGENTS)
    if db is None:
        return q, builder.fmul(inverse, da)
    change = builder.fmul(splat(builder, q, TANGENTS), db)
    return q, builder.fmul(inverse, builder.fneg(change) if da is None else builder.fsub(da, change))


_register_arithmetic((operator.add, operator.iadd), _sum)
_register_arithmetic((operator.sub, operator.isub), _difference)
_register_arithmetic((operator.mul, operator.imul), _product)
_register_arithmetic((operator.truediv, operator.itruediv), _quotient)


def _register_comparison(op, predicate, ordered=True):
    @infer_global(op)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            return signature(types.boolean, dual, dual) if _dual_pair(args) else None

    @lower_builtin(op, DualType, DualType)
    def lower(context, builder, sig, args):
        compare = builder.fcmp_ordered if ordered else builder.fcmp_unordered
        return compare(predicate, *(unpack(context, builder, x)[0] for x in args))


for _op, _predicate in ((operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.ge, ">=")):
    _register_comparison(_op, _predicate)
_register_comparison(operator.eq, "==")
_register_comparison(operator.ne, "!=", ordered=False)


@infer_global(operator.neg)
class _DualNegative(AbstractTemplate):
    def generic(self, args, kws):
        if args == (dual,):
            return signature(dual, dual)


@lower_builtin(operator.neg, DualType)
def _lower_negative(context, builder, sig, args):
    value, tangent = unpack(context, builder, args[0])
    return pack(context, builder, builder.fneg(value), builder.fneg(tangent))


@infer_global(int)
class _DualWholeNumber(AbstractTemplate):
    """The whole number below or above a dual's value, towards zero."""

    def generic(self, args, kws):
        if args == (dual,):
            return signature(types.int64, dual)


@lower_builtin(int, DualType)
def _lower_whole_number(context, builder, sig, args):
    value, _ = unpack(context, builder, args[0])
    return context.cast(builder, value, types.float64, types.int64)
