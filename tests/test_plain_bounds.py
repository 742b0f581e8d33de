"""Bounds of motion within a step, and motions of gaps, in plain Python, against second computations.

References: SciPy's dense output of Dormand & Prince's pair, in the Bernstein basis; MuJoCo's velocities of bodies;
relative motion by the triangle inequality (Featherstone, Rigid Body Dynamics Algorithms (2008), section 2.7); distances
of spheres, planes and boxes by hand. All are formulas, to 1e-12 of the largest.
"""

import math

import mujoco
import numpy as np
import pytest
from helpers import oracle
from helpers.plain_python import fields, plain, plain_python
from numpy.polynomial import Polynomial
from scipy.integrate import RK45

import saltus
from saltus.dynamics.tree.kinematics import kinematics
from saltus.integrate.dense import gap_motion, motion_bounds
from saltus.integrate.dense.substep import PARTS
from saltus.model.event_enums import LINEAR_ACCELERATION, LINEAR_SPEED, TURNING_ACCELERATION, TURNING_SPEED

H = 0.03
TREE = """<mujoco><option timestep=".01"/><worldbody><geom type="plane" size="5 5 1"/>
<body name="mocap" mocap="true" pos="0 0 2"><geom size=".1" contype="0" conaffinity="0"/></body>
<body name="free" pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .3" pos=".03 .04 0"/>
<body name="hinge" pos=".3 .1 -.2"><joint axis="0 1 0" pos=".02 -.05 .01"/><geom type="capsule" size=".05 .2"/>
<body name="slide" pos="0 .2 .1"><joint type="slide" axis="1 0 0" ref=".2"/><geom size=".08" pos=".05 0 .02"/>
<body name="ball" pos=".1 0 .1"><joint type="ball" pos="0 .03 .04"/><geom type="box" size=".1 .05 .04"/>
<body name="two" pos="0 0 .2"><joint axis="1 0 0"/><joint type="slide" axis="0 0 1"/><geom size=".05"/></body></body>
</body></body></body></worldbody></mujoco>"""


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


def called(kernel, sim, *arguments):
    """Run a kernel on the simulation's own memory."""
    return plain(kernel)(fields(sim.engine.step_m), fields(sim.engine.d), *arguments)


def located(xml, integrator="dopri5"):
    return saltus.Simulation(xml, integrator, contact="hard")


def bernstein(polynomial, degree):
    """Coefficients in the Bernstein basis of a degree on [0, 1]."""
    c = np.zeros(degree + 1)
    c[: len(polynomial.coef)] = polynomial.coef
    return [sum(math.comb(k, i) / math.comb(degree, i) * c[i] for i in range(k + 1)) for k in range(degree + 1)]


def test_bounds_of_joint_rates_are_those_of_the_dense_output():
    sim = located(TREE)
    views, rng = sim.engine.d.views, np.random.default_rng(1)
    nv = sim.model.nv
    for _ in range(4):
        slopes = rng.normal(size=(7, nv)) + rng.normal(size=nv)
        views["stage_qvel"][: 7 * nv] = slopes.ravel()
        called(motion_bounds.bound_dense_rates, sim, H)
        for i in range(nv):
            rate = Polynomial([0.0, *(slopes[:, i] @ RK45.P)]).deriv()
            np.testing.assert_allclose(views["rate_bound"][i], np.abs(bernstein(rate, 3)).max(), rtol=1e-11)
            change = np.abs(bernstein(rate.deriv(), 2)).max() / H
            np.testing.assert_allclose(views["rate_change"][i], change, rtol=1e-11)


def test_bounds_of_sampled_joint_rates():
    """The largest sample and its change; twice the slope between samples."""
    sim = located(TREE, "rk4")
    views, rng, nv = sim.engine.d.views, np.random.default_rng(1), sim.model.nv
    seen = rng.normal(size=(5, nv))
    views["qvel_start"][:] = seen[0]
    called(motion_bounds.first_rates, sim)
    for k in range(1, 5):
        views["qvel"][:] = seen[k]
        called(motion_bounds.sample_rates, sim, H)
    change = np.abs(np.diff(seen, axis=0))
    rate = np.maximum(np.abs(seen[0]), (np.abs(seen[1:]) + change).max(axis=0))
    np.testing.assert_allclose(views["rate_bound"][:nv], rate, rtol=1e-14)
    np.testing.assert_allclose(views["rate_change"][:nv], 2.0 * change.max(axis=0) * 4 / H, rtol=1e-14)


