"""The implicit midpoint rule is symplectic, keeps quadratic invariants and does not blow up on stiff springs.

Law: Gauss's methods are symplectic in positions and momenta and keep every quadratic invariant (Hairer, Lubich &
Wanner, Geometric Numerical Integration (2006), theorems IV.2.2 and VI.4.2): their step's Jacobian A in (q, p) satisfies
AᵀJA = J. |R(iy)| = 1 for every y, so no step is too large for a spring.

Tolerances: Newton's method ends at rounding, which over a thousand steps leaves less than 1e-12 of an oscillator's
energy, and ten times that where the step is a hundred and fifty periods. A of (q, v) is exact to rounding; the change
to (q, p) takes ∂(Mv)/∂q by differences, good to 1e-10.
"""

import numpy as np
import pytest
from helpers import oracle
from numpy.testing import assert_allclose

import saltus


def spring(stiffness, damping=0.0):
    return f"""
    <mujoco><option gravity="0 0 0"/><worldbody><body>
      <joint type="slide" axis="1 0 0" stiffness="{stiffness}" damping="{damping}"/>
      <inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("stiffness", "h", "tolerance"),
    [(2.0, 0.1, 1e-12), (2.0, 1.0, 1e-12), (2e8, 0.1, 1e-11)],
    ids=["fine", "coarse", "stiff"],
)
def test_the_oscillators_energy_stays(stiffness, h, tolerance):
    """h ω from 0.1 to 1000."""
    sim = saltus.Simulation(spring(stiffness), "implicit_midpoint", timestep=h)
    sim.qpos[0], sim.qvel[0] = 1.0, 0.5
    start = stiffness * sim.qpos[0] ** 2 / 2 + sim.qvel[0] ** 2
    for _ in range(10):
        sim.step(100)
        energy = stiffness * sim.qpos[0] ** 2 / 2 + sim.qvel[0] ** 2
        assert_allclose(energy, start, rtol=tolerance)
    assert sim.unconverged == 0


def test_the_cayley_transform():
    """On a linear system one step is (1 - z/2)⁻¹ (1 + z/2) with z = h times the system's matrix."""
    k, c, h = 7.0, 0.9, 0.3
    A = np.array([[0, 1], [-k / 2, -c / 2]])
    step = np.linalg.solve(np.eye(2) - h / 2 * A, np.eye(2) + h / 2 * A)
    sim = saltus.Simulation(spring(k, c), "implicit_midpoint", timestep=h)
    sim.qpos[0], sim.qvel[0] = 1.0, 0.5
    sim.step(10)
    wanted = np.linalg.matrix_power(step, 10) @ [1.0, 0.5]
    assert_allclose((sim.qpos[0], sim.qvel[0]), wanted, rtol=0, atol=1e-14)


def test_it_is_symmetric_in_time():
    """A step back from where a step led arrives at the start: h -> -h, here as v -> -v, also on a free body."""
    model = saltus.load("free_body")
    sim = saltus.Simulation(model, "implicit_midpoint", timestep=0.05)
    start = sim.qpos.copy(), sim.qvel.copy()
    sim.step(20)
    sim.qvel *= -1
    sim.step(20)
    sim.qvel *= -1
    m = oracle.reference(model)
    assert_allclose(oracle.difference(m, start[0], sim.qpos), 0.0, atol=1e-11)
    assert_allclose(sim.qvel, start[1], rtol=0, atol=1e-10)


def canonical(sim):
    """∂(q, p)/∂(q, v) [2 nv, 2 nv] at the simulation's state, with p = M v."""
    q, v, nv, h = sim.qpos.copy(), sim.qvel.copy(), sim.model.nv, 1e-3
    columns = []
    for e in np.eye(nv):
        p = {}
        for s in (-2, -1, 1, 2):
            sim.qpos[:] = q + s * h * e
            p[s] = sim.full_M() @ v
        columns.append((8 * (p[1] - p[-1]) - (p[2] - p[-2])) / (12 * h))
    sim.qpos[:] = q
    zero = np.zeros((nv, nv))
    return np.block([[np.eye(nv), zero], [np.transpose(columns), sim.full_M()]])


def symplectic_defect(integrator):
    """Largest entry of AᵀJA - J over a step of a double pendulum, A in (q, p)."""
    sim = saltus.Simulation(saltus.n_link(2), integrator, timestep=0.04)
    sim.qpos[:], sim.qvel[:] = (1.0, 0.5), (1.0, -2.0)
    before = canonical(sim)
    step, _ = sim.linearize()
    sim.step()
    A = canonical(sim) @ step @ np.linalg.inv(before)
    J = np.kron([[0, 1], [-1, 0]], np.eye(2))
    return np.max(np.abs(A.T @ J @ A - J))


@pytest.mark.slow
def test_it_is_symplectic_where_the_inertia_changes_too():
    gauss = [[0.25, 0.25 - 3**0.5 / 6], [0.25 + 3**0.5 / 6, 0.25]]
    for integrator in ("implicit_midpoint", saltus.ButcherTableau(gauss, [0.5, 0.5], name="gauss 2")):
        assert symplectic_defect(integrator) < 1e-10
    # a method of the same order that is not
    trapezoid = saltus.ButcherTableau([[0, 0], [0.5, 0.5]], [0.5, 0.5], name="trapezoidal rule")
    assert symplectic_defect(trapezoid) > 1e-6


def test_energy_of_a_double_pendulum_stays_in_a_band():
    """Five hundred seconds of a chaotic motion: the energy oscillates and does not drift."""
    sim = saltus.Simulation(saltus.n_link(2), "implicit_midpoint", timestep=0.02)
    sim.qpos[:] = 1.0, 0.5
    energy = sim.run(500, sample=0.1).total_energy
    first, last = energy[:1000], energy[-1000:]
    assert np.ptp(last) < 2 * np.ptp(first)
    assert abs(last.mean() - first.mean()) < 0.25 * np.ptp(first)


def test_a_step_that_has_no_solution_is_reported():
    """Newton's method fails on a pendulum that turns by many radians a step: a warning, counted."""
    sim = saltus.Simulation("pendulum", "implicit_midpoint", timestep=5.0)
    sim.qvel[0] = 3.0
    with pytest.warns(saltus.SaltusWarning, match=r"implicit_midpoint.*did not converge.*5 s"):
        for _ in range(50):
            sim.step()
            if sim.unconverged:
                break
    sim.reset()
    assert sim.unconverged == 0
