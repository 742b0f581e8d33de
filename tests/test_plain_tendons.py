"""Paths of tendons by way of spheres and cylinders in plain Python; delays of controls and sensors; trees that sleep.

Law: MuJoCo 4.0's lengths and Jacobians of tendons at random places of their sites and geoms, to 1e-11; where a path
goes through a geom MuJoCo's iteration ends at 1e-6 rad, and lengths, which are least there, differ by its square.
Delayed controls are MuJoCo's to 1e-12, which hold, and are interpolated, at the same times to the bit.
"""

import mujoco
import numpy as np
import pytest
from helpers import oracle
from helpers.plain_python import fields, plain, plain_python
from helpers.sensors import worst

import saltus
from saltus.dynamics.awake.trees import may_sleep
from saltus.dynamics.history import past_value

WRAPS = """<mujoco><compiler angle="radian"/><worldbody>
  <body name="p"><freejoint/><geom size=".01" contype="0"/><site name="p"/></body>
  <body name="q"><freejoint/><geom size=".01" contype="0"/><site name="q"/></body>
  <body name="side"><freejoint/><geom size=".01" contype="0"/><site name="side"/></body>
  <body name="geom"><freejoint/><geom name="ball" size=".4" contype="0"/>
  <geom name="roll" type="cylinder" size=".3 1" contype="0" euler=".3 .2 0"/></body>
</worldbody><tendon>
  <spatial><site site="p"/><geom geom="ball"/><site site="q"/></spatial>
  <spatial><site site="p"/><geom geom="roll"/><site site="q"/></spatial>
  <spatial><site site="p"/><geom geom="ball" sidesite="side"/><site site="q"/></spatial>
  <spatial><site site="p"/><geom geom="roll" sidesite="side"/><site site="q"/></spatial>
</tendon></mujoco>"""


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


def lengths_and_jacobian(sim, d):
    """MuJoCo's lengths and rates of tendons, and the simulation's."""
    m = d.model
    d.qpos[:], d.qvel[:] = sim.qpos, sim.qvel
    mujoco.mj_forward(m, d)
    sim.forward()
    return [np.concatenate([x.ten_length, x.ten_velocity]) for x in (d, sim.data)]


@pytest.mark.parametrize("seed", range(4))
def test_paths_around_and_through_geoms(seed):
    sim, rng = saltus.Simulation(WRAPS), np.random.default_rng(seed)
    m, counts = oracle.reference(sim.model), np.zeros(4)
    d = mujoco.MjData(m)
    for k in range(30):
        for body in range(4):
            spread = 0.15 if body == 2 and k % 2 else 0.05 if body == 3 else 0.6  # every other side site is inside
            sim.qpos[7 * body : 7 * body + 3] = spread * rng.normal(size=3)
            quat = rng.normal(size=4)
            sim.qpos[7 * body + 3 : 7 * body + 7] = quat / np.linalg.norm(quat)
        sim.qvel[:] = rng.normal(size=m.nv)
        wanted, found = lengths_and_jacobian(sim, d)
        straight = np.linalg.norm(sim.qpos[:3] - sim.qpos[7:10])
        counts += np.abs(wanted[:4] - straight) > 1e-6
        # through a geom (the last two, with a side site inside) MuJoCo's iteration ends early
        close = np.array([1e-10, 1e-10, 1e-9, 1e-9, 1e-10, 1e-10, 2e-5, 2e-5])
        assert (np.abs(found - wanted) < close * np.maximum(1.0, np.abs(wanted))).all(), (k, found - wanted)
    assert (counts > 4).all()


@pytest.mark.parametrize("place", [(0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 1.0)])
def test_a_path_whose_ends_face_each_other_across_a_ball(place):
    """Half around: two tangents of √(l² - r²) and the arc r (π - 2 acos(r/l)), in MuJoCo's plane."""
    sim = saltus.Simulation(WRAPS)
    along = np.array(place) / np.linalg.norm(place)
    sim.qpos[:3], sim.qpos[7:10], sim.qpos[21:24] = along, -along, 0.0
    sim.qpos[14:17] = 5.0
    d = mujoco.MjData(oracle.reference(sim.model))
    wanted, found = lengths_and_jacobian(sim, d)
    closed = 2 * np.sqrt(1 - 0.16) + 0.4 * (np.pi - 2 * np.arccos(0.4))
    np.testing.assert_allclose(found[0], closed, rtol=1e-12)
    sim.qvel[:] = np.linspace(-1.0, 1.0, 24)
    wanted, found = lengths_and_jacobian(sim, d)
    np.testing.assert_allclose(found[[0, 4]], wanted[[0, 4]], rtol=1e-10)


