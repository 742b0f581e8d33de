"""What the parameters of a soft contact mean, and the inverse.

Law: for the violation r < 0 of a mass under gravity g, a + d (b v + K d r) = -(1 - d) g where that is more than -g, and
free fall elsewhere; d(r), K and b from solref and solimp as MuJoCo's documentation (Solver parameters) says. Closed
forms for constant d, with ω² = K d², ζ = b / (2 √K), T = 2 / (d b):

    rest at g (1 - d) / ω², which is g (1 - d) / k for solref (-k, -c) and g (1 - d) T² ζ² for (T, ζ);
    small oscillations about rest under the envelope exp(-t / T), and (1 + t / T) exp(-t / T) for ζ = 1;
    without gravity, the contact lets go of the mass when the deceleration of the free oscillator ends, after
    2 arccos(ζ) / (ω √(1 - ζ²)) with the restitution exp(-2 ζ arccos(ζ) / √(1 - ζ²)), which is exp(-2) for ζ = 1.

MuJoCo 4.0 is the reference for the law itself and for steps of semi-implicit Euler.

Tolerances: rounding, 1e-12, for formulas; 1e-8 for simulated impacts, some hundred steps with a relative tolerance of
1e-10 each; others where they stand.
"""

import math

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import saltus

SIMULATED = 1e-8
G = 9.81
DROP = {"solref": (-5000, -20), "solimp": (0.9, 0.9), "speed": math.sqrt(2 * G * 0.5)}


def oscillator(ratio, frequency=50.0, **changes):
    """A contact of constant impedance and given damping ratio and frequency (rad/s)."""
    solref = -(frequency**2), -2 * ratio * frequency
    return saltus.contact_law(solref, (0.9, 0.9), **changes)


def after(law, start, duration):
    """Height (m) some seconds after a release at a height, by dopri5 with its default tolerance of 1e-8 a step."""
    sim = saltus.Simulation(law.xml, "dopri5")
    sim.qpos[0] = start
    sim.step(round(duration / sim.timestep))
    return float(sim.qpos[0])


# ---------------------------------------------------------------- the law itself


def random_law(rng):
    """Parameters of all kinds, some out of their limits."""
    solref = [
        (rng.uniform(0.001, 0.1), rng.uniform(0.1, 2)),
        (-rng.uniform(10, 1e4), -rng.uniform(0, 100)),
        (rng.uniform(0.01, 0.1), -1.0),
        (-100.0, 3.0),
    ][rng.integers(4)]
    solimp = rng.uniform(-0.1, 1.1), rng.uniform(-0.1, 1.1), rng.uniform(-0.01, 0.1), rng.uniform(-0.1, 1.1)
    power = rng.choice([0.5, 1.0, 1.5, 2.0, 3.0])
    options = {"mass": rng.uniform(0.1, 10), "refsafe": bool(rng.integers(2)), "gravity": rng.uniform(0, 20)}
    return saltus.contact_law(solref, (*solimp, power), **options)


@pytest.mark.parametrize("seed", range(20))
def test_mujoco_has_the_same_law(seed):
    """K, b, d(r) and the force on the mass are those of MuJoCo's constraint row; its solver ends at 1e-14."""
    rng = np.random.default_rng(seed)
    law = random_law(rng)
    m = mujoco.MjModel.from_xml_string(law.xml)
    d = mujoco.MjData(m)
    for r in (-1e-4, -0.003, -0.02, -0.2):
        d.qpos[0], d.qvel[0] = r, rng.uniform(-1, 1)
        mujoco.mj_forward(m, d)
        K, b, impedance, _ = d.efc_KBIP[0]
        assert_allclose(law.impedance(r), impedance, rtol=1e-12)
        assert_allclose(law.force(r, d.qvel[0]), d.qfrc_constraint[0], rtol=1e-9, atol=1e-12)
        assert_allclose(law.reference_damping, b, rtol=1e-12, atol=0)
        assert_allclose(law.reference_stiffness, K * law.rest_impedance, rtol=1e-12)


