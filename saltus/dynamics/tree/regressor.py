"""Regressor of inverse dynamics: generalised forces are linear in the inertial parameters of the bodies."""

from saltus.dynamics.tree.rnea import newton_euler_forward
from saltus.number.kernels import kernel
from saltus.spatial.motions import acceleration_at, velocity_at
from saltus.spatial.vectors import add3, cross, dot3, sub3, transpose_times_vector

PARAMETERS = 10  # of a body: mass, mass times centre of mass, inertia about its frame's origin


@kernel
def inertial_regressor(m, d, out):
    """Derivatives of M qacc + bias, without armatures, by ten inertial parameters of each body, to out [nv, 10 nbody].

    A body whose frame has angular velocity ω and acceleration α, and whose origin accelerates by a (less gravity),
    needs about the origin and in its own axes, with first moments h = m c and the inertia I (Atkeson, An and
    Hollerbach, Estimation of inertial parameters of manipulator loads and links (1986), section 2),

        f = m a + α × h + ω × (ω × h),    n = h × a + I α + ω × I ω,

    and a degree of freedom that moves the body with angular velocity s and its origin with velocity u gets f·u + n·s.

    Parameters in order: m (kg); hx, hy, hz (kg m); Ixx, Ixy, Iyy, Ixz, Iyz, Izz (kg m²). Reads qvel and qacc [nv];
    needs `com_dof`. Writes cvel, cacc, cdof_dot, cfrc_body.
    """
    newton_euler_forward(m, d, d, 1, 1)
    for i in range(m.nv):
        for k in range(PARAMETERS * m.nbody):
            out[i, k] = 0.0
    for b in range(1, m.nbody):
        R = d.xmat[b]
        arm = sub3(d.xpos[b], d.subtree_com[m.body_rootid[b]])
        v, c = d.cvel[b], d.cacc[b]
        # motion of the body's frame in its own axes
        w = transpose_times_vector(R, (v[0], v[1], v[2]))
        alpha = transpose_times_vector(R, (c[0], c[1], c[2]))
        a = transpose_times_vector(R, acceleration_at(v, c, arm))
        i = m.body_lastdof[b]
        while i >= 0:
            axis = d.cdof[i]
            s = transpose_times_vector(R, (axis[0], axis[1], axis[2]))
            u = transpose_times_vector(R, velocity_at(axis, arm))
            write_row(out, i, PARAMETERS * b, s, u, w, alpha, a)
            i = m.dof_parentid[i]


@kernel(inline=True)
def write_row(out, i, k, s, u, w, alpha, a):
    """Ten numbers of row i of `out` from column k on: f·u + n·s for unit parameters, as in `inertial_regressor`.

    s, u, w, alpha, a: in axes of the body, as in its equations.
    """
    out[i, k] = dot3(u, a)
    # u·(α × h) = h·(u × α), u·(ω × (ω × h)) = h·((u × ω) × ω), s·(h × a) = h·(a × s)
    h = add3(add3(cross(u, alpha), cross(cross(u, w), w)), cross(a, s))
    out[i, k + 1], out[i, k + 2], out[i, k + 3] = h
    # s·(ω × I ω) = (s × ω)·I ω
    t = cross(s, w)
    out[i, k + 4] = s[0] * alpha[0] + t[0] * w[0]
    out[i, k + 5] = s[0] * alpha[1] + s[1] * alpha[0] + t[0] * w[1] + t[1] * w[0]
    out[i, k + 6] = s[1] * alpha[1] + t[1] * w[1]
    out[i, k + 7] = s[0] * alpha[2] + s[2] * alpha[0] + t[0] * w[2] + t[2] * w[0]
    out[i, k + 8] = s[1] * alpha[2] + s[2] * alpha[1] + t[1] * w[2] + t[2] * w[1]
    out[i, k + 9] = s[2] * alpha[2] + t[2] * w[2]
