"""Motors and servos on hinges and slides."""

from saltus.number.functions import clip
from saltus.number.kernels import kernel


@kernel
def actuation(m, d):
    """Forces of the actuators: (g0 + g1 l + g2 v) ctrl + b0 + b1 l + b2 v, limited, times gear.

    Reads ctrl [nu]. Writes actuator_length [nactuator] = gear qpos, actuator_velocity [nactuator] = gear qvel,
    actuator_force [nactuator] and qfrc_actuator [nv] (N, N m).
    """
    for i in range(m.nv):
        d.qfrc_actuator[i] = 0.0 * d.time
    for k in range(m.nactuator):
        j = m.actuator_jntid[k]
        i = m.jnt_dofadr[j]
        gear = m.actuator_gear[k]
        length = gear * d.qpos[m.jnt_qposadr[j]]
        speed = gear * d.qvel[i]
        d.actuator_length[k] = length
        d.actuator_velocity[k] = speed
        force = 0.0 * length
        if m.actuator_enabled[k]:
            c = m.actuator_ctrladr[k]
            u = d.ctrl[c]
            if m.actuator_ctrllimited[c]:
                u = clip(u, m.actuator_ctrlrange[c, 0], m.actuator_ctrlrange[c, 1])
            g = m.actuator_gainprm[k]
            b = m.actuator_biasprm[k]
            force = (g[0] + g[1] * length + g[2] * speed) * u + b[0] + b[1] * length + b[2] * speed
            if m.actuator_forcelimited[k]:
                force = clip(force, m.actuator_forcerange[k, 0], m.actuator_forcerange[k, 1])
        d.actuator_force[k] = force
        d.qfrc_actuator[i] = d.qfrc_actuator[i] + gear * force
    if m.has_actuation:
        joint_actuation(m, d)


@kernel
def joint_actuation(m, d):
    """Add the gravity compensation that actuators provide to qfrc_actuator [nv] (N, N m), and keep it in its ranges."""
    if m.has_gravcomp:
        for i in range(m.nv):
            if m.jnt_actgravcomp[m.dof_jntid[i]]:
                d.qfrc_actuator[i] = d.qfrc_actuator[i] + d.qfrc_gravcomp[i]
    for j in range(m.njnt):
        if m.jnt_actfrclimited[j]:
            i = m.jnt_dofadr[j]
            d.qfrc_actuator[i] = clip(d.qfrc_actuator[i], m.jnt_actfrcrange[j, 0], m.jnt_actfrcrange[j, 1])
