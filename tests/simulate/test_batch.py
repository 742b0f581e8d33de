"""A batch is that many single runs, and none of them feels the others.

Law: each simulation of a batch takes the steps that a Simulation takes. Its bits depend on nothing but its own state
and inputs: not on its neighbours in the register, the size of the batch, its place, or the number of threads.

Tolerances: equality with single runs is to rounding (lanes evaluate sines by other polynomials and sum in other
orders): 1e-11 after 50 steps of motions that grow errors by less than a hundred; in float32, 1e-4. Equality among
batches is of bits.
"""

import numpy as np
import pytest
from helpers.mechanisms import ACTUATORS
from numpy.testing import assert_allclose, assert_array_equal

import saltus
from saltus.number.kinds import LANES

WIDTH = LANES["float64"].width
TREE = """
<mujoco><option timestep="0.005"/><worldbody>
  <body><joint name="j" axis="0 1 0" damping="0.2" stiffness="1"/>
    <inertial pos="0 0 -0.3" mass="1" diaginertia="0.05 0.05 0.01"/>
    <body pos="0 0 -0.6"><joint type="ball" damping="0.1"/>
      <inertial pos="0 0.1 -0.2" mass="0.5" diaginertia="0.02 0.02 0.01"/></body></body>
  <body pos="1 0 0"><freejoint/><inertial pos="0.1 0 0" mass="1" diaginertia="0.02 0.03 0.04"/></body>
</worldbody><actuator><motor joint="j" gear="2"/></actuator></mujoco>""".replace(
    "<joint axis", '<joint name="j" axis', 1
)
INTEGRATORS = ["euler", "rk4", "verlet", "implicit_midpoint", "energy_momentum", "dopri5"]


def states(model, n, seed=0):
    """Different qpos [n, nq] and qvel [n, nv], quaternions of unit length, and ctrl [n, nu]."""
    rng = np.random.default_rng(seed)
    qpos = model.qpos0 + 0.5 * rng.normal(size=(n, model.nq))
    for kind, a in zip(model.jnt_type, model.jnt_qposadr, strict=True):
        if kind in (0, 1):
            quat = qpos[:, a + 3 : a + 7] if kind == 0 else qpos[:, a : a + 4]
            quat /= np.linalg.norm(quat, axis=1, keepdims=True)
    return qpos, rng.normal(size=(n, model.nv)), rng.normal(size=(n, model.nu))


def batch_of(model, qpos, qvel, ctrl, **options):
    batch = saltus.Batch(model, len(qpos), **{"threads": 1, **options})
    batch.qpos, batch.qvel, batch.ctrl = qpos, qvel, ctrl
    return batch


def ends(batch, steps=20):
    batch.step(steps)
    return np.hstack([batch.time[:, None], batch.qpos, batch.qvel])


@pytest.mark.slow
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_equals_single_runs(integrator):
    model = saltus.load(TREE)
    n = WIDTH + 3
    qpos, qvel, ctrl = states(model, n)
    found = ends(batch_of(model, qpos, qvel, ctrl, integrator=integrator), 50)
    for i in range(n):
        sim = saltus.Simulation(model, integrator)
        sim.qpos[:], sim.qvel[:], sim.ctrl[:] = qpos[i], qvel[i], ctrl[i]
        sim.step(50)
        assert_allclose(found[i], np.hstack([sim.time, sim.qpos, sim.qvel]), rtol=0, atol=1e-11)


