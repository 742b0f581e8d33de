"""Scenes under located hard contact: bodies that settle, and random ones from five templates.

A scene is MJCF, a law, a state and how long it lasts. All of them need the same kernels: with
`share_layout(monkeypatch)` one compilation serves them all. A slope is a level floor with gravity turned, so
that the normal is z everywhere. What is measured of a run (how deep bodies are in the floor, whether forces push and
lie in their cones) is found without Saltus: positions of geoms are MuJoCo's, heights of the lowest points of boxes,
cylinders, capsules and spheres closed forms.

Lengths in m, masses in kg, times in s, angles in rad.
"""

import gc
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import mujoco
import numpy as np

import saltus

G = 9.81
#: Features that some scenes have; those of the bundled humanoid are among them.
KINDS = ("box", "cylinder", "capsule", "chain", "foot")
BOX, CYLINDER, CAPSULE, SPHERE = (
    getattr(mujoco.mjtGeom, f"mjGEOM_{name}").value for name in ("BOX", "CYLINDER", "CAPSULE", "SPHERE")
)
#: m/s: at rest is what is slower than a bounce of `bounce_height`, below which contacts close; of the humanoid, whose
#: damped joints creep, what is slower than 2 cm/s (at 130 N it nearly falls and is slow to stand).
STILL, CREEPING = math.sqrt(2 * G * 1e-8), 0.02


@dataclass(frozen=True)
class Scene:
    """A simulation from a state for a time, and what is known of its end.

    `push`: seconds and a force (N, world axes) on a body, before the rest of the duration; `rests`: it must lie still
    at the end, slower than `still` (m/s); `events`: how many it may log.
    """

    name: str
    model: str
    law: saltus.Hard
    duration: float
    qpos: tuple[float, ...] | None = None  # None: where the keyframe or the file says
    qvel: tuple[float, ...] | None = None
    key: str | None = None
    rests: bool = False
    still: float = STILL
    sample: float = 0.02
    friction: float = math.nan  # of all pairs; nan: the model's
    gravity: tuple[float, float, float] = (0.0, 0.0, -G)
    push: tuple[float, str, tuple[float, float, float]] | None = None
    control: Callable[[], Any] | None = None
    events: int = 1 << 30
    about: dict[str, Any] = field(default_factory=dict)

    def simulation(self, integrator: Any = None) -> saltus.Simulation:
        """A simulation of it at its start."""
        control = None if self.control is None else self.control()
        return self.start(saltus.Simulation(self.model, integrator, contact=self.law, control=control))

    def start(self, sim: saltus.Simulation) -> saltus.Simulation:
        """The simulation put at the scene's start."""
        sim.reset(self.key)
        for name, value in (("qpos", self.qpos), ("qvel", self.qvel)):
            if value is not None:
                getattr(sim, name)[:] = value
        return sim

    def run(self, sim: saltus.Simulation, **options: Any) -> list[saltus.Trajectory]:
        """The recordings of its parts: one, or with a push two."""
        options = {"sample": self.sample, "progress": False} | options
        if self.push is None:
            return [sim.run(self.duration, **options)]
        seconds, body, force = self.push
        pushed = sim.model.names("body").index(body)
        sim.xfrc_applied[pushed, :3] = force
        first = sim.run(seconds, **options)
        sim.xfrc_applied[pushed] = 0.0
        return [first, sim.run(self.duration - seconds, **options)]

    def measured(self, patience: float = 300.0) -> "Outcome":
        """The scene's run after compilation, given up with an AssertionError after `patience` s."""
        sim = self.simulation()
        sim.run(1e-3, sample=5e-4, progress=False)  # compiles
        sim.forward()
        self.start(sim)
        began = time.monotonic()

        def watch(_: float) -> None:
            assert time.monotonic() - began < patience, f"{self.name}: {len(sim.events)} events up to {sim.time} s"

        gc.disable()  # what other tests left is not to be looked through now
        try:
            recordings = self.run(sim, progress=watch)
        finally:
            gc.enable()
        return Outcome(self, sim, recordings, np.concatenate([t.events for t in recordings]))


