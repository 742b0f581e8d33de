"""Display of a recording in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saltus.record.table.energy_figure import energy_figure
from saltus.record.table.events import counts
from saltus.terminal.display import count, facts_html

if TYPE_CHECKING:
    from saltus.record.table.trajectory_table import TrajectoryTable


def trajectory_table(trajectory: TrajectoryTable) -> str:
    """A small HTML table: model, integrator, duration, sizes, events, energy drift, accuracy."""
    return facts_html("Trajectory", _rows(trajectory))


def _rows(t: TrajectoryTable) -> dict[str, str]:
    rows = {}
    if name := t.attrs.get("model_name"):
        rows["model"] = str(name)
    if integrator := t.attrs.get("integrator"):
        step = t.attrs.get("timestep")
        rows["integrator"] = f"{integrator}, timestep {step:.4g} s" if isinstance(step, float) else str(integrator)
    rows["duration"] = f"{t.duration:.4g} s, {count(len(t), 'sample')}"
    sizes = {"nq": t.qpos, "nv": t.qvel, "na": t.act, "nu": t.ctrl}
    rows["size"] = ", ".join(f"{key} = {table.shape[1]}" for key, table in sizes.items())
    if len(t.events):
        rows["events"] = ", ".join(f"{number} {kind}" for kind, number in counts(t.events).items())
    if figure := energy_figure(t):
        rows[figure.name] = f"{figure.value} {figure.remark}"
    if ignored := t.attrs.get("ignored"):
        rows["ignored"] = ", ".join(map(str, ignored)) if isinstance(ignored, list) else str(ignored)
    if t.certificate is not None:
        rows["accuracy"] = str(t.certificate).removeprefix("accuracy: ")
    return rows
