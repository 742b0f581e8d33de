"""Mechanisms with every transmission and every law of actuators, and their quantities here and in MuJoCo."""

import copy

import mujoco
import numpy as np

import saltus
from helpers import oracle
from helpers.states import lanes
from saltus.dynamics.smooth import free_forward
from saltus.model.layout import model_layout
from saltus.number.kernels import Entry
from saltus.number.kinds import lane64

# what any actuator needs compiled: one set for all models, so that they share their kernels
NEEDED = frozenset({"actuation", "transmission", "act", "muscle", "servo", "dcmotor", "so3", "tendon", "wrap"})
FORWARD = Entry("free_forward_alone", "", "free_forward(m, d)", free_forward=free_forward)

# two trees, all joints, frames turned everywhere; a body of each tree lies behind others
BODIES = """
<mujoco><compiler angle="radian" autolimits="true"/>
<option><flag contact="disable"/></option>
<default><geom contype="0" conaffinity="0"/></default>
<worldbody>
  <site name="wall" pos="0.3 0 1.2" euler="0.4 -0.3 0.9"/>
  <body name="trunk" pos="0 0 1"><freejoint name="free"/><geom type="box" size="0.2 0.1 0.15" pos="0.05 0 0.02"/>
    <site name="chest" pos="0.1 0.2 0.3" euler="1.1 0.2 -0.5"/>
    <body pos="0.6 0 0" euler="0.3 0.2 0.1"><joint name="knee" axis="1 1 0"/>
      <geom size="0.1" pos="0.1 0 0"/>
      <site name="shin" pos="0.1 0.1 0.5" euler="-0.7 0.8 0.3"/>
      <body pos="0.3 0 0" euler="0 0.5 0"><joint name="ankle" axis="0 1 0"/><geom size="0.08" pos="0 0 -0.1"/>
        <site name="toe" pos="0.1 0 -0.1" euler="0.2 0.3 0.4"/></body></body>
    <body pos="-0.5 0 0.1"><joint name="slide" type="slide" axis="0 1 1" ref="0.2"/>
      <joint name="ball" type="ball" pos="0.02 0 0.01"/><geom type="ellipsoid" size="0.1 0.15 0.2" pos="0.05 0 0"/>
      <site name="hand" pos="0 0.4 0.2" euler="0.6 -0.4 1.3"/></body>
  </body>
  <body name="door" pos="1.5 0.5 0.5"><joint name="hinge" axis="1 1 1" actuatorfrcrange="-25 30"/>
    <geom type="box" size="0.3 0.05 0.4" pos="0.3 0 0"/>
    <geom name="cap" type="cylinder" size="0.1 0.2" pos="0.3 0.1 0.3"/>
    <site name="handle" pos="0.5 0 0.1" euler="-0.2 -0.9 0.4"/>
    <body euler="0.3 0 0"><site name="lock" pos="0 0.3 -0.2" euler="0.5 0.5 0.1"/></body></body>
</worldbody>
<tendon>
  <fixed name="fixed"><joint joint="knee" coef="2"/><joint joint="slide" coef="-0.5"/></fixed>
  <spatial name="spatial"><site site="wall"/><geom geom="cap"/><site
   site="hand"/></spatial>
  <fixed name="weak" actuatorfrcrange="-3 2"><joint joint="knee" coef="0.3"/><joint joint="hinge" coef="0.7"/></fixed>
</tendon>
<actuator>{actuators}</actuator></mujoco>"""

TRANSMISSIONS = {
    "hinge": "joint='hinge' gear='1.5'",
    "hinge in parent": "jointinparent='hinge' gear='-0.7'",
    "slide": "joint='slide' gear='2'",
    "ball": "joint='ball' gear='0.3 -1.1 0.6'",
    "ball in parent": "jointinparent='ball' gear='0.8 0.1 -0.5'",
    "free": "joint='free' gear='0.3 -0.2 0.5 1 0.4 -0.7'",
    "free in parent": "jointinparent='free' gear='0.3 -0.2 0.5 1 0.4 -0.7'",
    "fixed tendon": "tendon='fixed' gear='1.3'",
    "spatial tendon": "tendon='spatial' gear='-0.6'",
    "weak tendon": "tendon='weak' gear='1.2'",
    "site": "site='toe' gear='0.3 -0.2 0.5 1 0.4 -0.7'",
    "site of the world": "site='wall' gear='0 0 1 0 0 1'",
    "translation": "site='shin' refsite='hand' gear='0.5 0.2 -0.9 0 0 0'",
    "rotation": "site='shin' refsite='hand' gear='0 0 0 0.5 0.2 -0.9'",
    "both": "site='toe' refsite='chest' gear='0.3 -0.2 0.5 1 0.4 -0.7'",
    "other tree": "site='lock' refsite='hand' gear='0.3 -0.2 0.5 1 0.4 -0.7'",
    "to the world": "site='hand' refsite='wall' gear='0.3 -0.2 0.5 1 0.4 -0.7'",
    "one body": "site='handle' refsite='lock' gear='0.3 -0.2 0.5 1 0.4 -0.7'",
    "along a chain": "site='chest' refsite='toe' gear='0 0 0 0 0 1'",
    "slider-crank": "cranksite='toe' slidersite='hand' cranklength='1.5' gear='0.8'",
    "short rod": "cranksite='shin' slidersite='wall' cranklength='1.2'",
}
ORIENTATIONS = {
    "ball joint": "joint='ball'",
    "two sites": "site='shin' refsite='hand'",
    "two trees": "site='lock' refsite='toe'",
}


