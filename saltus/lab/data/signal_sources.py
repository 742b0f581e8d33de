"""Sources of signals in simulations and recordings, with the names used by recordings and measures.

`qpos[hinge]`, `qvel[hinge]`, `ctrl[motor]`, `act[muscle]`, `energy`, `sensor[gyro][0]` (see `saltus.Trajectory` and
`saltus.study.measures`); fields of `saltus.Simulation.data`, as `actuator_force[motor]`; `contact_force[floor ball]`
is the magnitude of the force at a contact point, `contact_force[floor ball][2]` its z component.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.lab.data.signals import Signal, Signals, Source
from saltus.model.enums import FREE, HINGE, SLIDE
from saltus.record.table.labels import in_brackets
from saltus.simulate.running.contact_columns import energy_and_contacts, point_count, point_names
from saltus.simulate.running.labels import FORCE_ALONG, output_labels, sensor_labels
from saltus.simulate.running.run_metadata import names_and_units

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.record.trajectory import Trajectory
    from saltus.simulate.simulation import Simulation

WITH_PARTS = 64  # most contact points with separate signals for x, y and z
FEW = 3  # signals of a kind in a preset
ENERGIES = ("energy", "potential", "kinetic")


def simulation_sources(sim: Simulation) -> list[Source]:
    """Sources of all signals of a simulation."""
    names, units = names_and_units(sim.engine)
    model, along = sim.model, [FORCE_ALONG[unit] for unit in units["qvel"]]
    states = [(f"{field}", units[field], names[field]) for field in ("qpos", "qvel", "ctrl", "act")]
    group = dict(qpos="Positions", qvel="Velocities", ctrl="Controls", act="Activations")
    found = [_field(field, group[field], own, unit, _turning(model)) for field, unit, own in states]
    if sim.control is not None and not sim.control.hold:
        found[2] = Source(found[2].signals, present_controls, computed=True, field="ctrl")
    found.append(_field("actuation_state", "Discrete states", names["actuation"], [""] * len(names["actuation"])))
    forces = [("qfrc_applied", names["qvel"], along, False)]
    if model.nactuator:
        forces += [("qfrc_actuator", names["qvel"], along, True)]
        forces += [("actuator_force", *output_labels(model), True)]
    found += [_field(field, "Forces", own, unit, computed=computed) for field, own, unit, computed in forces]
    found += [_contacts(sim), _energies_source()]
    if model.nsensordata:
        found.append(Source(_sensors(model), lambda sim: sim.sensordata, computed=True, field="sensordata"))
    return [source for source in found if source.signals]


def _plain(id: str, unit: str, group: str) -> Signal:
    return Signal(id, id, unit, group)


def _field(
    field: str,
    group: str,
    names: Sequence[str],
    units: Sequence[str],
    turning: Iterable[str] = (),
    computed: bool = False,
) -> Source:
    """Source of a field of the simulation, or of its data if it is computed, with a number for each name."""
    labelled = zip(names, units, strict=True)
    turns = set(turning) if field == "qpos" else set()
    signals = [Signal(f"{field}[{n}]", f"{field}[{n}]", unit, group, n in turns) for n, unit in labelled]
    if computed:
        return Source(signals, lambda sim: getattr(sim.data, field), computed=True, field=field)
    return Source(signals, lambda sim: getattr(sim, field), field=field)


def present_controls(sim: Simulation) -> NDArray[np.float64]:
    """Controls [nu] at the present state; the last step left those of one of its stages."""
    sim.forward()
    return sim.ctrl


def _turning(model: Model) -> list[str]:
    """Names of the hinges without limits."""
    kinds = zip(model.names("joint"), model.jnt_type, model.jnt_limited, strict=True)
    return [name for name, kind, limited in kinds if kind == HINGE and not limited]


def _energies_source() -> Source:
    signals = [_plain(name, "J", "Energies") for name in ENERGIES]
    return Source(signals, _energies, computed=True, field="energy")


def _energies(sim: Simulation) -> NDArray[np.float64]:
    potential, kinetic = sim.data.energy
    return np.array([potential + kinetic, potential, kinetic])


def _sensors(model: Model) -> list[Signal]:
    labels = zip(*sensor_labels(model), strict=True)
    return [_plain(in_brackets("sensor", name), unit, "Sensors") for name, unit in labels]


def _contacts(sim: Simulation) -> Source:
    """Source of the forces at the contact points that recordings have columns for."""
    count = point_count(sim.engine)
    names = point_names(sim.model, sim.engine.m) if count else []
    parts = count <= WITH_PARTS

    def read(sim: Simulation) -> ArrayLike:
        return contact_values(energy_and_contacts(sim.engine)[1]["contact_force"], parts)

    return Source(_contact_signals(names, parts), read, computed=True, field="contact_force")


def _contact_signals(names: list[str], parts: bool) -> list[Signal]:
    ids = [f"contact_force[{name}]" for name in names]
    ids += [f"contact_force[{name}][{axis}]" for name in names for axis in range(3)] if parts else []
    return [_plain(id, "N", "Contact forces") for id in ids]


def contact_values(forces: NDArray[Any], parts: bool) -> NDArray[Any]:
    """Magnitudes of forces [..., n, 3] (N), followed by their components with `parts`: [..., n or 4 n]."""
    strength = np.linalg.norm(forces, axis=-1)
    flat = forces.reshape(*forces.shape[:-2], -1)
    return np.concatenate([strength, flat], axis=-1) if parts else strength


def recorded_signals(trajectory: Trajectory, model: Model) -> Signals:
    """The signals of a recording with all its samples; times count from the first sample."""
    t, names, units = trajectory, trajectory.names, trajectory.units
    fields = {"qpos": "Positions", "qvel": "Velocities", "ctrl": "Controls", "act": "Activations"}
    sources = [_field(field, group, names[field], units[field], _turning(model)) for field, group in fields.items()]
    tables = [getattr(t, field) for field in fields]
    if t.actuation_state.shape[1]:
        sources.append(_field("actuation_state", "Discrete states", names["actuation"], [""] * len(names["actuation"])))
        tables.append(t.actuation_state)
    if t.contact_force.shape[1]:
        parts = t.contact_force.shape[1] <= WITH_PARTS
        sources.append(Source(_contact_signals(names["contact"], parts), lambda sim: ()))
        tables.append(contact_values(t.contact_force, parts))
    if np.isfinite(t.energy).any():
        sources.append(Source([_plain(name, "J", "Energies") for name in ENERGIES], lambda sim: ()))
        tables.append(np.column_stack([t.energy.sum(axis=1), t.energy]))
    signals = Signals(sources, preset_of(model, names))
    signals.history.fill(t.time - t.time[0], np.concatenate(tables, axis=1))
    return signals


def preset_of(model: Model, names: dict[str, list[str]]) -> list[str]:
    """Default signals of a model's plots: a few coordinates and controls.

    `names`: the labels of the simulation's columns.
    """
    kinds, joints = [int(kind) for kind in model.jnt_type], model.names("joint")
    single = [name for name, kind in zip(joints, kinds, strict=True) if kind in (HINGE, SLIDE)]
    heights = [f"{name}.z" for name, kind in zip(joints, kinds, strict=True) if kind == FREE]
    shown = [f"qpos[{name}]" for name in (single[:FEW] if single and not heights else heights[:FEW])]
    shown = shown or [f"qvel[{name}]" for name in names["qvel"][:FEW]]
    driven = [f"ctrl[{name}]" for name in names["ctrl"][:FEW]]
    return [*shown, *driven] or ["energy"]
