"""The soft law gives the accelerations that MuJoCo's documentation derives, in closed form where there is one.

Law (documentation, Computation: Constraint model; Modeling: Solver parameters): of a constraint with violation r and
velocity v on a mass alone, a₁ = (1 - d) a₀ + d a_ref with a_ref = -B v - K d r; d(r) goes from solimp[0] to solimp[1]
over the width solimp[2] along a power law of exponent solimp[4] and midpoint solimp[3];
K = 1/(dmax² T² z²), B = 2/(dmax T) for solref = (T, z), K = k/dmax², B = b/dmax for solref = (-k, -b).

References: these formulas, written again here; the closed-form motion of a damped oscillator; MuJoCo 4.0.
Tolerances: rounding, 1e-12, where a formula is compared; where contact begins between two steps, what acceleration and
velocity change in one step.
"""

import numpy as np
import pytest
from helpers.cases import Cases
from helpers.constraints import assert_same_rows, complete

import saltus
from saltus.contact.rows.soft_law import impedance
from saltus.number.kernels import interpret, kernel

G = 9.81
SOLIMP = {
    "default": (0.9, 0.95, 0.001, 0.5, 2),
    "wide": (0.1, 0.95, 0.2, 0.5, 2),
    "linear": (0.1, 0.95, 0.2, 0.5, 1),
    "early midpoint": (0.2, 0.99, 0.1, 0.1, 2),
    "cubic, late midpoint": (0.2, 0.9, 0.2, 0.8, 3),
    "a power that is not whole": (0.05, 0.9, 0.2, 0.3, 1.5),
    "falling": (0.9, 0.3, 0.1, 0.4, 2.5),
    "flat": (0.7, 0.7, 0.1, 0.5, 2),
    "no width": (0.5, 0.9, 0, 0.5, 2),
    "beyond all limits": (0, 1, 0.1, 0, 0.5),
    "beyond all limits, above": (1.5, -1, 0.1, 1, 2),
}
SOLREF = {
    "default": (0.02, 1),
    "slow": (0.3, 0.5),
    "faster than two steps": (0.001, 2),
    "direct": (-500, -20),
    "direct without damping": (-500, 0),
    "mixed": (0.05, -1),
    "mixed the other way": (-100, 1),
}


def written_impedance(solimp, r):
    """d(r) by the documentation, parameters clipped as it says."""
    first, full, width, middle, power = solimp
    first, full, middle = np.clip([first, full, middle], 1e-4, 0.9999)
    power = max(1, power)
    if width < 1e-15 or first == full:
        return np.full_like(r, 0.5 * (first + full))
    x = np.minimum(np.abs(r) / width, 1)
    below = x**power / middle ** (power - 1)
    above = 1 - (1 - x) ** power / (1 - middle) ** (power - 1)
    y = x if power == 1 else np.where(x <= middle, below, above)
    return first + y * (full - first)


def written_reference(solref, solimp, timestep):
    """(K, B) by the documentation."""
    T, z = solref
    full = np.clip(solimp[1], 1e-4, 0.9999)
    if (T > 0) != (z > 0):
        T, z = 0.02, 1
    if T > 0:
        T = max(T, 2 * timestep)
        return 1 / (full * T * z) ** 2, 2 / (full * T)
    return -T / full**2, -z / full


def slides(timestep=0.002, option=""):
    """Slides of different masses, each with a range and other parameters: all of SOLREF with all of SOLIMP."""
    bodies = ""
    for solref in SOLREF.values():
        for solimp in SOLIMP.values():
            numbers = [" ".join(map(str, x)) for x in (solref, solimp)]
            limit = f'range="-.05 .07" solreflimit="{numbers[0]}" solimplimit="{numbers[1]}"'
            mass = 0.1 + 0.05 * bodies.count("<body>")
            geom = f'<geom size=".1" mass="{mass}" contype="0" conaffinity="0"/>'
            bodies += f'<body><joint type="slide" {limit}/>{geom}</body>'
    option = f'<option timestep="{timestep}" gravity="0 0 -9.81">{option}</option>'
    return f"<mujoco>{option}<worldbody>{bodies}</worldbody></mujoco>"


