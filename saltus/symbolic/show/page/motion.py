"""Motion by derived equations, and its plots: coordinates over time, phase portraits, energies."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import symengine

from saltus.errors import OptionError
from saltus.record.plot.trajectory import COLOURS
from saltus.record.report.plots import svg
from saltus.simulate.simulation import Simulation
from saltus.symbolic.derivation.mapping import compiled
from saltus.symbolic.evaluate import SolveOptions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from saltus.symbolic.numeric import NumericEquations
    from saltus.symbolic.show.notation import Notation

SAMPLE = 1 / 60  # s
SHOWN = 6  # coordinates in one plot
PORTRAITS = 3
STABILISATION = (5.0, 5.0)  # 1/s, of constraints


@dataclass(frozen=True)
class Motion:
    """A motion by equations: time [T] (s), q [T, nq], v [T, n], kinetic and potential energy [T] (J), and by what."""

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    kinetic: np.ndarray
    potential: np.ndarray
    method: str

    @property
    def drift(self) -> float:
        """The largest change of the total energy (J)."""
        total = self.kinetic + self.potential
        return float(np.abs(total - total[0]).max())


def motion(equations: NumericEquations, duration: float, integrator: str | None = None) -> Motion:
    """The motion from the model's first state, without inputs.

    `integrator`: one of Saltus, at the model's timestep; None: SciPy's DOP853 with small tolerances.
    """
    if not duration > 0:
        raise OptionError(f"duration must be positive, got {duration!r}")
    start = Simulation(equations.model)
    if integrator is None:
        q, v = equations.from_joint(start.qpos, start.qvel)
        options: SolveOptions = {"sample": SAMPLE}
        if equations.constraints:
            options["stabilisation"] = STABILISATION
        time, q, v = equations.solve(duration, q, v, **options)
        method = "DOP853 (SciPy), relative tolerance 1e-9"
    else:
        sim = equations.simulation(integrator=integrator)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = sim.run(duration, SAMPLE)
        states = [equations.from_joint(x, y) for x, y in zip(run.qpos, run.qvel, strict=True)]
        time, q, v = run.time, np.array([x for x, _ in states]), np.array([y for _, y in states])
        name = sim.integrator.name
        method = f"{name}, timestep {run.attrs['timestep']:g} s" if "timestep" in run.attrs else name
    kinetic, potential = _energies(equations, q, v)
    return Motion(time, q, v, kinetic, potential, method)


def _energies(e: NumericEquations, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """T and V of the derivation at each sample."""
    c, d = e.choice.own, e.derivation
    energy = compiled(e.mechanism, [*c.q, *c.v], [d.kinetic, symengine.sympify(d.potential + d.spring)])
    values = np.array([energy(x, y) for x, y in zip(q, v, strict=True)])
    return values[:, 0], values[:, 1]


# ---------------------------------------------------------------- plots


@dataclass(frozen=True)
class Panel:
    """One pair of axes: labels with formulas between dollar signs, and curves as (label, x [T], y [T], colour)."""

    x: str
    y: str
    curves: list[tuple[str, np.ndarray, np.ndarray, str]]
    over_time: bool = True


def panels(e: NumericEquations, n: Notation, m: Motion) -> Iterator[tuple[str, list[Panel]]]:
    """Captions, and the panels side by side under each."""
    colour = [COLOURS[k % len(COLOURS)] for k in range(len(e.q))]
    labels = [f"${n.names[x]}$ {_unit(e, k)}".strip() for k, x in enumerate(e.q)]
    curves = [(labels[k], m.time, m.q[:, k], colour[k]) for k in range(min(len(e.q), SHOWN))]
    rest = f" (the first {SHOWN} of {len(e.q)})" if len(e.q) > SHOWN else ""
    yield f"Coordinates over time{rest}", [Panel("time (s)", "", curves)]
    pairs = [(k, e.v.index(rate)) for k, rate in enumerate(n.rates) if rate in e.v][:PORTRAITS]
    portraits = []
    for k, i in pairs:
        rate = f"${n.names[e.v[i]]}$ {_unit(e, k).replace(')', '/s)')}"
        portraits.append(Panel(labels[k], rate, [("", m.q[:, k], m.v[:, i], colour[k])], over_time=False))
    if portraits:
        yield "Phase portraits: velocity against coordinate", portraits
    lines = (("kinetic $T$", m.kinetic), ("potential $V$", m.potential), ("$T + V$", m.kinetic + m.potential))
    energies = [(label, m.time, values, c) for (label, values), c in zip(lines, COLOURS, strict=False)]
    yield "Energies", [Panel("time (s)", "J", energies)]


def _unit(e: NumericEquations, k: int) -> str:
    text = e.meanings.get(e.q[k], "")
    return text[text.rindex("(") :] if text.endswith(")") else ""


def plots(e: NumericEquations, n: Notation, m: Motion) -> Iterator[tuple[str, str]]:
    """Captions and SVG elements."""
    for caption, row in panels(e, n, m):
        yield caption, svg(lambda figure, row=row: _draw(figure, row), (9.5, 2.8 if row[0].over_time else 3.2))


def _draw(figure: Figure, row: list[Panel]) -> None:
    places = 1 if row[0].over_time else max(len(row), 2)
    several = figure.subplots(1, places, squeeze=False)[0]
    for axes, panel in zip(several, row, strict=False):
        for label, x, y, colour in panel.curves:
            axes.plot(x, y, color=colour, label=label, linewidth=1.4 if panel.over_time else 1.0)
            if not panel.over_time:
                axes.plot(x[0], y[0], "o", color=colour, markersize=5)
        axes.grid(True, color="0.9", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlabel(panel.x)
        axes.set_ylabel(panel.y)
        if panel.over_time:
            axes.margins(x=0.0)
            axes.legend(loc="upper left", bbox_to_anchor=(1.005, 1.02), frameon=False, borderaxespad=0.0)
    for axes in several[len(row) :]:
        axes.set_visible(False)