def test_ends_that_touch_the_geom_or_each_other():
    """No path around from inside, or between coincident ends: the straight line, as MuJoCo's."""
    sim = saltus.Simulation(WRAPS)
    d = mujoco.MjData(oracle.reference(sim.model))
    ends = [((0.3, 0, 0), (1, 0, 0)), ((0.9, 0, 0), (0.9, 0, 0)), ((0.4, 0, 0), (0, 0.8, 0)), ((1, 0, 0), (0.2, 0, 0))]
    for p, q in ends:
        for side in ((0.0, 0, 0), (0.1, 0.05, 0), (-2.0, 0.1, 0)):
            sim.qpos[:3], sim.qpos[7:10], sim.qpos[14:17], sim.qpos[21:24] = p, q, side, 0.0
            wanted, found = lengths_and_jacobian(sim, d)
            np.testing.assert_allclose(found[:4], wanted[:4], atol=1e-9)


# ---------------------------------------------------------------- delays

DELAYS = [(n, delay, way) for way in ("zoh", "linear", "cubic") for n, delay in ((6, 0.012), (6, 0.0071), (3, 0.001))]
DELAYS += [(4, 0.02, "linear"), (1, 0.002, "cubic"), (2, 0.003, "cubic"), (5, 0.0, "zoh")]


def delayed(integrator):
    """A row of carts, each pushed by an actuator with a delay, and sensors that are read late and seldom."""
    bodies, actuators = [], []
    for k, (n, delay, way) in enumerate(DELAYS):
        joint = f'<joint name="x{k}" type="slide" axis="1 0 0" damping=".3"/>'
        bodies.append(f'<body pos="0 {k} 0">{joint}<geom mass="1" size=".1" contype="0"/><site name="s{k}"/></body>')
        more = 'dyntype="filter" dynprm=".03"' if k == 3 else ""
        actuators.append(f'<general joint="x{k}" nsample="{n}" delay="{delay}" interp="{way}" {more}/>')
    sensors = [
        f'<framepos objtype="site" objname="s{k}" nsample="{n}" delay="{delay}" interp="{way}" interval="{every}"/>'
        for k, (n, delay, way) in enumerate(DELAYS[:9])
        for every in ("0 0", ".005 -.001")
    ]
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep=".002" integrator="{integrator}"/><worldbody>{"".join(bodies)}</worldbody>'
        f"<actuator>{''.join(actuators)}</actuator><sensor>{''.join(sensors)}</sensor></mujoco>"
    )


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_delays(integrator):
    m = delayed(integrator)
    d, sim = mujoco.MjData(m), saltus.Simulation(saltus.load(m))
    rng = np.random.default_rng(0)
    for _ in range(25):
        d.ctrl[:] = sim.ctrl[:] = rng.normal(size=m.nu)
        mujoco.mj_step(m, d)
        sim.step()
        np.testing.assert_allclose(sim.qvel, d.qvel, atol=1e-12)
        mujoco.mj_forward(m, d)
        sim.forward()
        assert worst(m, sim.sensordata, d.sensordata)[0] < 1e-11


@pytest.mark.parametrize("contact", ["soft", "hard"])
@pytest.mark.parametrize("integrator", ["dopri5", "rk4"])
def test_delays_under_other_methods(integrator, contact):
    """A cart that controls push six steps later: sums of what was given, to one step."""
    xml = """<mujoco><option timestep=".002" gravity="0 0 0"/><worldbody><geom type="plane" size="9 9 1" pos="0 0 -5"/>
    <body><joint name="x" type="slide" axis="1 0 0"/><geom mass="2" size=".1"/></body></worldbody>
    <actuator><general joint="x" nsample="12" delay=".012" interp="zoh"/></actuator></mujoco>"""
    sim, given = saltus.Simulation(xml, integrator, contact=contact), []
    for k in range(14):
        given.append(1.0 + 0.1 * k)
        sim.ctrl[0] = given[-1]
        sim.step()
        # each may begin to act a step sooner, at the last stages of the step before
        late, soon = (0.002 * sum(given[: max(k + n, 0)]) / 2 for n in (-5, -4))
        assert late - 5e-5 <= sim.qvel[0] <= soon + 5e-5  # dopri5 errs at jumps
    assert sim.qvel[0] > 0.005


