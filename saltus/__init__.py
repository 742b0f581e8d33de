"""Saltus: multibody dynamics with any integrator, thousands of runs at once, and a measure of how far to trust them."""

from importlib import import_module
from typing import TYPE_CHECKING

from saltus.version import __version__ as __version__

# name -> module that holds it; loaded on first use, so that `import saltus` is instant
_HOME = {
    "load": "saltus.model.load",
    "models": "saltus.model.load",
    "n_link": "saltus.model.load",
    "Model": "saltus.model.model",
    "HillMuscle": "saltus.model.compile.hill",
    "Simulation": "saltus.simulate.simulation",
    "Batch": "saltus.simulate.batch",
    "PID": "saltus.simulate.control",
    "Controller": "saltus.simulate.control",
    "Dynamics": "saltus.simulate.dynamics",
    "controller": "saltus.simulate.control",
    "Event": "saltus.simulate.events",
    "Actuation": "saltus.simulate.events",
    "resume": "saltus.simulate.resume",
    "compare": "saltus.simulate.compare",
    "Comparison": "saltus.record.comparison",
    "sweep": "saltus.simulate.sweep",
    "Sweep": "saltus.record.sweep",
    "contact_law": "saltus.simulate.contact_law",
    "contact_parameters": "saltus.simulate.contact_law",
    "ContactLaw": "saltus.simulate.contact_law",
    "Soft": "saltus.simulate.contact",
    "Compliant": "saltus.simulate.contact",
    "Hard": "saltus.simulate.contact",
    "friction_contact": "saltus.simulate.friction_contact",
    "FrictionContact": "saltus.simulate.friction_contact",
    "Trajectory": "saltus.record.trajectory",
    "Certificate": "saltus.record.table.certificate",
    "ButcherTableau": "saltus.integrate.tableau",
    "Integrator": "saltus.integrate.integrator",
    "integrators": "saltus.integrate.registry",
    "integrate_ode": "saltus.simulate.ode",
    "OdeSolution": "saltus.simulate.ode",
    "derive": "saltus.symbolic.equations",
    "Equations": "saltus.symbolic.equations",
    "SaltusError": "saltus.errors",
    "SaltusWarning": "saltus.errors",
    "ModelError": "saltus.errors",
    "OptionError": "saltus.errors",
    "DivergenceError": "saltus.errors",
    "EventError": "saltus.errors",
    "RecordError": "saltus.errors",
    "ConcurrencyError": "saltus.errors",
}

__all__ = [*_HOME, "simulate", "__version__"]

if TYPE_CHECKING:
    from saltus.errors import (
        ConcurrencyError,
        DivergenceError,
        EventError,
        ModelError,
        OptionError,
        RecordError,
        SaltusError,
        SaltusWarning,
    )
    from saltus.integrate.integrator import Integrator
    from saltus.integrate.registry import integrators
    from saltus.integrate.tableau import ButcherTableau
    from saltus.model.compile.hill import HillMuscle
    from saltus.model.load import load, models, n_link
    from saltus.model.model import Model
    from saltus.record.comparison import Comparison
    from saltus.record.sweep import Sweep
    from saltus.record.table.certificate import Certificate
    from saltus.record.trajectory import Trajectory
    from saltus.simulate.batch import Batch
    from saltus.simulate.compare import compare
    from saltus.simulate.contact import Compliant, Hard, Soft
    from saltus.simulate.contact_law import ContactLaw, contact_law, contact_parameters
    from saltus.simulate.control import PID, Controller, controller
    from saltus.simulate.dynamics import Dynamics
    from saltus.simulate.events import Actuation, Event
    from saltus.simulate.friction_contact import FrictionContact, friction_contact
    from saltus.simulate.humans import simulate
    from saltus.simulate.ode import OdeSolution, integrate_ode
    from saltus.simulate.resume import resume
    from saltus.simulate.simulation import Simulation
    from saltus.simulate.sweep import sweep
    from saltus.symbolic.equations import Equations, derive


def __getattr__(name: str):
    if name in ("lab", "simulate", "symbolic"):  # not one thing but a module, loaded on first use too
        return import_module(f"saltus.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'saltus' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)
