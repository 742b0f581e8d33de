"""Structs as kernels see them: fields without reference counts, bounds checks or copies.

In a kernel, `d.xpos[i, 2]` is a number and `d.xpos[i]` a tuple in registers; a field's last extents are part of its
type. Each field is its own alias class, so that the compiler knows that writing one leaves the others alone; fields of
a frozen layout never change.
"""

import functools
import operator

from llvmlite import ir
from numba import types
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_builtin,
    lower_cast,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    register_model,
)

from saltus.number.arithmetic import duals, lanes  # noqa: F401  (their operators)
from saltus.number.cache.checked import CHECKED
from saltus.number.internals import AbstractTemplate, AttributeTemplate, cgutils, infer_global, signature, struct_value
from saltus.number.kinds import LaneType, dual, lane32, lane64
from saltus.number.structs import LAYOUTS

INT64 = ir.IntType(64)
LANES_OF = {types.float64: lane64, types.float32: lane32}
KINDS = {"float64": types.float64, "float32": types.float32, "lane64": lane64, "lane32": lane32, "dual": dual}


class StructType(types.Type):
    """A struct with numbers of type `real`; `name` is its layout's."""

    def __init__(self, name, real):
        self.layout_name, self.real = name, real
        super().__init__(f"{name}-{LAYOUTS[name].digest}[{real}]")

    @property
    def layout(self):
        return LAYOUTS[self.layout_name]

    @property
    def features(self):
        return self.layout.features

    def narrowed(self, features):
        """The type of the layout with no features but these."""
        return StructType(self.layout.narrowed(features).name, self.real)

    def field_type(self, name):
        """The type of an attribute in a kernel, or None."""
        field = self.layout.fields.get(name)
        if field is None:
            return None
        element = types.int64 if field.kind == "int" else self.element(name)
        if not field.shape:
            return element
        return FieldType(element, field.shape[1:], f"{self.layout_name}.{name}", self.constant(name))

    def element(self, name):
        """The type of the numbers of a field of real ones."""
        if self.layout.fields[name].kind == "lane" and isinstance(self.real, LaneType):
            return self.real.scalar
        return LANES_OF[self.real] if name in self.layout.varied else self.real

    def constant(self, name):
        """Whether a field never changes while compiled code runs."""
        return self.layout.frozen and name not in self.layout.varied


class FieldType(types.Type):
    """An array field: `row` are the extents after the first; `alias` names its alias class."""

    def __init__(self, element, row, alias, frozen):
        self.element, self.row, self.alias, self.frozen = element, row, alias, frozen
        super().__init__(f"Field({element}, {row}, {alias})")

    @property
    def row_type(self):
        """The type that one leading index gives: a number, or a tuple of numbers."""
        return types.UniTuple(self.element, self.row[0]) if self.row else self.element


@register_model(StructType)
class _StructModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, [("real", types.voidptr), ("ints", types.CPointer(types.int64))])


@lower_cast(StructType, StructType)
def _narrowed(context, builder, fromty, toty, value):
    return value  # the same two pointers


@register_model(FieldType)
class _FieldModel(models.PrimitiveModel):
    """A pointer to the first element; in checked builds a pair of it and the number of elements."""

    def __init__(self, dmm, fe_type):
        pointer = dmm.lookup(fe_type.element).get_data_type().as_pointer()
        super().__init__(dmm, fe_type, ir.LiteralStructType([pointer, INT64]) if CHECKED else pointer)


def pointer_of(builder, field):
    """The pointer to the first element of a field."""
    return builder.extract_value(field, 0) if CHECKED else field


def _check(context, builder, ty, field, inside):
    """In checked builds, an IndexError that names the field, unless `inside(number of elements)` holds."""
    if CHECKED:
        outside = builder.not_(inside(builder.extract_value(field, 1)))
        with builder.if_then(outside, likely=False):
            context.call_conv.return_user_exc(builder, IndexError, (f"{ty.alias}: an index is outside of the field",))


def _below(builder, at, count):
    """Whether an index is at least 0 and below a number."""
    return builder.icmp_unsigned("<", at, count)


