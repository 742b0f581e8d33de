"""Contact sensors against MuJoCo 4.0's sensordata: every way to match and to reduce, every kind of data.

Reference: mj_forward at states in which balls, capsules and boxes lie on the ground and on each other, some within the
gap only, on moving ground, with contacts of 1, 3, 4 and 6 dimensions, pyramids and cones.

Tolerance: geometry 1e-9, as in the tests of contacts. Forces 1e-8 of the largest: both solvers iterate until
improvements are rounding, and the force is a stiff function of accelerations that are right to some 1e-12.
"""

import pytest
from helpers.cases import same_bits
from helpers.constraints import complete
from helpers.contact_sensors import compare, model_of, reference, states
from helpers.states import lanes

import saltus
from saltus.contact.mujoco.collision import attach
from saltus.model.layout import DATA, data_sizes
from saltus.number.kernels import Entry
from saltus.number.kinds import lane64
from saltus.number.structs import Struct
from saltus.sense.contact_sensor import contact_sensor
from saltus.simulate.engine import loops

SENSE = Entry(
    "contact_sensors", "", "for s in range(m.nsensor):\n    contact_sensor(m, d, s)", contact_sensor=contact_sensor
)


@pytest.fixture(scope="module", params=["pyramidal", "elliptic"])
def pair(request):
    m = complete(model_of(request.param))
    return m, saltus.load(m)


def sense(model, d):
    """Everything computed at the state in d, then the sensors."""
    loops.forward(model.struct(), d)
    SENSE(model.sensing_struct(), d)


def test_sensors(pair):
    m, model = pair
    d = Struct(DATA, data_sizes(model.sizes()))
    attach(model, d)
    for state in states(m, 25):
        d.qpos[:], d.qvel[:] = state["qpos"], state["qvel"]
        sense(model, d)
        wanted = reference(m, state)
        assert wanted.ncon > 5
        compare(m, d.sensordata, wanted)


@pytest.mark.slow
def test_lanes(pair):
    m, model = pair
    found = states(m, lane64.width)
    d = lanes(model, found)
    attach(model, d)
    sense(model, d)
    for k, state in enumerate(found):
        compare(m, d.sensordata[:, k], reference(m, state))
    alone = lanes(model, [found[1]] * lane64.width)
    attach(model, alone)
    sense(model, alone)
    assert same_bits(alone.sensordata[:, 1], d.sensordata[:, 1])
