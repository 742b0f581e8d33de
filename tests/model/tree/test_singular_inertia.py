"""Singular inertia matrices: found where they are, and nowhere else.

Charter: M is singular if and only if some motion of the joints moves no mass. References: mechanisms whose massless
motions are known by geometry (two hinges on one axis turn against each other; of three hinges of a body, the first and
the third lie on one axis where the second has turned by nothing; four axes in space depend on each other), and the rank
of MuJoCo's dense M. Tolerance: rounding of M, as the module states it.
"""

import mujoco
import numpy as np
import pytest
from helpers.random_tree import random_tree

import saltus
from saltus.model.tree.singular_inertia import massless_motions, may_be_singular, random_positions

ROD = '<geom type="capsule" fromto="0 0 0 .1 .2 1" size=".05"/>'
X, Y, Z = (f'axis="{axis}"' for axis in ("1 0 0", "0 1 0", "0 0 1"))
SLIDE = 'type="slide"'
POINT = '<inertial pos="0 0 0" mass="1" diaginertia="1e-14 1e-14 1e-14"/>'


def body(*joints, inside=ROD, tip=""):
    own = "".join(f'<joint name="j{k}" {joint}/>' for k, joint in enumerate(joints))
    return f"<mujoco><worldbody><body>{own}{inside}{tip}</body></worldbody></mujoco>"


def tip(joint, inside=ROD, pos="0 0 1"):
    return f'<body pos="{pos}"><joint name="tip" {joint}/>{inside}</body>'


SINGULAR = {
    "two hinges on one axis": (body(Y, Y), "'j0', 'j1'"),
    "two hinges on one axis, opposite": (body(Y, 'axis="0 -1 0"'), "'j0', 'j1'"),
    "four hinges": (body(X, Y, Z, 'axis="1 1 1"'), "'j0', 'j1', 'j2', 'j3'"),
    "three slides in a plane": (body(f"{SLIDE} {X}", f"{SLIDE} {Y}", f'{SLIDE} axis="1 1 0"'), "'j0', 'j1', 'j2'"),
    "only beyond a free body": (
        f"<mujoco><worldbody><body><freejoint/>{ROD}<body pos='0 0 1'><joint name='a' {X}/><joint name='b' {X}/>{ROD}"
        "</body></body></worldbody></mujoco>",
        "'a', 'b'",
    ),
}
REGULAR = {
    "armature": body(f'{Y} armature="0.01"', Y),
    "three hinges": body(X, Y, Z),
    "hinges of two bodies on one axis": body(Y, tip=tip(Y, pos="0 0 0")),
    "a light tip": body(Y, tip=tip(Y, '<inertial pos="0 0 0" mass="1e-12" diaginertia="1e-14 1e-14 1e-14"/>')),
    "a stretched arm": body(Y, tip=tip(Y)),
    "three slides and a hinge": body(*(f"{SLIDE} {axis}" for axis in (X, Y, Z)), Z),
    "a tip far away": body(Y, tip=tip(X, '<geom size="1e-3"/>', pos="100 0 0")),
}


@pytest.mark.filterwarnings("ignore:Inertia matrix:UserWarning")
@pytest.mark.parametrize("case", SINGULAR)
def test_joints_that_move_no_mass_are_named(case):
    text, names = SINGULAR[case]
    with pytest.raises(saltus.ModelError, match=f"joints {names} together can move without moving any mass") as caught:
        saltus.load(text)
    assert caught.value.element == "joint" and repr(caught.value.name) == names.split(",")[0]


@pytest.mark.parametrize("case", REGULAR)
def test_regular_mechanisms_load(case, recwarn):
    model = saltus.load(REGULAR[case])
    assert not massless_motions(model.mj_model, model.qpos0)
    assert not [w for w in recwarn if issubclass(w.category, saltus.SaltusWarning)]


def test_a_closed_loop_in_which_forces_cannot_be_told_apart_loads():
    """A four-bar mechanism with one closing constraint too many: J M⁻¹ Jᵀ is singular, M is not."""
    text = body(Y, tip=tip(Y)).replace("</worldbody>", '<site name="anchor" pos="0 0 2"/></worldbody>')
    close = '<connect body1="world" body2="end" anchor="0 0 2"/>'
    text = text.replace('<body pos="0 0 1">', '<body name="end" pos="0 0 1">')
    saltus.load(text.replace("</mujoco>", f"<equality>{close}{close}</equality></mujoco>"))


@pytest.mark.filterwarnings("ignore:Inertia matrix:UserWarning")
def test_a_singular_reference_position_is_a_warning():
    with pytest.warns(saltus.SaltusWarning, match=r"singular at the reference position: joints 'j0', 'j2'"):
        model = saltus.load(body(X, Y, X))
    assert may_be_singular(model.mj_model)
    for angle in (1e-9, 1e-3, 0.5):
        found = massless_motions(model.mj_model, np.array([0.3, angle, -0.7]))
        assert [motion.dofs for motion in found] == ([(0, 2)] if angle == 1e-9 else [])


@pytest.mark.filterwarnings("ignore:Inertia matrix:UserWarning")
def test_values_that_make_it_singular_are_refused():
    model = saltus.load(REGULAR["armature"])
    with pytest.raises(saltus.ModelError, match="'j0', 'j1' together can move"):
        model.changed({"dof_armature[j0]": 0.0})


def test_a_tip_without_mass_in_a_compiled_model_is_refused():
    m = mujoco.MjModel.from_xml_string(body(Y, tip=tip(Y)))
    m.body_mass[2] = m.body_inertia[2] = 0.0
    with pytest.raises(saltus.ModelError, match="joint 'tip' moves without moving any mass"):
        saltus.load(m)


def test_every_chain_is_named_apart():
    bodies = "".join(
        f'<body pos="{k} 0 0"><joint name="a{k}" {Y}/><joint name="b{k}" {Y}/>{ROD}</body>' for k in range(3)
    )
    m = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    assert [motion.dofs for motion in massless_motions(m, m.qpos0)] == [(0, 1), (2, 3), (4, 5)]


@pytest.mark.parametrize("seed", range(12))
def test_what_is_surely_regular_is_regular(seed):
    """Against the rank of MuJoCo's dense M, scaled to a unit diagonal, at random positions."""
    m = mujoco.MjModel.from_xml_string(random_tree(seed, passive=False))
    random = np.random.default_rng(seed)
    data = mujoco.MjData(m)
    for _ in range(5):
        data.qpos[:] = random_positions(m, random)
        mujoco.mj_fwdPosition(m, data)
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, data, M)
        unit = M / np.sqrt(np.outer(np.diag(M), np.diag(M)))
        full = bool(np.linalg.matrix_rank(unit, hermitian=True) == m.nv)
        assert full == (not massless_motions(m, data.qpos))
        assert full or may_be_singular(m)
