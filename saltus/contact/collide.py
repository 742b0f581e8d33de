"""Contact detection between geoms: broad phase by bounding spheres, narrow phase by a kernel for each pair of types.

Pairs come from the model's list or, in worlds with too many, from `saltus.contact.broad`.

Spheres, capsules, ellipsoids, cylinders, boxes and planes have kernels here, which run with every kind of number.
Meshes, and cylinders with capsules, cylinders and boxes, are searched for their nearest points, lane by lane (see
`saltus.contact.convex.convex_pair`), as are height fields with round shapes, prism by prism. MuJoCo's own functions
(see `saltus.contact.mujoco.collision`) handle height fields with boxes and meshes, signed distance fields, and meshes
without a convex hull, or with a face of more than 128 corners.
"""

from typing import Any

from saltus.contact.bounding_spheres import near
from saltus.contact.broad.found_pairs import find_pairs
from saltus.contact.collide_flex import collide_flex
from saltus.contact.contact_list import count_joined, join_contacts
from saltus.contact.convex.convex_pair import convex_pair, field_pair
from saltus.contact.counts import NCON, NFOUND
from saltus.contact.flex.broad_phase import flex_boxes
from saltus.contact.flex.contact_reduction import keep_few
from saltus.contact.mujoco.collision import foreign
from saltus.contact.pairs import pair_foreign, pair_geom1, pair_geom2, pair_kind_of, pair_law
from saltus.contact.rigid.box import capsule_box, sphere_box
from saltus.contact.rigid.box_box import box_box
from saltus.contact.rigid.ellipsoid import ellipsoid_pair
from saltus.contact.rigid.plane import plane_box, plane_capsule, plane_cylinder, plane_ellipsoid, plane_sphere
from saltus.contact.rigid.sphere_capsule import capsule_capsule, sphere_capsule, sphere_cylinder, sphere_sphere
from saltus.contact.seams import drop_covered
from saltus.contact.tasks import COLLIDE
from saltus.dynamics.awake.walks import awake_colliders
from saltus.model.contact.pair_table import FOREIGN, KINDS, PAIRS, kernel_kinds
from saltus.number.conditions import has
from saltus.number.kernels import kernel, only_with
from saltus.number.threads.team import begin, finish, report, share
from saltus.spatial.vectors import add3, matrix_times_matrix, matrix_times_vector


@kernel
def collider_frames(m, d):
    """World poses of all geoms that can collide.

    Reads xpos [nbody, 3], xmat [nbody, 9]. Writes geom_xpos [ngeom, 3] (m) and geom_xmat [ngeom, 9], world axes.
    """
    for k in awake_colliders(m, d):
        collider_frame(m, d, m.collider[k])


@kernel
def collider_frame(m, d, g):
    """World pose of geom g."""
    b = m.geom_bodyid[g]
    mat = d.xmat[b]
    d.geom_xpos[g] = add3(d.xpos[b], matrix_times_vector(mat, m.geom_pos[g]))
    if m.geom_turned[g]:
        mat = matrix_times_matrix(mat, m.geom_mat[g])
    d.geom_xmat[g] = mat


@kernel
def collide(m, d):
    """Find all contacts, in the order of the pairs.

    Reads geom_xpos, geom_xmat. Writes count[NCON], contact_collision (number of the pair), contact_dist (m),
    contact_pos (m) and contact_frame [ncon, 9].
    """
    if has(m, "broad"):
        collide_found(m, d)
        return
    flex_boxes(m, d)
    n = 0
    for c in range(m.ncollision):
        reach = m.law_reach[pair_law(m, d, c)]
        if m.collision_flex2[c] >= 0:
            n = keep_few(m, d, n, collide_flex(m, d, n, c, reach), c, reach)
        elif near(m, d, pair_geom1(m, d, c), pair_geom2(m, d, c), reach):
            n = drop_covered(m, d, n, collide_pair(m, d, n, c, reach), c)
    d.count[NCON] = n