def test_no_force_outside():
    law = saltus.contact_law()
    assert_allclose(law.force([0.0, 1e-9, 0.1], -1.0), 0.0)
    assert law.force(-1e-9, -1.0) > 0


def test_arrays_are_broadcast():
    law = saltus.contact_law()
    r, v = np.linspace(-0.01, 0, 5), np.array([[-1.0], [0.0], [1.0]])
    force = law.force(r, v)
    assert force.shape == (3, 5)
    assert force[1, 2] == law.force(r[2], 0.0)
    assert law.impedance(r).shape == (5,)


# ---------------------------------------------------------------- at rest


@pytest.mark.parametrize("d", [0.0001, 0.5, 0.9, 0.9999])
def test_rest_of_constant_impedance(d):
    direct = saltus.contact_law((-700, -3), (d, d))
    assert_allclose(direct.rest_penetration, G * (1 - d) / 700, rtol=1e-12)
    assert_allclose([direct.stiffness, direct.damping], [700, 3], rtol=1e-12)
    assert_allclose(direct.reference_stiffness * d, 700, rtol=1e-12)
    standard = saltus.contact_law((0.05, 0.3), (d, d), gravity=1.62)
    assert_allclose(standard.rest_penetration, 1.62 * (1 - d) * (0.05 * 0.3) ** 2, rtol=1e-12)
    assert_allclose([standard.time_constant, standard.damping_ratio], [0.05, 0.3], rtol=1e-12)


@pytest.mark.parametrize("solimp", [(0.9, 0.95), (0.2, 0.99, 0.01, 0.3, 3), (0, 0.9, 0.003, 0.5, 1), (0.99, 0.5, 0.01)])
@pytest.mark.parametrize("solref", [(0.02, 1), (-900, -60)])
def test_a_long_simulation_ends_at_rest(solref, solimp):
    """After 100 time constants nothing is left of the motion, and a fixed point does not depend on the step."""
    law = saltus.contact_law(solref, solimp)
    sim = saltus.Simulation(law.xml, "euler")
    sim.step(int(100 * law.time_constant / law.timestep))
    assert_allclose(-sim.qpos[0], law.rest_penetration, rtol=1e-9)
    assert_allclose(law.force(-law.rest_penetration), law.mass * law.gravity, rtol=1e-12)


def test_nothing_bears_a_mass_without_stiffness():
    law = saltus.contact_law((0, -5))
    assert law.rest_penetration == law.largest_penetration == law.contact_duration == math.inf
    assert law.restitution == 0
    assert any("no stiffness" in sentence for sentence in law.warnings)
    sim = saltus.Simulation(law.xml, "euler")
    sim.step(50_000)
    # it falls at the constant speed g (1 - d) / (d b)
    assert_allclose(sim.qvel[0], -G * 0.05 / 5, rtol=1e-9)


def test_without_gravity_it_rests_at_the_surface():
    assert saltus.contact_law(gravity=0).rest_penetration == 0


@pytest.mark.slow
@pytest.mark.parametrize("mass", [1e-3, 1e3])
def test_accelerations_do_not_depend_on_the_mass(mass):
    one, other = saltus.contact_law(**DROP), saltus.contact_law(**DROP, mass=mass)
    assert_allclose(other.rest_penetration, one.rest_penetration, rtol=1e-12)
    assert_allclose([other.stiffness, other.damping], [mass * one.stiffness, mass * one.damping], rtol=1e-12)
    for name in ("restitution", "largest_penetration", "contact_duration"):
        assert_allclose(getattr(other, name), getattr(one, name), rtol=SIMULATED)
    assert_allclose(other.restitutions_at_timestep, one.restitutions_at_timestep, rtol=1e-9)


# ---------------------------------------------------------------- about rest


