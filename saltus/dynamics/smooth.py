"""Unconstrained forward dynamics, in stages from state and inputs to accelerations."""

from saltus.dynamics.actuator.actuation import actuation
from saltus.dynamics.actuator.transmission import transmissions
from saltus.dynamics.applied import add_cartesian_forces
from saltus.dynamics.awake.walks import awake_dofs
from saltus.dynamics.energy import energy, energy_parts
from saltus.dynamics.equations import bias_force, given_inertia
from saltus.dynamics.flex.forces import flex_positions
from saltus.dynamics.joint_space import inertia_factor, inertia_solve
from saltus.dynamics.motions import prescribe
from saltus.dynamics.passive import passive
from saltus.dynamics.tendon.length import tendon_velocities, tendons
from saltus.dynamics.tree.com_frame import centre_of_mass, com_dof, com_inertia, tree_centre_of_mass
from saltus.dynamics.tree.factor import factor
from saltus.dynamics.tree.guided.prescribed import solve_hybrid
from saltus.dynamics.tree.inertia import composite_inertia
from saltus.dynamics.tree.kinematics import attached_frames, kinematics
from saltus.dynamics.tree.rnea import newton_euler_forward
from saltus.number.kernels import kernel


@kernel
def position_stage(m, d, compute_all):
    """Position-dependent quantities that accelerations need; all of them if `compute_all`.

    Prescribed motions are first set to the present time.
    """
    prescribe(m, d)
    kinematics(m, d, compute_all or m.keep_bodies)
    tree_centre_of_mass(m, d)
    com_inertia(m, d)
    com_dof(m, d)
    flex_positions(m, d)
    tendons(m, d)
    transmissions(m, d)


@kernel
def force_stage(m, d, compute_all):
    """Newton-Euler forces of the bodies at zero joint acceleration, and all generalised forces other than the bias.

    Body velocities are written too if `compute_all`. Writes cfrc_body [nbody, 6] (N m, N) and qfrc_tau [nv] (N, N m).
    """
    newton_euler_forward(m, d, d, 0, compute_all or m.keep_bodies)
    applied_forces(m, d)


@kernel
def applied_forces(m, d):
    """Generalised forces other than the bias: qfrc_tau [nv] = passive + actuator + applied (N, N m)."""
    tendon_velocities(m, d)
    passive(m, d)
    add_driving_forces(m, d)


@kernel
def add_driving_forces(m, d):
    """qfrc_tau [nv] = passive + actuator + applied (N, N m), after `passive`."""
    actuation(m, d)
    for i in awake_dofs(m, d):
        d.qfrc_tau[i] = d.qfrc_passive[i] + d.qfrc_actuator[i] + d.qfrc_applied[i]
    if d.has_xfrc:
        add_cartesian_forces(m, d, d.qfrc_tau)


@kernel
def solve_stage(m, d, h, slope):
    """qacc [nv] from the forces of `force_stage`, with h times the field slope [nv] added to the diagonal of M."""
    inertia_factor(m, d, h, slope)
    inertia_solve(m, d, d, d.qfrc_tau, 1, d.qacc)


@kernel
def free_acceleration(m, d):
    """Unconstrained accelerations qacc [nv] at the present state, by the method of `saltus.dynamics.joint_space`."""
    position_stage(m, d, 0)
    force_stage(m, d, 0)
    solve_stage(m, d, 0.0, d.qfrc_damper_slope)


@kernel
def free_forward(m, d):
    """All of Data at the present state, without constraints; accelerations from the factored inertia matrix M."""
    position_stage(m, d, 1)
    centre_of_mass(m, d)
    attached_frames(m, d)
    force_stage(m, d, 1)
    bias_force(m, d, d)
    composite_inertia(m, d)
    given_inertia(m, d)
    factor(m, d)
    # qacc_smooth = M⁻¹ (tau - bias)
    for i in awake_dofs(m, d):
        d.qfrc_smooth[i] = d.qfrc_tau[i] - d.qfrc_bias[i]
        d.qacc_smooth[i] = d.qfrc_smooth[i]
    solve_hybrid(m, d, d.qacc_smooth)
    for i in awake_dofs(m, d):
        d.qacc[i] = d.qacc_smooth[i]
    energy(m, d)


@kernel
def energy_of_state(m, d):
    """Potential and kinetic energy at the present state."""
    position_stage(m, d, 1)
    newton_euler_forward(m, d, d, 0, 1)
    tendon_velocities(m, d)
    energy(m, d)


@kernel
def energies_of_state(m, d, out):
    """Energy by kind at the present state, into out [5] (J); see `energy_parts`."""
    position_stage(m, d, 1)
    newton_euler_forward(m, d, d, 0, 1)
    tendon_velocities(m, d)
    energy_parts(m, d, out)
