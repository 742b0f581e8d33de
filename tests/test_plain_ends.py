"""Ends of runs and steps, breaks, searches for contact within steps, and trees that sleep, in plain Python.

Laws: a motion that ends at a finite time, polynomials between breaks, and gaps that are parabolas, in closed form.
"""

import math

import numpy as np
import pytest
from helpers import sleepers
from helpers.plain_python import fields, plain, plain_python

import saltus
from saltus.integrate.dense import contact_search
from saltus.integrate.event import dense_events
from saltus.model.event_enums import CLOSED, LOCATE, STEP, STOP

CART = """<mujoco><option gravity="0 0 0" timestep=".1"><flag refsafe="disable"/></option><worldbody>
<geom type="plane" size="1 1 1" pos="0 0 -3"/><body>
<joint name="x" type="slide" axis="1 0 0"/><geom size=".1" mass="1"/></body></worldbody>
<actuator><motor joint="x"/></actuator></mujoco>"""

ADAPTIVE = [("dopri5", "soft"), ("dopri5", "hard"), ("radau", "soft")]


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


# ---------------------------------------------------------------- steps that cannot be taken


def explode(m, d, z):
    d.ctrl[0] = d.qvel[0] * d.qvel[0]


@pytest.mark.parametrize(("integrator", "contact"), ADAPTIVE)
def test_a_motion_that_ends_at_a_finite_time(integrator, contact):
    """v' = v² from 1 is 1/(1 - t): runs end where the velocity is 1e10, or no step is short enough, close to 1 s."""
    options = {"control": saltus.controller(explode), "timestep": 0.3, "tolerance": (1e-3, 1e-3)}
    sim = saltus.Simulation(CART, integrator, contact=contact, **options)
    sim.qvel[0] = 1.0
    with pytest.raises(saltus.DivergenceError):
        sim.run(1.5, sample=0.1)
    assert sim.time == pytest.approx(1.0, abs=2e-3) and sim.qvel[0] > 1e3


@pytest.mark.parametrize(
    ("integrator", "contact"), [*ADAPTIVE, ("rk4", "soft"), ("rk4", "hard"), ("moreau_jean", "hard")]
)
def test_states_that_are_no_numbers_end_runs_at_once(integrator, contact):
    sim = saltus.Simulation(CART, integrator, contact=contact)
    sim.step()
    before = sim.time
    for go in (sim.step, lambda: sim.run(0.3, sample=0.1)):
        sim.qvel[0] = math.nan
        with pytest.raises(saltus.DivergenceError, match="not finite"):
            go()
        assert sim.time == before
        sim.reset()
        before = sim.time
    sim.qvel[0] = 1.0
    sim.step()
    np.testing.assert_allclose([sim.qpos[0], sim.qvel[0]], [0.1, 1.0], rtol=1e-12)


@pytest.mark.parametrize("dense", [LOCATE, STEP, STOP])
@pytest.mark.parametrize("equalities", [0, 2])
def test_time_is_stepped_only_with_contacts_that_are_active(dense, equalities):
    sim = saltus.Simulation(CART, contact="hard")
    m, d = fields(sim.engine.step_m), fields(sim.engine.d)

    class Model:
        opt_dense, neq = dense, equalities

    for closed in range(4):
        sim.engine.d.views["event_count"][CLOSED] = closed
        wanted = dense == STEP and closed > equalities
        assert bool(plain(dense_events.can_go_over)(Model, d)) == wanted
    assert m.neq == 0


FALLING = """<mujoco><option timestep=".01"/><worldbody><geom type="plane" size="9 9 1"/><body pos="0 0 {height}">
<freejoint/><geom size=".1" mass="1" condim="3"/></body></worldbody></mujoco>"""


def without_room(sim):
    for m in (sim.engine.m, sim.engine.step_m):
        m.ints[m.layout.slot["nconmax"]] = 0


SOFT = [name for name in saltus.integrators() if name != "moreau_jean"]


