"""The certificate of a run says how far it is from the truth.

Law: with a method of order p the difference of runs with steps h and h/2 is (1 - 2⁻ᵖ) of the error of the first
(Richardson 1911; Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations I (1993), II.4). The truth is a
closed form (the bundled spring, m x'' + c x' + k x = 0), or SciPy's DOP853 at 3e-14 on MuJoCo's accelerations.

Tolerance: within the asymptotic range the bar is between two thirds and three halves of the true error at its largest,
and the observed order within 0.2 of the declared one.
"""

import numpy as np
import pytest
from helpers import oracle
from numpy.testing import assert_allclose

import saltus

# time stepping is of order two on a spring, more than it declares for motion with impacts
FIXED = [name for name, i in saltus.integrators().items() if not i.adaptive and i.kind != "time-stepping"]


def spring_truth(time):
    """x(t) of the bundled spring, stretched to 0.5 m: ω = 10 rad/s, ζ = 0.1."""
    omega, zeta, x0 = 10.0, 0.1, 0.5
    damped = omega * np.sqrt(1 - zeta**2)
    decay = np.exp(-zeta * omega * time)
    return decay * x0 * (np.cos(damped * time) + zeta * omega / damped * np.sin(damped * time))


def assert_brackets(bar, error):
    """The bar is about the error: at its largest, and nowhere far too small."""
    assert 2 / 3 < np.max(bar) / np.max(error) < 3 / 2
    assert np.all(bar > 0.3 * error - 0.02 * np.max(error))


@pytest.mark.slow
@pytest.mark.parametrize("integrator", FIXED)
def test_the_bar_brackets_the_error_of_a_spring(integrator):
    step = 2e-4 if saltus.integrators()[integrator].order == 1 else 0.004
    sim = saltus.Simulation("spring", integrator, timestep=step)
    trajectory = sim.run(1.0, sample=0.02, certify=True)
    certificate = trajectory.certificate
    assert certificate.ok and not certificate.warnings
    assert certificate.timestep == step and certificate.timesteps == (step, step / 2, step / 4)
    assert abs(certificate.observed_order - certificate.order) < 0.2
    assert_brackets(certificate.error, np.abs(trajectory.qpos[:, 0] - spring_truth(trajectory.time)))
    assert certificate.final_error == certificate.error[-1]


@pytest.mark.parametrize("integrator", ["euler", "velocity_verlet", "rk4", "implicit_midpoint"])
def test_the_bar_of_a_spinning_body(integrator):
    """In the tangent space: the error is an angle, whatever the signs of quaternions."""
    step = 1e-4 if integrator == "euler" else 0.01
    sim = saltus.Simulation("free_body", integrator, timestep=step)
    m = oracle.reference(sim.model)
    qpos, _ = oracle.exact(m, sim.qpos, sim.qvel, np.arange(11) * 0.1)
    trajectory = sim.run(1.0, sample=0.1, certify=True)
    error = [np.max(np.abs(oracle.difference(m, a, b))) for a, b in zip(qpos, trajectory.qpos, strict=True)]
    assert trajectory.certificate.ok
    assert_brackets(trajectory.certificate.error, np.array(error))


def test_the_run_itself_is_not_changed():
    plain, certified = (saltus.Simulation("chain", "rk4") for _ in range(2))
    first, second = plain.run(0.5), certified.run(0.5, certify=True)
    np.testing.assert_array_equal(first.qpos, second.qpos)
    np.testing.assert_array_equal(plain.snapshot(), certified.snapshot())
    assert first.certificate is None


def test_controls_are_repeated_in_time():
    """A function of the time is sampled more finely, an array is held: both give a bar for what was run."""
    sim = saltus.Simulation("pendulum", "rk4", timestep=0.01)
    values = 5 * np.sin(np.arange(100) * 0.2)[:, None]
    held = sim.run(1.0, control=values, certify=True)
    assert held.certificate.ok and abs(held.certificate.observed_order - 4) < 0.5
    sim.reset()
    function = sim.run(1.0, control=lambda s: [5 * np.sin(20 * s.time)], certify=True)
    # sampling a function at the start of each step is of first order, and the certificate sees it
    assert not function.certificate.ok
    assert abs(function.certificate.observed_order - 1) < 0.3
    assert "outside the asymptotic range" in function.certificate.warnings[0]


def test_controls_that_are_held_are_said_to_be():
    """Under controlled steps the run and its repetition hold them alike, 0.01 s, which no difference shows."""
    sim = saltus.Simulation("pendulum", "dopri5", timestep=0.01)
    certificate = sim.run(0.5, control=lambda s: [5 * np.sin(20 * s.time)], certify=True).certificate
    assert certificate.ok and "called once a timestep of 0.01 s" in certificate.warnings[-1]
    assert "held" not in str(sim.run(0.5, control=[1.0], certify=True).certificate)


