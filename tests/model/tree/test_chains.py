"""Chains between two bodies. Reference: MuJoCo's Jacobians of a point on both bodies, whose difference they span."""

import itertools

import mujoco
import numpy as np
from helpers.random_tree import random_tree

from saltus.model.tree.chains import ChainTable


def test_chains_are_the_columns_of_the_jacobians():
    m = mujoco.MjModel.from_xml_string(random_tree(3))
    d, table = mujoco.MjData(m), ChainTable(m)
    mujoco.mj_forward(m, d)
    point, J = np.array([3.0, -5.0, 7.0]), np.zeros((m.nbody, 6, m.nv))
    for b in range(m.nbody):
        mujoco.mj_jac(m, d, J[b, :3], J[b, 3:], point, b)
    moves = np.abs(J).max(axis=1) > 1e-12  # which bodies a degree of freedom moves
    assert moves.any()
    for b1, b2 in itertools.permutations(range(m.nbody), 2):
        own = table.of_bodies(b1, b2, skip_common=True)
        assert table.dofs(own) == list(np.flatnonzero(np.abs(J[b2] - J[b1]).max(axis=0) > 1e-12))
        both = table.of_bodies(b1, b2, skip_common=False)
        signs = (moves[b2].astype(int) - moves[b1])[table.dofs(both)]
        assert table.entries[both][1:] == (list(np.flatnonzero(moves[b1] | moves[b2])), list(signs))
    assert table.of_bodies(b1, b2, skip_common=False) == both and table.of_dofs([1, 2]) == len(table.entries) - 1