@pytest.mark.parametrize("way", ["step", "run"])
@pytest.mark.parametrize("name", SOFT)
def test_contacts_without_room_are_told(name, way):
    """Also where they begin within a step, at some of its stages alone; and nothing before."""
    sim = saltus.Simulation(FALLING.format(height=0.1005), name)
    sim.qvel[2] = -0.03
    without_room(sim)
    with pytest.raises(saltus.SaltusError, match="contact"):
        sim.step(4) if way == "step" else sim.run(0.04, sample=0.01)
    free = saltus.Simulation(FALLING.format(height=2.0), name)
    without_room(free)
    free.step() if way == "step" else free.run(0.01, sample=0.01)
    assert 1.99 < free.qpos[2] <= 2.0


def test_contacts_without_room_beside_a_state_are_told():
    """Derivatives of slopes by differences see a floor that a ball at rest does not touch."""
    ball = FALLING.format(height=0.1 + 1e-9).replace("<option ", '<option gravity="0 0 0" ')
    sim = saltus.Simulation(ball, "radau")
    without_room(sim)
    with pytest.raises(saltus.SaltusError, match="contact"):
        sim.step()


# ---------------------------------------------------------------- breaks


def kick(m, d, z):
    d.ctrl[0] = 0.0
    if d.time >= 0.0317:
        d.ctrl[0] = 5.0
    if d.time >= 0.1603:
        d.ctrl[0] = -2.0


@pytest.mark.parametrize("way", ["step", "run"])
@pytest.mark.parametrize(("integrator", "contact"), ADAPTIVE)
def test_laws_that_jump_at_breaks(integrator, contact, way):
    """x = 5 s²/2 from 31.7 ms on, and then -2 s²/2: polynomials between the breaks, to rounding, also for samples."""
    options = {"control": saltus.controller(kick), "breaks": (0.0317, 0.1603), "tolerance": (1e-9, 1e-11)}
    sim = saltus.Simulation(CART, integrator, contact=contact, **options)
    first, second = 0.1603 - 0.0317, 0.3 - 0.1603
    v = 5 * first
    if way == "step":
        sim.step(3)
    else:
        run = sim.run(0.3, sample=0.04)
        s, r = np.clip(run.time - 0.0317, 0.0, first), np.maximum(run.time - 0.1603, 0.0)
        np.testing.assert_allclose(run.qvel[:, 0], 5 * s - 2 * r, atol=1e-11)
        np.testing.assert_allclose(run.qpos[:, 0], 2.5 * s**2 + v * r - r**2, atol=1e-11)
    np.testing.assert_allclose(sim.qpos[0], 2.5 * first**2 + v * second - second**2, rtol=1e-10)
    np.testing.assert_allclose(sim.qvel[0], v - 2 * second, rtol=1e-10)


# ---------------------------------------------------------------- searches


@pytest.mark.parametrize("seed", range(40))
def test_advances_never_pass_the_zero_of_a_gap(seed):
    """Parabolas, and two that join, whose curvature is anything up to its bound: the bound alone, or a part of it.

    Each ends at the zero, to the depth that a search may miss, or beyond the step; probes lie ahead.
    """
    sim = saltus.Simulation(CART, contact="hard")
    sim.forward()
    m, d, view = fields(sim.engine.step_m), fields(sim.engine.d), sim.engine.d.views
    rng, h = np.random.default_rng(seed), 0.05
    bend = 10 ** rng.uniform(-1, 3)
    bends = bend * (rng.uniform(-1.0, 1.0, 2) if seed % 2 else np.array([rng.uniform(-0.01, 0.01), 1.0]))
    gap, slope, turn = 10 ** rng.uniform(-4, -1), rng.uniform(-2.0, 1.0), rng.uniform(0.0, h)

    def motion(t):
        first = min(t, turn)
        g, s = gap + slope * first - 0.5 * bends[0] * first**2, slope - bends[0] * first
        rest = max(t - turn, 0.0)
        return g + s * rest - 0.5 * bends[1] * rest**2, s - bends[1] * rest

    times = np.linspace(0.0, h, 20001)
    gaps = np.array([motion(t)[0] for t in times])
    depth = 2.0 * plain(contact_search.slack)(m) + 1e-12
    below = np.flatnonzero(gaps < -depth)
    zero = times[below[0]] / h if len(below) else np.inf
    view["clear_seen"][0] = (-1.0, 0.0, 0.0, 0.0, 1.0, 0.0)
    theta, furthest, last = 0.0, 0.0, None
    for _ in range(400):
        g, s = motion(theta * h)
        if g <= -plain(contact_search.slack)(m) and theta > 0.0:
            break
        values = (np.float64(x) for x in (g, s, s, bend, 0.0))
        place = plain(contact_search.advance)(m, d, 0, np.float64(h), np.float64(theta), tuple(values))
        # a gap that has halved since the last place is probed beyond the zero of the line through both
        if last is not None and g < 0.5 * last[1]:
            through = theta + 1.5 * max(g, 0.0) * (theta - last[0]) / (last[1] - g)
            assert place in (-1.0, pytest.approx(through, rel=1e-12))
        else:
            assert place == -1.0
        last = (theta, g) if view["clear_until"][0] > theta else None
        theta = float(view["clear_until"][0])
        furthest = max(furthest, theta)
        if theta >= 1.0:
            break
    seen = gaps[times < min(furthest, 1.0) * h]
    assert theta >= 1.0 or motion(theta * h)[0] <= 1e-6
    assert theta < 1.0 or zero > 1.0 or view["clear_seen"][0][4] < 1.0
    assert view["clear_seen"][0][4] < 1.0 or (seen > -depth).all()


