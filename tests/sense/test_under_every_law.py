"""What sensors read of contacts and limits, under every law of contact, in one simulation and in a batch.

Laws: at rest, contact forces carry the weight m g, a limit the moment of the weight about its joint, a rope the weight
on it, four equal ropes a quarter each (statics, and symmetry). A block that slides on a plane with friction μ has the
acceleration -μ g (Newton's second law, Coulomb's); a free body has none but gravity's, which an accelerometer does not
read. In steps over dense events, m (a - g) is the sum of contact forces.

Tolerance: forces of the hard laws are exact but for rounding in gaps of 1e-10 m, and for the tolerance of time
stepping, 1e-9 of the accelerations: 1e-6 of the weight. The soft law and a stiff spring with a damper yield by
millimetres, and settle to 1e-4 of the weight in the 2 s given; moments about joints change with the yielding, 1e-3.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus
from saltus.errors import OptionError
from saltus.model.event_enums import LEFT
from saltus.simulate.analysis.current_contacts import touching

G, MASS, MU = 9.81, 3.0, 0.5
ANCHORS = [(x, y) for x in (5.5, 6.5) for y in (-0.5, 0.5)]
ABOVE = "".join(f'<site name="n{k}" pos="{x} {y} 5"/>' for k, (x, y) in enumerate(ANCHORS))
ON_LOAD = "".join(f'<site name="a{k}" pos="{x - 6} {y} .5"/>' for k, (x, y) in enumerate(ANCHORS))
ROPES = "".join(
    f'<spatial name="r{k}" limited="true" range="0 2.5"><site site="n{k}"/><site site="a{k}"/></spatial>'
    for k in range(4)
)
PULLS = "".join(f'<tendonlimitfrc name="r{k}" tendon="r{k}"/>' for k in range(4))
ALL = "found force torque dist pos normal tangent"
SCENE = f"""<mujoco><worldbody>
<geom name="floor" type="plane" size="5 5 .1" friction="{MU}"/>
<body name="box" pos="0 0 .1"><freejoint/><site name="zone" type="box" size=".3 .3 .3"/>
  <geom name="box" type="box" size=".1 .1 .1" mass="{MASS}" friction="{MU}"/></body>
<body pos="2 0 1"><joint name="hinge" axis="0 1 0" range="-10 10" limited="true"/><site name="shoulder"/>
  <geom size=".05" pos=".5 0 0" mass="1" contype="0" conaffinity="0"/></body>
