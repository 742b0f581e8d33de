"""The names of mujoco.batch give what mujoco.batch gives.

Law: MuJoCo 4.0's own module beside ours, call by call; states but for where solvers begin, which are each one's own.
Tolerance: states after 100 steps of a smooth motion, and what is computed at them, to 1e-10; shapes and bookkeeping
exactly.
"""

import mujoco
import mujoco.batch
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from saltus.compat import mujoco_batch
from saltus.errors import OptionError
from saltus.simulate.batches import fields

XML = """
<mujoco><option timestep="0.004"><flag contact="disable" energy="enable"/></option><worldbody>
  <body name="cart"><joint name="slide" type="slide" axis="1 0 0" damping="0.1"/>
    <geom name="cart" type="box" size="0.1 0.1 0.05" mass="1"/>
    <body name="pole" pos="0 0 0.1"><joint name="hinge" axis="0 1 0" damping="0.05" stiffness="0.2"/>
      <geom name="pole" type="capsule" fromto="0 0 0 0 0 0.5" size="0.03" mass="0.2"/><site name="tip" pos="0 0 0.5"/>
    </body></body>
  <body name="mark" mocap="true" pos="1 0 1"><geom size="0.02"/></body></worldbody>
<tendon><fixed name="both"><joint joint="slide" coef="1"/><joint joint="hinge" coef="0.3"/></fixed></tendon>
<actuator><motor name="push" joint="slide" gear="3"/>
  <general name="turn" joint="hinge" dyntype="filter" dynprm="0.03" gainprm="2"/></actuator>
<sensor><jointpos name="angle" joint="hinge"/><accelerometer name="feel" site="tip"/>
  <framelinvel name="speed" objtype="site" objname="tip"/></sensor>
<keyframe><key qpos="0.3 0.5" ctrl="0.1 0.2" act="0.2"/></keyframe></mujoco>"""
N = 5
CLOSE = 1e-10


@pytest.fixture
def both():
    """MuJoCo's batch and ours, from different velocities."""
    model = mujoco.MjModel.from_xml_string(XML)
    made = mujoco.batch.Batch(model, N, 1), mujoco_batch.Batch(model, N, 1)
    for batch in made:
        batch.qvel[:] = np.random.default_rng(0).normal(size=(N, 2))
    return made


def assert_same(both, names=("state",)):
    for name in names:
        theirs, ours = (getattr(batch, name) for batch in both)
        assert ours.shape == theirs.shape, name
        if name == "state":
            start = int(np.sum([mujoco.mj_stateSize(both[0].model, 1 << bit) for bit in range(5)]))
            theirs, ours = (np.delete(x, np.s_[start : start + both[0].model.nv], axis=1) for x in (theirs, ours))
        assert_allclose(ours, theirs, rtol=0, atol=CLOSE * max(1.0, abs(theirs).max(initial=0)), err_msg=name)


def test_states_and_sizes(both):
    for name in ("nsim", "nthread", "nstate"):
        assert getattr(both[0], name) == getattr(both[1], name)
    assert_same(both)
    for name in mujoco_batch.STATE_FIELDS:
        assert_same(both, [name])
        assert np.shares_memory(both[1].bind(name), both[1].state) or not both[1].bind(name).size


def test_steps(both):
    """Different controls in each step, two substeps a step, 100 steps: states, and all derived fields."""
    names = sorted(mujoco_batch.DATA_FIELDS - {"qfrc_inverse", "qacc_warmstart", "cacc", "cfrc_int", "cfrc_ext"})
    names = [name for name in names if not name.startswith("subtree_") or name == "subtree_com"]  # not in mj_step
    for batch in both:
        rng = np.random.default_rng(1)
        for name in names:
            batch.bind(name)
        for _ in range(50):
            batch.ctrl = rng.uniform(-1, 1, (N, 2))
            batch.xfrc_applied[:, 2] = 0.1 * rng.normal(size=(N, 6))
            batch.step(nstep=2)
    assert_same(both, ["state", *names])


@pytest.mark.parametrize("stage", ["mjSTAGE_POS", "mjSTAGE_VEL", "mjSTAGE_ACC"])
def test_stages(both, stage):
    positions, velocities = ["xpos", "geom_xmat", "cdof", "M"], ["cvel", "qfrc_bias", "ten_velocity", "energy"]
    names = [*positions, *velocities, "qacc", "sensordata"]
    at = int(getattr(mujoco.mjtStage, stage))
    for batch in both:
        for name in names:
            batch.bind(name)
        batch.step(nstep=3, stage=at)
    assert_same(both, names)
    for batch in both:
        batch.qpos[:, 0] += 0.2
        batch.forward(stage=at)
    # what the stage leaves out, MuJoCo's batches have from any simulation
    assert_same(both, [positions, [*positions, *velocities], names][at - 1])


