"""Measures of a run are the numbers that its motion has in closed form.

Charter. Law: free flight z = z0 + v0 t - g t²/2, the undamped oscillator, a sheet's vertex moved by hand; elementary
mechanics. Tolerances: RK4 is exact for free flight to rounding; a least or largest value between samples
is missed by at most g dt²/8; the oscillator's amplitude by ω² dt²/8 of itself.
"""

import numpy as np
import pytest

import saltus
from saltus.errors import OptionError
from saltus.study.measures.measure import measured, parse, unit_of
from saltus.study.measures.reductions import REDUCTIONS, apex, bounces

G = 9.81
FLIGHT = """<mujoco model="flight"><option timestep="0.01" gravity="0 0 -9.81" integrator="RK4"/><worldbody>
  <body name="ball" pos="0 0 1"><freejoint name="free"/>
  <geom name="ball" size="0.1" mass="2" contype="0" conaffinity="0"/>
  <site name="s"/></body>
  <body name="mass" pos="5 0 0"><joint name="x" type="slide" axis="1 0 0" stiffness="40"/>
  <geom size="0.1" mass="1.6" contype="0" conaffinity="0"/></body></worldbody>
  <sensor><framepos name="where" objtype="site" objname="s"/><jointpos name="slid" joint="x"/></sensor></mujoco>"""


@pytest.fixture(scope="module")
def flight():
    """A ball thrown up at 3 m/s and an oscillator with ω = 5 rad/s, 1.5 s in samples of 0.01 s."""
    sim = saltus.Simulation(FLIGHT)
    sim.qvel[:] = [0.5, 0, 3, 0, 0, 2, 0]
    sim.qpos[7] = 0.2
    return sim, sim.run(1.5, 0.01, progress=False)


def of(flight, *names):
    found = measured([parse(name) for name in names], *flight, seconds=2.5)
    return [found[name] for name in names]


def test_height_and_places_of_a_thrown_ball(flight):
    high = 1 + 9 / (2 * G)
    low = 1 + 3 * 1.5 - G * 1.5**2 / 2
    first, largest, last, least, span = of(
        flight, *(f"height[ball].{how}" for how in ("initial", "max", "final", "min", "range"))
    )
    assert first == 1.0 and 0 <= high - largest <= G * 0.01**2 / 8
    np.testing.assert_allclose([last, least, span], [low, low, largest - low], rtol=1e-12)
    np.testing.assert_allclose(of(flight, "xpos[ball][0].final", "sensor[where][0].final"), [0.75, 0.75], rtol=1e-12)
    np.testing.assert_allclose(of(flight, "qpos[free.z].final", "qvel[free.vz].final"), [low, 3 - G * 1.5], rtol=1e-12)


def test_energies(flight):
    """Of the ball: m v²/2 + I ω²/2 + m g z, with I = 2/5 m r² of a sphere; it does not change in flight."""
    expected = 0.5 * 2 * (0.25 + 9) + 0.5 * 0.4 * 2 * 0.01 * 4 + 2 * G * 1
    first, span = of(flight, "body_energy[ball].initial", "body_energy[ball].range")
    np.testing.assert_allclose(first, expected, rtol=1e-12)
    assert span < 1e-11
    total, kinetic, potential, drift = of(flight, "energy.final", "kinetic.final", "potential.final", "energy_drift")
    np.testing.assert_allclose(total, kinetic + potential, rtol=1e-13)
    assert drift < 1e-6


def test_an_oscillator(flight):
    largest, rms, slid = of(flight, "qpos[x].max", "qpos[x].rms", "sensor[slid].final")
    assert 0 <= 0.2 - largest < 1e-8
    t = flight[1].time
    np.testing.assert_allclose(rms, np.sqrt(np.mean((0.2 * np.cos(5 * t)) ** 2)), rtol=1e-6)
    np.testing.assert_allclose(slid, 0.2 * np.cos(7.5), atol=1e-6)


def test_numbers_of_a_run(flight):
    assert of(flight, "wall_time", "events") == [2.5, 0.0]


def test_looking_leaves_no_trace(flight):
    """The quantities of a state do not depend on those looked at before."""
    alone = of(flight, "height[ball].mean")
    assert of(flight, "sensor[slid].mean", "height[ball].mean", "penetration.max")[1:] == [*alone, 0.0]


def test_sag_of_a_sheet():
    """A vertex lowered by hand, of an upright sheet; its slides are along the world's axes."""
    sheet = """<mujoco><option timestep="1e-5"/><worldbody><flexcomp name="sheet" type="grid" count="3 3 1" pos="0 0 1"
      euler="90 0 0" spacing=".1 .1 .1" dim="2" mass="1" radius=".01"><contact contype="0" conaffinity="0"/>
      <edge equality="false"/><elasticity young="1e3" thickness="0.01" elastic2d="both"/><pin id="0 2"/></flexcomp>
      </worldbody></mujoco>"""
    sim = saltus.Simulation(sheet)
    sim.qpos[5] -= 0.03
    run = sim.run(1e-5, 1e-5, progress=False)
    found = measured([parse("sag[sheet].initial")], sim, run, 0.0)
    np.testing.assert_allclose(found["sag[sheet].initial"], 0.03, rtol=1e-12)


