"""Time stepping over impacts in lanes: simulations side by side move as they do by themselves, whatever is beside them.

Laws: Newton's law of impact, u⁺ = -e u⁻ with the impulse m (1 + e) |u⁻| of the collision and m g h of the step that it
falls in; Coulomb's friction, v = v₀ - μ g t of a sliding box and v = μ g t of one that a belt accelerates; weights.
References: these closed forms, which the scheme satisfies exactly; single simulations, whose steps run in other code,
with numbers instead of lanes; `OneByOne`.

Tolerances: the contact iteration ends at 1e-9 of the largest acceleration, which counts once a step. Single simulations
go through the same operations, of which compilers may contract others to fused ones: rounding, which contact amplifies;
1e-9 after a second in which all iterations converge. Among batches: bits.
"""

import numpy as np
import pytest
from helpers import stiction_scenes as scenes
from helpers.stiction_scenes import KINETIC, belt, slope
from numpy.testing import assert_allclose, assert_array_equal

import saltus
from saltus.errors import DivergenceError, SaltusWarning
from saltus.integrate.fixed.moreau_jean import moreau_jean
from saltus.simulate.engine.batch import one_by_one
from saltus.simulate.engine.batch.one_by_one import OneByOne
from saltus.simulate.engine.batch.stepped_lanes import WIDTH, SteppedLanes, why_alone

G, H, MU = 9.81, 0.002, 0.3
# with these all models need the same kernels
FAR = """
<geom name="far box" type="box" size=".1 .1 .1" pos="0 0 -1000" contype="0" conaffinity="0"/>
<geom name="far ball" type="sphere" size=".1" pos="0 9 -1000" contype="0" conaffinity="0"/>
<body pos="100 0 -1000"><joint name="far" type="slide" axis="1 0 0"/>
<geom name="box far" type="box" size=".1 .1 .1" contype="0" conaffinity="0"/></body>
"""
PAIR = '<contact><pair geom1="far box" geom2="box far"/><pair geom1="far ball" geom2="box far"/></contact>'
FLOOR = f'<geom name="floor" type="plane" size="50 50 1" friction="{MU} 0 0"/>'
BALL = f'<body name="ball" pos="0 0 1"><freejoint/><geom name="ball" size=".1" mass="2" friction="{MU} 0 0"/></body>'
MOCAP = '<body name="lift" mocap="true"><geom type="box" size="1 1 .1" pos="0 0 -.1"/></body>'
BOX = f"""<body name="box" pos="3 0 .5"><freejoint/>
<geom name="box" type="box" size=".2 .15 .1" mass="1" friction="{MU} 0 0"/></body>"""


def model(world, more=""):
    text = f'<option gravity="0 0 -{G}" timestep="{H}"/><worldbody>{world}{FAR}</worldbody>{PAIR}{more}'
    return saltus.load(f"<mujoco>{text}</mujoco>")


THROWN = model(FLOOR + BALL + BOX)


def batch_of(source, n, *, law=None, integrator="moreau_jean", **options):
    options = {"threads": 1, "contact": law or saltus.Hard(restitution=0.6), **options}
    return saltus.Batch(source, n, integrator=integrator, **options)


def velocities(n, nv, seed=0):
    """Velocities of a throw [n, nv], of the objects in front of the far one."""
    found = 0.8 * np.random.default_rng(seed).normal(size=(n, nv))
    found[:, -1] = 0.0
    return found


def thrown(v, **options):
    """A ball and a box over a floor with velocities v [n, nv]."""
    batch = batch_of(THROWN, len(v), **options)
    batch.qvel = v
    return batch


def state(batch):
    return np.hstack([batch.time[:, None], batch.qpos, batch.qvel])


def log_of(batch, i):
    return batch.events_of(i).tobytes()


def single(v, source=THROWN, law=None, **options):
    sim = saltus.Simulation(source, integrator="moreau_jean", contact=law or saltus.Hard(restitution=0.6), **options)
    sim.qvel[:] = v
    return sim


# ------------------------------------------------------------ closed forms


