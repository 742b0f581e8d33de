"""Tendons that rub on what they wrap: Euler's and Eytelwein's closed forms, angles of helices, derivatives, sensors.

Law: |T₁ - T₂| <= (T₁ + T₂) tanh(μφ/2), the same as T₁/T₂ <= exp(μφ). Ropes are springs with dampers here; in steady
motion their length is constant, and accelerations are those of a rope that does not stretch.
"""

import numpy as np
import pytest
from helpers.plain_python import plain_python

import saltus

G, RADIUS = 9.81, 0.1
HOIST = """<mujoco><option timestep="0.001"/><worldbody>{wheel}<site name="side" pos="0 0 2.3"/>
  <body pos="-.1 0 1"><joint name="a" type="slide" axis="0 0 1"/><geom size=".02" mass="1"/><site name="a"/></body>
  <body pos=".1 0 1"><joint name="b" type="slide" axis="0 0 1"/><geom size=".02" mass="{mass}"/><site name="b"/></body>
  </worldbody><default><geom contype="0" conaffinity="0"/></default><tendon><spatial name="rope" stiffness="1e4"
    damping="200" springlength="2.3"><site site="a"/><geom geom="post" sidesite="side"/><site site="b"/></spatial>
  </tendon>
  <sensor>{sensor}</sensor></mujoco>"""
POST = '<geom name="post" type="cylinder" size=".1 .2" euler="90 0 0" {}/>'
FIXED = POST.format('pos="0 0 2"')
TURNS = f'<body pos="0 0 2"><joint name="w" axis="0 1 0"/>{POST.format("mass=`{}`")}</body>'.replace("`", '"')
HELD = f'<body pos="0 0 2">{POST.format("mass=`1`")}<site name="hub"/></body>'.replace("`", '"')
LAWS = [("soft", "rk4"), ("hard", "dopri5"), ("hard", "moreau_jean")]


@pytest.fixture(autouse=True)
def plain(request):
    """Kernels run in plain Python, but for batches."""
    if "batch" in request.node.name:
        yield
        return
    with plain_python():
        yield


def hoist(mu, mass, wheel=FIXED, sensor=""):
    return saltus.capstan(HOIST.format(wheel=wheel, mass=mass, sensor=sensor), "rope", mu)


@pytest.mark.parametrize(("law", "method"), LAWS)
def test_a_rope_slides_over_a_post_with_the_acceleration_of_the_closed_form(law, method):
    """a = g (m₂ - m₁ q) / (m₂ + m₁ q), with q = exp(μπ)."""
    sim, q = saltus.Simulation(hoist(0.3, 3.5), method, contact=law), np.exp(0.3 * np.pi)
    sim.step(200)
    sim.forward()
    expected = G * (3.5 - q) / (3.5 + q)
    tolerance = 2e-3 if method == "moreau_jean" else 1e-5  # its forces are means of steps
    np.testing.assert_allclose(sim.data.qacc, [expected, -expected], rtol=tolerance)


@pytest.mark.parametrize(("mass", "slides"), [(2.5, False), (2.6, True)])
def test_a_rope_sticks_below_the_ratio_of_euler_and_eytelwein(mass, slides):
    """exp(0.3 π) = 2.566; under hard contact nothing creeps."""
    sim = saltus.Simulation(hoist(0.3, mass), "dopri5", contact="hard")
    sim.step(400)
    assert (abs(sim.qvel[0] - sim.qvel[1]) > 1e-2) == slides
    if not slides:
        np.testing.assert_allclose(sim.qvel, 0.0, rtol=0, atol=1e-7)


@pytest.mark.parametrize(("law", "method"), LAWS[:2])
@pytest.mark.parametrize(("mu", "mass"), [(0.3, 1.0), (0.1, 8.0)])
def test_a_pulley_turns_with_its_rope_or_slips(law, method, mu, mass):
    """With it: g (m₂ - m₁) / (m₁ + m₂ + I/r²). Else as over a post, and I α = (T₂ - T₁) r."""
    sim = saltus.Simulation(hoist(mu, 2.0, TURNS.format(mass)), method, contact=law)
    sim.step(250)
    sim.forward()
    inertia, q = 0.5 * mass * RADIUS**2, np.exp(mu * np.pi)
    expected = G / (3.0 + inertia / RADIUS**2)
    turn = expected / RADIUS
    if (2.0 * (G - expected)) / (G + expected) > q:
        expected = G * (2.0 - q) / (2.0 + q)
        turn = (q - 1.0) * (G + expected) * RADIUS / inertia
    np.testing.assert_allclose(sim.data.qacc, [turn, expected, -expected], rtol=1e-5)


def bound(model, stretch_of=300.0):
    """φ of a rope at rest, from the bound of its row and its tension."""
    sim = saltus.Simulation(model)
    sim.forward()
    pull = stretch_of * (sim.data.ten_length[0] - model.tendon_lengthspring[0, 1])
    return 2.0 * np.arctanh((sim.data.efc_frictionloss[0] - 1e-9) / (2.0 * pull)) / 0.3


WRAPS = """<mujoco><worldbody><geom name="post" type="{kind}" size=".1 .5" contype="0" conaffinity="0"/>
  <site name="side" pos="{side}"/><body pos="{p}"><joint type="slide"/><geom size=".02" contype="0" conaffinity="0"/>
  <site name="a"/></body><body pos="{q}"><joint type="slide"/><geom size=".02" contype="0" conaffinity="0"/>
  <site name="b"/></body></worldbody><tendon><spatial name="rope" stiffness="300" springlength="0 .1"><site site="a"/>
  <geom geom="post" sidesite="side"/><site site="b"/></spatial></tendon></mujoco>"""


