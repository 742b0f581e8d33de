"""Moreau-Jean time stepping against closed forms of rigid bodies that hit, stick, slide and roll.

Laws: Newton's law of impact, Coulomb's friction, Signorini's condition; free flight by the position Verlet method,
which parabolas satisfy exactly. References: closed forms of each problem; the rolling benchmark of SimBenchmark
(leggedrobotics) with its analytic accelerations; weights. Tolerances: where the scheme is exact (constant forces, no
impact), rounding and the tolerance of the contact iteration, 1e-9 of the accelerations; at impacts a step's length,
since they are not located.
"""

import numpy as np
import pytest
from helpers import oracle

import saltus
from saltus.errors import OptionError, SaltusWarning
from saltus.integrate.fixed.moreau_jean import moreau_jean
from saltus.simulate.engine.events import stepped

G = 9.81
# far away: with these all models need the same kernels
FAR = """
<geom name="far box" type="box" size=".1 .1 .1" pos="0 0 -1000" contype="0" conaffinity="0"/>
<geom name="far ball" type="sphere" size=".1" pos="0 9 -1000" contype="0" conaffinity="0"/>
<body pos="100 0 -1000"><joint type="slide" axis="1 0 0"/>
<geom name="box far" type="box" size=".1 .1 .1" contype="0" conaffinity="0"/></body>
"""
PAIR = '<contact><pair geom1="far box" geom2="box far"/><pair geom1="far ball" geom2="box far"/></contact>'


def model(world, *, gravity=(0, 0, -G), more="", options=""):
    """A model of MJCF elements of the world."""
    g = " ".join(map(str, gravity))
    text = f'<option gravity="{g}" {options}/><worldbody>{world}{FAR}</worldbody>{PAIR}{more}'
    return saltus.load(f"<mujoco>{text}</mujoco>")


def simulate(model, h, *, theta=0.5, tolerance=1e-9, **law):
    return saltus.Simulation(model, integrator=moreau_jean(theta, tolerance), contact=saltus.Hard(**law), timestep=h)


def floor(friction=1.0):
    return f'<geom name="floor" type="plane" size="50 50 1" friction="{friction} 0 0"/>'


def ball(pos, *, radius=0.1, mass=1.0, friction=1.0, name=""):
    at = " ".join(map(str, pos))
    named = f'name="{name}"' if name else ""
    return (
        f'<body pos="{at}"><freejoint/>'
        f'<geom {named} type="sphere" size="{radius}" mass="{mass}" friction="{friction} 0 0"/></body>'
    )


def box(pos, size, mass, friction=1.0):
    at, half = " ".join(map(str, pos)), " ".join(map(str, size))
    return (
        f'<body pos="{at}"><freejoint/><geom type="box" size="{half}" mass="{mass}" friction="{friction} 0 0"/></body>'
    )


def contact_forces(sim):
    """(geom1, geom2, normal force) of all contacts of the last step."""
    m, d = sim.engine.m, sim.engine.d.views
    found = []
    for k in range(d["count"][0]):
        pair = d["contact_collision"][k]
        row = d["block_row"][d["contact_block"][k]]
        found.append((int(m.collision_geom1[pair]), int(m.collision_geom2[pair]), float(d["row_force"][row])))
    return found


# ---------------------------------------------------------------- impacts


def impact_times(h, e, count):
    """Ends of the steps in which a ball that falls 1 m bounces."""
    sim = simulate(model(floor() + ball((0, 0, 1.1))), h, restitution=e)
    times, before = [], 0.0
    while len(times) < count:
        sim.step()
        if sim.qvel[2] > before:
            times.append(sim.time)
        before = sim.qvel[2]
    return np.array(times)


