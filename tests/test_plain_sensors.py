"""Sensors in plain Python against MuJoCo's readings, kind by kind: what needs no compiler.

Law: MuJoCo 4.0's sensordata at random states and along steps; its rays, contact forces and distances; the closed form
of a ball on a spring. Tolerances: what follows from poses and velocities 1e-11; rays, which lose half of the digits
where they graze, 1e-9; contact forces 1e-8 of the largest.
"""

import mujoco
import numpy as np
import pytest
from helpers import contact_sensors, geometry_sensors, skins
from helpers.constraints import complete, near, put, tight, undecided
from helpers.late_sensors import late
from helpers.plain_python import plain_python
from helpers.solvers import heap

import saltus
from saltus.model.event_enums import SLIP, STICK


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


@pytest.mark.parametrize("spread", [0.04, 0.15])
def test_skins_in_all_shapes(spread):
    m = complete(skins.all_shapes())
    sim, deepest = saltus.Simulation(saltus.load(m)), set()
    for d in skins.states(m, 5, spread=spread):
        put(sim, d)
        np.testing.assert_allclose(sim.sensordata, d.sensordata, rtol=0, atol=1e-11)
        deepest |= {round(float(x), 12) for x in d.sensordata[:35] if x > 0}
    assert len(deepest) > 20


def test_rays_projections_and_distances():
    """Among geoms of all types, from inside and from outside; MuJoCo itself measures distances, meshes and fields."""
    model = saltus.load(mujoco.MjModel.from_xml_string(geometry_sensors.scene()))
    sim, wide = saltus.Simulation(model), geometry_sensors.tolerance(model.mujoco)
    for state in geometry_sensors.states(model, 8):
        sim.qpos[:] = state["qpos"]
        wanted = geometry_sensors.reference(model.mujoco, state)
        assert np.all(np.abs(sim.sensordata - wanted) <= wide)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_contact_sensors(cone):
    """Every way to match and to reduce, and every kind of data."""
    m = complete(contact_sensors.model_of(cone))
    sim = saltus.Simulation(saltus.load(m))
    for state in contact_sensors.states(m, 5):
        wanted = contact_sensors.reference(m, state)
        put(sim, wanted)
        contact_sensors.compare(m, sim.sensordata, wanted)


def test_late_sensors():
    """Readings along steps of sensors with delays and intervals, at the start and with a full history."""
    m, rng = (
        late("Euler", '<clock nsample="6" delay=".0071" interp="linear"/><user dim="1"/>'),
        np.random.default_rng(1),
    )
    sim, d = saltus.Simulation(saltus.load(m)), mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = rng.normal(size=m.nq), rng.normal(size=m.nv)
    sim.qpos[:], sim.qvel[:] = d.qpos, d.qvel
    for _ in range(25):
        mujoco.mj_forward(m, d)
        np.testing.assert_allclose(sim.sensordata, d.sensordata, rtol=0, atol=1e-11)
        mujoco.mj_step(m, d)
        sim.step()


CUT = """<mujoco><worldbody><geom type="plane" size="1 1 1" pos="0 0 -1"/>
<body pos=".5 0 -.91"><joint type="slide" axis="0 0 1"/><geom size=".1"/><site name="zone" size=".2"/></body>
<body><joint name="a" axis="0 1 0"/><joint name="b" type="slide"/><geom size=".1" pos=".3 0 0" contype="0"/>
<site name="tip" pos=".3 0 -.2" euler="170 0 0"/><camera name="eye" pos=".3 0 -.2" resolution="2 2" fovy="90"/></body>
</worldbody><sensor><jointpos joint="a" cutoff=".2"/><jointpos joint="b"/><rangefinder site="tip" cutoff=".9"/>
<framelinvel objtype="site" objname="tip" cutoff=".1"/><accelerometer site="tip" cutoff="3"/>
<framequat objtype="site" objname="tip"/><clock cutoff=".05"/><touch site="zone" cutoff="9"/>
<magnetometer site="tip" cutoff=".1"/><rangefinder site="tip" data="dist dir origin point normal depth"/>
<rangefinder camera="eye" data="dist dir origin point normal depth"/></sensor></mujoco>"""


def test_cutoffs_and_rays_that_meet_nothing():
    """Readings end at the cutoff on both sides, those that are positive on one; a miss has its own data."""
    m = tight(mujoco.MjModel.from_xml_string(CUT))
    sim, d, rng, met = saltus.Simulation(saltus.load(m)), mujoco.MjData(m), np.random.default_rng(2), []
    for _ in range(10):
        d.qpos[:], d.qvel[:], d.time = rng.normal(size=3), rng.normal(size=3), rng.uniform(0, 0.1)
        d.qpos[0], d.qvel[0] = rng.uniform(-0.02, 0.01), 0.0
        mujoco.mj_forward(m, d)
        sim.time = d.time
        put(sim, d)
        np.testing.assert_allclose(sim.sensordata, d.sensordata, rtol=0, atol=1e-9)
        met.append(d.sensordata[2])
    assert min(met) == -0.9 and 0.9 in met