<site name="hook" pos="4 0 3"/>
<body pos="4 0 2"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="1" contype="0" conaffinity="0"/>
  <site name="load"/></body>
{ABOVE}<body pos="6 0 2"><freejoint/><geom type="box" mass="1" size=".5 .5 .5" contype="0" conaffinity="0"/>{ON_LOAD}
</body></worldbody>
<tendon><spatial name="rope" limited="true" range="0 1"><site site="hook"/><site site="load"/></spatial>{ROPES}</tendon>
<sensor><touch name="touch" site="zone"/>
<contact name="each" geom1="floor" geom2="box" data="{ALL}" num="4"/>
<contact name="net" geom1="floor" geom2="box" data="{ALL}" num="1" reduce="netforce"/>
<contact name="back" geom1="box" geom2="floor" data="found force normal" num="1" reduce="maxforce"/>
<contact name="nearest" body1="box" data="found dist" num="1" reduce="mindist"/>
<jointlimitpos name="limitpos" joint="hinge"/><jointlimitvel name="limitvel" joint="hinge"/>
<jointlimitfrc name="limitfrc" joint="hinge"/>
<tendonlimitpos name="ropepos" tendon="rope"/><tendonlimitvel name="ropevel" tendon="rope"/>
<tendonlimitfrc name="ropefrc" tendon="rope"/>{PULLS}
<accelerometer name="felt" site="zone"/><framelinacc name="linacc" objtype="body" objname="box"/>
<frameangacc name="angacc" objtype="body" objname="box"/>
<force name="force" site="shoulder"/><torque name="torque" site="shoulder"/></sensor></mujoco>"""


def spring(m, d, gap, velocity):
    """A stiff spring and a damper, and viscous friction."""
    return -1e5 * gap - 300.0 * velocity[0], -300.0 * velocity[1], -300.0 * velocity[2]


LAWS = {
    "soft": {},
    "compliant": dict(contact=saltus.Compliant(spring), timestep=5e-4),
    "located": dict(contact="hard"),
    "located, rk4": dict(contact="hard", integrator="rk4"),
    "moreau_jean": dict(contact="hard", integrator="moreau_jean"),
}
SLOW = [pytest.param(law, marks=[] if law in ("located", "moreau_jean") else pytest.mark.slow) for law in LAWS]


@pytest.fixture(scope="module")
def simulations():
    """One simulation of each law, made when it is asked for."""
    made = {}

    def get(law):
        if law not in made:
            made[law] = saltus.Simulation(SCENE, **LAWS[law])
        made[law].reset()
        return made[law]

    return get


def statics():
    """Readings at rest by sensor."""
    tilt = np.radians(10.0)
    moment = G * 0.5 * np.cos(tilt)
    weight = MASS * G
    return {
        "touch": weight,
        "net": [4, 0, 0, weight, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0],
        "back": [4, weight / 4, 0, 0, 0, 0, -1],
        "nearest": [4, 0],
        "limitpos": 0.0,
        "limitvel": 0.0,
        "limitfrc": moment,
        "ropepos": 0.0,
        "ropevel": 0.0,
        "ropefrc": G,
        **{f"r{k}": G / 4 for k in range(4)},
        "felt": [0, 0, G],
        "linacc": [0, 0, G],
        "angacc": [0, 0, 0],
        "force": [-G * np.sin(tilt), 0, G * np.cos(tilt)],
        "torque": [0, -moment, 0],
    }


@pytest.mark.parametrize("law", SLOW)
def test_at_rest(simulations, law):
    sim = simulations(law)
    trajectory = sim.run(2.0, sample=1.0)
    batch = saltus.Batch(sim.model, 2, **LAWS[law])
    batch.qpos, batch.qvel = np.array([sim.qpos] * 2), np.array([sim.qvel] * 2)
    places = {"moreau_jean": 1e-5, "soft": 1e-3, "compliant": 1e-3}.get(law, 1e-6)
    forces = places * MASS * G
    for name, right in statics().items():
        tolerance = places if name.endswith("pos") or name == "nearest" else forces
        assert_allclose(sim.sensor(name), np.atleast_1d(right), atol=tolerance, err_msg=name)
        assert_allclose(batch.sensor(name)[1], np.atleast_1d(right), atol=tolerance, err_msg=name)
    # corner by corner, in the order of detection
    corners = np.reshape(sim.sensor("each"), (4, 17))
    assert_allclose(corners[:, 1:8], np.tile([MASS * G / 4, 0, 0, 0, 0, 0, 0], (4, 1)), atol=forces)
    assert_allclose(np.abs(corners[:, 8:10]), 0.1, atol=places)
    assert_allclose(np.sort(corners[:, 8:10] @ [1, 2]), [-0.3, -0.1, 0.1, 0.3], atol=places)
    # forces from outside on the box, and through the joints of the arm, the load
    weights = np.array([MASS, 1.0, 1.0]) * G
    for cfrc_ext, cfrc_int in (
        (sim.data.cfrc_ext, sim.data.cfrc_int),
        [batch.read(name)[1] for name in ("cfrc_ext", "cfrc_int")],
    ):
        assert_allclose(cfrc_ext[1, 3:], [0, 0, weights[0]], atol=forces)
        assert_allclose([cfrc_int[1, 5], cfrc_int[2, 5]], [0.0, weights[1]], atol=forces)
        assert_allclose(cfrc_ext[3, 5], weights[2], atol=forces)
    # as recorded, and in the table of a batch
    assert_allclose(trajectory.contact_force[-1].sum(axis=0), [0, 0, weights[0]], atol=forces)
    assert_allclose(touching(sim.engine)[:, 3:6].sum(axis=0), [0, 0, weights[0]], atol=forces)
    found = batch.contacts()
    assert found.count.tolist() == [4, 4]
    assert_allclose(batch.contact_force("box")[0], [0, 0, weights[0]], atol=forces)


@pytest.mark.parametrize("law", ["located", "moreau_jean", pytest.param("located, rk4", marks=pytest.mark.slow)])
def test_a_block_that_slides(simulations, law):
    sim = simulations(law)
    sim.qvel[0] = 1.0
    sim.run(0.1, sample=0.1)
    force, tolerance = [-MU * MASS * G, 0, MASS * G], 1e-6 * MASS * G
    assert_allclose(sim.sensor("felt"), [-MU * G, 0, G], atol=tolerance)
    assert_allclose(sim.sensor("net")[1:4], force, atol=tolerance)
    assert_allclose(sim.sensor("touch"), force[2], atol=tolerance)
    assert_allclose(sim.data.cfrc_ext[1, 3:], force, atol=tolerance)
    # friction tips the block forward: its front corners carry more, Σ x f_N = h Σ f_T
    corners = np.reshape(sim.sensor("each"), (4, 17))
    assert corners[0, 0] == 4
    moment = (corners[:, 8] - sim.qpos[0]) @ corners[:, 1]
    assert_allclose(moment, 0.1 * MU * MASS * G, atol=tolerance)
    assert_allclose(np.hypot(corners[:, 2], corners[:, 3]), MU * corners[:, 1], atol=tolerance)


@pytest.mark.parametrize("law", SLOW)
def test_in_flight_and_after_an_impact(simulations, law):
    """With restitution 0 the box lies still after 1 s, when the soft law and the spring have settled, too."""
    sim = simulations(law)
    sim.qpos[2] = 0.5
    sim.run(0.1, sample=0.1)
    for name in ("touch", "net", "each", "back", "nearest", "felt"):
        assert_allclose(sim.sensor(name), 0.0, atol=1e-12, err_msg=name)
    assert_allclose(sim.data.cfrc_ext[1], 0.0, atol=1e-12)
    sim.run(1.9, sample=1.9)
    weight = MASS * G
    assert_allclose(sim.sensor("touch"), weight, rtol=1e-3)
    assert_allclose(sim.sensor("net")[:4], [4, 0, 0, weight], atol=1e-3 * weight)
    assert_allclose(sim.data.cfrc_ext[1, 3:], [0, 0, weight], atol=1e-3 * weight)


@pytest.mark.slow
def test_in_steps_over_dense_events():
    sim = saltus.Simulation(SCENE, contact=saltus.Hard(restitution=0.6, dense_events=4))
    sim.qpos[2], sim.qvel[0] = 0.2, 1.0
    sim.qpos[3:7] = [np.cos(0.1), 0.6 * np.sin(0.1), 0.8 * np.sin(0.1), 0.0]
    pushed = 0
    for _ in range(600):
        sim.step()
        if sim.engine.d.views["dense"][LEFT] > 0.0:
            force = MASS * sim.sensor("linacc")  # gravity counts as an upward acceleration
            pushed += force[2] > 0.1 * MASS * G
            tolerance = 1e-6 * MASS * G
            assert_allclose(sim.sensor("net")[1:4], force, atol=tolerance)
            assert_allclose(sim.sensor("touch")[0], force[2], atol=tolerance)
            assert_allclose(sim.data.cfrc_ext[1, 3:], force, atol=tolerance)
            assert_allclose(touching(sim.engine)[:, 3:6].sum(axis=0), force, atol=tolerance)
    assert pushed > 50


def test_a_tactile_sensor_is_refused():
    """It reads depths."""
    source = """<mujoco><asset><mesh name="skin" builtin="sphere" params="1"/></asset><worldbody>
    <geom type="plane" size="1 1 1"/><body pos="0 0 1"><freejoint/><geom name="ball" size=".1"/></body></worldbody>
    <sensor><tactile name="fingertip" geom="ball" mesh="skin"/></sensor></mujoco>"""
    for integrator in ("dopri5", "moreau_jean"):
        with pytest.raises(OptionError, match=r"fingertip.*ignore=\['tactile'\]"):
            saltus.Simulation(source, contact="hard", integrator=integrator)
    model = saltus.load(source, ignore=["tactile"])
    saltus.Simulation(model, contact="hard", integrator="moreau_jean")
