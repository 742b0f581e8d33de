"""Tendons: their lengths, velocities and Jacobians.

References: MuJoCo 4.0's mj_tendon at random states; the derivative of the length by dual numbers.

Tolerance: 1e-10 of a tendon's largest entry, or of 1e-2 m where that is smaller: some hundred roundings, and where a
path only just touches a geom, MuJoCo's tangents are off by up to 1e-10 (by differences of its own lengths). Through a
geom MuJoCo's iteration stops at 1e-6 rad (see test_wrap), so that its lengths are right to the square of that, its
Jacobians to 1e-5.
"""

import copy

import mujoco
import numpy as np
import pytest
from helpers import oracle
from helpers.cases import same_bits
from helpers.files import EVERYTHING, packaged, shared
from helpers.states import lanes, put
from numpy.testing import assert_allclose

import saltus
from saltus.dynamics.smooth import position_stage
from saltus.dynamics.tendon.length import tendon_velocities
from saltus.model.layout import DATA, data_sizes, model_layout
from saltus.number.kernels import Entry
from saltus.number.kinds import NTANGENT, lane64
from saltus.number.structs import Struct
from saltus.number.symbols import SymbolicStruct, symbolic_model, trace

TOLERANCE, SMALL, THROUGH = 1e-10, 1e-2, 1e-5
FIELDS = ("ten_length", "ten_J", "ten_velocity")
TENDONS = Entry(
    "tendons_alone",
    "",
    "position_stage(m, d, 1)\ntendon_velocities(m, d)",
    position_stage=position_stage,
    tendon_velocities=tendon_velocities,
)

# two trees and the world, all joint types; sites on a tree's root, two sites on one body, massless frames
FREE_AND_FIXED = """
<mujoco><default><geom contype="0" conaffinity="0"/></default><worldbody>
  <site name="wall" pos="0.3 0 1.2"/>
  <geom name="post" type="cylinder" size="0.15 0.1" pos="0 0.3 0.6" euler="70 20 10"/>
  <body name="trunk"><freejoint/><geom size="0.1"/><site name="root" pos="0.1 0.2 0.3"/>
    <body pos="0.8 0 0"><joint name="knee"/>
      <geom name="cap" type="cylinder" size="0.15 0.2" euler="10 20 30" pos="0.1 0 0.1"/>
      <site name="shin" pos="0.1 0.1 0.5" euler="5 6 7"/><site name="heel" pos="0.5 0.3 0.3"/></body>
    <body pos="-0.7 0 0"><joint name="slider" type="slide" ref="0.2"/><joint type="ball"/>
      <geom name="knob" size="0.2" pos="0.1 0 0"/><site name="arm" pos="0 0.4 0.2"/>
      <site name="wrist" pos="0.3 0 0.1"/></body>
  </body>
  <body name="door" pos="0.5 0.5 0.5"><joint name="hinge" axis="1 1 1"/><geom size="0.1" pos="0.1 0 0"/>
    <site name="handle" pos="0.4 0 0.1"/><body euler="20 0 0"><site name="lock" pos="0 0.3 -0.2"/></body></body>
</worldbody><tendon>
  <fixed><joint joint="knee" coef="2"/><joint joint="slider" coef="-0.5"/></fixed>
  <fixed><joint joint="hinge" coef="0.25"/></fixed>
  <spatial><site site="shin"/><site site="arm"/></spatial>
  <spatial><site site="wall"/><site site="arm"/></spatial>
  <spatial><site site="arm"/><site site="wrist"/></spatial>
  <spatial><site site="wall"/><site site="shin"/><site site="heel"/><site site="handle"/><site site="wrist"/></spatial>
  {more}
</tendon></mujoco>"""

PULLEYS = """
  <spatial><site site="wall"/><site site="root"/><pulley divisor="2"/><site site="root"/><site site="arm"/><site
   site="handle"/><pulley divisor="3"/><site site="lock"/><site site="shin"/></spatial>
  <spatial><pulley divisor="0.5"/><site site="wall"/><site site="arm"/></spatial>"""

