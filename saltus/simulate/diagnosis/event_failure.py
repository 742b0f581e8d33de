"""Why an event could not be handled."""

from saltus.errors import EventError
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.snapshot import marked
from saltus.simulate.laws.contact import Hard
from saltus.solve.status import CHATTER, CROWDED, JAMMED, TOO_DENSE, UNRESOLVED

STEP_OVER = "; saltus.Hard(dense='step') steps over them"
WHY = {
    JAMMED: "no accelerations satisfy the laws of contact and friction (Painlevé's paradox); "
    "less friction, or time stepping (integrator='moreau_jean'), which lets velocities jump, may go on",
    UNRESOLVED: "the impact could not be resolved to its tolerance",
    CHATTER: "modes change again and again without time passing",
    CROWDED: "more contact points are closed at once than events can be located for",
    TOO_DENSE: "events of a contact come more densely than dense_events within dense_time",
}
EVENT_STATUSES = tuple(WHY)


def event_error(engine: Engine, status: int) -> EventError:
    """The error for an event that could not be handled; the state is that of the event."""
    # what dense="step" would have got over
    more = STEP_OVER if isinstance(engine.law, Hard) and engine.law.dense != "step" and status != JAMMED else ""
    return EventError(WHY[status] + more, time=engine.time, snapshot=marked(engine))
