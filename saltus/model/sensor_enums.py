"""Numeric codes of sensors: MuJoCo's types, objects that they are fixed to, reported values."""

# types of sensors (mjtSensor)
(TOUCH, ACCELEROMETER, VELOCIMETER, GYRO, FORCE, TORQUE, MAGNETOMETER, RANGEFINDER, CAMPROJECTION) = range(9)
(JOINTPOS, JOINTVEL, TENDONPOS, TENDONVEL, ACTUATORPOS, ACTUATORVEL, ACTUATORFRC, JOINTACTFRC) = range(9, 17)
(TENDONACTFRC, BALLQUAT, BALLANGVEL) = range(17, 20)
(JOINTLIMITPOS, JOINTLIMITVEL, JOINTLIMITFRC, TENDONLIMITPOS, TENDONLIMITVEL, TENDONLIMITFRC) = range(20, 26)
(FRAMEPOS, FRAMEQUAT, FRAMEXAXIS, FRAMEYAXIS, FRAMEZAXIS) = range(26, 31)
(FRAMELINVEL, FRAMEANGVEL, FRAMELINACC, FRAMEANGACC) = range(31, 35)
(SUBTREECOM, SUBTREELINVEL, SUBTREEANGMOM) = range(35, 38)
(INSIDESITE, GEOMDIST, GEOMNORMAL, GEOMFROMTO, CONTACT, E_POTENTIAL, E_KINETIC, CLOCK) = range(38, 46)
(TACTILE, PLUGIN, USER) = range(46, 49)

# types of sensor values (mjtDataType), which determine clipping by a cutoff
REAL, POSITIVE, AXIS, QUATERNION = range(4)

# families of sensors that share their kernels
(ON_JOINTS, ON_LIMITS, ON_FRAMES, ON_MOTION, ON_FORCES, ON_SUBTREES, ON_TOUCH, ON_GEOMETRY, ON_CONTACTS) = range(9)
ON_NOTHING, ON_TAXELS = 9, 10

# types of objects that sensors are fixed to, or observe (mjtObj): a body has two frames, its inertial one and its own
NO_OBJECT, INERTIA, BODY = range(3)
GEOM, SITE, CAMERA = 5, 6, 7

# modes of cameras (mjtCamLight), and a projection (mjtProjection)
FIXED, TRACK, TRACK_COM, TARGET_BODY, TARGET_BODY_COM = range(5)
PERSPECTIVE, ORTHOGRAPHIC = range(2)

# places in sensor_intprm: bits of reported data, selection of contacts, their largest number
REPORTED, REDUCTION, SLOTS = range(3)
# data that a rangefinder reports for each ray, bits in the order of mjtRayDataField
RAY_DIST, RAY_DIR, RAY_ORIGIN, RAY_POINT, RAY_NORMAL, RAY_DEPTH = (1 << k for k in range(6))

# data that a contact sensor reports for each contact, bits in the order of mjtConDataField
(CONTACT_FOUND, CONTACT_FORCE, CONTACT_TORQUE, CONTACT_DIST, CONTACT_POS, CONTACT_NORMAL) = (1 << k for k in range(6))
(CONTACT_TANGENT, CONTACT_LINVEL, CONTACT_ANGVEL) = (1 << k for k in range(6, 9))
# selection of contacts if there are too many: in their order, the nearest, the strongest, or the net force of all
IN_ORDER, NEAREST, STRONGEST, NET_FORCE = range(4)
