"""Adaptive steps in plain Python against a second implementation of the same method.

Law: Dormand & Prince's pair of orders 5 and 4, whose coefficients are SciPy's, with the step-size controller of Hairer
& Wanner, Solving Ordinary Differential Equations II (1996), IV.2: h' = 0.9 h error^(β 3/4 - 1/5) error_before^β, within
0.2 h and 10 h, β = 0.04. Accelerations and rates of activations are MuJoCo's.

Tolerances: both compute the same numbers but for rounding, which error estimates enlarge to 1e-16 of the state over
1e-6 of the tolerance.
"""

import mujoco
import numpy as np
import pytest
from helpers import oracle, sleepers
from helpers.plain_python import plain_python
from scipy.integrate import RK45

import saltus
from saltus.integrate.adaptive.memory import ERROR_BEFORE, REJECTED, STEP, TAKEN

BETA, SAFETY, SHRINK, GROW = 0.04, 0.9, 0.2, 10.0
#: A spring that hardens, and rates from 0.05 s on: steps are rejected, and grow to the limits in turn.
MODEL = """<mujoco><option timestep=".7"/><default><geom contype="0" conaffinity="0"/></default><worldbody><body>
<joint name="a" type="slide" axis="1 0 0" stiffness="1 0 {hard}" damping=".1"/><geom size=".1" mass="1"/>
<body pos="0 0 -.3"><joint name="b" axis="0 1 0"/><geom size=".05" pos="0 0 -.4" mass=".5"/></body></body></worldbody>
<actuator>{actuators}</actuator></mujoco>"""
ACTUATORS = """<general joint="a" dyntype="filter" dynprm=".05" gainprm="3"/>
<general joint="b" dyntype="integrator" gainprm=".5"/>"""


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


class Reference:
    """The pair and its controller on MuJoCo's equations; `y`: positions, velocities and activations."""

    def __init__(self, sim, tolerance):
        self.m = oracle.reference(sim.model)
        self.d = mujoco.MjData(self.m)
        self.d.ctrl[:] = sim.ctrl
        self.tolerance = tolerance
        self.y = np.concatenate([sim.qpos, sim.qvel, sim.act])
        memory = sim.engine.d.views["memory"]
        self.step, self.before = float(memory[STEP]), float(memory[ERROR_BEFORE])
        self.taken = self.rejected = 0

    def rate(self, y):
        m, d = self.m, self.d
        d.qpos[:], d.qvel[:], d.act[:] = np.split(y, [m.nq, m.nq + m.nv])
        mujoco.mj_forward(m, d)
        return np.concatenate([d.qvel, d.qacc, d.act_dot])

    def run(self, duration):
        """Take steps up to the end of a duration."""
        left = duration
        while left > 0.0:
            h = min(self.step, left)
            h = left if h > 0.999999 * left else h
            rates = [self.rate(self.y)]
            for row in RK45.A[1:]:
                rates.append(self.rate(self.y + h * (row[: len(rates)] @ np.array(rates))))
            end = self.y + h * (RK45.B @ np.array(rates))
            rates.append(self.rate(end))
            size = np.maximum(np.abs(self.y), np.abs(end))
            scaled = h * (RK45.E @ np.array(rates)) / (self.tolerance[1] + self.tolerance[0] * size)
            error = np.linalg.norm(scaled) / np.sqrt(len(scaled))
            self.control(h, error)
            if error <= 1.0:
                self.y, left = end, left - h

    def control(self, h, error):
        good, error = error <= 1.0, max(error, 1e-10)
        factor = SAFETY * error ** (0.75 * BETA - 0.2) * self.before**BETA
        proposal = h * np.clip(factor, SHRINK, GROW if good else 1.0)
        self.step = max(proposal, self.step) if good and h < self.step else proposal
        if good:
            self.before, self.taken = max(error, 1e-4), self.taken + 1
        else:
            self.rejected += 1


