"""Random runs whose certificates are to be judged, each with what the motion truly is, from outside.

Truths: closed forms of balls and blocks under hard contact; MuJoCo's accelerations under SciPy's DOP853 for whatever is
smooth or softly constrained; elsewhere located contact by two other methods in far finer steps. All trials of a family
have one structure, so that little is compiled. Lengths in m, masses in kg, angles in rad, times in s.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import saltus
from helpers import campaign_worlds as worlds
from helpers import oracle
from saltus.number.functions import sincos, where

Array = NDArray[np.float64]
#: Positions [T, nq] at times [T] of the motion that begins as the simulation is, and how uncertain they are (rad, m).
Truth = Callable[["Trial", saltus.Simulation, Array], tuple[Array, float]]

G = 9.81
FIXED = ("euler", "implicitfast", "implicit", "rk4", "velocity_verlet", "implicit_midpoint", "explicit_euler")
FIXED += ("midpoint", "discrete", "verlet", "energy_momentum")
LOCATED = ("dopri5", "rk4", "dopri5", "rk4", "dopri5", "implicitfast", "moreau_jean", "moreau_jean")
LOOKS = 60_000  # evaluations after which a truth is given up
FINEST = 1e-13  # tolerance of the truth


@dataclass
class Trial:
    """A run: the world, its options, how it starts, how long it is, and its truth."""

    family: str
    xml: str
    integrator: str
    duration: float
    truth: Truth
    start: dict[str, Array | list[float]]
    options: dict[str, Any] = field(default_factory=dict)
    samples: float = 20.0  # a run
    force: Callable[[float, Array], None] | None = None  # sets controls at a time, for MuJoCo
    breaks: tuple[float, ...] = ()  # times at which the force jumps
    about: str = ""

    def simulation(self, **changes: Any) -> saltus.Simulation:
        """The simulation at its start, with some options changed."""
        chosen = {"integrator": self.integrator, **self.options, **changes}
        sim = saltus.Simulation(self.xml, **chosen)
        for name, values in self.start.items():
            getattr(sim, name)[:] = np.asarray(values, float).reshape(getattr(sim, name).shape)
        return sim

    def description(self) -> str:
        """A line that describes the trial."""
        given = {key: value for key, value in self.options.items() if key in ("tolerance", "breaks")}
        law = self.options.get("contact")
        bounce = f"e {law.restitution:.2g}, limits {law.limits:.2g}, " if isinstance(law, saltus.Hard) else ""
        return f"{self.duration:.3g} s, {bounce}{given or ''} {self.about}"


# ---------------------------------------------------------------- truths


def soft_truth(trial: Trial, sim: saltus.Simulation, times: Array) -> tuple[Array, float]:
    """The solution of MuJoCo's equations by DOP853, and how far it moves at ten times the tolerance.

    Where a force that jumps is met again and again, as by a ball that slides on the verge of contact, no step-size
    control comes through: MuJoCo's own steps then, and how far they are from those of half the length.
    """
    try:
        found = [_integrated(trial, sim, times, tolerance) for tolerance in (1e-12, 1e-11)]
    except OverflowError:
        finest = max(sim.timestep / 128, 2e-5)
        found = [_stepped(trial, sim, times, step) for step in (finest, 2 * finest)]
    return found[0], 4 * float(np.abs(found[0] - found[1]).max(initial=0.0)) + 1e-12


def _integrated(trial: Trial, sim: saltus.Simulation, times: Array, tolerance: float) -> Array:
    m = sim.model.mujoco
    # time constants of constraints are at least two timesteps; the limit of shorter and shorter steps has none
    m.opt.timestep = sim.timestep if sim.integrator.adaptive else 1e-9
    m.opt.tolerance, m.opt.iterations, m.opt.ls_iterations = 0.0, 100, 100
    d, looks = mujoco.MjData(m), 0
    joints = list(zip(m.jnt_type, m.jnt_qposadr, m.jnt_dofadr, strict=True))

    def slope(t: float, y: Array) -> Array:
        nonlocal looks
        looks += 1
        if looks > LOOKS:
            raise OverflowError("the truth takes too many steps")
        d.qpos[:], d.qvel[:] = y[: m.nq], y[m.nq :]
        if trial.force is not None:
            trial.force(t, d.ctrl)
        mujoco.mj_forward(m, d)
        rate = np.zeros(m.nq)
        for kind, a, i in joints:
            if kind == oracle.FREE:
                rate[a : a + 3] = y[m.nq + i : m.nq + i + 3]
                a, i = a + 3, i + 3
            if kind in (oracle.FREE, oracle.BALL):
                omega = np.array([0.0, *y[m.nq + i : m.nq + i + 3]])
                mujoco.mju_mulQuat(rate[a : a + 4], y[a : a + 4].copy(), 0.5 * omega)
            else:
                rate[a] = y[m.nq + i]
        return np.concatenate([rate, d.qacc])

    touching = m.ngeom > 1 and not m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CONTACT
    longest = 1e-3 if touching or m.jnt_limited.any() else 0.02  # for grazing contacts
    out, state, begun = [], np.concatenate([sim.qpos, sim.qvel]), 0.0
    for end in sorted({*(b for b in trial.breaks if b < times[-1]), float(times[-1])}):
        inside = times[(times >= begun) & ((times < end) | (end == times[-1]))]
        grid = inside if len(inside) and inside[-1] == end else np.append(inside, end)
        # a law that jumps is not looked at beyond its jump
        law = lambda t, y, low=begun, high=end: slope(min(max(t, low + 1e-12), high - 1e-12), y)  # noqa: E731
        found = solve_ivp(law, (begun, end), state, "DOP853", grid, rtol=tolerance, atol=tolerance, max_step=longest)
        assert found.success, found.message
        out.append(found.y[: m.nq, : len(inside)].T)
        state, begun = found.y[:, -1], end
    return np.concatenate(out)


def _stepped(trial: Trial, sim: saltus.Simulation, times: Array, step: float) -> Array:
    """Positions at times by MuJoCo's semi-implicit steps, which end at each of the times."""
    m = sim.model.mujoco
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    if sim.integrator.adaptive:  # as in `_integrated`
        for field_ in (m.geom_solref, m.jnt_solref, m.dof_solref, m.tendon_solref_lim):
            field_[:, 0] = np.maximum(field_[:, 0], 2 * sim.timestep)
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = sim.qpos, sim.qvel
    out = []
    for begin, end in zip([0.0, *times[:-1]], times, strict=True):
        count = max(1, math.ceil((end - begin) / step - 1e-9)) if end > begin else 0
        for k in range(count):
            m.opt.timestep = (end - begin) / count
            if trial.force is not None:
                trial.force(begin + (k + 0.5) * m.opt.timestep, d.ctrl)
            mujoco.mj_step(m, d)
        out.append(d.qpos.copy())
    return np.array(out)


