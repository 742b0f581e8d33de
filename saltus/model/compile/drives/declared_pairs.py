"""Pairs of an actuator and a numeric in <custom>, by which model files give a motor numbers that MuJoCo has not."""

from __future__ import annotations

import mujoco

from saltus.errors import ModelError


def actuator_numerics(m: mujoco.MjModel, title: str) -> dict[int, int]:
    """The numeric of each actuator in tuples whose name ends with `title`.

    Raises:
        ModelError: a tuple is no list of pairs.
    """
    found: dict[int, int] = {}
    pair = [mujoco.mjtObj.mjOBJ_ACTUATOR.value, mujoco.mjtObj.mjOBJ_NUMERIC.value]
    for t in range(m.ntuple):
        name = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_TUPLE, t) or ""
        if not name.endswith(title):
            continue
        elements = range(m.tuple_adr[t], m.tuple_adr[t] + m.tuple_size[t])
        kinds = [int(m.tuple_objtype[k]) for k in elements]
        if len(kinds) % 2 or kinds != pair * (len(kinds) // 2):
            raise ModelError(
                "expected pairs of an actuator and the numeric with its numbers", element="tuple", name=name
            )
        found |= {int(m.tuple_objid[k]): int(m.tuple_objid[k + 1]) for k in elements[::2]}
    return found
