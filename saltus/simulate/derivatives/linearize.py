"""Derivatives of one step, exact to rounding, by dual numbers."""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from saltus.contact.counts import NITER
from saltus.contact.mujoco.collision import attach
from saltus.errors import OptionError, warn
from saltus.integrate.fixed.euler_tangents import SUPPORTED
from saltus.model.layout import DATA
from saltus.number.structs import Struct
from saltus.simulate.derivatives.closed_form import has_closed_form, work_arrays
from saltus.simulate.derivatives.parameter_columns import CONSTANT, constant_normals, touching
from saltus.simulate.derivatives.parameter_derivatives import ParameterDerivatives
from saltus.simulate.derivatives.run_tangents import RunTangents, check_methods
from saltus.simulate.engine import loops
from saltus.simulate.engine.batch.loops import linearize_states
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.snapshot import peeking

STATE = (
    *("time", "qpos", "qvel", "eq_active", "act", "ctrl", "qacc_warmstart", "mocap_pos", "mocap_quat", "history"),
    *("plastic", "userdata", "control_prm", "qfrc_applied", "xfrc_applied"),
)
DELAYED = {"delay", "sensor_delay"}  # features of models that act on values of past steps
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
    made = prepare_linearize(engine, parameters)
    if not isinstance(made, RunTangents):
        return made(parameters)
    A, B, P = made.linearize()
    return (A, B) if parameters is None else Linearization(A, B, P, made.names)


def prepare_linearize(engine: Engine, parameters: Sequence[str] | None = None) -> "StepTangents | RunTangents":
    """Memory for derivatives of an engine's steps, made at the first call, also by these parameters.

    OptionError if steps have no derivatives whatever the state, or none by a parameter.
    """
    if engine.hard is not None or engine.integrator.adaptive:
        return run_tangents(engine, tuple(parameters or ()))
    if "linearization" not in engine.memo:
        engine.memo["linearization"] = StepTangents(engine)
    made: StepTangents = engine.memo["linearization"]
    if parameters is not None:
        made.derivatives(tuple(parameters))
    return made


def run_tangents(engine: Engine, parameters: tuple[str, ...] = ()) -> RunTangents:
    """The engine's steps with tangents, kept for the next call with these parameters; OptionError if they have none."""
    return _kept(engine.memo.setdefault("run_tangents", {}), parameters, lambda: RunTangents(engine, parameters))


def _kept(memory: dict[tuple[str, ...], Any], names: tuple[str, ...], make: Callable[[], Any]) -> Any:
    """The memory's value for these names, made if there is none, in place of the oldest of `REMEMBERED` ones."""
    if names not in memory:
        made = make()
        while len(memory) >= REMEMBERED:
            del memory[next(iter(memory))]
        memory[names] = made
    return memory[names]


def check_chain(engine: Engine, what: str) -> None:
    """OptionError if steps remember more than the state, so that a chain of their derivatives leaves some out."""
    if DELAYED & engine.m.layout.features:
        raise OptionError(
            f"{what}: delays of actuators and sensors carry values from step to step, by which linearize has no "
            "derivatives; leave the delays out"
        )
    if "rodtwist" in engine.m.layout.features:
        raise OptionError(
            f"{what}: rods that twist carry frames from step to step, by which linearize has no derivatives; "
            "use a flex of bodies, which has no joints that twist it, or run_gradient with mode='forward'"
        )
    if engine.remembers and not engine.integrator.adaptive:
        raise OptionError(
            f"{what}: {engine.integrator.name} carries velocities of half steps along, by which linearize has no "
            "derivatives; choose another fixed-step integrator, such as rk4 or implicit_midpoint"
        )


