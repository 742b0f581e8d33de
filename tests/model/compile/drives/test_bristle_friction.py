"""Actuators that exert friction by bristles alone: without controls, without winding, with LuGre's numbers."""

import mujoco
import pytest

import saltus
from saltus.model.compile.drives.bristle_friction import bristle_actuators, bristle_joints

FRICTION = 'resistance="1" motorconst="0" input="none" lugre="1e4 3 1 2 .1"'
MODEL = """<mujoco><worldbody><body><joint name="a"/><joint name="b" axis="1 0 0"/><geom size=".1"/></body></worldbody>
  <tendon><fixed name="t"><joint joint="a" coef="1"/></fixed></tendon><actuator>
  <motor joint="a"/>
  <dcmotor joint="a" resistance="1" motorconst=".1" lugre="1e4 3 1 2 .1"/>
  <dcmotor joint="a" resistance="1" motorconst=".1" input="none" lugre="1e4 3 1 2 .1"/>
  <dcmotor joint="a" resistance="1" motorconst="0" input="none"/>
  <dcmotor joint="b" {friction}/>
  <dcmotor tendon="t" {friction}/></actuator>{more}</mujoco>"""


def test_motors_windings_and_brakes_without_bristles_are_none():
    m = mujoco.MjModel.from_xml_string(MODEL.format(friction=FRICTION, more=""))
    assert bristle_actuators(m).tolist() == [4, 5]
    assert bristle_joints(m) == {1: 4}


def test_a_rigid_gear_with_losses_has_no_bristles_beside_it():
    """Its loss is a share of qfrc_actuator, of which friction by bristles would be a part."""
    loss = (
        '<custom><tuple name="drive_gear_efficiency"><element objtype="joint" objname="{}" prm=".5"/></tuple></custom>'
    )
    with pytest.raises(saltus.ModelError, match=r"joint 'b'.*friction by bristles is one of them"):
        saltus.load(MODEL.format(friction=FRICTION, more=loss.format("b")))
