"""The protocol between page and server.

HTTP, on the loopback only: `/?token=T` is the page, `/ws?token=T` the websocket, `/download/trajectory.nc`,
`/download/video.mp4` and `/download/report.html` (each with `?token=T`) are the files of the recording;
`/state.py?token=T` is the state as Python text.

Server to page, as JSON with the key `type`:

- `hello`: role ("writer" or "viewer"), scenes [{name, title, group}], bounds {field: [low, high]} of typed numbers,
  upload: most bytes of a model, version. Sent first, and when the role or the list of scenes changes.
- `scene`: constant data: names, shapes, meshes, ghosts, sliders, keys (see `saltus.lab.view.show.scene_message`).
- `status`: data that change occasionally, at most 10 times a second; `sliders` holds changed values only.
- `signals`: revision, signals [{id, label, unit, group, turns}] that can be plotted, preset [ids], most: how many can
  be chosen, room: number of samples kept. Sent before the samples of that revision.
- `extras`: additions from Python: sliders as in `scene`, with `off`, buttons [{id, label, off}].
- `drawings`: objects drawn from Python, sent before their frame: [{kind: "arrow", "sphere", "line" or "text",
  points [x, y, z, x, ...] (m) in the frame of a body by its number, color "#rrggbb", alpha, size (m; 0: chosen by the
  model's size), text}].
- `notice`: {level: "info" | "warning" | "error" | "diverged", text}; "diverged" is an error that a reset or a shorter
  step may resolve.

Server to page, binary: a frame, little endian, at most 60 a second, and no more than UNACKNOWLEDGED ahead of the page's
last acknowledgement. A newer frame replaces one that was not sent.

    u8 version = 2, u8 flags (1 playing, 2 replay, 4 with axes of contacts, 8 with a centre of pressure), u16 contacts,
    u32 number, f64 time (s), then f32:
    energy: potential, kinetic (J, nan if unknown); then those of each ghost
    bodies: x y z (m), w x y z of each, the world first; then those of each ghost, nan for one that was removed
    dofs: position and velocity of each of the scene's; then those of each ghost
    tendons: for each, its number of points, then x y z (m) of the largest number that it can have
    flexes: x y z (m) of each vertex
    motors: torque (N m) and target angle (rad, nan if there is none) of each of the scene's
    cameras: x y z (m), w x y z (right, up, back) of each of the scene's
    joints: anchor (m) and axis, world axes, of each of the scene's
    centre of mass: x y z (m)
    contacts: x y z (m), force on the second geom in world axes (N), distance (m), mode of each: 0 open,
        1 sticking, 2 slipping, -1 not known
    axes of contacts: the normal towards the second geom and the first tangent of each, world axes
    with the flag: the centre of pressure, x y z (m)

Server to page, binary: samples of the plotted signals, sent before the frame at their end. They follow the last samples
that the page has; with the flag `anew` they replace all earlier ones.

    u8 = 128, u8 flags (1 anew), u16 signals, u32 revision of the list, u32 samples, then u16: the index of each of the
    signals in the list, padded to a multiple of 8 bytes; f64: time (s) of each sample, nan at breaks of the curves;
    f32: the samples of one signal after the other, nan where not computed

Server to page, binary: the course of the run (see `saltus.lab.data.track`), as samples with 129 as the first byte.

Page to server: JSON, at most MESSAGE_BYTES, no more than MESSAGES_A_SECOND: {"type": "ack", "frame": n} and the
commands in COMMANDS. A command with a number out of bounds is ignored and answered with a notice; any other message
closes the connection with a code and the reason. A model is uploaded as pieces of its files, in any number of `upload`
messages {name, data in base64}, and opened by `model`; `path` opens a model on this machine.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

VERSION = 2
MESSAGE_BYTES = 65536
MESSAGES_A_SECOND = 600
UNACKNOWLEDGED = 3  # frames
FRAMES_A_SECOND = 60
MOST_CONTACTS = 1000

LARGEST = 1e9  # magnitude of any number in a message
#: Lower and upper bounds of the numbers typed into the page's fields.
BOUNDS = {"speed": (0.01, 100.0), "timestep": (1e-6, 1.0), "gravity": (-LARGEST, LARGEST)}
BOUNDS |= {"restitution": (0.0, 1.0), "friction": (0.0, 10.0)}

# codes with which connections are closed
MALFORMED, TOO_MANY_MESSAGES, TOO_MANY_VIEWERS = 4001, 4002, 4003

_HEAD = struct.Struct("<BBHId")


class Malformed(Exception):
    """A message violates the protocol; the text says why."""


class OutOfRange(Malformed):
    """A number in an otherwise valid message is out of its bounds."""


# ---------------------------------------------------------------- page to server


@dataclass(frozen=True)
class Command:
    """A validated message of the page: its type and its fields."""

    type: str
    fields: Mapping[str, Any] = field(default_factory=dict)


Check = Callable[[str, Any], Any]  # (name, value) -> value, or raises Malformed


def number(low: float = -LARGEST, high: float = LARGEST) -> Check:
    """Check for a finite number between two bounds; OutOfRange if it is not between them."""

    def check(name: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Malformed(f"{name} is not a number")
        try:
            result = float(value)
        except OverflowError:
            result = math.inf
        if not (math.isfinite(result) and low <= result <= high):
            raise OutOfRange(f"{name} is not between {low:g} and {high:g}")
        return result

    return check


def number_or_none(low: float, high: float) -> Check:
    """Check for a finite number between two bounds, or null."""
    check = number(low, high)
    return lambda name, value: None if value is None else check(name, value)


def count(low: int, high: int) -> Check:
    """Check for a whole number between two bounds."""

    def check(name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise Malformed(f"{name} is not a whole number between {low} and {high}")
        return value

    return check


def flag(name: str, value: Any) -> bool:
    """Return a value that must be true or false."""
    if not isinstance(value, bool):
        raise Malformed(f"{name} is neither true nor false")
    return value


def text(name: str, value: Any) -> str:
    """Return a value that must be a text of at most 200 characters."""
    if not isinstance(value, str) or len(value) > 200:
        raise Malformed(f"{name} is not a text of at most 200 characters")
    return value


def long_text(name: str, value: Any) -> str:
    """Return a value that must be a text of at most 4096 characters, as a path."""
    if not isinstance(value, str) or len(value) > 4096 or "\0" in value:
        raise Malformed(f"{name} is not a text of at most 4096 characters")
    return value


def text_or_none(name: str, value: Any) -> str | None:
    """Return a value that must be a text of at most 200 characters or null."""
    return None if value is None else text(name, value)


def texts(name: str, value: Any) -> list[str]:
    """Return a value that must be a list of at most 100 texts of at most 200 characters."""
    if not isinstance(value, list) or len(value) > 100:
        raise Malformed(f"{name} is not a list of at most 100 texts")
    return [text(f"{name}[{i}]", item) for i, item in enumerate(value)]


def settings(name: str, value: Any) -> dict[str, str]:
    """Return a value that must be an object of at most 100 names and texts."""
    if not isinstance(value, dict) or len(value) > 100:
        raise Malformed(f"{name} is not an object of at most 100 texts")
    return {text(name, key): long_text(f"{name}: {key}", item) for key, item in value.items()}


def vector(name: str, value: Any) -> tuple[float, float, float]:
    """Return a value that must be a list of three finite numbers."""
    if not isinstance(value, list) or len(value) != 3:
        raise Malformed(f"{name} is not a list of 3 numbers")
    x, y, z = (number()(f"{name}[{i}]", v) for i, v in enumerate(value))
    return x, y, z


def piece(name: str, value: Any) -> bytes:
    """Decode a value that must be base64."""
    try:
        return base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise Malformed(f"{name} is not base64") from None


#: Every command of a writer, with its fields.
COMMANDS: dict[str, dict[str, Check]] = {
    **{name: {} for name in ("play", "pause", "toggle", "release", "blur", "video", "take", "model", "from_here")},
    "upload": {"name": text, "data": piece},
    "path": {"path": long_text},
    "step": {"n": count(1, 1000)},
    "speed": {"value": number(*BOUNDS["speed"])},
    "reset": {"key": text_or_none},
    "scene": {"name": text},
    "link": {"settings": settings},
    "integrator": {"name": text},
    "timestep": {"value": number(*BOUNDS["timestep"])},
    "contact": {"name": text},
    "restitution": {"value": number(*BOUNDS["restitution"])},
    "friction": {"value": number_or_none(*BOUNDS["friction"])},
    "gravity": {"value": vector},
    "slider": {"id": text, "value": number()},
    "keydown": {"key": text},
    "keyup": {"key": text},
    "drag": {"body": count(0, 10**6), "point": vector, "target": vector},
    "ghosts": {"on": flag},
    "follow": {"body": text_or_none},
    "record": {"on": flag},
    "plot": {"signals": texts},
    "button": {"id": text},
    "seek": {"time": number()},
}
_MESSAGES = {**COMMANDS, "ack": {"frame": count(0, 2**32 - 1)}}


def parse(message: str | bytes) -> Command:
    """Parse a message of the page.

    Raises Malformed if it is not JSON, has an unknown type, or has a missing, unknown or invalid field; OutOfRange if a
    number is out of its bounds.
    """
    if not isinstance(message, str):
        raise Malformed("binary")
    try:
        given = json.loads(message, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Malformed("not JSON") from None
    if not isinstance(given, dict):
        raise Malformed("not an object")
    kind = given.pop("type", None)
    if not isinstance(kind, str) or kind not in _MESSAGES:
        raise Malformed(f"unknown type {kind if isinstance(kind, str) else type(kind).__name__:.40}")
    fields = _MESSAGES[kind]
    if unknown := given.keys() - fields:
        raise Malformed(f"{kind}: unknown field {min(unknown):.40}")
    if missing := fields.keys() - given:
        raise Malformed(f"{kind}: no {min(missing)}")
    return Command(kind, {name: check(f"{kind}: {name}", given[name]) for name, check in fields.items()})


def _no_constant(word: str) -> float:
    raise ValueError(word)  # NaN and Infinity are not JSON


# ---------------------------------------------------------------- server to page


@dataclass(frozen=True, eq=False)
class Frame:
    """Moving quantities at one time; arrays as in the module's docstring, `ghost_*` with a first axis of ghosts."""

    time: float
    playing: bool
    energy: NDArray[np.floating]  # [2]
    bodies: NDArray[np.floating]  # [nbody, 7]
    dofs: NDArray[np.floating]  # [ndof, 2]
    com: NDArray[np.floating]  # [3]
    ghost_energy: NDArray[np.floating] = field(default_factory=lambda: np.zeros((0, 2)))
    ghost_bodies: NDArray[np.floating] = field(default_factory=lambda: np.zeros((0, 0, 7)))
    ghost_dofs: NDArray[np.floating] = field(default_factory=lambda: np.zeros((0, 0, 2)))
    tendons: Sequence[NDArray[np.floating]] = ()  # [1 + 3 points] of each: number of valid points, then all points
    flexes: Sequence[NDArray[np.floating]] = ()  # [nvert, 3] of each
    motors: Sequence[Sequence[float]] = ()  # [2] of each
    contacts: NDArray[np.floating] = field(default_factory=lambda: np.zeros((0, 8)))
    contact_axes: NDArray[np.floating] = field(default_factory=lambda: np.zeros((0, 6)))  # of all contacts or none
    cameras: NDArray[np.floating] = field(default_factory=lambda: np.zeros((0, 7)))
    joints: NDArray[np.floating] = field(default_factory=lambda: np.zeros((0, 6)))
    cop: NDArray[np.floating] = field(default_factory=lambda: np.full(3, np.nan))  # [3]
    replay: bool = False

    def encode(self, number: int) -> bytes:
        """Encode the frame with its number; at most the MOST_CONTACTS contacts with the largest forces are kept."""
        contacts, axes = self.contacts, self.contact_axes
        if len(contacts) > MOST_CONTACTS:
            strength = np.linalg.norm(contacts[:, 3:6], axis=1)
            kept = np.sort(np.argsort(-strength, kind="stable")[:MOST_CONTACTS])
            contacts, axes = contacts[kept], axes[kept] if len(axes) else axes
        pressed = bool(np.isfinite(self.cop).all())
        flags = (1 if self.playing else 0) | (2 if self.replay else 0) | (4 if len(axes) else 0) | (8 if pressed else 0)
        head = _HEAD.pack(VERSION, flags, len(contacts), number & 0xFFFFFFFF, self.time)
        parts = [self.energy, self.ghost_energy, self.bodies, self.ghost_bodies, self.dofs, self.ghost_dofs]
        parts += [*self.tendons, *self.flexes, np.array(self.motors, float), self.cameras, self.joints]
        parts += [self.com, contacts, axes, *([self.cop] if pressed else [])]
        with np.errstate(over="ignore"):  # values beyond the range of float32 become infinite
            return head + np.concatenate([np.ravel(part) for part in parts]).astype("<f4").tobytes()


def encode(message: Mapping[str, Any]) -> str:
    """Encode a message as JSON; numbers that are not finite become null."""
    try:
        return json.dumps(message, allow_nan=False, separators=(",", ":"))
    except ValueError:
        return json.dumps(_finite(message), allow_nan=False, separators=(",", ":"))


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def notice(level: str, text: str) -> dict[str, Any]:
    """A `notice` message for the user."""
    return {"type": "notice", "level": level, "text": text}


def reason(text: str) -> str:
    """Cut a text to the length that a websocket close frame can hold."""
    return text.encode()[:120].decode(errors="ignore")
