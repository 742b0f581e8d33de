"""What `saltus check` says of inertia that differs from MuJoCo's, or is singular.

Reference: Lagrange's equations by hand. Two slides with masses m₁, m₂ and a fixed tendon L = c₁ x₁ + c₂ x₂ of armature
a have the kinetic energy ½ m₁ v₁² + ½ m₂ v₂² + ½ a (c₁ v₁ + c₂ v₂)², so that M = diag(m) + a c cᵀ.
"""

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus
from saltus.cli.check.differences import warnings

TIED = """<mujoco><option gravity="0 0 0"/><worldbody>
  <body><joint name="x1" type="slide"/><geom size="0.1" mass="2"/>{nested}</body>{beside}</worldbody>
  <tendon><fixed name="tie" armature="3"><joint joint="x1" coef="1"/><joint joint="x2" coef="-2"/></fixed></tendon>
</mujoco>"""
OTHER = '<body pos="1 0 0"><joint name="x2" type="slide" axis="0 1 0"/><geom size="0.1" mass="1"/></body>'
ACROSS, ALONG = TIED.format(nested="", beside=OTHER), TIED.format(nested=OTHER, beside="")


def test_armature_across_branches_is_named_and_right():
    model = saltus.load(ACROSS)
    (said,) = warnings(model)
    assert said.startswith("armature of tie: couples joints of several branches")
    c, force = np.array([1.0, -2.0]), np.array([1.0, 5.0])
    wanted = np.linalg.solve(np.diag([2.0, 1.0]) + 3.0 * np.outer(c, c), force)
    sim = saltus.Simulation(model)
    sim.qfrc_applied[:] = force
    assert_allclose(sim.data.qacc, wanted, rtol=1e-13)
    # MuJoCo has the diagonal alone
    data = mujoco.MjData(model.mujoco)
    data.qfrc_applied[:] = force
    mujoco.mj_forward(model.mujoco, data)
    assert_allclose(data.qacc, force / (np.array([2.0, 1.0]) + 3.0 * c * c), rtol=1e-13)


def test_armature_along_a_branch_is_as_in_mujoco():
    model = saltus.load(ALONG)
    assert warnings(model) == []
    data = mujoco.MjData(model.mujoco)
    data.qfrc_applied[:] = 1.0, 5.0
    mujoco.mj_forward(model.mujoco, data)
    sim = saltus.Simulation(model)
    sim.qfrc_applied[:] = 1.0, 5.0
    assert_allclose(sim.data.qacc, data.qacc, rtol=1e-11)


def test_a_tendon_that_is_left_out_is_not_named():
    assert warnings(saltus.load(ACROSS, ignore=["tendon"])) == []


@pytest.mark.filterwarnings("ignore:Inertia matrix:UserWarning")
def test_a_singular_reference_position_is_named():
    axes = {"a": "1 0 0", "b": "0 1 0", "c": "1 0 0"}
    joints = "".join(f'<joint name="{name}" axis="{axis}"/>' for name, axis in axes.items())
    with pytest.warns(saltus.SaltusWarning):
        model = saltus.load(
            f'<mujoco><worldbody><body>{joints}<geom size=".1" pos="0 0 1"/></body></worldbody></mujoco>'
        )
    (said,) = warnings(model)
    assert "singular at the reference position: joints 'a', 'c' together" in said
