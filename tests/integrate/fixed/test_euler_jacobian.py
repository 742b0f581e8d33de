"""Derivatives of Euler's step in closed form.

References: dual numbers along all directions, the way of models without a closed form, to 1e-12 of the largest entry
(rounding of some hundred operations, amplified by stiff rows); for rotations in one step, MuJoCo's quaternions; for
linear systems, NumPy's solutions.
Differences of steps are the reference in `tests/solve/soft/test_force_derivative.py`.
"""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from helpers.jacobian_scenes import pushed, world
from helpers.plain_python import plain

import saltus
from saltus.integrate.fixed.euler_jacobian import SMALL_ANGLE, solve_constrained
from saltus.simulate.derivatives import linearize
from saltus.simulate.derivatives.closed_form import has_closed_form

CLOSE = 1e-12
SPINNING = """<mujoco><option timestep=".05" gravity="0 0 0"/><worldbody><body><joint type="ball" damping="{damping}"/>
  <geom type="sphere" size=".1"/></body><body pos="1 0 0"><freejoint/><geom type="box" size=".1 .2 .3"/></body>
  </worldbody></mujoco>"""


def by_duals(sim, monkeypatch):
    """A and B by dual numbers."""
    with monkeypatch.context() as patch:
        patch.setattr(linearize, "has_closed_form", lambda *_: False)
        other = saltus.Simulation(sim.model, "euler")
        other.restore(sim.snapshot())
        return other.linearize()


def assert_equal(found, wanted):
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=CLOSE * max(1.0, np.max(np.abs(y), initial=0.0)))


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize(("condim", "steps"), [(1, 40), (3, 1), (3, 40), (3, 90), (4, 40), (6, 40)])
def test_equal_to_duals(cone, condim, steps, monkeypatch):
    sim = pushed(world(cone, condim), steps)
    found = sim.linearize()
    assert has_closed_form(sim.engine.m, sim.model)
    assert_equal(found, by_duals(sim, monkeypatch))


@pytest.mark.parametrize("damping", [0.0, 0.2])
@pytest.mark.parametrize("speed", [1e-9, 1e-3, 1.0, 50.0])
def test_rotations_of_any_size(damping, speed, monkeypatch):
    """Up to 2.5 rad in a step, and down to where the exponential's derivative is a series."""
    sim = saltus.Simulation(SPINNING.format(damping=damping), "euler")
    sim.qvel[:] = speed * np.linspace(-1.0, 1.0, sim.model.nv)
    found = sim.linearize()
    assert_equal(found, by_duals(sim, monkeypatch))


@pytest.mark.parametrize("angle", [0.5, 1.1 * SMALL_ANGLE, 0.9 * SMALL_ANGLE])
def test_turn_of_a_ball(angle):
    """A uniform ball at rest inertia turns at a constant velocity: dq' = exp(-h v) dq in its axes."""
    sim = saltus.Simulation(SPINNING.format(damping=0.0), "euler")
    sim.qvel[:3] = angle / 0.05 * np.array([9.0, -4.0, 2.0]) / np.sqrt(101.0)
    A, _ = sim.linearize()
    turn, quat = np.zeros(9), np.zeros(4)
    axis = sim.qvel[:3] / np.linalg.norm(sim.qvel[:3])
    mujoco.mju_axisAngle2Quat(quat, axis, 0.05 * np.linalg.norm(sim.qvel[:3]))
    mujoco.mju_quat2Mat(turn, quat)
    np.testing.assert_allclose(A[:3, :3], turn.reshape(3, 3).T, rtol=0, atol=1e-14)
    np.testing.assert_allclose(A[6 + 3 : 6 + 6, :3], 0.0, atol=1e-13)


def test_forces_out_of_range_have_no_controls():
    """Motors on a joint whose range they exceed together: no derivative by their controls."""
    sim = pushed(world())
    sim.ctrl[:] = 0.0
    _, B = sim.linearize()
    assert np.any(B[:, 1]) and np.any(B[:, 2])
    sim.ctrl[2] = 9.0
    _, saturated = sim.linearize()
    assert not np.any(saturated[:, 1]) and not np.any(saturated[:, 2])
    assert np.any(saturated[:, 0])


#: Columns left of the diagonal, by rows: some alike but for the first's entry of the second, from one to seven entries.
PATTERNS = {
    "dense": [range(k) for k in range(8)],
    "sparse": [(), (0,), (), (0, 2), (0, 2, 3), (0, 3), (0, 1, 2, 5), (0, 1, 2, 5, 6), (3,), (1, 4, 6), (1, 9)],
}


@pytest.mark.parametrize("name", PATTERNS)
def test_solutions_of_a_factored_matrix(name):
    """H = Lᵀ D L with a unit triangle L, to rounding of some hundred operations; 1/D is kept on the diagonal."""
    rng, rows, nv = np.random.default_rng(2), [list(row) for row in PATTERNS[name]], len(PATTERNS[name])
    lower, diagonal = np.eye(nv), rng.uniform(0.5, 2.0, nv)
    packed, columns = np.zeros(nv * (nv + 1) // 2), np.full(nv * (nv + 1) // 2, nv, int)
    for i, row in enumerate(rows):
        first = i * (i + 1) // 2
        lower[i, row] = packed[[first + j for j in row]] = rng.uniform(-0.5, 0.5, len(row))
        packed[first + i], columns[first : first + len(row)] = 1.0 / diagonal[i], row
    p = SimpleNamespace(hessian=packed, hessian_col=columns, hessian_num=np.array([len(row) for row in rows]))
    given = rng.normal(size=(nv, 3))
    found = given.copy()
    plain(solve_constrained.kernel)(SimpleNamespace(nv=nv), p, found)
    wanted = np.linalg.solve(lower.T @ np.diag(diagonal) @ lower, given)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13 * np.max(np.abs(wanted)))
