"""Sensor readings at the current state, by families of sensors.

Readings are those of MuJoCo 4.0 (documentation, XML Reference, "sensor"), without noise, which it does not add either.
User and plugin sensors read zero.
"""

from saltus.model.actuator_enums import TENDON
from saltus.model.sensor_enums import (
    ACCELEROMETER,
    ACTUATORFRC,
    ACTUATORPOS,
    ACTUATORVEL,
    BALLANGVEL,
    BALLQUAT,
    CLOCK,
    CONTACT,
    E_KINETIC,
    E_POTENTIAL,
    FORCE,
    FRAMEANGACC,
    FRAMEANGVEL,
    FRAMEPOS,
    FRAMEQUAT,
    FRAMEXAXIS,
    FRAMEYAXIS,
    GEOMFROMTO,
    GYRO,
    JOINTACTFRC,
    JOINTPOS,
    JOINTVEL,
    MAGNETOMETER,
    ON_CONTACTS,
    ON_FORCES,
    ON_FRAMES,
    ON_GEOMETRY,
    ON_JOINTS,
    ON_LIMITS,
    ON_MOTION,
    ON_SUBTREES,
    ON_TAXELS,
    ON_TOUCH,
    POSITIVE,
    REAL,
    SITE,
    SUBTREECOM,
    SUBTREELINVEL,
    TENDONACTFRC,
    TENDONPOS,
    TENDONVEL,
    TORQUE,
    VELOCIMETER,
)
from saltus.number.functions import clip, minimum
from saltus.number.kernels import kernel, only_with
from saltus.sense.contact_sensor import contact_sensor
from saltus.sense.forces import body_forces
from saltus.sense.geometry import geometry_sensor
from saltus.sense.limit import limit_value
from saltus.sense.objects import object_acceleration, object_axes, object_position, object_quaternion, object_velocity
from saltus.sense.subtree import subtree_momenta
from saltus.sense.tactile import tactile_sensor
from saltus.sense.touch import touch
from saltus.spatial.fields import load3, load4, store3, store4
from saltus.spatial.quaternions import quat_conjugate, quat_multiply, quat_normalize
from saltus.spatial.vectors import add3, cross, sub3, transpose_times_vector


@kernel
def sense(m, d):
    """Readings of all sensors, sensordata [nsensordata]; needs all of `saltus.solve.acceleration.forward`.

    Also writes cacc, cfrc_ext, cfrc_int, subtree_linvel and subtree_angmom if a sensor reads them.
    """
    for k in range(m.nsensordata):
        d.sensordata[k] = 0.0 * d.time
    body_forces(m, d)
    subtree_momenta(m, d)
    for s in range(m.nsensor):
        read_sensor(m, d, s)


@kernel
def read_sensor(m, d, s):
    """Reading of sensor s, clipped to its cutoff."""
    # by family, each with its own kernels
    family = m.sensor_family[s]
    if family == ON_JOINTS:
        joint_sensor(m, d, s)
    elif family == ON_FRAMES:
        frame_sensor(m, d, s)
    elif family == ON_MOTION:
        motion_sensor(m, d, s)
    elif family == ON_FORCES:
        force_sensor(m, d, s)
    elif family == ON_SUBTREES:
        subtree_sensor(m, d, s)
    elif family == ON_LIMITS:
        d.sensordata[m.sensor_adr[s]] = limit_value(m, d, m.sensor_type[s], m.sensor_objid[s])
    elif family == ON_TOUCH:
        d.sensordata[m.sensor_adr[s]] = touch(m, d, m.sensor_objid[s])
    elif family == ON_GEOMETRY:
        geometry_sensor(m, d, s)
    elif family == ON_CONTACTS:
        contact_sensor(m, d, s)
    elif family == ON_TAXELS:
        tactile_sensor(m, d, s)
    # cutoff
    cut_off(m, d, s)


