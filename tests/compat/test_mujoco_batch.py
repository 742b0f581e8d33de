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

from saltus.compat import mujoco_batch, mujoco_fields
from saltus.errors import OptionError, SaltusWarning
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
    with pytest.raises(OptionError, match="body_parentid is structural"):
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


def test_failing_simulations():
    """Without autoreset they keep their states, and the others have run."""
    model = mujoco.MjModel.from_xml_string(XML.replace('contact="disable"', 'contact="disable" autoreset="disable"'))
    theirs, ours = mujoco.batch.Batch(model, N, 1), mujoco_batch.Batch(model, N, 1)
    before = ours.state.copy()
    ours.qvel[2] = np.nan
    with pytest.raises(
        mujoco_batch.SimulationError, match=r"failed: 1 of 5 simulations \(2\); simulation 2: "
    ) as caught:
        ours.step(nstep=2)
    assert_array_equal(caught.value.ids, [2])
    assert_array_equal(ours.status, [0, 0, 1, 0, 0])
    assert "diverged" in ours.error(2) and ours.error(1) == ""
    assert np.isnan(ours.qvel[2]).all() and ours.time[2] == 0.0
    ours.state[2] = before[2]
    ours.step([2], nstep=2)
    theirs.step(nstep=2)
    assert_same((theirs, ours))
    assert not ours.status.any()


def test_simulations_begin_anew(both):
    """After a state that is none they begin anew in the same call, are counted, and stop in rollouts."""
    for batch in both:
        batch.qvel[3, 0], batch.qpos[1, 1] = np.inf, 2e10
    both[0].step(nstep=3)
    with pytest.warns(SaltusWarning, match="simulation 3 begins anew"):
        both[1].step(nstep=3)
    assert_same(both, ("state", "warning"))
    for batch in both:
        batch.qvel[0, 1] = np.nan
    full = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
    rollouts = [both[0].rollout(4, record=(full, "xpos"))]
    with pytest.warns(SaltusWarning, match="simulation 0 begins anew"):
        rollouts.append(both[1].rollout(4, record=(full, "xpos")))
    for item in (full, "xpos"):
        assert_allclose(rollouts[1][item], rollouts[0][item], rtol=0, atol=CLOSE)
    assert_same(both, ("state", "warning"))
    for batch in both:
        batch.reset([3])
    assert_same(both, ["warning"])


def test_divergence_begins_anew():
    """A servo that is far too stiff for its step: each divergence is counted, and the clock says when the last was."""
    model = mujoco.MjModel.from_xml_string("""<mujoco><option timestep="0.01"/><worldbody><body>
        <joint name="hinge"/><geom type="capsule" fromto="0 0 0 0 0 1" size="0.1"/></body></worldbody>
        <actuator><position joint="hinge" kp="1e9"/></actuator></mujoco>""")
    ours = mujoco_batch.Batch(model, 3, 1)
    ours.ctrl[1] = 1.0
    with pytest.warns(SaltusWarning, match=r"simulation 1 begins anew \(mjWARN_BADQACC"):
        ours.step(nstep=50)
    assert ours.warning[:, int(mujoco.mjtWarning.mjWARN_BADQACC), 1].tolist() == [0, 1, 0]
    assert_allclose(ours.time[[0, 2]], 0.5, rtol=1e-12)
    assert 0.0 < ours.time[1] < 0.5


def test_names():
    """All fields and methods of MuJoCo's module are there."""
    own = {"control_prm", "actuation_state", "cfrc_body", "mocap_vel", "qfrc_prescribed"}
    own |= {"actuator_moment"}  # dense here, sparse there
    assert fields.READABLE - mujoco_fields.DERIVED - {*mujoco_fields.STATE_FIELDS} == own
    public = {name for name in dir(mujoco.batch.Batch) if not name.startswith("_")}
    assert public <= {name for name in dir(mujoco_batch.Batch) if not name.startswith("_")}
    assert mujoco.batch.MODEL_FIELDS == mujoco_batch.MODEL_FIELDS
    assert mujoco.batch.DATA_FIELDS == mujoco_batch.DATA_FIELDS


