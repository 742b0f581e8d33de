"""`discrete` steps as MuJoCo's fifth integrator does: springs, dampers, elastic bodies and constraints in one solution.

Law: (M + h D + h² K) a = f - h K v + Jᵀ f_c(J a), with rows taken at the end of the step (MuJoCo 4.0 documentation,
Computation, "Numerical integration").
Reference: MuJoCo itself, with its Newton solver to 1e-14, step by step from the same state.
Tolerance: the same numbers in another order, through a matrix with a condition of up to 1e4: 1e-10 of the largest
change of velocity in a step.
"""

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