@pytest.mark.parametrize("contact", ["soft", "hard"])
@pytest.mark.parametrize("way", ["zoh", "linear", "cubic"])
def test_delays_in_runs_of_free_steps(contact, way):
    """Many steps of dopri5 within a delay, for a stiff spring's sake: a history spans the delay all the same."""
    xml = f"""<mujoco><option timestep=".002" gravity="0 0 0"/><worldbody><geom type="plane" size="9 9 1" pos="0 0 -5"/>
    <body><joint name="x" type="slide" axis="1 0 0"/><geom mass="2" size=".1"/></body>
    <body pos="0 1 0"><joint type="slide" axis="1 0 0" stiffness="1e7"/><geom mass="1" size=".1"/></body></worldbody>
    <actuator><general joint="x" nsample="8" delay=".012" interp="{way}"/></actuator></mujoco>"""
    sim = saltus.Simulation(xml, "dopri5", contact=contact)
    sim.qpos[1], sim.ctrl[0] = 1e-3, 1.0
    run, close = sim.run(0.018, sample=0.002), 1e-4 if way == "cubic" else 1e-5  # splines overshoot
    late, soon = (0.5 * np.maximum(run.time - after, 0.0) for after in (0.012, 0.01))
    assert (run.qvel[:, 0] >= late - close).all() and (run.qvel[:, 0] <= soon + close).all()


@pytest.mark.parametrize("way", range(3))
def test_values_between_uneven_samples(way):
    """Held, linear, and by Catmull & Rom's cubics, whose slopes are zero at both ends; two numbers a sample."""
    sim = saltus.Simulation(saltus.load(delayed("Euler")))
    history, n, dim = sim.engine.d.views["history"], 5, 2
    times, values = np.array([0.0, 0.1, 0.25, 0.3, 0.6]), np.random.default_rng(1).normal(size=(5, 2))
    history[2 : 2 + n], history[2 + n : 2 + n + n * dim] = times, values.ravel()
    slopes = np.zeros((5, 2))
    slopes[1:-1] = (values[2:] - values[:-2]) / (times[2:] - times[:-2])[:, None]
    for t in (-0.1, 0.0, 0.04, 0.1, 0.2, 0.27, 0.5, 0.6, 0.9):
        j = int(np.clip(np.searchsorted(times, t), 1, n - 1))
        step = times[j] - times[j - 1]
        x = np.clip((t - times[j - 1]) / step, 0.0, 1.0)
        cubic = hermite(x, step, values[j - 1], values[j], slopes[j - 1], slopes[j])
        held = values[j] if x == 1.0 else values[j - 1]
        wanted = (held, values[j - 1] + x * (values[j] - values[j - 1]), cubic)[way]
        for k in range(dim):
            found = plain(past_value)(fields(sim.engine.d), 0, n, dim, k, np.float64(t), way)
            np.testing.assert_allclose(found, wanted[k], atol=1e-13)


def hermite(x, step, v0, v1, slope0, slope1):
    """The cubic with these values and slopes at both ends."""
    rows = np.array([[1, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0], [0, 1, 2, 3]], float)
    c = np.linalg.solve(rows, np.stack([v0, v1, step * slope0, step * slope1]))
    return np.array([1, x, x * x, x**3]) @ c


# ---------------------------------------------------------------- sleep

