"""Samples of the campaigns of `helpers.campaign`: random scenes, piles and mechanisms under located hard contact.

Judged by what holds without knowing the motion: MuJoCo's distances, sides of obstacles, energy that never grows. All
worlds have the same features, and so share their compiled kernels. Beside them, what campaigns have found.
"""

import math

import mujoco
import numpy as np
import pytest
from helpers import campaign, campaign_worlds

import saltus
from saltus.integrate.adaptive.memory import REJECTED, TAKEN

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "seeds"),
    [
        ("scenes", (12, 52, 118, 158, 0, 2, 4, 6)),
        ("piles", (44, 143, 48, 38, 8, 25, 41)),
        ("mechanisms", (144, 222, 175, 3)),
    ],
)
@pytest.mark.filterwarnings("ignore::saltus.SaltusWarning")
def test_random_worlds(name, seeds):
    """The seeds named first have failed: missed contacts, trembling normals, time steps too long for fast bodies.

    Of the mechanisms, two whose positions were corrected at the cost of nothing, and a planar loop that sank.
    """
    make, _ = campaign.CAMPAIGNS[name]
    failed = {seed: campaign.attempt(make(seed), "dopri5", math.inf).failures for seed in seeds}
    assert not {seed: what for seed, what in failed.items() if what}


def touching(fixed: str, body: str, quat: np.ndarray, reach: float, assets: str = "") -> np.ndarray:
    """The direction of the impulse on a body that is lowered from `reach` (m) until it almost touches, and falls."""
    sim = saltus.Simulation(
        campaign_worlds.world(f"{fixed}<body><freejoint/>{body}</body>", assets), "dopri5", contact=saltus.Hard()
    )
    m, z, ends = sim.model.mujoco, reach, np.zeros(6)
    d, (one, other) = mujoco.MjData(m), campaign.pairs(m)[0]
    for _ in range(100):  # MuJoCo's distances, exact to 1e-6
        d.qpos[1:] = 0.02, 0.0, z, *quat
        mujoco.mj_kinematics(m, d)
        z -= 0.5 * mujoco.mj_geomDistance(m, d, one, other, 1.0, ends)
    sim.qpos[1:] = 0.02, 0.0, z, *quat
    sim.qvel[3] = -1.0
    recording = sim.run(1e-4, sample=1e-4)
    assert "impact" in recording.events["kind"]
    change = sim.qvel[1:4] - [0.0, 0.0, -1.0]  # without friction; weight acts along z alone
    return change / np.linalg.norm(change)


@pytest.mark.parametrize("angle", [0.3, 0.9])
def test_normals_of_cylinders_are_known_to_rounding(angle):
    """A rim on a face: along its normal. Side on side, crossing below the centre: across both axes. To rounding."""
    body = '<geom type="cylinder" size=".05 .07" mass="1"/>'
    box = '<geom type="box" size="1 1 .1" pos="0 0 -.1"/>'
    quat = np.array([math.cos(angle / 2), math.sin(angle / 2), 0.0, 0.0])
    assert np.abs(touching(box, body, quat, 0.2)[:2]).max() < 1e-10
    lying = '<geom type="cylinder" size=".1 1" euler="0 1.5707963267948966 0" pos="0 0 -.1"/>'
    turn = np.array([math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0])  # its axis along -y
    spin = np.array([math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2)])
    quat = np.zeros(4)
    mujoco.mju_mulQuat(quat, spin, turn)
    assert np.abs(touching(lying, body, quat, 0.2)[:2]).max() < 1e-10


def test_energy_in_samples_does_not_rise_over_dense_events():
    """Boxes that bounce while time is stepped: samples inside a step with impacts see them in its middle."""
    _, recording = campaign.simulated(campaign.pile(124), "dopri5")
    assert (recording.events["kind"] == "dense").any()
    assert campaign.gain(recording) < 1e-4  # from the corrections of positions, g h² each


PLATEAU = '<hfield name="f" nrow="2" ncol="5" size="1 1 .5 .2" elevation="0 .5 1 1 1 0 .5 1 1 1"/>'


