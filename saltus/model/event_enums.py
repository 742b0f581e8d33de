"""Numeric codes for contacts with modes: modes, kinds of events, places in their fields."""

# mode of a contact point or an end of a limit: open, closed and sticking, closed and slipping; dry friction has the
# last two. Modes are stored as real numbers. NO_MODE: no known mode, for example of a soft contact
OPEN, STICK, SLIP = 0.0, 1.0, 2.0
NO_MODE = -1

# first rows of the parts of a contact's friction that have a mode of their own: sliding (two rows after the normal),
# torsional (one row about the normal), rolling (two rows about the tangents)
SLIDE, SPIN, ROLL = 1, 3, 4

# kinds of events, with their names in recordings
IMPACT = 0  # a contact or limit closes, and velocities jump
LIFTOFF = 1  # a contact or limit opens
TOUCHDOWN = 2  # a contact or limit closes without a jump of velocities
STICKS = 3  # a contact or dry friction stops slipping
SLIPS = 4  # a contact or dry friction begins to slip
ZENO = 5  # the end of an infinite series of impacts
USER = 6  # a zero of a user-defined event function
ACTUATOR = 7  # a zero of an event function of an actuation
ENERGETIC = 8  # an energetic coefficient replaced an impact's law, which would have gained energy
LEFTOVER = 9  # contacts that still approached after many impacts closed without restitution
DENSE = 10  # events were too dense to be located: time was stepped instead
JAM = 11  # no accelerations satisfy the contact laws (Painlevé paradox)
SEPARATED = 12  # bodies that overlapped at a start were moved apart
KINDS = (
    *("impact", "liftoff", "touchdown", "stick", "slip", "zeno", "user", "actuator", "energetic", "leftover"),
    *("dense", "jammed", "separated"),
)

JUMPS = (IMPACT, LEFTOVER, DENSE)  # kinds of events at which velocities jump

# opt_dense, treatment of events too dense to be located, with the names in `saltus.Hard`: time is stepped, they are
# located nevertheless, or the run stops
STEP, LOCATE, STOP = range(3)
DENSE_WAYS = ("step", "locate", "stop")
OVERLAP_WAYS = ("separate", "error")  # treatment of overlapping bodies at a start

# columns of event_log: time (s), kind, item, gap (m), speed (m/s), impulse (N s), energies before and after (J)
TIME, KIND, ITEM, GAP, SPEED, NORMAL, TANGENT1, TANGENT2, BEFORE, AFTER = range(10)
EVENT_WIDTH = AFTER + 1
SINCE, COUNT = GAP, SPEED  # columns of DENSE: start of time stepping (s) and number of impacts since
NOTHING = -1  # item of an event of the whole system

# places in event_count
LOGGED = 0  # rows of the log in use
LOST = 1  # events lost, for lack of room
CLOSED = 2  # size of the active set: closed points and limits, dry friction, equalities
SHARED = 3  # distribution of the forces of the active set, see below
PAUSED = 4  # 1: stop before the next impact is resolved
UNDONE = 5  # 1 + status so far: a step has begun, and is suspended until the log is read
WORST = 6  # worst status of the whole steps before a full log, for who reads that
EVENT_COUNTS = WORST + 1

# places in body_bound: bounds over a step of a body's origin, m/s and m/s², and of its rotation, rad/s and rad/s²
LINEAR_SPEED, LINEAR_ACCELERATION, TURNING_SPEED, TURNING_ACCELERATION = range(4)

# event_count[SHARED]: the forces of the active set are unique, or those of minimum norm satisfy its inequalities; or
# they violate them, and others that satisfy them are found within tolerance; or none are found
UNIQUE, EXACTLY, ROUGHLY = range(3)

# places in `dense`: time steps still to take, 0 while events are located; start of time stepping (s), energy then (J)
# and impacts since; number of steps and end (s) of the last time stepping; events at the same instant; consecutive
# stiff steps; recent events and recent trial steps, each as a decaying count and the time of the last (s); size of the
# time steps (s); impacts in the last one
LEFT, BEGAN, ENERGY, IMPACTS, LENGTH, OVER, RECENT, STIFF, COUNTED, COUNTED_AT, TRIES, TRIED_AT, SIZE, COLLIDED = range(
    14
)
DENSE_NUMBERS = COLLIDED + 1
