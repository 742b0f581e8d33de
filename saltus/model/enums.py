"""Numbers with a meaning, each once: MuJoCo's types, and places in fields that hold several numbers."""

from saltus.number.kernels import kernel

# types of geoms (mjtGeom)
PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, SDF = range(9)

# types of joints (mjtJoint)
FREE, BALL, SLIDE, HINGE = range(4)
JOINT_NAMES = ("free", "ball", "slide", "hinge")
JOINT_DOFS = (6, 3, 1, 1)  # degrees of freedom

# types of equality constraints (mjtEq)
CONNECT, WELD, JOINT, TENDON, FLEX = range(5)

# places in hard_count and impact_count
BLOCKS, ROWS = range(2)


@kernel(inline=True)
def pair_kind(first, second):
    """The kind of a pair of geoms, as collision_kind holds it: of their types, the smaller one first."""
    return 10 * first + second


def pair_types(kind: int) -> tuple[int, int]:
    """The types of the geoms of a pair, from its kind."""
    return kind // 10, kind % 10
