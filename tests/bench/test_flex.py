"""The benchmark of deformable bodies: sheets of any size are those that MuJoCo compiles, and its scenes stay whole.

Law: rows of a grid repeat. Reference: the kernels' Model of a sheet that MuJoCo has compiled, and MuJoCo's own steps.
Tolerance: both sheets take the same steps, by Newton's method and by conjugate gradients to 1e-6 of the cost: 1e-5 m
after 0.1 s. MuJoCo's accelerations in the first step: 1e-6 of the largest, with solvers that go on to 1e-14 of the
cost.
"""

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus
from saltus.bench.flex import command as flex
from saltus.bench.flex.sheet import FALL, Sheet, small
from saltus.bench.harness import peers
from saltus.contact.counts import NCON

ORDER = {"flexedge_vert", "flexedge_length0", "triangle_edge"}  # edges come in another order
UNREAD = {"body_inv_subtreemass", "qpos_spring", "dof_treeid", "opt_scale"}  # of trees, springs, tolerances


def test_a_sheet_is_what_mujoco_compiles():
    compiled, own = small(8).struct(timestep=0.0005), Sheet(8).model
    assert own.layout.features == compiled.layout.features | {"cg"}
    for name in set(own.views) - ORDER - UNREAD:
        if own.views[name].size and own.views[name].shape == compiled.views[name].shape:
            assert_allclose(own.views[name], compiled.views[name], rtol=1e-12, atol=1e-12, err_msg=name)
    lengths = [np.sort(m.views["flexedge_length0"]) for m in (own, compiled)]
    assert_allclose(*lengths, rtol=1e-12)


@pytest.mark.slow
def test_it_moves_as_that_does():
    sheet, sim = Sheet(8), saltus.Simulation(small(8), "euler")
    sim.qvel[2] = -FALL
    sheet.step(200)
    sim.step(200)
    assert sheet.data.views["count"][NCON] > 3
    assert_allclose(sheet.data.views["qpos"], sim.qpos, rtol=0, atol=1e-5)


@pytest.mark.slow
def test_growth_is_measured():
    rows = flex.growth((4, 8), 2, 5)
    assert [row.vertices for row in rows] == [16, 64]
    assert all(row.seconds > 0 for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("model", [flex.FLAG, flex.JELLY], ids=["flag", "jelly"])
def test_scenes_stay_whole_and_are_mujocos(model):
    tight = model.replace('tolerance="1e-6"', 'tolerance="1e-14" iterations="500"')
    setup = peers.Constrained(tight, 1, spread=flex.SPREAD, settle=0.1)
    data = setup.data()
    mujoco.mj_step(setup.mujoco, data, 200)
    assert not data.warning.number.any()
    scale = abs(data.qacc).max()
    assert flex._difference(setup) < 1e-6 * max(scale, 1.0)
