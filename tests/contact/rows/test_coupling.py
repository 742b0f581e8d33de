"""Couplings along curves: SciPy's splines, MuJoCo's polynomials where the points are of one, closed forms of cams.

Law: q₁ - q₁⁰ = P(s(q₂ - q₂⁰)). Points of a cubic polynomial give that polynomial but for rounding, so that runs are
MuJoCo's with `polycoef`. Under hard contact the follower's acceleration is s' α + s'' ω²; J̇ v is taken by differences
with a displacement of 2e-5, whose error is the square of it times s'''', and rounding over it.
"""

import mujoco
import numpy as np
import pytest
from helpers.plain_python import plain_python
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import saltus

INERTIA, MASS, G = 0.1, 2.0, 9.81  # kg m², kg, m/s²
OFF_CURVE = 0.02  # m
XML = """<mujoco><compiler angle="radian"/><option timestep="0.002" tolerance="1e-14"/><worldbody>
  <body><joint name="cam" axis="0 1 0" ref=".2"/><inertial pos="0 0 0" mass="1" diaginertia=".1 .1 .1"/></body>
  <body name="plunger"><joint name="follower" type="slide" axis="0 0 1" ref=".05"/><inertial pos="0 0 0" mass="2"
    diaginertia=".1 .1 .1"/></body></worldbody>{}</mujoco>"""
POLYNOMIAL = np.polynomial.Polynomial([0.0, 0.1, 0.2, -0.03])
EXACT = saltus.CamCurve(np.linspace(-3.0, 3.0, 7), POLYNOMIAL(np.linspace(-3.0, 3.0, 7)))
TURN = np.linspace(0.0, 2.0 * np.pi, 25)
LIFT = saltus.CamCurve(TURN, 0.05 * (1.0 - np.cos(2.0 * TURN)), periodic=True)
SPLINE = CubicSpline(TURN, LIFT.lifts[:-1] + LIFT.lifts[:1], bc_type="periodic")
BY_MUJOCO = XML.format('<equality><joint joint1="follower" joint2="cam" polycoef="0 .1 .2 -.03 0"/></equality>')


@pytest.fixture
def plain():
    """Kernels run in plain Python."""
    with plain_python():
        yield


def machine(curve=LIFT, **numbers):
    return saltus.cam(XML.format("").replace('"0.002"', f'"{numbers.get("h", 0.002)}"'), "follower", "cam", curve)


def started(model, *arguments, angle=0.5, speed=2.0, curve=SPLINE, **options):
    """A simulation that begins on the curve."""
    sim = saltus.Simulation(model, *arguments, **options)
    sim.qpos[:] = 0.2 + angle, 0.05 + curve(angle)
    sim.qvel[:] = (
        speed,
        speed * curve.derivative()(angle) if isinstance(curve, CubicSpline) else speed * curve.deriv()(angle),
    )
    return sim


@pytest.mark.parametrize("kind", ["periodic", "advances", "two ends"])
def test_rows_are_scipys_spline_and_its_slope(kind, plain):
    """Periods before and after the points, and straight lines beyond both ends."""
    x = np.array([-0.5, 0.1, 0.4, 1.5, 2.0])
    y = np.array([0.3, 0.1, 0.7, 0.2, 0.3 + (0.8 if kind == "advances" else 0.0)])
    curve = saltus.CamCurve(x, y, periodic=kind == "periodic", advances=kind == "advances")
    sim, slope = saltus.Simulation(machine(curve)), 0.32 if kind == "advances" else 0.0
    spline = CubicSpline(x, y - slope * (x + 0.5), bc_type="not-a-knot" if kind == "two ends" else "periodic")
    for at in (-7.3, -0.5, -0.49, 0.0, 0.4, 1.1, 1.99, 2.3, 30.0):
        sim.qpos[:] = 0.2 + at, 0.0
        sim.forward()
        if kind == "two ends":
            near = np.clip(at, x[0], x[-1])
            expected, rate = spline(near) + spline(near, 1) * (at - near), spline(near, 1)
        else:
            expected, rate = spline(at) + slope * (at + 0.5), spline(at, 1) + slope
        np.testing.assert_allclose(-0.05 - sim.data.efc_pos[0], expected, rtol=0, atol=1e-13)
        np.testing.assert_allclose(sim.data.efc_J.ravel(), [-rate, 1.0], rtol=0, atol=1e-13)


