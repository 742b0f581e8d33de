"""Sensors of geometry against MuJoCo 4.0's sensordata: rangefinders, projections, insides, distances.

Rays of sites and of perspective, orthographic and intrinsic cameras in all modes meet every type of geom, from outside
and from inside, seen and unseen, with every kind of output; points of every type of object are in sites of every shape;
distances of every type of geom and of bodies.

Tolerance: 1e-9 of the largest entry, a few metres: where a ray grazes a surface, the root of a small difference loses
half of the 16 digits, and of rays at random one in some thousand comes so near; most agree to 1e-13. Distances, their
ends and directions are MuJoCo's own, by an iteration that stops at 1e-6 (ccd_tolerance): one rounding in a pose may
decide where, so that segments agree to some of that, and directions to it over the distance, here 1e-5.
"""

import mujoco
import numpy as np
import pytest
from helpers.cases import same_bits
from helpers.geometry_sensors import DIRECTIONS, reference, scene, states, tolerance
from helpers.states import lanes

import saltus
from saltus.contact.mujoco.rays import attach_sense
from saltus.model.layout import DATA, data_sizes
from saltus.number.kernels import Entry
from saltus.number.kinds import lane64
from saltus.number.structs import Struct
from saltus.sense.geometry import geometry_sensor
from saltus.simulate.engine import loops

SENSE = Entry(
    "geometry_sensors", "", "for s in range(m.nsensor):\n    geometry_sensor(m, d, s)", geometry_sensor=geometry_sensor
)
GEOMS = "plane sphere capsule ellipsoid cylinder box mesh"


@pytest.fixture(scope="module")
def model():
    return saltus.load(mujoco.MjModel.from_xml_string(scene()))


def sense(model, d):
    """Everything computed at the state in d, then the sensors."""
    loops.forward(model.struct(), d)
    SENSE(model.sensing_struct(), d)


def sensed(model, state):
    d = Struct(DATA, data_sizes(model.sizes()))
    attach_sense(model, d)
    d.qpos[:] = state["qpos"]
    sense(model, d)
    return d.sensordata.copy()


def test_sensors(model):
    m = model.mujoco
    seen = []
    for state in states(model, 40):
        got, expected = sensed(model, state), reference(m, state)
        seen.append(expected)
        assert np.all(np.abs(got - expected) <= tolerance(m))
    seen = np.array(seen)
    inside = np.isin(m.sensor_type, mujoco.mjtSensor.mjSENS_INSIDESITE.value)
    both = seen[:, m.sensor_adr[inside]].mean(axis=0)
    assert np.any((both > 0) & (both < 1)), "some points are in and out"


def test_rays_meet_all():
    """What the sites' rays meet in these states: every type of geom, says MuJoCo, so that the test above is one."""
    m = mujoco.MjModel.from_xml_string(scene())
    d, geom, met = mujoco.MjData(m), np.zeros(1, np.int32), set()
    for state in states(m, 40):
        d.qpos[:] = state["qpos"]
        mujoco.mj_kinematics(m, d)
        for i in range(DIRECTIONS):
            along = np.ascontiguousarray(d.site(f"s{i}").xmat.reshape(3, 3)[:, 2])
            mujoco.mj_ray(m, d, d.site(f"s{i}").xpos, along, None, 1, m.body("probe").id, geom)
            met.add(int(m.geom_type[geom[0]]))
    assert met == set(range(9))


@pytest.mark.slow
def test_lanes(model):
    found = states(model, lane64.width)
    d = lanes(model, found)
    attach_sense(model, d)
    sense(model, d)
    for k, state in enumerate(found):
        assert np.all(np.abs(d.sensordata[:, k] - reference(model.mujoco, state)) <= tolerance(model.mujoco))
    alone = lanes(model, [found[1]] * lane64.width)
    attach_sense(model, alone)
    sense(model, alone)
    assert same_bits(alone.sensordata[:, 1], d.sensordata[:, 1])
