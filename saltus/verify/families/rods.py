"""Rods: bending, buckling, vibration, torsion and contact of discrete elastic rods, against beams, bars, cylinders."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh
from scipy.optimize import root_scalar
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

import saltus
from saltus.verify.case import Check, Curve, Data, Figure, Result, family

benchmark = family("rods")

YOUNG, POISSON, RADIUS = 1e6, 0.3, 0.01  # Pa, -, m
BENDING = YOUNG * np.pi * RADIUS**4 / 4  # E I (N m²)
TORSION = YOUNG / (2 * (1 + POISSON)) * np.pi * RADIUS**4 / 2  # G J (N m²)
ALONE = '<contact contype="0" conaffinity="0" selfcollide="none"/>'
ELASTIC = f'<elasticity young="{YOUNG}" poisson="{POISSON}"/>'
SECOND = "error of the segments, of second order in their length"
Places = NDArray[np.float64]


def particles(
    places: Places, axes: str, held: int = 2, mass: float = 0.1, stretch: float = 0.0, closed: bool = False
) -> saltus.Simulation:
    """A rod through places [n, 3] (m): particles on slides along `axes`, of which the first ones are held."""
    lines = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}
    slides = "".join(f'<joint type="slide" axis="{lines[axis]}"/>' for axis in axes)
    bodies = "".join(
        f"""<body name="b{i}" pos="{x} {y} {z}">{slides if i >= held else ""}
        <inertial pos="0 0 0" mass="{mass / 2 if i == len(places) - 1 else mass}" diaginertia="1 1 1"/></body>"""
        for i, (x, y, z) in enumerate(places)
    )
    names, pairs = (
        "".join(f"b{i} " for i in range(len(places))),
        "".join(f"{i} {i + 1} " for i in range(len(places) - 1)),
    )
    pairs += f"{len(places) - 1} 0" if closed else ""
    return saltus.Simulation(f"""<mujoco><option gravity="0 0 0"/><worldbody>{bodies}</worldbody><deformable>
      <flex name="rod" dim="1" radius="{RADIUS}" body="{names}" element="{pairs}">{ALONE}<edge stiffness="{stretch}"/>
      {ELASTIC}</flex></deformable></mujoco>""")


def twisting(places: Places) -> saltus.Simulation:
    """A rod through places [n, 3] (m) whose segments twist, the first of them clamped."""
    points = " ".join(f"{x:.17g}" for x in places.ravel())
    pairs = "".join(f"{i} {i + 1} " for i in range(len(places) - 1))
    return saltus.Simulation(
        f"""<mujoco><option gravity="0 0 0"/><worldbody><flexcomp name="rod" dim="1" type="direct" point="{points}"
        element="{pairs}" radius="{RADIUS}" mass="1">{ALONE}{ELASTIC}<pin id="0 1"/></flexcomp></worldbody></mujoco>""",
        "euler",
    )


def shaft(count: int, law: str) -> saltus.Simulation:
    """A rod of 1 m along x from middle to middle of its end segments, clamped to the world and to a body that turns.

    Joints: across the rod at inner points, then of the body, then of the segments that twist.
    """
    spacing = 1 / (count - 1)
    mass = '<inertial pos="0 0 0" mass=".1" diaginertia="1 1 1"/>'
    slides = '<joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/>'
    inner = "".join(f'<body name="v{i}" pos="{i * spacing} 0 0">{slides}{mass}</body>' for i in range(2, count - 1))
    hinges = "".join(f'<body><joint name="rod_twist_{i}" axis="1 0 0"/>{mass}</body>' for i in range(1, count - 1))
    names = "".join(f"v{i} " for i in range(2, count - 1))
    vertices = f"0 0 0 {spacing} 0 0 {'0 0 0 ' * (count - 3)} 0 0 0 {spacing} 0 0"
    pairs = "".join(f"{i} {i + 1} " for i in range(count))
    return saltus.Simulation(
        f"""<mujoco><option gravity="0 0 0"/><worldbody>{inner}<body name="end" pos="{(count - 1) * spacing} 0 0">
        <joint axis="1 0 0"/>{mass}</body>{hinges}</worldbody><deformable><flex name="rod" dim="1" radius="{RADIUS}"
        body="world world {names} end end" vertex="{vertices}" element="{pairs}">{ALONE}{law}</flex></deformable>
        </mujoco>""",
        "euler",
    )


def force(sim: saltus.Simulation, q: Places) -> Places:
    """Forces of springs [nv] at positions q."""
    sim.qpos[:] = q
    sim.forward()
    return sim.data.qfrc_spring.copy()


def stiffness(sim: saltus.Simulation, q: Places, step: float = 1e-6) -> Places:
    """Derivative [nv, nv] of the forces of springs at q, with the sign of a stiffness, by central differences."""
    columns = [(force(sim, q - step * e) - force(sim, q + step * e)) / (2 * step) for e in np.eye(len(q))]
    return np.array(columns).T


def root(f: Callable[[float], float], low: float, high: float) -> float:
    """The root of f between two numbers, by Brent's method."""
    return float(root_scalar(f, bracket=(low, high)).root)


