"""Losses of elastic gears against the equations of motion with either efficiency, and gears that lock."""

import numpy as np
import pytest
from helpers.plain_python import plain_python

import saltus

INERTIA, RATIO, ROTOR, STIFFNESS, LOAD = 0.5, 10.0, 0.002, 80.0, 3.0  # kg m², 1, kg m², N m/rad, N m
LINK = """<mujoco><option gravity="0 0 0" timestep="0.001"/><worldbody><body><joint name="x" axis="0 0 1"/>
  <inertial pos="0 0 0" mass="1" diaginertia="1 1 .5"/></body></worldbody><actuator><motor joint="x"/></actuator>
  <custom>{}</custom></mujoco>"""
LAWS = [("dopri5", "hard"), ("rk4", "soft"), ("euler", "soft"), ("implicitfast", "soft"), ("moreau_jean", "hard")]
GEARS = [(0.8, 0.6), (0.4, -0.3), (0.9, None), (1.0, 0.5)]


@pytest.fixture
def plain():
    """Kernels run in plain Python."""
    with plain_python():
        yield


def geared(efficiency=0.8, back=None, damping=0.0):
    gear = saltus.Gear(RATIO, efficiency, back, stiffness=STIFFNESS, damping=damping, rotor_inertia=ROTOR)
    return saltus.drive(LINK.format(""), "x", gear)


def loaded(model, twist, speed, torque, integrator="dopri5", contact="hard"):
    """A link under a load that its motor lifts, with the gear twisted."""
    sim = saltus.Simulation(model, integrator, contact=contact)
    sim.qpos[:], sim.qvel[:] = [0.0, RATIO * twist], [speed, RATIO * speed]
    sim.ctrl[0], sim.qfrc_applied[0] = torque, -LOAD
    return sim


@pytest.mark.parametrize(("integrator", "contact"), LAWS)
@pytest.mark.parametrize(("efficiency", "back"), GEARS)
def test_accelerations_are_those_of_either_efficiency(efficiency, back, integrator, contact, plain):
    """Without a change of twist, of τ = I q'' + Q: J N q'' = u - τ / (N η) up, u - η' τ / N down.

    Dry friction of 1e-9 N m of the motor's joint decides the tolerance.
    """
    back_or_equal = 2.0 - 1.0 / efficiency if back is None else back
    for speed, share, acceleration in ((5.0, 1.0 / efficiency, 2.0), (-5.0, back_or_equal, -1.5)):
        transmitted = INERTIA * acceleration + LOAD
        torque = ROTOR * RATIO * acceleration + share * transmitted / RATIO
        model = geared(efficiency, back)
        sim = loaded(model, transmitted / STIFFNESS, speed, torque, integrator, contact)
        sim.run(0.02)
        tolerance = 1e-7 if contact == "hard" and integrator != "moreau_jean" else 1e-5
        assert np.allclose(
            (sim.qvel - [speed, RATIO * speed]) / 0.02, [acceleration, RATIO * acceleration], atol=tolerance
        )


@pytest.mark.parametrize("integrator", ["dopri5", "moreau_jean"])
def test_a_gear_locks_where_its_back_efficiency_is_not_above_0(integrator, plain):
    """Under load and without torque: the motor keeps its place to rounding, or runs away."""
    sim = loaded(geared(0.4, -0.3), LOAD / STIFFNESS, 0.0, 0.0, integrator)
    sim.run(1.0)
    assert abs(sim.qvel[1]) < 1e-14 and abs(sim.qpos[1] - RATIO * LOAD / STIFFNESS) < 1e-12
    sim = loaded(geared(0.4, 0.1), LOAD / STIFFNESS, 0.0, 0.0, integrator)
    sim.run(0.1)
    assert sim.qvel[1] < -0.1


@pytest.mark.parametrize(("efficiency", "back"), [(0.8, 0.6), (0.4, -0.3)])
def test_a_gear_at_rest_breaks_away_at_the_torques_of_both_efficiencies(efficiency, back, plain):
    """u = Q / (N η) up, η' Q / N down, within 1e-6 of Q / N."""
    share = 1e-6 * LOAD / RATIO
    up, down = LOAD / (RATIO * efficiency), back * LOAD / RATIO
    directions = []
    for torque in (up + share, up - share, down + share, down - share):
        sim = loaded(geared(efficiency, back), LOAD / STIFFNESS, 0.0, torque)
        sim.run(0.05)
        directions.append(np.sign(sim.qvel[1]))
    assert directions == [1.0, 0.0, 0.0, -1.0]


def test_steps_have_the_derivatives_of_the_equations(plain):
    """A step of J θ'' = u - T / (N η) by position, with T = k (θ/N - q): -h k / (J N² η) and h k / (J N η)."""
    sim = loaded(geared(0.8, 0.6), LOAD / STIFFNESS, 5.0, 0.4, "euler", "soft")
    A, _ = sim.linearize()
    slope = 0.001 * STIFFNESS / (ROTOR * RATIO * 0.8)
    assert np.allclose(A[3, :2], [slope, -slope / RATIO], rtol=1e-6)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_gradients_by_the_stiffness_contain_the_friction(mode, plain):
    """One step of h: dv/dk = -h (θ/N - q) / (J N η), from x = T / k."""
    sim = loaded(geared(0.8, 0.6), LOAD / STIFFNESS, 5.0, 0.4, "euler", "soft")
    _, found = saltus.run_gradient(
        sim, 0.001, lambda run: run.qvel[-1, 1], wrt=("tendon_stiffness[x_gear]",), mode=mode
    )
    expected = -0.001 * LOAD / STIFFNESS / (ROTOR * RATIO * 0.8)
    assert np.isclose(found["tendon_stiffness[x_gear]"], expected, rtol=1e-6)


def test_the_damper_is_part_of_the_torque(plain):
    """J θ'' = u - (k x + c x') / (N η)."""
    sim = loaded(geared(0.8, 0.6, damping=2.0), LOAD / STIFFNESS, 5.0, 0.4)
    sim.qvel[1] = 52.0
    sim.forward()
    assert np.isclose(sim.data.qacc[1], (0.4 - (LOAD + 2.0 * 0.2) / (RATIO * 0.8)) / ROTOR, rtol=1e-6)


def test_simulations_of_a_batch_equal_single_ones():
    model = geared(0.4, -0.3)
    speeds, torques = np.array([5.0, -5.0, 0.0]), np.array([1.0, -0.3, 0.0])
    batch = saltus.Batch(model, 3)
    batch.qpos[:, 1], batch.ctrl[:, 0] = RATIO * LOAD / STIFFNESS, torques
    batch.qvel[:] = speeds[:, None] * [1.0, RATIO]
    batch.qfrc_applied[:, 0] = -LOAD
    batch.step(50)
    for k in range(3):
        sim = loaded(model, LOAD / STIFFNESS, speeds[k], torques[k], None, "soft")
        sim.step(50)
        assert np.array_equal(batch.qpos[k], sim.qpos)