@dataclass(frozen=True)
class Outcome:
    """A scene that has run: its simulation at the end, recordings, and the log of all."""

    scene: Scene
    sim: saltus.Simulation
    recordings: list[saltus.Trajectory]
    events: np.ndarray

    def at(self, kind: str) -> np.ndarray:
        """Instants of the events of a kind, s."""
        return self.events["time"][self.events["kind"] == kind]


def scene_xml(content: str, friction: float, gravity: tuple[float, float, float] = (0.0, 0.0, -G)) -> str:
    """Bodies that touch the floor alone."""
    g = " ".join(map(repr, gravity))
    return f"""<mujoco>
  <compiler angle="radian"/>
  <option timestep="0.002" gravity="{g}"/>
  <default><geom condim="3" friction="{friction!r} 0 0" contype="1" conaffinity="0"/></default>
  <worldbody><geom name="floor" type="plane" size="9 9 0.1" contype="0" conaffinity="1"/>{content}</worldbody>
</mujoco>"""


def solid(kind: str, size: tuple[float, ...], mass: float) -> str:
    """A free body of one geom."""
    numbers = " ".join(map(repr, size))
    return f'<body name="body"><freejoint/><geom name="body" type="{kind}" size="{numbers}" mass="{mass!r}"/></body>'


def about_y(angle: float) -> tuple[float, float, float, float]:
    """The quaternion of a turn about y."""
    return math.cos(angle / 2), 0.0, math.sin(angle / 2), 0.0


def rotation(quat: Any) -> np.ndarray:
    """The matrix of a quaternion."""
    out = np.zeros(9)
    mujoco.mju_quat2Mat(out, np.asarray(quat, float))
    return out.reshape(3, 3)


def below(kind: int, size: Any, up: np.ndarray) -> float:
    """Distance of a geom's lowest point below its centre; `up` [3] is the world's z along the geom's axes.

    Support functions along -z: of a box Σ sᵢ |uᵢ|, of a cylinder r √(1 - u₃²) + l |u₃|, of a capsule r + l |u₃|.
    """
    if kind == BOX:
        return float(np.abs(up) @ size)
    if kind == CYLINDER:
        return float(size[0] * math.sqrt(max(0.0, 1.0 - up[2] ** 2)) + size[1] * abs(up[2]))
    if kind == CAPSULE:
        return float(size[0] + size[1] * abs(up[2]))
    if kind == SPHERE:
        return float(size[0])
    raise ValueError(f"no lowest point of geom type {kind}")


class Floor:
    """Height of a mechanism's lowest point above the floor z = 0."""

    def __init__(self, model: saltus.Model | mujoco.MjModel):
        self.model = model if isinstance(model, mujoco.MjModel) else model.mujoco
        self.data = mujoco.MjData(self.model)
        kinds = self.model.geom_type
        touches = (self.model.geom_contype | self.model.geom_conaffinity) != 0
        self.geoms = [g for g in range(self.model.ngeom) if kinds[g] != 0 and touches[g] and self.model.geom_bodyid[g]]

    def gap(self, qpos: Any) -> float:
        """The height of the lowest point of all geoms that can touch; negative: how deep it is."""
        self.data.qpos[:] = qpos
        mujoco.mj_kinematics(self.model, self.data)
        z, R = self.data.geom_xpos[:, 2], self.data.geom_xmat.reshape(-1, 3, 3)
        sizes, kinds = self.model.geom_size, self.model.geom_type
        return min(z[g] - below(kinds[g], sizes[g], R[g, 2]) for g in self.geoms)


# ------------------------------------------------------------ what is measured of recordings


