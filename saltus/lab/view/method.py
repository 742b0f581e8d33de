"""The Butcher tableau of a session's method, and the slopes of its last step, for the page."""

from __future__ import annotations

from typing import Any

from saltus.integrate.tableau import coefficient
from saltus.simulate.analysis.stage_slopes import stage_slopes
from saltus.simulate.simulation import Simulation

MOST_DOFS = 4  # coordinates whose slopes are shown


def method_message(sim: Simulation) -> dict[str, Any] | None:
    """The tableau as texts (c, a, b) with the slopes of the last step; None for methods without a tableau.

    slopes: None where they are not kept, else [{name, rates, accelerations}] of the first coordinates.
    """
    integrator = sim.integrator
    table = integrator.tableau
    if table is None:
        return None
    rows = [[coefficient(x) for x in row] for row in table]
    found, names = stage_slopes(sim.engine), sim.model.dof_names()
    slopes = None
    if found is not None:
        slopes = [
            {"name": name, "rates": found[:, 0, i].tolist(), "accelerations": found[:, 1, i].tolist()}
            for i, name in enumerate(names[:MOST_DOFS])
        ]
    return {
        **{"name": integrator.name, "order": integrator.order, "dofs": len(names)},
        **{"c": [row[0] for row in rows[:-1]], "a": [row[1:] for row in rows[:-1]], "b": rows[-1][1:]},
        "slopes": slopes,
    }
