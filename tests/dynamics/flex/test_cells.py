"""Deformable bodies between nodes, and rods: places of vertices, forces, energy, and steps implicit in them.

Law: vertices are fixed weights of nodes; cells of nodes resist what is left of their deformation when the rotation at
their centre is taken out; rods have an energy of the curvature between two segments.
Reference: MuJoCo's flexvert_xpos, qfrc_spring, qfrc_damper and qacc at random deformations; differences of our energy
for rods, whose force is its slope, and for cells at small strain; dense linear algebra for implicit steps.

Tolerances: places 1e-15 m times a few; sums of up to 81 products, 1e-12 relative. Differences of the energy with steps
of 1e-6 m: 1e-8 of the largest force.
"""

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus

ALONE = '<contact contype="0" conaffinity="0" selfcollide="none"/>'


def solid(dof, cells, inside="", count="4 3 5"):
    return f"""<flexcomp name="soft" type="grid" count="{count}" spacing=".1 .1 .1" dim="3" mass="2" radius=".005"
      dof="{dof}" cellcount="{cells}" pos="0 0 1">{ALONE}
      <elasticity young="5e4" poisson=".3" damping=".01"/>{inside}</flexcomp>"""


SHEET = f"""<flexcomp name="sheet" type="grid" dim="2" count="4 4 1" spacing=".1 .1 .1" mass="1" radius=".01">{ALONE}
  <elasticity young="1e5" poisson=".3" thickness=".01" elastic2d="both" damping=".002"/><edge damping="1"/>
  </flexcomp>"""
ARM = '<body name="arm" quat="1 .2 .3 0"><joint axis="0 1 .5"/><geom size=".1" mass="1"/>{}</body>'


def rod(vertices=6):
    bodies = "".join(
        f"""<body name="b{i}" pos="{0.1 * i} 0 0"><inertial pos="0 0 0" mass=".1" diaginertia="1e-5 1e-5 1e-5"/>
        <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/></body>"""
        for i in range(vertices)
    )
    names = " ".join(f"b{i}" for i in range(vertices))
    pairs = " ".join(f"{i} {i + 1}" for i in range(vertices - 1))
    flex = f"""<flex name="rod" dim="1" radius=".01" body="{names}" element="{pairs}">{ALONE}
      <edge stiffness="100" damping="1"/><elasticity young="1e6" poisson=".3" damping=".01"/></flex>"""
    return f"<mujoco><worldbody>{bodies}</worldbody><deformable>{flex}</deformable></mujoco>"


def world(text):
    return f"<mujoco><worldbody>{text}</worldbody></mujoco>"


MODELS = {
    "trilinear": world(solid("trilinear", "1 1 1")),
    "cells": world(solid("trilinear", "3 1 2", '<pin id="0 2"/>')),
    "quadratic": world(solid("quadratic", "2 1 1", '<pin id="0 2"/>')),
    "pinned to a body that turns": world(ARM.format(solid("trilinear", "2 1 1", '<pin id="0 1 2"/>'))),
    "beside a sheet": world(SHEET + solid("trilinear", "2 1 1") + SHEET.replace("sheet", "other")),
    "rod": rod(),
}
CELLS = [name for name in MODELS if name != "rod"]


def deformed(name, spread=0.01, integrator="euler", **options):
    """A simulation away from rest, and MuJoCo's data at the same state."""
    sim = saltus.Simulation(MODELS[name], integrator, **options)
    rng = np.random.default_rng(len(name))
    sim.qpos[:] += spread * rng.standard_normal(sim.model.nq)
    sim.qvel[:] = rng.standard_normal(sim.model.nv)
    m = sim.model.mujoco
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = sim.qpos, sim.qvel
    mujoco.mj_forward(m, d)
    return sim, d


