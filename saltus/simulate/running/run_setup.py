"""Setup of a streamed run as plain values, for resuming it: integrator, contact law, controller, schedule."""

from typing import Any

import numpy as np

from saltus.integrate.integrator import Integrator
from saltus.integrate.registry import integrators
from saltus.simulate.engine.engine import Engine
from saltus.simulate.laws.contact import Compliant
from saltus.simulate.laws.control import PID, Controller
from saltus.simulate.laws.events import Actuation, UserEvents
from saltus.simulate.running.run_metadata import law_numbers
from saltus.simulate.running.schedule import Plan

NONE, PID_KIND, CONTROLLER, ARRAY, FUNCTION = "none", "PID", "controller", "array", "function"


def setup_of(engine: Engine, plan: Plan, control: Any) -> dict[str, Any]:
    """Setup from which an engine and its run are made again, as plain values for JSON."""
    return {
        "integrator": engine.integrator.name,
        "tableau": _tableau(engine.integrator),
        "tolerance": engine.integrator.parameters[1].tolist() if engine.integrator.adaptive else None,
        "timestep": engine.timestep,
        "max_step": engine.step_bounds.max_step,
        "breaks": list(engine.step_bounds.breaks),
        "contact": engine.law.name,
        "contact_law": law_numbers(engine.law),
        "contact_word": engine.law.feature_key if isinstance(engine.law, Compliant) else "",
        "plan": {"start": plan.start, "duration": plan.duration, "sample": plan.sample, "h": plan.h},
        "dynamics": engine.dynamics.feature_key if engine.dynamics else "",
        "events": UserEvents(engine.user_events.own, None).feature_key,
        "motions": engine.motions.key,
        "motion_names": list(engine.motions.given),
        "event_names": [event.name for event in engine.user_events.own],
        "actuation_states": None if isinstance(engine.control, Actuation) else len(engine.actuation_state),
        "control": described(engine.control),
        "run_control": described(None if isinstance(control, Controller) and control is engine.control else control),
    }


def described(control: Any) -> dict[str, Any]:
    """A control as plain values, or its name if it is a function."""
    if control is None:
        return {"kind": NONE}
    if isinstance(control, PID):
        gains = {name: np.asarray(value, float).tolist() for name, value in control.gains.items()}
        actuators = None if control.actuators is None else list(control.actuators)
        return {"kind": PID_KIND, "gains": gains, "wrap": control.wrap, "actuators": actuators, "hold": control.hold}
    if isinstance(control, Controller):
        about = {"states": control.states, "parameters": control.given.tolist()}
        return {"kind": CONTROLLER, "name": control.feature_key, **about}
    if callable(control):
        return {"kind": FUNCTION, "name": getattr(control, "__qualname__", type(control).__name__)}
    return {"kind": ARRAY, "values": np.asarray(control, float).tolist()}


def _tableau(integrator: Integrator) -> dict[str, Any] | None:
    """Coefficients of a user-defined Runge-Kutta method; None for named integrators."""
    known = integrators().get(integrator.name)
    if integrator == known or (known is not None and integrator.adaptive):
        return None
    table = integrator.parameters[0] if integrator.parameters else None
    if not isinstance(table, np.ndarray) or table.ndim != 2:
        return {}  # a user-defined step
    rows = {"a": table[:-1, 1:], "b": table[-1, 1:], "c": table[:-1, 0]}
    about = {"name": integrator.name, "order": integrator.order, "reference": integrator.reference}
    return {name: row.tolist() for name, row in rows.items()} | about
