"""Derivatives of motion through located events.

References: closed forms of a bouncing ball and of a sliding block; central differences of whole runs, extrapolated to
the fourth order with steps of 1e-4 and 5e-5: errors of 1e-16 times the fifth derivatives, and rounding of 1e-12 over
the step; 1e-7 relative to the largest entry leaves room for both.
"""

import mujoco
import numpy as np
import pytest

import saltus
from saltus.simulate.derivatives.run_tangents import RunTangents

G = 9.81
POINT = """<mujoco><option gravity="0 0 -9.81"/><worldbody><geom type="plane" size="5 5 .1" friction=".2"/>
  <body name="ball" pos="0 0 .1"><joint name="z" type="slide" axis="0 0 1"/><joint name="x" type="slide" axis="1 0 0"/>
  <joint name="y" type="slide" axis="0 1 0"/><geom name="ball" size=".1" friction=".3"/></body></worldbody></mujoco>"""
BOX = """<mujoco><option gravity="0 0 -9.81"/><worldbody><geom type="plane" size="5 5 .1" friction=".4"/>
  <body pos="0 0 .5"><freejoint/><geom type="box" size=".1 .15 .2" friction=".4"/></body></worldbody></mujoco>"""
LIMIT = """<mujoco><option gravity="0 0 -9.81"/><worldbody><body pos="0 0 1"><joint axis="0 1 0" range="-30 30"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".02" contype="0" conaffinity="0"/></body></worldbody></mujoco>"""
TIGHT = (1e-11, 1e-13)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_hard_layout")]  # duals of event location compile


def simulation(model, integrator, restitution, duration, qpos, qvel):
    tolerance = TIGHT if integrator == "dopri5" else None
    law = saltus.Hard(restitution=restitution)
    sim = saltus.Simulation(model, integrator, law, timestep=duration, tolerance=tolerance)
    sim.qpos, sim.qvel = qpos, qvel
    return sim


def differences(make, steps):
    """A [2 nv, 2 nv] by differences of runs from `make()`."""
    first = make()
    m, nv = first.model.mujoco, first.model.nv

    def end(change):
        sim = make()
        q = np.array(sim.qpos)
        mujoco.mj_integratePos(m, q, change[:nv], 1.0)
        sim.qpos, sim.qvel = q, np.array(sim.qvel) + change[nv:]
        sim.step(steps)
        return np.array(sim.qpos), np.array(sim.qvel)

    def central(k, h):
        change = np.zeros(2 * nv)
        change[k] = h
        (q1, v1), (q2, v2), dq = end(change), end(-change), np.zeros(nv)
        mujoco.mj_differentiatePos(m, dq, 1.0, q2, q1)
        return np.concatenate([dq, v1 - v2]) / (2 * h)

    return np.stack([(4 * central(k, 5e-5) - central(k, 1e-4)) / 3 for k in range(2 * nv)], axis=1)


def test_times_of_a_balls_impacts_and_heights_between_them():
    """Impact k at t₁ + 2 t₁ (e + ... + e^(k-1)), t₁ = √(2 h/g); after it, speed eᵏ √(2 g h)."""
    h, e, duration = 0.8, 0.7, 2.0
    tangents = RunTangents(simulation(POINT, "dopri5", e, duration, [h, 0, 0], [0, 0, 0]).engine)
    next(tangents.columns())  # direction 0 is the height
    impacts = [row for row in tangents.advance(1) if row[0, 1] == 0]
    fall = np.sqrt(2 * h / G)
    times = np.array([fall * (1 + 2 * sum(e**j for j in range(1, k + 1))) for k in range(len(impacts))])
    assert len(impacts) == np.searchsorted(times, duration)
    assert len(impacts) >= 4
    np.testing.assert_allclose([row[0, 0] for row in impacts], times, rtol=1e-9)
    np.testing.assert_allclose([row[1, 0] for row in impacts], times / (2 * h), rtol=1e-9)  # t ∝ √h
    speeds = np.array([e**k * np.sqrt(2 * G * h) for k in range(len(impacts))])
    np.testing.assert_allclose([-row[1, 4] for row in impacts], speeds / (2 * h), rtol=1e-9)


