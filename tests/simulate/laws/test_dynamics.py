"""Equations of motion that a user gives take the place of the engine's, under every integrator.

Law: the double pendulum in absolute angles α1, α2 has (see the model's file, with δ = α1 - α2)

    M = [(m1 + m2) l1²   m2 l1 l2 cos δ]     c = [ m2 l1 l2 α2'² sin δ + (m1 + m2) g l1 sin α1]
        [m2 l1 l2 cos δ         m2 l2² ],        [-m2 l1 l2 α1'² sin δ +         m2 g l2 sin α2].

Its joints measure θ1 = α1, θ2 = α2 - α1, so that α' = J θ' with the constant J = [1 0; 1 1], and in the joints'
coordinates M becomes Jᵀ M J, c becomes Jᵀ c, and the motors' torques are what they are. Written out by hand below.

Tolerances: the same equations in another order of operations differ by rounding, some 1e-15 of forces at each step,
which half a second of this motion multiplies by less than 100: 1e-12. An adaptive method's steps follow suit. Where a
soft constraint is solved to the solver's tolerance, 1e-9. Another mechanism (the lower bob twice as heavy) is held
against SciPy's DOP853 on the equations in absolute angles at 1e-12: 1e-9 after a second.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import saltus
from saltus import lab
from saltus.errors import OptionError
from saltus.number.functions import sincos
from saltus.number.kernels import kernel

G, L = 9.81, 2.0  # m/s²; length of both rods, m
START = [0.5, -1.2], [1.0, 2.0]
TORQUE = [3.0, -2.0]
ROUNDING, SOLVED = 1e-12, 1e-9
HEUN = saltus.ButcherTableau([[0, 0], [1, 0]], ["1/2", "1/2"], name="heun")
GAUSS = saltus.ButcherTableau([[0.25, 0.25 - 3**0.5 / 6], [0.25 + 3**0.5 / 6, 0.25]], [0.5, 0.5], name="gauss")
EVERY = [*saltus.integrators(), HEUN, GAUSS]


def absolute(m2, alpha, rate):
    """M [2, 2] and c [2] in absolute angles, with bobs of 2 kg and m2 (kg)."""
    s, c = np.sin(alpha[0] - alpha[1]), np.cos(alpha[0] - alpha[1])
    coupling = m2 * L * L
    M = np.array([[(2 + m2) * L * L, coupling * c], [coupling * c, m2 * L * L]])
    weight = [(2 + m2) * G * L * np.sin(alpha[0]), m2 * G * L * np.sin(alpha[1])]
    return M, np.array([coupling * rate[1] ** 2 * s + weight[0], -coupling * rate[0] ** 2 * s + weight[1]])


J = np.array([[1.0, 0.0], [1.0, 1.0]])


def relative(m2, theta, rate):
    """M and c in the joints' coordinates."""
    M, c = absolute(m2, J @ theta, J @ rate)
    return J.T @ M @ J, J.T @ c


def equations(m2):
    """The same as kernels."""
    both, lower = (2 + m2) * L * L, m2 * L * L
    weight1, weight2 = (2 + m2) * G * L, m2 * G * L

    def inertia(m, d):
        _, c = sincos(d.qpos[1])
        d.M[0] = both + lower + 2.0 * lower * c
        d.M[1] = lower + lower * c
        d.M[2] = lower

    def bias(m, d):
        s, _ = sincos(d.qpos[1])
        s1, _ = sincos(d.qpos[0])
        s2, _ = sincos(d.qpos[0] + d.qpos[1])
        upper = d.qvel[0]
        turning = upper + d.qvel[1]
        force = lower * upper * upper * s + weight2 * s2
        d.qfrc_bias[0] = weight1 * s1 - lower * turning * turning * s + force
        d.qfrc_bias[1] = force

    return saltus.Dynamics(inertia, bias)


SAME, OTHER = equations(2.0), equations(4.0)


