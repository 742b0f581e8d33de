"""Places of named objects: the numbers found there are those that MuJoCo's named access gives.

Reference: MuJoCo's own views, of data whose numbers are all different.
"""

import mujoco
import numpy as np
from helpers.mechanisms import SEVERAL_TREES

from saltus.model.named_places import Places, part_of

KINDS = ("body", "joint", "geom", "site", "tendon", "actuator", "sensor")


def test_places_hold_what_named_access_gives():
    m = mujoco.MjModel.from_xml_string(SEVERAL_TREES)
    d = mujoco.MjData(m)
    for name in ("qpos", "qvel", "ctrl", "xpos", "xmat", "qfrc_applied", "xfrc_applied", "geom_xpos", "sensordata"):
        field = getattr(d, name)
        field[...] = np.arange(field.size).reshape(field.shape)
    places, count = Places(m, d), 0
    for kind in KINDS:
        for k in range(getattr(m, {"joint": "njnt"}.get(kind, f"n{kind}"))):
            for name in places.names(kind, k):
                place = places.of(kind, k, name)
                struct = m if place.of_model else d
                whole = getattr(struct, place.field)
                np.testing.assert_array_equal(part_of(whole, place), getattr(getattr(struct, kind)(k), name))
                many = np.stack([whole, whole])
                assert part_of(many, place).shape == (2, *place.shape)
                count += 1
    assert count > 100
    assert places.of("body", 0, "nothing") is None and places.of("body", 0, "_size") is None
