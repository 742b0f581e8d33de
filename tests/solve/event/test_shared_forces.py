"""Forces that are shared out where there are more rows than freedoms: a robot that stands, a box that lifts off.

The robot is a trunk on four legs, each a hip, a telescope and a ball for a foot, all with servos and dry friction; an
arm on the trunk lies at the end of its range, held by nothing. Laws: statics. At rest the feet carry the weight; by
symmetry a quarter on each, which its telescope's servo holds up to the bound of dry friction, so that the height is
known to that over the stiffness. Forces balance to the tolerance of the solver, 1e-9. Energy: the ledger's residual is
that of the integrator, 1e-6 of the energy that flowed.
"""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus
from saltus.integrate.adaptive.memory import REJECTED, TAKEN
from saltus.model.enums import ROWS
from saltus.solve.event.redundant_rows import SHARED_ROWS

pytestmark = pytest.mark.usefixtures("one_hard_layout")

G, TRUNK, LEG, FOOT = 9.81, 9.0, 0.25, 0.05  # m/s², kg
STIFFNESS, LOSS, RADIUS, LONG = 4000.0, 0.3, 0.02, 0.3  # N/m, N, m, m
STANDS = RADIUS + LONG - (TRUNK + 4 * LEG - 4 * FOOT) * G / 4 / STIFFNESS  # the feet are below the springs

LEGS = "".join(
    f"""<body pos="{x} {y} 0"><joint name="hip{k}" axis="0 1 0" damping=".5" frictionloss=".1"/>
    <geom type="sphere" size=".01" pos="0 0 -.1" mass="{LEG - FOOT}" contype="0" conaffinity="0"/>
    <body pos="0 0 -{LONG}"><joint name="leg{k}" type="slide" axis="0 0 1" damping="40" frictionloss="{LOSS}"/>
    <geom type="sphere" size="{RADIUS}" mass="{FOOT}"/></body></body>"""
    for k, (x, y) in enumerate(((0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1)))
)
SERVOS = "".join(f'<position joint="hip{k}" kp="60"/><position joint="leg{k}" kp="{STIFFNESS}"/>' for k in range(4))
SPREAD = 0.02  # rad: what the servos of the hips strain to spread the legs by
DEEP = 0.004  # m: how deep the feet are in the floor at the start
ROBOT = f"""<mujoco><option timestep="0.002"/><default><geom friction=".8 0 0"/></default><worldbody>
  <geom type="plane" size="5 5 .1"/><body name="trunk" pos="0 0 {RADIUS + LONG}"><freejoint/>
  <geom type="box" size=".2 .1 .05" mass="{TRUNK - 0.01}" contype="0" conaffinity="0"/>
  <body><joint name="arm" axis="1 0 0" limited="true" range="0 1"/>
  <geom type="sphere" size=".01" mass=".01" contype="0" conaffinity="0"/></body>{LEGS}</body></worldbody>
  <actuator>{SERVOS}</actuator>
  <keyframe><key name="stand" qpos="0 0 {RADIUS + LONG - DEEP} 1 0 0 0 0 {" 0" * 8}"
  ctrl="{SPREAD} 0 {SPREAD} 0 -{SPREAD} 0 -{SPREAD} 0"/></keyframe></mujoco>"""


@pytest.fixture(scope="module")
def stood():
    """A second after the start, and what was recorded of it."""
    sim = saltus.Simulation(ROBOT, contact="hard")
    sim.reset("stand")
    with pytest.warns(saltus.SaltusWarning, match="overlap by 0.004 m"):
        return sim, sim.run(1.0, sample=0.05, ledger=True)


def test_height_and_tilt_are_those_of_statics(stood):
    sim, _ = stood
    assert_allclose(sim.qpos[2], STANDS, rtol=0, atol=LOSS / STIFFNESS)
    assert_allclose(sim.qpos[4:6], 0, rtol=0, atol=LOSS / STIFFNESS / 0.1)
    assert_allclose(sim.qvel, 0, rtol=0, atol=1e-6)


