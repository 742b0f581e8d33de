"""Benchmarks with known answers: oscillator, pendula, Lagrange's top, a servo.

Laws and sources: the oscillator's numbers follow from each method's 2x2 step matrix, raised to the 1000th power in
exact arithmetic; the n-link pendulum's are 100 steps of independent implementations (for three links MuJoCo's); the
other digits are solutions of the equations of motion by a Gragg-Bulirsch-Stoer method in 25 to 34 digits (energy drift
below 1e-18). Pendulum A01: IFToMM multibody benchmark; n-link pendulum: Knemeyer, Shield & Patel (2020); top:
Goldstein, Classical Mechanics (3rd ed.), section 5.7.

Tolerances: a fixed number of steps of a given method is reproduced to rounding, 1e-12 a few hundred times over. Exact
solutions are met to the tolerance of the adaptive integrator, 1e-13 a step, times the growth of errors of the motion
(some hundred for a double pendulum over seconds), or to the error of the method at the step used where that is stated.
"""

import numpy as np
import pytest
from helpers.files import shared
from numpy.testing import assert_allclose

import saltus

OSCILLATOR = """
<mujoco><option gravity="0 0 0" timestep="0.1"/><worldbody>
  <body><joint type="slide" axis="1 0 0" stiffness="1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
</worldbody></mujoco>"""
IMPLICIT_EULER = saltus.ButcherTableau([[1]], [1], name="implicit_euler")
TIGHT = (1e-13, 1e-14)


def oscillated(integrator):
    """Position and velocity after 1000 steps of 0.1 from (1, 0)."""
    sim = saltus.Simulation(OSCILLATOR, integrator)
    sim.qpos[0] = 1.0
    sim.step(1000)
    return sim.qpos[0], sim.qvel[0]


@pytest.mark.parametrize(
    ("integrator", "x", "v"),
    [
        ("euler", 0.9062126531608056, 0.4705537168853154),
        ("implicit_midpoint", 0.8172500408145376, 0.5762832383373966),
        ("velocity_verlet", 0.8826849673165398, 0.4693773325931021),
        ("rk4", 0.8622708422565101, 0.5064337302773028),
    ],
)
def test_oscillator_states(integrator, x, v):
    assert_allclose(oscillated(integrator), (x, v), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("integrator", "factor"),
    [("explicit_euler", 20959.1556378), (IMPLICIT_EULER, 4.77118457098e-5)],
    ids=["explicit_euler", "implicit_euler"],
)
def test_oscillator_energies(integrator, factor):
    """The digits given are all that is compared."""
    x, v = oscillated(integrator)
    assert_allclose(x * x + v * v, factor, rtol=1e-11)


def test_oscillator_invariants():
    """What each symplectic method keeps exactly, and what rk4 loses in a step."""
    h = 0.1
    x, v = oscillated("euler")
    assert_allclose((x * x + v * v - h * x * v) / 2, 0.5, rtol=1e-12)
    x, v = oscillated("implicit_midpoint")
    assert_allclose((x * x + v * v) / 2, 0.5, rtol=1e-12)
    x, v = oscillated("rk4")
    assert_allclose(x * x + v * v, (1 - h**6 / 72 + h**8 / 576) ** 1000, rtol=1e-11)


# pendulum A01: a point mass of 1 kg on a rod of 1 m, g 9.81, from (-1, 0) at rest

A01 = {
    1.0: (0.9862917511318753, -0.1650108531255412),
    5.0: (-0.9423054350437573, -0.3347543384140006),
    10.0: (-0.2750874625761169, -0.9614192050991251),
}
A01_PERIOD = 2.3678419475762374493


def a01(integrator, **options):
    sim = saltus.Simulation(saltus.n_link(1, l=1.0, d=1.0, inertia=0.0), integrator, **options)
    sim.qpos[0] = -np.pi / 2
    return sim


