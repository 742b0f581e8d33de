"""Soft contact, MuJoCo's law: closed forms that follow from a₁ + d (b v + k r) = (1 - d) a₀.

Notation: r penetration (negative inside), d impedance, b damping and k stiffness of the reference acceleration; of
`solref` (T, z): b = 2/(d T), k = 1/(d² T² z²); of (-k', -b'): as given. See MuJoCo's documentation, Computation: Solver
parameters.
"""

import numpy as np

import saltus
from saltus.verify.case import Check, Curve, Data, Figure, Result, checks, family

benchmark = family("contact_soft")

G = 9.81
LAW = "MuJoCo documentation, Computation: Solver parameters; "


def on_a_plane(
    solref: tuple[float, float], *, height: float = 0.1, masses: tuple[float, ...] = (1.0,), timestep: float = 0.002
) -> str:
    """Spheres of radius 0.1 m on vertical slides beside each other above a plane; impedance 0.9 throughout."""
    law = f'solref="{solref[0]} {solref[1]}" solimp="0.9 0.9 1" condim="1"'
    balls = "".join(
        f'<body pos="0 {k} {height}"><joint type="slide" axis="0 0 1"/><geom size="0.1" mass="{mass}" {law}/></body>'
        for k, mass in enumerate(masses)
    )
    return f"""<mujoco><option timestep="{timestep}" tolerance="1e-15"/><worldbody>
      <geom type="plane" size="1 1 1" {law}/>{balls}</worldbody></mujoco>"""


@benchmark(
    "rest-penetration",
    "Penetration at rest",
    source=LAW + "closed form: g (1 - d) (T z)², or g (1 - d)/k', of whatever mass",
    allowed="after four seconds transients are below rounding: 1e-9 relative",
)
def rest_penetration(data: Data) -> Result:
    """Spheres of 0.01, 1 and 100 kg on a plane under three laws, d = 0.9; semi-implicit Euler."""
    found, curves = [], []
    for solref, factor in (((0.02, 1), 0.02**2), ((0.04, 0.7), 0.028**2), ((-2000, -60), 1 / 2000)):
        masses = (0.01, 1.0, 100.0)
        sim = saltus.Simulation(on_a_plane(solref, masses=masses), "euler")
        path = []
        for _ in range(200):
            path.append(-float(sim.qpos[1]))
            sim.step(10)
        names = [f"solref {solref[0]} {solref[1]}, {mass:g} kg" for mass in masses]
        found += checks(names, -sim.data.contact["dist"], [G * 0.1 * factor] * 3, 1e-9, "m", relative=True)
        curves.append(Curve(f"solref {solref[0]} {solref[1]}", 0.02 * np.arange(25), path[:25]))
    return Result(found, Figure("t (s)", "penetration (m)", curves))


@benchmark(
    "soft-drop",
    "Drop into a stiff damper",
    source=LAW + "r'' = -(1 - d) g - b r' - k r until the force would pull, integrated in 25 digits",
    allowed="contact is noticed up to a step h late: times by h, speeds by h (g + b v), positions by their products",
)
def soft_drop(data: Data) -> Result:
    """A ball falls 0.5 m onto solref (-5000, -20), d = 0.9; rk4 in steps of 2 µs: impact, greatest depth, release,
    height of the bounce."""
    h = 2e-6
    sim = saltus.Simulation(on_a_plane((-5000, -20), height=0.6, timestep=h), "rk4")
    sim.step(round(0.3192 / h))
    states = []
    for _ in range(round(0.043 / h)):
        sim.step()
        states.append((sim.time, sim.qpos[0] + 0.5, sim.qvel[0]))
    time, r, v = np.array(states).T
    impact = int(np.flatnonzero(r < 0)[0])
    falling = np.diff(v) / h < -G + 1e-6
    release = int(r.argmin() + np.flatnonzero(falling[r.argmin() :])[0])
    found = [
        Check("impact", float(time[impact]), 0.3192754284070505, h, "s"),
        Check("deepest", float(-r.min()), 0.03626714006021883, 2e-6, "m"),
        Check("release after", float(time[release] - time[impact]), 0.04184154394311854, 3 * h, "s"),
        Check("speed at release", float(v[release]), 2.074959724060195, 2e-4, "m/s"),
        Check("height of the bounce", float(r[release] + v[release] ** 2 / (2 * G)), 0.2129082575600263, 5e-5, "m"),
    ]
    marks = Curve("release, reference", [0.3192754284070505 + 0.04184154394311854], [float(r[release])], "marks")
    return Result(found, Figure("t (s)", "r (m)", [Curve("reached", time[::100], r[::100]), marks]))


