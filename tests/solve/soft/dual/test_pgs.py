"""Projected Gauss-Seidel goes MuJoCo's way, iteration by iteration, and ends where Newton's method does.

Law: MuJoCo 4.0's iteration (its source is its definition): which force has its turn when, how far all are extrapolated,
when it ends. At the end stands the minimum of the dual problem, whose accelerations are those of the primal one, which
is unique.

Tolerances: the iterates are the same numbers but for rounding, and each iteration is a contraction: a hundred of them
with a hundred operations each leave 1e-12, which stiff contacts (a force is 1e3 to 1e5 times an error of acceleration)
make 1e-9 at most. MuJoCo solves for friction in cones to 1e-10 N² of the squared force: 1e-7. An iteration that stops
when it improves the scaled cost by less than t leaves an error of the order of √t in accelerations.
"""

import mujoco
import numpy as np
import pytest
from helpers.constraints import relative, tight
from helpers.files import packaged
from helpers.solvers import (
    assert_newtons_minimum,
    begin_like,
    compiled,
    heap,
    lanes_are_single_runs,
    lanes_do_not_meddle,
    states,
    stuck,
    worst_errors,
)

import saltus
from saltus.model.compile.constraints import solver

pytestmark = pytest.mark.filterwarnings("ignore:.*did not reach its tolerance")
FLAGS = mujoco.mjtDisableBit
TIGHT = dict(tolerance=1e-15, iterations=20000)
SAME = {"pyramidal": 1e-9, "elliptic": 1e-7}
HEAVY = """<mujoco><option cone="elliptic"/><worldbody><geom type="plane" size="9 9 .1" friction=".001"/>
    <body pos="0 0 .1"><freejoint/><geom type="sphere" size=".1" mass="1e5" friction=".001"/></body>
    </worldbody></mujoco>"""


@pytest.mark.slow
@pytest.mark.parametrize("off", [0, FLAGS.mjDSBL_ISLAND.value], ids=["islands", "all together"])
@pytest.mark.parametrize("cone", SAME)
def test_every_iteration_is_mujocos(cone, off):
    """As many iterations as MuJoCo and the same forces, also where it stops before it has converged.

    But for states in which MuJoCo ends with a cone that holds nothing and should.
    """
    m = compiled(heap(cone), "PGS", iterations=25, disable=off)
    worst, sim = worst_errors(m, 20, same_iterations=True, leave_out=stuck)
    assert max(worst.values()) < SAME[cone], worst
    assert sim.unconverged > 0


def test_a_model_from_gymnasium():
    """The humanoid that learning benchmarks use names this solver and 50 iterations: its accelerations are MuJoCo's."""
    path = packaged("gymnasium").get("envs/mujoco/assets/humanoid.xml")
    if path is None:
        pytest.skip("gymnasium is not installed")
    m = mujoco.MjModel.from_xml_path(str(path))
    assert (m.opt.solver, m.opt.iterations) == (mujoco.mjtSolver.mjSOL_PGS, 50)
    worst, _ = worst_errors(m, 30, same_iterations=True)
    assert max(worst.values()) < SAME["pyramidal"], worst


@pytest.mark.slow
def test_a_run_is_mujocos():
    """300 steps of that humanoid falling, some unconverged: rounding grows to 1e-14 on the way, and chaos to 1e-10."""
    path = packaged("gymnasium").get("envs/mujoco/assets/humanoid.xml") or pytest.skip("gymnasium is not installed")
    m = compiled(path, "PGS", integrator=mujoco.mjtIntegrator.mjINT_EULER)
    sim, d = saltus.Simulation(saltus.load(m)), mujoco.MjData(m)
    sim.qvel[:] = d.qvel[:] = 0.1 * np.random.default_rng(0).normal(size=m.nv)
    sim.step(300)
    mujoco.mj_step(m, d, 300)
    assert d.nefc > 5 and sim.unconverged > 0
    np.testing.assert_allclose(sim.qpos, d.qpos, rtol=0, atol=1e-10)


def test_a_cold_start_is_mujocos():
    """With the flag against warm starts it begins without forces, whatever was before."""
    m = compiled(heap(), "PGS", iterations=10, disable=FLAGS.mjDSBL_WARMSTART.value)
    worst, sim = worst_errors(m, same_iterations=True)
    assert max(worst.values()) < SAME["pyramidal"], worst
    qacc = sim.data.qacc.copy()
    sim.data.qacc_warmstart[:] = 100.0
    assert np.array_equal(sim.data.qacc, qacc)


@pytest.mark.parametrize("cone", SAME)
def test_it_ends_at_newtons_minimum(cone):
    """Iterated until nothing improves, accelerations and forces are those of MuJoCo's Newton's method."""
    assert_newtons_minimum(heap(cone), "PGS", 1e-6, **TIGHT)


