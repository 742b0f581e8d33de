"""Where events are in a step, and how accurate steps through events are, against closed forms.

Fixed steps: a ball on a spring (ω = 2) at a wall, x = eᵏ |sin 2t| between impacts π/2 apart; the error at a fixed time
shrinks with the method's order if the dense output has that order too. Tolerance: 0.2 of the fitted order.

Dips: paths whose distance goes below zero and comes back within a part of a step. Free flights are integrated exactly,
in steps as long as the run; the time of the impact is known to rounding over the speed at the surface.
"""

import math

import numpy as np
import pytest
from helpers.plain_python import plain
from numpy.testing import assert_allclose

import saltus
from saltus.integrate.event import event_driven
from saltus.solve.status import NOT_CONVERGED, OK, UNSOLVED

pytestmark = pytest.mark.usefixtures("one_hard_layout")

SPRING = """<mujoco>
  <option gravity="0 0 0"/>
  <worldbody>
    <geom type="plane" zaxis="1 0 0" size="1 1 1"/>
    <body pos="0.1 0 0"><joint name="x" type="slide" axis="1 0 0" stiffness="4"/><geom size="0.1" mass="1"/></body>
  </worldbody>
</mujoco>"""
RADIUS = 0.1
PAIR = f"""<mujoco>
  <option gravity="0 0 0"/><default><geom friction="0 0 0" size="{RADIUS}"/></default>
  <worldbody>
    <geom/>
    <body><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><geom mass="1"/></body>
  </worldbody>
</mujoco>"""
CEILING = """<mujoco>
  <option gravity="0 0 -10"/>
  <worldbody>
    <geom type="plane" pos="0 0 1" zaxis="0 0 -1" size="1 1 1"/>
    <body pos="0 0 -0.1"><joint type="slide" axis="0 0 1"/><geom size="0.1" mass="1"/></body>
  </worldbody>
</mujoco>"""
LOSSLESS = saltus.Hard(restitution=1.0)