def test_equals_single_runs_with_limited_actuators():
    """Clipping lane by lane."""
    model = saltus.load(ACTUATORS)
    qpos, qvel, ctrl = states(model, 2 * WIDTH)
    found = ends(batch_of(model, qpos, qvel, 3 * ctrl), 20)
    for i in range(2 * WIDTH):
        sim = saltus.Simulation(model)
        sim.qpos[:], sim.qvel[:], sim.ctrl[:] = qpos[i], qvel[i], 3 * ctrl[i]
        sim.step(20)
        assert_allclose(found[i], np.hstack([sim.time, sim.qpos, sim.qvel]), rtol=0, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_bits_do_not_depend_on_neighbours_size_place_or_threads(integrator):
    model = saltus.load(TREE)
    n = 4 * WIDTH + 1
    qpos, qvel, ctrl = states(model, n)
    reference = ends(batch_of(model, qpos, qvel, ctrl, integrator=integrator))
    # alone
    for i in (0, 1, n - 1):
        alone = batch_of(model, qpos[i : i + 1], qvel[i : i + 1], ctrl[i : i + 1], integrator=integrator)
        assert_array_equal(ends(alone)[0], reference[i])
    # in another order, on other places
    order = np.random.default_rng(1).permutation(n)
    shuffled = ends(batch_of(model, qpos[order], qvel[order], ctrl[order], integrator=integrator))
    assert_array_equal(shuffled, reference[order])
    # on threads
    for threads in (2, 3):
        batch = batch_of(model, qpos, qvel, ctrl, integrator=integrator, threads=threads)
        batch.lanes.pace = 1.0  # however little there is to do, use them all
        assert_array_equal(ends(batch), reference)
    # step by step
    batch = batch_of(model, qpos, qvel, ctrl, integrator=integrator)
    for _ in range(20):
        batch.step()
    assert_array_equal(ends(batch, 0), reference)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("integrator", "bad"),
    # `energy_momentum` keeps energies, also very large ones
    [(name, bad) for name in INTEGRATORS for bad in (np.nan, np.inf, 1e9) if (name, bad) != ("energy_momentum", 1e9)],
)
def test_a_diverging_neighbour_changes_nothing(integrator, bad):
    model = saltus.load(TREE)
    n = WIDTH
    qpos, qvel, ctrl = states(model, n)
    reference = ends(batch_of(model, qpos, qvel, ctrl, integrator=integrator))
    qvel[1] = bad
    batch = batch_of(model, qpos, qvel, ctrl, integrator=integrator)
    with pytest.raises(saltus.DivergenceError, match=rf"simulation 1 \(and 0 more of {n}\)"):
        batch.step(20)
    others = np.arange(n) != 1
    assert_array_equal(batch.diverged, ~others)
    assert_array_equal(ends(batch, 0)[others], reference[others])
    # it is said again, and the others go on
    with pytest.raises(saltus.DivergenceError, match=rf"simulation 1 \(and 0 more of {n}\), which stands there"):
        batch.step(1)
    batch.step(1, ~batch.diverged)
    assert_allclose(batch.time[others], batch.timestep * 22)
    assert batch.time[1] == 0.0
    batch.reset(batch.diverged)
    assert not batch.diverged.any()
    assert_array_equal(batch.qpos[1], model.qpos0)
    batch.step(1)


def test_a_bad_control_of_a_neighbour():
    """Adaptive steps that become too small for one simulation: it is named, the others arrive."""
    model = saltus.load(TREE)
    qpos, qvel, ctrl = states(model, WIDTH)
    # so many steps to go that the bad one gives up long before the others are there
    options = {"integrator": "dopri5", "timestep": 1.0}
    reference = ends(batch_of(model, qpos, qvel, ctrl, **options), 1)
    ctrl[WIDTH - 1] = np.nan
    batch = batch_of(model, qpos, qvel, ctrl, **options)
    with pytest.raises(saltus.DivergenceError, match=rf"ctrl\[0\] of actuator .* in simulation {WIDTH - 1} "):
        batch.step(1)
    assert_array_equal(ends(batch, 0)[:-1], reference[:-1])
    assert_array_equal(batch.diverged, np.arange(WIDTH) == WIDTH - 1)
    # it stays where it was until it is set anew
    assert batch.time[-1] == 0.0
    batch.reset(batch.diverged)
    batch.step(1)
    assert_array_equal(batch.time, np.append(np.full(WIDTH - 1, 2.0), 1.0))


