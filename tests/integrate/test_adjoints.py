"""The way back over the update of a step, q' = q ⊕ h v' and v' = v + h a.

Reference: MuJoCo's mj_integratePos and mj_differentiatePos in central differences with steps of 1e-6, whose
rounding leaves 1e-9; 1e-8 holds with room.
"""

from types import SimpleNamespace

import mujoco
import numpy as np

from saltus.integrate.adjoints import position_adjoint, velocity_adjoint

BALL = """<mujoco><worldbody><body><joint type="slide" axis="1 0 0"/><joint type="ball"/><geom size=".1"/></body>
  </worldbody></mujoco>"""
H = 0.3


def matrices(turn):
    """The rotation matrix of a rotation vector and the right Jacobian of the exponential, transposed (Rodrigues)."""
    angle, (x, y, z) = np.linalg.norm(turn), turn
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    first = (1 - np.cos(angle)) / angle**2
    R = np.eye(3) + np.sin(angle) / angle * cross + first * cross @ cross
    return np.eye(3) + first * cross + (angle - np.sin(angle)) / angle**3 * cross @ cross, R


def test_a_slide_and_a_ball():
    m, rng = mujoco.MjModel.from_xml_string(BALL), np.random.default_rng(0)
    start, v, gradient = m.qpos0.copy(), 4.0 * rng.normal(size=4), rng.normal(size=8)
    mujoco.mj_integratePos(m, start, rng.normal(size=4), 1.0)

    def end(dq, dv):
        """Positions and velocities after a step without acceleration."""
        q = start.copy()
        mujoco.mj_integratePos(m, q, dq, 1.0)
        mujoco.mj_integratePos(m, q, v + dv, H)
        return q, v + dv

    def change(direction, x):
        (q, u), found = end(x * direction[:4], x * direction[4:]), np.zeros(4)
        mujoco.mj_differentiatePos(m, found, 1.0, end(np.zeros(4), np.zeros(4))[0], q)
        return gradient @ [*found, *u]

    wanted = [(change(e, 1e-6) - change(e, -1e-6)) / 2e-6 for e in np.eye(8)]
    jacobian, R = matrices(H * v[1:])
    turns = jacobian[None, None], R[None, None], np.array([[1, 2, 3]])
    size, by_end, state = SimpleNamespace(nv=4), np.zeros(4), gradient.copy()
    velocity_adjoint.py_func(size, H, state, turns, 0, by_end)
    position_adjoint.py_func(size, state, turns, 0, by_end, np.zeros((2, 4)), np.zeros((1, 8)))
    np.testing.assert_allclose(state, wanted, atol=1e-8)