def line(count: int) -> Places:
    """Places of a cantilever of 1 m along x, from the middle of its first segment, which is held."""
    return np.outer(np.arange(count + 1) / (count - 0.5), [1.0, 0.0, 0.0])


# ---------------------------------------------------------------- bending


def elastica(load: float) -> tuple[float, float]:
    """Deflection and projected length of a cantilever over its length, for a load P L²/(E I) at its end."""

    def excess(k: float) -> float:
        return ellipk(k * k) - ellipkinc(np.arcsin(1 / (k * np.sqrt(2))), k * k) - np.sqrt(load)

    k = root(excess, np.sqrt(0.5) + 1e-12, 1 - 1e-12)
    angle = np.arcsin(1 / (k * np.sqrt(2)))
    down = 1 - 2 / np.sqrt(load) * (ellipe(k * k) - ellipeinc(angle, k * k))
    return float(down), float(np.sqrt(2 * (2 * k * k - 1) / load))


@benchmark(
    "elastica",
    "Euler's elastica: a cantilever under a large load",
    source="Bisshopp & Drucker, 'Large deflection of cantilever beams', Quart. Appl. Math. 3 (1945)",
    allowed=f"{SECOND}: 2e-3 of the length for 24",
)
def large_deflection(data: Data) -> Result:
    """P L²/(E I) = 1, 3 and 10, on 24 segments that hardly stretch."""
    count, loads = 24, (1.0, 3.0, 10.0)
    places = line(count)
    sim = particles(places, "xz", stretch=3e3)
    q, before, found, down, along = np.zeros(sim.model.nv), 0.0, [], [], []
    for load in loads:
        pull = np.zeros(sim.model.nv)
        for part in np.linspace(0.05, 1.0, 20):
            pull[-1] = (before + part * (load - before)) * BENDING
            for _ in range(12):
                q = q + np.linalg.solve(stiffness(sim, q), force(sim, q) + pull)
        before = load
        wanted = elastica(load)
        down.append(float(q[-1]))
        along.append(float(places[-1, 0] + q[-2] - 0.5 / (count - 0.5)))
        found += [
            Check(f"deflection, P L²/(E I) = {load:g}", down[-1], wanted[0], 2e-3, "m"),
            Check(f"projected length, P L²/(E I) = {load:g}", along[-1], wanted[1], 2e-3, "m"),
        ]
    path = np.array([elastica(x) for x in np.linspace(0.05, 10, 60)])
    curves = [Curve("reached", along, down, "points"), Curve("elastica", path[:, 1], path[:, 0], "dashed")]
    return Result(found, Figure("x of the end (m)", "deflection (m)", curves))