@pytest.mark.slow
def test_single_precision():
    """float32 gives the same motion to seven digits a step; its own bits do not depend on neighbours either."""
    model = saltus.load(TREE)
    n = LANES["float32"].width + 1
    qpos, qvel, ctrl = states(model, n)
    double = ends(batch_of(model, qpos, qvel, ctrl))
    single = batch_of(model, qpos, qvel, ctrl, precision="float32")
    assert single.qpos.dtype == np.float32
    found = ends(single)
    assert_allclose(found, double, rtol=0, atol=1e-4)
    assert np.max(np.abs(found - double)) > 1e-9
    alone = batch_of(model, qpos[2:3], qvel[2:3], ctrl[2:3], precision="float32")
    assert_array_equal(ends(alone)[0], found[2])


# reading and writing


def test_reset_of_some():
    batch = saltus.Batch("pendulum", 5, threads=1)
    batch.step(10)
    moved = batch.qpos.copy()
    batch.reset([1, 3])
    start = np.isin(np.arange(5), [1, 3])
    assert_allclose(batch.qpos[start], np.pi / 2)
    assert_array_equal(batch.qpos[~start], moved[~start])
    assert_array_equal(batch.time > 0, ~start)
    batch.reset(np.array([True, False, False, False, False]))
    assert batch.time[0] == 0 and batch.time[2] > 0
    batch.reset(2)
    assert batch.time[2] == 0
    batch.reset()
    assert_array_equal(batch.time, 0)
    assert_array_equal(batch.qvel, 0)


def test_reset_to_a_key():
    batch = saltus.Batch("top", 3, threads=1)
    batch.reset([2], key="slow_precession")
    assert_allclose(batch.qvel[2], [-1.26065848430450255, 0, 200])
    assert_allclose(batch.qvel[0], [0, 0, 200])
    with pytest.raises(saltus.OptionError, match="unknown keyframe 'slow'"):
        batch.reset(key="slow")


@pytest.mark.parametrize("ids", [[5], [-1], [0.5], [True, False]])
def test_bad_ids(ids):
    with pytest.raises(saltus.OptionError, match="reset: "):
        saltus.Batch("pendulum", 5, threads=1).reset(ids)


def test_reset_after_verlet_starts_anew():
    """A reset simulation forgets what the method remembered."""
    batch = saltus.Batch("pendulum", 2, threads=1, integrator="verlet")
    fresh = ends(batch)
    batch.reset([0])
    batch.step(20)
    assert_array_equal(batch.qpos[0], fresh[0, 1:2])


def test_assigning_shapes():
    batch = saltus.Batch("chain", 7, threads=1)
    batch.qpos = np.arange(42).reshape(7, 6)
    assert_array_equal(batch.qpos, np.arange(42).reshape(7, 6))
    batch.qvel = [1, 2, 3, 4, 5, 6]
    assert_array_equal(batch.qvel, np.tile([1, 2, 3, 4, 5, 6], (7, 1)))
    batch.time = 3.0
    assert_array_equal(batch.time, np.full(7, 3.0))
    batch.xfrc_applied = np.ones((7, 7, 6))
    assert batch.xfrc_applied.shape == (7, 7, 6)
    assert batch.ctrl.shape == (7, 0) and batch.act.shape == (7, 0)
    for wrong in (np.zeros(5), np.zeros((6, 7)), np.zeros((7, 6, 1))):
        with pytest.raises(saltus.OptionError, match=r"qpos has shape \(7, 6\)"):
            batch.qpos = wrong
    # what is read is a copy, through which entries are set
    before = batch.qpos
    batch.qpos[0, 0] = 99
    assert (batch.qpos[0, 0], before[0, 0]) == (99, 0)


