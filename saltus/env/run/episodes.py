"""Episodes of an environment in many simulations at once, the basis of both Gymnasium interfaces."""

import time as clock
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import numbers, positive, whole_number
from saltus.arguments import words as words_of
from saltus.env.disturb.next_episodes import NextEpisodes
from saltus.env.disturb.randomize import fields_of, randomizations
from saltus.env.environment import Environment, declared
from saltus.env.layout import episode_layout
from saltus.env.random import EPISODE, KEY_HIGH, KEY_LOW, NRANDOM
from saltus.env.run.declaration import Declaration
from saltus.env.run.loop import environment_loop
from saltus.env.run.results import Results
from saltus.env.run.snapshots import Snapshots
from saltus.env.run.stages import RESET, SAME_STEP
from saltus.errors import ModelError, OptionError, warn
from saltus.integrate.integrator import Integrator
from saltus.integrate.registry import find_integrator
from saltus.model.model import Model
from saltus.model.vary.fields import check_names
from saltus.number.kinds import LANES
from saltus.number.structs import Struct
from saltus.simulate.batches.fields import check_name
from saltus.simulate.batches.model import BatchModel
from saltus.simulate.batches.reading import Reader, with_features
from saltus.simulate.batches.writing import write as set_field
from saltus.simulate.engine.batch.lanes import Lanes
from saltus.simulate.engine.initial_state import check_discrete, check_sampling, start_state
from saltus.simulate.engine.sensing import attach_sensing
from saltus.simulate.laws.contact import Soft, find_contact_law, suits_soft
from saltus.simulate.laws.control import Controller, check_control, user_laws
from saltus.simulate.laws.events import Actuation
from saltus.solve.status import CONTACTS_FULL, NOT_CONVERGED

WORD = 2**32
#: Fields of the state that an episode can be given.
PLACED = ("qpos", "qvel", "eq_active", "act", "ctrl", "mocap_pos", "mocap_quat", "userdata")


