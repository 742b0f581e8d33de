"""Derivatives of sensor readings and of other quantities at one state, exact to rounding, by dual numbers.

Forces of soft constraints follow from the implicit function theorem at the solution of the constraint problem (see
`saltus.solve.soft.newton`), those of hard ones from the linear problem of the active set.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from saltus.contact.mujoco.collision import attach
from saltus.errors import EventError, OptionError, warn
from saltus.integrate.event.event_driven import event_driven
from saltus.model.event_enums import LEFT
from saltus.model.layout import DATA, model_layout
from saltus.number.kinds import NTANGENT
from saltus.number.structs import Struct
from saltus.simulate.derivatives.data_parts import DataParts
from saltus.simulate.derivatives.dual_model import DualModel
from saltus.simulate.derivatives.linearize import STATE
from saltus.simulate.derivatives.parameter_columns import CONSTANT, constant_normals, touching
from saltus.simulate.derivatives.readings import chosen_readings
from saltus.simulate.derivatives.run_tangents import DENSE, INEXACT, START, check_start
from saltus.simulate.diagnosis import divergence
from saltus.simulate.engine import loops
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.sensing import attach_sensing, bodies, sense
from saltus.simulate.engine.snapshot import peeking

Array = NDArray[np.float64]
REMEMBERED = 8  # sets of parameters whose memory is kept


@dataclass(frozen=True, eq=False)
class SensorLinearization:
    """Derivatives of readings y at one state, which unpack as C, D, P: dy = C (dq, dv, dw) + D du + P dp.

    dq are changes of positions along the axes of qvel, dw of the states of actuators, dp of the parameters `names`.
    """

    C: Array
    """[r, 2 nv + na] by the state, in SI units."""
    D: Array
    """[r, nu] by the controls."""
    P: Array
    """[r, k] by the parameters."""
    names: tuple[str, ...]
    """[k] the parameters: "body_inertia[link][0]", "opt.gravity[2]"."""
    readings: tuple[str, ...]
    """[r] the readings: "imu[2]", "encoder", or fields of the data: "qacc[knee]"."""

    def __iter__(self) -> Iterator[Array]:
        return iter((self.C, self.D, self.P))


class Reading(Protocol):
    """Numbers [r] that are read at one state."""

    @property
    def of_forces(self) -> bool:
        """Whether any depends on forces or contacts."""
        ...

    @property
    def reads_sensors(self) -> bool:
        """Whether sensors must be computed, beyond `forward`."""
        ...

    @property
    def reads_bodies(self) -> bool:
        """Whether accelerations and wrenches of bodies must be computed, beyond `forward`."""
        ...

    def tangents(self, m: Struct, d: Struct) -> Array:
        """Tangents [r, NTANGENT] of the numbers in a dual Data."""
        ...

    def names(self, m: Struct, d: Struct) -> tuple[str, ...]:
        """Names [r] of the numbers."""
        ...


class _Tangents:
    """Memory for readings with tangents, with a Model of floats or duals."""

    def __init__(self, engine: Engine, m: Struct):
        self._engine, self._m = engine, m
        stepped = event_driven(engine.integrator) if engine.locates_events else engine.integrator
        sizes = engine.d.sizes
        room = {"control_states": sizes["nact_room"] - sizes["nact"], "control_prm": sizes["ncontrol_prm"]}
        self.d = Struct(DATA, stepped.data_sizes(m.sizes, tangents=True, **room), "dual")
        attach(engine.model, self.d)
        attach_sensing(engine.model, self.d)
        features = engine.model.sensing_struct(timestep=engine.law_timestep, laws=engine.laws).layout.features
        self._sensing = copy.copy(m)
        self._sensing.layout = model_layout(m.layout.features | features)
        self._seed_run = loops.seed_run.bound(self._m, self.d)
        self._forward = loops.forward.bound(self._m, self.d)
        self._sense = sense.bound(self._sensing, self.d)
        bodies_too = copy.copy(m)
        bodies_too.layout = model_layout(m.layout.features | {"sense_body", "sense_subtree"})
        self._bodies = bodies.bound(bodies_too, self.d)

    def take_over(self) -> None:
        """Copy the engine's inputs, and what is known of its contacts, without tangents."""
        source, own = self._engine.d, self.d.views
        self.d.ints[DATA.slot["has_xfrc"]] = source.ints[DATA.slot["has_xfrc"]]
        self.d.fill("timestep", source.views["timestep"])
        everything = self._engine.locates_events
        for name in source.views if everything else STATE:
            values = source.views[name]
            if np.size(values) and own[name].shape[: np.ndim(values)] == np.shape(values):  # scratch may differ
                self.d.fill(name, values)

    def along(self, start: Sequence[Array], column: int, read: Reading) -> Array:
        """Tangents [r, NTANGENT] of what is read along directions column, ... of (dq, dv, dw, du)."""
        self._seed_run(*start, column)
        self._forward()
        if read.reads_sensors:
            self._sense()
        if read.reads_bodies:
            self._bodies()
        return read.tangents(self._m, self.d)

    def names(self, read: Reading) -> tuple[str, ...]:
        """Names [r] of what is read at the last state."""
        return read.names(self._m, self.d)


