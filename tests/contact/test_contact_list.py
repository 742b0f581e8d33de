"""Frames of contacts are right-handed and orthonormal; a wanted tangent is kept as far as the normal lets it."""

import numpy as np

from saltus.contact.contact_list import first_tangent, unit_or_x
from saltus.number.kernels import interpret


def test_tangents_are_across_the_normal():
    rng = np.random.default_rng(0)
    normals = [*np.eye(3), *-np.eye(3), *(n / np.linalg.norm(n) for n in rng.normal(size=(50, 3)))]
    for n in normals:
        for wanted in (np.zeros(3), rng.normal(size=3), n + 1e-9 * rng.normal(size=3)):
            t = np.array(interpret(first_tangent)(tuple(n), tuple(wanted)))
            assert abs(t @ n) < 1e-15 and abs(t @ t - 1.0) < 1e-15
        wanted = rng.normal(size=3)
        wanted /= np.linalg.norm(wanted)  # shorter ones, below 0.5, are no wish
        side = wanted - (wanted @ n) * n
        t = interpret(first_tangent)(tuple(n), tuple(wanted))
        np.testing.assert_allclose(t, side / np.linalg.norm(side), atol=1e-14)


def test_a_unit_vector_or_x():
    assert interpret(unit_or_x)((0.0, 0.0, 0.0)) == (1.0, 0.0, 0.0)
    np.testing.assert_allclose(interpret(unit_or_x)((0.0, -3e-9, 4e-9)), (0.0, -0.6, 0.8), rtol=1e-15)
