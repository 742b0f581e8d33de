"""Flexes, which are deformable bodies, in implicit steps in plain Python.

Laws: MuJoCo's integrator `discrete`, implicit in springs, dampers and elastic bodies; (M - h D) a = f of `implicit`,
with D by central differences of forces, which are quadratic in velocities; the energy of free elastic bodies, which
`energy_momentum` keeps. Tolerances: 1e-10 of the change of a step, 1e-8 where differences have steps of 1e-3 m/s,
and 1e-9 of the energy, where the iteration ends.
"""

import re
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from helpers.plain_python import fields, plain, plain_python
from numpy.testing import assert_allclose

import saltus
from saltus.dynamics.flex import mean_forces, tangent

ALONE = '<contact contype="0" conaffinity="0" selfcollide="none"/>'
SHEET = 'type="grid" dim="2" count="3 3 1"'
SOLID = 'type="grid" dim="3" count="2 2 3"'
CELLS = 'type="grid" dim="3" count="3 2 3"'
YOUNG = 'young="1e5" poisson="0.3"'


def flex(inside, kind=SHEET):
    return f"""<flexcomp name="soft" {kind} spacing=".1 .1 .1" mass="1.5" radius=".01" pos="0 0 .1">{ALONE}{inside}
    </flexcomp>"""


def rod(elastic, count=4, bend=(0.0, 0.0)):
    joints = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    bodies = "".join(
        f'<body name="b{i}" pos="{0.1 * i} {bend[0] * i * i} {bend[1] * i**3}">'
        f'<inertial pos="0 0 0" mass=".1" diaginertia="1e-5 1e-5 1e-5"/>{joints}</body>'
        for i in range(count)
    )
    names = " ".join(f"b{i}" for i in range(count))
    pairs = " ".join(f"{i} {i + 1}" for i in range(count - 1))
    ends = f'<deformable><flex name="rod" dim="1" radius=".01" body="{names}" element="{pairs}">{ALONE}{elastic}'
    return f"{bodies}</worldbody>{ends}</flex></deformable><worldbody>"


def on_arm(inside):
    return f"""<body name="arm" quat="1 .2 .3 0"><joint axis="0 1 .5" damping=".2" stiffness="20"/>
    <geom size=".1" mass="1" contype="0"/>{inside}</body>"""


BUMP = (
    'type="direct" dim="2" point="0 0 0 .1 0 .02 .2 0 0 0 .1 .01 .1 .1 .04 .2 .1 0" element="0 1 4 0 4 3 1 2 5 1 5 4"'
)
BOTH = 'thickness=".01" elastic2d="both"'
WORLDS = {
    "sheet": flex(f'<elasticity {YOUNG} {BOTH} damping=".01"/><pin id="0 3"/>'),
    "solid": flex(f'<elasticity {YOUNG} damping=".01"/>', SOLID),
    "on a body that turns": on_arm(flex(f'<elasticity {YOUNG} {BOTH}/><pin id="0 1"/>')),
    "trilinear": flex(f'<elasticity {YOUNG} damping=".01"/>', f'{CELLS} dof="trilinear" cellcount="2 1 1"'),
    "quadratic": flex(f'<elasticity {YOUNG} damping=".01"/>', f'{CELLS} dof="quadratic" cellcount="1 1 1"'),
    "rod": rod(f'<elasticity {YOUNG} damping="3"/>'),
}


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


def moving(inside, integrator, **options):
    """A simulation of a world away from its rest, in motion."""
    text = f'<mujoco><option timestep=".002"/><worldbody>{inside}</worldbody></mujoco>'
    sim, rng = saltus.Simulation(text, integrator, **options), np.random.default_rng(3)
    m = sim.model.mujoco
    mujoco.mj_integratePos(m, sim.qpos, 0.01 * rng.standard_normal(m.nv), 1.0)
    sim.qvel[:] = 0.5 * rng.standard_normal(m.nv)
    return sim


@pytest.mark.parametrize("name", WORLDS)
def test_steps_of_discrete_are_mujocos(name):
    sim = moving(WORLDS[name], "discrete")
    m = sim.model.mujoco
    m.opt.integrator, m.opt.tolerance, m.opt.iterations = mujoco.mjtIntegrator.mjINT_DISCRETE, 1e-14, 500
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = sim.qpos, sim.qvel
    for _ in range(2):
        before = d.qvel.copy()
        mujoco.mj_step(m, d)
        sim.step()
        assert_allclose(sim.qvel, d.qvel, rtol=0, atol=1e-10 * abs(d.qvel - before).max())
        assert_allclose(sim.qpos, d.qpos, rtol=0, atol=1e-12)
        sim.qpos[:], sim.qvel[:] = d.qpos, d.qvel