def deepest(model: saltus.Model, recordings: list[saltus.Trajectory]) -> float:
    """The deepest that anything is in the floor at a sample, m; 0: nothing is."""
    floor = Floor(model)
    return max(0.0, *(-floor.gap(q) for t in recordings for q in t.qpos))


def cone_excess(t: saltus.Trajectory, friction: float) -> float:
    """Excess of forces at the floor over their cones, N: max(|T| - μ N, -N); the normal is z."""
    force = t.contact_force
    excess = np.maximum(np.hypot(force[..., 0], force[..., 1]) - friction * force[..., 2], -force[..., 2])
    return float(np.max(excess, initial=-np.inf))


def gained(t: saltus.Trajectory) -> float:
    """The most that the energy rises above an earlier value, J."""
    energy = t.energy.sum(axis=1)
    return float(np.max(energy - np.minimum.accumulate(energy)))


def energy_jump(t: saltus.Trajectory) -> str:
    """Samples around the largest rise of energy: time, energies, positions, velocities, for messages."""
    energy = t.energy.sum(axis=1)
    high = int(np.argmax(energy - np.minimum.accumulate(energy)))
    low = int(np.argmin(energy[: high + 1]))
    shown = sorted({k for at in (low, high) for k in range(max(at - 1, 0), min(at + 2, len(energy)))})
    return "; ".join(f"{k}: {t.time[k]!r} {t.energy[k]!r} {t.qpos[k]!r} {t.qvel[k]!r}" for k in shown)


