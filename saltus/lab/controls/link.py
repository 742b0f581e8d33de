"""Links to the lab: settings and a start after the # of its address, applied before the first step.

The names are those of links to standalone pages (`docs/howto/pages.md`). Settings that need another simulation are
requested at once, and time stands still until it is built; then the run begins at the link's start.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from saltus.arguments import put
from saltus.errors import OptionError
from saltus.lab.messages.protocol import Malformed, parse
from saltus.lab.view.state_text import FIELDS
from saltus.simulate.running.run_metadata import names_and_units

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

BUILT = ("contact", "integrator", "timestep", "restitution", "friction", "gravity")  # in this order
NAMED = ("qpos", "qvel", "act", "ctrl")  # fields whose numbers have names


class Link:
    """A link's settings, {name: text}, on their way into a session."""

    def __init__(self, session: Any, settings: Mapping[str, str]):
        """Request what has to be built."""
        self._session, self._start, self._rest = session, {}, {}
        for name in sorted(settings, key=lambda name: BUILT.index(name) if name in BUILT else len(BUILT)):
            if name in BUILT:
                self._handle(name, settings[name])
            elif name == "time" or name.partition("[")[0] in FIELDS:
                self._start[name] = settings[name]
            else:
                self._rest[name] = settings[name]

    def begin(self) -> None:
        """Go to the start and apply all that needs no building."""
        session = self._session
        before = session.setup
        if (key := self._rest.pop("key", None)) is not None:
            if key in before.model.names("key"):
                before = replace(before, key=key)
            else:
                session.notify("error", f"The link's key={key} was left out: there is no such keyframe.")

        def start(sim: Simulation) -> None:
            before.reset(sim, before.key)
            for name, text in self._start.items():
                set_state(sim, name, text)

        try:
            start(session.sim)
        except (OptionError, ValueError) as error:
            session.notify("error", f"The link's start was left out: {error}.")
            self._start = {}
        session.setup = replace(before, key=None, start=start)
        session.do_reset(None)
        for name, text in self._rest.items():
            self._handle(name, text)

    def _handle(self, name: str, text: str) -> None:
        """Execute the command of a setting; a failure becomes a notice."""
        session = self._session
        try:
            if name == "servo":
                if session.servo() is None:
                    raise OptionError("this scene has no servo")
                if session.servo() != _truth(text):
                    session.handle(parse('{"type": "keydown", "key": "c"}'))
                    session.handle(parse('{"type": "keyup", "key": "c"}'))
            else:
                session.handle(parse(json.dumps(_message(name, text))))
        except (OptionError, Malformed, ValueError) as error:
            session.notify("error", f"The link's {name}={text} was left out: {error}.")


def set_state(sim: Simulation, name: str, text: str) -> None:
    """Set a field of the state, or one number of it by name, as `qpos[theta]`. OptionError: it has other numbers."""
    field, bracket, rest = name.partition("[")
    if name == "time":
        sim.time = float(text)
    elif not bracket:
        numbers = [float(part) for part in text.split(",")]
        view = getattr(sim, field)
        if len(numbers) != view.size:
            raise OptionError(f"{field} has {view.size} numbers, not {len(numbers)}")
        put(
            field,
            view,
            [numbers[k : k + view.shape[-1]] for k in range(0, len(numbers), view.shape[-1])]
            if view.ndim > 1
            else numbers,
        )
    else:
        names = list(names_and_units(sim.engine)[0][field]) if field in NAMED else []
        if rest[:-1] not in names:
            raise OptionError.unknown(field, rest[:-1], names)
        getattr(sim, field)[names.index(rest[:-1])] = float(text)


def _truth(text: str) -> bool:
    if text not in ("true", "false"):
        raise OptionError("it is neither true nor false")
    return text == "true"


_FIELDS: dict[str, Callable[[str], dict[str, object]]] = {
    **dict.fromkeys(("integrator", "contact"), lambda text: {"name": text}),
    **dict.fromkeys(("timestep", "restitution", "speed"), lambda text: {"value": float(text)}),
    "friction": lambda text: {"value": float(text) if text else None},
    "gravity": lambda text: {"value": [float(part) for part in text.split(",")]},
    **dict.fromkeys(("ghosts", "record"), lambda text: {"on": _truth(text)}),
    "follow": lambda text: {"body": text or None},
}


def _message(name: str, text: str) -> dict[str, object]:
    """The command of a setting, as the page sends it."""
    if name.startswith("slider."):
        return {"type": "slider", "id": name.removeprefix("slider."), "value": float(text)}
    if name == "playing":
        return {"type": "play" if _truth(text) else "pause"}
    if name not in _FIELDS:
        raise OptionError("there is no such setting")
    return {"type": name, **_FIELDS[name](text)}
