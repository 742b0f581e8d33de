"""Worlds of many bodies for tests of Newton's method by trees, and their blocks as dense matrices."""

import numpy as np

from helpers.constraints import complete

WALL = 0.55  # m, half of the box
SHAPES = 'type="sphere" size=".1"', 'type="box" size=".1 .08 .06"', 'type="capsule" size=".06 .08"'
ARM = """<body name="arm{k}" pos="{x} 0 .75"><joint axis="0 1 0" range="-30 30" frictionloss=".05" damping=".02"/>
  <geom type="capsule" size=".03" fromto="0 0 0 .2 0 0"/>
  <body pos=".2 0 0"><joint axis="0 1 0" range="-90 90" frictionloss=".02"/>
    <geom type="capsule" size=".03" fromto="0 0 0 .2 0 0"/><site name="tip{k}" pos=".2 0 0"/></body></body>"""
TIES = """<equality>
  <connect body1="b0" body2="b5" anchor=".1 0 0"/><weld body1="b9" body2="b2"/>
  <connect site1="tip0" site2="s20"/><connect body1="arm1" body2="world" anchor=".05 0 0"/></equality>
<tendon><spatial limited="true" range="0 .5" frictionloss=".1">
  <site site="tip1"/><site site="s21"/></spatial></tendon>"""


def world(cone="pyramidal", bodies=34, ties=True, option=""):
    """The compiled model, solved tightly: bodies in layers in a box, two arms above them; some are tied together.

    A few have other numbers of friction dimensions.
    """
    rng = np.random.default_rng(0)
    text = ""
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        text += f'<geom type="plane" size="5 5 .1" pos="{x * WALL} {y * WALL} 0" zaxis="{-x} {-y} 0"/>'
    for k in range(bodies):
        layer, place = divmod(k, 12)
        x, y = 0.26 * (place % 4) - 0.39, 0.3 * (place // 4) - 0.3
        pos = np.array([x, y, 0.12 + 0.2 * layer]) + 0.01 * rng.normal(size=3)
        kind = f'{SHAPES[k % 3]} condim="{(3, 3, 3, 3, 1, 4, 6)[k % 7]}" friction=".7 .02 .01"'
        at, turn = (" ".join(f"{v:.4f}" for v in values) for values in (pos, rng.normal(size=4)))
        text += f'<body name="b{k}" pos="{at}" quat="{turn}"><freejoint/><geom {kind}/><site name="s{k}"/></body>'
    arms = "".join(ARM.format(k=k, x=0.3 * k - 0.4) for k in range(2))
    return complete(
        f'<mujoco><option timestep=".004" cone="{cone}" {option}/><worldbody><geom type="plane" size="5 5 .1"/>'
        f"{text}{arms}</worldbody>{TIES if ties else ''}</mujoco>"
    )


def dense(m, trees, pairs, near_adr, near_tree, near_place):
    """The symmetric matrix [nv, nv] whose blocks of trees and of pairs are these fields."""
    H = np.zeros((m.nv, m.nv))
    for b in range(m.nsolvertree):
        own = np.arange(m.tree_dofnum[b]) + m.tree_dofadr[b]
        n = len(own)
        H[np.ix_(own, own)] = trees[m.tree_blockadr[b] :][: n * n].reshape(n, n).T
        for p in range(near_adr[b], near_adr[b + 1]):
            lower = np.arange(m.tree_dofnum[near_tree[p]]) + m.tree_dofadr[near_tree[p]]
            block = pairs[near_place[p] :][: n * len(lower)].reshape(len(lower), n)
            H[np.ix_(lower, own)], H[np.ix_(own, lower)] = block, block.T
    return H


def dense_hessian(m, d):
    """The Hessian of a Data, whose blocks of trees are upper triangles."""
    H = dense(m, d.tree_hessian, d.pair_hessian, d.near_adr, d.near_tree, d.near_place)
    return np.triu(H) + np.triu(H, 1).T
