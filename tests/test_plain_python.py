"""Steps in plain Python against MuJoCo's, kernel by kernel: whole worlds that need no compiler.

Law: MuJoCo 4.0's, of which each world has a part: joints, springs, actuators, tendons, fluid, deformable bodies,
limits, friction, equalities, contacts, sensors; at random states, and after some steps of each of its integrators.

Tolerances: what follows from positions, velocities and forces by formulas 1e-11 of the largest; constraint forces,
which minimise a strictly convex cost that both solve until rounding stops them, and states after steps 1e-9.
"""

import itertools

import mujoco
import numpy as np
import pytest
from helpers import colliding, many_trees, sleepers, solvers
from helpers.constraints import assert_same_contacts, errors, put, reachable, relative
from helpers.plain_python import plain_python
from helpers.plain_worlds import SPREAD, WORLDS, compiled, states, worst_of_states, worst_of_steps

import saltus
from saltus.model.compile.constraints import many_trees as trees_together

FORMULAS, SOLVED = 1e-11, 1e-9
DEPENDENT = ("qacc", "efc_force", "qfrc_constraint", "sensordata", "cacc", "cfrc_int", "cfrc_ext")
CONVEX = [name for name in colliding.GEOMS if name not in ("plane", "coin")]  # coins are left to MuJoCo's functions
SAME = [("sphere", "sphere"), ("sphere", "capsule"), ("sphere", "cylinder"), ("sphere", "box"), ("capsule", "capsule")]
SAME += [
    ("capsule", "box"),
    ("box", "ball"),
    ("box", "cloud"),
    ("dice", "ball"),
    ("prism", "prism"),
    ("cloud", "cloud"),
]
PAIRS = [pair for pair in itertools.combinations_with_replacement(CONVEX, 2) if pair not in SAME]
SMOOTH = ("references and springs", "gravity compensation", "actuators", "laws of actuators", "muscles", "medium")


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


def assert_small(worst):
    for name, error in worst.items():
        assert error < (SOLVED if name in DEPENDENT else FORMULAS), (name, error)


@pytest.mark.parametrize("name", WORLDS)
def test_a_state_and_steps_from_it(name):
    m = compiled(name)
    sim = saltus.Simulation(saltus.load(m))
    for d in states(m, sim, 3, SPREAD.get(name, 0.1)):
        assert_small(worst_of_states(m, sim, d))
        assert max(worst_of_steps(m, sim, d, 3).values()) < SOLVED


STEPS = [(i, n) for i in ("RK4", "IMPLICIT", "IMPLICITFAST") for n in (*SMOOTH, "laboratory", "arms", "heap, elliptic")]
STEPS.remove(("RK4", "laws of actuators"))  # MuJoCo's filters are not of fourth order


@pytest.mark.parametrize(("integrator", "name"), STEPS)
def test_steps_of_integrators(integrator, name):
    m = compiled(name, integrator)
    m.sensor_needstage[:] = 0
    sim = saltus.Simulation(saltus.load(m))
    for d in states(m, sim, 2, SPREAD.get(name, 0.1)):
        assert max(worst_of_steps(m, sim, d, 3).values()) < SOLVED


# ---------------------------------------------------------------- contacts


def assert_contacts(model, accuracy, least):
    """MuJoCo's contacts at states in which two geoms are near each other; more than `least` of them in all."""
    sim, d, count = saltus.Simulation(model), mujoco.MjData(model.mujoco), 0
    for qpos in colliding.states(model, 6, apart=0.5):
        d.qpos[:] = qpos
        mujoco.mj_forward(model.mujoco, d)
        put(sim, d)
        assert_same_contacts(sim.data, d, accuracy)
        count += d.ncon
    assert count > least


@pytest.mark.parametrize("name", CONVEX)
def test_contacts_with_a_plane(name):
    assert_contacts(colliding.model_of(colliding.PLANE, colliding.GEOMS[name]), 1e-11, 3)


