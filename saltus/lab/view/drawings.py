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
    """An object to draw: kind "arrow", "sphere", "line" or "text" at points [n, 3] (m).

    color: "#rrggbb". alpha: 0 to 1. size: radius or width (m), 0 for one chosen by the model's size. body: the body in
    whose frame the points are, None for the world frame.
    """

    kind: str
    points: NDArray[np.float64]
    color: str
    alpha: float
    size: float = 0.0
    text: str = ""
    body: str | int | None = None

    def message(self, model: Model) -> dict[str, object] | None:
        """The object's entry of the `drawings` message; None, and not drawn, if a coordinate is not finite."""
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
    """Make an arrow from `start` [3] to `end` [3] (m, in the world frame or that of `body`).

    color: "red", "#d62728", or (r, g, b) or (r, g, b, opacity) from 0 to 1. width (m): width of the shaft; 0: chosen by
    the model's size. OptionError: an argument has the wrong shape, or there is no such color.
    """
    return Drawing("arrow", _points([start, end], "start and end of an arrow"), *_color(color), _size(width), body=body)


def sphere(center: ArrayLike, radius: float, color: Color = "orange", body: str | int | None = None) -> Drawing:
    """Make a sphere with a `center` [3] and a `radius` (m); see `arrow` for the other arguments."""
    return Drawing("sphere", _points([center], "center of a sphere"), *_color(color), _size(radius), body=body)


def line(points: ArrayLike, color: Color = "blue", width: float = 0.0, body: str | int | None = None) -> Drawing:
    """Make a polyline through `points` [n, 3] (m), at least two; see `arrow` for the other arguments."""
    found = _points(points, "points of a line")
    if len(found) < 2:
        raise OptionError(f"a line needs at least two points, got {len(found)}")
    return Drawing("line", found, *_color(color), _size(width), body=body)


def text(point: ArrayLike, text: object, color: Color = "black", body: str | int | None = None) -> Drawing:
    """Make a text at a point [3] (m), with a size on the screen that does not depend on distance; see `arrow`."""
    words = str(text)[:LONGEST_TEXT]
    return Drawing("text", _points([point], "the point of a text"), *_color(color), text=words, body=body)


def messages(drawings: Iterable[Drawing], model: Model) -> list[dict[str, object]]:
    """Entries of the `drawings` message for all drawings of a frame. OptionError: too many, or not drawings."""
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
    """Convert a colour to "#rrggbb" and an opacity from 0 to 1."""
    if isinstance(color, str):
        if color not in COLORS and not _HEX.fullmatch(color):
            raise OptionError.unknown("color", color, [*COLORS, "#rrggbb"])
        return COLORS.get(color, color), 1.0
    parts = numbers("a color", color)
    if parts.shape not in ((3,), (4,)) or not np.all((0 <= parts) & (parts <= 1)):
        raise OptionError(f"a color is a name, #rrggbb, or three or four numbers from 0 to 1, got {color!r}")
    red, green, blue = (round(255 * float(part)) for part in parts[:3])
    return f"#{red:02x}{green:02x}{blue:02x}", float(parts[3]) if len(parts) == 4 else 1.0