class StepTangents:
    """Derivatives of the steps of an engine, with memory for them."""

    def __init__(self, engine: Engine):
        integrator = engine.integrator
        check_methods(engine)
        tangent_parameters: list[Any] = list(integrator.parameters)
        if integrator.needs.get("newton"):
            tangent_parameters[1] = np.int64(POLISH)
        self._engine = engine
        self._size = 2 * engine.model.nv + engine.m.nact, engine.model.nu
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
        pairs = zip(*(self._m.views[f"collision_geom{k}"].tolist() for k in (1, 2)), strict=True)
        listed = bool(constant_normals(engine.model.mj_model, pairs))
        self._may_lack_normals = listed or "broad" in self._m.layout.features
        self._each: Callable[..., None] | None = None  # the loop of `of_each`, with the arguments that stay
        closed = loops.linearize_in_closed_form(integrator) if has_closed_form(self._m, engine.model) else None
        self._loop = closed or loops.linearize(integrator, self._m.layout.features <= SUPPORTED)
        work = work_arrays(self._m) if closed else tuple(tangent_parameters)
        self._parameters = (*integrator.parameters, *work)
        self._state_rows = [self._dual.span(f, f) for f in ("qpos", "qvel", "act", "ctrl")]
        memory = self._d.views["memory"]
        self._memory, self._sizes = (
            self._d.span("memory", "memory"),
            (memory.size, self._d.views["qacc_warmstart"].size),
        )
        self._forced = slice(DATA.slot["has_xfrc"], DATA.slot["has_xfrc"] + 1)
        inputs = (("eq_active",) * 2, ("history",) * 2, ("plastic",) * 2, ("mocap_pos", "control_prm"))
        inputs += (("qfrc_applied", "xfrc_applied"),)
        self._input_rows = [self._dual.span(*fields) for fields in inputs]

    def __call__(
        self, parameters: Sequence[str] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | Linearization:
        """A and B of (dq, dv, dw)' = A (dq, dv, dw) + B du over one step at the present state; also P of parameters.

        A [2 nv + nact, 2 nv + nact], B [2 nv + nact, nu], P [2 nv + nact, k]. Values held by the delays of actuators
        and sensors are not part of the state: they count as constants, so that the columns of B are zero for a control
        with a delay.
        """
        engine = self._engine
        by_parameters = None if parameters is None else self.derivatives(tuple(parameters))
        engine.prepare()
        with peeking(engine):
            data = self._data()
            state = data.real[: engine.state.size].copy()
            state[self._memory] = 0.0
            if by_parameters is not None:
                by_parameters.begin(data, engine.timestep)
            A, B = self.room(1)
            forced = data.ints[self._forced]
            self.of_each((state[None], forced), (A, B), (0, 1))
            self.check_normals()
            self.tell_unconverged()
            if by_parameters is None:
                return A[0], B[0]
            start = (*(state[rows] for rows in self._state_rows), float(state[0]))
            P = by_parameters.matrix(data, start, self._sizes, engine.timestep)
        return Linearization(A[0], B[0], P, by_parameters.names)

    def room(self, n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Memory for A [n, ...] and B [n, ...] of n states."""
        states, controls = self._size
        return np.empty((n, states, states)), np.empty((n, states, controls))

    def of_each(
        self,
        states: tuple[NDArray[np.float64], NDArray[np.int64]],
        matrices: tuple[NDArray[np.float64], NDArray[np.float64]],
        span: tuple[int, int],
    ) -> None:
        """Write A and B of the states numbered from span[0] up to span[1] (exclusive) to `matrices` (see `room`).

        `states`: `Engine.state` of each [n, rows], and 1 where Cartesian forces act [n]. Leaves the engine at the last.
        """
        engine, data = self._engine, self._d
        data.views["timestep"][...] = self._dual.views["timestep"][..., 0, 0] = engine.timestep
        rows, forced = states
        A, B = matrices
        if self._each is None:
            start = tuple(np.empty(0) for _ in self._state_rows)
            call = (self._m, data, self._dual, start, self._sizes, engine.timestep, A[0], B[0], *self._parameters)
            address = self._loop.address(*call, result=types.none)
            each = linearize_states(len(self._parameters)).bound(data, self._dual)
            places = [np.array([(x.start, x.stop) for x in spans]) for spans in (self._state_rows, self._input_rows)]
            self._each = functools.partial(each, (self._m.real, self._m.ints), address, *places, self._sizes)
        self._each(rows, forced, engine.timestep, A, B, span, *self._parameters)
        engine.computed = None

    def may_lack_normals(self) -> bool:
        """Whether contacts of the model may be such that `check_normals` refuses them."""
        return self._may_lack_normals

    def check_normals(self) -> None:
        """OptionError if a contact of the last step has a normal that does not turn in derivatives."""
        if not self._may_lack_normals:
            return
        geoms = constant_normals(self._engine.model.mj_model, touching(self._m, self._d))
        if geoms:
            raise OptionError(f"linearize: {CONSTANT.format(geoms)}")

    def tell_unconverged(self) -> None:
        """Warn if the last step's solver has used all of its iterations, so that the step is not what is derived."""
        most = int(self._m.opt_iterations)
        if "constraint" in self._m.layout.features and self._d.views["count"][NITER] >= most:
            warn(
                f"linearize: the constraint solver stops after {most} iterations (opt.iterations), perhaps before it "
                "converges; derivatives are those of the converged solution and not of such a step"
            )

    def derivatives(self, names: tuple[str, ...]) -> ParameterDerivatives:
        """Derivatives by parameters, kept for the next call with the same names."""
        return _kept(
            self._by_parameters,
            names,
            lambda: ParameterDerivatives(self._engine, names, self._tangent_parameters, self._room),
        )

    def _data(self) -> Struct:
        """Data with the present state and inputs: the engine's own, or new ones in which no tree sleeps."""
        engine, data = self._engine, self._d
        if data is not engine.d:
            data.ints[DATA.slot["has_xfrc"]] = engine.d.ints[DATA.slot["has_xfrc"]]
            for name in STATE:
                data.views[name][...] = engine.d.views[name]
        return data
