"""Dry friction in joints and tendons in the kernels' Model."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from saltus.model.compile.drives.drive_losses import drive_values
from saltus.model.compile.leading_axes import joined
from saltus.model.compile.tendons import tendon_dofs
from saltus.model.contact.contact_parameters import soft_laws


def friction(m, laws, chains, safe, values) -> int:
    """Dry friction in joints and tendons."""
    dofs = [int(i) for i in np.flatnonzero(m.dof_frictionloss)]
    tendons = [int(t) for t in np.flatnonzero(m.tendon_frictionloss > 0) if tendon_dofs(m, t)]
    law = laws.indices(soft_laws(m.dof_solref[dofs], m.dof_solimp[dofs], safe))
    law += laws.indices(soft_laws(m.tendon_solref_fri[tendons], m.tendon_solimp_fri[tendons], safe))
    values |= {
        "friction_obj": dofs + tendons,
        "friction_law": law,
        "friction_chain": [chains.of_dofs([i]) for i in dofs] + [chains.of_dofs(tendon_dofs(m, t)) for t in tendons],
        "ndoffriction": len(dofs),
        **friction_values(m, dofs, tendons),
        **drive_values(m, dofs, tendons),
    }
    return len(dofs + tendons)


def friction_values(m: Any, dofs: Sequence[int], tendons: Sequence[int]) -> dict[str, np.ndarray]:
    """Bounds and inverse inertias of dry friction, for degrees of freedom, then for tendons."""
    return {
        "friction_loss": joined(m.dof_frictionloss[..., dofs], m.tendon_frictionloss[..., tendons]),
        "friction_invweight": joined(m.dof_invweight0[..., dofs], m.tendon_invweight0[..., tendons]),
    }
