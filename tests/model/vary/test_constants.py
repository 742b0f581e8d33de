"""Constants at the reference positions are those of MuJoCo's mj_setConst.

Law: formulas from Jacobians, M = Σ m Jᵀ J + Rᵀ I R + armature, and its dense inverse; MuJoCo's come from composite
inertias and a sparse factor. Tolerance: rounding times the condition of M, at most 1e3: 1e-12 of the largest value.
Derivatives by complex steps: against differences of MuJoCo's own.
"""

import numpy as np
import pytest
from helpers.mechanisms import MECHANISMS
from helpers.parametric import PARAMETRIC, direction_of, richardson, with_field

import saltus
from saltus.model.vary.constants import reference_constants
from saltus.model.vary.stack import Stack

ROUNDING = 1e-12
WRAPPED = """
<mujoco><worldbody><site name="s0" pos="0 0 1"/>
  <geom name="w" type="sphere" size="0.1" pos="0.05 0 0.7" contype="0" conaffinity="0"/>
  <body pos="0 0 0.5"><joint name="j" axis="0 1 0"/><joint name="k" type="slide"/>
    <geom size="0.05 0.1" type="capsule" contype="0" conaffinity="0"/><site name="s1" pos="0.1 0.02 -0.1"/></body>
</worldbody>
<tendon><spatial name="t" limited="true" range="0 0.2"><site site="s0"/><geom geom="w"/><site site="s1"/></spatial>
</tendon></mujoco>"""
SOURCES = {**MECHANISMS, "parametric": PARAMETRIC, "wrapped": WRAPPED} | {
    name: name for name in ("humanoid", "arm", "sit_to_stand", "chain", "free_body")
}


@pytest.mark.parametrize("name", SOURCES)
def test_they_are_those_of_mujoco(name):
    m = saltus.load(SOURCES[name]).mj_model
    if not m.nv:
        pytest.skip("nothing moves")
    for field, value in reference_constants(m).items():
        wanted = getattr(m, field)
        scale = max(1.0, np.max(np.abs(wanted), initial=0.0))
        np.testing.assert_allclose(value, wanted, rtol=0, atol=ROUNDING * scale, err_msg=field)


@pytest.mark.parametrize(
    "field", ["body_mass", "body_inertia", "body_pos", "body_quat", "body_ipos", "body_iquat", "jnt_pos", "jnt_axis"]
    + ["dof_armature", "site_pos", "actuator_gear", "actuator_armature", "eq_data"],
)  # fmt: skip
def test_their_derivatives_are_those_of_mujocos(field):
    """Truncation of the extrapolated differences at h = 2e-3, below 1e-9 of the largest entry."""
    model = saltus.load(PARAMETRIC)
    base, change = direction_of(model, field)
    step = 2.0**-200
    stepped = base + 1j * step * change
    if field.endswith(("quat", "axis")):
        stepped = stepped / np.sqrt((stepped * stepped).sum(axis=-1, keepdims=True))
    found = reference_constants(Stack(model.mj_model, {field: stepped[None]}))
    for name, value in found.items():
        wanted = richardson(
            lambda h, name=name: getattr(with_field(model, field, base + h * change), name).copy(), 2e-3
        )
        derivative = np.broadcast_to(np.imag(value) / step, (1, *wanted.shape))[0]
        if name == "actuator_acc0":  # of muscles alone
            wanted, derivative = wanted[2:4], derivative[2:4]
        scale = max(1e-3, np.max(np.abs(wanted), initial=0.0))
        np.testing.assert_allclose(derivative, wanted, rtol=0, atol=1e-8 * scale, err_msg=name)


def test_of_tendons_that_wrap_there_are_none_by_geometry():
    m = saltus.load(WRAPPED).mj_model
    moved = m.site_pos[None] + 1j * 2.0**-200
    found = reference_constants(Stack(m, {"site_pos": moved}))
    assert np.isnan(np.imag(found["tendon_invweight0"])).all() and np.isnan(np.imag(found["tendon_length0"])).all()
    other = m.geom_size[None] + 1j * 2.0**-200 * (np.arange(m.ngeom) == 1)[:, None]  # a geom beside the path
    assert not np.imag(reference_constants(Stack(m, {"geom_size": other}))["tendon_invweight0"]).any()
    assert np.isfinite(found["dof_invweight0"]).all()  # without inertia of the tendon
    heavier = reference_constants(Stack(m, {"body_mass": m.body_mass[None] + 1j * 2.0**-200}))
    assert np.isfinite(heavier["tendon_invweight0"]).all()
