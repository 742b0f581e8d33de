"""Turning friction, torsional and rolling, under located hard contact, in plain Python, against closed forms.

A contact limits the moment about its normal by μ_t N, and that about its tangents by μ_r N; each sticks or slips by
itself. Of a sphere of mass m, radius r and inertia I = 2/5 m r² on a plane:

    spin about the normal   dω/dt = -μ_t m g / I
    rolling                 dv/dt = -μ_r g / (r (1 + I/(m r²))), from m a = -F and I a/r = F r - μ_r m g
    slope of angle α        at rest up to tan α = μ_r / r, above it a = (g sin α - μ_r g cos α / r) / (1 + I/(m r²))
    impact                  Δω = μ_t P / I with the normal impulse P, rolling Δv = μ_r P / (m r (1 + I/(m r²)))

(Johnson, Contact Mechanics (1985), sections 8.1 to 8.4, for the moments; the rest are Newton's and Euler's equations.)
Events are located to 1e-10 m/s and 1e-10 rad/s, and dopri5's relative tolerance is 1e-8.
"""

import numpy as np
import pytest
from helpers.plain_python import plain_python

import saltus

G, R, M = 9.81, 0.1, 1.3
BALL, I = 'type="sphere" size="0.1"', 0.4 * M * R * R
WHOLE = 1 + I / (M * R * R)
BOX = 'type="box" size="0.1 0.1 0.05"'


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


def world(shape, condim, friction, slope=0.0, height=R, body=""):
    """A body on a plane, with gravity turned so that down the slope is +x."""
    return f"""<mujoco><option gravity="{G * np.sin(slope):.17g} 0 {-G * np.cos(slope):.17g}" timestep="0.001"/>
<default><geom condim="{condim}" friction="{friction}"/></default>
<worldbody><geom name="floor" type="plane" size="5 5 .1"/>
<body pos="0 0 {height}"><freejoint/><geom name="body" {shape} mass="{M}"/></body>{body}</worldbody></mujoco>"""


def simulation(xml, qvel, contact="hard", **options):
    sim = saltus.Simulation(xml, contact=contact, **options)
    sim.qvel = qvel
    return sim


def events(run):
    return [(str(e["kind"]), str(e["other"])) for e in run.events]


@pytest.mark.parametrize("integrator", ["dopri5", "rk4", "euler"])
def test_a_spinning_ball_stops_and_stays(integrator):
    """Constant deceleration: exact for every method but where it ends, which is located."""
    sim = simulation(world(BALL, 4, "1 .02 .1"), [0, 0, 0, 0, 0, 5.0], integrator=integrator, timestep=0.02)
    run = sim.run(0.3, sample=0.02)
    slows, stop = 0.02 * M * G / I, 5.0 * I / (0.02 * M * G)
    np.testing.assert_allclose(run.qvel[:, 5], np.maximum(5.0 - slows * run.time, 0.0), atol=1e-9)
    assert events(run) == [("stick", "floor (torsion)")] and abs(run.events["time"][0] - stop) < 1e-9
    assert (run.qvel[run.time > stop] == run.qvel[-1]).all() or abs(run.qvel[-1]).max() < 1e-12
    # at rest: no creep
    after = run.qpos[run.time > stop]
    assert abs(after - after[0]).max() < 1e-12


def test_torsion_holds_up_to_its_limit():
    """A moment about the normal below μ_t m g moves nothing, one above it turns the ball by the rest."""
    for part in (0.999, 1.001):
        sim = simulation(world(BALL, 4, "1 .02 0"), [0] * 6)
        sim.qfrc_applied[5] = part * 0.02 * M * G
        run = sim.run(0.1, sample=0.05)
        wanted = max(part - 1.0, 0.0) * 0.02 * M * G / I * 0.1
        np.testing.assert_allclose(run.qvel[-1], [0, 0, 0, 0, 0, wanted], atol=1e-11)


def test_a_rolling_ball_stops_and_stays():
    sim = simulation(world(BALL, 6, "1 .005 .01"), [0.3, 0, 0, 0, 0.3 / R, 0])
    run = sim.run(0.6, sample=0.05)
    a = 0.01 * G / (R * WHOLE)
    np.testing.assert_allclose(run.qvel[:, 0], np.maximum(0.3 - a * run.time, 0.0), atol=1e-8)
    assert events(run) == [("stick", "floor (rolling)")] and abs(run.events["time"][0] - 0.3 / a) < 1e-8
    np.testing.assert_allclose(run.qpos[-1, :3], [0.3**2 / (2 * a), 0, R], atol=1e-8)
    np.testing.assert_allclose(run.qvel[-1], 0, atol=1e-10)


