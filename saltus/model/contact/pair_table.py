"""Table of the pairs of geom types that collide: the kernel, the feature that compiles it, the most contacts.

The kernels stand in `saltus.contact.collide`. A kernel "foreign" calls MuJoCo's functions.
"""

from typing import NamedTuple

from saltus.model.enums import (
    BOX,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    HFIELD,
    MESH,
    PLANE,
    SDF,
    SPHERE,
    pair_kind,
    pair_types,
)

MOST_OF_PAIR = 50  # most contacts that MuJoCo's functions return (mjMAXCONPAIR)
FOREIGN = "foreign"  # feature of pairs that MuJoCo's functions collide


class TypePair(NamedTuple):
    """A pair of geom types: name of the kernel, feature of the models that need it ("": all), most contacts."""

    kernel: str
    feature: str
    most_contacts: int


PAIRS = {
    (PLANE, SPHERE): TypePair("plane_sphere", "", 1),
    (PLANE, CAPSULE): TypePair("plane_capsule", "", 2),
    (PLANE, ELLIPSOID): TypePair("plane_ellipsoid", "cylinder", 1),
    (PLANE, CYLINDER): TypePair("plane_cylinder", "cylinder", 4),
    (PLANE, BOX): TypePair("plane_box", "box", 4),
    (PLANE, MESH): TypePair("convex_pair", "convex", 4),
    (SPHERE, SPHERE): TypePair("sphere_sphere", "", 1),
    (SPHERE, CAPSULE): TypePair("sphere_capsule", "", 1),
    (SPHERE, ELLIPSOID): TypePair("ellipsoid_pair", "ellipsoid", 1),
    (SPHERE, CYLINDER): TypePair("sphere_cylinder", "cylinder", 1),
    (SPHERE, BOX): TypePair("sphere_box", "box", 1),
    (SPHERE, MESH): TypePair("convex_pair", "convex", 1),
    (CAPSULE, CAPSULE): TypePair("capsule_capsule", "", 2),
    (CAPSULE, ELLIPSOID): TypePair("ellipsoid_pair", "ellipsoid", 1),
    (CAPSULE, CYLINDER): TypePair("convex_pair", "convex", 5),
    (CAPSULE, BOX): TypePair("capsule_box", "box", 4),
    (CAPSULE, MESH): TypePair("convex_pair", "convex", 5),
    (ELLIPSOID, ELLIPSOID): TypePair("ellipsoid_pair", "ellipsoid", 1),
    (ELLIPSOID, CYLINDER): TypePair("ellipsoid_pair", "ellipsoid", 1),
    (ELLIPSOID, BOX): TypePair("ellipsoid_pair", "ellipsoid", 1),
    (ELLIPSOID, MESH): TypePair("convex_pair", "convex", 1),
    (CYLINDER, CYLINDER): TypePair("convex_pair", "convex", 5),
    (CYLINDER, BOX): TypePair("convex_pair", "convex", 5),
    (CYLINDER, MESH): TypePair("convex_pair", "convex", 5),
    (BOX, BOX): TypePair("box_box", "boxes", 8),
    (BOX, MESH): TypePair("convex_pair", "convex", 5),
    (MESH, MESH): TypePair("convex_pair", "convex", 5),
    (HFIELD, SPHERE): TypePair("field_pair", "field", MOST_OF_PAIR),
    (HFIELD, CAPSULE): TypePair("field_pair", "field", MOST_OF_PAIR),
    (HFIELD, ELLIPSOID): TypePair("field_pair", "field", MOST_OF_PAIR),
    (HFIELD, CYLINDER): TypePair("field_pair", "field", MOST_OF_PAIR),
    (HFIELD, BOX): TypePair("foreign", FOREIGN, MOST_OF_PAIR),
    (HFIELD, MESH): TypePair("foreign", FOREIGN, MOST_OF_PAIR),
} | {(other, SDF): TypePair("foreign", FOREIGN, MOST_OF_PAIR) for other in range(SDF + 1)}

KINDS = {pair_kind.py_func(*types): types for types in PAIRS}
NKIND = max(KINDS) + 1  # length of a table by kinds


def most_contacts(kind: int) -> int:
    """Largest number of contacts of a pair of geoms of a kind (`saltus.model.enums.pair_kind`)."""
    return PAIRS[pair_types(kind)].most_contacts


def pair_feature(kind: int, meshes: bool = True) -> str:
    """Feature that compiles the kernel of a kind of pair; "" if all models have it.

    `meshes`: kernels here can collide the model's meshes (see `saltus.model.contact.hulls.are_known`).
    """
    types = pair_types(int(kind))
    return FOREIGN if MESH in types and not meshes else PAIRS[types].feature


def kernel_kinds(kernel: str) -> tuple[int, ...]:
    """Kinds of the pairs that a kernel collides."""
    return tuple(kind for kind, types in KINDS.items() if PAIRS[types].kernel == kernel)
