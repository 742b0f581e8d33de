"""Contact laws beyond MuJoCo's usual one in plain Python: adhesion, users' laws, seams, fields, moved geoms.

Law: MuJoCo 4.0's adhesion; forces of springs, dry friction, energy, statics and uniform motion in closed form.
Tolerances: rows 1e-10 and forces 1e-8 of the largest; located contact is exact but for gaps of 1e-10 m; users' laws
follow the integrator's error.
"""

import math

import mujoco
import numpy as np
import pytest
from helpers import hard_models, height_fields
from helpers.adhesive import SENSORS, sticky
from helpers.constraints import assert_same_rows, complete, matched, near, put
from helpers.plain_python import plain_python
from helpers.seams import ROW, TWO, World, box, crossing, lattice

import saltus
from saltus.model.compile.constraints import broad
from saltus.model.event_enums import SLIP, STICK
from saltus.number.functions import sqrt, where
from saltus.simulate.analysis.current_contacts import touching

G = hard_models.G


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


# ---------------------------------------------------------------- adhesion


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("dim", [1, 3, 6])
def test_rows_of_geoms_that_stick(dim, cone):
    _, contacts, m = assert_same_rows(sticky(dim, cone), 2, spread=0.03)
    assert contacts >= 6 and m.flg_adhesion


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_forces_of_geoms_that_stick(cone):
    """Sensors, the table of contacts, passive forces, and some steps."""
    site = '<body pos=".3 0 0"><site name="here" size=".3"/>'
    m = complete(sticky(4, cone, rest=SENSORS).replace('<body pos=".3 0 0">', site))
    d, sim, rng, pulls = mujoco.MjData(m), saltus.Simulation(saltus.load(m)), np.random.default_rng(5), False
    for _ in range(3):
        state = near(m, rng, 0.03)
        d.qpos[:], d.qvel[:] = state["qpos"], state["qvel"]
        mujoco.mj_forward(m, d)
        put(sim, d)
        scale = 1e-8 * max(1.0, abs(d.sensordata).max(), abs(d.efc_force).max())
        np.testing.assert_allclose(sim.sensordata, d.sensordata, rtol=0, atol=scale)
        np.testing.assert_allclose(sim.data.qfrc_adhesion, d.qfrc_adhesion, rtol=0, atol=1e-11)
        table, wanted = touching(sim.engine), np.zeros(6)
        for k, c in zip(matched(sim.data.contact, d.contact), range(d.ncon), strict=True):
            mujoco.mj_contactForce(m, d, c, wanted)
            force = wanted[:3] @ d.contact[c].frame.reshape(3, 3)
            np.testing.assert_allclose(table[k, 3:6], force, rtol=0, atol=scale)
            pulls |= wanted[0] < 0.0
        mujoco.mj_step(m, d, 2)
        sim.step(2)
        np.testing.assert_allclose(sim.qvel, d.qvel, rtol=0, atol=1e-8)
    assert pulls


def test_geoms_that_stick_and_are_found(monkeypatch):
    """Pairs that are found at run time have MuJoCo's attraction, too, of bodies in trees and of the world."""
    monkeypatch.setattr(broad, "MOST_LISTED", 0)
    m = complete(sticky(3, "elliptic"))
    d, sim, rng, pulled = mujoco.MjData(m), saltus.Simulation(saltus.load(m)), np.random.default_rng(6), 0.0
    assert "broad" in sim.engine.m.layout.features
    for _ in range(4):
        state = near(m, rng, 0.03)
        d.qpos[:], d.qvel[:] = state["qpos"], state["qvel"]
        mujoco.mj_forward(m, d)
        put(sim, d)
        np.testing.assert_allclose(sim.data.qfrc_adhesion, d.qfrc_adhesion, rtol=0, atol=1e-11)
        np.testing.assert_allclose(sim.data.qacc, d.qacc, rtol=0, atol=1e-8 * abs(d.qacc).max())
        pulled = max(pulled, abs(d.qfrc_adhesion).max())
    assert pulled > 0.1


# ---------------------------------------------------------------- users' laws

K, C, MU, SLOW = 1e4, 20.0, 0.3, 1e-3
BALL = '<body pos="0 0 .1"><freejoint/><geom name="ball" size=".1" mass="2"/></body>'