def bounds_of(sim, rate, change, h):
    """{body: (speed, acceleration, angular speed, angular acceleration)} of the chain by the triangle inequality."""
    m, q = sim.model.mujoco, sim.qpos
    norm = np.linalg.norm
    found = {"world": (0.0,) * 4}
    for b in range(1, m.nbody):
        body = m.body(b)
        v, a, w, u = found[m.body(m.body_parentid[b]).name]
        reach = norm(body.pos)
        v, a = v + w * reach, a + (u + w * w) * reach
        for j in range(body.jntadr[0], body.jntadr[0] + body.jntnum[0]):
            i, kind, at = m.jnt_dofadr[j], m.jnt_type[j], m.jnt_qposadr[j]
            if kind == mujoco.mjtJoint.mjJNT_FREE:
                turn = norm(rate[i + 3 : i + 6])
                v, a, w, u = norm(rate[i : i + 3]), norm(change[i : i + 3]), turn, norm(change[i + 3 : i + 6]) + turn**2
            elif kind == mujoco.mjtJoint.mjJNT_SLIDE:
                out = abs(q[at] - m.qpos0[at]) + h * rate[i]
                v, a = v + w * out + rate[i], a + (u + w * w) * out + 2 * w * rate[i] + change[i]
            else:
                ball = kind == mujoco.mjtJoint.mjJNT_BALL
                r = norm(rate[i : i + 3]) if ball else rate[i]
                c = norm(change[i : i + 3]) + r * r if ball else change[i]
                # from the parent's point to the anchor, and back from it to the origin
                arm, before, later = norm(m.jnt_pos[j]), (w, u), (w + r, u + c + w * r)
                for w, u in (before, later):
                    v, a = v + w * arm, a + (u + w * w) * arm
        found[body.name] = v, a, w, u
    return found


def test_bounds_of_bodies_follow_from_those_of_joints():
    sim, rng = located(TREE), np.random.default_rng(2)
    views, nv = sim.engine.d.views, sim.model.nv
    sim.qpos[7:9] = 0.4, 0.7
    rate, change = rng.uniform(0.5, 2.0, nv), rng.uniform(1.0, 5.0, nv)
    views["rate_bound"][:nv], views["rate_change"][:nv] = rate, change
    called(motion_bounds.bound_bodies, sim, H)
    places = [LINEAR_SPEED, LINEAR_ACCELERATION, TURNING_SPEED, TURNING_ACCELERATION]
    for name, wanted in bounds_of(sim, rate, change, H).items():
        found = views["body_bound"][sim.model.mujoco.body(name).id][places]
        np.testing.assert_allclose(found, wanted, rtol=1e-13, err_msg=name)


def test_no_point_of_a_body_exceeds_its_bounds():
    """Speeds at random states in a step, whose joint rates are no larger than their bounds."""
    sim, rng = located(TREE), np.random.default_rng(3)
    views, nv, m = sim.engine.d.views, sim.model.nv, sim.model.mujoco
    rate = rng.uniform(0.5, 2.0, nv)
    views["rate_bound"][:nv], views["rate_change"][:nv] = rate, 0.0
    called(motion_bounds.bound_bodies, sim, H)
    bounds, d = views["body_bound"].copy(), mujoco.MjData(m)
    for _ in range(200):
        d.qpos[:] = m.qpos0
        d.qvel[:] = rng.choice([-1.0, 1.0], nv) * rate
        mujoco.mj_integratePos(m, d.qpos, d.qvel, H * rng.uniform())
        mujoco.mj_forward(m, d)
        for b in range(1, m.nbody):
            motion = np.zeros(6)
            mujoco.mj_objectVelocity(m, d, mujoco.mjtObj.mjOBJ_XBODY, b, motion, 0)
            assert np.linalg.norm(motion[3:]) <= bounds[b][LINEAR_SPEED] + 1e-12
            assert np.linalg.norm(motion[:3]) <= bounds[b][TURNING_SPEED] + 1e-12


