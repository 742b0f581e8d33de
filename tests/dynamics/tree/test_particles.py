"""Particles beside the tree: a sheet whose vertices are bodies, and a body on three slides with armature.

References: MuJoCo's poses, inertia and bias; NumPy's solution of (M + h S) x = f - bias with MuJoCo's M and bias.
"""

import numpy as np
import pytest
from helpers import oracle
from helpers.interpreted import Mechanism
from helpers.states import dense

from saltus.dynamics.tree.articulated_body import articulated_factor, articulated_solve
from saltus.dynamics.tree.inertia import composite_inertia
from saltus.dynamics.tree.kinematics import kinematics
from saltus.dynamics.tree.rnea import bias, inverse
from saltus.number.kernels import interpret

XML = """<mujoco><option gravity="1 2 -9"/><worldbody>
<body pos="1 0 0"><joint axis="0 1 0"/><geom size=".1" pos="1 0 0"/></body>
<body pos="0 1 0" euler="40 0 20"><joint type="slide" axis="1 0 0" armature=".5"/><joint type="slide" axis="0 1 0"
armature=".3"/><joint type="slide" axis="0 0 1"/><geom size=".1" mass=".2"/></body>
<flexcomp name="sheet" type="grid" dim="2" count="3 3 1" spacing=".1 .1 .1" euler="20 30 40" mass="1" radius=".01">
<pin id="0 4"/><contact selfcollide="none" contype="0" conaffinity="0"/></flexcomp></worldbody></mujoco>"""


def test_particles_move_as_mujocos():
    case = Mechanism(0, XML)
    assert case.m.nparticle == 8
    interpret(kinematics)(case.m, case.d, 1)
    case.agree("xpos", "xmat", "xipos")
    case.take("cinert", "cdof")
    interpret(composite_inertia)(case.m, case.d)
    lower = np.tril(dense(case.model, case.d.M))
    expected = oracle.full_inertia(case.theirs, case.reference)
    np.testing.assert_allclose(lower + np.tril(lower, -1).T, expected, atol=1e-12)
    interpret(bias)(case.m, case.d)
    case.agree("qfrc_bias", tolerance=1e-12)


@pytest.mark.parametrize("h", [0.0, 0.3])
def test_forward_dynamics_is_numpys_solution(h):
    case = Mechanism(0, XML)
    case.take("cinert", "cdof")
    m, d, rng = case.m, case.d, np.random.default_rng(1)
    slope, force, x = rng.uniform(0.0, 2.0, m.nv), rng.normal(size=m.nv), np.zeros(m.nv)
    interpret(bias)(m, d)  # leaves the bodies' forces
    interpret(articulated_factor)(m, d, h, slope)
    A = oracle.full_inertia(case.theirs, case.reference) + h * np.diag(slope)
    for moving in (0, 1):
        interpret(articulated_solve)(m, d, d, force, moving, x)
        expected = np.linalg.solve(A, force - moving * case.reference.qfrc_bias)
        np.testing.assert_allclose(x, expected, rtol=0, atol=1e-14 * np.linalg.cond(A) * np.abs(expected).max())


def test_inverse_dynamics_is_mujocos():
    case = Mechanism(0, XML)
    case.take("cinert", "cdof")
    case.d.qacc[:] = np.random.default_rng(2).normal(size=case.m.nv)
    interpret(inverse)(case.m, case.d)
    expected = oracle.full_inertia(case.theirs, case.reference) @ case.d.qacc + case.reference.qfrc_bias
    np.testing.assert_allclose(case.d.qfrc_inverse, expected, atol=1e-12 * np.abs(expected).max())
