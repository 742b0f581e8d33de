"""Displays of simulations and batches: a picture, settings, and tables of the state."""

from __future__ import annotations

import warnings

import numpy as np

from saltus.draw.scene.snapshot import Still
from saltus.errors import SaltusError
from saltus.notebook.html import (
    Html,
    beside,
    display,
    facts,
    folded,
    folded_table,
    histogram,
    reason,
    table,
    title,
    with_picture,
)
from saltus.notebook.model import number, sizes
from saltus.notebook.picture import picture
from saltus.record.report.report import contact_text
from saltus.record.table.labels import readable
from saltus.simulate.batch import Batch
from saltus.simulate.engine.engine import Engine
from saltus.simulate.running.run_metadata import law_numbers, names_and_units
from saltus.simulate.simulation import Simulation
from saltus.terminal.display import count

COORDINATES = 10  # most coordinates of a batch with distributions
LANES = 12  # most diverged simulations that are listed


def simulation_html(sim: Simulation) -> Html:
    """Display a simulation: a picture of the present state, settings, and tables of the state."""
    engine = sim.engine
    still = Still(engine.qpos, engine.mocap_pos, engine.mocap_quat)
    return display(
        title(f"Simulation of {engine.model.name}", f"t = {number(engine.time, 6)} s"),
        with_picture(picture(engine.model, still), facts(_facts(engine) | {"energy": _energy(sim)})),
        _state(engine),
    )


def _facts(engine: Engine) -> dict[str, str]:
    integrator = engine.integrator
    known = {
        "model": sizes(engine.model),
        "time": f"{number(engine.time, 6)} s",
        "integrator": f"{integrator.name}, order {integrator.order}, timestep {number(engine.timestep)} s",
        "contact": contact_text(engine.law.name, law_numbers(engine.law)),
    }
    if engine.control is not None:
        known["control"] = str(engine.control)
    if engine.dynamics is not None:
        known["equations"] = str(engine.dynamics)
    if len(engine.events):
        known["events"] = str(len(engine.events))
    if engine.unconverged:
        known["not converged"] = count(engine.unconverged, "step")
    return known


def _energy(sim: Simulation) -> str:
    try:
        potential, kinetic = sim.data.energy
    except SaltusError as error:  # such as a state that is not finite, or use by another thread
        return reason(error)
    total = number(potential + kinetic, 6)
    return f"{total} J: potential {number(potential, 6)} J, kinetic {number(kinetic, 6)} J"


def _state(engine: Engine) -> Html:
    model = engine.model
    units = model.coordinate_units()
    tables = [
        _values("position", model.qpos_names(), engine.qpos, units[0]),
        _values("velocity", model.dof_names(), engine.qvel, units[1]),
        _values("control", names_and_units(engine)[0]["ctrl"], engine.ctrl, [""] * model.nu),
    ]
    return beside(*tables)


def _values(what: str, names: list[str], values: np.ndarray, units: list[str]) -> Html:
    kind = "actuator" if what == "control" else "joint"
    rows = [[readable(n, kind), f"{number(x, 6)} {u}".rstrip()] for n, x, u in zip(names, values, units, strict=True)]
    return folded_table(count(len(rows), what), [kind, what], rows)


def batch_html(batch: Batch) -> Html:
    """Display a batch: its size, settings, and distributions of positions and velocities."""
    time, integrator, diverged = batch.time, batch.integrator, batch.diverged
    low, high = number(time.min(), 6), number(time.max(), 6)
    known = {
        "size": f"{count(batch.n, 'simulation')}, {batch.precision}, {count(batch.threads, 'thread')}",
        "model": f"{batch.shared.name}: {sizes(batch.shared)}",
        "integrator": f"{integrator.name}, order {integrator.order}, timestep {number(batch.timestep)} s",
        "time": f"{low} s" if low == high else f"{low} to {high} s",
        "diverged": _diverged(diverged),
    }
    if batch.unconverged:
        known["not converged"] = count(batch.unconverged, "step")
    units = batch.model.coordinate_units()
    return display(
        title(f"Batch of {batch.model.name}", f"n = {batch.n}"),
        facts(known),
        _distributions("position", batch.model.qpos_names(), batch.qpos[~diverged], units[0]),
        _distributions("velocity", batch.model.dof_names(), batch.qvel[~diverged], units[1]),
    )


def _diverged(mask: np.ndarray) -> str:
    found = np.flatnonzero(mask)
    if not found.size:
        return "none"
    more = f" and {found.size - LANES} more" if found.size > LANES else ""
    return f"{found.size} of {len(mask)}: {', '.join(map(str, found[:LANES]))}{more}"


def _distributions(what: str, names: list[str], values: np.ndarray, units: list[str]) -> Html:
    """Statistics and histograms of the coordinates that differ most between the simulations."""
    if not values.size:
        return Html("")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about coordinates that are not finite in any simulation
        spread = np.nan_to_num(np.nanstd(values.astype(float), axis=0))
    chosen = np.sort(np.argsort(-spread, kind="stable")[:COORDINATES])
    rows = []
    for k in chosen:
        column = values[:, k].astype(float)
        numbers = [number(x) for x in (column.min(), column.mean(), column.max(), column.std())]
        rows.append([readable(names[k], "joint"), units[k], *numbers, histogram(column)])
    left = f", the {len(rows)} that differ most" if len(rows) < len(names) else ""
    content = table([what, "unit", "least", "mean", "largest", "deviation", "distribution"], rows)
    return folded(f"{count(len(names), what)}{left}", content, unfolded=what == "position")