def pendulum(dynamics, integrator="rk4", model="double_pendulum", **options):
    sim = saltus.Simulation(model, integrator, timestep=0.01, dynamics=dynamics, **options)
    sim.qpos[:], sim.qvel[:] = START
    sim.ctrl[:] = TORQUE
    return sim


def other_at(times):
    """Angles and velocities [T, 4] of the joints of the other mechanism, by another program."""

    def rate(t, y):
        M, c = absolute(4.0, y[:2], y[2:])
        torque = [TORQUE[0] - TORQUE[1], TORQUE[1]]
        return np.hstack([y[2:], np.linalg.solve(M, torque - c)])

    start = np.hstack([J @ START[0], J @ START[1]])
    y = solve_ivp(rate, (0, times[-1]), start, "DOP853", times, rtol=1e-13, atol=1e-13).y.T
    return np.hstack([np.linalg.solve(J, y[:, :2].T).T, np.linalg.solve(J, y[:, 2:].T).T])


# ---------------------------------------------------------------- the same equations


@pytest.mark.slow
@pytest.mark.parametrize("integrator", EVERY, ids=lambda i: getattr(i, "name", i))
def test_the_same_motion_under_every_integrator(integrator):
    """energy_momentum is the midpoint rule for equations of users, another method of order 2: (ω h)², ω = 10 rad/s."""
    allowed = (10 * 0.01) ** 2 if integrator == "energy_momentum" else ROUNDING
    runs = [pendulum(dynamics, integrator).run(0.5, sample=0.025) for dynamics in (None, SAME)]
    for column in ("time", "qpos", "qvel", "energy", "ctrl"):
        wanted, given = (getattr(run, column) for run in runs)
        scale = max(1.0, np.abs(wanted).max())
        np.testing.assert_allclose(given, wanted, rtol=0, atol=allowed * scale, err_msg=column)
    assert [run.attrs["dynamics"] for run in runs] == ["", "Dynamics(inertia, bias)"]


def test_computed_quantities():
    engine, given = pendulum(None), pendulum(SAME)
    assert engine.dynamics is None and given.dynamics is SAME
    for name in ("qfrc_bias", "qfrc_smooth", "qacc_smooth", "qacc", "qfrc_inverse", "M", "crb", "xpos", "cvel"):
        wanted = getattr(engine.data, name)
        np.testing.assert_allclose(getattr(given.data, name), wanted, rtol=ROUNDING, atol=ROUNDING, err_msg=name)
    np.testing.assert_allclose(given.full_M(), engine.full_M(), rtol=ROUNDING)
    np.testing.assert_allclose(given.full_M(), relative(2.0, *START)[0], rtol=ROUNDING)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["implicit", "implicit_midpoint"])
def test_derivatives_of_a_step(integrator):
    """Through the kernels, by duals: implicit in velocities, and by Newton's method on momenta."""
    for wanted, given in zip(*[pendulum(e, integrator).linearize() for e in (None, SAME)], strict=True):
        np.testing.assert_allclose(given, wanted, rtol=0, atol=ROUNDING)


@pytest.mark.slow
def test_batches():
    """Lanes with equations of their own are single simulations with them, and the engine's lanes."""
    n = 9
    batches = [saltus.Batch("double_pendulum", n, integrator="rk4", timestep=0.01, dynamics=e) for e in (None, OTHER)]
    for batch in batches:
        batch.qpos, batch.qvel, batch.ctrl = START[0], np.linspace([-1, 2], [1, -2], n), TORQUE
        batch.step(50)
    assert np.abs(batches[0].qpos - batches[1].qpos).max() > 0.1
    for k in (0, 4, 8):
        sim = pendulum(OTHER)
        sim.qvel[:] = np.linspace([-1, 2], [1, -2], n)[k]
        sim.step(50)
        np.testing.assert_allclose(batches[1].qpos[k], sim.qpos, rtol=0, atol=ROUNDING)
        np.testing.assert_allclose(batches[1].qvel[k], sim.qvel, rtol=0, atol=ROUNDING)


