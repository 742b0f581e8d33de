"""Steps and evaluations of the present state that raise errors with an explanation."""

import numpy as np

from saltus.errors import OptionError
from saltus.simulate.diagnosis import divergence
from saltus.simulate.engine import loops
from saltus.simulate.engine.engine import Engine
from saltus.solve.status import ENDED

OF_ACCELERATIONS = ("qacc", "cacc", "cfrc_", "qfrc_constraint", "efc_force")  # fields that depend on accelerations


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
    if engine.unattended:
        before = engine.state.tobytes()  # costs half as much as a copy
        taken, status = engine.advance_unattended(n, h)
        if status:
            divergence.handle(engine, np.frombuffer(before), taken, status)
        return False
    _check_start(engine)
    engine.prepare(n * h)
    before, logged = engine.state.copy(), len(engine.events)
    taken, status = engine.advance(n, h)
    if status and status != ENDED:
        divergence.handle(engine, before, taken, status, logged)
    if engine.dynamics is not None:
        divergence.check_inertia(engine, before)
    engine.keep_left()
    return status == ENDED


def begin(engine: Engine) -> None:
    """Find the modes of the present state, where events are located in time; impacts there are in the log."""
    refuse_in_control(engine, "begin")
    _check_start(engine)
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


def _check_start(engine: Engine) -> None:
    """Raise DivergenceError if the inertia matrix is singular in a state that no step has left."""
    if engine.model.inertia_may_be_singular and engine.was_moved():
        divergence.check_regular(engine)


def forward(engine: Engine) -> None:
    """Compute everything from the present state and inputs; DivergenceError if the accelerations are not finite."""
    _compute(engine)
    divergence.check_accelerations(engine)


def _compute(engine: Engine) -> None:
    """Compute everything from the present state and inputs."""
    status = engine.forward()
    if status:
        divergence.handle(engine, engine.state.copy(), 0, status)


def refresh(engine: Engine, name: str) -> np.ndarray | None:
    """Bring a computed field up to the present state if needed; returns the state that it belongs to.

    DivergenceError if the field depends on accelerations, and these are not finite.
    """
    if not engine.is_computed():
        _compute(engine)
    if name.startswith(OF_ACCELERATIONS):
        divergence.check_accelerations(engine)
    engine.compute_more(name)
    return engine.computed


def energy(engine: Engine) -> np.ndarray:
    """(potential, kinetic) energy (J) of the present state; DivergenceError if the state is not finite."""
    divergence.check_given(engine)
    return engine.energy()
