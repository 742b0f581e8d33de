"""The names of mujoco.rollout give what mujoco.rollout gives.

Law: MuJoCo 4.0's own module beside ours, call by call. Tolerance: states and sensors of 40 steps of a smooth motion to
1e-10; shapes exactly.
"""

import mujoco
import numpy as np
import pytest
from mujoco import rollout as theirs
from numpy.testing import assert_allclose, assert_array_equal

from saltus.compat import mujoco_rollout as ours
from saltus.errors import OptionError, SaltusWarning

XML = """
<mujoco><option timestep="0.004"><flag contact="disable"/></option><worldbody>
  <body name="cart"><joint name="slide" type="slide" axis="1 0 0" damping="0.1"/>
    <geom type="box" size="0.1 0.1 0.05" mass="1"/>
    <body name="pole" pos="0 0 0.1"><joint name="hinge" axis="0 1 0" damping="0.05" stiffness="0.2"/>
      <geom type="capsule" fromto="0 0 0 0 0 0.5" size="0.03" mass="0.2"/><site name="tip" pos="0 0 0.5"/>
    </body></body></worldbody>
<actuator><motor name="push" joint="slide" gear="3"/>
  <general name="turn" joint="hinge" dyntype="filter" dynprm="0.03" gainprm="2"/></actuator>
<sensor><jointpos joint="hinge"/><accelerometer site="tip"/><framelinvel objtype="site" objname="tip"/></sensor>
</mujoco>"""
N, T = 5, 40
CLOSE = dict(rtol=1e-10, atol=1e-10)


@pytest.fixture(scope="module")
def model():
    return mujoco.MjModel.from_xml_string(XML)


@pytest.fixture
def start(model):
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    return 0.3 * np.random.default_rng(0).normal(size=(N, size))


def controls(steps=T, n=N):
    return np.random.default_rng(1).normal(size=(n, steps, 2))


def compare(model, *arguments, **options):
    found = [
        side.rollout(model, mujoco.MjData(model), *arguments, **{k: np.copy(v) if k in OUT else v for k, v in o})
        for side, o in ((theirs, options.items()), (ours, options.items()))
    ]
    for expected, got in zip(*found, strict=True):
        assert got.shape == expected.shape
        assert_allclose(got, expected, **CLOSE)
    return found[1]


OUT = ("state", "sensordata")


def test_states_and_sensors_of_each_step(model, start):
    compare(model, start, controls())


@pytest.mark.parametrize(
    ("first", "control", "options"),
    [
        (slice(0, 1), controls(), {}),
        (slice(None), controls(n=1), {}),
        (0, controls()[0], {}),
        (slice(None), controls(steps=1), {"nstep": 6}),
        (slice(None), None, {"nstep": 6}),
        (0, controls()[0, 0], {}),
    ],
)
def test_single_rows_are_for_all(model, start, first, control, options):
    compare(model, start[first], control, **options)


def test_given_arrays_are_written(model, start):
    state, sensordata = np.zeros((N, T, start.shape[1])), np.zeros((N, T, model.nsensordata))
    found = ours.rollout(model, mujoco.MjData(model), start, controls(), state=state, sensordata=sensordata)
    assert found[0] is state and found[1] is sensordata and state.any() and sensordata.any()
    compare(model, start, None, sensordata=sensordata)


def test_one_object_many_calls_and_threads(model, start):
    datas = [mujoco.MjData(model) for _ in range(2)]
    with ours.Rollout(nthread=2) as runner, theirs.Rollout(nthread=2) as other:
        for seed in range(2):
            expected, got = (side.rollout(model, datas, (1 + seed) * start, controls()) for side in (other, runner))
            assert_allclose(got[0], expected[0], **CLOSE)
    with pytest.raises(RuntimeError, match="shutdown"):
        runner.rollout(model, datas, start, controls())
    kept = [ours.rollout(model, datas, start, controls(), persistent_pool=True)[0] for _ in range(2)]
    ours.shutdown_persistent_pool()
    assert_array_equal(*kept)


def test_values_written_into_the_model_count_at_the_next_call(start):
    own = mujoco.MjModel.from_xml_string(XML)
    with ours.Rollout(nthread=2) as runner:
        for mass in (0.2, 0.9):
            own.body_mass[2] = mass
            mujoco.mj_setConst(own, mujoco.MjData(own))
            got = runner.rollout(own, None, start, controls())[0]
            assert_allclose(got, theirs.rollout(own, mujoco.MjData(own), start, controls())[0], **CLOSE)


def test_rows_after_a_divergence_are_nan(model, start):
    bad = controls()
    bad[1, 3, 0] = np.nan
    with pytest.warns(SaltusWarning, match="1 of 5 simulations diverged"):
        state, sensordata = ours.rollout(model, mujoco.MjData(model), start, bad)
    assert np.isnan(state[1, 3:]).all() and np.isnan(sensordata[1, 3:]).all()
    assert np.isfinite(state[1, :3]).all() and np.isfinite(state[[0, 2, 3, 4]]).all()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (dict(control_spec=int(mujoco.mjtState.mjSTATE_USER)), "control_spec must be mjSTATE_CTRL"),
        (dict(control=np.zeros((N, T, 3))), "control must have 2 columns"),
        (dict(control=np.zeros((3, T, 2))), "numbers of simulations differ"),
        (dict(control=np.zeros((N, T, 2)), nstep=7), "numbers of steps differ"),
        (dict(control=np.zeros((1, N, T, 2))), "at most 3 axes"),
        (dict(model="pendulum"), "must be a mujoco.MjModel"),
    ],
)
def test_what_is_not_here_is_refused(model, start, arguments, said):
    with pytest.raises(OptionError, match=said):
        ours.rollout(**{"model": model, "data": mujoco.MjData(model), "initial_state": start} | arguments)