def test_some_simulations(both):
    for batch in both:
        batch.step(np.array([0, 3]), nstep=4)
        batch.step(np.arange(N) == 1)
        batch.step(np.zeros(0, int))
    assert_same(both)
    assert not np.allclose(both[1].time, both[1].time[0])


def test_resets(both):
    for batch in both:
        batch.bind("xpos")
        batch.step(nstep=5)
        batch.reset([1, 2], keyframe=0)
        batch.reset([4], keyframe=[-1])
    assert_same(both, ("state", "xpos"))
    for batch in both:
        batch.reset()
    assert_same(both, ("state", "xpos"))
    with pytest.raises(OptionError, match="keyframe must be from -1 to 0, got 1"):
        both[1].reset(keyframe=1)


@pytest.mark.parametrize(
    "kind, key, names",
    [
        ("joint", "hinge", ("qpos", "qvel", "qacc", "qfrc_bias", "damping", "range")),
        ("body", "pole", ("xpos", "xmat", "cvel", "mass")),
        ("geom", 1, ("xpos", "size")),
        ("site", "tip", ("xpos", "xmat")),
        ("actuator", "turn", ("ctrl", "length", "force", "gear")),
        ("sensor", "speed", ("data",)),
        ("tendon", "both", ("length", "velocity")),
    ],
)
def test_named_views(both, kind, key, names):
    seen = [{name: getattr(getattr(batch, kind)(key), name) for name in names} for batch in both]
    for batch in both:
        batch.forward()
        batch.step(nstep=2)
    for name in names:
        theirs, ours = (each[name] for each in seen)
        assert ours.shape == theirs.shape
        assert_allclose(ours, theirs, rtol=0, atol=CLOSE)
    theirs, ours = (getattr(batch, kind)(key) for batch in both)
    assert (ours.id, ours.name) == (theirs.id, theirs.name)


def test_named_views_set_states(both):
    for batch in both:
        batch.joint("hinge").qpos = 0.4
        batch.actuator("push").ctrl = np.arange(N)[:, None]
        batch.step(nstep=3)
    assert_same(both)
    with pytest.raises(OptionError, match="xpos of a body is computed"):
        both[1].body("pole").xpos = 0.0
    with pytest.raises(OptionError, match="parentid of a body cannot differ"):
        both[1].body("pole").parentid = 1
    with pytest.raises(KeyError, match="pola"):
        both[1].body("pola")
    with pytest.raises(AttributeError, match="'nope'"):
        _ = both[1].body("pole").nope


def test_rollouts(both):
    controls = np.random.default_rng(3).uniform(-1, 1, (3, 20, 2))
    bits = int(mujoco.mjtState.mjSTATE_PHYSICS)
    theirs, ours = (b.rollout(20, controls, record=("qpos", "xpos", bits), ids=[0, 2, 4]) for b in both)
    for item in ("qpos", "xpos", bits):
        assert_allclose(ours[item], theirs[item], rtol=0, atol=CLOSE)
    assert_same(both)
    out = {"qvel": np.zeros((N, 2, 2))}
    assert both[1].rollout(2, record=["qvel"], out=out)["qvel"] is out["qvel"]
    assert_array_equal(out["qvel"][:, 1], both[1].qvel)


def test_jacobians(both):
    point = np.random.default_rng(4).normal(size=(N, 3))
    for body in (2, 3, [0, 1, 2, 2, 1]):
        for theirs, ours in zip(*(batch.jac(body, point) for batch in both), strict=True):
            assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_models_and_data(both):
    for batch in both:
        batch.step(nstep=3)
    theirs, ours = (batch.get_data(2) for batch in both)
    assert_allclose(ours.qpos, theirs.qpos, rtol=0, atol=CLOSE)
    assert both[1].get_model(2).nq == 2
    assert both[1].get_data(1, ours) is ours


