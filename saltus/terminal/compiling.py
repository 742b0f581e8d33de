"""Messages about compilation in progress: what is compiled, and about how long it takes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from saltus.terminal import notebook_line

# called with the kernel's name or None, the number of nested compilations, and the past duration (s) of the outermost
# kernel, if known
Report = Callable[[str | None, int, float | None], None]

_reports: list[Report] = []  # the last one is called
_in_notebook: list[notebook_line.Task] = []  # the compilation shown in a notebook, one at most

# purposes of compiled entries by the beginnings of their names
PURPOSES = {
    "advance_": "the integrator",
    "batch_": "batch,",
    "linearize_": "derivatives of",
    "jacobian_": "derivatives of",
    "parameters_": "derivatives by parameters of",
    "adjoint_": "gradients through",
}
OTHERS = {
    "energy": "energy",
    "sample": "energy and contacts of samples",
    **dict.fromkeys(
        ("energies", "add_work", "work_of_step", "work_in_middle", "work_of_equations"), "ledger of energy"
    ),
    "difference": "comparison of runs",
    "record": "integrator dopri5, dense output",
    "record_radau": "integrator radau, dense output",
    "record_events": "integrator dopri5, located events",
    "settle": "contact modes",
    "gaps": "gaps of contacts",
    "points": "contact points of samples",
    "closed_rows": "active constraints",
    "separate": "starts that overlap",
    "prescribe": "prescribed motions",
    "sense": "sensors",
    "read_sensors": "sensors of batches",
    **dict.fromkeys(("read_contacts", "read_one"), "contacts of batches"),
    **dict.fromkeys(("read_positions", "read_smooth", "read_forward", "read_inverse"), "quantities of batches"),
    **dict.fromkeys(("look_at", "look_each", "least_gaps"), "states of batches with events"),
    "roll_out": "rollouts of batches",
    "differentiate_each": "derivatives of many simulations",
    "read_forces": "derivatives of contact forces",
    **dict.fromkeys(("pass_backward", "follow_policy", "places"), "trajectories that cost least"),
    "read_bodies": "accelerations and forces of bodies in batches",
    **dict.fromkeys(("gather", "scatter"), "states of batches"),
    "bodies": "accelerations and forces of bodies",
    "impact": "impact report",
    "solve_cones": "forces of frictional contacts",
    "jacobian": "Jacobians of points",
    **dict.fromkeys(("seed_run", "read_run"), "derivatives of runs"),
    **dict.fromkeys(("displace", "tangent"), "stability of controlled motion"),
    "forward": "forward dynamics",
    **dict.fromkeys(("begin_sleeping", "whole"), "lists of what is awake"),
    **dict.fromkeys(("help_out", "dismiss"), "threads that help"),
    **dict.fromkeys(
        ("inverse", "driving_forces", "driving_forces_of_damped_step", "driving_forces_of_discrete_step"),
        "inverse dynamics",
    ),
    **dict.fromkeys(("regressor", "regressor_rows"), "inverse dynamics by inertial parameters"),
    **{kernel: f"pictures, {kernel}" for kernel in ("background", "attach", "rasterise", "darken", "wipe", "resolve")},
}


@contextmanager
def compile_progress(report: Report) -> Iterator[None]:
    """Inside the context, call `report` when a kernel starts to compile, and with None when all have finished."""
    _reports.append(report)
    try:
        yield
    finally:
        _reports.remove(report)


def in_words(about: float | None) -> str:
    """Text about the expected duration of a compilation, ", about 8 s"; "" if unknown."""
    return "" if about is None else f", about {about:.0f} s"


def purpose(kernel: str) -> str:
    """Describe the purpose of a compiled function: "entry_advance_euler" is "the integrator euler"."""
    name = kernel.removeprefix("entry_")
    for beginning, what in PURPOSES.items():
        if name.startswith(beginning):
            return f"{what} {name.removeprefix(beginning)}"
    return OTHERS.get(name, name)


def tell(name: str | None, depth: int, about: float | None) -> None:
    """Report a compilation to the last listener, else to the user of a notebook or a terminal."""
    if _reports:
        _reports[-1](name, depth, about)
    elif _in_notebook or notebook_line.somebody_waits():
        _show_in_notebook(name, depth, about)
    elif sys.stderr.isatty():
        _announce(name, depth, about)


def _show_in_notebook(name: str | None, depth: int, about: float | None) -> None:
    """Show a task in the cell's line from the start of the outermost kernel until all are compiled."""
    if depth == 1 and name is not None and not _in_notebook:
        what = purpose(name)
        text = f"compiling {what} (once for this machine{in_words(about)})"
        task = notebook_line.Task(notebook_line.COMPILED, text, f"compiled {what}", about=about)
        _in_notebook.append(task)
        notebook_line.begin(task)
    elif depth == 0 and _in_notebook:
        notebook_line.end(_in_notebook.pop())


def _announce(name: str | None, depth: int, about: float | None) -> None:
    """Show a line in the terminal while the outermost kernel compiles."""
    if depth == 1 and name is not None:
        sys.stderr.write(f"saltus: compiling {purpose(name)}, once for this machine{in_words(about)} ...")
    elif depth == 0:
        sys.stderr.write("\r\033[K")
    sys.stderr.flush()