def finer_truth(trial: Trial, sim: saltus.Simulation, times: Array) -> tuple[Array, float]:
    """Located contact by another integrator than the trial's, and how far other ways are from it.

    Phases of dense events are stepped over in steps of different lengths by each of them.
    """
    h = sim.timestep
    tight = {"integrator": "dopri5", "max_step": h / 10, "timestep": h / 10}
    ways: list[tuple[float, dict[str, Any]]] = [
        (1e-5, {**tight, "tolerance": (FINEST, FINEST)}),
        (3e-6, {"integrator": "rk4", "timestep": min(h / 20, 2e-4)}),
        (1e-4, {**tight, "tolerance": (1e-11, 1e-11)}),
    ]
    if trial.integrator == "dopri5":
        ways = [ways[1], ways[0], ways[2]]
    found, dense = [], False
    for dense_step, way in ways:
        if len(found) == 2 and not dense:
            break
        law = replace(trial.options["contact"], dense_step=dense_step)
        other = Trial(trial.family, trial.xml, "", 0.0, trial.truth, trial.start, {"contact": law})
        run = other.simulation(**way).run(float(times[-1]), times[1])
        if len(run) < len(times):
            raise ValueError("it has too few samples")
        dense = dense or bool((run.events["kind"] == "dense").any())
        found.append(run.qpos[: len(times)])
    spread = max(float(np.abs(found[0] - other).max(initial=0.0)) for other in found[1:])
    return found[0], (10 if dense else 2) * spread