@kernel
def cut_off(m, d, s):
    """Clip the reading of sensor s to its cutoff, except for the two types whose cutoff has another meaning."""
    cutoff, kind, values = m.sensor_cutoff[s], m.sensor_type[s], m.sensor_datatype[s]
    if cutoff > 0.0 and kind != CONTACT and kind != GEOMFROMTO:
        for k in range(m.sensor_adr[s], m.sensor_adr[s] + m.sensor_dim[s]):
            if values == REAL:
                d.sensordata[k] = clip(d.sensordata[k], -cutoff, cutoff)
            elif values == POSITIVE:
                d.sensordata[k] = minimum(cutoff + 0.0 * d.time, d.sensordata[k])


# ---------------------------------------------------------------- joints, tendons, actuators


@kernel
def joint_sensor(m, d, s):
    """Coordinates, velocities and forces of joints, tendons and actuators; time, energy, magnetic field."""
    kind, i, adr = m.sensor_type[s], m.sensor_objid[s], m.sensor_adr[s]
    # joints: coordinate, velocity, actuator force
    if kind == JOINTPOS:
        d.sensordata[adr] = d.qpos[m.jnt_qposadr[i]]
    elif kind == JOINTVEL:
        d.sensordata[adr] = d.qvel[m.jnt_dofadr[i]]
    elif kind == JOINTACTFRC:
        d.sensordata[adr] = d.qfrc_actuator[m.jnt_dofadr[i]]
    # tendons: length, velocity, actuator force
    elif kind == TENDONPOS:
        d.sensordata[adr] = d.ten_length[i]
    elif kind == TENDONVEL:
        d.sensordata[adr] = d.ten_velocity[i]
    elif kind == TENDONACTFRC:
        d.sensordata[adr] = tendon_actuation(m, d, i)
    elif kind == ACTUATORPOS or kind == ACTUATORVEL or kind == ACTUATORFRC:
        actuator_sensor(m, d, kind, m.actuator_outadr[i], adr, m.sensor_dim[s])
    # ball joints
    elif kind == BALLQUAT:
        store4(d.sensordata, adr, quat_normalize(load4(d.qpos, m.jnt_qposadr[i])))
    elif kind == BALLANGVEL:
        store3(d.sensordata, adr, load3(d.qvel, m.jnt_dofadr[i]))
    # quantities of the whole model or a subtree
    elif kind == SUBTREECOM:
        store3(d.sensordata, adr, d.subtree_com[i])
    elif kind == MAGNETOMETER:
        store3(d.sensordata, adr, transpose_times_vector(d.site_xmat[i], m.opt_magnetic[0]))
    elif kind == E_POTENTIAL:
        d.sensordata[adr] = d.energy[0]
    elif kind == E_KINETIC:
        d.sensordata[adr] = d.energy[1]
    elif kind == CLOCK:
        d.sensordata[adr] = d.time


@kernel
def actuator_sensor(m, d, kind, o, adr, count):
    """Lengths, velocities or forces of `count` outputs of an actuator, from output o on."""
    for k in range(count):
        if kind == ACTUATORPOS:
            d.sensordata[adr + k] = d.actuator_length[o + k]
        elif kind == ACTUATORVEL:
            d.sensordata[adr + k] = d.actuator_velocity[o + k]
        else:
            d.sensordata[adr + k] = d.actuator_force[o + k]


@kernel
def tendon_actuation(m, d, t):
    """Sum (N, N m) of the forces of the actuators on tendon t."""
    total = 0.0 * d.time
    for o in range(m.nout):
        if m.out_kind[o] == TENDON and m.out_obj1[o] == t:
            total = total + d.actuator_force[o]
    return total


# ---------------------------------------------------------------- frames


