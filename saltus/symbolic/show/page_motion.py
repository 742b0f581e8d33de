"""Motion by derived equations, and its plots: coordinates over time, phase portraits, energies."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import symengine

from saltus.errors import OptionError
from saltus.record.plot import COLOURS
from saltus.record.report_plots import svg
from saltus.simulate.simulation import Simulation
from saltus.symbolic.mapping import compiled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from saltus.symbolic.equations import Equations
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


def motion(equations: Equations, duration: float, integrator: str | None = None) -> Motion:
    """The motion from the model's first state, without inputs.

    `integrator`: one of Saltus, at the model's timestep; None: SciPy's DOP853 with small tolerances.
    """
    if not duration > 0:
        raise OptionError(f"duration must be positive, got {duration!r}")
    start = Simulation(equations.model)
    if integrator is None:
        q, v = equations.from_joint(start.qpos, start.qvel)
        options = {"stabilisation": STABILISATION} if equations.constraints else {}
        time, q, v = equations.solve(duration, q, v, sample=SAMPLE, **options)
        method = "DOP853 (SciPy), relative tolerance 1e-9"
    else:
        sim = equations.simulation(integrator=integrator)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = sim.run(duration, SAMPLE)
        states = [equations.from_joint(x, y) for x, y in zip(run.qpos, run.qvel, strict=True)]
        time, q, v = run.time, np.array([x for x, _ in states]), np.array([y for _, y in states])
        method = f"{integrator}, timestep {run.attrs['timestep']:g} s" if "timestep" in run.attrs else integrator
    kinetic, potential = _energies(equations, q, v)
    return Motion(time, q, v, kinetic, potential, method)


def _energies(e: Equations, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """T and V of the derivation at each sample."""
    c, d = e.choice.own, e.derivation
    energy = compiled(e.mechanism, [*c.q, *c.v], [d.kinetic, symengine.sympify(d.potential + d.spring)])
    values = np.array([energy(x, y) for x, y in zip(q, v, strict=True)])
    return values[:, 0], values[:, 1]


# ---------------------------------------------------------------- plots


def plots(e: Equations, n: Notation, m: Motion) -> Iterator[tuple[str, str]]:
    """Captions and SVG elements."""
    shown = list(range(min(len(e.q), SHOWN)))
    rest = f" (the first {SHOWN} of {len(e.q)})" if len(e.q) > SHOWN else ""
    yield f"Coordinates over time{rest}", svg(lambda f: _over_time(f, e, n, m, shown), (9.5, 2.8))
    pairs = [(k, e.v.index(rate)) for k, rate in enumerate(n.rates) if rate in e.v][:PORTRAITS]
    if pairs:
        yield "Phase portraits: velocity against coordinate", svg(lambda f: _portraits(f, e, n, m, pairs), (9.5, 3.2))
    yield "Energies", svg(lambda f: _energy(f, m), (9.5, 2.8))


def _over_time(figure: Figure, e: Equations, n: Notation, m: Motion, shown: list[int]) -> None:
    axes = figure.subplots()
    for k in shown:
        label = f"${n.names[e.q[k]]}$ {_unit(e, k)}".strip()
        axes.plot(m.time, m.q[:, k], color=COLOURS[k % len(COLOURS)], label=label, linewidth=1.4)
    _finish(axes, "time (s)", "", m.time)
    axes.legend(loc="upper left", bbox_to_anchor=(1.005, 1.02), frameon=False, borderaxespad=0.0)


def _unit(e: Equations, k: int) -> str:
    text = e.meanings.get(e.q[k], "")
    return text[text.rindex("(") :] if text.endswith(")") else ""


def _portraits(figure: Figure, e: Equations, n: Notation, m: Motion, pairs: list[tuple[int, int]]) -> None:
    several = figure.subplots(1, max(len(pairs), 2), squeeze=False)[0]
    for axes, (k, i) in zip(several, pairs, strict=False):
        axes.plot(m.q[:, k], m.v[:, i], color=COLOURS[k % len(COLOURS)], linewidth=1.0)
        axes.plot(m.q[0, k], m.v[0, i], "o", color=COLOURS[k % len(COLOURS)], markersize=5)
        unit = _unit(e, k)
        rate = unit.replace(")", "/s)")
        _finish(axes, f"${n.names[e.q[k]]}$ {unit}", f"${n.names[e.v[i]]}$ {rate}", None)
    for axes in several[len(pairs) :]:
        axes.set_visible(False)


def _energy(figure: Figure, m: Motion) -> None:
    axes = figure.subplots()
    lines = (("kinetic $T$", m.kinetic), ("potential $V$", m.potential), ("$T + V$", m.kinetic + m.potential))
    for (label, values), colour in zip(lines, (COLOURS[0], COLOURS[1], COLOURS[2]), strict=True):
        axes.plot(m.time, values, color=colour, label=label, linewidth=1.4)
    _finish(axes, "time (s)", "J", m.time)
    axes.legend(loc="upper left", bbox_to_anchor=(1.005, 1.02), frameon=False, borderaxespad=0.0)


def _finish(axes: Axes, x: str, y: str, time: Any) -> None:
    axes.grid(True, color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if time is not None:
        axes.margins(x=0.0)