def test_impacts_of_a_bouncing_ball_are_late_by_steps():
    """Closed form: t₁ = √(2 H/g), then 2 t₁ eᵏ more each. The error is a few steps, whatever the step is."""
    e, count = 0.8, 6
    first = np.sqrt(2 / G)
    exact = first + np.concatenate([[0], np.cumsum(2 * first * e ** np.arange(1, count))])
    for h in (4e-3, 1e-3, 2.5e-4):
        late = (impact_times(h, e, count) - exact) / h
        assert (late > -1e-6).all() and (late < 4 * np.arange(1, count + 1)).all()


def test_bounces_are_of_order_one():
    """Balls from 24 heights: their mean error at a fixed time falls like the step."""
    e, end, n = 0.7, 1.3, 24
    heights = np.linspace(0.5, 1.5, n)
    balls = "".join(ball((k, 0, 0.1 + height)) for k, height in enumerate(heights))
    exact = [bounced(height, e, end) for height in heights]
    steps = np.array([4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4])
    errors = []
    for h in steps:
        sim = simulate(model(floor() + balls), h, restitution=e)
        sim.step(round(end / h))
        errors.append(abs(sim.qpos[2 : 7 * n : 7] - 0.1 - exact).mean())
    order = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert abs(order - 1) < 0.2


def bounced(height, e, t):
    """Height of a bouncing ball after t s."""
    fall = np.sqrt(2 * height / G)
    if t < fall:
        return height - G * t * t / 2
    t, up = t - fall, e * G * fall
    while t > 2 * up / G:
        t, up = t - 2 * up / G, e * up
    return up * t - G * t * t / 2


def test_without_loss_energy_stays():
    """e = 1: the scheme turns the velocity round and the parabola is exact, so that energy is kept to rounding."""
    sim = simulate(model(floor() + ball((0, 0, 1.1))), 1e-3, restitution=1.0)
    energies = []
    for _ in range(40):
        sim.step(250)
        energies.append(G * sim.qpos[2] + sim.qvel[2] ** 2 / 2)
    assert np.ptp([G * 1.1, *energies]) < 1e-11


def test_a_bouncing_ball_comes_to_rest():
    """After the Zeno time it lies still, in the floor by no more than two allowances of h² metres."""
    h, e = 1e-3, 0.5
    sim = simulate(model(floor() + ball((0, 0, 1.1))), h, restitution=e)
    sim.step(round(1.5 / h))  # Zeno time: 1.3546 s
    assert abs(sim.qvel[:6]).max() < 1e-12
    before = sim.qpos[2]
    sim.step(1000)
    assert sim.qpos[2] == pytest.approx(before, abs=1e-14) and -2.1 * h * h < before - 0.1 < 1.1 * h * h


def test_two_spheres_and_an_oblique_one():
    """Newton's law with momentum: -1.825 and 0.275 m/s; an oblique ball sticks above μ = 2/21, to 5/7 of its speed."""
    two = ball((-0.2, 0, 0), mass=1, name="a") + ball((0.2, 0, 0), mass=3, name="b")
    sim = simulate(model(two, gravity=(0, 0, 0)), 1e-3, restitution=0.7)
    sim.qvel[0], sim.qvel[6] = 2, -1
    sim.step(200)
    assert sim.qvel[[0, 6]] == pytest.approx([-1.825, 0.275], abs=1e-12)
    # from where the middle of a step meets the floor; the lever arm is the radius then
    start = (0, 0, 0.1 + 2 * 0.0505 - 1e-9)
    for mu, speed, turning in ((0.05, 0.85, 0.375), (0.1, 5 / 7, 5 / 7)):
        sim = simulate(model(floor(mu) + ball(start, friction=mu), gravity=(0, 0, 0)), 1e-3, restitution=0.5)
        sim.qvel[[0, 2]] = 1, -2
        sim.step(200)
        assert sim.qvel[2] == pytest.approx(1, abs=1e-12)
        assert sim.qvel[0] == pytest.approx(speed, abs=1e-8) and 0.1 * sim.qvel[4] == pytest.approx(turning, abs=1e-8)


