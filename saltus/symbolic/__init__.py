"""The symbolic twin: equations of motion by Lagrange's method, shown, exported, and checked against the engine."""

from importlib import import_module
from typing import TYPE_CHECKING

_HOME = {
    "derive": "saltus.symbolic.equations",
    "Equations": "saltus.symbolic.equations",
    "Force": "saltus.symbolic.derivation.forces",
    "Torque": "saltus.symbolic.derivation.forces",
}

__all__ = ["Equations", "Force", "Torque", "derive"]

if TYPE_CHECKING:
    from saltus.symbolic.derivation.forces import Force, Torque
    from saltus.symbolic.equations import Equations, derive


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'saltus.symbolic' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
