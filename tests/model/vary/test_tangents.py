"""Derivatives of the kernels' Model by numbers of MuJoCo's model.

Reference: differences of the kernels' Models of changed files, with the constants of MuJoCo's mj_setConst, extrapolated
(Richardson) to truncation and rounding below 1e-8 of the largest derivative. Closed forms to rounding.
"""

import numpy as np
import pytest
from helpers.parametric import PARAMETRIC, direction_of, richardson, with_field

import saltus
from saltus.model.actuator_enums import GAIN_MUSCLE
from saltus.model.layout import VARIED
from saltus.model.vary.columns import columns
from saltus.model.vary.fields import MAY_VARY
from saltus.model.vary.tangents import model_tangents

STEP = 0.004


@pytest.fixture(scope="module")
def model():
    return saltus.load(PARAMETRIC)


def tangents(model, names):
    found = columns(model, names)
    struct = model.struct(timestep=STEP, vary=frozenset(column.field for column in found))
    return model_tangents(model, found, STEP, struct)


@pytest.mark.parametrize("field", MAY_VARY)
def test_every_field(model, field):
    base, change = direction_of(model, field)
    found = {name: np.tensordot(change.reshape(-1), values, 1) for name, values in tangents(model, [field]).items()}
    vary, muscles = frozenset([field]), np.isin(model.actuator_gaintype, GAIN_MUSCLE)

    names = [name for name in sorted(VARIED) if name in model.struct(vary=vary).views and name != "opt_scale"]
    shapes = [model.struct(vary=vary).views[name][..., 0].shape for name in names]

    def kernel_fields(h):
        views = with_field(model, field, base + h * change).struct(timestep=STEP, vary=vary).views
        return np.concatenate([views[name][..., 0].reshape(-1) for name in names])

    wanted_of_all = np.split(richardson(kernel_fields, 2e-3), np.cumsum([np.prod(s, dtype=int) for s in shapes])[:-1])
    for name, shape, flat in zip(names, shapes, wanted_of_all, strict=True):
        wanted = flat.reshape(shape)
        if name == "actuator_acc0":  # which only muscles read
            wanted[~muscles] = 0.0
        largest = np.max(np.abs(model.struct(vary=vary).views[name]), initial=1.0)  # differences round by 1e-13 of it
        scale = max(1e-3 * largest, np.max(np.abs(wanted), initial=0.0))
        tangent = np.broadcast_to(found.get(name, 0.0), shape)
        kink = np.isnan(tangent)  # of geoms with equal friction
        assert field == "geom_friction" or not kink.any()
        wanted, tangent = np.where(kink, 0.0, wanted), np.where(kink, 0.0, tangent)
        np.testing.assert_allclose(tangent, wanted, rtol=0, atol=2e-8 * scale, err_msg=name)


def test_closed_forms(model):
    found = tangents(model, ["actuator_gear[damped][0]", "jnt_solref[hip][0]", "body_mass[bob]"])
    b1 = model.dof_names().index("b1")
    assert found["dof_damping"][0, b1] == pytest.approx(2 * 2.0 * 0.2, rel=1e-14)  # gear² times damping
    assert found["dof_armature"][0, b1] == pytest.approx(2 * 2.0 * 0.01, rel=1e-14)
    assert found["body_mass"][2, model.id("body", "bob")] == 1.0
    # K = 1/(w T z)², B = 2/(w T), with T = 0.02, z = 1, w = 0.95
    assert found["law_damping"][1].min() == pytest.approx(-2 / (0.95 * 0.02**2), rel=1e-13)
    assert found["law_stiffness"][1].min() == pytest.approx(-2 / (0.95**2 * 0.02**3), rel=1e-13)


def test_at_a_kink_there_is_none():
    """The larger friction counts; where both are equal its derivatives from the two sides differ."""
    xml = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/><body><freejoint/>
    <geom name="ball" size="0.1" friction="{} 0.005 0.0001"/></body></worldbody></mujoco>"""
    equal, above, below = (
        tangents(saltus.load(xml.format(mu)), ["geom_friction[ball][0]"])["law_friction"][0, 0, 0]
        for mu in (1.0, 1.5, 0.5)
    )
    assert np.isnan(equal) and above == 1.0 and below == 0.0
