"""Frequency responses (`frequency_response`, `outputs`). References: the closed form of a mass on a spring with a
damper, m x'' + c x' + k x = f, with the force held over each step; SciPy's response of the same matrices.

Tolerance: what RK4 leaves out of the position's gain by one step's force, h² / 2m, with ω h = 0.02: some (ω h)³ / 4!.
"""

import numpy as np
import pytest
from scipy import signal

import saltus
from saltus.control.outputs import output_matrices

MASS, DAMPING, STIFFNESS, GEAR, H = 2.0, 3.0, 200.0, 1.5, 0.002
MODEL = f"""
<mujoco><option gravity="0 0 0" timestep="{H}"/><worldbody><body><joint name="x" type="slide" axis="1 0 0"
  stiffness="{STIFFNESS}" damping="{DAMPING}"/><geom size=".1" mass="{MASS}"/><site name="s"/></body></worldbody>
  <actuator><motor name="push" joint="x" gear="{GEAR}"/></actuator>
  <sensor><accelerometer name="felt" site="s"/><jointvel name="speed" joint="x"/></sensor></mujoco>"""


def held(frequency):
    """The closed form's response in discrete time: that of the exact solution over steps with a held force."""
    A, B = np.array([[0, 1], [-STIFFNESS / MASS, -DAMPING / MASS]]), np.array([[0], [GEAR / MASS]])
    Ad, Bd, _, _, _ = signal.cont2discrete((A, B, np.eye(2), np.zeros((2, 1))), H)
    z = np.exp(2j * np.pi * frequency * H)
    return np.stack([np.linalg.solve(v * np.eye(2) - Ad, Bd)[:, 0] for v in z])


def test_a_damped_mass_has_its_closed_form():
    sim = saltus.Simulation(MODEL, "rk4")
    found = saltus.bode(sim, ["x", "velocity of x"])
    assert found.stable and found.inputs == ("push",) and found.outputs == ("position of x", "velocity of x")
    assert np.allclose(found.response[:, :, 0], held(found.frequency), rtol=2e-6, atol=0)
    # without steps the gain is GEAR / |k - m ω² + i c ω|: at resonance GEAR / (c ω)
    resonance = np.sqrt(STIFFNESS / MASS) / (2 * np.pi)
    at = saltus.bode(sim, "x", frequencies=resonance)
    assert np.isclose(at.magnitude[0, 0, 0], 20 * np.log10(GEAR / (DAMPING * 10.0)), atol=0.01)
    assert np.isclose(at.phase[0, 0, 0], -90.0 - np.degrees(10.0 * H / 2), atol=0.01)  # held half a step on average


def test_sensors_see_what_acts_at_once():
    """An accelerometer reads (f - c v - k x) / m: D is the gear over the mass."""
    sim = saltus.Simulation(MODEL, "rk4")
    C, D, names = output_matrices("bode", sim, ["felt", "speed"], 2)
    assert names == ["felt[0]", "felt[1]", "felt[2]", "speed"]
    assert np.allclose(C[[0, 3]], [[-STIFFNESS / MASS, -DAMPING / MASS], [0, 1]], rtol=0, atol=1e-7)
    assert np.allclose(D[:, 0], [GEAR / MASS, 0, 0, 0], rtol=0, atol=1e-8)
    low = saltus.bode(sim, "felt", frequencies=[0.001, 100.0]).response[:, 0, 0]
    # at low frequencies it stays but for the half step by which held forces come late, (k/m) (g/k) ω h / 2
    assert abs(low[0]) < 1e-5 and np.isclose(abs(low[1]), GEAR / MASS, rtol=3e-3)  # and there the mass is free


@pytest.mark.filterwarnings("ignore:Badly conditioned filter coefficients")
def test_it_is_scipys_response_of_the_same_matrices():
    sim = saltus.Simulation("cart_pole", timestep=0.01)
    found = saltus.bode(sim, frequencies=[0.1, 1.0, 10.0])
    assert not found.stable
    A, B = sim.linearize()
    for i in range(2):
        C = np.eye(4)[[i]]
        _, same = signal.dfreqresp((A, B, C, np.zeros((1, 1)), 0.01), 2 * np.pi * 0.01 * found.frequency)
        assert np.allclose(found.response[:, i, 0], same, rtol=1e-6)


def test_the_diagram_has_gains_and_phases(tmp_path):
    figure = saltus.bode(saltus.Simulation(MODEL, "rk4"), "x").plot(tmp_path / "bode.svg")
    above, below = figure.axes
    assert above.get_ylabel() == "gain (dB)" and below.get_ylabel() == "phase (°)"
    assert np.isclose(above.lines[0].get_ydata()[0], 20 * np.log10(GEAR / STIFFNESS), atol=3e-3)  # 0.025 Hz
    assert (tmp_path / "bode.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (dict(outputs="y"), "y"),
        (dict(inputs="pull"), "pull"),
        (dict(frequencies=[1.0, 250.0]), "between 0 and 250 Hz"),
        (dict(frequencies=[0.0]), "between 0 and 250 Hz"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(how, said):
    with pytest.raises(saltus.OptionError, match=said):
        saltus.bode(saltus.Simulation(MODEL, "rk4"), **how)


def test_without_controls_there_is_no_response():
    with pytest.raises(saltus.OptionError, match="no controls"):
        saltus.bode(saltus.Simulation(MODEL.replace('<motor name="push" joint="x" gear="1.5"/>', "")))
