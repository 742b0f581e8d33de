"""Hard contact: impacts, sticking, sliding and rolling in closed form, with events located in time."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import saltus
from saltus.verify.case import Check, Curve, Data, Figure, Result, checks, family, order_check, order_figure

benchmark = family("contact_hard")

G = 9.81
EXACT = "paths are parabolas and motion is integrated exactly: rounding and the location of events, 1e-12 relative each"
LOCATED = "the location of events (1e-12 relative each) and the integrator's tolerance, 1e-8 relative"
CLOSED = "closed form"
FAR = 1000.0  # m: where a box rests that never touches anything; with it all models need the same compiled code
RADIUS = 0.1
BALL = f'<body name="ball" pos="0 0 {RADIUS}"><freejoint/><geom name="ball" size="{RADIUS}" mass="1"/></body>'
BLOCK = (
    '<body name="block" pos="0 0 0.1"><freejoint/><geom name="block" type="box" size="0.2 0.15 0.1" mass="2"/></body>'
)


def world(
    content: str,
    *,
    friction: float = 0.0,
    gravity: Sequence[float] = (0.0, 0.0, -G),
    height: float = 0.0,
) -> str:
    """Bodies and a floor at some height, all with one friction; the last joint belongs to the box far away."""
    far = (
        f'<body pos="0 0 {FAR}"><joint type="slide" axis="0 1 0"/>'
        '<geom name="far" type="box" size="1 1 1" mass="1" contype="0" conaffinity="0"/></body>'
    )
    return f"""<mujoco><option timestep="0.001" gravity="{" ".join(map(repr, gravity))}"/>
      <default><geom condim="3" friction="{friction!r} 0 0"/></default>
      <worldbody><geom name="floor" type="plane" size="9 9 0.1" pos="0 0 {height}"/>{content}{far}</worldbody>
      <contact><pair geom1="floor" geom2="far"/></contact></mujoco>"""


def slope(content: str, angle: float, friction: float) -> str:
    """A slope of some angle (rad), as a floor with gravity turned so that down the slope is +x."""
    return world(content, friction=friction, gravity=(G * math.sin(angle), 0.0, -G * math.cos(angle)))


def start(model: str, qvel: Sequence[float] = (), law: saltus.Hard | None = None, **options: Any) -> saltus.Simulation:
    """A simulation with located events whose first velocities are given."""
    sim = saltus.Simulation(model, contact=law or saltus.Hard(), **options)
    sim.qvel[: len(qvel)] = qvel
    return sim


def instants(events: Any, kind: str) -> NDArray[np.float64]:
    """Times after the start of events of a kind, s; those of one instant count once."""
    found = np.sort(events["time"][events["kind"] == kind])
    return found[(np.diff(found, prepend=-np.inf) > 1e-9) & (found > 1e-6)]


# ---------------------------------------------------------------- the bouncing ball

DROP = "closed form: t₁ = √(2h/g), impacts at t₁ (1 + 2 Σ eᵏ)"
FALLING = world(
    '<body name="drop" pos="0 0 0.1"><joint name="height" type="slide" axis="0 0 1"/>'
    '<geom name="ball" size="0.1" mass="1"/></body>'
)


def dropped(restitution: float, duration: float, sample: float) -> tuple[saltus.Simulation, saltus.Trajectory]:
    """A ball that falls 1 m."""
    sim = start(FALLING, law=saltus.Hard(restitution=restitution))
    sim.qpos[0] = 1.0
    return sim, sim.run(duration, sample=sample, progress=False)


def height_figure(trajectory: saltus.Trajectory, marks: NDArray[np.float64]) -> Figure:
    """The height over time, with the instants of the reference."""
    impacts = Curve("impacts, closed form", marks, np.zeros(len(marks)), "marks")
    return Figure("t (s)", "height (m)", [Curve("reached", trajectory.time, trajectory.qpos[:, 0]), impacts])


@benchmark("bouncing-ball", "Bouncing ball", source=DROP, allowed=EXACT)
def bouncing_ball(data: Data) -> Result:
    """A ball falls 1 m and bounces with e = 0.9: the instants of its first three impacts, and where it is after 45 of
    them, at 8.5 s."""
    sim, trajectory = dropped(0.9, 8.5, 0.01)
    wanted = [0.4515236409857309, 1.264266194760047, 1.995734493156931]
    found = checks(
        ["1st impact", "2nd impact", "3rd impact"], instants(trajectory.events, "impact")[:3], wanted, 1e-11, "s"
    )
    found.append(Check("height at 8.5 s", float(sim.qpos[0]), 5.565551008992671e-6, 1e-12, "m"))
    powers = np.cumsum(0.9 ** np.arange(1, 40))
    return Result(found, height_figure(trajectory, wanted[0] * (1 + 2 * np.concatenate(([0.0], powers)))))


@benchmark(
    "zeno",
    "Infinitely many bounces in finite time",
    source="closed form: t₁ (1 + e)/(1 - e)",
    allowed="bounces below 1e-8 m are taken as accumulated, at the extrapolated time: 1e-9 relative",
)
def zeno(data: Data) -> Result:
    """A ball that falls 1 m rests when infinitely many bounces are over; then it stays."""
    found, curves = [], []
    for restitution, wanted in ((0.5, 1.3545709229571927), (0.9, 8.5789491787288872)):
        sim, trajectory = dropped(restitution, wanted + 0.5, 0.01)
        last = float(np.max(trajectory.events["time"]))
        found.append(Check(f"e = {restitution}: last event", last, wanted, 1e-9, "s", relative=True))
        found.append(Check(f"e = {restitution}: height afterwards", float(sim.qpos[0]), 0.0, 1e-12, "m"))
        curves.append(Curve(f"e = {restitution}", trajectory.time, trajectory.qpos[:, 0]))
    return Result(found, Figure("t (s)", "height (m)", curves))


@benchmark(
    "elastic-ball",
    "Bounces without loss",
    source="closed form: after 2 n t₁ it is at the top again",
    allowed="a thousand impacts, each located to 1e-12 relative",
)
def elastic_ball(data: Data) -> Result:
    """A ball with e = 1 falls 1 m; after a hundred bounces it is where it was, with the energy that it had."""
    sim, trajectory = dropped(1.0, 200 * math.sqrt(2 / G), 0.05)
    energy = trajectory.energy.sum(axis=1) - FAR * G
    found = [
        Check("impacts", float(len(instants(trajectory.events, "impact"))), 100.0, 0.0),
        Check("height", float(sim.qpos[0]), 1.0, 1e-9, "m"),
        Check("energy, largest change", float(np.max(np.abs(energy / energy[0] - 1))), 0.0, 1e-9),
    ]
    early = trajectory.time < 10.0
    figure = Figure("t (s)", "height (m)", [Curve("reached", trajectory.time[early], trajectory.qpos[early, 0])])
    return Result(found, figure)


@benchmark(
    "moreau-order",
    "Moreau-Jean time stepping over impacts",
    source=DROP
    + "; first order at impacts: Acary & Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008",
    allowed="0.2 around order one",
)
def moreau_order(data: Data) -> Result:
    """A ball with e = 0.8 falls 1 m; time stepping applies impacts at ends of steps. The mean error of the height in
    1.5 s, over four steps."""
    steps, errors = np.array([4e-3, 2e-3, 1e-3, 5e-4]), []
    first = math.sqrt(2 / G)
    for h in steps:
        sim = start(FALLING, law=saltus.Hard(restitution=0.8), integrator="moreau_jean", timestep=float(h))
        sim.qpos[0] = 1.0
        total, count = 0.0, round(1.5 / h)
        for _ in range(count):
            sim.step()
            t, since, speed = sim.time, sim.time - first, G * first
            height = 1.0 - G * t * t / 2
            while since >= 0:
                speed *= 0.8
                height = speed * since - G * since**2 / 2
                since -= 2 * speed / G
            total += abs(float(sim.qpos[0]) - height)
        errors.append(total / count)
    return Result([order_check(steps, errors, 1)], order_figure(steps, errors, 1, y="mean error (m)"))


# ---------------------------------------------------------------- sliding, sticking, rolling


@benchmark(
    "coulomb-block", "Block that slides to rest", source="closed form: t = v/(μ g), x = v²/(2 μ g)", allowed=EXACT
)
def coulomb_block(data: Data) -> Result:
    """A block with μ = 0.2 at 3 m/s on a floor."""
    sim = start(world(BLOCK, friction=0.2), [3.0])
    trajectory = sim.run(2.0, sample=0.02, progress=False)
    found = [
        Check("stops at", float(instants(trajectory.events, "stick")[0]), 1.529051987767584, 1e-10, "s"),
        Check("distance", float(sim.qpos[0]), 2.293577981651376, 1e-10, "m"),
        Check("speed afterwards", float(np.max(np.abs(sim.qvel))), 0.0, 1e-12, "m/s"),
    ]
    line = Curve("3 - μ g t", [0, 1.529051987767584], [3, 0], "marks")
    return Result(
        found, Figure("t (s)", "speed (m/s)", [Curve("reached", trajectory.time, trajectory.qvel[:, 0]), line])
    )


@benchmark(
    "block-on-slope",
    "Block on a slope",
    source="closed form: a = g (sin θ - μ cos θ), or rest if tan θ ≤ μ",
    allowed=EXACT,
)
def block_on_slope(data: Data) -> Result:
    """μ = 0.3: at tan θ = 0.25 a block stays for 20 s, at tan θ = 0.4 it slides for 2 s."""
    sim = start(slope(BLOCK, math.atan(0.25), 0.3))
    rest = sim.qpos.copy()
    held = sim.run(20.0, sample=0.1, progress=False)
    moved = float(np.max(np.abs(sim.qpos - rest)))
    angle = math.atan(0.4)
    sliding = start(slope(BLOCK, angle, 0.3))
    run = sliding.run(2.0, sample=0.02, progress=False)
    a = G * (math.sin(angle) - 0.3 * math.cos(angle))
    found = [
        Check("tan θ = 0.25: moved in 20 s", moved, 0.0, 1e-12, "m"),
        Check("tan θ = 0.4: speed at 2 s", float(sliding.qvel[0]), 2 * a, 1e-10, "m/s"),
        Check("tan θ = 0.4: distance at 2 s", float(sliding.qpos[0]), 2 * a, 1e-10, "m"),
    ]
    t = run.time[::10]
    curves = [
        Curve("tan θ = 0.4", run.time, run.qpos[:, 0]),
        Curve("a t²/2", t, a * t * t / 2, "marks"),
        Curve("tan θ = 0.25", held.time[:21], held.qpos[:21, 0]),
    ]
    return Result(found, Figure("t (s)", "distance (m)", curves))


ROLL = "closed form: rolls from 2 (v + R ω)/(7 μ g) on, at (5 v - 2 R ω)/7, ω the backspin"


def _rolling(spin: float, when: float, speed: float) -> Result:
    sim = start(world(BALL, friction=0.2), [3.0, 0, 0, 0, spin, 0])
    trajectory = sim.run(2.0, sample=0.02, progress=False)
    found = [
        Check("rolls from", float(instants(trajectory.events, "stick")[0]), when, 1e-9, "s"),
        Check("speed", float(sim.qvel[0]), speed, 1e-7, "m/s"),
        Check("R ω", float(RADIUS * sim.qvel[4]), speed, 1e-7, "m/s"),
    ]
    v, turning = trajectory.qvel[:, 0], RADIUS * trajectory.qvel[:, 4]
    mark = Curve("closed form", [when], [speed], "marks")
    return Result(
        found, Figure("t (s)", "m/s", [Curve("v", trajectory.time, v), Curve("R ω", trajectory.time, turning), mark])
    )


@benchmark("sphere-rolls", "Sliding sphere begins to roll", source=ROLL, allowed=LOCATED)
def sphere_rolls(data: Data) -> Result:
    """A solid sphere, R = 0.1 m, μ = 0.2, slides at 3 m/s without spin."""
    return _rolling(0.0, 2 * 3.0 / (7 * 0.2 * G), 15 / 7)


@benchmark("sphere-backspin", "Sphere with backspin", source=ROLL, allowed=LOCATED)
def sphere_backspin(data: Data) -> Result:
    """The same sphere with a backspin of 60 rad/s."""
    return _rolling(-60.0, 1.310615989515072, 3 / 7)


@benchmark(
    "sphere-on-slope",
    "Sphere on a slope of 30 degrees",
    source="closed form: rolls at 5/7 g sin θ if μ ≥ 2/7 tan θ = 0.16496, otherwise g (sin θ - μ cos θ)",
    allowed=LOCATED,
)
def sphere_on_slope(data: Data) -> Result:
    """A solid sphere from rest with μ just below and just above the least friction at which it rolls."""
    least = 0.1649572197684645
    found, curves = [], []
    for friction in (least - 5e-3, least + 5e-3):
        sim = start(slope(BALL, math.pi / 6, friction))
        trajectory = sim.run(1.0, sample=0.01, progress=False)
        rolls = friction > least
        wanted = 5 / 7 * G / 2 if rolls else G * (0.5 - friction * math.cos(math.pi / 6))
        spin = wanted if rolls else 2.5 * friction * G * math.cos(math.pi / 6)
        label = f"μ = {friction:.3f}"
        found.append(Check(f"{label}: speed at 1 s", float(sim.qvel[0]), wanted, 1e-7, "m/s", relative=True))
        found.append(Check(f"{label}: R ω at 1 s", float(RADIUS * sim.qvel[4]), spin, 1e-7, "m/s", relative=True))
        curves.append(Curve(f"{label}: v", trajectory.time, trajectory.qvel[:, 0]))
        curves.append(Curve(f"{label}: R ω", trajectory.time[::10], RADIUS * trajectory.qvel[::10, 4], "points"))
    return Result(found, Figure("t (s)", "m/s", curves))


# ---------------------------------------------------------------- leaving a sphere

BIG, SMALL = 1.0, 0.1  # radii, m


def on_a_sphere(angle: float, friction: float) -> str:
    """A ball at rest on a fixed sphere, `angle` (rad) from its top."""
    x, z = (BIG + SMALL) * math.sin(angle), (BIG + SMALL) * math.cos(angle)
    ball = (
        f'<geom name="hill" size="{BIG}"/><body name="ball" pos="{x!r} 0 {z!r}">'
        f'<freejoint/><geom name="ball" size="{SMALL}" mass="1"/></body>'
    )
    return world(ball, friction=friction, height=-100.0)


def _leaving(friction: float, ratio: float, tolerance: float) -> Result:
    first, duration = 0.1, 1.6
    sim = start(on_a_sphere(first, friction))
    trajectory = sim.run(duration, sample=0.01, progress=False)
    flight = duration - float(instants(trajectory.events, "liftoff")[0])
    # back along the parabola to where it left
    x, z = sim.qpos[[0, 2]] - flight * sim.qvel[[0, 2]] - np.array([0.0, 0.5 * G * flight**2])
    cosine = float(z / (BIG + SMALL))
    found = [
        Check("cos of the angle where it leaves", cosine, ratio * math.cos(first), tolerance),
        Check("distance of the centres there", math.hypot(x, z), BIG + SMALL, 1e-6, "m", relative=True),
    ]
    turn = np.linspace(0, np.pi / 2, 100)
    circle = Curve("centres that touch", (BIG + SMALL) * np.sin(turn), (BIG + SMALL) * np.cos(turn), "dashed")
    path = Curve("reached", trajectory.qpos[:, 0], trajectory.qpos[:, 2])
    return Result(found, Figure("x (m)", "z (m)", [path, circle, Curve("leaves", [x], [z], "points")], equal=True))


@benchmark(
    "leaves-sliding",
    "Sliding down a sphere",
    source="closed form: N = 0 at cos θ = 2/3 cos θ₀ (48.19 degrees from the top)",
    allowed=LOCATED + ", over 1.6 s",
)
def leaves_sliding(data: Data) -> Result:
    """A ball without friction, released at rest 0.1 rad from the top of a fixed sphere, leaves it."""
    return _leaving(0.0, 2 / 3, 1e-6)


@benchmark(
    "leaves-rolling",
    "Rolling down a sphere",
    source="closed form: N = 0 at cos θ = 10/17 cos θ₀",
    allowed="it rolls until N = T/μ, 1e-5 of its weight before it leaves: 1e-4",
)
def leaves_rolling(data: Data) -> Result:
    """A solid ball with μ = 10⁴, released at rest 0.1 rad from the top of a fixed sphere, rolls and leaves it."""
    return _leaving(1e4, 10 / 17, 1e-4)


# ---------------------------------------------------------------- the rocking block

PLANAR = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/>'


@benchmark(
    "rocking-block",
    "Rocking block",
    source="Housner, 'The behavior of inverted pendulum structures during earthquakes', Bull. Seism. Soc. Am. 53 "
    "(1963), eq. 6: rate ratio 1 - 3/2 sin² α",
    allowed=LOCATED + "; the largest tilt lies at most half a sample of 1 ms from one, 1e-6 rad",
)
def rocking_block(data: Data) -> Result:
    """A block with half-diagonal 1 m at α = 0.2 rad, tilted by 0.1 rad and released; it does not slip and e = 0."""
    alpha, tilt = 0.2, 0.1
    b, h = math.sin(alpha), math.cos(alpha)
    body = f'<body pos="0 0 {h!r}">{PLANAR}<geom name="block" type="box" size="{b!r} 0.2 {h!r}" mass="1"/></body>'
    sim = start(world(body, friction=1.0))
    c, s = math.cos(tilt), math.sin(tilt)
    sim.qpos[:3] = b - b * c + h * s, b * s + h * c - h, tilt
    trajectory = sim.run(1.0, sample=1e-3, progress=False)
    first = float(instants(trajectory.events, "impact")[0])
    angle, energy = trajectory.qpos[:, 2], trajectory.energy.sum(axis=1)
    other = angle[(trajectory.time > first) & (trajectory.time < first + 0.48)]
    ratio = 1 - 1.5 * math.sin(alpha) ** 2
    grown = ratio**2 * (math.cos(alpha - tilt) - math.cos(alpha))
    least = G * math.cos(alpha) + G * FAR  # of the upright block, and of the box far away
    before, after = energy[[0, int(np.searchsorted(trajectory.time, first)) + 1]] - least
    found = [
        Check("energy ratio at the impact", float(after / before), ratio**2, 1e-6, relative=True),
        Check("next largest tilt", float(-np.min(other)), alpha - math.acos(math.cos(alpha) + grown), 1e-6, "rad"),
    ]
    return Result(found, Figure("t (s)", "tilt (rad)", [Curve("reached", trajectory.time[::4], angle[::4])]))


# ---------------------------------------------------------------- impacts


def balls(places: Sequence[float], masses: Sequence[float], radius: float) -> str:
    """Balls on one line without gravity, and a floor far below."""
    content = "".join(
        f'<body name="ball{i}" pos="{x!r} 0 0"><joint type="slide" axis="1 0 0"/>'
        f'<geom name="ball{i}" size="{radius}" mass="{m}"/></body>'
        for i, (x, m) in enumerate(zip(places, masses, strict=True))
    )
    return world(content, gravity=(0.0, 0.0, 0.0), height=-100.0)


def place_figure(trajectory: saltus.Trajectory, places: Sequence[float]) -> Figure:
    """Where the balls are over time."""
    curves = [Curve(f"ball {i + 1}", trajectory.time, x + trajectory.qpos[:, i]) for i, x in enumerate(places)]
    return Figure("t (s)", "x (m)", curves)


@benchmark(
    "two-spheres",
    "Two spheres of different mass",
    source="closed form: (m₁ v₁ + m₂ v₂ ∓ m e (v₁ - v₂))/(m₁ + m₂)",
    allowed=EXACT,
)
def two_spheres(data: Data) -> Result:
    """1 kg at 2 m/s meets 3 kg at -1 m/s with e = 0.7."""
    places = [0.0, 1.0]
    sim = start(balls(places, [1.0, 3.0], 0.0625), [2.0, -1.0], saltus.Hard(restitution=0.7))
    trajectory = sim.run(0.6, sample=0.01, progress=False)
    found = checks(["v₁ after", "v₂ after"], sim.qvel[:2], [-1.825, 0.275], 1e-11, "m/s")
    found.append(Check("impact at", float(instants(trajectory.events, "impact")[0]), 0.875 / 3, 1e-12, "s"))
    return Result(found, place_figure(trajectory, places))


@benchmark(
    "restitution-series",
    "Series of restitutions",
    source="Newton's law of impact: equal masses leave at e times their speed",
    allowed="1e-3 as comparisons of engines ask; located impacts are exact, so 1e-10",
)
def restitution_series(data: Data) -> Result:
    """Two spheres of 1 kg, r = 0.5 m, meet at 1 m/s each, with e from 0 to 1."""
    values, reached = [0.0, 0.25, 0.5, 0.75, 1.0], []
    for restitution in values:
        sim = start(balls([-1.0, 1.0], [1.0, 1.0], 0.5), [1.0, -1.0], saltus.Hard(restitution=restitution))
        sim.run(1.0, sample=1.0, progress=False)
        reached.append(float(sim.qvel[1]))
    found = checks([f"e = {e}: speed after" for e in values], reached, values, 1e-10, "m/s")
    curves = [Curve("reached", values, reached, "points"), Curve("e", [0, 1], [0, 1], "dashed")]
    return Result(found, Figure("e", "speed after (m/s)", curves))


@benchmark(
    "newtons-cradle",
    "Newton's cradle",
    source="conservation of momentum and energy; as many balls leave as came",
    allowed="1e-10: impulses are solved to rounding, several in a row",
)
def newtons_cradle(data: Data) -> Result:
    """Five equal balls of which one, then two come in at 1 m/s; e = 1, all contacts at once."""
    found, figure = [], None
    for name, places, after in (
        ("one", [-0.25, 0.125, 0.25, 0.375, 0.5], [0, 0, 0, 0, 1]),
        ("two", [-0.25, -0.125, 0.25, 0.375, 0.5], [0, 0, 0, 1, 1]),
    ):
        sim = start(balls(places, [1.0] * 5, 0.0625), after[::-1], saltus.Hard(restitution=1.0))
        trajectory = sim.run(0.5, sample=0.01, progress=False)
        found += checks([f"{name}: v{i + 1} after" for i in range(5)], sim.qvel[:5], after, 1e-10, "m/s")
        figure = figure or place_figure(trajectory, places)
    assert figure is not None
    return Result(found, figure)


@benchmark(
    "oblique-impact",
    "Oblique impact of a sphere",
    source="closed form: sticks if μ ≥ 2 vₜ/(7 (1 + e) vₙ) = 2/21, then vₜ = 5/7; else the impulse is μ (1 + e) vₙ",
    allowed=LOCATED,
)
def oblique_impact(data: Data) -> Result:
    """A solid sphere without spin meets the floor at 1 m/s along it and 2 m/s down, with e = 0.5 and several μ."""
    model = world(BALL.replace(f"0 0 {RADIUS}", f"0 0 {RADIUS + 0.2}"), gravity=(0.0, 0.0, 0.0))
    frictions, speeds, found = [0.0, 0.025, 0.05, 2 / 21 - 1e-3, 2 / 21 + 1e-3, 0.15], [], []
    for friction in frictions:
        sim = start(model, [1.0, 0, -2.0], saltus.Hard(restitution=0.5, friction=friction))
        sim.run(0.2, sample=0.2, progress=False)
        slip = min(friction * 3.0, 2 / 7)
        speeds.append(float(sim.qvel[0]))
        reached = [speeds[-1], float(sim.qvel[2]), float(RADIUS * sim.qvel[4])]
        label = f"μ = {friction:.4g}"
        found += checks(
            [f"{label}: vₜ", f"{label}: vₙ", f"{label}: R ω"], reached, [1 - slip, 1.0, 2.5 * slip], 1e-9, "m/s"
        )
    line = np.linspace(0, 0.15, 61)
    curves = [
        Curve("reached", frictions, speeds, "points"),
        Curve("closed form", line, 1 - np.minimum(3 * line, 2 / 7), "dashed"),
    ]
    return Result(found, Figure("μ", "vₜ after (m/s)", curves))


# ---------------------------------------------------------------- Painlevé's rod


def sliding_rod(friction: float, slope_: float = 2.0, tip: float = 1e-6) -> str:
    """A uniform rod of 2 m and 1 kg that leans to +x with tan θ = 2 from the floor; its tip is its lower end."""
    c = 1 / math.hypot(1, slope_)
    s = slope_ * c
    rod = f"""<body pos="{c!r} 0 {s + tip!r}">
      <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint axis="0 -1 0"/>
      <inertial pos="0 0 0" mass="1" diaginertia="{1 / 3!r} {1 / 3!r} {1 / 3!r}"/>
      <geom name="tip" type="sphere" size="{tip!r}" pos="{-c!r} 0 {-s!r}"/>
    </body>"""
    return world(rod, friction=friction)


@benchmark(
    "painleve",
    "Painlevé's paradox",
    source="Painlevé, C. R. Acad. Sci. 121 (1895); Génot & Brogliato, Eur. J. Mech. A 18 (1999): no acceleration is "
    "consistent above μ = (1 + 3 cos² θ)/(3 sin θ cos θ) = 4/3",
    allowed="below the paradox, 1e-2, as forces change by up to 1e-3 in 1e-4 s; above, an error must be reported",
)
def painleve(data: Data) -> Result:
    """The tip of a leaning rod (tan θ = 2) slides on the floor at 1 m/s: with μ = 1 its accelerations follow Coulomb's
    law, N = m g/(1 + 3 cos θ (cos θ - μ sin θ)); with μ just above 4/3 the inconsistency is reported as such."""
    duration, c = 1e-4, 1 / math.sqrt(5)
    frictions, reached = [0.0, 0.25, 0.5, 0.75, 1.0], []
    for friction in frictions:
        sim = start(sliding_rod(friction), [-1.0, 0.0, 0.0])
        sim.run(duration, sample=duration, progress=False)
        reached.append(float(sim.qvel[1] / duration + G))
    line = np.linspace(0, 1.1, 60)
    law = G / (1 + 3 * c * (c - line * 2 * c))
    at = G / (1 + 3 * c * (c - np.array(frictions) * 2 * c))
    found = checks([f"μ = {mu:g}: normal force" for mu in frictions], reached, at, 1e-2, "N", relative=True)
    found.append(Check("reported at μ = 1.3 (1: yes)", reported(1.3), 0.0, 0.0))
    found.append(Check("reported at μ = 1.35 (1: yes)", reported(1.35), 1.0, 0.0))
    curves = [Curve("reached", frictions, reached, "points"), Curve("closed form", line, law, "dashed")]
    return Result(found, Figure("μ", "normal force (N)", curves))


def reported(friction: float) -> float:
    """1 where the first instants of the sliding rod end in an error that names the paradox, else 0."""
    try:
        start(sliding_rod(friction), [-1.0, 0.0, 0.0]).run(1e-5, sample=1e-5, progress=False)
    except saltus.EventError as error:
        return float("painlev" in str(error).lower())
    return 0.0
