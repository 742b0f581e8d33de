"""`saltus bench rollout`: rollouts under given controls beside `mujoco.rollout`, and plans by sampling made of them.

The same controls from the same state, on as many threads, in this process and in turn. `states` records time,
positions, velocities and activations, `sensors` the sensors too, which `mujoco.rollout` always computes. `plan` is a
call of `saltus.mppi`, beside MuJoCo's rollout of as many controls.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from saltus.bench.harness.report import Benchmark, Case, Effort, Row, compared

FOOTNOTES = (
    "CPU times of a step of one simulation, on all threads together",
    "difference: of positions from MuJoCo's after 5 steps; large where a solver stops before it has converged",
)
ARMS, QUICK_ARMS = 9, 100  # simulations of the arm, and their steps if quick
PLANNED, HORIZON = 256, 50  # simulations of other models, and their steps
EARLY = 5  # steps after which results are compared
NOISE = 0.05  # standard deviation of the controls from those of the start


def bench_rollout(*, quick: bool, threads: int | None, json_path: Path | None, extra: list[str]) -> None:
    """Run the benchmark: measure, print tables, write them as JSON."""
    title = "rollouts beside mujoco.rollout: nine arms x 1500 steps, 256 simulations x 50 steps of others"
    benchmark = Benchmark(title, partial(_cases, extra=extra), _measure, FOOTNOTES)
    benchmark.run(quick=quick, threads=threads, json_path=json_path)


def _cases(quick: bool, extra: list[str]) -> tuple[list[Case], list[str]]:
    """Cases to measure, and notes on them."""
    cases = [Case("arm", "arm", QUICK_ARMS if quick else 1500)]
    cases += [] if quick else [Case("humanoid", "humanoid", HORIZON)]
    return cases + [Case(Path(m).stem, m, HORIZON) for m in extra], []


def _measure(case: Case, effort: Effort, threads: int, show: Callable[[float], None]) -> tuple[list[Row], None]:
    from saltus.bench.harness.peers import PRECISIONS
    from saltus.bench.harness.timing import in_turn

    n = ARMS if case.name == "arm" else PLANNED
    both = Rollouts(case.model, n, case.steps, threads)
    apart = both.difference()
    timed: Any = {"repeats": effort.repeats, "least": effort.seconds, "clock": time.process_time}
    rows: list[Row] = []
    for k, precision in enumerate(PRECISIONS):
        whats = ["states", *(["sensors"] if both.model.nsensordata else []), "plan"]
        own = [both.plan(precision) if what == "plan" else both.saltus(what, precision) for what in whats]
        found = in_turn([both.mujoco(), *own], **timed)
        rows += [
            compared(
                case, both.model.nv, f"{what} {precision}", found, contender.name, apart if k == 0 else float("nan")
            )
            for what, contender in zip(whats, own, strict=True)
        ]
        show((k + 1) / len(PRECISIONS))
    return rows, None


class Rollouts:
    """Rollouts of n simulations of a model from its first keyframe or its start, by MuJoCo and by Saltus."""

    def __init__(self, model: Any, n: int, steps: int, threads: int):
        import mujoco
        import numpy as np
        from mujoco import rollout

        import saltus

        self.model = saltus.load(model)
        self.m, self.threads, self.units = self.model.mujoco, threads, n * steps
        self.data = [mujoco.MjData(self.m) for _ in range(threads)]
        if self.m.nkey:
            mujoco.mj_resetDataKeyframe(self.m, self.data[0], 0)
        bits = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
        self.start = np.zeros((1, mujoco.mj_stateSize(self.m, bits)))
        mujoco.mj_getState(self.m, self.data[0], self.start[0], bits)
        self.fields = {name: getattr(self.data[0], name).copy() for name in ("qpos", "qvel", "act")}
        self.ctrl = self.data[0].ctrl.copy()
        self.rng = np.random.default_rng(0)
        self.controls = self.ctrl + NOISE * self.rng.standard_normal((n, steps, self.m.nu))
        self._peer = rollout.Rollout(nthread=threads)

    def difference(self) -> float:
        """The largest difference of positions after some steps."""
        import numpy as np

        early = self.controls[:, :EARLY]
        theirs, _ = self._peer.rollout(self.m, self.data, self.start, early)
        ours = self.batch("float64").rollout(early, "qpos", start=self.fields).qpos
        return float(np.abs(theirs[:, -1, 1 : 1 + self.m.nq] - ours[:, -1]).max())

    def batch(self, precision: str) -> Any:
        """The simulations as a batch."""
        import saltus

        return saltus.Batch(self.model, len(self.controls), threads=self.threads, precision=precision)

    def mujoco(self) -> Any:
        """MuJoCo's rollout, to be timed."""
        from saltus.bench.harness.timing import Contender

        work = partial(self._peer.rollout, self.m, self.data, self.start, self.controls)
        return Contender("mujoco", lambda: None, work, self.units)

    def saltus(self, what: str, precision: str) -> Any:
        """`Batch.rollout` of states, or of states and sensors, to be timed."""
        from saltus.bench.harness.timing import Contender

        record = ["time", "qpos", "qvel", "act", *(["sensordata"] if what == "sensors" else [])]
        work = partial(self.batch(precision).rollout, self.controls, record, start=self.fields, on_divergence="flag")
        return Contender(what, lambda: None, work, self.units)

    def plan(self, precision: str) -> Any:
        """A call of the planner by sampling, which holds each noise for ten steps, to be timed."""
        import saltus
        from saltus.bench.harness.timing import Contender

        sim = saltus.Simulation(self.model)
        sim.reset(0 if self.m.nkey else None)
        how: dict[str, Any] = dict(noise=NOISE, samples=len(self.controls), threads=self.threads, hold=10)

        def cost(rollout: Any) -> Any:
            return (rollout.qvel**2).sum(axis=-1) + 0.01 * (rollout.ctrl**2).sum(axis=-1)

        planner = saltus.mppi(sim, cost, self.controls.shape[1], record=("qpos", "qvel"), precision=precision, **how)
        return Contender("plan", sim.step, partial(planner, sim), self.units)