@pytest.mark.parametrize("method", ["euler", "implicitfast", "rk4"])
def test_runs_along_a_polynomial_are_mujocos(method, plain):
    m = mujoco.MjModel.from_xml_string(BY_MUJOCO)
    kinds = {"euler": 0, "rk4": 1, "implicitfast": 3}
    m.opt.integrator = kinds[method]
    d = mujoco.MjData(m)
    sim = started(machine(EXACT), method, curve=POLYNOMIAL)
    d.qpos[:], d.qvel[:] = sim.qpos, sim.qvel
    sim.step(250)
    for _ in range(250):
        mujoco.mj_step(m, d)
    np.testing.assert_allclose([*sim.qpos, *sim.qvel], [*d.qpos, *d.qvel], rtol=0, atol=1e-10)


LAWS = [("soft", x) for x in ("euler", "implicit", "discrete", "midpoint", "implicit_midpoint", "dopri5", "radau")]
LAWS += [("soft", "energy_momentum")]
# under hard contact energy_momentum closes polynomials exactly, and curves to second order
LAWS += [("hard", x) for x in ("euler", "rk4", "dopri5", "moreau_jean")]


@pytest.mark.parametrize(("law", "method"), LAWS)
def test_every_method_takes_a_curve_as_it_takes_a_polynomial(law, method, plain):
    """Tolerances of solvers are 1e-8 at least, where there are any."""
    ends = []
    for model in (machine(EXACT), saltus.load(BY_MUJOCO)):
        sim = started(model, method, contact=law, curve=POLYNOMIAL)
        sim.step(20)
        ends.append([*sim.qpos, *sim.qvel])
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-9)
    assert abs(ends[0][0] - 0.7) > 0.01


def test_scales_and_offsets_of_the_polynomial_act_on_the_lift(plain):
    """polycoef stands outside the curve: q₁ - q₁⁰ = c₀ + c₁ s + c₂ s²."""
    changed = machine().changed({"eq_data[follower_cam]": [0.3, 2.0, 0.5, *[0.0] * 9]})
    sim = started(changed)
    sim.forward()
    s, rate = SPLINE(0.5), SPLINE(0.5, 1)
    np.testing.assert_allclose(sim.data.efc_pos[0], s - (0.3 + 2.0 * s + 0.5 * s * s), rtol=0, atol=1e-13)
    np.testing.assert_allclose(sim.data.efc_J.ravel(), [-rate * (2.0 + s), 1.0], rtol=0, atol=1e-13)


@pytest.mark.parametrize("angle", [0.5, 1.9, 2.7, -11.0])
def test_hard_followers_have_the_acceleration_of_their_curve(angle, plain):
    """With the reduced inertia I + m s'²: (I + m s'²) α = -m s' (g + s'' ω²) and a = s' α + s'' ω²."""
    sim = started(machine(), "dopri5", contact="hard", angle=angle, speed=7.0)
    sim.forward()
    slope, bend = SPLINE(angle, 1), SPLINE(angle, 2)
    alpha = -MASS * slope * (G + bend * 49.0) / (INERTIA + MASS * slope**2)
    np.testing.assert_allclose(sim.data.qacc, [alpha, slope * alpha + bend * 49.0], rtol=1e-8, atol=1e-8)


def test_hard_runs_are_those_of_the_reduced_equation(plain):
    """SciPy's solution for the angle of the cam alone."""

    def rates(t, y):
        slope, bend = SPLINE(y[0], 1), SPLINE(y[0], 2)
        return [y[1], -MASS * slope * (G + bend * y[1] ** 2) / (INERTIA + MASS * slope**2)]

    sim = started(machine(), "dopri5", contact="hard", speed=9.0, tolerance=(1e-10, 1e-10))
    sim.run(0.5)
    y = solve_ivp(rates, (0.0, 0.5), [0.5, 9.0], rtol=1e-11, atol=1e-11).y[:, -1]
    np.testing.assert_allclose(sim.qpos, [0.2 + y[0], 0.05 + SPLINE(y[0])], rtol=0, atol=1e-7)


def test_a_cam_whose_motion_is_given_moves_its_follower(plain):
    """Constant speed: the acceleration is s'' ω², and the force m (g + s'' ω²)."""
    sim = saltus.Simulation(machine(), "rk4", contact="hard", motions={"cam": lambda t: 0.7 + 3.0 * t})
    sim.qpos[1], sim.qvel[1] = 0.05 + SPLINE(0.5), 3.0 * SPLINE(0.5, 1)
    sim.forward()
    np.testing.assert_allclose(sim.data.qacc[1], 9.0 * SPLINE(0.5, 2), rtol=1e-7)
    sim.step(100)
    np.testing.assert_allclose(sim.qpos[1], 0.05 + SPLINE(0.5 + 0.6), rtol=0, atol=1e-6)


