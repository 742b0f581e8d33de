"""Contacts of height fields with round shapes: one for each prism under a triangle that is met.

Law: MuJoCo 4.0's contacts, whose prisms and order are the same. Distances and normals are those of convex bodies (see
`test_convex_pair`): with spheres and capsules to 1e-8 m, where MuJoCo ends at 1e-10 m; with curved shapes MuJoCo's end
may fall short of the largest separation by a millimetre.
"""

import numpy as np
import pytest
from helpers.colliding import (
    FIND,
    GEOMS,
    HILLS,
    REACH,
    Finder,
    assert_neighbours_do_not_matter,
    model_of,
    mujocos,
    states,
)

EXACT = '<option ccd_tolerance="1e-10" ccd_iterations="200"/>'
SHAPES = ("sphere", "capsule", "ellipsoid", "cylinder")
STEP = 1e-5


@pytest.mark.parametrize("reach", [0.0, REACH])
@pytest.mark.parametrize("shape", SHAPES)
def test_contacts_are_mujocos(shape, reach):
    model = model_of(HILLS, GEOMS[shape], reach=reach, extra=EXACT)
    qpos, numbers = states(model, 60, seed=1, apart=0.8), set()
    for q, ours in zip(qpos, Finder(model)(qpos), strict=True):
        theirs = mujocos(model.mj_model, q)
        numbers.add(len(ours))
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            # MuJoCo's end may fall short of the largest separation of a curved body
            assert a.dist >= b.dist - (1e-6 if shape in ("cylinder", "ellipsoid") else 1e-8)
            assert a.dist <= b.dist + (2e-3 if shape in ("cylinder", "ellipsoid") else 1e-8)
            if shape not in ("cylinder", "ellipsoid"):
                # where two faces are as near, either is right
                assert a.normal == pytest.approx(b.normal, abs=1e-3) or abs(a.dist - b.dist) < 1e-8
    assert 0 in numbers and len(numbers) > 4


def test_boxes_are_mujocos():
    """They lie still by what MuJoCo's functions find."""
    assert model_of(HILLS, GEOMS["box"]).struct().collision_foreign.all()
    assert not model_of(HILLS, GEOMS["sphere"]).struct().collision_foreign.any()


@pytest.mark.parametrize("kind", ["lane64", "lane32"])
@pytest.mark.parametrize("shape", ["sphere", "cylinder"])
def test_neighbours_do_not_matter(shape, kind):
    assert_neighbours_do_not_matter(model_of(HILLS, GEOMS[shape]), kind, 30)


def test_tangents():
    """d(dist)/dq of nearest points, against central differences of our own distances.

    With steps of 1e-5 and distances found to 1e-12 m those are good to some 1e-7.
    """
    model = model_of(HILLS, GEOMS["sphere"])
    find, single = Finder(model, "dual"), Finder(model)
    d, nq, compared = find.data, model.nq, 0
    for q in states(model, 16, seed=3, apart=0.7):
        d.qpos[:, 0, 0], d.qpos[:, 1, :] = q, np.eye(8)[:nq]
        FIND(find.m, d)
        at = single(q[None])[0]
        sides = [[single((q + s * STEP * e)[None])[0] for s in (-1, 1)] for e in np.eye(nq)]
        if any(len(side) != len(at) for both in sides for side in both):
            continue  # some contact begins or ends here
        for k in range(len(at)):
            slope = np.array([b[k].dist - a[k].dist for a, b in sides]) / (2 * STEP)
            assert d.contact_dist[k, 1, :nq] == pytest.approx(slope, abs=1e-6)
            compared += 1
    assert compared >= 5
