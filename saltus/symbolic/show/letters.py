"""The letters that lectures and books give to the numbers of bundled mechanisms."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from saltus.arguments import mapping
from saltus.errors import OptionError
from saltus.symbolic.parameters import POINT

if TYPE_CHECKING:
    from saltus.model.model import Model

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


def letters(model: Model, chosen: Any) -> Any:
    """Parameters for `derive`: the letters known for this model where `parameters` is "textbook"; others unchanged."""
    if not (isinstance(chosen, str) and chosen == "textbook"):
        return chosen if isinstance(chosen, str) else mapping("parameters", chosen)
    if re.fullmatch(r"n_link_\d+", model.name):
        return _of_links(model)
    if model.name not in LETTERS:
        raise OptionError(
            f"parameters: there are no textbook letters for {model.name!r}; there are for {', '.join(LETTERS)}, and "
            "for the chains of n_link"
        )
    return LETTERS[model.name]


def _of_links(model: Model) -> dict[str, str]:
    """Letters of an n-link pendulum, as `saltus.n_link` makes it: m, l, d, I of each link, the pivot (X0, Y0), g.

    Link i is l_i long and its centre of mass is d_i l_i from its hinge; y is the world's z. A point has no I.
    """
    n = model.nv
    out = {"body_pos[link1][0]": "X0", "body_pos[link1][2]": "Y0", "opt.gravity[2]": "-g"}
    for i, inertia in zip(range(1, n + 1), model.body_inertia[1:], strict=True):
        out[f"body_mass[link{i}]"] = f"m{i}"
        out[f"body_ipos[link{i}][2]"] = f"-d{i}*l{i}"
        out[f"body_pos[link{i + 1}][2]" if i < n else "site_pos[tip][2]"] = f"-l{i}"
        if max(inertia) > POINT:
            out |= {f"body_inertia[link{i}][{k}]": f"I{i}" for k in range(3)}
    return out
