"""Tasks of a step that several threads share: their numbers (see `saltus.number.threads.team`)."""

from saltus.number.threads.team import STOP

FIND_PAIRS = STOP + 1  # of geoms near each other
COLLIDE = STOP + 2  # found pairs
WRITE_ROWS = STOP + 3  # of contacts
SOLVE_ISLAND = STOP + 4  # one that is cut into domains, together
SOLVE_ISLANDS = STOP + 5  # the others, one by one, and trees without rows
