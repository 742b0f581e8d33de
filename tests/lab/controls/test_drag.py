"""Bodies are dragged. Reference: the spring of MuJoCo's viewer; closed forms."""

import numpy as np
import pytest
from helpers.lab import FRAME, do, pendulum, run, seen, session_of

from saltus.lab.controls.drag import PULL, Drag, grabbed, spring

BALL = """
<mujoco><option timestep="{h}" gravity="0 0 0"/><statistic extent="{extent}"/>
  <worldbody><body><freejoint/><geom size=".1" mass="{mass}" contype="0" conaffinity="0"/></body></worldbody>
</mujoco>"""


@pytest.mark.parametrize(
    ("mass", "h", "extent", "stiffness"),
    [
        (2.0, 0.002, 1.0, 2.0 * PULL / 1.0),
        (2.0, 0.002, 0.1, 2.0 * PULL / 0.1),
        (2.0, 0.002, 20.0, 2.0 * PULL / 1.0),
        (0.5, 0.2, 1.0, 0.5 / (2 * 0.2) ** 2),
    ],
)
def test_a_dragged_body_accelerates_as_the_formula_says(mass, h, extent, stiffness):
    """Semi-implicit Euler: v1 = h k d / m, then v2 = v1 + h (k (d - h v1) - c v1) / m, with c = 2 sqrt(k m)."""
    session = session_of(BALL.format(mass=mass, h=h, extent=extent), integrator="euler", playing=False)
    do(session, "drag", body=1, point=(0.0, 0.0, 0.0), target=(0.3, -0.2, 0.1))
    d, v = np.array([0.3, -0.2, 0.1]), np.zeros(3)
    damping = 2 * np.sqrt(stiffness * mass)
    for k in range(1, 4):
        do(session, "step", n=1)
        run(session, FRAME)
        v = v + h * (stiffness * d - damping * v) / mass
        d = d - h * v
        np.testing.assert_allclose(session.sim.qvel, [*v, 0, 0, 0], rtol=1e-12, atol=1e-12, err_msg=str(k))
    do(session, "release")
    assert not session.sim.xfrc_applied.any()
    before = session.sim.qvel.copy()
    do(session, "step", n=1)
    run(session, FRAME)
    np.testing.assert_allclose(session.sim.qvel, before, rtol=1e-12, atol=1e-14)


def test_a_pull_at_a_point_turns_the_body():
    """F at a point off the centre of mass: v' = F/m, ω' = r x F / I, with I = 2/5 m r² of a ball."""
    session = session_of(BALL.format(mass=2.0, h=0.002, extent=1.0), integrator="euler", playing=False)
    do(session, "drag", body=1, point=(0.05, 0.0, 0.0), target=(0.05, 0.0, 0.4))
    do(session, "step", n=1)
    run(session, FRAME)
    inertia = 0.4 * 2.0 * 0.1**2
    lightest = 1.0 / (1.0 / 2.0 + 0.05**2 / inertia)  # of the point, across the arm
    assert spring_of(session, (0.05, 0.0, 0.0)) == pytest.approx((200.0, 2 * np.sqrt(200.0 * lightest)))
    force = 200.0 * 0.4
    np.testing.assert_allclose(session.sim.qvel[:3], [0, 0, 0.002 * force / 2.0], rtol=1e-12)
    np.testing.assert_allclose(session.sim.qvel[3:], [0, -0.002 * 0.05 * force / inertia, 0], rtol=1e-12, atol=1e-15)


def spring_of(session, point):
    sim = session.sim
    return spring(sim, 1, grabbed(sim, 1, point)[1], 0.002)


def test_a_pendulum_is_pulled_to_where_the_mouse_is():
    """It comes to rest where the spring and the weight balance, and stays there without a motor."""
    session = pendulum(integrator="rk4", timestep=0.01)
    target = (2 * np.sin(1.0), 0.0, -2 * np.cos(1.0))
    do(session, "drag", body=1, point=(0.0, 0.0, -2.0), target=target)
    run(session, 20.0)
    angle = float(session.sim.qpos[0])
    stiffness = 2.0 * PULL / min(float(session.sim.model.stat.extent), 1.0)
    # k |target| 2 sin(1 - θ) = m g sin θ per unit of length
    assert abs(session.sim.qvel[0]) < 1e-6
    assert stiffness * 2.0 * np.sin(1.0 - angle) == pytest.approx(2.0 * 9.81 * np.sin(angle), rel=1e-6)
    do(session, "blur")
    assert session.motion.drag is not None  # the mouse is not the keyboard
    do(session, "release")
    run(session, 1.0)
    assert abs(session.sim.qvel[0]) > 0.5


def test_the_held_force_is_stable_at_any_step():
    """sqrt(k / m_p) τ ≤ 1/2, and critically damped: from rest the distance shrinks step by step, without overshoot."""
    for h in (0.001, 0.01, 0.1, 0.5):
        session = session_of(BALL.format(mass=1.0, h=h, extent=1e-3), integrator="euler", playing=False)
        do(session, "drag", body=1, point=(0.0, 0.0, 0.0), target=(1.0, 0.0, 0.0))
        distances = []
        for _ in range(60):
            do(session, "step", n=session.motion.drag.steps(h))
            run(session, FRAME)
            distances.append(1.0 - session.sim.qpos[0])
        assert np.all(np.diff(distances) <= 1e-12) and 0 <= distances[-1] < 1e-3


@pytest.mark.slow
def test_a_body_that_is_moved_from_outside_goes_where_it_is_pulled():
    text = """<mujoco><worldbody><body name="hand" mocap="true" pos="1 0 0"><geom size=".1"/></body>
      <body><joint type="slide"/><geom size=".1" mass="1"/></body></worldbody></mujoco>"""
    session = session_of(text, playing=False, integrator="euler")
    do(session, "drag", body=1, point=(0.1, 0.0, 0.0), target=(0.5, 2.0, 0.0))
    np.testing.assert_allclose(session.sim.mocap_pos[0], [0.4, 2.0, 0.0])
    session.tick(FRAME)
    np.testing.assert_allclose(seen(session)["bodies"][0, 1, :3], [0.4, 2.0, 0.0], atol=1e-6)


def test_a_drag_holds_its_force_for_two_milliseconds_or_a_step():
    drag = Drag(1, (0, 0, 0), (0, 0, 0))
    assert [drag.steps(h) for h in (0.0001, 0.0005, 0.002, 0.05)] == [20, 4, 1, 1]
