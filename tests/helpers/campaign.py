"""Campaigns: many random runs of located hard contact, each judged by what holds without knowing the motion.

`PYTHONPATH=tests:. python -m helpers.campaign scenes --count 2000 --seed 0` prints a line for each failure with the
seed that reproduces it, and a summary. Campaigns: scenes (bodies thrown at obstacles or each other), piles, mechanisms.
Judges: no error but Painlevé's; distances between geoms at samples, MuJoCo's or in closed form; sides of obstacles;
energy that never grows; rest. `certificates` is a campaign of its own, see `helpers.certificates`. Lengths in m, masses
in kg, times in s.
"""

import argparse
import math
import signal
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import mujoco
import numpy as np

import saltus
from helpers import campaign_worlds as worlds
from helpers import certificates

G = 9.81
SAMPLES = 200
OVERLAP = 2e-4  # m: deeper is a failure; MuJoCo's distances are exact to 1e-6, steps over dense events to g h²
DENSE_STEP = 1e-3  # s
PATIENCE = 60  # s of wall time after which a run is given up, once all is compiled
SLOW = {"scenes": 20.0, "piles": 5.0, "mechanisms": 20.0}
#: Energy that an integrator may gain by itself, relative to the largest kinetic energy, before steps are made finer.
DRIFT = {"dopri5": 1e-6}
ROUGH = 1e-4
STEPPED = 1e-4  # the same over dense events: what the correction of positions by g h² lifts


@dataclass
class Instance:
    """A run: the world, how it starts and for how long, and what must hold at its end."""

    xml: str
    start: Callable[[saltus.Simulation], None]
    duration: float
    restitution: float = 0.0
    #: Geoms of which none may be on the far side: normal, thickness and half-width of the obstacle at the origin.
    side: tuple[np.ndarray, float, float] | None = None
    inside: float = math.inf  # largest coordinate of bodies' centres in a room
    rests: bool = False
    timestep: float = 0.002
    about: str = ""


@dataclass
class Outcome:
    """The outcome of a run: failures as (what, by how much), and the wall time, s."""

    failures: list[tuple[str, str]] = field(default_factory=list)
    seconds: float = 0.0
    events: int = 0


# ---------------------------------------------------------------- what is run


def scene(seed: int) -> Instance:
    """One to three bodies thrown at an obstacle, or at each other in free fall."""
    rng = np.random.default_rng([seed, 1])
    kind = str(rng.choice([*worlds.OBSTACLES, "each other", "each other"]))
    thickness, size = 10 ** rng.uniform(-3, 0), 10 ** rng.uniform(-1.7, -0.7)
    speed, spin = 10 ** rng.uniform(-1, 2), 10 ** rng.uniform(-1, 2)
    friction = float(rng.choice([0.0, rng.uniform(0, 1)], p=[0.3, 0.7]))
    restitution = float(rng.choice([0.0, rng.uniform(0, 0.9)], p=[0.3, 0.7]))
    fixed, assets, normal = ("", "", np.zeros(3)) if kind == "each other" else worlds.obstacle(rng, kind, thickness)
    count = int(rng.integers(2, 4)) if kind == "each other" else int(rng.choice([1, 2]))
    gravity = "0 0 0" if kind == "each other" and rng.random() < 0.5 else f"0 0 {-G}"
    # bodies in a row along the normal, or around a point
    bodies, poses, velocities, away = "", [], [], 0.05
    shapes = [str(rng.choice(worlds.SHAPES)) for _ in range(count)]
    for k, shape in enumerate(shapes):
        geom, more, reach = worlds.solid(rng, shape, f"b{k}", min(size, 0.1))
        assets += more
        mass = 10 ** rng.uniform(-1, 1)
        bodies += f'<body name="b{k}"><freejoint/>{geom} mass="{mass}"/></body>'
        aim = rng.normal(size=3)
        if kind == "each other":
            turn = 2 * math.pi * k / count
            place = 0.5 * np.array([math.cos(turn), math.sin(turn), 0.0]) + [0, 0, 5]
            velocity = speed * rng.uniform(0.3, 1) * -np.array([math.cos(turn), math.sin(turn), 0.0])
            place = place + 0.3 * min(reach, 0.1) * aim
        elif kind == "room":
            place = np.array([0.25 * (2 * k - 1), 0.0, 0.5])
            velocity = speed * aim / np.linalg.norm(aim)
        else:
            place = (away + reach) * normal
            away += 2 * reach + 0.05
            velocity = speed * (-normal + rng.uniform(0, 1) * aim / np.linalg.norm(aim))
        turning = rng.normal(size=3)
        poses += [*place, *worlds.quaternion(rng)]
        velocities += [*velocity, *(spin * turning / np.linalg.norm(turning))]
    xml = worlds.world(fixed + bodies, assets, friction=friction, gravity=gravity)

    def start(sim: saltus.Simulation) -> None:
        sim.qpos[1:], sim.qvel[1:] = poses, velocities

    side = None
    if kind not in ("each other", "room"):
        wide = {"height field": 2.0, "tiles": 3.0, "plane": math.inf}.get(kind, 4.0)
        side = normal, thickness, wide
    about = f"{kind} {thickness:.2g} m, {'+'.join(shapes)}, {speed:.3g} m/s, {spin:.3g} rad/s"
    about += f", e {restitution:.2f}, mu {friction:.2f}"
    inside = 0.5 if kind == "room" else math.inf
    return Instance(xml, start, min(1.0, 20 / speed), restitution, side, inside, about=about)


