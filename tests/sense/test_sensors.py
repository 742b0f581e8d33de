"""Every sensor reads what MuJoCo's reads.

Law: MuJoCo 4.0's sensordata after mj_forward (documentation, XML Reference, "sensor"), for every type of sensor on
every type of object, absolute and relative to every type of object, at random states of a mechanism with contacts,
limits, equalities far from fulfilled, and all that tendons can have; and what they read of bodies: cacc, cfrc_ext and
cfrc_int after mj_rnePostConstraint, subtree_linvel and subtree_angmom after mj_subtreeVel.

Tolerance: 1e-9 of the largest reading of a type of sensor, or of 1 in SI units. Poses and velocities agree to rounding.
Forces are those of the solver, which stops in both programs where rounding (1e-16 of the largest force) hides the
gradient; the condition of the problem, up to 1e6, is between that and accelerations.
"""

import mujoco
import numpy as np
import pytest
from helpers import constraints
from helpers.cases import same_bits
from helpers.files import packaged
from helpers.plain_or_slow import plain_or_slow
from helpers.sensors import CONES, STATE, compiled, every_sensor, put, states, worst

import saltus
from saltus.number.kinds import lane64

TOLERANCE = 1e-9
STATES = 12
BODIES = ("cacc", "cfrc_ext", "cfrc_int", "subtree_linvel", "subtree_angmom")
SUITE = {
    p.stem: p for name, p in packaged("dm_control").items() if name.startswith("suite/") and p.parent.name == "suite"
}
SENSING = ("finger", "hopper")  # with kernels of their own; all models with shared ones: tests/model


def put_all(batch, data):
    """MuJoCo's states and inputs, one a simulation, into a batch."""
    for name in STATE:
        values = np.array([getattr(d, name) for d in data])
        if values.size:
            setattr(batch, name, values)


@pytest.fixture(scope="module")
def everything():
    """Per cone: model with every sensor, MuJoCo's data at states, our sensordata there one by one and in lanes."""
    found = {}
    for cone in CONES:
        m = compiled(every_sensor(), cone)
        data = states(m, STATES)
        sim = saltus.Simulation(saltus.load(m))
        batch = saltus.Batch(sim.model, STATES, threads=1)
        put_all(batch, data)
        single = []
        for d in data:
            put(sim, d)
            single.append(sim.sensordata)
        found[cone] = m, data, {"floats": np.array(single), "lanes": batch.sensordata}
    return found


@pytest.mark.parametrize("kind", ["floats", "lanes"])
@pytest.mark.parametrize("cone", CONES)
def test_every_sensor(everything, cone, kind):
    m, data, found = everything[cone]
    for d, values in zip(data, found[kind], strict=True):
        error, where = worst(m, values, d.sensordata)
        assert error < TOLERANCE, where


def test_every_sensor_has_something_to_read(everything):
    """The comparison is about something: each type on each type of object, against each, reads other than zero."""
    m, data, _ = everything["pyramidal"]
    readings = np.max(np.abs([d.sensordata for d in data]), axis=0)
    largest = {}
    for s in range(m.nsensor):
        kind = mujoco.mjtSensor(m.sensor_type[s]).name, int(m.sensor_objtype[s]), int(m.sensor_reftype[s])
        own = slice(m.sensor_adr[s], m.sensor_adr[s] + m.sensor_dim[s])
        largest[kind] = max(largest.get(kind, 0.0), np.max(readings[own]))
    assert len(largest) > 80
    assert [kind for kind, value in largest.items() if not value > 1e-6] == [("mjSENS_USER", 0, 0)]


@pytest.mark.slow
def test_bodies(everything):
    """Accelerations and forces of bodies, and the momenta of all that they carry."""
    m, data, _ = everything["pyramidal"]
    sim = saltus.Simulation(saltus.load(m))
    for d in data:
        put(sim, d)
        sim.sensordata  # noqa: B018  (computes them)
        mujoco.mj_rnePostConstraint(m, d)
        mujoco.mj_subtreeVel(m, d)
        for name in BODIES:
            found, wanted = sim.engine.d.views[name], getattr(d, name)
            assert constraints.relative(found, wanted) < TOLERANCE, name