# around: without a side site, and with one on the way, on another body, or on the far side
AROUND = """
  <spatial><site site="wall"/><geom geom="knob"/><site site="arm"/></spatial>
  <spatial><site site="root"/><geom geom="knob" sidesite="wall"/><site site="heel"/></spatial>
  <spatial><site site="wall"/><geom geom="cap" sidesite="heel"/><site site="arm"/></spatial>
  <spatial><site site="handle"/><geom geom="cap"/><site site="wrist"/></spatial>
  <spatial><site site="handle"/><geom geom="post" sidesite="wall"/><site site="arm"/></spatial>
  <spatial><site site="shin"/><geom geom="knob"/><site site="arm"/></spatial>
  <spatial><site site="shin"/><geom geom="cap" sidesite="lock"/><site site="arm"/></spatial>
  <spatial><site site="wall"/><geom geom="post"/><site site="root"/><geom geom="knob" sidesite="handle"/><site
   site="heel"/><pulley divisor="2"/><site site="root"/><geom geom="cap" sidesite="root"/><site site="lock"/><site
   site="wall"/></spatial>"""

# through: side sites inside, fixed to the geom's body or to another
THROUGH_GEOMS = """
  <spatial><site site="wall"/><geom geom="knob" sidesite="knob"/><site site="shin"/></spatial>
  <spatial><site site="root"/><geom geom="cap" sidesite="cap"/><site site="arm"/></spatial>
  <spatial><site site="wall"/><geom geom="post" sidesite="post"/><site site="root"/><site site="arm"/></spatial>"""
INSIDE = {
    "knob": ('<site name="arm"', '<site name="knob" pos="0.15 0.02 0.03"/>'),
    "cap": ('<site name="shin"', '<site name="cap" pos="0.13 0.02 0.05"/>'),
    "post": ('<body name="trunk">', '<site name="post" pos="0.02 0.27 0.61"/>'),
}

# an arm of hinges with muscles' paths: all coordinates are angles and lengths, so that J = dL/dqpos
ARM = """
<mujoco><default><geom contype="0" conaffinity="0"/></default><worldbody>
  <site name="s0" pos="0 0.1 0.3"/><site name="s1" pos="-0.1 -0.1 0.2"/>
  <body><joint name="a" axis="0 1 0"/><joint name="b" axis="1 0 0"/><geom name="ball" size="0.12"/>
    <geom name="roll" type="cylinder" size="0.1 0.1" euler="80 10 0"/><geom name="ring" type="cylinder" size="0.2 0.1"/>
    <site name="in" pos="0.02 0.03 0.01"/><site name="out" pos="0.2 0.2 0.1"/><site name="s2" pos="0.3 0.05 0.05"/>
    <body pos="0.5 0 0"><joint name="c" axis="0 1 1"/><joint name="d" type="slide" axis="1 0 1"/>
      <geom name="elbow" type="cylinder" size="0.08 0.1" euler="90 20 0"/><site name="side" pos="0 0.1 0.2"/>
      <site name="s3" pos="0.2 0.1 -0.1"/><geom size="0.1"/>
      <body pos="0.4 0 0"><joint name="e" axis="1 2 0"/><geom size="0.1"/><site name="s4" pos="0.1 0 0.2"/></body>
    </body></body></worldbody><tendon>
  <fixed><joint joint="a" coef="0.3"/><joint joint="d" coef="2"/></fixed>
  <spatial><site site="s0"/><site site="s3"/><pulley divisor="2"/><site site="s4"/><site site="s1"/></spatial>
  <spatial><site site="s0"/><geom geom="ball" sidesite="out"/><site site="s2"/><geom geom="elbow" sidesite="side"/><site
   site="s3"/></spatial>
  <spatial><site site="s1"/><geom geom="roll"/><site site="s4"/></spatial>
  <spatial><site site="s1"/><geom geom="ball" sidesite="in"/><site site="s3"/></spatial>
  <spatial><site site="s0"/><geom geom="ring" sidesite="in"/><site site="s4"/></spatial>
</tendon></mujoco>"""


def through():
    xml = FREE_AND_FIXED.format(more=THROUGH_GEOMS)
    for before, site in INSIDE.values():
        xml = xml.replace(before, site + before, 1)
    return xml


