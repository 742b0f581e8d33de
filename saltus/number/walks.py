"""Loops over numbers that a field of a struct lists: `for i in walk(d.awake_dof, 0, n)`, `walk_back` from the end.

In plain Python they go over the same entries of a view.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model

from saltus.number.internals import RefType, cgutils, iternext_impl, struct_value
from saltus.number.kernels import PLAIN
from saltus.number.struct_types import INT64, FieldType, load_entry


class WalkType(types.SimpleIterableType):
    """The entries of a field of whole numbers from a first one on, one after the other or from the last one back."""

    def __init__(self, field, step):
        self.field, self.step = field, step
        super().__init__(f"walk {step} {field}", _IteratorType(field, step))


class _IteratorType(types.SimpleIteratorType):
    def __init__(self, field, step):
        self.field, self.step = field, step
        super().__init__(f"walking {step} {field}", types.int64)


@register_model(WalkType)
class _WalkModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        members = [("field", fe_type.field), ("first", types.int64), ("last", types.int64)]
        super().__init__(dmm, fe_type, members)


@register_model(_IteratorType)
class _IteratorModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        place = types.EphemeralPointer(types.int64)
        super().__init__(dmm, fe_type, [("field", fe_type.field), ("place", place), ("left", place)])


@lower_builtin("getiter", WalkType)
def _begin(context, builder, sig, args):
    walk = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
    iterator = cgutils.create_struct_proxy(sig.return_type)(context, builder)
    iterator.field = walk.field
    start = walk.first if sig.args[0].step > 0 else builder.sub(walk.last, ir.Constant(INT64, 1))
    iterator.place = cgutils.alloca_once_value(builder, start)
    iterator.left = cgutils.alloca_once_value(builder, builder.sub(walk.last, walk.first))
    return struct_value(iterator)


@lower_builtin("iternext", _IteratorType)
@iternext_impl(RefType.UNTRACKED)
def _next(context, builder, sig, args, result):
    walk = sig.args[0]
    iterator = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
    left = builder.load(iterator.left)
    valid = builder.icmp_signed(">", left, ir.Constant(INT64, 0))
    result.set_valid(valid)
    with builder.if_then(valid):
        place = builder.load(iterator.place)
        result.yield_(load_entry(context, builder, walk.field, iterator.field, place))
        builder.store(builder.add(place, ir.Constant(INT64, walk.step), flags=("nsw",)), iterator.place)
        builder.store(builder.sub(left, ir.Constant(INT64, 1), flags=("nsw",)), iterator.left)


def _made(field, first, last, step):
    """The two values that an intrinsic returns: the type of a walk, and how it is made."""
    if not (isinstance(field, FieldType) and field.element == types.int64 and not field.row):
        return None

    def codegen(context, builder, sig, args):
        walk = cgutils.create_struct_proxy(sig.return_type)(context, builder)
        walk.field = args[0]
        walk.first = context.cast(builder, args[1], sig.args[1], types.int64)
        walk.last = context.cast(builder, args[2], sig.args[2], types.int64)
        return struct_value(walk)

    return WalkType(field, step)(field, first, last), codegen


@intrinsic
def walk(typingctx, field, first, last):
    """The entries `first`, ..., `last` - 1 of a field of whole numbers."""
    return _made(field, first, last, 1)


@intrinsic
def walk_back(typingctx, field, first, last):
    """The entries of a field from the last one back to the first."""
    return _made(field, first, last, -1)


PLAIN[walk] = lambda field, first, last: list(map(int, field[first:last]))
PLAIN[walk_back] = lambda field, first, last: list(map(int, field[first:last]))[::-1]