def test_failing_simulations(both):
    """They keep their states, and the others have run."""
    ours = both[1]
    before = ours.state.copy()
    ours.qvel[2] = np.nan
    with pytest.raises(mujoco_batch.SimulationError, match="1 of 5 simulations failed") as caught:
        ours.step(nstep=2)
    assert_array_equal(caught.value.ids, [2])
    assert_array_equal(ours.status, [0, 0, 1, 0, 0])
    assert "diverged" in ours.error(2) and ours.error(1) == ""
    assert np.isnan(ours.qvel[2]).all() and ours.time[2] == 0.0
    ours.state[2] = before[2]
    ours.step([2], nstep=2)
    both[0].step(nstep=2)
    assert_same(both)
    assert not ours.status.any()


def test_names():
    """Fields that are bound are MuJoCo's, and all that Saltus computes."""
    ours = mujoco_batch.DATA_FIELDS
    assert ours <= mujoco.batch.DATA_FIELDS
    own = {"control_prm", "actuation_state", "cfrc_body", "mocap_vel", "qfrc_prescribed"}
    own |= {"actuator_moment"}  # dense here, sparse there
    assert fields.READABLE - ours == own
    public = {name for name in dir(mujoco.batch.Batch) if not name.startswith("_")}
    there = {name for name in dir(mujoco_batch.Batch) if not name.startswith("_")}
    assert public - there == {"camera", "equality", "keyframe", "light", "material", "numeric", "pair"}
    assert mujoco.batch.MODEL_FIELDS >= mujoco_batch.MODEL_FIELDS


def test_fields_of_the_model(both):
    """Expanded before and between steps, by name and by object, with what mj_setConst derives."""
    for batch in both:
        rng = np.random.default_rng(5)
        assert batch.expanded("body_mass") is None
        batch.expand("dof_damping")[:, 0] *= rng.uniform(0.5, 2.0, N)
        batch.body("pole").mass = 0.2 * rng.uniform(0.5, 2.0, (N, 1))
        batch.set_const()
        batch.step(nstep=20)
        batch.expand("opt.gravity")[:, 2] += rng.normal(size=N)
        batch.actuator("push").gear = [[4, 0, 0, 0, 0, 0]]
        batch.ctrl = rng.uniform(-1, 1, (N, 2))
        batch.set_const([1, 2])
        batch.set_const()
        batch.step(nstep=30)
    assert_same(both, ("state", "xpos"))
    for name in ("body_mass", "dof_damping"):
        assert_array_equal(both[1].expanded(name), both[0].expanded(name))
    assert np.ptp(both[1].body("pole").mass) > 0.05
    theirs, ours = (batch.get_model(3) for batch in both)
    for name in ("body_mass", "dof_damping", "body_subtreemass", "dof_invweight0"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-15)
    with pytest.raises(ValueError, match="read-only"):
        both[1].expanded("body_mass")[0] = 1.0


def test_models_of_the_caller(both):
    """A model for each simulation, then one for all, then the batch's."""
    models = [mujoco.MjModel.from_xml_string(XML.replace('mass="0.2"', f'mass="{0.1 + 0.1 * i}"')) for i in range(N)]
    for given in (models, models[3], None):
        for batch in both:
            batch.set_models(given)
            batch.step(nstep=20)
        assert_same(both)
    assert both[1].models is None
    both[1].set_models(models)
    assert both[1].models == tuple(models)
    with pytest.raises(OptionError, match=r"set_models"):
        both[1].expand("body_mass")
    other = mujoco.MjModel.from_xml_string(XML.replace('dyntype="filter"', 'dyntype="filterexact"'))
    with pytest.raises(OptionError, match="actuator_dyntype of model 0 is not the batch's, and it cannot vary"):
        both[1].set_models([other] * N)
    with pytest.raises(OptionError, match="5 models are needed, not 2"):
        both[1].set_models(models[:2])


def test_what_is_not_there(both):
    ours = both[1]
    with pytest.raises(OptionError, match="geom_type"):
        ours.expand("geom_type")
    with pytest.raises(OptionError, match="body_invweight0 cannot be set here: it is derived"):
        ours.expand("body_invweight0")
    with pytest.raises(OptionError, match="mj_ray"):
        ours.ray([0, 0, 1], [0, 0, -1])
    with pytest.raises(OptionError, match="did you mean 'xpos'"):
        ours.bind("xpso")
    with pytest.raises(AttributeError, match="nope"):
        _ = ours.nope
    with pytest.raises(OptionError, match="xpos is computed"):
        ours.xpos = 0.0
    with pytest.raises(ValueError, match="read-only"):
        ours.xpos[0] = 0.0
    with pytest.raises(OptionError, match="ids must be ascending"):
        ours.step([1, 0])
