"""The stability limits of the integrators on springs and dampers.

Law: on x'' = -ω² x a step multiplies the state by a matrix whose largest eigenvalue must not exceed one; on a decay
x' = -λ x Runge-Kutta methods by their stability function R(-λ h). Closed forms: semi-implicit Euler and Verlet, which
Moreau-Jean is without contacts, grow beyond h ω = 2; explicit Euler and the midpoint rule grow on every oscillation,
and beyond h λ = 2 on every decay; rk4 beyond h ω = 2 √2 and h λ = 2.785293563405282, the root of |R| = 1 (Hairer &
Wanner, Solving Ordinary Differential Equations II (1996), IV.2); implicit midpoint never.

Tolerance: growth below 1e-9 a step counts as none, which moves a limit by its root: 1e-4 at the most; with simulations,
a step 5 % below a limit stays bounded and one 5 % above it grows, by at least a factor 1.0009 a step.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus
from saltus.simulate.diagnosis.divergence import stability_limit
from saltus.simulate.diagnosis.linear_stability import modes, stable_timestep

RK4_REAL = 2.785293563405282
OMEGA = 7.0
UNDAMPED = {
    "explicit_euler": 0.0,
    "midpoint": 0.0,
    "euler": 2.0,
    "implicit": 2.0,
    "implicitfast": 2.0,
    "discrete": np.inf,
    "verlet": 2.0,
    "velocity_verlet": 2.0,
    "rk4": 2 * 2**0.5,
    "implicit_midpoint": np.inf,
    "energy_momentum": np.inf,
    "dopri5": np.inf,
    "moreau_jean": 2.0,
}
# x'' = -(1 + s) x' - s x: decays with 1/s and s/s, here s = 5
FAST = 5.0
DECAY = {"explicit_euler": 2.0, "midpoint": 2.0, "rk4": RK4_REAL, "implicit_midpoint": np.inf}
DECAY["energy_momentum"] = np.inf


def oscillator(stiffness, damping):
    return f"""
    <mujoco><option gravity="0 0 0"/><worldbody><body>
      <joint name="x" type="slide" axis="1 0 0" stiffness="{stiffness!r}" damping="{damping!r}"/>
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>"""


def grown(integrator, stiffness, damping, h, steps=10_000):
    """Amplitude at the end of a simulation, or inf if it diverged."""
    sim = saltus.Simulation(oscillator(stiffness, damping), integrator, timestep=h)
    sim.qpos[0], sim.qvel[0] = 1.0, 0.3
    try:
        sim.step(steps)
    except saltus.DivergenceError:
        return np.inf
    return float(np.hypot(sim.qpos[0], sim.qvel[0]))


@pytest.mark.parametrize("integrator", UNDAMPED)
def test_undamped_oscillation(integrator):
    sim = saltus.Simulation(oscillator(OMEGA**2, 0.0), integrator)
    limit, mode = stability_limit(sim.engine)
    assert_allclose(limit * OMEGA, UNDAMPED[integrator], rtol=1e-4)
    if 0 <= limit < np.inf:
        assert_allclose(abs(mode), OMEGA, rtol=1e-12)


@pytest.mark.parametrize("integrator", DECAY)
def test_decays(integrator):
    """An overdamped spring has two real modes; the fast one sets the limit."""
    sim = saltus.Simulation(oscillator(FAST, 1.0 + FAST), integrator)
    limit, mode = stability_limit(sim.engine)
    assert_allclose(limit * FAST, DECAY[integrator], rtol=1e-4)
    if limit < np.inf:
        assert_allclose(mode, -FAST, rtol=1e-9)


@pytest.mark.parametrize(
    ("integrator", "stiffness", "damping"),
    [
        ("euler", 49.0, 0.0),
        ("euler", 49.0, 1.0),
        ("verlet", 49.0, 0.0),
        ("verlet", 49.0, 1.0),
        ("velocity_verlet", 49.0, 1.0),
        ("rk4", 49.0, 0.0),
        ("rk4", 49.0, 2.0),
        ("rk4", 5.0, 6.0),
        ("midpoint", 49.0, 2.0),
        ("explicit_euler", 49.0, 2.0),
        ("explicit_euler", 5.0, 6.0),
        ("implicit", 49.0, 1.0),
        ("moreau_jean", 49.0, 1.0),
    ],
)
def test_simulations_agree(integrator, stiffness, damping):
    """A step below the limit stays bounded, one above grows."""
    limit, _ = stability_limit(saltus.Simulation(oscillator(stiffness, damping), integrator).engine)
    assert 0 < limit < np.inf
    assert grown(integrator, stiffness, damping, 0.95 * limit) < 100.0
    assert grown(integrator, stiffness, damping, 1.05 * limit) > 1e4


def test_any_step_grows_where_the_limit_is_zero():
    for integrator in ("explicit_euler", "midpoint"):
        assert grown(integrator, 49.0, 0.0, 0.02, steps=200_000) > 10.0


def test_modes():
    """Eigenvalues of two coupled oscillators and of rigid motions, from the quadratic formula."""
    M, K, B = np.diag([2.0, 1.0]), np.array([[3.0, -1.0], [-1.0, 1.0]]), np.zeros((2, 2))
    squares = np.linalg.eigvals(np.linalg.solve(M, K))
    found = np.sort(np.abs(modes(M, K, B)).max(axis=1))
    assert_allclose(found, np.sort(np.sqrt(squares)), rtol=1e-12)
    pair = modes(np.eye(1), np.array([[5.0]]), np.array([[6.0]]))
    assert_allclose(np.sort(pair.real.ravel()), [-5, -1], rtol=1e-12)
    assert modes(np.zeros((0, 0)), np.zeros((0, 0)), np.zeros((0, 0))).shape == (0, 2)


def test_rigid_motions_and_growing_modes_set_no_limit():
    euler = saltus.integrators()["euler"]
    rigid = modes(np.eye(2), np.zeros((2, 2)), np.zeros((2, 2)))
    assert stable_timestep(euler, rigid)[0] == np.inf
    growing = modes(np.eye(1), np.array([[4.0]]), np.array([[-0.5]]))
    assert stable_timestep(euler, growing)[0] == np.inf


def test_the_fastest_of_several():
    """The bundled spring, ω = 10 rad/s with damping, under semi-implicit Euler with implicit damping."""
    sim = saltus.Simulation("spring", "euler")
    limit, mode = stability_limit(sim.engine)
    assert_allclose(abs(mode), 10.0, rtol=1e-12)
    assert 0.2 < limit < 0.25


def test_a_user_tableau_has_a_limit():
    """Heun's method has the stability function of the midpoint rule: 2 on decays."""
    heun = saltus.ButcherTableau([[0, 0], [1, 0]], [0.5, 0.5], name="heun")
    limit, _ = stability_limit(saltus.Simulation(oscillator(FAST, 1.0 + FAST), heun).engine)
    assert_allclose(limit * FAST, 2.0, rtol=1e-4)