def test_forces():
    """Applied joint and Cartesian forces, in one simulation of several, as in single runs."""
    model = saltus.load(TREE)
    n = WIDTH + 1
    qpos, qvel, ctrl = states(model, n)
    joint, cartesian = np.zeros((n, model.nv)), np.zeros((n, model.nbody, 6))
    rng = np.random.default_rng(2)
    joint[1], cartesian[2, 1:] = rng.normal(size=model.nv), rng.normal(size=(model.nbody - 1, 6))
    plain = ends(batch_of(model, qpos, qvel, ctrl))
    batch = batch_of(model, qpos, qvel, ctrl)
    batch.qfrc_applied, batch.xfrc_applied = joint, cartesian
    found = ends(batch)
    for i in (1, 2):
        sim = saltus.Simulation(model)
        sim.qpos[:], sim.qvel[:], sim.ctrl[:] = qpos[i], qvel[i], ctrl[i]
        sim.qfrc_applied, sim.xfrc_applied = joint[i], cartesian[i]
        sim.step(20)
        assert_allclose(found[i], np.hstack([sim.time, sim.qpos, sim.qvel]), rtol=0, atol=1e-11)
    others = ~np.isin(np.arange(n), [1, 2])
    assert_array_equal(found[others], plain[others])
    # a whole reset takes them away, also for those of the same batch later
    batch.reset()
    assert not batch.qfrc_applied.any() and not batch.xfrc_applied.any()
    batch.qpos, batch.qvel, batch.ctrl = qpos, qvel, ctrl
    assert_array_equal(ends(batch), plain)


def spring(m, d, gap, velocity):
    return -5e3 * gap - 20.0 * velocity[0], 0.0, 0.0


def test_a_law_of_ones_own():
    """A ball on springs, lane by lane as in single runs."""
    law = saltus.Compliant(spring)
    batch = saltus.Batch("bouncing_ball", WIDTH + 1, threads=1, contact=law, integrator="rk4")
    heights = np.linspace(0.0, 0.02, WIDTH + 1)
    batch.qpos = heights[:, None]
    batch.step(100)
    assert batch.law is law
    for i in (0, WIDTH):
        sim = saltus.Simulation("bouncing_ball", "rk4", law)
        sim.qpos[0] = heights[i]
        sim.step(100)
        assert_allclose(np.hstack([batch.qpos[i], batch.qvel[i]]), np.hstack([sim.qpos, sim.qvel]), rtol=0, atol=1e-11)
    assert batch.qpos[0, 0] < 0.0  # on the spring


def test_options():
    with pytest.raises(saltus.OptionError, match="at least one simulation"):
        saltus.Batch("pendulum", 0)
    with pytest.raises(saltus.OptionError, match="threads must be at least 1"):
        saltus.Batch("pendulum", 1, threads=0)
    with pytest.raises(saltus.OptionError, match="unknown precision 'float16'"):
        saltus.Batch("pendulum", 1, precision="float16")
    with pytest.raises(saltus.OptionError, match="unknown integrator"):
        saltus.Batch("pendulum", 1, integrator="leapfrog")
    with pytest.raises(saltus.OptionError, match="timestep must be positive"):
        saltus.Batch("pendulum", 1, timestep=-0.1)
    batch = saltus.Batch("pendulum", 3, threads=1, timestep=0.02)
    with pytest.raises(saltus.OptionError, match="must not be negative"):
        batch.step(-1)
    batch.step(0)
    assert_array_equal(batch.time, 0)
    batch.step(5)
    assert_allclose(batch.time, 0.1)
    assert len(batch) == 3 and "n = 3" in repr(batch)


@pytest.mark.parametrize("contact", ["soft", "hard"])
def test_steps_of_some_leave_the_others_where_they_are(contact):
    """Those that step have the bits of a batch in which all do; a neighbour that would diverge is not looked at."""
    batch, whole = (saltus.Batch("bouncing_ball", 11, threads=1, contact=contact) for _ in range(2))
    for each in (batch, whole):
        each.qvel = np.linspace(-1, 1, 11)[:, None] * np.ones(batch.qvel.shape[1])
    batch.write("qpos", np.nan, [4])
    before = batch.qpos
    batch.step(5, [1, 3, 9])
    batch.step(5, np.arange(11) == 3)
    batch.step(3, [])
    whole.step(5)
    np.testing.assert_array_equal(batch.qpos[[1, 9]], whole.qpos[[1, 9]])
    whole.step(5)
    np.testing.assert_array_equal(batch.qpos[3], whole.qpos[3])
    still = [0, 2, 4, 5, 6, 7, 8, 10]
    np.testing.assert_array_equal(batch.qpos[still], before[still])
    np.testing.assert_array_equal(batch.time[still], 0.0)
    assert not batch.diverged.any()
