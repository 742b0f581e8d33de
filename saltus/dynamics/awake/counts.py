"""Numbers of entries of the lists of awake objects: indices into Data's field `awake_count`."""

NTREE = 0  # trees
NBODY = 1  # bodies
NROOT = 2  # bodies whose parent is the world and whose subtrees are not all asleep
NJOINT = 3  # joints
NDOF = 4  # degrees of freedom
NCOORDINATE = 5  # entries of qpos
NCOUPLED = 6  # rows of M with more than the diagonal
NCOLLIDER = 7  # geoms that collide
NJOINTLIMIT = 8  # limits of joints
NLIMIT = 9  # limits of joints and tendons
NDOFFRICTION = 10  # dry friction of degrees of freedom
NFRICTION = 11  # dry friction of degrees of freedom and tendons
NEQUALITY = 12  # equality constraints
NTENDON = 13  # tendons
NACTUATOR = 14  # actuators
NOUTPUT = 15  # outputs of actuators
NENTRY = 16  # entries of M
NGRID = 17  # geoms in the grid of the broad phase
NSHAPE = 18  # shapes for fluid forces
NCONTROL = 19  # controls of actuators
LISTED = 20  # not a length: number of times that the lists were built
SAVED = 21  # value of LISTED when an integrator with stages last saved the state of everything
GRIDDED = 22  # value of LISTED when the broad phase last put geoms that are not awake into its grid
CLEARED = 23  # whether the grid of awake geoms is empty
WHOLE = 24  # whether the lists contain everything