def bounces(times: Array, z: float, v: float, u: float, e: float, mu: float, ratio: float) -> tuple[Array, Array]:
    """Heights over a floor and slips of a body that bounces, slides and sticks.

    `ratio`: how much an impulse along the floor changes the slip, relative to the mass: 7/2 for a ball, 1 for what
    does not turn. The slip is the integral of the velocity of its point of contact, u at first.
    """
    knots = [(0.0, z, v, 0.0, u, G, 0.0)]  # time, height, velocity, slip, its rate, both decelerations
    t, slip = 0.0, 0.0
    if z > 0 or v > 0:
        while True:
            flight = (v + math.sqrt(v * v + 2 * G * z)) / G
            t, slip, v, z = t + flight, slip + u * flight, G * flight - v, 0.0
            most = mu * (1 + e) * v * ratio
            u, v = math.copysign(max(abs(u) - most, 0.0), u), e * v
            if v < 1e-13:
                break
            knots.append((t, 0.0, v, slip, u, G, 0.0))
    slide = abs(u) / (mu * G * ratio) if u else 0.0
    slowing = math.copysign(mu * G * ratio, u) if u else 0.0
    knots.append((t, 0.0, 0.0, slip, u, 0.0, slowing))
    knots.append((t + slide, 0.0, 0.0, slip + u * slide / 2, 0.0, 0.0, 0.0))
    table = np.array(knots)
    rows = table[np.searchsorted(table[:, 0], times, "right") - 1]
    since = times - rows[:, 0]
    return (
        rows[:, 1] + rows[:, 2] * since - rows[:, 5] * since**2 / 2,
        rows[:, 3] + rows[:, 4] * since - rows[:, 6] * since**2 / 2,
    )


# ---------------------------------------------------------------- families


def trial(seed: int) -> Trial:
    """A trial of some family, by its number."""
    rng = np.random.default_rng([seed, 5])
    make = FAMILIES[int(rng.choice(len(FAMILIES), p=np.array(WEIGHTS) / sum(WEIGHTS)))]
    made = make(rng)
    made.samples = float(rng.choice([5.0, 20.0, 7.3, 60.0]))
    return made


def double_pendulum(rng: np.random.Generator) -> Trial:
    """Two links with springs and damping, calm or chaotic."""
    a, b, ra, rb = rng.uniform(0.2, 1.0, 2).tolist() + rng.uniform(0.01, 0.04, 2).tolist()
    xml = f"""{_options(rng)}<worldbody><body><joint axis="0 1 0" {_spring(rng)}/>
    <geom type="capsule" fromto="0 0 0 0 0 {-a}" size="{ra}" mass="{rng.uniform(0.1, 3)}"/>
    <body pos="0 0 {-a}"><joint axis="0 1 0" {_spring(rng)}/>
    <geom type="capsule" fromto="0 0 0 0 0 {-b}" size="{rb}" mass="{rng.uniform(0.1, 3)}"/></body></body></worldbody>
    </mujoco>"""
    wild = 10 ** rng.uniform(-1, 0.5)
    start = {"qpos": wild * rng.normal(size=2), "qvel": wild * rng.normal(size=2)}
    return _smooth(rng, "double pendulum", xml, start, 10 ** rng.uniform(-1, 1.1), about=f"size {wild:.2g}")