def spring(m, d, gap, velocity):
    return -K * gap - C * velocity[0], 0.0, 0.0


def rubbing(m, d, gap, velocity):
    normal = where(gap < 0.0, -K * gap - 200.0 * velocity[0], 0.0 * gap)
    share = -MU * normal / sqrt(velocity[1] * velocity[1] + velocity[2] * velocity[2] + SLOW * SLOW)
    return normal, share * velocity[1], share * velocity[2]


def test_a_spring_and_a_dashpot():
    """A ball without weight in the ground: a damped oscillation from a depth of 5 mm at 1 m/s."""
    xml = hard_models.floor(BALL, gravity=(0, 0, 0))
    sim = saltus.Simulation(xml, "rk4", contact=saltus.Compliant(spring), timestep=5e-4)
    start, t = 0.005, 30 * 5e-4
    sim.qpos[2], sim.qvel[2] = 0.1 - start, -1.0
    omega, decay = math.sqrt(K / 2), C / (2 * 2)
    damped = math.sqrt(omega**2 - decay**2)
    sim.step(30)
    wave = start * math.cos(damped * t) + (1.0 + decay * start) / damped * math.sin(damped * t)
    np.testing.assert_allclose(0.1 - sim.qpos[2], math.exp(-decay * t) * wave, rtol=1e-6)


def test_forces_of_users_laws():
    """A block that slides at 0.4 and 0.3 m/s: weight and friction μ m g, to ½ (s/v)², in tables, sensors and modes."""
    sensor = '<sensor><contact geom2="block" num="4" data="force"/></sensor></mujoco>'
    body = """<body name="b" pos="0 0 .1"><freejoint/><geom name="block" type="box" size=".2 .2 .1" mass="2"/></body>"""
    xml = hard_models.floor(body, friction=1.0).replace("</mujoco>", sensor)
    sim = saltus.Simulation(xml, "euler", contact=saltus.Compliant(rubbing))
    sim.qpos[2], sim.qvel[:2] = 0.1 - 2 * G / (4 * K), [0.4, 0.3]
    share = MU / math.sqrt(0.25 + SLOW**2)
    wanted = 2 * G * np.array([-0.4 * share, -0.3 * share, 1.0])
    np.testing.assert_allclose(sim.data.qfrc_constraint[:3], wanted, rtol=1e-9)
    np.testing.assert_allclose(touching(sim.engine)[:, 3:6], np.tile(wanted / 4, (4, 1)), rtol=1e-9)
    np.testing.assert_allclose(np.abs(sim.sensordata.reshape(4, 3)[:, 0]), G / 2, rtol=1e-9)
    recorded = sim.run(2 * sim.timestep)
    assert (recorded.contact_mode[0, :4] == SLIP).all()
    sim.qvel[:] = 0.0
    assert (sim.run(sim.timestep).contact_mode[0, :4] == STICK).all()
    corners = recorded.contact_pos[0, :4]
    np.testing.assert_allclose(np.sort(np.abs(corners[:, :2]), axis=None), 0.2, rtol=1e-9)


# ---------------------------------------------------------------- seams


@pytest.mark.parametrize("seed", range(3))
def test_contacts_with_flush_blocks_are_those_of_their_union(seed):
    """Distances of a small ball from the union of cubes."""
    cells, cases = lattice(seed, 120)
    world = World("".join(box(f"b{k}", c * 0.5, (c + 1) * 0.5) for k, c in enumerate(cells)))
    for k, point, normal, expected in cases:
        assert world.keeps(f"b{k}", point, normal) == expected, (cells[k], point, normal)