@pytest.mark.parametrize("integrator", ["dopri5", "rk4"])
def test_a_sample_at_an_impact_and_one_beside_it(integrator):
    """The state just after the first impact: z = e v (t - t₁) - g (t - t₁)²/2 and its derivatives by h and v₀."""
    h, e = 0.8, 0.7
    fall = np.sqrt(2 * h / G)
    for duration in (fall * (1 + 1e-7), 1.3 * fall):
        s = duration - fall
        A, _ = simulation(POINT, integrator, e, duration, [h, 0, 0], [0, 0, 0]).linearize()
        by_h = 1 / (G * fall)  # dt₁/dh, and of the speed at the impact: dv/dh = g dt₁/dh
        by_v = 1 / G  # dt₁/dv₀ for a throw upwards from rest: (v + √(v² + 2 g h))/g
        speed = G * fall
        expected = [
            [e * (G * by_h * s - speed * by_h) + G * s * by_h, -e * speed * by_v + G * s * by_v],
            [e * G * by_h + G * by_h, G * by_v],
        ]
        np.testing.assert_allclose(A[np.ix_([0, 3], [0, 3])], expected, rtol=1e-8, atol=1e-8)


def test_a_block_slides_to_a_stop():
    """x = v²/(2 μ g) after the stop: dx/dv = v/(μ g), and nothing else of the speed is left."""
    v, mu = 0.6, 0.3
    A, _ = simulation(POINT, "dopri5", 0.0, 0.4, [0, 0, 0], [0, v, 0]).linearize()
    assert A[1, 4] == pytest.approx(v / (mu * G), rel=1e-8)
    np.testing.assert_allclose(A[3:, 4], 0, atol=1e-8)


@pytest.mark.parametrize(
    ("model", "integrator", "restitution", "duration", "steps", "qpos", "qvel"),
    [
        (POINT, "dopri5", 0.5, 0.35, 1, [0.1, 0, 0], [0, 2, 0.3]),
        (BOX, "dopri5", 0.4, 0.35, 1, [0, 0, 0.5, 0.978, 0.171, 0.101, 0.05], [1, 0.2, 0, 0.5, 0.3, 0.2]),
        (BOX, "rk4", 0.4, 0.35, 70, [0, 0, 0.5, 0.978, 0.171, 0.101, 0.05], [1, 0.2, 0, 0.5, 0.3, 0.2]),
        (LIMIT, "dopri5", 0.6, 1.0, 1, [0.2], [2.0]),
    ],
    ids=["slipping point", "box, dopri5", "box, rk4", "limit"],
)
def test_runs_over_impacts_and_slips(model, integrator, restitution, duration, steps, qpos, qvel):
    def make():
        return simulation(model, integrator, restitution, duration / steps, qpos, qvel)

    A, *_ = RunTangents(make().engine).linearize(steps)
    expected = differences(make, steps)
    np.testing.assert_allclose(A, expected, rtol=0, atol=1e-7 * np.abs(expected).max())


def test_a_start_in_contact_counts_as_staying_in_it():
    """A block at rest: friction holds it where it is moved to; a small speed is gone after a time ∝ speed."""
    A, _ = simulation(POINT, "dopri5", 0.5, 0.3, [0, 0, 0], [0, 0, 0]).linearize()
    np.testing.assert_allclose(A, np.diag([0, 1, 1, 0, 0, 0]), atol=1e-9)


def test_a_user_event_that_resets_the_speed():
    """A point that is thrown back with e where it reaches z = 0, without contact: the ball's derivatives."""
    free = POINT.replace('size=".1" friction=".3"/></body>', 'size=".1" contype="0" conaffinity="0"/></body>')
    h, e, duration = 0.8, 0.7, 0.6

    def height(m, d):
        return d.qpos[0]

    def thrown_back(m, d):
        d.qvel[0] = -0.7 * d.qvel[0]

    event = saltus.Event(height, thrown_back, direction="down")
    sim = saltus.Simulation(free, "dopri5", saltus.Hard(), duration, tolerance=TIGHT, events=[event])
    sim.qpos[0] = h
    A, _ = sim.linearize()
    fall = np.sqrt(2 * h / G)
    s = duration - fall
    np.testing.assert_allclose(A[[0, 3], 0], [((1 + e) * s - e * fall) / fall, (1 + e) / fall], rtol=1e-8)


def test_normals_that_do_not_turn_are_refused():
    """A cylinder that lands on a box, whose contacts are searched."""
    model = BOX.replace(
        '<geom type="plane" size="5 5 .1" friction=".4"/>', '<geom type="box" size="2 2 .1" pos="0 0 -.1"/>'
    )
    model = model.replace('type="box" size=".1 .15 .2"', 'type="cylinder" size=".1 .1"')
    sim = simulation(model, "dopri5", 0.4, 0.35, [0, 0, 0.5, 0.978, 0.171, 0.101, 0.05], [0] * 6)
    with pytest.raises(saltus.OptionError, match="which is searched, counts as constant"):
        sim.linearize()


