"""A state as Python code, to paste into a script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

FIELDS = ("qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat")


def state_text(title: str, time: float, state: Mapping[str, Any]) -> str:
    """Lines of Python that set the exact state of a `saltus.Simulation` named `sim`; empty fields are left out."""
    lines = [f"# {' '.join(title.split())}", f"sim.time = {float(time)!r}"]
    for name in FIELDS:
        value = np.asarray(state[name], float) if name in state else np.zeros(0)
        if value.size:
            lines.append(f"sim.{name}[:] = {value.tolist()!r}")
    return "\n".join(lines) + "\n"
