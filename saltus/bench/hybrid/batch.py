"""Hard contact in batches: `saltus.Batch` beside a loop in Python over as many `saltus.Simulation`, in turn.

Both take steps of the same length from the same starts, all simulations one step, then the next, as learning and
control do, and both must end in equal bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from saltus.errors import SaltusError

STEP = 0.005  # s
SPREAD = 0.2  # standard deviation of the first velocities (m/s, rad/s)


@dataclass(frozen=True)
class BatchRow:
    """One comparison: seconds of a step of one simulation, and the speed of the batch relative to the loop.

    `impacts`: of all simulations together.
    """

    model: str
    n: int
    threads: int
    impacts: int
    loop: float
    batch: float
    ratio: float


def measure_batch(name: str, source: str, key: str, n: int, steps: int, threads: int, repeats: int) -> BatchRow:
    """A row for a model that starts from a keyframe, each simulation with velocities of its own."""
    import numpy as np

    from saltus.bench.harness.timing import Contender, in_turn
    from saltus.model.load import load
    from saltus.simulate.batch import Batch
    from saltus.simulate.simulation import Simulation

    model = load(source)
    options: dict[str, Any] = {"integrator": "dopri5", "contact": "hard", "timestep": STEP}
    batch = Batch(model, n, threads=threads, **options)
    sims = [Simulation(model, **options) for _ in range(n)]
    qpos = np.tile(model.key_qpos[model.id("key", key)], (n, 1))
    qvel = SPREAD * np.random.default_rng(0).normal(size=(n, model.nv))

    def begin_batch() -> None:
        batch.reset()
        batch.qpos, batch.qvel = qpos, qvel

    def begin_loop() -> None:
        for i, sim in enumerate(sims):
            sim.reset()
            sim.qpos[:], sim.qvel[:] = qpos[i], qvel[i]

    def loop() -> None:
        for _ in range(steps):
            for sim in sims:
                sim.step()

    def together() -> None:
        for _ in range(steps):
            batch.step()

    runs: list[tuple[Callable[[], None], Callable[[], None]]] = [(begin_loop, loop), (begin_batch, together)]
    for begin, run in runs:
        begin()
        run()
    if not np.array_equal(batch.qpos, [sim.qpos for sim in sims]):
        raise SaltusError(f"{name}: batch and simulations do not move alike, not timed")
    impacts = sum(int((sim.events["kind"] == "impact").sum()) for sim in sims)
    names = ("loop", "batch")
    contenders = [Contender(who, *run, n * steps) for who, run in zip(names, runs, strict=True)]
    found = in_turn(contenders, repeats=repeats, least=0.0)
    ratio = found["batch"].ratio_to(found["loop"])
    return BatchRow(name, n, threads, impacts, found["loop"].median, found["batch"].median, ratio)