def pile(seed: int) -> Instance:
    """Two to eight bodies dropped upon each other."""
    rng = np.random.default_rng([seed, 2])
    count = int(rng.integers(2, 9))
    boxes = rng.random() < 0.3
    friction = float(rng.choice([0.0, rng.uniform(0, 1)], p=[0.2, 0.8]))
    restitution = float(rng.choice([0.0, rng.uniform(0, 0.9)], p=[0.4, 0.6]))
    size, spread = rng.uniform(0.04, 0.15), rng.uniform(0, 0.1)
    fixed = '<geom type="plane" size="1 1 1"/>'
    if rng.random() < 0.5:
        fixed = '<geom type="box" size="3 3 .1" pos="0 0 -.1"/>'
    bodies, assets, poses, height, shapes = "", "", [], 0.0, []
    for k in range(count):
        shape = "box" if boxes else str(rng.choice(worlds.SHAPES))
        geom, more, reach = worlds.solid(rng, shape, f"b{k}", size)
        assets += more
        bodies += f'<body name="b{k}"><freejoint/>{geom} mass="{rng.uniform(0.2, 2)}"/></body>'
        turn = np.array([1.0, 0, 0, 0]) + rng.choice([0.0, 0.1, 1.0]) * rng.normal(size=4)
        height += reach + 0.01
        poses += [*(spread * rng.normal(size=2)), height, *(turn / np.linalg.norm(turn))]
        height += reach + 0.01
        shapes.append(shape)

    def start(sim: saltus.Simulation) -> None:
        sim.qpos[1:] = poses

    rests = boxes and friction > 0.2 and restitution < 0.7
    about = f"{'+'.join(shapes)} on a {'box' if 'box' in fixed else 'plane'}, e {restitution:.2f}, mu {friction:.2f}"
    side = np.array([0.0, 0.0, 1.0]), 0.2, 3.0
    xml = worlds.world(fixed + bodies, assets, friction=friction)
    return Instance(xml, start, 3.0, restitution, side, rests=rests, about=about)


