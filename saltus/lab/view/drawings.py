"""User drawings in the view: arrows, spheres, lines and text, updated for each frame."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import number, numbers
from saltus.errors import OptionError

if TYPE_CHECKING:
    from saltus.model.model import Model

Color = str | Sequence[float]

MOST = 500  # objects at once
MOST_POINTS = 5000
LONGEST_TEXT = 200
DIGITS = 7  # of a coordinate
COLORS = {
    **{"red": "#d62728", "orange": "#ff7f0e", "yellow": "#e0a400", "green": "#2ca02c", "cyan": "#17becf"},
    **{"blue": "#1f77b4", "purple": "#9467bd", "magenta": "#e377c2", "brown": "#8c564b", "gray": "#7f7f7f"},
    **{"black": "#111111", "white": "#ffffff"},
}
_HEX = re.compile(r"#[0-9a-fA-F]{6}")


@dataclass(frozen=True)
class Drawing:
    """Something to draw: kind "arrow", "sphere", "line" or "text" at points [n, 3] (m).

    color: "#rrggbb". alpha: 0 to 1. size: radius or width (m), 0 for one that goes with the model. body: in whose frame
    the points are, None for the world's.
    """

    kind: str
    points: NDArray[np.float64]
    color: str
    alpha: float
    size: float = 0.0
    text: str = ""
    body: str | int | None = None

    def message(self, model: Model) -> dict[str, object] | None:
        """As the `drawings` message has it; None where a coordinate is no number: there is nothing to draw then."""
        if not np.isfinite(self.points).all():
            return None
        body = 0 if self.body is None else model.id("body", self.body) if isinstance(self.body, str) else self.body
        if not 0 <= body < model.nbody:
            raise OptionError(f"there is no body {body}; the model has {model.nbody}")
        points = [float(f"{x:.{DIGITS}g}") for x in self.points.ravel()]
        look = {"color": self.color, "alpha": self.alpha, "size": self.size, "text": self.text}
        return {"kind": self.kind, "points": points, "body": int(body), **look}


def arrow(
    start: ArrayLike, end: ArrayLike, color: Color = "red", width: float = 0.0, body: str | int | None = None
) -> Drawing:
    """An arrow from `start` [3] to `end` [3] (m, world axes, or those of a body).

    color: "red", "#d62728", or (r, g, b) or (r, g, b, opacity) from 0 to 1. width (m): of the shaft; 0: one that goes
    with the model's size. OptionError: not such numbers, or no such color.
    """
    return Drawing("arrow", _points([start, end], "start and end of an arrow"), *_color(color), _size(width), body=body)


def sphere(center: ArrayLike, radius: float, color: Color = "orange", body: str | int | None = None) -> Drawing:
    """A ball about `center` [3] with a `radius` (m); see `arrow`."""
    return Drawing("sphere", _points([center], "center of a sphere"), *_color(color), _size(radius), body=body)


def line(points: ArrayLike, color: Color = "blue", width: float = 0.0, body: str | int | None = None) -> Drawing:
    """A line through `points` [n, 3] (m), two at least; see `arrow`."""
    found = _points(points, "points of a line")
    if len(found) < 2:
        raise OptionError(f"a line needs at least two points, got {len(found)}")
    return Drawing("line", found, *_color(color), _size(width), body=body)


def text(point: ArrayLike, text: object, color: Color = "black", body: str | int | None = None) -> Drawing:
    """A text at a point [3] (m), as large from near and from far; see `arrow`."""
    words = str(text)[:LONGEST_TEXT]
    return Drawing("text", _points([point], "the point of a text"), *_color(color), text=words, body=body)


def messages(drawings: Iterable[Drawing], model: Model) -> list[dict[str, object]]:
    """All drawings of a picture as the `drawings` message has them. OptionError: too many, or none of these."""
    drawings = list(drawings)
    for drawing in drawings:
        if not isinstance(drawing, Drawing):
            raise OptionError(f"expected lab.arrow, lab.sphere, lab.line or lab.text, got {drawing!r:.80}")
    points = sum(len(drawing.points) for drawing in drawings)
    if len(drawings) > MOST or points > MOST_POINTS:
        raise OptionError(f"{len(drawings)} objects with {points} points; at most {MOST} with {MOST_POINTS} are drawn")
    found = [drawing.message(model) for drawing in drawings]
    return [message for message in found if message is not None]


def _points(values: Any, what: str) -> NDArray[np.float64]:
    found = numbers(what, values)
    if found.ndim != 2 or found.shape[1] != 3:
        raise OptionError(f"{what} must be three numbers each, got shape {found.shape}")
    return found.copy()


def _size(value: Any) -> float:
    size = number("a size", value)
    if not 0.0 <= size < np.inf:
        raise OptionError(f"a size is a positive number of metres, got {value}")
    return size


def _color(color: Any) -> tuple[str, float]:
    """A colour as "#rrggbb" and how opaque it is."""
    if isinstance(color, str):
        if color not in COLORS and not _HEX.fullmatch(color):
            raise OptionError.unknown("color", color, [*COLORS, "#rrggbb"])
        return COLORS.get(color, color), 1.0
    parts = numbers("a color", color)
    if parts.shape not in ((3,), (4,)) or not np.all((0 <= parts) & (parts <= 1)):
        raise OptionError(f"a color is a name, #rrggbb, or three or four numbers from 0 to 1, got {color!r}")
    red, green, blue = (round(255 * float(part)) for part in parts[:3])
    return f"#{red:02x}{green:02x}{blue:02x}", float(parts[3]) if len(parts) == 4 else 1.0