def test_newtons_cradle_by_moreaus_law():
    """All contacts at once under u⁺ + e u⁻ ≥ 0 ⟂ P ≥ 0: the first ball goes back with 3/5, the four others go on with
    2/5. That keeps momentum and energy, but is not what a cradle does: there the impact travels from ball to ball.
    """
    balls = "".join(ball((0.2 * k, 0, 0), friction=0) for k in range(5))
    sim = simulate(model(balls, gravity=(0, 0, 0)), 1e-3, restitution=1.0)
    sim.qpos[0] -= 0.0505
    sim.qvel[0] = 1
    sim.step(60)
    assert sim.qvel[:30:6] == pytest.approx([-0.6, 0.4, 0.4, 0.4, 0.4], abs=1e-8)


# ---------------------------------------------------------------- friction


def slope(degrees, mu):
    a = np.radians(degrees)
    return model(floor(mu) + box((0, 0, 0.1), (0.2, 0.15, 0.1), 3, mu), gravity=(G * np.sin(a), 0, -G * np.cos(a)))


def test_a_block_on_a_slope_sticks_or_slides():
    """Below the friction angle it stays where it is; above it slides with g (sin a - μ cos a)."""
    sim = simulate(slope(20, 0.5), 1e-3)
    sim.step(10_000)
    assert abs(sim.qpos[:2]).max() < 1e-11 and abs(sim.qvel[:6]).max() < 1e-12
    acceleration = G * (np.sin(np.pi / 6) - 0.3 * np.cos(np.pi / 6))
    for theta, late in ((0.5, 0.0), (1.0, 0.5e-3)):  # semi-implicit Euler is half a step ahead
        sim = simulate(slope(30, 0.3), 1e-3, theta=theta)
        sim.step(2000)
        assert sim.qvel[0] == pytest.approx(2 * acceleration, rel=1e-9)
        assert sim.qpos[0] == pytest.approx(2 * acceleration * (1 + late), rel=1e-9)


def test_a_sliding_ball_begins_to_roll():
    """At t = 2 v/(7 μ g), with 5/7 of its speed."""
    mu, v = 0.2, 3.0
    sim = simulate(model(floor(mu) + ball((0, 0, 0.1), friction=mu)), 1e-3)
    sim.qvel[0] = v
    end = 2 * v / (7 * mu * G)
    while sim.qvel[0] - 0.1 * sim.qvel[4] > 1e-9:
        sim.step()
    assert abs(sim.time - end) < 1.1e-3
    sim.step(500)
    assert sim.qvel[0] == pytest.approx(5 / 7 * v, rel=1e-9) and 0.1 * sim.qvel[4] == pytest.approx(sim.qvel[0])


def test_balls_roll_on_a_box_that_is_pulled():
    """SimBenchmark: a box of 10 kg, μ = .4, is pulled by 150 N with 25 balls on it that roll, μ = .8.

    Accelerations (150 - .4 35 g)/(10 + 25 2/7) = .7385 of the box and 2/7 of that; the measure of error, the mean over
    the steps of the squared errors of box's and ball's velocities, is to be below 1e-6.
    """
    along = np.array([0.5, 0.8660254, 0])
    balls = "".join(
        f'<body pos="{x} {y} 1.5"><freejoint/><geom type="sphere" size=".5" mass="1" friction=".8 0 0" priority="1"/>'
        "</body>"
        for x in range(-4, 5, 2)
        for y in range(-4, 5, 2)
    )
    sim = simulate(model(floor(0.4) + box((0, 0, 0.5), (10, 10, 0.5), 10, 0.4) + balls), 1e-3, tolerance=1e-7)
    sim.xfrc_applied[1, :3] = 150 * along
    pulled = (150 - 0.4 * 35 * G) / (10 + 25 * 2 / 7)
    errors = []
    for _ in range(4000):
        sim.step()
        v = sim.qvel[: 26 * 6].reshape(26, 6)[:, :3] / sim.time
        errors.append(
            sim.time**2 * (((v[0] - pulled * along) ** 2).sum() + ((v[1] - 2 / 7 * pulled * along) ** 2).sum())
        )
    assert pulled == pytest.approx(0.7385)
    assert np.mean(errors) < 1e-9
    assert sim.unconverged == 0