def test_every_field(both):
    """Shapes and types of all fields of the data and of the model, and values of the data after steps."""
    later = {"qacc_warmstart", "qfrc_inverse", "cacc", "cfrc_int", "cfrc_ext"} | {"subtree_linvel", "subtree_angmom"}
    names = sorted(mujoco_batch.DATA_FIELDS - later)
    seen = [{name: batch.bind(name) for name in names} for batch in both]
    for batch in both:
        batch.step(nstep=2)
    for name in names:
        theirs, ours = (each[name] for each in seen)
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), name
        assert_allclose(ours, theirs, rtol=0, atol=CLOSE * max(1.0, abs(theirs).max(initial=0)), err_msg=name)
    for name in sorted(mujoco_batch.MODEL_FIELDS):
        theirs, ours = (batch.expand(name) for batch in both)
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), name


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
    with pytest.raises(OptionError, match="one model per simulation is needed, 5, not 2"):
        both[1].set_models(models[:2])
    with pytest.raises(OptionError, match="body_mass is of the caller's models"):
        both[1].body("pole").mass = 1.0


def test_models_that_share_no_batch(both):
    """Integrators, time constants and types of activation that differ between models of the caller."""
    texts = [XML, XML.replace('dyntype="filter"', 'dyntype="filterexact"'), XML.replace('"0.004"', '"0.002"')]
    texts.append(XML.replace("<option ", '<option integrator="RK4" '))
    models = [mujoco.MjModel.from_xml_string(text) for text in (*texts, XML)]
    for batch in both:
        batch.set_models(models)
        batch.ctrl = np.linspace(-1, 1, 2 * N).reshape(N, 2)
        batch.step(nstep=40)
    assert_same(both)


FALL = """
<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="2 2 .1"/>
  <body name="ball" pos="0 0 0.101"><freejoint/><geom name="ball" size="0.1"/></body>
  <body name="weld" pos="1 0 1"><freejoint/><geom size="0.1" contype="0" conaffinity="0"/></body></worldbody>
  <equality><connect name="hold" body1="weld" anchor="0 0 0.2"/></equality></mujoco>"""


def test_fields_that_a_batch_shares():
    """Balls that fall through the floor where their bits do not meet, bodies that hang where a constraint is on."""
    model = mujoco.MjModel.from_xml_string(FALL)
    both = mujoco.batch.Batch(model, N, 2), mujoco_batch.Batch(model, N, 2)
    for batch in both:
        batch.geom("ball").contype = np.array([[1], [2], [1], [2], [1]])
        batch.geom("ball").conaffinity = np.array([[1], [2], [1], [4], [1]])
        batch.expand("opt.disableflags")[4] = int(mujoco.mjtDisableBit.mjDSBL_EQUALITY)
        batch.expand("opt.viscosity")[2] = 3.0
        counts = batch.bind("ncon"), batch.bind("nefc")
        batch.step(nstep=100)
        assert counts[0].tolist() == [1, 0, 1, 0, 1] and counts[1].tolist() == [7, 3, 7, 3, 4]
    assert_same(both, ["ncon", "nefc"])
    theirs, ours = (batch.qpos for batch in both)
    assert_allclose(ours, theirs, rtol=0, atol=1e-7)  # solvers of contacts end at their tolerances
    assert np.ptp(theirs[:, 2]) > 0.1 and np.ptp(theirs[:, 9]) > 0.1
    both[1].expand("opt.disableflags")[:] = 0  # with other values they are in other batches
    both[0].expand("opt.disableflags")[:] = 0
    for batch in both:
        batch.step(nstep=50)
    assert_allclose(ours, theirs, rtol=0, atol=1e-7)