@benchmark(
    "column",
    "Buckling of a column, clamped and free",
    source="Timoshenko & Gere, 'Theory of Elastic Stability' (1961), section 2.2: P = π² E I/(4 L²)",
    allowed=f"{SECOND}: 2e-3 for 24",
)
def column(data: Data) -> Result:
    """The load at which the stiffness across the column vanishes, on 24 segments that hardly shorten."""
    count, stretch = 24, 1e4
    sim = particles(line(count), "xy", stretch=stretch)
    spacing, free = 1 / (count - 0.5), count - 1

    def softest(load: float) -> float:
        q = np.zeros(sim.model.nv)
        q[0::2] = -load / stretch * np.arange(1, free + 1)
        return float(eigvalsh(stiffness(sim, q)[1::2, 1::2])[0])

    wanted = np.pi**2 * BENDING / 4
    reached = root(softest, 0.5 * wanted, 1.5 * wanted)
    loads = np.linspace(0, 1.4, 15)
    curves = [Curve("softest mode", loads, [softest(x * wanted) for x in loads]), Curve("Euler", [1.0], [0.0], "marks")]
    check = Check("critical load", reached, wanted, 2e-3, "N", relative=True)
    return Result([check], Figure("P over Euler's load", f"stiffness (N/m), segments of {spacing:.3g} m", curves))


@benchmark(
    "cantilever-frequencies",
    "Natural frequencies of a cantilever in bending",
    source="Timoshenko, 'Vibration Problems in Engineering' (1937): ω = (β L)² √(E I/(ρ A L⁴)), cos β L cosh β L = -1",
    allowed=f"{SECOND}, with lumped masses: 1e-2 for 40",
)
def frequencies(data: Data) -> Result:
    """The first three, on 40 segments."""
    count, mass = 40, 0.1
    sim = particles(line(count), "y", mass=mass)
    masses = np.full(sim.model.nv, mass)
    masses[-1] /= 2
    rates = np.sqrt(eigvalsh(stiffness(sim, np.zeros(sim.model.nv)), np.diag(masses))[:3])
    roots = [root(lambda x: np.cos(x) + 1 / np.cosh(x), 3 * k + 0.5, 3 * k + 3.5) for k in range(3)]
    wanted = np.square(roots) * np.sqrt(BENDING / (mass * (count - 0.5)))
    found = [Check(f"ω{k + 1}", float(rates[k]), float(wanted[k]), 1e-2, "rad/s", relative=True) for k in range(3)]
    curves = [Curve("reached", [1, 2, 3], rates, "points"), Curve("Timoshenko", [1, 2, 3], wanted, "dashed")]
    return Result(found, Figure("mode", "ω (rad/s)", curves))


# ---------------------------------------------------------------- torsion


@benchmark(
    "twisted-bar",
    "Twist of a bar under a torque",
    source="Timoshenko & Goodier, 'Theory of Elasticity' (1970), section 103: θ = T L/(G J)",
    allowed="linear segments have no error: rounding, 1e-9",
)
def twisted_bar(data: Data) -> Result:
    """A bar of eight segments, the first clamped, with a torque at the last; from middle to middle of segments."""
    sim = twisting(np.outer(np.arange(9) * 0.1, [1.0, 0.0, 0.0]))
    torque, joints = 1e-3, 7
    matrix = stiffness(sim, np.zeros(sim.model.nv))[-joints:, -joints:]
    reached = np.linalg.solve(matrix, np.append(np.zeros(joints - 1), torque))
    lengths = 0.1 * np.arange(1, joints + 1)
    wanted = torque * lengths / TORSION
    check = Check("twist of the end", float(reached[-1]), float(wanted[-1]), 1e-9, "rad", relative=True)
    curves = [Curve("reached", lengths, reached, "points"), Curve("T L/(G J)", lengths, wanted, "dashed")]
    return Result([check], Figure("L (m)", "θ (rad)", curves))