@pytest.mark.parametrize("hard", [0.0, 3e3])
@pytest.mark.parametrize("actuators", ["", ACTUATORS], ids=["passive", "actuated"])
@pytest.mark.parametrize("tolerance", [(1e-5, 1e-7), (1e-8, 1e-4)], ids=["relative", "absolute"])
def test_steps_of_dopri5(hard, actuators, tolerance):
    """States, step sizes, and counts of steps taken and rejected after an interval; one before it starts both."""
    sim = saltus.Simulation(MODEL.format(hard=hard, actuators=actuators), "dopri5", tolerance=tolerance)
    sim.qpos[:], sim.qvel[:] = (0.6, 1.0), (-2.0, 1.5)
    sim.ctrl[:] = (0.7, -0.4)[: len(sim.ctrl)]
    sim.step()
    other, memory = Reference(sim, tolerance), sim.engine.d.views["memory"]
    before = memory[[TAKEN, REJECTED]].copy()
    other.run(0.7)
    sim.step()
    np.testing.assert_allclose(np.concatenate([sim.qpos, sim.qvel, sim.act]), other.y, rtol=0, atol=1e-9)
    assert [*(memory[[TAKEN, REJECTED]] - before)] == [other.taken, other.rejected]
    assert other.taken > 2 and (other.rejected > 0) >= (hard > 0.0)
    np.testing.assert_allclose(memory[STEP], other.step, rtol=1e-6)
    np.testing.assert_allclose(memory[ERROR_BEFORE], other.before, rtol=1e-6)


# ---------------------------------------------------------------- sleep


def balls(sleep):
    """One asleep in the way of another, one asleep and one slow far away; without weight."""
    ball, asleep = '<geom size=".1" mass="1"/>', 'sleep="init"'
    places = ("0 0 1", asleep), ("-.2007 .03 1", ""), ("3 0 1", asleep), ("5 0 1", "")
    bodies = "".join(sleepers.free(place, ball, more) for place, more in places)
    text = sleepers.world(bodies, 'gravity="0 0 0" timestep=".005"')
    return text if sleep else text.replace('sleep="enable"', "").replace(asleep, "")


def test_trees_fall_asleep_and_wake_between_stages_of_rk4():
    """What is awake moves as if nothing slept, to the bit; MuJoCo's trees fall asleep in the same steps."""
    asleep, awake = (saltus.Simulation(saltus.load(balls(sleep)), "rk4") for sleep in (True, False))
    m = mujoco.MjModel.from_xml_string(balls(True))
    d = mujoco.MjData(m)
    for sim in (asleep, awake, d):
        sim.qvel[6], sim.qvel[19] = 0.3, 5e-5
    start, before = asleep.qpos[14:].copy(), 0.0
    for _ in range(12):
        asleep.step(), awake.step(), mujoco.mj_step(m, d)
        np.testing.assert_array_equal(asleep.qpos[:14], awake.qpos[:14])
        np.testing.assert_array_equal(asleep.tree_asleep[2:], d.tree_asleep[2:])
        np.testing.assert_array_equal(asleep.qpos[14:21], start[:7])
        slept = asleep.tree_asleep[3] >= 0
        before += 0.0 if slept else 5e-5 * 0.005
        np.testing.assert_allclose(asleep.qpos[21:] - start[7:], before * (np.arange(7) == 1), atol=1e-16)
        assert asleep.qvel[19] == (0.0 if slept else 5e-5)
    ground = saltus.Simulation(saltus.load(sleepers.INITIAL))
    ground.step(2)
    assert (ground.tree_asleep >= 0).sum() == 3 and not ground.data.qfrc_constraint[:18].any()
    assert slept and (asleep.tree_asleep[:2] < 0).all() and asleep.qvel[0] > 0.1


@pytest.mark.parametrize("pushed", [0, 1, 2])
def test_a_push_wakes_what_an_equality_joins(pushed):
    """Trees of MuJoCo wake in the same steps: those that are pushed, and those joined with them."""
    bodies = "".join(
        f'<body pos="{k} 0 1" sleep="init"><joint name="j{k}" axis="0 1 0"/><geom size=".1"/></body>' for k in range(3)
    )
    joined = '<equality><joint joint1="j0" joint2="j1"/></equality>'
    m = mujoco.MjModel.from_xml_string(sleepers.world(bodies, 'gravity="0 0 0"', rest=joined))
    d, sim = mujoco.MjData(m), saltus.Simulation(saltus.load(m))
    for k in range(3):
        d.qfrc_applied[pushed] = sim.qfrc_applied[pushed] = float(k == 1)
        mujoco.mj_step(m, d)
        sim.step()
        np.testing.assert_array_equal(sim.tree_asleep, d.tree_asleep)
        np.testing.assert_allclose(sim.qvel, d.qvel, atol=1e-12)
    assert np.array_equal(sim.tree_asleep < 0, [pushed < 2, pushed < 2, pushed == 2])
