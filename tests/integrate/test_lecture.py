"""The lecture's pendulum: how much energy each integrator gains or loses in 100 s.

Law: energy is kept, E = ½ m l² θ'² + m g l (1 - cos θ) from the lowest point, computed here from angle and rate alone.
Released at rest at π/2, m = 2 kg, l = 2 m, g = 9.81, steps of 0.05 s, no motor. Source: O. C. Jenkins, "Dynamics and
Numerical Integration", University of Michigan (2019); the ratios are known to the digits given, from independent
implementations.

Tolerance: one unit of the last digit given.
"""

import numpy as np
import pytest

import saltus

M = L = 2.0
G = 9.81


def energies(integrator, duration=100.0):
    """E/E0 after each step."""
    sim = saltus.Simulation("pendulum", integrator, timestep=0.05)
    assert sim.qpos[0] == np.pi / 2 and sim.qvel[0] == 0.0
    trajectory = sim.run(duration, sample=0.05)
    theta, rate = trajectory.qpos[:, 0], trajectory.qvel[:, 0]
    energy = 0.5 * M * L**2 * rate**2 + M * G * L * (1 - np.cos(theta))
    assert len(energy) == round(duration / 0.05) + 1
    return energy / energy[0]


@pytest.mark.parametrize(
    ("integrator", "ratio", "digit"),
    [
        ("explicit_euler", 13.386, 1e-3),
        ("velocity_verlet", 0.99954, 1e-5),
        ("midpoint", 1.03490, 1e-5),
        ("rk4", 0.99997, 1e-5),
    ],
)
def test_energy_at_the_end(integrator, ratio, digit):
    assert abs(energies(integrator)[-1] - ratio) <= digit


@pytest.mark.parametrize(
    ("integrator", "lowest", "highest", "digit"),
    [("euler", 0.9530, 1.0504, 1e-4), ("velocity_verlet", 0.99745, 1.0, 1e-5)],
)
def test_symplectic_methods_keep_energy_in_a_band(integrator, lowest, highest, digit):
    found = energies(integrator)
    assert abs(found.min() - lowest) <= digit
    assert abs(found.max() - highest) <= digit


@pytest.mark.parametrize("integrator", ["euler", "verlet", "velocity_verlet", "implicit_midpoint"])
def test_the_band_does_not_widen(integrator):
    """In the second half of 1000 s the energy stays within the band of the first 100 s, but for a thousandth."""
    found = energies(integrator, 1000.0)
    early, late = found[:2001], found[10000:]
    slack = 1e-3 * np.ptp(early)
    assert early.min() - slack <= late.min() and late.max() <= early.max() + slack


def test_the_others_drift():
    """Explicit Euler and the explicit midpoint rule gain, ever on; rk4 loses slowly."""
    for integrator, sign in (("explicit_euler", 1), ("midpoint", 1), ("rk4", -1)):
        means = energies(integrator)[1:].reshape(10, -1).mean(axis=1)
        assert np.all(sign * np.diff(means) > 0), integrator
