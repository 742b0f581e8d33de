"""Accelerations, forces and rest under a soft law. References: MuJoCo's law; closed forms of constant impedance."""

import math

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus

SIMULATED = 1e-8
G = 9.81
DROP = {"solref": (-5000, -20), "solimp": (0.9, 0.9), "speed": math.sqrt(2 * G * 0.5)}


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


@pytest.mark.parametrize("d", [0.0001, 0.5, 0.9, 0.9999])
def test_rest_of_constant_impedance(d):
    direct = saltus.contact_law((-700, -3), (d, d))
    assert_allclose(direct.rest_penetration, G * (1 - d) / 700, rtol=1e-12)
    assert_allclose([direct.stiffness, direct.damping], [700, 3], rtol=1e-12)
    assert_allclose(direct.reference_stiffness * d, 700, rtol=1e-12)
    standard = saltus.contact_law((0.05, 0.3), (d, d), gravity=1.62)
    assert_allclose(standard.rest_penetration, 1.62 * (1 - d) * (0.05 * 0.3) ** 2, rtol=1e-12)
    assert_allclose([standard.time_constant, standard.damping_ratio], [0.05, 0.3], rtol=1e-12)


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
