"""Sensors of geometry against MuJoCo 4.0's sensordata: rangefinders, projections, insides, distances.

Rays of sites and of perspective, orthographic and intrinsic cameras in all modes meet every type of geom, from outside
and from inside, seen and unseen, with every kind of output; points of every type of object are in sites of every shape;
distances of every type of geom and of bodies.

Tolerance: 1e-9 of the largest entry, a few metres: where a ray grazes a surface, the root of a small difference loses
half of the 16 digits, and of rays at random one in some thousand comes so near; most agree to 1e-13. Distances, their
ends and directions are MuJoCo's own, by an iteration that stops at 1e-6 (ccd_tolerance): one rounding in a pose may
decide where, so that segments agree to some of that, and directions to it over the distance, here 1e-5.
"""

import mujoco
import numpy as np
import pytest
from helpers.cases import same_bits
from helpers.states import lanes

import saltus
from saltus.contact.mujoco.rays import attach_sense
from saltus.model.compile.cameras_rays import DISTANCES
from saltus.model.layout import DATA, data_sizes
from saltus.number.kernels import Entry
from saltus.number.kinds import lane64
from saltus.number.structs import Struct
from saltus.sense.geometry import geometry_sensor
from saltus.simulate.engine import loops

TOLERANCE, ITERATED = 1e-9, 1e-5
SENSE = Entry(
    "geometry_sensors", "", "for s in range(m.nsensor):\n    geometry_sensor(m, d, s)", geometry_sensor=geometry_sensor
)
ALL = 'data="dist dir origin point normal depth"'
DIRECTIONS = 24
GEOMS = "plane sphere capsule ellipsoid cylinder box mesh"


def scene():
    """Geoms of all types about the origin, and a free body with sites and cameras among them."""
    rng = np.random.default_rng(5)
    sites = "".join(
        f'<site name="s{k}" pos="{" ".join(map(str, rng.normal(size=3) * 0.2))}" '
        f'quat="{" ".join(map(str, rng.normal(size=4)))}"/>'
        for k in range(DIRECTIONS)
    )
    shapes = (("sphere", "0.4"), ("capsule", "0.2 0.4"), ("ellipsoid", "0.2 0.5 0.3"), ("cylinder", "0.3 0.4"),
              ("box", "0.3 0.4 0.5"))  # fmt: skip
    zones = "".join(f'<site name="{t}" type="{t}" size="{size}" euler="20 40 60"/>' for t, size in shapes)
    cameras = "".join(
        f'<camera name="{name}" pos="0.1 0.2 0.3" euler="30 {20 * k} 10" {more}/>'
        for k, (name, more) in enumerate(
            [
                ("fixed", 'resolution="5 4" fovy="70"'),
                ("track", 'mode="track" resolution="3 4"'),
                ("trackcom", 'mode="trackcom" resolution="4 4" projection="orthographic" fovy="1.5"'),
                ("target", 'mode="targetbody" target="arm" resolution="4 3"'),
                ("targetcom", 'mode="targetbodycom" target="probe" resolution="3 3"'),
                ("lens", 'resolution="4 5" focal="0.004 0.005" sensorsize="0.006 0.007" principal="0.0005 -0.0003"'),
                ("flat", 'resolution="5 3" projection="orthographic" fovy="2"'),
            ]
        )
    )
    names = ["fixed", "track", "trackcom", "target", "targetcom", "lens", "flat"]
    finders = "".join(f'<rangefinder site="s{k}" {ALL}/>' for k in range(DIRECTIONS))
    finders += '<rangefinder site="s0"/><rangefinder site="s1" data="point depth"/><rangefinder site="wall"/>'
    finders += "".join(
        f'<rangefinder camera="{name}" {ALL}/><camprojection camera="{name}" site="s3"/>' for name in names
    )
    finders += '<rangefinder camera="fixed" data="depth"/>'
    for t, _ in shapes:
        for kind, name in (("body", "probe"), ("xbody", "arm"), ("geom", "ball"), ("site", "s4"), ("camera", "fixed")):
            finders += f'<insidesite site="{t}" objtype="{kind}" objname="{name}"/>'
    finders += '<insidesite site="sphere" objtype="body" objname="massless"/>'
    pairs = [
        (a, b) for a in ("ball", "boxy", "rock", "hat", "rugby", "tin", "pill") for b in ("floor", "s", "e", "hut", "d")
    ]
    for k, (a, b) in enumerate(pairs):
        finders += f'<distance geom1="{a}" geom2="{b}" cutoff="{0.5 + 3 * (k % 2)}"/>'
        finders += f'<normal geom1="{b}" geom2="{a}" cutoff="3"/><fromto geom1="{a}" geom2="{b}" cutoff="3"/>'
    finders += '<distance body1="arm" body2="probe" cutoff="5"/><fromto body1="probe" body2="world" cutoff="5"/>'
    finders += '<normal body1="rocks" geom2="ball" cutoff="5"/>'
    return f"""<mujoco><option><flag contact="disable"/></option>
    <asset><mesh name="tetra" vertex="0 0 0  1 0 0  0 1 0  0 0 1" scale="0.6 0.7 0.8"/>
      <hfield name="hills" nrow="4" ncol="5" size="1.5 1 0.4 0.1"
       elevation="0 1 2 1 0  1 3 1 0 1  0 1 2 2 1  1 0 0 1 3"/>
      <material name="glass" rgba="1 1 1 0"/></asset>
    <worldbody>
      <geom name="floor" type="plane" size="0 0 1" pos="0 0 -2"/>
      <geom type="plane" size="1 0.5 1" pos="0 -2 0" euler="-80 0 10"/>
      <geom name="s" type="sphere" size="0.4" pos="1.5 0 0"/>
      <geom name="e" type="ellipsoid" size="0.3 0.5 0.2" pos="-1.5 0.2 0" euler="10 20 30"/>
      <geom name="hut" type="box" size="0.3 0.5 0.2" pos="0.2 1.7 0" euler="10 20 30"/>
      <geom name="d" type="cylinder" size="0.3 0.5" pos="0.1 0.2 1.5" euler="10 50 30"/>
      <geom type="capsule" size="0.2 0.5" pos="0.1 -1.6 0.3" euler="100 50 30"/>
      <geom type="sphere" size="5" rgba="1 1 1 0"/><geom type="box" size="4 4 4" material="glass"/>
      <geom type="sphere" size="9" pos="0 0 1"/>
      <geom type="hfield" hfield="hills" pos="0.1 0.2 -1.8"/>
      <site name="wall" pos="0 0 3" euler="180 0 0"/>
      {zones}
      <body name="rocks" pos="0.9 0.9 0.9"><geom name="rock" type="mesh" mesh="tetra" euler="30 50 70"/>
        <geom type="mesh" mesh="tetra" pos="0.2 -2.3 0.4" rgba="0 0 0 0"/>
        <geom type="sdf" mesh="tetra" pos="-1.5 -2 -1" euler="50 20 10"/></body>
      <body name="probe"><freejoint/><geom name="ball" size="0.15"/>{sites}{cameras}
        <geom name="rugby" type="ellipsoid" size="0.1 0.2 0.3" pos="0.3 0 0"/>
        <body name="arm" pos="0.5 0 0"><joint/><geom name="boxy" type="box" size="0.1 0.2 0.15" pos="0.1 0 0"/>
          <geom name="hat" type="mesh" mesh="tetra" pos="0 0 0.5" euler="20 0 10"/>
          <geom name="tin" type="cylinder" size="0.1 0.2" pos="0 0.5 0"/>
          <geom name="pill" type="capsule" size="0.1 0.2" pos="0 -0.5 0"/></body>
        <body name="massless" pos="0 0.3 0"><body><joint/><geom size="0.1" pos="0.1 0 0"/></body></body></body>
    </worldbody><sensor>{finders}</sensor></mujoco>"""