def test_bounces_follow_newtons_law():
    """Of many balls from many heights, with their impulses; the peaks lose 1 - e² of their height, up to a step."""
    heights = 0.1 + np.linspace(0.3, 1.5, 2 * WIDTH + 1)
    batch = batch_of(THROWN, len(heights))
    assert isinstance(batch.lanes, SteppedLanes)
    q = batch.qpos
    q[:, 2] = heights
    batch.qpos = q
    batch.step(800)
    events = batch.events[(batch.events["kind"] == "impact") & (batch.events["name"] == "ball")]
    assert_array_equal(np.unique(events["simulation"]), np.arange(len(heights)))
    for i, height in enumerate(heights):
        first = events[events["simulation"] == i][0]
        fall = np.sqrt(2.0 * (height - 0.1) / G)
        assert fall - 1e-12 <= first["time"] <= fall + 2.0 * H + 1e-12
        assert_allclose(first["velocity"], -G * (first["time"] - H), rtol=1e-9)
        assert_allclose(first["impulse"][0], 2.0 * (1.6 * -first["velocity"] + G * H), rtol=1e-7)
        second = events[events["simulation"] == i][1]
        assert_allclose(second["time"] - first["time"], 2.0 * 0.6 * fall, atol=4.0 * H)


def test_boxes_slide_as_coulomb_says():
    """Until they rest, after v₀ / (μ g), having gone v₀² / (2 μ g); those at rest beside them stay where they are."""
    speeds = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 0.0])
    batch = batch_of(THROWN, len(speeds), law=saltus.Hard(restitution=0.0))
    q, v = batch.qpos, batch.qvel
    q[:, 9], v[:, 6] = 0.1, speeds
    batch.qpos, batch.qvel = q, v
    batch.step(50)
    going = np.maximum(speeds - MU * G * 0.1, 0.0)
    assert_allclose(batch.qvel[:, 6], going, atol=50 * 1e-9 * G)
    batch.step(400)
    assert_allclose(batch.qvel[:, 6], 0.0, atol=1e-6)
    assert_allclose(batch.qpos[:, 7] - 3.0, speeds**2 / (2.0 * MU * G), atol=2.0 * H)
    # resting weights, read from the batch
    assert_allclose(batch.contact_force("box"), np.array([0, 0, G]) * np.ones((6, 1)), atol=1e-6)
    assert (batch.contacts().count >= 4).all()


def test_belts_take_boxes_along():
    """A moving surface accelerates boxes by μ g until they have its speed."""
    world = model(FLOOR.replace("/>", ' surfacevel="0.5 0 0 0 0 0"/>') + BALL + BOX.replace("3 0 .5", "3 0 .1"))
    batch = batch_of(world, 5, law=saltus.Hard(restitution=0.0))
    assert isinstance(batch.lanes, SteppedLanes)
    v = batch.qvel
    v[:, 6] = [0.0, 0.5, 0.1, 0.2, 0.3]
    batch.qvel = v
    batch.step(20)
    assert_allclose(batch.qvel[:, 6], np.minimum(v[:, 6] + MU * G * 20 * H, 0.5), atol=20 * 1e-9 * G)


def test_blocks_stop_on_a_slope_by_static_friction():
    """Between the coefficients of sliding and of rest: after v²/(2 a) each stops, and stays while others slide."""
    tangent = 0.5
    batch = batch_of(belt(h=H, gravity=slope(-tangent)), 5, law="hard")
    assert isinstance(batch.lanes, SteppedLanes)
    speeds = np.array([0.0, 0.4, 0.8, 1.2, 1.6])
    batch.qvel = speeds[:, None] * [1, 0, 0]
    a = scenes.G * (tangent + KINETIC) / np.sqrt(1.0 + tangent**2)
    for time in (0.1, 1.0):
        batch.step(round((time - batch.time[0]) / H))
        gone = np.minimum(time, speeds / a)
        assert_allclose(batch.qpos[:, 0], speeds * gone - 0.5 * a * gone**2, atol=1.6 * H)
    there = batch.qpos
    batch.step(1000)
    assert_allclose(batch.qpos, there, atol=1e-10)


def test_lifts_carry_boxes():
    """A mocap body that moves up takes the boxes on it along with its speed, each simulation's its own."""
    batch = batch_of(model(MOCAP + BALL + BOX.replace("3 0 .5", "0 0 .1")), 5, law=saltus.Hard(restitution=0.0))
    assert isinstance(batch.lanes, SteppedLanes)
    q = batch.qpos
    q[:, 0] = 9.0  # the ball falls elsewhere
    batch.qpos = q
    batch.step(5)
    rise = np.array([0.0, 0.005, 0.01, 0.015, 0.02])
    for part in (1, 2):
        batch.mocap_pos = part * rise[:, None, None] * [0, 0, 1]
        batch.step(20)
        assert_allclose(batch.qvel[:, 8], rise / (20 * H), atol=1e-7)
        assert_allclose(batch.qpos[:, 9] - 0.1, part * rise, atol=2.0 * G * H**2)


# ------------------------------------------------------------ single simulations, neighbours


