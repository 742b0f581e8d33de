"""Compiled loops of the algorithms, over the rows of arrays of states.

Each takes the state of a row, computes one quantity of the unconstrained mechanism and writes it to its row of `out`.
"""

from saltus.dynamics.equations import inverse_dynamics, joint_inertia
from saltus.dynamics.joint_space import inertia_factor, inertia_solve
from saltus.dynamics.tendon.length import tendons
from saltus.dynamics.tree.com_frame import centre_of_mass, com_dof, com_inertia, tree_centre_of_mass
from saltus.dynamics.tree.jacobian import point_jacobian
from saltus.dynamics.tree.kinematics import kinematics
from saltus.dynamics.tree.regressor import inertial_regressor
from saltus.dynamics.tree.rnea import newton_euler_forward
from saltus.number.conditions import has
from saltus.number.kernels import Entry, entry, kernel
from saltus.spatial.motions import inertia_times_motion
from saltus.spatial.vectors import add3, cross, matrix_times_vector, sub3


@kernel
def place(m, d, q):
    """Take positions q [nq]; poses, inertias and motion axes follow."""
    for k in range(m.nq):
        d.qpos[k] = q[k]
    kinematics(m, d, 1)
    tree_centre_of_mass(m, d)
    com_inertia(m, d)
    com_dof(m, d)
    if has(m, "tendon_armature"):
        tendons(m, d)


@kernel
def put(field, values):
    """Copy numbers into a field of as many."""
    for k in range(len(values)):
        field[k] = values[k]


@kernel
def rnea(m, d, q, v, a, out):
    """Generalised forces M a + bias, to out [nv]."""
    place(m, d, q)
    put(d.qvel, v)
    put(d.qacc, a)
    inverse_dynamics(m, d)
    for i in range(m.nv):
        out[i] = d.qfrc_inverse[i]


@kernel
def aba(m, d, q, v, tau, out):
    """Accelerations M⁻¹ (tau - bias), to out [nv]."""
    place(m, d, q)
    put(d.qvel, v)
    put(d.qfrc_tau, tau)
    newton_euler_forward(m, d, d, 0, 0)
    inertia_factor(m, d, 0.0, d.qfrc_damper_slope)
    inertia_solve(m, d, d, d.qfrc_tau, 1, d.qacc)
    for i in range(m.nv):
        out[i] = d.qacc[i]


@kernel
def crba(m, d, q, out):
    """Joint-space inertia M, to out [nv, nv]."""
    place(m, d, q)
    joint_inertia(m, d)
    for i in range(m.nv):
        for j in range(m.nv):
            out[i, j] = 0.0
        for k in range(m.M_rowadr[i], m.M_rowadr[i] + m.M_rownnz[i]):
            out[i, m.M_colind[k]] = out[m.M_colind[k], i] = d.M[k]


@kernel
def inverse_inertia(m, d, q, out):
    """M⁻¹, to out [nv, nv], column by column of its lower half."""
    place(m, d, q)
    inertia_factor(m, d, 0.0, d.qfrc_damper_slope)
    for i in range(m.nv):
        d.qfrc_tau[i] = 0.0
    for j in range(m.nv):
        d.qfrc_tau[j] = 1.0
        inertia_solve(m, d, d, d.qfrc_tau, 0, d.qacc)
        d.qfrc_tau[j] = 0.0
        for i in range(j, m.nv):
            out[i, j] = out[j, i] = d.qacc[i]


@kernel
def frames(m, d, q, out):
    """Positions and orientations of all bodies, to out [nbody, 7]."""
    put(d.qpos, q)
    kinematics(m, d, 1)
    for b in range(m.nbody):
        pos, quat = d.xpos[b], d.xquat[b]
        out[b, 0], out[b, 1], out[b, 2] = pos
        out[b, 3], out[b, 4], out[b, 5], out[b, 6] = quat


@kernel(inline=True)
def point_of_body(m, d, body, point, translation, rotation):
    """Jacobian of a point of a body, given in the body's axes, and of the body's rotation, each to [3, nv]."""
    at = add3(d.xpos[body], matrix_times_vector(d.xmat[body], point))
    point_jacobian(m, d, at, body, translation, rotation)


@kernel
def jacobian(m, d, q, body, point, out):
    """Jacobian of a point of a body, given in the body's axes, and of the body's rotation, to out [6, nv]."""
    place(m, d, q)
    point_of_body(m, d, body, (point[0], point[1], point[2]), out[:3], out[3:])


@kernel
def centroidal(m, d, q, v, out):
    """Centre of mass, momentum and centroidal momentum matrix, to the columns 0, 1 and 2 to nv + 2 of out [6, nv + 2].

    Column i of the matrix is the momentum of what degree of freedom i carries at unit velocity, moved from the centre
    of mass of its tree to that of everything.
    """
    place(m, d, q)
    centre_of_mass(m, d)
    joint_inertia(m, d)
    whole = d.subtree_com[0]
    for k in range(3):
        out[k, 0] = whole[k]
        out[k + 3, 0] = out[k, 1] = out[k + 3, 1] = 0.0
    for i in range(m.nv):
        b = m.dof_bodyid[i]
        momentum = inertia_times_motion(d.crb[b], d.cdof[i])
        linear = momentum[3], momentum[4], momentum[5]
        arm = sub3(d.subtree_com[m.body_rootid[b]], whole)
        angular = add3((momentum[0], momentum[1], momentum[2]), cross(arm, linear))
        for k in range(3):
            out[k, i + 2], out[k + 3, i + 2] = linear[k], angular[k]
            out[k, 1] = out[k, 1] + linear[k] * v[i]
            out[k + 3, 1] = out[k + 3, 1] + angular[k] * v[i]


@kernel
def regressor(m, d, q, v, a, out):
    """Derivatives of M a + bias by the inertial parameters of the bodies, to out [nv, 10 nbody]."""
    place(m, d, q)
    put(d.qvel, v)
    put(d.qacc, a)
    inertial_regressor(m, d, out)


def _entries(one, arguments: tuple[str, ...], constant: tuple[str, ...] = ()) -> tuple[Entry, Entry]:
    """A kernel of one state as an entry, and its loop over the rows of all arguments but the constant ones."""
    name = one.py_func.__name__
    names = ", ".join(["m", "d", *arguments, *constant, "out"])
    row = ", ".join(["m", "d", *[f"{a}[i]" for a in arguments], *constant, "out[i]"])
    source = f"def rows({names}):\n    for i in range(len(out)):\n        one({row})\n"
    namespace = {"one": one, "__name__": __name__}
    exec(compile(source, f"<saltus rows of {name}>", "exec"), namespace)
    return entry(one, name=name), entry(namespace["rows"], name=f"{name}_rows")


ALL = {
    "rnea": _entries(rnea, ("q", "v", "a")),
    "aba": _entries(aba, ("q", "v", "tau")),
    "crba": _entries(crba, ("q",)),
    "inverse_inertia": _entries(inverse_inertia, ("q",)),
    "frames": _entries(frames, ("q",)),
    "jacobian": _entries(jacobian, ("q",), ("body", "point")),
    "centroidal": _entries(centroidal, ("q", "v")),
    "regressor": _entries(regressor, ("q", "v", "a")),
}