def test_the_envelope_falls_to_37_percent():
    """With ζ = 1/√(1 + 4 π²) a time constant is a whole period, after which the amplitude is exactly 1/e.

    The amplitude is below g/ω², so that the contact pushes all the time. The tolerance is that of some hundred steps.
    """
    T = 0.2
    law = saltus.contact_law((T, 1 / math.sqrt(1 + 4 * math.pi**2)), (0.5, 0.5))
    rest = -law.rest_penetration
    assert law.time_constant == pytest.approx(T, rel=1e-12)
    assert_allclose((after(law, 0.6 * rest, T) - rest) / (-0.4 * rest), math.exp(-1), rtol=1e-6)


def test_a_critically_damped_contact_is_at_74_percent():
    """From rest beside the equilibrium it is at (1 + t/T) exp(-t/T): 0.736 at T, and 0.37 only at 2.14 T."""
    T = 0.1
    law = saltus.contact_law((T, 1), (0.5, 0.5))
    rest = -law.rest_penetration
    for t in (T, 2.14 * T):
        left = (after(law, 0.6 * rest, t) - rest) / (-0.4 * rest)
        assert_allclose(left, (1 + t / T) * math.exp(-t / T), rtol=1e-6)


def test_a_larger_damping_ratio_softens():
    """At one time constant the damping stays and the stiffness falls with the square of the ratio."""
    one, three = (saltus.contact_law((0.05, ratio), (0.9, 0.9)) for ratio in (1, 3))
    assert_allclose(three.damping, one.damping, rtol=1e-12)
    assert_allclose(three.stiffness, one.stiffness / 9, rtol=1e-12)
    assert any("does not add damping" in sentence for sentence in three.warnings)


# ---------------------------------------------------------------- impacts


def test_drop_of_half_a_metre():
    """solref (-5000, -20), d = 0.9, dropped from 0.5 m: the release by the closed form of the linear phases."""
    law = saltus.contact_law(**DROP)
    assert_allclose(law.largest_penetration, 0.03626714006021883, rtol=SIMULATED)
    assert_allclose(law.contact_duration, 0.04184154394311854, rtol=SIMULATED)
    # the height after the bounce, of that before
    assert_allclose(law.restitution**2 * 0.5, 0.2129082575600263, rtol=SIMULATED)
    # at the release it is faster, and still below the surface
    released = np.flatnonzero(law.force(law.impact.r, law.impact.v) < 1e-9)[0]
    assert_allclose(law.impact.v[released], 2.074959724060195, rtol=SIMULATED)


@pytest.mark.parametrize("ratio", [0.0, 0.01, 0.3, 0.7, 0.99, 1.0, 1.5, 4.0])
def test_restitution_without_gravity(ratio):
    """exp(-2 ζ θ / s) with θ = arccos ζ and s = √(1 - ζ²), or their hyperbolic twins; it depends on nothing else."""
    if ratio == 1:
        angle = 1.0
    elif ratio < 1:
        angle = math.acos(ratio) / math.sqrt(1 - ratio**2)
    else:
        angle = math.acosh(ratio) / math.sqrt(ratio**2 - 1)
    expected = math.exp(-2 * ratio * angle)
    for speed, frequency in ((1.0, 50.0), (3.0, 8.0)):
        law = oscillator(ratio, frequency, gravity=0, speed=speed)
        assert_allclose(law.damping_ratio, ratio, rtol=1e-12)
        assert_allclose(law.restitution, expected, rtol=SIMULATED)
        assert_allclose(law.contact_duration, 2 * angle / frequency, rtol=SIMULATED)
        assert_allclose(law.largest_penetration, speed / frequency * math.exp(-ratio * angle), rtol=SIMULATED)


@pytest.mark.parametrize("solimp", [(0.9, 0.9), (0.9, 0.95), (0.1, 0.99, 0.02, 0.5, 3), (0.9, 0.5, 0.01)])
def test_zero_damping_is_elastic(solimp):
    """The force depends on the place alone, so the energy is kept."""
    law = saltus.contact_law((-1000, 0), solimp)
    assert_allclose(law.restitution, 1, rtol=SIMULATED)
    assert law.time_constant == math.inf