def test_lanes_are_single_simulations():
    v = velocities(2 * WIDTH + 1, 13)
    batch = thrown(v)
    batch.step(500)
    for i in (0, WIDTH, 2 * WIDTH):
        sim = single(v[i])
        sim.step(500)
        assert_allclose(state(batch)[i], np.hstack([sim.time, sim.qpos, sim.qvel]), rtol=1e-9, atol=1e-9)
        events, own = batch.events_of(i), sim.events
        assert events.dtype == own.dtype and len(events) == len(own) > 5
        for field in ("kind", "name", "other"):
            assert_array_equal(events[field], own[field])
        assert_allclose(events["time"], own["time"], rtol=1e-12)
        assert_allclose(events["impulse"], own["impulse"], rtol=1e-8, atol=1e-9)


def test_bits_do_not_depend_on_neighbours_size_place_or_threads(monkeypatch):
    v = velocities(3 * WIDTH + 2, 13)
    batch = thrown(v)
    batch.step(300)
    expected = state(batch)
    for i in (0, 3 * WIDTH + 1):
        alone = thrown(v[i : i + 1])
        alone.step(300)
        assert_array_equal(state(alone)[0], expected[i])
        assert_array_equal(alone.lanes.states[0], batch.lanes.states[i])  # with what is kept for the next step
        assert log_of(alone, 0) == log_of(batch, i)
    order = np.random.default_rng(1).permutation(len(v))
    shuffled = thrown(v[order])
    shuffled.step(300)
    assert_array_equal(state(shuffled), expected[order])
    assert log_of(shuffled, 3) == log_of(batch, order[3])
    # on threads, in parts, and some before others
    other = thrown(v, threads=2)
    for part in (1, 99):
        other.lanes.pace = 1.0  # however little there is to do, use both
        other.step(part)
    other.step(200, ids=[1, 5, 6])
    other.step(200, ids=np.setdiff1d(np.arange(len(v)), [1, 5, 6]))
    assert_array_equal(state(other), expected)
    assert log_of(other, 5) == log_of(batch, 5)
    # with a log that is read after each step
    monkeypatch.setattr(one_by_one, "LOG_ROOM", 1)
    other = thrown(v)
    other.step(300)
    assert_array_equal(state(other), expected)
    assert other.events.tobytes() == batch.events.tobytes()


def test_changes_from_outside_and_resets():
    """A push of one, the reset of another, Cartesian forces on a third: the others keep their bits."""
    v = velocities(WIDTH + 2, 13)
    batch, other = thrown(v), thrown(v)
    force = np.zeros((len(v), THROWN.nbody, 6))
    force[3, 1, 0] = 2.0
    batch.xfrc_applied = force
    batch.step(100)
    other.step(100)
    assert_allclose(batch.qvel[3, 0] - other.qvel[3, 0], 0.1 * 2.0 / 2.0, atol=0.1)
    pushed = batch.qvel
    pushed[1, 2] += 1.0
    batch.qvel = pushed
    batch.reset([2])
    batch.step(100)
    other.step(100)
    rest = np.setdiff1d(np.arange(len(v)), [1, 2, 3])
    assert_array_equal(state(batch)[rest], state(other)[rest])
    begun = single(np.zeros(13))
    begun.step(100)
    assert_allclose(state(batch)[2], np.hstack([begun.time, begun.qpos, begun.qvel]), rtol=1e-9, atol=1e-9)


def test_rollouts_with_controls_and_sensors():
    """A motor pushes the box of each simulation: m a = u while it flies; records are those of steps."""
    more = '<actuator><motor joint="far"/></actuator><sensor><jointvel joint="far"/></sensor>'
    batch = batch_of(model(FLOOR + BALL + BOX, more), WIDTH + 1)
    mass = batch.shared.mj_model.body_mass[-1]
    controls = np.linspace(0.0, 1.0, WIDTH + 1)[:, None, None] * np.ones((1, 20, 1)) * mass
    found = batch.rollout(controls, record=("qvel", "sensordata"))
    steps = np.arange(1, 21)
    assert_allclose(found.qvel[:, :, -1], controls[:, :, 0] / mass * steps * H, atol=1e-12)
    assert_array_equal(found.sensordata[:, :, 0], found.qvel[:, :, -1])


# ------------------------------------------------------------ failures


def test_one_that_diverges_is_named_and_harms_no_other():
    v = velocities(WIDTH + 1, 13)
    batch, other = thrown(v), thrown(v)
    broken = v.copy()
    broken[2, 0] = 9e9
    broken[2, 2] = 9e9
    batch.qvel = broken
    q = batch.qpos
    q[2, 2] = np.inf
    with pytest.raises(DivergenceError, match="simulation 2"):
        batch.qpos = q
        batch.step(50)
    other.step(50)
    assert_array_equal(batch.diverged, np.arange(len(v)) == 2)
    rest = np.arange(len(v)) != 2
    assert_array_equal(state(batch)[rest], state(other)[rest])
    batch.reset([2])
    batch.step(10)
    assert not batch.diverged.any()