def document(actuators):
    """The mechanism with elements of <actuator>."""
    return BODIES.format(actuators="\n".join(actuators))


def simple(model, needed=NEEDED):
    """The kernels' Model without constraints, with the features that all models of these tests share, or others."""
    struct = copy.copy(model.struct())
    assert not struct.layout.features & {"tendon_force", "tendon_armature", "fluid", "mocap", "delay", "hill"}
    struct.layout = model_layout(needed)
    return struct


def simulation(model, method, **options):
    """A simulation with the kernels that all models of these tests share."""
    sim = saltus.Simulation(model, integrator=method, **options)
    sim.engine.m = copy.copy(sim.engine.m)
    sim.engine.m.layout = model_layout(NEEDED)
    return sim


def random_states(m, count, seed=7, speed=1.0):
    """States with activations of either sign about 1."""
    rng = np.random.default_rng(seed)
    found = [oracle.random_state(m, rng, speed=speed, force=0.0) for _ in range(count)]
    return [{**state, "act": rng.normal(size=m.na)} for state in found]


def compared(model, states, needed=NEEDED):
    """Lane by lane: a function from names to values here, and MuJoCo's data, at each state."""
    m = oracle.reference(model)
    for start in range(0, len(states), lane64.width):
        part = states[start : start + lane64.width]
        data = lanes(model, part)
        data.views["timestep"][...] = m.opt.timestep
        FORWARD(simple(model, needed), data)
        for lane, state in enumerate(part):
            yield (lambda name, lane=lane, data=data: data.views[name][..., lane]), oracle.forward(m, state)


def dense_moment(m, d):
    """MuJoCo's moment arms [nout, nv]."""
    full = np.zeros((m.nout, m.nv))
    mujoco.mju_sparse2dense(full, d.actuator_moment, d.moment_rownnz, d.moment_rowadr, d.moment_colind)
    return full


def our_moment(model, entries):
    """Moment arms [nout, nv] of the entries along moment_dof; of hinges and slides they are the gear."""
    s = model.struct()
    full = np.zeros((s.sizes["nout"], model.nv))
    for o in range(len(full)):
        at = slice(s.moment_adr[o], s.moment_adr[o] + s.moment_num[o])
        full[o, s.moment_dof[at]] = s.actuator_gear[o, 0] if s.out_kind[o] == 0 else entries[at]
    return full


def largest_error(found, wanted, least=1e-3):
    """Largest difference of two arrays, relative to the largest wanted value, or to `least`."""
    wanted = np.asarray(wanted)
    scale = max(np.max(np.abs(wanted), initial=0.0), least)
    return np.max(np.abs(np.asarray(found) - wanted), initial=0.0) / scale


