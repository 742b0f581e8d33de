"""Transmissions: lengths, velocities and moment arms of actuators.

References: MuJoCo 4.0's mj_forward at random states; the derivative of the length by dual numbers.

Tolerance: 1e-12 m or rad: lengths and arms are near 1 and made of some hundred products each.
"""

import numpy as np
import pytest
from helpers.actuators import (
    FORWARD,
    ORIENTATIONS,
    TRANSMISSIONS,
    compared,
    dense_moment,
    document,
    our_moment,
    output_names,
    random_states,
    simple,
)
from helpers.cases import same_bits
from helpers.states import lanes
from numpy.testing import assert_allclose

import saltus
from saltus.model.layout import DATA, data_sizes
from saltus.number.kinds import NTANGENT, lane64
from saltus.number.structs import Struct

TOLERANCE = 1e-12
SHORT = float(TRANSMISSIONS["short rod"].split("cranklength='")[1].split("'")[0])  # m
# where all that the length depends on turns with qpos, so that the moment arms are its gradient
EXACT = {name: TRANSMISSIONS[name] for name in ("hinge", "fixed tendon", "spatial tendon", "slider-crank")}


def all_kinds():
    """A model with every transmission; orientation servos first, so that outputs and actuators are numbered apart."""
    servos = [f"<orientation name='{name}' {t}/>" for name, t in ORIENTATIONS.items()]
    return saltus.load(document(servos + [f"<motor name='{name}' {t}/>" for name, t in TRANSMISSIONS.items()]))


def test_mujocos():
    """Every transmission at random states, rods that reach and rods that do not."""
    model = all_kinds()
    names = output_names(model)
    reached = set()
    for found, wanted in compared(model, random_states(model.mujoco, 5 * lane64.width)):
        arms, theirs = our_moment(model, found("moment")), dense_moment(model.mujoco, wanted)
        for o, name in enumerate(names):
            for field in ("actuator_length", "actuator_velocity"):
                assert_allclose(found(field)[o], getattr(wanted, field)[o], atol=10 * TOLERANCE, err_msg=name)
            assert_allclose(arms[o], theirs[o], atol=TOLERANCE, err_msg=name)
        pin, start = (wanted.site(site) for site in ("shin", "wall"))
        v = pin.xpos - start.xpos
        reached.add(bool(np.linalg.norm(np.cross(v, start.xmat[2::3])) < SHORT))
    assert reached == {True, False}


def test_where_nothing_is_turned():
    """At qpos0, where rotation vectors are zero, nothing is undefined."""
    model = all_kinds()
    m = model.mujoco
    state = {"qpos": m.qpos0, "qvel": np.ones(m.nv), "ctrl": np.zeros(m.nu), "act": np.zeros(m.na)}
    for found, wanted in compared(model, [state]):
        assert_allclose(found("actuator_length"), wanted.actuator_length, atol=TOLERANCE)
        assert_allclose(our_moment(model, found("moment")), dense_moment(m, wanted), atol=TOLERANCE)


@pytest.mark.slow
def test_gradient():
    """Moment arms are the gradient of the length: along a random direction, by dual numbers."""
    model = saltus.load(document([f"<motor name='{name}' {t}/>" for name, t in EXACT.items()]))
    m = model.mujoco
    hinged = [i for i in range(m.nv) if m.jnt_type[m.dof_jntid[i]] >= 2]
    assert len(hinged) <= NTANGENT
    data = Struct(DATA, data_sizes(model.sizes()), "dual")
    for state in random_states(m, 5):
        data.fill("qpos", state["qpos"])
        for k, i in enumerate(hinged):
            data.qpos[m.jnt_qposadr[m.dof_jntid[i]], 1, k] = 1.0
        FORWARD(simple(model), data)
        arms = our_moment(model, data.moment[:, 0, 0])
        assert_allclose(data.actuator_length[:, 1, : len(hinged)], arms[:, hinged], atol=1e-11)


def test_lanes_are_alone():
    """Bit for bit the same whatever the neighbours do."""
    model = all_kinds()
    states = random_states(model.mujoco, lane64.width)
    order = np.random.default_rng(1).permutation(lane64.width)
    data, shuffled, alone = lanes(model, states), lanes(model, [states[k] for k in order]), []
    for each in (data, shuffled):
        FORWARD(simple(model), each)
    for state in states:
        alone.append(lanes(model, [state] * lane64.width))
        FORWARD(simple(model), alone[-1])
    for field in ("actuator_length", "moment", "qfrc_actuator", "qacc"):
        x = data.views[field]
        assert same_bits(np.ascontiguousarray(shuffled.views[field]), np.ascontiguousarray(x[..., order]))
        assert same_bits(np.stack([a.views[field][..., 0] for a in alone], axis=-1), x)


@pytest.mark.parametrize("transmission", ["hinge", "slide"])
def test_a_model_of_hinges_and_slides_compiles_no_other_transmission(transmission):
    model = saltus.load(document([f"<motor {TRANSMISSIONS[transmission]}/>"]))
    assert not {"transmission", "act"} & model.struct().layout.features
