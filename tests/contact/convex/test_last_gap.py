"""What is remembered of gaps between convex shapes.

Law: a gap that is kept is never wider than the distance, which MuJoCo's mj_geomDistance tells to 1e-6 m or better; and
contacts are the same to the bit whatever was looked at before, however the shapes have moved and changed since.
"""

import mujoco
import numpy as np
import pytest
from helpers.colliding import GEOMS, REACH, Finder, model_of, states

PAIRS = [("dice", "cloud"), ("cylinder", "box"), ("capsule", "dice"), ("sphere", "prism")]


def pair_model(pair):
    return model_of(GEOMS[pair[0]], GEOMS[pair[1]])


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_a_gap_is_no_wider_than_the_distance(pair):
    model = pair_model(pair)
    d, kept = mujoco.MjData(model.mj_model), 0
    for q in states(model, 60, seed=7, apart=1.0):
        find = Finder(model)
        contacts = find(q[None])[0]
        gap = float(find.data.last_gap[0])
        d.qpos[:] = q
        mujoco.mj_kinematics(model.mj_model, d)
        distance = mujoco.mj_geomDistance(model.mj_model, d, 0, 1, 10.0, None)
        assert gap <= max(distance, 0.0) + 1e-6
        assert not (contacts and gap > 0.0)
        kept += gap > REACH
    assert kept >= 5


@pytest.mark.parametrize("kind", ["float64", "lane64", "lane32"])
@pytest.mark.parametrize("pair", [*PAIRS[:2], ("plane", "prism")], ids="-".join)
def test_jumps_do_not_matter(pair, kind):
    """From states far apart, steps of all sizes, to and from contact."""
    model = pair_model(pair)
    used, rng = Finder(model, kind), np.random.default_rng(8)
    far, near = states(model, 64, seed=9, apart=1.5), states(model, 64, seed=10, apart=0.6)
    touching = 0
    for scale in (1e-4, 1e-2, 0.3, 1.0):
        share = scale * rng.uniform(size=(64, 1))
        for qpos in (far, (1.0 - share) * far + share * near):
            qpos[:, -4:] /= np.linalg.norm(qpos[:, -4:], axis=1)[:, None]
            found, alone = used(qpos), Finder(model, kind)(qpos)
            assert [[c.bits() for c in one] for one in found] == [[c.bits() for c in one] for one in alone]
            touching += sum(map(bool, found))
    assert touching > 10


@pytest.mark.parametrize("kind", ["float64", "lane32"])
def test_shapes_that_grow(kind):
    """A can that was smaller when it was last looked at is found as if it had always been that large."""
    model = pair_model(("cylinder", "box"))
    qpos, touching = states(model, 30, seed=11, apart=0.5), 0
    for q in qpos:
        used = Finder(model, kind)
        size = used.m.views["geom_size"]
        whole = size.copy()
        size[0] *= 0.01
        try:
            used(q[None])
        finally:
            size[:] = whole
        contacts = [c.bits() for c in used(q[None])[0]]
        assert contacts == [c.bits() for c in Finder(model, kind)(q[None])[0]]
        touching += bool(contacts)
    assert touching > 10
