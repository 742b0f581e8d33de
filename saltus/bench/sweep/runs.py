"""The runs that are measured: a pendulum whose length, mass, damping and first angle are drawn at random."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

MODEL, STEP, DURATION, SAMPLE = "pendulum", 1e-3, 2.0, 0.01  # s
RANGES = {
    "body_ipos[pendulum][2]": (-3.0, -1.0),  # m, minus the length
    "body_mass[pendulum]": (1.0, 3.0),  # kg
    "dof_damping[theta]": (0.01, 0.5),  # N m s
    "qpos[theta]": (-2.0, 2.0),  # rad
}
MEASURES = ("qpos[theta].max", "energy_drift")


def points(n: int) -> list[dict[str, float]]:
    """Values of n runs, by path."""
    from saltus.study.sampling import sampled

    return sampled(distributions(), n, "random", 0)


def distributions() -> dict[str, Any]:
    """Distributions of the values that are drawn at random, by path."""
    from saltus.study.sampling import Uniform

    return {path: Uniform(*ends) for path, ends in RANGES.items()}


def run_sweep(n: int, path: Path | None, workers: Any, progress: Callable[[float], None] | bool = False) -> Any:
    """Run a sweep of n runs; `path`: of its store, `workers` and `progress` as `saltus.sweep` takes them."""
    from saltus.study.sweep import sweep

    options: dict[str, Any] = {"timestep": STEP, "sample": SAMPLE, "samples": n, "workers": workers, "save": path}
    return sweep(MODEL, distributions(), MEASURES, DURATION, progress=progress, **options)