@plain_or_slow
def test_cutoff():
    """Readings beyond a sensor's cutoff are cut: of either sign, or for those that are never negative from above."""
    uncut = ("<framequat", "<ballquat", "<framexaxis", "<frameyaxis", "<framezaxis")  # MJCF does not allow it
    sensors = [e if e.startswith(uncut) else e.replace("/>", " cutoff='0.3'/>") for e in every_sensor()]
    m = compiled(sensors)
    sim = saltus.Simulation(saltus.load(m))
    cut = 0
    for d in states(m, 2):
        put(sim, d)
        values = sim.sensordata
        error, where = worst(m, values, d.sensordata)
        assert error < TOLERANCE, where
        cut += np.sum(np.abs(values) == 0.3)
    assert cut > 100


def test_disabled_sensors_read_zero():
    m = compiled(every_sensor())
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_SENSOR.value
    sim = saltus.Simulation(saltus.load(m))
    sim.qvel[:] = 1.0
    assert sim.sensordata.shape == (m.nsensordata,)
    assert not sim.sensordata.any()


def test_a_lane_reads_the_same_among_any_others(everything):
    """Bit for bit, whoever the neighbours are and wherever it is."""
    m, data, found = everything["elliptic"]
    n = 2 * lane64.width + 3
    order = np.random.default_rng(3).integers(0, STATES, n)
    batch = saltus.Batch(saltus.load(m), n, threads=1)
    put_all(batch, [data[k] for k in order])
    assert same_bits(batch.sensordata, found["lanes"][order])


@pytest.mark.slow
def test_single_precision():
    """In float32 lanes, of a pendulum on a free body: right to 1e-5 of readings up to 20, some ten roundings."""
    kinds = ("accelerometer", "velocimeter", "gyro", "force", "torque")
    sensors = "".join(f"<{kind} site='{s}'/>" for kind in kinds for s in ("hub", "tip"))
    sensors += "<framepos objtype='site' objname='tip' reftype='site' refname='hub'/><subtreeangmom body='hub'/>"
    m = mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody><body name="hub"><freejoint/><geom size="0.2"/><site name="hub" pos="0.1 0.2 0.1"/>
        <body pos="0.3 0 0"><joint axis="0 1 1"/><geom type="capsule" size="0.05" fromto="0 0 0 0.4 0.1 0"
         contype="0"/><site name="tip" pos="0.4 0.1 0" euler="30 20 10"/></body></body></worldbody>
        <sensor>{sensors}</sensor></mujoco>"""
    )
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT.value
    data = states(m, 16)
    batch = saltus.Batch(saltus.load(m), len(data), threads=1, precision="float32")
    put_all(batch, data)
    wanted = np.array([d.sensordata for d in data])
    scale = np.max(np.abs(wanted))
    np.testing.assert_allclose(batch.sensordata, wanted, rtol=0, atol=1e-5 * scale)


def test_reading_by_name_belongs_to_the_present_state():
    """It follows the state, and does not change it."""
    sensors = ["<jointvel name='spin' joint='hinge'/>", "<accelerometer name='shake' site='toe'/>", *every_sensor()]
    m = compiled(sensors)
    sim, d = saltus.Simulation(saltus.load(m), "euler"), states(m, 1)[0]
    put(sim, d)
    before = sim.snapshot()
    assert sim.sensor("spin") == pytest.approx(d.sensor("spin").data)
    np.testing.assert_allclose(sim.sensor("shake"), d.sensor("shake").data, rtol=TOLERANCE)
    assert same_bits(sim.snapshot(), before)
    sim.qvel[:] = 0.0
    assert sim.sensor("spin") == 0.0
    with pytest.raises(KeyError, match="spin"):
        sim.sensor("twist")


@pytest.mark.slow
@pytest.mark.parametrize("name", SENSING)
def test_models_of_dm_control(name):
    """On the way that MuJoCo goes."""
    if name not in SUITE:
        pytest.skip("dm_control is not there")
    model = saltus.load(constraints.tight(mujoco.MjModel.from_xml_path(str(SUITE[name]))))
    m = constraints.reference(model)
    sim = saltus.Simulation(model)
    read = 0.0
    for d in constraints.reachable(m, 4):
        put(sim, d)
        error, where = worst(m, sim.sensordata, d.sensordata)
        assert error < TOLERANCE, where
        read = max(read, np.max(np.abs(d.sensordata)))
    assert read > 0.0