def mechanism(seed: int) -> Instance:
    """A passive chain or leg with what mechanisms have, dropped on an obstacle."""
    rng = np.random.default_rng([seed, 3])
    kind = str(rng.choice(["plane", "box", "mesh", "height field", "tiles"]))
    fixed, assets, _ = worlds.obstacle(rng, kind, 0.2)
    loop = rng.random() < 0.3
    links, length, radius = (3 if loop else int(rng.integers(1, 5))), rng.uniform(0.1, 0.3), 0.02
    springs, limits, dry, damped = (rng.random(4) < [0.4, 0.6, 0.6, 0.3]).tolist()
    foot = str(rng.choice(worlds.SHAPES))
    geom, more, _ = worlds.solid(rng, foot, "foot", rng.uniform(0.03, 0.08))
    assets += more
    touch = 'contype="2" conaffinity="1"'

    def joint(k: int, kind: str) -> str:
        words = f'<joint name="j{k}" type="{kind}"'
        if kind != "ball":
            words += f' axis="{text_axis(rng, loop)}"'
        if limits and rng.random() < 0.7:
            span = (0.0, rng.uniform(0.1, 1.5)) if kind == "ball" else (-rng.uniform(0, 1), rng.uniform(0, 1))
            span = tuple(0.1 * x for x in span) if kind == "slide" else span
            words += f' range="{span[0]} {span[1]}"'
        words += f' stiffness="{10 ** rng.uniform(-1, 2)}"' if springs and rng.random() < 0.6 else ""
        words += f' frictionloss="{10 ** rng.uniform(-2, 0.5)}"' if dry and rng.random() < 0.7 else ""
        words += f' damping="{10 ** rng.uniform(-3, -1)}"' if damped else ""
        words += f' armature="{10 ** rng.uniform(-5, -2)}"' if rng.random() < 0.3 else ""
        return words + "/>"

    base = str(rng.choice(["free", "leg"]))
    root = (
        "<freejoint/>"
        if base == "free"
        else '<joint name="up" type="slide" axis="0 0 1"/><joint name="over" type="slide" axis="1 0 0"/>'
    )
    trunk = f'<geom name="base" type="box" size=".06 .05 .04" mass="{rng.uniform(0.5, 5)}" {touch}/>'
    chain = f'<body name="base" pos="0 0 2">{root}{trunk}'
    end, kinds = "", []
    for k in range(links):
        kinds.append("hinge" if loop else str(rng.choice(["hinge", "ball", "slide"], p=[0.6, 0.25, 0.15])))
        step = rng.uniform(-0.5, 0.5)
        place = text_place(-length if k else -0.04)
        chain += f'<body name="l{k}" pos="{place}" euler="0 {step} 0">{joint(k, kinds[-1])}'
        chain += (
            f'<geom type="capsule" fromto="0 0 0 0 0 {-length}" size="{radius}" mass="{rng.uniform(0.05, 1)}" {touch}/>'
        )
        end += "</body>"
    chain += f'<body name="toe" pos="0 0 {-length}">{geom} mass="{rng.uniform(0.02, 0.5)}" {touch}/></body>'
    chain += end + "</body>"
    scalar = [f"j{k}" for k, kind in enumerate(kinds) if kind != "ball"]
    more_xml, what = "", []
    if loop:
        how = str(rng.choice(["connect", "weld", "joint"]))
        if how == "joint":
            more_xml += f'<equality><joint joint1="j0" joint2="j1" polycoef="0 {rng.uniform(-1, 1)} 0 0 0"/></equality>'
        elif how == "connect":
            more_xml += '<equality><connect body1="toe" body2="base" anchor="0 0 0"/></equality>'
        else:
            more_xml += '<equality><weld body1="toe" body2="l1"/></equality>'
        what.append(how)
    if len(scalar) > 1 and rng.random() < 0.4:
        coefs = "".join(f'<joint joint="{name}" coef="{rng.uniform(-1, 1)}"/>' for name in scalar)
        words = f'range="{-rng.uniform(0, 0.5)} {rng.uniform(0, 0.5)}"' if rng.random() < 0.6 else ""
        words += f' frictionloss="{10 ** rng.uniform(-2, 0.5)}"' if rng.random() < 0.5 else ""
        words += f' stiffness="{10 ** rng.uniform(-1, 2)}"' if rng.random() < 0.4 else ""
        more_xml += f"<tendon><fixed {words}>{coefs}</fixed></tendon>"
        what.append("tendon")
    friction = float(rng.choice([0.0, rng.uniform(0, 1)], p=[0.2, 0.8]))
    restitution = float(rng.choice([0.0, rng.uniform(0, 0.9)], p=[0.6, 0.4]))
    xml = worlds.world(fixed + chain, assets, more_xml, friction=friction, timestep=0.001)
    speeds, turn, above = rng.normal(size=6), worlds.quaternion(rng), rng.uniform(0.005, 0.3)

    def start(sim: saltus.Simulation) -> None:
        root = 1  # after the joint that keeps features
        if base == "free":
            sim.qpos[root + 3 : root + 7] = turn
            sim.qvel[root : root + 6] = speeds * [0.5, 0.5, 0.5, 2, 2, 2]
        else:
            sim.qvel[root : root + 2] = speeds[:2]
        lower(sim, root + 2 if base == "free" else root, above)

    for name, there in (("springs", springs), ("limits", limits), ("dry", dry), ("damped", damped)):
        what += [name] if there else []
    about = f"{base} {'+'.join(kinds)}, {foot} foot on {kind}, {' '.join(what)}, e {restitution:.2f}, mu {friction:.2f}"
    return Instance(xml, start, 1.5, restitution, timestep=0.001, about=about)


