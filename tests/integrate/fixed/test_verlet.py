"""Position Verlet is the textbook's recurrence, and starts anew when it should.

Law: x₁ = x₀ + h v₀ + h²/2 a₀, then xₙ₊₁ = 2 xₙ - xₙ₋₁ + h² aₙ, with vₙ = (xₙ₊₁ - xₙ₋₁) / 2h (Verlet (1967); Hairer,
Lubich & Wanner, Geometric Numerical Integration (2006), I.1.4), on the pendulum a = -g/l sin x.

Tolerance: rounding. The recurrence doubles and subtracts positions of size 1, which over n steps leaves about n² units
of 1e-16 (errors in w add up, and are added up again in x).
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus

H = 0.05
G, L = 9.81, 2.0


def textbook(x, v, n, h=H):
    """Positions x₀ ... xₙ₊₁ and velocities v₁ ... vₙ of the recurrence."""
    a = lambda x: -G / L * np.sin(x)  # noqa: E731
    xs = [x, x + h * v + h * h / 2 * a(x)]
    for _ in range(n):
        xs.append(2 * xs[-1] - xs[-2] + h * h * a(xs[-1]))
    xs = np.array(xs)
    return xs, (xs[2:] - xs[:-2]) / (2 * h)


def pendulum(x, v, **options):
    sim = saltus.Simulation("pendulum", "verlet", timestep=H, **options)
    sim.qpos[0], sim.qvel[0] = x, v
    return sim


def motion(sim, n):
    """States after each of n steps, one column each."""
    out = []
    for _ in range(n):
        sim.step()
        out.append((sim.qpos[0], sim.qvel[0]))
    return np.array(out).T


def test_the_textbook_recurrence():
    n = 200
    xs, vs = textbook(1.0, 0.7, n)
    found_x, found_v = motion(pendulum(1.0, 0.7), n)
    assert_allclose(found_x, xs[1:-1], rtol=0, atol=1e-11)
    assert_allclose(found_v, vs, rtol=0, atol=1e-10)


def test_many_steps_in_one_call_are_the_same():
    one, many = pendulum(1.0, 0.7), pendulum(1.0, 0.7)
    for _ in range(50):
        one.step()
    many.step(20)
    many.step(30)
    assert (one.qpos[0], one.qvel[0], one.time) == (many.qpos[0], many.qvel[0], many.time)


@pytest.mark.parametrize("how", ["qpos", "qvel", "snapshot", "reset", "key"])
def test_a_changed_state_starts_anew(how):
    """After a change from outside the next step is the initial one again: the same as in a new simulation."""
    sim = pendulum(1.0, 0.7)
    sim.step(10)
    if how == "qpos":
        sim.qpos[0] = 0.3
    elif how == "qvel":
        sim.qvel[0] += 0.1
    elif how == "snapshot":
        # changed, but not yet stepped: the change is part of the snapshot
        sim.qvel[0] += 2.0
        kept = sim.snapshot()
        sim.step(5)
        sim.restore(kept)
    else:
        sim.reset("release" if how == "key" else None)
    xs, vs = textbook(sim.qpos[0], sim.qvel[0], 10)
    found_x, found_v = motion(sim, 10)
    assert_allclose(found_x, xs[1:-1], rtol=0, atol=1e-13)
    assert_allclose(found_v, vs, rtol=0, atol=1e-12)


def test_a_restored_state_goes_on():
    """A snapshot holds what the method remembers."""
    sim = pendulum(1.0, 0.7)
    sim.step(10)
    kept = sim.snapshot()
    sim.step(7)
    end = sim.snapshot()
    sim.restore(kept)
    sim.step(7)
    np.testing.assert_array_equal(sim.snapshot(), end)


def test_a_changed_step_starts_anew():
    sim = pendulum(1.0, 0.7)
    sim.step(10)
    x, v = sim.qpos[0], sim.qvel[0]
    sim.timestep = 0.02
    xs, vs = textbook(x, v, 10, h=0.02)
    found_x, found_v = motion(sim, 10)
    assert_allclose(found_x, xs[1:-1], rtol=0, atol=1e-13)
    assert_allclose(found_v, vs, rtol=0, atol=1e-12)


def test_reading_and_changed_controls_do_not_start_anew():
    """Reading computes; a control is an input of the step, not a part of the state."""
    plain, read = pendulum(1.0, 0.7), pendulum(1.0, 0.7)
    for _ in range(10):
        plain.step()
        read.step()
        read.energy(), read.data.qacc, read.full_M()
        read.ctrl[0] = 0.0
    assert plain.qpos[0] == read.qpos[0] and plain.qvel[0] == read.qvel[0]


def test_the_same_positions_as_velocity_verlet():
    """Where forces depend on position alone, both are one method."""
    other = saltus.Simulation("pendulum", "velocity_verlet", timestep=H)
    other.qpos[0], other.qvel[0] = 1.0, 0.7
    sim = pendulum(1.0, 0.7)
    assert_allclose(motion(sim, 200), motion(other, 200), rtol=0, atol=1e-11)
