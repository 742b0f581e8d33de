"""Tangents of Euler's step are the derivatives of what `step` does, with every kind of force that they support.

Reference: differences of sixth order of steps (truncation h⁶, rounding ε/h), whose constraint solver is given a
tolerance of 1e-15. Steps of 2e-5, within which no contact comes or goes, have rounding errors of 1e-11 of the largest
entry; a term that is left out (the slope of dampers in M + h B, rates of rows, the change of M) shows at 1e-4 and more.
"""

import numpy as np
import pytest
from helpers import oracle
from helpers.step_differences import differences

import saltus
from saltus.integrate.fixed.euler_tangents import SUPPORTED
from saltus.simulate.derivatives import linearize

CLOSE, STEP = 2e-10, 2e-5
OPTION = '<option timestep=".004" tolerance="1e-15" iterations="200" cone="{cone}"/>'
SOFT = 'solref=".03 1" solimp=".5 .9 .05"'
FLOOR = f"""<mujoco>{OPTION}<default><geom {SOFT}/><joint solreflimit=".03 1" solimplimit=".5 .9 .1"/></default>
  <worldbody><geom type="plane" size="5 5 .1"/><body pos="0 0 .058"><freejoint/>
  <geom type="box" size=".1 .08 .06" mass="1"/>
  <body pos=".1 0 .05"><joint name="h" axis="0 1 0" range="-20 4" limited="true" damping=".2"/>
  <geom type="capsule" fromto="0 0 0 .3 0 -.1" size=".04" mass=".3"/></body></body></worldbody>
  <actuator><motor joint="h" gear="2"/></actuator></mujoco>"""
MUSCLE = f"""<mujoco>{OPTION}<worldbody><site name="a" pos="0 .05 0"/><body><joint name="j" axis="1 0 0"
  damping=".1 .2 .1"/><geom type="capsule" fromto="0 0 0 0 0 -.4" size=".03" mass="1"/><site name="b" pos="0 .03 -.2"/>
  <body pos="0 0 -.4"><joint name="k" axis="1 0 0" range="-60 3" limited="true" solreflimit=".03 1"
  solimplimit=".5 .9 .1"/><geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02" mass=".5"/></body></body></worldbody>
  <tendon><spatial name="t" stiffness="3" damping=".2"><site site="a"/><site site="b"/></spatial></tendon>
  <actuator><muscle tendon="t" lengthrange=".05 .4"/><general joint="k" dyntype="filter" dynprm=".05" gainprm="2"/>
  </actuator></mujoco>"""
TENDON = f"""<mujoco>{OPTION}<worldbody><body><joint name="j" axis="1 0 0" damping=".1" frictionloss=".3"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".03" mass="1"/><body pos="0 0 -.4"><joint name="k" axis="1 0 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02" mass=".5"/></body></body></worldbody>
  <tendon><fixed name="t" limited="true" range="-.1 .1" damping=".3" armature=".05" stiffness="2" solreflimit=".03 1"
  solimplimit=".5 .9 .1"><joint joint="j" coef="1"/><joint joint="k" coef="-.7"/></fixed></tendon>
  <actuator><motor tendon="t"/></actuator></mujoco>"""
BALL = f"""<mujoco>{OPTION}<default><geom {SOFT}/></default><worldbody><geom type="plane" size="5 5 .1" pos="0 0 -.72"/>
  <body><joint type="ball" damping=".1" stiffness=".5" range="0 20" limited="true" solreflimit=".03 1"
  solimplimit=".5 .9 .1"/><geom type="capsule" fromto="0 0 0 0 0 -.4" size=".03" mass="1"/><body pos="0 0 -.4">
  <joint type="ball" damping=".05"/><geom type="capsule" fromto="0 0 0 .1 0 -.32" size=".02" mass=".5"/></body></body>
  </worldbody></mujoco>"""
EQUALITY = f"""<mujoco>{OPTION}<option density="1.2" viscosity=".01"/><worldbody><body name="p">
  <joint name="j" axis="1 0 0" damping=".1"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".03" mass="1" contype="0"/><body name="q" pos="0 0 -.4">
  <joint name="k" axis="1 0 0"/><geom type="capsule" fromto="0 0 0 0 .3 0" size=".02" mass=".5" contype="0"/></body>
  </body><body name="r" pos="0 .3 0"><joint name="l" axis="1 0 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".03" mass="1" contype="0"/></body><body name="w" pos="1 0 0">
  <freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody><equality><connect body1="q" body2="r"
  anchor="0 .3 0" solref=".03 1" solimp=".5 .9 .1"/><weld body1="w" body2="p" solref=".03 1" solimp=".5 .9 .1"/>
  <joint joint1="j" joint2="l" polycoef="0 .9 .1 0 0" solref=".03 1"/></equality>
  <actuator><position joint="j" kp="20"/></actuator></mujoco>"""
FREE = f"""<mujoco>{OPTION}<worldbody><body><freejoint/><geom type="box" size=".1 .08 .06" contype="0"/>
  <body pos=".1 0 .05"><joint name="h" axis="0 1 0" damping=".2 .1 .1" stiffness="2"/>
  <geom type="capsule" fromto="0 0 0 .3 0 -.1" size=".04" mass=".3" contype="0"/></body></body></worldbody>
  <actuator><motor joint="h" gear="2"/></actuator></mujoco>"""
SCENES = {
    "free": (FREE.format(cone="pyramidal"), set()),
    "pyramids": (FLOOR.format(cone="pyramidal"), {"constraint", "contact", "box"}),
    "cones": (FLOOR.format(cone="elliptic"), {"constraint", "contact", "box"}),
    "muscle": (MUSCLE.format(cone="pyramidal"), {"constraint", "act", "muscle", "transmission", "tendon_force"}),
    "tendon": (TENDON.format(cone="pyramidal"), {"constraint", "tendon_armature"}),
    "balls": (BALL.format(cone="elliptic"), {"constraint", "contact"}),
    "equalities": (EQUALITY.format(cone="pyramidal"), {"constraint", "fluid"}),
}


def at_work(xml):
    """A simulation whose constraints act, and MuJoCo's model of it."""
    sim = saltus.Simulation(xml, "euler")
    rng = np.random.default_rng(3)
    sim.ctrl[:] = rng.uniform(0.1, 0.4, sim.model.nu)
    sim.qvel[:] = rng.normal(0, 0.3, sim.model.nv)
    sim.step(30)
    sim.ctrl[:] += 0.2  # muscles have a kink where activation and excitation are equal
    return sim, oracle.reference(sim.model)


@pytest.mark.parametrize("scene", SCENES)
def test_against_differences_of_high_order(scene, monkeypatch):
    monkeypatch.setattr(linearize, "has_closed_form", lambda *_: False)
    xml, features = SCENES[scene]
    sim, m = at_work(xml)
    present = sim.model.struct().layout.features
    assert features <= present <= SUPPORTED
    expected = differences(sim, m, STEP)
    found = np.hstack(sim.linearize())
    assert "constraint" not in features or np.any(sim.data.qfrc_constraint)
    np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE * np.max(np.abs(expected)))
