"""User-defined events, and actuation with discrete states that events change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from numpy.typing import ArrayLike

from saltus.arguments import flag, text_of
from saltus.dynamics.user_laws import register, user_kernel
from saltus.errors import OptionError
from saltus.integrate.event.user_events import EVENTS, no_action
from saltus.model.event_enums import ACTUATOR, USER
from saltus.number.structs import Struct
from saltus.simulate.laws.control import ControlLaw, Controller

DIRECTIONS = {"any": 0, "up": 1, "down": -1}


class Event:
    """Event at sign changes of a function of the state, with an optional action.

    `function(m, d)` returns a number; its sign changes are located as impacts are, to rounding of the time. It may read
    every quantity of a state (`d.time`, `d.qpos[i]`, `d.qvel[i]`, `d.ctrl[i]`, `d.userdata[i]`,
    `d.actuation_state[i]`, `d.xpos[b]`, `d.site_xpos[s]`, `d.actuator_force[k]`, `d.qacc[i]`, ...).
    `action(m, d)` runs at the event and may write d.qpos, d.qvel, d.act, d.ctrl, d.userdata and d.actuation_state,
    and 0 to d.eq_active, by which an equality lets go.
    Afterwards impacts and modes of contacts are found anew. If an action changes the sign of another event's function,
    that event follows at once.

    `direction`: "up" from negative to positive, "down", or "any". `terminal`: a run ends there, with the event's name
    in `trajectory.attrs["ended_by"]`, and so does `Simulation.step`. `name`: in the log of events.

    Both are plain functions of numbers, loops and branches, which are compiled; objects that they refer to by name
    become part of their code, as for `saltus.controller`. Pass events to `saltus.Simulation(..., events=[...])` or a
    batch.
    """

    kind = USER

    def __init__(
        self,
        function: Callable[[Struct, Struct], float],
        action: Callable[[Struct, Struct], object] | None = None,
        *,
        name: str | None = None,
        direction: str = "any",
        terminal: bool = False,
    ):
        if text_of("direction", direction) not in DIRECTIONS:
            raise OptionError.unknown("direction of an event", direction, list(DIRECTIONS))
        self.function = user_kernel("Event: function", "f(m, d)", function)
        self.action = no_action if action is None else user_kernel("Event: action", "action(m, d)", action)
        self.name = self.function.py_func.__name__ if name is None else str(name)
        self.direction, self.terminal = direction, flag("terminal", terminal)

    def __repr__(self) -> str:
        end = ", terminal=True" if self.terminal else ""
        return f"Event({self.name!r}, direction={self.direction!r}{end})"

    def numbers(self, kind: int) -> tuple[int, int, int]:
        """Direction, whether the event ends the run, and kind in the log."""
        return DIRECTIONS[self.direction], int(self.terminal), kind


class ActuationLaw(Protocol):
    """Object that holds the law of an `Actuation`, optionally with its events, states and parameters."""

    @property
    def torques(self) -> ControlLaw:
        """The control law(m, d, z), a method."""
        ...


class Actuation(Controller):
    """Model of actuation with discrete states: a control law, and events that change them.

    `law(m, d, z)` sets the controls d.ctrl, and the rates of its `states` continuous states, as for
    `saltus.controller`; it reads its discrete states in d.actuation_state. `start`: initial values of the discrete
    states. `events`: `saltus.Event`s whose actions change them; they are logged as "actuator". Pass an actuation as
    `Simulation(..., control=Actuation(...))`.

    The law may also be given as an object with a method (or static method) `torques(m, d, z)` and optionally the
    attributes `start`, `events`, `states`, `parameters`. Numbers, text, tuples and arrays that its methods read from it
    become constants of the compiled code, and methods that they call are compiled with them: use states and parameters
    for values that change. Functions and actions of events may be methods, too.
    """

    def __init__(
        self,
        law: ControlLaw | ActuationLaw,
        *,
        start: Sequence[float] | None = None,
        events: Sequence[Event] | None = None,
        states: int | None = None,
        parameters: ArrayLike | None = None,
    ):
        function = getattr(law, "torques", law)
        count: int = getattr(law, "states", 0) if states is None else states
        values = getattr(law, "parameters", ()) if parameters is None else parameters
        made = user_kernel(
            "Actuation: law", "law(m, d, z), an object that has it as torques(m, d, z)", function, inline=True
        )
        super().__init__(made, states=count, parameters=values)
        given = getattr(law, "start", ()) if start is None else start
        try:
            self.start = tuple(float(x) for x in given)
        except (TypeError, ValueError):
            raise OptionError(f"Actuation: start must be numbers, got {given!r}") from None
        self.events = check_events(getattr(law, "events", ()) if events is None else events)

    def __repr__(self) -> str:
        return f"Actuation({self.law.py_func.__name__}, start={list(self.start)}, events={list(self.events)})"


def check_events(events: Iterable[Event] | Event) -> tuple[Event, ...]:
    """Return a sequence of Events; OptionError for anything else."""
    if isinstance(events, Event):
        return (events,)
    try:
        found = tuple(events)
    except TypeError:
        raise OptionError(f"events must be saltus.Event objects, got {type(events).__name__}") from None
    for event in found:
        if not isinstance(event, Event):
            raise OptionError(f"events must be saltus.Event objects, got {type(event).__name__}")
    return found


class UserEvents:
    """The events of a simulation: those of its actuation, then its own."""

    def __init__(self, own: Iterable[Event] | Event, control: Controller | None):
        given = control.events if isinstance(control, Actuation) else ()
        self.own = check_events(own)
        self.all = (*given, *self.own)
        self.numbers = tuple(event.numbers(ACTUATOR if k < len(given) else USER) for k, event in enumerate(self.all))

    @property
    def feature_key(self) -> str:
        """Name that tells the events' kernels from others among the features of a layout; "" without events."""
        if not self.all:
            return ""
        return EVENTS + register(tuple(k for event in self.all for k in (event.function, event.action)))

    @property
    def names(self) -> list[str]:
        """Names of the events, as in the log."""
        return [event.name for event in self.all]


def start_values(given: Any, control: Controller | None) -> tuple[float, ...]:
    """Initial values of the discrete states: those of the actuation, given ones, or zeros for a given count."""
    own = control.start if isinstance(control, Actuation) else ()
    if given is None:
        return own
    if own:
        raise OptionError("actuation_states: cannot be given with an Actuation, which has its own `start`")
    try:
        return (0.0,) * given if isinstance(given, int) else tuple(float(x) for x in given)
    except (TypeError, ValueError, OverflowError, MemoryError):
        raise OptionError(f"actuation_states must be a count or values, got {given!r}") from None
