"""The line search of soft constraints in plain Python: slopes of the cost, and where it ends.

Law: cost ½ (a - a₀)ᵀ M (a - a₀) + Σ s(J a - a_ref) along a + α s. Reference: MuJoCo's `mj_constraintUpdate`, whose
forces are minus the cost's slope. Slopes are formulas, 1e-10 of the largest; their differences over 2e-6 are curvatures
to 1e-4 where no row changes its state in between. The search ends where the slope is 1e-3 of the first.
"""

import mujoco
import numpy as np
import pytest
from helpers import oracle, solvers
from helpers.constraints import complete
from helpers.plain_python import fields, plain, plain_python

import saltus
from saltus.contact.rows.blocks import times_rows
from saltus.contact.rows.cost import row_residuals
from saltus.solve.soft import line_search

LENGTHS = -0.7, 0.0, 0.4, 1.0, 1.9, 6.0


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


class Along:
    """A line of accelerations of a heap that has fallen, in both programs."""

    def __init__(self, cone, seed):
        m = complete(solvers.heap(cone))
        self.d = d = next(solvers.states(m, 1, 60))
        self.m, rng = m, np.random.default_rng(seed)
        self.sim = sim = saltus.Simulation(saltus.load(m))
        solvers.begin_like(sim, d)
        self.ours = fields(sim.engine.m), fields(sim.engine.d)
        self.a = d.qacc_smooth + 10.0 * rng.normal(size=m.nv)
        self.s = -np.linalg.solve(oracle.full_inertia(m, d), self.gradient(self.a)) + 5.0 * rng.normal(size=m.nv)
        views = sim.engine.d.views
        views["qacc"][:], views["solve_search"][:] = self.a, self.s
        views["solve_Ma"][:], views["solve_Msearch"][:] = (oracle.full_inertia(m, d) @ x for x in (self.a, self.s))
        views["qfrc_tau"][:] = views["qfrc_bias"] + d.qfrc_smooth  # constraint forces had been added
        plain(row_residuals)(*self.ours, views["qacc"])
        plain(times_rows)(*self.ours, views["solve_search"], views["row_search"])

    def gradient(self, a):
        """Slope of MuJoCo's cost by the accelerations."""
        m, d = self.m, self.d
        residual, force = np.zeros(d.nefc), np.zeros(m.nv)
        mujoco.mj_mulJacVec(m, d, residual, a)
        mujoco.mj_constraintUpdate(m, d, residual - d.efc_aref, None, 0)
        mujoco.mj_mulJacTVec(m, d, force, d.efc_force)
        return oracle.full_inertia(m, d) @ (a - d.qacc_smooth) - force

    def slope(self, alpha):
        return self.gradient(self.a + alpha * self.s) @ self.s


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("seed", range(4))
def test_slopes_and_curvatures(cone, seed):
    """Of the whole cost, at lengths behind the start, beyond the least one, and between."""
    line = Along(cone, seed)
    parts = [plain(line_search.inertia_slope)(*line.ours)[:2], plain(line_search.equalities_slope)(*line.ours)]
    scale = max(abs(line.slope(alpha)) for alpha in LENGTHS)
    for alpha in LENGTHS:
        slope, bend = plain(line_search.constraint_slope)(*line.ours, np.float64(alpha))
        slope += sum(first + alpha * second for first, second in parts)
        bend += sum(second for _, second in parts)
        np.testing.assert_allclose(slope, line.slope(alpha), rtol=0, atol=1e-10 * scale)
        sides = [(line.slope(alpha + x) - line.slope(alpha + x - 1e-6)) / 1e-6 for x in (0.0, 1e-6)]
        if abs(sides[0] - sides[1]) < 1e-4 * max(sides):
            np.testing.assert_allclose(bend, sides[0], rtol=2e-4)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("seed", range(3))
def test_it_ends_where_the_slope_is_a_thousandth(cone, seed):
    line = Along(cone, seed)
    start = line.slope(0.0)
    line.sim.engine.m.views["opt_tolerance"][...] = 0.0
    alpha = plain(line_search.line_search)(*line.ours, np.True_, np.float64(start), np.float64(0.0))
    assert start < 0.0 < alpha
    assert abs(line.slope(alpha)) <= 1e-3 * abs(start) * (1.0 + 1e-9)
    assert plain(line_search.line_search)(*line.ours, np.False_, np.float64(start), np.float64(0.0)) == 0.0