def gained_at_impacts(t: saltus.Trajectory) -> float:
    """The most energy that an impact adds, J."""
    impacts = t.events[np.isin(t.events["kind"], ["impact"])]
    return float(np.max(impacts["energy_after"] - impacts["energy_before"], initial=-np.inf))


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays are equal to the bit, nan included; of structured ones, field by field."""
    if a.dtype.names:
        return a.shape == b.shape and all(same_bits(a[name], b[name]) for name in a.dtype.names)
    return a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def fastest(sim: saltus.Simulation, length: float = 0.1) -> float:
    """The largest of all velocities, m/s, where angular ones act on a lever of a length."""
    speeds = np.abs(sim.qvel)
    return float(np.max(np.where(turning(sim.model), length * speeds, speeds)))


def turning(model: saltus.Model) -> np.ndarray:
    """Mask of velocities [nv] that are angular."""
    found = np.zeros(model.nv, bool)
    for kind, adr in zip(model.jnt_type, model.jnt_dofadr, strict=True):
        found[adr + 3 : adr + 6] |= kind == mujoco.mjtJoint.mjJNT_FREE.value
        found[adr] |= kind == mujoco.mjtJoint.mjJNT_HINGE.value
    return found


def depth_of_steps(model: saltus.Model, recordings: list[saltus.Trajectory], h: float, lever: float = 0.2) -> float:
    """Depth (m) to which steps of h seconds may go: they know velocities at their ends alone, which a h²/2 escapes.

    a: the acceleration of points, gravity and ω² r with the fastest turning and a lever r (m).
    """
    fastest = max(np.abs(t.qvel[:, turning(model)]).max(initial=0.0) for t in recordings)
    return 0.5 * (G + fastest**2 * lever) * h * h


# ------------------------------------------------------------ bodies that settle

EDGE = 0.2  # of the boxes
DROP = 0.5  # how high their centres are at first
TILT = math.radians(20)
FEW_EVENTS = 500  # in the log of one that settles


def dropped(name: str, kind: str, size: tuple[float, ...], tilt: float, restitution: float, mass: float = 1.0) -> Scene:
    """A body at rest at the height `DROP`, turned about y."""
    law = saltus.Hard(restitution=restitution)
    xml = scene_xml(solid(kind, size, mass), 0.8)
    pose = (0.0, 0.0, DROP, *about_y(tilt))
    return Scene(name, xml, law, 4.0, pose, rests=True, friction=0.8, events=FEW_EVENTS)


def three_boxes(apart: float = 0.02, restitution: float = 0.0) -> Scene:
    """Three boxes one above the other, a little apart, and the lowest as far above the floor."""
    boxes, pose = "", []
    for k in range(3):
        boxes += f'<body name="box{k}"><freejoint/><geom name="box{k}" type="box" size="0.1 0.1 0.1" mass="1"'
        boxes += ' contype="1" conaffinity="1"/></body>'
        pose += [0.0, 0.0, 0.1 + apart + k * (EDGE + apart), 1.0, 0.0, 0.0, 0.0]
    law = saltus.Hard(restitution=restitution)
    name, xml = "stack of three boxes", scene_xml(boxes, 0.8)
    return Scene(name, xml, law, 3.0, tuple(pose), rests=True, friction=0.8, events=FEW_EVENTS)


def stacked_gap(qpos: Any) -> float:
    """The least gap between neighbours of the three boxes, m: of the upper's corners above the lower's top face."""
    poses, least = np.reshape(qpos, (3, 7)), math.inf
    corners = 0.5 * EDGE * np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1)
    for low, high in pairwise(poses):
        world = high[:3, None] + rotation(high[3:]) @ corners
        local = rotation(low[3:]).T @ (world - low[:3, None])
        least = min(least, local[2].min() - 0.5 * EDGE)
    return least


ROCKING = 0.35, 0.2  # of the block below: angle of its diagonal with the upright; tilt at first


def rocking_scene(alpha: float = ROCKING[0], tilt: float = ROCKING[1]) -> Scene:
    """The rocking block of `hard_models`: e = 0 and, at μ = 2, no slip (its impacts need less than 0.3)."""
    from helpers import hard_models

    pose = tuple(hard_models.tilted(alpha, tilt))
    xml = scene_xml(_rocking_body(alpha), 2.0)
    name, law = "rocking block", saltus.Hard()
    return Scene(name, xml, law, 6.0, pose, rests=True, friction=2.0, events=FEW_EVENTS)


def _rocking_body(alpha: float, diagonal: float = 1.0) -> str:
    b, h = diagonal * math.sin(alpha), diagonal * math.cos(alpha)
    return f"""<body name="block" pos="0 0 {h!r}">
      <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
      <joint name="tilt" axis="0 1 0"/>
      <geom name="block" type="box" size="{b!r} 0.2 {h!r}" mass="1"/>
    </body>"""


def rocking_times(alpha: float, tilt: float, count: int, diagonal: float = 1.0) -> tuple[list[float], float]:
    """When the block's first impacts are, and when infinitely many are over; from the nonlinear equation, 1e-20 exact.

    About an edge θ'' = -p² sin(α - θ), p² = 3 g/(4 R), so θ'² = w² - 2 p² (cos(α - θ) - cos α) with w the speed at
    θ = 0. From there to the largest tilt and back it takes T(w) = 2 ∫ dθ/θ'; each impact makes w smaller by Housner's
    ratio r exactly. With θ = θ_m (1 - u²) the integrand is smooth. Once w is small T(w) = 2 w/(p² sin α)
    (1 + O(w²)), and what is left is r/(1 - r) of the last one.
    """
    import mpmath as mp

    from helpers.hard_models import housner_ratio

    with mp.workdps(40):
        alpha, tilt = mp.mpf(alpha), mp.mpf(tilt)
        p2, ratio = 3 * mp.mpf(G) / (4 * mp.mpf(diagonal)), 1 - mp.mpf(3) / 2 * mp.sin(alpha) ** 2
        assert abs(ratio - housner_ratio(float(alpha))) < 1e-12

        def half(most):
            """From the largest tilt to 0."""

            def integrand(u):
                if not u:
                    return 2 * mp.sqrt(most / (2 * p2 * mp.sin(alpha - most)))
                back = most * u * u / 2  # (θ_m - θ)/2; then cos(α - θ_m) - cos(α - θ), without cancellation
                fall = 2 * mp.sin(alpha - most + back) * mp.sin(back)
                return 2 * most * u / mp.sqrt(2 * p2 * fall)

            return mp.quad(integrand, [0, 1])

        def energy(most):
            """w² / (2 p²) = cos(α - θ_m) - cos α."""
            return 2 * mp.sin(alpha - most / 2) * mp.sin(most / 2)

        time, most, found, swing = half(tilt), tilt, [], mp.mpf(0)
        for _ in range(2000):
            found.append(float(time))
            e = energy(most) * ratio**2
            most = alpha - mp.acos(mp.cos(alpha) + e)
            swing = 2 * half(most)
            time += swing
            if most < mp.mpf(10) ** -14 and len(found) >= count:
                break
        return found[:count], float(time + swing * ratio / (1 - ratio))


def settling() -> list[Scene]:
    """Bodies that come to lie on the floor, each quickly and in few events."""
    half = EDGE / 2
    return [
        dropped("box, e = 0", "box", (half, half, half), TILT, 0.0),
        dropped("box, e = 0.3", "box", (half, half, half), TILT, 0.3),
        rocking_scene(),
        dropped("cylinder, e = 0", "cylinder", (0.1, 0.1), TILT, 0.0),
        dropped("cylinder, e = 0.3", "cylinder", (0.1, 0.1), TILT, 0.3),
        dropped("capsule, e = 0", "capsule", (0.1, 0.1), math.pi / 2 - TILT, 0.0),
        dropped("capsule, e = 0.3", "capsule", (0.1, 0.1), math.pi / 2 - TILT, 0.3),
        three_boxes(),
    ]


# ------------------------------------------------------------ the bundled humanoid

PUSHES = tuple(range(0, 201, 10))  # N, at the chest along x, for PUSHED s
PUSHED = 0.2
POSES = 10


def pushed_humanoid(force: float) -> Scene:
    """The humanoid that stands without control, pushed at its chest."""
    push = (PUSHED, "chest", (float(force), 0.0, 0.0))
    return Scene(
        f"humanoid, {force} N",
        "humanoid",
        saltus.Hard(),
        5.0,
        key="standing",
        rests=True,
        still=CREEPING,
        push=push,
    )


def dropped_humanoid(seed: int) -> Scene:
    """The humanoid in a random pose that does not touch itself, its pelvis as high as in the keyframe "dropped"."""
    model = saltus.load("humanoid")
    m, rng = model.mujoco, np.random.default_rng(seed)
    d = mujoco.MjData(m)
    while True:
        mujoco.mj_resetDataKeyframe(m, d, m.key("dropped").id)
        turn = rng.normal(size=4)
        d.qpos[3:7] = turn / np.linalg.norm(turn)
        low, high = m.jnt_range[1:].T
        d.qpos[7:] = low + rng.uniform(size=len(low)) * (high - low)
        mujoco.mj_forward(m, d)
        if d.ncon == 0:
            return Scene(
                f"humanoid, pose {seed}",
                "humanoid",
                saltus.Hard(),
                5.0,
                tuple(d.qpos),
                rests=True,
                still=CREEPING,
            )


def humanoids() -> list[Scene]:
    return [*map(pushed_humanoid, PUSHES), *map(dropped_humanoid, range(POSES))]


def rising_man() -> Scene:
    """The bundled man who rises from his seat: he stands still at the end."""
    from saltus.lab.scene.sit_to_stand import standing_up

    return Scene("sit to stand", "sit_to_stand", saltus.Hard(), 5.0, control=standing_up, sample=1 / 60)


# ------------------------------------------------------------ a ball that leaves a sphere

BIG, SMALL, ANGLE = 1.0, 0.1, 0.3


def ball_on_a_sphere(timestep: float = 0.01, angle: float = ANGLE) -> str:
    """A ball in the plane, at rest on a fixed sphere without friction, an angle from its top."""
    turn = BIG + SMALL
    return f"""<mujoco>
  <option timestep="{timestep!r}" gravity="0 0 {-G}"/>
  <default><geom condim="1" friction="0 0 0"/></default>
  <worldbody>
    <geom name="hill" type="sphere" size="{BIG}"/>
    <body name="ball" pos="{turn * math.sin(angle)!r} 0 {turn * math.cos(angle)!r}">
      <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
      <geom name="ball" type="sphere" size="{SMALL}" mass="1"/>
    </body>
  </worldbody>
