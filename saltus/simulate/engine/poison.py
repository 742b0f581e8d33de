"""Checked builds: numbers that show in fields that have not been computed (see `saltus.number.cache.checked`).

Scratch of the rooms lasts for one call of compiled code. It is filled anew before each, so that whoever reads a field
that nobody has written gets NaN, or as an index an error that names the field which the index is for.
"""

import numpy as np

from saltus.model.fields import integrate, tree
from saltus.model.fields.constraint import cone, impact, search, solve, stepping
from saltus.number.cache.checked import CHECKED, NO_INDEX
from saltus.number.structs import Struct

_PATTERN = "the pattern of the Hessian is found anew where other constraints act"
#: Fields that last longer than a call, each with the reason.
KEPT = {
    "unproved": "steps are counted until somebody reads their number",
    "tree_fresh": "marks grow from solve to solve, from the zeros of new memory",
    "pair_fresh": "marks grow from solve to solve, from the zeros of new memory",
    "hessian_num": _PATTERN,
    "hessian_col": _PATTERN,
    "hessian_chain": _PATTERN,
}
SCRATCH = [
    name
    for fields in (tree.SCRATCH, cone.FIELDS, cone.SCRATCH, impact.IMPACT_FIELDS, solve.SCRATCH)
    + (search.SCRATCH, stepping.SCRATCH, integrate.SCRATCH)
    for name in fields
    if name not in KEPT
]


def poison(d: Struct) -> None:
    """In checked builds, fill the scratch of a Data; otherwise do nothing."""
    if CHECKED:
        for name in SCRATCH:
            if name in d.views:
                d.views[name][...] = NO_INDEX if d.layout.fields[name].kind == "int" else np.nan
