"""The fields of `saltus.simulate.engine.data.Data` with shapes, units and meaning, for editors and type checkers."""

import numpy as np
from numpy.typing import NDArray


class DataFields:
    """Fields that a user reads from a simulation, by MuJoCo's names; all in SI units, vectors in world axes."""

    # state and inputs, to read and write
    time: NDArray[np.float64]
    """[] the time (s)."""
    qpos: NDArray[np.float64]
    """[nq] positions (rad, m, quaternion parts)."""
    qvel: NDArray[np.float64]
    """[nv] velocities (rad/s, m/s; of free and ball joints in body axes)."""
    act: NDArray[np.float64]
    """[na] states of actuators, then those of a controller."""
    ctrl: NDArray[np.float64]
    """[nu] controls, each in its actuator's unit."""
    qfrc_applied: NDArray[np.float64]
    """[nv] forces along the coordinates, from outside (N m, N)."""
    xfrc_applied: NDArray[np.float64]
    """[nbody, 6] force (N) at the centre of mass and torque (N m), world axes, from outside."""
    mocap_pos: NDArray[np.float64]
    """[nmocap, 3] positions of mocap bodies (m)."""
    mocap_quat: NDArray[np.float64]
    """[nmocap, 4] orientations of mocap bodies."""
    eq_active: NDArray[np.float64]
    """[neq] 1 for equality constraints that act, 0 for others."""
    userdata: NDArray[np.float64]
    """[nuserdata] user data, read by controllers and other laws."""

    # computed from them, to read
    xpos: NDArray[np.float64]
    """[nbody, 3] origins of body frames (m)."""
    xquat: NDArray[np.float64]
    """[nbody, 4] orientations of body frames."""
    xmat: NDArray[np.float64]
    """[nbody, 9] orientations of body frames, as rotation matrices, row by row."""
    xipos: NDArray[np.float64]
    """[nbody, 3] centres of mass (m)."""
    ximat: NDArray[np.float64]
    """[nbody, 9] principal axes of inertia, as rotation matrices."""
    xanchor: NDArray[np.float64]
    """[njnt, 3] anchors of joints (m)."""
    xaxis: NDArray[np.float64]
    """[njnt, 3] axes of joints."""
    geom_xpos: NDArray[np.float64]
    """[ngeom, 3] positions of geoms (m)."""
    geom_xmat: NDArray[np.float64]
    """[ngeom, 9] orientations of geoms, as rotation matrices."""
    site_xpos: NDArray[np.float64]
    """[nsite, 3] positions of sites (m)."""
    site_xmat: NDArray[np.float64]
    """[nsite, 9] orientations of sites, as rotation matrices."""
    flexvert_xpos: NDArray[np.float64]
    """[nflexvert, 3] vertices of deformable bodies (m)."""
    subtree_com: NDArray[np.float64]
    """[nbody, 3] centres of mass of subtrees (m)."""
    cinert: NDArray[np.float64]
    """[nbody, 10] inertias about the tree's centre of mass: rotational (kg m²), first moments (kg m), mass (kg)."""
    crb: NDArray[np.float64]
    """[nbody, 10] inertias of composite bodies, in the format of `cinert`."""
    cdof: NDArray[np.float64]
    """[nv, 6] motion axes about the tree's centre of mass: rotation, translation."""
    cdof_dot: NDArray[np.float64]
    """[nv, 6] rates of the motion axes (1/s)."""
    M: NDArray[np.float64]
    """[nC] the inertia matrix (kg, kg m, kg m²) in MuJoCo's sparse layout; `full_M` gives it dense."""
    qLD: NDArray[np.float64]
    """[nC] factorisation Lᵀ D L of the inertia matrix, in the layout of `M`."""
    qLDiagInv: NDArray[np.float64]
    """[nv] 1 / D."""
    ten_length: NDArray[np.float64]
    """[ntendon] lengths of tendons (m)."""
    ten_J: NDArray[np.float64]
    """[nJten] Jacobians of tendons in MuJoCo's sparse layout."""
    ten_velocity: NDArray[np.float64]
    """[ntendon] velocities of tendons (m/s)."""
    actuator_length: NDArray[np.float64]
    """[nout] lengths of actuators (m, rad, times gear)."""
    actuator_moment: NDArray[np.float64]
    """[nout, nv] moment arms of actuators, dense."""
    actuator_velocity: NDArray[np.float64]
    """[nout] velocities of actuators."""
    cvel: NDArray[np.float64]
    """[nbody, 6] velocities about the tree's centre of mass: rotation (rad/s), translation (m/s)."""
    cacc: NDArray[np.float64]
    """[nbody, 6] accelerations about the tree's centre of mass (rad/s², m/s²), gravity included."""
    cfrc_int: NDArray[np.float64]
    """[nbody, 6] torques (N m) and forces (N) between bodies and their parents."""
    cfrc_ext: NDArray[np.float64]
    """[nbody, 6] torques (N m) and forces (N) from outside on bodies."""
    cfrc_body: NDArray[np.float64]
    """[nbody, 6] torques (N m) and forces (N) that the motion of bodies requires."""
    subtree_linvel: NDArray[np.float64]
    """[nbody, 3] velocities of subtrees' centres of mass (m/s)."""
    subtree_angmom: NDArray[np.float64]
    """[nbody, 3] angular momenta of subtrees about their centres of mass (kg m²/s)."""
    qfrc_bias: NDArray[np.float64]
    """[nv] Coriolis, centrifugal and gravitational forces (N m, N), on the left side."""
    qfrc_spring: NDArray[np.float64]
    """[nv] forces of springs (N m, N)."""
    qfrc_damper: NDArray[np.float64]
    """[nv] forces of dampers (N m, N)."""
    qfrc_gravcomp: NDArray[np.float64]
    """[nv] forces of gravity compensation (N m, N)."""
    qfrc_prescribed: NDArray[np.float64]
    """[nv] forces that prescribed motions of joints need (N m, N), 0 at free dofs; [0] without any."""
    qfrc_fluid: NDArray[np.float64]
    """[nv] forces of a medium (N m, N)."""
    qfrc_adhesion: NDArray[np.float64]
    """[nv] attraction of adhesive contacts (N m, N)."""
    qfrc_passive: NDArray[np.float64]
    """[nv] sum of the passive forces (N m, N)."""
    act_dot: NDArray[np.float64]
    """[na] rates of the states of actuators (1/s)."""
    actuator_force: NDArray[np.float64]
    """[nout] forces of actuators (N, N m)."""
    qfrc_actuator: NDArray[np.float64]
    """[nv] forces of actuators along the coordinates (N m, N)."""
    qfrc_smooth: NDArray[np.float64]
    """[nv] all forces except those of constraints (N m, N)."""
    qacc_smooth: NDArray[np.float64]
    """[nv] accelerations without constraints (rad/s², m/s²)."""
    qacc: NDArray[np.float64]
    """[nv] accelerations (rad/s², m/s²)."""
    qfrc_constraint: NDArray[np.float64]
    """[nv] forces of constraints (N m, N)."""
    qfrc_inverse: NDArray[np.float64]
    """[nv] M qacc + bias, the sum of all forces; MuJoCo's is without passive and constraint forces (N m, N)."""
    energy: NDArray[np.float64]
    """[2] potential and kinetic energy (J)."""

    # constraint rows and contacts
    efc_J: NDArray[np.float64]
    """[nefc, nv] Jacobian of the constraint rows."""
    efc_pos: NDArray[np.float64]
    """[nefc] violations (m, rad)."""
    efc_D: NDArray[np.float64]
    """[nefc] masses of the rows."""
    efc_R: NDArray[np.float64]
    """[nefc] regularisation of the rows, the inverse of `efc_D`."""
    efc_aref: NDArray[np.float64]
    """[nefc] reference accelerations (m/s², rad/s²)."""
    efc_force: NDArray[np.float64]
    """[nefc] forces of the rows (N, N m)."""
    efc_frictionloss: NDArray[np.float64]
    """[nefc] dry friction of the rows (N, N m)."""
    efc_type: NDArray[np.int_]
    """[nefc] kinds of the rows, mujoco.mjtConstraint."""
    efc_id: NDArray[np.int_]
    """[nefc] numbers of the objects that the rows belong to."""
    contact: NDArray[np.void]
    """[ncon] contacts; fields as in `saltus.simulate.engine.constraint_rows.CONTACT`."""
    ncon: int
    """Number of contacts."""
    nefc: int
    """Number of constraint rows."""
    solver_niter: int
    """Number of iterations of the constraint solver."""