@pytest.mark.filterwarnings("ignore:mixed solref")
@pytest.mark.parametrize("flag", ["", '<flag refsafe="disable"/>'], ids=["refsafe", "not refsafe"])
def test_a_single_row_by_the_formula_and_by_mujoco(flag):
    m = complete(slides(option=flag))
    sim, rng = saltus.Simulation(saltus.load(m)), np.random.default_rng(0)
    laws = [(solref, solimp) for solref in SOLREF.values() for solimp in SOLIMP.values()]
    for reach in (0.01, 0.1, 0.5):
        q = rng.choice([-1, 1], len(laws)) * (0.07 + reach * rng.random(len(laws)))
        v = rng.normal(size=len(laws))
        sim.qpos[:-1], sim.qvel[:-1] = q, v
        r, s = np.where(q > 0, 0.07 - q, q + 0.05), np.where(q > 0, -v, v)  # violation and its rate
        d = np.array([written_impedance(solimp, x) for (_, solimp), x in zip(laws, r, strict=True)])
        K, B = np.array([written_reference(*law, 2e-3 if not flag else 0.0) for law in laws]).T
        wanted = (1 - d) * np.where(q > 0, G, -G) + d * (-B * s - K * d * r)
        pushed = wanted > np.where(q > 0, G, -G)  # a limit does not pull
        wanted = np.where(pushed, wanted, np.where(q > 0, G, -G))
        np.testing.assert_allclose(sim.data.qacc[:-1], np.where(q > 0, -wanted, wanted), rtol=1e-12, atol=1e-12)
    # and against MuJoCo's own, rows and all
    assert_same_rows(m, 5, spread=0.3)


CURVES = {
    name: (*np.clip(c[:2], 1e-4, 0.9999), c[2], np.clip(c[3], 1e-4, 0.9999), max(1, c[4])) for name, c in SOLIMP.items()
}


@pytest.mark.parametrize("name", CURVES)
def test_the_curve_of_the_impedance(name):
    """Symmetric, from the first to the second value, as documented in between, ends included."""
    curve = tuple(map(float, CURVES[name]))
    width = curve[2] or 0.1
    r = width * np.array([0, 1e-12, 0.05, 0.1, 0.3, 0.4, 0.5, 0.7, 0.8, 0.99, 1, 1.5, 100])
    found = [interpret(impedance)(curve, x) for x in r]
    np.testing.assert_allclose(found, written_impedance(curve, r), rtol=1e-14)
    np.testing.assert_array_equal([interpret(impedance)(curve, -x) for x in r], found)
    if curve[2]:
        np.testing.assert_allclose([found[0], found[-1]], curve[:2], rtol=0, atol=1e-15)


CUBIC = tuple(map(float, SOLIMP["cubic, late midpoint"]))


@kernel
def cubic(x):
    """The impedance at a violation."""
    return (impedance(CUBIC, x[0]),)


def test_tangents_where_the_powers_vanish():
    """At no violation, at the full width and beyond it the slope of a cubic curve is zero, not a division of zeros."""
    width, points = CUBIC[2], np.array([0.0, 0.3, -0.5, 0.9, 1.0, 1.5])
    found, slopes = Cases(cubic, 1, 1)("dual", width * points[:, None], np.ones((6, 1, 8)))
    np.testing.assert_allclose(found[:, 0], written_impedance(CUBIC, width * points), rtol=1e-14)
    h = 1e-6 * width
    wanted = [
        (written_impedance(CUBIC, width * x + h) - written_impedance(CUBIC, width * x - h)) / (2 * h) for x in points
    ]
    np.testing.assert_allclose(slopes[:, 0, 0], wanted, rtol=0, atol=1e-5 / width)
    for kind in ("lane64", "lane32"):
        assert np.isfinite(Cases(cubic, 1, 1)(kind, width * points[:, None])).all()


@kernel
def between_impedances(x):
    return (impedance((x[0], x[1], 0.2, 0.5, 2.0), x[2]),)


def test_tangents_of_equal_impedances():
    """d = first + y (full - first): its slopes are 1 - y and y, also where both impedances are equal."""
    place = np.array([0.0, 0.1, 0.4, 0.6, 0.9, 1.0, 2.0])
    x = np.stack([np.full(7, 0.7), np.full(7, 0.7), 0.2 * place], axis=1)
    seeds = np.broadcast_to(np.eye(3, 8), (7, 3, 8))
    found, slopes = Cases(between_impedances, 3, 1)("dual", x, seeds)
    y = np.where(place <= 0.5, 2 * place**2, np.where(place < 1, 1 - 2 * (1 - place) ** 2, 1.0))
    np.testing.assert_allclose(found[:, 0], 0.7, rtol=1e-15)
    np.testing.assert_allclose(slopes[:, 0, :3], np.stack([1 - y, y, 0 * y], axis=1), rtol=0, atol=1e-14)


# ------------------------------------------------------------ bodies on a plane


def on_a_plane(solref, solimp=(0.9, 0.9, 1), height=0.1, masses=(1.0,), condim=1, option="", timestep=0.002):
    """Free spheres of radius 0.1 beside each other above a plane, all with one law."""
    law = f'solref="{solref[0]} {solref[1]}" solimp="{" ".join(map(str, solimp))}" condim="{condim}"'
    balls = "".join(
        f'<body pos="0 {k} {height}"><freejoint/><geom size=".1" mass="{mass}" {law}/></body>'
        for k, mass in enumerate(masses)
    )
    return complete(
        f'<mujoco><option timestep="{timestep}" {option}/><worldbody><geom type="plane" size="1 1 1" {law}/>{balls}'
        "</worldbody></mujoco>"
    )