@pytest.fixture(scope="module")
def model():
    return saltus.load(mujoco.MjModel.from_xml_string(scene()))


def states(model, count):
    rng = np.random.default_rng(11)
    out = []
    for _ in range(count):
        qpos = rng.normal(size=model.nq) * 0.6
        qpos[3:7] /= np.linalg.norm(qpos[3:7])
        out.append({"qpos": qpos})
    return out


def sense(model, d):
    """Everything computed at the state in d, then the sensors."""
    loops.forward(model.struct(), d)
    SENSE(model.sensing_struct(), d)


def reference(m, state):
    d = mujoco.MjData(m)
    d.qpos[:] = state["qpos"]
    mujoco.mj_forward(m, d)
    return d.sensordata.copy()


def sensed(model, state):
    d = Struct(DATA, data_sizes(model.sizes()))
    attach_sense(model, d)
    d.qpos[:] = state["qpos"]
    sense(model, d)
    return d.sensordata.copy()


def tolerance(m):
    """Of each number in sensordata."""
    out = np.full(m.nsensordata, TOLERANCE)
    for kind, at, dim in zip(m.sensor_type, m.sensor_adr, m.sensor_dim, strict=True):
        if kind in DISTANCES:
            out[at : at + dim] = ITERATED
    return out


def test_sensors(model):
    m = model.mujoco
    seen = []
    for state in states(model, 40):
        got, expected = sensed(model, state), reference(m, state)
        seen.append(expected)
        assert np.all(np.abs(got - expected) <= tolerance(m))
    seen = np.array(seen)
    inside = np.isin(m.sensor_type, mujoco.mjtSensor.mjSENS_INSIDESITE.value)
    both = seen[:, m.sensor_adr[inside]].mean(axis=0)
    assert np.any((both > 0) & (both < 1)), "some points are in and out"


def test_rays_meet_all():
    """What the sites' rays meet in these states: every type of geom, says MuJoCo, so that the test above is one."""
    m = mujoco.MjModel.from_xml_string(scene())
    d, geom, met = mujoco.MjData(m), np.zeros(1, np.int32), set()
    for state in states(m, 40):
        d.qpos[:] = state["qpos"]
        mujoco.mj_kinematics(m, d)
        for i in range(DIRECTIONS):
            along = np.ascontiguousarray(d.site(f"s{i}").xmat.reshape(3, 3)[:, 2])
            mujoco.mj_ray(m, d, d.site(f"s{i}").xpos, along, None, 1, m.body("probe").id, geom)
            met.add(int(m.geom_type[geom[0]]))
    assert met == set(range(9))


@pytest.mark.slow
def test_lanes(model):
    found = states(model, lane64.width)
    d = lanes(model, found)
    attach_sense(model, d)
    sense(model, d)
    for k, state in enumerate(found):
        assert np.all(np.abs(d.sensordata[:, k] - reference(model.mujoco, state)) <= tolerance(model.mujoco))
    alone = lanes(model, [found[1]] * lane64.width)
    attach_sense(model, alone)
    sense(model, alone)
    assert same_bits(alone.sensordata[:, 1], d.sensordata[:, 1])
