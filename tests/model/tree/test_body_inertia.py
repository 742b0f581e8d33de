"""Mass distributions of bodies by ten numbers.

References: closed forms of a cuboid; MuJoCo's compiler, which takes a mass, a centre and a full inertia and finds the
principal axes; the moments of clouds of point masses, whose pseudo-inertia is Σ m (x, 1) (x, 1)ᵀ by definition.
"""

import mujoco
import numpy as np
import pytest

import saltus
from saltus.errors import OptionError
from saltus.model.tree.body_inertia import (
    from_pseudo_inertia,
    inertial,
    matrix_of,
    principal_axes,
    pseudo_inertia,
    set_inertial,
)

BOX = """<mujoco><worldbody><body name="box"><freejoint/><geom type="box" size=".1 .2 .3" pos=".4 0 0" mass="2"/></body>
<body name="ring"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia=".5 .5 1"/></body></worldbody></mujoco>"""


def cloud(rng):
    """Inertial parameters of ten random point masses, and the pseudo-inertia by its definition."""
    mass, x = rng.uniform(0.1, 1.0, 10), rng.normal(size=(10, 3))
    moments = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(mass, x, strict=True))
    homogeneous = np.column_stack([x, np.ones(10)])
    values = [mass.sum(), *(mass @ x), *moments[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]]
    return np.array(values), (homogeneous.T * mass) @ homogeneous


def test_a_cuboid():
    m = saltus.load(BOX).mujoco
    a, b, c = 0.2, 0.4, 0.6  # m, edges
    own = 2 / 12 * np.array([b * b + c * c, a * a + c * c, a * a + b * b]) + 2 * 0.4**2 * np.array([0, 1, 1])
    np.testing.assert_allclose(inertial(m, 1), [2, 0.8, 0, 0, own[0], 0, own[1], 0, 0, own[2]], atol=1e-15)


def test_coordinates_are_those_of_the_pseudo_inertia():
    """U is upper triangular and U Uᵀ the sum over the points."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        values, J = cloud(rng)
        theta = pseudo_inertia(values, "")
        alpha, d1, d2, d3, s12, s23, s13, *t = theta
        U = np.eye(4)
        U[:3, :3] = [[np.exp(d1), s12, s13], [0, np.exp(d2), s23], [0, 0, np.exp(d3)]]
        U[:3, 3] = t
        np.testing.assert_allclose(np.exp(2 * alpha) * U @ U.T, J, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(from_pseudo_inertia(theta), values, rtol=1e-12, atol=1e-12)


def test_set_as_mujocos_compiler_does():
    rng = np.random.default_rng(1)
    m = saltus.load(BOX).mujoco
    for _ in range(5):
        values, _ = cloud(rng)
        set_inertial(m, 1, values, "")
        np.testing.assert_allclose(inertial(m, 1), values, rtol=1e-12, atol=1e-12)
        mass, centre = values[0], values[1:4] / values[0]
        full = matrix_of(values[4:]) - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
        numbers = " ".join(map(repr, full[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]].tolist()))
        place = " ".join(map(repr, centre.tolist()))
        peer = mujoco.MjModel.from_xml_string(
            f'<mujoco><worldbody><body><freejoint/><inertial pos="{place}" mass="{float(mass)!r}" '
            f'fullinertia="{numbers}"/></body></worldbody></mujoco>'
        )
        np.testing.assert_allclose(np.sort(m.body_inertia[1]), np.sort(peer.body_inertia[1]), rtol=1e-9)
        np.testing.assert_allclose(m.body_ipos[1], peer.body_ipos[1], rtol=1e-12)
        axes = [principal_axes(one, 1)[:, np.argsort(one.body_inertia[1])] for one in (m, peer)]  # up to their signs
        np.testing.assert_allclose(np.abs(np.sum(axes[0] * axes[1], axis=0)), 1, atol=1e-9)


def test_all_coordinates_are_physical():
    """Principal inertias obey A + B > C, which is what makes them those of a body."""
    rng = np.random.default_rng(2)
    m = saltus.load(BOX).mujoco
    for theta in rng.normal(size=(50, 10)):
        set_inertial(m, 1, from_pseudo_inertia(theta), "")
        a = np.sort(m.body_inertia[1])
        assert m.body_mass[1] > 0 and a[0] > 0 and a[0] + a[1] > a[2]


def test_what_is_no_body_is_refused():
    m = saltus.load(BOX).mujoco
    values = inertial(m, 1)
    with pytest.raises(OptionError, match="k: the mass of a body must be positive, got -1 kg"):
        set_inertial(m, 1, np.array([-1.0, *values[1:]]), "k")
    with pytest.raises(OptionError, match=r"k: no rigid body has principal inertias"):
        set_inertial(m, 1, np.array([*values[:4], 9.0, *values[5:]]), "k")
    with pytest.raises(OptionError, match=r"k: the body has no extent in some direction"):
        pseudo_inertia(inertial(m, 2), "k")
