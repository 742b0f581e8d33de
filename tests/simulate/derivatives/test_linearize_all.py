"""Derivatives of a step of all simulations of a batch, in one loop on threads, are those of each simulation by itself.

Reference: `Simulation.linearize` of the same state and inputs, to the bit.
"""

import numpy as np
import pytest

import saltus
from saltus.simulate.derivatives.linearize_all import linearize_all, workers_for

FALLING = """<mujoco><option timestep=".004"/><worldbody><geom type="plane" size="5 5 .1"/>
  <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .08 .06" mass="1"/>
  <body pos=".1 0 .05"><joint name="h" axis="0 1 0" damping=".2"/>
  <geom type="capsule" fromto="0 0 0 .3 0 -.1" size=".04" mass=".3"/></body></body>
  <body name="hand" mocap="true" pos="0 0 2"/></worldbody>
  <actuator><motor joint="h"/><general joint="h" dyntype="filter" dynprm=".05"/></actuator>
  <equality><joint name="stop" joint1="h" active="false"/></equality></mujoco>"""
N = 19  # not a whole number of groups


def spread(batch):
    """Give each simulation its own state and inputs."""
    rng, model = np.random.default_rng(1), batch.shared
    batch.qpos[:, 2] = rng.uniform(0.04, 0.12, N)
    batch.qvel[...] = rng.normal(0, 0.3, (N, model.nv))
    batch.ctrl[...] = rng.normal(0, 1, (N, model.nu))
    batch.act[...] = rng.normal(0, 1, (N, model.na))
    batch.xfrc_applied[::2, 1, :3] = rng.normal(0, 1, (len(range(0, N, 2)), 3))
    batch.eq_active[::3] = 1


def alone(batch, i):
    """A and B of simulation i by itself, at the batch's numbers."""
    sim = saltus.Simulation(batch.shared, batch.integrator)
    for name in ("qpos", "qvel", "ctrl", "act", "xfrc_applied", "eq_active"):
        getattr(sim, name)[...] = getattr(batch, name)[i]
    return sim.linearize()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_each_is_that_of_its_simulation(threads, precision):
    batch = saltus.Batch(FALLING, N, "euler", threads=threads, precision=precision)
    spread(batch)
    before = batch.read("qpos").copy(), batch.read("time").copy()
    for _ in range(2):  # nothing is left behind
        A, B = batch.linearize()
        assert A.shape == (N, 15, 15)
        assert B.shape == (N, 15, 2)
        for i in range(0, N, 3):
            expected = alone(batch, i)
            np.testing.assert_array_equal(A[i], expected[0])
            np.testing.assert_array_equal(B[i], expected[1])
    np.testing.assert_array_equal(batch.read("qpos"), before[0])
    np.testing.assert_array_equal(batch.read("time"), before[1])
    assert np.max(np.abs(A - A[0])) > 1e-2


def test_switches_are_checked():
    batch = saltus.Batch(FALLING, 2, "euler", threads=1)
    fields = {"eq_active": np.array([[0.0], [0.5]]), "time": batch.read("time")}
    with pytest.raises(saltus.SaltusError, match="eq_active must be 0 or 1"):
        linearize_all([batch.engine_of(0)], batch.lanes, fields)


def test_steps_that_need_more_than_a_loop():
    """Adaptive steps are left to simulations by themselves."""
    batch = saltus.Batch("pendulum", 2, "dopri5", threads=1)
    engine = batch.engine_of(0)
    fields = {"eq_active": batch.read("eq_active"), "time": batch.read("time")}
    assert workers_for(batch.lanes) == 1
    assert linearize_all([engine], batch.lanes, fields) is None
    assert batch.linearize()[0].shape == (2, 2, 2)


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("which", ["linearize", "linearize_sensors"])
def test_a_state_that_is_not_finite_is_named(which, precision):
    """As the error of a step, with the numbers of the simulations; an infinite control is clamped, as in steps."""
    batch = saltus.Batch(FALLING, 5, "euler", threads=1, precision=precision)
    batch.ctrl[0, 0] = np.inf
    batch.qvel[3, 6] = batch.qpos[4, 0] = np.nan
    with pytest.raises(saltus.DivergenceError, match=r"joint 'h'.*in simulation 3 \(and 1 more of 5\)") as found:
        getattr(batch, which)()
    assert found.value.simulation == 3
    assert found.value.dof == "h"
    batch.qvel[3, 6] = 0.0  # nothing is kept of it
    with pytest.raises(saltus.DivergenceError, match=r"qpos.*in simulation 4 \(and 0 more of 5\)"):
        getattr(batch, which)()
