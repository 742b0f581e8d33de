"""Derivatives of inverse dynamics are exact.

References: central differences of `sim.inverse`, of sixth order, with a step of 2e-3 (truncation and rounding below
1e-10 of smooth forces; where soft contacts stiffen quickly, 1e-7 of the largest entry); MuJoCo's `mjd_inverseFD`,
whose differences with a step of 1e-6 are good to 1e-5; the closed form of a pendulum; the inertia matrix.
"""

import mujoco
import numpy as np
import pytest
from simulate.analysis.test_inverse_forces import CONTACTS, state

import saltus
from saltus.simulate.derivatives.linearize_inverse import InverseLinearization

PENDULUM = """<mujoco><option gravity="0 0 -9.81"/><worldbody><body><joint name="j" axis="0 1 0" damping=".2"
  armature=".05" stiffness="3"/><inertial pos="0 0 -.5" mass="2" diaginertia=".1 .1 .1"/></body></worldbody></mujoco>"""
TREE = """<mujoco><worldbody><body><joint type="ball" damping=".1"/>
  <geom type="capsule" fromto="0 0 0 0 .1 -.4" size=".05"/>
  <body pos="0 0 -.4"><joint name="a" axis="0 1 0" armature=".02" stiffness="1"/><joint name="b" axis="1 0 0"/>
  <geom type="box" size=".05 .1 .2" pos="0 0 -.2"/></body></body>
  <body pos="2 0 1"><freejoint/><geom type="box" size=".1 .2 .3"/><body pos="0 0 .4"><joint axis="0 1 1"/>
  <geom type="capsule" fromto="0 0 0 .3 0 0" size=".04"/></body></body></worldbody>
  <tendon><fixed stiffness="2" damping=".3"><joint joint="a" coef="1"/><joint joint="b" coef="-.5"/></fixed></tendon>
  <equality><joint joint1="a" joint2="b" polycoef=".1 .5 0 0 0"/></equality></mujoco>"""


def differences(sim, qacc, h, **options):
    """Derivatives [nv, 3 nv] of sixth order."""
    m, nv, q0, v0 = sim.model.mujoco, sim.model.nv, np.array(sim.qpos), np.array(sim.qvel)

    def forces(k, x):
        change = np.zeros(3 * nv)
        change[k] = x
        q = q0.copy()
        mujoco.mj_integratePos(m, q, change[:nv], 1.0)
        sim.qpos, sim.qvel = q, v0 + change[nv : 2 * nv]
        found = sim.inverse(qacc + change[2 * nv :], **options)
        sim.qpos, sim.qvel = q0, v0
        return found

    def central(k, x):
        return (forces(k, x) - forces(k, -x)) / (2 * x)

    columns = [1.5 * central(k, h) - 0.6 * central(k, 2 * h) + 0.1 * central(k, 3 * h) for k in range(3 * nv)]
    return np.stack(columns, axis=1)


def moving(model, seed=0, **options):
    sim, rng = state(model, seed=seed, **options)
    for k in range(sim.model.mujoco.njnt):
        if sim.model.mujoco.jnt_type[k] == mujoco.mjtJoint.mjJNT_HINGE:
            sim.qpos[sim.model.mujoco.jnt_qposadr[k]] = 0.3 * rng.normal()
    return sim, rng.normal(size=sim.model.nv)


def test_a_pendulum_in_closed_form():
    """τ = (I + m l² + armature) a + c v + (k + m g l sin) q."""
    sim = saltus.Simulation(PENDULUM)
    sim.qpos, sim.qvel = 0.7, -0.4
    found = sim.linearize_inverse([1.5])
    assert isinstance(found, InverseLinearization)
    by_q, by_v, by_a = found
    assert by_q[0, 0] == pytest.approx(3 + 2 * 9.81 * 0.5 * np.cos(0.7), rel=1e-12)
    assert by_v[0, 0] == pytest.approx(0.2, rel=1e-12)
    assert by_a[0, 0] == pytest.approx(0.1 + 2 * 0.25 + 0.05, rel=1e-12)


def test_a_tree_beside_differences_and_mujoco():
    """Ball and free joints, springs, dampers, a tendon and an equality, of which M holds all but the last."""
    sim, qacc = moving(TREE)
    before = sim.snapshot()
    found = np.concatenate(sim.linearize_inverse(qacc), axis=1)
    np.testing.assert_array_equal(sim.snapshot(), before)
    scale = np.abs(found).max()
    np.testing.assert_allclose(found, differences(sim, qacc, 2e-3), rtol=0, atol=1e-9 * scale)
    m, nv = sim.model.mujoco, sim.model.nv
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:], d.qacc[:] = sim.qpos, sim.qvel, qacc
    out = [np.zeros((nv, nv)) for _ in range(3)]
    mujoco.mjd_inverseFD(m, d, 1e-6, False, *out, None, None, None, None)
    np.testing.assert_allclose(found, np.concatenate([x.T for x in out], axis=1), rtol=0, atol=1e-5 * scale)


