"""Soft rows with the velocities of the middle of a step: `energy_momentum` is of second order with damped constraints.

Law: a row that acts alone on a mass has the acceleration (1 - d) a₀ - d (B v + K d r), a damped oscillator while its
impedance d is constant (MuJoCo documentation, Computation: Constraint model); loops have none of closed form.
Reference: the oscillator's closed form; `dopri5` at 1e-11 for loops and for friction by rolling; the ledger's sum.

Tolerances: the order is fitted to 0.2 (first order, as with velocities of the start, gives 1); the iteration ends at
1e-13 of the largest velocity.
"""

import numpy as np
import pytest
from scipy.linalg import expm

import saltus

STEPS = np.array([2e-3, 1e-3, 5e-4])
D, TAU, RATIO, G = 0.9, 0.05, 0.7, 9.81
LAW = f'solref="{TAU} {RATIO}" solimp="{D} {D} 0.001"'
# a ball pressed on a floor, a weight pressed on the end of its range, and a ball that begins to roll
PRESSED = f"""<mujoco><option cone="elliptic"/><worldbody><geom type="plane" size="9 9 1" {LAW} friction="0.6"/>
  <body pos="0 0 0.1"><joint type="slide" axis="0 0 1"/><geom size="0.1" mass="2" {LAW} condim="1"/></body>
  <body pos="3 0 1"><joint type="slide" axis="0 0 1" range="0 9" solreflimit="{TAU} {RATIO}"
    solimplimit="{D} {D} 0.001"/><geom size="0.1" mass="2"/></body>
  <body pos="-3 0 0.1"><freejoint/><geom size="0.1" mass="2" {LAW}/></body></worldbody></mujoco>"""
LINK = '<geom type="capsule" size=".02" fromto="0 0 0 {}" contype="0" conaffinity="0"/>'
LOOPS = f"""<mujoco><worldbody>
  <body><joint axis="0 1 0"/>{LINK.format("0.3 0 0.4")}
    <body name="coupler" pos=".3 0 .4"><joint axis="0 1 0"/>{LINK.format("0.6 0 0.1")}</body></body>
  <body name="rocker" pos="1 0 0"><joint axis="0 1 0"/>{LINK.format("-0.1 0 0.5")}</body>
  <body pos="0 2 0"><joint axis="0 1 0"/>{LINK.format("0.3 0 0.4")}
    <body name="other" pos=".3 0 .4"><joint axis="0 1 0"/>{LINK.format("0.6 0 0.1")}</body></body>
  <body name="held" pos="1 2 0"><joint type="ball"/>{LINK.format("-0.1 0 0.5")}</body></worldbody>
  <equality><connect body1="rocker" body2="coupler" anchor="-.1 0 .5" solref="{TAU} {RATIO}"/>
    <weld body1="held" body2="other" anchor="0 0 0" solref="{TAU} {RATIO}"/></equality></mujoco>"""


def pressed(h, **options):
    sim = saltus.Simulation(PRESSED, "energy_momentum", timestep=h, **options)
    sim.qpos[:2] -= 0.02, 0.02
    sim.qpos[4] -= 0.02
    sim.qvel[:] = 0.0, -0.1, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0
    return sim


def order(errors):
    return np.polyfit(np.log(STEPS), np.log(errors), 1)[0]


def test_a_pressed_weight_is_a_damped_oscillator():
    """Of second order to the closed form, against the floor and the end of a range."""
    damping, stiffness = 2.0 / (D * TAU), 1.0 / (D * D * TAU * TAU * RATIO * RATIO)
    matrix = np.zeros((3, 3))
    matrix[0, 1] = 1.0
    matrix[1] = -D * stiffness * D, -D * damping, -(1.0 - D) * G
    errors = []
    for h in STEPS:
        sim = pressed(h)
        sim.step(round(0.04 / h))
        exact = [expm(0.04 * matrix) @ (-0.02, speed, 1.0) for speed in (0.0, -0.1)]
        assert max(r for r, _, _ in exact) < 0.0
        errors.append([abs(sim.qpos[k] - exact[k][0]) for k in range(2)])
    assert [order(e) for e in np.transpose(errors)] == pytest.approx([2.0, 2.0], abs=0.2)


def test_a_ball_begins_to_roll():
    """Sliding, then sticking softly by the damped tangents of its cone: the energy's sum closes at every step."""
    report = pressed(2e-3).run(0.5, sample=0.1, ledger=True).energy_report()
    assert min(np.ptp(report["contact"]), np.ptp(report["limits"])) > 0.01
    assert np.abs(report.residual).max() < 1e-11


def test_loops_are_of_second_order():
    """Connect and weld with soft rows, whose bias accelerations are those of the middle, too."""

    def turning(integrator, **options):
        sim = saltus.Simulation(LOOPS, integrator, **options)
        sim.qvel[[0, 3]] = 1.0
        return sim

    exact = turning("dopri5", tolerance=1e-11)
    exact.run(0.08)
    errors = []
    for h in 0.5 * STEPS:
        sim = turning("energy_momentum", timestep=h)
        sim.step(round(0.08 / h))
        assert sim.unconverged == 0
        errors.append(np.linalg.norm(sim.qpos - exact.qpos))
    assert order(errors) == pytest.approx(2.0, abs=0.2)
