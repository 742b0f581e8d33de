"""A mechanism on which every sensor has something to read, and sensordata here and in MuJoCo."""

import mujoco
import numpy as np

from helpers import constraints

# three trees and a body moved from outside: limits of all kinds, contacts of 1, 3, 4 and 6 dimensions, bodies that are
# connected and welded (far from where they should be), tendons with all that they can have, all modes of cameras
LABORATORY = """
<mujoco><compiler angle="radian" autolimits="true"/>
<default><equality solref="0.2 1"/></default>
<option magnetic="0.1 -0.4 0.3" timestep="0.002" impratio="2"/>
<worldbody>
  <geom name="floor" type="plane" size="9 9 1" pos="0 0 -0.02" friction="0.9 0.02 0.001"/>
  <site name="wall" pos="0.3 0 1.2" euler="0.4 -0.3 0.9"/>
  <camera name="fixed" pos="1 2 3" euler="0.3 0.2 0.1"/>
  <body name="hand" mocap="true" pos="0.4 -0.5 1" euler="0.3 0.2 0.5">
    <site name="palm" pos="0.1 0 0.1" euler="0.4 0.9 0.1"/>
    <camera name="moved" pos="0.1 0 0" euler="0.2 0.1 0.4"/></body>
  <body name="trunk" pos="0 0 0.02"><freejoint name="free"/>
    <geom name="belly" type="sphere" size="0.12" pos="0.05 0 0.01" condim="6"/>
    <geom name="back" type="sphere" size="0.1" pos="-0.3 0.1 0" condim="4"/>
    <geom name="tip" type="sphere" size="0.08" pos="0 0.4 -0.03" condim="1"/>
    <site name="zone" type="ellipsoid" size="0.2 0.15 0.3" pos="0.05 0 -0.1" euler="0.3 0.2 0.1"/>
    <site name="off" type="box" size="0.1 0.15 0.05" pos="-0.3 0.1 -0.3" euler="0.3 0.2 0.1"/>
    <site name="chest" pos="0.1 0.2 0.3" euler="1.1 0.2 -0.5"/>
    <camera name="eye" pos="0.1 0 0.2" euler="0.7 0.1 0.2"/>
    <camera name="follower" pos="0.1 0 0.2" euler="0.7 0.1 0.2" mode="track"/>
    <camera name="companion" pos="0.1 0 0.2" euler="0.7 0.1 0.2" mode="trackcom"/>
    <camera name="watcher" pos="0.1 0 0.2" mode="targetbody" target="shin"/>
    <camera name="observer" pos="0.1 0 0.2" mode="targetbodycom" target="shin"/>
    <body name="shin" pos="0.4 0 0.2" euler="0.3 0.2 0.1">
      <joint name="knee" axis="1 1 0" range="-0.02 0.04" stiffness="3" damping="0.4" frictionloss="0.3"/>
      <joint name="slide" type="slide" axis="0 1 1" ref="0.2" range="0.18 0.23" actuatorfrcrange="-0.4 0.5"/>
      <geom name="shin" type="capsule" size="0.05 0.1" pos="0.1 0 0"/>
      <site name="shin" pos="0.1 0.1 0.2" euler="-0.7 0.8 0.3"/>
      <body pos="0.3 0 0" euler="0 0.5 0"><joint name="ball" type="ball" range="0 0.2"/>
        <geom name="foot" type="box" size="0.1 0.05 0.08" pos="0 0 -0.1" euler="0.1 0.2 0.3"/>
        <site name="toe" pos="0.1 0 -0.1" euler="0.2 0.3 0.4"/></body></body>
  </body>
  <body name="door" pos="0.9 0.5 0.5"><joint name="hinge" axis="1 1 1" armature="0.1"/>
    <geom name="leaf" type="box" size="0.3 0.05 0.4" pos="0.3 0 0" euler="0.2 0.1 0.5"/>
    <geom name="post" type="cylinder" size="0.06 0.2" pos="-0.1 0.1 0.3"/>
    <geom name="knob" type="sphere" size="0.05" pos="0.2 0.2 0.1"/>
    <site name="handle" pos="0.5 0 0.1" euler="-0.2 -0.9 0.4"/>
    <body name="latch" euler="0.3 0 0" gravcomp="0.7"><site name="lock" pos="0 0.3 -0.2" euler="0.5 0.5 0.1"/>
      <geom size="0.05" pos="0 0.2 0"/></body></body>
  <body name="kite" pos="-1 0.4 1"><freejoint/><geom type="ellipsoid" size="0.1 0.15 0.2" euler="0.5 0.2 0.3"/>
    <site name="kite" pos="0.1 0.1 0.1" euler="0.1 0.9 0.3"/></body>
  <body name="bob" pos="-0.5 1.4 1"><joint name="swing" type="ball"/>
    <geom type="box" size="0.1 0.15 0.2" pos="0.1 0 -0.2" euler="0.5 0.2 0.3"/>
    <site name="bob" pos="0.1 0.1 -0.3" euler="0.6 0.9 0.3"/></body>
</worldbody>
<equality>
  <connect body1="trunk" body2="door" anchor="0.5 0.3 0.4"/>
  <connect site1="bob" site2="wall"/>
  <weld body1="kite" body2="shin" torquescale="0.6" relpose="0.1 0.2 -0.4 0.7 -0.3 0.5 0.2" anchor="0.1 0.05 0.02"/>
  <weld site1="kite" site2="lock"/>
  <joint joint1="hinge" joint2="knee" polycoef="0.1 0.4 0.2 0 0"/>
  <tendon tendon1="rope" tendon2="line" polycoef="0.05 0.3 0.2 0.1 0"/>
  <tendon tendon1="line"/>
</equality>
<tendon>
  <fixed name="fixed" range="-0.05 0.02" stiffness="2">
    <joint joint="knee" coef="2"/><joint joint="slide" coef="-0.5"/></fixed>
  <fixed name="weak" actuatorfrcrange="-0.03 0.02">
    <joint joint="knee" coef="0.3"/><joint joint="hinge" coef="0.7"/></fixed>
  <spatial name="rope" range="0.2 0.5" stiffness="5 2 1" damping="0.3 0.2 0.1" frictionloss="0.4"
   springlength="0.1 0.3"><site site="wall"/><site site="chest"/>
    <pulley divisor="2"/><site site="shin"/><geom geom="post"/><site site="handle"/>
    <pulley divisor="3"/><site site="toe"/><geom geom="knob" sidesite="lock"/><site site="handle"/></spatial>
  <spatial name="line" range="1.9 2.1" armature="0.2" stiffness="1">
    <site site="wall"/><site site="chest"/><site site="palm"/><site site="toe"/></spatial>
</tendon>
<actuator>
  <motor name="knee" joint="knee" gear="1.5"/>
  <position name="slide" joint="slide" kp="30" kv="2" gear="0.7"/>
  <motor name="strong slide" joint="slide"/>
  <motor name="rope" tendon="rope" gear="1.3"/>
  <motor name="line" tendon="line" gear="-0.4"/>
  <motor name="weak" tendon="weak"/>
  <position name="weak 2" tendon="weak" kp="3"/>
  <general name="jet" site="toe" gear="0.3 -0.2 0.5 1 0.4 -0.7"/>
  <general name="thrust" joint="free" gear="0.3 -0.2 0.5 1 0.4 -0.7"/>
  <orientation name="turn" joint="swing" kp="3" kv="0.2"/>
  <intvelocity name="late" joint="hinge" kp="12" actrange="-1.5 1"/>
</actuator>
<sensor>{sensors}</sensor></mujoco>"""

