"""Why an event could not be handled."""

from saltus.errors import EventError
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.snapshot import marked
from saltus.simulate.laws.contact import Hard
from saltus.solve.status import CHATTER, CROWDED, JAMMED, TOO_DENSE, UNRESOLVED

STEP_OVER = "; use saltus.Hard(dense='step') to step over them"
WHY = {
    JAMMED: "no accelerations satisfy the laws of contact and friction (Painlevé's paradox); "
    "try less friction, or time stepping (integrator='moreau_jean'), in which velocities may jump",
    UNRESOLVED: "the impact could not be resolved to its tolerance",
    CHATTER: "contact modes keep changing without time passing",
    CROWDED: "too many contact points are closed at once to locate events",
    TOO_DENSE: "a contact has more than dense_events events within dense_time",
}
EVENT_STATUSES = tuple(WHY)


def event_error(engine: Engine, status: int) -> EventError:
    """The error for an event that could not be handled; the state is that of the event."""
    # failures that dense="step" avoids
    more = STEP_OVER if isinstance(engine.law, Hard) and engine.law.dense != "step" and status != JAMMED else ""
    return EventError(WHY[status] + more, time=engine.time, snapshot=marked(engine))
