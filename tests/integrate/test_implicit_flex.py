"""`implicit` and `implicitfast` take all damping of flexes implicitly, which MuJoCo 4.0 refuses to.

Law: (M - h D) a = f with D = df/dv of the whole force, edges' dampers and Rayleigh's damping of elements and bending
included, also where sheets hang on a body that turns.
Reference: a dense solve with D by central differences of the forces, which are quadratic in velocities, so that the
differences are exact but for rounding: 1e-16 over the step of 1e-3 m/s, times up to 1e3 for stiff damping.
Tolerance: 1e-9 of the largest acceleration.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus

ALONE = '<contact contype="0" conaffinity="0" selfcollide="none"/>'
GRID = 'type="grid" dim="2" count="5 4 1"'
YOUNG = 'young="1e5" poisson="0.3"'


def flex(inside, kind=GRID):
    return f"""<mujoco><worldbody><flexcomp name="soft" {kind} spacing=".1 .1 .1" mass="1.5" radius=".01" pos="0 0 1">
      {ALONE}{inside}</flexcomp></worldbody></mujoco>"""


MODELS = {
    "sheet": flex(f'<elasticity {YOUNG} thickness="0.01" elastic2d="both" damping="0.004"/><edge damping="3"/>'),
    "curved": flex(
        f'<elasticity {YOUNG} thickness="0.02" elastic2d="both" damping="0.002"/>',
        'type="ellipsoid" dim="2" count="4 4 4"',
    ),
    "solid": flex(f'<elasticity {YOUNG} damping="0.01"/>', 'type="grid" dim="3" count="3 3 3"'),
    "on a body that turns": f"""<mujoco><worldbody><body name="arm" quat="1 0.2 0.3 0"><joint axis="0 1 0.5"/>
      <geom size="0.1" mass="1"/>
      <body name="hand" pos="0 0 -0.3"><joint axis="1 0 0" damping="0.1"/><geom size="0.1" mass="1"/>
      <flexcomp name="soft" {GRID} spacing=".1 .1 .1" mass="1.5" radius=".01">{ALONE}
      <elasticity {YOUNG} thickness="0.01" elastic2d="both" damping="0.002"/><edge damping="1"/><pin id="0 1 2"/>
      </flexcomp></body></body></worldbody></mujoco>""",
}


def deformed(name, integrator, **options):
    sim = saltus.Simulation(MODELS[name], integrator, **options)
    rng = np.random.default_rng(3)
    sim.qpos[:] += 0.01 * rng.standard_normal(sim.model.nq)
    sim.qvel[:] = rng.standard_normal(sim.model.nv)
    return sim


def dense_solution(sim, h):
    """(M - h D)⁻¹ f at the present state, and M⁻¹ f."""
    start, v, M = sim.snapshot(), sim.qvel.copy(), sim.full_M()

    def force(change):
        sim.qvel[:] = v + change
        return sim.data.qfrc_passive - sim.data.qfrc_bias

    f, eps = force(0.0), 1e-3
    D = np.transpose([(force(eps * e) - force(-eps * e)) / (2 * eps) for e in np.eye(len(v))])
    sim.restore(start)
    return np.linalg.solve(M - h * D, f), np.linalg.solve(M, f)


@pytest.mark.parametrize("h", [0.001, 0.01])
@pytest.mark.parametrize("name", MODELS)
def test_implicit_is_the_dense_solution(name, h):
    sim = deformed(name, "implicit", timestep=h)
    v = sim.qvel.copy()
    implicit, explicit = dense_solution(sim, h)
    sim.step()
    assert_allclose((sim.qvel - v) / h, implicit, rtol=0, atol=1e-9 * abs(implicit).max())
    assert sim.unconverged == 0
    assert abs(explicit - implicit).max() > 0.1 * abs(implicit).max()  # it matters


@pytest.mark.parametrize("name", ["sheet", "curved", "solid"])
def test_implicitfast_is_the_same_where_nothing_turns(name):
    velocities = []
    for integrator in ("implicit", "implicitfast"):
        sim = deformed(name, integrator)
        sim.step()
        velocities.append(sim.qvel.copy())
    assert_allclose(*velocities, rtol=1e-12)


def test_strong_damping_is_no_bound_for_the_step():
    """h d/m = 100 for each edge: Euler's method leaves the numbers, the implicit one only loses energy."""
    model = saltus.load(flex(f'<elasticity {YOUNG} thickness="0.01" elastic2d="stretch"/><edge damping="4000"/>'))
    h = 100 * model.mujoco.body_mass[1] / 4000
    start = np.random.default_rng(0).standard_normal(model.nv)
    sims = [saltus.Simulation(model, integrator, timestep=h) for integrator in ("implicitfast", "euler")]
    for sim in sims:
        sim.qvel[:] = start
    weight = sims[0].model.mujoco.body_subtreemass[0] * 9.81
    energy = sum(sims[0].energy())
    sims[0].step(200)
    # in free fall the first-order method is off by half a step of falling at g t
    assert sum(sims[0].energy()) < energy + weight * 9.81 * 200 * h * h
    assert sims[0].unconverged == 0
    with pytest.raises(saltus.DivergenceError):
        sims[1].step(200)


@pytest.mark.slow
def test_lanes():
    """Bit for bit the same whatever is in the other lanes."""
    model = saltus.load(MODELS["sheet"])
    start = 0.3 * np.random.default_rng(0).standard_normal((2, model.nv))
    alone, both = (saltus.Batch(model, n, threads=1, integrator="implicitfast") for n in (1, 2))
    alone.qvel = start[:1]
    both.qvel = start
    alone.step(10)
    both.step(10)
    assert np.array_equal(alone.qpos[0], both.qpos[0])


def test_derivatives_are_refused():
    with pytest.raises(saltus.OptionError, match="does not support implicit of deformable bodies"):
        saltus.Simulation(MODELS["sheet"], "implicit").linearize()
