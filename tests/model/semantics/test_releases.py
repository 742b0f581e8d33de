"""Names of MuJoCo's releases, and what older ones meant.

References: numbers of MuJoCo 3.17.0 (3.8.0 gives the same), and the order 2 that its changelog states for orientations.
"""

from importlib import resources

import mujoco
import numpy as np
import pytest
from helpers.plain_python import plain_python
from numpy.testing import assert_allclose

import saltus
from saltus.errors import ModelError
from saltus.model.semantics.releases import declared, expected, name_of, older_features, release_of

SPIN = """<mujoco><option integrator="RK4" timestep="0.02" gravity="0 0 0"/><worldbody>
  <body><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="0.01 0.02 0.025"/></body></worldbody></mujoco>"""
AFTER_A_SECOND = (-0.3155186710907918, -0.7722245679926588, 0.5314839354639688, -0.1471122398897705)
ANT = (-0.22593676231643703, 0.06924458381038472, 0.653916671553093)  # m, with controls of `default_rng(0)`
ANT += (0.9970823081894965, -0.05482164287767036, -0.04684777197298436, 0.025034864266971588)
SIDES = """<mujoco><worldbody>
  <body name="p" mocap="true"><site name="p"/></body><body name="q" mocap="true"><site name="q"/></body>
  <body name="side" mocap="true"><site name="side"/></body>
  <body><joint type="slide"/><geom name="ball" size=".3"/><geom name="rod" type="cylinder" size=".3 1"/></body>
</worldbody><tendon>
  <spatial><site site="p"/><geom geom="ball" sidesite="side"/><site site="q"/></spatial>
  <spatial><site site="p"/><geom geom="rod" sidesite="side"/><site site="q"/></spatial>
</tendon></mujoco>"""
# positions of the ends and the side site, lengths around the ball and the rod
LENGTHS = [
    (((-0.8, -1.0, -0.4), (0.5, -0.0, 0.7), (-0.6, -0.4, -0.5)), (2.5706397011071767, 2.4398336048655196)),
    (((-0.8, 0.2, -0.5), (-0.9, -0.8, 0.1), (0.3, -0.4, 0.3)), (2.8642998958931774, 2.83671701246057)),
    (((0.8, 0.4, -0.9), (0.6, 0.4, -0.7), (-0.1, -0.9, 0.6)), (3.2700085755524535, 2.6424428917256084)),
    (((0.4, 0.6, 0.5), (-0.5, 0.6, -0.5), (-0.7, -0.2, -0.0)), (2.3436118470836216, 2.399783176937283)),
    (((-0.4, 0.2, 0.2), (-0.5, 0.2, -0.3), (0.5, -0.4, 0.6)), (1.9388192068016705, 2.153127269769421)),
    (((-0.3, 0.5, -0.2), (-0.7, 0.8, 0.4), (0.5, 0.1, 0.6)), (2.5954803756774365, 2.8281405539826636)),
    (((-0.9, -0.2, 0.2), (0.0, 0.8, 0.8), (0.9, 0.6, -0.0)), (2.634135396677459, 2.312963377949836)),
    (((0.1, 0.8, -0.3), (-0.6, 0.2, -1.0), (-0.2, -0.4, -0.2)), (2.7269530809033258, 2.211898937413314)),
]


def compiled(data):
    return mujoco.MjSpec.from_string(
        f'<mujoco><custom><text name="semantics" data="{data}"/></custom></mujoco>'
    ).compile()


def test_names_of_releases():
    assert release_of("mujoco-3.17") == (3, 17) and release_of("mujoco-4.0") == (4, 0)
    for name in ("mujoco-3.7", "mujoco-3.18", "mujoco-4.1", "mujoco-3", "3.17", "MuJoCo-3.17", "mujoco-3.17.0"):
        assert release_of(name) is None
        assert name in expected(name)
    assert name_of((3, 9)) == "mujoco-3.9"


def test_a_file_declares_its_release():
    assert declared(compiled("mujoco-3.9")) == (3, 9)
    assert declared(mujoco.MjSpec.from_string("<mujoco/>").compile()) == (4, 0)
    with pytest.raises(ModelError, match=r"text 'semantics': no semantics 'mujoco-2.3'; expected a release from muj"):
        saltus.load('<mujoco><custom><text name="semantics" data="mujoco-2.3"/></custom></mujoco>')


def test_what_has_no_older_meaning_needs_no_other_code():
    assert older_features(compiled("mujoco-3.9")) == set()
    model = saltus.load(SPIN, semantics="mujoco-3.17")
    assert older_features(model.mujoco) == {"uncorrected_rotations"} and model.semantics == "mujoco-3.17"
    assert older_features(saltus.load(model, semantics="mujoco-4.0").mujoco) == set()


@plain_python()
def test_rk4_turns_bodies_as_before():
    """Rounding in 50 steps of 100 operations each; 4.0 is 7e-4 away."""
    sim = saltus.Simulation(saltus.load(SPIN, semantics="mujoco-3.17"))
    sim.qvel = 0, 0, 0, 7, 0.1, 3
    for _ in range(50):
        sim.step()
    assert_allclose(sim.qpos[3:], AFTER_A_SECOND, rtol=0, atol=1e-13)


@plain_python()
@pytest.mark.parametrize(("release", "order"), [("mujoco-3.17", 2), ("mujoco-4.0", 4)])
def test_order_of_rk4_on_orientations(release, order):
    def turned(steps):
        sim = saltus.Simulation(saltus.load(SPIN, semantics=release), timestep=0.4 / steps)
        sim.qvel = 0, 0, 0, 7, 0.1, 3
        for _ in range(steps):
            sim.step()
        return np.array(sim.qpos[3:])

    exact = turned(400) if order == 4 else (4 * turned(256) - turned(128)) / 3
    coarse, fine = (np.abs(turned(n) - exact).max() for n in (16, 32))
    assert abs(np.log2(coarse / fine) - order) < 0.2


@plain_python()
def test_sides_of_tendons_are_as_before():
    """Shortest paths in closed form: rounding of some 30 operations."""
    sim = saltus.Simulation(saltus.load(SIDES, semantics="mujoco-3.17"))
    for places, lengths in LENGTHS:
        sim.data.mocap_pos[:] = places
        sim.forward()
        assert_allclose(sim.data.ten_length, lengths, rtol=1e-13)


@pytest.mark.slow
def test_gymnasiums_ant_walks_as_before():
    """A tenth of MuJoCo's own tolerance of non-chaotic runs; 4.0 is 2e-3 away after these 100 steps with contacts."""
    path = resources.files("gymnasium") / "envs/mujoco/assets/ant.xml"
    sim = saltus.Simulation(saltus.load(str(path), semantics="mujoco-3.17"))
    for controls in np.random.default_rng(0).uniform(-1, 1, (100, 8)):
        sim.ctrl = controls
        sim.step()
    assert_allclose(sim.qpos[:7], ANT, rtol=0, atol=1e-7)
