"""`saltus.simulate(model, t0, tf, sampling_period, q0, v0)` is a run of `saltus.Simulation`, bit for bit.

The reference is the run that the same settings give through `saltus.Simulation`, and the closed form of free fall.
"""

import subprocess
import sys

import numpy as np
import pytest

import saltus
from saltus.errors import OptionError
from saltus.simulate.function import simulate

SOFT = {"contact": "soft", "integrator": "rk4"}

MUSCLE = """<mujoco><worldbody><body><joint name="j" axis="0 1 0"/><geom size="0.1" pos="0 0 -1" mass="1"
contype="0" conaffinity="0"/></body></worldbody><actuator><general name="m" joint="j" dyntype="filter" dynprm="0.1"/>
</actuator></mujoco>"""


RELAY = MUSCLE.replace('<general name="m" joint="j" dyntype="filter" dynprm="0.1"/>', '<motor joint="j"/>')


def angle(m, d):
    return d.qpos[0]


def turn_over(m, d):
    d.actuation_state[0] = -d.actuation_state[0]


def relay_law(m, d, z):
    d.ctrl[0] = d.actuation_state[0]


def test_it_is_a_run_of_a_simulation():
    t = saltus.simulate("pendulum", 1.0, 2.0, 0.125, [0.3], [-0.2], **SOFT)
    sim = saltus.Simulation("pendulum", "rk4")
    sim.time, sim.qpos[:], sim.qvel[:] = 1.0, 0.3, -0.2
    other = sim.run(1.0, 0.125)
    np.testing.assert_array_equal(t.T, other.time)
    np.testing.assert_array_equal(t.Q, other.qpos.T)
    np.testing.assert_array_equal(t.QDOT, other.qvel.T)
    assert t.T[0] == 1.0 and t.T[-1] == pytest.approx(2.0, rel=1e-15) and len(t.T) == 9
    assert t.attrs["contact"] == "soft" and t.end is None


def test_free_fall_between_samples_that_do_not_meet_the_end():
    """x = x0 + v0 t + g t²/2, which rk4 has exactly but for rounding: 1e-13 in some 100 steps."""
    g = 9.81
    ball = '<mujoco><worldbody><body><joint type="slide" axis="0 0 1"/><geom size="0.1"/></body></worldbody></mujoco>'
    t = saltus.simulate(ball, 0.0, 0.25, 0.1, 2.0, [1.0], **SOFT)
    np.testing.assert_allclose(t.Q[0], 2.0 + t.T - g * t.T**2 / 2, atol=1e-13)
    assert t.T.tolist() == pytest.approx([0.0, 0.1, 0.2]) and t.end is not None
    assert t.end["qpos"][0] == pytest.approx(2.0 + 0.25 - g * 0.25**2 / 2, abs=1e-13)


def test_states_of_actuators_begin_where_they_are_put():
    """dw/dt = (u - w)/τ from w = 1 with u = 0: e^(-t/τ), to rk4's error at h = τ/50, below 1e-9."""
    t = saltus.simulate(MUSCLE, 0.0, 0.5, 0.05, [0.0], [0.0], z0=[1.0], **SOFT)
    assert t.Z.shape == (1, 11)
    np.testing.assert_allclose(t.Z[0], np.exp(-t.T / 0.1), atol=1e-9)
    assert saltus.simulate(MUSCLE, 0.0, 0.1, 0.05, [0.0], [0.0], control=[1.0], **SOFT).Z[0, -1] > 0.6


