"""Contacts of bodies on moving ground with sensors of every way to match and to reduce, and every kind of data."""

import itertools

import mujoco
import numpy as np
from numpy.testing import assert_allclose

TOLERANCE, OF_FORCE = 1e-9, 1e-8
ALL = "found force torque dist pos normal tangent linvel angvel"
NET = "found force torque dist pos normal tangent"
MATCHES = [
    "",
    *('geom1="floor"', 'geom2="floor"', 'geom1="trunk"', 'geom1="ball" geom2="trunk"', 'geom1="trunk" geom2="ball"'),
    *('body1="free"', 'body2="free"', 'body1="world" body2="free"', 'body1="chain" geom2="floor"'),
    *('subtree1="chain"', 'subtree2="chain"', 'subtree1="chain" subtree2="chain"', 'subtree1="world" body2="free"'),
    *('site="zone"', 'site="zone" geom2="floor"', 'site="zone" body2="free"', 'site="nowhere"'),
    *('subtree1="chain" body2="world"', 'body1="far body"', 'geom1="floor" subtree2="chain"'),
]


def model_of(cone):
    """Balls, a box and a chain of capsules above ground, with sensors of every kind."""
    rng = np.random.default_rng(3)
    sensors = ""
    for k, match in enumerate(MATCHES):
        for way, num in itertools.product(("none", "mindist", "maxforce"), (1, 3)):
            data = ALL if num == 3 or k == 0 else " ".join(w for w in ALL.split() if rng.random() < 0.4) or "found"
            sensors += f'<contact {match} reduce="{way}" num="{num}" data="{data}"/>'
        sensors += f'<contact {match} reduce="netforce" data="{NET}"/>'
    sensors += '<contact num="40" data="dist"/><contact geom1="ball" reduce="netforce" data="pos"/>'
    balls = "".join(
        f'<body name="b{k}" pos="{0.17 * k} 0.05 0.1"><freejoint/>'
        f'<geom size="0.1" condim="{(1, 3, 4, 6)[k % 4]}" gap="0.02"/></body>'
        for k in range(5)
    )
    return f"""<mujoco><option cone="{cone}"/>
    <worldbody><geom name="floor" type="plane" size="0 0 1" surfacevel="0.1 0.2 0 0 0 0.3" friction="0.6 0.02 0.01"/>
      <site name="zone" type="box" size="0.4 0.4 0.02"/><site name="nowhere" pos="0 0 5"/>
      <body name="free" pos="0 0.5 0.14"><freejoint/><geom name="trunk" type="box" size="0.2 0.2 0.15"/>
        <geom name="knob" pos="0.3 0 -0.05" size="0.1" condim="6"/></body>
      <body pos="0.05 0.5 0.37"><freejoint/><geom name="ball" size="0.1" condim="4"/></body>
      <body name="chain" pos="-0.5 0 0.1"><freejoint/><geom type="capsule" size="0.1 0.2" euler="0 90 0"/>
        <body pos="-0.35 0 0"><joint axis="0 0 1"/><geom type="capsule" size="0.1" fromto="0 0 0 -0.1 0.4 0"/>
          <body pos="-0.1 0.4 0"><joint axis="0 0 1"/>
            <geom type="capsule" size="0.09" fromto="0.1 0 0 0.35 -0.2 0"/></body></body></body>
      {balls}
    </worldbody><sensor>{sensors}</sensor></mujoco>"""


def states(m, count):
    """Random positions and velocities about the model's own."""
    rng = np.random.default_rng(8)
    found = []
    for _ in range(count):
        qpos = m.qpos0 + 0.02 * rng.normal(size=m.nq)
        qvel = 0.3 * rng.normal(size=m.nv)
        found.append({"qpos": qpos, "qvel": qvel})
    return found


def reference(m, state):
    """MuJoCo's data at a state."""
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = state["qpos"], state["qvel"]
    mujoco.mj_forward(m, d)
    return d


def compare(m, got, d):
    """Sensor by sensor: forces and torques by the largest of any, the rest absolutely."""
    scale = max(np.abs(d.efc_force).max(initial=1.0), 1.0)
    for s in range(m.nsensor):
        own = slice(m.sensor_adr[s], m.sensor_adr[s] + m.sensor_dim[s])
        forced = m.sensor_intprm[s, 0] & 6 or m.sensor_intprm[s, 1] == 3
        tolerance = OF_FORCE * scale if forced else TOLERANCE
        assert_allclose(got[own], d.sensordata[own], rtol=0, atol=tolerance, err_msg=f"sensor {s}")
