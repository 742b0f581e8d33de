"""Points in blocks: which of a block lies farthest in a direction; all are compared at once, in one register."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from saltus.number.kernels import FASTMATH
from saltus.number.struct_types import pointer_of

AT_ONCE = 8  # points of a block

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
