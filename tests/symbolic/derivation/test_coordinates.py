"""Relative, absolute and maximal coordinates describe the same motion: states, torques, dampers and limits are mapped.

Trajectories of DOP853 at a relative tolerance of 1e-12 must agree to what that leaves: the error of a step times the
growth of errors over the run, which is below 1e3 for these.
"""

import numpy as np
import pytest
import sympy
from helpers.derived import SPATIAL, random_state

import saltus
from saltus.symbolic import Force, derive

ORIENTATIONS = ("relative", "absolute", "maximal")
RTOL = 1e-12
AGREE = 1e3 * RTOL

HINGES = """<mujoco><worldbody><body name="a"><joint name="a" axis="0 0 1" damping="0.1"/>
<inertial pos="0.2 0 0" mass="1" diaginertia="0.02 0.03 0.04"/><body name="b" pos="0.4 0 0">
<joint name="b" axis="0 1 0" stiffness="2" springref="0.3" armature="0.05"/>
<inertial pos="0.1 0 0.2" mass="0.5" diaginertia="0.01 0.01 0.02"/><body name="c" pos="0.1 0 0.3">
<joint name="c" axis="0 1 0" damping="0.02"/><inertial pos="0 0 0.2" mass="0.5" diaginertia="0.01 0.01 0.005"/>
</body></body></body></worldbody><actuator><motor name="drive" joint="c"/></actuator></mujoco>"""


def wave(amplitude, frequency):
    return lambda t: amplitude * np.sin(frequency * t)


RUNS = {
    "double_pendulum": ([1.5, -1.5], [0.0, 0.5], {"tau1": wave(5, 3), "tau2": wave(-8, 7)}),
    "arm": ([1.0, -1.5], [1.0, 0.0], {"tau1": wave(2, 5), "tau2": 0.5}),
    "cart_pole": ([0.1, 0.5], [0.3, -0.2], {"F": wave(3, 6)}),
    HINGES: ([0.2, 0.4, -0.8], [1.0, -0.5, 0.7], {"tau": wave(0.5, 9)}),
}


@pytest.mark.slow
@pytest.mark.parametrize("model", RUNS, ids=lambda m: "hinges" if m is HINGES else m)
def test_the_same_trajectory_in_all_coordinates(model):
    qpos, qvel, inputs = RUNS[model]
    runs = []
    for orientation in ORIENTATIONS:
        e = derive(model, orientation)
        _, q, v = e.solve(0.6, *e.from_joint(qpos, qvel), inputs=inputs, sample=0.2, rtol=RTOL, atol=1e-14)
        runs.append(np.array([np.concatenate(e.to_joint(*state)) for state in zip(q, v, strict=True)]))
    relative, absolute, maximal = runs
    size = np.abs(relative).max()
    assert np.abs(relative[-1] - relative[0]).max() > 0.1
    assert np.abs(absolute - relative).max() < AGREE * size
    # quaternions know a hinge's angle up to whole turns
    turned = (maximal - relative + np.pi) % (2 * np.pi) - np.pi
    assert np.abs(turned).max() < AGREE * size


def test_the_same_trajectory_as_the_engines():
    """RK4 at 0.1 ms, whose own error is below 1e-11 here."""
    e = derive("double_pendulum", "absolute")
    _, q, v = e.solve(1.0, *e.from_joint([1.5, -1.5], [0, 0.5]), sample=1.0, rtol=RTOL, atol=1e-14)
    sim = saltus.Simulation("double_pendulum", "rk4", timestep=1e-4)
    sim.qpos, sim.qvel = [1.5, -1.5], [0, 0.5]
    sim.step(10_000)
    qpos, qvel = e.to_joint(q[-1], v[-1])
    assert sim.qpos == pytest.approx(qpos, abs=1e-10) and sim.qvel == pytest.approx(qvel, abs=1e-10)


def test_a_force_at_the_end_moves_all_alike():
    """The tutorial's option A: F_x = 5 sin 8πt at the end of the last link."""
    ends = []
    for orientation in ORIENTATIONS:
        e = derive(saltus.n_link(3), orientation, applied=[Force("link3", ("F_x", 0, 0), point=(0, 0, -1))])
        start = e.from_joint(np.zeros(3), np.zeros(3))
        _, q, v = e.solve(1.0, *start, inputs={"F_x": wave(5, 8 * np.pi)}, sample=1.0, rtol=RTOL, atol=1e-14)
        ends.append(np.concatenate(e.to_joint(q[-1], v[-1])))
    assert np.abs(ends[0]).max() > 0.05
    assert np.abs(ends[1] - ends[0]).max() < AGREE and np.abs(ends[2] - ends[0]).max() < AGREE