def test_other_shapes_cover_too():
    """A wedge whose slope begins at the edge of a box, a box sunk into a plane, a pillar on a box."""
    wedge = "0 -1 0  0 1 0  0 -1 -.2  0 1 -.2  1 -1 .5  1 1 .5  1 -1 -.2  1 1 -.2"
    asset = f'<asset><mesh name="w" vertex="{wedge}" inertia="shell"/></asset>'
    world = World(TWO[0] + '<geom name="W" type="mesh" mesh="w"/>', more=asset)
    assert world.keeps("A", (0, 0, 0), (0, 0, 1))
    assert not world.keeps("A", (0, 0, 0), (1, 0, 0))
    assert not world.keeps("A", (0, 0, 0), (1, 0, 3))
    world = World('<geom name="floor" type="plane" size="9 9 1"/>' + TWO[0])
    assert world.keeps("A", (0, 0, 0), (0, 0, 1))
    assert not world.keeps("A", (0, 0, 0), (1, 0, 1))
    world = World(TWO[0] + '<geom name="P" type="cylinder" size=".2 .5" pos="-.5 0 .5"/>')
    assert world.keeps("P", (-0.7, 0, 0), (-1, 0, 0))
    assert not world.keeps("P", (-0.7, 0, 0), (0, 0, -1))


@pytest.mark.parametrize(("integrator", "steps"), [(None, 20), ("moreau_jean", 60)])
def test_bodies_cross_seams(integrator, steps):
    """A cube and a ball without friction: x = x0 + v t over flush boxes."""
    sim = crossing("".join(TWO) if integrator is None else ROW, integrator)
    if integrator is None:
        sim.qpos[[0, 7]] = -0.11, -0.02
    sim.qvel[[0, 6]] = 2.0
    start = sim.qpos[[0, 7]].copy()
    sim.step(steps)
    one, other = start + 2.0 * steps * sim.timestep
    np.testing.assert_allclose(sim.qpos[[0, 1, 2, 7, 8, 9]], [one, 0, 0.1, other, 0.6, 0.1], atol=1e-9)
    np.testing.assert_allclose(sim.qvel, [2, 0, 0, 0, 0, 0] * 2, atol=1e-9)


# ---------------------------------------------------------------- height fields under located hard contact


@pytest.mark.parametrize("shape", height_fields.SHAPES)
def test_flat_fields(shape):
    """It slides over seams of cells without a trace; its weight is carried."""
    half = height_fields.half_height(shape)
    xml = height_fields.scene(height_fields.flat(6, 5), height_fields.SHAPES[shape], (-0.02, -0.03, half))
    sim = saltus.Simulation(xml, contact="hard", timestep=0.02)
    sim.qvel[:2] = 0.8, 0.37
    np.testing.assert_allclose(sim.data.qfrc_constraint[2], G, rtol=1e-8)
    sim.step(10)
    np.testing.assert_allclose(sim.qpos[:3], [0.14, 0.044, half], atol=1e-9)
    np.testing.assert_allclose(sim.qvel, [0.8, 0.37, 0, 0, 0, 0], atol=1e-9)


@pytest.mark.parametrize("shape", ["sphere", "cylinder", "mesh"])
def test_hills(shape):
    """Bounces with restitution 1 and without friction conserve the energy."""
    hills = height_fields.hills()
    xml = height_fields.scene(hills, height_fields.SHAPES[shape], (0.05, 0.1, 0.32), height=0.3)
    sim = saltus.Simulation(xml, contact=saltus.Hard(restitution=1.0), timestep=0.01)
    sim.qvel[:] = 0.3, 0.1, -1.0, 1.0, 0.5, 0.2
    energy = sim.energy().sum()
    sim.step(14)
    assert (sim.events["kind"] == "impact").sum() >= 1
    np.testing.assert_allclose(sim.energy().sum(), energy, rtol=1e-6)


def test_valleys():
    """A ball between two slopes rests on both, which carry m g / (2 cos θ) each."""
    heights = np.tile(np.abs(np.linspace(-1.0, 1.0, 9)), (9, 1))
    angle = math.atan(0.5)
    xml = height_fields.scene(heights, height_fields.SHAPES["sphere"], (0.0, 0.013, 0.1 / math.cos(angle)))
    sim = saltus.Simulation(xml, contact="hard", timestep=0.01)
    recorded = sim.run(0.03)
    np.testing.assert_allclose(sim.qpos[[0, 2]], [0.0, 0.1 / math.cos(angle)], atol=1e-8)
    force = np.linalg.norm(recorded.contact_force[-1], axis=1)
    np.testing.assert_allclose(np.sort(force)[-2:], G / (2 * math.cos(angle)), rtol=1e-7)


