"""Derivatives of a step of each simulation of a batch are those of the simulation by itself.

Reference: `Simulation.linearize` of the same model, state and law, to the bit.
"""

import numpy as np
import pytest

import saltus
from saltus.errors import OptionError

LINK = """<mujoco><option timestep=".01"/><worldbody><body name="link"><joint name="h" axis="0 1 0" damping=".1"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".03"/></body></worldbody><actuator><motor joint="h"/></actuator>
  </mujoco>"""
STATES = np.array([[0.5, 0.2], [-1.0, 0.3], [2.0, -0.7]])


def single(model, state, ctrl, **options):
    sim = saltus.Simulation(model, "rk4", **options)
    sim.qpos, sim.qvel, sim.ctrl = state[0], state[1], ctrl
    return sim


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_link_in_lanes(precision):
    batch = saltus.Batch(LINK, 3, "rk4", precision=precision)
    batch.qpos, batch.qvel, batch.ctrl = STATES[:, :1], STATES[:, 1:], [[0.1], [0.2], [0.3]]
    before = batch.read("qpos").copy()
    A, B = batch.linearize()
    assert A.shape == (3, 2, 2)
    assert B.shape == (3, 2, 1)
    for i in range(3):
        state, ctrl = (np.float32(x) if precision == "float32" else x for x in (STATES[i], 0.1 * (i + 1)))
        expected = single(LINK, np.float64(state), np.float64(ctrl)).linearize()
        np.testing.assert_allclose(A[i], expected[0], rtol=1e-15, atol=1e-15)
        np.testing.assert_allclose(B[i], expected[1], rtol=1e-15, atol=1e-15)
    np.testing.assert_array_equal(batch.read("qpos"), before)
    A, B, P = batch.linearize("body_mass[link]")
    assert P.shape == (3, 2, 1)


def test_models_that_vary():
    batch = saltus.Batch(LINK, 2, "rk4", vary=["body_mass"])
    masses = batch.model.body_mass.copy()
    masses[1, 1] *= 3
    batch.model.body_mass = masses
    batch.qpos, batch.qvel = STATES[:2, :1], STATES[:2, 1:]
    A, _ = batch.linearize()
    heavy = saltus.load(LINK).changed({"body_mass[link]": masses[1, 1]})
    np.testing.assert_allclose(A[1], single(heavy, STATES[1], 0.0).linearize()[0], rtol=1e-14, atol=1e-14)
    assert abs(A[1] - single(LINK, STATES[1], 0.0).linearize()[0]).max() > 1e-6


@pytest.mark.slow
@pytest.mark.usefixtures("one_hard_layout")
def test_each_has_its_own_restitution():
    """A ball's first bounce, of restitution e: dv/dh = (1 + e) / √(2 h/g)."""
    ball = """<mujoco><option gravity="0 0 -9.81"/><worldbody><geom type="plane" size="5 5 .1" friction=".3"/>
      <body pos="0 0 .1"><joint name="z" type="slide" axis="0 0 1"/><joint name="x" type="slide" axis="1 0 0"/>
      <joint name="y" type="slide" axis="0 1 0"/><geom size=".1" friction=".3"/></body></worldbody></mujoco>"""
    e = np.array([0.5, 0.8])
    batch = saltus.Batch(ball, 2, contact=saltus.Hard(restitution=e), timestep=0.5)
    batch.qpos = [0.8, 0, 0]
    A, _ = batch.linearize()
    np.testing.assert_allclose(A[:, 3, 0], (1 + e) / np.sqrt(2 * 0.8 / 9.81), rtol=1e-7)


def test_delays_in_float32_are_refused():
    """A time of float32 between samples of float64 would find other delayed controls than those of the batch."""
    delayed = LINK.replace('<motor joint="h"/>', '<motor joint="h" delay=".02" nsample="4"/>')
    batch = saltus.Batch(delayed, 2, "rk4", precision="float32")
    for derivatives in (batch.linearize, lambda: batch.linearize_sensors()):
        with pytest.raises(OptionError, match="float32 is too coarse"):
            derivatives()
    assert saltus.Batch(delayed, 2, "rk4").linearize()[0].shape == (2, 2, 2)
