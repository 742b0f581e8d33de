"""Forces that the model needs (`model_based_control`). Reference: MuJoCo's M, bias and passive forces at a state.

Tolerance: rounding of some hundred products.
"""

import mujoco
import numpy as np
import pytest

import saltus
from saltus.dynamics.controllers.model_based_control import computed_torque, gravity_compensation

ARM = """
<mujoco><option timestep="0.01" gravity="0.4 -0.3 -9.7"/><worldbody>
  <body pos="0 0 1"><joint name="a" axis="0 1 0" damping=".4" stiffness="2" armature=".05"/>
    <geom type="capsule" fromto="0 0 0 .3 .1 0" size=".03" contype="0"/>
    <body pos=".3 .1 0" quat=".8 .6 0 0"><joint name="b" axis="0 .6 .8"/>
      <geom type="box" size=".1 .05 .02" pos=".1 0 0" contype="0"/>
      <body pos=".2 0 0"><joint name="c" type="slide" axis="1 0 0" armature=".1"/>
        <geom type="box" size=".05 .04 .02" pos=".02 .03 0" contype="0"/></body></body>
    <body pos="0 .2 0"><joint name="d" axis="1 0 0"/><geom size=".05" pos="0 0 .1" contype="0"/></body></body>
  </worldbody><actuator><motor name="c" joint="c" gear="2"/><motor name="a" joint="a" gear="-3"/>
    <general name="b" joint="b" gainprm="4"/><motor name="d" joint="d"/></actuator></mujoco>"""
ORDER, EFFECT = [2, 0, 1, 3], np.array([2.0, -3.0, 4.0, 1.0])
KP, KD = np.array([3.0, 4, 5, 6]), np.array([0.3, 0.4, 0.5, 0.6])
TARGET, RATE = np.array([0.1, -0.2, 0.3, 0.4]), np.array([0.5, 0.6, -0.7, 0.8])


@pytest.mark.parametrize(
    "law", [computed_torque, gravity_compensation], ids=["computed_torque", "gravity_compensation"]
)
def test_controls_are_those_of_mujocos_terms(law):
    everything = law is computed_torque
    control = (saltus.computed_torque if everything else saltus.gravity_compensation)(KP, KD, TARGET, target_rate=RATE)
    sim = saltus.Simulation(ARM, "rk4", control=control)
    assert sim.control.law is law
    rng = np.random.default_rng(0)
    m = sim.model.mujoco
    data, M = mujoco.MjData(m), np.zeros((4, 4))
    for _ in range(3):
        sim.qpos[:], sim.qvel[:] = rng.normal(size=(2, 4))
        sim.forward()
        data.qpos[:], data.qvel[:] = sim.qpos, sim.qvel if everything else 0.0
        mujoco.mj_forward(m, data)
        mujoco.mj_fullM(m, data, M)
        asked = np.zeros(4)
        asked[ORDER] = KP * (TARGET - sim.qpos[ORDER]) + KD * (RATE - sim.qvel[ORDER])
        tau = M @ asked + data.qfrc_bias - data.qfrc_passive if everything else asked + data.qfrc_bias
        assert np.allclose(sim.ctrl * EFFECT, tau[ORDER], rtol=0, atol=1e-12 * np.abs(tau).max())