# ---------------------------------------------------------------- rest


@pytest.mark.filterwarnings("ignore:.*tolerance")  # in the first steps, from no forces
def test_forces_in_a_stack_are_weights():
    """Five boxes, the heaviest on top: what each floor carries is the weight above it."""
    masses = [1, 1, 2, 3, 10]
    boxes = "".join(box((0, 0, 0.1 + 0.2 * k), (0.1, 0.1, 0.1), m) for k, m in enumerate(masses))
    sim = simulate(model(floor() + boxes), 2e-3)
    sim.step(1000)
    first = int(sim.model.ngeom) - 6  # the boxes' geoms come before the last far one
    carried = np.zeros(5)
    for geom1, geom2, force in contact_forces(sim):
        carried[max(geom1, geom2) - first] += force
    assert carried == pytest.approx(G * np.cumsum(masses[::-1])[::-1], rel=1e-6)
    assert abs(sim.qvel[:30]).max() < 1e-9
    # and what a user reads are the forces of this law
    assert sim.data.efc_force.reshape(-1, 3)[:, 0].sum() == pytest.approx(carried.sum(), rel=1e-6)
    assert sim.data.qfrc_constraint[2:30:6] == pytest.approx(G * np.array(masses), rel=1e-6)
    assert 0.1 + 0.2 * np.arange(5) - sim.qpos[2:35:7] == pytest.approx(np.zeros(5), abs=5 * 2.1 * 4e-6)


def test_a_pile_comes_to_rest_and_stays():
    """Twelve boxes fall on each other: they end at rest, all bodies apart to two allowances of h² metres and slack."""
    rng = np.random.default_rng(3)
    h = 2e-3
    boxes = "".join(box((*rng.uniform(-0.1, 0.1, 2), 0.15 + 0.25 * k), (0.1, 0.08, 0.06), 1) for k in range(12))
    sim = simulate(model(floor() + boxes), h)
    with pytest.warns(SaltusWarning, match="tolerance"):  # while it falls
        sim.step(3500)
    before, count = sim.qpos.copy(), sim.unconverged
    energy = rest_energy(sim)
    sim.step(1000)
    assert abs(sim.qvel[:72]).max() < 1e-9 and abs(sim.qpos - before).max() < 1e-9
    assert sim.unconverged == count
    assert rest_energy(sim) <= energy + 1e-9
    n = sim.engine.d.views["count"][0]
    assert sim.engine.d.views["contact_dist"][:n].min() > -4 * h * h


def test_what_begins_inside_comes_out_without_speed():
    """Boxes 5 cm in the floor and in each other are moved apart at a metre a second, and never move by themselves."""
    sim = simulate(model(floor() + box((0, 0, 0.05), (0.1,) * 3, 1) + box((0, 0, 0.2), (0.1,) * 3, 1)), 1e-3)
    for _ in range(150):
        sim.step()
        assert abs(sim.qvel[:12]).max() < 1e-8
    assert sim.qpos[[2, 9]] == pytest.approx([0.1, 0.3], abs=5e-6)


@pytest.mark.filterwarnings("ignore:.*tolerance")  # in the first steps, from no forces
def test_a_heavy_box_on_a_light_one():
    """A thousand to one: the light one is not crushed."""
    sim = simulate(model(floor() + box((0, 0, 0.1), (0.1,) * 3, 1) + box((0, 0, 0.3), (0.1,) * 3, 1000)), 1e-3)
    sim.step(1000)
    assert sim.qpos[[2, 9]] == pytest.approx([0.1, 0.3], abs=5e-6) and abs(sim.qvel[:12]).max() < 1e-8


