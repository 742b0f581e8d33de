"""MuJoCo's types have its numbers; each pair of geoms has a kind of its own."""

import itertools

import mujoco
import pytest

from saltus.model import enums
from saltus.model.enums import (
    BALL,
    CONE_ELLIPTIC,
    CONE_PYRAMIDAL,
    FREE,
    HINGE,
    JOINT_DOFS,
    JOINT_NAMES,
    PLANE,
    SDF,
    SLIDE,
    SOLVER_CG,
    SOLVER_NEWTON,
    SOLVER_PGS,
    pair_kind,
    pair_types,
)


@pytest.mark.parametrize(
    ("kind", "prefix", "names"),
    [
        ("Geom", "GEOM", "PLANE HFIELD SPHERE CAPSULE ELLIPSOID CYLINDER BOX MESH SDF"),
        ("Joint", "JNT", "FREE BALL SLIDE HINGE"),
        ("Eq", "EQ", "CONNECT WELD JOINT TENDON FLEX"),
    ],
)
def test_types_are_mujocos(kind, prefix, names):
    theirs = vars(mujoco)[f"mjt{kind}"]
    for name in names.split():
        assert getattr(enums, name) == getattr(theirs, f"mj{prefix}_{name}").value


def test_types_of_path_elements_are_mujocos():
    for name in ("WRAP_JOINT", "WRAP_PULLEY", "WRAP_SITE", "WRAP_SPHERE", "WRAP_CYLINDER"):
        assert getattr(enums, name) == getattr(mujoco.mjtWrap, f"mj{name}").value


def test_options_are_mujocos():
    solvers, cones = mujoco.mjtSolver, mujoco.mjtCone
    theirs = (solvers.mjSOL_PGS, solvers.mjSOL_CG, solvers.mjSOL_NEWTON)
    assert (SOLVER_PGS, SOLVER_CG, SOLVER_NEWTON) == tuple(s.value for s in theirs)
    assert (CONE_PYRAMIDAL, CONE_ELLIPTIC) == (cones.mjCONE_PYRAMIDAL.value, cones.mjCONE_ELLIPTIC.value)


def test_joints_have_their_degrees_of_freedom():
    for kind in (FREE, BALL, SLIDE, HINGE):
        joint = f'<joint type="{JOINT_NAMES[kind]}"/>'
        m = mujoco.MjModel.from_xml_string(
            f'<mujoco><worldbody><body>{joint}<geom size="1"/></body></worldbody></mujoco>'
        )
        assert (m.jnt_type[0], m.nv) == (kind, JOINT_DOFS[kind])


def test_kinds_of_pairs_hold_both_types():
    types = range(PLANE, SDF + 1)
    pairs = list(itertools.combinations_with_replacement(types, 2))
    kinds = [pair_kind.py_func(*pair) for pair in pairs]
    assert [pair_types(kind) for kind in kinds] == pairs
    assert len(set(kinds)) == len(pairs)


def test_trees_are_slow_for_as_many_steps_as_mujocos():
    assert enums.MINAWAKE == mujoco.mjMINAWAKE
