"""`Environment`: a task for an agent, declared as a class."""

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
from saltus.errors import OptionError
from saltus.integrate.integrator import Kernel
from saltus.integrate.registry import IntegratorChoice
from saltus.model.load import ModelSource, load
from saltus.model.model import KINDS, Model
from saltus.simulate.engine.initial_state import awake
from saltus.simulate.laws.control import Controller

#: A model, or a function that gives one.
ModelChoice: TypeAlias = ModelSource | Callable[[], ModelSource]
#: From where pictures are drawn: a camera of the model by name or number, one of its own, or None.
CameraChoice: TypeAlias = str | int | Camera | None
#: Attributes that may be changed where an environment is made, beside parameters and options.
SETTINGS = ("model", "frame_skip", "max_episode_steps", "integrator", "timestep", "key", "vary", "randomize")
SETTINGS += ("action_noise", "action_delay", "pushes")


class Environment:
    """A task: a model, what an agent sees of it and does to it, what it is rewarded for, how episodes begin and end.

    A subclass declares it by attributes, of which only the model is needed. Those that are terms are functions of one
    simulation, see `saltus.env.term`.

    Attributes:
        model: what `saltus.load` takes, or a function that gives it.
        key: the keyframe that episodes start from, by name or number; None: the model's start.
        vary: fields of the model that may differ from simulation to simulation, as in `saltus.Batch`.
        randomize: values of the model's fields and of parameters that are drawn for each episode, see
            `saltus.env.Randomize`.
        integrator, timestep: as in `saltus.Simulation` (s).
        control: a controller in the time loop, such as `saltus.PID`.
        frame_skip: steps of the simulation in one step of the environment.
        max_episode_steps: after how many of these an episode is truncated; None: never.
        observation: fields by MuJoCo's names, with places ("qpos[1:]", "xpos[torso, 2]", "sensordata[gyro]"), and
            terms, in their order. `saltus.env.observed` limits, scales or disturbs one.
        rewards: terms by the names under which infos report them, but for those that begin with an underscore. The
            reward is their sum.
        infos: further terms that infos report.
        reset_infos: names of those that are reported when an episode begins, too.
        terminated: a term that says whether the episode ends.
        before_step: a term that sets the controls d.ctrl from e.action; it may apply forces. None: the action is the
            controls.
        action_range: (least, largest) of actions, numbers or rows with one for each; None: the ranges of the controls.
        action_noise: standard deviations of normally distributed noise on actions, in their own unit: one number, or
            one for each.
        action_delay: how many steps late actions act, or (least, largest) of what is drawn for each episode; before
            the first one arrives, zeros act. The term before_step reads the late and noisy action, all others the one
            that was given.
        pushes: changes of velocities and forces at random times, see `saltus.env.Push`.
        reset: a term that turns the start of the model, in d.qpos and d.qvel, into that of an episode.
        remember: a term that sets memory after each step and each reset, when all others have read it.
        parameters: numbers, or rows of numbers, that terms read as e.NAME. They may differ from simulation to
            simulation and change at any time.
        memory: numbers, or rows of numbers, that terms read and set as e.NAME, with what they are when an episode
            begins.
        ids: places in the model that terms read as e.NAME, such as ("body", "torso"): the number of the object; of
            ("qpos", joint), ("qvel", joint) and ("sensordata", sensor) the place of the first number.
        inputs: parameters and memory that a person sets where the environment is played, see `saltus.env.play`: for one
            number (name, least, largest), with a unit behind them or not, for a row of numbers as many of these.
        options: values that choose between declarations; `declare` reads them as self.option.NAME.
        quantities: "present": terms and observations read computed quantities of the state that a step has reached;
            "step": those that the integrator left, as Gymnasium's environments do.
        camera: from where pictures are drawn, as in `Simulation.picture`.
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
        #: What differs from the class, by name.
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
        self.played_inputs()

    def declare(self) -> None:
        """Set attributes that depend on options (`self.option`) or parameters (`self.values`); here nothing."""

    def loaded(self) -> Model:
        """The model."""
        source: ModelChoice | None = declared(self, "model")
        if source is None:
            raise OptionError(f"{type(self).__name__} has no model; set the attribute `model`")
        return awake(load(source() if callable(source) else source), "environments")

    def terms(self, name: str) -> dict[str, Kernel]:
        """The terms of a mapping, made kernels."""
        where = f"{type(self).__name__}: {name}"
        return {key: _term(f"{where}[{key!r}]", value) for key, value in mapping(where, declared(self, name)).items()}

    def term(self, name: str) -> Kernel | None:
        """A term by its name, made a kernel; None where there is none."""
        value = declared(self, name)
        return None if value is None else _term(f"{type(self).__name__}: {name}", value)

    def first_memory(self) -> dict[str, NDArray[np.float64]]:
        """What memory begins with."""
        given = mapping(f"{type(self).__name__}: memory", declared(self, "memory"))
        return {name: numbers(f"memory {name}", value) for name, value in given.items()}

    def played_inputs(self) -> tuple[Input, ...]:
        """What a person sets where it is played, as `inputs` declares it."""
        added = self.added({})
        return inputs(type(self).__name__, declared(self, "inputs"), {**added.parameters, **added.memory})

    def places(self, model: Model) -> dict[str, int]:
        """The numbers that `ids` stand for."""
        given = mapping(f"{type(self).__name__}: ids", declared(self, "ids"))
        return {name: _place(name, what, model) for name, what in given.items()}

    def added(self, disturbances: Mapping[str, tuple[int | str, ...]]) -> Added:
        """The fields that it adds to an episode, with those of its disturbances."""
        first = self.first_memory()
        return Added(
            {name: _size(name, value) for name, value in self.values.items()},
            {name: _size(name, value) for name, value in first.items()},
            tuple(declared(self, "ids")),
            disturbances,
        )


def declared(environment: Environment, name: str) -> Any:
    """What an environment declares under a name, functions as they are."""
    if name in vars(environment):
        return vars(environment)[name]
    value = inspect.getattr_static(type(environment), name)
    return value.__func__ if isinstance(value, staticmethod) else value


def _term(name: str, value: Any) -> Kernel:
    try:
        return term_kernel(value)
    except (OptionError, TypeError) as error:
        raise OptionError(f"{name}: {error}") from None


def _like(name: str, value: Any, example: Any) -> np.ndarray:
    """Numbers of the shape of an example."""
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
