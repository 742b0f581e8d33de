"""Instability of a controlled mechanism with its timestep, and remedies."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from saltus.errors import warn
from saltus.model.actuator_enums import PID_KD, PID_KP, PID_PARAMETERS
from saltus.simulate.diagnosis.closed_loop_stability import GROWS, growth, is_constrained, stable_step
from saltus.simulate.engine.engine import Engine
from saltus.simulate.laws.control import PID

if TYPE_CHECKING:
    from saltus.model.model import Model

LEAST = 1e-3  # of its gains, with which a controller is tried
GAINS = slice(PID_KP, PID_KD + 1)  # kp, ki, kd among a PID's parameters


@dataclass(frozen=True)
class Unstable:
    """What grows: by which factor a step of `timestep` (s), and up to which step (s; None: at none) nothing would.

    where: at which state, in words.
    """

    integrator: str
    timestep: float
    growth: float
    stable: float | None
    where: str = ""

    def __str__(self) -> str:
        remedy = "no timestep makes it stable with these gains"
        if self.stable is not None:
            remedy = f"stable up to {self.stable:.2g} s"
        return (
            f"{self.integrator} is unstable with this controller and timestep {self.timestep:g} s{self.where}: "
            f"deviations grow by a factor of {self.growth:.3g} per step; {remedy}"
        )


def judged(engine: Engine) -> Unstable | None:
    """How the mechanism is unstable with the simulation's step, at rest where it is to settle; None if it is not.

    That is at the targets of a PID, and else at the present positions. Not judged, because small deviations do not tell
    what happens there: integrators that choose their steps, and states in which constraints act (contacts, limits,
    equalities, dry friction). The state is kept.
    """
    with _settled(engine) as where:
        if where is None:
            return None
        grown = growth(engine, engine.timestep)
        if grown <= 1.0 + GROWS:
            return None
        return Unstable(engine.integrator.name, engine.timestep, grown, stable_step(engine, engine.timestep), where)


def stable_gains(engine: Engine) -> float | None:
    """By which factor, at most 1, all gains of a PID may be multiplied so that no deviation grows; to two digits.

    None where there is no PID, or no such factor. The state and the gains are kept.
    """
    if not isinstance(engine.control, PID):
        return None
    before = engine.control_prm.copy()
    with _settled(engine) as where:
        if where is None:
            return None
        try:
            return _stable_share(engine)
        finally:
            engine.control_prm[:] = before


def _stable_share(engine) -> float | None:
    gains = engine.control_prm.reshape(-1, PID_PARAMETERS)[:, GAINS]
    full = gains.copy()

    def stable(share: float) -> bool:
        gains[:] = share * full
        return growth(engine, engine.timestep) <= 1.0 + GROWS

    low = 1.0
    while not stable(low):
        low /= 2.0
        if low < LEAST:
            return None
    high = min(2.0 * low, 1.0)
    while high - low > 0.005 * low:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if stable(middle) else (low, middle)
    return low


@contextmanager
def _settled(engine) -> Iterator[str | None]:
    """At rest where a controller is to bring it: where that is, in words; None where that cannot be judged."""
    with engine.peeking():
        yield _put_at_rest(engine)


def _put_at_rest(engine) -> str | None:
    if engine.integrator.adaptive:
        return None
    engine.qvel[:] = 0.0
    if is_constrained(engine):
        return None
    if not isinstance(engine.control, PID):
        return ""
    engine.qpos[:] = engine.control.settled(engine.model, engine.qpos, engine.control_prm)
    return None if is_constrained(engine) else " at its target"


def warn_if_unstable(engine: Engine) -> None:
    """Warn if the mechanism is unstable with the simulation's step; see `judged`."""
    found = judged(engine)
    if found is not None:
        warn(str(found))


def feeds_back(model: "Model") -> bool:
    """Whether an actuator of the model feeds back position or velocity."""
    struct = model.struct()
    return bool(model.nactuator and (struct.actuator_biasprm[:, 1:] * struct.actuator_enabled[:, None]).any())