def spring(name, h, restitution=0.8):
    """The ball on its spring in steps of h, started at x = 1."""
    sim = saltus.Simulation(SPRING, name, contact=saltus.Hard(restitution=restitution), timestep=h)
    sim.qpos[0] = 1.0
    return sim


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, order", [("rk4", 4), ("midpoint", 2), ("verlet", 2), ("implicit_midpoint", 2), ("energy_momentum", 2)]
)
def test_methods_of_fixed_steps_keep_their_order_through_impacts(name, order):
    duration, steps, errors = 4.0, [0.08, 0.04, 0.02, 0.01], []
    phase = duration + math.pi / 4
    count = int(phase // (math.pi / 2))
    assert count == 3
    phase = 2 * (phase - count * math.pi / 2)
    exact = 0.8**count * np.array([math.sin(phase), math.cos(phase)])
    for h in steps:
        sim = spring(name, h)
        events = sim.run(duration, sample=duration).events
        assert len(events[events["kind"] == "impact"]) == count
        errors.append(np.hypot(*(np.array([sim.qpos[0], sim.qvel[0] / 2]) - exact)))
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert abs(slope - order) < 0.2


@pytest.mark.slow
def test_events_leave_the_grid_of_steps_where_it_is():
    sim = spring("rk4", 0.05)
    sim.step(40)
    assert_allclose(sim.time, 2.0, rtol=1e-14)
    assert len(sim.events) == 1
    assert_allclose(sim.events["time"], math.pi / 4, atol=1e-6)


@pytest.mark.slow
def test_samples_inside_fixed_steps_do_not_change_the_run():
    """Also where they lie behind an impact of the same step; rk4 errs by 1e-5 here."""
    sim, other = spring("rk4", 0.05), spring("rk4", 0.05)
    trajectory = sim.run(2.0, sample=0.007)
    events = other.run(2.0, sample=2.0).events
    assert_allclose(trajectory.events["time"], events["time"], rtol=0)
    assert_allclose(sim.qpos, other.qpos, rtol=0)
    after = trajectory.time > math.pi / 4
    exact = np.where(after, 0.8, 1.0) * np.abs(np.cos(2 * trajectory.time))
    assert_allclose(trajectory.qpos[:, 0], exact, atol=1e-4)


# ------------------------------------------------------------ dips


@pytest.mark.slow
@pytest.mark.parametrize("start", -0.3 - 0.37 * np.arange(8))
@pytest.mark.parametrize("depth", [1e-3, 1e-6, 1e-9])
def test_a_ball_that_only_just_meets_another_one_meets_it(start, depth):
    """Elastic and smooth: the velocity is reflected at the line between the centres."""
    sim = saltus.Simulation(PAIR, contact=LOSSLESS)
    offset = 2 * RADIUS - depth
    sim.qpos[:], sim.qvel[:] = [start, offset], [1.0, 0.0]
    events = sim.run(4.0, sample=4.0).events
    half = math.sqrt((2 * RADIUS - offset) * (2 * RADIUS + offset))
    assert list(events["kind"]) == ["impact"]
    # how far into the other ball a path goes is known to rounding, the time to that over the slope at the surface
    assert_allclose(events["time"], -start - half, atol=1e-15 / half + 1e-14)
    normal = np.array([-half, offset]) / (2 * RADIUS)
    assert_allclose(sim.qvel, np.array([1.0, 0.0]) - 2 * normal[0] * normal, atol=1e-12 / half)


@pytest.mark.parametrize("start", -0.3 - 0.37 * np.arange(8))
def test_a_ball_that_only_just_passes_another_one_passes(start):
    sim = saltus.Simulation(PAIR, contact=LOSSLESS)
    sim.qpos[:], sim.qvel[:] = [start, 2 * RADIUS + 1e-9], [1.0, 0.0]
    assert len(sim.run(4.0, sample=4.0).events) == 0
    assert_allclose(sim.qvel, [1.0, 0.0], rtol=0)


@pytest.mark.parametrize("depth", [1e-4, 1e-7, 1e-9])
@pytest.mark.parametrize("lead", [0.05, 0.3, 0.7, 0.95])
def test_a_ball_that_is_thrown_up_grazes_the_ceiling(lead, depth):
    """It would rise to `depth` above the ceiling, after `lead` s; steps are as long as the run."""
    sim = saltus.Simulation(CEILING, contact=LOSSLESS)
    speed = 10 * lead
    sim.qpos[0], sim.qvel[0] = 1.0 + depth - speed**2 / 20, speed
    events = sim.run(1.0, sample=1.0).events
    left = math.sqrt(depth / 5)
    assert list(events["kind"]) == ["impact"]
    assert_allclose(events["time"], lead - left, atol=1e-15 / left)
    assert_allclose(events["velocity"], -10 * left, atol=1e-13 / left)


@pytest.mark.parametrize("contact", ["soft", "hard"])
def test_a_step_of_too_many_substeps_is_refused(contact):
    """An oscillator of 10 Hz takes some 30 steps a period: a timestep of 10,000 s is more than may be taken."""
    stiffness = (2 * math.pi * 10) ** 2
    far = SPRING.replace('pos="0.1 0 0"', 'pos="1 0 0"').replace('stiffness="4"', f'stiffness="{stiffness}"')
    sim = saltus.Simulation(far, "dopri5", contact=contact, timestep=1e4)
    sim.qpos[:] = 0.1
    with pytest.raises(saltus.DivergenceError, match="100,000 within a timestep"):
        sim.step()
    assert sim.time == 0.0 and sim.qpos[0] == 0.1 and sim.qvel[0] == 0.0
    sim.timestep = 0.05
    sim.step(2)
    assert sim.qpos[0] == pytest.approx(0.1, abs=1e-6)


@pytest.mark.parametrize("bad", [0.0, 1.0, math.nan])
@pytest.mark.parametrize("status", [OK, NOT_CONVERGED, UNSOLVED])
@pytest.mark.parametrize("over", [False, True])
def test_steps_that_fail(bad, status, over):
    """A state that is none, or one without solution where time may be stepped; by definition."""
    test = plain(event_driven.fails)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(test.__globals__, "bad_state", lambda m, d: bad)
        patch.setitem(test.__globals__, "can_go_over", lambda m, d: over)
        assert bool(test(None, None, status)) == (bad != 0.0 or (status == NOT_CONVERGED and over))