def test_stabilised_constraints_draw_back_what_has_drifted():
    e = derive("pendulum", "maximal")
    q, v = e.from_joint([0.5], [0.0])
    off = q + np.array([1e-3, 0, 0])
    phi = sympy.lambdify(e.q, [*e.constraints.values()])
    apart = []
    for stabilisation in ((0.0, 1e-9), (20.0, 20.0)):  # without any such a start is refused
        _, found, _ = e.solve(1.0, off, v, stabilisation=stabilisation, sample=1.0)
        apart.append(np.abs(phi(*found[-1])).max())
    assert apart[0] > 0.9e-3 and apart[1] < 1e-6


# ------------------------------------------------------------ which coordinates


def test_absolute_angles_are_sums():
    e = derive(saltus.n_link(3), "absolute")
    assert [str(q) for q in e.q] == ["alpha1", "alpha2", "alpha3"]
    q, v = e.from_joint([0.1, 0.2, 0.4], [1.0, 2.0, 4.0])
    assert np.allclose(q, [0.1, 0.3, 0.7]) and np.allclose(v, [1, 3, 7])
    assert e.meanings[e.q[1]] == "angle against the world of the body behind joint theta2 (rad)"
    assert [str(q) for q in derive(saltus.n_link(2)).q] == ["theta1", "theta2"]


def test_joints_that_turn_the_other_way_subtract():
    xml = """<mujoco><default><geom size="0.1" pos="0.3 0 0" contype="0"/></default><worldbody>
    <body><joint name="a" axis="0 1 0" ref="20"/><geom/>
    <body pos="0.5 0 0"><joint name="b" axis="0 -1 0"/><geom/>
    <body euler="90 0 0"><joint name="c" axis="0 0 1"/><geom/></body></body></body></worldbody></mujoco>"""
    e = derive(xml, "absolute")
    q, _ = e.from_joint([0.5, 0.2, 0.1], np.zeros(3))
    # Rx(90°) z = -y: the third joint turns about the second's axis
    assert np.allclose(q, [0.5, 0.3, 0.2])


def test_axes_that_do_not_stay_parallel_keep_their_angles():
    e = derive(HINGES, "absolute")
    assert [str(q) for q in e.q] == ["a", "alpha_b", "alpha_c"]
    q, _ = e.from_joint([0.3, 0.5, 0.2], np.zeros(3))
    assert np.allclose(q, [0.3, 0.5, 0.7])


def test_angles_do_not_add_up_over_branches():
    xml = """<mujoco><default><geom size="0.1" pos="0.3 0 0" contype="0"/><joint axis="0 1 0"/></default><worldbody>
    <body><joint name="a"/><geom/><body><joint name="b"/><geom/></body><body><joint name="c"/><geom/></body></body>
    </worldbody></mujoco>"""
    q, _ = derive(xml, "absolute").from_joint([1.0, 0.1, 0.2], np.zeros(3))
    assert np.allclose(q, [1.0, 1.1, 1.2])


LIMITED = """<mujoco><compiler angle="radian"/><worldbody><body name="u"><joint name="theta1" axis="0 1 0"/>
<geom size="0.1" pos="0 0 1"/><body pos="0 0 1"><joint name="theta2" axis="0 1 0" range="-0.5 1.5" ref="0.25"/>
<geom size="0.1" pos="0 0 1"/></body></body></worldbody>
<actuator><motor name="m" joint="theta2" ctrlrange="-2 3"/></actuator></mujoco>"""


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_limits_are_mapped(orientation):
    """θ_n becomes θ_n - θ_(n-1): the limit's expression is the joint's own position."""
    with pytest.warns(saltus.SaltusWarning, match="limits of joints: joint theta2"):
        e = derive(LIMITED, orientation)
    joint, control = e.limits
    assert (joint.name, joint.low, joint.high) == ("joint theta2", -0.5, 1.5)
    assert (control.name, control.low, control.high) == ("actuator m", -2.0, 3.0)
    if orientation == "absolute":
        a1, a2 = e.q
        assert joint.expression == a2 - a1
    q, _ = e.from_joint([0.4, 1.1], [0, 0])
    assert joint.expression.subs(dict(zip(e.q, q, strict=True))) == pytest.approx(1.1, abs=1e-14)


def test_balls_and_free_joints_stay_what_they_are():
    relative, absolute = derive(SPATIAL), derive(SPATIAL, "absolute")
    assert [str(q) for q in relative.q][:8] == [f"base_{x}" for x in ("x", "y", "z", "qw", "qx", "qy", "qz")] + ["arm"]
    assert relative.q == absolute.q and relative.v == absolute.v
    qpos, qvel = random_state(relative)
    assert np.array_equal(absolute.from_joint(qpos, qvel)[0], qpos)


def test_unknown_orientation():
    with pytest.raises(saltus.OptionError, match="unknown orientation 'world'"):
        derive("pendulum", "world")
