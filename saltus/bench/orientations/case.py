"""One case of the benchmark of orientations: what a process of its own is asked to do, and what it answers.

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

#: What measures a method: module of `saltus.bench` with a function measure(case, tell) -> Answer.
METHODS = {"naive": "naive", "equations": "equations_run", "engine": "engine_run"}
ORIENTATIONS = {
    "naive": ("relative", "absolute"),
    "equations": ("relative", "absolute", "maximal"),
    "engine": ("relative",),
}
TIMESTEP = 0.01  # s


@dataclass(frozen=True)
class Case:
    """What is measured: `steps` of semi-implicit Euler of the pendulum of n links, from hanging at rest.

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
    """One way to take the steps, once there is a model.

    `name`: "SymPy", or the language of the code. `modelling`: seconds of each thing that this way needs besides.
    `simulation`: seconds for all steps, the median of `repeats`. `angles`, `rates`: afterwards, of each link in the
    world (rad, rad/s). `stabilised`: of maximal coordinates, what that does, see
    `saltus.bench.orientations.equations_run`; `angles` and `rates` are those without it.
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
    """What a case took. `modelling`: seconds of each thing done for all `ways`. `operations`: of M and bias."""

    modelling: dict[str, float]
    ways: list[Way]
    operations: dict[str, int] | None = None

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Answer:
        """What `asdict` made of one."""
        return cls(**{**found, "ways": [Way(**way) for way in found["ways"]]})


def inputs(steps: int) -> list[float]:
    """The force (N) or torque (N m) at the start of each step: 5 sin(8 pi t)."""
    return [5.0 * math.sin(8.0 * math.pi * (k * TIMESTEP)) for k in range(steps)]


def tell(**facts: Any) -> None:
    """A line to whoever waits."""
    print(json.dumps(facts), flush=True)


def main() -> None:
    """Measure the case that the command line describes."""
    case = Case(**json.loads(sys.argv[1]))
    measure = import_module(f"saltus.bench.orientations.{METHODS[case.method]}").measure
    tell(answer=asdict(measure(case, tell)))


if __name__ == "__main__":
    main()
