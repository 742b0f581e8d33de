"""Contents of an environment's simulations by name: fields to read, and the right way for what is assigned in vain."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.env.environment import SETTINGS
from saltus.env.run.episodes import PLACED, Episodes
from saltus.errors import OptionError, UnknownAttribute
from saltus.simulate.attributes import KnownAttributes
from saltus.simulate.batches.fields import READABLE

#: Attributes that are chosen when an environment is made.
MADE_WITH = ("environment", "num_envs", "render_mode", "autoreset_mode", "threads", "precision", *SETTINGS)


class Fields:
    """Fields of the simulations by MuJoCo's names, `env.data.xpos`, at their present states; read-only copies."""

    _read: Callable[[str], NDArray[np.floating]]

    def __init__(self, read: Callable[[str], NDArray[np.floating]]):
        vars(self)["_read"] = read

    def __getitem__(self, name: str) -> NDArray[np.floating]:
        found = self._read(name)
        if found.ndim:
            found.flags.writeable = False  # writing to a copy would have no effect
        return found

    def __getattr__(self, name: str) -> NDArray[np.floating]:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except OptionError as error:
            raise UnknownAttribute(str(error)) from None

    def __setattr__(self, name: str, value: object) -> None:
        raise UnknownAttribute(f"data is read-only; {_state_way(name)}")

    def __dir__(self) -> list[str]:
        return sorted(READABLE)

    def __repr__(self) -> str:
        return f"Fields({', '.join(sorted(READABLE))})"


def refusal(kind: str, name: str, episodes: Episodes) -> str:
    """Why an attribute of an environment cannot be assigned, and what to do; "" for a name of nothing."""
    model, makes = episodes.model, "make" if kind == "SingleEnvironment" else "make_vec"
    field = f"opt.{name}" if hasattr(model.opt, name) else name
    if name in episodes.environment.values:
        way = f"assign parameters[{name!r}]"
    elif name in READABLE:
        way = _state_way(name)
    elif name in episodes.environment.option.__dict__ or name in MADE_WITH:
        way = f"give it when the environment is made: saltus.env.{makes}(..., {name}=...)"
        if name in ("environment", "num_envs"):
            way = f"make another one with saltus.env.{makes}"
    elif field != name or hasattr(model, name):
        varied = episodes.lanes.varied_model
        made = "" if varied is not None and field in varied.names else f"make it with vary=({field!r},), then "
        way = f"{made}assign model.{field}"
    else:
        return ""
    return f"{kind}: assigning {name} would do nothing; {way}"


def _state_way(name: str) -> str:
    if name in PLACED:
        return f"use set_state({name}=...) or reset(options={{{name!r}: ...}})"
    return f"{name} follows from the state, which set_state(qpos=..., qvel=...) sets"


def stated(qpos: Any, qvel: Any, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields that are given, by name."""
    return {name: value for name, value in {"qpos": qpos, "qvel": qvel, **fields}.items() if value is not None}


class Sealed(KnownAttributes):
    """Environments whose attributes cannot be misspelt."""

    _chosen = frozenset(MADE_WITH)
    _episodes: Episodes

    def _why_not(self, name: str) -> str:
        return refusal(type(self).__name__, name, self._episodes)