def ball_chain(rng: np.random.Generator) -> Trial:
    """A free body with an arm at a ball joint, and a hinge."""
    xml = f"""{_options(rng)}<worldbody><body pos="0 0 1"><freejoint/>
    <geom type="box" size="{_sizes(rng)}" mass="{rng.uniform(0.5, 3)}"/>
    <body pos=".1 0 0"><joint type="ball" {_spring(rng)}/>
    <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass="{rng.uniform(0.1, 2)}"/>
    <body pos=".3 0 0"><joint axis="0 1 1" {_spring(rng)}/>
    <geom type="capsule" fromto="0 0 0 .2 .1 0" size=".02" mass="{rng.uniform(0.1, 1)}"/></body></body></body>
    </worldbody></mujoco>"""
    wild = 10 ** rng.uniform(-1, 1)
    start = {"qvel": wild * rng.normal(size=10)}
    return _smooth(
        rng, "ball chain", xml, start, 10 ** rng.uniform(-1, 0.5), ("rk4", "implicit_midpoint"), f"speed {wild:.2g}"
    )


def limits(rng: np.random.Generator) -> Trial:
    """Three links under MuJoCo's soft law: a limit, dry friction, a limited tendon with a spring."""
    links, end = "", ""
    words = ('range="-.4 .5"', f'frictionloss="{10 ** rng.uniform(-2, 0.3)}"', "")
    for k, more in enumerate(words):
        links += f"""<body pos="0 0 {-0.3 if k else 0}"><joint name="j{k}" axis="0 1 0" {_spring(rng)} {more}/>
        <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".03" mass="{rng.uniform(0.2, 2)}"/>"""
        end += "</body>"
    tendon = f"""<tendon><fixed range="-.6 .6" stiffness="{10 ** rng.uniform(-1, 1.5)}">
    <joint joint="j0" coef="1"/><joint joint="j2" coef="{rng.uniform(-1, -0.3)}"/></fixed></tendon>"""
    xml = f"{_options(rng)}<worldbody>{links}{end}</worldbody>{tendon}</mujoco>"
    start = {"qpos": [rng.uniform(-0.3, 0.4), *rng.normal(size=2)], "qvel": 2 * rng.normal(size=3)}
    return _smooth(rng, "soft limits", xml, start, 10 ** rng.uniform(-0.7, 0.5), ("rk4", "euler", "implicitfast"))


def loop(rng: np.random.Generator) -> Trial:
    """A four-bar linkage closed by a soft <connect>, and a joint that follows another."""
    xml = f"""{_options(rng)}<worldbody><body name="a"><joint name="ja" axis="0 1 0" {_spring(rng)}/>
    <geom type="capsule" fromto="0 0 0 0 0 .4" size=".02" mass="{rng.uniform(0.2, 2)}"/>
    <body name="b" pos="0 0 .4"><joint axis="0 1 0" {_spring(rng)}/>
    <geom type="capsule" fromto="0 0 0 .5 0 0" size=".02" mass="{rng.uniform(0.2, 2)}"/></body></body>
    <body name="c" pos=".5 0 0"><joint axis="0 1 0" {_spring(rng)}/>
    <geom type="capsule" fromto="0 0 0 0 0 .4" size=".02" mass="{rng.uniform(0.2, 2)}"/></body>
    <body pos="0 1 0"><joint name="jd" axis="0 1 0" {_spring(rng)}/>
    <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".02" mass=".3"/></body></worldbody>
    <equality><connect body1="b" body2="c" anchor=".5 0 0"/>
    <joint joint1="jd" joint2="ja" polycoef="0 {rng.uniform(-1, 1)} 0 0 0"/></equality></mujoco>"""
    w = rng.uniform(-6, 6)
    start = {"qvel": [w, -w, w, 0.0]}
    return _smooth(rng, "loop", xml, start, 10 ** rng.uniform(-0.7, 0.5), ("implicitfast",))


@saltus.controller(parameters=(0.0, 1.0, 0.0, 1.0, 0.0))
def waves_and_pulses(m, d, z):
    """A sine, and a pulse between two times."""
    p = d.control_prm
    pulse = where((d.time > p[2]) & (d.time < p[3]), p[4], 0.0)
    d.ctrl[0] = p[0] * sincos(p[1] * d.time)[0] + pulse