@benchmark(
    "soft-elastic",
    "Bounces without damping",
    source=LAW + "conservation of energy: without damping a ball comes back to where it fell from",
    allowed="contact begins and ends between steps: a step's work of the gravity that contact takes away, 0.1 %",
)
def soft_elastic(data: Data) -> Result:
    """A ball falls 0.5 m onto solref (-5000, 0); rk4 in steps of 0.1 ms: the tops of its first four bounces."""
    sim = saltus.Simulation(on_a_plane((-5000, 0), height=0.6, timestep=1e-4), "rk4")
    tops: list[float] = []
    path = []
    for k in range(30_000):
        rising = sim.qvel[0] > 0
        if k % 100 == 0:
            path.append(float(sim.qpos[0]) + 0.5)
        before = float(sim.qpos[0]) + 0.5
        sim.step()
        if rising and sim.qvel[0] <= 0:
            tops.append(before)
    found = checks([f"top {k + 1}" for k in range(4)], tops[:4], [0.5] * 4, 1e-3, "m", relative=True)
    return Result(found, Figure("t (s)", "height (m)", [Curve("reached", 1e-2 * np.arange(300), path)]))


CREEP = {(-5000, -20): 0.01269507416227864, (0.02, 1): 0.002539014832455729}


def _creep(cone: str, factor: float) -> Result:
    angle = np.radians(15)
    found, curves = [], []
    for solref, speed in CREEP.items():
        law = f'solref="{solref[0]} {solref[1]}" solimp="0.9 0.9 1" friction="0.6 0.1 0.1"'
        joints = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
        sim = saltus.Simulation(f"""<mujoco>
          <option cone="{cone}" timestep="5e-4" gravity="{G * np.sin(angle)} 0 {-G * np.cos(angle)}"/><worldbody>
          <geom type="plane" size="1 1 1" {law}/><body pos="0 0 0.1">{joints}<geom size="0.1" mass="2" {law}/></body>
          </worldbody></mujoco>""")
        path = []
        for _ in range(100):
            path.append(float(sim.qvel[0]))
            sim.step(80)
        name = f"solref {solref[0]} {solref[1]}"
        found.append(Check(f"{name}: creep", float(sim.qvel[0]), speed * factor, 1e-9, "m/s", relative=True))
        t = 0.04 * np.arange(100)
        curves += [
            Curve(name, t, path),
            Curve("_closed form" if found[1:] else "closed form", t[::10], [speed * factor] * 10, "marks"),
        ]
    return Result(found, Figure("t (s)", "speed (m/s)", curves))


SLIDES = "closed form: sticking contacts creep at (1 - d)/d g sin θ/b"


@benchmark(
    "creep-elliptic",
    "Creep on a slope, elliptic cone",
    source=LAW + SLIDES,
    allowed="steady after four seconds: 1e-9 relative",
)
def creep_elliptic(data: Data) -> Result:
    """A block on a slope of 15 degrees with μ = 0.6, held by soft friction under two laws."""
    return _creep("elliptic", 1.0)


@benchmark(
    "creep-pyramidal",
    "Creep on a slope, pyramidal cone",
    source=LAW + SLIDES + ", times 1 + μ²",
    allowed="steady after four seconds: 1e-9 relative",
)
def creep_pyramidal(data: Data) -> Result:
    """A block on a slope of 15 degrees with μ = 0.6, held by soft friction with pyramidal cones under two laws."""
    return _creep("pyramidal", 1 + 0.6**2)
