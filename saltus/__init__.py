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
    "cam": "saltus.model.drives.cam",
    "CamCurve": "saltus.model.drives.cam",
    "capstan": "saltus.model.drives.capstan",
    "static_friction": "saltus.model.drives.static_friction",
    "drive": "saltus.model.drives.drive",
    "Dahl": "saltus.model.drives.parts",
    "Gear": "saltus.model.drives.parts",
    "LuGre": "saltus.model.drives.parts",
    "Stribeck": "saltus.model.drives.parts",
    "Motor": "saltus.model.drives.motor",
    "TorqueCurve": "saltus.model.drives.parts",
    "Simulation": "saltus.simulate.simulation",
    "Batch": "saltus.simulate.batch",
    "PID": "saltus.simulate.laws.control",
    "Controller": "saltus.simulate.laws.control",
    "Dynamics": "saltus.simulate.laws.dynamics",
    "computed_torque": "saltus.simulate.laws.model_based_control",
    "gravity_compensation": "saltus.simulate.laws.model_based_control",
    "operational_space": "saltus.simulate.laws.operational_space",
    "follow": "saltus.simulate.laws.following",
    "ReferenceMotion": "saltus.trajectories.reference_motion",
    "minimum_jerk": "saltus.trajectories.way_points",
    "spline": "saltus.trajectories.way_points",
    "gait": "saltus.trajectories.way_points",
    "read_motion": "saltus.trajectories.tables",
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
    "HuntCrossley": "saltus.simulate.laws.compliant_laws",
    "KelvinVoigt": "saltus.simulate.laws.compliant_laws",
    "run_gradient": "saltus.simulate.gradients.run_gradient",
    "ik": "saltus.inverse.kinematics.ik",
    "Pose": "saltus.inverse.kinematics.targets",
    "base_parameters": "saltus.inverse.dynamics.base_parameters",
    "inertial_parameters": "saltus.algorithms",
    "inverse_dynamics": "saltus.inverse.dynamics.inverse_dynamics",
    "regressor": "saltus.algorithms",
    "static_optimization": "saltus.inverse.dynamics.static_optimization",
    "friction_contact": "saltus.simulate.analysis.friction_contact",
    "FrictionContact": "saltus.simulate.analysis.friction_contact",
    "casadi": "saltus.algorithms.casadi_functions",
    "bode": "saltus.control.frequency_response",
    "controllability": "saltus.control.reachability",
    "observability": "saltus.control.reachability",
    "modes": "saltus.control.modes",
    "excite": "saltus.inverse.identification.excitation",
    "identify": "saltus.inverse.identification.identify",
    "kalman": "saltus.inverse.estimation.kalman",
    "moving_horizon": "saltus.inverse.estimation.moving_horizon",
    "smooth": "saltus.inverse.estimation.smooth",
    "ilqr": "saltus.control.ilqr",
    "mppi": "saltus.control.mppi",
    "lqr": "saltus.control.linear_regulator",
    "equilibrium": "saltus.control.equilibrium",
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
    "CamCurve",
    "Certificate",
    "Comparison",
    "Compliant",
    "ConcurrencyError",
    "ContactLaw",
    "Controller",
    "Dahl",
    "DivergenceError",
    "Dynamics",
    "Equations",
    "Event",
    "EventError",
    "FrictionContact",
    "Gear",
    "Hard",
    "HillMuscle",
    "HuntCrossley",
    "Integrator",
    "KelvinVoigt",
    "LuGre",
    "Model",
    "ModelError",
    "Motor",
    "OdeSolution",
    "OptionError",
    "Pose",
    "RecordError",
    "ReferenceMotion",
    "SaltusError",
    "SaltusWarning",
    "Simulation",
    "Soft",
    "Stribeck",
    "Sweep",
    "TorqueCurve",
    "Trajectory",
    "__version__",
    "base_parameters",
    "bode",
    "cam",
    "capstan",
    "casadi",
    "compare",
    "computed_torque",
    "contact_law",
    "contact_parameters",
    "controllability",
    "controller",
    "derive",
    "drive",
    "equilibrium",
    "excite",
    "follow",
    "friction_contact",
    "gait",
    "gravity_compensation",
    "identify",
    "ik",
    "ilqr",
    "inertial_parameters",
    "integrate_ode",
    "integrators",
    "inverse_dynamics",
    "kalman",
    "load",
    "lqr",
    "minimum_jerk",
    "models",
    "modes",
    "moving_horizon",
    "mppi",
    "n_link",
    "observability",
    "operational_space",
    "page",
    "read_motion",
    "refine",
    "regressor",
    "resume",
    "run_gradient",
    "simulate",
    "smooth",
    "spline",
    "static_friction",
    "static_optimization",
    "sweep",
]

