"""Numbers of the tasks of a step that several threads share (see `saltus.number.threads.team`)."""

from saltus.number.threads.team import STOP

FIND_PAIRS = STOP + 1  # find pairs of geoms near each other
COLLIDE = STOP + 2  # collide found pairs
WRITE_ROWS = STOP + 3  # write the rows of contacts
SOLVE_ISLAND = STOP + 4  # solve one island, divided into domains, together
SOLVE_ISLANDS = STOP + 5  # solve the other islands one by one, and trees without rows
