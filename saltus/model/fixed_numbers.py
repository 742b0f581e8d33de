"""Numbers of a model that cannot change after it is compiled: they have no effect, or others were made from them."""

from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.model.actuator_enums import DYN_DCMOTOR, DYN_PID
from saltus.model.contact.bounds import has_size
from saltus.model.enums import BALL, FREE

#: Places of the numbers by which motors and servos have a state where they are above 0: slew rate, gain of the
#: integral, thermal resistance, bristles' stiffness, inductance; by type of dynamics and field.
STATES = {
    DYN_DCMOTOR: {"actuator_dynprm": (7, 2, 5, 0), "actuator_gainprm": (5,)},
    DYN_PID: {"actuator_dynprm": (1,), "actuator_gainprm": (0,)},
}
#: Why one of them cannot become or cease to be 0.
BELONGS = "a state of the motor or servo belongs to it, which cannot begin or cease; change the model's file"


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


def states_lost(m: mujoco.MjModel, field: str, values: np.ndarray) -> NDArray[np.bool_]:
    """Mask of the numbers of a field [..., n, k] by which a motor or servo of a model would gain or lose a state."""
    lost = np.zeros(np.shape(values), bool)
    for kind, places in STATES.items():
        for place in places.get(field, ()):
            before = getattr(m, field)[:, place] > 0
            lost[..., place] |= (m.actuator_dyntype == kind) & ((values[..., place] > 0) != before)
    return lost
