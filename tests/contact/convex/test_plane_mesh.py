"""Contacts of planes with meshes: the lowest vertex, and corners of the face below it.

Law: MuJoCo 4.0's contacts, whose vertices and faces are the same, so that distances and positions agree to roundings of
positions, 1e-12 m. Meshes are turned by up to 0.1 rad from where a face lies on the plane: much farther, MuJoCo leaves
out some corners that are high above the lowest. Corners of a face of 16 that are as far apart to rounding may be
others.
"""

import mujoco
import numpy as np
import pytest
from helpers.colliding import GEOMS, REACH, Finder, model_of, mujocos

HEIGHTS = {"dice": 0.25, "ball": 0.35, "cloud": 0.39, "prism": 0.3}


def tilted(model, shape, n, seed=0):
    """Positions [n, nq] with the lowest vertex up to 3 cm above or below the plane, which is tilted itself."""
    rng, qpos = np.random.default_rng(seed), np.zeros((n, 7))
    d = mujoco.MjData(model.mj_model)
    mujoco.mj_kinematics(model.mj_model, d)
    plane = d.geom_xmat[0].reshape(3, 3)
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, plane.ravel())
    for k in range(n):
        turn = np.array([1.0, *rng.normal(size=3) * 0.03])
        mujoco.mju_mulQuat(qpos[k, 3:], quat, turn / np.linalg.norm(turn))
        qpos[k, :3] = plane @ [*rng.uniform(-0.5, 0.5, 2), HEIGHTS[shape] + rng.uniform(-0.03, 0.03)]
    return qpos


@pytest.mark.parametrize("reach", [0.0, REACH])
@pytest.mark.parametrize("kind", ["float64", "lane64"])
@pytest.mark.parametrize("shape", HEIGHTS)
def test_as_mujocos(shape, kind, reach):
    model = model_of(GEOMS["plane"], GEOMS[shape], reach=reach)
    qpos, touching = tilted(model, shape, 80), 0
    for q, ours in zip(qpos, Finder(model, kind)(qpos), strict=True):
        theirs = mujocos(model.mj_model, q)
        if shape != "prism":
            assert len(ours) == len(theirs)
        touching += bool(ours)
        if not ours:
            assert not theirs
            continue
        assert ours[0].dist == pytest.approx(theirs[0].dist, abs=1e-12)
        for contact in ours:
            assert contact.normal == pytest.approx(theirs[0].normal, abs=1e-12)
            if shape != "prism":
                nearest = min(theirs, key=lambda c: np.linalg.norm(c.pos - contact.pos))
                assert nearest.pos == pytest.approx(contact.pos, abs=1e-12)
                assert nearest.dist == pytest.approx(contact.dist, abs=1e-12)
    assert 20 < touching


def test_corners_that_span_a_large_area():
    """Of a face of 16 corners the lowest is there, and three that span with it nearly as much as a square."""
    model = model_of(GEOMS["plane"], GEOMS["prism"], reach=0.25)
    qpos = tilted(model, "prism", 40)
    for contacts in Finder(model)(qpos):
        if contacts[0].dist > 0.1:
            continue
        assert len(contacts) == 4 and contacts[0].dist == min(c.dist for c in contacts)
        a, b, c, d = (contact.pos for contact in contacts)
        area = 0.5 * np.linalg.norm(np.cross(c - a, d - b))
        # a square in the circle has 2 r²; one corner is another by 22.5 degrees at most
        assert 0.9 * 0.08 < area < 1.01 * 0.08