def test_a_ball_rolls_in_any_direction():
    """Rolling friction acts against the rolling, in the plane of the tangents, and turns nothing."""
    speed, way = 0.3, np.array([0.6, -0.8])
    qvel = [*(speed * way), 0, -speed * way[1] / R, speed * way[0] / R, 0]
    run = simulation(world(BALL, 6, "1 .005 .01"), qvel).run(0.2, sample=0.05)
    left = speed - 0.01 * G / (R * WHOLE) * run.time
    np.testing.assert_allclose(run.qvel[:, :2], left[:, None] * way, atol=1e-8)


def test_a_slope_below_and_above_the_angle_of_rolling():
    for tangent in (0.0999, 0.1001):
        angle = np.arctan(tangent)
        run = simulation(world(BALL, 6, "1 .005 .01", slope=angle), [0] * 6).run(0.5, sample=0.1)
        a = max(G * np.sin(angle) - 0.01 * G * np.cos(angle) / R, 0.0) / WHOLE
        np.testing.assert_allclose(run.qvel[:, 0], a * run.time, atol=1e-11)


@pytest.mark.parametrize("impact", ["newton", "poisson"])
def test_impulses_of_an_impact(impact):
    """Restitution 0.5 from 0.2 m: P = m (1 + e) √(2 g h); the moment's impulse is at its limit, or ends the turning."""
    law = saltus.Hard(restitution=0.5, impact=impact)
    P = M * 1.5 * np.sqrt(2 * G * 0.2)
    for spin in (0.5 * 0.002 * P / I, 3 * 0.002 * P / I):
        run = simulation(world(BALL, 4, ".5 .002 0", height=R + 0.2), [0, 0, 0, 0, 0, spin], law).run(0.3)
        np.testing.assert_allclose(run.qvel[-1, 3:], [0, 0, max(spin - 0.002 * P / I, 0.0)], atol=1e-12)
    # rolling in time with the floor, so that nothing slides
    speed = 3 * 0.001 * P / (M * R * WHOLE)
    run = simulation(world(BALL, 6, ".5 0 .001", height=R + 0.2), [speed, 0, 0, 0, speed / R, 0], law).run(0.3)
    np.testing.assert_allclose(run.qvel[-1, 0], speed - 0.001 * P / (M * R * WHOLE), atol=1e-12)


def test_sliding_beside_torsion():
    """Both at their limits: each slows by itself, and the ball rolls from 2 v/(7 μ g) on."""
    run = simulation(world(BALL, 4, ".2 .002 0"), [1.0, 0, 0, 0, 0, 8.0]).run(0.2, sample=0.02)
    begins = 2 * 1.0 / (7 * 0.2 * G)
    np.testing.assert_allclose(run.qvel[:, 0], np.maximum(1 - 0.2 * G * run.time, 5 / 7), atol=1e-8)
    assert events(run) == [("stick", "floor")] and abs(run.events["time"][0] - begins) < 1e-8
    normal = np.array([rotated(q[3:7], v[3:])[2] for q, v in zip(run.qpos, run.qvel, strict=True)])
    np.testing.assert_allclose(normal, 8.0 - 0.002 * M * G / I * run.time, atol=1e-7)


def rotated(quat, vector):
    """A vector of a body's frame in world axes."""
    w, axis = quat[0], quat[1:]
    return vector + 2 * np.cross(axis, np.cross(axis, vector) + w * vector)


def test_a_box_on_four_corners():
    """Its corners, at 0.1 √2 from the axis, slide: they add 0.1 √2 μ N to the moment μ_t N of their torsion."""
    run = simulation(world(BOX, 4, ".5 .01 0", height=0.05), [0, 0, 0, 0, 0, 3.0]).run(0.06, sample=0.01)
    inertia = M * (0.1**2 + 0.1**2) / 3
    slows = (0.5 * 0.1 * np.sqrt(2) + 0.01) * M * G / inertia
    np.testing.assert_allclose(run.qvel[:, 5], np.maximum(3.0 - slows * run.time, 0.0), atol=1e-8)
    np.testing.assert_allclose(run.qvel[-1], 0.0, atol=1e-12)


