"""Galperin's billiard: a light ball between a wall and a heavy one, whose impacts count the digits of π."""

import math

import numpy as np

import saltus
from saltus.verify.case import Check, Curve, Data, Figure, Result, family
from saltus.verify.families.contact_hard.scenes import start

benchmark = family("contact_hard")

DIGITS = {1.0: 3, 1e2: 31, 1e4: 314, 1e6: 3141, 1e8: 31415}  # mass ratio -> impacts
RADIUS = 0.1  # m


def billiard(ratio: float) -> str:
    """Two balls on a line through a wall, the outer one heavier by a ratio."""
    ball = (
        '<body pos="{at} 0 0"><joint type="slide" axis="1 0 0"/><geom name="{name}" size="{r}" mass="{mass!r}"/></body>'
    )
    light = ball.format(at=2 * RADIUS, name="light", r=RADIUS, mass=1.0)
    heavy = ball.format(at=5 * RADIUS, name="heavy", r=RADIUS, mass=ratio)
    return f"""<mujoco><option gravity="0 0 0"/><default><geom condim="1"/></default><worldbody>
      <geom name="wall" type="plane" size="1 1 1" zaxis="1 0 0"/>{light}{heavy}</worldbody></mujoco>"""


@benchmark(
    "galperin",
    "Galperin's billiard",
    source="Galperin, 'Playing pool with π (the number π from a billiard point of view)', Regular and Chaotic Dynamics "
    "8 (2003): ⌊π/arctan(1/√M)⌋ impacts; after n of the balls with each other, V = -cos(2 n arctan(1/√M)) V₀",
    allowed="impacts are counted; rounding of each, 1e-16, over up to 31415: 1e-11",
)
def galperin(data: Data) -> Result:
    """A heavy ball comes at 1 m/s upon a light one that rests before a wall; e = 1. The impacts of mass ratios
    1, 100, 10⁴, 10⁶ and 10⁸, all of them located, the velocity with which the heavy one leaves, and the energy."""
    found, counts = [], []
    for ratio, digits in DIGITS.items():
        sim = start(billiard(ratio), [0.0, -1.0], saltus.Hard(restitution=1.0))
        events = sim.run(2.0, sample=0.1, progress=False).events
        counts.append(int(np.sum(events["kind"] == "impact")))
        leaves = -math.cos(2 * ((digits + 1) // 2) * math.atan(1 / math.sqrt(ratio)))
        name = f"M = {ratio:g}"
        found.append(Check(f"{name}: impacts", float(counts[-1]), float(digits), 0.0))
        found.append(Check(f"{name}: heavy ball leaves at", float(sim.qvel[1]), leaves, 1e-11, "m/s"))
        found.append(Check(f"{name}: energy", float(sum(sim.energy())), ratio / 2, 1e-11, "J", relative=True))
    ratios = list(DIGITS)
    curves = [
        Curve("reached", ratios, counts, "points"),
        Curve("π √M", ratios, math.pi * np.sqrt(ratios), "dashed"),
    ]
    return Result(found, Figure("mass ratio", "impacts", curves, log_x=True, log_y=True))