def by_quadrature(law):
    """Restitution, deepest penetration and duration by scipy, from the documented law written anew."""
    (first, second), (d0, d1, width, mid, power) = law.used_solref, law.used_solimp
    if first > 0:
        K, b = 1 / (d1 * first * second) ** 2, 2 / (d1 * first)
    else:
        K, b = -first / d1**2, -second / d1

    def push(r, v):
        x = min(max(-r / width, 0.0), 1.0)
        low, high = x**power / mid ** (power - 1), 1 - (1 - x) ** power / (1 - mid) ** (power - 1)
        d = d0 + (d1 - d0) * (low if x <= mid else high)
        return d * (law.gravity - b * v - K * d * r)

    def slope(t, y):
        return y[1], max(push(*y), 0.0) - law.gravity

    turns, lets_go, peaks, leaves = (
        lambda t, y: y[1],
        lambda t, y: push(*y),
        lambda t, y: y[1],
        lambda t, y: y[0] if t > 0 else -1.0,
    )
    turns.direction, peaks.direction, lets_go.direction = 1, -1, -1
    peaks.terminal = leaves.terminal = True
    events, options = (turns, lets_go, peaks, leaves), {"rtol": 1e-11, "atol": 1e-14, "method": "DOP853"}
    end = 50 * max(law.time_constant, law.time_constant * law.damping_ratio**2)
    run = solve_ivp(slope, (0, end), (-1e-14, -law.speed), events=events, max_step=law.shortest_time / 20, **options)
    turned, released, _, left = run.t_events
    deepest = -run.y_events[0][0][0] if len(turned) else max(-run.y[0])
    if not len(left):
        return 0.0, deepest, math.inf
    return run.y_events[3][0][1] / law.speed, deepest, min([*released, *left])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_impacts_on_any_contact(seed):
    """With impedances that grow with depth, from bouncing to creeping; scipy's tolerance is 1e-11 a step."""
    rng = np.random.default_rng(100 + seed)
    ratio = 10 ** rng.uniform(-1.5, 0.6)
    solref = (0.02 / ratio, ratio) if seed % 2 else (-2500, -100 * ratio)
    low, high = sorted(rng.uniform(0.1, 0.99, 2))
    solimp = low, high, 10 ** rng.uniform(-3, -1), rng.uniform(0.1, 0.9), rng.uniform(1.0, 4.0)
    law = saltus.contact_law(solref, solimp, timestep=1e-4, speed=10 ** rng.uniform(-1.5, 0.5))
    found = law.restitution, law.largest_penetration, law.contact_duration
    assert_allclose(found, by_quadrature(law), rtol=1e-6)


@pytest.mark.parametrize(
    "law", [saltus.contact_law(**DROP), saltus.contact_law(), saltus.contact_law((0.001, 1), refsafe=False)]
)
def test_mujoco_bounces_like_euler(law):
    """The same starts, stepped by MuJoCo; free flights keep v²/2 + g x - g h v/2."""
    m = mujoco.MjModel.from_xml_string(law.xml)
    d = mujoco.MjData(m)
    g, h = law.gravity, law.timestep
    bounces = []
    for k in range(8):
        r = -(k + 0.5) / 8 * h * law.speed
        d.qpos[0], d.qvel[0] = r, g * h / 2 - math.sqrt((g * h / 2) ** 2 + law.speed**2 - 2 * g * r)
        speeds = [d.qvel[0]]
        while d.qpos[0] < 0 and not speeds[-1] <= 0 < max(speeds):
            mujoco.mj_step(m, d)
            speeds.append(d.qvel[0])
        back = d.qvel[0] ** 2 + 2 * g * d.qpos[0] - g * h * d.qvel[0]
        bounces.append(math.sqrt(back) / law.speed if d.qpos[0] >= 0 else 0.0)
    assert_allclose(law.restitutions_at_timestep, bounces, rtol=1e-9)