def test_feet_carry_the_weight(stood):
    _, trajectory = stood
    weight = (TRUNK + 4 * LEG) * G
    last = trajectory.contact_force[-1]
    assert_allclose(np.abs(last[:, 2]).sum(), weight, rtol=1e-6)
    assert_allclose(np.abs(last.sum(axis=0))[:2], 0, rtol=0, atol=1e-6 * weight)
    assert np.all(np.hypot(last[:, 0], last[:, 1]) <= 0.8 * np.abs(last[:, 2]) + 1e-9 * weight)


def test_events_are_few_and_the_ledger_closes(stood):
    """Each foot and each dry friction sticks and slips some times until all rest: no more than some tens together."""
    _, trajectory = stood
    assert len(trajectory.events) <= 100
    report = trajectory.energy_report()
    flowed = report["actuators"][-1] - report["dry friction"][-1] - report["dampers"][-1]
    assert abs(report.residual[-1]) <= 1e-6 * abs(flowed)


def test_standing_takes_few_steps_without_searches(stood):
    """At rest steps are as long as they may be, and neither shared forces nor the arm's gap of zero set off a search.

    The gap of a joint that rests at its limit is zero up to rounding, on either side of it.
    """
    sim, _ = stood
    views = sim.engine.d.views
    arm = sim.engine.m.nslot  # the lower end of the first limit
    sim.qpos[7] = -4e-15
    sim.step(1)  # modes at the new state
    taken = views["memory"][TAKEN]
    views["event_look"][:] = np.nan
    sim.run(1.0, sample=1.0)
    assert -1e-10 < views["event_before"][arm] < 0
    assert np.isnan(views["event_look"]).all()
    assert views["memory"][TAKEN] - taken <= 1.0 / 0.05 + 10


def test_shared_forces_are_kept_while_the_active_set_is(stood):
    """They are admissible, close all rows, and are least where they are read."""
    sim, _ = stood
    sim.run(0.1, sample=0.1)
    engine = sim.engine
    n = engine.d.views["hard_count"][ROWS]
    assert n > sim.model.nv
    assert engine.d.views["active_rank"][0, SHARED_ROWS] == n
    kept = engine.d.views["shared_force"][:n].copy()
    sim.forward()
    W, q, least = (engine.d.views[f"hard_{name}"] for name in ("W", "q", "r"))
    W = W[: n * n].reshape(n, n)
    assert_allclose(W @ kept, -q[:n], rtol=0, atol=1e-6 * np.abs(q[:n]).max())
    assert np.linalg.norm(least[:n]) <= np.linalg.norm(kept) * (1 + 1e-9)


@pytest.mark.slow
def test_a_redundant_contact_lifts_off_in_time_and_without_rejected_steps():
    """A box on four corners lifts off when a mass on a spring above it pulls with its weight: M g = k x.

    Until that is located the rows stay closed, with forces that pull, and the motion is smooth: steps are rejected for
    nothing but their size at the start. The time is known to the tolerance of the integrator, 1e-8 of velocities.
    """
    box, mass, stiffness, drop = 1.0, 2.0, 200.0, 0.2  # kg, N/m, m below the equilibrium of the mass
    sim = saltus.Simulation(
        f"""<mujoco><worldbody><geom type="plane" size="5 5 .1"/><body pos="0 0 .1">
        <joint type="slide" axis="0 0 1"/><geom type="box" size=".2 .1 .1" mass="{box}"/>
        <body pos="0 0 .5"><joint type="slide" axis="0 0 1" stiffness="{stiffness}"/>
        <geom type="sphere" size=".01" mass="{mass}" contype="0" conaffinity="0"/></body></body></worldbody>
        </mujoco>""",
        contact="hard",
    )
    rest, rate = -mass * G / stiffness, math.sqrt(stiffness / mass)
    sim.qpos[1] = rest - drop
    events = sim.run(0.3, sample=0.3).events
    lifts = math.acos((rest - box * G / stiffness) / drop) / rate  # x = rest - drop cos(rate t)
    assert list(events["kind"]) == ["liftoff"] * 4
    assert_allclose(events["time"], lifts, rtol=0, atol=1e-8)
    assert sim.engine.d.views["memory"][REJECTED] <= 3