class Episodes(Snapshots):
    """n simulations of an environment with their episodes; `results`, `seconds`: those of the last call."""

    def __init__(self, environment: Environment, n: int, threads: int, precision: str, model: Model | None = None):
        """`model`: the one that an opened environment has loaded before; None: load it."""
        if precision not in LANES:
            raise OptionError.unknown("precision", precision, LANES)
        self.environment, self.n, self.precision = environment, whole_number("n", n, 1), precision
        self.threads = threads
        self.model = environment.opened() if model is None else model
        self.integrator = _integrator(environment, self.model)
        step = environment.timestep
        self.timestep = self.model.opt.timestep if step is None else positive("timestep", step)
        dt, nmemory = self.timestep * environment.frame_skip, self.integrator.memory(self.model.nv)
        self.declaration = Declaration(environment, self.model, dt, nmemory)
        self._make_lanes(threads)
        self._make_episodes()
        self._make_arrays()
        self._loop = environment_loop(self.integrator, self.declaration.program(bool(self._randomize)))
        structs = zip(self._models, self.lanes.workspaces, self._structs, strict=True)
        self._loops = [self._loop.bound(*models, workspace, e) for models, workspace, e in structs]
        self._rest = (self.timestep, *self.integrator.parameters)
        self.warned = False
        self.seconds = 0.0  # duration of the last call
        if model is None and self.declaration.python_rewards:
            names = ", ".join(self.declaration.python_rewards)
            warn(f"{type(environment).__name__}: {names}: rewards in Python are not compiled, a slow path; use terms")

    # ------------------------------------------------------------ construction

    def _make_lanes(self, threads: int) -> None:
        """Make the states of all simulations, the models of steps, and those of the quantities computed after them."""
        what, model = self.declaration, self.model
        control: Controller | None = declared(self.environment, "control")
        check_control(control)
        if isinstance(control, Actuation):
            raise OptionError("an Actuation has events, which environments do not support")
        laws = user_laws(model, control, "")
        laws = laws._replace(reads=laws.reads | what.quantities.reads)
        self._control_prm = np.zeros(0) if control is None else control.parameters(model)
        kind = self.precision
        self._randomize = randomizations(declared(self.environment, "randomize"))
        drawn = fields_of(self._randomize, self.environment.values)
        names = check_names(model.mj_model, [*words_of("vary", declared(self.environment, "vary")), *drawn])
        room = self._control_prm.size
        self.lanes = Lanes(model, self.n, threads, kind, self.integrator, self.timestep, laws, room, names)
        self.lanes.forced = what.disturbances.forces or bool(what.names & {"qfrc_applied", "xfrc_applied"})
        words = what.quantities.words
        if "sensordata" in what.quantities.names:
            words |= model.sensing_struct(kind).layout.features
            for workspace in self.lanes.workspaces:
                attach_sensing(model, workspace)
        self._models = [(m, with_features(m, words) if words else m) for m in self.lanes.models]
        varied = self.lanes.varied_model
        self.varied = model if varied is None else BatchModel(model, varied)
        self._reader = Reader(model, self.lanes)

    def _make_episodes(self) -> None:
        """Make an `e` for each thread, after one without values with which terms are compiled."""
        env, lanes, what = self.environment, self.lanes, self.declaration
        self._layout = episode_layout(env.added(what.disturbances.fields()))
        sizes = {"naction": len(what.action_low), "width": lanes.width, "nvalue": 0, "nobservation": 0}
        sizes |= env.places(self.model) | what.disturbances.sizes
        kind = lanes.workspaces[0].kind
        what.measure((lanes.m, lanes.workspaces[0], Struct(self._layout, sizes, kind)))
        sizes |= {"nvalue": what.nvalue, "nobservation": what.nobservation} | what.disturbances.sizes
        self._structs = [Struct(self._layout, sizes, kind) for _ in lanes.workspaces]
        for struct in self._structs:
            struct.fill("dt", self.timestep * env.frame_skip)

    def _make_arrays(self) -> None:
        """Make the arrays that the loop reads and fills."""
        lanes, what, e = self.lanes, self.declaration, self._structs[0]
        total, own_rows = lanes.groups * lanes.width, e.span("terminated", "terminated").start
        dtype = lanes.states.dtype
        self.results = Results(self.n, total, what.nobservation, what.nvalue, dtype)
        self._own = np.zeros((lanes.groups, own_rows, lanes.width), dtype)
        self._random = np.zeros((total, NRANDOM), np.int64)
        self._actions = np.zeros((total, len(what.action_low)))
        fresh = np.zeros((2, own_rows))
        first = {"steps": 0.0, "action": 0.0, "previous_action": 0.0, **self.environment.first_memory()}
        for name, value in first.items():
            fresh[0, e.span(name, name)] = 1.0
            fresh[1, e.span(name, name)] = value
        tables = (self._start(), fresh, what.field_rows, what.shaping)
        at, values_at = (e.span(name, name).start for name in ("observation", "values"))
        places = (lanes.present_rows(), own_rows, at, values_at, lanes.width)
        starts = {name: e.span(name, name).start for name in self.environment.values}
        late = what.disturbances.tables(self.environment.values, starts, what.spans)
        self._next = coming = self._next_episodes()
        coming.lay_out(starts)
        prepared = (coming.rows, coming.own, coming.places, coming.slots) if coming.active else ()
        self._memory = (lanes.states, lanes.clock, self._own, self._random, *lanes.varied(), prepared)
        self._nothing_given = np.zeros(0, np.int64), np.zeros((total, 0))
        results = self.results
        self._arguments = (self._actions, (*results.arrays, *results.shown), tables, late, places)
        for name, value in self.environment.values.items():
            self.write(name, value)
        self.seed(np.random.SeedSequence().generate_state(self.n, np.uint64))

    def _next_episodes(self) -> NextEpisodes:
        """Make the generator of random values drawn for each episode before it begins."""
        lanes, values = self.lanes, self.environment.values
        return NextEpisodes(self._randomize, self.model, lanes.varied_model, values, self.n, lanes.varied()[0])

    def _start(self) -> NDArray[np.float64]:
        """The model's initial state, laid out as in Data."""
        out, first = np.zeros(self.lanes.states.shape[1]), self.lanes.workspaces[0]
        for name, value in start_state(self.model, declared(self.environment, "key"), self.timestep).items():
            begin, flat = first.span(name, name).start, np.ravel(value)
            out[begin : begin + flat.size] = flat
        out[first.span("control_prm", "control_prm")] = self._control_prm
        return out

    # ------------------------------------------------------------ values set by users

    @property
    def parameters(self) -> "Parameters":
        """Parameters of all simulations by name, [n] or [n, ...]."""
        return Parameters(self)

    def read_parameter(self, name: str) -> NDArray[np.floating]:
        """Copy a parameter or memory of all simulations [n, ...]."""
        e = self._structs[0]
        rows = self._own[:, e.span(name, name)]
        flat = rows.transpose(0, 2, 1).reshape(self.lanes.groups * self.lanes.width, -1)[: self.n]
        return flat.reshape(self.n, *self._layout.shape(name, e.sizes)).copy()

    def write(self, name: str, value: ArrayLike) -> None:
        """Set a parameter of all simulations to one value or to a row for each; OptionError for another shape."""
        e = self._structs[0]
        shape = self._layout.shape(name, e.sizes)
        given = numbers(f"parameter {name}", value)
        try:
            exact = np.broadcast_to(given, (self.n, *shape)).reshape(self.n, -1)
        except ValueError:
            raise OptionError(f"parameter {name} has shape {(self.n, *shape)}, not {given.shape}") from None
        self._next.assigned(name, exact)
        total = self.lanes.groups * self.lanes.width
        every = np.concatenate([exact, np.repeat(exact[:1], total - self.n, axis=0)])
        self._own[:, e.span(name, name)] = every.reshape(self.lanes.groups, self.lanes.width, -1).transpose(0, 2, 1)

    def seed(self, seeds: ArrayLike, chosen: NDArray[np.bool_] | None = None) -> None:
        """Seed the random numbers of all simulations, or of the chosen ones [n], with seeds [n] ≥ 0."""
        index = np.arange(self.n) if chosen is None else np.flatnonzero(chosen)
        keys = np.asarray(seeds, np.uint64)[index]
        self._random[index, KEY_LOW] = keys % WORD
        self._random[index, KEY_HIGH] = keys // WORD
        self._random[index, EPISODE] = -1
        self._next.seeded(index)

    def read(self, field: str) -> NDArray[np.floating]:
        """Read a field of all simulations at their present states into a new array [n, ...]."""
        return self.read_all([check_name(field)])[0]

    def read_all(self, names: Sequence[str]) -> list[NDArray[np.floating]]:
        """Read some fields of all simulations at their present states into new arrays [n, ...]."""
        return self._reader.read(names, [None] * len(names))

    # ------------------------------------------------------------ motion

    def step(self, actions: ArrayLike, mode: int) -> None:
        """Take a step of the environment with actions [n, naction], with the resets of an autoreset mode."""
        self._actions[: self.n] = actions
        self._call(mode, self._nothing_given)
        if self.declaration.python_rewards:
            self._add_python_rewards(~(self.results.began | self.results.diverged))

    def check_mode(self, mode: int) -> None:
        """Raise OptionError if the environment cannot have an autoreset mode."""
        if mode == SAME_STEP and self.declaration.python_rewards:
            raise OptionError(
                'Python rewards read the states that a step has reached, which autoreset_mode "SameStep" replaces; use '
                '"NextStep" or "Disabled", or compile them as terms'
            )

    def _add_python_rewards(self, stepped: NDArray[np.bool_]) -> None:
        """Evaluate rewards that are Python functions, and add them where a step was taken [n]."""
        what, results = self.declaration, self.results
        for name, reward in what.python_rewards.items():
            given = numbers(f"Python reward {name}", reward(self.read, self._actions[: self.n].copy()))
            if given.shape != (self.n,):
                raise OptionError(f"Python reward {name} must return numbers of shape {(self.n,)}, not {given.shape}")
            results.values[what.spans[name], stepped] = given[stepped]
        parts = [what.spans[name] for name in (*what.rewards, *what.python_rewards)]
        total = np.clip(results.values[parts].sum(axis=0), *what.reward_range)
        results.rewards[stepped] = total[stepped]

    def reset(
        self, chosen: NDArray[np.bool_] | None = None, state: Mapping[str, NDArray[np.float64]] | None = None
    ) -> None:
        """Begin an episode in all simulations, or in the chosen ones [n].

        `state`: fields [n, ...] by name that replace those of the states in which episodes begin; see `checked_state`.
        """
        given = self._placed(state or {})
        self.results.begin(chosen)
        self._call(RESET, given)

    def _placed(self, state: Mapping[str, NDArray[np.float64]]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Rows [count] of fields in Data, and their values in all simulations, spare ones included."""
        if not state:
            return self._nothing_given
        first, (rows, values) = self.lanes.workspaces[0], self._nothing_given
        for name, value in state.items():
            begin, flat = first.span(name, name).start, value.reshape(self.n, -1)
            rows = np.append(rows, begin + np.arange(flat.shape[1]))
            every = np.concatenate([flat, np.repeat(flat[:1], len(values) - self.n, axis=0)])
            values = np.concatenate([values, every], axis=1)
        return rows, values

    def checked_state(self, given: Mapping[str, object]) -> dict[str, NDArray[np.float64]]:
        """Fields of the state [n, ...], each given so or as one row for all; OptionError: they cannot be used."""
        found: dict[str, NDArray[np.float64]] = {}
        for name, value in given.items():
            if name not in PLACED:
                raise OptionError.unknown("field of the state", name, PLACED)
            shape = self.lanes.shape(name)
            values = numbers(name, value)
            if values.shape not in (shape, (self.n, *shape)):
                several = f" or {(self.n, *shape)}" if self.n > 1 else ""
                raise OptionError(f"{name} has shape {shape}{several}, not {values.shape}")
            if not np.isfinite(values).all():
                raise OptionError(f"{name} must be finite, got {value!r}")
            found[name] = np.broadcast_to(values, (self.n, *shape))
        return found

    def set_state(self, state: Mapping[str, NDArray[np.float64]], chosen: NDArray[np.bool_] | None = None) -> None:
        """Set fields of `checked_state` in all simulations, or in the chosen ones [n], within their episodes."""
        index = None if chosen is None else np.flatnonzero(chosen)
        for name, values in state.items():
            set_field(self.lanes, name, values if index is None else values[index], index)

    def _call(self, mode: int, given: tuple[NDArray[np.int64], NDArray[np.float64]]) -> None:
        env, lanes, what = self.environment, self.lanes, self.declaration
        drawn = self._next.active
        counts = (mode, env.frame_skip, env.max_episode_steps or 0, len(what.rewards), what.shaped, *what.reward_range)
        memory = (*self._memory, given)

        def work(worker: int, first: int, last: int) -> int:
            lanes.prepared(worker)
            return self._loops[worker](memory, *self._arguments, (first, last, *counts), *self._rest)

        if lanes.varied_model is not None:
            self._next.written(lanes.varied_model.update())
        if drawn:
            self._next.prepare(None if mode == SAME_STEP else self.results.resetting, self._random[: self.n])
        began = clock.perf_counter()
        found = lanes.share(work, self.seconds)
        self.seconds = clock.perf_counter() - began
        status = self.results.said(found)
        if drawn and self.results.some_began:
            self._next.begun(self.results.began)
        if status:
            self._judge(status)

    def _judge(self, status: int) -> None:
        """Raise the error or issue the warning of a status."""
        if status == CONTACTS_FULL:
            raise ModelError(f"more than {self.lanes.m.nconmax} contacts at once, which is the limit")
        failed = self.lanes.take_unsolved()
        if (failed or status == NOT_CONVERGED) and not self.warned:
            self.warned = True
            warn(f"{self.integrator.name}: the constraint solver did not reach its tolerance in some simulations")


def _integrator(environment: Environment, model: Model) -> Integrator:
    """The integrator of an environment.

    OptionError: it does not support soft contact, the only law of environments, or another contact law is declared.
    """
    law = find_contact_law(getattr(environment, "contact", Soft.name))
    if law.name != Soft.name:
        raise OptionError(f"environments have soft contact, not {law.name} contact; use saltus.Batch(..., contact=...)")
    found = find_integrator(environment.integrator, model.opt.integrator)
    if found.adaptive or not suits_soft(found, model):
        raise OptionError(f"environments take steps of equal length with soft contact, which {found.name} does not")
    check_sampling(model, found)
    check_discrete(model, found)
    return found


class Parameters(Mapping[str, NDArray[np.floating]]):
    """The parameters of an environment's terms by name: reading returns a read-only copy [n, ...], assigning sets
    them."""

    def __init__(self, episodes: Episodes):
        self._episodes = episodes

    def __getitem__(self, name: str) -> NDArray[np.floating]:
        found = self._episodes.read_parameter(self._known(name))
        found.flags.writeable = False  # writing to a copy would have no effect
        return found

    def __setitem__(self, name: str, value: ArrayLike) -> None:
        self._episodes.write(self._known(name), value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._episodes.environment.values)

    def __contains__(self, name: object) -> bool:
        return name in self._episodes.environment.values

    def __len__(self) -> int:
        return len(self._episodes.environment.values)

    def __repr__(self) -> str:
        return f"Parameters({', '.join(self)})"

    def _known(self, name: str) -> str:
        if name not in self._episodes.environment.values:
            raise OptionError.unknown("parameter", name, self._episodes.environment.values)
        return name
