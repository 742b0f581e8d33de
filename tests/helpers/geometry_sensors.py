"""Rays, projections, containment and distances among geoms of all types: the scene and MuJoCo's readings."""

import mujoco
import numpy as np

from saltus.model.compile.cameras_rays import DISTANCES

TOLERANCE, ITERATED = 1e-9, 1e-5
ALL = 'data="dist dir origin point normal depth"'
DIRECTIONS = 24


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


def states(model, count):
    """Random positions."""
    rng = np.random.default_rng(11)
    out = []
    for _ in range(count):
        qpos = rng.normal(size=model.nq) * 0.6
        qpos[3:7] /= np.linalg.norm(qpos[3:7])
        out.append({"qpos": qpos})
    return out


def reference(m, state):
    """MuJoCo's readings at a state."""
    d = mujoco.MjData(m)
    d.qpos[:] = state["qpos"]
    mujoco.mj_forward(m, d)
    return d.sensordata.copy()


def tolerance(m):
    """Errors that readings may have, number by number of sensordata."""
    out = np.full(m.nsensordata, TOLERANCE)
    for kind, at, dim in zip(m.sensor_type, m.sensor_adr, m.sensor_dim, strict=True):
        if kind in DISTANCES:
            out[at : at + dim] = ITERATED
    return out
