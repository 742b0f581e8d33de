"""`Environment`: declaration of a task for an agent as a class."""

from __future__ import annotations

import copy
import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType, SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import mapping, numbers, whole_number
from saltus.draw.scene.view import Camera
from saltus.env.disturb.pushes import Push
from saltus.env.disturb.randomize import Randomize
from saltus.env.inputs import Input, InputRange, inputs
from saltus.env.layout import Added
from saltus.env.observation import Delay, Observed, joint_span, sensor_span
from saltus.env.terms import Term, term_kernel
from saltus.errors import OptionError, warn
from saltus.integrate.integrator import Kernel
from saltus.integrate.registry import IntegratorChoice
from saltus.model.load import ModelSource, load
from saltus.model.model import KINDS, Model
from saltus.simulate.engine.initial_state import awake
from saltus.simulate.laws.control import Controller

#: A model, or a function that returns one.
ModelChoice: TypeAlias = ModelSource | Callable[[], ModelSource]
#: Camera of pictures: a camera of the model by name or number, a `Camera`, or None.
CameraChoice: TypeAlias = str | int | Camera | None
#: A reward f(read, actions) of all simulations: read(field) gives arrays [n, ...]; it returns numbers [n].
PythonReward: TypeAlias = Callable[[Callable[[str], NDArray[np.floating]], NDArray[np.float64]], ArrayLike]
#: Attributes that can be changed when an environment is made, besides parameters and options.
SETTINGS = ("model", "frame_skip", "max_episode_steps", "integrator", "timestep", "key", "vary", "randomize")
SETTINGS += ("action_noise", "action_delay", "pushes")