CONES = {"pyramidal": mujoco.mjtCone.mjCONE_PYRAMIDAL, "elliptic": mujoco.mjtCone.mjCONE_ELLIPTIC}
STATE = ("qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat", "qfrc_applied", "xfrc_applied", "time")

OBJECTS = {
    "body": ["trunk", "shin", "door", "kite", "hand", "world"],
    "xbody": ["trunk", "shin", "latch", "hand", "world"],
    "geom": ["belly", "foot", "leaf", "floor"],
    "site": ["wall", "palm", "chest", "toe", "lock"],
    "camera": ["fixed", "moved", "eye", "follower", "companion", "watcher", "observer"],
}
EVERY = [(kind, name) for kind, names in OBJECTS.items() for name in names]
SITES = ["wall", "palm", "chest", "shin", "toe", "handle", "lock", "kite", "bob"]
BODIES = ["world", "hand", "trunk", "shin", "door", "latch", "kite", "bob"]


def every_sensor():
    """Elements of <sensor>: each type on each kind of object, frames relative to each kind of object."""
    found = [f"<{kind} site='{s}'/>" for kind in SITE_SENSORS for s in SITES]
    found += [f"<{kind} body='{b}'/>" for kind in ("subtreecom", "subtreelinvel", "subtreeangmom") for b in BODIES]
    for kind in FRAME_SENSORS:
        found += [f"<{kind} objtype='{t}' objname='{n}'/>" for t, n in EVERY]
        if kind[-3:] != "acc":
            pairs = [(a, EVERY[(k + 9) % len(EVERY)]) for k, a in enumerate(EVERY)]
            found += [f"<{kind} objtype='{t}' objname='{n}' reftype='{u}' refname='{r}'/>" for (t, n), (u, r) in pairs]
    found += [f"<joint{kind} joint='{j}'/>" for kind in ("pos", "vel", "actuatorfrc") for j in SCALAR_JOINTS]
    found += [f"<jointlimit{kind} joint='{j}'/>" for kind in ("pos", "vel", "frc") for j in ("knee", "slide", "ball")]
    found += [f"<{kind} joint='{j}'/>" for kind in ("ballquat", "ballangvel") for j in ("ball", "swing")]
    found += [f"<tendon{kind} tendon='{t}'/>" for kind in ("pos", "vel", "actuatorfrc") for t in TENDONS]
    found += [f"<tendonlimit{kind} tendon='{t}'/>" for kind in ("pos", "vel", "frc") for t in ("fixed", "rope", "line")]
    found += [f"<actuator{kind} actuator='{a}'/>" for kind in ("pos", "vel", "frc") for a in ACTUATORS]
    found += [f"<touch site='{s}'/>" for s in ("zone", "off", "chest", "shin", "wall", "handle")]
    found += ["<clock/>", "<e_potential/>", "<e_kinetic/>", "<user dim='3'/>"]
    return found


