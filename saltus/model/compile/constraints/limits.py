"""Limits of joints and tendons in the kernels' Model."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from saltus.model.compile.leading_axes import joined
from saltus.model.compile.tendons import tendon_dofs
from saltus.model.contact.contact_parameters import soft_laws
from saltus.model.enums import BALL, FREE


def limits(m, laws, chains, safe, values) -> int:
    """Ranges of joints and tendons; returns the largest number of their rows."""
    # free joints have no range, also where a compiled model marks them as limited
    joints = [int(j) for j in np.flatnonzero(np.logical_and(m.jnt_limited, m.jnt_type != FREE))]
    tendons = [int(t) for t in np.flatnonzero(m.tendon_limited) if tendon_dofs(m, t)]
    law = laws.indices(soft_laws(m.jnt_solref[joints], m.jnt_solimp[joints], safe))
    law += laws.indices(soft_laws(m.tendon_solref_lim[tendons], m.tendon_solimp_lim[tendons], safe))
    dofs = [int(m.jnt_dofadr[j]) for j in joints]
    ball = [m.jnt_type[j] == BALL for j in joints]
    chain = [chains.of_dofs(range(i, i + (3 if b else 1))) for i, b in zip(dofs, ball, strict=True)]
    values |= {
        "limit_obj": joints + tendons,
        "limit_law": law,
        "limit_chain": chain + [chains.of_dofs(tendon_dofs(m, t)) for t in tendons],
        "njntlimit": len(joints),
        **limit_values(m, joints, tendons),
    }
    return 2 * len(joints + tendons)


def limit_values(m: Any, joints: Sequence[int], tendons: Sequence[int]) -> dict[str, np.ndarray]:
    """Ranges, margins and inverse inertias of the limits of joints, then of tendons."""
    dofs = m.jnt_dofadr[joints]
    return {
        "limit_range": joined(m.jnt_range[..., joints, :], m.tendon_range[..., tendons, :], axis=-2),
        "limit_margin": joined(m.jnt_margin[..., joints], m.tendon_margin[..., tendons]),
        "limit_invweight": joined(m.dof_invweight0[..., dofs], m.tendon_invweight0[..., tendons]),
    }
