"""Numbers of a model that cannot change after it is compiled: they have no effect, or others were made from them."""

from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.model.contact.bounds import has_size
from saltus.model.enums import BALL, FREE


class Fixed(NamedTuple):
    """Objects whose numbers in some field are fixed, a mask, and the reason."""

    objects: NDArray[np.bool_]
    reason: str


def fixed_numbers(m: mujoco.MjModel, field: str) -> tuple[Fixed, ...]:
    """Objects of which a field's numbers are fixed, by reason."""
    if field in ("body_pos", "body_quat") and m.njnt:
        first = m.jnt_type[np.minimum(m.body_jntadr, m.njnt - 1)]
        free = (m.body_jntnum > 0) & (first == FREE)
        return (Fixed(free, "the position of a free body is set by its qpos"),)
    if field == "jnt_pos":
        return (Fixed(m.jnt_type == FREE, "a free joint has no anchor; its position is in qpos"),)
    if field == "jnt_axis":
        return (Fixed(np.isin(m.jnt_type, (FREE, BALL)), "free and ball joints turn about every axis"),)
    if field == "geom_size":
        other = ~has_size(m)[:, 0]
        return (
            Fixed(other, "its shape is not made from its size"),
            Fixed(~other & (m.geom_fluid[:, 0] > 0), "its coefficients in a fluid were made from its size"),
        )
    return ()