@pytest.mark.slow
def test_it_warns_outside_the_asymptotic_range():
    """A chaotic motion after many Lyapunov times: the runs part, whatever order their differences show by chance."""
    for step in (0.01, 0.009, 0.008, 0.007, 0.006, 0.005):
        for integrator in ("euler", "rk4"):
            sim = saltus.Simulation(saltus.n_link(2), integrator, timestep=step)
            sim.qpos[:] = 2.0, 1.0
            certificate = sim.run(50.0, certify=True).certificate
            assert not certificate.ok and certificate.warnings
            assert "warning" in str(certificate)


def test_angles_that_part_are_not_trusted_whatever_their_order():
    """A rotor under constant torque: Euler's error, ½ α h t = 5 rad, is of first order, but nearly a whole turn."""
    model = """
    <mujoco><worldbody><body><joint axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
    </worldbody></mujoco>"""
    sim = saltus.Simulation(model, "euler", timestep=0.01)
    sim.qfrc_applied[0] = 100.0
    certificate = sim.run(10.0, certify=True).certificate
    assert certificate.observed_order == pytest.approx(1.0, abs=1e-3)
    assert not certificate.ok and "separate" in certificate.warnings[0]


def test_large_errors_of_the_right_order_are_no_warning():
    """A free body that has flown a kilometre may be off by a metre."""
    sim = saltus.Simulation("free_body", "euler", timestep=0.05)
    sim.qvel[:] = 0
    sim.qfrc_applied[0] = 50.0
    trajectory = sim.run(6.0, certify=True)
    error = np.abs(trajectory.qpos[:, 0] - 25 * trajectory.time**2)
    assert error[-1] > 1.0 and trajectory.certificate.ok
    assert_brackets(trajectory.certificate.error, error)


def test_it_says_where_rounding_is_all_that_is_left():
    sim = saltus.Simulation("pendulum", "rk4", timestep=1e-4)
    certificate = sim.run(0.01, certify=True).certificate
    assert certificate.ok and "round-off" in certificate.warnings[0]
    assert np.isnan(certificate.observed_order) and certificate.final_error < 1e-13


@pytest.mark.parametrize("tolerance", [1e-5, 1e-8])
def test_adaptive_runs(tolerance):
    """The bar is the difference to a run with a hundredth of the tolerance."""
    sim = saltus.Simulation("spring", "dopri5", tolerance=(tolerance, tolerance))
    trajectory = sim.run(1.0, sample=0.02, certify=True)
    error = np.abs(trajectory.qpos[:, 0] - spring_truth(trajectory.time))
    assert trajectory.certificate.ok
    assert_brackets(trajectory.certificate.error, error)


def test_adaptive_runs_that_part():
    sim = saltus.Simulation(saltus.n_link(2), "dopri5", tolerance=(1e-3, 1e-3))
    sim.qpos[:] = 2.0, 1.0
    certificate = sim.run(60.0, certify=True).certificate
    assert not certificate.ok and "separate" in certificate.warnings[0]


def test_a_repetition_that_diverges():
    """Controls that depend on the step may make a finer run diverge: no error bar, and the reason."""

    def control(sim):
        return [np.nan] if sim.timestep < 0.03 and sim.time > 0.3 else [0.0]

    trajectory = saltus.Simulation("pendulum", "rk4", timestep=0.05).run(1.0, control=control, certify=True)
    certificate = trajectory.certificate
    assert not certificate.ok and "no error bar" in certificate.warnings[0]
    assert np.isnan(certificate.error).all() and len(trajectory) == 61


def test_it_starts_from_the_present_state_and_forces():
    """Also from a Verlet method's present state, and with forces from outside."""
    sim = saltus.Simulation("spring", "verlet", timestep=0.002)
    sim.run(0.1)
    sim.qpos[0], sim.qvel[0], sim.qfrc_applied[0] = 0.3, 0.0, 100 * 0.3
    trajectory = sim.run(0.5, certify=True)
    # the force holds the spring where it is
    assert_allclose(trajectory.qpos, 0.3, rtol=0, atol=1e-12)
    assert trajectory.certificate.ok and trajectory.certificate.final_error < 1e-12


@pytest.mark.parametrize("integrator", ["euler", "dopri5"])
def test_the_error_at_the_end_needs_no_sample_there(integrator):
    """Between samples, too, the bar at the end is about the error there, here of a spring after 0.95 s."""
    sim = saltus.Simulation("spring", integrator, timestep=2e-4)
    trajectory = sim.run(0.95, sample=2.0, certify=True)
    assert len(trajectory) == 1
    certificate = trajectory.certificate
    error = abs(sim.qpos[0] - spring_truth(0.95))
    assert 2 / 3 < certificate.final_error / error < 3 / 2
    assert certificate.largest_error == certificate.final_error and len(certificate.error) == 1