def _metadata(builder, instruction, alias, frozen):
    """Mark a load or store with its alias class, and loads of frozen fields as invariant."""
    module = builder.module
    root = module.add_metadata(["saltus"])
    node = module.add_metadata([alias, root, ir.Constant(INT64, 0)])
    tag = module.add_metadata([node, node, ir.Constant(INT64, 0)])
    instruction.set_metadata("tbaa", tag)
    if frozen and instruction.opname == "load":
        instruction.set_metadata("invariant.load", module.add_metadata([]))
    return instruction


def _head(context, builder, struct, slot, layout_name):
    """Entry `slot` of the integer buffer's head, which never changes."""
    pointer = builder.gep(struct.ints, [ir.Constant(INT64, slot)])
    return _metadata(builder, builder.load(pointer), f"{layout_name}.head", True)


@infer_getattr
class _StructAttribute(AttributeTemplate):
    key = StructType

    def generic_resolve(self, ty, attr):
        return ty.field_type(attr)


def _field_pointer(context, builder, ty, value, attr):
    struct = cgutils.create_struct_proxy(ty)(context, builder, value=value)
    offset = _head(context, builder, struct, ty.layout.slot[attr], ty.layout_name)
    if ty.layout.fields[attr].kind != "int":
        place = builder.gep(builder.bitcast(struct.real, context.get_data_type(ty.real).as_pointer()), [offset])
        return builder.bitcast(place, context.get_data_type(ty.element(attr)).as_pointer())
    return builder.gep(struct.ints, [offset])


@lower_getattr_generic(StructType)
def _lower_attribute(context, builder, ty, value, attr):
    field = ty.layout.fields[attr]
    if field.kind == "int" and not field.shape:
        struct = cgutils.create_struct_proxy(ty)(context, builder, value=value)
        return _head(context, builder, struct, ty.layout.slot[attr], ty.layout_name)
    pointer = _field_pointer(context, builder, ty, value, attr)
    if field.shape and CHECKED:
        struct = cgutils.create_struct_proxy(ty)(context, builder, value=value)
        pair = ir.Constant(context.get_value_type(ty.field_type(attr)), ir.Undefined)
        count = _head(context, builder, struct, ty.layout.count_slot(attr), ty.layout_name)
        return builder.insert_value(builder.insert_value(pair, pointer, 0), count, 1)
    if field.shape:
        return pointer
    return _load(context, builder, ty.element(attr), pointer, f"{ty.layout_name}.{attr}", ty.constant(attr))


@lower_setattr_generic(StructType)
def _lower_set_attribute(context, builder, sig, args, attr):
    ty, value_type = sig.args
    if ty.layout.fields[attr].shape or ty.layout.fields[attr].kind == "int" or ty.constant(attr):
        raise TypeError(f"{attr} cannot be assigned")
    pointer = _field_pointer(context, builder, ty, args[0], attr)
    value = context.cast(builder, args[1], value_type, ty.element(attr))
    _store(context, builder, ty.element(attr), value, pointer, f"{ty.layout_name}.{attr}")


def _load(context, builder, element, pointer, alias, frozen):
    load = builder.load(pointer, align=_alignment(element))
    _metadata(builder, load, alias, frozen)
    return load


def _store(context, builder, element, value, pointer, alias):
    _metadata(builder, builder.store(value, pointer, align=_alignment(element)), alias, False)


def _alignment(element):
    if isinstance(element, LaneType):
        return min(element.nbytes, 64)
    if element == dual:
        return 64
    return element.bitwidth // 8


def _element_pointer(context, builder, ty, field, index_types, indices):
    """Pointer to the element (or first element of the row) at the indices."""
    indices = [context.cast(builder, *pair, types.int64) for pair in zip(indices, index_types, strict=True)]
    at, row = indices[0], ir.Constant(INT64, ty.row[0] if ty.row else 1)
    _check(context, builder, ty, field, lambda count: _below(builder, at, builder.udiv(count, row)))
    if ty.row:
        at = builder.mul(at, row, flags=("nsw",))
    if len(indices) == 2:
        _check(context, builder, ty, field, lambda count: _below(builder, indices[1], row))
        at = builder.add(at, indices[1], flags=("nsw",))
    return builder.gep(pointer_of(builder, field), [at])


