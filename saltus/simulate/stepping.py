"""Steps and evaluations of the present state that raise errors with an explanation."""

import numpy as np

from saltus.errors import OptionError
from saltus.simulate.diagnosis import divergence
from saltus.simulate.engine import loops
from saltus.simulate.engine.engine import Engine
from saltus.solve.status import ENDED


def refuse_in_control(engine: Engine, what: str) -> None:
    """Raise OptionError if a run is calling its control function, in which the simulation must not move by `what`."""
    if engine.in_control:
        raise OptionError(
            f"{what}: not in the control function of a run of this simulation, which steps it; return the controls, or "
            "assign to ctrl, qfrc_applied or xfrc_applied. To look ahead, step a copy: copy.deepcopy(sim)"
        )


def take_steps(engine: Engine, n: int, h: float) -> bool:
    """Take n steps of h seconds, or fewer if an event ends the run; returns whether one did.

    DivergenceError, with the state left at the last good one, if a velocity is not a number or beyond 1e10.
    """
    refuse_in_control(engine, "step")
    engine.prepare(n * h)
    before = engine.state.copy()
    taken, status = engine.advance(n, h)
    if status and status != ENDED:
        divergence.handle(engine, before, taken, status)
    if engine.dynamics is not None:
        divergence.check_inertia(engine, before)
    engine.keep_left()
    return status == ENDED


def begin(engine: Engine) -> None:
    """Find the modes of the present state, where events are located in time; impacts there are in the log."""
    refuse_in_control(engine, "begin")
    engine.prepare()
    if not engine.locates_events or engine.modes_are_known():
        return
    before = engine.state.copy()
    status = loops.settle(engine.step_m, engine.d)
    engine.read_events()
    engine.computed = None
    if status:
        divergence.handle(engine, before, 0, status)
    engine.left = engine.state.copy()


def forward(engine: Engine) -> None:
    """Compute everything from the present state and inputs."""
    status = engine.forward()
    if status:
        divergence.handle(engine, engine.state.copy(), 0, status)


def refresh(engine: Engine, name: str) -> np.ndarray | None:
    """Bring a computed field up to the present state if needed; returns the state that it belongs to."""
    if not engine.is_computed():
        forward(engine)
    engine.compute_more(name)
    return engine.computed


def energy(engine: Engine) -> np.ndarray:
    """(potential, kinetic) energy (J) of the present state; DivergenceError if the state is not finite."""
    divergence.check_given(engine)
    return engine.energy()
