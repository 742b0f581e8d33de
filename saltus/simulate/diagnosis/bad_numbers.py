"""Checks of user-set fields for numbers that are not finite."""

from collections.abc import Mapping

import numpy as np

INPUTS = ("mocap_pos", "mocap_quat", "mocap_vel", "ctrl", "qfrc_applied", "xfrc_applied")
GIVEN = ("time", "qpos", "qvel", "act", *INPUTS)  # fields that users set and steps read as numbers


def first_bad(fields: Mapping[str, np.ndarray]) -> tuple[str, int] | None:
    """Name and place of the first field entry that steps cannot use; infinite controls are allowed, being clamped."""
    for name, values in fields.items():
        wrong = unusable(name, values)
        if wrong.any():
            return name, int(np.flatnonzero(wrong)[0])
    return None


def unusable(name: str, values: np.ndarray) -> np.ndarray:
    """Mask of the numbers of a field that steps cannot use."""
    return np.isnan(values) if name == "ctrl" else ~np.isfinite(values)