@only_with("sense_frame")
@kernel
def frame_sensor(m, d, s):
    """Position (m), orientation or an axis of an object's frame, in the world or relative to another object's frame."""
    kind, adr = m.sensor_type[s], m.sensor_adr[s]
    of, i, to, j = m.sensor_objtype[s], m.sensor_objid[s], m.sensor_reftype[s], m.sensor_refid[s]
    # orientation, relative to the reference: q_ref* q
    if kind == FRAMEQUAT:
        quat = object_quaternion(m, d, of, i)
        if j >= 0:
            quat = quat_multiply(quat_conjugate(object_quaternion(m, d, to, j)), quat)
        store4(d.sensordata, adr, quat)
    # position or axis, in the reference's axes
    else:
        if kind == FRAMEPOS:
            value = object_position(m, d, of, i)
            if j >= 0:
                value = sub3(value, object_position(m, d, to, j))
        else:
            a = object_axes(m, d, of, i)
            if kind == FRAMEXAXIS:
                value = (a[0], a[3], a[6])
            elif kind == FRAMEYAXIS:
                value = (a[1], a[4], a[7])
            else:
                value = (a[2], a[5], a[8])
        if j >= 0:
            value = transpose_times_vector(object_axes(m, d, to, j), value)
        store3(d.sensordata, adr, value)


@only_with("sense_motion")
@kernel
def motion_sensor(m, d, s):
    """Angular (rad/s) or linear velocity (m/s) of a site in its axes, or of an object relative to world or reference.

    In a frame that rotates with ω, a point at r from its origin has the apparent velocity v - v₀ - ω × r.
    """
    kind, adr = m.sensor_type[s], m.sensor_adr[s]
    of, i, to, j = m.sensor_objtype[s], m.sensor_objid[s], m.sensor_reftype[s], m.sensor_refid[s]
    # velocimeter and gyro, in the site's axes
    if kind == VELOCIMETER or kind == GYRO:
        angular, linear = object_velocity(m, d, SITE, i)
        value = angular if kind == GYRO else linear
        store3(d.sensordata, adr, transpose_times_vector(d.site_xmat[i], value))
    else:
        angular, linear = object_velocity(m, d, of, i)
        value = angular if kind == FRAMEANGVEL else linear
        # relative to the rotating reference frame, in its axes
        if j >= 0:
            turning, moving = object_velocity(m, d, to, j)
            if kind == FRAMEANGVEL:
                value = sub3(value, turning)
            else:
                r = sub3(object_position(m, d, of, i), object_position(m, d, to, j))
                value = sub3(value, add3(moving, cross(turning, r)))
            value = transpose_times_vector(object_axes(m, d, to, j), value)
        store3(d.sensordata, adr, value)


@only_with("sense_body")
@kernel
def force_sensor(m, d, s):
    """Accelerations (rad/s², m/s²) of objects, of a site in its own axes; force and torque sensors (N, N m).

    Force and torque sensors read the wrench between the site's body and its parent at the site, in its axes. Reads
    cacc, cfrc_int.
    """
    kind, adr, of, i = m.sensor_type[s], m.sensor_adr[s], m.sensor_objtype[s], m.sensor_objid[s]
    # wrench through the joint, moved to the site
    if kind == FORCE or kind == TORQUE:
        b = m.site_bodyid[i]
        f = d.cfrc_int[b]
        value = (f[3], f[4], f[5])
        if kind == TORQUE:
            arm = sub3(d.site_xpos[i], d.subtree_com[m.body_rootid[b]])
            value = sub3((f[0], f[1], f[2]), cross(arm, value))
        store3(d.sensordata, adr, transpose_times_vector(d.site_xmat[i], value))
    # accelerations
    elif kind == ACCELEROMETER:
        _, linear = object_acceleration(m, d, SITE, i)
        store3(d.sensordata, adr, transpose_times_vector(d.site_xmat[i], linear))
    else:
        angular, linear = object_acceleration(m, d, of, i)
        store3(d.sensordata, adr, angular if kind == FRAMEANGACC else linear)


@only_with("sense_subtree")
@kernel
def subtree_sensor(m, d, s):
    """Velocity (m/s) of a subtree's centre of mass, or angular momentum (N m s) about it."""
    i, adr = m.sensor_objid[s], m.sensor_adr[s]
    store3(d.sensordata, adr, d.subtree_linvel[i] if m.sensor_type[s] == SUBTREELINVEL else d.subtree_angmom[i])
