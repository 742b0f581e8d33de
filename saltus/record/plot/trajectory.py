"""The figure of a run: positions, velocities and energies over time. No global state of Matplotlib is changed."""

from __future__ import annotations

import io
import os
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import path_of
from saltus.errors import OptionError
from saltus.record.energy_figure import energy_figure
from saltus.record.files.atomic_write import check_writable, write_whole
from saltus.record.plot.contacts import SHOWN, draw_contacts, event_handle, mark_events, rows_of
from saltus.record.plot.jumps import with_jumps
from saltus.record.plot.panels import MOST, Panel, panels
from saltus.record.table.labels import literal
from saltus.terminal.display import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from saltus.record.table.trajectory_table import TrajectoryTable

FORMATS = ("png", "svg", "pdf")

ROUNDING = 1e-13  # share of the largest energy below which an energy counts as zero
STACKED = 4  # panels of positions and velocities stacked in one column

# Okabe and Ito's palette, which colour-blind readers can tell apart, without its yellow, too pale on white
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
# as many as there are integrators: these, and for dashed lines those that colour-blind readers tell apart best among
# themselves, and others from the first ones too
DISTINCT = (*COLOURS, "#3300FF", "#660099", "#990000", "#006666", "#CC33FF", "#CC9966", "#889900")
STYLES = ("-", "--", ":")
GREY = "#BBBBBB"


def plot(trajectory: TrajectoryTable, path: str | os.PathLike[str] | None = None) -> Figure:
    """See `Trajectory.plot`."""
    file_format = None if path is None else figure_format(path)
    figure = draw(trajectory)
    if path is not None:
        write_whole(path, rendered(figure, file_format), what="figure")
    return figure


def draw(trajectory: TrajectoryTable, *, states: bool = True) -> Figure:
    """Draw the figure: panels of positions, velocities and energies over time, and a strip of contacts with modes.

    Few panels are stacked in one column; of more, positions are on the left and velocities on the right. Without
    `states`, energies and contacts alone.
    """
    from matplotlib.figure import Figure

    positions, velocities = (panels(trajectory, group) if states else [] for group in ("qpos", "qvel"))
    rows = len(rows_of(trajectory)[:SHOWN]) if trajectory.contact_mode.shape[1] else 0
    heights = [1.0, *([0.1 + 0.075 * rows] if rows else [])]
    if len(positions) + len(velocities) <= STACKED:
        above, wide = [[panel] for panel in (*positions, *velocities)], 1
    else:
        above, wide = [list(pair) for pair in zip_longest(positions, velocities)], 2
    heights = [1.0] * len(above) + heights
    size = (9.0 if wide == 1 else 15.0, 0.8 + 2.4 * sum(heights))
    figure = Figure(figsize=size, dpi=150, layout="constrained")
    grid = figure.add_gridspec(len(heights), wide, height_ratios=heights)
    drawn: list[Axes] = []
    lowest: dict[int, Axes] = {}  # lowest axes of each column, where there are two
    for row, beside in enumerate(above):
        for column, panel in enumerate(beside):
            if panel is not None:
                drawn.append(_axes(figure, grid[row, column], drawn))
                draw_panel(drawn[-1], trajectory, panel)
                lowest[column] = drawn[-1]
    drawn.append(_axes(figure, grid[len(above), :], drawn))
    energy_panel(drawn[-1], trajectory)
    if rows:
        drawn.append(_axes(figure, grid[len(above) + 1, :], drawn))
        legend(drawn[-1], *draw_contacts(drawn[-1], trajectory))
    for axes in drawn:
        furnish(axes, trajectory)
        axes.tick_params(labelbottom=axes is drawn[-1] or (wide > 1 and axes in lowest.values()))
    drawn[-1].set_xlabel("time (s)")
    figure.align_ylabels(drawn[: len(drawn) - bool(rows)])
    figure.suptitle(_title(trajectory), fontsize=12)
    # lets a notebook show a figure that belongs to no plotting backend
    vars(figure)["_repr_png_"] = partial(rendered, figure, "png")
    return figure


def _axes(figure: Figure, place: Any, others: list[Axes]) -> Axes:
    """Axes that share the time axis with the others."""
    return figure.add_subplot(place, sharex=others[0] if others else None)


def draw_panel(axes: Axes, trajectory: TrajectoryTable, panel: Panel) -> None:
    """Draw one panel of a group of columns, with its legend; velocities jump at impacts."""
    time, table = trajectory.time, getattr(trajectory, panel.group)[:, panel.columns]
    if panel.group == "qvel":
        time, table = with_jumps(time, table, trajectory.events)
    legend(axes, *curves(axes, time, table, panel.names))
    axes.set_ylabel(panel.title)