def test_velocities_of_bodies():
    """MuJoCo's, of bodies' origins in world axes."""
    sim, rng = located(TREE), np.random.default_rng(4)
    m = oracle.reference(sim.model)
    d = mujoco.MjData(m)
    for _ in range(3):
        sim.qvel[:] = rng.normal(size=m.nv)
        mujoco.mj_integratePos(m, sim.qpos, rng.normal(size=m.nv), 0.5)
        d.qpos[:], d.qvel[:] = sim.qpos, sim.qvel
        mujoco.mj_forward(m, d)
        called(kinematics, sim, 1)
        called(motion_bounds.body_velocities, sim)
        for b in range(1, m.nbody):
            motion = np.zeros(6)
            mujoco.mj_objectVelocity(m, d, mujoco.mjtObj.mjOBJ_XBODY, b, motion, 0)
            np.testing.assert_allclose(sim.engine.d.views["body_motion"][b], motion, atol=1e-12)


@pytest.mark.parametrize("slope", [-0.7, 0.0, 0.4])
@pytest.mark.parametrize("bend", [0.0, 1e-9, 3.0])
@pytest.mark.parametrize("gap", [-0.1, 0.0, 0.02])
def test_how_long_a_gap_stays_positive(gap, slope, bend):
    sim = located(TREE)
    slack = 2.0 * float(sim.engine.m.views["opt_gap_tolerance"][()])
    given = map(np.float64, (gap, slope, bend))
    time = plain(gap_motion.stays_positive)(fields(sim.engine.step_m), *given)
    roots = np.roots([-0.5 * bend, slope, max(gap, 0.0) + slack])
    positive = [x.real for x in roots if x.real > 0]
    if not positive:
        assert time > 1e299
    elif bend != 1e-9 or slope < 0.0:  # there the reference cancels
        np.testing.assert_allclose(time, min(positive), rtol=1e-6)
    else:
        np.testing.assert_allclose(max(gap, 0.0) + slack + slope * time - 0.5 * bend * time**2, 0.0, atol=1e-6)


# ---------------------------------------------------------------- gaps

SHAPES = """<mujoco><option timestep=".01"/><worldbody>
<body name="floor" pos="0 0 -.4"><joint axis="1 0 0" limited="true" range="-20 30"/>
<geom name="floor" type="box" size="2 2 .1" pos=".02 0 0"/></body>
<body name="one" pos="0 0 .3"><freejoint/><geom name="one" size=".1" pos=".02 .01 0"/></body>
<body name="two" pos=".5 0 .4"><freejoint/><geom name="two" size=".15"/></body>
<body name="box" pos="-.9 0 .4"><freejoint/><geom name="box" type="box" size=".1 .2 .15" pos=".01 0 .03"/></body>
<geom name="plane" type="plane" size="5 5 1" pos="0 0 -.8"/></worldbody></mujoco>"""


class Gaps:
    """A state of the shapes, with bounds of their motions, and MuJoCo's poses and velocities."""

    def __init__(self, seed):
        self.sim = located(SHAPES)
        self.m, rng = self.sim.model.mujoco, np.random.default_rng(seed)
        self.sim.qpos[0] = 0.1
        mujoco.mj_integratePos(self.m, self.sim.qpos, 0.05 * rng.normal(size=self.m.nv), 1.0)
        self.sim.qvel[:] = rng.normal(size=self.m.nv)
        self.d = mujoco.MjData(self.m)
        self.d.qpos[:], self.d.qvel[:] = self.sim.qpos, self.sim.qvel
        mujoco.mj_forward(self.m, self.d)
        views = self.sim.engine.d.views
        views["rate_bound"][: self.m.nv] = np.abs(self.sim.qvel) + rng.uniform(size=self.m.nv)
        views["rate_change"][: self.m.nv] = rng.uniform(1.0, 3.0, self.m.nv)
        called(motion_bounds.bound_bodies, self.sim, H)
        called(kinematics, self.sim, 1)
        called(motion_bounds.body_velocities, self.sim)

    def velocity(self, name, point):
        """Velocity of the point of a geom's body at a place."""
        body, motion = self.m.geom(name).bodyid[0], np.zeros(6)
        mujoco.mj_objectVelocity(self.m, self.d, mujoco.mjtObj.mjOBJ_XBODY, body, motion, 0)
        return motion[3:] + np.cross(motion[:3], point - self.d.xpos[body])

    def turning(self, name, normal):
        """Rate of turning of a geom's body across a normal."""
        motion = np.zeros(6)
        body = self.m.geom(name).bodyid[0]
        mujoco.mj_objectVelocity(self.m, self.d, mujoco.mjtObj.mjOBJ_XBODY, body, motion, 0)
        return np.linalg.norm(np.cross(motion[:3], normal))

    def acceleration(self, name, radius):
        """Bound of the accelerations of points of a geom within a radius of its centre."""
        known = self.sim.engine.d.views["body_bound"][self.m.geom(name).bodyid[0]]
        away = np.linalg.norm(self.m.geom(name).pos) + radius
        turning = known[TURNING_ACCELERATION] + known[TURNING_SPEED] ** 2
        return known[LINEAR_ACCELERATION] + (turning * away if self.m.geom(name).bodyid[0] else 0.0)

    def speed(self, name, radius):
        known = self.sim.engine.d.views["body_bound"][self.m.geom(name).bodyid[0]]
        return known[LINEAR_SPEED] + known[TURNING_SPEED] * (np.linalg.norm(self.m.geom(name).pos) + radius)

    def item(self, first, second):
        """Number of the pair's first item, and its geoms in the pair's order."""
        model = self.sim.engine.step_m
        ids = {self.m.geom(first).id, self.m.geom(second).id}
        for c in range(model.ncollision):
            pair = int(model.views["collision_geom1"][c]), int(model.views["collision_geom2"][c])
            if {*pair} == ids:
                return int(model.views["slot_adr"][c]), [self.m.geom(g).name for g in pair]
        raise AssertionError(f"no pair of {first} and {second}")

    def motion(self, item):
        return [float(x) for x in called(gap_motion.gap_motion, self.sim, item)]

    def closing(self, item):
        return float(called(gap_motion.closing_bound, self.sim, item))


