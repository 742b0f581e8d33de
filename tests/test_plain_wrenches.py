"""Wrenches and places that sensors need, by themselves in plain Python.

Laws: the power of wrenches on bodies is that of the force along its motion; insides of shapes by their definitions.
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain_python import fields, plain, plain_python

import saltus
from saltus.model.enums import BOX, CAPSULE, CYLINDER, ELLIPSOID, MESH, PLANE, SPHERE
from saltus.sense import delay, forces, geometry

ROPES = """<mujoco><default><geom contype="0" conaffinity="0"/></default><worldbody>
<body pos=".1 .2 2" euler="5 -8 12"><joint type="ball"/><geom name="post" type="cylinder" size=".1 .5" euler="90 0 0"
  mass="1"/><site name="side" pos="0 0 .3"/></body>
<body pos="-.6 0 1"><freejoint/><geom size=".02" mass="1"/><site name="a" pos=".01 .02 .03"/></body>
<body pos="-.2 .1 1.2"><joint axis="1 2 3"/><geom size=".02" mass="1"/><site name="b" pos=".03 -.02 .01"/></body>
<body pos=".5 .1 1.1"><freejoint/><geom size=".02" mass="3"/><site name="c" pos=".02 0 .01"/></body>
<body pos=".9 .1 1.4"><joint axis="0 1 1"/><geom size=".02" mass="3"/><site name="e" pos=".02 .05 .01"/></body>
</worldbody><tendon>
<spatial name="string" stiffness="80" springlength="0 .1"><site site="a"/><site site="e"/></spatial>
<spatial name="rope" stiffness="300" springlength="0 .1"><site site="a"/><site site="b"/>
  <geom geom="post" sidesite="side"/><site site="c"/><site site="e"/></spatial></tendon>
<sensor><force site="b"/></sensor></mujoco>"""


def test_friction_of_a_rope_on_its_path():
    """Half of the force ahead of the geom, half behind it: their power is the force times the rate of the slip."""
    with plain_python():
        sim = saltus.Simulation(saltus.capstan(ROPES, "rope", 0.3))
        sim.qvel[:] = np.random.default_rng(0).normal(size=len(sim.qvel))
        sim.forward()
    m, d = fields(sim.engine.m), fields(sim.engine.d)
    force = plain(forces.slip_force)(m, d, 1)
    assert abs(force) > 0.1
    for t in range(2):
        for b in range(m.nbody):
            d.cfrc_ext[b] = (0.0,) * 6
        plain(forces.add_slip_forces)(m, d, t)
        wrenches = np.array([d.cfrc_ext[b] for b in range(m.nbody)], float)
        if t == 0:
            assert not wrenches.any()
            continue
        slip = sum(
            d.slip_J[m.tendon_Jadr[t] + k] * d.qvel[m.tendon_dof[m.tendon_Jadr[t] + k]] for k in range(m.tendon_Jnum[t])
        )
        power = sum(wrenches[b] @ np.array(d.cvel[b]) for b in range(1, m.nbody))
        assert power == pytest.approx(force * slip, rel=1e-10)
        assert np.abs(wrenches[1:]).max(axis=1).min() > 1e-3  # on every body of the path
        # forces alone add up to nothing
        np.testing.assert_allclose(wrenches[:, 3:].sum(axis=0), 0.0, atol=1e-12)


def test_who_carries_forces():
    d = SimpleNamespace(contact_block=[-1, 2])
    for features, wanted in (((), [False, True]), (("touch_law",), [True, True])):
        m = SimpleNamespace(layout=SimpleNamespace(features=frozenset(features)))
        assert [plain(forces.carries_force)(m, d, k) for k in range(2)] == wanted


def test_a_warm_start_is_kept_while_sensors_are_read():
    m = SimpleNamespace(layout=SimpleNamespace(features=frozenset({"constraint"})), nv=3)
    d = SimpleNamespace(qacc_warmstart=np.arange(4.0), qstep=np.full(4, 9.0))
    plain(delay.keep_start)(m, d)
    assert d.qstep.tolist() == [0.0, 1.0, 2.0, 9.0]
    d.qacc_warmstart[:] = -1.0
    plain(delay.restore_start)(m, d)
    assert d.qacc_warmstart.tolist() == [0.0, 1.0, 2.0, -1.0]


@pytest.mark.parametrize("scale", [0.999, 1.0, 1.001])
def test_insides_of_shapes(scale):
    """Places on a surface are outside."""
    rng, size = np.random.default_rng(1), np.array([0.25, 0.5, 0.75])
    inside = scale < 1.0
    for _ in range(10):
        n = rng.normal(size=3)
        n /= np.linalg.norm(n)
        if scale != 1.0:
            on = {SPHERE: 0.25 * n, ELLIPSOID: size * n, CYLINDER: np.r_[0.25 * n[:2] / np.hypot(*n[:2]), 0.1]}
            on[CAPSULE] = 0.25 * n + [0, 0, 0.5 * np.sign(n[2])]
            for kind, x in on.items():
                y = scale * x if kind != CAPSULE else x + (scale - 1.0) * n
                assert plain(geometry.inside)(kind, size, tuple(y)) == inside
    for k, sign in itertools.product(range(3), (1.0, -1.0)):
        x = np.array([0.125, 0.125, 0.125])
        x[k] = sign * scale * size[k]
        assert plain(geometry.inside)(BOX, size, tuple(x)) == inside
    for sign in (1.0, -1.0):
        for kind, x in ((CYLINDER, (0, 0, 0.5)), (CYLINDER, (0.25, 0, 0)), (SPHERE, (0, 0.25, 0))):
            assert plain(geometry.inside)(kind, size, tuple(sign * scale * np.array(x))) == inside
        for kind, x in ((CAPSULE, (0, 0, 0.75)), (CAPSULE, (0.25, 0, 0.4)), (ELLIPSOID, (0, 0.5, 0))):
            assert plain(geometry.inside)(kind, size, tuple(sign * scale * np.array(x))) == inside
    for z in (-0.1, 0.0, 0.1):
        assert plain(geometry.inside)(PLANE, size, (0.3, 0.2, z)) == (z < 0.0)
        assert plain(geometry.inside)(MESH, size, (0.0, 0.0, z)) == 0.0
