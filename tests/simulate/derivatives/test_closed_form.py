"""Which models' steps are differentiated in closed form; the others keep dual numbers, with the right result.

Reference: differences of sixth order of steps. A force that a closed form would leave out is one of the largest here.
"""

import numpy as np
import pytest
from helpers import oracle
from helpers.step_differences import differences

import saltus
from saltus.simulate.derivatives.closed_form import has_closed_form, work_arrays

BASE = """<mujoco><option timestep=".004" {option}/><worldbody><site name="o" pos="0 .2 0"/>
  <body name="a" {body}><joint name="j" axis="0 1 0" {joint}/><geom type="capsule" fromto="0 0 0 0 0 -.4" size=".03"
  contype="0"/><site name="s" pos="0 0 -.3"/>
  <body pos="0 0 -.4"><joint name="b" type="ball" {ball}/><geom type="capsule" fromto="0 0 0 .2 0 -.1" size=".03"
  contype="0"/></body></body></worldbody>{more}</mujoco>"""
CASES = {
    "motors": (dict(more='<actuator><motor joint="j"/></actuator>', joint='damping=".3 .1 .2"'), True),
    "springs": (dict(joint='stiffness="20 3 1"'), True),
    "spring of a ball": (dict(ball='stiffness="20"'), False),
    "limit of a ball": (dict(ball='limited="true" range="0 3"'), False),
    "gravity compensation": (dict(body='gravcomp=".7"'), False),
    "medium": (dict(option='density="900"'), False),
    "states of actuators": (
        dict(more='<actuator><general joint="j" dyntype="filter" dynprm=".1"/></actuator>'),
        False,
    ),
    "motor on a ball": (dict(more='<actuator><motor joint="b" gear="1 .5 2"/></actuator>'), False),
    "tendon": (
        dict(more='<tendon><spatial stiffness="50"><site site="o"/><site site="s"/></spatial></tendon>'),
        False,
    ),
    "armature of a tendon": (
        dict(more='<tendon><fixed armature=".5"><joint joint="j" coef="2"/></fixed></tendon>'),
        False,
    ),
    "equality": (
        dict(more='<equality><connect body1="a" site1="o" site2="s"/></equality>'.replace(' body1="a"', "")),
        False,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_choice_and_result(name):
    parts, closed = CASES[name]
    parts = dict.fromkeys(("option", "body", "joint", "ball", "more"), "") | parts
    sim = saltus.Simulation(BASE.format(**parts), "euler")
    assert has_closed_form(sim.engine.m, sim.model) == closed
    rng = np.random.default_rng(2)
    sim.qvel[:], sim.ctrl[:] = rng.normal(0.0, 1.0, sim.model.nv), rng.normal(0.0, 1.0, sim.model.nu)
    sim.step(20)
    wanted = differences(sim, oracle.reference(sim.model), 1e-4)
    np.testing.assert_allclose(np.hstack(sim.linearize()), wanted, rtol=0, atol=1e-9 * np.max(np.abs(wanted)))


def test_moving_surfaces_keep_duals():
    xml = """<mujoco><worldbody><geom type="plane" size="1 1 .1" {}/><body pos="0 0 .05"><freejoint/>
      <geom size=".05"/></body></worldbody></mujoco>"""
    for surface, closed in (("", True), ('surfacevel="1 0 0 0 0 0"', False)):
        sim = saltus.Simulation(xml.format(surface), "euler")
        assert has_closed_form(sim.engine.m, sim.model) == closed


def test_memory_holds_all_columns():
    sim = saltus.Simulation("humanoid", "euler")
    nv, nu = sim.model.nv, sim.model.nu
    *_, columns = work_arrays(sim.engine.m)
    assert columns.shape[:2] == (2, nv) and 2 * nv + nu <= columns.shape[2] < 2 * nv + nu + 8