@pytest.mark.slow
def test_discrete_states_of_actuation_begin_where_they_are_put():
    """The last column of ACTUATIONSTATE of one run is the start of the next; without it, the actuation's own start."""
    relay = saltus.Actuation(relay_law, start=[1.0], events=[saltus.Event(angle, turn_over, name="relay")])
    start = {"control": relay, "timestep": 0.01}
    whole = saltus.simulate(RELAY, 0.0, 2.0, 0.5, [-0.5], [0.0], **start)
    assert whole.ACTUATIONSTATE.shape == (1, 5) and whole.ACTUATIONSTATE[0, 0] == 1.0
    flipped = saltus.simulate(RELAY, 0.0, 0.1, 0.1, [-0.5], [0.0], actuation0=[-1.0], **start)
    assert flipped.ACTUATIONSTATE[0, 0] == -1.0 and flipped.ctrl[0, 0] == -1.0 and whole.ctrl[0, 0] == 1.0
    half = saltus.simulate(RELAY, 0.0, 1.0, 0.5, [-0.5], [0.0], **start)
    rest = saltus.simulate(
        RELAY, 1.0, 2.0, 0.5, half.Q[:, -1], half.QDOT[:, -1], actuation0=half.ACTUATIONSTATE[:, -1], **start
    )
    np.testing.assert_allclose(rest.Q[:, -1], whole.Q[:, -1], atol=1e-6)
    with pytest.raises(OptionError, match=r"actuation0 has shape \(2,\); the model has 1 discrete states"):
        saltus.simulate(RELAY, 0.0, 1.0, 0.5, [0.0], [0.0], actuation0=[1.0, 1.0], **start)


def test_controllers_and_functions_are_controls():
    held = saltus.simulate(MUSCLE, 0.0, 0.1, 0.05, [0.0], [0.0], control=lambda sim: [2.0], **SOFT)
    np.testing.assert_array_equal(held.ctrl, 2.0)
    pid = saltus.PID(kp=[3.0], ki=[1.0])
    led = saltus.simulate(MUSCLE, 0.0, 0.1, 0.05, [0.5], [0.0], control=pid, **SOFT)
    assert led.attrs["control"].startswith("PID") and np.abs(led.ctrl).max() > 0.1


def test_contact_is_hard_by_default():
    assert simulate.__kwdefaults__ is not None and simulate.__kwdefaults__["contact"] == "hard"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((1.0, 1.0, 0.1, [0], [0]), "tf must come after t0, got t0 = 1 s and tf = 1 s"),
        ((0.0, np.inf, 0.1, [0], [0]), "tf must come after t0"),
        (("now", 1.0, 0.1, [0], [0]), "t0 and tf must be numbers of seconds, got 'now'"),
        ((0.0, 1.0, 0.0, [0], [0]), "sampling_period must be positive"),
        ((0.0, 1.0, 0.1, [0, 0], [0]), r"q0 has shape \(2,\); the model has 1 positions"),
        ((0.0, 1.0, 0.1, [0], [[0]]), r"v0 has shape \(1, 1\); the model has 1 velocities"),
        ((0.0, 1.0, 0.1, [np.nan], [0]), r"q0\[0\] is not finite"),
        ((0.0, 1.0, 0.1, ["a"], [0]), r"q0 must be numbers \[1\]"),
    ],
)
def test_bad_arguments_are_named(arguments, why):
    with pytest.raises(OptionError, match=why):
        saltus.simulate("pendulum", *arguments, **SOFT)


def test_bad_states_of_actuators_are_named():
    with pytest.raises(OptionError, match=r"z0 has shape \(2,\); the model has 1 states of actuators"):
        saltus.simulate(MUSCLE, 0.0, 1.0, 0.1, [0.0], [0.0], z0=[1.0, 2.0], **SOFT)


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "import saltus; f = saltus.simulate",
        "import saltus.simulate.running.run, saltus; f = saltus.simulate; f.running.run.run",
        "import saltus; saltus.Simulation; f = saltus.simulate",
        "from saltus import simulate as f",
        "import saltus.simulate as f",
    ],
)
def test_the_package_is_the_function_whatever_was_imported_before(code):
    code += (
        "; import inspect; assert callable(f) and list(inspect.signature(f).parameters)[:3] == ['model', 't0', 'tf']"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_importing_saltus_imports_nothing_of_it():
    code = "import sys, saltus; assert 'saltus.simulate' not in sys.modules; saltus.simulate; dir(saltus)"
    code += "; assert 'numba' not in sys.modules"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
