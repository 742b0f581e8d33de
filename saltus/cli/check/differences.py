"""Warnings of `saltus check` about the inertia matrix: where it differs from MuJoCo's, and where it is singular."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from saltus.terminal import screen

if TYPE_CHECKING:
    import mujoco

    from saltus.model.model import Model


def warnings(model: Model) -> list[str]:
    """Warnings about tendons with inertia across branches, and about a singular reference position."""
    return _tendons(model) + _singular(model)


def _tendons(model: Model) -> list[str]:
    from saltus.model.compile.tendons import parameters, tendon_dofs

    m = model.mj_model
    armed = np.flatnonzero(parameters(m, model.left_out)["tendon_armature"])
    names = [model.names("tendon")[t] for t in armed if not _is_chain(m, sorted(tendon_dofs(m, t)))]
    if not names:
        return []
    return [
        f"armature of {screen.some(names)}: couples joints of several branches in the inertia matrix; MuJoCo leaves "
        "these entries out, so that its accelerations differ and do not conserve energy"
    ]


def _is_chain(m: mujoco.MjModel, dofs: list[int]) -> bool:
    """Whether each of these degrees of freedom, ascending, carries the next one."""
    for first, second in itertools.pairwise(dofs):
        ancestor = second
        while ancestor > first:
            ancestor = int(m.dof_parentid[ancestor])
        if ancestor != first:
            return False
    return True


def _singular(model: Model) -> list[str]:
    from saltus.model.tree.singular_inertia import described, massless_motions

    found = massless_motions(model.mj_model, model.qpos0) if model.inertia_may_be_singular else []
    what = "the inertia matrix is singular at the reference position"
    return [f"{what}: {described(model.mj_model, found)}"] if found else []
