"""Results of the benchmark of worlds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from saltus.bench.harness.fresh import Outcome

HEAP = "heap"


@dataclass
class WorldRow:
    """Row of a world; `reason`: why it was not measured to its end, or "".

    `facts`, as `saltus.bench.worlds.world_run` names them: `bodies`, `dof`; seconds of `mujoco_loading`, of `loading`
    (`saltus.load`), `making` (`saltus.Simulation`) and, by the wall clock, `compiling`; growths of the peak of resident
    memory (bytes) `mujoco_memory`, `memory` and, compiling included, `memory_compiling`; seconds of a step, `peer` and
    `saltus`, and their `ratio`; contacts, rows and iterations of both in `mujoco_counts` and `saltus_counts`. By the
    wall clock, with several `threads`: seconds of a step by one, `alone`, and by all, `together`; `same_bits`.
    """

    name: str
    world: str
    arguments: Mapping[str, Any]
    reason: str = ""
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def bodies(self) -> int:
        return int(self.facts["bodies"])

    @property
    def ratio(self) -> float | None:
        """Speed of a step of Saltus relative to MuJoCo's; None if it was not measured."""
        return self.facts.get("ratio")


def row_of(name: str, world: str, arguments: Mapping[str, Any], outcome: Outcome, limit: float) -> WorldRow:
    """The row of a world whose process has ended."""
    facts = dict(outcome.facts)
    done, failed = facts.pop("done", False), facts.pop("failed", "")
    if outcome.late:
        failed = f"took longer than {limit:g} s, stopped while {_stage(facts)}"
    elif not done:
        failed = outcome.error or "its process ended without a result"
    return WorldRow(name, world, arguments, failed, facts)


def _stage(facts: Mapping[str, Any]) -> str:
    """The stage that was going on after the last message."""
    stages = {
        "mujoco_loading": "MuJoCo loaded it",
        "mujoco_memory": "MuJoCo let it settle",
        "memory": "Saltus loaded it",
        "compiling": "Saltus compiled",
    }
    return next((words for said, words in stages.items() if said not in facts), "steps were timed")
