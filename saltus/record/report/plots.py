"""The plots of a report: SVG in the colours of the page, readable on light and dark backgrounds."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.record.plot.contacts import SHOWN, draw_contacts, rows_of
from saltus.record.plot.panels import panels
from saltus.record.plot.trajectory import COLOURS, draw_panel, energy_panel, furnish, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from saltus.record.table.trajectory_table import TrajectoryTable

MOST = 20_000  # samples that a plot is drawn from

# colours that Matplotlib draws in, and those of the page that replace them
THEMED = {"#000000": "currentColor", "#e6e6e6": "var(--grid)", "#999999": "var(--faint)", "#bbbbbb": "var(--faint)"}


def plots(trajectory: TrajectoryTable) -> Iterator[tuple[str, str]]:
    """Titles and SVG elements of the plots that have something to show."""
    t = thinned(trajectory)
    yield from _groups(t, {"qpos": "Positions", "qvel": "Velocities"})
    yield "Energy", _figure(t, lambda axes: energy_panel(axes, t))
    yield from _groups(t, {"ctrl": "Controls", "act": "States of actuators"})
    if rows := len(rows_of(t)):
        rest = f" (the first {SHOWN} of {rows})" if rows > SHOWN else ""
        height = 1.2 + 0.2 * min(rows, SHOWN)
        yield f"Contacts{rest}", _figure(t, lambda axes: legend(axes, *draw_contacts(axes, t)), height=height)
    if t.certificate is not None and np.isfinite(t.certificate.error).any():
        yield "Error of the positions: estimate and bound", _figure(t, lambda axes: _error(axes, t))


def thinned(trajectory: TrajectoryTable) -> TrajectoryTable:
    """The recording, or every n-th sample of it where it has more than can be seen."""
    step = -(-len(trajectory) // MOST)
    if step <= 1:
        return trajectory
    from dataclasses import replace

    from saltus.record.table.columns import DIMENSIONS
    from saltus.record.table.trajectory_table import TrajectoryTable

    certificate = trajectory.certificate
    return TrajectoryTable(
        **{name: getattr(trajectory, name)[::step] for name in DIMENSIONS},
        events=trajectory.events,
        names=trajectory.names,
        units=trajectory.units,
        certificate=certificate
        and replace(certificate, error=certificate.error[::step], bound=certificate.bound[::step]),
    )


def _groups(t: TrajectoryTable, titles: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Panels of groups of columns; titles name the columns where a group has several panels."""
    for group, title in titles.items():
        found = panels(t, group)
        for panel in found:
            columns = f": {panel.names[0]} to {panel.names[-1]}" if len(found) > 1 else ""
            yield f"{title}{columns}", _figure(t, partial(draw_panel, trajectory=t, panel=panel))


def _error(axes: Axes, t: TrajectoryTable) -> None:
    assert t.certificate is not None
    error = np.where(t.certificate.error > 0, t.certificate.error, np.nan)
    axes.semilogy(t.time, error, color=COLOURS[1], linewidth=1.4, label="estimate")
    bound = np.where(t.certificate.bound > 0, t.certificate.bound, np.nan)
    if np.isfinite(bound).any():
        axes.semilogy(t.time, bound, color=COLOURS[1], linewidth=0.8, linestyle="--", label="bound")
        axes.legend()
    axes.set_ylabel("rad, m")


def _figure(t: TrajectoryTable, draw: Any, height: float = 2.6) -> str:
    """One panel over time as an SVG element."""

    def panel(figure: Figure) -> None:
        axes = figure.subplots()
        draw(axes)
        furnish(axes, t)
        axes.set_xlabel("time (s)")

    return svg(panel, (9.5, height))


def svg(draw: Callable[[Figure], None], size: tuple[float, float]) -> str:
    """A figure of a size (inches) as an SVG element in the page's colours; `draw` fills it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=100, layout="constrained")
    draw(figure)
    figure.patch.set_visible(False)
    for axes in figure.axes:
        axes.patch.set_visible(False)
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return _themed(buffer.getvalue())


def _themed(svg: str) -> str:
    """The SVG element alone, in the page's colours, as wide as the page allows."""
    element = svg[svg.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    for colour, name in THEMED.items():
        element = re.sub(rf"(fill|stroke): {colour}\b", rf"\1: {name}", element, flags=re.IGNORECASE)
    return re.sub(r'<svg ([^>]*?)height="[^"]*"([^>]*?)width="[^"]*"', r"<svg \1\2", element, count=1)
