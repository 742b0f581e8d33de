"""Displays of a recording: a film, facts about the run, its accuracy, events and plots."""

from __future__ import annotations

import warnings

from saltus.notebook.html import ROWS, Html, attempt, display, facts, folded, note, table, title, with_picture
from saltus.notebook.picture import figure_image
from saltus.notebook.results import certificate_facts
from saltus.record.energy_figure import energy_figure
from saltus.record.film.video import make_video
from saltus.record.plot.panels import panels
from saltus.record.plot.trajectory import STACKED, draw
from saltus.record.report.report import notes
from saltus.record.table.events import EventTable, cells, counts, heading, known_fields
from saltus.record.table.trajectory_table import TrajectoryTable, readable_model
from saltus.terminal.display import count

WIDTH, HEIGHT = 320, 240  # size of the film, pixels
RATE = 15  # frames per second of the film
SHORTEST, LONGEST = 3.0, 8.0  # s, duration of the film
LARGEST = 600_000  # bytes of a film, beyond which it gets fewer frames
PLOTTED = 3_000_000  # most numbers of a recording that are plotted without a request
TRIANGLES = 300_000  # most triangles of meshes that are filmed without a request


def trajectory_html(trajectory: TrajectoryTable) -> Html:
    """Display a film of the run, facts about it, events and plots."""
    name = str(trajectory.attrs.get("model_name") or "")
    remarks = "".join(note(f"{kind}: {text}") for kind, text in notes(trajectory))
    accuracy = trajectory.certificate
    return display(
        title(f"Trajectory of {name}" if name else "Trajectory", f"{trajectory.simulated_time:.4g} s"),
        with_picture(
            attempt("film", lambda: film(trajectory)),
            facts(_facts(trajectory) | (certificate_facts(accuracy) if accuracy is not None else {})),
        ),
        remarks,
        folded(_heading(trajectory.events), _event_table(trajectory.events)) if len(trajectory.events) else "",
        folded("plots", attempt("plots", lambda: _plots(trajectory)), unfolded=True),
    )


def _facts(t: TrajectoryTable) -> dict[str, str]:
    rows = {}
    if integrator := t.attrs.get("integrator"):
        step = t.attrs.get("timestep")
        rows["integrator"] = f"{integrator}, timestep {step:.4g} s" if isinstance(step, float) else str(integrator)
    if contact := t.attrs.get("contact"):
        rows["contact"] = str(contact)
    rows["duration"] = f"{t.simulated_time:.4g} s, {count(len(t), 'sample')}"
    columns = {"nq": t.qpos, "nv": t.qvel, "na": t.act, "nu": t.ctrl}
    rows["sizes"] = ", ".join(f"{key} = {column.shape[1]}" for key, column in columns.items())
    if figure := energy_figure(t):
        rows[figure.name] = f"{figure.value} {figure.remark}"
    if ignored := t.attrs.get("ignored"):
        rows["not simulated"] = "\n".join(map(str, ignored)) if isinstance(ignored, list) else str(ignored)
    return rows


def film(trajectory: TrajectoryTable) -> str:
    """A small film of the whole run in some seconds, as HTML; "" if there is nothing to draw."""
    model = readable_model(trajectory)[0]
    if model is None or not len(trajectory):
        return ""
    if not (model.ngeom or model.nsite or model.nflex or model.ntendon):
        return ""
    if model.nmeshface > TRIANGLES:
        return note("No film of so many triangles unless asked for: trajectory.show()")
    seconds = min(max(trajectory.duration, SHORTEST), LONGEST)
    speed = trajectory.duration / seconds if trajectory.duration > 0.0 else 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about features that are not drawn
        for rate in (RATE, RATE / 3):
            made = make_video(trajectory, rate, speed=speed, width=WIDTH, height=HEIGHT, progress=False)
            if len(made.data) <= LARGEST:
                break
    how = "" if abs(speed - 1.0) < 1e-9 else note(f"at {speed:.3g} times its speed")
    return made.html() + how


def _plots(trajectory: TrajectoryTable) -> str:
    if not len(trajectory):
        return ""
    if (amount := len(trajectory) * (trajectory.qpos.shape[1] + trajectory.qvel.shape[1])) > PLOTTED:
        return note(f"{amount} numbers are plotted only when asked for: trajectory.plot()")
    if len(panels(trajectory, "qpos")) + len(panels(trajectory, "qvel")) <= STACKED:
        return figure_image(draw(trajectory), "positions, velocities and energies over time")
    numbers = trajectory.qpos.shape[1], trajectory.qvel.shape[1]
    left = note(f"{numbers[0]} positions and {numbers[1]} velocities are plotted by trajectory.plot()")
    return figure_image(draw(trajectory, states=False), "energies over time") + left


def events_html(events: EventTable) -> Html | None:
    """Display the events of a run as a table; None for an array without the field `kind`."""
    if events.ndim != 1 or "kind" not in (events.dtype.names or ()):
        return None
    if not len(events):
        return display(title("No events"))
    return display(title(count(len(events), "event"), _kinds(events)), _event_table(events))


def _heading(events: EventTable) -> str:
    return f"{count(len(events), 'event')}: {_kinds(events)}"


def _kinds(events: EventTable) -> str:
    return ", ".join(f"{number} {kind}" for kind, number in counts(events).items())


def _event_table(events: EventTable) -> Html:
    fields = known_fields(events)
    rows = [cells(event, fields) for event in events[:ROWS]]
    more = [f"and {len(events) - ROWS} more"] if len(events) > ROWS else []
    return table([heading(field) for field in fields], rows, more)
