"""The figure of a contact law: impedance and force against depth, with the path of an impact."""

from __future__ import annotations

import math
import os
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.record.files.atomic_write import write_whole
from saltus.record.plot.trajectory import COLOURS, figure_format, rendered
from saltus.record.table.labels import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from saltus.simulate.soft_contact.law import SoftContact
    from saltus.simulate.soft_contact.point_impact import Impact

POINTS = 400
UNITS = ((1.0, "m"), (1e3, "mm"), (1e6, "µm"), (1e9, "nm"))


def plot(law: SoftContact, impact: Impact, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw the figure of a law with an impact; see `saltus.ContactLaw.plot`."""
    file_format = None if path is None else figure_format(path)
    figure = draw(law, impact)
    if path is not None:
        write_whole(path, rendered(figure, file_format), what="figure")
    return figure


def draw(law: SoftContact, impact: Impact) -> Figure:
    """Figure with two panels side by side, each with its own range of depths."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 4.4), dpi=150, layout="constrained")
    impedance, force = figure.subplots(1, 2)
    _impedance_panel(impedance, law, impact)
    _force_panel(force, law, impact)
    for axes in (impedance, force):
        axes.grid(True, color="0.9", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlim(left=0.0)
    solref, solimp = (" ".join(f"{x:.5g}" for x in values) for values in (law.solref, law.solimp))
    title = f'solref="{solref}", solimp="{solimp}", {law.mass:.4g} kg at {law.gravity:.4g} m/s²'
    figure.suptitle(literal(title), fontsize=11)
    # lets a notebook show a figure without a plotting backend
    vars(figure)["_repr_png_"] = partial(rendered, figure, "png")
    return figure


def _impedance_panel(axes: Axes, law: SoftContact, impact: Impact) -> None:
    rest = law.rest_penetration
    last = max(1.5 * law.used_solimp[2], 1.5 * rest if math.isfinite(rest) else 0.0) or impact.deepest
    depth = np.linspace(0.0, last if 0 < last < math.inf else 1.0, POINTS)
    scale = _depth_axis(axes, float(depth[-1]))
    axes.plot(depth * scale, law.impedance(-depth), color=COLOURS[0], linewidth=1.6)
    if math.isfinite(rest):
        axes.plot([rest * scale], [law.rest_impedance], "o", color="black", markersize=5, label="rest", clip_on=False)
        axes.legend(loc="best", fontsize=8, frameon=False)
    axes.set_ylabel("impedance d")
    low, high = sorted(law.used_solimp[:2])
    room = max(0.1 * (high - low), 0.005)
    axes.set_ylim(max(low - room, 0.0), min(high + room, 1.0))


def _force_panel(axes: Axes, law: SoftContact, impact: Impact) -> None:
    rest = law.rest_penetration
    depths = [1.5 * x for x in (rest,) if math.isfinite(x)] + [1.05 * x for x in (impact.deepest,) if math.isfinite(x)]
    last = max([x for x in depths if x > 0], default=1.0)
    scale = _depth_axis(axes, last)
    depth = np.linspace(0.0, last, POINTS)
    depth[0] = 1e-9 * last  # just inside
    axes.plot(depth * scale, law.force(-depth), color=COLOURS[0], linewidth=1.6, label="not moving")
    if impact.r.size:
        label = f"impact at {law.speed:.4g} m/s"
        axes.plot(-impact.r * scale, law.force(impact.r, impact.v), color=COLOURS[1], linewidth=1.3, label=label)
        _arrow(axes, -impact.r * scale, law.force(impact.r, impact.v))
    weight = law.mass * law.gravity
    if weight > 0:
        axes.axhline(weight, color="0.5", linewidth=0.9, linestyle="--", label="weight")
    if math.isfinite(rest):
        axes.plot([rest * scale], [weight], "o", color="black", markersize=5, label="rest", clip_on=False)
    axes.margins(y=0.08)
    axes.set_ylabel("force on the mass (N)")
    axes.set_ylim(bottom=0.0)
    axes.legend(loc="best", fontsize=8, frameon=False)


def _arrow(axes: Axes, x: np.ndarray, y: np.ndarray) -> None:
    """Draw arrows in the direction of a path, at a third of its steps."""
    i = len(x) // 3
    if i < len(x) - 1:
        style: dict[str, Any] = {"arrowstyle": "-|>", "color": COLOURS[1], "linewidth": 1.3}
        axes.annotate("", (x[i + 1], y[i + 1]), (x[i], y[i]), arrowprops=style)


def _depth_axis(axes: Axes, largest: float) -> float:
    """Label the depths in a unit that suits the largest (m); returns the number of units in a metre."""
    scale, unit = next(((s, u) for s, u in UNITS if largest * s >= 0.5), UNITS[-1])
    axes.set_xlabel(f"penetration ({unit})")
    return scale