MECHANISMS = {
    "fixed and sites": FREE_AND_FIXED.format(more=""),
    "pulleys": FREE_AND_FIXED.format(more=PULLEYS),
    "around": FREE_AND_FIXED.format(more=AROUND),
    "through": through(),
    "arm": ARM,
}
WITH_TENDONS = [
    name for name, path in packaged("dm_control").items() if "<tendon" in path.read_text("utf-8", "replace")
]
# not compiled by MuJoCo, or without any tendon
WITHOUT = ("build_fruitfly", "dog_base", "lqr")
FILES = [
    *(f"shared:{name}" for name in ("mujoco/humanoid", "mujoco/newton_cradle", "benchmarks/A03_andrews")),
    *(f"dm_control:{name}" for name in WITH_TENDONS if not any(part in name for part in WITHOUT)),
]


def load(name):
    if name in MECHANISMS:
        return saltus.load(MECHANISMS[name])
    kind, what = name.split(":")
    return saltus.load(shared(what) if kind == "shared" else packaged(kind)[what], ignore=EVERYTHING)


def tendons_only(model, kind="float64"):
    """The kernels' Model without the features of constraints, so that fewer kernels compile."""
    struct = copy.copy(model.struct(kind))
    struct.layout = model_layout(struct.layout.features & {"tendon", "wrap"})
    return struct


def states(m, count=lane64.width, seed=7):
    rng = np.random.default_rng(seed)
    found = [oracle.random_state(m, rng) for _ in range(count)]
    return [{name: state[name] for name in ("qpos", "qvel")} for state in found]


def mujocos(m, state):
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = state["qpos"], state["qvel"]
    mujoco.mj_fwdPosition(m, d)
    mujoco.mj_fwdVelocity(m, d)
    return d


def in_lanes(model, group):
    data = lanes(model, group)
    TENDONS(tendons_only(model), data)
    return data


def assert_mujocos(m, found, wanted, jacobian=TOLERANCE, length=TOLERANCE):
    """`found(name)` against MuJoCo's data, tendon by tendon."""
    tendon = np.repeat(np.arange(m.ntendon), m.ten_J_rownnz)
    largest = np.full(m.ntendon, SMALL)
    np.maximum.at(largest, tendon, np.abs(wanted.ten_J))
    scale = np.maximum(np.abs(wanted.ten_length), SMALL)
    assert np.max(np.abs(found("ten_length") - wanted.ten_length) / scale) <= length
    assert np.max(np.abs(found("ten_J") - wanted.ten_J) / largest[tendon]) <= jacobian
    speed = max(np.max(np.abs(wanted.qvel), initial=0.0), 1.0) * m.ten_J_rownnz * largest
    assert np.max(np.abs(found("ten_velocity") - wanted.ten_velocity) / speed) <= jacobian


@pytest.mark.slow
@pytest.mark.parametrize("name", [*MECHANISMS, *FILES])
def test_mujocos(name):
    """Length, Jacobian and velocity in lanes, a random state in each."""
    model = load(name)
    m = model.mujoco
    tolerance = (THROUGH, TOLERANCE) if name in ("through", "arm") else (TOLERANCE, TOLERANCE)
    count = 40 if name in MECHANISMS else lane64.width
    group = states(m, count)
    wrapped = set()
    for start in range(0, count, lane64.width):
        part = group[start : start + lane64.width]
        data = in_lanes(model, part)
        for lane, state in enumerate(part):
            wanted = mujocos(m, state)
            assert_mujocos(m, lambda f: data.views[f][..., lane], wanted, *tolerance)  # noqa: B023
            wrapped |= {(t, bool(n)) for t, n in enumerate(_geoms_touched(m, wanted))}
    if name in ("around", "through", "arm"):
        # tendons are found off their geoms and on them
        both = sum({(t, False), (t, True)} <= wrapped for t in range(m.ntendon))
        assert both >= {"around": 7, "through": 1, "arm": 3}[name]