def test_rebounds():
    """|cos| falls to zero and rises to one; a damped train of arcs rises less each time, and flat is no bounce."""
    t = np.linspace(0, 3 * np.pi, 3001)
    assert apex(abs(np.cos(t))) == pytest.approx(1.0, abs=1e-6) and bounces(abs(np.cos(t))) == 3
    damped = np.exp(-0.2 * t) * abs(np.cos(t))
    # the second arc is highest where its derivative vanishes: tan t = -0.2
    top = np.pi - np.arctan(0.2)
    assert apex(damped) == pytest.approx(np.exp(-0.2 * top) * abs(np.cos(top)), abs=1e-5)
    assert bounces(np.ones(5)) == 0 and bounces(np.linspace(1, 0, 9)) == 0 and bounces(np.linspace(0, 1, 9)) == 0
    assert REDUCTIONS["loss"].of(damped) == pytest.approx(1 - apex(damped))


@pytest.mark.parametrize("sample", [1 / 60, 1 / 240, 1e-3])
@pytest.mark.parametrize("restitution", [0.0, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("height", [0.3, 1.0, 5.0])
def test_a_dropped_ball_rebounds_as_high_as_its_restitution_says(height, restitution, sample):
    """h e²; a sample misses it by at most g dt²/8. Without restitution nothing rises, whatever samples of the fall are.

    The motion is the closed form: parabolas from one impact to the next, at rest after twenty.
    """
    fall = np.sqrt(2 * height / G)
    t = np.arange(0.0, 1.95 * fall * (1 + restitution), sample)
    z = height - G * t**2 / 2
    impact, speed = fall, G * fall
    for _ in range(20):
        speed *= restitution
        z = np.where(t >= impact, speed * (t - impact) - G * (t - impact) ** 2 / 2, z)
        impact += 2 * speed / G
        z = np.where(t >= impact, 0.0, z)
    rebound = height * restitution**2
    assert 0 <= rebound - apex(z) <= G * sample**2 / 8 + 1e-12
    assert REDUCTIONS["loss"].of(z) == height - apex(z)


@pytest.mark.parametrize("sample", [1 / 60, 1e-3])
@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.9])
def test_the_bundled_ball_rebounds_as_high(restitution, sample):
    """The same from a run; the resting ball is where it touches to 1e-10 m."""
    sim = saltus.Simulation("bouncing_ball", contact=saltus.Hard(restitution=restitution))
    sim.qpos[0] = 1.0
    trajectory = sim.run(1.2, sample, progress=False)
    found = measured([parse("qpos[height].apex")], sim, trajectory, 0.0)["qpos[height].apex"]
    assert -1e-9 <= restitution**2 - found <= G * sample**2 / 8 + 1e-9


def test_what_never_rises_has_its_least_value_as_apex():
    assert apex(np.linspace(1.0, 0.2, 9)) == 0.2 and apex(np.ones(4)) == 1.0 and apex(np.array([3.0])) == 3.0
    assert apex(np.array([0.0, 1.0, 3.0, 2.0])) == 3.0  # it starts at its lowest
    # a shiver on the way down is no low point
    assert apex(np.array([10.0, 8.0, 8.1, 5.0, 2.0, 0.0, 1.0, 1.5, 1.0])) == 1.5


def test_units(flight):
    model = flight[0].model
    units = {"height[ball].max": "m", "qvel[x].max": "m/s", "energy.min": "J", "wall_time": "s", "energy_drift": ""}
    assert {name: unit_of(parse(name), model) for name in units} == units
    assert unit_of(parse("height[ball].bounces"), model).strip() == ""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("heigth[ball].max", "unknown measure 'heigth'; did you mean 'height'"),
        ("height[ball].maximum", "unknown reduction in measure height.ball..maximum"),
        ("height[ball]", "the reduction is missing"),
        ("height[ball", "is not a measure"),
        ("energy_drift.max", "without element or reduction"),
        ("height[bal].max", "did you mean 'ball'"),
        ("height.max", "expected height.body."),
        ("xpos[ball][3].max", r"index \[3\] is out of range"),
        ("sensor[where].max", "it has 3 readings"),
        ("qpos[y].max", "unknown joint"),
        ("sag[sheet].max", "unknown flex"),
    ],
)
def test_what_cannot_be_measured(flight, name, message):
    with pytest.raises(OptionError, match=message):
        unit_of(parse(name), flight[0].model)