@pytest.mark.parametrize("seed", range(3))
def test_the_gap_of_two_spheres(seed):
    """Its slope is that of the centres' distance; bounds are those of the centres, which alone move a sphere."""
    gaps = Gaps(seed)
    item, (a, b) = gaps.item("one", "two")
    p, q = gaps.d.geom(a).xpos, gaps.d.geom(b).xpos
    normal = (q - p) / np.linalg.norm(q - p)
    slope = normal @ (gaps.velocity(b, q) - gaps.velocity(a, p))
    bend = gaps.acceleration(a, 0.0) + gaps.acceleration(b, 0.0)
    gap, *rest, time = gaps.motion(item)
    np.testing.assert_allclose([gap, *rest], [np.linalg.norm(q - p) - 0.25, slope, slope, bend], rtol=1e-12)
    slack = 2.0 * float(gaps.sim.engine.m.views["opt_gap_tolerance"][()])
    np.testing.assert_allclose(gap + slack + slope * time - 0.5 * bend * time**2, 0.0, atol=1e-12)
    np.testing.assert_allclose(gaps.closing(item), gaps.speed(a, 0.0) + gaps.speed(b, 0.0), rtol=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_the_gap_of_a_sphere_and_a_box_that_turns(seed):
    """All points of the box within its bounding sphere count, across the normal."""
    gaps = Gaps(seed)
    item, (a, b) = gaps.item("one", "floor")
    names = {"one": 0.0, "floor": gaps.m.geom("floor").rbound[0]}
    top = gaps.d.geom("floor").xmat.reshape(3, 3)[:, 2]
    centre = gaps.d.geom("one").xpos
    distance = top @ (centre - gaps.d.geom("floor").xpos) - 0.1 - 0.1
    normal = top if b == "one" else -top
    bend = sum(gaps.acceleration(name, radius) for name, radius in names.items())
    gap, slope, least, found, _ = gaps.motion(item)
    np.testing.assert_allclose([gap, found], [distance, bend], rtol=1e-10)
    contact = centre - top * (0.1 + 0.5 * distance)
    wanted = normal @ (gaps.velocity(b, contact) - gaps.velocity(a, contact))
    np.testing.assert_allclose(slope, wanted, rtol=1e-10)
    centres = normal @ (gaps.velocity(b, gaps.d.geom(b).xpos) - gaps.velocity(a, gaps.d.geom(a).xpos))
    turning = sum(gaps.turning(name, normal) * radius for name, radius in names.items())
    assert least == slope or abs(least - (centres - turning)) < 1e-10
    np.testing.assert_allclose(gaps.closing(item), sum(gaps.speed(n, r) for n, r in names.items()), rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_gap_of_a_box_and_a_plane_at_rest(seed):
    """Of the lowest corner if the points vary, which any corner may become."""
    gaps = Gaps(seed)
    item, _ = gaps.item("box", "plane")
    radius, geom = gaps.m.geom("box").rbound[0], gaps.d.geom("box")
    gap, _, _, bend, time = gaps.motion(item)
    bound = geom.xpos[2] + 0.8 - radius
    assert gap in (pytest.approx(bound, rel=1e-12), pytest.approx(lowest(geom) + 0.8, rel=1e-12))
    by_spheres = gap == pytest.approx(bound, rel=1e-12)
    wanted = gaps.acceleration("box", 0.0 if by_spheres else radius)
    np.testing.assert_allclose(bend, wanted, rtol=1e-12)
    assert time > 0.0
    np.testing.assert_allclose(gaps.closing(item), gaps.speed("box", radius), rtol=1e-12)


def lowest(geom):
    corners = np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, -1).T * [0.1, 0.2, 0.15]
    return (geom.xpos + corners @ geom.xmat.reshape(3, 3).T)[:, 2].min()


def test_the_gaps_of_a_limit():
    """Distances of the angle from both ends, which change with the rate and with its bounds."""
    gaps = Gaps(1)
    views = gaps.sim.engine.d.views
    first, angle, rate = gaps.sim.engine.step_m.nslot, gaps.sim.qpos[0], gaps.sim.qvel[0]
    low, high = np.radians([-20, 30])
    change = views["rate_change"][0]
    np.testing.assert_allclose(gaps.motion(first), [angle - low, rate, rate, change, 0.0], rtol=1e-12)
    np.testing.assert_allclose(gaps.motion(first + 1), [high - angle, -rate, -rate, change, 0.0], rtol=1e-12)
    assert gaps.closing(first) == gaps.closing(first + 1) == views["rate_bound"][0]


def test_the_gap_of_a_ball_joint():
    """Its one limit is that of its angle, which falls no faster than all rates together; the other end is none."""
    xml = """<mujoco><worldbody><body><joint type="ball" limited="true" range="0 40"/><geom size=".1" mass="1"/></body>
    </worldbody></mujoco>"""
    sim = located(xml)
    axis, angle = np.array([1.0, 2.0, -2.0]) / 3, 0.3
    sim.qpos[:] = [math.cos(angle / 2), *(math.sin(angle / 2) * axis)]
    sim.engine.d.views["rate_bound"][:3] = 2.0, 3.0, 6.0
    first = sim.engine.step_m.nslot
    gap, slope, least, _, _ = called(gap_motion.gap_motion, sim, first)
    np.testing.assert_allclose(gap, math.radians(40) - angle, rtol=1e-12)
    assert slope == least <= -7.0 * (1.0 - 1e-12)
    assert called(gap_motion.gap_motion, sim, first + 1)[0] > 1e3


# ---------------------------------------------------------------- mocap bodies whose motion is given


def turned(t):
    return (0.2 * t * t, math.sin(3.0 * t), -0.1 * t), (math.cos(2.0 * t * t), 0.0, math.sin(2.0 * t * t), 0.0)


@pytest.mark.parametrize("start", [0.0, 0.4])
def test_bounds_of_given_motions(start):
    """The largest of the samples; twice the accelerations, and speeds that these may add between samples."""
    sim = saltus.Simulation(TREE, "rk4", contact="hard", motions={"mocap": turned})
    sim.time = start
    t = start + H * np.arange(PARTS + 1) / PARTS
    velocity = np.array([0.4 * t, 3.0 * np.cos(3.0 * t), 0.0 * t - 0.1])
    change = np.array([0.4 + 0.0 * t, -9.0 * np.sin(3.0 * t), 0.0 * t])
    acceleration = 2.0 * np.linalg.norm(change, axis=0).max()
    speed = np.linalg.norm(velocity, axis=0).max() + acceleration * H / PARTS
    turning = 16.0  # twice that of the angle 4 t²
    rate = (8.0 * t).max() + turning * H / PARTS
    called(motion_bounds.bound_carriers, sim, H, np.float64(start))
    bound = sim.engine.d.views["mover_bound"][0]
    places = [LINEAR_SPEED, LINEAR_ACCELERATION, TURNING_SPEED, TURNING_ACCELERATION]
    np.testing.assert_allclose(bound[places], [speed, acceleration, rate, turning], rtol=1e-12)
    assert sim.time == start
    sim.engine.d.views["rate_bound"][:] = sim.engine.d.views["rate_change"][:] = 0.0
    called(motion_bounds.bound_bodies, sim, H)
    body = sim.model.names("body").index("mocap")
    np.testing.assert_array_equal(sim.engine.d.views["body_bound"][body], bound)
