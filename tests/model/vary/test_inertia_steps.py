"""Complex steps in mass distributions.

References: kernels' Models of changed models, whose constants are MuJoCo's, in differences extrapolated twice
(Richardson) to below 1e-8; the inertia of a sphere, whose principal axes are not determined, and the parallel axes'
theorem for one whose centre moves.
"""

import numpy as np
import pytest
from helpers.parametric import PARAMETRIC, richardson

import saltus
from saltus.errors import OptionError
from saltus.model.layout import VARIED
from saltus.model.tree.body_inertia import STORED_IN, distribution
from saltus.model.vary.columns import columns
from saltus.model.vary.tangents import model_tangents

BALL = """<mujoco><worldbody><body name="ball"><freejoint/><geom size=".5" mass="3"/></body></worldbody></mujoco>"""


def tangents(model, name):
    found = columns(model, [name])
    stored = frozenset(x for column in found for x in column.stored_in)
    return found, stored, model_tangents(model, found, 0.004, model.struct(timestep=0.004, vary=stored))


@pytest.mark.parametrize("field", STORED_IN)
def test_every_number_of_a_body(field):
    model = saltus.load(PARAMETRIC)
    body = next(b for b in range(1, model.nbody) if model.body_mass[b] > 0 and model.body_ipos[b].any())
    found, stored, tangent = tangents(model, f"{field}[#{body}]")
    own = np.atleast_1d(distribution(model.mj_model, body, field, ""))
    change = np.random.default_rng(0).normal(size=len(found)) * 0.03 * max(1e-2, np.abs(own).max())
    names = [
        n for n in sorted(VARIED) if n in model.struct(vary=stored).views and n not in ("opt_scale", "actuator_acc0")
    ]

    def kernel_fields(h):
        values = dict(zip((column.name for column in found), own + h * change, strict=True))
        other = model.changed(values) if h else model
        views = other.struct(timestep=0.004, vary=stored).views
        return np.concatenate([views[name][..., 0].reshape(-1) for name in names])

    wanted = richardson(kernel_fields, 2e-3)
    views = model.struct(vary=stored).views
    shapes = {name: views[name][..., 0].shape for name in names}
    parts = dict(
        zip(names, np.split(wanted, np.cumsum([np.prod(s, dtype=int) for s in shapes.values()])[:-1]), strict=True)
    )
    felt = 0
    for name, shape in shapes.items():
        slope = np.tensordot(change, tangent[name], 1) if name in tangent else np.zeros(shape)
        largest = np.max(np.abs(views[name]), initial=1.0)
        scale = max(1e-3 * largest, np.max(np.abs(parts[name]), initial=0.0))
        np.testing.assert_allclose(slope, parts[name].reshape(shape), rtol=0, atol=2e-8 * scale, err_msg=name)
        felt += bool(np.any(slope))
    assert felt >= 3


def test_a_sphere_has_products_of_inertia_in_any_axes():
    """By Ixy, about a centre at the origin, the product of inertia grows by one, and nothing else."""
    model = saltus.load(BALL)
    _, _, found = tangents(model, "body_inertial[ball]")
    np.testing.assert_allclose(found["body_inertia6"][5, 1], [0, 0, 0, 1, 0, 0], atol=1e-15)
    assert np.isnan(found["body_iquat"][5, 1]).any()  # the axes themselves have no derivative
    # a first moment m c moves the centre, by 1 / m; about the centre the inertia stays in first order
    np.testing.assert_allclose(found["body_ipos"][1, 1], [1 / 3, 0, 0], atol=1e-15)
    np.testing.assert_allclose(found["body_inertia6"][1, 1], 0, atol=1e-15)


def test_alpha_scales_mass_and_inertia():
    """d/dα exp(2 α) = 2 exp(2 α), as a change of density."""
    model = saltus.load(BALL)
    _, _, found = tangents(model, "body_pseudo_inertia[ball]")
    np.testing.assert_allclose(found["body_mass"][0, 1], 6, rtol=1e-14)
    np.testing.assert_allclose(found["body_inertia6"][0, 1, :3], 2 * 0.4 * 3 * 0.25, rtol=1e-14)


def test_names_that_mean_the_same_mass_are_refused():
    model = saltus.load(BALL)
    for name in ("body_mass[ball]", "body_inertial[ball][0]", "body_inertia[ball][2]"):
        found = columns(model, [name, "body_pseudo_inertia[ball][0]"])
        with pytest.raises(OptionError, match="numbers of one mass distribution; give one"):
            model.changed(dict(zip((column.name for column in found), (0.3, 0.0), strict=True)))
    with pytest.raises(OptionError, match=r"body_inertial\[world\]: the body has no mass"):
        columns(model, ["body_inertial[world]"])
