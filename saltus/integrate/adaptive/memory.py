"""Places in Data.memory, where the Dormand-Prince method keeps numbers between steps.

STEP: step size (s) to try next, or 0 before the first step. ERROR_BEFORE: error norm of the last accepted step. TAKEN,
REJECTED: numbers of steps. STUCK: 1 if a step size became too small; such a simulation stops there. GOING: 1 if
fsal_qacc, fsal_act are the slopes at the state. LANDING: 1 if the next step is to end where contact begins. LOOSE: the
factor of the tolerance, 0 for one; TRIES: decaying number of trial steps (see `saltus.integrate.adaptive.relaxation`).
"""

STEP, ERROR_BEFORE, TAKEN, REJECTED, STUCK, GOING, LANDING, LOOSE, TRIES = range(9)
PLACES = 9