def driven(rng: np.random.Generator) -> Trial:
    """A cart on a spring with a pendulum, pushed by a law of time."""
    xml = f"""{_options(rng)}<worldbody><body><joint name="x" type="slide" axis="1 0 0" {_spring(rng)}/>
    <geom size=".1" mass="{rng.uniform(0.5, 3)}"/><body><joint axis="0 1 0" {_spring(rng)}/>
    <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".03" mass="{rng.uniform(0.2, 1)}"/></body></body></worldbody>
    <actuator><motor joint="x"/></actuator></mujoco>"""
    duration = 10 ** rng.uniform(-0.5, 0.8)
    pulsed = rng.random() < 0.6
    begin = duration * rng.uniform(0.1, 0.8)
    end = begin + duration * 10 ** rng.uniform(-3, -0.7)
    size, rate, push = rng.uniform(0, 5), 10 ** rng.uniform(-0.5, 1.3), 10 ** rng.uniform(0, 2) if pulsed else 0.0
    law = saltus.controller(waves_and_pulses.law.py_func, parameters=(size, rate, begin, end, push))

    def force(t: float, ctrl: Array) -> None:
        ctrl[0] = size * math.sin(rate * t) + (push if begin < t < end else 0.0)

    made = _smooth(
        rng, "driven", xml, {"qpos": rng.normal(size=2), "qvel": rng.normal(size=2)}, duration, ("rk4", "euler")
    )
    made.options["control"], made.force = law, force
    if pulsed:
        made.breaks = begin, end
        if made.integrator == "dopri5" and rng.random() < 0.5:
            made.options["breaks"] = [begin, end]
    made.about = f"pulse {push:.2g} N, {begin:.4g} to {end:.4g} s, sine {size:.2g} N, {rate:.2g} rad/s"
    return made


def soft_ball(rng: np.random.Generator) -> Trial:
    """A ball in a plane, thrown on a floor, under MuJoCo's soft law."""
    made, *_ = _ball(rng, "soft ball", ("dopri5", "dopri5", "euler", "rk4", "velocity_verlet"))
    made.truth = soft_truth
    return made


def compliant_ball(rng: np.random.Generator) -> Trial:
    """The ball on springs and dampers: a law of the user's."""
    made, _, _, radius, mass = _ball(rng, "compliant ball", ("dopri5", "rk4"))
    made.options["contact"] = saltus.Compliant(elastic)

    def truth(trial: Trial, sim: saltus.Simulation, times: Array) -> tuple[Array, float]:
        def slope(t: float, y: Array) -> Array:
            gap = y[1] - radius
            lever = radius + gap / 2  # contact lies half way between the surfaces
            u = y[3] - lever * y[5]
            normal = max(-4000.0 * gap - 10.0 * y[4], 0.0) if gap < 0 else 0.0
            along = -0.3 * u if gap < 0 else 0.0
            return np.array([*y[3:], along / mass, normal / mass - G, -along * lever / (0.4 * mass * radius**2)])

        start = np.concatenate([sim.qpos, sim.qvel])
        ways = [
            solve_ivp(slope, (0, times[-1]), start, "DOP853", times, rtol=x, atol=x, max_step=1e-3)
            for x in (1e-12, 1e-11)
        ]
        found = [way.y[:3].T for way in ways]
        return found[0], 2 * float(np.abs(found[0] - found[1]).max()) + 1e-12

    made.truth = truth
    return made


def elastic(m, d, gap, velocity):
    """A spring and a damper along the normal, which only push, and a damper along the floor."""
    normal = -4000.0 * gap - 10.0 * velocity[0]
    return where(normal > 0.0, normal, 0.0), -0.3 * velocity[1], -0.3 * velocity[2]


