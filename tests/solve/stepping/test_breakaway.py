"""Static friction above that of sliding in time steps. Reference: closed forms (`helpers.stiction_scenes`).

The method is of order one: with steps of 1 ms, times are exact to a few of these, velocities to their accelerations.
"""

import math

import numpy as np
import pytest
from helpers.stiction_scenes import BELT, BLOCK, KINETIC, MASS, G, belt, cycle, slope

import saltus

H = 0.001


def stepped(**scene):
    return saltus.Simulation(belt(h=H, **scene), "moreau_jean", contact="hard")


def test_a_block_on_a_belt_sticks_and_slips_in_the_cycle_of_the_closed_form():
    speed, k = 0.1, 50.0
    form = cycle(speed, k)
    sim = stepped(speed=speed, k=k)
    sim.qvel[0] = speed
    run = sim.run(form.first + 2.5 * form.slipping + 2.0 * form.sticking, sample=H)
    slip = np.abs(run.qvel[:, 0] - speed) > 1e-6
    changes = run.time[1:][slip[1:] != slip[:-1]]
    wanted = form.first + np.array([0.0, form.slipping, form.slipping + form.sticking])
    wanted = np.concatenate([wanted, wanted[1:] + form.slipping + form.sticking])
    np.testing.assert_allclose(changes[changes > 0.5 * form.first], wanted, atol=5 * H)
    assert run.qpos[:, 0].max() == pytest.approx(form.middle + form.swing, abs=2 * H * speed)


def test_a_block_that_slides_up_a_slope_stops_and_stays():
    tangent = 0.5  # between both coefficients
    sim = stepped(gravity=slope(-tangent))
    sim.qvel[0] = speed = 1.0
    a = G * (tangent + KINETIC) / math.sqrt(1.0 + tangent**2)
    sim.run(1.0)
    there = sim.qpos[0]
    sim.run(30.0)
    assert there == pytest.approx(speed**2 / (2.0 * a), abs=speed * H)
    np.testing.assert_allclose([sim.qpos[0], *sim.qvel], [there, 0.0, 0.0, 0.0], atol=1e-10)


@pytest.mark.parametrize("dimension", [3, 4, 6])
@pytest.mark.parametrize(("tangent", "held"), [(0.79, True), (0.81, False)])
def test_a_block_at_rest_is_held_up_to_the_static_coefficient_and_accelerates_by_the_kinetic(tangent, held, dimension):
    sim = stepped(gravity=slope(tangent), shape=f'size=".1 .1 .05" condim="{dimension}"')
    sim.run(0.5)
    a = 0.0 if held else G * (tangent - KINETIC) / math.sqrt(1.0 + tangent**2)
    assert sim.qvel[0] == pytest.approx(a * 0.5, abs=2 * G * H)


PAIR = """<contact><pair name="p" geom1="belt" geom2="block" condim="3" friction="{} {} 0 0 0"/></contact><custom>
<tuple name="contact_static_friction"><element objtype="pair" objname="p" prm="0.8"/></tuple></custom>"""


@pytest.mark.parametrize("ahead", [0.3, 0.6])
@pytest.mark.parametrize(("tangent", "held"), [(0.79, True), (0.81, False)])
@pytest.mark.parametrize("along", [0, 1])
def test_static_friction_of_a_pair_is_that_of_all_directions_whatever_its_sliding_friction(along, tangent, held, ahead):
    """The first tangent of a horizontal contact is y, the second -x: MuJoCo's frame of a contact."""
    kinetic, down = (ahead, 0.9 - ahead)[1 - along], slope(tangent)
    text = BELT.format(speed=0.0, k=0.0, mass=MASS, more="", h=H, shape=BLOCK)
    text = text.replace("</worldbody>", "</worldbody>" + PAIR.format(ahead, 0.9 - ahead))
    gravity = (down[0], 0.0, down[2]) if along == 0 else (0.0, down[0], down[2])
    sim = saltus.Simulation(saltus.load(text).changed({"opt.gravity": gravity}), "moreau_jean", contact="hard")
    sim.run(0.5)
    a = 0.0 if held else G * (tangent - kinetic) / math.sqrt(1.0 + tangent**2)
    assert sim.qvel[along] == pytest.approx(a * 0.5, abs=2 * G * H)


@pytest.mark.parametrize("integrator", ["moreau_jean", "dopri5"])
@pytest.mark.parametrize("speed", [0.5, 0.7, 1.0])
def test_a_free_box_on_four_corners_stops_and_stays(speed, integrator):
    """Its friction is shared in many ways, of which the first rough one would let it go."""
    tangent, weight = 0.576, 8.5
    text = f"""<mujoco><option timestep="0.002" gravity="{-tangent * weight} 0 {-weight}"/>
      <default><geom condim="3" friction="0.4 0 0"/></default><worldbody><geom type="plane" size="9 9 .1"/>
      <body pos="0 0 .1"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="1"/></body></worldbody>
      </mujoco>"""
    sim = saltus.Simulation(saltus.static_friction(text, "box", 0.7), integrator, contact="hard")
    sim.qvel[0] = speed
    sim.run(0.3)
    there = sim.qpos[0]
    assert there == pytest.approx(speed**2 / (2.0 * weight * (tangent + 0.4)), abs=0.002 * speed)
    sim.run(0.5)
    np.testing.assert_allclose([sim.qpos[0], *sim.qvel], [there, *np.zeros(6)], atol=1e-9)
