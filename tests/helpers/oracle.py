"""MuJoCo as the reference: the same mechanism without what Saltus was told to ignore, at the same states."""

import mujoco
import numpy as np

FREE, BALL = 0, 1  # MuJoCo's joint types
NO_CONSTRAINTS = mujoco.mjtDisableBit.mjDSBL_CONSTRAINT.value
NO_ACTUATION = mujoco.mjtDisableBit.mjDSBL_ACTUATION.value


def reference(model):
    """MjModel of a loaded model: constraints off, energy on, and without what the model ignores."""
    m = model.mujoco
    m.opt.disableflags |= NO_CONSTRAINTS
    m.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY.value
    kinds = {text.split(":")[0] for text in model.ignored}
    if "tendon" in kinds:
        for parameter in ("stiffness", "stiffnesspoly", "damping", "dampingpoly", "armature"):
            getattr(m, f"tendon_{parameter}")[:] = 0
        on_tendons = m.actuator_trntype == mujoco.mjtTrn.mjTRN_TENDON.value
        for parameter in ("damping", "dampingpoly", "armature"):
            getattr(m, f"actuator_{parameter}")[on_tendons] = 0
    if "actuator" in kinds:
        _silence_actuators(m, {text.split(": actuator ")[1] for text in model.ignored if text.startswith("actuator:")})
    if "fluid" in kinds:
        m.opt.density = m.opt.viscosity = 0
    if "flex" in kinds:
        for parameter in ("stiffness", "damping", "edgestiffness", "edgedamping", "bending"):
            getattr(m, f"flex_{parameter}")[:] = 0
    if "sleep" in kinds:
        m.opt.enableflags &= ~mujoco.mjtEnableBit.mjENBL_SLEEP.value
    return m


def _silence_actuators(m, names):
    """No force from the actuators with these names ("#index" for nameless ones)."""
    for k in range(m.nactuator):
        name = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_ACTUATOR, k) or f"#{k}"
        if name in names:
            m.actuator_gaintype[k] = mujoco.mjtGain.mjGAIN_FIXED
            m.actuator_biastype[k] = mujoco.mjtBias.mjBIAS_NONE
            m.actuator_gainprm[k] = 0


def random_state(m, rng, *, speed=1.0, force=1.0):
    """Positions on the manifold, velocities, controls and applied forces, as a dict of arrays."""
    qpos = rng.uniform(-np.pi, np.pi, m.nq)
    for j in range(m.njnt):
        a = m.jnt_qposadr[j] + (3 if m.jnt_type[j] == FREE else 0)
        if m.jnt_type[j] in (FREE, BALL):
            quat = rng.normal(size=4)
            qpos[a : a + 4] = quat / np.linalg.norm(quat)
    xfrc = force * rng.normal(size=(m.nbody, 6))
    xfrc[0] = 0.0
    return {
        "qpos": qpos,
        "qvel": speed * rng.normal(size=m.nv),
        "ctrl": 2.0 * rng.normal(size=m.nu),
        "qfrc_applied": force * rng.normal(size=m.nv),
        "xfrc_applied": xfrc,
        **({"act": rng.normal(size=m.na)} if m.na else {}),
    }


def forward(m, state):
    """MjData of the reference at a state, everything computed."""
    d = mujoco.MjData(m)
    for name, value in state.items():
        getattr(d, name)[:] = value
    mujoco.mj_forward(m, d)
    return d


def full_inertia(m, d):
    """MuJoCo's joint-space inertia [nv, nv]."""
    full = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, full)
    return full


def exact(m, qpos, qvel, times, tolerance=3e-14):
    """The solution of the equations of motion at ascending times: qpos [T, nq], qvel [T, nv].

    MuJoCo's accelerations and quaternions' kinematic equation, q' = q ω / 2, under SciPy's eighth-order DOP853: nothing
    of it is ours.
    """
    from scipy.integrate import solve_ivp

    d = mujoco.MjData(m)
    joints = [(kind, a, i) for kind, a, i in zip(m.jnt_type, m.jnt_qposadr, m.jnt_dofadr, strict=True)]

    def slope(t, y):
        d.qpos[:], d.qvel[:] = y[: m.nq], y[m.nq :]
        mujoco.mj_forward(m, d)
        rate = np.zeros(m.nq)
        for kind, a, i in joints:
            if kind == FREE:
                rate[a : a + 3] = y[m.nq + i : m.nq + i + 3]
                a, i = a + 3, i + 3
            if kind in (FREE, BALL):
                omega = np.array([0.0, *y[m.nq + i : m.nq + i + 3]])
                mujoco.mju_mulQuat(rate[a : a + 4], y[a : a + 4].copy(), 0.5 * omega)
            else:
                rate[a] = y[m.nq + i]
        return np.concatenate([rate, d.qacc])

    times = np.asarray(times, float)
    start = np.concatenate([qpos, qvel])
    found = solve_ivp(slope, (0, times[-1]), start, "DOP853", times, rtol=tolerance, atol=tolerance)
    assert found.success, found.message
    return found.y[: m.nq].T, found.y[m.nq :].T


def difference(m, a, b):
    """Tangent difference [nv] of two positions, from a to b."""
    out = np.zeros(m.nv)
    mujoco.mj_differentiatePos(m, out, 1.0, np.ascontiguousarray(a), np.ascontiguousarray(b))
    return out