@pytest.mark.parametrize(
    ("integrator", "timestep", "tolerance", "error"),
    [("dopri5", 1.0, TIGHT, 1e-11), ("rk4", 1e-3, None, 3e-8), ("euler", 1e-3, None, 3e-3)],
)
def test_a01_positions(integrator, timestep, tolerance, error):
    """rk4 and euler at 1 ms have errors of 2e-8 and 2e-3, as MuJoCo's do."""
    sim = a01(integrator, timestep=timestep, tolerance=tolerance)
    for t, place in A01.items():
        sim.step(round((t - sim.time) / timestep))
        theta = sim.qpos[0]
        assert_allclose((np.sin(theta), -np.cos(theta)), place, rtol=0, atol=error)
        height = 1 - np.cos(theta)
        if integrator != "euler":
            assert_allclose(9.81 * height + sim.qvel[0] ** 2 / 2, 9.81, rtol=0, atol=5e-5)


def test_a01_period():
    sim = a01("dopri5", timestep=A01_PERIOD, tolerance=TIGHT)
    for _ in range(4):
        sim.step()
        assert_allclose((sim.qpos[0], sim.qvel[0]), (-np.pi / 2, 0.0), rtol=0, atol=1e-11)


def test_a01_from_the_shared_file():
    """The same in another encoding, with the integrator and step of the file (RK4, 1 ms)."""
    sim = saltus.Simulation(shared("benchmarks/A01_pendulum"))
    for t, place in A01.items():
        sim.step(round((t - sim.time) / sim.timestep))
        assert_allclose(sim.data.site_xpos[0, :2], place, rtol=0, atol=3e-8)


# the tutorial's n-link pendulum, pushed by 5 sin(8 π t) in x at its tip (A) or turned in its last joint (B)

A_ANGLES = {
    1: (-0.101355489466139,),
    2: (-0.01393061200271415, 0.1141395879641071),
    3: (0.03571540741921724, 0.05559588450347966, -0.0633590754752446),
    4: (0.05325083635382396, 0.0338994484057665, -0.03834705510822934, 0.0007984448829697091),
}
A_RATES = {2: (-0.1696021367149584, -0.5943819466443383)}
B_ANGLES = {2: (-0.02711825783209075, 0.07303740753427433)}
A_EXACT = (-0.01410149626385145, 0.1148861063737002)


def push(sim, at):
    """The force of option A at time `at`, as joint forces."""
    n = sim.model.nv
    J, _ = sim.jacobian(f"link{n}", sim.data.site_xpos[0].copy())
    sim.qfrc_applied = J[0] * 5 * np.sin(8 * np.pi * at)


@pytest.mark.parametrize("n", A_ANGLES)
def test_pushed_n_link_pendulum(n):
    """100 steps of semi-implicit Euler; angles and rates here are relative, so they are summed."""
    sim = saltus.Simulation(saltus.n_link(n), "euler", timestep=0.01)
    for _ in range(100):
        push(sim, sim.time)
        sim.step()
    assert_allclose(np.cumsum(sim.qpos), A_ANGLES[n], rtol=0, atol=1e-12)
    if n in A_RATES:
        assert_allclose(np.cumsum(sim.qvel), A_RATES[n], rtol=0, atol=1e-11)


@pytest.mark.parametrize("n", B_ANGLES)
def test_turned_n_link_pendulum(n):
    """A motor between the last two links, by a control function."""

    def control(sim):
        torque = np.zeros(n)
        torque[-1] = 5 * np.sin(8 * np.pi * sim.time)
        return torque

    sim = saltus.Simulation(saltus.n_link(n), "euler", timestep=0.01)
    sim.run(1.0, control=control)
    assert_allclose(np.cumsum(sim.qpos), B_ANGLES[n], rtol=0, atol=1e-12)


def test_pushed_pendulum_in_continuous_time():
    """With the force of each step's middle the error is of second order: two runs extrapolate to the exact angles."""
    ends = []
    for steps in (500, 1000):
        h = 1.0 / steps
        sim = saltus.Simulation(saltus.n_link(2), "rk4", timestep=h)
        for _ in range(steps):
            push_at_middle(sim, h)
            sim.step()
        ends.append(np.cumsum(sim.qpos))
    errors = [np.max(np.abs(e - A_EXACT)) for e in ends]
    assert errors[1] < 1e-4 and 3.5 < errors[0] / errors[1] < 4.5
    assert_allclose((4 * ends[1] - ends[0]) / 3, A_EXACT, rtol=0, atol=1e-7)


