"""Mechanisms for the constraint solvers, and simulations that begin where MuJoCo's solver does."""

import os

import mujoco
import numpy as np

import saltus
from helpers.constraints import complete, errors, put, reachable, relative, tight

LAYERS = """<mujoco><option cone="{}" impratio="{}"/><default><geom condim="6" friction=".8 .05 .02"/></default>
<worldbody><geom type="plane" size="9 9 .1"/>{}
  <body pos="2 0 .3">
    <joint axis="0 1 0" pos="0 0 .2" range="-3 3" frictionloss=".5"/><geom type="capsule" size=".05 .2"/>
  </body>
</worldbody></mujoco>"""


def heap(cone="pyramidal", bodies=6, seed=1):
    """MJCF of spheres and capsules that fall on each other, with 1, 3, 4 and 6 dimensions of contact.

    Beside them a pendulum with dry friction and a range, and a chain of a hinge and a ball joint held at a point.
    """
    rng = np.random.default_rng(seed)
    shapes = 'type="sphere" size=".1"', 'type="capsule" size=".08 .12"'
    text = ""
    for k in range(bodies):
        x, y = rng.uniform(-0.15, 0.15, 2)
        geom = f'<geom {shapes[k % 2]} condim="{(3, 4, 6, 1)[k % 4]}" friction=".8 .02 .01"/>'
        text += f'<body pos="{x} {y} {0.1 + 0.2 * k}"><freejoint/>{geom}</body>'
    return f"""<mujoco><option cone="{cone}"/><worldbody><geom type="plane" size="5 5 .1"/>{text}
    <body pos="2 0 .3"><joint type="hinge" axis="0 1 0" frictionloss=".3" range="-20 20" limited="true"/>
        <geom type="capsule" size=".05 .2" pos=".1 0 0"/></body>
    <body pos="-2 0 .5" name="held"><joint type="hinge" axis="0 1 0"/>
        <geom type="capsule" size=".05 .2" pos=".1 0 0"/>
        <body pos=".2 0 0"><joint type="ball"/><geom type="sphere" size=".1" pos=".1 0 0"/></body></body>
    </worldbody><equality><connect body1="held" anchor="0 0 .1"/></equality></mujoco>"""


def layered_heap(cone, impratio, tolerance):
    """Balls and capsules in layers on a floor; heavy ones on light ones."""
    text = ""
    for k in range(8):
        shape = ('size=".1"', 'type="capsule" size=".08 .1" euler="0 80 0"')[k % 2]
        place = f"{0.03 * (k % 3)} {0.15 * (k // 4)} {0.09 + 0.17 * (k % 4)}"
        text += f'<body pos="{place}"><freejoint/><geom {shape} mass="{10.0 ** (k % 4 - 2)}"/></body>'
    m = complete(LAYERS.format(cone, impratio, text))
    m.opt.tolerance, m.opt.iterations, m.opt.ls_iterations = tolerance, 100, 50
    return m


def compiled(source, solver, **options):
    """MjModel of MJCF text or a file with a solver ("CG", ...) and other options; `disable`: a flag."""
    text = isinstance(source, str) and source.lstrip().startswith("<")
    spec = mujoco.MjSpec.from_string(source) if text else mujoco.MjSpec.from_file(os.fspath(source))
    spec.option.solver = getattr(mujoco.mjtSolver, f"mjSOL_{solver.upper()}")
    spec.option.disableflags |= options.pop("disable", 0)
    for name, value in options.items():
        setattr(spec.option, name, value)
    return spec.compile()


def states(m, n, every=20, seed=0):
    """n MjDatas on the way of a model: the same again and again, everything computed."""
    return reachable(m, n, seed, every)


def begin_like(sim, d):
    """MuJoCo's state and inputs, and where its solver began; everything computed."""
    sim.data.qacc_warmstart[:] = d.qacc_warmstart
    put(sim, d)


def worst_errors(m, n=10, every=20, same_iterations=False, leave_out=lambda m, d: False):
    """Largest relative errors against MuJoCo over n states, and the simulation.

    `same_iterations`: assert that the solvers took as many iterations, the slowest island counting. `leave_out(m, d)`:
    whether a state is none to compare; few are.
    """
    sim, worst, rows = saltus.Simulation(saltus.load(m)), {}, 0
    left = 0
    for d in states(m, n, every):
        if leave_out(m, d):
            left += 1
            continue
        begin_like(sim, d)
        for name, error in errors(m, sim, d).items():
            worst[name] = max(worst.get(name, 0.0), error)
        if same_iterations and d.nefc:
            assert sim.data.solver_niter == max(d.solver_niter)
        rows = max(rows, d.nefc)
    assert rows > 5 and left <= n / 4
    return worst, sim


def assert_newtons_minimum(source, solver, accuracy, **tight_options):
    """Accelerations and forces are those of MuJoCo's Newton's method, to an accuracy; every state converges."""
    sim = saltus.Simulation(saltus.load(compiled(source, solver, **tight_options)))
    for d in states(tight(compiled(source, "Newton")), 10):
        begin_like(sim, d)
        assert relative(sim.data.qacc, d.qacc) < accuracy
        assert relative(sim.data.qfrc_constraint, d.qfrc_constraint) < accuracy
    assert sim.unconverged == 0


def stuck(m, d):
    """Whether some elliptic cone has no force although its residual is not in the dual cone, u₀ >= |μ_k u_k|."""
    u = np.zeros(d.nefc)
    mujoco.mj_mulJacVec(m, d, u, d.qacc)
    u -= d.efc_aref
    for c in d.contact:
        k = c.efc_address
        elliptic = k >= 0 and d.efc_type[k] == mujoco.mjtConstraint.mjCNSTR_CONTACT_ELLIPTIC
        if (
            elliptic
            and d.efc_force[k] == 0.0
            and u[k] < np.linalg.norm(c.friction[: c.dim - 1] * u[k + 1 :][: c.dim - 1])
        ):
            return True
    return False


def lanes_do_not_meddle(m, n=24):
    """Assert that a step of a batch gives the same bits whoever is a simulation's neighbour."""
    model, found = saltus.load(m), [(d.qpos.copy(), d.qvel.copy(), d.qacc.copy()) for d in states(m, n)]
    results = []
    for order in (np.arange(n), np.random.default_rng(3).permutation(n)):
        batch = saltus.Batch(model, n, threads=1)
        batch.qpos, batch.qvel = (np.array([found[k][f] for k in order]) for f in (0, 1))
        batch.step(3)
        results.append(batch.qvel[np.argsort(order)])
    assert np.array_equal(*results)
    return results[0], found


def lanes_are_single_runs(m, n=24):
    """Assert that three steps in a batch are the same to the bit whoever the neighbours are, and to 1e-9, for
    lanes sum in another order, those of the simulation alone.
    """
    together, found = lanes_do_not_meddle(m, n)
    sim = saltus.Simulation(saltus.load(m))
    for (qpos, qvel, _), expected in zip(found, together, strict=True):
        sim.reset()
        sim.qpos[:], sim.qvel[:] = qpos, qvel
        sim.step(3)
        np.testing.assert_allclose(sim.qvel, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