class SensorTangents:
    """Readings of an engine's sensors with tangents along state, controls and parameters."""

    def __init__(self, engine: Engine):
        _check(engine)
        self._engine = engine
        self._own = _Tangents(engine, engine.m)
        self._along: dict[tuple[str, ...], tuple[DualModel, _Tangents]] = {}

    def linearize(self, read: Reading, parameters: tuple[str, ...] = ()) -> SensorLinearization:
        """C [r, 2 nv + na], D [r, nu] and P [r, k] at the present state."""
        engine = self._engine
        states, width = 2 * engine.model.nv + engine.m.nact, engine.model.nu
        by_parameters = self._with_parameters(parameters) if parameters else None
        with peeking(engine):
            self._compute()
            start = [engine.d.views[name].copy().reshape(-1) for name in START]
            groups = []
            for column in range(0, max(states + width, 1), NTANGENT):
                self._own.take_over()
                groups.append(self._own.along(start, column, read).copy())
            found, names = np.hstack(groups)[:, : states + width], self._own.names(read)
            P = np.zeros((len(found), 0))
            if by_parameters is not None:
                P = self._by_parameters(*by_parameters, start, states + width, read)
            if read.of_forces:
                self._check_normals()
        if by_parameters is not None:
            by_parameters[0].check(P)
        _check_finite(names, np.hstack([found, P]))
        C, D = found[:, :states].copy(), found[:, states:].copy()
        return SensorLinearization(C, D, P, () if by_parameters is None else by_parameters[0].names, names)

    def _compute(self) -> None:
        """Compute the present state, at which the constraint solver then starts."""
        engine = self._engine
        engine.note_forces()
        engine.guidance.prescribe(by_users=True)
        engine.place_if_new()
        if engine.locates_events and not engine.modes_are_known():
            check_start(engine.settle(), engine.time)
        if engine.locates_events and engine.d.views["dense"][LEFT] > 0:
            raise EventError(f"{DENSE}; let the simulation go on until they are over", time=engine.time)
        status = loops.forward(engine.m, engine.d)
        if status in INEXACT:
            warn(f"derivatives of readings: {INEXACT[status]} at the present state, where derivatives are inexact")
        divergence.check_accelerations(engine)

    def _with_parameters(self, names: tuple[str, ...]) -> tuple[DualModel, _Tangents]:
        """The Model with tangents along parameters and its memory, kept for the next call."""
        if names not in self._along:
            while len(self._along) >= REMEMBERED:
                del self._along[next(iter(self._along))]
            model = DualModel(self._engine, names)
            self._along[names] = model, _Tangents(self._engine, model.m)
        return self._along[names]

    def _by_parameters(
        self, model: DualModel, own: _Tangents, start: Sequence[Array], none: int, read: Reading
    ) -> Array:
        """P [r, k]; `none`: a column behind all directions of state and controls."""
        groups = []
        for group in range(len(model.groups)):
            own.take_over()
            model.seed(own.d, group)
            groups.append(own.along(start, none, read).copy())
        model.seed(own.d, None)
        return np.hstack(groups)[:, : len(model.names)]

    def _check_normals(self) -> None:
        """OptionError if a contact has a normal that does not turn in derivatives."""
        engine = self._engine
        if geoms := constant_normals(engine.model.mj_model, touching(engine.m, engine.d)):
            raise OptionError(
                f"derivatives of readings: {CONSTANT.format(geoms)}; or name those of positions and velocities"
            )


def _check(engine: Engine) -> None:
    """OptionError for readings through which dual numbers cannot go."""
    if engine.motions:
        raise OptionError(
            "derivatives of readings do not support prescribed motions; make the joints free, with servos on them"
        )
    if "noslip" in engine.m.layout.features:
        raise OptionError("derivatives of readings do not support the noslip solver; leave noslip_iterations at 0")
    if engine.sleeps:
        raise OptionError("derivatives of readings do not support bodies that sleep; leave the sleep flag off")
    if engine.steps_over_events:
        raise OptionError(
            f"derivatives of readings: contact forces of {engine.integrator.name} are means over a step, without "
            "derivatives; choose an integrator that locates events, such as dopri5"
        )


def _check_finite(names: Sequence[str], found: Array) -> None:
    """EventError for readings without derivatives at the present state."""
    bad = np.flatnonzero(~np.isfinite(found).all(axis=1))
    if bad.size:
        raise EventError(
            f"the reading {names[bad[0]]} has no derivatives here: it has a kink, such as a distance or force at zero"
        )


def sensor_tangents(engine: Engine) -> SensorTangents:
    """Memory for derivatives of an engine's readings, made at the first call; OptionError if they have none."""
    if "linearize_sensors" not in engine.memo:
        engine.memo["linearize_sensors"] = SensorTangents(engine)
    return engine.memo["linearize_sensors"]


def linearize_sensors(
    engine: Engine, sensors: Sequence[str] | None, parameters: Sequence[str] | None
) -> tuple[Array, Array] | SensorLinearization:
    """Derivatives of readings at the present state; see `saltus.Simulation.linearize_sensors`."""
    kept, chosen = engine.memo.setdefault("readings", {}), None if sensors is None else tuple(sensors)
    if chosen not in kept:
        kept[chosen] = chosen_readings(engine.model, chosen)
    return _unpacked(sensor_tangents(engine).linearize(kept[chosen], tuple(parameters or ())), parameters)


def linearize_data(
    engine: Engine, fields: Sequence[str], parameters: Sequence[str] | None
) -> tuple[Array, Array] | SensorLinearization:
    """Derivatives of fields of the data at the present state; see `saltus.Simulation.linearize_data`."""
    made = sensor_tangents(engine)
    kept, chosen = engine.memo.setdefault("data_parts", {}), tuple(fields)
    if chosen not in kept:
        kept[chosen] = DataParts(engine, chosen)
    return _unpacked(made.linearize(kept[chosen], tuple(parameters or ())), parameters)


def _unpacked(
    found: SensorLinearization, parameters: Sequence[str] | None
) -> tuple[Array, Array] | SensorLinearization:
    """C and D alone, if no parameters were asked for."""
    return (found.C, found.D) if parameters is None else found
