"""Whether a model's kinematic trees may fall asleep, as its file says."""

import mujoco


def is_flagged(m: mujoco.MjModel, left_out: frozenset[str]) -> bool:
    """Whether the file lets trees sleep, and the user has not left that out."""
    return bool(m.opt.enableflags & mujoco.mjtEnableBit.mjENBL_SLEEP.value) and "sleep" not in left_out