@pytest.mark.parametrize("law", ["soft", "hard"])
def test_derivatives_are_differences_of_steps(law, plain):
    """Central differences: displacements of 1e-6 give 1e-12 from third derivatives, and 1e-9 from rounding.

    Soft ones begin off the curve, at which the impedance of a soft law has a kink.
    """
    sim = started(machine(), "euler", contact=law)
    if law == "soft":
        sim.qpos[1] += OFF_CURVE
    A, _ = sim.linearize()
    start = np.concatenate([sim.qpos, sim.qvel])
    if law == "hard":  # what stays on the curve, along which hard equalities are defined
        tangent = np.array([[1.0, SPLINE(0.5, 1), 0.0, 2.0 * SPLINE(0.5, 2)], [0.0, 0.0, 1.0, SPLINE(0.5, 1)]])
    else:
        tangent = np.eye(4)
    for direction in tangent:
        ends = []
        for sign in (1.0, -1.0):
            there = started(machine(), "euler", contact=law)
            there.qpos[:], there.qvel[:] = np.split(start + sign * 1e-6 * direction, 2)
            there.step()
            ends.append(np.concatenate([there.qpos, there.qvel]))
        np.testing.assert_allclose(A @ direction, (ends[0] - ends[1]) / 2e-6, rtol=0, atol=1e-6)


def test_gradients_of_runs_agree_forwards_and_backwards_and_with_differences(plain):
    sim = started(machine(), "euler")
    sim.qpos[1] += OFF_CURVE
    given = dict(wrt=("qpos", "qvel", "eq_data[follower_cam]"))
    start = np.concatenate([sim.qpos, sim.qvel])
    _, forward = saltus.run_gradient(sim, 0.02, lambda run: run.qpos[-1, 1], mode="forward", **given)
    _, reverse = saltus.run_gradient(sim, 0.02, lambda run: run.qpos[-1, 1], mode="reverse", **given)
    for name in forward:
        np.testing.assert_allclose(forward[name], reverse[name], rtol=1e-9, atol=1e-12)
    for k in range(2):
        ends = []
        for sign in (1.0, -1.0):
            sim.reset()
            sim.qpos[:], sim.qvel[:] = np.split(start + sign * 1e-5 * np.eye(4)[k], 2)
            sim.step(10)
            ends.append(float(sim.qpos[1]))
        assert forward["qpos"][k] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-7)


def test_inverse_dynamics_gives_back_the_forces(plain):
    sim = started(machine())
    sim.qfrc_applied[:] = 0.3, -0.2
    sim.forward()
    np.testing.assert_allclose(sim.inverse(sim.data.qacc), [0.3, -0.2], rtol=0, atol=1e-9)


def test_inverse_kinematics_stays_on_the_curve():
    found = saltus.ik(machine(), {"plunger": [0.0, 0.0, 0.03]}, start=[0.7, 0.05])
    assert found.qpos[1] == pytest.approx(0.08, abs=1e-6)
    assert SPLINE(found.qpos[0] - 0.2) == pytest.approx(0.03, abs=1e-6)


TENDONS = XML.format(
    """<tendon><fixed name="one"><joint joint="cam" coef="2"/></fixed>
  <fixed name="two"><joint joint="follower" coef="1"/><joint joint="cam" coef=".1"/></fixed></tendon>
  <equality><tendon name="e" tendon1="two" tendon2="one" {}/></equality>{}"""
)


def test_tendons_along_a_polynomial_are_mujocos(plain):
    points = " ".join(f"{x!r} {float(POLYNOMIAL(x))!r}" for x in np.linspace(-4.0, 4.0, 5).tolist())
    custom = f"""<custom><numeric name="c" data="{points}"/><tuple name="cam_curve"><element objtype="equality"
      objname="e"/><element objtype="numeric" objname="c"/></tuple></custom>"""
    m = mujoco.MjModel.from_xml_string(TENDONS.format('polycoef="0 .1 .2 -.03 0"', ""))
    d, sim = mujoco.MjData(m), saltus.Simulation(TENDONS.format("", custom), "euler")
    sim.qvel[:] = d.qvel[:] = 1.0, 0.3
    sim.step(100)
    for _ in range(100):
        mujoco.mj_step(m, d)
    np.testing.assert_allclose([*sim.qpos, *sim.qvel], [*d.qpos, *d.qvel], rtol=0, atol=1e-10)


def test_simulations_of_a_batch_equal_single_ones():
    """Lanes are on different segments, and in different periods."""
    model, angles = machine(), np.array([-9.0, 0.1, 0.5, 2.0, 30.0])
    batch = saltus.Batch(model, len(angles))
    batch.qpos[:, 0] = 0.2 + angles
    batch.qvel[:, 0] = 1.0
    batch.step(60)
    for k, angle in enumerate(angles):
        sim = saltus.Simulation(model)
        sim.qpos[0], sim.qvel[0] = 0.2 + angle, 1.0
        sim.step(60)
        assert np.array_equal(batch.qpos[k], sim.qpos) and np.array_equal(batch.qvel[k], sim.qvel)
