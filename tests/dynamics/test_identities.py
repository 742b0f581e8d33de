"""Identities that hold for every mechanism, on random forests of all joint types.

Laws: T = ½ vᵀ M v; inverse dynamics undoes forward dynamics; ½ ∂c/∂v is the Christoffel matrix C, so that Ṁ - 2 C is
skew (Spong, Hutchinson & Vidyasagar, Robot Modeling and Control (2006), section 7.3; Featherstone, Rigid Body Dynamics
Algorithms (2008), table 5.1 for inverse dynamics and 7.1 for articulated bodies); the forces of gravity and springs are
the negative gradient of the potential; dE/dt is the power of everything else. Jacobians and derivatives are compared
with MuJoCo's, which are an independent implementation.

Tolerances: what is algebra at one state holds to rounding, 1e-12 of the largest term for sums of a few hundred
products, times the inertia's condition (up to 1e4 here) where M is inverted. Derivatives by differences are fourth
order with h = 4e-4: their error is h⁴ |f⁽⁵⁾| / 30 for truncation and 1e-12 for rounding, under 1e-9 of the quantity's
own size. The bias is a quadratic in v, whose central difference has no truncation error.
"""

import mujoco
import numpy as np
import pytest
from helpers import oracle
from helpers.identities import DIFFERENCED, ROUNDING, SOLVED, Case, assert_close, bias_matrix, slope

from saltus.dynamics.smooth import free_acceleration as acceleration
from saltus.number.kernels import Entry
from saltus.simulate.engine import loops

articulated_acceleration = Entry("test_acceleration", "", "acceleration(m, d)", acceleration=acceleration)


@pytest.fixture(scope="module", params=range(6))
def case(request):
    return Case(request.param)


@pytest.fixture(scope="module", params=range(4))
def holonomic(request):
    """Only hinges and slides: velocities are rates of coordinates."""
    return Case(50 + request.param, joints=("hinge", "slide"))


def test_kinetic_energy_is_half_v_M_v(case):
    sim = case.at(0.0)
    v = sim.qvel
    assert_close(sim.energy()[1], 0.5 * v @ sim.full_M() @ v, ROUNDING)


def test_M_is_symmetric_and_positive(case):
    M = case.at(0.0).full_M()
    np.linalg.cholesky(M)
    # entries of dofs on different branches are zero
    tree = case.m.dof_treeid
    assert not M[tree[:, None] != tree[None, :]].any()


def test_inverse_dynamics_undoes_forward_dynamics(case):
    """ID(FD(τ)) = τ: what inverse dynamics asks for is what passive, actuator and applied forces gave."""
    data = case.at(0.0).data
    given = data.qfrc_smooth + data.qfrc_bias
    assert_close(data.qfrc_inverse, given, SOLVED, scale=np.max(np.abs(data.qfrc_bias)))


def test_inverse_dynamics_is_mujocos(case):
    """At accelerations that have nothing to do with the forces."""
    sim = case.at(0.0)
    sim.forward()
    qacc = 10 * np.random.default_rng(3).normal(size=case.m.nv)
    sim.engine.d.views["qacc"][:] = qacc
    loops.inverse(case.model.struct(), sim.engine.d)
    found = sim.engine.d.views["qfrc_inverse"].copy()
    d = oracle.forward(case.m, case.state)
    d.qacc[:] = qacc
    mujoco.mj_inverse(case.m, d)
    # MuJoCo's are without passive forces
    assert_close(found, d.qfrc_inverse + d.qfrc_passive, ROUNDING * 10)


def test_articulated_bodies_agree_with_the_factor_of_M(case):
    sim = case.at(0.0)
    by_factor = sim.data.qacc.copy()
    dense_solution = np.linalg.solve(sim.full_M(), sim.data.qfrc_smooth)
    articulated_acceleration(case.model.struct(), sim.engine.d)
    by_bodies = sim.engine.d.views["qacc"].copy()
    assert_close(by_bodies, by_factor, SOLVED)
    assert_close(by_factor, dense_solution, SOLVED)


def test_bias_is_the_christoffel_matrix_times_v(holonomic):
    """c_i = Σ (∂M_ij/∂q_k - ½ ∂M_jk/∂q_i) v_j v_k, with ∂M/∂q by differences."""
    sim = holonomic.at(0.0)
    nv = holonomic.m.nv
    v, total = sim.qvel.copy(), sim.data.qfrc_bias.copy()
    sim.qvel[:] = 0
    coriolis = total - sim.data.qfrc_bias
    gradient = np.array([slope(lambda s: holonomic.at(s, e).full_M()) for e in np.eye(nv)])  # noqa: B023
    wanted = np.einsum("kij,j,k->i", gradient, v, v) - 0.5 * np.einsum("ijk,j,k->i", gradient, v, v)
    assert_close(coriolis, wanted, DIFFERENCED)


def test_M_dot_minus_2C_is_skew(holonomic):
    """With 2 C = ∂c/∂v by the analytic derivative and Ṁ by differences along the motion."""
    rate = slope(lambda s: holonomic.at(s).full_M())
    difference = rate - bias_matrix(holonomic)
    assert_close(difference, -difference.T, DIFFERENCED, scale=np.max(np.abs(rate)))


def test_M_dot_minus_2C_does_no_work(case):
    """vᵀ (Ṁ - ∂c/∂v) v = 0 also where velocities are no rates of coordinates."""
    v = case.state["qvel"]
    rate, matrix = slope(lambda s: case.at(s).full_M()), bias_matrix(case)
    assert_close(v @ rate @ v, v @ matrix @ v, DIFFERENCED, scale=v @ v * np.max(np.abs(rate)))


def test_gravity_and_springs_are_the_gradient_of_the_potential(case):
    sim = case.at(0.0)
    sim.qvel[:] = 0
    force = sim.data.qfrc_spring - sim.data.qfrc_bias
    gradient = [slope(lambda s: case.at(s, e).energy()[0]) for e in np.eye(case.m.nv)]  # noqa: B023
    assert_close(-force, gradient, DIFFERENCED)


def test_power_is_the_rate_of_energy(case):
    """dE/dt along the motion = power of applied joint and Cartesian forces and of dampers."""
    sim = case.at(0.0)
    data, v = sim.data, sim.qvel.copy()
    jacobians = [np.vstack(sim.jacobian(b)) for b in range(case.m.nbody)]
    # what is neither gravity, spring nor inertia
    cartesian = sum(J.T @ f for J, f in zip(jacobians, case.state["xfrc_applied"], strict=True))
    power = v @ (sim.qfrc_applied + data.qfrc_damper + cartesian)
    qacc = data.qacc.copy()
    rate = slope(lambda s: case.at(s, a=qacc).energy().sum())
    scale = np.sum(np.abs(v * (data.qfrc_bias + data.qfrc_spring))) + abs(power)
    assert_close(rate, power, DIFFERENCED, scale=scale)


def test_energy_stays_without_dampers_and_forces():
    """The same with nothing from outside: dE/dt = 0."""
    case = Case(77, passive=False)
    for name in ("qfrc_applied", "xfrc_applied"):
        case.state[name][:] = 0
    sim = case.at(0.0)
    qacc, scale = sim.data.qacc.copy(), np.sum(np.abs(sim.qvel * sim.data.qfrc_bias))
    assert_close(slope(lambda s: case.at(s, a=qacc).energy().sum()), 0.0, DIFFERENCED, scale=scale)
