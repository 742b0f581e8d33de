"""Figures of benchmarks with Matplotlib."""

from __future__ import annotations

import io

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import NullFormatter

from saltus.verify.case import Curve, Figure

SIZE = (6.4, 2.9)  # inches
COLOURS = ("#2f6fa7", "#c8553d", "#3f8f5b", "#8a5fa8", "#b5872a", "#5a5a5a")
REFERENCE = "#1a1a1a"
MOST = 400  # points of a curve
LOOKS = {
    "line": {"linestyle": "-", "linewidth": 1.6},
    "dashed": {"linestyle": "--", "linewidth": 1.2},
    "points": {"linestyle": "", "marker": "o", "markersize": 4.5},
    "marks": {"linestyle": "", "marker": "o", "markersize": 4.5, "markerfacecolor": "none", "markeredgewidth": 1.2},
}


def drawn(figure: Figure) -> Canvas:
    """Draw the figure: results in colours, references dashed or as points."""
    with rc_context({"axes.spines.top": False, "axes.spines.right": False}):
        canvas = Canvas(figsize=SIZE, layout="constrained")
        axes = canvas.subplots()
        coloured = 0
        for curve in figure.curves:
            reference = curve.look in ("dashed", "marks")
            colour = REFERENCE if reference else COLOURS[coloured % len(COLOURS)]
            coloured += not reference
            x, y = _thinned(curve)
            axes.plot(
                x, y, color=colour, label=curve.label, zorder=3 if curve.look == "marks" else 2, **LOOKS[curve.look]
            )
        if figure.log_x:
            axes.set_xscale("log")
            ticks = np.unique(np.ravel(np.asarray(figure.curves[0].x, float)))
            axes.set_xticks(ticks, [f"{tick:.3g}" for tick in ticks])
            axes.xaxis.set_minor_formatter(NullFormatter())
        if figure.log_y:
            axes.set_yscale("log")
        if figure.equal:
            axes.set_aspect("equal", adjustable="datalim")
        axes.set_xlabel(figure.x)
        axes.set_ylabel(figure.y)
        axes.grid(True, color="0.9", linewidth=0.8)
        axes.set_axisbelow(True)
        # beside the axes, where it covers nothing
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=9, borderaxespad=0.0)
    return canvas


def image(figure: Figure, file_format: str = "png") -> bytes:
    """Bytes of the figure in a file format."""
    buffer = io.BytesIO()
    metadata = {"Date": None} if file_format == "svg" else None
    drawn(figure).savefig(buffer, format=file_format, dpi=130, metadata=metadata)
    return buffer.getvalue()


def _thinned(curve: Curve) -> tuple[np.ndarray, np.ndarray]:
    """A curve with as many points as can be seen; the first and last stay."""
    x, y = np.ravel(np.asarray(curve.x, float)), np.ravel(np.asarray(curve.y, float))
    if len(x) <= MOST or curve.look in ("points", "marks"):
        return x, y
    kept = np.unique(np.linspace(0, len(x) - 1, MOST).astype(int))
    return x[kept], y[kept]