@pytest.mark.parametrize("shape", ["sphere", "box", "cylinder"])
@pytest.mark.parametrize("heights", ["peak", "ridge"])
def test_balance_on_edges_and_corners_of_fields(shape, heights):
    """Above a peak or a ridge a body without friction stays for a while, and the edge or corner carries its weight."""
    rise = np.zeros((7, 7))
    rise[3] = 1.0 if heights == "ridge" else np.arange(7) == 3
    half = height_fields.half_height(shape)
    speed = 0.5 if heights == "ridge" else 0.0
    xml = height_fields.scene(rise, height_fields.SHAPES[shape], (0.01 if speed else 0.0, 0.0, 0.5 + half))
    sim = saltus.Simulation(xml, contact="hard", timestep=0.02)
    sim.qvel[0] = speed
    sim.step(3)
    np.testing.assert_allclose(sim.qpos[:3], [(0.01 if speed else 0.0) + 0.06 * speed, 0, 0.5 + half], atol=1e-8)
    np.testing.assert_allclose(sim.data.qfrc_constraint[:3], [0, 0, G], atol=1e-7)


# ---------------------------------------------------------------- times of impacts

TURN = math.radians(35)
RIM = 0.1 * math.cos(TURN) + 0.15 * math.sin(TURN)  # m: half height of a cylinder with its axis TURN above the ground
LYING, TILTED = 'type="cylinder" size=".1 .15" euler="90 0 0"', 'type="cylinder" size=".1 .15" euler="0 55 0"'
BELOW = {
    "side": ('type="cylinder" size=".1 .5" euler="0 90 0" pos="0 0 -.1"', LYING, 0.1),
    "end": ('type="cylinder" size=".4 .1" pos="0 0 -.1"', TILTED, RIM),
    "rim on side": ('type="cylinder" size=".1 .5" euler="0 90 0" pos="0 0 -.1"', TILTED, RIM),
    "rim on box": ('type="box" size=".5 .5 .1" pos="0 0 -.1"', TILTED, RIM),
    "side on edge": ('type="box" size=".1 .5 .1" euler="0 45 0" pos="0 0 -.1414213562373095"', LYING, 0.1),
    "ellipsoid on edge": (
        'type="box" size=".5 .1 .1" euler="45 0 0" pos="0 0 -.1414213562373095"',
        'type="ellipsoid" size=".1 .2 .15"',
        0.15,
    ),
    "ellipsoids": ('type="ellipsoid" size=".2 .3 .1" pos="0 0 -.1"', 'type="ellipsoid" size=".1 .2 .15"', 0.15),
}


@pytest.mark.parametrize("name", BELOW)
def test_times_of_impacts_of_curved_bodies(name):
    """A body falls 2 cm with its lowest point upon the highest of another: after √(2 h/g), to the gap's 1e-10 m."""
    below, above, half = BELOW[name]
    xml = f"""<mujoco><option timestep=".02"/><worldbody><geom {below}/><body pos="0 0 {half + 0.02!r}">
    <joint type="slide" axis="0 0 1"/><geom {above} mass="1"/></body></worldbody></mujoco>"""
    sim = saltus.Simulation(xml, contact="hard")
    sim.step(4)
    np.testing.assert_allclose(sim.events["time"][0], math.sqrt(0.04 / G), atol=1e-8)
    np.testing.assert_allclose(sim.data.qfrc_constraint, G, atol=1e-7)


# ---------------------------------------------------------------- the soft law's impedance

BALLS = "".join(
    f'<body pos="{k} 0 {0.1 - depth}"><freejoint/><geom size=".1" solimp=".6 .95 .02 {midpoint} {exponent}"/></body>'
    for k, (depth, midpoint, exponent) in enumerate(
        (depth, midpoint, exponent)
        for depth in (0.003, 0.014, 0.03)
        for midpoint, exponent in ((0.5, 1), (0.3, 2), (0.7, 3), (0.4, 1.5), (0.5, 6))
    )
)


def test_impedances_of_all_exponents():
    """Below the midpoint, above it, and beyond the width: MuJoCo's regularisation and forces."""
    xml = f'<mujoco><worldbody><geom type="plane" size="99 9 1" priority="-1"/>{BALLS}</worldbody></mujoco>'
    _, contacts, _ = assert_same_rows(complete(xml), 1, spread=0.0005, speed=0.01)
    assert contacts == 15
