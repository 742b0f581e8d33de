"""Newton's method in worlds of many trees: the minimum of the cost, in few iterations, whatever couples the trees.

Reference: MuJoCo 4.0 with a tolerance at rounding. Tolerance of accelerations: as in `test_newton`, 1e-8 of the
largest; with the default tolerance of files, what a decrease of cost of 1e-8 (relative to the mean inertia) leaves,
1e-6.
"""

import mujoco
import numpy as np
import pytest
from helpers.constraints import complete, errors, put, reachable
from helpers.many_trees import world

import saltus
from saltus.contact.counts import NITER

pytestmark = pytest.mark.usefixtures("by_trees")

CONES = "pyramidal", "elliptic"


def uses_trees(model):
    return "many_trees" in saltus.Simulation(model).engine.m.layout.features


@pytest.mark.parametrize("cone", CONES)
def test_mujocos_accelerations(cone):
    """Contacts, connects and welds between trees, limits, dry friction and tendons."""
    m = world(cone)
    assert uses_trees(saltus.load(m))
    for tolerance, allowed in ((0.0, 1e-8), (1e-8, 1e-6)):
        m.opt.tolerance = tolerance
        sim = saltus.Simulation(saltus.load(m))
        m.opt.tolerance = 1e-20
        iterations, rows = [], 0
        for d in reachable(m, 4, every=40):
            put(sim, d)
            worst = errors(m, sim, d)
            assert worst["qacc"] < allowed and worst["qfrc_constraint"] < allowed
            iterations.append(int(sim.engine.d.count[NITER]))
            rows = max(rows, d.nefc)
        assert rows > 200 and sim.unconverged == 0
        assert 2 < np.mean(iterations) < 20


@pytest.mark.parametrize("few", [1, 1000])
def test_any_limit_of_small_islands(few, monkeypatch):
    """Exact directions for islands of up to so many trees: the same minimum."""
    from saltus.model.compile.constraints import many_trees

    monkeypatch.setattr(many_trees, "FEW_TREES", few)
    m = world(ties=False)
    sim = saltus.Simulation(saltus.load(m))
    sizes = set()
    for d in reachable(m, 4, every=25):
        put(sim, d)
        assert errors(m, sim, d)["qacc"] < 1e-8
        sizes |= set(d.island_nv[: d.nisland].tolist())
    assert {2, 6} <= sizes and max(sizes) > 40
    assert sim.unconverged == 0


def test_islands_do_not_feel_each_other():
    """Other speeds in one island change no bit of the accelerations of the others."""
    m = world(ties=False)
    m.opt.tolerance = 1e-8
    d = next(reachable(m, 1, every=30))
    islands = d.tree_island[m.dof_treeid]
    assert d.nisland > 5
    sim = saltus.Simulation(saltus.load(m))

    def solved(qvel):
        sim.qpos[:], sim.qvel[:] = d.qpos, qvel
        sim.engine.d.qacc_warmstart[:] = 0.0
        sim.forward()
        return np.array([sim.data.qfrc_constraint, sim.data.qacc])

    before = solved(d.qvel)
    for island in range(d.nisland):
        own = islands == island
        after = solved(d.qvel - 0.5 * own)
        np.testing.assert_array_equal(after[:, ~own], before[:, ~own])
        assert (after[1, own] != before[1, own]).any()


def test_trees_without_rows_begin_with_free_fall():
    """Their warm start is the unconstrained acceleration, which MuJoCo has in qacc_smooth."""
    m = world(ties=False)
    d = next(reachable(m, 1, every=10))
    free = d.tree_island[m.dof_treeid] < 0
    assert 6 < free.sum() < m.nv
    sim = saltus.Simulation(saltus.load(m))
    put(sim, d)
    assert not sim.data.qfrc_constraint[free].any()
    sim.step()
    scale = np.abs(d.qacc_smooth).max()
    np.testing.assert_allclose(sim.engine.d.qacc_warmstart[free], d.qacc_smooth[free], rtol=0, atol=1e-11 * scale)


