"""`discrete` steps as MuJoCo's fifth integrator does: springs, dampers, elastic bodies and constraints in one solution.

Law: (M + h D + h² K) a = f - h K v + Jᵀ f_c(J a), with rows taken at the end of the step (MuJoCo 4.0 documentation,
Computation, "Numerical integration").
Reference: MuJoCo itself, with its Newton solver to 1e-14, step by step from the same state.
Tolerance: the same numbers in another order, through a matrix with a condition of up to 1e4: 1e-10 of the largest
change of velocity in a step.
"""

import mujoco
import numpy as np
import pytest
from helpers.discrete_steps import RIGID, SOFT, YOUNG, assert_same_steps, flex

import saltus


@pytest.mark.slow
@pytest.mark.parametrize("name", RIGID)
def test_rigid_bodies(name):
    assert assert_same_steps(RIGID[name])[0] > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", SOFT)
def test_deformable_bodies(name):
    assert_same_steps(SOFT[name])


@pytest.mark.slow
def test_a_ball_lands_on_a_sheet():
    ball = '<body pos="0 0 1.105"><freejoint/><geom size="0.1" mass="2" solref="0.001 1"/></body>'
    elastic = f'<elasticity {YOUNG} thickness="0.01" elastic2d="both"/><pin id="0 3 16 19"/>'
    touching = '<contact selfcollide="none" solref="0.001 1"/>'
    xml = flex(elastic, outside=f"<worldbody>{ball}</worldbody>", contact=touching)
    assert assert_same_steps(xml, deformation=0.002, tolerance=1e-9)[1] > 0


@pytest.mark.slow
def test_the_flag_refsafe():
    assert_same_steps(RIGID["stiff"].replace("<option ", '<option><flag refsafe="disable"/></option><option '))


@pytest.mark.parametrize(
    ("xml", "what"),
    [
        (flex(f'<elasticity {YOUNG} thickness="0.01"/><edge damping="1"/>'), "dampers along the edges"),
        (RIGID["soft"].replace("<option ", '<option density="1000" '), "fluid"),
        (
            RIGID["soft"].replace("<option ", '<option integrator="discrete"><flag ipc="enable"/></option><option '),
            "ipc",
        ),
        (RIGID["soft"].replace("<option ", '<option noslip_iterations="3" '), "noslip"),
    ],
)
def test_what_is_missing_is_said(xml, what):
    with pytest.raises(saltus.OptionError, match=f"discrete does not support .*{what}.*choose another"):
        saltus.Simulation(xml, "discrete")


@pytest.mark.slow
def test_lanes():
    """Bit for bit the same whatever is in the other lanes."""
    model = saltus.load(RIGID["soft"])
    start = 0.3 * np.random.default_rng(0).standard_normal((2, model.nv))
    start[1] += 5.0
    alone, both = (saltus.Batch(model, n, threads=1, integrator="discrete") for n in (1, 2))
    alone.qvel = start[:1]
    both.qvel = start
    alone.step(20)
    both.step(20)
    assert np.array_equal(alone.qpos[0], both.qpos[0])


def pile(tolerance):
    """Six rods of three segments, crosswise in three layers on a floor, pressed into each other; for MuJoCo."""
    rods = "".join(
        f"""<flexcomp name="rod{k}" type="grid" dim="1" count="4 1 1" spacing=".05 .1 .1" radius=".01" mass=".05"
          pos="{x} {y} {0.0098 + 0.0195 * layer}" euler="0 0 {turn}"><contact selfcollide="none" friction=".8"/>
          <edge equality="true"/><elasticity young="1e6" poisson=".3" damping=".01"/></flexcomp>"""
        for k, (layer, x, y, turn) in enumerate(
            [
                (0, 0, 0.04, 3),
                (0, 0.01, -0.04, -4),
                (1, 0.03, 0, 88),
                (1, -0.04, 0, 93),
                (2, 0, 0.03, 6),
                (2, 0, -0.03, 1),
            ]
        )
    )
    m = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option integrator="discrete" timestep=".002" tolerance="{tolerance}" iterations="500"/><worldbody>
        <geom type="plane" size="1 1 .1"/>{rods}</worldbody></mujoco>"""
    )
    d = mujoco.MjData(m)
    d.qvel[:] = 0.1 * np.random.default_rng(3).standard_normal(m.nv)
    return m, d


def after_steps(m, qvel, count=1):
    """A simulation some steps after a start at these velocities."""
    sim = saltus.Simulation(saltus.load(m))
    sim.qvel[:] = qvel
    sim.step(count)
    assert sim.unconverged == 0
    return sim


@pytest.mark.slow
def test_rods_on_each_other():
    """With a tolerance of 0, to rounding: five steps of the largest change of velocity."""
    m, d = pile(0.0)
    before = d.qvel.copy()
    sim = after_steps(m, before, 5)
    mujoco.mj_step(m, d, 5)
    assert d.ncon > 10
    np.testing.assert_allclose(sim.qvel, d.qvel, rtol=0, atol=1e-8 * abs(d.qvel - before).max())


@pytest.mark.slow
def test_the_tolerance_of_rods():
    """Reference: the same step to rounding. What is left of the cost is e · A e / 2, of the accelerations' error e.

    It is at most the tolerance after scaling, as estimated by the preconditioner, which leaves out what couples rods: a
    factor of ten. M, a part of A, is that without constraints.
    """
    for seed in range(3):
        m, d = pile(1e-6)
        qvel = 0.3 * np.random.default_rng(seed).standard_normal(m.nv)
        rough, exact = after_steps(m, qvel), after_steps(pile(0.0)[0], qvel)
        mujoco.mj_forward(m, d)
        error, image = (rough.qvel - exact.qvel) / m.opt.timestep, np.zeros(m.nv)
        mujoco.mj_mulM(m, d, image, error)
        assert 0.0 < error @ image / (2 * m.stat.meaninertia * m.nv) < 10 * 1e-6


@pytest.mark.slow
def test_a_pile_of_rods_comes_to_rest():
    """Energy falls, but for the tolerance, and no rod goes through another or the floor: a tenth of the radius."""
    m, d = pile(1e-8)
    sim = after_steps(m, d.qvel)
    run = sim.run(1.0, sample=0.01)
    energy = run.energy[10:]  # after the start, where rods are pressed into each other
    assert np.diff(energy).max() < 1e-3 * np.ptp(energy) + 1e-6
    d.qpos[:] = sim.qpos
    mujoco.mj_forward(m, d)
    assert d.ncon > 5 and d.contact.dist[: d.ncon].min() > -0.1 * 0.01
    assert sim.unconverged == 0