@pytest.mark.parametrize(("shape", "tilt"), [("cylinder", -0.4), ("cylinder", -1.2), ("box", -0.4)])
def test_a_point_that_leaves_a_plateau_is_not_taken_for_another_above_it(shape, tilt):
    """A tilted body slides over the edge of a plateau at 0.5 m/s, its upper end still above it: nothing pulls it down.

    Gravity and frictionless plastic contact: energy never grows, up to g h² for steps of time over dense events. The
    lower end drops onto a slope of 1/2, at less than 0.5 m/s across it, and is not stopped: at most a fifth is lost.
    """
    size = ".05 .05 .1" if shape == "box" else ".03 .1"
    body = f"""<body><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
      <geom name="b" type="{shape}" size="{size}" euler="0 {tilt} 0" mass="1"/></body>"""
    xml = campaign_worlds.world(f'<geom type="hfield" hfield="f"/>{body}', PLATEAU)
    sim = saltus.Simulation(xml, "dopri5", contact=saltus.Hard())
    across = 0.05 if shape == "box" else 0.03
    height = 0.5 + across * abs(math.sin(tilt)) + 0.1 * math.cos(tilt)
    sim.qpos[1:], sim.qvel[1] = (0.06, height), -0.5
    recording = sim.run(0.3, sample=0.005)
    energy = recording.energy.sum(axis=1)
    assert campaign.gain(recording) < campaign.STEPPED
    assert energy.min() > energy[0] - 0.2 * recording.energy[:, 1].max()


def test_a_loop_with_redundant_rows_falls_freely_to_its_first_impact():
    """A planar leg whose toe is welded to its first link: z₀ + v t - g t²/2, which dopri5 integrates exactly."""
    made = campaign.mechanism(6)
    sim = saltus.Simulation(made.xml, "dopri5", contact=saltus.Hard(restitution=made.restitution))
    made.start(sim)
    height, speed = sim.qpos[1], sim.qvel[1]
    recording = sim.run(0.28, sample=0.007)
    t = recording.time
    assert not len(recording.events)
    np.testing.assert_allclose(recording.qpos[:, 1], height + speed * t - 0.5 * campaign.G * t**2, atol=1e-9)


@pytest.mark.parametrize("tilt", [0.02, 0.06])
def test_a_tilted_mesh_stands_on_a_corner_along_the_normal_of_the_floor(tilt):
    """Its face is nearly parallel to the floor's, but what lies on it is a corner: the impulse is vertical."""
    corners = " ".join(f"{x} {y} {z}" for x in (-0.05, 0.05) for y in (-0.04, 0.04) for z in (-0.06, 0.06))
    asset = f'<mesh name="block" vertex="{corners}"/>'
    box, body = '<geom type="box" size="1 1 .1" pos="0 0 -.1"/>', '<geom type="mesh" mesh="block" mass="1"/>'
    quat = np.array([math.cos(tilt / 2), 0.6 * math.sin(tilt / 2), 0.8 * math.sin(tilt / 2), 0.0])
    assert np.abs(touching(box, body, quat, 0.2, asset)[:2]).max() < 1e-10


@pytest.mark.parametrize("spin", [0.0, 0.3])
def test_a_cylinder_slides_on_its_end_in_the_longest_steps(spin):
    """Uniform motion without friction: in steps of the largest size, 0.05 s, none rejected, if nothing trembles.

    Of sixteen points of its rim four are contacts, and many fours span the same area: rounding must not choose.
    """
    world = campaign_worlds.world(
        '<geom type="box" size="3 3 .1" pos="0 0 -.1"/>'
        '<body><freejoint/><geom type="cylinder" size=".035 .05" mass="1"/></body>'
    )
    sim = saltus.Simulation(world, "dopri5", contact=saltus.Hard())
    sim.qpos[1:] = 0.1, 0.2, 0.05, 1, 0, 0, 0
    sim.qvel[1:] = 0.5, -0.9, 0, 0, 0, spin
    sim.run(1.0, sample=1.0)
    np.testing.assert_allclose(sim.qpos[1:4], [0.6, -0.7, 0.05], rtol=0, atol=1e-12)
    np.testing.assert_allclose(sim.qvel[1:], [0.5, -0.9, 0, 0, 0, spin], rtol=0, atol=1e-12)
    memory = sim.engine.d.views["memory"]
    assert memory[TAKEN] <= 1.0 / 0.05 + 5
    assert memory[REJECTED] == 0