def test_by_accelerations_it_is_the_inertia_matrix():
    free = TREE[: TREE.index("<equality>")] + "</mujoco>"
    sim, qacc = moving(free)
    by_a = sim.linearize_inverse(qacc).dqfrc_dqacc
    np.testing.assert_allclose(by_a, sim.full_M(), rtol=0, atol=1e-13 * np.abs(by_a).max())
    np.testing.assert_allclose(by_a, by_a.T, rtol=0, atol=1e-13 * np.abs(by_a).max())


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_soft_contacts_limits_and_dry_friction(cone):
    """A small step keeps all differences in one set of contacts and zones of friction."""
    sim, rng = state(CONTACTS.format(cone=cone))
    qacc = rng.normal(size=sim.model.nv)
    found = np.concatenate(sim.linearize_inverse(qacc), axis=1)
    expected = differences(sim, qacc, 2e-6)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(found).max())
    by_a = found[:, -sim.model.nv :]
    assert np.abs(by_a - sim.full_M()).max() > 0.1  # contacts resist accelerations
    np.testing.assert_allclose(by_a, by_a.T, rtol=0, atol=1e-11 * np.abs(by_a).max())  # they follow from a cost
    assert np.linalg.eigvalsh((by_a + by_a.T) / 2).min() > 0


def test_it_inverts_the_derivatives_of_forward_dynamics():
    """At the state's own accelerations: da = -(∂τ/∂a)⁻¹ (∂τ/∂q dq + ∂τ/∂v dv), as A of a small Euler step has it."""
    free = TREE[: TREE.index("<equality>")] + "</mujoco>"
    sim, _ = moving(free.replace('damping=".1"', "").replace('damping=".3"', ""))
    nv, h = sim.model.nv, 1e-6
    by_q, by_v, by_a = sim.linearize_inverse()
    sim.timestep = h
    A, _ = sim.linearize()
    expected = -np.linalg.solve(by_a, np.concatenate([by_q, by_v], axis=1))
    found = (A[nv:] - np.eye(nv, 2 * nv, nv)) / h
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("integrator", ["euler", "discrete"])
def test_of_a_step(integrator):
    """Without tendons, equalities and lone free bodies, which `discrete` does not take."""
    arm = TREE[: TREE.index('<body pos="2')] + "</worldbody></mujoco>"
    sim, qacc = moving(arm, integrator=integrator)
    found = np.concatenate(sim.linearize_inverse(qacc, discrete=True), axis=1)
    expected = differences(sim, qacc, 2e-3, discrete=True)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(found).max())


def test_a_users_contact_law():
    """A linear spring under a ball, k = 1e4 N/m and c = 10 N s/m."""

    def spring(m, d, gap, velocity):
        return -1e4 * gap - 10.0 * velocity[0], 0.0, 0.0

    ball = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/><body pos="0 0 .099">
      <joint type="slide" axis="0 0 1"/><geom size=".1" mass="2"/></body></worldbody></mujoco>"""
    found = saltus.Simulation(ball, contact=saltus.Compliant(spring)).linearize_inverse([0.3])
    np.testing.assert_allclose(np.ravel(found), [1e4, 10.0, 2.0], rtol=1e-12)


def test_a_mocap_body_is_held():
    """A weld pulls a body to a mocap body, from beyond the width of its impedance."""
    model = """<mujoco><worldbody><body name="hand" mocap="true" pos="0 0 .1"/>
      <body name="load"><freejoint/><geom type="box" size=".1 .2 .3" contype="0" conaffinity="0"/></body></worldbody>
      <equality><weld body1="load" body2="hand"/></equality></mujoco>"""
    sim, qacc = moving(model)
    sim.qpos = [0.05, 0.04, 0.02, 0.7, 0.5, 0.4, 0.3]
    sim.qpos[3:] /= np.linalg.norm(sim.qpos[3:])
    found = np.concatenate(sim.linearize_inverse(qacc), axis=1)
    expected = differences(sim, qacc, 2e-3)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(found).max())


def test_what_it_does_not_support_is_named():
    ball = """<mujoco><option><flag sleep="{sleep}"/></option><worldbody><geom type="plane" size="1 1 1"/>
      <body pos="0 0 .2"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
    with pytest.raises(saltus.OptionError, match="linearize_inverse: under hard contact"):
        saltus.Simulation(ball.format(sleep="disable"), contact="hard").linearize_inverse(np.zeros(6))
    with pytest.raises(saltus.OptionError, match="does not support bodies that sleep"):
        saltus.Simulation(ball.format(sleep="enable")).linearize_inverse(np.zeros(6))
    with pytest.raises(saltus.OptionError, match="linearize_inverse: motions prescribe"):
        saltus.Simulation(PENDULUM, motions={"j": lambda t: 0.1 * t}).linearize_inverse([0.0])
    with pytest.raises(saltus.OptionError, match="linearize_inverse: qacc must have 1 numbers"):
        saltus.Simulation(PENDULUM).linearize_inverse([0.0, 1.0])
    cylinder = """<mujoco><worldbody><geom type="box" size="1 1 .1"/><body pos="0 0 .199"><freejoint/>
      <geom type="cylinder" size=".1 .1"/></body></worldbody></mujoco>"""
    with pytest.raises(saltus.OptionError, match="which is searched, counts as constant"):
        saltus.Simulation(cylinder).linearize_inverse(np.zeros(6))
