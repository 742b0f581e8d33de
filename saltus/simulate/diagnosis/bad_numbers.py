"""Checks of user-set fields for numbers that are not finite."""

import numpy as np

INPUTS = ("mocap_pos", "mocap_quat", "mocap_vel", "ctrl", "qfrc_applied", "xfrc_applied")
GIVEN = ("time", "qpos", "qvel", "act", *INPUTS)  # what a user sets and steps take as numbers


def first_bad(fields: dict[str, np.ndarray]) -> tuple[str, int] | None:
    """Name and place of the first number that steps cannot take; infinite controls they can, within their limits."""
    for name, values in fields.items():
        wrong = np.isnan(values) if name == "ctrl" else ~np.isfinite(values)
        if wrong.any():
            return name, int(np.flatnonzero(wrong)[0])
    return None