def test_a_box_held_by_sliding_and_torsion():
    """Just below both limits together: nothing moves, and each corner's forces are within limits of their own."""
    sim = simulation(world(BOX, 4, ".5 .01 0", height=0.05), [0] * 6)
    sim.qfrc_applied[5] = 0.99 * (0.5 * 0.1 * np.sqrt(2) + 0.01) * M * G
    run = sim.run(0.05, sample=0.05)
    assert abs(run.qvel[-1]).max() < 1e-12
    sim.forward()
    forces = sim.engine.d.views["row_force"][:16].reshape(4, 4)
    np.testing.assert_allclose(forces[:, 0].sum(), M * G, rtol=1e-9)
    assert (np.hypot(forces[:, 1], forces[:, 2]) <= 0.5 * forces[:, 0] * (1 + 1e-9)).all()
    assert (abs(forces[:, 3]) <= 0.01 * forces[:, 0] * (1 + 1e-9)).all()


@pytest.mark.parametrize(("condim", "joint"), [(4, 'axis="0 0 1"'), (6, 'axis="0 1 0"')])
def test_breaking_away_from_a_growing_moment(condim, joint):
    """A spring of 3 N m/rad, wound up at 0.01 rad/s: the ball turns from when its moment is at the limit."""
    limit = (0.002 if condim == 4 else 0.004) * M * G
    others = "".join(f'<joint axis="{axis}"/>' for axis in ("0 0 1", "0 1 0", "1 0 0") if axis not in joint)
    xml = f"""<mujoco><option gravity="0 0 {-G}"/><default><geom condim="{condim}" friction="1 .002 .004"/></default>
    <worldbody><geom type="plane" size="1 1 .1"/>
    <body pos="0 0 {R}"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
    <joint type="slide" axis="0 0 1"/><joint name="ball" {joint}/>{others}<geom {BALL} mass="{M}"/></body>
    <body pos="0 2 1"><joint name="wheel" {joint}/><geom size=".1" mass="1e9" contype="0" conaffinity="0"/></body>
    </worldbody><tendon><fixed stiffness="3" springlength="0"><joint joint="ball" coef="1"/>
    <joint joint="wheel" coef="-1"/></fixed></tendon></mujoco>"""
    run = simulation(xml, [0, 0, 0, 0, 0, 0, 0.01]).run(1.1 * limit / 0.03, sample=0.05)
    assert events(run)[0] == ("slip", "#0 (torsion)" if condim == 4 else "#0 (rolling)")
    assert abs(run.events["time"][0] - limit / 0.03) < 2e-6
    assert abs(run.qpos[run.time < limit / 0.03, 3]).max() < 1e-12 < abs(run.qpos[-1, 3])


def test_contacts_of_all_dimensions_beside_each_other():
    """Balls with 1, 3, 4 and 6 dimensions, each as if it were alone."""
    others = "".join(
        f'<body pos="0 {y} {R}"><freejoint/><geom {BALL} mass="{M}" condim="{condim}" priority="1"/></body>'
        for y, condim in ((1, 1), (2, 4), (3, 6))
    )
    xml = world(BALL, 3, "1 .002 .01", body=others)
    run = simulation(xml, np.tile([0.3, 0, 0, 0, 0.3 / R, 5.0], 4)).run(0.1, sample=0.05)
    spin = 5.0 - 0.002 * M * G / I * run.time[-1]
    slower = 0.3 - 0.01 * G / (R * WHOLE) * run.time[-1]
    ends = run.qvel[-1].reshape(4, 6), run.qpos[-1].reshape(4, 7)
    for k, (v, speed, turns) in enumerate(zip(ends[0], (0.3, 0.3, 0.3, slower), (5.0, 5.0, spin, spin), strict=True)):
        omega = rotated(ends[1][k, 3:], v[3:])
        np.testing.assert_allclose([v[0], omega[1], omega[2]], [speed, speed / R, turns], atol=1e-6, err_msg=str(k))


