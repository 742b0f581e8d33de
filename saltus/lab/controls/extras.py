"""Sliders, buttons, plots and drawings that users add to a lab, with functions of the simulation.

They can be added by any thread at any time. Their functions are called only by the session's thread, between two steps,
with the running simulation. If one raises an error, the user gets a notice and it is not called again; everything else
continues.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np

from saltus.arguments import function, number
from saltus.errors import OptionError, proposal
from saltus.lab.controls.sliders import Slider, slider
from saltus.lab.data.signals import Signal, Source
from saltus.lab.view.drawings import Drawing, messages

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

MOST = 100  # of a kind
PACKAGE = Path(__file__).parents[2]
Notify = Callable[[str, str], None]
Answer = TypeVar("Answer")


class Call(Generic[Answer]):
    """A function of the user that is called until it raises an error."""

    def __init__(self, what: str, function: Callable[..., Answer]):
        self.what, self._function = what, function
        self.off = False

    def __call__(self, notify: Notify, *arguments: object) -> Answer | None:
        """Call the function and return its result; None if it is off or raises an error, which is notified."""
        if self.off:
            return None
        try:
            return self._function(*arguments)
        except Exception as error:
            self.fail(notify, error)
            return None

    def fail(self, notify: Notify, error: Exception) -> None:
        """Notify the user of an error and switch off."""
        self.off = True
        own = [f for f in traceback.extract_tb(error.__traceback__) if not Path(f.filename).is_relative_to(PACKAGE)]
        where = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
        text = str(error.args[0] if isinstance(error, KeyError) and error.args else error)
        notify("error", f"{self.what}: {type(error).__name__}: {text}{where}. It is disabled.")


class UserSlider:
    """A slider that the user added; its present `value` can be read and set."""

    def __init__(self, about: Slider, value: float, on_change: Call[object] | None):
        self.about, self._value, self._on_change = about, value, on_change
        self.moved = True  # since `on_change` was called

    @property
    def value(self) -> float:
        """The present value."""
        return self._value

    @value.setter
    def value(self, value: float) -> None:
        given = number("value", value)
        if not np.isfinite(given):
            raise OptionError(f"value must be finite, got {value!r}")
        self._value = self.about.clipped(given)
        self.moved = True

    @property
    def off(self) -> bool:
        """Whether the function raised an error and is no longer called."""
        return self._on_change is not None and self._on_change.off

    def call(self, notify: Notify, sim: Simulation) -> None:
        """Call the function, if there is one, with the present value."""
        self.moved = False
        if self._on_change is not None:
            self._on_change(notify, sim, self.value)

    def __repr__(self) -> str:
        return f"<slider {self.about.label!r} at {self._value:g} {self.about.unit}".rstrip() + ">"


class Extras:
    """The user's additions to one scene; the session reads them and triggers the calls that are due."""

    kind = "extras"

    def __init__(self) -> None:
        self.revision = 1
        self.known: list[str] = []  # the session's own signals
        self._lock = threading.RLock()
        self._sliders: dict[str, UserSlider] = {}
        self._buttons: dict[str, Call[Any]] = {}
        self._pressed: list[str] = []
        self._plots: dict[str, tuple[Signal, Call]] = {}
        self._shown: list[str] = []  # signals to plot, in the order of their addition
        self._seen, self._plotted = 0, 0  # revision and number of those signals that the session has seen
        self._drawings: list[Call[Any]] = []
        self._steps: list[Call[Any]] = []
        self._off = 0

    # ------------------------------------------------------------ additions, from any thread

    def _add(self, kind: str, there: dict[str, Any], name: str, made: Any) -> None:
        with self._lock:
            if not isinstance(name, str) or not name or len(name) > 100:
                raise OptionError(f"a {kind} needs a name of 1 to 100 characters, got {name!r}")
            if name in there:
                raise OptionError(f"a {kind} {name!r} exists already")
            if len(there) >= MOST:
                raise OptionError(f"at most {MOST} sliders, buttons or plots can be added")
            there[name] = made
            self.revision += 1

    def slider(
        self, name: str, low: float, high: float, value: float, unit: str, on_change: Callable[..., Any] | None
    ) -> UserSlider:
        """Add a slider; see `Lab.slider`."""
        low, high, value = number("low", low), number("high", high), number("value", value)
        if not (np.isfinite([low, high]).all() and low < high):
            raise OptionError(f"slider {name!r}: {low:g} to {high:g} is not a range")
        if not low <= value <= high:
            raise OptionError(f"slider {name!r}: its value {value:g} is not between {low:g} and {high:g}")
        call = None if on_change is None else Call(f"slider {name!r}", function("on_change", on_change))
        made = UserSlider(slider(f"user[{name}]", name, "user", low, high, unit), value, call)
        self._add("slider", self._sliders, name, made)
        return made

    def button(self, name: str, on_press: Callable[..., Any]) -> None:
        """Add a button; see `Lab.button`."""
        self._add("button", self._buttons, name, Call(f"button {name!r}", function("on_press", on_press)))

    def plot(self, name: str, read: Callable[..., Any] | None, unit: str) -> None:
        """Add a plot; see `Lab.plot`."""
        if read is not None:
            signal = Signal(f"user[{name}]", name, unit, "Yours")
            self._add("plot", self._plots, name, (signal, Call(f"plot {name!r}", function("read", read))))
            name = signal.id
        elif name not in self.known:
            raise OptionError(f"there is no signal {name!r}{proposal(name, self.known)}; for your own, give a function")
        with self._lock:
            self._shown.append(name)
            self.revision += 1

    def draw(self, draw: Callable[..., Any]) -> None:
        """Add a drawing function; see `Lab.draw`."""
        with self._lock:
            self._drawings.append(Call("draw", function("draw", draw)))
            self.revision += 1

    def before_step(self, act: Callable[..., Any]) -> None:
        """Add a function to call before every step; see `Lab.before_step`."""
        with self._lock:
            self._steps.append(Call("before_step", function("act", act)))
            self.revision += 1

    # ------------------------------------------------------------ contents

    def message(self) -> dict[str, Any]:
        """The `extras` message."""
        with self._lock:
            sliders = [{**asdict(s.about), "value": s.value, "off": s.off} for s in self._sliders.values()]
            buttons = [{"id": name, "label": name, "off": call.off} for name, call in self._buttons.items()]
        return {"type": self.kind, "sliders": sliders, "buttons": buttons}

    def values(self) -> dict[str, float]:
        """Values of the sliders by id."""
        with self._lock:
            return {s.about.id: s.value for s in self._sliders.values()}

    def new_plots(self) -> list[str] | None:
        """Signals to plot that were added since the last call; None if nothing at all has changed."""
        with self._lock:
            if self.revision == self._seen:
                return None
            new = self._shown[self._plotted :]
            self._seen, self._plotted = self.revision, len(self._shown)
            return new

    def sources(self, notify: Notify) -> list[Source]:
        """Sources of the user's plots."""
        with self._lock:
            return [Source([signal], _reader(call, notify), computed=True) for signal, call in self._plots.values()]

    @property
    def steps(self) -> bool:
        """Whether a function is to be called before every step."""
        return any(not call.off for call in self._steps)

    # ------------------------------------------------------------ calls, from the session's thread

    def move(self, id: str, value: float) -> float | None:
        """Move the slider with this id and return its new value within its bounds; None if there is no such slider."""
        with self._lock:
            found = next((s for s in self._sliders.values() if s.about.id == id), None)
        if found is None:
            return None
        found.value = value
        return found.value

    def press(self, name: str) -> None:
        """Register a press of a button. OptionError: there is no such button."""
        if name not in self._buttons:
            raise OptionError.unknown("button", name, self._buttons)
        self._pressed.append(name)

    @property
    def due(self) -> bool:
        """Whether a slider was moved or a button pressed since the last calls."""
        return bool(self._pressed) or any(s.moved for s in list(self._sliders.values()))

    def call_due(self, sim: Simulation, notify: Notify) -> None:
        """Call the functions of moved sliders and pressed buttons."""
        with self._lock:
            moved = [s for s in self._sliders.values() if s.moved]
        for one in moved:
            one.call(notify, sim)
        pressed, self._pressed = self._pressed, []
        for name in pressed:
            self._buttons[name](notify, sim)
        self._note_failures()

    def call_all_sliders(self, sim: Simulation, notify: Notify) -> None:
        """Call the functions of all sliders, as after a reset of the simulation."""
        with self._lock:
            for one in self._sliders.values():
                one.moved = True
        self.call_due(sim, notify)

    def call_before_step(self, sim: Simulation, notify: Notify) -> None:
        """Call the user's `before_step` functions."""
        for call in self._steps:
            call(notify, sim)

    def drawn(self, sim: Simulation, notify: Notify) -> list[dict[str, Any]] | None:
        """The user's drawings for the `drawings` message; None if no drawing function was added."""
        with self._lock:
            calls = list(self._drawings)
        found: list[dict[str, Any]] = []
        for call in calls:
            drawings: Iterable[Drawing] | None = call(notify, sim)
            try:
                found += messages(_listed(drawings), sim.model)
            except Exception as error:
                call.fail(notify, error)
        self._note_failures()
        return found if calls else None

    def _note_failures(self) -> None:
        """Raise the revision if other functions are off than before, so that pages show it."""
        with self._lock:
            off = sum(one.off for one in (*self._buttons.values(), *self._sliders.values()))
            if off != self._off:
                self._off = off
                self.revision += 1


def _reader(call: Call[Any], notify: Notify) -> Callable[[Simulation], Any]:
    def read(sim: Simulation) -> float:
        value = call(notify, sim)
        if call.off:
            return np.nan
        try:
            return float(cast(float, value))
        except (TypeError, ValueError) as error:
            call.fail(notify, error)
            return np.nan

    return read


def _listed(drawings: Any) -> list[Any]:
    """The result of a drawing function (several drawings, one, or None) as a list."""
    if drawings is None:
        return []
    return [drawings] if isinstance(drawings, Drawing) else list(drawings)
