"""`sim.data` lists contacts and constraint rows as MuJoCo does.

Law: MuJoCo 4.0's mjData: what efc_J, efc_type, efc_id, ... mean and in which order rows stand. Numbers are compared in
the tests of each kind of row; here it is what is listed, when, and that it hangs together.
"""

import mujoco
import numpy as np
import pytest
from helpers.constraints import TYPES, complete, errors, near, put

import saltus
from saltus.simulate.engine.constraint_rows import FIELDS

OFF = 'contype="0" conaffinity="0"'
ALL = f"""<mujoco><option cone="{{}}"/><worldbody>
  <geom type="plane" size="9 9 .1" condim="1"/>
  <body name="a" pos="0 0 .099"><freejoint/><geom size=".1" condim="6"/></body>
  <body name="b" pos="1 0 .099"><joint name="x" type="slide" axis="1 0 0" range="1 2"/>
    <joint name="y" type="slide" axis="0 1 0" frictionloss=".1"/>
    <joint name="z" type="slide" axis="0 0 1"/><geom size=".1" condim="1"/></body>
  <body name="c" pos="0 1 .099"><freejoint/><geom size=".1" condim="4"/></body>
  <body name="d" pos="0 0 5"><joint name="w" type="ball" range="0 1e-3" frictionloss=".2"/>
    <geom size=".1" pos=".1 0 0" {OFF}/></body>
</worldbody>
<tendon><fixed name="s"><joint joint="x" coef="1"/></fixed>
  <fixed name="t" range="1 2" frictionloss=".3"><joint joint="z" coef="1"/></fixed></tendon>
<equality><tendon tendon1="s"/><weld body1="a" active="false"/><joint joint1="y"/><connect body1="a" anchor="0 0 0"/>
</equality></mujoco>"""


def both(cone="pyramidal", seed=0):
    """A simulation with every kind of row and MuJoCo's data at the same state."""
    m = complete(ALL.format(cone))
    sim, d = saltus.Simulation(saltus.load(m)), mujoco.MjData(m)
    for name, value in near(m, np.random.default_rng(seed), 1e-3).items():
        getattr(d, name)[:] = value
    d.qpos[2] = d.qpos[m.jnt_qposadr[4] + 2] = 0.099
    mujoco.mj_forward(m, d)
    put(sim, d)
    return m, sim, d


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_every_kind_of_row_in_mujocos_order(cone):
    m, sim, d = both(cone)
    other = TYPES.mjCNSTR_CONTACT_ELLIPTIC if cone == "pyramidal" else TYPES.mjCNSTR_CONTACT_PYRAMIDAL
    assert set(d.efc_type) == set(range(8)) - {other.value}
    data = sim.data
    assert data.nefc == d.nefc and data.ncon == d.ncon == 3
    np.testing.assert_array_equal(data.efc_type, d.efc_type)
    np.testing.assert_array_equal(data.efc_id, d.efc_id)
    np.testing.assert_array_equal(data.contact["efc_address"], [c.efc_address for c in d.contact])
    assert max(errors(m, sim, d).values()) < 1e-8


def test_rows_hang_together():
    """Forces on the joints are Jᵀ f; R is 1/D; forces follow from residuals."""
    _, sim, _ = both()
    data = sim.data
    np.testing.assert_allclose(data.efc_J.T @ data.efc_force, data.qfrc_constraint, rtol=0, atol=1e-9)
    np.testing.assert_allclose(data.efc_R * data.efc_D, 1.0, rtol=1e-14)
    total = sim.full_M() @ data.qacc - data.qfrc_smooth
    np.testing.assert_allclose(total, data.qfrc_constraint, rtol=0, atol=1e-9 * np.abs(data.qfrc_constraint).max())
    push = -data.efc_D * (data.efc_J @ data.qacc - data.efc_aref)
    loss, kind = data.efc_frictionloss, data.efc_type
    push = np.where(np.isin(kind, (1, 2)), np.clip(push, -loss, loss), np.where(kind > 2, np.maximum(push, 0), push))
    np.testing.assert_allclose(data.efc_force, push, rtol=0, atol=1e-8 * np.abs(push).max())


def test_they_belong_to_the_present_state():
    """Reading after a step or a change of the state gives that state's, and does not change the motion."""
    _, sim, _ = both()
    _, other, _ = both()
    before = sim.data.efc_force.copy()
    for _ in range(3):
        sim.step()
        other.step()
        assert sim.data.efc_J.shape == (sim.data.nefc, sim.model.nv)
        assert sim.data.nefc and sim.data.solver_niter > 0
    np.testing.assert_array_equal(sim.snapshot(), other.snapshot())
    assert not np.array_equal(sim.data.efc_force[:3], before[:3])
    ball = sim.model.body_geomadr[sim.model.id("body", "a")]
    for height, touches in ((0.05, True), (5.0, False), (0.05, True)):
        sim.qpos[2] = height
        assert (ball in sim.data.contact["geom2"]) == touches


def test_none():
    """A model that nothing constrains, and one that nothing touches, have empty lists of the right shapes."""
    sims = saltus.Simulation("pendulum"), both()[1]
    sims[1].qpos[:] = sims[1].model.qpos0
    sims[1].qpos[2] += 5
    assert sims[1].data.ncon == 2
    data = sims[0].data
    assert data.ncon == data.nefc == len(data.contact) == 0
    for name in FIELDS:
        value = getattr(data, name)
        assert value.shape == ((0, 1) if name == "efc_J" else (0,))
    assert data.efc_type.dtype == data.efc_id.dtype == int


def test_contacts_are_named_like_mujocos():
    """The fields of a contact, and the frame as rows of a rotation with the normal first."""
    _, sim, d = both()
    for found, wanted in zip(sim.data.contact, d.contact, strict=True):
        assert (found["geom1"], found["geom2"]) == tuple(wanted.geom)
        frame = found["frame"]
        np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-15)
        assert np.linalg.det(frame) == pytest.approx(1.0)
        np.testing.assert_allclose(frame[0], wanted.frame[:3], atol=1e-15)
