"""Checked builds: `SALTUS_CHECKED=1` in the environment when Python starts.

Compiled code then refuses indices outside of a field, with an error that names it, and what has not been computed is
filled with numbers that show (see `saltus.simulate.engine.poison`). Their code is kept apart; it is some times slower.
"""

import os

from numba import config

CHECKED = os.environ.get("SALTUS_CHECKED") == "1"
if CHECKED:
    config.BOUNDSCHECK = 1  # of arrays that compiled code is given

#: Content of whole numbers that have not been computed: an index that no field has.
NO_INDEX = -(1 << 40)
