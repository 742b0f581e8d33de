"""Every integrator has the order that it declares, on hinges, ball joints and free bodies, with and without damping.

Law: the error at a fixed time shrinks like h^p (Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations I
(1993), II.3). The reference is SciPy's DOP853 at a tolerance of 1e-13 on MuJoCo's accelerations and the quaternions'
own differential equation, so it shares nothing with the integrators.

Tolerance: the slope of log(error) over log(h), fitted to four steps, is within 0.2 of p. The steps are small enough for
the next power of h to change the slope by less, and large enough for the error to stay above ten times the reference's
own, which is below 1e-13.
"""

import functools

import numpy as np
import pytest
from helpers import oracle

import saltus
from saltus.integrate.dense.dormand_prince import TABLEAU as DOPRI5
from saltus.integrate.radau.tableau import TABLEAU as RADAU

DURATION = 1.2
MOTIONS = {
    # two links that swing fast, the joints' axes not parallel
    "hinge": """
        <body><joint axis="0 1 0" {damping}/><inertial pos="0 0 -0.5" mass="1" diaginertia="0.1 0.08 0.02"/>
          <body pos="0 0 -1"><joint axis="0.6 0.8 0" {damping}/>
            <inertial pos="0 0.1 -0.4" mass="0.8" diaginertia="0.07 0.05 0.03"/></body></body>""",
    # a heavy asymmetric top
    "ball": """
        <body><joint type="ball" {damping}/>
          <inertial pos="0.05 0.1 0.3" mass="1" diaginertia="0.1 0.15 0.08"/></body>""",
    # an asymmetric body that spins about a point off its centre of mass
    "free": """
        <body><joint type="free" {damping}/>
          <inertial pos="0.1 -0.2 0.15" quat="0.9 0.1 0.2 0.3" mass="1" diaginertia="0.1 0.15 0.08"/></body>""",
}
START = {
    "hinge": ([1.2, -0.7], [1.0, -2.0]),
    "ball": ([0.8, 0.36, -0.48, 0.0], [1.0, -2.0, 4.0]),
    "free": ([0.0, 0.0, 1.0, 0.8, 0.36, -0.48, 0.0], [0.5, 1.0, -0.3, -4.0, 7.0, 7.0]),
}
GAUSS2 = saltus.ButcherTableau(
    [[0.25, 0.25 - 3**0.5 / 6], [0.25 + 3**0.5 / 6, 0.25]], [0.5, 0.5], name="gauss2", order=4
)
RADAU2 = saltus.ButcherTableau([["5/12", "-1/12"], ["3/4", "1/4"]], ["3/4", "1/4"], name="radau2", order=3)
HEUN = saltus.ButcherTableau([[0, 0], [1, 0]], ["1/2", "1/2"], name="heun")
RALSTON3 = saltus.ButcherTableau([[0, 0, 0], ["1/2", 0, 0], [0, "3/4", 0]], ["2/9", "1/3", "4/9"], name="ralston3")
RADAU3 = saltus.ButcherTableau(RADAU.a, RADAU.b, RADAU.c, name="radau in fixed steps", order=5)
DOPRI5_FIXED = saltus.ButcherTableau(DOPRI5.a, DOPRI5.b, name="dopri5 in fixed steps", order=5)

FIXED = [i for i in saltus.integrators().values() if not i.adaptive]
METHODS = [*FIXED, DOPRI5_FIXED, GAUSS2, RADAU2, RADAU3, HEUN, RALSTON3]
# numbers of steps, by order
STEPS = {
    1: (1200, 2400, 4800, 9600),
    2: (120, 240, 480, 960),
    3: (80, 160, 320, 640),
    4: (80, 160, 320, 640),
    5: (120, 150, 190, 240),
}


@functools.cache
def motion(name, damped):
    """Model of a motion and its exact end state."""
    damping = 'damping="0.3"' if damped else ""
    model = saltus.load(f"<mujoco><worldbody>{MOTIONS[name].format(damping=damping)}</worldbody></mujoco>")
    m = oracle.reference(model)
    qpos, qvel = oracle.exact(m, *START[name], [DURATION])
    return model, m, qpos[0], qvel[0]


def error(method, name, damped, steps):
    """Norm of the end state's tangent error after `steps` steps."""
    model, m, qpos, qvel = motion(name, damped)
    sim = saltus.Simulation(model, method, timestep=DURATION / steps)
    sim.qpos[:], sim.qvel[:] = START[name]
    sim.step(steps)
    assert sim.time == pytest.approx(DURATION, rel=1e-12)
    return np.linalg.norm(np.concatenate([oracle.difference(m, qpos, sim.qpos), sim.qvel - qvel]))


def fitted_order(method, name, damped, steps):
    errors = [error(method, name, damped, n) for n in steps]
    assert min(errors) > 1e-12, "the reference's error would spoil the slope"
    return -np.polyfit(np.log(steps), np.log(errors), 1)[0]


@pytest.mark.parametrize("damped", [False, True], ids=["free of damping", "damped"])
@pytest.mark.parametrize("name", MOTIONS)
@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_declared_order(method, name, damped):
    assert abs(fitted_order(method, name, damped, STEPS[method.order]) - method.order) < 0.2


@pytest.mark.parametrize("method", ["dopri5", "radau"])
def test_adaptive_errors_follow_the_tolerance(method):
    """An adaptive method has no step: its error goes down with the tolerance, and is of its size."""
    for tolerance in (1e-5, 1e-7, 1e-9, 1e-11):
        for name in MOTIONS:
            model, m, qpos, qvel = motion(name, True)
            sim = saltus.Simulation(model, method, timestep=DURATION, tolerance=(tolerance, tolerance))
            sim.qpos[:], sim.qvel[:] = START[name]
            sim.step()
            worst = np.max(np.abs(np.concatenate([oracle.difference(m, qpos, sim.qpos), sim.qvel - qvel])))
            # some twenty steps, each within the tolerance of values up to 5
            assert worst < 100 * tolerance


def test_every_integrator_is_tested_and_says_what_it_is():
    for name, integrator in saltus.integrators().items():
        assert integrator.name == name
        assert integrator.order >= 1 and integrator.reference
        assert integrator.kind in ("explicit", "semi-implicit", "implicit", "symplectic", "adaptive", "time-stepping")
    assert list(saltus.integrators()) == [
        "explicit_euler", "euler", "implicit", "implicitfast", "discrete", "verlet", "velocity_verlet", "midpoint",
        "rk4", "dopri5", "radau", "implicit_midpoint", "energy_momentum", "moreau_jean",
    ]  # fmt: skip
