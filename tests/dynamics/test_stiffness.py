"""Stiffness of joint springs. Reference: slopes of MuJoCo's springs by central differences, where not negative."""

import mujoco
import numpy as np
from helpers.interpreted import Mechanism

from saltus.dynamics.stiffness import spring_slopes
from saltus.number.kernels import interpret


def test_slopes_of_hinges_and_slides():
    case, h, seen = Mechanism(1), 1e-5, 0
    case.d.views["qfrc_spring_slope"] = np.full(case.m.nv, np.nan)  # models without implicit steps have no room
    interpret(spring_slopes)(case.m, case.d)
    m, d = case.theirs, mujoco.MjData(case.theirs)
    for j in np.flatnonzero((m.jnt_type >= mujoco.mjtJoint.mjJNT_SLIDE.value) & (m.jnt_stiffness > 0)):
        forces, i = [], m.jnt_dofadr[j]
        for s in (-h, h):
            d.qpos[:] = case.state["qpos"]
            d.qpos[m.jnt_qposadr[j]] += s
            mujoco.mj_forward(m, d)
            forces.append(d.qfrc_spring[i])
        slope = (forces[0] - forces[1]) / (2 * h)
        np.testing.assert_allclose(case.d.qfrc_spring_slope[i], max(slope, 0.0), rtol=1e-7, atol=1e-7)
        seen += 1
    assert seen
