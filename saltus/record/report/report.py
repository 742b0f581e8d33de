"""The report of a run: one self-contained HTML page with film, plots, accuracy, energy, events and options."""

from __future__ import annotations

import html
import json
import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.errors import OptionError
from saltus.record.energy_figure import energy_figure
from saltus.record.files.atomic_write import write_whole
from saltus.record.report.page import page
from saltus.record.report.plots import plots
from saltus.record.table.certificate import Certificate, bound_text, error_text
from saltus.record.table.events import cells, counts, heading, known_fields
from saltus.record.table.trajectory_table import readable_model
from saltus.terminal.display import count

if TYPE_CHECKING:
    from saltus.record.table.trajectory_table import TrajectoryTable

SUFFIXES = (".html", ".htm")
EVENTS = 200  # rows of the table of events
FPS = 30  # frames per second of the film in the page

Rows = list[tuple[str, str]]


def write_report(
    trajectory: TrajectoryTable,
    path: str | os.PathLike[str],
    *,
    video: bool = True,
    progress: Any = None,
    **options: Any,
) -> None:
    """See `Trajectory.report`."""
    check_suffix(path)
    if not len(trajectory):
        raise OptionError("there are no samples to report on")
    film = _film(trajectory, progress, options) if video else ""
    content = page(
        title=str(trajectory.attrs.get("model_name") or "recording"),
        subtitle=_subtitle(trajectory),
        key_figures=_key_figures(trajectory),
        notes=notes(trajectory),
        film=film,
        sections=[
            ("Run", _table(_run(trajectory))),
            ("Model", _table(_model(trajectory))),
        ],
        plots=list(plots(trajectory)),
        tables=[(title, body) for title, body in (("Events", _events(trajectory)),) if body],
        details=_details(trajectory),
    )
    write_whole(path, content.encode(), what="report")


def check_suffix(path: str | os.PathLike[str]) -> None:
    """Raise OptionError unless the path is that of an HTML page."""
    if os.path.splitext(os.fspath(path))[1].lower() not in SUFFIXES:
        raise OptionError(f"the suffix of a report must be .html, got '{os.fspath(path)}'")


def notes(t: TrajectoryTable) -> list[tuple[str, str]]:
    """Warnings and notes that a reader needs before the figures: ("warning" or "note", text)."""
    found = []
    attrs: dict[str, Any] = {**t.attrs}
    if attrs.get("diverged"):
        found.append(("warning", f"The run {attrs['diverged']}"))
    if attrs.get("stopped"):
        found.append(("warning", f"The run stopped: {attrs['stopped']}"))
    if "interrupted_at" in attrs:
        found.append(("warning", f"The run was interrupted at t = {float(attrs['interrupted_at']):.6g} s."))
    if attrs.get("unconverged"):
        found.append(("warning", f"The solver did not reach its tolerance in {count(attrs['unconverged'], 'step')}."))
    if t.certificate is not None:
        kind = "note" if t.certificate.ok else "warning"
        found += [(kind, f"Accuracy: {text}.") for text in t.certificate.warnings]
    found += [("warning", str(text)) for text in attrs.get("warnings") or []]
    if why := readable_model(t)[1]:
        found.append(("warning", f"There is no film: {why}."))
    if attrs.get("ignored"):
        found.append(("note", f"Ignored on request: {', '.join(map(str, attrs['ignored']))}."))
    return found


def _film(t: TrajectoryTable, progress: Any, options: dict[str, Any]) -> str:
    from saltus.record.film.video import make_video

    if readable_model(t)[0] is None:
        return ""
    options = {"fps": FPS, "suffix": ".mp4", **options}
    return make_video(t, options.pop("fps"), progress=progress, **options).html()


def _subtitle(t: TrajectoryTable) -> str:
    parts = [f"{t.simulated_time:.6g} s"]
    if method := t.attrs.get("integrator"):
        parts.append(str(method))
    if created := t.attrs.get("created"):
        parts.append(str(created).replace("T", " ").replace("+00:00", " UTC"))
    return ", ".join(parts)


def _key_figures(t: TrajectoryTable) -> list[tuple[str, str, str]]:
    """Name, value and remark of the few numbers that summarise the run."""
    figures = [("Simulated", f"{t.simulated_time:.4g} s", count(len(t), "sample"))]
    c = t.certificate
    if c is not None:
        remark = "rad, m, at the end" + ("" if math.isnan(c.final_bound) else f"; bound {bound_text(c.final_bound)}")
        remark += "" if c.ok else "; see the warnings"
        figures.append(("Position error", _error(c), remark))
        if not math.isnan(c.observed_order):
            figures.append(("Observed order", f"{c.observed_order:.2f}", f"declared {c.order:g}"))
    if figure := energy_figure(t):
        figures.append((figure.name.capitalize(), figure.value, figure.remark))
    if len(t.events):
        figures.append(("Events", str(len(t.events)), ""))
    return figures


def _error(c: Certificate) -> str:
    return "unknown" if math.isnan(c.final_error) else error_text(c, c.final_error, 2).removeprefix("about ")