def test_robots_that_touch():
    """Mechanisms of eight degrees of freedom beside free bodies: blocks of different sizes."""
    legs = ""
    for k in range(16):
        legs += f"""<body pos="{0.2 * (k % 4)} {0.2 * (k // 4)} {0.3 + 0.02 * k}"><freejoint/><geom size=".08"/>
          <body pos=".08 0 0"><joint axis="0 1 0" range="-40 40"/>
            <geom type="capsule" size=".03" fromto="0 0 0 .1 0 0"/></body>
          <body pos="-.08 0 0"><joint axis="1 0 0" frictionloss=".01"/>
            <geom type="capsule" size=".04" fromto="0 0 0 -.1 0 0"/></body></body>
          <body pos="{0.2 * (k % 4)} {0.2 * (k // 4)} {0.7 + 0.02 * k}"><freejoint/>
            <geom type="box" size=".08 .06 .05"/></body>"""
    m = complete(f'<mujoco><worldbody><geom type="plane" size="9 9 .1"/>{legs}</worldbody></mujoco>')
    sim = saltus.Simulation(saltus.load(m))
    assert set(sim.engine.m.tree_dofnum) == {1, 6, 8}
    for d in reachable(m, 4, every=60):
        put(sim, d)
        assert errors(m, sim, d)["qacc"] < 1e-8
    assert d.ncon > 30 and sim.unconverged == 0


def test_a_chain_of_bodies_held_by_connects():
    """A bridge of forty planks between two abutments: rows a thousand times as stiff as contacts, no cycles."""
    planks = "".join(
        f'<body name="p{k}" pos="{0.2 * k} 0 1"><freejoint/><geom type="box" size=".09 .3 .02"/></body>'
        for k in range(40)
    )
    ties = "".join(
        f'<connect body1="p{k}" body2="{f"p{k + 1}" if k < 39 else "world"}" anchor=".1 {y} 0" solref=".005 1" '
        'solimp=".99 .999 .001"/>'
        for k in range(40)
        for y in (-0.3, 0.3)
    )
    ties += (
        '<connect body1="p0" body2="world" anchor="-.1 .3 0"/><connect body1="p0" body2="world" anchor="-.1 -.3 0"/>'
    )
    m = complete(f"<mujoco><worldbody>{planks}</worldbody><equality>{ties}</equality></mujoco>")
    sim = saltus.Simulation(saltus.load(m))
    assert uses_trees(sim.model)
    d = mujoco.MjData(m)
    for _ in range(3):
        mujoco.mj_step(m, d, 50)
        mujoco.mj_forward(m, d)
        put(sim, d)
        assert errors(m, sim, d)["qacc"] < 1e-8
        assert sim.engine.d.count[NITER] <= 8
    assert sim.unconverged == 0


@pytest.mark.filterwarnings("ignore:.*did not reach its tolerance")
@pytest.mark.parametrize("iterations", [1, 3])
def test_too_few_iterations_are_told(iterations):
    """By a count; the accelerations are then as near the converged ones as MuJoCo's, to a factor of two."""
    m = world()
    d = next(reachable(m, 1, every=40))
    converged = d.qacc.copy()
    m.opt.iterations, m.opt.ls_iterations, m.opt.tolerance = iterations, 5, 1e-8
    d.qacc_warmstart[:] = 0.0
    mujoco.mj_forward(m, d)
    sim = saltus.Simulation(saltus.load(m))
    sim.qpos[:], sim.qvel[:] = d.qpos, d.qvel
    sim.engine.d.qacc_warmstart[:] = 0.0
    sim.forward()
    assert sim.unconverged > 0
    wrong = np.abs(d.qacc - converged).max()
    assert wrong > 1e-3
    assert np.abs(sim.data.qacc - converged).max() < 2.0 * wrong


LANES = 16


