"""Jets: a function of time with its first and second derivatives, carried together (forward differentiation).

A jet (x, v, a) is a value, a velocity and an acceleration; a number is a jet at rest. Each operation follows the chain
rule of second order, f(x) ↦ (f, f' v, f'' v² + f' a); see Griewank & Walther, Evaluating Derivatives (2008), ch. 13. A
comparison looks at the value alone, so a jet takes the same branches as a float.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from numba import types
from numba.extending import intrinsic, lower_cast, models, register_model

from saltus.number.internals import Conversion, cgutils, signature, struct_value
from saltus.number.kinds import is_real


class JetType(types.Type):
    """Value, velocity and acceleration, float64 each; not a Number, which Numba would unify by NumPy's rules."""

    def __init__(self):
        super().__init__("jet")

    def can_convert_from(self, typingctx, other):
        return Conversion.safe if is_real(other) else None

    def unify(self, typingctx, other):
        """A variable that holds a number on one path and a jet on another holds a jet."""
        return self if is_real(other) else None


jet = JetType()
FLOAT = types.float64
THREE = types.UniTuple(FLOAT, 3)
PARTS = ("value", "velocity", "acceleration")


@register_model(JetType)
class _JetModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, [(name, FLOAT) for name in PARTS])


def pack(context, builder, parts):
    """A jet from its three parts."""
    made = cgutils.create_struct_proxy(jet)(context, builder)
    made.value, made.velocity, made.acceleration = parts
    return struct_value(made)


def unpack(context, builder, x):
    """Value, velocity and acceleration of a jet."""
    found = cgutils.create_struct_proxy(jet)(context, builder, value=x)
    return found.value, found.velocity, found.acceleration


@lower_cast(types.Float, JetType)
@lower_cast(types.Integer, JetType)
def _number_to_jet(context, builder, fromty, toty, value):
    zero = context.get_constant(FLOAT, 0.0)
    return pack(context, builder, (context.cast(builder, value, fromty, FLOAT), zero, zero))


@intrinsic
def jet_at(typingctx, time):
    """The time (s) itself as a jet: it goes on by one second per second."""
    if not isinstance(time, types.Float):
        return None

    def lower(context, builder, sig, args):
        value = context.cast(builder, args[0], sig.args[0], FLOAT)
        one, zero = context.get_constant(FLOAT, 1.0), context.get_constant(FLOAT, 0.0)
        return pack(context, builder, (value, one, zero))

    return signature(jet, time), lower


@intrinsic
def parts_of(typingctx, x):
    """Value, velocity and acceleration of a jet, or of a number, which is at rest."""
    if x != jet and not is_real(x):
        return None

    def lower(context, builder, sig, args):
        return context.make_tuple(builder, sig.return_type, unpack(context, builder, args[0]))

    return THREE(jet), lower


@lower_cast(JetType, JetType)
def _same(context, builder, fromty, toty, value):
    return value


def are_jets(args):
    """Whether two arguments of these types are jets, or one of them a number."""
    return len(args) == 2 and jet in args and all(a == jet or is_real(a) for a in args)


def by_rule(context, builder, rule, arguments):
    """Compiled code of a rule, a Python function of floats that gives three of them, as a jet."""
    made = context.compile_internal(builder, rule, THREE(*[FLOAT] * len(arguments)), arguments)
    return pack(context, builder, cgutils.unpack_tuple(builder, made, 3))
