"""What a recording says about the run that made it."""

import functools
import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

import saltus

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.simulate.simulation import Simulation


def names_and_units(model: "Model") -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Labels and SI units of qpos, qvel and ctrl."""
    qpos, qvel = model.coordinate_units()
    names = {"qpos": model.qpos_names(), "qvel": model.dof_names(), "ctrl": model.names("actuator")}
    if len(names["ctrl"]) != model.nu:
        names["ctrl"] = [f"ctrl {k}" for k in range(model.nu)]
    return names, {"qpos": qpos, "qvel": qvel, "ctrl": [""] * model.nu}


def attributes(sim: "Simulation", duration: float, sample: float) -> dict[str, Any]:
    """Model text, options, method and versions."""
    model = sim.model
    return {
        "model_name": model.name,
        "model_xml": model.xml or "",
        "options": json.dumps({k: _plain(v) for k, v in vars(model.opt).items()}),
        "semantics": model.semantics,
        "ignored": list(model.ignored),
        "integrator": sim.integrator.name,
        "integrator_reference": sim.integrator.reference,
        "contact": sim.contact,
        "timestep": sim.timestep,
        "duration": duration,
        "sample": sample,
        "saltus_version": saltus.__version__,
        **_versions(),
        "python_version": platform.python_version(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


@functools.cache
def _versions() -> dict[str, str]:
    return {f"{p}_version": version(p) for p in ("numba", "numpy", "mujoco")}


def _plain(value):
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