def _geoms_touched(m, d):
    """How many geoms each tendon's path touches."""
    obj = d.wrap_obj.ravel()
    return [int((obj[a : a + n] >= 0).sum()) // 2 for a, n in zip(d.ten_wrapadr, d.ten_wrapnum, strict=True)]


def test_data():
    """What a user reads of a simulation is MuJoCo's, in MuJoCo's sparse layout."""
    model = saltus.load(MECHANISMS["around"])
    sim = saltus.Simulation(model, integrator="euler")
    for state in states(model.mujoco, 2):
        put(sim, state)
        assert_mujocos(model.mujoco, lambda f: getattr(sim.data, f), mujocos(model.mujoco, state))


def test_whole_tendon_moves():
    """What moves all of a tendon alike leaves its length alone, exactly: the trunk's and the arm's own joints."""
    model = saltus.load(MECHANISMS["fixed and sites"])
    m = model.mujoco
    data = in_lanes(model, states(m))
    dense = np.zeros((m.ntendon, m.nv))
    dense[np.repeat(np.arange(m.ntendon), m.ten_J_rownnz), m.ten_J_colind] = data.ten_J[:, 0]
    assert np.all(dense[2, :6] == 0.0) and np.all(dense[2, 6:11] != 0.0)  # shin to arm
    assert np.all(dense[4] == 0.0)  # arm to wrist, one body


@pytest.mark.slow
def test_derivatives():
    """J = dL/dq, and dJ/dq is a Hessian, so symmetric: both by dual numbers, on the way through geoms too.

    Each is a sum of some hundred products of numbers near 1, ten times as large near the onset of wrapping.
    """
    model = saltus.load(ARM)
    m = model.mujoco
    assert m.nq == m.nv <= NTANGENT
    data = Struct(DATA, data_sizes(model.sizes()), "dual")
    rows, cols = np.repeat(np.arange(m.ntendon), m.ten_J_rownnz), m.ten_J_colind
    for state in states(m, 30):
        data.fill("qpos", state["qpos"])
        data.qpos[:, 1, : m.nq] = np.eye(m.nq)
        TENDONS(tendons_only(model), data)
        jacobian = np.zeros((m.ntendon, m.nv))
        jacobian[rows, cols] = data.ten_J[:, 0, 0]
        assert_allclose(data.ten_length[:, 1, : m.nv], jacobian, atol=1e-12)
        hessian = np.zeros((m.ntendon, m.nv, m.nv))
        hessian[rows, cols] = data.ten_J[:, 1, : m.nv]
        scale = max(1.0, np.abs(hessian).max())
        assert_allclose(hessian, hessian.transpose(0, 2, 1), atol=1e-11 * scale)


def test_lanes_are_alone():
    """Bit for bit the same whatever the neighbours do: straight, around or through."""
    for name in ("around", "through"):
        model = saltus.load(MECHANISMS[name])
        group = states(model.mujoco, lane64.width)
        first = in_lanes(model, group)
        alone = [in_lanes(model, [state] * lane64.width) for state in group]
        order = np.random.default_rng(1).permutation(lane64.width)
        shuffled = in_lanes(model, [group[k] for k in order])
        for field in FIELDS:
            x = first.views[field]
            assert same_bits(np.stack([a.views[field][..., 0] for a in alone], axis=-1), x)
            assert same_bits(np.ascontiguousarray(shuffled.views[field]), np.ascontiguousarray(x[..., order]))


@pytest.mark.parametrize("name", ["around", "through"])
def test_interpreted(name):
    """The same source uncompiled, on plain floats: every index lies in its field, and every number is the same."""
    model = saltus.load(MECHANISMS[name])
    state = states(model.mujoco, 1)[0]
    m = tendons_only(model)
    compiled, plain = Struct(DATA, data_sizes(model.sizes())), SymbolicStruct(DATA, data_sizes(model.sizes()), "float")
    for data in (compiled, plain):
        data.fill("qpos", state["qpos"])
    TENDONS(m, compiled)
    trace(position_stage, symbolic_model(m, "float"), plain, 1)
    for field in ("ten_length", "ten_J"):
        assert_allclose(np.array(getattr(plain, field), float), getattr(compiled, field), atol=1e-12)


def test_no_tendon():
    """A model without tendons compiles nothing for them."""
    assert not {"tendon", "wrap"} & saltus.load("pendulum").struct().layout.features
    assert "tendon" in saltus.load(MECHANISMS["pulleys"]).struct().layout.features
    assert "wrap" not in saltus.load(MECHANISMS["pulleys"]).struct().layout.features