def with_parents(m, d, field):
    """MuJoCo's joint forces, with what it leaves out: forces on nodes that also move the joints of the bodies below."""
    wanted = getattr(d, field).copy()
    J = np.zeros((3, m.nv))
    for b in np.unique(m.flex_nodebodyid):
        first, number = m.body_dofadr[b], m.body_dofnum[b]
        if number == 3:
            force = d.xmat[b].reshape(3, 3) @ getattr(d, field)[first : first + 3]
            mujoco.mj_jac(m, d, J, None, d.xpos[b], b)
            below = np.delete(J.T @ force, range(first, first + 3))
            wanted[np.delete(np.arange(m.nv), range(first, first + 3))] += below
    return wanted


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.001, 0.03])
@pytest.mark.parametrize("name", MODELS)
def test_forces_are_mujocos(name, spread):
    sim, d = deformed(name, spread)
    m = sim.model.mujoco
    assert_allclose(sim.data.flexvert_xpos, d.flexvert_xpos, rtol=0, atol=4e-15)
    if name != "pinned to a body that turns":
        assert_allclose(sim.data.qacc, d.qacc, rtol=0, atol=1e-12 * abs(d.qacc).max())
    for field in ("qfrc_spring", "qfrc_damper"):
        found, wanted = getattr(sim.data, field), with_parents(m, d, field)
        assert_allclose(found, wanted, rtol=0, atol=1e-12 * max(abs(wanted).max(), 1e-3), err_msg=field)
    assert abs(d.qfrc_spring).max() > 0.01  # there is something to agree on


def test_straight_rods_resist_all_rates():
    """MuJoCo's dampers see the rate of the curvature where that has no direction."""
    sim, d = deformed("rod", 0.0)
    assert_allclose(sim.data.qfrc_damper, d.qfrc_damper, rtol=0, atol=1e-13)
    assert abs(d.qfrc_damper).max() > 0.1


@pytest.mark.slow
@pytest.mark.parametrize(("name", "spread", "tolerance"), [("rod", 0.02, 1e-8), ("quadratic", 1e-5, 1e-3)])
def test_springs_are_the_slope_of_the_energy(name, spread, tolerance):
    """Of cells up to the strain, here some 1e-4."""
    sim, _ = deformed(name, spread)
    force = sim.data.qfrc_spring.copy()
    sim.qvel[:] = 0.0
    weight = sim.data.qfrc_bias.copy()
    start, step = sim.qpos.copy(), 1e-6 if name == "rod" else 1e-7
    for i in range(0, sim.model.nv, 7):
        ends = []
        for side in (step, -step):
            sim.qpos[:] = start
            sim.qpos[i] += side
            ends.append(sim.energy()[0])
        slope = (ends[0] - ends[1]) / (2 * step)
        assert_allclose(-slope, force[i] - weight[i], rtol=0, atol=tolerance * abs(force).max())


def dense(sim, force):
    """-dF/dv [nv, nv] of a function of velocities, by central differences: exact, since F is linear in them."""
    v, eps = sim.qvel.copy(), 0.5
    columns = []
    for i in range(len(v)):
        sides = []
        for side in (eps, -eps):
            sim.qvel[:] = v
            sim.qvel[i] += side
            sides.append(force())
        columns.append((sides[1] - sides[0]) / (2 * eps))
    sim.qvel[:] = v
    return np.transpose(columns)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cells", "quadratic", "rod"])
def test_implicit_is_the_dense_solution(name):
    h = 0.01
    sim, _ = deformed(name, 0.01, "implicitfast", timestep=h)
    start, v = sim.snapshot(), sim.qvel.copy()
    D = dense(sim, lambda: sim.data.qfrc_damper.copy())
    f = sim.data.qfrc_passive - sim.data.qfrc_bias
    implicit, explicit = np.linalg.solve(sim.full_M() + h * D, f), np.linalg.solve(sim.full_M(), f)
    sim.restore(start)
    sim.step()
    assert_allclose((sim.qvel - v) / h, implicit, rtol=0, atol=1e-9 * abs(implicit).max())
    assert sim.unconverged == 0
    assert abs(explicit - implicit).max() > 0.1 * abs(implicit).max()  # it matters