def test_energy_falls_and_the_ledger_closes():
    """A ball thrown with spin onto a slope: friction and impacts only take energy."""
    law = saltus.Hard(restitution=0.4)
    sim = simulation(world(BALL, 6, ".4 .01 .004", slope=0.1, height=R + 0.05), [0.5, 0.3, 0, 5, -3, 9.0], law)
    run = sim.run(0.6, sample=0.005)
    energy = [total(sim.model, q, v) for q, v in zip(run.qpos, run.qvel, strict=True)]
    assert np.diff(energy).max() < 1e-9
    assert {kind for kind, _ in events(run)} >= {"impact", "stick"}


def total(model, qpos, qvel):
    """Kinetic and potential energy (J) of the ball."""
    kinetic = 0.5 * M * qvel[:3] @ qvel[:3] + 0.5 * I * qvel[3:] @ qvel[3:]
    return kinetic - M * np.asarray(model.opt.gravity) @ qpos[:3]


def test_time_stepping_tends_to_it():
    """Where one part of friction acts alone, `moreau_jean` is exact but in the step in which the ball stops."""
    xml, slows = world(BALL, 4, "1 .02 0"), 0.02 * M * G / I
    angle = 2.0**2 / (2 * slows)
    for h in (4e-3, 2e-3, 1e-3):
        run = simulation(xml, [0, 0, 0, 0, 0, 2.0], integrator="moreau_jean", timestep=h).run(0.06)
        assert abs(2 * np.arcsin(run.qpos[-1, 6]) - angle) < 0.5 * slows * h * h
        np.testing.assert_allclose(run.qvel[-1], 0.0, atol=1e-9)
    run = simulation(xml, [0, 0, 0, 0, 0, 2.0]).run(0.06)
    assert abs(2 * np.arcsin(run.qpos[-1, 6]) - angle) < 1e-9


def test_time_stepping_has_one_ellipsoid():
    """Rolling in `moreau_jean` has √(1 - (F/μN)²) of the moment, F the friction that slows the ball, and creeps."""
    xml, a = world(BALL, 6, ".2 .005 .01"), 0.01 * G / (R * WHOLE)
    here, there = (
        simulation(xml, [0.3, 0, 0, 0, 0.3 / R, 0], integrator=name).run(0.2).qvel[-1, 0]
        for name in ("dopri5", "moreau_jean")
    )
    np.testing.assert_allclose(here, 0.3 - 0.2 * a, atol=1e-8)
    less = 1 - np.sqrt(1 - (a / (0.2 * G)) ** 2)
    assert 0.5 < (there - here) / (0.2 * a * less) < 2.0


def test_soft_contact_slows_down_as_much():
    """MuJoCo's law, once the load is steady; its one ellipsoid for all parts leaves a share of 1e-4 to the sliding."""
    for friction, qvel, at, slows in (
        ("1 .002 0", [0, 0, 0, 0, 0, 5.0], 5, 0.002 * M * G / I),
        ("1 .005 .002", [0.5, 0, 0, 0, 5.0, 0], 0, 0.002 * G / (R * WHOLE)),
    ):
        stiff = world(BALL, 6, friction).replace("friction=", 'solref="0.01 1" friction=')
        run = simulation(stiff.replace("<option", '<option cone="elliptic"'), qvel, "soft").run(0.4, sample=0.2)
        here = simulation(world(BALL, 6, friction), qvel).run(0.4, sample=0.2)
        for found in (run, here):
            np.testing.assert_allclose((found.qvel[1, at] - found.qvel[2, at]) / 0.2, slows, rtol=1e-3)


@pytest.mark.parametrize("kind", ["torsion", "rolling"])
def test_the_time_of_a_stop_has_the_derivative_of_the_closed_form(kind):
    """I/(μ_t m g) by the spin, and r² (1 + I/(m r²))/(μ_r g) by the speed of rolling about an axis."""
    condim, qvel, wanted = {
        "torsion": (4, [0, 0, 0, 0, 0, 2.0], I / (0.02 * M * G)),
        "rolling": (6, [0.1, 0, 0, 0, 1.0, 0], R**2 * WHOLE / (0.01 * G)),
    }[kind]
    run = simulation(world(BALL, condim, "1 .02 .01"), qvel, timestep=0.1).run(0.2, sensitivity=("qvel",))
    assert events(run) == [("stick", f"floor ({kind})")]
    way = np.array(qvel) / max(qvel)  # a speed of 1 rad/s more, without slip
    assert run.events.sensitivity["qvel"].time[0] @ way == pytest.approx(wanted, rel=1e-7)
