"""One case of the benchmark of orientations, measured in a process of its own.

    python -m saltus.bench.orientations.case '{"method": "naive", "orientation": "relative", "links": 2, ...}'

writes lines of JSON: `{"modelling": s}` and `{"steps": k}` while it goes on, `{"answer": {...}}` at the end.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

#: Module of `saltus.bench` that measures a method, with a function measure(case, tell) -> Answer.
METHODS = {"naive": "naive", "equations": "equations_run", "engine": "engine_run"}
ORIENTATIONS = {
    "naive": ("relative", "absolute"),
    "equations": ("relative", "absolute", "maximal"),
    "engine": ("relative",),
}
TIMESTEP = 0.01  # s


@dataclass(frozen=True)
class Case:
    """Task of one process: `steps` of semi-implicit Euler of the pendulum of n links, from hanging at rest.

    `method`, `orientation`: see `METHODS` and `ORIENTATIONS`. `option`: "A", a horizontal force on the end of the last
    link, or "B", a torque between the last two links (of a single link: against the world), see `inputs`.
    """

    method: str
    orientation: str
    links: int
    option: str
    steps: int

    def __str__(self) -> str:
        name = "the numeric engine" if self.method == "engine" else f"{self.method}, {self.orientation}"
        return f"{name}, {self.links} link{'s' * (self.links > 1)}"


@dataclass(frozen=True)
class Way:
    """One way to take the steps of a model.

    `name`: "SymPy", or the language of the code. `modelling`: seconds of each further preparation that this way needs.
    `simulation`: seconds for all steps, the median of `repeats`. `angles`, `rates`: at the end, of each link in the
    world (rad, rad/s). `stabilised`: effect of stabilisation on maximal coordinates, see
    `saltus.bench.orientations.equations_run`; `angles` and `rates` are without it.
    """

    name: str
    modelling: dict[str, float]
    simulation: float
    repeats: int
    angles: list[float]
    rates: list[float]
    stabilised: dict[str, Any] | None = None


@dataclass(frozen=True)
class Answer:
    """Times of a case. `modelling`: seconds of each preparation shared by all `ways`. `operations`: of M and bias."""

    modelling: dict[str, float]
    ways: list[Way]
    operations: dict[str, int] | None = None

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Answer:
        """The inverse of `asdict`."""
        return cls(**{**found, "ways": [Way(**way) for way in found["ways"]]})


def inputs(steps: int) -> list[float]:
    """The force (N) or torque (N m) at the start of each step: 5 sin(8 pi t)."""
    return [5.0 * math.sin(8.0 * math.pi * (k * TIMESTEP)) for k in range(steps)]


def tell(**facts: Any) -> None:
    """Print a line for the waiting process."""
    print(json.dumps(facts), flush=True)


def main() -> None:
    """Measure the case that the command line describes."""
    case = Case(**json.loads(sys.argv[1]))
    measure = import_module(f"saltus.bench.orientations.{METHODS[case.method]}").measure
    tell(answer=asdict(measure(case, tell)))


if __name__ == "__main__":
    main()
