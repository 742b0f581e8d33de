"""Instability of a controlled mechanism with its timestep, and remedies."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from saltus.errors import warn
from saltus.model.actuator_enums import PID_KD, PID_KP, PID_PARAMETERS
from saltus.model.compile.drives.bristle_friction import bristle_actuators
from saltus.simulate.diagnosis.closed_loop_stability import GROWS, growth, is_constrained, stable_step
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.snapshot import peeking
from saltus.simulate.laws.control import PID

if TYPE_CHECKING:
    from saltus.model.model import Model

LEAST = 1e-3  # smallest share of a controller's gains that is tried
GAINS = slice(PID_KP, PID_KD + 1)  # kp, ki, kd among a PID's parameters


@dataclass(frozen=True)
class Unstable:
    """Growth of deviations in a step of `timestep` (s), and the largest stable step (s).

    Without a stable step, however short, the motion itself is unstable, and the method follows it. where: the state, in
    words. cause: of what acts on the mechanism.
    """

    integrator: str
    timestep: float
    growth: float
    stable: float | None
    where: str = ""
    cause: str = "this controller"

    def __str__(self) -> str:
        grows = f"deviations grow by {_share(self.growth)} per step"
        if self.stable is None:
            return (
                f"the motion is unstable with these gains{self.where}, not the method {self.integrator}: {grows} of "
                f"{self.timestep:g} s, and no timestep makes it stable; change the gains"
            )
        return (
            f"{self.integrator} is unstable with {self.cause} and timestep {self.timestep:g} s{self.where}: "
            f"{grows}; stable up to {self.stable:.2g} s"
        )


def _share(growth: float) -> str:
    """Growth as a factor, or in per cent where the factor would be shown as 1."""
    return f"a factor of {growth:.3g}" if growth >= 1.005 else f"{100.0 * (growth - 1.0):.2g} %"


def judged(engine: Engine) -> Unstable | None:
    """Instability of the method with the simulation's step, at the mechanism's rest state; None if it is stable.

    A motion that is unstable itself, at steps however short, is no fault of the method, and is reported for the gains
    of a PID alone.

    The rest state is at the targets of a PID, otherwise at the present positions. Integrators that choose their steps,
    and states in which constraints act (contacts, limits, equalities, dry friction), are not judged, because small
    deviations do not tell what happens there. The state is kept.
    """
    with _settled(engine) as where:
        if where is None:
            return None
        grown = growth(engine, engine.timestep)
        if grown <= 1.0 + GROWS:
            return None
        stable = stable_step(engine, engine.timestep)
        if stable is None and not isinstance(engine.control, PID):
            return None
        cause = "this controller" if engine.control is not None else "friction by bristles"
        return Unstable(engine.integrator.name, engine.timestep, grown, stable, where, cause)


def stable_gains(engine: Engine) -> float | None:
    """Largest factor, at most 1, for all gains of a PID such that no deviation grows; to two digits.

    None if there is no PID, or no such factor. The state and the gains are kept.
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
    """Put the engine at its rest state within the block; yields a description of it, or None if it cannot be judged."""
    with peeking(engine):
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
    """Warn if a controlled mechanism, or one with friction by bristles, is unstable with its step; see `judged`."""
    if engine.control is None and not bristle_actuators(engine.model.mj_model).size:
        return
    found = judged(engine)
    if found is not None:
        warn(str(found))


def feeds_back(model: "Model") -> bool:
    """Whether an actuator of the model feeds back position or velocity."""
    struct = model.struct()
    return bool(model.nactuator and (struct.actuator_biasprm[:, 1:] * struct.actuator_enabled[:, None]).any())