def test_small_steps_approach_the_continuous_law():
    """Semi-implicit Euler is of first order: its error is about the phase of a step, ω h, at the most."""
    for h in (1e-3, 1e-4):
        law = saltus.contact_law(**DROP, timestep=h)
        assert abs(law.restitution_at_timestep - law.restitution) < math.sqrt(5000) * h
    # a long step makes a dissipative contact throw the mass
    assert saltus.contact_law((0.001, 1), refsafe=False).restitution_at_timestep > 1


# ---------------------------------------------------------------- the inverse


@pytest.mark.slow
@pytest.mark.parametrize("restitution", [0.05, 0.5, 0.95, 1.0])
@pytest.mark.parametrize("solimp", [(0.9, 0.95), (0.2, 0.99, 0.01, 0.3, 3)])
def test_round_trip(restitution, solimp):
    law = saltus.contact_parameters(0.002, restitution, 3.0, solimp=solimp, speed=0.7)
    assert_allclose(law.rest_penetration, 0.002, rtol=1e-12)
    again = saltus.contact_law(law.solref, solimp, 3.0, speed=0.7)
    assert_allclose(again.restitution, restitution, rtol=SIMULATED)
    assert law.warnings == []


def test_the_inverse_finds_the_parameters():
    """Those of the drop; the restitution's slope in the damping is about 1/100, the tolerance follows."""
    drop = saltus.contact_law(**DROP)
    found = saltus.contact_parameters(
        drop.rest_penetration, drop.restitution, solimp=(0.9, 0.9), speed=drop.speed, timestep=1e-3
    )
    assert_allclose(found.solref, (-5000, -20), rtol=1e-7)


def test_no_bounce_takes_the_least_damping():
    law = saltus.contact_parameters(0.002, 0)
    stiffness, damping = law.solref
    assert saltus.contact_law((stiffness, 1.001 * damping)).restitution == 0
    assert saltus.contact_law((stiffness, 0.999 * damping)).restitution > 0


def test_a_step_that_is_too_long_is_refused_with_one_that_is_not():
    with pytest.raises(saltus.OptionError, match=r"^timestep: .*at most [0-9.e-]+ s, got 0.002 s") as caught:
        saltus.contact_parameters(1e-6, 0.5)
    step = float(str(caught.value).split("at most ")[1].split(" s")[0])
    law = saltus.contact_parameters(1e-6, 0.5, timestep=0.99 * step)
    assert_allclose(law.rest_penetration, 1e-6, rtol=1e-12)
    assert 0.2 < law.restitution_at_timestep < 0.8


# ---------------------------------------------------------------- words and figure


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"solref": (0.001, 1)}, "refsafe raises it to 0.004 s"),
        ({"solref": (0.001, 1), "refsafe": False}, "take at most 0.0005 s"),
        ({"solref": (0.02, 0.05)}, "take at most"),
        ({"solref": (0.02, -1)}, "different signs"),
        ({"solref": (0.02, 2)}, "divides the stiffness by 4"),
        ({"solimp": (0, 0.95)}, "impedance at the surface of solimp is 0, out of its limits; 0.0001 is used"),
        ({"solimp": (0.9, 1)}, "impedance at full width of solimp is 1, out of its limits; 0.9999 is used"),
        ({"solimp": (0.9, 0.95, 0.001, 0.5, 0.5)}, "power"),
        ({"solimp": (0.95, 0.9)}, "falls with depth"),
        ({"solimp": (0.01, 0.01)}, "impedance at rest is only 0.01"),
    ],
)
def test_warnings(changes, words):
    sentences = saltus.contact_law(**changes).warnings
    assert sum(words in sentence for sentence in sentences) == 1
    assert all(sentence in str(saltus.contact_law(**changes)) for sentence in sentences)