def test_a_spinning_ball_stops_by_torsional_friction():
    """Contacts of four dimensions: the spin falls by μ_t g/(2/5 r²) a second, to nothing."""
    grip = 'friction="1 .05 0" condim="4"'
    world = floor() + ball((0, 0, 0.1)).replace('friction="1.0 0 0"', grip)
    sim = simulate(model(world), 1e-3)
    sim.qvel[5] = 10
    sim.step(40)
    assert sim.qvel[5] == pytest.approx(10 - 0.05 * G / (0.4 * 0.01) * 0.04, rel=1e-9)
    sim.step(100)
    assert abs(sim.qvel[:6]).max() < 1e-12


def rest_energy(sim):
    return G * sim.qpos[2:84:7].sum()


# ---------------------------------------------------------------- joints


def test_limits_dry_friction_and_loops():
    """A slide bounces from its end with e; dry friction takes its force off, or holds; a body hung by `connect` swings
    like one on a hinge."""
    world = floor() + (
        '<body name="fall" pos="0 0 5"><joint name="fall" type="slide" axis="0 0 1" range="-1 9" limited="true"/>'
        '<geom type="sphere" size=".1" mass="2" contype="0" conaffinity="0"/></body>'
        '<body pos="2 0 5"><joint type="slide" axis="0 0 1" frictionloss="4"/>'
        '<geom type="sphere" size=".1" mass="2" contype="0" conaffinity="0"/></body>'
        '<body pos="4 0 5"><joint type="slide" axis="0 0 1" frictionloss="20"/>'
        '<geom type="sphere" size=".1" mass="2" contype="0" conaffinity="0"/></body>'
        '<body pos="6 0 5"><joint type="hinge" axis="0 1 0"/>'
        '<geom type="capsule" size=".05" fromto="0 0 0 1 0 0" mass="2" contype="0" conaffinity="0"/></body>'
        '<body name="hung" pos="8 0 5"><freejoint/>'
        '<geom type="capsule" size=".05" fromto="0 0 0 1 0 0" mass="2" contype="0" conaffinity="0"/></body>'
    )
    hung = '<equality><connect body1="hung" anchor="0 0 0"/></equality>'
    h = 1e-3
    sim = simulate(model(world, more=hung), h, limits=0.5)
    sim.step(450)
    fallen = np.sqrt(2 / G)
    assert sim.qvel[0] == pytest.approx(-G * sim.time, rel=1e-12)
    assert sim.qvel[1] == pytest.approx(-(G - 2) * sim.time, rel=1e-9) and abs(sim.qvel[2]) < 1e-15
    sim.step(150)
    assert abs(sim.qvel[0] - (0.5 * G * fallen - G * (sim.time - fallen))) < 2.5 * G * h
    sim.step(900)
    angle = sim.qpos[3]
    quat = sim.qpos[7:11]
    assert 2 * np.arctan2(quat[2], quat[0]) == pytest.approx(angle, abs=2e-5)
    assert np.linalg.norm(sim.qpos[4:7] - [8, 0, 5]) < 1e-6


def test_free_motion_is_of_order_two_and_damping_implicit():
    """θ = 1/2 without velocity forces is the position Verlet method; dampers are taken by the trapezoidal rule."""
    world = (
        '<body><joint type="slide" axis="1 0 0" stiffness="1"/><geom type="sphere" size=".1" mass="1"/></body>'
        '<body pos="0 9 0"><joint type="slide" axis="1 0 0" damping="50"/>'
        '<geom type="sphere" size=".1" mass="1"/></body>'
    )
    errors = []
    for h in (0.04, 0.02, 0.01):
        sim = simulate(model(world, gravity=(0, 0, 0)), h)
        sim.qpos[0], sim.qvel[1] = 1, 1
        sim.step(1)
        assert sim.qvel[1] == pytest.approx((1 - 25 * h) / (1 + 25 * h), abs=1e-14)
        sim.step(round(2 / h) - 1)
        errors.append(abs(sim.qpos[0] - np.cos(2)))
    assert np.diff(np.log2(errors)) == pytest.approx([-2, -2], abs=0.1)