# ---------------------------------------------------------------- another mechanism


@pytest.mark.slow
def test_another_mechanism():
    """What moves is what was given, not what the model says."""
    sim = pendulum(OTHER, "dopri5", tolerance=(1e-12, 1e-13))
    run = sim.run(1.0, sample=0.1)
    wanted = other_at(run.time)
    np.testing.assert_allclose(np.hstack([run.qpos, run.qvel]), wanted, rtol=0, atol=SOLVED)
    sim = pendulum(OTHER)
    M, c = relative(4.0, *START)
    np.testing.assert_allclose(sim.full_M(), M, rtol=ROUNDING)
    np.testing.assert_allclose(sim.data.qfrc_bias, c, rtol=ROUNDING)
    np.testing.assert_allclose(sim.data.qacc, np.linalg.solve(M, TORQUE - c), rtol=ROUNDING)


def test_a_step_implicit_in_the_velocities():
    """v' = v + h (M - h D)⁻¹ f, with D the derivative of the given bias: M and c are quadratic in v, so exactly."""
    sim, h = pendulum(OTHER, "implicit"), 0.01
    M, c = relative(4.0, *START)
    D = np.empty((2, 2))
    for j, e in enumerate(np.eye(2)):
        ends = [relative(4.0, START[0], np.add(START[1], side * e))[1] for side in (1, -1)]
        D[:, j] = (ends[1] - ends[0]) / 2
    wanted = START[1] + h * np.linalg.solve(M - h * D, TORQUE - c)
    sim.step()
    np.testing.assert_allclose(sim.qvel, wanted, rtol=0, atol=ROUNDING)


@pytest.mark.slow
def test_momenta_of_another_mechanism():
    """The implicit midpoint rule solves for momenta, whose rates need dM/dt: second order towards the true motion."""
    end, errors = other_at(np.array([0.0, 1.0]))[-1], []
    for h in (0.01, 0.005):
        sim = pendulum(OTHER, "implicit_midpoint")
        sim.timestep = h
        sim.step(round(1 / h))
        errors.append(np.linalg.norm(np.hstack([sim.qpos, sim.qvel]) - end))
    assert errors[0] < 0.01 and np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.2)


def test_the_certificate_repeats_the_run_with_the_same_equations():
    """Runs of the engine at finer steps would part from this one."""
    certificate = pendulum(OTHER).run(0.5, sample=0.1, certify=True).certificate
    assert certificate is not None and certificate.ok
    assert certificate.observed_order == pytest.approx(4, abs=0.5)


# ---------------------------------------------------------------- with all the rest


LIMITED = """
<mujoco model="limited"><option timestep="0.005" integrator="Euler"/><compiler angle="radian"/>
  <worldbody><geom name="floor" type="plane" size="9 9 1" pos="0 0 -3.4"/>
    <body><joint name="a" axis="0 -1 0" damping="0.5" stiffness="3"/>
      <inertial pos="0 0 -2" mass="2" diaginertia="1e-15 1e-15 1e-15"/>
      <body pos="0 0 -2"><joint name="b" axis="0 -1 0" range="-0.5 0.5" limited="true"/>
        <inertial pos="0 0 -2" mass="2" diaginertia="1e-15 1e-15 1e-15"/>
        <geom type="sphere" size="0.2" pos="0 0 -2"/></body></body></worldbody>
  <actuator><motor joint="a"/><motor joint="b"/></actuator></mujoco>"""