LIMITED = """<mujoco><option gravity="0 0 0" timestep=".2"><flag refsafe="disable"/></option><worldbody>
<geom type="plane" size="9 9 1"/>{far}<body pos="0 0 1"><joint name="x" type="slide" axis="1 0 0" limited="true"
range="-.05 .05" solreflimit="-4e4 0" solimplimit=".9999 .9999 1"/><geom size=".1" mass="1"/></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize("bodies", [0, 1])
def test_a_limit_is_met_within_a_step_beside_contacts_that_are_far(bodies):
    """Flights of 0.1 m at 1 m/s between two springs of 200 rad/s, in each of which it stays for half a period."""
    far = "".join(
        f'<body pos="{3 + k} 0 9"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="1"/></body>'
        for k in range(bodies)
    )
    sim = saltus.Simulation(LIMITED.format(far=far), "dopri5", tolerance=(1e-8, 1e-10))
    sim.qvel[-1] = 1.0
    run = sim.run(0.3, sample=0.01)
    stay = math.pi / 200
    since = (run.time + 0.05) % (0.1 + stay)  # since it left the other spring
    side = np.where((run.time + 0.05) // (0.1 + stay) % 2, -1.0, 1.0)
    turn = 200 * np.maximum(since - 0.1, 0.0)
    np.testing.assert_allclose(run.qpos[:, -1], side * (np.minimum(since, 0.1) - 0.05 + np.sin(turn) / 200), atol=1e-6)
    np.testing.assert_allclose(run.qvel[:, -1], side * np.cos(turn), atol=1e-4)


# ---------------------------------------------------------------- trees that sleep

ACTED = sleepers.world(
    "".join(
        f'<body pos="{x} 0 1" sleep="allowed"><joint name="j{x}" axis="0 1 0" damping=".5"/>'
        f'<geom size=".05" pos=".2 0 0"/><site name="s{x}" pos=".2 0 .1"/></body>'
        for x in (0, 1, 2)
    ),
    rest='<tendon><spatial name="t"><site site="s1"/><site site="s2"/></spatial></tendon><actuator>'
    '<general joint="j0" dyntype="filter" dynprm=".05" gainprm="9" biastype="affine" biasprm="0 -20 -.1"/>'
    '<position joint="j1" kp="20"/><pid joint="j2" kp="12" kv=".8" ki="3" imax=".7"/></actuator>',
    flag='contact="disable"',
)


@pytest.mark.parametrize("joined", [False, True])
def test_actuators_of_trees_that_sleep(joined):
    """MuJoCo's, which sleep with their trees, and wake where a control changes."""
    xml = ACTED.replace("</actuator>", '<motor tendon="t" gear=".01"/></actuator>') if joined else ACTED
    pair, slept = sleepers.Pair(xml), 0
    for k in range(60):
        if k == 40:
            pair.set("ctrl", 0, 0.5)
        pair.step()
        pair.check(k)
        slept += np.any(pair.d.tree_asleep >= 0)
        np.testing.assert_allclose(pair.sim.qvel, pair.d.qvel, rtol=0, atol=1e-11)
        np.testing.assert_allclose(pair.sim.act, pair.d.act, rtol=0, atol=1e-11)
