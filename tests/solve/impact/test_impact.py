"""Impacts of whole mechanisms: velocity jumps, with dry friction in the mechanism, and the energies that they keep.

Dry friction F is a finite force, so it has no impulse: a ball on a slide with dry friction F, in its joint or in a
fixed tendon, leaves a plane with e v and rises, decelerated by g + F/m, to e² h (g - F/m)/(g + F/m). Free flights are
integrated exactly; tolerance: the rounding of times and speeds.

A mechanism without motors or springs, with plastic impacts, never gains energy. Tolerance: the error of dopri5 at its
default tolerance, 1e-6 of the energies involved.

A light ball between a wall and a heavy one, all elastic, has as many impacts as π has first digits (Galperin, Playing
pool with π, Regular and Chaotic Dynamics 8 (2003)), and keeps its energy. Tolerance: the rounding of 31415 impacts.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain_python import plain
from numpy.testing import assert_allclose

import saltus
from saltus.solve.impact import impact

pytestmark = pytest.mark.usefixtures("one_hard_layout")

G, MASS, RADIUS, HEIGHT = 9.81, 1.0, 0.1, 0.5
BALLS = f"""<mujoco>
  <option gravity="0 0 -{G}"/><default><geom size="{RADIUS}" mass="{MASS}"/></default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body pos="0 0 {RADIUS}"><joint type="slide" axis="0 0 1" frictionloss="2"/><geom/></body>
    <body pos="1 0 {RADIUS}"><joint name="z" type="slide" axis="0 0 1"/><geom/></body>
  </worldbody>
  <tendon><fixed frictionloss="1"><joint joint="z" coef="2"/></fixed></tendon>
</mujoco>"""


def row_of_balls(masses):
    """Balls that touch each other and a wall, on slides, without gravity."""
    balls = [
        f'<body pos="{0.1 + 0.2 * k} 0 0"><joint type="slide" axis="1 0 0"/><geom name="{k}" mass="{mass}"/></body>'
        for k, mass in enumerate(masses)
    ]
    wall = '<geom name="wall" type="plane" size="1 1 1" zaxis="1 0 0"/>'
    default = '<option gravity="0 0 0"/><default><geom condim="1" size="0.1"/></default>'
    return f"<mujoco>{default}<worldbody>{wall}{''.join(balls)}</worldbody></mujoco>"


def leg(links, loss, armature):
    """A trunk on slides along x and z with a leg of `links`, which zigzags down to a round foot."""

    def link(k):
        if k == links:
            return ""
        x = 0.1 if k % 2 else -0.1
        foot = f'<geom size="0.04" pos="{x} 0 -0.3" mass="0.2"/>' if k == links - 1 else ""
        return f"""<body pos="0 0 -0.3">
          <joint axis="0 1 0" frictionloss="{loss}" armature="{armature}"/>
          <geom type="capsule" size="0.03" fromto="0 0 0 {x} 0 -0.3" mass="1" contype="0"/>{foot}{link(k + 1)}
        </body>"""

    return f"""<mujoco>
      <option timestep="0.001"/><default><geom friction="0.6"/></default>
      <worldbody>
        <geom type="plane" size="9 9 1"/>
        <body pos="0 0 {0.3 * links + 0.39}">
          <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
          <geom type="box" size="0.1 0.1 0.05" mass="5" contype="0"/>{link(0)}
        </body>
      </worldbody>
    </mujoco>"""


def test_dry_friction_has_no_impulse():
    e, slower = 0.5, 2.0 / MASS
    sim = saltus.Simulation(BALLS, contact=saltus.Hard(restitution=e))
    sim.qpos[:] = HEIGHT
    down = math.sqrt(2.0 * HEIGHT / (G - slower))
    up = e * (G - slower) * down / (G + slower)
    sim.run(down + up, sample=down + up)
    assert_allclose(sim.qpos, e * e * HEIGHT * (G - slower) / (G + slower), rtol=1e-12)
    assert_allclose(sim.qvel, 0.0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("links, loss, armature", [(2, 2.0, 0.01), (3, 2.0, 0.0), (3, 0.5, 0.01)])
def test_a_leg_with_dry_joints_gains_no_energy_when_it_lands(links, loss, armature):
    sim = saltus.Simulation(leg(links, loss, armature), contact="hard")
    sim.qvel[:] = 0.3 * np.cos(np.arange(sim.model.nv))
    energy = sim.run(1.2, sample=0.005).energy.sum(1)
    assert np.diff(energy).max() < 1e-6 * energy[0]


@pytest.mark.slow
def test_a_billiard_counts_the_digits_of_pi():
    for n, digits in enumerate((3, 31, 314, 3141, 31415)):
        sim = saltus.Simulation(row_of_balls((1.0, 100.0**n)), contact=saltus.Hard(restitution=1.0))
        sim.qpos[:], sim.qvel[1] = (0.05, 0.1), -1.0
        before = sim.energy().sum()
        events = sim.run(2.0, sample=2.0).events
        assert (events["kind"] == "impact").all() and len(events) == digits
        assert_allclose(sim.energy().sum(), before, rtol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [saltus.Simulation, lambda model, **law: saltus.Batch(model, 1, **law)])
def test_impacts_in_a_row_that_are_cut_off_are_warned_of(kind):
    """Masses and restitutions with which the balls chatter without end; the mean of reflections ends by itself."""
    pairs = {("wall", "0"): 0.51, ("0", "1"): 0.6, ("1", "2"): 0.85, ("2", "3"): 0.8}
    law = saltus.Hard(pairs=pairs, treatment="sequential")
    moving = kind(row_of_balls((1690.6, 1, 118.3, 15560.2)), integrator="dopri5", contact=law)
    moving.qvel = np.broadcast_to((0.17, -10.59, -0.08, -0.35), moving.qvel.shape)
    with pytest.warns(saltus.SaltusWarning, match="limit on impacts in a row"):
        moving.step(1)


def test_accumulation_points_are_logged_in_order_of_time():
    """The earliest that has been reached, of any item, the first one among them; by definition."""
    rng = np.random.default_rng(0)
    m = SimpleNamespace(nslot=3, nlimit=2)
    for _ in range(60):
        times = rng.choice([0.0, 0.2, 0.4, 0.7, 1.0, 1.3], 7)
        reached = np.where((times > 0.0) & (times <= 1.0), times, np.inf)
        wanted = int(reached.argmin()) if np.isfinite(reached).any() else -1
        d = SimpleNamespace(impact_limit=np.transpose([times, 0.0 * times]))
        assert plain(impact.next_limit)(m, d, 1.0) == wanted
