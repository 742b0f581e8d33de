"""Small programs on some of the package's kernels, and on kernels as users write them, for `helpers.source_changes`.

It changes these sources and the package's, and compares results to the bit. A program has the name of its entry, which
calls few kernels, so that it compiles in seconds.
"""

import enum
import math

import numpy as np
from llvmlite import ir
from numba import njit
from numba.extending import intrinsic

import saltus
from saltus.contact.rigid.plane import plane_sphere
from saltus.contact.rows.soft_law import impedance, reference, regularisation
from saltus.dynamics.tree.com_frame import com_dof, com_inertia, tree_centre_of_mass
from saltus.dynamics.tree.kinematics import kinematics
from saltus.dynamics.tree.rnea import bias, inverse
from saltus.model.fields.constraint.cone import COULOMB, PROBLEM, cone_sizes
from saltus.model.layout import DATA, data_sizes
from saltus.number.functions import where
from saltus.number.kernels import entry, kernel, only_with
from saltus.number.structs import Struct
from saltus.solve.cone.gauss_seidel import gauss_seidel
from saltus.solve.cone.residual import residual
from saltus.spatial.vectors import cross, dot3

BALL = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .09"><freejoint/>
<geom type="sphere" size=".1" mass="1"/></body></worldbody></mujoco>"""

# ---------------------------------------------------------------- kernels as users write them

GAIN = 3.5
WEIGHTS = (0.5, 0.25)
TABLE = np.array([1.0, 2.0, 4.0])
SHIFT = math.sqrt(GAIN)
SLOW, FAST = range(2)


class Mode(enum.IntEnum):
    """Numbers with names."""

    OFF = 0
    ON = 1


class Colour(enum.Enum):
    """Names whose numbers are asked for."""

    RED = 3
    BLUE = 4


def scaled(factor):
    """A kernel with a variable of its own."""

    @kernel
    def law(x):
        return factor * x + 0.125

    return law


twice = scaled(2.0)
thrice = scaled(3.0)


def chained(first, offset):
    """A kernel that calls one that was given."""

    def law(x, bend=0.75):
        return first(x) * bend + offset

    return kernel(law)


combined = chained(twice, 0.0625)


@intrinsic
def tripled(typingctx, x):
    """Three times a number, made by a code generator."""

    def codegen(context, builder, sig, args):
        return builder.fmul(args[0], ir.Constant(ir.DoubleType(), 3.0))

    return x(x), codegen


@njit
def squared(x):
    """A function of Numba's own."""
    return x * x + 0.03125


@kernel
def by_default(x, gain=1.5, shift=0.5):
    """Values of arguments that are not given."""
    return gain * x + shift


@kernel
def by_name(x):
    """Constants of all kinds."""
    y = x * GAIN + WEIGHTS[0] - TABLE[2] * SHIFT
    if Mode.ON == 1:
        y = y + Mode.ON * Colour.RED.value
    return y * (1.0 + SLOW) + FAST


@kernel
def falling(x, n):
    """A kernel that calls itself."""
    if n <= 0:
        return x
    return 0.5 * falling(x, n - 1) + 0.0078125


@kernel
def with_inner(x):
    """A function inside."""

    def inner(y):
        return y * 1.25 + GAIN

    return inner(x)


KERNELS = (twice, thrice, combined)


@kernel
def picked(x):
    """One of several kernels, called with numbers."""
    return KERNELS[1](x) - KERNELS[2](x)


@only_with("act", otherwise="2.5 * x")
@kernel
def only_some(d, x):
    """A kernel that is left out without a feature."""
    return 1.5 * x


@entry(structs=("d",))
def users(d, x):
    """All of them, and kernels of the package."""
    y = twice(x) + combined(x) + tripled(x) + squared(x) + by_default(x) + by_name(x)
    y = y + falling(x, 3) + with_inner(x) + picked(x) + only_some(d, x)
    d.qpos[0] = where(y > 0.0, y, -y)
    d.qpos[1] = dot3(cross((x, 1.0, 2.0), (y, 0.5, x)), (1.0, 2.0, 3.0))


# ---------------------------------------------------------------- kernels of the package


@entry
def motion(m, d):
    """Inertias and inverse dynamics, on numbers."""
    tree_centre_of_mass(m, d)
    com_inertia(m, d)
    inverse(m, d)


@entry
def batch(m, d):
    """Positions, on lanes."""
    kinematics(m, d, 1)


@entry
def derivative(m, d):
    """Axes of joints and bias forces, on duals."""
    com_dof(m, d)
    bias(m, d)


@entry
def soft(m, d, v):
    """The contact of a pair, and the law of a constraint."""
    n = plane_sphere(m, d, 0, 0, 0.0)
    d.qfrc_bias[0] = impedance((0.9, 0.95, 0.001, 0.5, 2.0), d.qpos[2])
    d.qfrc_bias[1] = regularisation(0.9, d.qpos[2]) + n
    d.qfrc_bias[2] = reference(100.0, 3.0, 0.9, d.qpos[2], v)


@entry(structs=("p",))
def hard(p, sweeps):
    """Forces of two contacts in their friction cones."""
    gauss_seidel(p, sweeps)
    return residual(p)


# ---------------------------------------------------------------- programs


def structs(model, kind="float64"):
    """Model and Data with numbers of a kind, all of them different from zero."""
    model = saltus.load(model)
    d = Struct(DATA, data_sizes(model.sizes(), tangents=kind == "dual", lanes=kind.startswith("lane")), kind)
    d.real[...] = 0.1 + 0.01 * (np.arange(d.real.size) % 97).reshape(d.real.shape)
    return model.struct(), d


def of_mechanism(program, kind):
    """Memory after a program of Model and Data."""
    m, d = structs("double_pendulum", kind)
    program(m, d)
    return d.real


def of_ball():
    """Memory after contact."""
    m, d = structs(BALL)
    soft(m, d, 0.3)
    return d.real


def of_cones():
    """Forces, velocities and the residual."""
    p = Struct(PROBLEM, cone_sizes(2, 6))
    p.hard_count[:] = 2, 6
    p.hard_kind[:], p.hard_dim[:], p.hard_row[:2], p.hard_mu[:2] = COULOMB, 3, (0, 3), (0.4, 0.8)
    p.hard_W[:] = (np.eye(6) + 0.1).ravel()
    p.hard_q[:] = (-1.0, 0.9, 0.2, -0.8, 0.1, 0.3)
    return np.append(p.real, hard(p, 3))


def of_users():
    """Memory after users' kernels."""
    _, d = structs("double_pendulum")
    users(d, 0.375)
    return d.real


PROGRAMS = {
    "motion": lambda: of_mechanism(motion, "float64"),
    "batch": lambda: of_mechanism(batch, "lane64"),
    "derivative": lambda: of_mechanism(derivative, "dual"),
    "soft": of_ball,
    "hard": of_cones,
    "users": of_users,
}
