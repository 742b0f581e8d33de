"""Derivatives of one step, exact to rounding, by dual numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.contact.mujoco.collision import attach
from saltus.errors import OptionError, warn
from saltus.model.layout import DATA
from saltus.number.structs import Struct
from saltus.simulate.analysis.parameter_derivatives import ParameterDerivatives
from saltus.simulate.analysis.run_tangents import RunTangents
from saltus.simulate.engine import loops
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.snapshot import peeking

STATE = (
    *("time", "qpos", "qvel", "eq_active", "act", "ctrl", "qacc_warmstart", "mocap_pos", "mocap_quat", "history"),
    *("userdata", "control_prm", "qfrc_applied", "xfrc_applied"),
)
FREE = {"tendon", "wrap", "tendon_force", "tendon_armature"}  # features that the integrators' own tangents support
REMEMBERED = 8  # sets of parameters whose memory is kept
POLISH = 12  # Newton iterations after convergence, for the tangents of implicit methods


@dataclass(frozen=True, eq=False)
class Linearization:
    """Derivatives of one step, which unpack as A, B, P.

    (dq, dv, dw)' = A (dq, dv, dw) + B du + P dp, with dp the changes of the parameters `names`.
    """

    A: NDArray[np.float64]
    """[2 nv + na, 2 nv + na] by the state, in SI units."""
    B: NDArray[np.float64]
    """[2 nv + na, nu] by the controls."""
    P: NDArray[np.float64]
    """[2 nv + na, k] by the parameters."""
    names: tuple[str, ...]
    """[k] the parameters: "body_inertia[link][0]", "opt.gravity[2]", "PID.kp[motor]"."""

    def __iter__(self) -> Iterator[NDArray[np.float64]]:
        return iter((self.A, self.B, self.P))


def linearize(
    engine: Engine, parameters: Sequence[str] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | Linearization:
    """Matrices A and B of one step at the present state, of awake trees, with `parameters` also P.

    OptionError if steps have no derivatives.
    """
    if engine.hard is not None or engine.integrator.adaptive:
        if parameters is not None:
            raise OptionError(
                "linearize: derivatives by parameters are those of fixed steps under soft contact; "
                "leave out the parameters, or use contact='soft' with a fixed-step integrator such as rk4"
            )
        if "run_tangents" not in engine.memo:
            engine.memo["run_tangents"] = RunTangents(engine)
        return engine.memo["run_tangents"].linearize()
    if "linearization" not in engine.memo:
        engine.memo["linearization"] = StepTangents(engine)
    return engine.memo["linearization"](parameters)


class StepTangents:
    """Derivatives of the steps of an engine, with memory for them."""

    def __init__(self, engine: Engine):
        integrator = engine.integrator
        if engine.motions:
            raise OptionError(
                "linearize does not support prescribed motions; make the joints free, with servos on them"
            )
        if "noslip" in engine.m.layout.features:
            raise OptionError("linearize does not support the noslip solver; leave noslip_iterations at 0")
        solved = integrator.needs.get("pcg", False)
        if solved is True or (solved and "flex" in engine.m.layout.features):
            of = "" if solved is True else " of deformable bodies"
            raise OptionError(f"linearize does not support {integrator.name}{of}; choose euler or implicit_midpoint")
        tangent_parameters: list[Any] = list(integrator.parameters)
        if integrator.needs.get("newton"):
            tangent_parameters[1] = np.int64(POLISH)
        self._engine = engine
        self._parameters = (*integrator.parameters, *tangent_parameters)
        self._tangent_parameters = tangent_parameters
        self._by_parameters: dict[tuple[str, ...], ParameterDerivatives] = {}
        self._m, self._d = engine.m, engine.d
        sizes = engine.d.sizes
        self._room = room = {"control_states": sizes["nact_room"] - sizes["nact"], "control_prm": sizes["ncontrol_prm"]}
        self._dual = Struct(DATA, integrator.data_sizes(engine.model.sizes(), tangents=True, **room), "dual")
        attach(engine.model, self._dual)
        if engine.sleeps:  # derivatives are taken of a step with all trees awake
            warn("linearize: derivatives are those with all trees awake")
            self._m = engine.model.struct(timestep=engine.law_timestep, laws=engine.laws._replace(sleeps=False))
            self._d = Struct(DATA, integrator.data_sizes(self._m.sizes, **room))
            attach(engine.model, self._d)
        self._loop = loops.linearize(integrator, self._m.layout.features <= FREE)
        self._state_rows = [self._dual.span(f, f) for f in ("qpos", "qvel", "act", "ctrl")]
        inputs = (("eq_active",) * 2, ("history",) * 2, ("mocap_pos", "control_prm"), ("qfrc_applied", "xfrc_applied"))
        self._input_rows = [self._dual.span(*fields) for fields in inputs]

    def __call__(
        self, parameters: Sequence[str] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | Linearization:
        """A and B of (dq, dv, dw)' = A (dq, dv, dw) + B du over one step at the present state; also P of parameters.

        A [2 nv + nact, 2 nv + nact], B [2 nv + nact, nu], P [2 nv + nact, k]. Values held by the delays of actuators
        and sensors are not part of the state: they count as constants, so that the columns of B are zero for a control
        with a delay.
        """
        engine, dual = self._engine, self._dual
        by_parameters = None if parameters is None else self._derivatives(tuple(parameters))
        engine.prepare()
        with peeking(engine):
            data = self._data()
            memory = data.views["memory"]
            memory[:] = 0.0
            dual.ints[DATA.slot["has_xfrc"]] = data.ints[DATA.slot["has_xfrc"]]
            dual.fill("timestep", engine.timestep)
            data.fill("timestep", engine.timestep)
            for rows in self._input_rows:
                dual.real[rows, 0, 0] = data.real[rows]
            states, nu = 2 * engine.model.nv + engine.m.nact, engine.model.nu
            A, B = np.empty((states, states)), np.empty((states, nu))
            start = [data.real[rows].copy() for rows in self._state_rows]
            sizes = memory.size, data.views["qacc_warmstart"].size
            time = float(data.views["time"])
            if by_parameters is not None:
                by_parameters.begin(data, engine.timestep)
            self._loop(self._m, data, dual, *start, *sizes, engine.timestep, A, B, *self._parameters)
            if by_parameters is None:
                return A, B
            P = by_parameters.matrix(data, [*start, time], sizes, engine.timestep)
        return Linearization(A, B, P, by_parameters.names)

    def _derivatives(self, names: tuple[str, ...]) -> ParameterDerivatives:
        """Derivatives by parameters, kept for the next call with the same names."""
        if names not in self._by_parameters:
            made = ParameterDerivatives(self._engine, names, self._tangent_parameters, self._room)
            while len(self._by_parameters) >= REMEMBERED:
                del self._by_parameters[next(iter(self._by_parameters))]
            self._by_parameters[names] = made
        return self._by_parameters[names]

    def _data(self) -> Struct:
        """Data with the present state and inputs: the engine's own, or new ones in which no tree sleeps."""
        engine, data = self._engine, self._d
        if data is not engine.d:
            data.ints[DATA.slot["has_xfrc"]] = engine.d.ints[DATA.slot["has_xfrc"]]
            for name in STATE:
                data.views[name][...] = engine.d.views[name]
        return data
