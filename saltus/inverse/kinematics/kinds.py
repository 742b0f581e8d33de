"""Kinds of tasks of inverse kinematics, and the columns of the arrays that describe a problem to kernels."""

# kinds of tasks
POSITION = 0  # a point of a body at a world point
ORIENTATION = 1  # a frame of a body turned as a world frame
DIRECTION = 2  # the z-axis of a frame along a world direction
LOOK = 3  # the z-axis of a frame at a world point
COM = 4  # the centre of mass of a subtree at a world point
ANCHOR = 5  # the points of a connect or weld constraint coincide
ALIGNMENT = 6  # the frames of a weld constraint are parallel
COUPLING = 7  # an equality constraint of joints
CLEARANCE = 8  # geoms are not nearer to each other than wanted

ANGLES = (ORIENTATION, DIRECTION, LOOK, ALIGNMENT)  # kinds whose residuals are in rad

# columns of the tasks [K, 6]
KIND, BODY, OBJECT, LEVEL, ROW, DIM = range(6)

# columns of the degrees of freedom [nv, 2]: address in qpos of a hinge or slide, else -1; whether it stays
ADDRESS, LOCKED = range(2)

# entries of the whole options
ITERATIONS, LEVELS, HAS_COM, HAS_POSTURE, FOLLOW = range(5)

# entries of the real options: tolerances (m, rad), weight of the posture, wanted distance of geoms (m)
LENGTH_TOLERANCE, ANGLE_TOLERANCE, POSTURE_WEIGHT, DISTANCE = range(4)
