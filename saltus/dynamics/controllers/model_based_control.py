"""Controllers that compute what the model needs: gravity compensation, and computed torque.

Both find forces tau of the joints that actuators act on, and set ctrl = tau / (gear gain) of each. They read what steps
compute from positions alone (cdof, cinert) and write nothing but ctrl.
"""

from saltus.dynamics.user_laws import register
from saltus.model.actuator_enums import (
    MBC_ACCELERATION,
    MBC_INVERSE,
    MBC_KD,
    MBC_KP,
    MBC_PARAMETERS,
    MBC_RATE,
    MBC_TARGET,
    SCALAR,
)
from saltus.number.functions import where
from saltus.number.kernels import kernel
from saltus.spatial.motions import (
    add6,
    add_scaled6,
    cross_force,
    cross_motion,
    dot6,
    inertia_times_motion,
    scale6,
    sub6,
)


@kernel
def gravity_compensation(m, d, z):
    """tau = g(q) + kp (target - q) + kd (rate - v): weights, with a spring and damper to a target.

    g_i = Σ_b s_i · I_b (0, -g) over the bodies b that degree of freedom i carries, with its axis s_i (Takegaki &
    Arimoto, A new feedback method for dynamic control of manipulators (1981)). Actuators without gains keep their ctrl.
    """
    for k in range(m.nactuator):
        if _dof(m, k) >= 0:
            inverse = d.control_prm[MBC_PARAMETERS * k + MBC_INVERSE]
            c = m.actuator_ctrladr[k]
            d.ctrl[c] = where(inverse != 0.0, inverse * _feedback(m, d, k), 0.0 * inverse + d.ctrl[c])
    up = _upward(m, d)
    for b in range(1, m.nbody):
        force = inertia_times_motion(d.cinert[b], up)
        i = m.body_lastdof[b]
        while i >= 0:
            require(m, d, i, dot6(d.cdof[i], force))
            i = m.dof_parentid[i]


@kernel
def computed_torque(m, d, z):
    """tau = M(q) (a + kd (rate - v) + kp (target - q)) + bias(q, v) - passive forces (Craig, Introduction to Robotics).

    The errors then follow e'' + kd e' + kp e = 0. Each body's force, I a + v ×* I v, is projected on the degrees of
    freedom that carry it: Newton-Euler's law without recursion, for hinges and slides, each with an actuator.
    """
    for k in range(m.nactuator):
        p = MBC_PARAMETERS * k
        i = _dof(m, k)
        rest = m.dof_armature[i] * _wanted(m, d, k) - d.qfrc_passive[i]
        d.ctrl[m.actuator_ctrladr[k]] = d.control_prm[p + MBC_INVERSE] * rest
    up = _upward(m, d)
    for b in range(1, m.nbody):
        v, a = chain_motion(m, d, b, up)
        inertia = d.cinert[b]
        force = add6(inertia_times_motion(inertia, a), cross_force(v, inertia_times_motion(inertia, v)))
        i = m.body_lastdof[b]
        while i >= 0:
            require(m, d, i, dot6(d.cdof[i], force))
            i = m.dof_parentid[i]


@kernel
def chain_motion(m, d, b, base):
    """Velocity and acceleration of body b, if actuators' joints have the accelerations that they are to give.

    `base` is the acceleration of the world. Both are spatial motions about the tree's centre of mass.
    """
    zero = 0.0 * d.time
    v = (zero, zero, zero, zero, zero, zero)
    i = m.body_lastdof[b]
    while i >= 0:
        v = add_scaled6(v, d.qvel[i], d.cdof[i])
        i = m.dof_parentid[i]
    # rates of the joints' axes are v_parent × s
    before, a = v, base
    i = m.body_lastdof[b]
    while i >= 0:
        s = d.cdof[i]
        before = sub6(before, scale6(d.qvel[i], s))
        a = add_scaled6(a, d.qvel[i], cross_motion(before, s))
        for k in range(m.nactuator):
            if _dof(m, k) == i:
                a = add_scaled6(a, _wanted(m, d, k), s)
        i = m.dof_parentid[i]
    return v, a


@kernel(inline=True)
def _upward(m, d):
    """Gravity as an upward acceleration of the world."""
    zero, g = 0.0 * d.time, m.opt_gravity[0]
    return zero, zero, zero, zero - g[0], zero - g[1], zero - g[2]


@kernel(inline=True)
def _dof(m, k):
    """Degree of freedom of the hinge or slide that actuator k acts on; -1 if it acts on something else."""
    o = m.actuator_outadr[k]
    return m.jnt_dofadr[m.out_obj1[o]] if m.out_kind[o] == SCALAR else -1


@kernel(inline=True)
def _feedback(m, d, k):
    """kp (target - q) + kd (rate - v) of actuator k."""
    p = MBC_PARAMETERS * k
    j = m.out_obj1[m.actuator_outadr[k]]
    error = d.control_prm[p + MBC_TARGET] - d.qpos[m.jnt_qposadr[j]]
    rate = d.control_prm[p + MBC_RATE] - d.qvel[m.jnt_dofadr[j]]
    return d.control_prm[p + MBC_KP] * error + d.control_prm[p + MBC_KD] * rate


@kernel(inline=True)
def _wanted(m, d, k):
    """Acceleration that actuator k is to give its joint."""
    return d.control_prm[MBC_PARAMETERS * k + MBC_ACCELERATION] + _feedback(m, d, k)


@kernel(inline=True)
def require(m, d, i, force):
    """Add a force on degree of freedom i to the controls of the actuators on it."""
    for k in range(m.nactuator):
        if _dof(m, k) == i:
            c = m.actuator_ctrladr[k]
            d.ctrl[c] = d.ctrl[c] + d.control_prm[MBC_PARAMETERS * k + MBC_INVERSE] * force


register((gravity_compensation,))
register((computed_torque,))
