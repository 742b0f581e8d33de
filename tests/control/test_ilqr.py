"""Plans that cost least.

References: linear steps with a quadratic cost, where the plan is that of Riccati's recursion; bounds, where the control
that costs least is known; swings up to where the energy says that they are; the simulation itself under the plan.
"""

import numpy as np
import pytest

import saltus
from saltus.errors import EventError, OptionError

MASS = """<mujoco><option timestep=".05" gravity="0 0 0"/><worldbody><body><joint name="x" type="slide" axis="1 0 0"/>
  <geom size=".1" mass="2" contype="0" conaffinity="0"/><site name="middle"/></body></worldbody>
  <actuator><motor joint="x" ctrlrange="-{limit} {limit}" ctrllimited="true"/></actuator></mujoco>"""
LINK = """<mujoco><option timestep=".02"/><worldbody><body><joint axis="0 1 0" damping=".02"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.6" size=".03" mass="1" contype="0" conaffinity="0"/>
  <site name="tip" pos="0 0 -.6"/></body></worldbody>
  <actuator><motor joint="{joint}" ctrlrange="-1.2 1.2" ctrllimited="true"/></actuator></mujoco>"""


def move(stage):
    """A quadratic cost: near 1 m, slow, with little force."""
    cost = 0.1 * (stage.qpos[0] - 1.0) ** 2 + 0.02 * stage.qvel[0] ** 2 + 0.01 * stage.ctrl[0] ** 2
    return 30 * (stage.qpos[0] - 1.0) ** 2 + 5 * stage.qvel[0] ** 2 if stage.final else cost


def test_a_linear_problem_is_riccatis():
    """Gains and controls of the recursion for x - 1 m, after one iteration."""
    sim = saltus.Simulation(MASS.format(limit=1000))
    plan = saltus.ilqr(sim, move, 40)
    assert plan.converged and len(plan.costs) <= 4
    sim.qpos[0] = 1.0
    regulator = saltus.lqr(sim, [0.1, 0.02], 0.01, horizon=40, final=np.diag([30.0, 5.0]))
    x, cost = np.array([-1.0, 0.0]), 0.0
    for k in range(40):
        u = -regulator.K[k] @ x
        np.testing.assert_allclose(plan.controls[k], u, rtol=1e-5, atol=1e-7)  # 1e-6 of regularisation
        cost += 0.1 * x[0] ** 2 + 0.02 * x[1] ** 2 + 0.01 * u[0] ** 2
        x = regulator.A @ x + regulator.B @ u
    assert plan.cost == pytest.approx(cost + 30 * x[0] ** 2 + 5 * x[1] ** 2, rel=1e-9)
    np.testing.assert_allclose(plan.gains, -regulator.K, rtol=1e-4, atol=1e-6)
    assert plan.states.shape == (41, 2) and plan.time[-1] == pytest.approx(2.0)


def test_bounds_are_kept():
    """With at most 1 N and no cost of force the best is full force there and, later, back (bang-bang)."""
    sim = saltus.Simulation(MASS.format(limit=1))
    plan = saltus.ilqr(
        sim, lambda s: 100 * ((s.qpos[0] - 1) ** 2 + s.qvel[0] ** 2) if s.final else 1e-6 * s.ctrl[0] ** 2, 60
    )
    assert abs(plan.controls).max() <= 1.0
    assert abs(plan.qpos[-1] - 1.0) < 1e-2 and abs(plan.qvel[-1]) < 1e-2
    assert plan.controls[0] > 0 > plan.controls[-1]


def swing(stage):
    tip = stage.site("tip")
    if stage.final:
        return 50 * ((tip[2] - 0.6) ** 2 + tip[0] ** 2) + 2 * stage.qvel[0] ** 2
    return 0.002 * stage.ctrl[0] ** 2


