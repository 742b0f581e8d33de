"""Impacts in closed form: a rocking block, spheres that meet, and a rod for which there is no acceleration."""

import math
from collections.abc import Sequence

import numpy as np

import saltus
from saltus.verify.case import Check, Curve, Data, Figure, Result, checks, family
from saltus.verify.families.contact_hard.scenes import (
    BALL,
    EXACT,
    FAR,
    LOCATED,
    RADIUS,
    G,
    instants,
    start,
    world,
)

benchmark = family("contact_hard")

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
    least = G * math.cos(alpha) + G * FAR  # energy of the upright block, and of the box far away
    before, after = energy[[0, int(np.searchsorted(trajectory.time, first)) + 1]] - least
    found = [
        Check("energy ratio at the impact", float(after / before), ratio**2, 1e-6, relative=True),
        Check("next largest tilt", float(-np.min(other)), alpha - math.acos(math.cos(alpha) + grown), 1e-6, "rad"),
    ]
    return Result(found, Figure("t (s)", "tilt (rad)", [Curve("reached", trajectory.time[::4], angle[::4])]))


# ---------------------------------------------------------------- impacts


def balls(places: Sequence[float], masses: Sequence[float], radius: float) -> str:
    """Model of balls on one line without gravity, and a floor far below."""
    content = "".join(
        f'<body name="ball{i}" pos="{x!r} 0 0"><joint type="slide" axis="1 0 0"/>'
        f'<geom name="ball{i}" size="{radius}" mass="{m}"/></body>'
        for i, (x, m) in enumerate(zip(places, masses, strict=True))
    )
    return world(content, gravity=(0.0, 0.0, 0.0), height=-100.0)


def place_figure(trajectory: saltus.Trajectory, places: Sequence[float]) -> Figure:
    """Figure of the balls' positions over time."""
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
    """Return 1 where the first instants of the sliding rod end in an error that names the paradox, else 0."""
    try:
        start(sliding_rod(friction), [-1.0, 0.0, 0.0]).run(1e-5, sample=1e-5, progress=False)
    except saltus.EventError as error:
        return float("painlev" in str(error).lower())
    return 0.0