@pytest.mark.parametrize(("first", "second"), SAME)
def test_contacts_with_mujocos_algorithm(first, second):
    """Both search for contacts of meshes until 1e-7 m at most is left."""
    assert_contacts(colliding.model_of(colliding.GEOMS[first], colliding.GEOMS[second]), 1e-7, 1)


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_deepest_contacts_of_convex_shapes(first, second):
    """Along its normal the shapes are as far apart as its distance says, and along no other direction farther.

    That is the distance of convex sets (separating hyperplanes), and their penetration where it is least; supporting
    planes are closed forms. The search ends within 1e-8 m.
    """
    model = colliding.model_of(colliding.GEOMS[first], colliding.GEOMS[second])
    sim, d, count = saltus.Simulation(model), mujoco.MjData(model.mujoco), 0
    rng = np.random.default_rng(0)
    for qpos in colliding.states(model, 6, apart=0.5):
        sim.qpos[:] = d.qpos[:] = qpos
        mujoco.mj_forward(model.mujoco, d)
        sim.forward()
        assert (sim.data.ncon == 0) == (d.ncon == 0)
        if sim.data.ncon:
            count += 1
            contact = min(sim.data.contact, key=lambda c: c["dist"])
            normal = contact["frame"][0]
            turned = normal + np.concatenate([s * rng.normal(size=(20, 3)) for s in (0.0, 1e-4, 1e-2)])
            reach = colliding.separation(d, turned / np.linalg.norm(turned, axis=1)[:, None])
            if sim.data.ncon > 1:  # of several, all lie between the surfaces
                assert contact["dist"] > reach[0] - 1e-8
                continue
            assert abs(reach[0] - contact["dist"]) < 1e-8
            assert reach.max() < contact["dist"] + 1e-8
            for side, geom in ((-1, 1), (1, 0)):  # midway between both supporting planes
                depth = colliding.support(d, geom, side * normal[None])[0] - side * normal @ contact["pos"]
                assert abs(depth + 0.5 * contact["dist"]) < 1e-8
    assert count > 1


# ---------------------------------------------------------------- solvers


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize(
    ("solver", "noslip", "accuracy"),
    [("Newton", 3, 1e-8), ("CG", 0, 1e-6), ("CG", 3, 1e-6), ("PGS", 0, 1e-9), ("PGS", 3, 1e-9)],
)
def test_solvers(cone, solver, noslip, accuracy):
    """Conjugate gradients end where the improvement, quadratic in the error, drowns in rounding: 1e-8 to 1e-7.

    Where MuJoCo's PGS leaves a cone without force, its Newton's method is compared, for there is one minimum only.
    """
    options = {"tolerance": 1e-14 if solver == "PGS" else 0.0, "iterations": 100, "noslip_iterations": noslip}
    m = solvers.compiled(solvers.heap(cone), solver, **options)
    sim = saltus.Simulation(saltus.load(m))
    for d in states(m, sim, 4, 0.02):
        if solver == "PGS" and solvers.stuck(m, d):
            if not noslip:  # after which the forces are no minimum
                m.opt.solver, m.opt.tolerance = mujoco.mjtSolver.mjSOL_NEWTON, 0.0
                mujoco.mj_forward(m, d)
                m.opt.solver, m.opt.tolerance = mujoco.mjtSolver.mjSOL_PGS, 1e-14
                assert relative(sim.data.qacc, d.qacc) < 1e-8
            continue
        found = errors(m, sim, d)
        assert max(found["qacc"], found["qfrc_constraint"]) < accuracy, found


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("solver", ["NEWTON", "CG"])
def test_solvers_by_trees(cone, solver, monkeypatch):
    """Islands of trees, as in large worlds; conjugate gradients as above."""
    for name, least in {"FEWEST_TREES": 4, "FEWEST_DOFS": 20, "FEW_TREES": 3, "DOMAIN": 3}.items():
        monkeypatch.setattr(trees_together, name, least)
    m = many_trees.world(cone, bodies=8 if solver == "CG" else 22, ties=solver == "NEWTON")
    m.opt.solver = getattr(mujoco.mjtSolver, f"mjSOL_{solver}")
    sim = saltus.Simulation(saltus.load(m))
    for d in reachable(m, 2, every=10):
        put(sim, d)
        found = errors(m, sim, d)
        assert max(found["qacc"], found["qfrc_constraint"]) < (1e-9 if solver == "NEWTON" else 1e-6), found
        most = max(d.solver_niter)
        assert solver == "CG" or most - 2 <= sim.data.solver_niter <= most + 2


# ---------------------------------------------------------------- sleep


@pytest.mark.parametrize("name", ["STACK", "INITIAL", "PUSHED", "CABINET", "JOINED", "DRIVEN", "MEDIUM", "CARRIED"])
def test_trees_that_sleep(name):
    """Trees sleep and wake in the same steps; until impacts spread rounding, all else is the same, too."""
    pair = sleepers.Pair(getattr(sleepers, name))
    for k in range(40):
        if k == 15 and pair.m.nu:
            pair.set("ctrl", 0, 0.5)
        if k == 25:
            pair.set("xfrc_applied", (-1, 2), 3.0)
        pair.step()
        pair.check(k)
        np.testing.assert_allclose(pair.sim.qvel, pair.d.qvel, rtol=0, atol=1e-9 if k < 10 else 1e-6)
