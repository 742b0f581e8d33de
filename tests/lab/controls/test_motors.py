"""Torques of motors that are shown. Reference: MuJoCo's generalised forces of the actuators."""

from types import SimpleNamespace

import mujoco
import numpy as np

import saltus
from saltus.lab.controls.motors import motors

XML = """<mujoco><worldbody><body name="a"><joint name="one" axis="0 1 0"/><geom size=".1" pos="1 0 0"/>
<body name="b" pos="1 0 0"><joint name="two" axis="1 0 0"/><geom size=".1"/></body></body>
<body name="c"><joint name="slides" type="slide"/><geom size=".1"/></body></worldbody>
<actuator><motor joint="slides"/><motor joint="two" gear="-3" ctrlrange="-2 2"/><position joint="two" kp="1"/>
<motor joint="one" gear=".5"/></actuator></mujoco>"""


def test_torques_are_mujocos():
    model = saltus.load(XML)
    found, d, rng = motors(model), mujoco.MjData(model.mujoco), np.random.default_rng(0)
    assert [(motor.actuator, motor.dof) for motor in found] == [(1, 1), (3, 0)]  # no slides, no servos
    for _ in range(5):
        ctrl, applied = 4.0 * rng.normal(size=4), rng.normal(size=3)
        sim = SimpleNamespace(model=model, ctrl=ctrl, qfrc_applied=applied)
        d.ctrl[:] = ctrl * [1.0, 1.0, 0.0, 1.0]
        mujoco.mj_forward(model.mujoco, d)
        for motor in found:
            np.testing.assert_allclose(motor.torque(sim), d.qfrc_actuator[motor.dof] + applied[motor.dof], rtol=1e-14)