def test_values_that_no_batch_takes():
    """Simulations with a constraint of no kind fail by their numbers, and step again with one that is."""
    model = mujoco.MjModel.from_xml_string(FALL)
    ours = mujoco_batch.Batch(model, N, 1)
    kinds = ours.expand("eq_type")
    kinds[[1, 3]] = 99
    for call in (ours.step, ours.forward):
        with pytest.raises(mujoco_batch.SimulationError, match=r"2 of 5 simulations \(1, 3\); simulation 1"):
            call()
    assert_array_equal(ours.time, [0.002, 0.0, 0.002, 0.0, 0.002])
    kinds[:] = model.eq_type
    ours.step()
    assert not ours.status.any()


def test_fields_that_follow(both):
    """Derived fields are read-only, and MuJoCo's after set_const; values without constants name their simulation."""
    for batch in both:
        batch.expand("body_mass")[:, 2] *= np.linspace(0.5, 2.0, N)
        batch.set_const()
    for name in ("body_subtreemass", "dof_invweight0", "dof_M0", "actuator_acc0"):
        assert_allclose(both[1].expand(name), both[0].expand(name), rtol=1e-13, err_msg=name)
        assert_allclose(both[1].expanded(name), both[0].expanded(name), rtol=1e-13, err_msg=name)
        assert not both[1].expand(name).flags.writeable
    assert_allclose(both[1].body("pole").invweight0, both[0].body("pole").invweight0, rtol=1e-13)
    both[1].expand("body_mass")[2, 2] = 0.0  # MuJoCo's functions raise nothing: the pole still has an inertia
    with pytest.raises(OptionError, match="body_mass must be positive: simulation 2"):
        both[1].set_const()


def test_set_const_names_simulations_without_mass():
    model = mujoco.MjModel.from_xml_string("""<mujoco><worldbody><body><joint type="slide"/>
        <geom size=".1" mass="1" contype="0" conaffinity="0"/></body></worldbody></mujoco>""")
    ours = mujoco_batch.Batch(model, 3)
    ours.expand("body_mass")[:, 1] = [0, 2, 0]
    with pytest.raises(mujoco_batch.SimulationError, match=r"1 of 2 simulations \(0\)") as caught:
        ours.set_const([0, 1])
    assert_array_equal(caught.value.ids, [0])
    assert_array_equal(ours.status, [1, 0, 0])


def test_resets_to_positions_of_their_own(both):
    for batch in both:
        batch.expand("qpos0")[:, 1] = np.linspace(0.0, 0.4, N)
        batch.step(nstep=2)
        batch.reset([1, 4])
    assert_same(both)


def test_rays(both):
    """Distances, geoms and normals of MuJoCo: of one ray, rays for all, rays for each, and past a body."""
    rng = np.random.default_rng(6)
    for start, along, more in (
        ([0.0, -1.0, 0.3], [0.0, 1.0, 0.0], {}),
        (rng.normal(size=(6, 3)), [0.0, 0.0, -1.0], {"normal": True}),
        (rng.normal(size=(N, 6, 3)), rng.normal(size=(N, 6, 3)), {"normal": True, "bodyexclude": 1}),
        (rng.normal(size=(2, 6, 3)), rng.normal(size=(2, 6, 3)), {"ids": [1, 3], "geomgroup": [1, 0, 0, 0, 0, 0]}),
    ):
        theirs, ours = (batch.ray(start, along, **more) for batch in both)
        assert len(ours) == len(theirs) == 2 + more.get("normal", False)
        for one, other in zip(ours, theirs, strict=True):
            assert (one.shape, one.dtype) == (other.shape, other.dtype)
            assert_allclose(one, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["equality", "pair", "material", "numeric", "keyframe", "camera", "light"])
