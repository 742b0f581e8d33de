"""Rollouts of batches: `Batch.rollout`, where they begin, and `Batch.set_from`.

References: MuJoCo's `mujoco.rollout` of the same controls, to 1e-9 of a second of a motion that is not chaotic (1e-4 in
float32); for bits, the same steps taken one by one. Nothing else may touch a simulation's bits: neither its neighbours,
of which one diverges, nor threads, nor what is recorded.
"""

import pickle

import mujoco
import numpy as np
import pytest
from mujoco import rollout as mujoco_rollout
from numpy.testing import assert_allclose, assert_array_equal

import saltus
from saltus.errors import DivergenceError, OptionError
from saltus.number.kinds import LANES

N, T = LANES["float64"].width + 3, 25
ARM = """
<mujoco><option timestep="0.01" integrator="Euler"/><worldbody>
  <body><joint name="a" axis="0 1 0" damping="0.3" stiffness="2"/>
    <inertial pos="0 0 -0.3" mass="1" diaginertia="0.05 0.05 0.01"/>
    <body pos="0 0 -0.6"><joint name="b" axis="0 1 0" damping="0.2"/>
      <inertial pos="0 0.1 -0.2" mass="0.5" diaginertia="0.02 0.02 0.01"/></body></body>
</worldbody>
<actuator><motor joint="a"/><general name="second" joint="b" dyntype="filter" dynprm="0.1"/></actuator>
<sensor><jointpos joint="b"/><actuatorfrc actuator="second"/></sensor></mujoco>"""
FIELDS = ("time", "qpos", "qvel", "act", "qacc", "xpos", "sensordata", "cacc", "qfrc_inverse", "actuator_moment")
BALL = """
<mujoco><option timestep="0.01"/><worldbody><geom type="plane" size="1 1 1"/>
  <body pos="0 0 0.3"><freejoint/><geom size="0.1" mass="1"/></body>
  </worldbody></mujoco>"""


@pytest.fixture(scope="module")
def model():
    return saltus.load(ARM)


def made(model, **options):
    batch = saltus.Batch(model, N, **{"threads": 1, **options})
    rng = np.random.default_rng(0)
    batch.qpos, batch.qvel = rng.normal(size=(N, model.nq)), rng.normal(size=(N, model.nv))
    return batch


def controls_for(model, seed=1):
    return np.random.default_rng(seed).normal(size=(N, T, model.nu))


