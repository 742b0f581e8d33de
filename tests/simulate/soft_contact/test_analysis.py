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

import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus

SIMULATED = 1e-8
G = 9.81
DROP = {"solref": (-5000, -20), "solimp": (0.9, 0.9), "speed": math.sqrt(2 * G * 0.5)}


def after(law, start, duration):
    """Height (m) some seconds after a release at a height, by dopri5 with its default tolerance of 1e-8 a step."""
    sim = saltus.Simulation(law.xml, "dopri5")
    sim.qpos[0] = start
    sim.step(round(duration / sim.timestep))
    return float(sim.qpos[0])


# ---------------------------------------------------------------- at rest


@pytest.mark.parametrize("solimp", [(0.9, 0.95), (0.2, 0.99, 0.01, 0.3, 3), (0, 0.9, 0.003, 0.5, 1), (0.99, 0.5, 0.01)])
@pytest.mark.parametrize("solref", [(0.02, 1), (-900, -60)])
def test_a_long_simulation_ends_at_rest(solref, solimp):
    """After 100 time constants nothing is left of the motion, and a fixed point does not depend on the step."""
    law = saltus.contact_law(solref, solimp)
    sim = saltus.Simulation(law.xml, "euler")
    sim.step(int(100 * law.time_constant / law.timestep))
    assert_allclose(-sim.qpos[0], law.rest_penetration, rtol=1e-9)
    assert_allclose(law.force(-law.rest_penetration), law.mass * law.gravity, rtol=1e-12)


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
        ({"solref": (0.001, 1), "refsafe": False}, "use at most 0.0005 s"),
        ({"solref": (0.02, 0.05)}, "use at most"),
        ({"solref": (0.02, -1)}, "different signs"),
        ({"solref": (0.02, 2)}, "divides the stiffness by 4"),
        ({"solimp": (0, 0.95)}, "impedance at the surface of solimp is 0, out of range; 0.0001 is used"),
        ({"solimp": (0.9, 1)}, "impedance at full width of solimp is 1, out of range; 0.9999 is used"),
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
    assert rows["effective stiffness"] == "1e+04 N/m"
    assert rows["effective damping"] == "40 N s/m"
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
