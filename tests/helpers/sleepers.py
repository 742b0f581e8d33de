"""Worlds whose trees may fall asleep, as MJCF text."""

import mujoco
import numpy as np

import saltus

BOX = '<geom type="box" size=".1 .1 .1"/>'
FLOOR = '<geom type="plane" size="5 5 1"/>'


def world(inside, option="", flag="", rest=""):
    """A floor and more, with a solver whose answer is exact to rounding."""
    option = f'<option tolerance="0" iterations="50" {option}><flag sleep="enable" {flag}/></option>'
    return f"<mujoco>{option}<worldbody>{FLOOR}{inside}</worldbody>{rest}</mujoco>"


def free(pos, geom=BOX, more=""):
    """A free body."""
    return f'<body pos="{pos}" {more}><freejoint/>{geom}</body>'


STACK = world(
    "".join(free(f"{0.01 * k} {0.02 * k} {0.0999 + 0.2002 * k}", more=f'euler="0 0 {20 * k}"') for k in range(3))
    + free("1 0 .1", '<geom size=".1"/>')
    + free("0 .01 1.3", more='euler="10 20 30"')
)
INITIAL = world(
    "".join(free(f"0 0 {0.15 + 0.3 * k}", more='sleep="init"') for k in range(3))
    + free("0.02 0 1.3", more='euler="9 8 7"')
)
PUSHED = world(
    f'<body mocap="true" pos="0 0 2">{BOX}</body>'
    + free("0 0 .0999")
    + free(".01 .02 .302", more='euler="0 0 20"')
    + free("1 0 .1", '<geom size=".1"/>')
    + '<body pos="2 0 .1"><joint axis="0 1 0" damping=".1" stiffness="1"/><geom size=".1"/></body>'
)
CABINET = world(
    '<body pos="0 0 1"><geom size=".05"/>'
    + "".join(
        f'<body pos="0 {y} 0"><joint type="slide" axis="1 0 0" damping="40" stiffness="50" range="-.05 .3"/>{BOX}'
        '<body pos=".1 0 0"><joint axis="0 1 0" damping=".4" frictionloss=".05"/>'
        '<geom size=".03" pos="0 0 -.1"/></body>'
        "</body>"
        for y in (-0.5, 0.0, 0.5)
    )
    + "</body>"
)
JOINED = world(
    '<body pos=".3 0 .8"><joint name="one" axis="1 0 0" damping=".1"/>' + BOX + "</body>"
    '<body pos=".7 0 .8"><joint name="other" axis="1 0 0" damping=".1"/>'
    + BOX
    + "</body>"
    + free("-.5 0 1", '<site name="a" pos="0 0 .1" size=".01"/>' + BOX, 'sleep="init"')
    + free("-.5 .6 .2", '<site name="b" pos="0 0 .1" size=".01"/>' + BOX)
    + free("-2 0 .3", '<site name="c" pos="0 0 .1" size=".01"/>' + BOX, 'sleep="init"')
    + free("-2.5 0 .3", '<site name="d" pos="0 0 .1" size=".01"/>' + BOX, 'sleep="init"'),
    rest='<equality><joint joint1="one" joint2="other" polycoef="0 -1 0 0 0"/><connect site1="c" site2="d"/></equality>'
    '<tendon><spatial range="0 1.1" limited="true"><site site="a"/><site site="b"/></spatial></tendon>',
)
DRIVEN = world(
    "".join(
        f'<body pos="{x} 0 1" sleep="allowed"><joint name="j{x}" axis="0 1 0" damping=".5"/>'
        '<geom size=".05" pos=".2 0 0"/></body>'
        for x in (0, 1)
    ),
    rest="<actuator>" + "".join(f'<position joint="j{x}" kp="20"/>' for x in (0, 1)) + "</actuator>",
    flag='contact="disable"',
)
MEDIUM = world(
    '<body pos="0 0 1"><joint type="slide" axis="0 0 1" stiffness="50" damping="2"/>' + BOX + "</body>"
    '<body pos="1 0 1"><joint axis="0 1 0"/><geom size=".05" pos="0 0 -.3"/></body>',
    option='density="1.2" viscosity="2"',
)
CARRIED = world(
    '<body mocap="true" pos="0 0 1"><geom size=".05"/><body pos=".3 0 0"><joint axis="0 1 0" damping="1"/>'
    '<geom size=".05" pos="0 0 -.2"/></body></body>' + free("2 0 .1", '<geom size=".1"/>')
)


class Pair:
    """A world in MuJoCo, which is the reference, and here."""

    def __init__(self, xml, integrator=None):
        self.m = mujoco.MjModel.from_xml_string(xml)
        if integrator is not None:
            self.m.opt.integrator = integrator
        self.d, self.sim = mujoco.MjData(self.m), saltus.Simulation(saltus.load(self.m))

    def step(self):
        mujoco.mj_step(self.m, self.d)
        self.sim.step()

    def set(self, field, index, value):
        """Assign to a number of the state or the inputs of both."""
        getattr(self.d, field)[index] = value
        getattr(self.sim, field)[index] = value

    def check(self, what):
        """Everybody sleeps with whom it does in MuJoCo."""
        np.testing.assert_array_equal(self.sim.tree_asleep, self.d.tree_asleep, err_msg=str(what))
