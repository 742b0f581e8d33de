"""Fluid forces on moving bodies.

MuJoCo's two models (its documentation, Computation, "Fluid forces"): the equivalent inertia box of a body, with Stokes
resistance and quadratic drag along each of its axes; and an ellipsoid for each geom that selects it, with Stokes
resistance, direction-dependent drag, Kutta and Magnus lift, and the part of added mass that does not depend on
accelerations. Neither keeps a state of the fluid.
"""

from saltus.dynamics.awake.walks import all_awake_bodies, all_awake_bodies_back, awake_fluid_shapes
from saltus.model.enums import FLUID_BOX
from saltus.number.functions import absolute, sqrt, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.motions import add6, dot6, velocity_at
from saltus.spatial.vectors import (
    add3,
    cross,
    dot3,
    length3,
    matrix_times_vector,
    multiply3,
    scale3,
    sub3,
    transpose_times_vector,
)


@only_with("fluid")
@kernel
def fluid_forces(m, d):
    """Generalised forces of the fluid.

    Reads xpos, xmat, cvel [nbody, 6], subtree_com of the roots, cdof [nv, 6]. Writes qfrc_fluid [nv] (N, N m)
    and adds it to qfrc_passive. Overwrites body_scratch [nbody, 6].
    """
    zero = 0.0 * d.time
    for b in all_awake_bodies(m, d):
        d.body_scratch[b] = (zero, zero, zero, zero, zero, zero)
    # force on each shape, summed over those of a body
    for f in awake_fluid_shapes(m, d):
        b = m.fluid_body[f]
        r = offset(m, d, f)
        turning, moving = relative_motion(m, d, f, r)
        if m.fluid_kind[f] == FLUID_BOX:
            torque, force = box_force(m, f, turning, moving)
        else:
            torque, force = ellipsoid_force(m, f, turning, moving)
        d.body_scratch[b] = add6(d.body_scratch[b], tree_force(m, d, f, r, torque, force))
    # tips to base: project on the joint axes, pass on to the parent
    for b in all_awake_bodies_back(m, d):
        force = d.body_scratch[b]
        first = m.body_dofadr[b]
        for i in range(first, first + m.body_dofnum[b]):
            d.qfrc_fluid[i] = dot6(d.cdof[i], force)
            d.qfrc_passive[i] = d.qfrc_passive[i] + d.qfrc_fluid[i]
        parent = m.body_parentid[b]
        if parent > 0:
            d.body_scratch[parent] = add6(d.body_scratch[parent], force)


@kernel(inline=True)
def offset(m, d, f):
    """Centre of shape f (m) relative to the centre of mass of its tree."""
    b = m.fluid_body[f]
    place = add3(d.xpos[b], matrix_times_vector(d.xmat[b], m.fluid_pos[f]))
    return sub3(place, d.subtree_com[m.body_rootid[b]])


@kernel(inline=True)
def relative_motion(m, d, f, r):
    """Angular velocity (rad/s) and velocity relative to the fluid (m/s) of shape f, in its axes; r is from `offset`."""
    v = d.cvel[m.fluid_body[f]]
    wind = m.opt_wind[0]
    return local_motion(m, d, f, r, (v[0], v[1], v[2], v[3] - wind[0], v[4] - wind[1], v[5] - wind[2]))


@kernel(inline=True)
def local_motion(m, d, f, r, v):
    """Angular velocity and velocity of shape f in its axes, for a spatial motion about the tree's centre of mass."""
    mat = d.xmat[m.fluid_body[f]]
    turning = (v[0], v[1], v[2])
    moving = velocity_at(v, r)
    return (
        transpose_times_vector(m.fluid_mat[f], transpose_times_vector(mat, turning)),
        transpose_times_vector(m.fluid_mat[f], transpose_times_vector(mat, moving)),
    )


@kernel(inline=True)
def tree_force(m, d, f, r, torque, force):
    """Spatial force about the tree's centre of mass, from a torque and force on shape f in its axes."""
    mat = d.xmat[m.fluid_body[f]]
    torque = matrix_times_vector(mat, matrix_times_vector(m.fluid_mat[f], torque))
    force = matrix_times_vector(mat, matrix_times_vector(m.fluid_mat[f], force))
    torque = add3(torque, cross(r, force))
    return torque[0], torque[1], torque[2], force[0], force[1], force[2]


@kernel(inline=True)
def box_force(m, f, turning, moving):
    """Torque (N m) and force (N) on a box: along each axis -(c + k |v|) v, in its axes."""
    c = m.fluid_stokes[f]
    return _resistance(c[1], m.fluid_swirl[f], turning), _resistance(c[0], m.fluid_drag[f], moving)


@kernel(inline=True)
def _resistance(c, k, v):
    return (
        -(c + k[0] * absolute(v[0])) * v[0],
        -(c + k[1] * absolute(v[1])) * v[1],
        -(c + k[2] * absolute(v[2])) * v[2],
    )


@kernel(inline=True)
def ellipsoid_force(m, f, w, v):
    """Torque (N m) and force (N) on an ellipsoid with angular velocity w and velocity v, in its axes.

    With a = A/A_max the area projected along v relative to the largest, n the normal of the section that bounds it, and
    p = m_A v and h = I_A w the added momenta (the documentation's formulas, with A_max factored out):

        force = -(c + ρ A_max |v| (C_s + (C_b - C_s) a)) v + C_K ρ A_max/a (n × v) × v + C_M ρ V w × v + p × w
        torque = -(c' + ρ |C w|) w + p × v + h × w
    """
    speed, u, n, along, square = stream(m.fluid_section[f], v)
    shadow = sqrt(square / along)
    stokes, drag, lift = m.fluid_stokes[f], m.fluid_drag[f], m.fluid_lift[f]
    # added mass and magnus lift, stokes resistance and drag
    momentum = multiply3(m.fluid_mass[f], v)
    force = cross(sub3(momentum, scale3(lift[1], v)), w)
    force = sub3(force, scale3(stokes[0] + speed * (drag[0] + drag[1] * shadow), v))
    # kutta lift, with (n × u) × u = (n · u) u - n
    force = add3(force, scale3(lift[0] * speed * speed / shadow, sub3(scale3(along, u), n)))
    # angular drag and added inertia
    spin = length3(multiply3(m.fluid_swirl[f], w))
    torque = add3(cross(momentum, v), cross(multiply3(m.fluid_inertia[f], w), w))
    return sub3(torque, scale3(stokes[1] + spin, w)), force


@kernel(inline=True)
def stream(section, v):
    """Speed |v|, direction u, normal n = S u of the section that bounds the projected area, u · n and n · n.

    At rest u and n are zero, and the last two numbers are one.
    """
    square = dot3(v, v)
    zero = 0.0 * square
    rest = square <= 0.0
    length = sqrt(where(rest, zero + 1.0, square))
    u = scale3(1.0 / length, v)
    n = multiply3(section, u)
    return (
        where(rest, zero, length),
        u,
        n,
        where(rest, zero + 1.0, dot3(u, n)),
        where(rest, zero + 1.0, dot3(n, n)),
    )
