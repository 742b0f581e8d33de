"""Geoms that pass each other within one step: the warning that names them, under every kind of fixed steps.

Law: in free flight a body's centre crosses the middle of a thin obstacle or it does not, which the final position says
by itself. From a distance, a body of half thickness a passes one of half thickness b unseen or too late at speeds above
(a + b) / h.
"""

import warnings

import numpy as np
import pytest

import saltus
from saltus.errors import SaltusWarning

H, RADIUS, HALF = 0.002, 0.05, 0.001
XML = f"""<mujoco model="thin"><option timestep="{H}" gravity="0 0 0"/><worldbody>
<geom name="floor" type="plane" size="5 5 1" pos="0 0 -3"/>
<geom name="wall" type="box" size="{HALF} 1 1"/>
<body name="ball" pos="-.5 0 0"><freejoint/><geom name="ball" size="{RADIUS}" mass="1"/></body>
<body name="cube" pos="-.5 .5 0"><freejoint/><geom name="cube" type="box" size=".05 .05 .05" mass="1"/></body>
<body name="rod" pos="-.5 -.5 0"><freejoint/><geom name="rod" type="capsule" size=".02 .2" mass="1"/></body>
</worldbody></mujoco>"""
BODIES = ("ball", "cube", "rod")


def push(m, d, gap, velocity):
    """A stiff spring along the normal."""
    return (-1e5 * gap, 0.0 * gap, 0.0 * gap)


LAWS = {
    "euler": ("euler", "soft"),
    "rk4": ("rk4", "soft"),
    "compliant": ("rk4", saltus.Compliant(push)),
    "moreau_jean": ("moreau_jean", "hard"),
}


def fly(sim, body, speed, distance, spin=0.0):
    """Throw a body at the wall; returns where its centre ends (m), and the warnings."""
    sim.reset()
    i = BODIES.index(body)
    sim.qpos[7 * i], sim.qvel[6 * i], sim.qvel[6 * i + 5] = -distance, speed, spin
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", SaltusWarning)
        sim.step(int(2.0 * distance / speed / H) + 3)
    return float(sim.qpos[7 * i]), [str(w.message) for w in said]


@pytest.mark.parametrize(
    "law", ["euler", *(pytest.param(x, marks=pytest.mark.slow) for x in ("rk4", "compliant", "moreau_jean"))]
)
def test_what_passes_is_named_and_nothing_else(law):
    sim = saltus.Simulation(XML, *LAWS[law])
    for body in BODIES:
        for speed in (1.0, 3.0, 30.0, 60.0, 200.0):
            for distance in np.linspace(0.45, 0.45 + speed * H, 4):
                place, said = fly(sim, body, speed, distance)
                assert bool(said) == (place > 0.0), (body, speed, distance, place, said)
                assert all(body in text and "'wall'" in text for text in said)


def test_the_warning_has_the_time_of_the_step():
    """From 0.5 m at 60 m/s the centre reaches the wall after 0.5 / 60 s, in the step that begins at 4 h."""
    sim = saltus.Simulation(XML, "euler")
    _, said = fly(sim, "ball", 60.0, 0.5)
    assert len(said) == 1 and f"in the step at t = {4 * H:g} s" in said[0] and "dopri5" in said[0]
    assert sim.engine.passed == said


def test_two_bodies_that_fly_through_each_other():
    sim = saltus.Simulation(XML, "euler")
    sim.qpos[[0, 7]] = 1.0, 2.0
    sim.qpos[8] = 0.0
    sim.qvel[[0, 6]] = 60.0, -60.0
    with pytest.warns(SaltusWarning, match=r"geoms 'ball' and 'cube' passed through each other"):
        sim.step(20)


def test_a_run_and_its_certificate_say_it():
    sim = saltus.Simulation(XML, "euler")
    sim.qvel[0] = 60.0
    with pytest.warns(SaltusWarning, match="'ball' and 'wall'"):
        run = sim.run(0.02, certify=True)
    assert "'ball' and 'wall'" in run.attrs["passed"]
    assert not run.certificate.ok and any("passed through each other" in text for text in run.certificate.warnings)


def test_what_is_missed_by_a_hair_is_not_told():
    """The ball flies past the wall's edge, 1 mm beside it; the rod spins fast far from everything."""
    sim = saltus.Simulation(XML, "euler")
    sim.qpos[1] = 1.0 + RADIUS + 0.001
    sim.qvel[0], sim.qvel[17] = 60.0, 200.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.step(20)


@pytest.mark.slow
def test_simulations_of_a_batch_by_themselves_are_watched():
    """The second of two is fast; the first, which shares its memory, hides nothing."""
    batch = saltus.Batch(XML, 2, threads=1, integrator="moreau_jean", contact="hard")
    qvel = np.zeros((2, 18))
    qvel[1, 0] = 60.0
    batch.qvel = qvel
    with pytest.warns(SaltusWarning, match="'ball' and 'wall' passed through each other"):
        batch.step(20)