def hard_ball(rng: np.random.Generator) -> Trial:
    """The ball under hard contact: bounces, slides, rolls."""
    made, e, mu, radius, _ = _ball(rng, "hard ball", LOCATED)
    made.options["contact"] = saltus.Hard(restitution=e)

    def truth(trial: Trial, sim: saltus.Simulation, times: Array) -> tuple[Array, float]:
        (x, z, turn), (vx, vz, w) = sim.qpos.copy(), sim.qvel.copy()
        height, slip = bounces(times, z - radius, vz, vx - radius * w, e, mu, 3.5)
        # friction's impulses turn 2/7 of the change of slip into velocity, and the rest into rotation
        change = slip - (vx - radius * w) * times
        angle = turn + w * times - change * (5 / 7) / radius
        return np.stack([x + vx * times + change * (2 / 7), height + radius, angle], axis=1), 1e-13

    made.truth = truth
    return made


def slider(rng: np.random.Generator) -> Trial:
    """A block that does not turn, on a table that may move."""
    mu, e = rng.uniform(0.05, 0.9), float(rng.choice([0.0, rng.uniform(0, 0.9)]))
    drift, lift = (rng.normal(size=2) * [1, 0.5]).tolist() if rng.random() < 0.6 else (0.0, 0.0)
    above = float(rng.choice([0.0, 10 ** rng.uniform(-2, 0)]))
    vx, vz = rng.normal() * 2, (rng.normal() if above else lift)
    half = rng.uniform(0.02, 0.2)
    xml = f"""{_options(rng, touching=True)}<worldbody><body mocap="true"><geom type="box" size="20 5 .1" pos="0 0 -.1"
    friction="{mu}"/></body><body><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
    <geom type="box" size="{half} {half} {half}" mass="{10 ** rng.uniform(-1, 1)}" friction="{mu}"/></body>
    </worldbody></mujoco>"""

    def truth(trial: Trial, sim: saltus.Simulation, times: Array) -> tuple[Array, float]:
        height, slip = bounces(times, above, vz - lift, vx - drift, e, mu, 1.0)
        return np.stack([slip + drift * times, height + half + lift * times], axis=1), 1e-13

    start = {"qpos": [0.0, half + above], "qvel": [vx, vz], "mocap_vel": [drift, 0, lift, 0, 0, 0]}
    integrator = str(rng.choice([name for name in LOCATED if name != "implicitfast"]))
    about = f"e {e:.2f}, mu {mu:.2f}, above {above:.2g}, v {vx:.2g} {vz:.2g}, table {drift:.2g} {lift:.2g}"
    options = {"contact": saltus.Hard(restitution=e), **_tolerance(rng, integrator)}
    return Trial("slider", xml, integrator, 10 ** rng.uniform(-1, 0.5), truth, start, options, about=about)


def soft_box(rng: np.random.Generator) -> Trial:
    """A box thrown on a floor, under MuJoCo's soft law."""
    made = _box(rng, "soft box", ("dopri5", "euler"))
    made.truth = soft_truth
    return made


def hard_box(rng: np.random.Generator) -> Trial:
    """A box thrown on the floor under hard contact."""
    made = _box(rng, "hard box", ("dopri5", "rk4", "dopri5", "moreau_jean"))
    made.options["contact"] = saltus.Hard(restitution=float(rng.choice([0.0, rng.uniform(0, 0.8)])))
    return made


def hard_limits(rng: np.random.Generator) -> Trial:
    """The three links with hard limits and dry friction."""
    made = limits(rng)
    made.family, made.truth = "hard limits", finer_truth
    made.integrator = str(rng.choice(["dopri5", "rk4", "dopri5", "moreau_jean"]))
    made.start["qpos"] = rng.uniform(-0.25, 0.25, 3)  # within all limits
    hard = saltus.Hard(limits=float(rng.choice([0.0, rng.uniform(0, 0.8)])))
    made.options = {"contact": hard, **_tolerance(rng, made.integrator)}
    return made