@pytest.mark.parametrize("name", [name for name in WORLDS if name != "quadratic"])
def test_implicit_steps_are_those_of_dense_algebra(name):
    sim = moving(WORLDS[name], "implicit")
    start, v, M = sim.snapshot(), sim.qvel.copy(), sim.full_M()

    def force(change):
        sim.qvel[:] = v + change
        return sim.data.qfrc_passive - sim.data.qfrc_bias

    f, h, eps = force(0.0), sim.timestep, 1e-3
    D = np.transpose([(force(eps * e) - force(-eps * e)) / (2 * eps) for e in np.eye(len(v))])
    sim.restore(start)
    wanted = np.linalg.solve(M - h * D, f)
    assert np.abs(wanted - np.linalg.solve(M, f)).max() > 1e-3 * np.abs(wanted).max()
    sim.step()
    assert_allclose((sim.qvel - v) / h, wanted, rtol=0, atol=1e-8 * np.abs(wanted).max())


CURVED = {
    "curved sheet": flex(f'<elasticity {YOUNG} {BOTH} damping=".01"/>', BUMP),
    "curved rod": rod(f'<elasticity {YOUNG} damping="3"/>', 5, (0.03, 0.004)),
}


@pytest.mark.parametrize("name", ["sheet", "solid", "rod", *CURVED])
def test_elastic_bodies_keep_their_energy(name):
    """Without damping, while they fall; cells of nodes move by the midpoint rule."""
    sim = moving(re.sub(r' damping="[0-9.]*"', "", {**WORLDS, **CURVED}[name]), "energy_momentum")
    energy = sim.energy()
    sim.step(2)
    assert np.abs(sim.energy() - energy).max() > 1e-3 * np.abs(energy).max()
    assert_allclose(sim.energy().sum(), energy.sum(), rtol=0, atol=1e-9 * np.abs(energy).max())


@pytest.mark.parametrize("name", WORLDS)
def test_blocks_of_vertices_are_those_of_the_tangent(name):
    """The preconditioner's blocks, from products of the tangent with unit displacements of each vertex."""
    sim = moving(WORLDS[name], "implicit")
    sim.forward()
    m, d = fields(sim.engine.m), fields(sim.engine.d)
    plain(tangent.flex_tangent)(m, d, 1.0, 0.1, 1 / 64)
    plain(tangent.vertex_blocks)(m, d)
    blocks, unit, seen = sim.engine.d.flexvert_block.copy(), np.eye(m.nv), 0
    for v in range(m.nflexvert):
        body = m.flexvert_bodyid[v]
        if body < 0 or m.body_dofnum[body] != 3 or (sim.engine.m.flexvert_bodyid == body).sum() > 1:
            continue
        own = m.body_dofadr[body] + np.arange(3)
        moved = np.transpose([plain(tangent.vertex_displacement)(m, d, v, unit[i]) for i in own])
        forces = np.zeros((3, m.nv))
        for force, i in zip(forces, own, strict=True):
            plain(tangent.add_flex_tangent)(m, d, unit[i], force)
        back = np.linalg.inv(moved)
        wanted = back.T @ forces[:, own] @ back
        assert_allclose(blocks[v], wanted[np.triu_indices(3)], rtol=0, atol=1e-10 * np.abs(wanted).max())
        seen += np.abs(wanted).max() > 1.0
    assert seen > 2


@pytest.mark.parametrize("damped", [True, False])
@pytest.mark.parametrize("name", [*WORLDS, *CURVED])
def test_mean_forces_over_no_time_are_the_forces(name, damped):
    """At rest to rounding: whatever corrects a mean along its change hides errors of the force before it.

    In motion over 1e-6 s, in which segments change by some 1e-5 of their length, to that part of the largest force.
    """
    inside = {**WORLDS, **CURVED}[name].replace('damping=".2" stiffness="20"', "")  # of a joint
    sim = moving(inside, "energy_momentum", timestep=1e-6)  # MuJoCo's dampers of elements depend on it
    if damped:
        sim.qvel[:] *= 0.1
    else:
        sim.qvel[:] = 0.0
    sim.forward()
    m, d = fields(sim.engine.m), fields(sim.engine.d)
    wanted = [sim.data.qfrc_spring.copy(), sim.data.qfrc_damper.copy()]
    for view in ("qfrc_spring", "qfrc_damper"):
        sim.engine.d.views[view][:] = 0.0
    plain(mean_forces.add_mean_flex_forces)(m, d, 1e-6 if damped else 1e-3)
    for view, force in zip(("qfrc_spring", "qfrc_damper"), wanted, strict=True):
        close = (1e-5 if damped else 1e-11) * max(np.abs(force).max(), 1e-9)
        assert_allclose(sim.engine.d.views[view], force, rtol=0, atol=close, err_msg=view)
    assert np.abs(wanted[0]).max() > 1e-3


@pytest.mark.parametrize("first", [-1, 0, 3])
@pytest.mark.parametrize("second", [-1, 0, 5])
def test_the_lighter_of_two_bodies_that_move(first, second):
    """Bodies without degrees of freedom are not asked; of two that have none the mass counts as zero."""
    for masses in ((2.0, 3.0), (3.0, 2.0)):
        m = SimpleNamespace(flexvert_bodyid=[7, 1, 0], flexedge_vert=np.array([[0, 0], [2, 1]]))
        m.body_lastdof, m.body_mass = [first, second], np.array(masses)
        moving = [mass for mass, last in zip(masses, (first, second), strict=True) if last >= 0]
        assert plain(tangent.lighter_mass)(m, 1) == min(moving, default=0.0)
