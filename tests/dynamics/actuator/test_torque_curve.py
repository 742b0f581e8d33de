"""Torques that speed limits: closed form of a run-up, SciPy's interpolation, braking, derivatives."""

import numpy as np
import pytest
from helpers.plain_python import plain_python

import saltus
from saltus.inverse.dynamics.inverse_dynamics import inverse_dynamics

INERTIA, TORQUE, KNEE, TOP = 0.5, 2.0, 3.0, 8.0  # kg m², N m, rad/s, rad/s
WHEEL = """<mujoco><option gravity="0 0 0" timestep="{h}"/><worldbody><body><joint name="x" axis="0 0 1"/>
  <inertial pos="0 0 0" mass="1" diaginertia="1 1 .5"/></body></worldbody><actuator><{kind} joint="x"/></actuator>
  </mujoco>"""
CURVE = saltus.TorqueCurve([0.0, KNEE, TOP], [TORQUE, TORQUE, 0.0])


@pytest.fixture
def plain():
    """Kernels run in plain Python."""
    with plain_python():
        yield


def wheel(h=0.01, gear=None, curve=CURVE, kind="motor"):
    return saltus.drive(WHEEL.format(h=h, kind=kind), "x", gear, curve=curve)


def run_up(speed):
    """Time (s) to a speed: I v₁/T at the constant torque, then I (v₀ - v₁)/T ln((v₀ - v₁)/(v₀ - v)) on its fall."""
    fall = INERTIA * (TOP - KNEE) / TORQUE
    return INERTIA * KNEE / TORQUE + fall * np.log((TOP - KNEE) / (TOP - speed))


@pytest.mark.parametrize("ratio", [1.0, -4.0])
def test_a_run_up_takes_the_time_of_the_closed_form(ratio, plain):
    """Speeds and torques of the curve are the motor's: through a gear, v / |N| and T |N| at the wheel."""
    wide = saltus.TorqueCurve([0.0, KNEE * abs(ratio), TOP * abs(ratio)], [TORQUE / abs(ratio)] * 2 + [0.0])
    sim = saltus.Simulation(wheel(gear=saltus.Gear(ratio), curve=wide), "dopri5", tolerance=(1e-11, 1e-11))
    sim.ctrl[0] = 100.0 * np.sign(ratio)
    sim.run(run_up(6.0))
    assert np.isclose(sim.qvel[0], 6.0, rtol=1e-8)


@pytest.mark.parametrize("method", ["euler", "rk4", "implicitfast", "implicit"])
def test_steps_converge_to_the_closed_form(method, plain):
    errors = []
    for h in (0.02, 0.01):
        sim = saltus.Simulation(wheel(h), method)
        sim.ctrl[0] = 100.0
        steps = round(run_up(6.0) / h)
        sim.step(steps)
        speed = TOP - (TOP - KNEE) * np.exp(-(steps * h * TORQUE / INERTIA - KNEE) / (TOP - KNEE))
        errors.append(abs(sim.qvel[0] - speed))
    assert errors[1] < 0.7 * errors[0] < 0.1 or max(errors) < 1e-3


def test_torques_are_clipped_to_the_curve_in_both_directions(plain):
    """SciPy-free: numpy's piecewise linear interpolation; braking has the torque at rest, and small torques stay."""
    speeds, torques = np.array([-1.0, 0.5, 2.0, 4.0]), np.array([3.0, 2.0, 1.9, 0.3])
    sim = saltus.Simulation(wheel(curve=saltus.TorqueCurve(speeds, torques)))
    for v in (-5.0, -0.7, 0.0, 0.2, 1.0, 3.3, 4.0, 9.0):
        for wanted in (-50.0, -0.2, 0.2, 50.0):
            sim.qvel[0], sim.ctrl[0] = v, wanted
            sim.forward()
            expected = np.clip(wanted, -np.interp(-v, speeds, torques), np.interp(v, speeds, torques))
            assert np.isclose(sim.data.actuator_force[0], expected, rtol=1e-13)


def test_derivatives_contain_the_slope_of_the_curve(plain):
    """v+ = v + h T(v) / I: 1 - h T / (I (v₀ - v₁)) by v and nothing by the control, under full command."""
    sim = saltus.Simulation(wheel(0.001), "euler")
    sim.qvel[0], sim.ctrl[0] = 5.0, 100.0
    A, B = sim.linearize()
    assert np.isclose(A[1, 1], 1.0 - 0.001 * TORQUE / (INERTIA * (TOP - KNEE)), rtol=1e-12) and B[1, 0] == 0.0


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_gradients_of_runs_contain_the_slope_of_the_curve(mode, plain):
    """Ten steps multiply a change of the speed by the tenth power of one."""
    sim = saltus.Simulation(wheel(0.001), "euler")
    sim.qvel[0], sim.ctrl[0] = 5.0, 100.0
    _, found = saltus.run_gradient(sim, 0.01, lambda run: run.qvel[-1, 0], wrt=("qvel", "ctrl"), mode=mode)
    step = 1.0 - 0.001 * TORQUE / (INERTIA * (TOP - KNEE))
    assert np.isclose(found["qvel"][0], step**10, rtol=1e-10) and np.allclose(found["ctrl"], 0.0)


def test_equations_in_symbols_have_the_force_as_an_input():
    """Not the control, whose law the curve would limit."""
    assert list(saltus.derive(wheel()).inputs.values()) == ["force of actuator x_motor"]


def test_static_optimization_refuses_it_by_name():
    t = np.linspace(0.0, 1.0, 41)
    found = inverse_dynamics(wheel(), {"time": t, "qpos": np.sin(t)})
    with pytest.raises(saltus.OptionError, match="its speed limits"):
        saltus.static_optimization(found)


def test_simulations_of_a_batch_equal_single_ones():
    model = wheel()
    batch = saltus.Batch(model, 3)
    batch.ctrl[:, 0] = torques = np.array([100.0, -1.0, 1.5])
    batch.step(60)
    for k in range(3):
        sim = saltus.Simulation(model)
        sim.ctrl[0] = torques[k]
        sim.step(60)
        assert batch.qvel[k, 0] == sim.qvel[0]