def push_at_middle(sim, h):
    """The joint forces of option A half a step on."""
    start = sim.snapshot()
    sim.qpos += h / 2 * sim.qvel
    push(sim, sim.time + h / 2)
    force = sim.qfrc_applied.copy()
    sim.restore(start)
    sim.qfrc_applied = force


# the free double pendulum, absolute angles


@pytest.mark.parametrize(
    ("parameters", "start", "wanted"),
    [
        (
            {"inertia": 1 / 12},
            (90, 180),
            {
                1: (-0.8194304729531812, -1.974142274100581),
                2: (0.4563375522146064, 0.2226622412698278, 8.56241311538501, -12.98769685363786),
                5: (1.121484440720317, -8.820715509554648),
            },
        ),
        ({"d": 1.0, "inertia": 0.0}, (90, 90), {5: (-0.6271867050665307, -1.301315550209812)}),
    ],
    ids=["uniform rods", "point masses"],
)
def test_free_double_pendulum(parameters, start, wanted):
    sim = saltus.Simulation(saltus.n_link(2, **parameters), "dopri5", timestep=1.0, tolerance=TIGHT)
    sim.qpos = np.diff(np.radians([0, *start]))
    for t, values in wanted.items():
        sim.step(round(t - sim.time))
        found = np.concatenate([np.cumsum(sim.qpos), np.cumsum(sim.qvel)])[: len(values)]
        assert_allclose(found, values, rtol=0, atol=1e-9)


# Lagrange's top, bundled: m 0.5, l 0.04, I1 1e-3 about the pivot, I3 4e-4, 30 degrees, spin 200


def axis_angles(sim):
    """Tilt from the vertical and azimuth of the top's axis, rad."""
    x, y, z = sim.data.xmat[1].reshape(3, 3)[:, 2]
    return np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)


@pytest.mark.parametrize(
    ("key", "rate", "duration"),
    [("slow_precession", 2.5213169686090051, 1.0), ("fast_precession", 89.854726101731117, 0.03)],
)
def test_top_precesses(key, rate, duration):
    """Steady precession: the tilt stays and the azimuth grows at the rate."""
    sim = saltus.Simulation("top", "dopri5", timestep=duration, tolerance=TIGHT)
    sim.reset(key)
    sim.step()
    tilt, azimuth = axis_angles(sim)
    assert_allclose(tilt, np.pi / 6, rtol=0, atol=1e-10)
    assert_allclose(azimuth, rate * duration, rtol=0, atol=1e-10)


def test_top_nods():
    """Released with pure spin: after half a period at its largest tilt, after a period back."""
    period = 0.083001599334966545
    sim = saltus.Simulation("top", "dopri5", timestep=period / 2, tolerance=TIGHT)
    sim.reset("release")
    for tilt in (31.9081826631441472, 30.0, 31.9081826631441472, 30.0):
        sim.step()
        assert_allclose(np.degrees(axis_angles(sim)[0]), tilt, rtol=0, atol=1e-9)
        # the axis stands still in tilt: its velocity is horizontal
        moving, _ = sim.jacobian("top", sim.data.site_xpos[0].copy())
        assert_allclose((moving @ sim.qvel)[2], 0.0, atol=1e-9)


# a position servo: m = 1, kp 100, kv 4, unit step


def test_servo():
    model = saltus.load("""
        <mujoco><option gravity="0 0 0" timestep="0.1"/><worldbody>
          <body><joint name="x" type="slide" axis="1 0 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
        </worldbody><actuator><position joint="x" kp="100" kv="4"/></actuator></mujoco>""")
    sim = saltus.Simulation(model, "dopri5", tolerance=TIGHT)
    trajectory = sim.run(1.0, sample=0.1, control=[1.0])
    assert_allclose(trajectory.qpos[[1, 10], 0], (0.4050337673621122, 1.136092047595601), rtol=0, atol=1e-11)
