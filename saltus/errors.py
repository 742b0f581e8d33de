"""Errors and warnings with messages a user can act on. All errors derive from `SaltusError`."""

from __future__ import annotations

import difflib
import inspect
import math
import os
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SaltusWarning(UserWarning):
    """A warning to the user that does not stop the work."""


def warn(text: str | SaltusWarning) -> None:
    """Issue a SaltusWarning, or one of its kinds, for the line of the user's program that called into Saltus."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] == "saltus":
        level, frame = level + 1, frame.f_back
    warnings.warn(text, SaltusWarning, stacklevel=level)


class SaltusError(Exception):
    """The base class of all errors that Saltus raises deliberately."""

    def __reduce__(self) -> tuple[object, ...]:
        # attributes travel between processes although constructors take more than the text
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[SaltusError], args: tuple[object, ...], attributes: dict[str, object]) -> SaltusError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class ModelError(SaltusError):
    """A model cannot be read, or uses an unsupported feature.

    Attributes:
        file: path of the model file, or None.
        line: line in that file, counted from 1, or None.
        element: kind of the offending element ("joint", "equality", ...), or None.
        name: its name in the model, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | os.PathLike[str] | None = None,
        line: int | None = None,
        element: str | None = None,
        name: str | None = None,
    ) -> None:
        self.file = None if file is None else os.fspath(file)
        self.line = line
        self.element = element
        self.name = name
        super().__init__("".join([_place(self.file, line), _thing(element, name), message]))


def _place(file: str | None, line: int | None) -> str:
    if file is None:
        return "" if line is None else f"line {line}: "
    return f"{file}: " if line is None else f"{file}, line {line}: "


def _thing(element: str | None, name: str | None) -> str:
    if element is None:
        return "" if name is None else f"'{name}': "
    return f"{element}: " if name is None else f"{element} '{name}': "


class OptionError(SaltusError, ValueError):
    """An argument or option has a value that cannot be used; also a ValueError."""

    @classmethod
    def unknown(cls, what: str, value: object, choices: Iterable[str]) -> OptionError:
        """The error for a `what` ("integrator", ...) that is none of `choices`, with the closest one proposed."""
        known = sorted(choices)
        return cls(f"unknown {what} {value!r}{proposal(value, known)} (known: {', '.join(known)})")


class UnknownName(OptionError, KeyError):
    """An unknown name; also a KeyError."""

    __str__ = Exception.__str__


class ReadOnlyError(OptionError, ValueError):
    """An array that cannot be written to; also a ValueError, as NumPy's."""


class UnknownAttribute(OptionError, AttributeError):
    """An attribute that is not there, or cannot be assigned to; also an AttributeError."""


def proposal(value: object, choices: Iterable[str]) -> str:
    """Return "; did you mean ...?" with the closest of `choices`, or "" if none is close."""
    folded = {choice.casefold(): choice for choice in choices}
    close = difflib.get_close_matches(str(value).casefold(), folded, n=1)
    return f"; did you mean '{folded[close[0]]}'?" if close else ""


