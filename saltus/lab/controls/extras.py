"""What users of Python add to a lab: sliders, buttons, plots and drawings, with functions of the simulation.

They are added by any thread at any time. Their functions are called by the session's thread alone, between two steps,
with the simulation that runs. One that raises an error is told to the user and called no more; all else goes on.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

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


class Call:
    """A function of the user's, until it raises an error."""

    def __init__(self, what: str, function: Callable[..., Any]):
        self.what, self._function = what, function
        self.off = False

    def __call__(self, notify: Notify, *arguments: Any) -> Any:
        """What it returns; None if it is off, or raised an error, which is told."""
        if self.off:
            return None
        try:
            return self._function(*arguments)
        except Exception as error:
            self.fail(notify, error)
            return None

    def fail(self, notify: Notify, error: Exception) -> None:
        """Tell the user of an error, and be off."""
        self.off = True
        own = [f for f in traceback.extract_tb(error.__traceback__) if not Path(f.filename).is_relative_to(PACKAGE)]
        where = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
        text = str(error.args[0] if isinstance(error, KeyError) and error.args else error)
        notify("error", f"{self.what}: {type(error).__name__}: {text}{where}. It is switched off.")


class UserSlider:
    """A slider that was added: `value` is where it stands, and can be set."""

    def __init__(self, about: Slider, value: float, on_change: Call | None):
        self.about, self._value, self._on_change = about, value, on_change
        self.moved = True  # since `on_change` was called

    @property
    def value(self) -> float:
        """Where the slider stands."""
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
        """Whether its function raised an error, and is called no more."""
        return self._on_change is not None and self._on_change.off

    def call(self, notify: Notify, sim: Simulation) -> None:
        """Call its function, if it has one, with where it stands."""
        self.moved = False
        if self._on_change is not None:
            self._on_change(notify, sim, self.value)

    def __repr__(self) -> str:
        return f"<slider {self.about.label!r} at {self._value:g} {self.about.unit}".rstrip() + ">"


