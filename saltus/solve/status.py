"""How a step or run ended, as kernels say it, the gravest last; `saltus.simulate` turns these into errors."""

OK = 0
NOT_CONVERGED = 1  # an integrator's iteration stopped before it reached its tolerance
UNSOLVED = 2  # the constraint solver did so
CONTACTS_FULL = 3  # more contacts than there is room for
STEP_TOO_SMALL = 4  # step control asked for steps that rounding swallows, or for more than it may take
DIVERGED = 5  # a velocity is not a number, or beyond saltus.integrate.status.LARGEST
JAMMED = 6  # no accelerations satisfy the laws of contact at an event (Painlevé's paradox)
UNRESOLVED = 7  # an impact could not be resolved
CHATTER = 8  # events follow each other without time passing
EVENTS_FULL = 9  # the log of events is full: go on after reading it
AT_IMPACT = 10  # an impact is about to happen, and someone wants to look at it first
ENDED = 11  # an event at which the run is to end
CROWDED = 12  # more is closed at once than located events have room for
TOO_DENSE = 13  # events come more densely than the law of contact wants them located
