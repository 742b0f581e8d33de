"""Sensors and cameras."""

from saltus.number.structs import ints, reals

MODEL = {  # fixed
    # sensors
    **ints("nsensor", "nsensordata"),
    **ints(
        *["sensor_type", "sensor_datatype", "sensor_objtype", "sensor_objid", "sensor_reftype", "sensor_refid"],
        *["sensor_dim", "sensor_adr", "sensor_nsample", "sensor_interp", "sensor_historyadr", "sensor_family"],
        shape=("nsensor",),
    ),
    **ints("sensor_intprm", shape=("nsensor", 3)),
    **reals("sensor_cutoff", "sensor_delay", "sensor_interval", shape=("nsensor",)),
    # sensed objects: geoms visible to rays, geoms of bodies, sites with a volume
    **ints("geom_visible", shape=("ngeom",)),
    **ints("body_geomadr", "body_geomnum", shape=("nbody",)),
    **ints("site_type", shape=("nsite",)),
    **reals("site_size", shape=("nsite", 3)),
    # taxels, the points of tactile sensors: first taxel and number of taxels of each sensor; position (m) and two
    # tangents in the axes of the sensor's geom; the body to which each body is welded
    **ints("ntaxel"),
    **ints("sensor_taxeladr", "sensor_taxelnum", shape=("nsensor",)),
    **reals("taxel_pos", shape=("ntaxel", 3)),
    **reals("taxel_tangents", shape=("ntaxel", 6)),
    # cameras: cam_focal (pixels) for projections; cam_lens: for rays (pixels, or pixels per m), and their centre
    **ints("ncam"),
    **ints("cam_mode", "cam_bodyid", "cam_targetbodyid", "cam_projection", shape=("ncam",)),
    **ints("cam_resolution", shape=("ncam", 2)),
    **reals("cam_pos", "cam_pos0", "cam_poscom0", shape=("ncam", 3)),
    **reals("cam_quat", shape=("ncam", 4)),
    **reals("cam_mat", "cam_mat0", shape=("ncam", 9)),
    **reals("cam_focal", shape=("ncam", 2)),
    **reals("cam_lens", shape=("ncam", 4)),
}

VELOCITY = {  # depends on velocities and inputs
    # sensors, and quantities of bodies that they read: external wrenches, wrenches through joints (N m, N), subtree
    # momenta
    **reals("sensordata", shape=("nsensordata",)),
    **reals("cfrc_ext", "cfrc_int", shape=("nbody_sense", 6)),
    **reals("subtree_linvel", "subtree_angmom", shape=("nbody_sense", 3)),
}

#: Fields of MODEL that may differ from simulation to simulation of a batch.
VARIES = ("cam_pos0", "cam_poscom0", "cam_mat0")

#: Rooms whose kernels read these fields, and those that write them.
READ_BY = {
    "MODEL": ("contact", "dynamics", "sense"),
    "VELOCITY": ("sense",),
}
WRITTEN_BY = {
    "VELOCITY": ("sense",),
}