# laws on a transmission of one output, {t}
MOTOR = "resistance='1.3' motorconst='0.4 0.5'"
LUGRE, HEAT = "lugre='20 0.3 0.5 0.8 0.1'", "thermal='3 20 0 0.004 25 20'"
LAWS = {
    "motor": "<motor {t}/>",
    "limited": "<motor {t} ctrlrange='-0.5 0.8' forcerange='-0.4 0.6'/>",
    "position": "<position {t} kp='30' kv='2'/>",
    "filtered position": "<position {t} kp='30' kv='2' timeconst='0.2'/>",
    "velocity": "<velocity {t} kv='3' ctrlrange='-1 1'/>",
    "intvelocity": "<intvelocity {t} kp='12' kv='1.1' actrange='-1.5 1'/>",
    "damper": "<damper {t} kv='0.7' ctrlrange='0 1.5'/>",
    "cylinder": "<cylinder {t} timeconst='0.3' area='1.2' bias='0.2 -0.3 -0.1'/>",
    "diameter": "<cylinder {t} timeconst='0.3' diameter='0.4' ctrlrange='-1 1'/>",
    "pid": "<pid {t} kp='12' kv='0.8'/>",
    "pid, all inputs": "<pid {t} kp='12' kv='0.8' input='pos vel ff' ffrange='-1 1' velrange='-0.7 0.7'"
    " posrange='-2 2'/>",
    "pid without velocity": "<pid {t} kp='12' kv='0.8' input='pos ff'/>",
    "pid of velocity": "<pid {t} kp='12' kv='0.8' input='vel'/>",
    "integral": "<pid {t} kp='12' kv='0.8' ki='3' imax='0.7'/>",
    "endless integral": "<pid {t} kp='12' ki='3' input='pos vel ff'/>",
    "slew": "<pid {t} kp='12' kv='0.8' slewmax='4'/>",
    "slew and integral": "<pid {t} kp='12' kv='0.8' ki='2' imax='1.5' slewmax='4' forcerange='-30 30'/>",
    "voltage": f"<dcmotor {{t}} {MOTOR}/>",
    "nominal": "<dcmotor {t} nominal='24 3 200'/>",
    "winding": "<dcmotor {t} resistance='1.3' motorconst='0.4' inductance='0 0.02' saturation='0 2 15'/>",
    "inductance": f"<dcmotor {{t}} {MOTOR} inductance='0.05' saturation='0.3 0 0'/>",
    "heat": f"<dcmotor {{t}} {MOTOR} {HEAT}/>",
    "heat and winding": f"<dcmotor {{t}} {MOTOR} thermal='3 0 50 0.004 25 20' inductance='0.05 0'/>",
    "cogging": f"<dcmotor {{t}} {MOTOR} cogging='0.3 7 0.4' saturation='0.2 0 0'/>",
    "friction": f"<dcmotor {{t}} {MOTOR} {LUGRE} ctrlrange='-1 1'/>",
    "brake": f"<dcmotor {{t}} resistance='1.3' motorconst='0' {LUGRE} input='none'/>",
    "shorted": f"<dcmotor {{t}} {MOTOR} input='none'/>",
    "controller": f"<dcmotor {{t}} {MOTOR} controller='3 0 0.2 0 0 0' input='pos vel ff voltage'/>",
    "supply": f"<dcmotor {{t}} {MOTOR} controller='3 2 0.2 5 0.6 4' input='pos vel voltage'/>",
    "unlimited integral": f"<dcmotor {{t}} {MOTOR} controller='3 2 0.2 5 0 4' input='pos voltage'/>",
    "speed controller": f"<dcmotor {{t}} {MOTOR} controller='0 0 2 5 0 4' input='vel'/>",
    "torque controller": f"<dcmotor {{t}} {MOTOR} controller='0 0 0 5 0 4' input='ff'/>",
    "all of a motor": f"<dcmotor {{t}} {MOTOR} {HEAT} {LUGRE} controller='3 2 0.2 5 0.6 4' cogging='0.3 7 0.4'"
    " input='pos vel ff voltage' inductance='0 0.02' saturation='0 2 15'/>",
    "all but the winding": f"<dcmotor {{t}} {MOTOR} {HEAT} {LUGRE} controller='3 2 0.2 5 0.6 4' input='pos ff'/>",
    "muscle": "<muscle {t} lengthrange='-2 3'/>",
    "strong muscle": "<muscle {t} lengthrange='-2 1' force='120' range='0.7 1.1' lmin='0.4' lmax='1.7' vmax='1.4'"
    " fpmax='1.2' fvmax='1.3' timeconst='0.02 0.07'/>",
    "smooth muscle": "<muscle {t} lengthrange='-1.5 2' tausmooth='0.4' scale='300' forcerange='-20 0'/>",
}

# all mixtures of what `general` takes, with activation before and after the step
FLV = "0.7 1.1 {force} 150 0.4 1.7 1.4 1.2 1.3"
DYNAMICS = {
    "none": "dynprm='1'",
    "integrator": "actrange='-2 1.5'",
    "filter": "dynprm='0.1'",
    "filterexact": "dynprm='0.1' actrange='-1 1'",
    "muscle": "dynprm='0.02 0.05 0.3'",
}
GAINS = {
    "fixed": "gainprm='2 5 7'",
    "affine": "gainprm='2 0.4 -0.3'",
    "muscle": f"gainprm='{FLV.format(force=120)}'",
}
BIASES = {
    "none": "biasprm='1 2 3'",
    "affine": "biasprm='0.3 -2 -0.4'",
    "muscle": f"biasprm='{FLV.format(force=-1)}'",
}
GENERAL = {
    f"{dyn}, {gain}, {bias}, {early}": f"<general {{t}} lengthrange='-2 2' dyntype='{dyn}' gaintype='{gain}'"
    f" biastype='{bias}' {DYNAMICS[dyn]} {GAINS[gain]} {BIASES[bias]} actearly='{early}'/>"
    for dyn in DYNAMICS
    for gain in GAINS
    for bias in BIASES
    for early in (["false"] if dyn == "none" else ["false", "true"])
}
SO3 = {
    "expmap": "<orientation {t} kp='2' kv='0.3' ctrlrange='-1 1'/>",
    "quat": "<orientation {t} kp='2' kv='0.3' input='quat' forcerange='0 1.5'/>",
    "integrated": "<general {t} gaintype='so3' biastype='so3' dyntype='integrator' gainprm='2' biasprm='0.1 -2 -0.3'/>",
    "early": "<general {t} gaintype='so3' biastype='so3' dyntype='integrator' gainprm='2' biasprm='0 -2 -0.3'"
    " actearly='true' actrange='-1.5 1.5'/>",
}


