"""Detection of invalid states: NaN, infinite or diverged values."""

from saltus.dynamics.awake.walks import awake_controls, awake_coordinates, awake_dofs
from saltus.number.conditions import has
from saltus.number.functions import absolute, maximum, minimum, where
from saltus.number.kernels import kernel

LARGEST = 1e10  # as in MuJoCo


@kernel
def bad_state(m, d):
    """1 (in each lane) where time, position, velocity or an actuator state is not finite, else 0.

    Velocities beyond LARGEST are invalid too. Controls may be infinite, since limits may bound them, but not NaN.
    """
    zero = 0.0 * minimum(maximum(d.time, -1.0), 1.0)  # finite for any time
    # bounded velocities, controls that are not NaN
    bad = zero
    for i in awake_dofs(m, d):
        v = absolute(d.qvel[i])
        bad = where(v < LARGEST, bad, 1.0 + zero)
    for k in awake_controls(m, d):
        bad = where(d.ctrl[k] == d.ctrl[k], bad, 1.0 + zero)
    # 0 x is 0 only for finite x
    total = 0.0 * d.time
    for k in awake_coordinates(m, d):
        total = total + 0.0 * d.qpos[k]
    for k in range(m.nact):
        total = total + 0.0 * d.act[k]
    return where(total == total, bad, 1.0 + zero)


@kernel
def bad_start(m, d):
    """`bad_state`, and also 1 where mocap poses or applied forces are not finite."""
    total = 0.0 * d.time
    for k in range(m.nmocap):
        p, q = d.mocap_pos[k], d.mocap_quat[k]
        total = total + 0.0 * (p[0] + p[1] + p[2]) + 0.0 * (q[0] + q[1] + q[2] + q[3])
    if has(m, "movers"):
        for k in range(m.nmover):
            v = d.mover_vel[k]
            total = total + 0.0 * (v[0] + v[1] + v[2]) + 0.0 * (v[3] + v[4] + v[5])
    for i in range(m.nv):
        total = total + 0.0 * d.qfrc_applied[i]
    if d.has_xfrc:
        for b in range(m.nbody):
            f = d.xfrc_applied[b]
            total = total + 0.0 * (f[0] + f[1] + f[2]) + 0.0 * (f[3] + f[4] + f[5])
    bad = bad_state(m, d)
    return where(total == total, bad, 1.0 + 0.0 * bad)