def test_one_that_diverges_on_its_way_keeps_its_last_valid_state():
    """A force accelerates it by 3e9 m/s in a step; speeds above 1e10 m/s are invalid, as after the fourth one."""
    v = velocities(WIDTH + 1, 13)
    batch, other = thrown(v), thrown(v)
    force = np.zeros((len(v), 13))
    force[2, -1] = THROWN.mj_model.body_mass[-1] * 3e9 / H
    batch.qfrc_applied = force
    with pytest.raises(DivergenceError, match="simulation 2"):
        batch.step(50)
    other.step(50)
    assert_allclose([batch.time[2], batch.qvel[2, -1]], [3 * H, 9e9], rtol=1e-9)
    rest = np.arange(len(v)) != 2
    assert_array_equal(state(batch)[rest], state(other)[rest])


@pytest.mark.filterwarnings("ignore::saltus.errors.SaltusWarning")
def test_steps_that_do_not_converge_are_counted_by_simulation():
    """With a tolerance below rounding: as many as single simulations count, of those that touch anything."""
    v = velocities(WIDTH + 1, 13)
    tight = moreau_jean(tolerance=1e-300)
    batch = thrown(v, integrator=tight)
    batch.step(150)
    counts = []
    for own in v:
        sim = saltus.Simulation(THROWN, integrator=tight, contact=saltus.Hard(restitution=0.6))
        sim.qvel[:] = own
        sim.step(150)
        counts.append(sim.unconverged)
    assert batch.unconverged == sum(counts) > 0


def test_a_ball_that_passes_a_plate_is_told():
    """In lanes as in single steps: the ball is thicker than half its way in a step by far."""
    plate = '<geom name="plate" type="box" size="1 1 .002" pos="0 0 .5"/>'
    batch = batch_of(model(FLOOR + plate + BALL.replace('size=".1"', 'size=".01"') + BOX), WIDTH)
    v = batch.qvel
    v[1, 2] = -100.0
    batch.qvel = v
    with pytest.warns(SaltusWarning, match="'ball' and 'plate' passed through each other"):
        batch.step(5)
    assert batch.qpos[1, 2] < 0.5


# ------------------------------------------------------------ one by one


JOINED = '<equality><weld body1="ball" body2="box"/></equality>'
TILES = "".join(f'<geom type="box" size="1 1 .1" pos="{x} 0 -.1" friction="{MU} 0 0"/>' for x in (-1, 1))


@pytest.mark.parametrize(
    "world, more, reason",
    [
        (FLOOR + BALL + BOX, JOINED, "equality"),
        (TILES + BALL + BOX, "", "touch each other"),
    ],
)
def test_these_move_one_by_one(world, more, reason):
    batch = batch_of(model(world, more), 2)
    assert type(batch.lanes) is OneByOne
    assert reason in why_alone(batch.lanes.engine)


def test_own_coefficients_move_one_by_one():
    """Simulations with their own restitution have the bits of single ones; the same ones for all go in lanes again."""
    v = velocities(3, 13)
    own = [0.2, 0.5, 0.8]
    batch = thrown(v, law=saltus.Hard(restitution=np.array(own)))
    batch.step(200)
    for i in range(3):
        sim = single(v[i], law=saltus.Hard(restitution=own[i]))
        sim.step(200)
        assert_array_equal(batch.qpos[i], sim.qpos)
    batch.law = saltus.Hard(restitution=0.5)
    batch.step(100)
    sim = single(v[1], law=saltus.Hard(restitution=0.5))
    sim.step(300)
    assert_allclose(batch.qpos[1], sim.qpos, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("contact", ["soft", "hard"])
def test_mechanisms_without_rows_are_single_simulations(contact):
    """A damped pendulum, under which no law acts."""
    model = saltus.load("""<mujoco><worldbody><body><joint axis="0 1 0" damping=".1"/>
    <geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" contype="0" conaffinity="0"/></body></worldbody></mujoco>""")
    batch = saltus.Batch(model, 3, "moreau_jean", contact=contact)
    batch.qvel[:, 0] = 1.0, 2.0, 3.0
    batch.step(10)
    for i in range(3):
        sim = saltus.Simulation(model, "moreau_jean", contact=contact)
        sim.qvel[0] = i + 1.0
        sim.step(10)
        np.testing.assert_allclose(batch.qpos[i], sim.qpos, rtol=1e-14)
