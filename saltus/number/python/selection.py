"""Truth and choice in users' code: `if`, `and`, `or`, `not` on single simulations and on lanes.

A condition of lanes is a mask, with a truth value for each simulation; any other is a truth value. Each function is
plain Python, which code outside of kernels gets; what kernels get is registered below it.
"""

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import lower_builtin

from saltus.number.arithmetic.duals import unpack
from saltus.number.arithmetic.lanes import lane_of
from saltus.number.internals import AbstractTemplate, NumbaError, cgutils, infer_global, signature
from saltus.number.kinds import LaneType, MaskType, dual, lane32, lane64

TRUTHS = (MaskType, types.Boolean)
REFUSED = "Refused: "  # begins what this room says about types that cannot be


def refuse(why: str) -> None:
    """End the compilation with an error that says why."""
    raise NumbaError(REFUSED + why)


def truth(x):
    """Whether x is true: of a number, whether it is not zero; lane by lane."""
    return x if isinstance(x, bool) else bool(x)


def negated(x):
    """Whether a truth does not hold, lane by lane."""
    return not x


def both(a, b):
    """Whether both truths hold, lane by lane."""
    return a and b


def either(a, b):
    """Whether at least one of two truths holds, lane by lane."""
    return a or b


def select(condition, a, b):
    """a where the condition holds, else b, lane by lane; of tuples, element by element."""
    return a if condition else b


def single(condition):
    """A condition that decides whether something happens, for all simulations at once."""
    return condition


def lane_of_mask(mask: MaskType) -> LaneType:
    """The lanes that a mask belongs to."""
    return lane64 if lane64.mask == mask else lane32


def truth_of(args: Any) -> Any:
    """The mask among truths, or a truth value if there is none; None if one is no truth."""
    if not all(isinstance(a, TRUTHS) for a in args):
        return None
    masks = {a for a in args if isinstance(a, MaskType)}
    return masks.pop() if len(masks) == 1 else None if masks else types.boolean


@infer_global(truth)
class _Truth(AbstractTemplate):
    def generic(self, args, kws):
        (x,) = args
        if isinstance(x, LaneType):
            return signature(x.mask, x)
        if isinstance(x, TRUTHS):
            return signature(x, x)
        if x == dual or isinstance(x, types.Float | types.Integer):
            return signature(types.boolean, types.unliteral(x))


@lower_builtin(truth, types.Any)
def _lower_truth(context, builder, sig, args):
    (x,), (ty,) = args, sig.args
    if isinstance(ty, TRUTHS):
        return x
    if ty == dual:
        x, _ = unpack(context, builder, x)
    if isinstance(ty, types.Integer):
        return builder.icmp_unsigned("!=", x, ir.Constant(x.type, 0))
    zero = ir.Constant(x.type, None if isinstance(ty, LaneType) else 0.0)
    return builder.fcmp_unordered("!=", x, zero)  # as in Python, NaN is true


@infer_global(single)
class _Single(AbstractTemplate):
    def generic(self, args, kws):
        if isinstance(args[0], types.Boolean):
            return signature(args[0], args[0])
        refuse("this would happen in some simulations and not in others; give it values that do nothing, by where")


@lower_builtin(single, types.Boolean)
def _lower_single(context, builder, sig, args):
    return args[0]


@infer_global(negated)
class _Negated(AbstractTemplate):
    def generic(self, args, kws):
        if isinstance(args[0], TRUTHS):
            return signature(args[0], args[0])


@lower_builtin(negated, types.Any)
def _lower_negated(context, builder, sig, args):
    return builder.not_(args[0])


class _Pair(AbstractTemplate):
    def generic(self, args, kws):
        kind = truth_of(args)
        return signature(kind, kind, kind) if kind is not None else None


infer_global(both)(type("_Both", (_Pair,), {}))
infer_global(either)(type("_Either", (_Pair,), {}))


@lower_builtin(both, types.Any, types.Any)
def _lower_both(context, builder, sig, args):
    return builder.and_(*args)


@lower_builtin(either, types.Any, types.Any)
def _lower_either(context, builder, sig, args):
    return builder.or_(*args)


def chosen_type(typing: Any, condition: Any, a: Any, b: Any) -> Any:
    """The type of what is chosen between values of two types; None where there is none."""
    a, b = types.unliteral(a), types.unliteral(b)
    if isinstance(a, types.BaseTuple) and isinstance(b, types.BaseTuple):
        if len(a) != len(b):
            return None
        parts = [chosen_type(typing, condition, x, y) for x, y in zip(a, b, strict=True)]
        return None if None in parts else types.Tuple(parts)
    if not isinstance(condition, MaskType):
        return typing.unify_types(a, b)
    if hasattr(a, "with_element") and hasattr(b, "with_element") and a.count == b.count:
        kind = chosen_type(typing, condition, a.element, b.element)
        return None if kind is None else a.with_element(kind)
    kind = truth_of((a, b))
    if kind is not None:
        return condition if kind in (condition, types.boolean) else None
    lanes = [x for x in (a, b) if isinstance(x, LaneType)]
    kind = lane_of((a, b)) if lanes else lane_of_mask(condition)
    fits = kind is not None and kind.mask == condition
    return kind if fits and all(typing.can_convert(x, kind) is not None for x in (a, b)) else None


@infer_global(select)
class _Select(AbstractTemplate):
    def generic(self, args, kws):
        condition, a, b = args
        kind = chosen_type(self.context, condition, a, b) if isinstance(condition, TRUTHS) else None
        return signature(kind, condition, kind, kind) if kind is not None else None


@lower_builtin(select, types.Any, types.Any, types.Any)
def _lower_select(context, builder, sig, args):
    return _chosen(context, builder, sig.return_type, *args)


def _chosen(context, builder, ty, condition, a, b):
    if isinstance(ty, types.BaseTuple):
        pairs = zip(ty, cgutils.unpack_tuple(builder, a), cgutils.unpack_tuple(builder, b), strict=True)
        return context.make_tuple(builder, ty, [_chosen(context, builder, t, condition, x, y) for t, x, y in pairs])
    if hasattr(ty, "with_element"):
        return ty.combine(context, builder, lambda x, y: builder.select(condition, x, y), a, b)
    return builder.select(condition, a, b)


# ---------------------------------------------------------------- truths in sums and products: 1 or 0


class _Counted(AbstractTemplate):
    """Arithmetic of truths with lanes, duals and each other: they convert to these."""

    def generic(self, args, kws):
        masks = [a for a in args if isinstance(a, MaskType)]
        lanes = [a for a in args if isinstance(a, LaneType)]
        if len(args) != 2 or not any(isinstance(a, TRUTHS) for a in args):
            return None
        kind = dual if dual in args else lanes[0] if lanes else lane_of_mask(masks[0]) if masks else None
        if kind is None or not all(self.context.can_convert(a, kind) is not None for a in args):
            return None
        return signature(kind, kind, kind)


for _name in ("add", "sub", "mul", "truediv", "iadd", "isub", "imul", "itruediv"):
    infer_global(getattr(operator, _name))(type(f"Counted_{_name}", (_Counted,), {}))
