"""Velocity derivatives of fluid forces, analytically, for implicit methods.

The force on a shape is a function f(v) of its own motion alone; with s the motion axis of a degree of freedom about the
tree's centre of mass, the derivative of generalised force i in the velocity of j, for each joint j on the path to the
root, is sᵢ · D sⱼ, where D is the sum of df/dv over all shapes that i carries. f is quadratic in the speed |v| at a
given direction u, f = |v|² g(u), so that

    df = |v| (2 (u · dv) g + dg),   dg = the change of g with u along dv - (u · dv) u,

which stays accurate at any size and speed.
"""

from saltus.dynamics.awake.walks import all_awake_bodies, all_awake_bodies_back, awake_dofs, awake_fluid_shapes
from saltus.dynamics.fluid.force import local_motion, offset, relative_motion, stream, tree_force
from saltus.dynamics.tree.bias_derivative import matrix_times, store_column, transpose_times, unit
from saltus.model.enums import FLUID_BOX
from saltus.number.functions import absolute, maximum, sqrt
from saltus.number.kernels import kernel, only_with
from saltus.spatial.motions import add6, dot6
from saltus.spatial.vectors import add3, add_scaled3, cross, dot3, length3, multiply3, scale3, sub3

SMALLEST = 1e-15  # angular momentum (m⁵/s) of swept fluid below which MuJoCo's derivative fades out


@only_with("fluid")
@kernel
def fluid_derivative(m, d, symmetric):
    """Subtract d(qfrc_fluid)/d(qvel) from lower and upper [nC] (N m s; see `saltus.dynamics.tree.bias_derivative`).

    If `symmetric`, its symmetric part, except for free bodies without children. Reads the fields that `fluid_forces`
    reads. Overwrites velocity_force [nbody, 36].
    """
    shape_derivatives(m, d)
    for i in awake_dofs(m, d):
        s = d.cdof[i]
        b = m.dof_bodyid[i]
        turned = transpose_times(d, b, s)
        force = matrix_times(d, b, s)
        j = i
        k = m.M_rowadr[i] + m.M_rownnz[i] - 1
        # derivatives between i and its ancestors j; rows also hold other entries where tendon armature couples branches
        while j >= 0:
            if m.M_colind[k] == j:
                lower, upper = dot6(turned, d.cdof[j]), dot6(d.cdof[j], force)
                if symmetric and not m.dof_freebody[i]:
                    lower = upper = 0.5 * (lower + upper)
                d.lower[k] = d.lower[k] - lower
                d.upper[k] = d.upper[k] - upper
                j = m.dof_parentid[j]
            k -= 1


@kernel
def shape_derivatives(m, d):
    """Subtree sums of D of each body, about its tree's centre of mass, in velocity_force [nbody, 36]."""
    for b in all_awake_bodies(m, d):
        for k in range(36):
            d.velocity_force[b, k] = 0.0 * d.time
    for f in awake_fluid_shapes(m, d):
        b = m.fluid_body[f]
        # D of the shape by columns: change of its force for each unit motion
        r = offset(m, d, f)
        turning, moving = relative_motion(m, d, f, r)
        for k in range(6):
            turn, move = local_motion(m, d, f, r, unit(k, d.time))
            if m.fluid_kind[f] == FLUID_BOX:
                torque, force = box_change(m, f, turning, moving, turn, move)
            else:
                torque, force = ellipsoid_change(m, f, turning, moving, turn, move)
            add_column(d, b, k, tree_force(m, d, f, r, torque, force))
    # sum over subtrees
    for b in all_awake_bodies_back(m, d):
        parent = m.body_parentid[b]
        if parent > 0:
            for k in range(36):
                d.velocity_force[parent, k] = d.velocity_force[parent, k] + d.velocity_force[b, k]


@kernel(inline=True)
def add_column(d, b, k, column):
    """Add to column k of body b's matrix D."""
    f = d.velocity_force
    before = (f[b, k], f[b, 6 + k], f[b, 12 + k], f[b, 18 + k], f[b, 24 + k], f[b, 30 + k])
    store_column(d, b, k, add6(before, column))


@kernel(inline=True)
def box_change(m, f, turning, moving, turn, move):
    """Change of `box_force` for a change (turn, move) of the motion (turning, moving)."""
    c = m.fluid_stokes[f]
    return _resistance(c[1], m.fluid_swirl[f], turning, turn), _resistance(c[0], m.fluid_drag[f], moving, move)


@kernel(inline=True)
def _resistance(c, k, v, change):
    return (
        -(c + 2.0 * k[0] * absolute(v[0])) * change[0],
        -(c + 2.0 * k[1] * absolute(v[1])) * change[1],
        -(c + 2.0 * k[2] * absolute(v[2])) * change[2],
    )


@kernel(inline=True)
def ellipsoid_change(m, f, w, v, dw, dv):
    """Change of `ellipsoid_force` for a change (dw, dv) of the motion (w, v)."""
    # angular drag, added inertia and added mass
    torque = spin_change(m, f, w, dw)
    momentum, gain = multiply3(m.fluid_mass[f], v), multiply3(m.fluid_mass[f], dv)
    torque = add3(torque, add3(cross(gain, v), cross(momentum, dv)))
    # magnus lift and added mass
    magnus = m.fluid_lift[f, 1]
    force = cross(add_scaled3(gain, -magnus, dv), w)
    force = add3(force, cross(add_scaled3(momentum, -magnus, v), dw))
    return torque, add3(force, stream_change(m, f, v, dv))


@kernel(inline=True)
def stream_change(m, f, v, dv):
    """Change of drag and Kutta lift with the velocity."""
    section = m.fluid_section[f]
    speed, u, n, along, square = stream(section, v)
    # changes of speed and direction
    faster = dot3(u, dv)
    turn = add_scaled3(dv, -faster, u)  # |v| du
    n_turn = multiply3(section, turn)
    shadow = sqrt(square / along)
    # |v| times the changes of ln(shadow) and of u · n
    wider = dot3(n, n_turn) / square - dot3(n, turn) / along
    more = 2.0 * dot3(n, turn)
    stokes, drag, lift = m.fluid_stokes[f], m.fluid_drag[f], m.fluid_lift[f]
    # resistance and drag
    total = drag[0] + drag[1] * shadow
    force = scale3(-(stokes[0] + speed * total), dv)
    force = add_scaled3(force, -(faster * total + drag[1] * shadow * wider), v)
    # kutta lift
    across = sub3(scale3(along, u), n)
    change = sub3(add_scaled3(scale3(more, u), along, turn), n_turn)
    change = add_scaled3(change, 2.0 * faster - wider, across)
    return add_scaled3(force, lift[0] * speed / shadow, change)


@kernel(inline=True)
def spin_change(m, f, w, dw):
    """Change of angular drag and of the added inertia's torque with the angular velocity."""
    swirl, inertia = m.fluid_swirl[f], m.fluid_inertia[f]
    swept = multiply3(swirl, w)
    size = length3(swept)
    least = SMALLEST * m.opt_density if m.opt_density > 0.0 else SMALLEST
    scale = 1.0 / maximum(size, 0.0 * size + least)
    drag = scale3(-(m.fluid_stokes[f, 1] + scale * size * size), dw)
    drag = add_scaled3(drag, -scale * dot3(swept, multiply3(swirl, dw)), w)
    return add3(drag, add3(cross(multiply3(inertia, dw), w), cross(multiply3(inertia, w), dw)))
