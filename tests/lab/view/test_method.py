"""The tableau on the page: the coefficients as books print them (Hairer, Nørsett & Wanner (1993), II.1, II.5)."""

import pytest

import saltus
from saltus.lab.view.method import MOST_DOFS, method_message


def test_the_classical_method():
    sim = saltus.Simulation("pendulum", "rk4")
    message = method_message(sim)
    assert message["c"] == ["0", "1/2", "1/2", "1"] and message["b"] == ["1/6", "1/3", "1/3", "1/6"]
    assert message["a"][3] == ["0", "0", "1", "0"] and message["slopes"] is None
    speed = float(sim.qvel[0])
    sim.step()
    (slope,) = method_message(sim)["slopes"]
    assert slope["name"] == "theta" and len(slope["rates"]) == 4
    assert slope["rates"][0] == speed and slope["rates"][1] == pytest.approx(
        speed + 0.5 * sim.timestep * slope["accelerations"][0], abs=1e-15
    )


def test_long_fractions_are_exact():
    a = method_message(saltus.Simulation("pendulum", "dopri5"))["a"]
    assert a[4][:4] == ["19372/6561", "-25360/2187", "64448/6561", "-212/729"]


def test_methods_without_a_tableau_and_many_coordinates():
    assert method_message(saltus.Simulation("pendulum", "velocity_verlet")) is None
    sim = saltus.Simulation("humanoid", "rk4")
    sim.step()
    message = method_message(sim)
    assert len(message["slopes"]) == MOST_DOFS < message["dofs"] == sim.model.nv
