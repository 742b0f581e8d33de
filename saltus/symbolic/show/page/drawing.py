"""A sketch of a planar mechanism with its letters: links, joints, centres of mass, and the angles with their sides."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.record.report.plots import svg
from saltus.symbolic.derivation.mapping import compiled
from saltus.symbolic.derivation.mechanism import Body, Joint
from saltus.symbolic.expressions import to_sympy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from saltus.symbolic.numeric import NumericEquations
    from saltus.symbolic.show.notation import Notation

MOST = 6  # bodies
TURNED = (0.65, 0.5, -0.6, 0.5, 0.45, -0.5)  # rad: the pose that is drawn
LONG = 20  # characters of LaTeX: longer names are aligned left
FREE = 0.06  # gap between texts and lines, as a share of the mechanism's size
MOVED = 0.35  # displacement of slides, as a share of the mechanism's size
LINK, ANGLE, SOFT = "#0072B2", "#D55E00", "#999999"
SIZE = (5.6, 4.6)


def drawing(equations: NumericEquations, notation: Notation) -> str | None:
    """An SVG element; None where there is no plane to draw in."""
    bodies = equations.mechanism.bodies[1:]
    if len(notation.plane) != 2 or equations.orientation == "maximal" or len(bodies) > MOST:
        return None
    if any(joint.kind not in ("hinge", "slide") for joint in equations.mechanism.joints):
        return None
    sketch = _Sketch(equations, notation)
    return svg(sketch.draw, SIZE) if sketch.size > 0 else None


@dataclass
class _Place:
    """A body as it is drawn: origin and centre of mass, in the plane."""

    body: Body
    origin: np.ndarray
    centre: np.ndarray


@dataclass
class _Label:
    """A formula and where it may stand, the best place first."""

    text: str
    places: list[np.ndarray]
    colour: str = "#000000"
    side: str = "center"  # part of the text that stands there


class _Sketch:
    """A pose in numbers, and the drawing made of it."""

    def __init__(self, equations: NumericEquations, notation: Notation):
        self.e, self.n = equations, notation
        c, tree = equations.choice.own, equations.mechanism
        points = [p for b, body in enumerate(tree.bodies) for p in (c.poses[b].pos, c.poses[b].point(body.ipos))]
        anchors = [c.poses[b].point(joint.pos) for b, body in enumerate(tree.bodies) for joint in body.joints]
        flat = [p[k] for p in (*points, *anchors) for k in notation.plane]
        evaluate = compiled(tree, [*c.q, *c.v], flat)
        self._points: Callable[[np.ndarray], np.ndarray] = lambda q: evaluate(q, np.zeros(len(c.v))).reshape(-1, 2)
        straight = self._points(self.state(0.0, 0.0))
        self.size = float(np.ptp(straight, axis=0).max())
        self.q = self.state(1.0, MOVED * self.size)
        self.labels: list[_Label] = []
        self.drawn: list[np.ndarray] = []  # points of all lines and texts

    def state(self, turned: float, moved: float) -> np.ndarray:
        """Coordinates of a pose."""
        qpos, k = np.zeros(self.e.model.nq), 0
        for joint in self.e.mechanism.joints:
            if joint.kind == "hinge":
                qpos[joint.qposadr] = float(joint.ref) + turned * TURNED[k % len(TURNED)]
                k += 1
            else:
                qpos[joint.qposadr] = float(joint.ref) + moved
        return self.e.from_joint(qpos, np.zeros(self.e.model.nv))[0]

    def places(self, q: np.ndarray) -> tuple[list[_Place], list[np.ndarray]]:
        """Bodies and the anchors of joints at a state."""
        points, bodies = self._points(q), self.e.mechanism.bodies
        found = [_Place(body, points[2 * b], points[2 * b + 1]) for b, body in enumerate(bodies)]
        return found, list(points[2 * len(bodies) :])

    # ------------------------------------------------------------ drawing

    def draw(self, figure: Figure) -> None:
        """Draw the sketch on one pair of axes."""
        axes = figure.subplots()
        axes.set_aspect("equal")
        axes.set_axis_off()
        places, anchors = self.places(self.q)
        for place in places[1:]:
            self._links(axes, place, places)
        joints = [(b, joint) for b, body in enumerate(self.e.mechanism.bodies) for joint in body.joints]
        for (b, joint), anchor in zip(joints, anchors, strict=True):
            self._joint(axes, places, b, joint, anchor)
        for place in places[1:]:
            self._mass(axes, place)
        for label in sorted(self.labels, key=lambda label: len(label.places)):
            self._write(axes, label)
        self._axes(axes)
        axes.margins(0.12)

    def _line(self, axes: Axes, start: np.ndarray, end: np.ndarray, **style: Any) -> None:
        """Draw a line, and keep its place free of texts."""
        axes.plot(*zip(start, end, strict=True), **style)
        self.drawn += [start + t * (end - start) for t in np.linspace(0, 1, 25)]

    def _write(self, axes: Axes, label: _Label) -> None:
        """Write a text at the first of its places that is free, else where there is most room."""
        room = [min(float(np.linalg.norm(place - p)) for p in self.drawn) for place in label.places]
        free = [k for k, distance in enumerate(room) if distance > FREE * self.size]
        at = label.places[free[0] if free else int(np.argmax(room))]
        axes.text(at[0], at[1], f"${label.text}$", ha=label.side, va="center", fontsize=14, color=label.colour)
        self.drawn += [at + np.array([x * self.size, 0.0]) for x in (-0.03, 0.0, 0.03)]

    def _links(self, axes: Axes, place: _Place, places: list[_Place]) -> None:
        """Lines from a body's origin to its centre of mass and to the bodies it carries, with their lengths."""
        b = self.e.mechanism.bodies.index(place.body)
        ends = [(p.origin, p.body.pos) for p in places[1:] if p.body.parent == b]
        labelled: set[str] = set()
        for end, vector in [*ends, (place.centre, place.body.ipos)]:
            self._line(axes, place.origin, end, color=LINK, linewidth=3.5, solid_capstyle="round", zorder=2)
            label = self._length(vector)
            if label and label not in labelled and np.linalg.norm(end - place.origin) > 1e-9:
                labelled.add(label)
                along = (end - place.origin) / np.linalg.norm(end - place.origin)
                across = 0.075 * self.size * np.array([-along[1], along[0]])
                spots = [place.origin + t * (end - place.origin) for t in (0.5, 0.6, 0.4, 0.7, 0.3)]
                self.labels.append(_Label(label, [x + side * across for x in spots for side in (1, -1)]))

    def _length(self, vector: Any) -> str:
        """LaTeX of a vector's length where it is a letter."""
        components = [to_sympy(x) for x in vector if x != 0]
        if len(components) != 1 or not components[0].free_symbols:
            return ""
        text = self.n.text(components[0])
        return text.removeprefix("-")

    def _mass(self, axes: Axes, place: _Place) -> None:
        if place.body.mass == 0:
            return
        axes.plot(*place.centre, "o", color=LINK, markersize=13, zorder=4)
        self.drawn.append(place.centre)
        mass = to_sympy(place.body.mass)
        if mass.free_symbols:
            turns = np.linspace(math.pi / 4, math.pi / 4 + 2 * math.pi, 16, endpoint=False)
            around = [place.centre + 0.1 * self.size * np.array([math.cos(t), math.sin(t)]) for t in turns]
            self.labels.append(_Label(self.n.text(mass), around))

    def _joint(self, axes: Axes, places: list[_Place], b: int, joint: Joint, anchor: np.ndarray) -> None:
        c = self.e.choice.own
        if joint.kind == "slide":
            self._slide(axes, joint, anchor)
            return
        axes.plot(*anchor, "o", color="#000000", markerfacecolor="white", markersize=7, markeredgewidth=1.6, zorder=5)
        zero = self.q.copy()
        zero[joint.qposadr] = self._zero(joint)
        turned, _ = self.places(zero)
        now, then = self._ray(places, b, anchor), self._ray(turned, b, anchor)
        if places[b].body.parent == 0:
            self._ground(axes, anchor, -1 if now is not None and now[1] > 0 else 1)
        if now is None or then is None:
            return
        radius = min(0.32 * self.size, 0.6 * float(np.linalg.norm(now)))
        start, end = (math.atan2(v[1], v[0]) for v in (then, now))
        end = start + (end - start + math.pi) % (2 * math.pi) - math.pi
        far = anchor + then / np.linalg.norm(then) * 1.35 * radius
        self._line(axes, anchor, far, linestyle="--", color=SOFT, linewidth=1.2, zorder=1)
        sweep = np.linspace(start, end, 40)
        arc = anchor + radius * np.column_stack([np.cos(sweep), np.sin(sweep)])
        _arrow(axes, arc[-4], arc[-1], ANGLE)
        axes.plot(arc[:-2, 0], arc[:-2, 1], color=ANGLE, linewidth=1.4, zorder=3)
        self.drawn += list(arc)
        turns = [start + t * (end - start) for t in (0.5, 0.4, 0.6)]
        way = [np.array([math.cos(t), math.sin(t)]) for t in turns]
        out = [radius + k * self.size for k in (0.07, 0.11, 0.14)]
        name = self.n.names[to_sympy(c.q[joint.qposadr])]
        side = "left" if way[0][0] > 0.5 and len(name) > LONG else "center"
        self.labels.append(_Label(name, [anchor + r * u for r in out for u in way], ANGLE, side))

    def _zero(self, joint: Joint) -> float:
        """The coordinate at which a joint's body points along its zero direction, in the world or in its parent."""
        return float(joint.ref) if self.e.orientation == "relative" else 0.0

    def _ray(self, places: list[_Place], b: int, anchor: np.ndarray) -> np.ndarray | None:
        """Vector from a joint to the end of its body's link: a body it carries, or its centre of mass."""
        ends = [p.origin for p in places[1:] if p.body.parent == b]
        for end in [places[b].centre, *ends]:
            if np.linalg.norm(end - anchor) > 1e-6 * self.size:
                return end - anchor
        return None

    def _slide(self, axes: Axes, joint: Joint, anchor: np.ndarray) -> None:
        """A rail from where the coordinate is zero, an arrow along it, and a box."""
        zero = self.q.copy()
        zero[joint.qposadr] = float(joint.ref)
        index = [j.name for j in self.e.mechanism.joints].index(joint.name)
        start = self.places(zero)[1][index]
        way = anchor - start
        along = way / np.linalg.norm(way)
        across = np.array([along[1], -along[0]])
        below = 0.16 * self.size * across
        rail = [start - 0.25 * self.size * along, anchor + 0.5 * self.size * along]
        self._line(axes, *rail, color=SOFT, linewidth=1.5, zorder=0)
        self._line(axes, start, start + 1.3 * below, linestyle="--", color=SOFT, linewidth=1.0, zorder=1)
        _arrow(axes, start + below, anchor + below, ANGLE)
        name = self.n.names[to_sympy(self.e.choice.own.q[joint.qposadr])]
        self.labels.append(_Label(name, [(start + anchor) / 2 + 1.45 * below], ANGLE))
        corners = [
            anchor + 0.11 * self.size * (i * along + 0.6 * j * across) for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))
        ]
        for one, other in zip(corners, [*corners[1:], corners[0]], strict=True):
            self._line(axes, one, other, color=LINK, linewidth=1.5, zorder=1)
        axes.fill(*zip(*corners, strict=True), facecolor=LINK, alpha=0.25, linewidth=0, zorder=1)

    def _ground(self, axes: Axes, anchor: np.ndarray, side: int) -> None:
        """A hatched mark: fixed to the world; `side` 1: above."""
        width, height = 0.09 * self.size, side * 0.05 * self.size
        plain = {"color": "#000000", "linewidth": 1.5}
        base = anchor + np.array([0.0, height])
        self._line(axes, anchor, base, **plain)
        self._line(axes, base - np.array([width, 0.0]), base + np.array([width, 0.0]), **plain)
        for x in np.linspace(-width, 0.7 * width, 5):
            start = base + np.array([x, 0.0])
            self._line(axes, start, start + np.array([0.3 * width, 0.6 * height]), **{**plain, "linewidth": 1.0})

    def _axes(self, axes: Axes) -> None:
        """The world's axes and gravity, at the left of all else."""
        low = np.array([axes.dataLim.x0, axes.dataLim.y0])
        corner, length = low - np.array([0.32, 0.0]) * self.size, 0.2 * self.size
        for k, direction in enumerate(((1.0, 0.0), (0.0, 1.0))):
            tip = corner + length * np.array(direction)
            _arrow(axes, corner, tip, SOFT)
            at = tip + 0.05 * self.size * np.array(direction)
            axes.text(at[0], at[1], f"${'xyz'[self.n.plane[k]]}$", ha="center", va="center", color=SOFT, fontsize=11)
        axes.update_datalim([corner, corner + length])
        pull = np.array([float(to_sympy(self.e.mechanism.gravity[k]).subs(self._values())) for k in self.n.plane])
        if np.linalg.norm(pull) > 0:
            start = np.array([corner[0], axes.dataLim.y1])
            tip = start + 1.1 * length * pull / np.linalg.norm(pull)
            _arrow(axes, start, tip, "#000000")
            beside = (start + tip) / 2 + np.array([0.06, 0.0]) * self.size
            axes.text(beside[0], beside[1], "$g$", ha="center", va="center", fontsize=13)
            axes.update_datalim([start, tip])

    def _values(self) -> dict[Any, float]:
        return {to_sympy(symbol): value for symbol, value in self.e.mechanism.parameters.items()}


def _arrow(axes: Axes, start: np.ndarray, tip: np.ndarray, colour: str) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0, "linewidth": 1.4}
    axes.annotate("", (float(tip[0]), float(tip[1])), (float(start[0]), float(start[1])), arrowprops=style)