def test_nothing_to_warn_of():
    assert saltus.contact_law().warnings == []
    assert saltus.contact_law((0.004, 1)).warnings == []


def test_table():
    """Names, values and units; the values are those of the attributes."""
    law = saltus.contact_law(**DROP, mass=2)
    rows = dict(line.strip().split("  ", 1) for line in str(law).splitlines() if "  " in line.strip())
    rows = {name: value.strip() for name, value in rows.items()}
    assert rows["penetration"] == "0.0001962 m"
    assert rows["stiffness that the mass feels"] == "1e+04 N/m"
    assert rows["damping that the mass feels"] == "40 N s/m"
    assert rows["time constant"] == "0.1 s"
    assert rows["largest penetration"] == "0.03627 m"
    assert rows["time in contact"] == "0.04184 s"
    assert rows["restitution"] == "0.6525"
    assert "to" in rows["restitution, euler with 0.002 s"]
    assert "infinite" in str(saltus.contact_law((0, -5)))


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"solref": (1, 2, 3)}, "solref"),
        ({"solref": "0.02 1"}, "solref"),
        ({"solref": (math.nan, 1)}, "solref"),
        ({"solimp": ()}, "solimp"),
        ({"solimp": (0.9, math.inf)}, "solimp"),
        ({"solimp": 0.9}, "solimp"),
        ({"mass": 0}, "mass"),
        ({"mass": "heavy"}, "mass"),
        ({"gravity": -9.81}, "gravity"),
        ({"timestep": 0}, "timestep"),
        ({"speed": -1}, "speed"),
    ],
)
def test_bad_input(changes, name):
    with pytest.raises(saltus.OptionError, match=f"^{name} must be"):
        saltus.contact_law(**changes)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"penetration": 0}, "penetration"),
        ({"restitution": 1.1}, "restitution"),
        ({"restitution": -0.1}, "restitution"),
        ({"gravity": 0}, "gravity"),
        ({"penetration": 0.05, "solimp": (0.99, 0.5, 0.01)}, "solimp"),
    ],
)
def test_bad_input_of_the_inverse(arguments, name):
    with pytest.raises(saltus.OptionError, match=f"^{name}"):
        saltus.contact_parameters(**{"penetration": 0.001, "restitution": 0.5, **arguments})


def test_figure(tmp_path):
    pytest.importorskip("matplotlib")
    law = saltus.contact_law()
    figure = law.plot(tmp_path / "law.png")
    impedance, force = figure.axes
    assert impedance.get_xlabel() == force.get_xlabel() == "penetration (mm)"
    assert impedance.get_ylabel() == "impedance d"
    assert force.get_ylabel() == "force on the mass (N)"
    depth, d = impedance.lines[0].get_data()
    assert_allclose(d, law.impedance(-depth / 1e3), rtol=1e-12)
    depth, still = force.lines[0].get_data()
    assert_allclose(still, law.force(-depth / 1e3), rtol=1e-12)
    assert_allclose(max(force.lines[1].get_xdata()), 1e3 * law.largest_penetration, rtol=1e-12)
    assert (tmp_path / "law.png").stat().st_size > 10_000
    with pytest.raises(saltus.OptionError, match="suffix"):
        law.plot(tmp_path / "law.gif")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("changes", [{"solref": (0, -5)}, {"gravity": 0, "solimp": (0.9, 0.9, 0)}])
def test_figures_of_odd_laws(tmp_path, changes):
    pytest.importorskip("matplotlib")
    saltus.contact_law(**changes).plot(tmp_path / "law.png")
    assert (tmp_path / "law.png").stat().st_size > 10_000


@pytest.mark.parametrize("changes", [{"solref": (-1e16, 0)}, {"solref": (1e30, 1)}, {"speed": 1e9}])
def test_impacts_beyond_the_clock_are_refused(changes):
    with pytest.raises(saltus.OptionError, match=r"^solref, speed: .* cannot be simulated"):
        saltus.contact_law(**changes).impact  # noqa: B018
