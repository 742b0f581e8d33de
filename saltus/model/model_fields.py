"""The most common fields of MuJoCo's model, for editors and type checkers: shapes, units, MuJoCo's descriptions.

`saltus.model.model.Model` has all of MuJoCo's fields; it reads them on first access.
"""

import numpy as np
from numpy.typing import NDArray


class ModelFields:
    """Sizes and arrays by MuJoCo's names, read-only; in SI units, angles in rad."""

    nq: int
    """Number of generalized coordinates = dim(qpos)."""
    nv: int
    """Number of degrees of freedom = dim(qvel)."""
    nu: int
    """Number of scalar controls = dim(ctrl)."""
    nout: int
    """Number of force outputs, derived from transmission type."""
    nactuator: int
    """Number of actuators."""
    nbody: int
    """Number of bodies."""
    njnt: int
    """Number of joints."""
    ntree: int
    """Number of kinematic trees under world body."""
    ngeom: int
    """Number of geoms."""
    nsite: int
    """Number of sites."""
    ncam: int
    """Number of cameras."""
    nlight: int
    """Number of lights."""
    nflex: int
    """Number of flexes."""
    nflexvert: int
    """Number of vertices in all flexes."""
    nmesh: int
    """Number of meshes."""
    nhfield: int
    """Number of heightfields."""
    ntex: int
    """Number of textures."""
    nmat: int
    """Number of materials."""
    npair: int
    """Number of predefined geom pairs."""
    nexclude: int
    """Number of excluded geom pairs."""
    neq: int
    """Number of equality constraints."""
    ntendon: int
    """Number of tendons."""
    nsensor: int
    """Number of sensors."""
    nsensordata: int
    """Number of mjtNums in sensor data vector."""
    nkey: int
    """Number of keyframes."""
    nmocap: int
    """Number of mocap bodies."""
    nuserdata: int
    """Number of mjtNums reserved for the user."""
    nC: int
    """Number of non-zeros in sparse reduced dof-dof matrix."""

    qpos0: NDArray[np.float64]
    """[nq] positions at the default pose (rad, m, quaternion parts)."""

    qpos_spring: NDArray[np.float64]
    """[nq] reference positions of springs (rad, m, quaternion parts)."""

    body_parentid: NDArray[np.int32]
    """[nbody] id of body's parent."""
    body_rootid: NDArray[np.int32]
    """[nbody] ancestor that is direct child of world."""
    body_weldid: NDArray[np.int32]
    """[nbody] top dof-less ancestor; mocap: own root."""
    body_mocapid: NDArray[np.int32]
    """[nbody] id of mocap data; -1: none."""
    body_jntnum: NDArray[np.int32]
    """[nbody] number of joints for this body."""
    body_jntadr: NDArray[np.int32]
    """[nbody] start addr of joints; -1: no joints."""
    body_dofnum: NDArray[np.int32]
    """[nbody] number of motion degrees of freedom."""
    body_dofadr: NDArray[np.int32]
    """[nbody] start addr of dofs; -1: no dofs."""
    body_geomnum: NDArray[np.int32]
    """[nbody] number of geoms."""
    body_geomadr: NDArray[np.int32]
    """[nbody] start addr of geoms; -1: no geoms."""
    body_pos: NDArray[np.float64]
    """[nbody, 3] position offset rel. to parent body (m)."""
    body_quat: NDArray[np.float64]
    """[nbody, 4] orientation offset rel. to parent body."""
    body_ipos: NDArray[np.float64]
    """[nbody, 3] local position of center of mass (m)."""
    body_iquat: NDArray[np.float64]
    """[nbody, 4] local orientation of inertia ellipsoid."""
    body_mass: NDArray[np.float64]
    """[nbody] mass (kg)."""
    body_subtreemass: NDArray[np.float64]
    """[nbody] mass of subtree starting at this body (kg)."""
    body_inertia: NDArray[np.float64]
    """[nbody, 3] diagonal inertia in ipos/iquat frame (kg m²)."""
    body_invweight0: NDArray[np.float64]
    """[nbody, 2] mean inv inert in qpos0 (trn, rot)."""
    body_gravcomp: NDArray[np.float64]
    """[nbody] antigravity force, units of body weight."""
    body_margin: NDArray[np.float64]
    """[nbody] MAX over all geom margins+gaps (m)."""
    body_contype: NDArray[np.int32]
    """[nbody] OR over all geom contypes."""
    body_conaffinity: NDArray[np.int32]
    """[nbody] OR over all geom conaffinities."""

    jnt_type: NDArray[np.int32]
    """[njnt] type of joint (mjtJoint)."""
    jnt_qposadr: NDArray[np.int32]
    """[njnt] start addr in 'qpos' for joint's data."""
    jnt_dofadr: NDArray[np.int32]
    """[njnt] start addr in 'qvel' for joint's data."""
    jnt_bodyid: NDArray[np.int32]
    """[njnt] id of joint's body."""
    jnt_limited: NDArray[np.bool_]
    """[njnt] does joint have limits."""
    jnt_actfrclimited: NDArray[np.bool_]
    """[njnt] does joint have actuator force limits."""
    jnt_actgravcomp: NDArray[np.bool_]
    """[njnt] is gravcomp force applied via actuators."""
    jnt_solref: NDArray[np.float64]
    """[njnt, 2] constraint solver reference: limit."""
    jnt_solimp: NDArray[np.float64]
    """[njnt, 5] constraint solver impedance: limit."""
    jnt_pos: NDArray[np.float64]
    """[njnt, 3] local anchor position (m)."""
    jnt_axis: NDArray[np.float64]
    """[njnt, 3] local joint axis."""
    jnt_stiffness: NDArray[np.float64]
    """[njnt] linear stiffness coefficient (N m/rad, N/m)."""
    jnt_stiffnesspoly: NDArray[np.float64]
    """[njnt, 2] high-order stiffness coefficients."""
    jnt_range: NDArray[np.float64]
    """[njnt, 2] joint limits (rad, m)."""
    jnt_actfrcrange: NDArray[np.float64]
    """[njnt, 2] range of total actuator force."""
    jnt_margin: NDArray[np.float64]
    """[njnt] min distance for limit detection (rad, m)."""

    dof_bodyid: NDArray[np.int32]
    """[nv] id of dof's body."""
    dof_jntid: NDArray[np.int32]
    """[nv] id of dof's joint."""
    dof_parentid: NDArray[np.int32]
    """[nv] id of dof's parent; -1: none."""
    dof_solref: NDArray[np.float64]
    """[nv, 2] constraint solver reference:frictionloss."""
    dof_solimp: NDArray[np.float64]
    """[nv, 5] constraint solver impedance:frictionloss."""
    dof_frictionloss: NDArray[np.float64]
    """[nv] dof friction loss (N m, N)."""
    dof_armature: NDArray[np.float64]
    """[nv] dof armature inertia/mass (kg m², kg)."""
    dof_damping: NDArray[np.float64]
    """[nv] linear damping coefficient (N m s/rad, N s/m)."""
    dof_dampingpoly: NDArray[np.float64]
    """[nv, 2] high-order damping coefficients."""
    dof_invweight0: NDArray[np.float64]
    """[nv] diag. inverse inertia in qpos0."""
    dof_M0: NDArray[np.float64]
    """[nv] diag. inertia in qpos0."""

    geom_type: NDArray[np.int32]
    """[ngeom] geometric type (mjtGeom)."""
    geom_contype: NDArray[np.int32]
    """[ngeom] geom contact type."""
    geom_conaffinity: NDArray[np.int32]
    """[ngeom] geom contact affinity."""
    geom_condim: NDArray[np.int32]
    """[ngeom] contact dimensionality (1, 3, 4, 6)."""
    geom_bodyid: NDArray[np.int32]
    """[ngeom] id of geom's body."""
    geom_priority: NDArray[np.int32]
    """[ngeom] geom contact priority."""
    geom_solmix: NDArray[np.float64]
    """[ngeom] mixing coef for solref/imp in geom pair."""
    geom_solref: NDArray[np.float64]
    """[ngeom, 2] constraint solver reference: contact."""
    geom_solimp: NDArray[np.float64]
    """[ngeom, 5] constraint solver impedance: contact."""
    geom_size: NDArray[np.float64]
    """[ngeom, 3] geom-specific size parameters (m)."""
    geom_rbound: NDArray[np.float64]
    """[ngeom] radius of bounding sphere (m)."""
    geom_pos: NDArray[np.float64]
    """[ngeom, 3] local position offset rel. to body (m)."""
    geom_quat: NDArray[np.float64]
    """[ngeom, 4] local orientation offset rel. to body."""
    geom_friction: NDArray[np.float64]
    """[ngeom, 3] friction for (slide, spin, roll)."""
    geom_margin: NDArray[np.float64]
    """[ngeom] geometric inflation for contact (m)."""
    geom_gap: NDArray[np.float64]
    """[ngeom] additional contact detection buffer (m)."""
    geom_surfacevel: NDArray[np.float64]
    """[ngeom, 6] surface velocity in local frame: lin,ang (m/s, rad/s)."""
    geom_adhesion: NDArray[np.float64]
    """[ngeom] adhesive force of contacts."""
    geom_fluid: NDArray[np.float64]
    """[ngeom, 12] fluid interaction parameters."""
    geom_rgba: NDArray[np.float32]
    """[ngeom, 4] rgba when material is omitted."""

    site_type: NDArray[np.int32]
    """[nsite] geom type for rendering (mjtGeom)."""
    site_bodyid: NDArray[np.int32]
    """[nsite] id of site's body."""
    site_size: NDArray[np.float64]
    """[nsite, 3] geom size for rendering (m)."""
    site_pos: NDArray[np.float64]
    """[nsite, 3] local position offset rel. to body (m)."""
    site_quat: NDArray[np.float64]
    """[nsite, 4] local orientation offset rel. to body."""
    site_rgba: NDArray[np.float32]
    """[nsite, 4] rgba when material is omitted."""

    eq_type: NDArray[np.int32]
    """[neq] constraint type (mjtEq)."""
    eq_obj1id: NDArray[np.int32]
    """[neq] id of object 1."""
    eq_obj2id: NDArray[np.int32]
    """[neq] id of object 2."""
    eq_objtype: NDArray[np.int32]
    """[neq] type of both objects (mjtObj)."""
    eq_active0: NDArray[np.bool_]
    """[neq] initial enable/disable constraint state."""
    eq_solref: NDArray[np.float64]
    """[neq, 2] constraint solver reference."""
    eq_solimp: NDArray[np.float64]
    """[neq, 5] constraint solver impedance."""
    eq_data: NDArray[np.float64]
    """[neq, 12] numeric data for constraint."""

    tendon_type: NDArray[np.int32]
    """[ntendon] type of tendon (mjtTendon)."""
    tendon_adr: NDArray[np.int32]
    """[ntendon] address of first object in tendon's path."""
    tendon_num: NDArray[np.int32]
    """[ntendon] number of objects in tendon's path."""
    tendon_limited: NDArray[np.bool_]
    """[ntendon] does tendon have length limits."""
    tendon_actfrclimited: NDArray[np.bool_]
    """[ntendon] does tendon have actuator force limits."""
    tendon_width: NDArray[np.float64]
    """[ntendon] width for rendering (m)."""
    tendon_solref_lim: NDArray[np.float64]
    """[ntendon, 2] constraint solver reference: limit."""
    tendon_solimp_lim: NDArray[np.float64]
    """[ntendon, 5] constraint solver impedance: limit."""
    tendon_solref_fri: NDArray[np.float64]
    """[ntendon, 2] constraint solver reference: friction."""
    tendon_solimp_fri: NDArray[np.float64]
    """[ntendon, 5] constraint solver impedance: friction."""
    tendon_range: NDArray[np.float64]
    """[ntendon, 2] tendon length limits (m)."""
    tendon_actfrcrange: NDArray[np.float64]
    """[ntendon, 2] range of total actuator force."""
    tendon_margin: NDArray[np.float64]
    """[ntendon] min distance for limit detection (m)."""
    tendon_stiffness: NDArray[np.float64]
    """[ntendon] linear stiffness coefficient (N/m)."""
    tendon_stiffnesspoly: NDArray[np.float64]
    """[ntendon, 2] high-order stiffness coefficients."""
    tendon_damping: NDArray[np.float64]
    """[ntendon] linear damping coefficient (N s/m)."""
    tendon_dampingpoly: NDArray[np.float64]
    """[ntendon, 2] high-order damping coefficients."""
    tendon_armature: NDArray[np.float64]
    """[ntendon] inertia associated with tendon velocity (kg)."""
    tendon_frictionloss: NDArray[np.float64]
    """[ntendon] loss due to friction (N)."""
    tendon_lengthspring: NDArray[np.float64]
    """[ntendon, 2] spring resting length range."""
    tendon_length0: NDArray[np.float64]
    """[ntendon] tendon length in qpos0 (m)."""
    tendon_invweight0: NDArray[np.float64]
    """[ntendon] inv. weight in qpos0."""
    tendon_rgba: NDArray[np.float32]
    """[ntendon, 4] rgba when material is omitted."""

    actuator_trntype: NDArray[np.int32]
    """[nactuator] transmission type (mjtTrn)."""
    actuator_dyntype: NDArray[np.int32]
    """[nactuator] dynamics type (mjtDyn)."""
    actuator_gaintype: NDArray[np.int32]
    """[nactuator] gain type (mjtGain)."""
    actuator_biastype: NDArray[np.int32]
    """[nactuator] bias type (mjtBias)."""
    actuator_ctrlnum: NDArray[np.int32]
    """[nactuator] number of controls."""
    actuator_outnum: NDArray[np.int32]
    """[nactuator] number of force outputs, from trntype."""
    actuator_actadr: NDArray[np.int32]
    """[nactuator] first activation address; -1: stateless."""
    actuator_actnum: NDArray[np.int32]
    """[nactuator] number of activation variables."""
    actuator_trnid: NDArray[np.int32]
    """[nactuator, 2] transmission id: joint, tendon, site."""
    actuator_cranklength: NDArray[np.float64]
    """[nactuator] crank length for slider-crank (m)."""
    actuator_dynprm: NDArray[np.float64]
    """[nactuator, 10] dynamics parameters."""
    actuator_gainprm: NDArray[np.float64]
    """[nactuator, 10] gain parameters."""
    actuator_biasprm: NDArray[np.float64]
    """[nactuator, 10] bias parameters."""
    actuator_actlimited: NDArray[np.bool_]
    """[nactuator] is activation limited."""
    actuator_actrange: NDArray[np.float64]
    """[nactuator, 2] range of activations."""
    actuator_delay: NDArray[np.float64]
    """[nactuator] delay time; 0: no delay (s)."""
    actuator_damping: NDArray[np.float64]
    """[nactuator] linear damping coefficient."""
    actuator_dampingpoly: NDArray[np.float64]
    """[nactuator, 2] high-order damping coefficients."""
    actuator_armature: NDArray[np.float64]
    """[nactuator] armature added to target (joint, tendon)."""
    actuator_forcelimited: NDArray[np.bool_]
    """[nactuator] is force limited."""
    actuator_forcerange: NDArray[np.float64]
    """[nactuator, 2] range of forces (N, N m)."""
    actuator_ctrllimited: NDArray[np.bool_]
    """[nu] is control limited."""
    actuator_ctrlrange: NDArray[np.float64]
    """[nu, 2] range of controls."""
    actuator_gear: NDArray[np.float64]
    """[nout, 6] scale length and transmitted force."""
    actuator_acc0: NDArray[np.float64]
    """[nout] acceleration from unit force in qpos0."""
    actuator_length0: NDArray[np.float64]
    """[nout] actuator length in qpos0 (m, rad)."""

    sensor_type: NDArray[np.int32]
    """[nsensor] sensor type (mjtSensor)."""
    sensor_objtype: NDArray[np.int32]
    """[nsensor] type of sensorized object (mjtObj)."""
    sensor_objid: NDArray[np.int32]
    """[nsensor] id of sensorized object."""
    sensor_reftype: NDArray[np.int32]
    """[nsensor] type of reference frame (mjtObj)."""
    sensor_refid: NDArray[np.int32]
    """[nsensor] id of reference frame; -1: global frame."""
    sensor_dim: NDArray[np.int32]
    """[nsensor] number of scalar outputs."""
    sensor_adr: NDArray[np.int32]
    """[nsensor] address in sensor array."""
    sensor_cutoff: NDArray[np.float64]
    """[nsensor] cutoff for real and positive; 0: ignore."""
    sensor_noise: NDArray[np.float64]
    """[nsensor] noise standard deviation."""
    sensor_delay: NDArray[np.float64]
    """[nsensor] delay time in seconds; 0: no delay (s)."""
    sensor_interval: NDArray[np.float64]
    """[nsensor, 2] interval: [period, phase] in seconds."""

    key_time: NDArray[np.float64]
    """[nkey] key time (s)."""
    key_qpos: NDArray[np.float64]
    """[nkey, nq] key position (rad, m, quaternion parts)."""
    key_qvel: NDArray[np.float64]
    """[nkey, nv] key velocity (rad/s, m/s)."""
    key_act: NDArray[np.float64]
    """[nkey, na] key activation."""
    key_mpos: NDArray[np.float64]
    """[nkey, 3 nmocap] positions of mocap bodies (m)."""
    key_mquat: NDArray[np.float64]
    """[nkey, 4 nmocap] orientations of mocap bodies."""
    key_ctrl: NDArray[np.float64]
    """[nkey, nu] key control."""
