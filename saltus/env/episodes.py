"""Episodes of an environment in many simulations at once: what both faces of Gymnasium stand on."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import numbers, positive, whole_number
from saltus.env import loop
from saltus.env.environment import Environment
from saltus.env.layout import episode_layout
from saltus.env.loop import HIGH, LOW, NOISE, NSHAPING, SCALE, Program, environment_loop
from saltus.env.observation import Observed, field_name, field_rows, parts
from saltus.env.quantities import Quantities
from saltus.env.random import EPISODE, KEY_HIGH, KEY_LOW, NRANDOM
from saltus.env.terms import term, value_count
from saltus.errors import ModelError, OptionError, warn
from saltus.integrate.registry import find_integrator
from saltus.number.cache.fingerprint import names_in
from saltus.number.kinds import LANES
from saltus.number.structs import Struct
from saltus.simulate.engine.initial_state import check_discrete, check_sampling, start_state
from saltus.simulate.engine.lanes import FIELDS, Lanes
from saltus.simulate.engine.sensing import attach_sensing
from saltus.simulate.laws.contact import suits_soft
from saltus.simulate.laws.control import user_laws
from saltus.solve.status import CONTACTS_FULL, NOT_CONVERGED

WORD = 2**32


class Episodes:
    """n simulations of an environment, their episodes, and the arrays that each step fills, one row a simulation.

    Attributes:
        observations: [n, nobservation] in the precision of the simulations.
        rewards: [n].
        terminated, truncated, diverged, began: [n] truths; `began`: whether an episode began in the last call.
        values: [nvalue, n] rewards and infos by the order of `names`.
        final_observations, final_values: the same before the start of the next episode took their places.
    """

    def __init__(self, environment: Environment, n: int, threads: int, precision: str):
        if precision not in LANES:
            raise OptionError.unknown("precision", precision, LANES)
        self.environment, self.n, self.precision = environment, whole_number("n", n, 1), precision
        self.model = model = environment.loaded()
        self.integrator = find_integrator(environment.integrator, model.opt.integrator)
        if self.integrator.adaptive or not suits_soft(self.integrator, model):
            raise OptionError(f"environments take steps of equal length with soft contact, not {self.integrator.name}")
        check_sampling(model, self.integrator)
        check_discrete(model, self.integrator)
        step = environment.timestep
        self.timestep = model.opt.timestep if step is None else positive("timestep", step)
        self._gather_terms()
        control = environment.declared("control")
        laws = user_laws(model, control, "")
        laws = laws._replace(reads=laws.reads | self._quantities.reads)
        parameters = np.zeros(0) if control is None else control.parameters(model)
        self.lanes = Lanes(
            model, self.n, threads, precision, self.integrator, self.timestep, laws, parameters.size
        )
        self.lanes.forced = bool(self._names & {"qfrc_applied", "xfrc_applied"})
        self._make_episode_structs()
        self._sense()
        self._make_program()
        self._make_arrays(parameters)

    # ------------------------------------------------------------ what it is made of

    def _gather_terms(self) -> None:
        """The terms, and what they and the observation read."""
        env = self.environment
        self._parts: list[Observed] = parts(env.declared("observation"))
        self._rewards, self._infos = env.terms("rewards"), env.terms("infos")
        named = ("terminated", "before_step", "reset", "remember")
        self._terms = {name: env.term(name) for name in named}
        seen = [term(part.source) for part in self._parts if not isinstance(part.source, str)]
        fields = [field_name(part.source) for part in self._parts if isinstance(part.source, str)]
        kernels = [k for k in (*self._terms.values(), *self._rewards.values(), *self._infos.values(), *seen) if k]
        self._names: set[str] = set(fields).union(*[names_in(k.py_func) for k in kernels])
        late = [k for name, k in self._terms.items() if k and name not in ("before_step", "reset")]
        after = [*late, *self._rewards.values(), *self._infos.values(), *seen]
        self._quantities = Quantities({*fields}.union(*[names_in(k.py_func) for k in after]), env.declared("quantities"))
        clash = self._rewards.keys() & self._infos.keys()
        if clash:
            raise OptionError(f"{', '.join(sorted(clash))}: both a reward and an info")
        for name in env.declared("reset_infos"):
            if name not in self._infos:
                raise OptionError.unknown("info at a reset", name, self._infos)

    def _make_episode_structs(self) -> None:
        """One `e` for each thread, first without values, by which it is found how many there are."""
        env, lanes = self.environment, self.lanes
        self.action_low, self.action_high = self._action_range()
        self._layout = episode_layout(env.added())
        sizes = {"naction": len(self.action_low), "width": lanes.width, "nvalue": 0, "nobservation": 0}
        sizes |= env.places(self.model)
        kind = lanes.workspaces[0].kind
        typed = (lanes.m, lanes.workspaces[0], Struct(self._layout, sizes, kind))
        self.spans: dict[str, slice | int] = {}
        self._values, count = [], 0
        for name, function in {**self._rewards, **self._infos}.items():
            size = value_count(name, function, typed)
            if name in self._rewards and size:
                raise OptionError(f"reward {name} must be one number, not {size}")
            self._values.append((function, count, size))
            self.spans[name] = slice(count, count + size) if size else count
            count += size or 1
        sizes["nvalue"] = count
        self._sightings = self._see(typed)
        sizes["nobservation"] = self.nobservation
        self._structs = [Struct(self._layout, sizes, kind) for _ in lanes.workspaces]
        for struct in self._structs:
            struct.fill("dt", self.timestep * env.frame_skip)

    def _see(self, typed: tuple[Struct, Struct, Struct]) -> list[tuple[Any, int, int]]:
        """Terms of the observation with their places; also the rows of its fields, and what becomes of all."""
        rows, terms, shaping, at = [], [], [], 0
        for part in self._parts:
            if isinstance(part.source, str):
                found = field_rows(part.source, self.model, self.lanes.workspaces[0])
                rows += [(at + k, row) for k, row in enumerate(found)]
                size = len(found)
            else:
                size = value_count("observation", term(part.source), typed)
                terms.append((term(part.source), at, size))
                size = size or 1
            low, high = part.clip or (-np.inf, np.inf)
            shaping += [(low, high, part.scale, part.noise)] * size
            at += size
        if not at:
            raise OptionError(f"{type(self.environment).__name__}: the observation is empty")
        self.nobservation = at
        self._field_rows = np.array(rows, np.int64).reshape(-1, 2)
        self._shaping = np.array(shaping).T.reshape(NSHAPING, at).copy()
        plain = np.array([-np.inf, np.inf, 1.0, 0.0])[[LOW, HIGH, SCALE, NOISE]]
        self._shaped = int((self._shaping != plain[:, None]).any())
        return terms

    def _action_range(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Least and largest actions."""
        given, m = self.environment.declared("action_range"), self.model
        if given is None:
            if self._terms["before_step"] is None or m.nu:
                limited = np.asarray(m.actuator_ctrllimited, bool)
                low, high = m.actuator_ctrlrange.T if m.nu else np.zeros((2, 0))
                return np.where(limited, low, -np.inf), np.where(limited, high, np.inf)
            raise OptionError(f"{type(self.environment).__name__}: without actuators an action_range is needed")
        try:
            low, high = given
            low, high = np.broadcast_arrays(numbers("action_range", low), numbers("action_range", high))
        except (TypeError, ValueError):
            raise OptionError(f"action_range must be (least, largest), got {given!r}") from None
        if not low.ndim:
            low, high = np.full((2, m.nu), [[low], [high]])
        if low.ndim > 1 or not np.all(low <= high):
            raise OptionError(f"action_range must be (least, largest), got {given!r}")
        return low.astype(float), high.astype(float)

    def _sense(self) -> None:
        """The model with what is computed after a step, beside that of the steps."""
        lanes, found = self.lanes, self._quantities
        self._sensing = lanes.m
        words = found.words
        timestep = self.integrator.law_timestep(self.timestep)
        if "sensordata" in found.names:
            sensing = self.model.sensing_struct(self.precision, timestep, lanes.laws)
            words |= sensing.layout.features - lanes.m.layout.features
            for workspace in lanes.workspaces:
                attach_sensing(self.model, workspace)
        if words:
            self._sensing = self.model.sensing_struct(self.precision, timestep, lanes.laws, words)

    def _make_program(self) -> None:
        terms = self._terms
        self._loop = environment_loop(
            self.integrator,
            Program(
                before_step=terms["before_step"] or loop.action_is_control,
                after_step=self._quantities.after_step(),
                terminated=terms["terminated"] or loop.never,
                values=loop.gathered(self._values, "values"),
                observation=loop.gathered(self._sightings, "observation"),
                remember=terms["remember"] or loop.nothing,
                reset=terms["reset"] or loop.nothing,
                after_reset=self._quantities.after_reset(),
            ),
        )

    def _make_arrays(self, control_parameters: np.ndarray) -> None:
        """The arrays that the loop reads and fills."""
        lanes, e = self.lanes, self._structs[0]
        total, own_rows = lanes.groups * lanes.width, e.span("terminated", "terminated").start
        dtype = lanes.states.dtype
        self._own = np.zeros((lanes.groups, own_rows, lanes.width), dtype)
        self._random = np.zeros((total, NRANDOM), np.int64)
        self._actions = np.zeros((total, len(self.action_low)))
        count = self._structs[0].sizes["nvalue"]
        shown = [np.zeros((total, self.nobservation), dtype), np.zeros((count, total))]
        shown += [np.zeros_like(x) for x in shown]
        self._shown = tuple(shown)
        self.observations, self.final_observations = (x[: self.n] for x in (shown[0], shown[2]))
        self.values, self.final_values = (x[:, : self.n] for x in (shown[1], shown[3]))
        self._results = (np.zeros(total), *(np.zeros(total, bool) for _ in range(6)))
        kept = [x[: self.n] for x in self._results]
        self.rewards, self.terminated, self.truncated, self.diverged, self.resetting, _, self.began = kept
        fresh = np.zeros((2, own_rows))
        first = {"steps": 0.0, "action": 0.0, "previous_action": 0.0, **self.environment.first_memory()}
        for name, value in first.items():
            fresh[0, e.span(name, name)] = 1.0
            fresh[1, e.span(name, name)] = value
        self._tables = (self._start(control_parameters), fresh, self._field_rows, self._shaping)
        at, values_at = (e.span(name, name).start for name in ("observation", "values"))
        self._places = (lanes.present_rows(), own_rows, at, values_at, lanes.width)
        self._memory = (lanes.states, lanes.clock, self._own, self._random)
        for name, value in self.environment.values.items():
            self.parameters[name] = value
        self.seed(np.random.SeedSequence().generate_state(self.n, np.uint64))

    def _start(self, control_parameters: np.ndarray) -> NDArray[np.float64]:
        """The numbers of the model's start, as they lie in data."""
        lanes = self.lanes
        out = np.zeros(lanes.states.shape[1])
        first = lanes.workspaces[0]
        for name, value in start_state(self.model, None, self.timestep).items():
            span = first.span(name, name)
            flat = np.ravel(value)
            out[span.start : span.start + flat.size] = flat
        out[first.span("control_prm", "control_prm")] = control_parameters
        return out

    # ------------------------------------------------------------ what users set

    @property
    def parameters(self) -> "Parameters":
        """The parameters by name, [n] or [n, ...]."""
        return Parameters(self)

    def read(self, name: str) -> NDArray[np.floating]:
        """A copy of a parameter, or of memory, of all simulations."""
        e = self._structs[0]
        rows = self._own[:, e.span(name, name)]
        flat = rows.transpose(0, 2, 1).reshape(self.lanes.groups * self.lanes.width, -1)[: self.n]
        return flat.reshape(self.n, *self._layout.shape(name, e.sizes)).copy()

    def write(self, name: str, value: ArrayLike) -> None:
        """Set a parameter of all simulations: one for all, or a row for each."""
        e = self._structs[0]
        shape = self._layout.shape(name, e.sizes)
        try:
            exact = np.broadcast_to(numbers(f"parameter {name}", value), (self.n, *shape)).reshape(self.n, -1)
        except ValueError:
            raise OptionError(f"parameter {name} has shape {(self.n, *shape)}, not {np.shape(value)}") from None
        total = self.lanes.groups * self.lanes.width
        every = np.concatenate([exact, np.repeat(exact[:1], total - self.n, axis=0)])
        self._own[:, e.span(name, name)] = every.reshape(self.lanes.groups, self.lanes.width, -1).transpose(0, 2, 1)

    def seed(self, seeds: ArrayLike, chosen: NDArray[np.bool_] | None = None) -> None:
        """Begin the random numbers anew, of all simulations or of those that are chosen, from seeds [n] ≥ 0."""
        index = np.arange(self.n) if chosen is None else np.flatnonzero(chosen)
        keys = np.asarray(seeds, np.uint64)[index]
        self._random[index, KEY_LOW] = keys % WORD
        self._random[index, KEY_HIGH] = keys // WORD
        self._random[index, EPISODE] = -1

    def state(self, field: str) -> NDArray[np.floating]:
        """A copy of a field of the state or the inputs of all simulations [n, ...]."""
        if field not in FIELDS:
            raise OptionError.unknown("field of the state", field, FIELDS)
        return self.lanes.read(field)

    # ------------------------------------------------------------ motion

    def step(self, actions: NDArray[Any], mode: int) -> None:
        """One step of the environment with actions [n, naction], and the resets that the mode asks for."""
        self._actions[: self.n] = actions
        self._call(mode)

    def reset(self, chosen: NDArray[np.bool_] | None = None) -> None:
        """Begin an episode in all simulations or in those that are chosen."""
        self._results[4][:] = True
        if chosen is not None:
            self.resetting[:] = chosen
        self.terminated[self.resetting] = False
        self.truncated[self.resetting] = False
        self.diverged[self.resetting] = False
        self.rewards[self.resetting] = 0.0
        self._call(loop.RESET)

    def _call(self, mode: int) -> None:
        env, lanes = self.environment, self.lanes
        limit = env.max_episode_steps or 0
        counts = (mode, env.frame_skip, limit, len(self._rewards), self._shaped)

        def work(worker: int, first: int, last: int, *_: int) -> int:
            d, e = lanes.prepared(worker), self._structs[worker]
            arrays = (self._memory, self._actions, self._results, self._shown, self._tables, self._places)
            return self._loop(
                *(lanes.m, self._sensing, d, e),
                *arrays,
                (first, last, *counts),
                self.timestep,
                *self.integrator.parameters,
            )

        status = max(lanes.share_out(work, env.frame_skip))
        if status:
            self._judge(status)

    def _judge(self, status: int) -> None:
        """Errors and warnings of statuses."""
        if status == CONTACTS_FULL:
            raise ModelError(f"more than {self.lanes.m.nconmax} contacts at once, which is the limit")
        failed = self.lanes.take_unsolved()
        if (failed or status == NOT_CONVERGED) and not self._warned:
            self._warned = True
            warn(f"{self.integrator.name}: the constraint solver did not reach its tolerance in some simulations")

    _warned = False


class Parameters(Mapping[str, NDArray[np.floating]]):
    """The parameters of an environment's terms by name: reading gives a copy [n, ...], assigning sets them."""

    def __init__(self, episodes: Episodes):
        self._episodes = episodes

    def __getitem__(self, name: str) -> NDArray[np.floating]:
        return self._episodes.read(self._known(name))

    def __setitem__(self, name: str, value: ArrayLike) -> None:
        self._episodes.write(self._known(name), value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._episodes.environment.values)

    def __len__(self) -> int:
        return len(self._episodes.environment.values)

    def __repr__(self) -> str:
        return f"Parameters({', '.join(self)})"

    def _known(self, name: str) -> str:
        if name not in self._episodes.environment.values:
            raise OptionError.unknown("parameter", name, self._episodes.environment.values)
        return name