@pytest.mark.slow
def test_rods_keep_their_energy():
    """`energy_momentum`, undamped and far from straight, at steps that are long for the fastest oscillations."""
    model = saltus.load(rod().replace('damping="1"', "").replace('damping=".01"', "").replace("<worldbody>", FREE, 1))
    sim = saltus.Simulation(model, "energy_momentum", timestep=0.01)
    sim.qvel[:] = np.random.default_rng(1).standard_normal(sim.model.nv)
    energy, lowest = sum(sim.energy()), sim.energy()[0]
    places = lambda: (sim.data.xpos[1:], sim.qvel.reshape(-1, 3))  # noqa: E731
    spin = np.cross(*places()).sum(axis=0)
    for _ in range(20):
        sim.step(5)
        assert_allclose(sum(sim.energy()), energy, rtol=0, atol=1e-9 * energy)
        assert_allclose(np.cross(*places()).sum(axis=0), spin, rtol=0, atol=1e-9)
    assert sim.energy()[0] - lowest > 0.01
    assert sim.unconverged == 0


FREE = '<option gravity="0 0 0"/><worldbody>'


@pytest.mark.slow
def test_cells_move_as_by_the_midpoint_rule():
    """`energy_momentum` against `dopri5`: of second order, at steps that Newton's method must converge at."""
    end = 0.064

    def run(integrator, **options):
        sim = saltus.Simulation(MODELS["cells"], integrator, **options)
        sim.qpos[:] += 0.01 * np.random.default_rng(1).standard_normal(sim.model.nq)
        sim.run(end, sample=end)
        assert sim.unconverged == 0
        return sim.qpos.copy()

    exact = run("dopri5", tolerance=(1e-9, 1e-11))
    errors = [abs(run("energy_momentum", timestep=h) - exact).max() for h in (0.002, 0.001)]
    assert errors[1] < 1e-3
    assert 1.8 < np.log2(errors[0] / errors[1]) < 2.2


def test_what_is_not_simulated_is_named():
    shell = MODELS["cells"].replace('poisson=".3"', 'poisson=".3" elastic2d="both" thickness=".01"')
    held = MODELS["cells"].replace('<elasticity young="5e4" poisson=".3" damping=".01"/>', '<edge equality="true"/>')
    for text, words in (
        (shell, "shells on interpolated nodes"),
        (held, "constraints of edges between nodes"),
    ):
        with pytest.raises(saltus.ModelError, match=words):
            saltus.load(text)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cells", "rod"])
def test_derivatives(name):
    """Of a step, by duals, against central differences of it: 1e-6 of the largest, as rounding over the difference."""
    sim, _ = deformed(name)
    A, state, size = np.asarray(sim.linearize()[0]), sim.snapshot(), 2 * sim.model.nv
    for i in range(0, size, 7):
        ends = []
        for side in (1e-6, -1e-6):
            sim.restore(state)
            (sim.qpos if i < size // 2 else sim.qvel)[i % (size // 2)] += side
            sim.step()
            ends.append(np.concatenate([sim.qpos, sim.qvel]))
        assert_allclose(A[:, i], (ends[0] - ends[1]) / 2e-6, rtol=0, atol=1e-6 * abs(A).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cells", "quadratic", "rod"])
def test_a_discrete_step_is_mujocos(name):
    """One step that is long for the stiffness, which Euler's would answer with several times the change."""
    option = '<mujoco><option timestep="0.005" integrator="discrete" tolerance="1e-14"/>'
    text = MODELS[name].replace("<mujoco>", option).replace('<edge stiffness="100" damping="1"/>', "")
    sim = saltus.Simulation(text.replace('young="1e6"', 'young="1e9"'))
    m = sim.model.mujoco
    d = mujoco.MjData(m)
    rng = np.random.default_rng(0)
    d.qpos[:], d.qvel[:] = 0.01 * rng.standard_normal(m.nq), rng.standard_normal(m.nv)
    sim.qpos[:], sim.qvel[:] = d.qpos, d.qvel
    before, explicit = sim.qvel.copy(), 0.005 * sim.data.qacc
    mujoco.mj_step(m, d)
    sim.step()
    assert_allclose(sim.qvel, d.qvel, rtol=0, atol=1e-11 * abs(d.qvel).max())
    assert abs(explicit).max() > 5 * abs(sim.qvel - before).max()