if TYPE_CHECKING:
    from saltus import algorithms as algorithms
    from saltus import env as env
    from saltus import jax as jax
    from saltus import lab as lab
    from saltus import symbolic as symbolic
    from saltus import torch as torch
    from saltus.algorithms import inertial_parameters, regressor
    from saltus.algorithms.casadi_functions import casadi
    from saltus.control.equilibrium import equilibrium
    from saltus.control.frequency_response import bode
    from saltus.control.ilqr import ilqr
    from saltus.control.linear_regulator import lqr
    from saltus.control.modes import modes
    from saltus.control.mppi import mppi
    from saltus.control.reachability import controllability, observability
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
    from saltus.inverse.dynamics.base_parameters import base_parameters
    from saltus.inverse.dynamics.inverse_dynamics import inverse_dynamics
    from saltus.inverse.dynamics.static_optimization import static_optimization
    from saltus.inverse.estimation.kalman import kalman
    from saltus.inverse.estimation.moving_horizon import moving_horizon
    from saltus.inverse.estimation.smooth import smooth
    from saltus.inverse.identification.excitation import excite
    from saltus.inverse.identification.identify import identify
    from saltus.inverse.kinematics.ik import ik
    from saltus.inverse.kinematics.targets import Pose
    from saltus.lab.standalone.page import page
    from saltus.model.compile.hill import HillMuscle
    from saltus.model.drives.cam import CamCurve, cam
    from saltus.model.drives.capstan import capstan
    from saltus.model.drives.drive import drive
    from saltus.model.drives.motor import Motor
    from saltus.model.drives.parts import Dahl, Gear, LuGre, Stribeck, TorqueCurve
    from saltus.model.drives.static_friction import static_friction
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
    from saltus.simulate.laws.compliant_laws import HuntCrossley, KelvinVoigt
    from saltus.simulate.laws.contact import Compliant, Hard, Soft
    from saltus.simulate.laws.control import PID, Controller, controller
    from saltus.simulate.laws.dynamics import Dynamics
    from saltus.simulate.laws.events import Actuation, Event
    from saltus.simulate.laws.following import follow
    from saltus.simulate.laws.model_based_control import computed_torque, gravity_compensation
    from saltus.simulate.laws.operational_space import operational_space
    from saltus.simulate.ode import OdeSolution, integrate_ode
    from saltus.simulate.resume import resume
    from saltus.simulate.simulation import Simulation
    from saltus.simulate.soft_contact.analysis import ContactLaw, contact_law, contact_parameters
    from saltus.study.compare import compare
    from saltus.study.refine import refine
    from saltus.study.sweep import sweep
    from saltus.symbolic.equations import Equations, derive
    from saltus.trajectories.reference_motion import ReferenceMotion
    from saltus.trajectories.tables import read_motion
    from saltus.trajectories.way_points import gait, minimum_jerk, spline

if not TYPE_CHECKING:  # type checkers see the imports above, and nothing else

    def __getattr__(name):
        if name in (
            "algorithms",
            "env",
            "jax",
            "lab",
            "simulate",
            "symbolic",
            "torch",
        ):  # modules, loaded on first use too
            return import_module(f"saltus.{name}")
        if name not in _HOME:
            raise AttributeError(f"module 'saltus' has no attribute {name!r}")
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