@pytest.mark.filterwarnings("ignore::saltus.SaltusWarning")
def test_a_capsule_does_not_pass_into_a_mesh_beyond_an_edge():
    """Its axis is parallel to a face about the nearest corner that does not face it: no contact is along its normal."""
    made = campaign.pile(36)
    sim, recording = campaign.simulated(made, "dopri5")
    assert not campaign.overlaps(made, sim, recording)


def test_bodies_come_no_deeper_into_each_other_than_a_step_of_time_allows():
    """A pile that bounces while time is stepped over it: MuJoCo's distances stay above 1e-4 m, twice."""
    made = campaign.pile(25)
    sim = saltus.Simulation(made.xml, "dopri5", contact=saltus.Hard(restitution=made.restitution))
    made.start(sim)
    recording = sim.run(made.duration, sample=0.002)
    assert (recording.events["kind"] == "dense").any()
    m = sim.model.mujoco
    d, least = mujoco.MjData(m), []
    for qpos in recording.qpos:
        d.qpos[:] = qpos
        mujoco.mj_kinematics(m, d)
        least.append(campaign.least_distance(m, d, 0.0))
    assert min(least) > -2e-4


@pytest.mark.parametrize("slab", ["box", "mesh"])
def test_the_rim_of_a_cylinder_is_round(slab):
    """A cylinder tilted by 0.04 rad to a side between the corners of a polygon of 16 falls until its rim touches.

    Closed form: the lowest point is R sin + H cos of the tilt below the centre, and 0.05 m are fallen through in
    √(2 0.05 m/g). A polygon would be late by R (1 - cos(π/16)) 0.04 / v, 4e-5 s. MuJoCo
    keeps vertices of meshes in single precision: 0.1 m to 4e-9 m, at 1 m/s.
    """
    tilt, side, radius, half = 0.04, math.pi / 16, 0.05, 0.07
    fixed, assets, _ = campaign_worlds.obstacle(np.random.default_rng(2), slab, 0.2)
    fixed = fixed[: fixed.index("pos=")] + 'pos="0 0 -.1"/>'
    body = f'<body name="b"><freejoint/><geom type="cylinder" size="{radius} {half}" mass="1"/></body>'
    sim = saltus.Simulation(campaign_worlds.world(fixed + body, assets), "dopri5", contact=saltus.Hard())
    turn = np.array([math.cos(tilt / 2), -math.sin(side) * math.sin(tilt / 2), math.cos(side) * math.sin(tilt / 2), 0])
    sim.qpos[1:] = [0, 0, radius * math.sin(tilt) + half * math.cos(tilt) + 0.05, *turn]
    events = sim.run(0.11, sample=0.11).events
    first = events["time"][events["kind"] == "impact"][0]
    assert abs(first - math.sqrt(2 * 0.05 / campaign.G)) < (1e-9 if slab == "box" else 5e-9)


@pytest.mark.parametrize("shape", ["box", "mesh"])
def test_a_corner_that_slides_on_a_face_is_pushed_along_the_normal_of_that_face(shape):
    """A body tilted by 0.05 rad, which does not turn, slides on its lower edge without friction at 1 m/s: x = v t.

    Under the normal of the body's own face it would gain g tan(0.05) t.
    """
    tilt, half = 0.05, np.array([0.1, 0.08, 0.06])
    fixed, assets, _ = campaign_worlds.obstacle(np.random.default_rng(2), "box", 0.2)
    fixed = fixed[: fixed.index("pos=")] + 'pos="0 0 -.1"/>'
    assets += f'<mesh name="b" vertex="{campaign_worlds.box_vertices(half)}"/>'
    what = 'type="mesh" mesh="b"' if shape == "mesh" else f'type="box" size="{campaign_worlds.text(half)}"'
    body = f"""<body><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
      <geom {what} euler="0 {tilt} 0" mass="1"/></body>"""
    sim = saltus.Simulation(campaign_worlds.world(fixed + body, assets), "dopri5", contact=saltus.Hard())
    height = 0.1 * math.sin(tilt) + 0.06 * math.cos(tilt)
    sim.qpos[2], sim.qvel[1] = height, 1.0
    sim.run(0.5)
    np.testing.assert_allclose(sim.qpos[1:], [0.5, height], atol=1e-8)  # vertices of meshes in single precision
    np.testing.assert_allclose(sim.qvel[1:], [1.0, 0.0], atol=1e-8)
