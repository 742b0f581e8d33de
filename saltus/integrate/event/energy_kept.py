"""Corrections of positions during time stepping that add no energy.

Bodies that have penetrated each other within a step are lifted out again (see
`saltus.solve.stepping.position_correction`). The impact that the step has summed happened at a smaller depth; the work
of lifting, against gravity and springs, is therefore taken from the kinetic energy of the kinematic trees that were
moved: their velocities shrink by one factor,

    s² = 1 - ΔE / T

with which all velocities that constraints hold at zero stay zero. At most the fraction `MOST` of the kinetic energy is
taken.
"""

from saltus.dynamics.equations import joint_inertia
from saltus.dynamics.smooth import energy_of_state
from saltus.dynamics.tree.factor import multiply
from saltus.number.functions import absolute, minimum, sqrt
from saltus.number.kernels import kernel

MOST = 0.5  # largest fraction of the kinetic energy
LEAST = 1e-12  # m, rad: smaller displacements are rounding


@kernel
def total_energy(m, d):
    """Potential and kinetic energy (J) at the present state."""
    energy_of_state(m, d)
    return d.energy[0] + d.energy[1]


@kernel
def take_gain(m, d, before):
    """Shrink the velocities of all trees moved by the displacement qstep [nv], to restore the energy (J) `before`.

    Velocities change only if the energy is larger now.
    """
    gain = total_energy(m, d) - before
    if not gain > 0.0:
        return
    # kinetic energy of the moved trees; M does not couple trees
    joint_inertia(m, d)
    multiply(m, d, d.qvel, d.row_inverse)
    kinetic = 0.0 * gain
    for i in range(m.nv):
        if is_moved(m, d, i):
            kinetic = kinetic + 0.5 * d.qvel[i] * d.row_inverse[i]
    if kinetic > 0.0:
        factor = sqrt(1.0 - minimum(gain / kinetic, MOST + 0.0 * gain))
        for i in range(m.nv):
            if is_moved(m, d, i):
                d.qvel[i] = factor * d.qvel[i]


@kernel
def is_moved(m, d, i):
    """Whether the displacement qstep [nv] moves the kinematic tree of degree of freedom i."""
    root = m.body_rootid[m.dof_bodyid[i]]
    moved = False
    for j in range(m.nv):
        moved = moved or (absolute(d.qstep[j]) > LEAST and m.body_rootid[m.dof_bodyid[j]] == root)
    return moved
