"""Who belongs to which tree, where trees may sleep. Reference: MuJoCo's compiled model, and the file itself."""

import mujoco
import numpy as np
from helpers import sleepers

import saltus
from saltus.model.compile.sleep import body_trees, mocap_below, why_awake
from saltus.model.enums import CARRIER, MOVED, STILL
from saltus.model.tree.sleeping import is_flagged

ON_MOCAP = '<body name="m" mocap="true"><geom size=".1"/><body name="d"><joint/><geom size=".1"/></body></body>'


def test_bodies_know_their_tree_or_why_they_have_none():
    """A cabinet stands still and carries its drawers; a shelf carries nothing; a mocap body is moved."""
    shelf = '<body name="shelf"><geom size=".1"/></body>'
    m = mujoco.MjModel.from_xml_string(sleepers.CABINET.replace("</worldbody>", f"{shelf}{ON_MOCAP}</worldbody>"))
    tree = body_trees(m)
    assert (
        tree[0] == STILL and tree[1] == CARRIER and tree[m.body("shelf").id] == STILL and tree[m.body("m").id] == MOVED
    )
    moving = m.body_treeid >= 0
    np.testing.assert_array_equal(tree[moving], m.body_treeid[moving])
    np.testing.assert_array_equal(mocap_below(m), [-1, -1, -1, 0])


def test_policies_and_lengths_are_mujocos():
    model = saltus.load(sleepers.world(sleepers.free("0 0 1") + sleepers.free("1 0 1", more='sleep="never"')))
    m = model.struct(laws=saltus.Simulation(model).engine.laws)
    assert m.tree_sleeps.tolist() == [1, 0] and m.opt_sleep_tolerance[0] == model.opt.sleep_tolerance
    np.testing.assert_array_equal(m.dof_length, model.dof_length)


def test_only_models_with_the_flag_sleep():
    flagged = mujoco.MjModel.from_xml_string(sleepers.STACK)
    assert is_flagged(flagged, frozenset()) and not is_flagged(flagged, frozenset({"sleep"}))
    assert why_awake(flagged, frozenset()) == ""
    model = saltus.load("pendulum")
    assert not model.may_sleep and not model.struct().ntree_sleep
