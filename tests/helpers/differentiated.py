"""Simulations whose steps are differentiated: with motors, soft contacts, friction, limits, controllers, muscles."""

import numpy as np

import saltus

PENDULUM = """<mujoco><option timestep=".01"/><worldbody><body name="link"><joint name="h" axis="0 1 0" damping=".1"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".03"/></body></worldbody><actuator><motor name="m" joint="h"/>
  </actuator></mujoco>"""
BALL = """<mujoco><option timestep=".002"/><worldbody><geom name="floor" type="plane" size="5 5 .1" friction=".5"/>
  <body name="ball" pos="0 0 .099"><freejoint name="f"/><geom name="g" size=".1" mass=".4" friction=".9"/></body>
  </worldbody></mujoco>"""
BOX = """<mujoco><option timestep=".002"/><worldbody><geom name="floor" type="plane" size="5 5 .1" friction=".5"/>
  <body name="box" pos="0 0 .099"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
  <geom name="g" type="box" size=".1 .1 .1" mass=".4" friction=".9"/></body></worldbody>
  <actuator><motor name="push" joint="x"/></actuator></mujoco>"""
CART = """<mujoco><option timestep=".01"/><worldbody><body name="cart"><joint name="x" type="slide" axis="1 0 0"
  limited="true" range="-1 1"/><geom size=".1" mass="1"/><body name="pole"><joint name="p" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 .5" size=".02" mass=".2"/></body></body></worldbody>
  <actuator><motor name="m" joint="x"/></actuator></mujoco>"""
ARM = """<mujoco><option timestep=".005"/><worldbody><body name="upper"><joint name="s" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass="1"/><body name="lower" pos=".3 0 0"><joint name="e"
  axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass=".5"/></body></body></worldbody>
  <actuator><motor name="s" joint="s"/>
  <muscle name="e" joint="e" lengthrange="-2 2" range=".5 1.5" force="20"/>
  </actuator></mujoco>"""
TABLE = """<mujoco><option timestep=".002" cone="elliptic"/><worldbody>
  <geom name="table" type="box" size=".5 .5 .1" pos="0 0 -.1" euler="0 5 0" friction=".6"/>
  <body name="rod" pos="0 0 .049"><freejoint/><geom name="g" type="capsule" fromto="-.1 0 0 .1 0 0" size=".05" mass=".5"
  friction=".4"/></body></worldbody></mujoco>"""
LEG = """<mujoco><option timestep=".002"/><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
  <body name="thigh" pos="0 0 .5"><joint name="z" type="slide" axis="0 0 1"/><joint name="h" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".04" mass="1"/><body name="shin" pos="0 0 -.2"><joint name="k"
  axis="0 1 0"/><geom name="foot" type="capsule" fromto="0 0 0 0 0 -.2" size=".03" mass=".5" friction="1"/></body>
  </body></worldbody><actuator><motor name="k" joint="k"/><motor name="h" joint="h"/></actuator></mujoco>"""
TOWER = """<mujoco><option timestep=".002"/><default><geom condim="4" friction=".5 .02 .01"/></default><worldbody>
  <geom type="plane" size="5 5 .1"/><body name="low" pos="0 0 .099"><freejoint/><geom type="box" size=".2 .2 .1"
  mass="1"/></body><body name="high" pos=".02 .01 .296"><freejoint/><geom name="g" size=".1" mass=".5"
  friction=".5 .03 .01"/></body></worldbody></mujoco>"""
#: A free body that tumbles, with another one on a ball joint.
TUMBLING = """<mujoco><worldbody><body pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .3"/>
  <body pos="0 0 .4"><joint type="ball"/><geom type="box" size=".1 .1 .2" pos="0 .1 .2"/></body></body></worldbody>
  </mujoco>"""


def _with(sim, **state):
    for name, value in state.items():
        getattr(sim, name)[:] = value
    return sim


def pendulum():
    return _with(saltus.Simulation(PENDULUM, "rk4"), qpos=0.5, qvel=0.2, ctrl=0.3)


def ball():
    """It rolls and slides on the floor, into which it is pressed."""
    qvel = [0.3, 0.1, -0.05, 0.2, 1.0, 0.4]
    return _with(saltus.Simulation(BALL, "euler"), qpos=[0, 0, 0.098, 0.8, 0.2, -0.4, 0.4], qvel=qvel)


def box():
    return _with(saltus.Simulation(BOX, "euler"), qpos=[0.1, -0.001], qvel=[0.4, 0.0], ctrl=1.0)


def cart():
    """Its limit acts."""
    return _with(saltus.Simulation(CART, "euler"), qpos=[1.01, 0.3], qvel=[0.2, -0.4], ctrl=0.5)


def arm():
    """A PID controller at the shoulder, a muscle at the elbow."""
    sim = saltus.Simulation(ARM, "euler", control=saltus.PID(20.0, 2.0, 1.0, target=0.2, actuators=["s"]))
    return _with(sim, qpos=[0.1, 0.4], qvel=[0.3, -0.2], ctrl=[0.0, 0.6], act=[0.3, 0.05, 0.0])


def table():
    """A rod that rolls and slides down a tilted box, with elliptic cones."""
    qvel = [0.3, 0.2, -0.05, 0.4, 1.0, 0.3]
    return _with(saltus.Simulation(TABLE, "euler"), qpos=[0, 0, 0.047, 1, 0, 0.04, 0.02], qvel=qvel)


def leg():
    """Its foot is on the floor."""
    qpos, qvel = [-0.09, 0.3, -0.6], [-0.1, 0.5, -0.8]
    return _with(saltus.Simulation(LEG, "euler"), qpos=qpos, qvel=qvel, ctrl=[3.0, -1.0])


def tower():
    """A ball that spins on a box that slides, with torsional friction."""
    qpos = [0, 0, 0.098, 1, 0, 0, 0, 0.02, 0.01, 0.296, 0.9, 0.1, 0.3, 0.2]
    return _with(
        saltus.Simulation(TOWER, "euler"), qpos=qpos, qvel=[0.2, 0.1, 0, 0, 0, 0, 0.5, -0.2, -0.1, 0.3, 0.6, 2.0]
    )


#: Makers of simulations, each with a parameter by which its steps have derivatives.
MADE = {
    pendulum: "body_mass[link]",
    ball: "geom_friction[g][0]",
    box: "body_mass[box]",
    cart: "jnt_range[x][1]",
    arm: "PID.kp[s]",
    table: "geom_friction[table][0]",
    leg: "body_mass[shin]",
    tower: "geom_friction[g][1]",
}


def value_of(sim, name):
    """The present value of a parameter of `MADE`."""
    if name.startswith("PID."):
        return np.array(20.0)
    return np.array(sim.model.value(name), float)
