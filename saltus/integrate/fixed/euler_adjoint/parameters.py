"""Vector-Jacobian products of a semi-implicit Euler step by many parameters at once.

With the residual g(a, p) = 0 of the step (see `saltus.integrate.fixed.euler_tangents`) and a gradient μ by its
accelerations, the gradient by parameters p is

    μᵀ da/dp = -zᵀ ∂g/∂p,    z = H⁻¹ μ,

one solution for all parameters (Griewank & Walther, Evaluating Derivatives (2008), section 15.5). The parameters act
on parts of g that do not meet before they are multiplied by z: the inertia of a body on the force of this body, a
damper on its degree of freedom, a law on the rows of its constraints. So parameters of many objects share a tangent
direction (the colouring of sparse Jacobians, section 8.1 there), and two groups of directions are enough for all laws,
springs, dampers and motors. Inertial parameters need none: their force is the regressor's, of the motion z.

Gradients are added up in arrays:

    bodies [nbody, 13]      inertial parameters about the body's origin, as in `saltus.dynamics.tree.regressor`, and the
                            point where Cartesian forces act
    gravity [3]             gravity
    dofs [nv, 9]            parameters of dampers and springs, `DOFS`, and the armature
    outputs [nout, 16]      parameters of motors, `MOTORS`
    laws [nlaw, 16]         parameters of laws, `LAWS`
    used [nlaw]             1 for laws of contacts with friction that acted
    limits [nlimit, 4]      parameters of limits, `LIMITS`
    frictions [nfriction, 2]  parameters of dry friction, `FRICTIONS`
    chains [nchain]         inverse inertia of contacts
    row [1, 10]             scratch
    tendons [ntendon, 8]    parameters of tendons' springs and dampers, `TENDONS`
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.collide import collider_frames
from saltus.contact.counts import NBLOCK, NCON
from saltus.contact.rows.blocks import FRICTION, UNILATERAL, times_rows
from saltus.contact.rows.cost import row_forces, row_residuals
from saltus.dynamics.joint_space import inertia_solve
from saltus.dynamics.smooth import applied_forces, position_stage
from saltus.dynamics.tendon.force import spring_and_damper
from saltus.dynamics.tree.factor import multiply
from saltus.dynamics.tree.regressor import PARAMETERS, write_row
from saltus.dynamics.tree.rnea import newton_euler_forward
from saltus.integrate.fixed.euler_adjoint.motions import STEP, A, Y, Z, contact_forces, tree_motions
from saltus.integrate.fixed.euler_tangents import is_constrained, keep_positions, polish
from saltus.integrate.tangents import seed_state
from saltus.number.components import tangent_of, value_of
from saltus.number.conditions import has
from saltus.number.kernels import kernel, only_with
from saltus.number.kinds import NTANGENT
from saltus.solve.constrain import find_contacts, rows_without_contacts
from saltus.solve.soft.hessian import solve_hessian
from saltus.spatial.motions import acceleration_at, add_scaled6, velocity_at
from saltus.spatial.vectors import cross, sub3, transpose_times_vector

#: Directions of the two groups, by the field of the kernels' Model and the place in its row.
LAWS = (
    (
        *(("law_stiffness", 0), ("law_damping", 0), ("law_damping_tangent", 0)),
        *(("law_impedance", k) for k in range(4)),
        ("law_margin", 0),
    ),
    (*(("law_friction", k) for k in range(5)), ("law_mu", 0), ("opt_impratio", 0), ("chain_translation", 0)),
)
CHAIN = 7  # direction of chain_translation in the second group, which does not belong to the law
LIMITS = (("limit_range", 0), ("limit_range", 1), ("limit_margin", 0), ("limit_invweight", 0))
FRICTIONS = (("friction_loss", 0), ("friction_invweight", 0))
DOFS = (
    *(("dof_damping", 0), ("dof_dampingpoly", 0), ("dof_dampingpoly", 1)),
    *(("jnt_stiffness", 0), ("jnt_stiffnesspoly", 0), ("jnt_stiffnesspoly", 1), ("qpos_spring", 0)),
)
ARMATURE = 8  # place in `dofs`, behind those of tangents
MOTORS = (
    (
        *(("actuator_gear", 0), ("actuator_gainprm", 0), ("actuator_gainprm", 1), ("actuator_gainprm", 2)),
        *(("actuator_biasprm", 0), ("actuator_biasprm", 1), ("actuator_biasprm", 2)),
    ),
    (("actuator_ctrlrange", 0), ("actuator_ctrlrange", 1), ("actuator_forcerange", 0), ("actuator_forcerange", 1)),
)
TENDONS = (
    *(("tendon_stiffness", 0), ("tendon_stiffnesspoly", 0), ("tendon_stiffnesspoly", 1), ("tendon_lengthspring", 0)),
    *(("tendon_damping", 0), ("tendon_dampingpoly", 0), ("tendon_dampingpoly", 1), ("tendon_lengthspring", 1)),
)  # in the second group, where joints' springs and dampers have no tangents
GEAR = 0  # direction of the gear in the first group


@kernel
def adjoint_solution(m, p, h, weight, solved):
    """The multipliers of a step that p has taken, and its accelerations, to `solved` [4, nv].

    weight [nv]: the gradient by the accelerations a' of the step. With (M + h B) a' = M a under constraints the
    gradient by parameters is yᵀ (dM (a - a') - h dB a') - zᵀ dg, y = (M + h B)⁻¹ weight and z = H⁻¹ M y; without, it is
    yᵀ (df - d(M + h B) a'), and a is a', z is y. Rows: y, z, a, a'.
    """
    constrained = is_constrained(m, p)
    if constrained:
        polish(m, p)
    for i in range(m.nv):
        p.qfrc_tau[i] = weight[i]
    inertia_solve(m, p, p, p.qfrc_tau, 0, p.qstep)
    for i in range(m.nv):
        solved[Y, i] = solved[Z, i] = p.qstep[i]
        solved[A, i] = solved[STEP, i] = p.qacc[i]
    if constrained:
        constrained_solution(m, p, weight, solved)


@only_with("constraint")
@kernel
def constrained_solution(m, p, weight, solved):
    """z and a of a step with constraints; without implicit damping M y is the weight."""
    if m.implicit_damping:
        multiply(m, p, p.qstep, p.solve_search)
    else:
        for i in range(m.nv):
            p.solve_search[i] = weight[i]
    solve_hessian(m, p, p.solve_search)
    for i in range(m.nv):
        solved[Z, i] = p.solve_search[i]
        solved[A, i] = p.qacc_warmstart[i]


# ---------------------------------------------------------------- inertial parameters


@kernel
def inertial_adjoint(m, p, qvel, solved, found):
    """Gradients by inertial parameters, gravity and armatures. qvel [nv]: velocities at the start of the step."""
    bodies, gravity, dofs, row = found[0], found[1], found[2], found[9]
    moved = False
    for i in range(m.nv):
        p.qvel[i] = qvel[i]
        p.qacc[i] = solved[A, i]
        change = solved[A, i] - solved[STEP, i]
        moved = moved or change != 0.0
        dofs[i, ARMATURE] += solved[Y, i] * change - solved[Z, i] * solved[A, i]
    # -zᵀ (dM a + dc)
    newton_euler_forward(m, p, p, 1, 1)
    body_motions(m, p, solved, Z)
    add_inertial(m, p, -1.0, bodies, row)
    for b in range(1, m.nbody):
        weigh(m, p, b, gravity)
        compensate(m, p, b, bodies, gravity)
        if p.has_xfrc:
            add_force(p, b, bodies)
    # yᵀ dM (a - a')
    if moved:
        body_accelerations(m, p, solved)
        body_motions(m, p, solved, Y)
        add_inertial(m, p, 1.0, bodies, row)


@kernel
def body_motions(m, p, solved, which):
    """body_scratch [nbody, 6] ← spatial motions of all bodies along a row of `solved`."""
    p.body_scratch[0] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for b in range(1, m.nbody):
        motion = p.body_scratch[m.body_parentid[b]]
        for i in range(m.body_dofadr[b], m.body_dofadr[b] + m.body_dofnum[b]):
            motion = add_scaled6(motion, solved[which, i], p.cdof[i])
        p.body_scratch[b] = motion


@kernel
def body_accelerations(m, p, solved):
    """cacc [nbody, 6] ← accelerations of all bodies by a - a' from rest without gravity, and cvel ← 0."""
    nothing = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    p.cvel[0] = p.cacc[0] = nothing
    for b in range(1, m.nbody):
        motion = p.cacc[m.body_parentid[b]]
        for i in range(m.body_dofadr[b], m.body_dofadr[b] + m.body_dofnum[b]):
            motion = add_scaled6(motion, solved[A, i] - solved[STEP, i], p.cdof[i])
        p.cacc[b] = motion
        p.cvel[b] = nothing


@kernel
def add_inertial(m, p, sign, bodies, row):
    """Add sign times the power of the forces of each body's inertial parameters on its motion in body_scratch."""
    for b in range(1, m.nbody):
        R = p.xmat[b]
        arm = sub3(p.xpos[b], p.subtree_com[m.body_rootid[b]])
        v, c, motion = p.cvel[b], p.cacc[b], p.body_scratch[b]
        # motions of the body's frame in its own axes
        w = transpose_times_vector(R, (v[0], v[1], v[2]))
        alpha = transpose_times_vector(R, (c[0], c[1], c[2]))
        a = transpose_times_vector(R, acceleration_at(v, c, arm))
        s = transpose_times_vector(R, (motion[0], motion[1], motion[2]))
        u = transpose_times_vector(R, velocity_at(motion, arm))
        write_row(row, 0, 0, s, u, w, alpha, a)
        for k in range(PARAMETERS):
            bodies[b, k] += sign * row[0, k]


@kernel
def weigh(m, p, b, gravity):
    """Add the gradient by gravity through the weight of body b, with its motion z in body_scratch."""
    motion, inertia = p.body_scratch[b], p.cinert[b]
    # mass times the velocity of the centre of mass
    turning = cross((motion[0], motion[1], motion[2]), (inertia[6], inertia[7], inertia[8]))
    for k in range(3):
        gravity[k] += inertia[9] * motion[3 + k] + turning[k]


@kernel
def compensate(m, p, b, bodies, gravity):
    """Add gradients through the gravity compensation -k m g of body b, with its motion z in body_scratch."""
    motion, inertia, k = p.body_scratch[b], p.cinert[b], m.body_gravcomp[b]
    turn, g = (motion[0], motion[1], motion[2]), m.opt_gravity[0]
    turning = cross(turn, (inertia[6], inertia[7], inertia[8]))
    origin = velocity_at(motion, sub3(p.xpos[b], p.subtree_com[m.body_rootid[b]]))
    by_moment = transpose_times_vector(p.xmat[b], cross(g, turn))
    for c in range(3):
        # mass times the velocity of the centre of mass
        gravity[c] -= k * (inertia[9] * motion[3 + c] + turning[c])
        bodies[b, 0] -= k * g[c] * origin[c]
        bodies[b, 1 + c] -= k * by_moment[c]


@kernel
def add_force(p, b, bodies):
    """Add the gradient by the centre of mass of body b, in its axes, through the Cartesian force that acts there."""
    motion, force = p.body_scratch[b], p.xfrc_applied[b]
    moment = cross((force[0], force[1], force[2]), (motion[0], motion[1], motion[2]))
    by_centre = transpose_times_vector(p.xmat[b], moment)
    for k in range(3):
        bodies[b, PARAMETERS + k] += by_centre[k]


# ---------------------------------------------------------------- parameters that act in one place


@kernel
def start_of_step(g, p, d, state):
    """Forces and contacts of a dual Data at the start of a step, without tangents of the state.

    g: a Model without tangents of poses; p: the Data that has taken the step; state: qpos, qvel, act, ctrl, time (s).
    """
    qpos, qvel, act, ctrl, start = state
    seed_state(g, d, qpos, qvel, act, ctrl, 2 * g.nv + g.nact + g.nu)
    d.time = d.time * 0.0 + start
    # what the step has computed there, where that is all
    if not has(g, "actuation", "transmission", "fluid", "mocap", "wrap") and g.neq == 0:
        keep_positions(g, p, d)
        keep_poses(g, p, d)
        keep_contacts(g, p, d)
        return
    position_stage(g, d, 0)
    if has(g, "constraint"):
        find_contacts(g, d)


@kernel
def keep_poses(g, p, d):
    """Copy poses of bodies from p to d."""
    for b in range(g.nbody):
        for k in range(3):
            d.xpos[b, k] = p.xpos[b, k]
        for k in range(9):
            d.xmat[b, k] = p.xmat[b, k]


@only_with("contact")
@kernel
def keep_contacts(g, p, d):
    """Copy the list of contacts from p to d."""
    d.count[NCON] = p.count[NCON]
    for n in range(p.count[NCON]):
        d.contact_collision[n] = p.contact_collision[n]
        d.contact_dist[n] = p.contact_dist[n]
        for k in range(3):
            d.contact_pos[n, k] = p.contact_pos[n, k]
        for k in range(9):
            d.contact_frame[n, k] = p.contact_frame[n, k]
    collider_frames(g, d)  # surfaces may move


@kernel
def adjoint_of_places(g, d, h, group, solved, motions, found):
    """Gradients by the parameters of a group of directions, which act in one place each, after `start_of_step`.

    g: the Model with tangents along them; motions: of `tree_motions`.
    """
    if has(g, "fluid"):
        newton_euler_forward(g, d, d, 0, g.keep_bodies)  # velocities in the medium
    applied_forces(g, d)
    if group == 0:
        add_dofs(g, d, h, solved, found[2])
    if group == 1:
        add_tendons(g, d, solved, found[10])
    if not has(g, "actuation"):
        add_motors(g, d, group, solved, found[3])
    add_rows(g, d, group, solved, motions, found)


@kernel
def add_dofs(g, d, h, solved, dofs):
    """Springs and dampers, each on its own degree of freedom."""
    for i in range(g.nv):
        force = d.qfrc_spring[i] + d.qfrc_damper[i]
        slope = h * g.implicit_damping * solved[Y, i] * solved[STEP, i]
        for k in range(NTANGENT):
            dofs[i, k] += solved[Z, i] * tangent_of(force, k) - slope * tangent_of(d.qfrc_damper_slope[i], k)


@only_with("tendon_force")
@kernel
def add_tendons(g, d, solved, tendons):
    """Springs and dampers of tendons, each along its own tendon."""
    for t in range(g.ntendon):
        rate = 0.0
        for k in range(g.tendon_Jadr[t], g.tendon_Jadr[t] + g.tendon_Jnum[t]):
            rate += value_of(d.ten_J[k]) * solved[Z, g.tendon_dof[k]]
        pull, drag = spring_and_damper(g, d, t)
        force = pull + drag
        for k in range(NTANGENT):
            tendons[t, k] += rate * tangent_of(force, k)


@kernel
def add_motors(g, d, group, solved, outputs):
    """Motors on hinges and slides (see `saltus.dynamics.actuator.actuation.motors`): gear times force."""
    for o in range(g.nactuator):
        z = solved[Z, g.jnt_dofadr[g.out_obj1[o]]]
        force = g.actuator_gear[o, 0] * d.actuator_force[o]
        for k in range(NTANGENT):
            outputs[o, NTANGENT * group + k] += z * tangent_of(force, k)


@only_with("constraint")
@kernel
def add_rows(g, d, group, solved, motions, found):
    """Laws of all constraints, each on its own rows, at the accelerations a: (J z)ᵀ d(force)."""
    laws, used, limits, frictions, chains = found[4], found[5], found[6], found[7], found[8]
    rows_without_contacts(g, d)
    first_contact = d.count[NBLOCK]
    if first_contact > 0:
        for i in range(g.nv):
            d.qacc[i] = 0.0 * d.time + solved[A, i]
            d.solve_search[i] = 0.0 * d.time + solved[Z, i]
        row_residuals(g, d, d.qacc)
        row_forces(g, d)
        times_rows(g, d, d.solve_search, d.row_velocity)
    contact_forces(g, d, motions)
    for b in range(d.count[NBLOCK]):
        kind, law, index = d.block_kind[b], d.block_law[b], d.block_id[b]
        power = 0.0 * d.time
        for r in range(d.block_row[b], d.block_row[b] + d.block_dim[b]):
            power = power + value_of(d.row_velocity[r]) * d.row_force[r]
        if group == 0:
            for k in range(NTANGENT):
                laws[law, k] += tangent_of(power, k)
        elif b >= first_contact:
            for k in range(NTANGENT):
                laws[law, NTANGENT + k] += tangent_of(power, k)
            chains[d.block_chain[b]] += tangent_of(power, CHAIN)
            if d.block_dim[b] > 1:
                used[law] = 1.0
        elif kind == FRICTION:
            for k in range(len(FRICTIONS)):
                frictions[index, k] += tangent_of(power, k)
        elif kind == UNILATERAL:
            for k in range(len(LIMITS)):
                limits[index, k] += tangent_of(power, k)


# ---------------------------------------------------------------- steps


@kernel
def adjoint_of_parameters(plain, duals, h, start, weight, solved, found, arrays, parts):
    """Gradients by parameters after a step; `solved`, motions and the start of the step for those by its state.

    plain: Model and Data, which has taken the step. duals: Models with tangents along both groups of directions,
    another one, and dual Data. start: qpos, qvel, act, ctrl, time (s). weight [nv]: the gradient by the accelerations
    of the step. arrays: as for `adjoint_of_state`. parts[0]: whether parameters are wanted.
    """
    m, p = plain
    first, second, other, d = duals
    adjoint_solution(m, p, h, weight, solved)
    motions, before = arrays[0], arrays[2]
    tree_motions(m, p, start[1], solved, motions, before)
    start_of_step(other, p, d, start)
    if parts[0]:
        inertial_adjoint(m, p, start[1], solved, found)
        adjoint_of_places(first, d, h, 0, solved, motions, found)
        adjoint_of_places(second, d, h, 1, solved, motions, found)
