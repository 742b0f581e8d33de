"""Saltus: multibody dynamics with any integrator, thousands of runs at once, and a measure of how far to trust them."""

from importlib import import_module
from typing import TYPE_CHECKING

from saltus import composition as _composition
from saltus import moved
from saltus.version import __version__ as __version__

moved.install()

# name -> module that holds it; loaded on first use, so that `import saltus` is instant
_HOME = {
    "load": "saltus.model.load",
    "models": "saltus.model.load",
    "n_link": "saltus.model.load",
    "Model": "saltus.model.model",
    "HillMuscle": "saltus.model.compile.hill",
    "Simulation": "saltus.simulate.simulation",
    "Batch": "saltus.simulate.batch",
    "PID": "saltus.simulate.laws.control",
    "Controller": "saltus.simulate.laws.control",
    "Dynamics": "saltus.simulate.laws.dynamics",
    "controller": "saltus.simulate.laws.control",
    "Event": "saltus.simulate.laws.events",
    "Actuation": "saltus.simulate.laws.events",
    "resume": "saltus.simulate.resume",
    "compare": "saltus.study.compare",
    "Comparison": "saltus.record.comparison",
    "refine": "saltus.study.refine",
    "sweep": "saltus.study.sweep",
    "Sweep": "saltus.record.sweep",
    "contact_law": "saltus.simulate.soft_contact.analysis",
    "contact_parameters": "saltus.simulate.soft_contact.analysis",
    "ContactLaw": "saltus.simulate.soft_contact.analysis",
    "Soft": "saltus.simulate.laws.contact",
    "Compliant": "saltus.simulate.laws.contact",
    "Hard": "saltus.simulate.laws.contact",
    "run_gradient": "saltus.simulate.gradients.run_gradient",
    "friction_contact": "saltus.simulate.analysis.friction_contact",
    "FrictionContact": "saltus.simulate.analysis.friction_contact",
    "Trajectory": "saltus.record.trajectory",
    "Certificate": "saltus.record.table.certificate",
    "ButcherTableau": "saltus.integrate.tableau",
    "Integrator": "saltus.integrate.integrator",
    "integrators": "saltus.integrate.registry",
    "integrate_ode": "saltus.simulate.ode",
    "OdeSolution": "saltus.simulate.ode_steps",
    "derive": "saltus.symbolic.equations",
    "page": "saltus.lab.standalone.page",
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

# written out, as type checkers need it
__all__ = [
    "PID",
    "Actuation",
    "Batch",
    "ButcherTableau",
    "Certificate",
    "Comparison",
    "Compliant",
    "ConcurrencyError",
    "ContactLaw",
    "Controller",
    "DivergenceError",
    "Dynamics",
    "Equations",
    "Event",
    "EventError",
    "FrictionContact",
    "Hard",
    "HillMuscle",
    "Integrator",
    "Model",
    "ModelError",
    "OdeSolution",
    "OptionError",
    "RecordError",
    "SaltusError",
    "SaltusWarning",
    "Simulation",
    "Soft",
    "Sweep",
    "Trajectory",
    "__version__",
    "compare",
    "contact_law",
    "contact_parameters",
    "controller",
    "derive",
    "friction_contact",
    "integrate_ode",
    "integrators",
    "load",
    "models",
    "n_link",
    "page",
    "refine",
    "resume",
    "run_gradient",
    "simulate",
    "sweep",
]

if TYPE_CHECKING:
    from saltus import algorithms as algorithms
    from saltus import env as env
    from saltus import lab as lab
    from saltus import symbolic as symbolic
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
    from saltus.lab.standalone.page import page
    from saltus.model.compile.hill import HillMuscle
    from saltus.model.load import load, models, n_link
    from saltus.model.model import Model
    from saltus.record.comparison import Comparison
    from saltus.record.sweep import Sweep
    from saltus.record.table.certificate import Certificate
    from saltus.record.trajectory import Trajectory
    from saltus.simulate.analysis.friction_contact import FrictionContact, friction_contact
    from saltus.simulate.batch import Batch
    from saltus.simulate.function import simulate
    from saltus.simulate.gradients.run_gradient import run_gradient
    from saltus.simulate.laws.contact import Compliant, Hard, Soft
    from saltus.simulate.laws.control import PID, Controller, controller
    from saltus.simulate.laws.dynamics import Dynamics
    from saltus.simulate.laws.events import Actuation, Event
    from saltus.simulate.ode import OdeSolution, integrate_ode
    from saltus.simulate.resume import resume
    from saltus.simulate.simulation import Simulation
    from saltus.simulate.soft_contact.analysis import ContactLaw, contact_law, contact_parameters
    from saltus.study.compare import compare
    from saltus.study.refine import refine
    from saltus.study.sweep import sweep
    from saltus.symbolic.equations import Equations, derive

if not TYPE_CHECKING:  # type checkers see the imports above, and nothing else

    def __getattr__(name):
        if name in ("algorithms", "env", "lab", "simulate", "symbolic"):  # modules, loaded on first use too
            return import_module(f"saltus.{name}")
        if name not in _HOME:
            raise AttributeError(f"module 'saltus' has no attribute {name!r}")
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
