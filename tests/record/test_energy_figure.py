"""The line on a run's energy: an error only where it is the integrator's.

References: closed forms. A damped slide loses exactly what its damper takes, so the residual of its ledger is the
integrator's error, of its order in the step; a body that rests on a floor turns all of m g h into work of contact.
"""

import numpy as np
import pytest

import saltus
from saltus.record.energy_figure import energy_error, energy_figure, exchanges

SLIDE = """<mujoco><option gravity="0 0 0" timestep="0.01"/><worldbody>
<body><joint name="x" type="slide" axis="1 0 0" {joint}/><geom size=".1" mass="1"/></body></worldbody>
<actuator><motor joint="x"/></actuator></mujoco>"""


def slid(joint="", integrator="rk4", ctrl=0.0, **options):
    sim = saltus.Simulation(SLIDE.format(joint=joint), integrator)
    sim.qvel, sim.ctrl = 1.0, ctrl
    return sim.run(1.0, **options)


def test_what_changes_energy_is_named():
    assert exchanges(slid('stiffness="4"')) == []
    assert exchanges(slid('damping="1"')) == ["dampers"]
    assert exchanges(slid(ctrl=1.0)) == ["actuators"]
    assert exchanges(slid('frictionloss=".1"', "euler")) == ["dry friction"]
    assert exchanges(slid('range="-.2 .2" limited="true"', "euler")) == ["limits"]
    assert exchanges(slid('range="-9 9" limited="true"', "euler")) == []  # not reached
    ball = saltus.Simulation("bouncing_ball", "euler").run(1.0)
    assert "contact" in exchanges(ball)


def test_a_force_from_outside_is_named():
    sim = saltus.Simulation(SLIDE.format(joint=""), "rk4")
    sim.qfrc_applied = 1.0
    assert exchanges(sim.run(1.0)) == ["applied"]


BALL = """<mujoco><compiler angle="radian"/><option gravity="0 0 0" timestep="0.01"/><worldbody>
<body><joint type="ball" range="0 .5" limited="true"/><geom size=".1" pos="0 0 -1" mass="1"/></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize(("duration", "expected"), [(0.4, []), (0.6, ["limits"])])
def test_a_limit_of_a_ball_joint_is_named_once_reached(duration, expected):
    """Without weight it turns at 1 rad/s and is at its limit of 0.5 rad after half a second."""
    sim = saltus.Simulation(BALL, "euler")
    sim.qvel = [1.0, 0.0, 0.0]
    assert exchanges(sim.run(duration)) == expected


def test_a_drift_is_told_where_energy_is_to_be_kept():
    run = slid('stiffness="4"', "euler")
    figure = energy_figure(run)
    assert figure.name == "energy drift" and float(figure.value) == pytest.approx(run.energy_drift, rel=0.05)
    assert "energy drift" in repr(run)


def test_a_damped_slide_has_a_change_and_with_a_ledger_an_error():
    """Its energy falls from 1/2 to e^(-2)/2 J; the work is taken by a rule whose error is of the fourth order."""
    figure = energy_figure(slid('damping="1"'))
    assert (figure.name, figure.remark) == ("energy change", "by dampers")
    assert float(figure.value.split()[0]) == pytest.approx((np.exp(-2) - 1) / 2, abs=1e-3)
    kept = slid('damping="1"', ledger=True)
    assert energy_figure(kept).name == "energy error" and energy_error(kept) < 0.01**4 < 0.1 < kept.energy_drift


def test_a_certificate_calls_no_work_an_error():
    assert "energy" not in str(slid('damping="1"', certify=True).certificate)
    assert "energy drift" in str(slid('stiffness="4"', certify=True).certificate)


@pytest.mark.slow
def test_a_comparison_ranks_the_error_and_not_the_work():
    """All integrators have the slide lose 0.43 J; their errors are of their orders, h and h⁴ of the energy."""
    model = saltus.load(SLIDE.format(joint='damping="1" stiffness="4" springref="1"'))
    rows = saltus.compare(model, ["euler", "rk4"], duration=1.0).rows
    errors = {row.name: row.energy_drift for row in rows}
    assert errors["rk4"] < 1e-7 and errors["euler"] < 0.05
    given = saltus.compare(model, ["dopri5"], duration=1.0, sample=0.05).references["soft"].trajectory
    foreign = saltus.Trajectory(given.time, given.qpos, given.qvel)  # tells nothing of what changes its energy
    rows = saltus.compare(model, ["rk4"], duration=1.0, sample=0.05, reference=foreign).rows
    assert rows[0].energy_drift == pytest.approx(errors["rk4"])