@pytest.mark.parametrize("integrator", ["euler", "rk4"])
@pytest.mark.parametrize(
    ("solref", "factor"), [((0.02, 1), 0.02**2), ((0.04, 0.7), 0.028**2), ((-2000, -60), 1 / 2000)]
)
def test_rest_penetration(solref, factor, integrator):
    """g (1 - d) (T z)², or g (1 - d)/k, of whatever mass; after two seconds transients are below rounding."""
    sim = saltus.Simulation(
        saltus.load(on_a_plane(solref, masses=(0.01, 1.0, 100.0), condim=3, option='cone="elliptic"')), integrator
    )
    sim.step(2000)
    np.testing.assert_allclose(sim.data.contact["dist"], -G * 0.1 * factor, rtol=1e-9)


def test_rest_penetration_where_the_impedance_varies():
    """With the default curve: 0 = -(1 - d) g - d² K r at the depth r that is reached."""
    solimp = SOLIMP["default"]
    sim = saltus.Simulation(saltus.load(on_a_plane((0.02, 1), solimp, masses=(0.01, 1.0, 100.0))))
    sim.step(1000)
    r = sim.data.contact["dist"]
    d = written_impedance(solimp, r)
    K, _ = written_reference((0.02, 1), solimp, 0.002)
    np.testing.assert_allclose(-d * d * K * r, (1 - d) * G, rtol=1e-9)


def test_a_drop_into_a_stiff_damper():
    """A ball falls 0.5 m; then r'' = -(1 - d) g - b r' - k r until the force would pull, k = 5000, b = 20, d = 0.9.

    The reference's digits are of an integration at 25 digits. Contact is noticed up to a step late: by then the speed
    is wrong by less than h (g + B v) = 1.4e-4 m/s, and times by h.
    """
    h = 2e-6
    m = on_a_plane((-5000, -20), height=0.6, timestep=h)
    sim = saltus.Simulation(saltus.load(m), "rk4")
    sim.step(round(0.3192 / h))
    states = []
    for _ in range(round(0.043 / h)):
        sim.step()
        states.append((sim.time, sim.qpos[2] - 0.1, sim.qvel[2]))
    time, r, v = np.array(states).T
    impact = np.flatnonzero(r < 0)[0]
    assert time[impact] == pytest.approx(0.3192754284070505, abs=h)
    assert r.min() == pytest.approx(-0.03626714006021883, abs=2e-6)
    falling = np.diff(v) / h < -G + 1e-6
    release = r.argmin() + np.flatnonzero(falling[r.argmin() :])[0]
    # where the acceleration goes through that of free fall, it changes by less than 3e3 m/s³
    assert time[release] - time[impact] == pytest.approx(0.04184154394311854, abs=3 * h)
    assert v[release] == pytest.approx(2.074959724060195, abs=2e-4)
    assert r[release] + v[release] ** 2 / (2 * G) == pytest.approx(0.2129082575600263, abs=5e-5)


def test_a_ball_bounces_without_damping():
    """Direct format, no damping: it comes back to where it fell from, to 0.1 % a bounce (RK4, 0.1 ms).

    Contact begins and ends between steps: of each, at most a step's work of the gravity that contact takes away.
    """
    sim = saltus.Simulation(saltus.load(on_a_plane((-5000, 0), height=0.6, timestep=1e-4)), "rk4")
    heights = []
    for _ in range(30_000):
        before, sim_v = sim.qpos[2], sim.qvel[2]
        sim.step()
        if sim_v > 0 >= sim.qvel[2]:
            heights.append(before - 0.1)
    assert len(heights) == 4
    np.testing.assert_allclose(heights, 0.5, rtol=1e-3)


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
@pytest.mark.parametrize(("solref", "speed"), [((-5000, -20), 0.01269507416227864), ((0.02, 1), 0.002539014832455729)])
def test_creep_on_a_slope(solref, speed, cone):
    """A block on a slope of 15 degrees, μ = 0.6: it creeps at (1 - d)/d g sin(15°)/B; times 1 + μ² with pyramids.

    Slides hold its attitude, so that its inverse inertia at the contact is 1/m in all directions.
    """
    law = f'solref="{solref[0]} {solref[1]}" solimp=".9 .9 1" friction=".6 .1 .1"'
    joints = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    angle = np.radians(15)
    gravity = f"{G * np.sin(angle)} 0 {-G * np.cos(angle)}"
    m = complete(
        f'<mujoco><option cone="{cone}" timestep="5e-4" gravity="{gravity}"/><worldbody>'
        f'<geom type="plane" size="1 1 1" {law}/><body pos="0 0 .1">{joints}<geom size=".1" mass="2" {law}/></body>'
        "</worldbody></mujoco>"
    )
    sim = saltus.Simulation(saltus.load(m))
    sim.step(8000)
    wanted = speed * (1 + 0.6**2 if cone == "pyramidal" else 1)
    np.testing.assert_allclose(sim.qvel[:3], [wanted, 0, 0], rtol=1e-9, atol=1e-12)