class Recording(Protocol):
    """Interface of the recording of a stopped run: the most used part of `saltus.Trajectory`.

    Attributes:
        time [T]: s.
        qpos [T, nq]: positions (rad, m, quaternion parts).
        qvel [T, nv]: velocities (rad/s, m/s).
        ctrl [T, nu]: controls.
        energy [T, 2]: potential and kinetic energy, J.
    """

    time: NDArray[np.float64]
    qpos: NDArray[np.float64]
    qvel: NDArray[np.float64]
    ctrl: NDArray[np.float64]
    energy: NDArray[np.float64]

    def __len__(self) -> int: ...

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the recording; see `saltus.Trajectory.save`."""

    def plot(self, path: str | os.PathLike[str] | None = None) -> object:
        """Plot the recording; see `saltus.Trajectory.plot`."""


class DivergenceError(SaltusError):
    """A run stopped because its state or acceleration is not finite or grew without bound.

    Attributes:
        time: when it was detected, s.
        dof: name of the first bad degree of freedom, or None.
        dof_index: its index in qvel, or None.
        term: name of the largest force term there ("passive", "bias", ...), or None.
        term_value: that term's value in `term_unit`, or None.
        timestep: time step of the run, s, or None.
        stable_timestep: largest stable step, s; None if unknown.
        simulation: number of the simulation in its batch, or None.
        trajectory: the recording up to that time (`saltus.Trajectory`), or None.
    """

    def __init__(
        self,
        time: float,
        *,
        dof: str | None = None,
        dof_index: int | None = None,
        what: str = "acceleration is not finite",
        term: str | None = None,
        term_value: float | None = None,
        term_unit: str = "N·m",
        timestep: float | None = None,
        stable_timestep: float | None = None,
        stable_of: str | None = None,
        simulation: int | None = None,
        trajectory: Recording | None = None,
    ) -> None:
        """`what` completes "joint 'elbow' ..."; `stable_of` names what sets the limit ("the damper of 'elbow'")."""
        self.time = time
        self.dof = dof
        self.dof_index = dof_index
        self.term = term
        self.term_value = term_value
        self.timestep = timestep
        self.stable_timestep = stable_timestep
        self.simulation = simulation
        self.trajectory = trajectory
        parts = [
            f"diverged at t = {time:.6g} s: {_joint(dof, dof_index)}{what}",
            _largest_term(term, term_value, term_unit),
            _step_against_limit(timestep, stable_timestep, stable_of),
        ]
        super().__init__("; ".join(part for part in parts if part))


def _joint(dof: str | None, index: int | None) -> str:
    if dof is None:
        return "" if index is None else f"dof {index} "
    return f"joint '{dof}' " if index is None else f"joint '{dof}' (dof {index}) "


def _largest_term(term: str | None, value: float | None, unit: str) -> str:
    if term is None:
        return ""
    if value is None:
        return f"largest term: {term}"
    size = f"{value:.2g}" if math.isfinite(value) else str(value)
    return f"largest term: {term} ({size} {unit})"


def _step_against_limit(timestep: float | None, limit: float | None, of: str | None) -> str:
    if timestep is None:
        return ""
    if limit is None:
        return f"timestep {timestep:.3g} s (try a smaller one)"
    relation = "exceeds" if timestep > limit else "is within"
    text = f"timestep {timestep:.3g} s {relation} the stability limit {limit:.3g} s" + (f" of {of}" if of else "")
    return text if timestep > limit else f"{text}, but that limit ignores contacts; try a smaller one"


class EventError(SaltusError):
    """An event of a hybrid run cannot be located or handled.

    Attributes:
        time: time of the event, s, or None.
        event: kind or name of the event, or None.
        simulation: number of the simulation in its batch, or None.
        trajectory: the recording up to that time (`saltus.Trajectory`), or None.
        snapshot: the state at that time, modes included, for `Simulation.restore`, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        time: float | None = None,
        event: str | None = None,
        simulation: int | None = None,
        trajectory: Recording | None = None,
        snapshot: NDArray[np.float64] | None = None,
    ) -> None:
        self.time = time
        self.event = event
        self.simulation = simulation
        self.trajectory = trajectory
        self.snapshot = snapshot
        where = "" if event is None else f"event '{event}'"
        when = "" if time is None else f"at t = {time:.6g} s"
        prefix = " ".join(part for part in (where, when) if part)
        super().__init__(f"{prefix}: {message}" if prefix else message)


class RecordError(SaltusError):
    """A recording, or a figure of one, cannot be written or read.

    Attributes:
        path: the file.
        reason: why, in a few words.
    """

    def __init__(
        self, path: str | os.PathLike[str], reason: str, *, action: str = "write", what: str = "recording"
    ) -> None:
        self.path = os.fspath(path)
        self.reason = reason
        super().__init__(f"cannot {action} {what} '{self.path}': {reason}")


class ConcurrencyError(SaltusError):
    """Two threads use one object at once; each thread needs its own."""
