"""Settings that a sweep can vary: paths to anything of a run, from the model's file to the integrator.

flexcomp[sheet]/elasticity/young    an attribute of the model's file, see `saltus.model.xml_overrides`
body_mass[bob]   opt.timestep       a value of the compiled model, see `saltus.model.field_overrides`
qpos[hinge]   qvel[ball.vz]         the initial state, by joint or by coordinate
ctrl[motor]                         a constant control
qfrc_applied[hinge]                 a constant force along coordinates (N m, N)
xfrc_applied[hand]                  a constant force (N) at a body's centre of mass and torque (N m), world axes
integrator   contact                the method
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from saltus.errors import OptionError
from saltus.integrate.registry import IntegratorChoice
from saltus.model.field_overrides import field_of as field_of
from saltus.model.load import load
from saltus.model.model import Model
from saltus.model.xml_overrides import edited
from saltus.simulate.laws.contact import ContactChoice
from saltus.simulate.setup import Setup
from saltus.simulate.simulation import Simulation
from saltus.terminal.display import count

RUN = ("integrator", "contact")
WRENCH = ("fx", "fy", "fz", "tx", "ty", "tz")  # components of a body's wrench
STATES = {  # parts of the state and inputs, and how each is set
    "qpos": "qpos[joint]=2",
    "qvel": "qvel[joint]=2",
    "ctrl": "ctrl[actuator]=1",
    "qfrc_applied": "qfrc_applied[joint]=1",
    "xfrc_applied": "xfrc_applied[body.fx]=1",
}
STATE = re.compile(r"(qpos|qvel|ctrl|qfrc_applied|xfrc_applied)(?:\[([^\[\]]*)\])?$")

#: A path's value: text for an attribute of the file, numbers, or an integrator or contact law.
Setting: TypeAlias = ArrayLike | IntegratorChoice | ContactChoice


@dataclass
class Start:
    """Start of a model's runs, shared by a whole sweep.

    `setup`: with the source of the model, which `saltus.load` takes with `ignore`. `key`: the keyframe to start from.
    The model made from a file is kept for the next run with the same file.
    """

    setup: Setup
    ignore: tuple[str, ...] = ()
    key: int | str | None = None
    _last: tuple[Any, Model] | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_last": None}

    def model(self, values: Mapping[str, Any]) -> Model:
        """The model with other values. OptionError, ModelError: it cannot have them."""
        in_file = {path: value for path, value in values.items() if "/" in path}
        what = repr(sorted(in_file.items()))
        if self._last is None or self._last[0] != what:
            source = self.setup.model
            made = edited(source, in_file, ignore=self.ignore) if in_file else load(source, ignore=self.ignore)
            self._last = what, made
        fields = {path: value for path, value in values.items() if is_field(path)}
        return self._last[1].changed(fields) if fields else self._last[1]

    def simulation(self, values: Mapping[str, Any]) -> Simulation:
        """A simulation with other values, at its start. OptionError, ModelError: it cannot have them."""
        method = {name: values[name] for name in RUN if name in values}
        sim = Simulation(**replace(self.setup, model=self.model(values), **method).arguments())
        if self.key is not None:
            sim.reset(self.key)
        for path, value in values.items():
            if of_state(path):
                _put(sim, path, value)
        return sim


def check_path(path: Any) -> str:
    """Return the path if it can name a setting. OptionError: it is not a setting."""
    if not (isinstance(path, str) and path.strip()):
        raise OptionError(f"the path of a value must be text, got {path!r}")
    if not ("/" in path or path in RUN or path in STATES or "[" in path or path.startswith("opt.")):
        known = (
            "element[name]/attribute, field[name], opt.name, qpos[name], qvel[name], ctrl[name], qfrc_applied[name], "
            "xfrc_applied[name], qpos, qvel, ... for all, integrator, contact"
        )
        raise OptionError(f"{path!r} is not a setting; expected one of: {known}")
    return path


def takes_text(path: str) -> bool:
    """Whether values of a path are text as they stand, rather than numbers."""
    return "/" in path or path in RUN


def of_state(path: str) -> bool:
    """Whether a path names a part of the state or the inputs at the start."""
    return STATE.match(path) is not None


def is_field(path: str) -> bool:
    """Whether a path names a value of the compiled model."""
    return not ("/" in path or path in RUN or of_state(path))


def places_of(sim: Simulation, path: str) -> tuple[str, list[int]]:
    """The field of the state or the inputs that a path names, and the indices in it."""
    found = STATE.match(path)
    assert found is not None
    name, label = found[1], found[2]
    labels, what = _labels(sim.model, name)
    if label is None:
        return name, list(range(getattr(sim, name).size))
    places = [i for i, own in enumerate(labels) if own == label or own.rpartition(".")[0] == label]
    if not places:
        known = labels if "." in label else dict.fromkeys(own.rpartition(".")[0] or own for own in labels)
        raise OptionError.unknown(f"{what} in {path}:", label, known)
    return name, [i + len(WRENCH) for i in places] if name == "xfrc_applied" else places


def _put(sim: Simulation, path: str, value: Any) -> None:
    """Set a part of the state or the inputs at the start."""
    name, places = places_of(sim, path)
    try:
        new = np.asarray(value, float).reshape(-1)
    except (TypeError, ValueError):
        raise OptionError(f"{path} must be a number, got {value!r}") from None
    if len(new) != len(places):
        one = f"; one of them is {STATES[path]}" if path in STATES and len(places) > 1 else ""
        raise OptionError(f"{path} takes {count(len(places), 'number')}, got {len(new)}{one}")
    if not np.isfinite(new).all():
        raise OptionError(f"{path} must be finite, got {value}")
    getattr(sim, name).reshape(-1)[places] = new


def _labels(model: Model, name: str) -> tuple[list[str], str]:
    """Labels of the numbers of a field of the state or the inputs, and the kind of element that they name."""
    if name == "xfrc_applied":  # without the world's
        return [f"{body}.{part}" for body in model.names("body")[1:] for part in WRENCH], "body"
    if name == "ctrl":
        return model.names("actuator"), "actuator"
    return model.qpos_names() if name == "qpos" else model.dof_names(), "joint"
