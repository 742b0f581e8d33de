"""Stability of a simulation with its timestep and gains, and remedies, as text for the lab.

Springs and dampers of the model are judged by linear analysis, deformable bodies and feedback by the growth of small
deviations (see `saltus.simulate.diagnosis.linear_stability`, `.closed_loop_stability`, `.instability`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from saltus.errors import DivergenceError
from saltus.lab.messages.protocol import BOUNDS
from saltus.simulate.diagnosis.closed_loop_stability import growth, stable_step_at_start
from saltus.simulate.diagnosis.divergence import stability_limit
from saltus.simulate.diagnosis.instability import feeds_back, judged, stable_gains
from saltus.simulate.simulation import Simulation

MOST = 300  # degrees of freedom; eigenvalues and growth of deviations of more take too long
MOST_FLEX = 1500  # degrees of freedom of models with deformable bodies, whose steps take long
TERMS = {
    "qfrc_spring": "the springs",
    "qfrc_damper": "the dampers",
    "qfrc_gravcomp": "gravity compensation",
    "qfrc_fluid": "the fluid",
    "qfrc_adhesion": "contacts that stick",
    "qfrc_actuator": "the actuators",
    "qfrc_applied": "applied forces",
    "qfrc_bias": "inertia and gravity",
    "qfrc_constraint": "contacts and constraints",
}


@dataclass(frozen=True)
class Verdict:
    """An instability in words, and a stable timestep (s), or None if there is none."""

    text: str
    timestep: float | None

    def message(self) -> dict[str, Any]:
        """The `stability` entry of the `status` message."""
        return {"text": self.text, "timestep": self.timestep}


def verdict_on(sim: Simulation, feedback: bool) -> Verdict | None:
    """Judge the stability of a simulation at its start; None if it is stable or cannot be judged.

    feedback: whether its controller is active.
    """
    return _of_springs(sim) or _of_flexes(sim) or _of_feedback(sim, feedback)


def limit_found(error: DivergenceError) -> Verdict | None:
    """Propose a stable timestep after a divergence; None unless the timestep exceeded the stability limit."""
    step, limit = error.timestep, error.stable_timestep
    if step is None or limit is None or limit >= step:
        return None
    return Verdict(f"The motion diverged with a timestep of {step:g} s. {_up_to(limit)}.", _proposed(limit))


def compile_judge(sim: Simulation) -> None:
    """Compile what `verdict_on` needs for such a simulation; overwrites its state."""
    if sim.model.nv <= MOST:
        stability_limit(sim.engine)
    _of_flexes(sim)
    feedback = sim.control is not None or feeds_back(sim.model)
    if feedback and sim.model.nv <= MOST and not sim.integrator.adaptive:
        growth(sim.engine, sim.timestep)


def explained(error: DivergenceError) -> str:
    """The text of a divergence, with its largest force term in words."""
    words = TERMS.get(error.term or "")
    return f"{error}. The largest force there is that of {words}." if words else str(error)


def _of_springs(sim: Simulation) -> Verdict | None:
    if sim.model.nv > MOST:
        return None
    limit, mode = stability_limit(sim.engine)
    if sim.timestep <= limit:
        return None
    name = sim.integrator.name
    if limit == 0.0:
        text = f"{name} is unstable with any timestep: oscillations of the springs grow. Choose another integrator."
        return Verdict(text, None)
    fastest = f"{abs(mode) / (2 * math.pi):.3g} Hz" if mode.imag else f"a time constant of {1 / abs(mode):.2g} s"
    what = f"{name} is unstable with a timestep of {sim.timestep:g} s: the springs and dampers have {fastest}"
    return Verdict(f"{what}. {_up_to(limit)}.", _proposed(limit))


def _of_flexes(sim: Simulation) -> Verdict | None:
    if sim.model.nv > MOST_FLEX:
        return None
    limit = stable_step_at_start(sim.engine)
    if limit >= sim.timestep:
        return None
    what = f"{sim.integrator.name} is unstable with a timestep of {sim.timestep:g} s for the deformable bodies"
    return Verdict(f"{what}. {_up_to(limit)}.", _proposed(limit))


def _of_feedback(sim: Simulation, feedback: bool) -> Verdict | None:
    controlled = sim.control is not None and feedback
    if sim.model.nv > MOST or not (controlled or feeds_back(sim.model)):
        return None
    found = judged(sim.engine)
    if found is None:
        return None
    what = "this controller" if controlled else "the model's servos"
    text = (
        f"{found.integrator} is unstable with {what} and a timestep of {found.timestep:g} s{found.where}: "
        f"deviations grow by {_percent(found.growth - 1.0)} per step."
    )
    share = stable_gains(sim.engine) if controlled else None
    gains = "" if share is None else f"with all gains {_floored(share):g} times as large"
    if found.stable is None:
        remedy = f"stable only {gains}" if gains else "no timestep makes it stable"
        text = (
            f"The motion with {what} is unstable{found.where}, whatever the method and timestep: deviations grow by "
            f"{_percent(found.growth - 1.0)} per step of {found.timestep:g} s."
        )
        return Verdict(f"{text} The gains are the cause: {remedy}.", None)
    return Verdict(f"{text} {_up_to(found.stable)}{f', or {gains}' if gains else ''}.", _proposed(found.stable))


def _percent(share: float) -> str:
    return f"{100.0 * share:.2g} %" if share < 1.0 else f"a factor {1.0 + share:.3g}"


def _up_to(limit: float) -> str:
    return f"It is stable up to {_floored(limit):g} s"


def _proposed(limit: float) -> float | None:
    """A stable timestep (s); None if it is below the lab's smallest."""
    step = _floored(limit)
    return step if step >= BOUNDS["timestep"][0] else None


def _floored(value: float) -> float:
    """Round a positive number down to two digits; 0 otherwise."""
    if value <= 0.0:
        return 0.0
    power = math.floor(math.log10(value)) - 1
    return float(f"{math.floor(value / 10.0**power * (1 + 1e-12))}e{power}")
