"""The figure of a run: positions, velocities and energies over time. Nothing global of Matplotlib is touched."""

from __future__ import annotations

import io
import os
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError
from saltus.record.contact_plot import SHOWN, draw_contacts, event_handle, mark_events, rows_of
from saltus.record.energy_figure import energy_figure
from saltus.record.labels import literal, with_unit
from saltus.record.whole import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from saltus.record.trajectory import Trajectory

FORMATS = ("png", "svg", "pdf")

#: Lines of a panel that get a colour and a label; the others are drawn in grey and counted.
LABELLED = 12

# Okabe and Ito's palette, which colour-blind readers can tell apart, without its yellow, too pale on white
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
GREY = "#BBBBBB"


def plot(trajectory: Trajectory, path: str | os.PathLike[str] | None = None) -> Figure:
    """See `Trajectory.plot`."""
    file_format = None if path is None else figure_format(path)
    figure = draw(trajectory)
    if path is not None:
        write_whole(path, rendered(figure, file_format), what="figure")
    return figure


def draw(trajectory: Trajectory) -> Figure:
    """The figure: three panels above each other on one time axis, and a strip of contacts where modes are recorded."""
    from matplotlib.figure import Figure

    rows = len(rows_of(trajectory)[:SHOWN]) if trajectory.contact_mode.shape[1] else 0
    strip = [0.1 + 0.075 * rows] if rows else []
    figure = Figure(figsize=(9.0, 8.0 + 2.4 * sum(strip)), dpi=150, layout="constrained")
    panels = figure.subplots(3 + len(strip), 1, sharex=True, height_ratios=[1.0, 1.0, 1.0, *strip])
    for axes, group, title in ((panels[0], "qpos", "position"), (panels[1], "qvel", "velocity")):
        units = trajectory.units[group]
        handles, labels = curves(axes, trajectory.time, getattr(trajectory, group), trajectory.names[group], units)
        legend(axes, handles, labels)
        axes.set_ylabel(with_unit(title, ", ".join(dict.fromkeys(filter(None, units)))))
    energy_panel(panels[2], trajectory)
    if strip:
        legend(panels[3], *draw_contacts(panels[3], trajectory))
    for axes in panels:
        furnish(axes, trajectory)
    panels[-1].set_xlabel("time (s)")
    figure.align_ylabels(panels[:3])
    figure.suptitle(_title(trajectory), fontsize=12)
    # lets a notebook show a figure that no plotting backend knows about
    vars(figure)["_repr_png_"] = partial(rendered, figure, "png")
    return figure


def curves(
    axes: Axes, time: NDArray[Any], table: NDArray[Any], names: list[str], units: list[str]
) -> tuple[list[Any], list[str]]:
    """One line a column; beyond `LABELLED` of them the rest lies behind in grey. Returns what the legend shows."""
    mixed = len(set(units)) > 1
    handles, labels = [], []
    for i in range(min(table.shape[1], LABELLED)):
        style = "-" if i < len(COLOURS) else "--"
        handles += axes.plot(time, table[:, i], style, color=COLOURS[i % len(COLOURS)], **_weight(time))
        labels.append(with_unit(names[i], units[i] if mixed else ""))
    if table.shape[1] > LABELLED:
        rest = axes.plot(time, table[:, LABELLED:], color=GREY, zorder=1, **{**_weight(time), "linewidth": 0.7})
        handles.append(rest[0])
        labels.append(f"+{len(rest)} more")
    return handles, labels


def energy_panel(axes: Axes, trajectory: Trajectory) -> None:
    axes.set_ylabel("energy (J)")
    handles, labels = [], []
    if np.isnan(trajectory.energy).all():
        axes.text(0.5, 0.5, "not recorded", transform=axes.transAxes, ha="center", va="center", color="0.4")
    else:
        labels = ["potential", "kinetic", "total"]
        values = (trajectory.energy[:, 0], trajectory.energy[:, 1], trajectory.total_energy)
        weight = _weight(trajectory.time)
        for value, colour in zip(values, (COLOURS[0], COLOURS[1], "black"), strict=True):
            handles += axes.plot(trajectory.time, value, color=colour, **weight)
    if len(trajectory.events):
        # the marks of all panels, explained once, here where there is room
        handles.append(event_handle())
        labels.append(f"{len(trajectory.events)} events" if len(trajectory.events) > 1 else "event")
    figure = energy_figure(trajectory)
    legend(axes, handles, labels, "" if figure is None else f"{figure.name} {figure.value}")


def _weight(time: NDArray[Any]) -> dict[str, Any]:
    """Thin lines; a dot where a single sample makes no line."""
    return {"linewidth": 1.4, "marker": "o" if len(time) == 1 else ""}


def legend(axes: Axes, handles: list[Any], labels: list[str], title: str = "") -> None:
    """Beside the panel, where it hides no data."""
    if handles:
        axes.legend(
            handles,
            [literal(label) for label in labels],
            title=title or None,
            loc="upper left",
            bbox_to_anchor=(1.005, 1.02),
            fontsize=8,
            title_fontsize=8,
            frameon=False,
            borderaxespad=0.0,
            alignment="left",
        )


def furnish(axes: Axes, trajectory: Trajectory) -> None:
    axes.grid(True, color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.0 if len(trajectory) > 1 else 0.05)
    mark_events(axes, trajectory)


def _title(trajectory: Trajectory) -> str:
    attrs = trajectory.attrs
    parts = [str(attrs[key]) for key in ("model_name", "integrator") if attrs.get(key)]
    if isinstance(attrs.get("timestep"), float):
        parts.append(f"timestep {attrs['timestep']:.4g} s")
    return literal(", ".join(parts)) or "trajectory"


def figure_format(path: str | os.PathLike[str]) -> str:
    suffix = os.path.splitext(os.fspath(path))[1].lower().removeprefix(".")
    if suffix not in FORMATS:
        known = ", ".join(f".{known}" for known in FORMATS)
        raise OptionError(f"the suffix of a figure must be one of {known}, got '{os.fspath(path)}'")
    return suffix


def rendered(figure: Figure, file_format: str | None) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=file_format)
    return buffer.getvalue()