def _indexed_type(ty, index):
    if isinstance(index, types.Integer):
        return ty.row_type
    if isinstance(index, types.BaseTuple) and len(index) == 2 and ty.row:
        return ty.element if all(isinstance(i, types.Integer) for i in index) else None
    return None


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) == 2 and isinstance(args[0], FieldType):
            result = _indexed_type(*args)
            return signature(result, *args) if result is not None else None


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) == 3 and isinstance(args[0], FieldType) and not args[0].frozen:
            expected = _indexed_type(args[0], args[1])
            if expected is not None and self.context.can_convert(args[2], expected) is not None:
                return signature(types.none, args[0], args[1], expected)


@lower_builtin(operator.getitem, FieldType, types.Integer)
def _get_row(context, builder, sig, args):
    ty, index = sig.args
    pointer = _element_pointer(context, builder, ty, args[0], [index], [args[1]])
    if not ty.row:
        return _load(context, builder, ty.element, pointer, ty.alias, ty.frozen)
    items = []
    for k in range(ty.row[0]):
        place = builder.gep(pointer, [ir.Constant(INT64, k)])
        items.append(_load(context, builder, ty.element, place, ty.alias, ty.frozen))
    return context.make_tuple(builder, sig.return_type, items)


@lower_builtin(operator.getitem, FieldType, types.BaseTuple)
def _get_element(context, builder, sig, args):
    ty, index = sig.args
    pointer = _element_pointer(context, builder, ty, args[0], list(index), cgutils.unpack_tuple(builder, args[1]))
    return _load(context, builder, ty.element, pointer, ty.alias, ty.frozen)


@lower_builtin(operator.setitem, FieldType, types.Integer, types.Any)
def _set_row(context, builder, sig, args):
    ty, index, _ = sig.args
    pointer = _element_pointer(context, builder, ty, args[0], [index], [args[1]])
    if not ty.row:
        _store(context, builder, ty.element, args[2], pointer, ty.alias)
        return context.get_dummy_value()
    for k, item in enumerate(cgutils.unpack_tuple(builder, args[2])):
        place = builder.gep(pointer, [ir.Constant(INT64, k)])
        _store(context, builder, ty.element, item, place, ty.alias)
    return context.get_dummy_value()


@lower_builtin(operator.setitem, FieldType, types.BaseTuple, types.Any)
def _set_element(context, builder, sig, args):
    ty, index, _ = sig.args
    pointer = _element_pointer(context, builder, ty, args[0], list(index), cgutils.unpack_tuple(builder, args[1]))
    _store(context, builder, ty.element, args[2], pointer, ty.alias)
    return context.get_dummy_value()


def load_entry(context, builder, ty, field, place):
    """The number at a place (an int64) of a field without further extents, of whose type `ty` is."""
    pointer = entry_pointer(context, builder, ty, field, place)
    return _load(context, builder, ty.element, pointer, ty.alias, ty.frozen)


def entry_pointer(context, builder, ty, field, place):
    """The pointer to the number at a place (an int64) of a field without further extents, of whose type `ty` is."""
    return _element_pointer(context, builder, ty, field, [types.int64], [place])


def kind_of_buffer(ty):
    """The kind of number in a buffer: duals have three axes, lanes two, floats one."""
    if ty.ndim == 3:
        return dual
    if ty.ndim == 2:
        return lane64 if ty.dtype == types.float64 else lane32
    return ty.dtype


@functools.cache
def view_of(name):
    """An intrinsic that sees two buffers as a struct of the layout with this name."""

    @intrinsic
    def view(typingctx, real, ints):
        ty = StructType(name, kind_of_buffer(real))

        def codegen(context, builder, sig, args):
            struct = cgutils.create_struct_proxy(ty)(context, builder)
            buffer = context.make_array(sig.args[0])(context, builder, args[0])
            head = context.make_array(sig.args[1])(context, builder, args[1])
            struct.real = builder.bitcast(buffer.data, struct.real.type)
            struct.ints = head.data
            return struct_value(struct)

        return ty(real, ints), codegen

    return view


@functools.cache
def struct_at(layout_name: str):
    """An intrinsic that sees two addresses as a struct of the layout with this name."""

    @intrinsic
    def view(typingctx, real, ints):
        ty = StructType(layout_name, types.float64)

        def codegen(context, builder, sig, args):
            struct = cgutils.create_struct_proxy(ty)(context, builder)
            struct.real, struct.ints = builder.bitcast(args[0], struct.real.type), args[1]
            return struct_value(struct)

        return ty(real, ints), codegen

    return view
