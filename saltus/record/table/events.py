"""Events of a run: their fields, and their collection during the run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Self, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.errors import OptionError
from saltus.record.table.event_sensitivity import EventSensitivity
from saltus.terminal.display import notebook_html

#: Fields of an event; unknown numbers are nan, unknown names "".
#:
#: time: s. kind: "impact", "liftoff", "touchdown", "stick", "slip", "zeno" (impacts without end are over), "user",
#: "actuator", "dense"; beside impacts "energetic" (an energetic coefficient took the place of the law, which would have
#: gained energy or has no solution) and "leftover" (what still approached after many impacts met without restitution);
#: before "dense", "jammed" (Painlevé's paradox, which steps of time go through).
#: name: of the contact point, joint, tendon or event. other: what else takes part.
#: gap: signed distance, m. velocity: relative velocity along the normal before, m/s (a joint's: rad/s or m/s).
#: impulse: along the normal and two tangents, N s. energy_before, energy_after: of the whole system, J. A "dense" event
#: sums up the time since `since` (s), in which events came too densely to be located; impacts: how many then.
EVENT_DTYPE = np.dtype(
    [
        ("time", "f8"),
        ("kind", "U16"),
        ("name", "U64"),
        ("other", "U64"),
        ("gap", "f8"),
        ("velocity", "f8"),
        ("impulse", "f8", (3,)),
        ("energy_before", "f8"),
        ("energy_after", "f8"),
        ("since", "f8"),
        ("impacts", "f8"),
    ]
)

#: Units of the numbers of an event.
UNITS = {
    "time": "s",
    "gap": "m",
    "velocity": "m/s",
    "impulse": "N s",
    "energy_before": "J",
    "energy_after": "J",
    "since": "s",
}

TIME_DIGITS = 10  # digits of times in tables
NO_IMPULSE = (np.nan, np.nan, np.nan)


_ABOUT = (EVENT_DTYPE.names or ())[4:]  # fields behind time, kind and the two names


class EventLog:
    """Events in the order in which they were noted."""

    def __init__(self, events: NDArray[np.void] | None = None):
        self._blocks: list[NDArray[np.void]] = [completed(np.empty(0, EVENT_DTYPE) if events is None else events)]
        self._rows: list[tuple] = []  # not in a block yet

    def __len__(self) -> int:
        return sum(map(len, self._blocks)) + len(self._rows)

    def append(self, time: float, kind: str, name: str = "", other: str = "", **about: ArrayLike) -> None:
        """Note one event; `about`: its other fields, with units as in `EVENT_DTYPE`.

        Raises:
            OptionError: a field is unknown, or the impulse has another shape than [3].
        """
        if unknown := about.keys() - set(_ABOUT):
            raise OptionError.unknown("field of an event", min(unknown), _ABOUT)
        along = np.asarray(about.get("impulse", NO_IMPULSE), float)
        if along.shape != (3,):
            raise OptionError(f"events: an impulse must have shape [3], got {list(along.shape)}")
        values = {**about, "impulse": tuple(along)}
        self._rows.append((time, kind, name, other, *(values.get(field, np.nan) for field in _ABOUT)))

    def extend(self, events: NDArray[np.void]) -> None:
        """Note many events: a structured array with at least the fields time and kind.

        Raises:
            OptionError: it is not such an array, or its fields differ from those of the events before.
        """
        block = completed(events)
        self._flush()
        if set(block.dtype.names or ()) != set(self._blocks[0].dtype.names or ()):
            raise OptionError(f"events: fields {block.dtype.names}, not {self._blocks[0].dtype.names} as before")
        self._blocks.append(block)

    def array(self) -> NDArray[np.void]:
        """All events as one array; text is as wide as it needs to be, and never cut off."""
        self._flush()
        if len(self._blocks) > 1:
            self._blocks = [np.concatenate(self._blocks)]
        return self._blocks[0].copy()

    def _flush(self) -> None:
        if self._rows:
            text = {"kind": 1, "name": 2, "other": 3}
            widest = {field: max(len(row[k]) for row in self._rows) for field, k in text.items()}
            self._blocks.append(np.array(self._rows, dtype=widened(EVENT_DTYPE, widest)))
            self._rows = []


def completed(events: NDArray[np.void]) -> NDArray[np.void]:
    """Events with all fields of `EVENT_DTYPE`, in their types, then any others; packed, in native byte order.

    Fields that are not given are nan or "". Text that is longer than the type's keeps its length.

    Raises:
        OptionError: not a structured array [E] with fields time and kind, or a field has a shape or type that cannot
            be recorded.
    """
    array = np.asarray(events)
    given = array.dtype.names or ()
    if array.ndim != 1 or "time" not in given or "kind" not in given:
        raise OptionError(f"events must be a structured array [E] with fields time and kind, got {array.dtype}")
    if array.dtype == EVENT_DTYPE:
        return array.copy()
    types = {field: _field(field, array.dtype[field]) for field in given}
    standard = widened(
        EVENT_DTYPE, {field: _characters(base) for field, (base, _) in types.items() if base.kind == "U"}
    )
    fields = [(f, standard[f].base, standard[f].shape) for f in standard.names or ()]
    fields += [(f, *kind) for f, kind in types.items() if f not in (standard.names or ())]
    table = np.empty(len(array), np.dtype(fields))
    for field in table.dtype.names or ():
        if field in given:
            _assign(table, field, array[field])
        else:
            table[field] = np.nan if table.dtype[field].base.kind == "f" else ""
    return table


def narrowed(events: NDArray[np.void]) -> NDArray[np.void]:
    """Events with text no wider than it needs to be, as stores keep them; `completed` widens it again."""
    fields = []
    for field in events.dtype.names or ():
        base, shape = events.dtype[field].base, events.dtype[field].shape
        if base.kind == "U":
            base = np.dtype(f"U{max(int(np.max(np.char.str_len(events[field]), initial=0)), 1)}")
        fields.append((field, base, shape))
    return events.astype(np.dtype(fields))


def widened(dtype: np.dtype[np.void], widths: dict[str, int]) -> np.dtype[np.void]:
    """The type with room for texts of so many characters in some fields."""
    fields = []
    for field in dtype.names or ():
        base, shape = dtype[field].base, dtype[field].shape
        if base.kind == "U" and widths.get(field, 0) > _characters(base):
            base = np.dtype(f"U{widths[field]}")
        fields.append((field, base, shape))
    return np.dtype(fields)


NumberField: TypeAlias = Literal[
    "time", "gap", "velocity", "impulse", "energy_before", "energy_after", "since", "impacts"
]
TextField: TypeAlias = Literal["kind", "name", "other"]


class EventTable(np.ndarray[tuple[int, ...], np.dtype[np.void]]):
    """Events as a structured array, which notebooks show as a table; a field of it is a plain array."""

    _sensitivity: EventSensitivity | None = None

    @property
    def sensitivity(self) -> EventSensitivity:
        """Derivatives of the events of a run that was asked for them, `sim.run(..., sensitivity=("qpos", "qvel"))`.

        Those of `trajectory.events` itself: parts and copies of the table, and files, have none.

        Raises:
            OptionError: there are none.
        """
        if self._sensitivity is None:
            raise OptionError(
                'events: these have no derivatives; ask for them, sim.run(..., sensitivity=("qpos", "qvel")), and read '
                "those of trajectory.events, as parts of it, copies and files leave them out"
            )
        return self._sensitivity

    def attach(self, sensitivity: EventSensitivity) -> None:
        """Give the table the derivatives of its events."""
        self._sensitivity = sensitivity

    @property
    def __array_priority__(self) -> float:
        """Priority in NumPy's operations: arrays joined with tables become tables."""
        return 1.0

    # NumPy's own types give Any for a field of a structured array
    @overload
    def __getitem__(self, key: NumberField) -> NDArray[np.float64]: ...
    @overload
    def __getitem__(self, key: TextField) -> NDArray[np.str_]: ...
    @overload
    def __getitem__(self, key: str) -> NDArray[np.generic]: ...
    @overload
    def __getitem__(self, key: int | np.integer) -> np.void: ...
    @overload
    def __getitem__(self, key: slice | list[str] | Sequence[int] | NDArray[np.integer | np.bool_]) -> Self: ...
    def __getitem__(self, key: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        found = super().__getitem__(key)
        return found if not isinstance(found, EventTable) or found.dtype.names else found.view(np.ndarray)

    _repr_html_ = notebook_html


def event_table(events: NDArray[np.void]) -> EventTable:
    """Events as a table, with all fields (see `completed`, whose errors it raises)."""
    return completed(events).view(EventTable)


def counts(events: NDArray[np.void]) -> dict[str, int]:
    """Number of events of each kind, the most frequent first."""
    kinds, numbers = np.unique(events["kind"], return_counts=True)
    order = np.argsort(-numbers, kind="stable")
    return {str(kinds[k]): int(numbers[k]) for k in order}


def contact_label(name: str, other: str) -> str:
    """Column label of the contact with these names in its events: `other` first, as in pairs of geoms."""
    return f"{other} {name}" if other else name


def contact_labels(events: NDArray[np.void]) -> list[str]:
    """Columns of contacts that events belong to, by name."""
    return [contact_label(name, other) for name, other in events[["name", "other"]].tolist()]


def known_fields(events: NDArray[np.void]) -> list[str]:
    """Fields that have a value in any of the events; time and kind always."""
    found = []
    for field in events.dtype.names or ():
        values = events[field]
        missing = np.isnan(values) if values.dtype.kind == "f" else values == "" if values.dtype.kind == "U" else False
        if field in ("time", "kind") or not np.all(missing):
            found.append(field)
    return found


def cells(event: Any, fields: Iterable[str], digits: int = 6) -> list[str]:
    """Some fields of an event as text; "" for unknown values. Times that accumulate need more digits."""
    return [_cell(event[field], max(digits, TIME_DIGITS) if field == "time" else digits) for field in fields]


def heading(field: str) -> str:
    """The field's name as a table's heading, with its unit."""
    words = field.replace("_", " ")
    return f"{words} ({UNITS[field]})" if field in UNITS else words


def _cell(value: Any, digits: int) -> str:
    if isinstance(value, np.ndarray):
        return "" if value.dtype.kind == "f" and np.isnan(value).all() else " ".join(_cell(v, digits) for v in value)
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value + 0.0:.{digits}g}"  # no -0
    return str(value)


def _assign(table: NDArray[np.void], field: str, values: NDArray[np.void]) -> None:
    """Fill a field, converting numbers; OptionError where its shape differs or text is expected."""
    wanted = table.dtype[field]
    if values.shape[1:] != wanted.shape or (values.dtype.kind == "U") != (wanted.base.kind == "U"):
        shape = f" [E, {', '.join(map(str, wanted.shape))}]" if wanted.shape else ""
        kind = "text" if wanted.base.kind == "U" else "numbers"
        raise OptionError(f"events: field {field!r} must hold {kind}{shape}, got {values.dtype} {list(values.shape)}")
    table[field] = values


def _field(name: str, dtype: np.dtype[np.void]) -> tuple[np.dtype[np.void], tuple[int, ...]]:
    base = dtype.base
    if not name.isidentifier() or base.kind not in "biufU" or (base.kind == "f" and base.itemsize not in (4, 8)):
        raise OptionError(f"events: field {name!r} of type {base} cannot be recorded (numbers, bool and text can)")
    return base.newbyteorder("="), dtype.shape


def _characters(dtype: np.dtype[np.void]) -> int:
    return dtype.base.itemsize // 4