def test_friction_of_what_is_heavy():
    """100 t on ice: the friction that Newton's method finds (MuJoCo's Gauss-Seidel finds none, see the module)."""
    m = tight(compiled(HEAVY, "Newton"))
    sim = saltus.Simulation(saltus.load(compiled(HEAVY, "PGS", **TIGHT)))
    d = mujoco.MjData(m)
    d.qpos[2] -= 1e-3
    d.qvel[:] = 0.3, 0.2, 0.0, 0.1, 0.0, 0.0
    mujoco.mj_forward(m, d)
    assert np.hypot(*d.efc_force[1:]) == pytest.approx(1e-3 * d.efc_force[0])
    begin_like(sim, d)
    assert relative(sim.data.efc_force, d.efc_force) < 1e-6


@pytest.mark.parametrize("cone", SAME)
def test_forces_are_possible_ones_at_every_iteration(cone):
    """Contacts push, friction stays in its cone and below its loss, even where the iteration is cut off."""
    sim = saltus.Simulation(saltus.load(compiled(heap(cone), "PGS", iterations=3, tolerance=0.0)))
    for d in states(compiled(heap(cone), "PGS"), 10):
        begin_like(sim, d)
        force, kind = sim.data.efc_force, sim.data.efc_type
        loss = kind == mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF.value
        assert np.all(np.abs(force[loss]) <= sim.data.efc_frictionloss[loss])
        bounded = kind > mujoco.mjtConstraint.mjCNSTR_FRICTION_TENDON.value
        if cone == "pyramidal":
            assert np.all(force[bounded] >= 0.0)
            continue
        for c in sim.data.contact:
            f = force[c["efc_address"] :][: c["dim"]]
            assert f[0] >= 0.0
            assert np.linalg.norm(f[1:] / c["friction"][: c["dim"] - 1]) <= f[0] * (1 + 1e-12)


def test_what_has_not_converged_is_said():
    """All iterations used up is counted and warned of."""
    *_, qpos = (d.qpos.copy() for d in states(compiled(heap(), "PGS"), 4))
    for iterations, unconverged in ((2, 1), (2000, 0)):
        sim = saltus.Simulation(saltus.load(compiled(heap(), "PGS", iterations=iterations)))
        sim.qpos[:] = qpos
        if unconverged:
            with pytest.warns(saltus.SaltusWarning, match="did not reach its tolerance in 2 iterations"):
                sim.forward()
        else:
            sim.forward()
        assert sim.unconverged == unconverged


@pytest.mark.slow
@pytest.mark.parametrize("dense", [solver.MOST_DENSE, 8])
@pytest.mark.parametrize("cone", SAME)
def test_neighbours_do_not_matter(cone, dense, monkeypatch):
    """With islands below and above the size of a dense matrix."""
    monkeypatch.setattr(solver, "MOST_DENSE", dense)
    lanes_are_single_runs(compiled(heap(cone), "PGS"))


@pytest.mark.parametrize("cone", SAME)
def test_how_many_islands_are_solved_at_once_does_not_matter(cone, monkeypatch):
    """Those of all lanes, as many as there is memory for, or one after the other: the same bits."""
    results = []
    for at_once, matrices in ((32, 4), (3, 4), (32, 1), (1, 1)):
        monkeypatch.setattr(solver, "PROBLEMS", at_once)
        monkeypatch.setattr(solver, "MATRICES", matrices)
        results.append(lanes_do_not_meddle(compiled(heap(cone), "PGS"))[0])
    assert all(np.array_equal(result, results[0]) for result in results)


@pytest.mark.parametrize("cone", SAME)
def test_large_islands_are_solved_alike(cone, monkeypatch):
    """Beyond the size of a dense matrix the iterates are the same numbers, with as many iterations as MuJoCo."""
    monkeypatch.setattr(solver, "MOST_DENSE", 8)
    worst, sim = worst_errors(compiled(heap(cone), "PGS", iterations=25), 10, same_iterations=True, leave_out=stuck)
    assert max(worst.values()) < SAME[cone], worst
    assert sim.engine.m.ndense == 8


def test_no_memory_for_a_hessian():
    sim = saltus.Simulation(saltus.load(compiled(heap(), "PGS")))
    assert sim.engine.d.views["hessian"].size == 0


@pytest.mark.slow
def test_derivatives_are_those_of_the_minimum():
    """A linearised step is the derivative of the solution: central differences of converged steps.

    Differences of second order with a step of 1e-5 have errors of 1e-10 by their formula and 1e-15 √cond / 1e-5 by the
    solver: 1e-5 of the largest.
    """
    m = compiled(heap(bodies=2), "PGS", tolerance=1e-20, iterations=20000)
    sim = saltus.Simulation(saltus.load(m))
    *_, start = ((d.qpos.copy(), d.qvel.copy()) for d in states(m, 3))
    sim.qpos[:], sim.qvel[:] = start
    A, _ = sim.linearize()
    nv, h = m.nv, 1e-5
    for i in range(nv):
        ends = []
        for sign in (1, -1):
            sim.reset()
            sim.qpos[:], sim.qvel[:] = start
            sim.qvel[i] += sign * h
            sim.step()
            ends.append(sim.qvel.copy())
        slope = (ends[0] - ends[1]) / (2 * h)
        np.testing.assert_allclose(A[nv:, nv + i], slope, rtol=0, atol=1e-5 * np.abs(A[nv:, nv:]).max())