def test_views_of_models(kind):
    """Objects that only models have, or that steps do not read."""
    text = FALL.replace("<worldbody>", '<worldbody><camera name="c" pos="0 1 2"/><light name="l" pos="0 0 3"/>')
    text = text.replace(
        "</mujoco>",
        '<asset><material name="red" rgba="1 0 0 1"/></asset><contact><pair name="both" '
        'geom1="floor" geom2="ball"/></contact><custom><numeric name="gains" data="1 2 3"/></custom><keyframe>'
        '<key name="up" time="2"/></keyframe></mujoco>',
    )
    model = mujoco.MjModel.from_xml_string(text)
    both = mujoco.batch.Batch(model, N, 1), mujoco_batch.Batch(model, N, 1)
    theirs, ours = (getattr(batch, kind)(0) for batch in both)
    assert (ours.id, ours.name) == (theirs.id, theirs.name)
    seen = 0
    for name in dir(getattr(model, kind)(0)):
        if not name.startswith("_") and isinstance(getattr(getattr(model, kind)(0), name), np.ndarray):
            assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=0, atol=CLOSE, err_msg=name)
            seen += 1
    assert seen > 0


def test_models_are_written_into_given_ones(both):
    both[1].expand("body_mass")[:, 2] = np.linspace(0.1, 1, N)
    given = mujoco.MjModel.from_xml_string(XML)
    assert both[1].get_model(3, given) is given and given.body_mass[2] == both[1].expand("body_mass")[3, 2]
    other = mujoco.MjModel.from_xml_string(FALL)
    with pytest.raises(OptionError, match="of the given model has shape"):
        both[1].get_model(3, other)


def test_callbacks_are_refused(both):
    before = mujoco.get_mjcb_control()
    mujoco.set_mjcb_control(lambda m, d: None)
    try:
        for call in (both[1].step, both[1].forward, lambda: mujoco_batch.Batch(both[1].model, 1)):
            with pytest.raises(OptionError, match="mjcb_control of MuJoCo is installed"):
                call()
    finally:
        mujoco.set_mjcb_control(before)
    both[1].step()


def test_what_is_not_there(both):
    ours = both[1]
    for call, text in (
        (lambda: ours.bind("body_mass"), r"use expand\('body_mass'\)"),
        (lambda: ours.bind("timestep"), r"use expand\('opt.timestep'\)"),
        (lambda: ours.bind("efc_force"), "arena"),
        (lambda: ours.bind("pstack"), r"scalars bind\(\) accepts: nA"),
        (lambda: ours.bind("xpso"), "did you mean 'xpos'"),
        (lambda: ours.expand("xpos"), r"use bind\('xpos'\)"),
        (lambda: ours.expand("mesh_vert"), "asset data"),
        (lambda: ours.expand("body_mas"), "did you mean 'body_mass'"),
        (lambda: ours.step([0, N]), r"in \[0, 5\), got 5"),
        (lambda: ours.step([2, 1]), "got 2 before 1"),
        (lambda: ours.step(np.array([2, 1], np.uint32)), "got 2 before 1"),
        (lambda: ours.step([0.5]), "whole numbers"),
        (lambda: ours.step([True]), "mask must have shape"),
        (lambda: ours.jac(4, [0, 0, 0]), "body must be from 0 to 3, got 4"),
        (lambda: ours.jac(0.5, [0, 0, 0]), "body must be whole numbers"),
        (lambda: ours.ray([0, 0, 0], [0, 0, 1], bodyexclude=9), "bodyexclude must be from -1 to 3"),
        (lambda: ours.ray(np.zeros((2, 3)), np.ones((3, 3))), "no rays of 5 simulations"),
        (lambda: ours.rollout(2, out={"qpos": np.zeros((N, 3, 2))}), r"must be float64 with shape \(5, 2, 2\)"),
    ):
        with pytest.raises(OptionError, match=text):
            call()
    ours.expand("jnt_qposadr")[1] = 0
    with pytest.raises(OptionError, match="jnt_qposadr is structural: in simulation 1"):
        ours.step()
    ours.expand("jnt_qposadr")[:] = ours.model.jnt_qposadr
    with pytest.raises(AttributeError, match="nope"):
        _ = ours.nope
    with pytest.raises(OptionError, match="xpos is computed"):
        ours.xpos = 0.0
    with pytest.raises(ValueError, match="read-only"):
        ours.xpos[0] = 0.0
