"""Equality constraints that are switched on and off between steps."""

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError
from saltus.model.enums import FLEX
from saltus.model.model import Model
from saltus.number.structs import Struct


def check_switches(model: Model, m: Struct, active: NDArray[np.floating], checked: bytes = b"") -> bytes:
    """OptionError if `active` [neq] or [..., neq] is not 0 or 1, or switches an equality that stays as it starts.

    Equalities of deformable bodies stay, those that nothing simulates, and all where trees may sleep. Returns the bytes
    of `active`; nothing is checked if they are equal to `checked`.
    """
    given = active.tobytes()
    if not model.neq or given == checked:
        return given
    rows = np.reshape(active, (-1, model.neq))
    if not np.isin(rows, (0.0, 1.0)).all():
        raise OptionError(f"eq_active must be 0 or 1 for each equality, got {rows[~np.isin(rows, (0.0, 1.0))][0]:g}")
    switched = np.flatnonzero((rows != np.asarray(model.eq_active0, float)).any(axis=0))
    free = m.views["eq_id"][m.views["eq_type"] != FLEX]
    for k in switched:
        if "sleep" in m.layout.features:
            why = "trees may sleep, which depends on it; load the model with ignore=['sleep']"
        elif model.eq_type[k] == FLEX:
            why = "it belongs to a deformable body; choose active='false' in the file, and make another simulation"
        elif k not in free:
            why = "it is not simulated: nothing can move under it, its kind is ignored, or equalities are disabled"
        else:
            continue
        raise OptionError(f"eq_active: equality {model.names('equality')[k]!r} cannot be switched: {why}")
    return given


def check_actions(model: Model, before: NDArray[np.floating], after: NDArray[np.floating]) -> None:
    """OptionError if steps have switched an equality on ([..., neq] before and after them), by an action of an event.

    It may be open there, and closing it would move bodies at once.
    """
    on = np.flatnonzero(np.reshape(after > before, (-1, max(model.neq, 1))).any(axis=0))
    if on.size:
        raise OptionError(
            f"an action has switched equality {model.names('equality')[on[0]]!r} on; actions may only switch them "
            "off. Let a terminal event end the run, close the equality, and set eq_active then"
        )
