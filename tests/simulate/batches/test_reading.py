"""What is read from a batch is what each simulation shows.

Law: `Simulation.data` at the same state, and MuJoCo 4.0 after mj_forward. Tolerances: 1e-12 relative to the largest
number of a field against Simulation, which sums in another order and evaluates sines by other polynomials; against
MuJoCo 1e-11 for smooth quantities and 1e-8 for accelerations under soft constraints. Copies are compared by bits.
"""

import tracemalloc

import mujoco
import numpy as np
import pytest
from helpers.batches import ADHESION, moved, scene, singles
from numpy.testing import assert_allclose, assert_array_equal

import saltus
from saltus.errors import OptionError
from saltus.number.kinds import LANES
from saltus.simulate.batches.fields import READABLE, STATES

WIDTH = LANES["float64"].width
COMPUTED = sorted(READABLE - {*STATES})
SMOOTH = (
    "xpos",
    "xquat",
    "xmat",
    "subtree_com",
    "cvel",
    "qfrc_bias",
    "qfrc_passive",
    "qfrc_actuator",
    "M",
    "ten_length",
)


def shown(sim, name):
    return sim.sensordata if name == "sensordata" else getattr(sim.data, name)


def assert_same_as_single(batch):
    for name in COMPUTED:
        wanted = np.array([shown(sim, name) for sim in singles(batch)])
        found = batch.read(name)
        assert found.shape == wanted.shape, name
        assert_allclose(found, wanted, rtol=0, atol=1e-12 * max(abs(wanted).max(initial=0), 1e-3), err_msg=name)
    touching = sum(int(sim.data.ncon) for sim in singles(batch))
    assert touching > 0


@pytest.fixture(scope="module")
def model():
    return scene()


@pytest.fixture(scope="module")
def batch(model):
    return moved(saltus.Batch(model, WIDTH + 3, threads=1))


def test_equals_single_simulations(batch):
    """Each field, read alone, so that all that it needs is computed for it."""
    assert_same_as_single(batch)


@pytest.mark.slow
@pytest.mark.parametrize("source", ["adhesion", "humanoid"])
def test_equals_single_simulations_of_other_models(source):
    model = scene(ADHESION) if source == "adhesion" else saltus.load(source)
    assert_same_as_single(moved(saltus.Batch(model, 3, threads=1), 60))


@pytest.mark.slow
def test_equals_mujoco():
    batch = moved(saltus.Batch("humanoid", 4, threads=1), 60)
    m = batch.model.mujoco
    found = dict(zip([*SMOOTH, "qacc"], batch.read([*SMOOTH, "qacc"]), strict=True))
    qpos, qvel, ctrl, force = batch.read(["qpos", "qvel", "ctrl", "xfrc_applied"])
    d = mujoco.MjData(m)
    m.opt.tolerance, m.opt.iterations, before = 0.0, 100, (m.opt.tolerance, m.opt.iterations)
    for i in range(batch.n):
        d.qpos[:], d.qvel[:], d.ctrl[:], d.xfrc_applied[:] = qpos[i], qvel[i], ctrl[i], force[i]
        mujoco.mj_forward(m, d)
        for name, values in found.items():
            wanted = getattr(d, name)
            close = 1e-8 if name == "qacc" else 1e-11
            assert_allclose(values[i], wanted, rtol=0, atol=close * max(1.0, abs(wanted).max(initial=0)), err_msg=name)
    m.opt.tolerance, m.opt.iterations = before


def test_several_at_once(batch):
    """In the order of their names, whatever each of them needs."""
    names = ("cacc", "time", "cfrc_body", "qpos", "qfrc_inverse", "actuator_moment", "sensordata", "xmat")
    for name, found in zip(names, batch.read(names), strict=True):
        assert_array_equal(found, batch.read(name), err_msg=name)
    assert batch.read(()) == ()


def test_reading_changes_nothing(model):
    looked, other = (moved(saltus.Batch(model, 3, threads=1), 10) for _ in range(2))
    looked.read(("qacc", "cacc", "sensordata", "qfrc_inverse"))
    looked.contacts()
    for each in (looked, other):
        each.step(5)
    assert_array_equal(looked.lanes.states, other.lanes.states)
    assert looked.unconverged == other.unconverged


def test_on_threads(model):
    alone, shared = (moved(saltus.Batch(model, 4 * WIDTH + 1, threads=k), 5) for k in (1, 3))
    shared.lanes.pace = 1.0  # however little there is to do, use them all
    for name in ("xpos", "qacc", "sensordata"):
        assert_array_equal(alone.read(name), shared.read(name))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_into_arrays(batch, dtype):
    """Contiguous, or with strides of any sign, of either precision: the numbers that a new array has."""
    wanted = batch.read("xmat")
    n, many, each = wanted.shape
    room = np.full((2 * n, each, 3 * many), 7.0, dtype)
    for out in (np.zeros(wanted.shape, dtype), room[::-2, :, ::3].transpose(0, 2, 1)):
        assert batch.read("xmat", out=out) is not None
        assert_array_equal(out, wanted.astype(dtype))
    assert np.all(room[:, :, 1::3] == 7.0) and np.all(room[::2] == 7.0)  # nothing beside it
    times = np.zeros(n, dtype)
    batch.read(["time", "qpos"], out=[times, None])
    assert_array_equal(times, batch.time.astype(dtype))


def test_single_precision(model):
    batch = saltus.Batch(model, WIDTH + 3, precision="float32", threads=1)
    batch.qpos = model.qpos0 + np.linspace(0.0, 0.1, batch.n)[:, None]
    found = batch.read("xpos")
    assert found.dtype == np.float32
    assert_array_equal(batch.read("xpos", out=np.zeros(found.shape)), found)
    assert batch.read("time").dtype == np.float64


def test_in_place(batch):
    """Into an array of one's own without a temporary of its size: memory that NumPy asks for is less than that."""
    many = saltus.Batch(batch.model, 4096, threads=1)
    out = np.zeros((4096, many.model.nbody, 9), np.float32)
    many.read("xmat", out=out)
    tracemalloc.start()
    many.read("xmat", out=out)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.05 * out.nbytes


def test_without_constraints():
    """Forces of constraints have a place for each degree of freedom in models that have none, too."""
    batch = saltus.Batch("pendulum", 3, threads=1)
    out = np.ones((3, 1))
    batch.read("qfrc_constraint", out=out)
    assert_array_equal(out, 0.0)
    assert_array_equal(saltus.Simulation("pendulum").data.qfrc_constraint, [0.0])


def test_sensor(batch):
    assert_array_equal(batch.sensor("angle"), batch.qpos[:, 1:2])
    assert_array_equal(batch.sensor("tip"), batch.read("sensordata")[:, :3])
    out = np.zeros((batch.n, 3), np.float32)
    batch.sensor("tip", out=out)
    assert_array_equal(out, batch.read("site_xpos")[:, 1].astype(np.float32))
    with pytest.raises(KeyError, match="angle"):
        batch.sensor("angel")


def test_wrong_names(batch):
    with pytest.raises(OptionError, match="did you mean 'xpos'"):
        batch.read("xpso")
    with pytest.raises(OptionError, match="contacts"):
        batch.read("efc_force")
    with pytest.raises(OptionError, match="2 names, not 1"):
        batch.read(("qpos", "qvel"), out=[None])