def curves(axes: Axes, time: NDArray[Any], table: NDArray[Any], names: list[str]) -> tuple[list[Any], list[str]]:
    """Draw one line per column, each with a look of its own; many columns are coloured from the first to the last.

    Returns the legend's entries.
    """
    if len(names) > MOST:
        return _many_curves(axes, time, table, names)
    handles = []
    for i in range(len(names)):
        style = STYLES[i // len(COLOURS) % len(STYLES)]
        colour = DISTINCT[i % len(DISTINCT)] if len(names) > len(COLOURS) else COLOURS[i]
        handles += axes.plot(time, table[:, i], linestyle=style, color=colour, **_weight(time))
    return handles, names


def _many_curves(axes: Axes, time: NDArray[Any], table: NDArray[Any], names: list[str]) -> tuple[list[Any], list[str]]:
    """Draw thin lines coloured in order; the legend names five of them."""
    from matplotlib import colormaps

    colours = colormaps["viridis"](np.linspace(0.0, 0.9, len(names)))
    weight = {**_weight(time), "linewidth": 0.6}
    handles = [axes.plot(time, table[:, i], color=colours[i], **weight)[0] for i in range(len(names))]
    named = np.linspace(0, len(names) - 1, 5).astype(int)
    handles = [axes.plot([], [], color=colours[i])[0] for i in named]
    return handles, [f"{names[i]} ({i + 1} of {len(names)})" for i in named]


def energy_panel(axes: Axes, trajectory: TrajectoryTable) -> None:
    """Draw energies minus their initial values, which the legend gives, so that no offset hides the changes."""
    axes.set_ylabel("energy minus initial energy (J)")
    handles, labels = [], []
    energy = np.column_stack([trajectory.energy, trajectory.total_energy])
    if np.isnan(energy).all():
        axes.set_ylabel("energy (J)")
        axes.text(0.5, 0.5, "not recorded", transform=axes.transAxes, ha="center", va="center", color="0.4")
    else:
        start = energy[0]
        largest = np.max(np.abs(energy[np.isfinite(energy)]), initial=0.0)
        told = np.where(np.abs(start) > ROUNDING * largest, start, 0.0)
        labels = [
            f"{name}, from {value:.4g} J" for name, value in zip(("potential", "kinetic", "total"), told, strict=True)
        ]
        with np.errstate(all="ignore"):  # runs that diverged have infinite values
            change = energy - start
        jumping = with_jumps(trajectory.time, change[:, 1:], trajectory.events)
        times = (trajectory.time, jumping[0], jumping[0])
        values = (change[:, 0], *jumping[1].T)
        weight = _weight(trajectory.time)
        for time, value, colour in zip(times, values, (COLOURS[0], COLOURS[1], "black"), strict=True):
            handles += axes.plot(time, value, color=colour, **weight)
    if len(trajectory.events):
        # the marks of all panels, explained once, where there is room
        handles.append(event_handle())
        labels.append(count(len(trajectory.events), "event"))
    figure = energy_figure(trajectory)
    legend(axes, handles, labels, "" if figure is None else f"{figure.name} {figure.value}")


def _weight(time: NDArray[Any]) -> dict[str, Any]:
    """Line style: thin lines; a dot where a single sample makes no line."""
    return {"linewidth": 1.4, "marker": "o" if len(time) == 1 else ""}


def legend(axes: Axes, handles: list[Any], labels: list[str], title: str = "") -> None:
    """Place the legend beside the panel, where it hides no data."""
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


def furnish(axes: Axes, trajectory: TrajectoryTable) -> None:
    axes.grid(True, color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.0 if len(trajectory) > 1 else 0.05)
    mark_events(axes, trajectory)


def _title(trajectory: TrajectoryTable) -> str:
    attrs = trajectory.attrs
    parts = [str(attrs[key]) for key in ("model_name", "integrator") if attrs.get(key)]
    if isinstance(attrs.get("timestep"), float):
        parts.append(f"timestep {attrs['timestep']:.4g} s")
    return literal(", ".join(parts)) or "trajectory"


def check_figure(path: str | os.PathLike[str]) -> None:
    """Raise the error that writing a figure would raise."""
    figure_format(path)
    check_writable(path, what="figure")


def figure_format(path: str | os.PathLike[str]) -> str:
    suffix = os.path.splitext(os.fspath(path_of("path", path)))[1].lower().removeprefix(".")
    if suffix not in FORMATS:
        known = ", ".join(f".{known}" for known in FORMATS)
        raise OptionError(f"the suffix of a figure must be one of {known}, got '{os.fspath(path)}'")
    return suffix


def rendered(figure: Figure, file_format: str | None) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=file_format)
    return buffer.getvalue()