def text_axis(rng: np.random.Generator, planar: bool) -> str:
    """A joint's axis: across the plane of a loop, or any."""
    return "0 1 0" if planar or rng.random() < 0.5 else worlds.text(rng.normal(size=3))


def text_place(below: float) -> str:
    """A place `below` the origin along z."""
    return f"0 0 {below!r}"


def lower(sim: saltus.Simulation, z: int, above: float) -> None:
    """Set the height qpos[z] so that the lowest gap to what stands still is about `above`, by MuJoCo's distances."""
    m = sim.model.mujoco
    d = mujoco.MjData(m)
    d.qpos[:] = sim.qpos
    low, high = 0.0, 4.0  # of the height, less what it is at first
    first = d.qpos[z]
    for _ in range(20):
        middle = 0.5 * (low + high)
        d.qpos[z] = first - middle - 0.0
        mujoco.mj_kinematics(m, d)
        if least_distance(m, d, above) < above:
            high = middle
        else:
            low = middle
    sim.qpos[z] = first - low


# ---------------------------------------------------------------- how it is judged


def pairs(m: mujoco.MjModel) -> list[tuple[int, int]]:
    """Pairs of geoms that may collide, without those that are kept for their features."""
    found = []
    for a in range(m.ngeom):
        for b in range(a + 1, m.ngeom):
            near = (m.geom_contype[a] | m.geom_contype[b]) & 4 == 0
            one, other = m.body_weldid[m.geom_bodyid[a]], m.body_weldid[m.geom_bodyid[b]]
            meet = (m.geom_contype[a] & m.geom_conaffinity[b]) or (m.geom_contype[b] & m.geom_conaffinity[a])
            linked = 0 not in (one, other) and (
                m.body_weldid[m.body_parentid[one]] == other or m.body_weldid[m.body_parentid[other]] == one
            )
            if near and meet and one != other and not linked:
                found.append((a, b))
    return found


def least_distance(m: mujoco.MjModel, d: mujoco.MjData, reach: float) -> float:
    """The least of MuJoCo's distances of pairs that may collide, `reach` at most; d has the poses."""
    least, ends = reach, np.zeros(6)
    fields = False
    for a, b in pairs(m):
        if mujoco.mjtGeom.mjGEOM_HFIELD in (m.geom_type[a], m.geom_type[b]):
            fields = True
            continue
        between = np.linalg.norm(d.geom_xpos[a] - d.geom_xpos[b]) - m.geom_rbound[a] - m.geom_rbound[b]
        if min(m.geom_rbound[a], m.geom_rbound[b]) > 0 and between > reach:
            continue
        if m.geom_type[a] == mujoco.mjtGeom.mjGEOM_PLANE:  # where MuJoCo's distance of standing cylinders errs by 1 cm
            dist = height_over_plane(m, d, a, b)
        else:
            dist = mujoco.mj_geomDistance(m, d, a, b, reach, ends)
        least = min(least, dist)
    if fields:
        mujoco.mj_collision(m, d)
        kept = [c.dist for c in d.contact if mujoco.mjtGeom.mjGEOM_HFIELD in m.geom_type[c.geom]]
        if not kept and reach > 0:  # how high above the field's highest point
            least = min(least, _height_over_fields(m, d))
        least = min([least, *kept])
    return least


def height_over_plane(m: mujoco.MjModel, d: mujoco.MjData, plane: int, geom: int) -> float:
    """Height of a geom's lowest point over a plane, in closed form."""
    normal = d.geom_xmat[plane].reshape(3, 3)[:, 2]
    u = np.abs(local := d.geom_xmat[geom].reshape(3, 3).T @ normal)
    size, kind, types = m.geom_size[geom], m.geom_type[geom], mujoco.mjtGeom
    if kind == types.mjGEOM_MESH:
        mesh = m.geom_dataid[geom]
        first = m.mesh_vertadr[mesh]
        below = -(m.mesh_vert[first : first + m.mesh_vertnum[mesh]] @ local).min()
    elif kind == types.mjGEOM_ELLIPSOID:
        below = np.linalg.norm(size * u)
    elif kind == types.mjGEOM_BOX:
        below = size @ u
    elif kind == types.mjGEOM_CYLINDER:
        below = size[0] * math.hypot(u[0], u[1]) + size[1] * u[2]
    else:
        below = size[0] + (size[1] * u[2] if kind == types.mjGEOM_CAPSULE else 0.0)
    return float((d.geom_xpos[geom] - d.geom_xpos[plane]) @ normal - below)


