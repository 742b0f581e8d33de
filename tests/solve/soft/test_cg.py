"""Conjugate gradients find the minimum that Newton's method finds, with MuJoCo's number of iterations.

Law: the cost is strictly convex in the metric of M, so that its minimum is unique. The methods are MuJoCo 4.0's
(documentation, Computation: Solver), which is the reference for forces, accelerations and numbers of iterations.

Tolerances: an iteration stops when it has improved the scaled cost by less than t. It converges linearly, so that what
is left of the cost is of order t / scale, and by strong convexity ½ δᵀ M δ is no more: δ² < 2 t / (scale λ) with λ the
smallest eigenvalue of M. For t = 1e-20 and inertias between 1 and 1e-4 of the mean that is 1e-9 to 1e-7 of the largest
accelerations, 10 to 1000.
"""

import mujoco
import numpy as np
import pytest
from helpers.constraints import relative
from helpers.files import packaged
from helpers.solvers import (
    assert_newtons_minimum,
    begin_like,
    compiled,
    heap,
    lanes_do_not_meddle,
    states,
    worst_errors,
)

import saltus

TIGHT = dict(tolerance=1e-20, iterations=1000, ls_tolerance=1e-6)
CASES = {"pyramids": heap("pyramidal"), "cones": heap("elliptic"), "humanoid": None, "hopper": None}


def source(case):
    if CASES[case]:
        return CASES[case]
    path = packaged("dm_control").get(f"suite/{case}.xml")
    return path or pytest.skip("dm_control is not installed")


@pytest.mark.parametrize("case", CASES)
def test_the_minimum_is_newtons(case):
    """Accelerations and forces are those of MuJoCo's Newton's method, to the tolerance; every state converges."""
    assert_newtons_minimum(source(case), "CG", 1e-7, **TIGHT)


@pytest.mark.parametrize("case", ["pyramids", "cones"])
def test_rows_are_mujocos(case):
    """With the same solver in MuJoCo, the forces of all rows are the same."""
    worst, _ = worst_errors(compiled(source(case), "CG", **TIGHT))
    assert max(worst.values()) < 1e-7, worst


@pytest.mark.parametrize("case", ["humanoid", "cones"])
def test_as_many_iterations_as_mujoco(case):
    """From a cold start, the mean number of iterations is MuJoCo's: the directions are as good."""
    flags = mujoco.mjtDisableBit
    off = flags.mjDSBL_WARMSTART.value | flags.mjDSBL_ISLAND.value
    m = compiled(source(case), "CG", tolerance=1e-12, iterations=1000, disable=off)
    sim = saltus.Simulation(saltus.load(m))
    ours, theirs = [], []
    for d in states(m, 20):
        if d.nefc:
            begin_like(sim, d)
            ours.append(sim.data.solver_niter)
            theirs.append(d.solver_niter[0])
    assert np.mean(theirs) > 10
    assert np.mean(ours) == pytest.approx(np.mean(theirs), rel=0.15)


def test_no_iteration_where_the_start_is_the_solution():
    """Iterations are counted from zero, anew in each solve: none from the minimum, as many from elsewhere again."""
    ball = '<mujoco><option solver="CG"/><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .0999"><freejoint/>'
    sim = saltus.Simulation(ball + '<geom size=".1" mass="1"/></body></worldbody></mujoco>')
    counts, start = [], sim.snapshot()
    for _ in range(3):
        sim.restore(start)
        sim.qvel[0] = 0.3
        sim.forward()
        counts.append(sim.data.solver_niter)
        sim.data.qacc_warmstart[:] = sim.data.qacc
        sim.forward()
        assert sim.data.solver_niter == 0
    assert counts[0] > 0 and counts == counts[:1] * 3


def test_what_has_not_converged_is_said():
    """With two iterations the solver does not get there, which is counted and warned of; with many it does."""
    qpos = [d.qpos.copy() for d in states(compiled(heap(), "CG"), 4)][-1]
    for iterations, unconverged in ((2, 1), (1000, 0)):
        sim = saltus.Simulation(saltus.load(compiled(heap(), "CG", iterations=iterations)))
        sim.qpos[:] = qpos
        if unconverged:
            with pytest.warns(saltus.SaltusWarning, match="did not reach its tolerance in 2 iterations"):
                sim.forward()
        else:
            sim.forward()
        assert sim.unconverged == unconverged


def test_a_cold_start_ends_at_the_same_minimum():
    """With the flag against warm starts, the result does not depend on what was before, to the bit."""
    off = mujoco.mjtDisableBit.mjDSBL_WARMSTART.value
    cold = saltus.Simulation(saltus.load(compiled(heap(), "CG", disable=off, **TIGHT)))
    warm = saltus.Simulation(saltus.load(compiled(heap(), "CG", **TIGHT)))
    for d in states(compiled(heap(), "CG"), 4):
        begin_like(warm, d)
        begin_like(cold, d)
        from_here = cold.data.qacc.copy()
        cold.data.qacc_warmstart[:] = 100.0
        assert np.array_equal(cold.data.qacc, from_here)
        assert relative(from_here, warm.data.qacc) < 1e-7


def test_neighbours_do_not_matter():
    """A simulation's result in a batch is the same bit by bit beside others."""
    lanes_do_not_meddle(compiled(heap("elliptic"), "CG"))


def test_no_memory_for_a_hessian():
    """There is none: large models are what conjugate gradients are for."""
    sim = saltus.Simulation(saltus.load(compiled(heap(), "CG")))
    assert all(sim.engine.d.views[name].size == 0 for name in ("hessian", "hessian_bits", "hessian_num", "hessian_col"))
