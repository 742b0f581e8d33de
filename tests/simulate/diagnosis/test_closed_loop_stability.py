"""Whether a controlled simulation is stable under its integrator. Reference: eigenvalues of the loop by hand."""

import warnings

import numpy as np
import pytest

import saltus
from saltus.errors import SaltusWarning
from saltus.simulate.diagnosis.closed_loop_stability import growth, stable_step
from saltus.simulate.diagnosis.instability import judged, warn_if_unstable

INERTIA, WEIGHT = 8.0, 39.24
GAINS = dict(kp=1500.0, ki=150.10, kd=15.0)
TARGET = -np.pi / 2.5


def pendulum(integrator, timestep, angle=np.pi / 2):
    sim = saltus.Simulation("pendulum", integrator=integrator, timestep=timestep)
    sim.qpos[:], sim.qvel[:] = angle, 0.0
    return sim


def test_explicit_euler_is_reported_unstable():
    """Its step multiplies deviations by |1 + h λ|, with λ the roots of 8 λ³ + 15 λ² + (1500 + mgl cos θ) λ + 150.1."""
    sim = pendulum("explicit_euler", 0.05)
    sim.control = saltus.PID(target=TARGET, **GAINS)
    stiffness = GAINS["kp"] + WEIGHT * np.cos(np.pi / 2)
    roots = np.roots([INERTIA, GAINS["kd"], stiffness, GAINS["ki"]])
    assert growth(sim.engine, 0.05) == pytest.approx(abs(1 + 0.05 * roots).max(), rel=1e-6)
    assert abs(1 + 0.05 * roots).max() ** 2 == pytest.approx(1.375, abs=0.005)
    limit = min(-2 * roots.real / abs(roots) ** 2)
    assert stable_step(sim.engine, 0.05) == pytest.approx(limit, rel=0.003)
    roots = np.roots([INERTIA, GAINS["kd"], GAINS["kp"] + WEIGHT * np.cos(TARGET), GAINS["ki"]])
    factor = f"{abs(1 + 0.05 * roots).max():.3g}".replace(".", r"\.")  # where it is to settle
    with pytest.warns(
        SaltusWarning,
        match=rf"explicit_euler is unstable .* at its target.* factor of {factor} per step; stable up to 0\.00",
    ):
        sim.run(0.5, control=sim.control)


def test_the_proposed_step_is_stable_with_the_integral():
    """At the target explicit Euler is stable up to 0.0094 s; without the servo's integral it would be 0.0099 s."""
    sim = pendulum("explicit_euler", 0.05, TARGET)
    sim.control = saltus.PID(target=TARGET, **GAINS)
    stiffness = GAINS["kp"] + WEIGHT * np.cos(TARGET)
    limits = []
    for polynomial in ([INERTIA, GAINS["kd"], stiffness, GAINS["ki"]], [INERTIA, GAINS["kd"], stiffness]):
        roots = np.roots(polynomial)
        limits.append(min(-2 * roots.real / abs(roots) ** 2))
    assert limits == pytest.approx([0.0094, 0.0099], abs=5e-5)
    assert judged(sim.engine).stable == pytest.approx(limits[0], rel=0.003)


@pytest.mark.parametrize("integrator", ["rk4", "euler"])
def test_an_unstable_motion_is_not_an_unstable_method(integrator):
    """Upright, a pendulum falls by e^(ht √(m g l / I)) a step under any method: only a servo's gains are blamed."""
    sim = pendulum(integrator, 0.002, np.pi)
    sim.control = saltus.controller(idle)
    wanted = np.exp(0.002 * np.sqrt(WEIGHT / INERTIA))
    assert growth(sim.engine, 0.002) == pytest.approx(wanted, rel=1e-5) and wanted > 1.001
    assert judged(sim.engine) is None
    sim.control = saltus.PID(kp=1.0, target=np.pi)
    text = str(judged(sim.engine))
    assert text.startswith("the motion is unstable with these gains at its target, not the method")
    assert "grow by 0.4" in text and "no timestep makes it stable" in text


def idle(m, d, z):
    d.ctrl[0] = 0.0 * d.time


@pytest.mark.parametrize("integrator", ["velocity_verlet", "rk4"])
def test_stable_loops_are_not_warned_of(integrator, recwarn):
    sim = pendulum(integrator, 0.05)
    sim.run(0.5, control=saltus.PID(target=TARGET, **GAINS))
    assert not [w for w in recwarn if issubclass(w.category, SaltusWarning)]


def test_gains_that_no_step_makes_stable():
    sim = pendulum("rk4", 0.05)
    with pytest.warns(SaltusWarning, match="no timestep makes it stable"):
        sim.run(0.1, control=saltus.PID(kp=1500, kd=-15))


@pytest.mark.slow
def test_models_with_constraints_are_judged_while_none_acts():
    """A hinge with limits is a free pendulum between them: explicit Euler grows by 1.37 a step, (1 + k h²)^(1/2)."""
    text = """<mujoco><option gravity="0 0 0" timestep=".03"/><compiler angle="radian"/><worldbody><body>
      <joint axis="0 1 0" range="-1 1"/><inertial pos="1 0 0" mass="1" diaginertia="1e-9 1e-9 1e-9"/></body></worldbody>
      <actuator><motor joint="hinge"/></actuator></mujoco>""".replace("<joint", "<joint name='hinge'")
    sim = saltus.Simulation(text, "explicit_euler", control=saltus.PID(kp=1000))
    grown = np.sqrt(1 + 1000 * 0.03**2)
    with pytest.warns(SaltusWarning, match=f"explicit_euler is unstable .* factor of {grown:.3g} per step"):
        warn_if_unstable(sim.engine)
    sim.qpos[0] = 1.1
    before = sim.snapshot()
    with warnings.catch_warnings(action="error"):
        warn_if_unstable(sim.engine)
    np.testing.assert_array_equal(sim.snapshot(), before)


@pytest.mark.parametrize(("angle", "target"), [(np.pi, 0.0), (0.0, np.pi)])
def test_the_loop_is_judged_where_it_settles(angle, target):
    """Upright a pendulum with kp < m g l falls to where it is stable; half a turn off, the error jumps by 2π."""
    sim = pendulum("rk4", 0.01, angle)
    assert growth_of(sim, kp=20.0 if target == 0.0 else 60.0, target=target) > 1.001
    with warnings.catch_warnings(action="error"):
        sim.run(0.1, control=saltus.PID(kp=20.0 if target == 0.0 else 60.0, kd=20.0, target=target))


def growth_of(sim, kp, target):
    """Growth of deviations under a PID at the present state."""
    sim.control = saltus.PID(kp=kp, kd=20.0, target=target)
    grown = growth(sim.engine, sim.timestep)
    sim.control = None
    return grown


def test_a_target_that_is_not_held_is_warned_of():
    """A kp below m g l = 39.24 cannot hold the pendulum upright, wherever it starts."""
    sim = pendulum("rk4", 0.01, angle=0.0)
    with pytest.warns(SaltusWarning, match=r"at its target, .* no timestep makes it stable"):
        sim.run(0.1, control=saltus.PID(kp=20.0, kd=20.0, target=np.pi))