SERVOS = """<mujoco><worldbody><body><joint name="a" axis="0 1 0" damping="0.3"/>
<inertial pos="0 0 -0.5" mass="1" diaginertia="0.1 0.08 0.02"/><body pos="0 0 -1"><joint name="b" axis="0.6 0.8 0"/>
<inertial pos="0 0.1 -0.4" mass="0.8" diaginertia="0.07 0.05 0.03"/></body></body></worldbody><actuator>
<position joint="a" kp="20" kv="2"/><position joint="b" kp="30" kv="{kv}"/></actuator></mujoco>"""


@pytest.mark.parametrize("kv", [1, 60])
def test_motion_with_servos_and_dampers_is_of_order_two(kv):
    """Two links between servos; the reference is DOP853 on MuJoCo's accelerations, as in test_order.

    60 N m s on some 0.1 kg m² would bound explicit steps at 2/600 s, a third of the longest ones here.
    """
    model = saltus.load(SERVOS.format(kv=kv))
    qpos, qvel = oracle.exact(oracle.reference(model), [1.2, -0.7], [1.0, -2.0], [1.2])
    steps, errors = (120, 240, 480, 960), []
    for n in steps:
        sim = saltus.Simulation(model, "moreau_jean", timestep=1.2 / n)
        sim.qpos[:], sim.qvel[:] = [1.2, -0.7], [1.0, -2.0]
        sim.step(n)
        errors.append(np.linalg.norm([sim.qpos - qpos[0], sim.qvel - qvel[0]]))
    assert abs(-np.polyfit(np.log(steps), np.log(errors), 1)[0] - 2) < 0.2


# ---------------------------------------------------------------- a figure


def pushed(force, h):
    """Where a humanoid is 3 s after a push (N) of 0.2 s at its chest, and how often the iteration stopped early."""
    sim = saltus.Simulation("humanoid", "moreau_jean", contact="hard", timestep=h)
    chest = sim.model.names("body").index("chest")
    sim.xfrc_applied[chest, :3] = force
    sim.step(round(0.2 / h))
    sim.xfrc_applied[:] = 0.0
    energies = []
    for _ in range(28):
        sim.step(round(0.1 / h))
        energies.append(sim.energy().sum())
    return sim, np.array(energies)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*tolerance")
@pytest.mark.parametrize(
    "push", [(0, 0, 0), (50, 0, 0), (-50, 0, 0), (0, 50, 0), (100, 0, 0), (-100, 0, 0), (200, 0, 0)]
)
def test_a_pushed_humanoid_ends_on_the_floor(push):
    """At its own step of 2 ms: it stands or falls, and lies where it lies with steps of 0.5 ms, to a few centimetres.

    Errors of order one in some twenty impacts, of 2 m/s times a step of 2 ms each, add up to centimetres. Energy has
    its greatest value before the fall, where motion is smooth and errors are of order h²: the same to a joule of 690.
    At most a step in a hundred stops before its tolerance of 1e-9.
    """
    sim, energies = pushed(push, 0.002)
    fine, same = pushed(push, 0.0005)
    assert energies.max() == pytest.approx(same.max(), abs=1.0)
    assert np.linalg.norm(sim.qpos[:3] - fine.qpos[:3]) < 0.05
    lowest = sim.data.geom_xpos[1:, 2].min()
    assert -0.01 < lowest < 0.1 and sim.qpos[2] < 1.0
    assert sim.unconverged <= 15


# ---------------------------------------------------------------- the log


