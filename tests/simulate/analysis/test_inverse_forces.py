"""Constrained inverse dynamics undoes forward dynamics, and agrees with MuJoCo's `mj_inverse`.

With qacc of the solver, whose gradient is below its tolerance, the forces return to 1e-9 of the largest force; for
given accelerations nothing is solved, and 1e-11 of the largest force is rounding.
"""

import mujoco
import numpy as np
import pytest

import saltus
from saltus.errors import OptionError

MODELS = ["pendulum", "cart_pole", "humanoid", "arm", "chain"]
CONTACTS = """<mujoco><option cone="{cone}" timestep=".002"/><worldbody><geom type="plane" size="5 5 .1"/>
  <body name="box" pos="0 0 .098"><freejoint/><geom type="box" size=".1 .1 .1" condim="4"/>
    <body pos=".1 0 .1"><joint name="h" axis="0 1 0" range="-10 10" damping=".3" armature=".01" frictionloss=".05"/>
    <joint name="s" type="slide" axis="0 0 1" stiffness="50" damping="2"/>
    <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/></body></body>
  <body pos=".6 0 .048"><freejoint/><geom size=".05" condim="6"/></body></worldbody>
  <actuator><position name="h" joint="h" kp="5" kv=".2"/></actuator></mujoco>"""


def state(model, integrator="euler", seed=0, **options):
    """A simulation with random velocities, inputs and forces."""
    sim, rng = saltus.Simulation(model, integrator, **options), np.random.default_rng(seed)
    sim.qvel[:] = 0.3 * rng.normal(size=sim.qvel.size)
    sim.ctrl[:] = rng.uniform(-0.3, 0.3, sim.ctrl.size)
    sim.qfrc_applied[:] = rng.normal(size=sim.qvel.size)
    return sim, rng


def oracle(sim, qacc):
    """qfrc_inverse of MuJoCo at the simulation's state."""
    m = sim.model.mujoco
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:], d.act[:], d.ctrl[:], d.qacc[:] = sim.qpos, sim.qvel, sim.act, sim.ctrl, qacc
    mujoco.mj_inverse(m, d)
    return d.qfrc_inverse.copy(), d.nefc


@pytest.mark.parametrize("model", [*MODELS, CONTACTS.format(cone="elliptic"), CONTACTS.format(cone="pyramidal")])
def test_it_agrees_with_mujoco(model):
    sim, rng = state(model)
    for scale in (0.0, 1.0, 50.0):
        qacc = scale * rng.normal(size=sim.qvel.size)
        wanted, nefc = oracle(sim, qacc)
        assert nefc or "plane" not in model
        np.testing.assert_allclose(sim.inverse(qacc), wanted, rtol=0, atol=1e-11 * max(1, np.abs(wanted).max()))


@pytest.mark.parametrize("model", [*MODELS, CONTACTS.format(cone="elliptic"), CONTACTS.format(cone="pyramidal")])
def test_it_undoes_forward_dynamics(model):
    model = saltus.load(model).changed({"opt.tolerance": 1e-14})
    sim, _ = state(model)
    before = sim.snapshot()
    sim.forward()
    found = sim.inverse(sim.data.qacc)
    driving = sim.data.qfrc_actuator + sim.qfrc_applied
    scale = max(1.0, np.abs(sim.data.qfrc_constraint).max())
    np.testing.assert_allclose(found, driving, rtol=0, atol=1e-9 * scale)
    np.testing.assert_array_equal(sim.snapshot(), before)


@pytest.mark.parametrize("integrator", ["euler", "discrete"])
@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_it_undoes_a_step(integrator, cone):
    """The step's change of velocity over its length, to the solver's residual over 1e-9 of the forces."""
    text = CONTACTS.format(cone=cone)
    text = text[: text.index('<body pos=".6')] + text[text.index("</worldbody>") :]  # without the lone free ball
    text = text.replace('<position name="h" joint="h" kp="5" kv=".2"/>', '<motor name="h" joint="h"/>')
    sim, _ = state(saltus.load(text).changed({"opt.tolerance": 1e-14}), integrator)
    driving = (sim.data.qfrc_actuator + sim.qfrc_applied).copy()
    copied = saltus.Simulation(sim.model, integrator)
    copied.qpos, copied.qvel, copied.ctrl, copied.qfrc_applied = sim.qpos, sim.qvel, sim.ctrl, sim.qfrc_applied
    copied.step()
    qacc = (copied.qvel - sim.qvel) / sim.timestep
    found = sim.inverse(qacc, discrete=True)
    scale = np.abs(sim.data.qfrc_constraint).max()
    assert scale > 1.0
    np.testing.assert_allclose(found, driving, rtol=0, atol=1e-9 * scale)


def test_a_users_contact_law():
    def spring(m, d, gap, velocity):
        return -1e4 * gap - 10.0 * velocity[0], 0.0, 0.0

    ball = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/><body pos="0 0 .099"><freejoint/><geom size=".1"/>
      </body></worldbody></mujoco>"""
    sim, _ = state(ball, contact=saltus.Compliant(spring))
    sim.forward()
    found = sim.inverse(sim.data.qacc)
    assert abs(sim.data.qfrc_constraint[2]) > 1.0
    np.testing.assert_allclose(found, sim.qfrc_applied, rtol=0, atol=1e-12 * abs(sim.data.qfrc_constraint[2]))


def test_what_is_refused():
    with pytest.raises(OptionError, match="forces do not follow from accelerations"):
        saltus.Simulation("bouncing_ball", contact="hard").inverse([0.0])
    with pytest.raises(OptionError, match="qacc must have 1 numbers"):
        saltus.Simulation("pendulum").inverse([0.0, 1.0])
    with pytest.raises(OptionError, match="discrete=True is for integrators euler and discrete, not rk4"):
        saltus.Simulation("pendulum", "rk4").inverse([0.0], discrete=True)
    with pytest.raises(OptionError, match="qacc must be finite"):
        saltus.Simulation("pendulum").inverse([np.nan])


def test_a_users_contact_law_within_a_step():
    """A ball on a slide, whose springs and dampers are implicit in the step, and the law's force beside them."""

    def spring(m, d, gap, velocity):
        return -1e4 * gap - 10.0 * velocity[0], 0.0, 0.0

    ball = """<mujoco><option timestep=".002"/><worldbody><geom type="plane" size="5 5 .1"/><body pos="0 0 .099">
      <joint type="slide" axis="0 0 1" stiffness="40" damping="3"/><geom size=".1"/></body></worldbody></mujoco>"""
    for integrator in ("euler", "discrete"):
        sim, _ = state(ball, integrator, contact=saltus.Compliant(spring))
        before = sim.qvel.copy()
        copied = saltus.Simulation(ball, integrator, contact=sim.engine.law)
        copied.qpos, copied.qvel, copied.qfrc_applied = sim.qpos, sim.qvel, sim.qfrc_applied
        copied.step()
        found = sim.inverse((copied.qvel - before) / sim.timestep, discrete=True)
        assert abs(sim.data.qfrc_constraint[0]) > 1.0
        np.testing.assert_allclose(found, sim.qfrc_applied, rtol=0, atol=1e-11 * abs(sim.data.qfrc_constraint[0]))