def step_by_step(batch, controls, fields):
    """Fields [n, T, ...] after steps that are taken one by one."""
    found = []
    for k in range(controls.shape[1]):
        batch.ctrl = controls[:, k]
        batch.step()
        found.append(batch.read(fields))
    return {name: np.stack(rows, axis=1) for name, rows in zip(fields, zip(*found, strict=True), strict=True)}


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_the_motion_is_that_of_mujocos_rollout(model, precision):
    """The energy that contacts or chaos would spread is not there: errors grow by less than a hundred."""
    batch, controls = made(model, precision=precision), controls_for(model)
    state = np.hstack([batch.time[:, None], batch.qpos, batch.qvel, batch.act]).astype(float)
    m = model.mujoco
    wanted, sensors = mujoco_rollout.rollout(m, mujoco.MjData(m), state, controls)
    found = batch.rollout(controls)
    got = np.concatenate([found.time[..., None], found.qpos, found.qvel, found.act], axis=-1)
    tolerance = 1e-9 if precision == "float64" else 1e-4
    assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)
    # sensors of MuJoCo's rollout are those before each step, those of positions one step late
    assert_allclose(found.sensordata[:, :-1, 0], sensors[:, 1:, 0], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("options", [{}, {"threads": 2}, {"precision": "float32"}, {"integrator": "dopri5"}], ids=str)
def test_bits_are_those_of_steps_taken_one_by_one(model, options):
    controls = controls_for(model)
    one, other = made(model, **options), made(model, **options | {"threads": 1})
    found, wanted = one.rollout(controls, FIELDS), step_by_step(other, controls, FIELDS)
    for name in FIELDS:
        assert_array_equal(found[name], wanted[name], err_msg=name)
    assert_array_equal(one.qvel, other.qvel)
    one.step(3)
    other.step(3)
    assert_array_equal(one.qvel, other.qvel)


def heavier(batch):
    batch.model.body_mass[:, 1] = np.linspace(0.5, 2.0, N)


def pushed(batch):
    batch.qfrc_applied[:, 0] = np.linspace(-1.0, 1.0, N)


@pytest.mark.parametrize(
    ("options", "prepare"),
    [({"vary": ("body_mass",)}, heavier), ({}, pushed), ({"control": saltus.PID(3.0, 1.0, 0.2)}, lambda batch: None)],
    ids=["masses", "forces", "controller"],
)
def test_models_forces_and_controllers_go_with_the_simulations(model, options, prepare):
    controls, fields = controls_for(model), ("time", "qpos", "qvel", "act")
    one, other = made(model, **options), made(model, **options)
    for batch in (one, other):
        prepare(batch)
    found, wanted = one.rollout(controls, fields), step_by_step(other, controls, fields)
    for name in fields:
        assert_array_equal(found[name], wanted[name], err_msg=name)
    assert np.ptp(found.qpos[:, -1, 0]) > 0.1


def test_bits_do_not_depend_on_what_is_recorded_nor_on_neighbours(model):
    controls = controls_for(model)
    found = made(model).rollout(controls, ("qpos", "sensordata"))
    assert_array_equal(made(model).rollout(controls, "qpos").qpos, found.qpos)
    alone = saltus.Batch(model, 1, threads=1)
    alone.qpos, alone.qvel = made(model).qpos[5], made(model).qvel[5]
    assert_array_equal(alone.rollout(controls[5:6], "qpos").qpos[0], found.qpos[5])
    assert_array_equal(made(model).rollout(controls[0], "qpos").qpos[0], found.qpos[0])


SENSED = """<mujoco><option timestep=".004" integrator="{integrator}"/><worldbody><geom type="plane" size="2 2 1"/>
  <body name="trunk" pos="0 0 .3"><freejoint/><geom type="box" size=".2 .1 .05" mass="4"/>
    <site name="imu" pos=".1 0 .02"/>
    <site name="below" pos="0 0 -.06" zaxis="0 0 -1"/>
    <body name="leg" pos=".2 .1 0"><joint name="hip" axis="0 1 0" damping=".2"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" mass=".5"/>
      <body name="foot" pos="0 0 -.2"><joint name="ankle" type="ball" damping=".01"/><geom size=".04" mass=".2"/>
        <site name="sole" pos="0 0 -.04"/><camera name="eye" pos="0 0 .1"/></body></body>
    <body name="arm" pos="-.2 0 0"><joint name="shoulder" axis="1 0 0" damping=".1"/>
      <geom type="capsule" fromto="0 0 0 0 .3 0" size=".02" mass=".4"/></body></body></worldbody>
  <tendon><fixed name="both"><joint joint="hip" coef="1"/><joint joint="shoulder" coef="-.5"/></fixed></tendon>
  <actuator><motor joint="hip"/><position name="lift" joint="shoulder" kp="5" kv=".2"/></actuator>
  <sensor><framepos objtype="site" objname="sole" reftype="site" refname="imu"/>
    <framequat objtype="body" objname="arm"/>
    <framezaxis objtype="camera" objname="eye"/>
    <framelinvel objtype="body" objname="foot" reftype="body" refname="trunk"/>
    <frameangvel objtype="xbody" objname="leg"/><velocimeter site="imu"/><gyro site="sole"/><magnetometer site="imu"/>
    <jointpos joint="hip"/><jointvel joint="hip"/><ballquat joint="ankle"/><ballangvel joint="ankle"/>
    <tendonpos tendon="both"/><tendonvel tendon="both"/>
    <actuatorpos actuator="lift"/><actuatorvel actuator="lift" cutoff=".5"/><clock/>
    <subtreecom body="trunk"/><subtreelinvel body="leg"/><subtreeangmom body="trunk"/><rangefinder site="below"/>
    {more}</sensor></mujoco>"""
FURTHER = '<accelerometer site="imu"/><e_kinetic/><actuatorfrc actuator="lift"/><touch site="sole"/>'


@pytest.mark.parametrize(
    ("integrator", "options", "computed"),
    [
        ("Euler", {}, "after"),
        ("Euler", {"vary": ("body_mass",), "threads": 2}, "before"),
        ("implicitfast", {"precision": "float32"}, "after"),
        ("RK4", {}, "after"),
    ],
)
def test_sensors_of_motion_have_the_bits_that_they_have_beside_forces(integrator, options, computed):
    """Readings of positions and velocities, in contact and in the air: those beside an accelerometer and a force."""
    plain, beside = (saltus.load(SENSED.format(integrator=integrator, more=more)) for more in ("", FURTHER))
    found, count = [], plain.nsensordata
    assert beside.nsensordata == count + 6
    controls = np.random.default_rng(4).normal(size=(N, T, 2))
    for each in (plain, beside):
        batch = saltus.Batch(each, N, **{"threads": 1} | options)
        batch.qpos[:, 2] = np.linspace(0.2, 0.6, N)
        batch.qvel[:] = np.random.default_rng(5).normal(size=(N, each.nv))
        rolled = batch.rollout(controls, ("sensordata", "qpos"), computed=computed)
        found.append([rolled.sensordata[..., :count], batch.sensordata[:, :count], rolled.qpos])
    for one, other in zip(*found, strict=True):
        assert_array_equal(one, other)
    assert (np.ptp(found[0][0], axis=(0, 1)) > 1e-3).sum() >= count - 1  # the foot moves across no axis of the trunk


def test_one_that_diverges_stands_and_the_others_keep_their_bits(model):
    """A control that is not a number ends simulation 2 in its eighth step, after seven whole ones."""
    controls = controls_for(model)
    whole = made(model).rollout(controls, ("time", "qpos", "qacc"))
    broken = controls.copy()
    broken[2, 7, 0] = np.nan
    batch = made(model)
    found = batch.rollout(broken, ("time", "qpos", "qacc"), on_divergence="flag")
    others = np.arange(N) != 2
    for name, values in found.items():
        assert_array_equal(values[others], whole[name][others])
        assert_array_equal(values[2, :7], whole[name][2, :7])
        assert np.isnan(values[2, 7:]).all()
    assert found.taken.tolist() == [7 if i == 2 else T for i in range(N)]
    assert_array_equal(found.diverged, ~others)
    assert_array_equal(batch.qpos[2], whole.qpos[2, 6])
    assert_array_equal(batch.time[2], whole.time[2, 6])
    # it stands until it is reset, and says so
    with pytest.raises(DivergenceError, match="stands there until it is reset"):
        batch.rollout(controls, "qpos")
    raising = made(model)
    with pytest.raises(DivergenceError, match="in simulation 2") as caught:
        raising.rollout(broken, "qpos")
    assert caught.value.simulation == 2
    assert_array_equal(caught.value.rollout.qpos, found.qpos)  # pyright: ignore[reportAttributeAccessIssue]


def test_all_that_diverge_end_the_rollout(model):
    controls = controls_for(model)
    controls[:, 4] = np.nan
    found = made(model).rollout(controls, "qpos", on_divergence="flag")
    assert (found.taken == 4).all() and found.diverged.all() and np.isnan(found.qpos[:, 4:]).all()


def test_rollouts_begin_at_given_states(model):
    controls, rng = controls_for(model), np.random.default_rng(5)
    start = {"qpos": rng.normal(size=(N, model.nq)), "qvel": rng.normal(size=model.nv)}
    batch, fresh = made(model), saltus.Batch(model, N, threads=1)
    batch.step(3)
    fresh.qpos, fresh.qvel = start["qpos"], start["qvel"]
    wanted = fresh.rollout(controls).qpos
    for _ in range(2):  # from the same start the second is the first again
        assert_array_equal(batch.rollout(controls, start=start).qpos, wanted)
    assert (batch.time == fresh.time).all()


def test_rollouts_begin_at_a_simulation_or_the_end_of_its_recording(model):
    sim, controls = saltus.Simulation(model), controls_for(model)
    sim.qpos[:], sim.ctrl[1] = [0.3, -0.2], 0.4
    recording = sim.run(0.2, progress=False)
    batch = saltus.Batch(model, N, threads=1)
    found = batch.rollout(controls, start=sim)
    assert_array_equal(batch.rollout(controls, start=recording).qpos, found.qpos)
    # the same by a single simulation: other loops, equal to rounding
    for k in range(T):
        sim.ctrl[:] = controls[4, k]
        sim.step()
    assert_allclose(found.qpos[4, -1], sim.qpos, rtol=1e-10)
    assert_allclose(found.time[4, -1], sim.time, rtol=1e-12)


def test_a_batch_takes_the_state_of_a_simulation(model):
    sim = saltus.Simulation(model)
    sim.qpos[:], sim.ctrl[1], sim.qfrc_applied[0] = [0.3, -0.2], 0.4, 0.7
    sim.step(4)
    batch = saltus.Batch(model, N, threads=1)
    batch.qpos[:] = 1.0
    batch.set_from(sim, [1, 3])
    for name in ("time", "qpos", "qvel", "act", "ctrl", "qfrc_applied"):
        assert_array_equal(batch.read(name)[3], getattr(sim, name))
    assert (batch.qpos[2] == 1.0).all() and batch.time[2] == 0.0
    batch.set_from(sim)
    batch.step(10)
    sim.step(10)
    assert_allclose(batch.qpos, np.tile(sim.qpos, (N, 1)), rtol=1e-12)


def test_steps_from_event_to_event_are_recorded_too():
    """Free fall under hard contact: the first impact is at √(2 · 0.2 / g) = 0.2019 s, after which the ball stays."""
    batch = saltus.Batch(BALL, 2, threads=1, contact=saltus.Hard(restitution=0.0))
    found = batch.rollout(np.zeros((30, 0)), ("time", "qpos", "qvel"))
    fall = 0.3 - 0.5 * 9.81 * found.time[0] ** 2
    assert_allclose(found.qpos[0, :, 2], np.maximum(fall, 0.1), atol=1e-8)
    other = saltus.Batch(BALL, 2, threads=1, contact=saltus.Hard(restitution=0.0))
    wanted = step_by_step(other, np.zeros((2, 30, 0)), ("time", "qpos", "qvel"))
    for name, values in wanted.items():
        assert_array_equal(found[name], values)


def test_one_that_a_terminal_event_ends_stands_there():
    """Two balls fall; the one from 0.3 m passes 0.25 m at √(2 · 0.05 / g) = 0.101 s, in its sixth step of 0.02 s."""

    def height(m, d):
        return d.qpos[0] - 0.25

    def nothing(m, d):
        pass

    event = saltus.Event(height, nothing, terminal=True)
    batch = saltus.Batch("bouncing_ball", 2, threads=1, contact="hard", events=[event], timestep=0.02)
    found = batch.rollout(np.zeros((10, 0)), "qpos", start={"qpos": [[0.3], [5.0]]})
    fall = np.sqrt(2 * 0.05 / 9.81)
    assert found.taken.tolist() == [int(fall / 0.02), 10] and not found.diverged.any()
    assert np.isnan(found.qpos[0, 5:]).all() and np.isfinite(found.qpos[1]).all()
    assert_allclose([batch.time[0], batch.qpos[0, 0]], [fall, 0.25], rtol=1e-8)


def test_results_are_mappings_and_can_be_stored(model):
    found = made(model).rollout(controls_for(model), ("qpos", "time"))
    assert list(found) == ["qpos", "time"] and len(found) == 2 and "qpos" in repr(found)
    assert found.ctrl.shape == (N, T, model.nu) and found.time.dtype == np.float64
    again = pickle.loads(pickle.dumps(found))
    assert_array_equal(again.qpos, found.qpos)
    with pytest.raises(AttributeError, match="qvel"):
        _ = found.qvel


def test_what_cannot_be_is_refused(model):
    batch, controls = made(model), controls_for(model)
    before = batch.qpos.copy()
    wrong = [
        (dict(controls=controls[:, :, :1]), "controls must have shape"),
        (dict(controls=controls[:3]), "controls must have shape"),
        (dict(controls=controls[:, :0]), "at least one step"),
        (dict(controls=controls, record=("qpos", "qpoz")), "qpoz"),
        (dict(controls=controls, start={"qpoz": 1.0}), "qpoz"),
        (dict(controls=controls, start=3.0), "start must be"),
        (dict(controls=controls, start=saltus.Simulation("pendulum")), "another mechanism"),
        (dict(controls=controls, on_divergence="ignore"), "on_divergence"),
    ]
    for arguments, message in wrong:
        with pytest.raises(OptionError, match=message):
            batch.rollout(**arguments)
    assert_array_equal(batch.qpos, before)
    with pytest.raises(OptionError, match="set_from takes a"):
        batch.set_from(batch)  # pyright: ignore[reportArgumentType]