@pytest.mark.slow
def test_limits_contacts_springs_and_dampers_stay():
    """A double pendulum against a limit of its lower joint and the floor; both act in this second."""
    runs = []
    for dynamics in (None, SAME):
        sim = pendulum(dynamics, "euler", LIMITED)
        sim.qpos[:], sim.qvel[:], sim.ctrl[:] = [-0.9, 0.4], [1.0, 4.0], 0.0
        runs.append(sim.run(1.0, sample=0.05))
    assert runs[0].contact_state.any() and np.abs(runs[0].qpos[:, 1]).max() > 0.5
    np.testing.assert_allclose(runs[1].qpos, runs[0].qpos, rtol=0, atol=SOLVED)
    np.testing.assert_array_equal(runs[1].contact_state, runs[0].contact_state)


def test_contact_forces_of_a_recording_are_not_drawn_with_other_equations():
    run = pendulum(SAME, "euler", LIMITED).run(0.1, sample=0.05)
    with pytest.raises(
        OptionError, match=r"contacts: .* Dynamics\(inertia, bias\), which is not part of the recording"
    ):
        run.picture(contacts=True)


@pytest.mark.slow
def test_with_a_controller():
    control = saltus.PID(kp=200, ki=50, kd=40, target=[0.3, -0.2])
    runs = [pendulum(e, control=control).run(0.5, sample=0.1) for e in (None, SAME)]
    for column in ("qpos", "qvel", "act", "ctrl"):
        wanted = getattr(runs[0], column)
        scale = max(1.0, np.abs(wanted).max())
        np.testing.assert_allclose(getattr(runs[1], column), wanted, rtol=0, atol=ROUNDING * scale, err_msg=column)


class Cut(Exception):
    """The end of a process."""


def test_a_streamed_run_asks_for_its_equations(tmp_path):
    def cut(done):
        if done > 0.3:
            raise Cut

    path = tmp_path / "run.zarr"
    with pytest.raises(Cut):
        pendulum(OTHER).run(20.0, sample=0.1, progress=cut, save=path)
    with pytest.raises(
        OptionError, match=r"user-defined equations of motion, equations_inertia_bias_.*; pass them as dyn"
    ):
        saltus.resume(path)
    with pytest.raises(OptionError, match=r"equations of motion of the run are equations_inertia_bias_.*, not equa"):
        saltus.resume(path, dynamics=SAME)
    whole = saltus.resume(path, dynamics=equations(4.0))  # made again
    np.testing.assert_array_equal(whole.qpos, pendulum(OTHER).run(20.0, sample=0.1).qpos)


def test_the_lab_refuses():
    """Its sliders change the model's masses and gravity, which the equations do not read."""
    with pytest.raises(OptionError, match=r"Dynamics\(inertia, bias\) does not follow changes of the model in the lab"):
        lab.open(pendulum(SAME), browser=False)


# ---------------------------------------------------------------- refusals


def good(m, d):
    d.M[0] = 8.0


def good_bias(m, d):
    s, _ = sincos(d.qpos[0])
    d.qfrc_bias[0] = 39.24 * s


def test_kernels_and_functions():
    """A kernel is taken as it is, a function becomes one; each stands for one degree of freedom."""
    ready = kernel(good)
    assert saltus.Dynamics(ready, good_bias).inertia is ready
    assert saltus.Dynamics(good, good_bias).feature_key == saltus.Dynamics(good, good_bias).feature_key
    assert equations(2.0).feature_key == SAME.feature_key != OTHER.feature_key
    sim = saltus.Simulation("pendulum", "rk4", dynamics=saltus.Dynamics(good, good_bias))
    sim.qpos[:] = 0.5
    assert sim.data.qacc[0] == pytest.approx(-39.24 / 8 * np.sin(0.5), rel=1e-14)


def test_what_are_no_equations():
    with pytest.raises(OptionError, match=r"inertia must be a function inertia\(m, d\), or a method, got ndarray"):
        saltus.Dynamics(np.eye(2), good_bias)
    with pytest.raises(OptionError, match="bias must be a function"):
        saltus.Dynamics(good, None)
    with pytest.raises(OptionError, match=r"dynamics must be a saltus\.Dynamics, got function"):
        saltus.Simulation("pendulum", dynamics=good)
    with pytest.raises(OptionError, match=r"dynamics must be a saltus\.Dynamics, got tuple"):
        saltus.Batch("pendulum", 2, dynamics=(good, good_bias))


