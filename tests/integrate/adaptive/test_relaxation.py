"""Steps that would shrink without end: sliding modes are followed with relaxed tolerances, and said.

Laws, each with a force that jumps and drives the motion back to the jump (Filippov): dry friction written as μ sign(v)
brakes a mass under a push f < μ and holds it: from v₀ it comes to rest after v₀/(μ - f), at v₀²/(2 (μ - f)), and stays.
Tolerance: the velocity wavers by what a step changes it by, of a twentieth of 2 ms, at most a fifth, and the
position drifts by that for the rest of the run.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus
from saltus.integrate.adaptive.memory import LOOSE, REJECTED, TAKEN
from saltus.integrate.adaptive.relaxation import MANY
from saltus.integrate.adaptive.step_bounds import LONGEST_PACE
from saltus.number.functions import where

H, BRAKE, PUSH, SPEED = 0.01, 2.0, 1.0, 1.0
WAVERS = 0.2 * LONGEST_PACE * (BRAKE + PUSH)  # m/s
CART = f"""<mujoco><option timestep="{H}" gravity="0 0 0"/><worldbody><body><joint name="x" type="slide" axis="1 0 0"/>
  <geom size=".1" mass="1"/></body></worldbody><actuator><motor joint="x"/></actuator></mujoco>"""


@saltus.controller
def braked(m, d, z):
    """A push, and a brake that is either on or off."""
    v = d.qvel[0]
    d.ctrl[0] = PUSH - BRAKE * where(v > 0.0, 1.0 + 0.0 * v, -1.0 + 0.0 * v)


@pytest.fixture(scope="module")
def sim():
    return saltus.Simulation(CART, "dopri5", control=braked)


@pytest.mark.parametrize("how", ["run", "step"])
def test_a_brake_holds_in_bounded_time(sim, how):
    sim.reset()
    sim.qvel[0] = SPEED
    with pytest.warns(saltus.SaltusWarning, match="tolerance was relaxed where a force jumps"):
        sim.run(2.0, sample=1.0) if how == "run" else sim.step(200)
    assert_allclose(sim.qpos[0], SPEED**2 / (2 * (BRAKE - PUSH)), rtol=0, atol=WAVERS * 1.0)
    assert abs(sim.qvel[0]) <= WAVERS
    assert sim.unconverged > 0
    tried = sim.engine.d.views["memory"][[TAKEN, REJECTED]].sum()
    assert tried <= MANY * 2.0 / LONGEST_PACE


@pytest.mark.slow  # compiles located events with a controller
@pytest.mark.parametrize("how", ["run", "step"])
def test_a_brake_holds_in_bounded_time_while_events_are_located(how):
    floor = '<geom type="plane" pos="0 0 -1" size="5 5 .1"/>'
    located = saltus.Simulation(CART.replace("<body>", f"{floor}<body>"), "dopri5", contact="hard", control=braked)
    located.qvel[0] = SPEED
    with pytest.warns(saltus.SaltusWarning, match="tolerance was relaxed where a force jumps"):
        located.run(2.0, sample=1.0) if how == "run" else located.step(200)
    assert_allclose(located.qpos[0], SPEED**2 / (2 * (BRAKE - PUSH)), rtol=0, atol=WAVERS * 1.0)
    assert abs(located.qvel[0]) <= WAVERS
    tried = located.engine.d.views["memory"][[TAKEN, REJECTED]].sum()
    assert tried <= MANY * 2.0 / LONGEST_PACE


def test_smooth_motion_keeps_its_tolerance(sim):
    """Before the stop nothing is relaxed, and the motion is exact to rounding."""
    sim.reset()
    sim.qvel[0] = SPEED
    sim.step(50)
    assert sim.engine.d.views["memory"][LOOSE] <= 1.0
    assert sim.unconverged == 0
    assert_allclose(sim.qvel[0], SPEED - 0.5 * (BRAKE - PUSH), rtol=0, atol=1e-12)
    assert_allclose(sim.qpos[0], SPEED * 0.5 - 0.125 * (BRAKE - PUSH), rtol=0, atol=1e-12)


def test_each_simulation_of_a_batch_relaxes_for_itself():
    """One comes to rest, one does not: its bits are those that it has by itself."""
    batch = saltus.Batch(CART, 2, integrator="dopri5", control=braked)
    batch.qvel = np.array([[SPEED], [3 * SPEED]])
    with pytest.warns(saltus.SaltusWarning, match="tolerance was relaxed"):
        batch.step(150)
    alone = saltus.Simulation(CART, "dopri5", control=braked)
    alone.qvel[0] = 3 * SPEED
    alone.step(150)
    assert batch.qpos[1, 0] == alone.qpos[0]
    assert_allclose(batch.qpos[0, 0], SPEED**2 / (2 * (BRAKE - PUSH)), rtol=0, atol=WAVERS * 1.0)
