"""Of many contacts of a deformable body with a geom the fifty count that lie farthest apart. Reference: MuJoCo 4.0."""

import mujoco
import numpy as np
import pytest
from helpers.constraints import assert_same_rows

import saltus

SOLID = """<flexcomp name="solid" type="grid" dim="3" count="{count}" spacing=".1 .1 .1" dof="{dof}" cellcount="{cells}"
  pos="0 0 {z}" radius=".01" mass="3"><contact condim="{condim}" solref="0.01 1" selfcollide="none" margin="0.02"/>
  <elasticity young="3e4" poisson="0.2" damping=".001"/>{pin}</flexcomp>"""


FLOOR = '<geom name="floor" type="plane" size="2 2 .1"/>'


def solid(dof="trilinear", cells="2 1 1", condim=3, pin="", z=0.1, count="5 4 3"):
    return SOLID.format(dof=dof, cells=cells, condim=condim, pin=pin, z=z, count=count)


@pytest.mark.slow
def test_of_many_contacts_few_count():
    """More than a hundred vertices are in the floor, bent by quadratic nodes so that nothing is equally far."""
    many = solid("quadratic", "1 1 1", count="11 10 3", z=0.09)
    floor = FLOOR.replace('size="2', 'euler="2 3 0" pos="0 0 .05" size="2')
    xml = f"<mujoco><worldbody>{floor}{many}</worldbody></mujoco>"
    m = saltus.load(xml).mujoco
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    below = (d.flexvert_xpos - d.geom_xpos[0]) @ d.geom_xmat[0].reshape(3, 3)[:, 2] < 0.03
    assert below.sum() > 100
    _, contacts, *_ = assert_same_rows(xml, states=3, spread=0.01)
    assert contacts == 50


@pytest.mark.slow
def test_lanes_choose_for_themselves():
    """Bit for bit the same whatever is in the other lanes."""
    model = saltus.load(f"<mujoco><worldbody>{FLOOR}{solid(count='11 10 3', z=0.1)}</worldbody></mujoco>")
    start = 0.3 * np.random.default_rng(0).standard_normal((2, model.nv))
    alone, both = (saltus.Batch(model, n, threads=1) for n in (1, 2))
    alone.qvel = start[:1]
    both.qvel = start
    alone.step(20)
    both.step(20)
    assert np.array_equal(alone.qpos[0], both.qpos[0])
    sim = saltus.Simulation(model)
    sim.qvel[:] = start[0]
    sim.step(20)
    assert sim.data.ncon == 50
    np.testing.assert_allclose(alone.qpos[0], sim.qpos, rtol=0, atol=1e-9)