def starts(m, seed=0):
    """States of a heap that falls, at different times."""
    rng = np.random.default_rng(seed)
    states = [(d.qpos.copy(), d.qvel + 0.1 * rng.normal(size=m.nv)) for d in reachable(m, LANES, every=8)]
    return tuple(np.array(x) for x in zip(*states, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("cone", CONES)
def test_lanes_do_not_feel_each_other(cone):
    """To the bit; and each is the single simulation, whose islands are solved by themselves, with costs within 1e-12 of
    the least, which ten steps with impacts multiply.
    """
    m = world(cone)
    m.opt.tolerance = 1e-12
    model = saltus.load(m)
    qpos, qvel = starts(world(cone))

    def ends(order):
        batch = saltus.Batch(model, len(order), threads=1)
        batch.qpos, batch.qvel = qpos[order], qvel[order]
        batch.step(10)
        assert batch.unconverged == 0
        return np.hstack([batch.qpos, batch.qvel])

    straight = ends(np.arange(LANES))
    for order in (np.arange(LANES)[::-1], np.arange(0, LANES, 2), np.array([3, 3, 3, 7])):
        np.testing.assert_array_equal(ends(order), straight[order])
    for k in (0, LANES - 1):
        sim = saltus.Simulation(model)
        sim.qpos[:], sim.qvel[:] = qpos[k], qvel[k]
        sim.step(10)
        np.testing.assert_allclose(np.hstack([sim.qpos, sim.qvel]), straight[k], rtol=0, atol=1e-7)


@pytest.mark.slow
def test_one_matrix_in_lanes(monkeypatch):
    """Lanes of few trees take the Hessian as one matrix, single simulations by islands; costs are within 1e-12."""
    from saltus.model.compile.constraints import many_trees

    monkeypatch.setattr(many_trees, "FEWEST_IN_LANES", 1000)
    m = world()
    m.opt.tolerance = 1e-12
    model = saltus.load(m)
    qpos, qvel = starts(world())
    batch = saltus.Batch(model, 8, threads=1)
    batch.qpos, batch.qvel = qpos[:8], qvel[:8]
    batch.step(10)
    assert batch.unconverged == 0
    for k in (0, 7):
        sim = saltus.Simulation(model)
        sim.qpos[:], sim.qvel[:] = qpos[k], qvel[k]
        sim.step(10)
        np.testing.assert_allclose(sim.qpos, batch.qpos[k], rtol=0, atol=1e-7)
        np.testing.assert_allclose(sim.qvel, batch.qvel[k], rtol=0, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("cone", CONES)
def test_single_precision(cone):
    """Steps in single precision: rounding of 1e-7 by the condition of the rows, 1e4."""
    m = world(cone)
    m.opt.tolerance = 1e-8
    model = saltus.load(m)
    qpos, qvel = starts(world(cone))
    ends = {}
    for precision in ("float32", "float64"):
        batch = saltus.Batch(model, LANES, precision=precision, threads=1)
        batch.qpos, batch.qvel = qpos, qvel
        batch.step(1)
        ends[precision] = batch.qvel.copy()
        batch.step(200)
        assert not batch.diverged.any() and np.abs(batch.qvel).max() < 20
    change = np.abs(ends["float64"] - qvel).max()
    assert np.abs(ends["float32"] - ends["float64"]).max() < 1e-3 * max(1.0, change)


@pytest.mark.slow
def test_derivatives_of_a_step():
    """By duals, whose Newton steps factor the whole matrix: against differences of the steps themselves."""
    m = world(ties=False)
    d = next(reachable(m, 1, every=150))
    sim = saltus.Simulation(saltus.load(m))
    sim.qpos[:], sim.qvel[:] = d.qpos, d.qvel
    A, _ = sim.linearize()
    assert A.shape == (2 * m.nv, 2 * m.nv)
    direction = np.random.default_rng(0).normal(size=m.nv)
    ends = []
    for h in (1e-6, -1e-6):
        sim.reset()
        sim.qpos[:], sim.qvel[:] = d.qpos, d.qvel + h * direction
        sim.step()
        ends.append(sim.qvel.copy())
    wanted = (ends[0] - ends[1]) / 2e-6
    found = A[m.nv :, m.nv :] @ direction
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())
