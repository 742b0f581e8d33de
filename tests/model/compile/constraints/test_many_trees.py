"""Which models have their Hessian by trees, and how much memory that takes.

References: the trees of MuJoCo's model; counting.
"""

import itertools

import mujoco
import numpy as np
import pytest

import saltus
from saltus.model.compile.constraints.many_trees import FEATURE, largest_blocks
from saltus.model.layout import data_sizes

FLOOR = '<geom type="plane" size="9 9 .1"/>'
BALL = '<body pos="{} 0 1"><freejoint/><geom size=".1"/></body>'
SLIDE = '<body pos="{} 2 1"><joint name="s{}" type="slide" range="-1 1" limited="true"/><geom size=".1"/></body>'
SLIDES = "".join(SLIDE.format(k, k) for k in range(3))


def world(bodies=60, option="", extra="", rest=""):
    text = "".join(BALL.format(k) for k in range(bodies))
    return f"<mujoco>{option}<worldbody>{FLOOR}{text}{extra}</worldbody>{rest}</mujoco>"


def links(n):
    return "".join(f'<body pos="0 3 {k + 1}"><joint axis="0 1 0"/><geom size=".1"/>' for k in range(n)) + "</body>" * n


def fixed(joints, armature=0.0):
    """A tendon over the first so many slides."""
    text = "".join(f'<joint joint="s{k}" coef="1"/>' for k in range(joints))
    return f'<tendon><fixed limited="true" range="-1 1" armature="{armature}">{text}</fixed></tendon>'


YES = {
    "free bodies": world(),
    "and a tendon between two trees": world(extra=SLIDES, rest=fixed(2)),
    "and a mechanism of 300": world(extra=links(300)),
}
NO = {
    "few degrees of freedom": world(44),
    "few trees": f"<mujoco><worldbody>{FLOOR}{links(50) * 8}</worldbody></mujoco>",
    "a large tree": world(extra=links(301)),
    "a tendon over three trees": world(extra=SLIDES, rest=fixed(3)),
    "inertia between trees": world(extra=SLIDES, rest=fixed(2, 0.1)),
    "conjugate gradients": world(option='<option solver="CG"/>'),
    "projected Gauss-Seidel": world(option='<option solver="PGS"/>'),
    "nothing that constrains": world(option='<option><flag contact="disable"/></option>'),
    "a deformable body": world(
        extra='<flexcomp name="f" type="grid" dim="2" count="3 3 1" spacing=".1 .1 .1" pos="0 5 1" radius=".01"/>'
    ),
}


def struct(xml):
    return saltus.load(xml).struct()


@pytest.mark.parametrize("case", YES)
def test_many_small_trees(case):
    m, peer = struct(YES[case]), mujoco.MjModel.from_xml_string(YES[case])
    assert FEATURE in m.layout.features
    assert m.sizes["nv_hessian"] == 0 and m.nsolvertree == peer.ntree
    np.testing.assert_array_equal(m.tree_dofadr, peer.tree_dofadr)
    np.testing.assert_array_equal(m.tree_of_dof, peer.dof_treeid)
    assert m.sizes["ntreeblock"] == (peer.tree_dofnum**2).sum()


@pytest.mark.parametrize("case", NO)
def test_other_models_keep_one_matrix(case):
    m = struct(NO[case])
    assert FEATURE not in m.layout.features
    assert m.nsolvertree == m.sizes["npairblock"] == m.sizes["nv_trees"] == 0


@pytest.mark.parametrize(
    ("xml", "one_matrix"), [(world(54), True), (world(60), False), (world(60, extra=links(61)), True)]
)
def test_lanes_of_few_or_large_trees_have_one_matrix(xml, one_matrix):
    """Whose memory is that of the lanes alone."""
    m = struct(xml)
    assert ("matrix_in_lanes" in m.layout.features) == one_matrix
    single, lanes = data_sizes(m.sizes), data_sizes(m.sizes, lanes=True)
    assert single["nhessian"] == 0 and single["ntreeblock"] > 0
    assert lanes["nhessian"] == (m.nv * (m.nv + 1) // 2 if one_matrix else 0)
    assert (lanes["ntreeblock"] > 0) != one_matrix


def test_room_for_the_largest_blocks():
    """However many pairs touch, and whichever: the sum of the largest products."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        number = rng.integers(1, 9, rng.integers(2, 12))
        products = sorted((int(a * b) for a, b in itertools.combinations(number, 2)), reverse=True)
        for pairs in range(len(products) + 1):
            assert largest_blocks(number, pairs) == sum(products[:pairs])
