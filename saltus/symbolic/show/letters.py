"""The letters that lectures and books give to the numbers of bundled mechanisms."""

from __future__ import annotations

from typing import Any

from saltus.arguments import mapping
from saltus.errors import OptionError

# key of a number -> its letter; a letter for several numbers stands for all of them
LETTERS: dict[str, dict[str, str]] = {
    "pendulum": {
        "body_mass[pendulum]": "m",
        "body_ipos[pendulum][2]": "-l",
        "opt.gravity[2]": "-g",
    },
    "double_pendulum": {
        "body_mass[upper]": "m1",
        "body_mass[lower]": "m2",
        "body_ipos[upper][2]": "-l1",
        "body_pos[lower][2]": "-l1",
        "body_ipos[lower][2]": "-l2",
        "opt.gravity[2]": "-g",
    },
    "cart_pole": {
        "body_mass[cart]": "M",
        "body_mass[pole]": "m",
        "body_ipos[pole][2]": "l",
        "body_inertia[pole][0]": "m*l**2/3",  # a uniform rod of length 2 l
        "body_inertia[pole][1]": "m*l**2/3",
        "opt.gravity[2]": "-g",
    },
    "arm": {
        "body_mass[upper_arm]": "m1",
        "body_mass[forearm]": "m2",
        "body_ipos[upper_arm][0]": "c1",
        "body_pos[forearm][0]": "l1",
        "body_ipos[forearm][0]": "c2",
        "body_inertia[upper_arm][1]": "I1",
        "body_inertia[upper_arm][2]": "I1",
        "body_inertia[forearm][1]": "I2",
        "body_inertia[forearm][2]": "I2",
        "dof_damping[shoulder]": "b",
        "dof_damping[elbow]": "b",
        "opt.gravity[2]": "-g",
    },
}


def letters(model: str, chosen: Any) -> Any:
    """Parameters for `derive`: the letters known for this model where `parameters` is "textbook"; others unchanged."""
    if not (isinstance(chosen, str) and chosen == "textbook"):
        return chosen if isinstance(chosen, str) else mapping("parameters", chosen)
    if model not in LETTERS:
        raise OptionError(
            f"parameters: there are no textbook letters for {model!r}; there are for {', '.join(LETTERS)}"
        )
    return LETTERS[model]