def _height_over_fields(m: mujoco.MjModel, d: mujoco.MjData) -> float:
    """A lower bound on the distance of moving geoms from the top of a height field."""
    field = int(np.flatnonzero(m.geom_type == mujoco.mjtGeom.mjGEOM_HFIELD)[-1])
    top = d.geom_xpos[field, 2] + m.hfield_size[m.geom_dataid[field], 2]
    moving = (m.body_weldid[m.geom_bodyid] > 0) & (m.geom_contype & 4 == 0)
    return float((d.geom_xpos[moving, 2] - m.geom_rbound[moving]).min() - top)


def judge(made: Instance, sim: saltus.Simulation, trajectory: saltus.record.Trajectory) -> list[tuple[str, str]]:
    """Failures of a run: overlaps, sides, energy, rest."""
    found = [*overlaps(made, sim, trajectory), *jumps(made, trajectory)]
    if made.rests:
        speed = np.abs(trajectory.qvel[-1]).max()
        found += [("moves", f"{speed:.2g}")] if speed > 1e-3 else []
    return found


def overlaps(made: Instance, sim: saltus.Simulation, trajectory: saltus.record.Trajectory) -> list[tuple[str, str]]:
    """Bodies that lie in each other, or are on the far side of an obstacle."""
    m = sim.model.mujoco
    d, deepest, at = mujoco.MjData(m), 0.0, 0.0
    dense = trajectory.events[trajectory.events["kind"] == "dense"]
    bodies = [k for k in range(1, m.nbody) if m.body_weldid[k] and m.geom_contype[m.body_geomadr[k]] & 4 == 0]
    beyond, passed = dict.fromkeys(bodies, False), []
    for time_, qpos, qvel in zip(trajectory.time, trajectory.qpos, trajectory.qvel, strict=True):
        d.qpos[:] = qpos
        mujoco.mj_kinematics(m, d)
        depth = least_distance(m, d, 0.0)
        if ((dense["since"] <= time_) & (time_ <= dense["time"])).any():  # as far as bodies come in a step
            depth += 2 * DENSE_STEP * np.abs(qvel).max()
        if depth < deepest:
            deepest, at = depth, time_
        for k in bodies:
            if np.abs(d.xipos[k] - [0, 0, 0.5]).max() > made.inside and not beyond[k]:
                beyond[k] = True
                passed.append(("through", f"wall at {time_:.4f}"))
            if made.side is None or beyond[k]:
                continue
            normal, _, wide = made.side
            height = d.xipos[k] @ normal
            across = np.abs(d.xipos[k] - height * normal)
            if height < 0:
                beyond[k] = True
                if across.max() < wide - 0.2 and "height field" not in made.about:
                    passed.append(("through", f"{height:.3g} at {time_:.4f}"))
    if deepest < -OVERLAP:
        passed.append(("overlap", f"{deepest:.3g} at {at:.4f}"))
    return passed


def jumps(made: Instance, trajectory: saltus.record.Trajectory) -> list[tuple[str, str]]:
    """Energy gained at impacts and over phases of time stepping."""
    found, events = [], trajectory.events
    scale = trajectory.energy[:, 1].max() + 1e-9
    for kind, most in (("impact", 1e-8), ("dense", STEPPED)):
        chosen = events[events["kind"] == kind]
        gains = chosen["energy_after"] - chosen["energy_before"]
        gains = gains[np.isfinite(gains)]
        if len(gains) and gains.max() > most * scale:
            found.append((f"{kind} gains", f"{gains.max():.3g} of {scale:.3g}"))
    return found


def gain(trajectory: saltus.record.Trajectory) -> float:
    """The largest growth of energy between any two samples, relative to the largest kinetic energy."""
    energy = trajectory.energy.sum(axis=1)
    least = np.minimum.accumulate(energy)
    return float((energy - least).max() / (trajectory.energy[:, 1].max() + 1e-9))


