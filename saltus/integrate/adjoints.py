"""Reverse-mode differentiation of the update of a step: v' = v + h a, q' = q ⊕ h v'."""

from saltus.number.kernels import kernel


@kernel
def velocity_adjoint(m, h, state, turns, n, by_end):
    """The gradient by the velocities after step n, through the positions there, too, to by_end [nv].

    state [2 nv]: the gradient by positions and velocities after the step. turns: (Jᵀ, R, rotations), the transposed
    right Jacobians of the exponential and rotation matrices [steps, rotations, 3, 3], and the degrees of freedom
    [rotations, 3].
    """
    jacobians, _, rotations = turns
    for i in range(m.nv):
        by_end[i] = state[m.nv + i] + h * state[i]
    for r in range(len(rotations)):
        for a in range(3):
            turned = 0.0
            for b in range(3):
                turned += jacobians[n, r, a, b] * state[rotations[r, b]]
            i = rotations[r, a]
            by_end[i] = state[m.nv + i] + h * turned


@kernel
def position_adjoint(m, state, turns, n, by_end, by_state, at_samples):
    """state [2 nv] ← the gradient by positions and velocities before step n, with those of the sample there.

    by_end [nv]: by the velocities after the step; by_state [2, nv]: through its accelerations.
    """
    _, matrices, rotations = turns
    for r in range(len(rotations)):
        x, y, z = state[rotations[r, 0]], state[rotations[r, 1]], state[rotations[r, 2]]
        for a in range(3):
            state[rotations[r, a]] = matrices[n, r, a, 0] * x + matrices[n, r, a, 1] * y + matrices[n, r, a, 2] * z
    for i in range(m.nv):
        state[i] = state[i] + by_state[0, i] + at_samples[n, i]
        state[m.nv + i] = by_end[i] + by_state[1, i] + at_samples[n, m.nv + i]
