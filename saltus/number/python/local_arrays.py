"""Small arrays in users' code: a few numbers in registers, with NumPy's arithmetic.

Their size is part of their type, and they are values: whoever stores an element makes another array (see `replaced`).
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, lower_cast, models, overload, register_model

from saltus.number.functions import sqrt
from saltus.number.internals import AbstractTemplate, cgutils, infer_global, signature, struct_value
from saltus.number.kinds import LaneType, dual, is_real
from saltus.number.python.selection import refuse

OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv)


class ArrayType(types.Type):
    """`count` numbers of a type."""

    def __init__(self, element: Any, count: int):
        self.element, self.count = element, count
        super().__init__(f"numbers({element}, {count})")

    def with_element(self, element: Any) -> "ArrayType":
        """The type of as many numbers of another type."""
        return ArrayType(element, self.count)

    def combine(self, context, builder, function, a, b):
        """The array of function(x, y) for the elements of two arrays of this type."""
        pairs = zip(_items(context, builder, self, a), _items(context, builder, self, b), strict=True)
        return _made(context, builder, self, [function(x, y) for x, y in pairs])

    def unify(self, typing, other):
        if isinstance(other, ArrayType) and other.count == self.count:
            element = typing.unify_types(self.element, other.element)
            return None if element is None else ArrayType(element, self.count)

    def can_convert_from(self, typing, other):
        if isinstance(other, ArrayType) and other.count == self.count:
            return typing.can_convert(other.element, self.element)
        return None


@register_model(ArrayType)
class _ArrayModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, [("items", types.UniTuple(fe_type.element, fe_type.count))])


def _items(context, builder, ty, value):
    proxy = cgutils.create_struct_proxy(ty)(context, builder, value=value)
    return cgutils.unpack_tuple(builder, proxy.items)


def _made(context, builder, ty, items):
    proxy = cgutils.create_struct_proxy(ty)(context, builder)
    proxy.items = context.make_tuple(builder, types.UniTuple(ty.element, ty.count), items)
    return struct_value(proxy)


@lower_cast(ArrayType, ArrayType)
def _cast(context, builder, fromty, toty, value):
    items = _items(context, builder, fromty, value)
    return _made(context, builder, toty, [context.cast(builder, x, fromty.element, toty.element) for x in items])


def array_of(x):
    """A small array of the numbers of a tuple or array."""
    return np.array(x, float)


def replaced(x, k, value):
    """An array like x with another number at place k."""
    x = np.array(x)
    x[k] = value
    return x


def item(x, k):
    """Number k of a tuple or array; a number itself."""
    return x[k] if np.ndim(x) else x


def dot(x, y):
    """Sum of the products of two arrays or tuples of numbers."""
    return sum(a * b for a, b in zip(x, y, strict=True))


def norm(x):
    """Euclidean length of an array or tuple of numbers."""
    return dot(x, x) ** 0.5


def total(x):
    """Sum of an array or tuple of numbers."""
    return sum(x)


def returned(x):
    """The result of a function: an array as a tuple."""
    return tuple(x) if isinstance(x, np.ndarray) else x


def _count(x: Any) -> int:
    """Count of the numbers in an array or tuple; the compilation ends at anything else."""
    if isinstance(x, ArrayType):
        return x.count
    if isinstance(x, types.BaseTuple):
        return len(x)
    refuse("this takes small arrays, or tuples of numbers")
    return 0


@infer_global(array_of)
class _ArrayOf(AbstractTemplate):
    def generic(self, args, kws):
        (x,) = args
        if isinstance(x, ArrayType):
            return signature(x, x)
        if not isinstance(x, types.BaseTuple) or not len(x):
            return None
        kind = self.context.unify_types(*map(types.unliteral, x), types.float64)
        if isinstance(kind, LaneType | types.Float) or kind == dual:
            return signature(ArrayType(kind, len(x)), x)


@lower_builtin(array_of, types.Any)
def _lower_array_of(context, builder, sig, args):
    (x,), (ty,), made = args, sig.args, sig.return_type
    if isinstance(ty, ArrayType):
        return x
    pairs = zip(ty, cgutils.unpack_tuple(builder, x), strict=True)
    return _made(context, builder, made, [context.cast(builder, y, t, made.element) for t, y in pairs])


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) == 2 and isinstance(args[0], ArrayType) and isinstance(args[1], types.Integer):
            return signature(args[0].element, args[0], types.int64)


def _is_place(builder, k, j, count):
    """Whether an index means place j, also counted from the end."""
    here = builder.icmp_signed("==", k, ir.Constant(k.type, j))
    return builder.or_(here, builder.icmp_signed("==", k, ir.Constant(k.type, j - count)))


@lower_builtin(operator.getitem, ArrayType, types.Integer)
def _lower_getitem(context, builder, sig, args):
    ty = sig.args[0]
    items = _items(context, builder, ty, args[0])
    found = items[0]
    for j, x in enumerate(items):
        found = _chosen(context, builder, ty.element, _is_place(builder, args[1], j, ty.count), x, found)
    return found


def _chosen(context, builder, ty, condition, a, b):
    return builder.select(condition, a, b)


@infer_global(replaced)
class _Replaced(AbstractTemplate):
    def generic(self, args, kws):
        x, k, value = args
        if not isinstance(x, ArrayType) or not isinstance(k, types.Integer):
            refuse("only small arrays have elements that can be stored; write x = np.array(...) before")
        kind = self.context.unify_types(x.element, types.unliteral(value))
        if kind is not None:
            made = ArrayType(kind, x.count)
            return signature(made, made, types.int64, kind)


@lower_builtin(replaced, ArrayType, types.Integer, types.Any)
def _lower_replaced(context, builder, sig, args):
    ty = sig.return_type
    items = _items(context, builder, ty, args[0])
    places = [_is_place(builder, args[1], j, ty.count) for j in range(ty.count)]
    chosen = [_chosen(context, builder, ty.element, p, args[2], x) for p, x in zip(places, items, strict=True)]
    return _made(context, builder, ty, chosen)


@overload(item)
def _item(x, k):
    if isinstance(x, ArrayType | types.BaseTuple):
        return lambda x, k: x[k]
    return lambda x, k: x


@overload(len)
def _len(x):
    if isinstance(x, ArrayType):
        count = x.count
        return lambda x: count


@overload(returned)
def _returned(x):
    if isinstance(x, ArrayType):
        return _generated(f"({' '.join(f'x[{k}],' for k in range(x.count))})", "x")
    return lambda x: x


@overload(dot)
def _dot(x, y):
    if _count(x) != _count(y):
        refuse(f"arrays of {_count(x)} and {_count(y)} numbers")
    return _generated(" + ".join(f"x[{k}] * y[{k}]" for k in range(_count(x))), "x, y")


@overload(total)
def _total(x):
    return _generated(" + ".join(f"x[{k}]" for k in range(_count(x))), "x")


@overload(norm)
def _norm(x):
    _count(x)
    return lambda x: sqrt(dot(x, x))


def _generated(expression: str, arguments: str) -> Any:
    return eval(f"lambda {arguments}: {expression}", {"__name__": __name__})


class _Elementwise(AbstractTemplate):
    def generic(self, args, kws):
        arrays = [x for x in args if isinstance(x, ArrayType)]
        if len(args) != 2 or not arrays:
            return None
        if len({x.count for x in arrays}) > 1:
            refuse(f"arrays of {args[0].count} and {args[1].count} numbers")
        parts = [x.element if isinstance(x, ArrayType) else types.unliteral(x) for x in args]
        if not all(isinstance(x, LaneType) or x == dual or is_real(x) for x in parts):
            return None
        found = self.context.resolve_function_type(self.key, tuple(parts), {})
        return signature(ArrayType(found.return_type, arrays[0].count), *map(types.unliteral, args))


def _register(op: Any) -> None:
    infer_global(op)(type(f"Arrays_{op.__name__}", (_Elementwise,), {}))

    def lower(context, builder, sig, args):
        made, parts = sig.return_type, [x.element if isinstance(x, ArrayType) else x for x in sig.args]
        items = [
            _items(context, builder, ty, x) if isinstance(ty, ArrayType) else [x] * made.count
            for ty, x in zip(sig.args, args, strict=True)
        ]
        own = context.typing_context.resolve_function_type(op, tuple(parts), {})
        run = context.get_function(op, own)
        pairs = [
            [context.cast(builder, x, p, t) for x, p, t in zip(pair, parts, own.args, strict=True)]
            for pair in zip(*items, strict=True)
        ]
        return _made(context, builder, made, [run(builder, pair) for pair in pairs])

    for pattern in ((ArrayType, ArrayType), (ArrayType, types.Any), (types.Any, ArrayType)):
        lower_builtin(op, *pattern)(lower)


for _op in OPERATORS:
    _register(_op)


@infer_global(operator.matmul)
class _Matmul(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) == 2 and all(isinstance(x, ArrayType) for x in args):
            refuse("write np.dot(a, b)")


@infer_global(operator.neg)
class _Negative(AbstractTemplate):
    def generic(self, args, kws):
        if isinstance(args[0], ArrayType):
            return signature(args[0], args[0])


@lower_builtin(operator.neg, ArrayType)
def _lower_negative(context, builder, sig, args):
    element = sig.return_type.element
    own = context.typing_context.resolve_function_type(operator.neg, (element,), {})
    run = context.get_function(operator.neg, own)
    items = _items(context, builder, sig.return_type, args[0])
    return _made(context, builder, sig.return_type, [run(builder, [x]) for x in items])
