"""Studies: the effect of each of several changes to a model, separately and combined.

The study of the trampoline answers the question of a notebook on integrators: a ball fell into a sheet that caught it
like a tarp; some numbers were changed, and it bounced. Which of the changes mattered?
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from saltus.errors import OptionError
from saltus.integrate.registry import IntegratorChoice
from saltus.record.sweep import Sweep
from saltus.record.table.sweep_table import DONE
from saltus.study.executors.executor import Workers
from saltus.study.settings import Setting
from saltus.study.sweep import sweep
from saltus.terminal.progress import ProgressChoice

ALL, BASE, RESTING = "all together", "as it is", ", at rest"


@dataclass(frozen=True)
class Study:
    """Changes to a model, and the measures taken of each.

    Attributes:
        model: a bundled name.
        changes: {name: {path: value}}, each alone; see `saltus.study.settings`.
        apart: names of the changes left out of the combined case.
        measures: {column of the table: measure}, of the motion.
        resting, at_rest: measures of a second run for each change, and the extra settings that bring it to rest.
        duration: s of each run.
        about: a line for the table's title.
    """

    model: str
    changes: Mapping[str, Mapping[str, Setting]]
    measures: Mapping[str, str]
    duration: float
    about: str
    apart: tuple[str, ...] = ()
    resting: Mapping[str, str] = field(default_factory=dict)
    at_rest: Mapping[str, Setting] = field(default_factory=dict)

    def cases(self) -> dict[str, dict[str, Setting]]:
        """The model as it is, each change alone, and all together."""
        together: dict[str, Setting] = {}
        for name, values in self.changes.items():
            together |= {} if name in self.apart else values
        return {BASE: {}, **{name: dict(values) for name, values in self.changes.items()}, ALL: together}


def _rim(n: int) -> str:
    """Indices of the vertices at the edge of an n x n grid."""
    return " ".join(str(i * n + j) for i in range(n) for j in range(n) if {i, j} & {0, n - 1})


STUDIES = {
    "trampoline": Study(
        model="trampoline",
        changes={
            # a contact's parameters are the mean of the sheet's and the ball's: 15 ms from 10 and 20
            "sheet's solref 1 ms, not 10": {"flexcomp[sheet]/contact/solref": "0.001 1"},
            "both solrefs 1 ms": {"flexcomp[sheet]/contact/solref": "0.001 1", "geom[ball]/solref": "0.001 1"},
            "sheet's solimp 0.99 to 0.999": {"flexcomp[sheet]/contact/solimp": "0.99 0.999 0.00001"},
            "edge damping 2, not 10": {"flexcomp[sheet]/edge/damping": 2},
            "thickness x 1.5": {"flexcomp[sheet]/elasticity/thickness": 0.015},
            "Young's modulus x 5": {"flexcomp[sheet]/elasticity/young": 375000},
            "held all round": {"flexcomp[sheet]/pin/id": _rim(16)},
            "a disc": {"flexcomp[sheet]/type": "disc"},
            "gravity 12 m/s²": {"opt.gravity[2]": -12.0},
        },
        apart=("both solrefs 1 ms", "a disc", "gravity 12 m/s²"),
        measures={
            "lowest": "height[ball].min",
            "penetration": "penetration[ball].max",
            "rebound": "height[ball].apex",
            "absorbed": "body_energy[ball].loss",
            "bounces": "height[ball].bounces",
        },
        resting={"sag": "sag[sheet].final"},
        # nothing touches the sheet, and a medium damps its motion; neither changes where it rests
        at_rest={"geom[ball]/contype": 0, "geom[ball]/conaffinity": 0, "opt.viscosity": 3.0},
        duration=3.0,
        about="what makes it bounce",
    )
}


def study(
    name: str,
    *,
    integrator: IntegratorChoice = None,
    timestep: float | None = None,
    workers: Workers = None,
    reproducible: bool = True,
    save: str | os.PathLike[str] | None = None,
    progress: ProgressChoice = None,
) -> Sweep:
    """Run a study by name: a table with a row for each change.

    `integrator`, `timestep` (s), `workers`, `reproducible`, `save` and `progress` as `saltus.sweep` takes them.

    Raises:
        OptionError: there is no such study, or an option cannot be used.
        RecordError: `save` cannot be read or written.
    """
    if name not in STUDIES:
        raise OptionError.unknown("study", name, STUDIES)
    plan = STUDIES[name]
    cases = plan.cases()
    values = cases | (
        {f"{case}{RESTING}": {**given, **plan.at_rest} for case, given in cases.items()} if plan.resting else {}
    )
    options: dict[str, Any] = {"integrator": integrator, "timestep": timestep, "workers": workers, "save": save}
    options["reproducible"] = reproducible
    measures = {**plan.resting, **plan.measures}
    table = sweep(plan.model, values, measures, plan.duration, sample=timestep or None, progress=progress, **options)
    return _merged(table, plan, len(cases))


def _merged(table: Sweep, plan: Study, count: int) -> Sweep:
    """A row for each case, joined with the measures at rest from its second run."""
    values, status, notes = table.values[:count].copy(), table.status[:count], table.notes[:count]
    if plan.resting:
        rest = slice(0, len(plan.resting))
        values[:, rest] = table.values[count:, rest]
        for k in range(count):
            if table.status[count + k] != DONE:
                values[k, rest] = np.nan
                status[k] = status[k] if status[k] != DONE else table.status[count + k]
                notes[k] = "; ".join(filter(None, [notes[k], f"at rest: {table.notes[count + k]}"]))
    return dataclasses.replace(
        table,
        title=f"{table.title}: {plan.about}",
        points=table.points[:count],
        values=values,
        status=status,
        notes=notes,
        cases=table.cases[:count],
    )