def test_equations_of_another_model():
    with pytest.raises(OptionError, match=r"good does not fit .*'double_pendulum': it does not write d\.M\[1\] of 3"):
        saltus.Simulation("double_pendulum", dynamics=saltus.Dynamics(good, good_bias))
    with pytest.raises(
        OptionError, match=r"inertia does not fit .*'pendulum': it uses d\.qpos\[1\], which has 1 entries"
    ):
        saltus.Batch("pendulum", 2, dynamics=SAME)


def negative(m, d):
    d.M[0] = -8.0


def turns_negative(m, d):
    _, c = sincos(d.qpos[0])
    d.M[0] = 8.0 * c


def test_inertia_that_is_no_inertia():
    """M is positive definite in every mechanism; 8 cos θ is until θ = π/2."""
    with pytest.raises(
        OptionError, match=r"negative on .*'pendulum': the inertia matrix is not positive definite.* -8"
    ):
        saltus.Simulation("pendulum", dynamics=saltus.Dynamics(negative, good_bias))
    with pytest.raises(OptionError, match="not positive definite"):
        saltus.Batch("pendulum", 2, dynamics=saltus.Dynamics(negative, good_bias))
    sim = saltus.Simulation("pendulum", "rk4", timestep=0.01, dynamics=saltus.Dynamics(turns_negative, good_bias))
    sim.qpos[:], sim.qvel[:] = 1.0, 0.0
    sim.step()
    for go in (sim.step, lambda: sim.run(0.1)):
        sim.qpos[:], sim.qvel[:] = 2.0, 0.0
        with pytest.raises(
            saltus.DivergenceError, match="inertia matrix of the user-defined equations is not positive"
        ):
            go()
    sim.qpos[:], sim.qvel[:] = 1.0, 30.0  # in three steps to 1.9, beyond π/2
    with pytest.raises(saltus.DivergenceError):
        sim.step(3)
    assert (sim.time, sim.qpos[0], sim.qvel[0]) == (0.01, 1.0, 30.0)  # the steps are taken back


def reads_bodies(m, d):
    d.M[0] = d.xpos[1][0]


def reads_backwards(m, d):
    d.M[-1] = 8.0


def moves(m, d):
    d.qpos[0] = 0.0


def assigns(m, d):
    d.M = 8.0


def takes_too_much(m, d, more):
    d.M[0] = 8.0


def divides(m, d):
    d.M[0] = 1.0 / (0.0 * d.qpos[0])


WRONG = {
    reads_bodies: r"it reads d\.xpos; available are: qpos, userdata, M",
    moves: r"it writes d\.qpos",
    assigns: r"it assigns to d\.M as a whole",
    divides: "division by zero",
}


def test_laws_that_are_refused_when_they_are_given():
    with pytest.raises(OptionError, match=r"reads_backwards, test_dynamics\.py, line \d+: d\.M\[-1\]: fields are not"):
        saltus.Dynamics(reads_backwards, good_bias)
    with pytest.raises(OptionError, match=r"inertia must be inertia\(m, d\).* but is takes_too_much\(m, d, more\)"):
        saltus.Dynamics(takes_too_much, good_bias)


@pytest.mark.parametrize("inertia", WRONG, ids=lambda f: f.__name__)
def test_laws_that_do_what_they_must_not(inertia):
    """Compiled code checks no index: all this is found before."""
    with pytest.raises(OptionError, match=f"Dynamics: {inertia.__name__} .*'pendulum': .*{WRONG[inertia]}"):
        saltus.Simulation("pendulum", dynamics=saltus.Dynamics(inertia, good_bias))
