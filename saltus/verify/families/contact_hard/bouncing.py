"""A ball that bounces: every impact in closed form, also infinitely many in finite time."""

import math

import numpy as np
from numpy.typing import NDArray

import saltus
from saltus.verify.case import Check, Curve, Data, Figure, Result, checks, family, order_check, order_figure
from saltus.verify.families.contact_hard.scenes import (
    EXACT,
    FAR,
    G,
    instants,
    start,
    world,
)

benchmark = family("contact_hard")

DROP = "closed form: t₁ = √(2h/g), impacts at t₁ (1 + 2 Σ eᵏ)"
FALLING = world(
    '<body name="drop" pos="0 0 0.1"><joint name="height" type="slide" axis="0 0 1"/>'
    '<geom name="ball" size="0.1" mass="1"/></body>'
)


def dropped(restitution: float, duration: float, sample: float) -> tuple[saltus.Simulation, saltus.Trajectory]:
    """Simulate a ball that falls 1 m; return the simulation and its trajectory."""
    sim = start(FALLING, law=saltus.Hard(restitution=restitution))
    sim.qpos[0] = 1.0
    return sim, sim.run(duration, sample=sample, progress=False)


def height_figure(trajectory: saltus.Trajectory, marks: NDArray[np.float64]) -> Figure:
    """Figure of the height over time, with the instants of the reference."""
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