def _smooth(
    rng: np.random.Generator,
    family: str,
    xml: str,
    start: dict[str, Any],
    duration: float,
    integrators: tuple[str, ...] = FIXED,
    about: str = "",
) -> Trial:
    """A trial without contact, under an integrator with controlled steps or one of others."""
    integrator = str(rng.choice(["dopri5"] * 3 + [*integrators]))
    return Trial(family, xml, integrator, duration, soft_truth, start, _tolerance(rng, integrator), about=about)


def _ball(
    rng: np.random.Generator, family: str, integrators: tuple[str, ...]
) -> tuple[Trial, float, float, float, float]:
    """A ball thrown in a plane: the trial, restitution, friction, radius, mass."""
    radius, mass, mu = rng.uniform(0.02, 0.2), 10 ** rng.uniform(-0.7, 0.7), rng.uniform(0.05, 1)
    e = float(rng.choice([0.0, rng.uniform(0, 0.9)]))
    xml = f"""{_options(rng, touching=True)}<worldbody><geom type="plane" size="5 5 .1" friction="{mu}"/><body>
    <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/>
    <geom size="{radius}" mass="{mass}" friction="{mu}"/></body></worldbody></mujoco>"""
    above = float(rng.choice([0.0, 10 ** rng.uniform(-2, 0)]))
    start = {"qpos": [0.0, radius + above, 0.0], "qvel": rng.normal(size=3) * [2, 1 if above else 0, 10]}
    integrator = str(rng.choice(integrators))
    about = f"e {e:.2f}, mu {mu:.2f}, r {radius:.2g}, above {above:.2g}"
    duration = 10 ** rng.uniform(-1, 0.5)
    options = _tolerance(rng, integrator)
    return Trial(family, xml, integrator, duration, finer_truth, start, options, about=about), e, mu, radius, mass


def _box(rng: np.random.Generator, family: str, integrators: tuple[str, ...]) -> Trial:
    """A box thrown on a floor."""
    xml = f"""{_options(rng, touching=True)}<worldbody><geom type="plane" size="5 5 .1"/><body><freejoint/>
    <geom type="box" size="{_sizes(rng)}" mass="{rng.uniform(0.5, 3)}"/></body></worldbody></mujoco>"""
    above = rng.uniform(0.2, 0.6)
    start = {"qpos": [0.0, 0.0, above, *worlds.quaternion(rng)], "qvel": rng.normal(size=6) * [1, 1, 1, 3, 3, 3]}
    integrator = str(rng.choice(integrators))
    duration, options = 10 ** rng.uniform(-1, 0.1), _tolerance(rng, integrator)
    return Trial(family, xml, integrator, duration, finer_truth, start, options, about=f"from {above:.2g}")


def _options(rng: np.random.Generator, *, touching: bool = False) -> str:
    flag = "" if touching else '<flag contact="disable"/>'
    return f"""<mujoco><compiler angle="radian" autolimits="true"/>
    <option timestep="{10 ** rng.uniform(-3.3, -1.7)}" gravity="0 0 {-G}">{flag}</option>"""


def _spring(rng: np.random.Generator) -> str:
    return f'stiffness="{10 ** rng.uniform(-3, 1.5)}" damping="{10 ** rng.uniform(-4, -0.5)}"'


def _sizes(rng: np.random.Generator) -> str:
    return worlds.text(rng.uniform(0.03, 0.15, 3))


def _tolerance(rng: np.random.Generator, integrator: str) -> dict[str, Any]:
    """The default of adaptive steps, or another."""
    if integrator != "dopri5" or rng.random() < 0.4:
        return {}
    return {"tolerance": (10 ** rng.uniform(-12, -3),) * 2}


FAMILIES = (double_pendulum, ball_chain, limits, loop, driven, soft_ball, compliant_ball, hard_ball, slider)
FAMILIES += (soft_box, hard_box, hard_limits)
WEIGHTS = (3, 2, 2, 1, 2, 2, 1, 3, 2, 1, 1, 1)