SLEEPERS = """<mujoco><option sleep_tolerance=".01"><flag sleep="enable"/></option><worldbody>
<body name="a"><joint name="a" axis="0 1 0"/><joint name="b" axis="1 0 0"/>
<geom type="capsule" size=".1" fromto="0 0 0 0 0 -1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("force", range(6))
def test_what_keeps_a_tree_awake(force):
    """A speed of the tolerance or more, times the length that is moved; any generalised or Cartesian force."""
    sim = saltus.Simulation(SLEEPERS, "euler")
    m, d = fields(sim.engine.step_m), fields(sim.engine.d)
    allowed = plain(may_sleep)
    lengths = sim.engine.step_m.views["dof_length"]
    assert allowed(m, d, 0, 0.01) and allowed(m, d, 0, 0.0)
    for i in range(2):
        sim.qvel[:] = 0.0
        sim.qvel[i] = -0.99 * 0.01 / lengths[i]
        assert allowed(m, d, 0, 0.01) and not allowed(m, d, 0, 0.0)
        sim.qvel[i] = 1.01 * 0.01 / lengths[i]
        assert not allowed(m, d, 0, 0.01)
        sim.qvel[:] = 0.0
        sim.qfrc_applied[i] = 1e-9
        assert not allowed(m, d, 0, 0.01)
        sim.qfrc_applied[:] = 0.0
    sim.xfrc_applied[1, force] = 1e-9
    sim.forward()
    assert not allowed(m, d, 0, 0.01)


@pytest.mark.parametrize("sleep", ["never", "allowed"])
def test_trees_that_never_sleep(sleep):
    sim = saltus.Simulation(SLEEPERS.replace('<body name="a"', f'<body name="a" sleep="{sleep}"'), "euler")
    m, d = fields(sim.engine.step_m), fields(sim.engine.d)
    assert bool(plain(may_sleep)(m, d, 0, 0.01)) == (sleep == "allowed")


# ---------------------------------------------------------------- tendons that rub

ROPE = """<mujoco><default><geom contype="0" conaffinity="0" size=".05" mass="1"/></default><worldbody>
<body name="hub" pos="0 0 2"><joint axis="0 1 0"/><geom name="post" type="cylinder" size=".1 .2" euler="90 0 0"/></body>
<site name="side" pos="0 0 2.3"/>
<body pos="-.3 0 1"><joint type="slide" axis="0 0 1"/><joint axis="1 0 0"/><geom/><site name="a" pos="0 .05 .1"/></body>
<body pos="-.2 0 1.4"><joint type="slide" axis="1 0 0"/><geom/><site name="b" pos="0 .02 0"/></body>
<body pos=".3 0 1"><joint type="slide" axis="0 0 1"/><geom/><site name="c"/></body>
<body pos=".5 .1 .8"><joint type="slide" axis="1 1 0"/><geom/><site name="d"/></body></worldbody><tendon>
<spatial name="rope"><site site="a"/><site site="b"/><geom geom="post" sidesite="side"/><site site="c"/><site site="d"/>
</spatial></tendon></mujoco>"""


def test_slips_of_ropes_by_way_of_sites():
    """Half the length before the arc less half of that behind it, by differences; its angle times the friction."""
    sim, eps = saltus.Simulation(saltus.capstan(ROPE, "rope", 0.3), "rk4"), 1e-6
    m, start = sim.engine.m.views, sim.qpos.copy()
    data = sim.engine.d.views

    def path():
        """MuJoCo's points of the path."""
        d = mujoco.MjData(sim.model.mujoco)
        d.qpos[:] = sim.qpos
        mujoco.mj_forward(sim.model.mujoco, d)
        return d.wrap_xpos.reshape(-1, 3)[d.ten_wrapadr[0] :][: d.ten_wrapnum[0]].copy()

    def half(points):
        a, b, arrival, departure, c, e = points
        ahead = np.linalg.norm(b - a) + np.linalg.norm(arrival - b)
        return 0.5 * (ahead - np.linalg.norm(c - departure) - np.linalg.norm(e - c))

    sim.forward()
    count, middle = m["tendon_Jnum"][0], path()
    found = np.zeros(sim.model.nv)
    found[m["tendon_dof"][:count]] = data["slip_J"][:count]
    wanted = np.zeros(sim.model.nv)
    for i in range(sim.model.nv):
        ends = []
        for sign in (1, -1):
            sim.qpos[:] = start
            sim.qpos[i] += sign * eps
            points = path()
            # the arc's ends are points of the post, which turns about y at the height of 2
            s, c = np.sin(sign * eps * (i == 0)), np.cos(sign * eps * (i == 0))
            turn, hub = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]), np.array([0, 0, 2.0])
            points[2:4] = (middle[2:4] - hub) @ turn.T + hub
            ends.append(half(points))
        wanted[i] = (ends[0] - ends[1]) / (2 * eps)
    np.testing.assert_allclose(found, wanted, atol=1e-8)
    sim.qpos[:] = start
    sim.forward()
    arms = middle[2:4] - [0, 0, 2.0]
    arms[:, 1] = 0.0
    angle = np.arccos(arms[0] @ arms[1] / 0.01)
    rise = (middle[3] - middle[2])[1]
    # of a helix: the turn of its tangent, by the angle about the axis times the cosine of its slope
    slope = np.hypot(0.1 * angle, rise)
    np.testing.assert_allclose(data["slip_angle"][0], 0.3 * angle * 0.1 * angle / slope, rtol=2e-2)