def test_impacts_are_in_the_log():
    """Each bounce is one impact, at the end of its step: velocity before as in free fall, impulse m (1 + e) times it.

    The tolerances are what a step of free fall changes, g h.
    """
    h, e, mass = 1e-3, 0.8, 2.0
    sim = simulate(model(floor() + ball((0, 0, 1.1), mass=mass, name="ball")), h, restitution=e)
    sim.step(1800)
    events = sim.events
    fall = np.sqrt(2 / G)
    exact = fall * np.array([1, 1 + 2 * e, 1 + 2 * e + 2 * e * e])
    assert set(events["kind"]) == {"impact"} and len(events) == 3
    assert set(events["name"]) == {"ball"} and set(events["other"]) == {"floor"}
    assert (abs(events["time"] - exact) < 4 * h * np.arange(1, 4)).all()
    assert events["velocity"] == pytest.approx(-G * fall * e ** np.arange(3), abs=3 * G * h)
    assert events["impulse"][:, 0] == pytest.approx(-mass * (1 + e) * events["velocity"], abs=2 * mass * G * h)
    assert np.isnan(events["energy_before"]).all()


def test_changes_of_mode_are_in_the_log():
    """A block that is thrown over the floor lands, slides, sticks when v = μ g t, and lifts off when pulled up."""
    sim = simulate(model(floor(0.5) + box((0, 0, 0.1), (0.1,) * 3, 1, 0.5)), 1e-3)
    sim.qvel[0] = 1.0
    sim.step(400)
    events = sim.events
    assert set(events["kind"]) <= {"stick", "slip", "liftoff", "touchdown"} and (events["kind"] == "stick").sum() >= 4
    sticks = events["time"][events["kind"] == "stick"]
    assert abs(sticks.max() - 1 / (0.5 * G)) < 2.1e-3
    sim.xfrc_applied[1, 2] = 20.0
    sim.step(10)
    new = sim.events[len(events) :]
    assert set(new["kind"]) == {"liftoff"} and len(new) == 4 and len(set(new["name"])) == 4


def test_a_full_log_is_read_and_bounded(monkeypatch):
    """What is more than the simulation keeps is counted, with a warning."""
    monkeypatch.setattr(stepped, "MOST_EVENTS", 2)
    sim = simulate(model(floor() + ball((0, 0, 1.1))), 1e-3, restitution=0.8)
    with pytest.warns(SaltusWarning, match="more than 2 events"):
        sim.step(1800)
    assert len(sim.events) == 2 and sim.engine.event_reader.left_out == 1


# ---------------------------------------------------------------- choice


def test_it_wants_hard_contact_and_sensible_parameters():
    with pytest.raises(OptionError, match="hard"):
        saltus.Simulation(model(floor() + ball((0, 0, 1))), integrator="moreau_jean")
    with pytest.raises(OptionError, match="hard"):
        saltus.Batch(model(floor() + ball((0, 0, 1))), 2, integrator="moreau_jean")
    with pytest.raises(OptionError, match="derivatives"):
        simulate(model(floor() + ball((0, 0, 1))), 1e-3).linearize()
    for wrong in ({"theta": 0.4}, {"theta": 1.1}, {"tolerance": 0.0}):
        with pytest.raises(OptionError, match=next(iter(wrong))):
            moreau_jean(**wrong)
    known = saltus.integrators()["moreau_jean"]
    assert known.kind == "time-stepping" and known.order == 2 and moreau_jean(1.0).order == 1


def test_a_run_goes_on_from_a_snapshot_to_the_bit():
    """Forces of the step before, where the iteration begins, belong to the state."""
    boxes = "".join(box((0.02 * k, 0, 0.11 + 0.21 * k), (0.1, 0.1, 0.1), 1) for k in range(4))
    sim = simulate(model(floor() + boxes), 2e-3, tolerance=1e-4)
    sim.step(60)
    start = sim.snapshot()
    sim.step(30)
    there = sim.qpos.copy()
    sim.restore(start)
    sim.forward()
    sim.step(30)
    assert (sim.qpos == there).all()