class Extras:
    """All that was added to one scene; the session asks it for what there is, and has it call what is due."""

    kind = "extras"

    def __init__(self) -> None:
        self.revision = 1
        self.known: list[str] = []  # the signals that the session has by itself
        self._lock = threading.RLock()
        self._sliders: dict[str, UserSlider] = {}
        self._buttons: dict[str, Call] = {}
        self._pressed: list[str] = []
        self._plots: dict[str, tuple[Signal, Call]] = {}
        self._shown: list[str] = []  # signals to plot, in the order in which they came
        self._seen, self._plotted = 0, 0  # the revision, and how many of those signals, the session knows of
        self._drawings: list[Call] = []
        self._steps: list[Call] = []
        self._off = 0

    # ------------------------------------------------------------ added, by any thread

    def _add(self, kind: str, there: dict[str, Any], name: str, made: Any) -> None:
        with self._lock:
            if not isinstance(name, str) or not name or len(name) > 100:
                raise OptionError(f"a {kind} needs a name of 1 to 100 characters, got {name!r}")
            if name in there:
                raise OptionError(f"there is a {kind} {name!r} already")
            if len(there) >= MOST:
                raise OptionError(f"more than {MOST} of a kind cannot be added")
            there[name] = made
            self.revision += 1

    def slider(
        self, name: str, low: float, high: float, value: float, unit: str, on_change: Callable[..., Any] | None
    ) -> UserSlider:
        """See `Lab.slider`."""
        low, high, value = number("low", low), number("high", high), number("value", value)
        if not (np.isfinite([low, high]).all() and low < high):
            raise OptionError(f"slider {name!r}: {low:g} to {high:g} is no range")
        if not low <= value <= high:
            raise OptionError(f"slider {name!r}: its value {value:g} is not between {low:g} and {high:g}")
        call = None if on_change is None else Call(f"slider {name!r}", function("on_change", on_change))
        made = UserSlider(slider(f"user[{name}]", name, "user", low, high, unit), value, call)
        self._add("slider", self._sliders, name, made)
        return made

    def button(self, name: str, on_press: Callable[..., Any]) -> None:
        """See `Lab.button`."""
        self._add("button", self._buttons, name, Call(f"button {name!r}", function("on_press", on_press)))

    def plot(self, name: str, read: Callable[..., Any] | None, unit: str) -> None:
        """See `Lab.plot`."""
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
        """See `Lab.draw`."""
        with self._lock:
            self._drawings.append(Call("draw", function("draw", draw)))
            self.revision += 1

    def before_step(self, act: Callable[..., Any]) -> None:
        """See `Lab.before_step`."""
        with self._lock:
            self._steps.append(Call("before_step", function("act", act)))
            self.revision += 1

    # ------------------------------------------------------------ what there is

    def message(self) -> dict[str, Any]:
        """The `extras` message."""
        with self._lock:
            sliders = [{**asdict(s.about), "value": s.value, "off": s.off} for s in self._sliders.values()]
            buttons = [{"id": name, "label": name, "off": call.off} for name, call in self._buttons.items()]
        return {"type": self.kind, "sliders": sliders, "buttons": buttons}

    def values(self) -> dict[str, float]:
        """Where the sliders stand, by id."""
        with self._lock:
            return {s.about.id: s.value for s in self._sliders.values()}

    def new_plots(self) -> list[str] | None:
        """Signals to plot that came since the last call; None where nothing has changed at all."""
        with self._lock:
            if self.revision == self._seen:
                return None
            new = self._shown[self._plotted :]
            self._seen, self._plotted = self.revision, len(self._shown)
            return new

    def sources(self, notify: Notify) -> list[Source]:
        """What the user's plots read."""
        with self._lock:
            return [Source([signal], _reader(call, notify), computed=True) for signal, call in self._plots.values()]

    @property
    def steps(self) -> bool:
        """Whether something is to be called before every step."""
        return any(not call.off for call in self._steps)

    # ------------------------------------------------------------ called, by the session's thread

    def move(self, id: str, value: float) -> float | None:
        """Move the slider with this id, if there is one; returns where it stands now, within its bounds."""
        with self._lock:
            found = next((s for s in self._sliders.values() if s.about.id == id), None)
        if found is None:
            return None
        found.value = value
        return found.value

    def press(self, name: str) -> None:
        """A button was pressed. OptionError: there is no such button."""
        if name not in self._buttons:
            raise OptionError.unknown("button", name, self._buttons)
        self._pressed.append(name)

    @property
    def due(self) -> bool:
        """Whether something was moved or pressed."""
        return bool(self._pressed) or any(s.moved for s in list(self._sliders.values()))

    def call_due(self, sim: Simulation, notify: Notify) -> None:
        """Call what belongs to sliders that were moved and buttons that were pressed."""
        with self._lock:
            moved = [s for s in self._sliders.values() if s.moved]
        for one in moved:
            one.call(notify, sim)
        pressed, self._pressed = self._pressed, []
        for name in pressed:
            self._buttons[name](notify, sim)
        self._note_failures()

    def call_all_sliders(self, sim: Simulation, notify: Notify) -> None:
        """The simulation begins anew: it is to be what the sliders say."""
        with self._lock:
            for one in self._sliders.values():
                one.moved = True
        self.call_due(sim, notify)

    def call_before_step(self, sim: Simulation, notify: Notify) -> None:
        """Call what the user wants called before every step."""
        for call in self._steps:
            call(notify, sim)

    def drawn(self, sim: Simulation, notify: Notify) -> list[dict[str, Any]] | None:
        """What the user draws, as the `drawings` message has it; None where nothing was ever to be drawn."""
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
        """Let pages know what is switched off."""
        with self._lock:
            off = sum(one.off for one in (*self._buttons.values(), *self._sliders.values()))
            if off != self._off:
                self._off = off
                self.revision += 1


def _reader(call: Call, notify: Notify) -> Callable[[Simulation], Any]:
    def read(sim: Simulation) -> float:
        value = call(notify, sim)
        if call.off:
            return np.nan
        try:
            return float(value)
        except (TypeError, ValueError) as error:
            call.fail(notify, error)
            return np.nan

    return read


def _listed(drawings: Any) -> list[Any]:
    """The drawings of one function: several, one, or none."""
    if drawings is None:
        return []
    return [drawings] if isinstance(drawings, Drawing) else list(drawings)