@benchmark(
    "greenhill",
    "Greenhill's problem: a clamped rod buckles by twist",
    source="Greenhill, 'On the strength of shafting' (1883): M = 2 x E I/L, tan x = x, x = 4.4934, for clamped ends",
    allowed=f"{SECOND}: 1e-2 for 32",
)
def greenhill(data: Data) -> Result:
    """The moment at which the straight, twisted rod of 32 segments loses its stiffness; G is 2 E, against unwinding."""
    count, shear = 32, 2 * YOUNG
    sim = shaft(count, f'<elasticity young="{YOUNG}" poisson="{POISSON}" shear="{shear}"/>')
    torsion, across = shear * np.pi * RADIUS**4 / 2, 2 * (count - 3)
    inner = np.delete(np.arange(sim.model.nv), across)  # all but the turn of the body

    def softest(moment: float) -> float:
        turns = moment / torsion / (count - 1) * np.arange(1, count)
        q: Places = np.concatenate([np.zeros(across), turns[-1:], turns[:-1]]).astype(float)
        matrix = stiffness(sim, q)[np.ix_(inner, inner)]
        return float(np.linalg.eigvalsh((matrix + matrix.T) / 2)[0])

    x = root(lambda x: np.tan(x) - x, 4.4, 4.6)
    wanted = 2 * x * BENDING
    reached = root(softest, 0.7 * wanted, 1.2 * wanted)
    moments = np.linspace(0, 1.2, 13)
    curves = [
        Curve("softest mode", moments, [softest(s * wanted) for s in moments]),
        Curve("Greenhill", [1.0], [0.0], "marks"),
    ]
    check = Check("critical moment", reached, wanted, 1e-2, "N m", relative=True)
    return Result([check], Figure("M over Greenhill's moment", "stiffness", curves))


# ---------------------------------------------------------------- curved rods


BOW = (
    "Timoshenko, 'Strength of Materials' (1955), part I, section 80: a quarter circle, clamped, under a load P across "
    "its plane at the free end, δ = P R³ (π/(4 E I) + (3 π/4 - 2)/(G J))"
)


def bow(count: int) -> Places:
    """Places of a quarter circle of radius 1 m, from the middle of its first segment, which is held."""
    angles = (np.arange(count + 1) - 0.5) * np.pi / 2 / (count - 0.5)
    return np.stack([np.sin(angles), 1 - np.cos(angles), 0 * angles], axis=1)


def _bow(sim: saltus.Simulation, end: int) -> Result:
    load = np.zeros(sim.model.nv)
    load[end] = 1.0
    moved = np.linalg.lstsq(stiffness(sim, np.zeros(sim.model.nv)), load, rcond=1e-12)[0]
    wanted = np.pi / (4 * BENDING) + (3 * np.pi / 4 - 2) / TORSION
    check = Check("δ/P", float(moved[end]), float(wanted), 1e-2, "m/N", relative=True)
    curves = [Curve("reached", [1.0], [moved[end]], "points"), Curve("closed form", [1.0], [wanted], "marks")]
    return Result([check], Figure("R (m)", "δ/P (m/N)", curves))


@benchmark("bow", "A curved bar under a load across its plane", source=BOW, allowed=f"{SECOND}: 1e-2 for 24")
def curved_bar(data: Data) -> Result:
    """24 segments that twist, at rest in a quarter circle."""
    sim = twisting(bow(24))
    return _bow(sim, 3 * 23 - 1)


@benchmark(
    "ring",
    "A thin ring under two opposite forces",
    source="Timoshenko, 'Strength of Materials' (1955), part I, section 79: δ = (π/4 - 2/π) P R³/(E I)",
    allowed=f"{SECOND}: 5e-3 for 48",
)
def ring(data: Data) -> Result:
    """48 segments that hardly stretch, at rest in a circle of radius 1 m."""
    count = 48
    angles = 2 * np.pi * np.arange(count) / count
    places = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    sim = particles(places, "xy", held=0, stretch=1e4, closed=True)
    load = np.zeros(sim.model.nv)
    load[0], load[count] = -1.0, 1.0
    moved = np.linalg.lstsq(stiffness(sim, np.zeros(sim.model.nv)), load, rcond=1e-8)[0]
    wanted = (np.pi / 4 - 2 / np.pi) / BENDING
    check = Check("δ/P", float(moved[count] - moved[0]), float(wanted), 5e-3, "m/N", relative=True)
    shape = places[:, :2] + moved.reshape(-1, 2) * 0.3 / wanted
    curves = [
        Curve("at rest", places[:, 0], places[:, 1], "dashed"),
        Curve("loaded", shape[:, 0], shape[:, 1], "points"),
    ]
    return Result([check], Figure("x (m)", "y (m)", curves))


