"""Enumerations: MuJoCo's object types, and indices into fields that hold several numbers."""

from saltus.number.kernels import kernel

# types of geoms (mjtGeom)
NGEOMTYPE = 9
PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, SDF = range(NGEOMTYPE)

# types of joints (mjtJoint)
FREE, BALL, SLIDE, HINGE = range(4)
JOINT_NAMES = ("free", "ball", "slide", "hinge")
JOINT_DOFS = (6, 3, 1, 1)  # degrees of freedom

# types of equality constraints (mjtEq)
CONNECT, WELD, JOINT, TENDON, FLEX = range(5)

# kinds of flexes, by the dimension of their elements: segments, triangles, tetrahedra
ROPE, SHEET, SOLID = 1, 2, 3

# shapes for fluid forces
FLUID_BOX, FLUID_ELLIPSOID = 1, 2

# MuJoCo's constraint solvers (mjtSolver), and its friction cones (mjtCone)
SOLVER_PGS, SOLVER_CG, SOLVER_NEWTON = range(3)
CONE_PYRAMIDAL, CONE_ELLIPTIC = range(2)

# types of the elements of a tendon's path (mjtWrap): a fixed tendon has only joints; a spatial one goes from site to
# site, optionally around a sphere or cylinder, and a pulley divides it
WRAP_JOINT, WRAP_PULLEY, WRAP_SITE, WRAP_SPHERE, WRAP_CYLINDER = range(1, 6)

# codes in body_treeid of bodies outside trees, if trees may sleep: fixed; fixed and carrying trees; moved from outside
STILL, CARRIER, MOVED = -1, -2, -3
BAND = 20  # positions by which coupled degrees of freedom of a rod may differ: six vertices of a folded one
MINAWAKE = 10  # steps in which a tree has to be slow before it may fall asleep (mjMINAWAKE)

# places in hard_count and impact_count
BLOCKS, ROWS = range(2)


@kernel(inline=True)
def pair_kind(first, second):
    """The kind of a pair of geoms in collision_kind, from their types, the smaller first: a place in MuJoCo's table."""
    return NGEOMTYPE * first + second


def pair_types(kind: int) -> tuple[int, int]:
    """The types of the geoms of a pair, from its kind."""
    return divmod(kind, NGEOMTYPE)
