"""Displacements of positions and their differences. Reference: MuJoCo's mj_integratePos and mj_differentiatePos."""

import mujoco
import numpy as np
import pytest
from helpers.random_tree import random_tree

from saltus.dynamics.tree.manifold import difference, displace
from saltus.number.kernels import interpret


@pytest.mark.parametrize("seed", range(4))
def test_positions_move_as_in_mujoco_and_back(seed):
    m = mujoco.MjModel.from_xml_string(random_tree(seed))
    rng, q = np.random.default_rng(seed), mujoco.MjData(m).qpos.copy()
    mujoco.mj_integratePos(m, q, rng.normal(size=m.nv), 1.0)
    v, h = rng.uniform(-1.5, 1.5, m.nv), 0.7  # less than half a turn: the difference is one
    expected, found, back = q.copy(), np.zeros(m.nq), np.zeros(m.nv)
    mujoco.mj_integratePos(m, expected, v, h)
    interpret(displace)(m, q, h, v, found)
    np.testing.assert_allclose(found, expected, atol=1e-14)
    interpret(difference)(m, q, found, back)
    np.testing.assert_allclose(back, h * v, atol=1e-13)
    mujoco.mj_differentiatePos(m, v, 1.0, q, found)
    np.testing.assert_allclose(back, v, atol=1e-13)
