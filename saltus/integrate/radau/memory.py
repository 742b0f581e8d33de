"""Places in Data.memory, where the method keeps numbers between steps, after those that it shares with `dopri5`.

LENGTH_BEFORE: length (s) of the last accepted step, 0 for none. SLOPES: 0 if slope_matrix is to be computed, 1 if it
is of an earlier state, 2 if of the present one. PAST: length (s) of the step that stage_past belongs to, 0 for none.
ITERATIONS, RATE: of the last trial step's Newton iteration. REFUSED: 1 if
the last trial step was rejected. COUNT_SLOPES, COUNT_FACTORS, COUNT_ITERATIONS: numbers of
Jacobians, of factorizations and of Newton iterations.
"""

from saltus.integrate.adaptive.memory import PLACES as SHARED

LENGTH_BEFORE, SLOPES, PAST, ITERATIONS, RATE, REFUSED = range(SHARED, SHARED + 6)
COUNT_SLOPES, COUNT_FACTORS, COUNT_ITERATIONS = range(SHARED + 6, SHARED + 9)
PLACES = SHARED + 9
