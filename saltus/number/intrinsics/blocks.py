"""Blocks of numbers that are taken at once, in one register: which of eight points lies farthest in a direction, and
sums of eight numbers with multiples of eight others.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from saltus.number.kernels import FASTMATH, PLAIN
from saltus.number.struct_types import entry_pointer, pointer_of

AT_ONCE = 8  # points, or numbers, of a block

INT32, INT64, DOUBLE = ir.IntType(32), ir.IntType(64), ir.DoubleType()


@intrinsic
def higher_of_block(typingctx, star, block, x, y, z, least):
    """The highest point of a block in a direction x, y, z and how far (m) it lies, if that is above `least`; else -1.

    star [n, 3 * AT_ONCE] (m): of the points of each block x, then y, then z. All of them are compared at once; of
    equal ones the first is taken.
    """
    wide, flags = ir.VectorType(DOUBLE, AT_ONCE), sorted(FASTMATH)

    def spread(builder, x):
        one = builder.insert_element(ir.Constant(wide, ir.Undefined), x, ir.Constant(INT32, 0))
        return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(INT32, AT_ONCE), None))

    def column(builder, star, place):
        narrow = ir.VectorType(star.type.pointee, AT_ONCE)
        pointer = builder.bitcast(builder.gep(star, [place]), narrow.as_pointer())
        found = builder.load(pointer, align=4)
        return found if narrow == wide else builder.fpext(found, wide)

    def turned(builder, x, by):
        order = [ir.Constant(INT32, (i + by) % AT_ONCE) for i in range(AT_ONCE)]
        return builder.shuffle_vector(x, x, ir.Constant(ir.VectorType(INT32, AT_ONCE), order))

    def codegen(context, builder, sig, args):
        star, block, *u, least = args
        star = pointer_of(builder, star)
        height = None
        for axis in range(3):
            place = builder.add(builder.mul(block, ir.Constant(INT64, 3 * AT_ONCE)), ir.Constant(INT64, AT_ONCE * axis))
            part = builder.fmul(spread(builder, u[axis]), column(builder, star, place), flags=flags)
            height = part if height is None else builder.fadd(height, part, flags=flags)
        above = builder.bitcast(builder.fcmp_ordered(">", height, spread(builder, least)), ir.IntType(AT_ONCE))
        none = builder.block
        with builder.if_then(builder.icmp_unsigned("!=", above, ir.Constant(above.type, 0)), likely=False):
            most, by = height, AT_ONCE // 2
            while by:
                other = turned(builder, most, by)
                most, by = builder.select(builder.fcmp_ordered(">", most, other), most, other), by // 2
            equal = builder.bitcast(builder.fcmp_ordered("==", height, most), above.type)
            first = builder.zext(builder.cttz(equal, ir.Constant(ir.IntType(1), 0)), INT64)
            top = builder.extract_element(most, ir.Constant(INT32, 0))
            some = builder.block
        found, reach = builder.phi(INT64), builder.phi(DOUBLE)
        for value, default, phi in ((first, ir.Constant(INT64, -1), found), (top, least, reach)):
            phi.add_incoming(default, none)
            phi.add_incoming(value, some)
        return context.make_tuple(builder, sig.return_type, [found, reach])

    numbers = (types.float64,) * 4
    return types.Tuple((types.int64, types.float64))(star, types.int64, *numbers), codegen


@intrinsic
def add_multiple(typingctx, target, i, factor, source, j):
    """Add `factor` times AT_ONCE entries of a field of floats, from entry j on, to those of another from i on.

    The two ranges are the same or have no entry in common.
    """
    flags = sorted(FASTMATH)

    def codegen(context, builder, sig, args):
        target, i, factor, source, j = args
        wide = ir.VectorType(factor.type, AT_ONCE)

        def pointer(field, ty, first):
            """To the block; in checked builds both of its ends are looked at."""
            entry_pointer(context, builder, ty, field, builder.add(first, ir.Constant(INT64, AT_ONCE - 1)))
            return builder.bitcast(entry_pointer(context, builder, ty, field, first), wide.as_pointer())

        own, other = pointer(target, sig.args[0], i), pointer(source, sig.args[3], j)
        one = builder.insert_element(ir.Constant(wide, ir.Undefined), factor, ir.Constant(INT32, 0))
        all_of_them = builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(INT32, AT_ONCE), None))
        product = builder.fmul(all_of_them, builder.load(other, align=4), flags=flags)
        builder.store(builder.fadd(builder.load(own, align=4), product, flags=flags), own, align=4)
        return context.get_dummy_value()

    return types.none(target, types.int64, target.element, source, types.int64), codegen


def _add_multiple(target, i, factor, source, j):
    for k in range(AT_ONCE):
        target[i + k] = target[i + k] + factor * source[j + k]


PLAIN[add_multiple] = _add_multiple
