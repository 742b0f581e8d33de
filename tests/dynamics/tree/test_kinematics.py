"""Poses of bodies and of what is fixed to them. Reference: MuJoCo's at the same positions. Tolerance: rounding."""

import pytest
from helpers.interpreted import Mechanism

from saltus.dynamics.tree.kinematics import attached_frames, kinematics
from saltus.number.kernels import interpret


@pytest.mark.parametrize("seed", range(4))
def test_poses_are_mujocos(seed):
    case = Mechanism(seed)
    interpret(kinematics)(case.m, case.d, 1)
    case.agree("xpos", "xquat", "xmat", "xipos", "xanchor", "xaxis")
    interpret(attached_frames)(case.m, case.d)
    case.agree("ximat", "geom_xpos", "geom_xmat", "site_xpos", "site_xmat")