@kernel
def collide_again(m, d):
    """Contacts of the pairs that `collide` has found at the same positions, for duals with other tangents.

    Reads and writes as `collide`, but for pairs without contacts, lists of pairs found at run time, flexible bodies.
    """
    n = 0
    while n < d.count[NCON]:
        c = d.contact_collision[n]
        found = collide_pair(m, d, n, c, m.law_reach[pair_law(m, d, c)])
        if found == n:
            break
        n = found
    d.count[NCON] = n


@only_with("broad")
@kernel
def collide_found(m, d):
    """Find all contacts of pairs of geoms that are found at run time, because there are too many to list."""
    find_pairs(m, d)
    pairs = d.count[NFOUND]
    threads = begin(m, d, COLLIDE, pairs, pairs >= m.nshared)
    d.count[NCON] = collide_part(m, d, pairs)
    finish(m, d)
    count_joined(m, d, threads)


@only_with("broad")
@kernel
def collide_part(m, d, pairs):
    """Contacts of this thread's part of the found pairs, in its part of the list; returns the number of places used."""
    first, last = share(m, d, pairs)
    n = d.contact_first
    for c in range(first, last):
        reach = m.law_reach[pair_law(m, d, c)]
        if near(m, d, pair_geom1(m, d, c), pair_geom2(m, d, c), reach):
            n = collide_pair(m, d, n, c, reach)
    report(m, d, 0, n)
    join_contacts(m, d, n)
    return n


@kernel
def collide_pair(m, d, n, c, reach):
    """Narrow phase of pair c: append its contacts from number n on; returns the new number of contacts."""
    if is_foreign(m, d, c):
        return collide_foreign(m, d, n, c, reach)
    return collide_types(m, d, n, c, reach)


@only_with(FOREIGN, otherwise="False")
@kernel(inline=True)
def is_foreign(m, d, c):
    """Whether MuJoCo's functions collide pair c."""
    return pair_foreign(m, d, c)


@only_with(FOREIGN, otherwise="n")
@kernel
def collide_foreign(m, d, n, c, reach):
    """Contacts found by MuJoCo's functions."""
    return foreign(m, d, n, c, reach)


def by_types(kernels) -> Any:
    """Kernel of pair c as `saltus.model.contact.pair_table` says: each of `kernels` collides its kinds of pairs.

    (model, data, n, c, reach) -> n, as `collide_pair`.
    """
    collide_kind = no_contacts
    for run in kernels:
        name = run.py_func.__name__
        (feature,) = {PAIRS[KINDS[kind]].feature for kind in kernel_kinds(name)}
        collide_kind = one_more(collide_kind, only_if(run, kernel_kinds(name), feature))
    return collide_kind


def only_if(run, kinds, feature) -> Any:
    """Kernel `run` for pairs of these kinds, compiled for models with the feature."""

    @kernel(inline=True)
    def collide_kinds(m, d, n, c, reach):
        return run(m, d, n, c, reach) if pair_kind_of(m, d, c) in kinds else n

    return only_with(feature, otherwise="n")(collide_kinds) if feature else collide_kinds


def one_more(first, second) -> Any:
    """Kernel that appends the contacts of two kernels, of which at most one collides a pair."""

    @kernel(inline=True)
    def collide_either(m, d, n, c, reach):
        return second(m, d, first(m, d, n, c, reach), c, reach)

    return collide_either


@kernel(inline=True)
def no_contacts(m, d, n, c, reach):
    """Append nothing."""
    return n


KERNELS = (
    *(plane_sphere, plane_capsule, sphere_sphere, sphere_capsule, capsule_capsule),
    *(plane_ellipsoid, plane_cylinder, sphere_cylinder, plane_box, sphere_box, capsule_box, box_box),
    *(ellipsoid_pair, convex_pair, field_pair),
)
collide_types = by_types(KERNELS)
