"""Benchmarks, and the results of their runs: numbers that are compared with references, and a figure.

A benchmark is a function under `@benchmark(...)`. It simulates with Saltus's public interface and returns a `Result`;
its docstring says what is simulated. References come from outside: closed forms, conserved quantities, declared orders,
published tables.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from saltus.errors import SaltusError

ORDER_TOLERANCE = 0.2  # allowed deviation from the declared order


@dataclass(frozen=True)
class Check:
    """A number that was reached, and its reference.

    `tolerance` bounds |reached - reference|, or that over |reference| where `relative`.
    """

    name: str
    reached: float
    reference: float
    tolerance: float
    unit: str = ""
    relative: bool = False

    @property
    def quantity(self) -> str:
        """The number's name with its unit, and whether its error is relative."""
        return self.name + (f" ({self.unit})" if self.unit else "") + (", relative" if self.relative else "")

    @property
    def error(self) -> float:
        """The difference from the reference; infinite where nothing finite was reached."""
        difference = float(abs(self.reached - self.reference))
        if not math.isfinite(difference):
            return math.inf
        return difference / abs(float(self.reference)) if self.relative else difference

    @property
    def passed(self) -> bool:
        """Whether the error is within the tolerance."""
        return bool(self.error <= self.tolerance)  # a tolerance may be a number of NumPy, whose answer is no bool


@dataclass(frozen=True)
class Curve:
    """Points of a figure; `look` is "line", "points" or, for references, "dashed" or "marks"."""

    label: str
    x: ArrayLike
    y: ArrayLike
    look: str = "line"


@dataclass(frozen=True)
class Figure:
    """Curves over one axis, with the quantity and unit of each axis."""

    x: str
    y: str
    curves: Sequence[Curve]
    log_x: bool = False
    log_y: bool = False
    equal: bool = False


@dataclass(frozen=True)
class Result:
    """Numbers and figure from a run of a benchmark."""

    checks: Sequence[Check]
    figure: Figure


class NeedsData(SaltusError):
    """Raised by a benchmark that compares with files that are not part of Saltus; the text names them."""


@dataclass(frozen=True)
class Data:
    """Folder of other people's files that cannot be part of Saltus: `--data DIR`; None: no folder."""

    folder: Path | None = None

    def file(self, name: str) -> Path:
        """Path of a file in the folder; NeedsData where there is none."""
        if self.folder is None:
            raise NeedsData(f"{name} in the folder given by --data")
        path = self.folder / name
        if not path.is_file():
            raise NeedsData(str(path))
        return path

    def files(self, pattern: str) -> list[Path]:
        """Paths of the files that match a pattern in the folder; NeedsData where there are none."""
        found = [] if self.folder is None else sorted(self.folder.glob(pattern))
        if not found:
            raise NeedsData(f"{pattern} in the folder given by --data")
        return found


@dataclass(frozen=True)
class Benchmark:
    """A benchmark: `source` says where the reference comes from, `allowed` why the tolerances are as they are."""

    name: str
    family: str
    title: str
    source: str
    allowed: str
    measure: Callable[[Data], Result]
    slow: bool = False  # takes more than a few seconds once compiled

    @property
    def about(self) -> str:
        """Description of the simulation, from the function's docstring."""
        return " ".join((inspect.getdoc(self.measure) or "").split())

    @property
    def command(self) -> str:
        """Command that repeats the benchmark."""
        return f"saltus verify {self.name}"


Decorator = Callable[[Callable[[Data], Result]], Benchmark]


def family(name: str) -> Callable[..., Decorator]:
    """Decorator for the benchmarks of a family."""

    def benchmark(name_: str, title: str, *, source: str, allowed: str, slow: bool = False) -> Decorator:
        def made(measure: Callable[[Data], Result]) -> Benchmark:
            return Benchmark(name_, name, title, source, allowed, measure, slow)

        return made

    return benchmark


def checks(
    names: Sequence[str],
    reached: ArrayLike,
    references: ArrayLike,
    tolerance: float,
    unit: str = "",
    *,
    relative: bool = False,
) -> list[Check]:
    """Checks of several numbers with one tolerance."""
    pairs = zip(names, np.ravel(reached), np.ravel(references), strict=True)
    return [Check(name, float(a), float(b), tolerance, unit, relative) for name, a, b in pairs]


def order_check(steps: ArrayLike, errors: ArrayLike, declared: float, name: str = "order") -> Check:
    """Check of the slope of log error over log step, fitted by least squares, against the declared order."""
    slope = np.polyfit(np.log(np.asarray(steps, float)), np.log(np.asarray(errors, float)), 1)[0]
    return Check(name, float(slope), float(declared), ORDER_TOLERANCE)


def order_figure(steps: ArrayLike, errors: ArrayLike, declared: float, x: str = "step (s)", y: str = "error") -> Figure:
    """Figure of error over step, with a line of the declared order through the finest point."""
    h, e = np.asarray(steps, float), np.asarray(errors, float)
    finest = int(np.argmin(h))
    line = Curve(f"order {declared:g}", h, e[finest] * (h / h[finest]) ** declared, "dashed")
    return Figure(x, y, [Curve("reached", h, e, "points"), line], log_x=True, log_y=True)