def actuators(laws, transmissions):
    """Elements of <actuator>, each law on each transmission, named "transmission|law"."""
    return [
        law.format(t=f"name='{one}|{name}' {t}")
        for one, t in transmissions.items()
        for name, law in laws.items()
        # muscles need a joint, a tendon or a crank
        if not ("muscle" in law.split()[0] and "site" in t.split("=")[0] and "crank" not in t)
    ]


def output_names(model):
    """Name of the actuator of each output."""
    return np.repeat(np.array(model.names("actuator")[: model.nactuator], object), model.actuator_outnum)


ARM26 = """
<mujoco><!-- a planar arm with six muscles, after the description of arm26 in MuJoCo's documentation of muscles -->
<option timestep="0.005"/>
<default><geom contype="0" conaffinity="0"/><joint axis="0 0 1" damping="0.05" range="0 150" limited="false"/>
  <muscle ctrlrange="0 1"/><tendon width="0.008"/></default>
<worldbody>
  <geom name="shoulder" type="sphere" size="0.06" pos="0 0 0"/>
  <site name="chest" pos="0.05 -0.12 0"/><site name="back" pos="-0.08 -0.1 0"/><site name="blade" pos="-0.04 0.06 0"/>
  <site name="front of shoulder" pos="0.1 0.05 0"/><site name="back of shoulder" pos="-0.1 0 0"/>
  <body pos="0 0 0"><joint name="shoulder"/><geom type="capsule" size="0.035" fromto="0 0 0 0.32 0 0" mass="1.8"/>
    <site name="upper front" pos="0.14 0.05 0"/><site name="upper back" pos="0.15 -0.05 0"/>
    <site name="front mid" pos="0.2 0.04 0"/><site name="back mid" pos="0.2 -0.04 0"/>
    <geom name="elbow" type="cylinder" size="0.035 0.05" pos="0.32 0 0"/>
    <site name="front of elbow" pos="0.32 0.07 0"/><site name="back of elbow" pos="0.32 -0.07 0"/>
    <body pos="0.32 0 0"><joint name="elbow"/><geom type="capsule" size="0.03" fromto="0 0 0 0.34 0 0" mass="1.3"/>
      <site name="fore front" pos="0.08 0.03 0"/><site name="fore back" pos="0.07 -0.03 0"/>
      <body pos="0.34 0 0"><geom type="ellipsoid" size="0.08 0.04 0.02" pos="0.06 0 0"/></body>
    </body></body>
</worldbody>
<tendon>
  <spatial name="SF"><site site="chest"/><geom geom="shoulder" sidesite="front of shoulder"/><site
   site="upper front"/></spatial>
  <spatial name="SE"><site site="back"/><geom geom="shoulder" sidesite="back of shoulder"/><site
   site="upper back"/></spatial>
  <spatial name="EF"><site site="front mid"/><geom geom="elbow" sidesite="front of elbow"/><site
   site="fore front"/></spatial>
  <spatial name="EE"><site site="back mid"/><geom geom="elbow" sidesite="back of elbow"/><site
   site="fore back"/></spatial>
  <spatial name="BF"><site site="chest"/><geom geom="shoulder" sidesite="front of shoulder"/><site
   site="front mid"/><geom geom="elbow" sidesite="front of elbow"/><site site="fore front"/></spatial>
  <spatial name="BE"><site site="back"/><geom geom="shoulder" sidesite="back of shoulder"/><site
   site="back mid"/><geom geom="elbow" sidesite="back of elbow"/><site site="fore back"/></spatial>
</tendon>
<actuator>
  <muscle name="SF" tendon="SF" lengthrange="0.1 0.4"/><muscle name="SE" tendon="SE" lengthrange="0.1 0.4" force="300"/>
  <muscle name="EF" tendon="EF" lengthrange="0.1 0.3"/><muscle name="EE" tendon="EE" lengthrange="0.1 0.3"/>
  <muscle name="BF" tendon="BF" lengthrange="0.2 0.6" tausmooth="0.2"/><muscle name="BE" tendon="BE"
   lengthrange="0.2 0.6"/>
</actuator></mujoco>"""
