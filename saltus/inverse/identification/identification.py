"""The result of an identification: values, what is known of them, and what is not."""

from __future__ import annotations

import html
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import path_of

if TYPE_CHECKING:
    from saltus.model.model import Model

Array = NDArray[np.float64]


class Direction(dict[str, float]):
    """A combination of parameters, by name with its coefficient, along which the data do not tell values apart."""

    def __repr__(self) -> str:
        return " ".join(f"{x:+.2g} {name}" for name, x in self.items())


@dataclass(frozen=True, eq=False)
class Identification:
    """Parameters found from recorded motion, by maximum likelihood.

    values: by name. covariance [k, k] and std, by name: of the values, from the noise that the residuals show.
    correlation [k, k]. unidentified: combinations of parameters that the data do not tell apart: along these, values
    are arbitrary. noise: standard deviation of the residuals of each channel, by name.
    holdout: the same, of data that was not fitted; empty without any. converged, iterations: of Gauss-Newton's method.
    at_bound: names of parameters that ended at a bound. model: the model with the values.
    rollouts: how many times the length of the fitted data was simulated, with derivatives once for each group of
    directions; 0 for forces.
    """

    names: tuple[str, ...]
    values: dict[str, float]
    covariance: Array
    unidentified: tuple[Direction, ...]
    noise: dict[str, float]
    holdout: dict[str, float]
    converged: bool
    iterations: int
    at_bound: tuple[str, ...]
    model: Model
    start: dict[str, float] = field(repr=False)
    rollouts: float = field(default=0.0, repr=False)
    fitted: tuple[tuple[str, Array, Array, Array], ...] = field(default=(), repr=False)

    @property
    def std(self) -> dict[str, float]:
        """Standard deviation of each value, inf for those in directions that the data do not tell apart."""
        return dict(zip(self.names, np.sqrt(np.diag(self.covariance)).tolist(), strict=True))

    @property
    def correlation(self) -> Array:
        """Correlations of the values [k, k]; nan where a value is unknown."""
        size = np.sqrt(np.diag(self.covariance))
        with np.errstate(invalid="ignore"):
            return self.covariance / np.outer(size, size)

    def __repr__(self) -> str:
        lines = [f"{name}: {self.values[name]:.6g} ± {std:.2g}" for name, std in self.std.items()]
        lines += [f"not told apart: {direction}" for direction in self.unidentified]
        lines += [f"at a bound: {', '.join(self.at_bound)}"] if self.at_bound else []
        lines += [] if self.converged else [f"not converged after {self.iterations} iterations"]
        return "\n".join(lines)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the result as a self-contained HTML page, with figures of the data and the predictions."""
        from saltus.record.files.atomic_write import write_whole
        from saltus.record.report.page import framed

        parts = ["<h1>Identification</h1>", f'<p class="subtitle">{html.escape(self.model.name)}</p>', self._notes()]
        rows = [
            (name, f"{self.start[name]:.6g}", f"{self.values[name]:.6g}", f"{self.std[name]:.2g}")
            for name in self.names
        ]
        parts += ["<h2>Values</h2>", _table(("parameter", "start", "value", "standard deviation"), rows)]
        rows = [
            (name, f"{x:.3g}", f"{self.holdout[name]:.3g}" if name in self.holdout else "")
            for name, x in self.noise.items()
        ]
        parts += ["<h2>Residuals</h2>", _table(("channel", "fitted", "not fitted"), rows)]
        numbers = [(name, *(f"{x:.2f}" for x in row)) for name, row in zip(self.names, self.correlation, strict=True)]
        parts += ["<h2>Correlations</h2>", f'<div class="wide">{_table(("", *self.names), numbers)}</div>']
        parts += ["<h2>Data and predictions</h2>", *self._figures()]
        write_whole(path_of("path", path), framed("Identification", parts).encode(), what="report")

    def _notes(self) -> str:
        """Warnings, as a list in HTML."""
        notes = [f"The data do not tell apart: {direction}" for direction in self.unidentified]
        notes += [f"{name} ended at a bound" for name in self.at_bound]
        notes += [] if self.converged else [f"not converged after {self.iterations} iterations"]
        listed = "".join(f'<li class="warning">{html.escape(note)}</li>' for note in notes)
        return f'<ul class="notes">{listed}</ul>' if notes else ""

    def _figures(self) -> list[str]:
        """Figures of some windows: data as points, predictions as lines."""
        import io

        from matplotlib.figure import Figure

        found = []
        for name, time, data, predicted in self.fitted:
            figure = Figure(figsize=(8, 2.4), layout="constrained")
            axes = figure.subplots()
            axes.plot(time, data, ".", color="#0072b2", markersize=3, label="data")
            axes.plot(time, predicted, color="#d55e00", linewidth=1, label="prediction")
            axes.set_xlabel("time (s)")
            axes.legend(frameon=False)
            text = io.StringIO()
            figure.savefig(text, format="svg")
            svg = text.getvalue()
            found.append(f"<figure><figcaption>{html.escape(name)}</figcaption>{svg[svg.index('<svg') :]}</figure>")
        return found


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table in HTML."""
    top = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(x)}</td>" for x in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
