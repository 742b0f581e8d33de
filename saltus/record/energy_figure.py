"""A recording's energy in one line: the integrator's error, where it can be determined.

If no force adds or removes energy, its change is the integrator's error. Otherwise a ledger separates that error from
the work of motors, contact and the like; without a ledger the line names the causes of the change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from saltus.model.enums import BALL, HINGE, SLIDE
from saltus.record.table.energy_balance import EnergyBalance
from saltus.record.table.trajectory_table import readable_model

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.record.table.trajectory_table import TrajectoryTable


@dataclass(frozen=True)
class EnergyFigure:
    """A name, a number as text, and a remark on its meaning."""

    name: str
    value: str
    remark: str

    def __str__(self) -> str:
        return f"{self.name} {self.value} {self.remark}"


def energy_figure(t: TrajectoryTable) -> EnergyFigure | None:
    """Energy line of a recording; None where its energy is not known."""
    if t.ledger.shape[1] and len(t):
        return EnergyFigure("energy error", f"{energy_error(t):.2g}", "of the energy in play")
    if math.isnan(t.energy_drift):
        return None
    if by := exchanges(t):
        change = t.total_energy[-1] - t.total_energy[0]
        return EnergyFigure("energy change", f"{change:+.3g} J", f"by {', '.join(by)}")
    return EnergyFigure("energy drift", f"{t.energy_drift:.2g}", "of the energy in play")


def energy_error(t: TrajectoryTable) -> float:
    """The largest residual of a ledger, or without one the drift, relative to the energy in play."""
    if not t.ledger.shape[1] or not len(t):
        return t.energy_drift
    balance = EnergyBalance(t)
    worst = float(np.max(np.abs(balance.residual)))
    return worst / balance.scale if balance.scale > 0.0 else 0.0


def exchanges(t: TrajectoryTable) -> list[str]:
    """Causes that changed the energy of a run on purpose, by the names of a ledger's accounts.

    From the columns, and from the model where the recording holds one.
    """
    m, _ = readable_model(t)
    found = {
        "actuators": bool(np.any(t.ctrl) or np.any(t.act) or t.attrs.get("control")),
        "applied": bool(t.attrs.get("applied")),
        "contact": bool(np.any(t.contact_state)),
        "impacts": _impacts(t),
        "equations": bool(t.attrs.get("dynamics")),
        "motions": bool(t.attrs.get("motions")),
    }
    if m is not None:
        found["actuators"] |= bool(np.any(m.actuator_biastype))
        found |= {
            "dampers": any(np.any(values) for values in (m.dof_damping, m.tendon_damping)),
            "elastic damping": any(np.any(values) for values in (m.flex_damping, m.flex_edgedamping)),
            "medium": m.opt.density > 0 or m.opt.viscosity > 0,
            "gravity compensation": bool(np.any(m.body_gravcomp)),
            "limits": _limits(t, m),
            "dry friction": any(np.any(values) for values in (m.dof_frictionloss, m.tendon_frictionloss)),
            "equalities": bool(np.any(m.eq_active0)),
        }
    return [name for name, there in found.items() if there]


def _impacts(t: TrajectoryTable) -> bool:
    """Whether an impact changed the energy by more than rounding."""
    before, after = t.events["energy_before"], t.events["energy_after"]
    with np.errstate(invalid="ignore"):
        return bool(np.any(np.abs(after - before) > 1e-9 * np.maximum(np.abs(before), np.abs(after))))


def _limits(t: TrajectoryTable, m: Model) -> bool:
    """Whether a joint was beyond its range at a sample, or a tendon has a range: tendon lengths are not recorded."""
    limited = m.jnt_limited.astype(bool)
    scalar = np.flatnonzero(limited & np.isin(m.jnt_type, (HINGE, SLIDE)))
    angles = t.qpos[:, m.jnt_qposadr[scalar]]
    low, high = m.jnt_range[scalar].T
    balls = np.flatnonzero(limited & (m.jnt_type == BALL))
    cosines = np.abs(t.qpos[:, m.jnt_qposadr[balls]])  # cosine of half the angle turned
    return bool(
        np.any(m.tendon_limited)
        or np.any((angles < low) | (angles > high))
        or np.any(cosines < np.cos(m.jnt_range[balls, 1] / 2))
    )