def _run(t: TrajectoryTable) -> Rows:
    attrs: dict[str, Any] = {**t.attrs}
    rows = []
    if attrs.get("integrator"):
        rows.append(("integrator", str(attrs["integrator"])))
    if attrs.get("integrator_reference"):
        rows.append(("after", str(attrs["integrator_reference"])))
    if isinstance(attrs.get("timestep"), float):
        rows.append(("timestep", f"{attrs['timestep']:.6g} s"))
    if isinstance(attrs.get("sample"), float):
        rows.append(("sample every", f"{attrs['sample']:.6g} s"))
    if attrs.get("tolerances"):
        rows.append(("tolerances", tolerances_text(attrs["tolerances"])))
    if attrs.get("contact"):
        rows.append(("contact law", contact_text(str(attrs["contact"]), attrs.get("contact_law") or {})))
    for key, name in (("control", "control"), ("dynamics", "equations")):
        if attrs.get(key):
            rows.append((name, str(attrs[key])))
    if t.certificate is not None:
        rows.append(("accuracy", str(t.certificate).splitlines()[0].removeprefix("accuracy: ")))
    else:
        rows.append(("accuracy", "not checked"))
    if not np.isnan(t.energy).all():
        total = t.total_energy
        rows.append(("energy", f"{total[0]:.6g} J at the start, {total[-1]:.6g} J at the end"))
    return rows


def tolerances_text(tolerances: Any) -> str:
    """Tolerances by name, in one line."""
    return ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in dict(tolerances).items())


def contact_text(name: str, numbers: Any) -> str:
    """A contact law and its parameters in one line, without those of pairs and those not given."""
    shown = [f"{k.replace('_', ' ')} {v}" for k, v in dict(numbers).items() if v is not None and k != "pairs"]
    if pairs := dict(numbers).get("pairs"):
        shown.append(f"other numbers for {len(pairs)} pair{'s' if len(pairs) > 1 else ''} of geoms or bodies")
    return f"{name}: {', '.join(shown)}" if shown else name


def _model(t: TrajectoryTable) -> Rows:
    rows = [("name", str(t.attrs.get("model_name") or "unknown"))]
    m, _ = readable_model(t)
    if m is None:
        sizes = {"nq": t.qpos, "nv": t.qvel, "na": t.act, "nu": t.ctrl}
        return [*rows, ("size", ", ".join(f"{key} = {table.shape[1]}" for key, table in sizes.items()))]
    if m.changes:
        rows.append(("changed", ", ".join(f"{key} = {_plain(value)}" for key, value in m.changes.items())))
    rows += [
        ("bodies", str(m.nbody - 1)),
        ("mass", f"{float(m.body_mass.sum()):.4g} kg"),
        ("joints", f"{m.njnt}, {m.nv} degrees of freedom"),
        ("actuators", f"{m.nactuator}, {m.nu} controls"),
        (
            "geoms",
            f"{m.ngeom}, {len(t.names['contact'])} {'points' if t.contact_mode.shape[1] else 'pairs'} that may touch",
        ),
        ("gravity", " ".join(f"{g:g}" for g in m.opt.gravity) + " m/s²"),
        ("semantics", str(t.attrs.get("semantics") or m.semantics)),
    ]
    extra = {"tendons": m.ntendon, "equality constraints": m.neq, "sensors": m.nsensor, "meshes": m.nmesh}
    return rows + [(name, str(count)) for name, count in extra.items() if count]


def _events(t: TrajectoryTable) -> str:
    """Number of events of each kind, and a table of the first ones without empty columns."""
    if not len(t.events):
        return ""
    summary = ", ".join(f"{number} {kind or 'without a kind'}" for kind, number in counts(t.events).items())
    fields = known_fields(t.events)
    head = "".join(f"<th>{html.escape(heading(field))}</th>" for field in fields)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells(event, fields)) + "</tr>"
        for event in t.events[:EVENTS]
    )
    more = f"<p>and {len(t.events) - EVENTS} more</p>" if len(t.events) > EVENTS else ""
    table = f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    return f"<p>{html.escape(summary)}</p>{table}{more}"


def _details(t: TrajectoryTable) -> list[tuple[str, str]]:
    """Folded parts of the page: title and HTML."""
    attrs: dict[str, Any] = {**t.attrs}
    found = []
    try:
        options = json.loads(str(attrs.get("options") or "{}"))
    except ValueError:
        options = {"options": attrs["options"]}
    if options:
        found.append(("Options of the model", _table([(key, _plain(value)) for key, value in options.items()])))
    versions = [(k.removesuffix("_version"), str(v)) for k, v in attrs.items() if k.endswith("_version")]
    if versions:
        found.append(("Versions", _table(versions)))
    known = ("options", "model_xml", "ignored", "warnings", "diverged", "stopped", "interrupted_at", "unconverged")
    shown = (
        "integrator",
        "integrator_reference",
        "timestep",
        "sample",
        "contact",
        "contact_law",
        "tolerances",
        "control",
        "dynamics",
        "model_name",
        "semantics",
    )
    others = [(k, _plain(v)) for k, v in attrs.items() if k not in known + shown and not k.endswith("_version")]
    others = [(key, value) for key, value in others if value not in ("", "{}", "[]")]
    if others:
        found.append(("Further attributes", _table(others)))
    if attrs.get("model_xml"):
        found.append(("Model text (MJCF)", f"<pre><code>{html.escape(str(attrs['model_xml']))}</code></pre>"))
    return found


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _table(rows: Rows) -> str:
    lines = (f'<tr><th scope="row">{html.escape(a)}</th><td>{html.escape(b)}</td></tr>' for a, b in rows)
    return f"<table>{''.join(lines)}</table>"