def test_soft_contact_inside_adaptive_steps_is_refused():
    """The force of soft contact jumps where it begins; a derivative without that time has even another sign."""
    with pytest.raises(saltus.OptionError, match="soft contacts and limits begin and end inside the steps of dopri5"):
        saltus.Simulation(POINT, "dopri5").linearize()


TWO = """<mujoco><option gravity="0 0 -9.81"/><worldbody><geom type="plane" size="5 5 .1" friction="0"/>
  <body pos="0 0 .1"><joint name="a" type="slide" axis="0 0 1"/><geom size=".1" friction="0"/></body>
  <body pos="1 0 .1"><joint name="b" type="slide" axis="0 0 1"/><geom size=".1" friction="0"/></body>
  </worldbody></mujoco>"""


def test_contacts_that_meet_at_once_only_here_are_refused():
    """Two balls from one height: if one starts higher, each lands at its own time; from two heights they do so here."""
    with pytest.raises(saltus.EventError, match="several contacts meet at once, and after a small change one after"):
        simulation(TWO, "dopri5", 0.5, 0.6, [0.8, 0.8], [0, 0]).linearize()
    A, _ = simulation(TWO, "dopri5", 0.5, 0.6, [0.8, 0.7], [0, 0]).linearize()
    np.testing.assert_allclose([A[0, 1], A[1, 0], A[2, 1], A[3, 0]], 0, atol=1e-9)
    fall, e = np.sqrt(2 * np.array([0.8, 0.7]) / G), 0.5
    np.testing.assert_allclose([A[2, 0], A[3, 1]], (1 + e) / fall, rtol=1e-8)


def test_parameters_of_a_bounce():
    """z = e v s - g s²/2 at s = T - v/g after the impact with v = √(2 g h), h = 0.9 m less the radius.

    Vertical speed e v - g s; by e, g (v/∂g = h/v, s/∂g = h/v g - v/g² negative) and the radius by hand.
    """
    e, T, h = 0.5, 0.6, 0.8
    v = np.sqrt(2 * G * h)
    t, s = v / G, T - v / G
    sim = simulation(POINT, "dopri5", e, T, [h, 0, 0], [0, 0, 0])
    names = ("Hard.restitution", "opt.gravity[2]", "geom_size[ball][0]", "body_mass[ball]")
    P = dict(zip(names, sim.linearize(parameters=names).P[[0, 3]].T, strict=True))
    np.testing.assert_allclose(P["Hard.restitution"], [v * s, v], rtol=1e-8)
    dt = -t / (2 * G)  # by g, of which the option is minus: t = √(2 h/g), v = √(2 g h)
    dv = v / (2 * G)
    of_gravity = [e * (dv * s - v * dt) - s * s / 2 + G * s * dt, e * dv - s + G * dt]
    np.testing.assert_allclose(P["opt.gravity[2]"], -np.array(of_gravity), rtol=1e-8)
    rise = np.array([(e * s * G - e * v) / v + s * G / v, (1 + e) * G / v])  # by the height of fall
    np.testing.assert_allclose(P["geom_size[ball][0]"], [1 - rise[0], -rise[1]], rtol=1e-8)
    np.testing.assert_allclose(P["body_mass[ball]"], 0, atol=1e-12)


def test_where_a_block_stops_by_its_friction():
    """A sliding block stops after v²/(2 μ g) at v/(μ g); its distance falls with μ by v²/(2 μ² g)."""
    v, mu = 1.0, 0.3
    sim = simulation(POINT, "dopri5", 0.0, 0.6, [0, 0, 0], [0, v, 0])
    P = sim.linearize(parameters=["geom_friction[ball][0]"]).P[:, 0]
    np.testing.assert_allclose(P, [0, -(v**2) / (2 * mu**2 * G), 0, 0, 0, 0], atol=1e-9)


def test_coefficients_that_are_not_the_laws_are_refused():
    sim = simulation(POINT, "dopri5", 0.0, 0.6, [0.8, 0, 0], [0, 0, 0])
    for name, why in (
        ("Hard.restitution", "has no derivative at 0"),
        ("Hard.friction", "its parameter is geom_friction"),
        ("Hard.stiffness", "unknown parameter of Hard 'stiffness'"),
    ):
        with pytest.raises(saltus.OptionError, match=why):
            sim.linearize(parameters=[name])
    with pytest.raises(saltus.OptionError, match="the contact law is 'soft'"):
        saltus.Simulation(POINT, "rk4").linearize(parameters=["Hard.restitution"])