SITE_SENSORS = ("accelerometer", "velocimeter", "gyro", "force", "torque", "magnetometer")
FRAME_SENSORS = (
    *("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis"),
    *("framelinvel", "frameangvel", "framelinacc", "frameangacc"),
)
SCALAR_JOINTS = ("knee", "slide", "hinge")
TENDONS = ("fixed", "weak", "rope", "line")
ACTUATORS = ("knee", "slide", "strong slide", "rope", "line", "weak", "weak 2", "jet", "thrust", "turn", "late")


def laboratory(sensors):
    """The mechanism with elements of <sensor>, as text."""
    return LABORATORY.format(sensors="\n".join(sensors))


def labels(m):
    """A name for each number in sensordata: the sensor's type, its object, reference."""
    found = []
    for s in range(m.nsensor):
        kind = mujoco.mjtSensor(m.sensor_type[s]).name.removeprefix("mjSENS_").lower()
        found += [f"{kind} {s} of {m.sensor_objtype[s]}:{m.sensor_objid[s]}"] * m.sensor_dim[s]
    return np.array(found)


def worst(m, found, wanted):
    """Largest error of sensordata, relative to the largest reading of its type of sensor, or to 1; and whose it is."""
    kinds = np.repeat(m.sensor_type, m.sensor_dim)
    scale = np.array([max(1.0, np.max(np.abs(wanted[kinds == kind]))) for kind in kinds])
    error = np.abs(found - wanted) / scale
    k = int(np.argmax(error))
    return error[k], labels(m)[k]


def compiled(sensors, cone="pyramidal"):
    """The laboratory with elements of <sensor>, solved to the end."""
    m = constraints.tight(mujoco.MjModel.from_xml_string(laboratory(sensors)))
    m.opt.cone = CONES[cone]
    return m


def states(m, count, seed=0):
    """MuJoCo's data at random states about qpos0, under random inputs; in none does rounding decide what acts."""
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        d = mujoco.MjData(m)
        for name, value in constraints.near(m, rng).items():
            getattr(d, name)[:] = value
        d.time = rng.uniform()
        d.act[:] = rng.normal(size=m.na)
        d.qfrc_applied[:] = rng.normal(size=m.nv)
        d.xfrc_applied[1:] = rng.normal(size=(m.nbody - 1, 6))
        d.mocap_pos[:] += 0.1 * rng.normal(size=(m.nmocap, 3))
        d.mocap_quat[:] = rng.normal(size=(m.nmocap, 4))  # of any length
        mujoco.mj_forward(m, d)
        if not constraints.undecided(d):
            found.append(d)
    return found


def put(sim, d):
    """MuJoCo's state and inputs into a simulation."""
    for name in STATE:
        if name == "time" or np.size(getattr(d, name)):
            setattr(sim, name, getattr(d, name))
