"""Frames that sensors read. Reference: MuJoCo's mj_objectVelocity and mj_objectAcceleration, and its matrices."""

import mujoco
import numpy as np
import pytest
from helpers.interpreted import Mechanism

from saltus.model.sensor_enums import BODY, INERTIA, SITE
from saltus.number.kernels import interpret
from saltus.sense import objects

KINDS = {"BODY": INERTIA, "XBODY": BODY, "SITE": SITE}


@pytest.mark.parametrize("name", KINDS)
def test_motion_is_mujocos(name):
    case, kind = Mechanism(1), KINDS[name]
    theirs, their, out = case.theirs, case.reference, np.zeros(6)
    mujoco.mj_rnePostConstraint(theirs, their)
    case.take("xpos", "xquat", "xmat", "xipos", "subtree_com", "cvel")
    for field in ("cacc", "ximat", "geom_xpos", "geom_xmat", "site_xpos", "site_xmat"):
        case.d.views[field] = getattr(their, field)
    count = theirs.nsite if name == "SITE" else theirs.nbody
    assert count
    for i in range(count):
        for found, function in (
            (objects.object_velocity, mujoco.mj_objectVelocity),
            (objects.object_acceleration, mujoco.mj_objectAcceleration),
        ):
            function(theirs, their, kind, i, out, 0)
            np.testing.assert_allclose(np.concatenate(interpret(found)(case.m, case.d, kind, i)), out, atol=1e-11)
        mat = np.zeros(9)
        mujoco.mju_quat2Mat(mat, np.array(interpret(objects.object_quaternion)(case.m, case.d, kind, i)))
        np.testing.assert_allclose(interpret(objects.object_axes)(case.m, case.d, kind, i), mat, atol=1e-13)
