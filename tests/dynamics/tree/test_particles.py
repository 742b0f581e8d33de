"""Particles beside the tree. Reference: MuJoCo's poses, inertia and bias of a sheet whose vertices are bodies."""

import numpy as np
from helpers import oracle
from helpers.interpreted import Mechanism
from helpers.states import dense

from saltus.dynamics.tree.inertia import composite_inertia
from saltus.dynamics.tree.kinematics import kinematics
from saltus.dynamics.tree.rnea import bias
from saltus.number.kernels import interpret

XML = """<mujoco><option gravity="1 2 -9"/><worldbody>
<body pos="1 0 0"><joint axis="0 1 0"/><geom size=".1" pos="1 0 0"/></body>
<flexcomp name="sheet" type="grid" dim="2" count="3 3 1" spacing=".1 .1 .1" euler="20 30 40" mass="1" radius=".01">
<pin id="0 4"/><contact selfcollide="none" contype="0" conaffinity="0"/></flexcomp></worldbody></mujoco>"""


def test_particles_move_as_mujocos():
    case = Mechanism(0, XML)
    assert case.m.nparticle == 7
    interpret(kinematics)(case.m, case.d, 1)
    case.agree("xpos", "xmat", "xipos")
    case.take("cinert", "cdof")
    interpret(composite_inertia)(case.m, case.d)
    lower = np.tril(dense(case.model, case.d.M))
    expected = oracle.full_inertia(case.theirs, case.reference)
    np.testing.assert_allclose(lower + np.tril(lower, -1).T, expected, atol=1e-12)
    interpret(bias)(case.m, case.d)
    case.agree("qfrc_bias", tolerance=1e-12)
