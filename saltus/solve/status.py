"""Status codes of a step or run, in order of severity; `saltus.simulate` turns them into errors."""

OK = 0
NOT_CONVERGED = 1  # an integrator's iteration did not reach its tolerance
UNSOLVED = 2  # the constraint solver did not reach its tolerance
CONTACTS_FULL = 3  # more contacts than the contact list holds
STEP_TOO_SMALL = 4  # step control: step below rounding, or too many steps
DIVERGED = 5  # a velocity is NaN or above saltus.integrate.status.LARGEST
JAMMED = 6  # no accelerations satisfy the contact laws at an event (Painlevé paradox)
UNRESOLVED = 7  # an impact could not be resolved
CHATTER = 8  # events without progress in time
EVENTS_FULL = 9  # the event log is full: read it, then continue
AT_IMPACT = 10  # paused before an impact, as requested
ENDED = 11  # a terminal event was reached
CROWDED = 12  # the active set exceeds the rows reserved for event location
TOO_DENSE = 13  # events too dense to be located under this contact law