</mujoco>"""


def leaving_time(angle: float = ANGLE) -> float:
    """When it leaves, s: ∫ dθ / √(2 g/L (cos θ0 - cos θ)) up to cos θ = 2/3 cos θ0, with L both radii.

    With θ = θ0 + u² the integrand is smooth.
    """
    import mpmath as mp

    with mp.workdps(30):
        start, rate = mp.mpf(angle), 2 * mp.mpf(G) / (mp.mpf(BIG) + mp.mpf(SMALL))
        last = mp.acos(mp.mpf(2) / 3 * mp.cos(start))

        def integrand(u):
            if not u:
                return 2 / mp.sqrt(rate * mp.sin(start))
            fall = 2 * mp.sin(start + u * u / 2) * mp.sin(u * u / 2)
            return 2 * u / mp.sqrt(rate * fall)

        return float(mp.quad(integrand, [0, mp.sqrt(last - start)]))


# ------------------------------------------------------------ random scenes

COUNT, NORMAL = 300, 40  # scenes in all, and in the usual tests
STEEPEST = math.radians(25)
REST_AFTER = 8.0  # s


def random_scene(seed: int) -> Scene:
    """Scene number `seed`: each kind in turn, all else random."""
    kind = KINDS[seed % len(KINDS)]
    rng = np.random.default_rng([seed, 2024])
    friction = float(rng.choice([0.0, rng.uniform(0.05, 1.0)], p=[0.15, 0.85]))
    restitution = float(rng.choice([0.0, rng.uniform(0.05, 0.9)], p=[0.4, 0.6]))
    slope = float(rng.choice([0.0, rng.uniform(0.02, STEEPEST)], p=[0.5, 0.5]))
    towards = rng.uniform(0, 2 * math.pi)
    down = math.sin(slope)
    gravity = (G * down * math.cos(towards), G * down * math.sin(towards), -G * math.cos(slope))
    law = saltus.Hard(restitution=restitution, friction=friction)
    content, about = _CONTENT[kind](rng)
    xml = scene_xml(content, friction, gravity)
    qpos, qvel = _start(kind, xml, rng)
    about |= {"restitution": restitution, "slope": slope}
    rests = must_rest(kind, about, friction)
    name = f"{seed} {kind}, e = {restitution:.2f}, mu = {friction:.2f}, {math.degrees(slope):.0f} deg"
    duration = REST_AFTER if rests else 2.0
    return Scene(
        name,
        xml,
        law,
        duration,
        qpos,
        qvel,
        rests=rests,
        friction=friction,
        gravity=gravity,
        about={**about, "kind": kind},
    )


def must_rest(kind: str, about: dict[str, Any], friction: float) -> bool:
    """Whether it must lie still in the end.

    What is round rolls on for ever, and hinges without damping swing. A box on a level floor with friction must, and on
    a slope if it can neither slide (μ > tan θ) nor tumble: a square prism that rolls over its edges keeps 1/16 of its
    energy at each impact without restitution and gains m g a sin θ, so that one step brings it at most 16/15 of that,
    of which it keeps 1/15 m g a sin θ; to roll on it needs m g a (1 - cos(45° - θ))/√2: more, up to 20°. Longer boxes
    need more yet, towards their long side, and roll about it as square ones do.
    """
    slope, restitution = about["slope"], about["restitution"]
    if kind not in ("box", "foot") or restitution > 0.7 or friction < 0.1:
        return False
    if slope == 0.0:
        return True
    return kind == "box" and restitution == 0.0 and friction > 1.2 * math.tan(slope) and slope < math.radians(15)


def _box(rng):
    size = tuple((rng.uniform(0.06, 0.15) * rng.uniform(1, 1.8, 3)).tolist())
    return solid("box", size, rng.uniform(0.3, 3.0)), {"size": size}


def _round(kind):
    def content(rng):
        size = (rng.uniform(0.05, 0.15), rng.uniform(0.05, 0.2))
        return solid(kind, size, rng.uniform(0.3, 3.0)), {"size": size}

    return content


def _chain(rng):
    """Two or three capsules from a hinge above the floor, which the last ones reach."""
    count, length, radius = int(rng.integers(2, 4)), rng.uniform(0.2, 0.35), 0.03
    high = rng.uniform(0.5, 0.95) * count * length
    xml, end = f'<body pos="0 0 {high!r}">', ""
    for k in range(count):
        axis = "0 1 0" if rng.uniform() < 0.7 else "1 0 0"
        place = "" if k == 0 else f'<body pos="0 0 {-length!r}">'
        xml += f'{place}<joint axis="{axis}"/><geom type="capsule" size="{radius}" fromto="0 0 0 0 0 {-length!r}"'
        xml += f' mass="{rng.uniform(0.3, 1.0)!r}"/>'
        end += "</body>"
    return xml + end, {}


def _foot(rng):
    """A foot and a shank on a hinge with limits and damping."""
    a, b, c = (rng.uniform(*span) for span in ((0.08, 0.15), (0.04, 0.08), (0.02, 0.04)))
    shank, damping = rng.uniform(0.2, 0.4), rng.uniform(0.05, 0.2)
    return (
        f"""<body name="foot"><freejoint/><geom name="foot" type="box" size="{a!r} {b!r} {c!r}" mass="1"/>
      <body pos="{-0.5 * a!r} 0 {c!r}"><joint axis="0 1 0" limited="true" range="-0.9 0.9" damping="{damping!r}"/>
        <geom type="capsule" size="0.03" fromto="0 0 0.04 0 0 {shank!r}" mass="{rng.uniform(0.5, 2.0)!r}"/>
      </body></body>""",
        {},
    )


_CONTENT = {"box": _box, "cylinder": _round("cylinder"), "capsule": _round("capsule"), "chain": _chain, "foot": _foot}


def _start(kind: str, xml: str, rng: np.random.Generator) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """A state above the floor: the lowest point 1 cm to 40 cm above it, or of a chain anything above 1 cm."""
    m = mujoco.MjModel.from_xml_string(xml)
    floor = Floor(m)
    qvel = rng.uniform(-2.0, 2.0, m.nv)
    if kind == "chain":
        while True:
            qpos = rng.uniform(-2.0, 2.0, m.nq)
            if floor.gap(qpos) > 0.01:
                return tuple(qpos.tolist()), tuple(qvel.tolist())
    qvel[3:6] = rng.uniform(-5.0, 5.0, 3)
    qvel[2] = rng.uniform(-1.0, 0.5)
    qpos = np.zeros(m.nq)
    turn = rng.normal(size=4) if kind != "foot" else [1.0, *(0.1 * rng.normal(size=2)), rng.normal()]
    qpos[3:7] = turn / np.linalg.norm(turn)
    if kind == "foot":
        qpos[7] = rng.uniform(-0.8, 0.8)
    qpos[2] = rng.uniform(0.01, 0.4) - floor.gap(qpos)
    return tuple(qpos.tolist()), tuple(qvel.tolist())


def random_scenes(count: int = COUNT) -> list[Scene]:
    return [random_scene(seed) for seed in range(count)]


def lasting(scene: Scene, duration: float) -> Scene:
    """A scene for another time, with any number of events."""
    return replace(scene, duration=duration, events=1 << 30)