def test_a_swing_up_with_too_weak_a_motor():
    """1.2 N m cannot hold a link that weighs 2.9 N m: it must swing; and the plan is a control function."""
    model = LINK.format(joint="q").replace("<joint ", '<joint name="q" ')
    sim = saltus.Simulation(model)
    plan = saltus.ilqr(sim, swing, 3.0, controls=np.sin(4.5 * 0.02 * np.arange(150))[:, None])
    assert abs(plan.controls).max() <= 1.2
    tip = 0.6 * np.array([-np.sin(plan.qpos[-1, 0]), -np.cos(plan.qpos[-1, 0])])
    np.testing.assert_allclose(tip, [0, 0.6], atol=0.02)
    assert abs(plan.qvel[-1, 0]) < 0.1
    # under the plan the simulation goes the same way, and comes back to it when it is pushed
    sim.run(2.99, control=plan)
    np.testing.assert_allclose(sim.qpos, plan.qpos[-1], atol=0.02)
    pushed, free = saltus.Simulation(model), saltus.Simulation(model)
    pushed.qvel[0] = free.qvel[0] = 0.05
    pushed.run(2.9, control=plan)
    free.run(2.9, control=lambda s: plan.controls[round(s.time / 0.02)])
    apart = [abs(s.qpos[0] - plan.qpos[145, 0]) for s in (pushed, free)]
    assert apart[0] < 0.1 * apart[1]


@pytest.mark.slow  # many steps in contact
def test_a_box_is_pushed_to_a_place_over_contact():
    """A pusher with a force along x and a box that slides with friction; the box ends 30 cm further, at rest."""
    model = """<mujoco><option timestep=".01"/><worldbody><geom type="plane" size="5 5 .1" friction=".4"/>
      <body pos="0 0 .1"><joint name="push" type="slide" axis="1 0 0" damping="1"/>
        <geom type="box" size=".05 .1 .05" mass=".5"/></body>
      <body name="box" pos=".16 0 .0999"><joint name="x" type="slide" axis="1 0 0"/>
        <joint name="z" type="slide" axis="0 0 1"/><geom type="box" size=".1 .1 .1" mass="1" friction=".4"/></body>
      </worldbody><actuator><motor joint="push" ctrlrange="-30 30" ctrllimited="true"/></actuator></mujoco>"""
    sim = saltus.Simulation(model)

    def place(stage):
        if stage.final:
            return 1000 * (stage.qpos[1] - 0.3) ** 2 + stage.qvel[1] ** 2
        return 1e-4 * stage.ctrl[0] ** 2

    plan = saltus.ilqr(sim, place, 80, controls=np.full((80, 1), 8.0))
    assert abs(plan.qpos[-1, 1] - 0.3) < 0.01
    assert plan.cost < plan.costs[0]


def test_what_is_refused():
    sim = saltus.Simulation(MASS.format(limit=1))
    with pytest.raises(OptionError, match="cost must return one number, not"):
        saltus.ilqr(sim, lambda s: None, 5)
    with pytest.raises(OptionError, match="arithmetic and NumPy's functions"):
        saltus.ilqr(sim, lambda s: float(s.qpos[0]), 5)
    with pytest.raises(OptionError, match=r"controls must have shape \(5, 1\)"):
        saltus.ilqr(sim, move, 5, controls=[0.0])
    with pytest.raises(OptionError, match="horizon must be a positive number of steps"):
        saltus.ilqr(sim, move, 0)
    with pytest.raises(OptionError, match="no controls"):
        saltus.ilqr(saltus.Simulation("free_body"), move, 5)
    with pytest.raises(OptionError, match=r"the plan is for 0 to 0\.25 s, not for t = 1 s"):
        plan = saltus.ilqr(sim, move, 5)
        sim.time = 1.0
        plan(sim)


def test_a_motion_that_an_event_ends_is_refused():
    """Behind a terminal event steps would go on from its time, beside the times of the plan."""
    event = saltus.Event(lambda m, d: d.qpos[0] - 0.1, terminal=True)
    with pytest.raises(EventError, match="leave terminal events out"):
        saltus.ilqr(saltus.Simulation(MASS.format(limit=20), events=[event]), move, 20)