# ---------------------------------------------------------------- contact

MASS, POINTS, GRAVITY, THICK = 0.5, 6, 9.81, 0.02  # kg, -, m/s², m


def lying(slope: float, integrator: str, edge: str) -> saltus.Simulation:
    """A straight rod of five segments that twist, on a plane that falls along y by an angle (rad)."""
    down, across = GRAVITY * np.sin(slope), GRAVITY * np.cos(slope)
    return saltus.Simulation(
        f"""<mujoco><option gravity="0 {down} {-across}" integrator="{integrator}" timestep=".001"/><worldbody>
        <geom type="plane" size="9 9 .1"/>
        <flexcomp name="rod" dim="1" type="grid" count="{POINTS} 1 1" spacing=".1 .1 .1"
        pos="0 0 {THICK}" radius="{THICK}" mass="{MASS}"><contact selfcollide="none"/>{edge}{ELASTIC}</flexcomp>
        </worldbody></mujoco>"""
    )


@benchmark(
    "resting-rod",
    "A rod rests on a floor",
    source="statics: each of n equal points bears m g/n",
    allowed="what is left of the motion after a second: 1e-6",
)
def resting_rod(data: Data) -> Result:
    """A straight rod on soft contact: the forces of constraints on its points."""
    sim = lying(0.0, "Euler", '<edge stiffness="2000" damping="2"/>')
    sim.run(1.0, sample=1.0)
    borne, wanted = sim.data.qfrc_constraint[2 : 3 * POINTS : 3].copy(), MASS * GRAVITY / POINTS
    worst = float(borne[np.argmax(abs(borne - wanted))])
    points = np.arange(float(POINTS))
    curves = [Curve("borne", points, borne, "points"), Curve("m g/n", points, np.full(POINTS, wanted), "dashed")]
    checks = [
        Check("whole weight", float(borne.sum()), MASS * GRAVITY, 1e-6, "N", relative=True),
        Check("point farthest from its share", worst, wanted, 1e-6, "N", relative=True),
    ]
    return Result(checks, Figure("point", "force (N)", curves))


@benchmark(
    "rolling-rod",
    "A rod rolls down a slope",
    source="Goldstein, 'Classical Mechanics' (2002), section 2.4: a solid cylinder without slip gains 2/3 g sin α",
    allowed="creep of soft contact, 2e-3",
)
def rolling_rod(data: Data) -> Result:
    """A slope of 10 degrees, from 0.1 s on, when the rod has settled: friction turns its segments by their joints."""
    slope = np.radians(10)
    sim = lying(slope, "discrete", '<edge equality="true"/>')
    sim.run(0.1, sample=0.1)
    start = sim.qvel.copy()
    run = sim.run(0.4, sample=0.02)
    along, turning = run.qvel[:, 1 : 3 * POINTS : 3].mean(axis=1), run.qvel[:, 3 * POINTS :].mean(axis=1)
    wanted = float(2 / 3 * GRAVITY * np.sin(slope))
    gained = float(along[-1] - start[1 : 3 * POINTS : 3].mean()) / 0.4
    times = run.time - run.time[0]
    curves = [Curve("along the slope", times, along), Curve("-r dθ/dt", times, -THICK * turning, "points")]
    checks = [
        Check("acceleration", gained, wanted, 2e-3, "m/s²", relative=True),
        Check("turn by the way", float(-THICK * turning[-1] / along[-1]), 1.0, 2e-3, "", relative=True),
    ]
    return Result(checks, Figure("time (s)", "speed (m/s)", curves))
