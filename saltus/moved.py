"""Modules that have moved: their old names can be imported for a release, with a DeprecationWarning.

Recordings, models and simulations that were pickled earlier contain the old names, and programs may use them.
"""

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MOVED = {
    "saltus.control.stage": "saltus.control.trajectory.stage",
    "saltus.draw.view": "saltus.draw.scene.view",
    "saltus.dynamics.hill_start": "saltus.dynamics.fibre_equilibrium",
    "saltus.lab.data.player": "saltus.lab.player",
    "saltus.lab.sit_to_stand": "saltus.lab.scene.sit_to_stand",
    "saltus.model.edited": "saltus.model.xml_overrides",
    "saltus.model.hill": "saltus.model.compile.hill",
    "saltus.model.mjcf": "saltus.model.source.mjcf",
    "saltus.record.certificate": "saltus.record.table.certificate",
    "saltus.record.ledger": "saltus.record.table.ledger",
    "saltus.simulate.analysis.linearize": "saltus.simulate.derivatives.linearize",
    "saltus.simulate.compare": "saltus.study.compare",
    "saltus.simulate.contact": "saltus.simulate.laws.contact",
    "saltus.simulate.contact_law": "saltus.simulate.soft_contact.analysis",
    "saltus.simulate.control": "saltus.simulate.laws.control",
    "saltus.simulate.dynamics": "saltus.simulate.laws.dynamics",
    "saltus.simulate.events": "saltus.simulate.laws.events",
    "saltus.simulate.friction_contact": "saltus.simulate.analysis.friction_contact",
    "saltus.simulate.humans": "saltus.simulate.function",
    "saltus.simulate.sweep": "saltus.study.sweep",
    "saltus.symbolic.show.page_html": "saltus.symbolic.show.math_html",
}


class _Same:
    """Loader that gives the module under its new name."""

    def __init__(self, name: str):
        self._name = name
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        warnings.warn(f"{spec.name} is now {self._name}", DeprecationWarning, stacklevel=2)
        module = importlib.import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restore the module's own spec: the module has run already, and its old name must leave no trace in it."""
        module.__spec__ = self._spec


class _Finder:
    """Finder of moved modules; asked last, for names that no other finder knows."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, _Same(MOVED[name])) if name in MOVED else None


def install() -> None:
    """Install the finder of the old names."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