def simulated(
    made: Instance, integrator: str, finer: float = 1.0
) -> tuple[saltus.Simulation, saltus.record.Trajectory]:
    """The run, with steps `finer` times as short."""
    sim = saltus.Simulation(
        made.xml,
        integrator,
        contact=saltus.Hard(restitution=made.restitution),
        timestep=made.timestep / finer,
    )
    made.start(sim)
    return sim, sim.run(made.duration, sample=made.duration / SAMPLES)


def attempt(made: Instance, integrator: str, slow: float) -> Outcome:
    """Run and judge."""
    outcome = Outcome()
    begun = time.perf_counter()
    alarm = getattr(signal, "alarm", lambda seconds: None)  # without one, no world is given up
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _give_up)
    alarm(PATIENCE if slow < math.inf else 0)
    try:
        sim, trajectory = simulated(made, integrator)
        outcome.seconds = time.perf_counter() - begun
        alarm(0)
        outcome.events = len(trajectory.events)
        outcome.failures = judge(made, sim, trajectory)
        outcome.failures += energy(made, integrator, trajectory)
    except Exception as error:  # every error is a failure
        outcome.seconds = time.perf_counter() - begun
        if "Painlev" not in str(error):
            outcome.failures.append((type(error).__name__, " ".join(str(error).split())[:160]))
    finally:
        alarm(0)
    if outcome.seconds > slow:
        outcome.failures.append(("slow", f"{outcome.seconds:.3g} s, {outcome.events} events"))
    return outcome


def energy(made: Instance, integrator: str, trajectory: saltus.record.Trajectory) -> list[tuple[str, str]]:
    """Energy gained beyond what the integrator's error explains: that shrinks with the step."""
    coarse = gain(trajectory)
    stepped = (trajectory.events["kind"] == "dense").any()
    if coarse < max(DRIFT.get(integrator, ROUGH), STEPPED if stepped else 0.0):
        return []
    if integrator in DRIFT:
        return [("energy", f"{coarse:.3g}")]
    _, again = simulated(made, integrator, 4.0)
    fine = gain(again)
    return [] if fine < max(0.4 * coarse, ROUGH) else [("energy", f"{coarse:.3g}, then {fine:.3g}")]


def _give_up(*_: object) -> None:
    raise TimeoutError(f"no end within {PATIENCE} s")


CAMPAIGNS = {
    "scenes": (scene, ("dopri5", "rk4", "dopri5", "implicitfast")),
    "piles": (pile, ("dopri5",)),
    "mechanisms": (
        mechanism,
        ("dopri5", "rk4", "implicitfast", "velocity_verlet", "implicit_midpoint", "moreau_jean"),
    ),
}


def campaign(name: str, count: int, seed: int = 0, integrators: tuple[str, ...] = ()) -> list[tuple[int, Outcome]]:
    """Run `count` instances from `seed` on, printing failures and a summary."""
    make, usual = CAMPAIGNS[name]
    chosen = integrators or usual
    warmed, outcomes, kinds = set(), [], Counter()
    for k in range(seed, seed + count):
        integrator = chosen[k % len(chosen)]
        made = make(k)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if integrator not in warmed:  # compiled before it is timed
                attempt(make(k), integrator, math.inf)
                warmed.add(integrator)
            outcome = attempt(made, integrator, SLOW[name])
        outcomes.append((k, outcome))
        for what, amount in outcome.failures:
            kinds[what] += 1
            print(f"{k} {integrator}: {what} {amount} ({outcome.seconds:.2f} s; {made.about})", flush=True)
    seconds = np.array([outcome.seconds for _, outcome in outcomes])
    failed = sum(bool(outcome.failures) for _, outcome in outcomes)
    times = f"median {np.median(seconds):.3f} s, worst {seconds.max():.2f} s"
    print(f"{name}: {count} runs, {failed} failed {dict(kinds)}; {times}")
    return outcomes


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=[*CAMPAIGNS, "certificates"])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--integrators", nargs="*", default=())
    given = parser.parse_args()
    if given.name == "certificates":
        certificates.campaign(given.count, given.seed)
        return
    campaign(given.name, given.count, given.seed, tuple(given.integrators))


if __name__ == "__main__":
    main()