class Environment:
    """A task for an agent: a model, observations, actions, rewards, and the beginning and end of episodes.

    Subclasses declare a task by attributes, of which only the model is required. Attributes that are terms are
    functions of one simulation, see `saltus.env.term`.

    Attributes:
        model: anything that `saltus.load` takes, or a function that returns it.
        key: the keyframe that episodes start from, by name or number; None: the model's initial state.
        vary: fields of the model that may differ between simulations, see `saltus.Batch`.
        randomize: random values of the model's fields and of parameters, see `saltus.env.Randomize`.
        integrator, timestep (s): see `saltus.Simulation`.
        control: a controller in the time loop, such as `saltus.PID`.
        frame_skip: steps of the simulation per step of the environment.
        max_episode_steps: number of steps after which an episode is truncated; None: never.
        observation: fields by MuJoCo's names, with indices ("qpos[1:]", "xpos[torso, 2]", "sensordata[gyro]"), and
            terms, in this order. `saltus.env.observed` clips, scales or disturbs one.
        rewards: terms by name; the reward is their sum. Infos report each term unless its name begins with an
            underscore.
        python_rewards: further rewards, as plain Python functions f(read, actions) of all simulations at once, by name:
            read("xpos") gives a field [n, ...] at the states reached, actions are [n, naction]; they return [n]. They
            are not compiled, a slow path, of which a SaltusWarning tells.
        reward_range: (least, largest) reward of a step, to which the sum of the terms is limited: max(0, sum) with (0,
            math.inf). Infos report the terms themselves. None: no limits.
        infos: further terms that infos report.
        reset_infos: names of the infos that are also reported when an episode begins.
        terminated: a term that returns whether the episode ends.
        before_step: a term that sets the controls d.ctrl from e.action; it may apply forces. None: the action is used
            as the controls.
        action_range: (least, largest) action, numbers or rows with one for each; None: the ranges of the controls.
        action_noise: standard deviations of normal noise on actions, in their own units: one number, or one for each.
        action_delay: delay of actions in steps, or the range (least, largest) from which it is drawn for each episode;
            zeros act before the first action arrives. The term before_step reads the delayed, noisy action, all other
            terms the one given by the agent.
        pushes: changes of velocities and forces at random times, see `saltus.env.Push`.
        reset: a term that changes the initial state of the model, in d.qpos and d.qvel, into that of an episode.
        remember: a term that sets memory after each step and each reset, once all other terms have read it.
        parameters: numbers, or rows of numbers, that terms read as e.NAME. They may differ between simulations and
            change at any time.
        memory: numbers, or rows of numbers, that terms read and set as e.NAME, with their values at the beginning of
            an episode.
        ids: indices in the model that terms read as e.NAME: of an object, such as ("body", "torso"), or of the first
            number of ("qpos", joint), ("qvel", joint) or ("sensordata", sensor).
        inputs: parameters and memory that a person sets while the environment is played, see `saltus.env.play`:
            (name, least, largest) or (name, least, largest, unit), for a row of numbers one such tuple for each.
        options: values that choose between declarations; `declare` reads them as self.option.NAME.
        quantities: "present": terms and observations read quantities computed at the state that a step has reached;
            "step": those that the integrator left, as in Gymnasium's environments.
        camera: camera of pictures, see `Simulation.picture`.
    """

    model: ModelChoice | None = None
    frame_skip: int = 1
    max_episode_steps: int | None = None
    integrator: IntegratorChoice = None
    timestep: float | None = None
    control: Controller | None = None
    key: int | str | None = None
    observation: Sequence[str | Term | Observed] = ("qpos", "qvel")
    rewards: Mapping[str, Term] = MappingProxyType({})
    python_rewards: Mapping[str, PythonReward] = MappingProxyType({})
    reward_range: tuple[float, float] | None = None
    infos: Mapping[str, Term] = MappingProxyType({})
    reset_infos: Sequence[str] = ()
    terminated: Term | None = None
    before_step: Term | None = None
    action_range: tuple[ArrayLike, ArrayLike] | None = None
    action_noise: ArrayLike = 0.0
    action_delay: Delay = 0
    pushes: Sequence[Push] = ()
    reset: Term | None = None
    remember: Term | None = None
    parameters: Mapping[str, ArrayLike] = MappingProxyType({})
    memory: Mapping[str, ArrayLike] = MappingProxyType({})
    ids: Mapping[str, tuple[str, str | int]] = MappingProxyType({})
    inputs: Mapping[str, InputRange | Sequence[InputRange]] = MappingProxyType({})
    options: Mapping[str, object] = MappingProxyType({})
    vary: Sequence[str] = ()
    randomize: Sequence[Randomize] = ()
    quantities: str = "present"
    camera: CameraChoice = None

    def __init__(self, **changes: object):
        cls = type(self)
        self._before = dict(vars(self))  # what a subclass has set
        #: Changes of the class's declaration, by name.
        self.changes = dict(changes)
        given = dict(mapping(f"{cls.__name__}: parameters", declared(self, "parameters")))
        options = dict(mapping(f"{cls.__name__}: options", cls.options))
        for name, value in changes.items():
            if name in given:
                given[name] = _like(f"parameter {name}", value, given[name])
            elif name in options:
                options[name] = value
            elif name in SETTINGS:
                setattr(self, name, value)
            else:
                raise OptionError.unknown(f"parameter of {cls.__name__}", name, [*given, *options, *SETTINGS])
        self.option = SimpleNamespace(**options)
        self.values: dict[str, NDArray[np.float64]] = {
            name: numbers(f"parameter {name}", value) for name, value in given.items()
        }
        self.frame_skip = whole_number("frame_skip", self.frame_skip, 1)
        limit = self.max_episode_steps
        self.max_episode_steps = None if limit is None else whole_number("max_episode_steps", limit, 1)
        self.declare()
        _warn_of_misspelt(self)
        self.played_inputs()
        self.is_open = False  # whether the model has been loaded, which may complete the declaration
        self._made = dict(vars(self))

    def __copy__(self) -> Environment:
        return self._copied({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Environment:
        made = self._copied({name: copy.deepcopy(value, memo) for name, value in self._own().items()})
        memo[id(self)] = made
        return made

    def _copied(self, own: Mapping[str, object]) -> Environment:
        """A copy with attributes `own`, which shares terms, and thus their compiled code, but no values."""
        made = type(self).__new__(type(self))
        numbers = {name: value.copy() for name, value in self.values.items()}
        values = {"changes": dict(self.changes), "option": copy.copy(self.option), "values": numbers}
        vars(made).update({**vars(self), **values, **own, "_made": self._made | values})
        return made

    def __reduce__(self) -> tuple[object, ...]:
        """Return the constructor and arguments for `pickle`: terms are declared anew, as they may be closures."""
        return _remade, (type(self), self._before, self.changes, self._own())

    def _own(self) -> dict[str, object]:
        """Attributes that were set after the declaration, neither by it nor by loading the model."""
        made = {**self._made, "_made": vars(self)["_made"], "is_open": self.is_open}
        return {name: value for name, value in vars(self).items() if name not in made or value is not made[name]}

    def declare(self) -> None:
        """Set attributes that depend on options (`self.option`) or parameters (`self.values`); overridable."""

    def loaded(self) -> Model:
        """Load the model; OptionError if the class has none."""
        source: ModelChoice | None = declared(self, "model")
        if source is None:
            raise OptionError(f"{type(self).__name__} has no model; set the attribute `model`")
        return awake(load(source() if callable(source) else source), "environments")

    def opened(self) -> Model:
        """Load the model, which may complete the declaration."""
        before = dict(vars(self))
        model = self.loaded()
        self.is_open = True
        self._made |= {name: x for name, x in vars(self).items() if name not in before or x is not before[name]}
        return model

    def terms(self, name: str) -> dict[str, Kernel]:
        """The terms of a declared mapping, as kernels."""
        where = f"{type(self).__name__}: {name}"
        return {key: _term(f"{where}[{key!r}]", value) for key, value in mapping(where, declared(self, name)).items()}

    def term(self, name: str) -> Kernel | None:
        """The term declared under a name, as a kernel; None if there is none."""
        value = declared(self, name)
        return None if value is None else _term(f"{type(self).__name__}: {name}", value)

    def first_memory(self) -> dict[str, NDArray[np.float64]]:
        """Values of memory at the beginning of an episode."""
        given = mapping(f"{type(self).__name__}: memory", declared(self, "memory"))
        return {name: numbers(f"memory {name}", value) for name, value in given.items()}

    def played_inputs(self) -> tuple[Input, ...]:
        """Inputs that a person sets while the environment is played, as declared by `inputs`."""
        added = self.added({})
        return inputs(type(self).__name__, declared(self, "inputs"), {**added.parameters, **added.memory})

    def places(self, model: Model) -> dict[str, int]:
        """The indices declared by `ids`, by name."""
        given = mapping(f"{type(self).__name__}: ids", declared(self, "ids"))
        return {name: _place(name, what, model) for name, what in given.items()}

    def added(self, disturbances: Mapping[str, tuple[int | str, ...]]) -> Added:
        """The fields that the environment and its disturbances add to an episode."""
        first = self.first_memory()
        return Added(
            {name: _size(name, value) for name, value in self.values.items()},
            {name: _size(name, value) for name, value in first.items()},
            tuple(declared(self, "ids")),
            disturbances,
        )


def _remade(
    kind: type[Environment], before: Mapping[str, object], changes: Mapping[str, object], own: Mapping[str, object]
) -> Environment:
    """Rebuild an environment from what `Environment.__reduce__` returned."""
    made = kind.__new__(kind)
    vars(made).update(before)
    Environment.__init__(made, **changes)
    vars(made).update(own)
    return made


def declared(environment: Environment, name: str) -> Any:
    """Return the attribute that an environment declares under a name, without binding functions."""
    if name in vars(environment):
        return vars(environment)[name]
    value = inspect.getattr_static(type(environment), name)
    return value.__func__ if isinstance(value, staticmethod) else value


def _warn_of_misspelt(environment: Environment) -> None:
    """Warn of attributes that a declaration ignores and whose names are nearly those of attributes that it reads."""
    known = {name for name in vars(Environment) if not name.startswith("_")}
    own = {name for kind in type(environment).__mro__ if issubclass(kind, Environment) for name in vars(kind)}
    for name in sorted({*own, *vars(environment)} - known - {"changes", "option", "values", "is_open"}):
        near = [] if name.startswith("_") else difflib.get_close_matches(name, known, n=1, cutoff=0.85)
        if near:
            warn(f"{type(environment).__name__} has an attribute {name!r}, which is ignored; did you mean {near[0]!r}?")


def _term(name: str, value: Any) -> Kernel:
    try:
        return term_kernel(value)
    except (OptionError, TypeError) as error:
        raise OptionError(f"{name}: {error}") from None


def _like(name: str, value: Any, example: Any) -> np.ndarray:
    """Broadcast numbers to the shape of an example; OptionError if that is not possible."""
    found, shape = numbers(name, value), np.shape(example)
    try:
        return np.broadcast_to(found, shape).astype(float)
    except ValueError:
        raise OptionError(f"{name} has shape {shape}, not {found.shape}") from None


def _size(name: str, value: np.ndarray) -> int:
    if value.ndim > 1 or (value.ndim and not value.size):
        raise OptionError(f"{name} must be a number or a row of numbers, got shape {value.shape}")
    return value.size if value.ndim else 0


def _place(name: str, what: Any, model: Model) -> int:
    try:
        kind, of = what
    except (TypeError, ValueError):
        raise OptionError(f"id {name} must be (kind, name), such as ('body', 'torso'), got {what!r}") from None
    if kind == "qpos":
        return joint_span(model, of, model.jnt_qposadr, model.nq).start
    if kind == "qvel":
        return joint_span(model, of, model.jnt_dofadr, model.nv).start
    if kind == "sensordata":
        return sensor_span(model, of).start
    if isinstance(of, int | np.integer):
        return int(of)
    if kind not in KINDS:
        raise OptionError.unknown("kind of id", kind, ["qpos", "qvel", "sensordata", *KINDS])
    return model.id(kind, of)