ZONES = {"sphere": ".5", "capsule": ".5 .25", "ellipsoid": ".5 .25 1", "cylinder": ".5 .25", "box": ".5 .25 1"}


@pytest.mark.parametrize("shape", ZONES)
def test_points_on_the_surface_of_a_site(shape):
    """Neither in nor out: powers of two, without rounding. MuJoCo says which of both."""
    zone = f'<site name="z" type="{shape}" size="{ZONES[shape]}"/>'
    body = (
        '<body><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/>'
    )
    sensor = '<sensor><insidesite site="z" objtype="site" objname="p"/></sensor>'
    m = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody>{zone}{body}<geom size=".1"/><site name="p"/></body></worldbody>{sensor}</mujoco>'
    )
    sim, d = saltus.Simulation(saltus.load(m)), mujoco.MjData(m)
    for axis in np.eye(3):
        for place in (0.25, 0.5, 0.75, 1.0, -0.25, -0.5, -0.75, -1.0):
            d.qpos[:] = place * axis
            mujoco.mj_forward(m, d)
            put(sim, d)
            assert sim.sensordata[0] == d.sensordata[0], d.qpos


# ---------------------------------------------------------------- contact points in recordings

WALL = "<body pos='.5 .5 .12'><freejoint/><geom size='.1' condim='1' margin='.05'/></body></worldbody>"


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_points_of_recordings(cone):
    """Forces and places are MuJoCo's contacts with a force; those at the bound of friction slip.

    A corner of a box on a plane has a place of its own in each sample, and other points come in order.
    """
    m = complete(heap(cone).replace("</worldbody>", WALL))
    sim, rng, modes = saltus.Simulation(saltus.load(m)), np.random.default_rng(4), set()
    for _ in range(6):
        d = mujoco.MjData(m)
        state = near(m, rng, 0.02, 0.5)
        d.qpos[:], d.qvel[:] = state["qpos"], state["qvel"]
        mujoco.mj_forward(m, d)
        if undecided(d):
            continue
        put(sim, d)
        recorded = sim.run(m.opt.timestep, sample=m.opt.timestep)
        wanted = []
        for k, contact in enumerate(d.contact):
            force = np.zeros(6)
            mujoco.mj_contactForce(m, d, k, force)
            if np.any(force[:3]):
                used = np.abs(force[1:3] / contact.friction[:2])
                bound = np.linalg.norm(used) if cone == "elliptic" else used.sum()
                slips = contact.dim > 1 and np.any(force[1:3]) and bound >= (1 - 1e-6) * force[0]
                mode = SLIP if slips else STICK
                wanted.append([mode, *(force[:3] @ contact.frame.reshape(3, 3)), *contact.pos])
        there = ~np.isnan(recorded.contact_pos[0, :, 0])
        columns = recorded.contact_mode[0], recorded.contact_force[0], recorded.contact_pos[0]
        found = np.column_stack([column[there] for column in columns])
        found, wanted = (np.array(sorted(map(tuple, rows), key=lambda row: row[4:])) for rows in (found, wanted))
        scale = max(1.0, np.abs(wanted[:, 1:4]).max())
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-8 * scale)
        modes |= set(wanted[:, 0])
    assert modes == {SLIP, STICK}


POINTS = [
    ('<geom type="plane" size="5 5 .1"/>', 'type="capsule" size=".1 .2" euler="0 90 0"', 2),
    ('<geom type="box" size="1 1 .1" pos="0 0 -.1"/>', 'type="box" size=".2 .2 .1"', 4),
]
LYING = "<mujoco><worldbody>{}<body pos='0 0 .0999'><freejoint/><geom {}/></body></worldbody></mujoco>"


@pytest.mark.parametrize(("ground", "shape", "count"), POINTS)
def test_points_of_one_pair_are_numbered(ground, shape, count):
    """Each has a column of its own, and carries its part of the weight."""
    sim = saltus.Simulation(LYING.format(ground, shape))
    sim.step(3)
    recorded = sim.run(2 * sim.timestep)
    places = recorded.contact_pos[0, :count]
    np.testing.assert_allclose(np.abs(places[:, 0]), 0.2, atol=1e-9)
    assert len({tuple(np.sign(place[:2].round(9))) for place in places}) == count
    np.testing.assert_allclose(recorded.contact_force[0, :count, 2], recorded.contact_force[0, 0, 2], rtol=1e-6)


def test_what_hangs_by_adhesion_sticks():
    """In the gap a contact pulls along its normal, where no friction can be at its bound."""
    ceiling = '<geom type="plane" pos="0 0 1" euler="180 0 0" size="2 2 .1" gap=".02"/>'
    ball = '<body pos="0 0 .89"><freejoint/><geom size=".1" mass="1" adhesion="12"/></body>'
    sim = saltus.Simulation(f"<mujoco><worldbody>{ceiling}{ball}</worldbody></mujoco>")
    recorded = sim.run(2 * sim.timestep)
    np.testing.assert_allclose(recorded.contact_force[0, 0], [0, 0, 12.0], atol=1e-9)
    assert recorded.contact_mode[0, 0] == STICK
