"""`saltus bench pile`: a pile of boxes under the hard law with Moreau-Jean steps, beside MuJoCo's soft law, in turn.

Both sides are ours, in this process, with the same model and the same step: `moreau_jean` with `saltus.Hard` and
`euler` with `saltus.Soft`, which is what MuJoCo computes. Both begin at states of the soft side: while the boxes fall
on each other, and when they lie.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

STEP = 0.002  # s
FALLING, SETTLED = 0.5, 4.0  # s
LIE = 3.0  # s within which each side must come to rest by itself
SIDE = 0.5  # m, half of the box between the walls
ACROSS = 4  # boxes in a row


@dataclass(frozen=True)
class PileRow:
    """One comparison from a start, `contacts` at its end on each side.

    `hard`, `soft`: seconds per step. `ratio`: time of the hard side over the soft, the median over the repeats.
    `unconverged`: the share of the hard side's steps that did not reach its tolerance. `speed`: the largest velocity at
    the end, `depth`: the deepest penetration (m), of hard and soft.
    """

    start: str
    boxes: int
    hard: float
    soft: float
    ratio: float
    unconverged: float
    contacts: tuple[int, int]
    speed: tuple[float, float]
    depth: tuple[float, float]


def pile(boxes: int, cone: str = "pyramidal") -> str:
    """MJCF of boxes in layers between four walls, each box a little off its place."""
    import numpy as np

    rng = np.random.default_rng(0)
    bodies = []
    for k in range(boxes):
        layer, place = divmod(k, ACROSS * ACROSS)
        x, y = divmod(place, ACROSS)
        middle = (ACROSS - 1) / 2
        pos = np.array([(x - middle) * 0.25, (y - middle) * 0.25, 0.2 + 0.27 * layer]) + 0.01 * rng.normal(size=3)
        quat = rng.normal(size=4)
        at, turn = (" ".join(f"{v:.6f}" for v in values) for values in (pos, quat / np.linalg.norm(quat)))
        bodies.append(
            f'<body pos="{at}" quat="{turn}"><freejoint/><geom type="box" size="0.1 0.08 0.06" mass="1"/></body>'
        )
    walls = "".join(
        f'<geom type="plane" size="5 5 0.1" pos="{x} {y} 0" zaxis="{-x} {-y} 0"/>'
        for x, y in ((SIDE, 0), (-SIDE, 0), (0, SIDE), (0, -SIDE))
    )
    return (
        f'<mujoco model="pile of {boxes} boxes"><option timestep="{STEP}" cone="{cone}"/><worldbody>'
        f'<geom type="plane" size="5 5 0.1"/>{walls}{"".join(bodies)}</worldbody></mujoco>'
    )


class _Side:
    """A simulation, and the start to which it returns."""

    def __init__(self, model: Any, integrator: str, contact: str):
        from saltus.simulate.simulation import Simulation

        self.sim = Simulation(model, integrator, contact)
        self.start = self.sim.snapshot()

    def begin_at(self, qpos: Any, qvel: Any, warm: int) -> None:
        """Start from positions and velocities, after `warm` steps that give the solver a first guess."""
        self.sim.reset()
        self.sim.qpos[:], self.sim.qvel[:] = qpos, qvel
        self.sim.step(warm)
        self.start = self.sim.snapshot()

    def begin(self) -> None:
        self.sim.restore(self.start)

    def depth(self) -> float:
        """The deepest penetration (m)."""
        contacts = self.sim.data.contact
        return max(0.0, -float(contacts["dist"].min())) if len(contacts) else 0.0


def measure_pile(boxes: int, *, repeats: int, steps: int, cone: str = "pyramidal") -> list[PileRow]:
    """A row for the falling and for the settled pile; `steps` are timed in each repeat, from the same start."""
    import numpy as np

    from saltus.bench.harness.timing import Contender, in_turn
    from saltus.model.load import load

    model = load(pile(boxes, cone))
    hard, soft = _Side(model, "moreau_jean", "hard"), _Side(model, "euler", "soft")
    rows = []
    for name, end in (("falling", FALLING), ("settled", SETTLED)):
        sim = soft.sim
        sim.reset()
        sim.step(round(end / STEP))
        qpos, qvel = sim.qpos.copy(), sim.qvel.copy()
        for side in (hard, soft):
            side.begin_at(qpos, qvel, 1 if name == "falling" else round(LIE / STEP))
        sides = {"hard": hard, "soft": soft}
        found = in_turn(
            [Contender(n, s.begin, lambda s=s: s.sim.step(steps), steps) for n, s in sides.items()],
            repeats=repeats,
            least=0.0,
        )
        hard.begin()
        hard.sim.engine.unconverged = 0
        hard.sim.step(steps)
        ratios = [h / s for h, s in zip(found["hard"].seconds, found["soft"].seconds, strict=True)]
        rows.append(
            PileRow(
                name,
                boxes,
                found["hard"].median,
                found["soft"].median,
                median(ratios),
                hard.sim.unconverged / steps,
                (int(hard.sim.data.ncon), int(soft.sim.data.ncon)),
                (float(np.abs(hard.sim.qvel).max()), float(np.abs(soft.sim.qvel).max())),
                (hard.depth(), soft.depth()),
            )
        )
    return rows


def bench_pile(*, quick: bool, json_path: Path | None) -> None:
    """Run the benchmark: measure, print a table, write it as JSON."""
    from saltus.bench.harness import machine
    from saltus.bench.harness.report import print_table
    from saltus.record.files.atomic_write import check_writable, write_whole
    from saltus.terminal import screen

    if json_path is not None:
        check_writable(json_path, what="benchmark")
    boxes, repeats, steps = (12, 5, 20) if quick else (100, 7, 50)
    with screen.Activity() as activity, screen.collected_warnings():
        activity.progress("measuring a pile of boxes")(0.1)
        rows = measure_pile(boxes, repeats=repeats, steps=steps)
        activity.end("measuring a pile of boxes")
    print(
        f"{boxes} boxes in a pile, steps of {STEP * 1e3:g} ms: hard contact (moreau_jean) beside soft contact (euler)"
    )
    headers = ("start", "contacts", "hard", "soft", "hard/soft", "unconverged", "speed", "depth")
    print_table(headers, [_cells(row) for row in rows], left=("start",))
    print(
        "times of a step; unconverged: steps whose contact iteration stopped before its tolerance, under the hard law;"
    )
    print("contacts, largest velocity (m/s, rad/s) and depth (m) at the end, hard and soft")
    about = machine.description(1)
    print(f"{about['cpu']}, one core; medians of {repeats} repeats")
    if json_path is not None:
        content = {"machine": about, "repeats": repeats, "rows": [asdict(row) for row in rows]}
        write_whole(json_path, (json.dumps(content, indent=2) + "\n").encode(), what="benchmark")
        print(f"wrote {json_path}")


def _cells(row: PileRow) -> tuple[str, ...]:
    share = "" if math.isnan(row.unconverged) else f"{100 * row.unconverged:.0f} %"
    return (
        row.start,
        f"{row.contacts[0]}, {row.contacts[1]}",
        f"{row.hard * 1e3:.2f} ms",
        f"{row.soft * 1e3:.2f} ms",
        f"{row.ratio:.2f} x",
        share,
        f"{row.speed[0]:.0e}, {row.speed[1]:.0e}",
        f"{row.depth[0]:.0e}, {row.depth[1]:.0e}",
    )
