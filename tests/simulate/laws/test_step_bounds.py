"""Laws that depend on time under steps that are chosen by an error estimate.

Laws: momentum. A force of 100 N from 5 to 5.1 s gives a free kilogram 10 m/s, wherever steps end, and takes it
100 (0.1²/2 + 0.1 · 4.9) m by 10 s. Tolerances: with declared breaks every step is exact, and the sides of a break are
passed without a force, 4e-15 of the time each, so that 100 N miss at most 100 · 4 · 4e-15 · 6 N s; without them an
estimate that takes the law for smooth misses a jump by some 100 times its tolerance, 2 · 100 · 1e-8 of 10 m/s.
"""

import copy

import numpy as np
import pytest

import saltus
from saltus.errors import OptionError
from saltus.integrate.adaptive.memory import REJECTED, TAKEN
from saltus.number.functions import where
from saltus.number.kernels import kernel
from saltus.simulate.laws.step_bounds import laws_of_time

MASS = """<mujoco><option timestep="0.01" gravity="0 0 0"/><worldbody><body><joint name="x" type="slide"/>
<geom size=".05" mass="1"/></body></worldbody><actuator><motor joint="x"/></actuator></mujoco>"""
PULSE = (5.0, 5.1)
SPEED, WAY = 10.0, 100 * (0.1**2 / 2 + 0.1 * 4.9)
ROUNDING = 1e-11
LAWS = ({"integrator": "dopri5"}, {"contact": "hard"})
FREE = {"max_step": np.inf, "breaks": PULSE}


@kernel
def strength(d):
    time = d.time
    return where((time > 5.0) & (time < 5.1), 100.0 + 0.0 * time, 0.0 * time)


def push(m, d, z):
    d.ctrl[0] = strength(d)


def drag(m, d, z):
    d.ctrl[0] = -d.qvel[0]


def clock(m, d):
    return d.time - 7.0


CONTROL = saltus.controller(push)


@pytest.mark.parametrize("how", LAWS, ids=str)
def test_a_pulse_of_a_compiled_law_is_not_stepped_over(how):
    sim = saltus.Simulation(MASS, **how)
    trajectory = sim.run(10, control=CONTROL, certify=True)
    assert sim.qvel[0] == pytest.approx(SPEED, abs=2e-5) and sim.qpos[0] == pytest.approx(WAY, abs=1e-4)
    assert trajectory.attrs["max_step"] == 0.01
    assert "push depends on time; steps were at most max_step = 0.01 s" in str(trajectory.certificate)
    assert trajectory.certificate.ok
    # the bound comes and goes with the law, and follows the timestep
    assert sim.engine.longest_step() == np.inf and sim.integrator.parameters[2][0] == np.inf
    sim.control = CONTROL
    sim.timestep = 0.02
    assert sim.integrator.parameters[2][0] == 0.02


@pytest.mark.parametrize("how", LAWS, ids=str)
def test_steps_end_at_breaks(how):
    """Nothing but the breaks lies in the way of steps: a dozen for ten seconds, each of them exact."""
    sim = saltus.Simulation(MASS, control=CONTROL, **how, **FREE)
    trajectory = sim.run(10, sample=0.05, certify=True)
    assert sim.time == 10.0
    assert sim.qvel[0] == pytest.approx(SPEED, abs=ROUNDING) and sim.qpos[0] == pytest.approx(WAY, abs=10 * ROUNDING)
    expected = np.interp(trajectory.time, (0, 5, 5.1, 10), (0, 0, SPEED, SPEED))
    np.testing.assert_allclose(trajectory.qvel[:, 0], expected, atol=ROUNDING)
    assert "steps end at the breaks" in str(trajectory.certificate) and trajectory.certificate.ok
    taken, rejected = sim.engine.d.views["memory"][[TAKEN, REJECTED]]
    assert taken + rejected < 30
    # steps of the timestep, whose ends come near the breaks to rounding; from a break on; a copy
    for start, h, steps in ((0.0, 0.01, 1000), (5.0, 0.1, 1), (4.9, 0.1, 3)):
        sim.reset()
        sim.time = start
        sim.timestep = h
        sim.step(steps)
        assert sim.qvel[0] == pytest.approx(SPEED, abs=ROUNDING)
        assert sim.time == pytest.approx(start + steps * h)
    sim.reset()
    other = copy.deepcopy(sim)
    other.run(10)
    assert other.qvel[0] == pytest.approx(SPEED, abs=ROUNDING)


def test_lanes_pass_breaks_each_at_its_own_time():
    """The bits of a simulation do not depend on its neighbours, which are at breaks while it is not."""
    starts = np.array([0.0, 3.0, 5.05, 5.0, 6.0])
    batch = saltus.Batch(MASS, 5, integrator="dopri5", control=CONTROL, timestep=10.0, **FREE)
    batch.time = starts
    batch.step()
    np.testing.assert_allclose(batch.qvel[:, 0], [SPEED, SPEED, SPEED / 2, SPEED, 0], atol=ROUNDING)
    for i, start in enumerate(starts):
        alone = saltus.Batch(MASS, 1, integrator="dopri5", control=CONTROL, timestep=10.0, **FREE)
        alone.time = start
        alone.step()
        assert alone.qvel[0, 0] == batch.qvel[i, 0] and alone.qpos[0, 0] == batch.qpos[i, 0]
    bounded = saltus.Batch(MASS, 2, integrator="dopri5", control=CONTROL, timestep=10.0)
    assert bounded.integrator.parameters[2][0] == 10.0
    bounded.timestep = 0.05
    assert bounded.integrator.parameters[2][0] == 0.05
    with pytest.raises(OptionError, match="float64"):
        saltus.Batch(MASS, 2, integrator="dopri5", precision="float32", breaks=[1.0])


def test_laws_that_read_the_time_are_found_in_what_they_call():
    def force(m, d, gap, velocity):
        return strength(d), 0.0, 0.0

    assert laws_of_time(CONTROL) == ["push"]
    assert laws_of_time(saltus.controller(drag)) == [] == laws_of_time(saltus.PID(kp=1.0))
    assert laws_of_time(None, law=saltus.Compliant(force)) == ["force"]
    event = saltus.Event(clock)
    sim = saltus.Simulation(MASS, "dopri5", events=[event])
    assert sim.engine.laws_of_time() == ["clock"] and sim.integrator.parameters[2][0] == 0.01


def test_a_certificate_says_when_a_law_may_have_been_stepped_over():
    sim = saltus.Simulation(MASS, "dopri5", control=CONTROL, max_step=np.inf)
    certificate = sim.run(10, certify=True).certificate
    assert not certificate.ok and "push depends on time and max_step is infinite" in str(certificate)
    sim = saltus.Simulation(MASS, "rk4", control=CONTROL)
    assert "push depends on time, read at the stages of steps of 0.01 s" in str(sim.run(6, certify=True).certificate)


def test_bounds_that_steps_have_no_use_for_are_refused():
    for integrator in ("rk4", "euler"):
        with pytest.raises(OptionError, match=f"max_step: every step of {integrator} is a timestep"):
            saltus.Simulation(MASS, integrator, max_step=0.1)
        with pytest.raises(OptionError, match=r"breaks: .* choose dopri5"):
            saltus.Batch(MASS, 2, integrator=integrator, breaks=PULSE)
    for bad in ({"max_step": -1.0}, {"breaks": [np.inf]}, {"breaks": "soon"}, {"max_step": [1.0, 2.0]}):
        with pytest.raises(OptionError, match=next(iter(bad))):
            saltus.Simulation(MASS, "dopri5", **bad)
