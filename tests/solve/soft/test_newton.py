"""Newton's method ends: at the tolerance that is asked for, or where rounding hides what is left.

Law: the cost is strictly convex and smooth enough for quadratic convergence once no row changes its state, so that a
few iterations end at rounding, with a tolerance of zero too, however stiff the contacts.

Tolerance of accelerations: rounding of residuals, 1e-16 of the reference accelerations, by the stiffest rows against
the softest, 1e6: 1e-8 of the largest with all digits.
"""

import mujoco
import numpy as np
import pytest
from helpers.constraints import complete, errors, put, reachable
from helpers.solvers import layered_heap

import saltus
from saltus.contact.counts import NITER

STEPS = 50


@pytest.mark.slow
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("impratio", [1, 10, 1000])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_it_ends_with_any_tolerance(precision, impratio, cone):
    """In every lane and step of half a second, also with a tolerance of zero."""
    for tolerance in (1e-8, 0.0):
        m = saltus.load(layered_heap(cone, impratio, tolerance))
        batch = saltus.Batch(m, 16, precision=precision, threads=1)
        batch.qvel = 0.3 * np.random.default_rng(0).normal(size=(16, m.nv))
        for _ in range(5):
            batch.step(50)
        assert batch.unconverged == 0 and not batch.diverged.any()


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("impratio", [1, 1000])
def test_it_ends_at_the_minimum(impratio, cone):
    """With a tolerance of zero, and the default one: MuJoCo's accelerations, in few iterations."""
    m = layered_heap(cone, impratio, 1e-20)
    for tolerance, allowed in ((0.0, 1e-8), (1e-8, 1e-4)):
        sim = saltus.Simulation(saltus.load(layered_heap(cone, impratio, tolerance)))
        iterations = []
        for d in reachable(m, 10):
            put(sim, d)
            assert errors(m, sim, d)["qacc"] < allowed
            iterations.append(int(sim.engine.d.count[NITER]))
        assert 0 < np.mean(iterations) < 15
        assert sim.unconverged == 0


def exact_cost(m, d, qacc):
    """The cost of accelerations in the constraint problem of MuJoCo's data, with residuals in extended precision."""
    J, M, cost = np.zeros((d.nefc, m.nv)), np.zeros((m.nv, m.nv)), np.zeros(1)
    mujoco.mju_sparse2dense(J, d.efc_J, d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind)
    mujoco.mj_fullM(m, d, M)
    residual = J.astype(np.longdouble) @ qacc - d.efc_aref
    mujoco.mj_constraintUpdate(m, d, residual.astype(float), cost, 0)
    change = (qacc - d.qacc_smooth).astype(np.longdouble)
    return float(0.5 * change @ M @ change) + cost[0]


@pytest.mark.filterwarnings("ignore:.*did not reach its tolerance")
@pytest.mark.parametrize("every", [1, 2])
def test_rows_without_compliance(every):
    """Bodies whose inverse weight is zero, as some fingers have: rows 1e17 times as stiff as the bodies are heavy.

    Rounding of the residuals hides the minimum from both: ours mostly costs less than MuJoCo's, and where rounding
    favours that one, some times as much.
    """
    m = layered_heap("pyramidal", 1, 1e-12)
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
    m.body_invweight0[every - 1 :: every] = 0.0
    sim, ratios = saltus.Simulation(saltus.load(m)), []
    for d in reachable(m, 12, seed=every):
        put(sim, d)
        own, other = (exact_cost(m, d, np.array(qacc)) for qacc in (sim.data.qacc, d.qacc))
        ratios.append(own / other)
    assert np.median(ratios) < 1.001 and max(ratios) < 10.0


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.filterwarnings("ignore:.*did not reach its tolerance")
@pytest.mark.parametrize("iterations", [1, 2, 3])
def test_few_iterations_are_as_good_as_mujocos(iterations, cone):
    """Files of robots allow 1 to 3: the motion is then as near the converged one as MuJoCo's, to a factor of two.

    The bodies fall and settle for 0.1 s, in which errors grow, but do not yet decide which body rolls where.
    """
    m = layered_heap(cone, 1, 1e-8)
    converged = motion_of_mujoco(m)
    m.opt.iterations, m.opt.ls_iterations = iterations, 5
    theirs = motion_of_mujoco(m)
    sim = saltus.Simulation(saltus.load(m))
    ours = []
    for _ in range(STEPS):
        sim.step()
        ours.append(sim.qpos.copy())
    assert sim.unconverged > 0
    allowed = 2.0 * np.abs(theirs - converged).max()
    assert allowed > 1e-6
    assert np.abs(ours - converged).max() <= allowed


def motion_of_mujoco(m):
    """Positions [STEPS, nq] after each step."""
    d, out = mujoco.MjData(m), []
    for _ in range(STEPS):
        mujoco.mj_step(m, d)
        out.append(d.qpos.copy())
    return np.array(out)


BALL = """<mujoco><worldbody>
  <geom type="box" size=".1 .1 .05" pos="0 0 -.149"/>
  <body><joint axis="0 1 0"/><geom size=".1" mass="1"/></body>
</worldbody></mujoco>"""


@pytest.mark.slow
@pytest.mark.parametrize(("precision", "digits"), [("float64", 1e-7), ("float32", 1e-3)])
def test_rows_without_inverse_inertia_hold(precision, digits):
    """A balanced ball turns on a pad: its `body_invweight0` is 0, so that the rows are stiffer than forces have digits.

    They brake it as MuJoCo's do, to the digits of velocities: 1e-16 (1e-7) of the first one, 10 rad/s, and 100 times
    more for the sums of a step, beside what is left of it, 7e-6 rad/s.
    """
    m = mujoco.MjModel.from_xml_string(BALL)
    assert m.body_invweight0[1, 0] == 0.0
    d = mujoco.MjData(m)
    d.qvel[0] = 10.0
    batch = saltus.Batch(saltus.load(BALL), 2, precision=precision, threads=1)
    batch.qvel = np.full((2, 1), 10.0)
    batch.step(60)
    for _ in range(60):
        mujoco.mj_step(m, d)
    assert abs(d.qvel[0]) < 1e-5
    assert np.abs(batch.qvel / d.qvel[0] - 1.0).max() < digits
    assert batch.unconverged == 0


@pytest.mark.parametrize("solver", ["NEWTON", "CG"])
def test_line_searches_end_at_rounding(solver):
    """Not at their limit, in float32 with a block at rest, whose steps change the cost by little more than rounding."""
    ends = []
    for most in (12, 1000):
        m = complete(
            '<mujoco><worldbody><geom type="plane" size="9 9 .1"/><body pos="0 0 .0999" euler="0 0 10"><freejoint/>'
            '<geom type="box" size=".2 .15 .1"/></body></worldbody></mujoco>'
        )
        m.opt.solver = getattr(mujoco.mjtSolver, f"mjSOL_{solver}")
        m.opt.tolerance, m.opt.ls_iterations, m.opt.ls_tolerance = 1e-8, most, 0.01
        batch = saltus.Batch(saltus.load(m), 16, precision="float32", threads=1)
        batch.qvel = 0.01 * np.random.default_rng(0).normal(size=(16, m.nv))
        batch.step(300)
        assert batch.unconverged == 0
        ends.append(batch.qpos)
    np.testing.assert_array_equal(*ends)