def wrapped(kind="cylinder", side="0 .3 0", p="-.1 -1 0", q=".1 -1 0"):
    return saltus.capstan(WRAPS.format(kind=kind, side=side, p=p, q=q), "rope", 0.3)


@pytest.mark.parametrize("kind", ["cylinder", "sphere"])
def test_parallel_ends_wrap_by_half_a_turn(kind):
    assert bound(wrapped(kind)) == pytest.approx(np.pi, rel=1e-9)


def test_a_helix_has_its_own_curvature():
    """Unrolled, a path of planar length 2 + π r that rises by 0.6: φ = π cos α."""
    flat = 2.0 + np.pi * RADIUS
    cosine = flat / np.hypot(flat, 0.6)
    found = bound(wrapped(p="-.1 -1 0", q=".1 -1 .6"))
    assert found == pytest.approx(np.pi * cosine, rel=1e-9)


def test_a_path_through_a_geom_turns_at_a_point():
    """It touches the inner side at (0, 0.1), to which both parts go at 45°."""
    found = bound(wrapped(side="0 0 0", p="-1 1.1 0", q="1 1.1 0"))
    assert found == pytest.approx(0.5 * np.pi, rel=1e-9)


def test_a_rope_that_does_not_touch_has_no_friction():
    sim = saltus.Simulation(wrapped(p="-1 1 0", q="1 1 0"))
    sim.forward()
    assert sim.data.efc_frictionloss[0] == 0.0


def test_the_post_is_held_by_the_moment_of_the_difference():
    """(T₁ - T₂) r about the axis, and T₁ + T₂ and the weight along the vertical."""
    sensor = '<force site="hub"/><torque site="hub"/>'
    sim = saltus.Simulation(hoist(0.3, 3.5, HELD, sensor), "rk4")
    sim.step(200)
    sim.forward()
    a = sim.data.qacc[0]
    one, two = G + a, 3.5 * (G - a)
    assert sim.sensordata[2] == pytest.approx(one + two + G, rel=1e-5)
    assert sim.sensordata[4] == pytest.approx((one - two) * RADIUS, rel=1e-5)


@pytest.mark.parametrize("law", ["soft", "hard"])
def test_derivatives_are_differences_of_steps(law):
    """Central differences with 1e-6: rounding of 1e-16 times speeds over the displacement."""
    sim = saltus.Simulation(hoist(0.1, 2.0, TURNS.format(8.0)), "euler", contact=law)
    sim.step(50)
    A, _ = sim.linearize()
    start, found = np.concatenate([sim.qpos, sim.qvel]), np.zeros((6, 6))
    for k in range(6):
        ends = []
        for sign in (1.0, -1.0):
            sim.qpos[:], sim.qvel[:] = np.split(start + sign * 1e-6 * np.eye(6)[k], 2)
            sim.step()
            ends.append(np.concatenate([sim.qpos, sim.qvel]))
        found[:, k] = (ends[0] - ends[1]) / 2e-6
    np.testing.assert_allclose(A, found, rtol=0, atol=1e-7)


def test_gradients_of_runs_agree_forwards_and_backwards():
    sim = saltus.Simulation(hoist(0.1, 2.0), "euler")
    sim.step(20)
    wrt = ("qpos", "qvel", "tendon_stiffness[rope]", "tendon_damping[rope]")
    results = [
        saltus.run_gradient(sim, 0.02, lambda run: run.qpos[-1, 1], wrt=wrt, mode=mode)[1]
        for mode in ("forward", "reverse")
    ]
    for name in wrt:
        np.testing.assert_allclose(results[0][name], results[1][name], rtol=1e-9, atol=1e-15)
    stiffness = []
    for k in (1e4 * 1.001, 1e4 * 0.999):
        there = saltus.Simulation(sim.model.changed({"tendon_stiffness[rope]": k}), "euler")
        there.qpos[:], there.qvel[:] = sim.qpos, sim.qvel
        there.step(20)
        stiffness.append(there.qpos[1])
    assert results[0]["tendon_stiffness[rope]"] == pytest.approx((stiffness[0] - stiffness[1]) / 20.0, rel=1e-4)


def test_actuators_pull_with_friction():
    """A motor that holds a weight over a post by a rope: the weight is lifted from m g exp(μπ) on."""
    text = HOIST.format(wheel=FIXED, mass=1e6, sensor="").replace('stiffness="1e4"', "").replace('damping="200"', "")
    text = text.replace("<sensor>", '<actuator><motor name="pull" tendon="rope"/></actuator><sensor>')
    sim, q = saltus.Simulation(saltus.capstan(text, "rope", 0.3), "rk4", contact="hard"), np.exp(0.3 * np.pi)
    sim.ctrl[0] = -20.0  # mean of both tensions
    sim.step(3)
    sim.forward()
    less = 20.0 * 2.0 / (1.0 + q)  # the weight's side moves towards the post, so that its tension is the smaller one
    assert sim.data.qacc[0] == pytest.approx(less - G, rel=1e-6)


def test_simulations_of_a_batch_equal_single_ones():
    model = hoist(0.3, 3.5)
    batch = saltus.Batch(model, 3)
    batch.qvel[:, 0] = speeds = np.array([0.0, -0.5, 1.0])
    batch.step(60)
    for k, speed in enumerate(speeds):
        sim = saltus.Simulation(model)
        sim.qvel[0] = speed
        sim.step(60)
        assert np.array_equal(batch.qpos[k], sim.qpos) and np.array_equal(batch.qvel[k], sim.qvel)
