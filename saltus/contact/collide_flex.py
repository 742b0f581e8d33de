"""Contact detection for deformable bodies: geoms against elements, planes against vertices.

Spheres, capsules and boxes against segments and triangles, spheres and capsules against tetrahedra, and planes have
kernels here, which run with every kind of number; all other pairs are left to MuJoCo's own functions (see
`saltus.contact.mujoco.flex_collision`).
"""

from saltus.contact.flex.broad_phase import (
    RUN,
    box_near,
    element_box,
    meets_box,
    run_address,
    run_boxes,
    run_count,
    shares_body,
)
from saltus.contact.flex.contact_elements import mark
from saltus.contact.flex.narrow_phase import flexes_close, geom_close
from saltus.contact.flex.self_collision import folds_close
from saltus.contact.flex.tetrahedron import capsule_tetrahedron, sphere_tetrahedron
from saltus.contact.flex.triangle import box_triangle, capsule_triangle, sphere_triangle
from saltus.contact.flex.vertex_plane import plane_flex
from saltus.contact.mujoco.flex_collision import all_called, foreign_flex
from saltus.contact.rigid.box import capsule_on_box
from saltus.contact.rigid.sphere_capsule import capsule_of, capsule_to_capsule, sphere_to_capsule
from saltus.model.enums import CAPSULE, PLANE, ROPE, SHEET, SOLID, SPHERE
from saltus.number.functions import any_lane, sqrt, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import add3, dot3, scale3, sub3, z_axis


@only_with("flexcontact", otherwise="n")
@kernel
def collide_flex(m, d, n, c, reach):
    """Append the contacts of pair c, whose second object is a deformable body; returns the new number of contacts.

    Contacts are in MuJoCo's order, by vertices or elements. Reads geom_xpos, geom_xmat, flexvert_xpos and the boxes of
    `flex_boxes`. An element with a corner on the geom's body has no contact with that geom.
    """
    g, f = m.collision_geom1[c], m.collision_flex2[c]
    if m.collision_foreign[c]:
        return collide_foreign_flex(m, d, n, c, reach)
    if m.geom_type[g] == PLANE:
        return plane_flex(m, d, n, c, reach)
    # broad phase: box of the whole body, then boxes of its runs of elements
    centre, bound = d.geom_xpos[g], m.geom_rbound[g] + m.flex_radius[f] + reach
    if not box_near(d.flex_lower[f], d.flex_upper[f], centre, bound):
        return n
    if not d.flex_boxed[f]:
        run_boxes(m, d, f)
    end = m.flex_elemadr[f] + m.flex_elemnum[f]
    for k in range(run_count(m, f)):
        place, first = run_address(m, f) + k, m.flex_elemadr[f] + RUN * k
        if box_near(d.flexrun_lower[place], d.flexrun_upper[place], centre, bound):
            for e in range(first, min(first + RUN, end)):
                n = collide_element(m, d, n, c, reach, e, bound)
    return n


@only_with("flexforeign", otherwise="n")
@kernel
def collide_foreign_flex(m, d, n, c, reach):
    """Contacts from MuJoCo's functions, if a conservative test tells that the objects may touch.

    One call finds those of all pairs, which are then not tested.
    """
    near = 0.0 * d.time + 1.0
    if all_called(m, d):
        return foreign_flex(m, d, n, c, reach, near)
    if m.collision_geom1[c] >= 0:
        near = geom_close(m, d, c, reach)
    elif m.collision_flex1[c] != m.collision_flex2[c]:
        near = flexes_close(m, d, c, reach)
    else:
        near = folds_close(m, d, m.collision_flex2[c])
    if any_lane(near > 0.5):
        return foreign_flex(m, d, n, c, reach, near)
    return n


@kernel
def collide_element(m, d, n, c, reach, e, bound):
    """Contacts of the geom of pair c with element e, if that is within `bound` (m) of the geom's centre."""
    g, f = m.collision_geom1[c], m.collision_flex2[c]
    lower, upper = element_box(m, d, e, m.flex_dim[f])
    if not box_near(lower, upper, d.geom_xpos[g], bound):
        return n
    if not m.flexelem_active[e] or shares_body(m, e, m.geom_bodyid[g]):
        return n
    before = n
    if m.flex_dim[f] == ROPE:
        n = collide_segment(m, d, n, c, reach, e)
    if m.flex_dim[f] == SHEET:
        n = collide_triangle(m, d, n, c, reach, e)
    if m.flex_dim[f] == SOLID:
        n = collide_tetrahedron(m, d, n, c, reach, e)
    mark(d, before, n, -1, e, -1)
    return n


@only_with("flexsheet", otherwise="n")
@kernel
def collide_triangle(m, d, n, c, reach, e):
    """Contacts of a geom with a triangle."""
    g, thick = m.collision_geom1[c], m.flex_radius[m.collision_flex2[c]]
    corner = m.flexelem_vert[e]
    triangle = d.flexvert_xpos[corner[0]], d.flexvert_xpos[corner[1]], d.flexvert_xpos[corner[2]]
    if m.geom_type[g] == SPHERE:
        return sphere_triangle(m, d, n, c, reach, d.geom_xpos[g], m.geom_size[g, 0], triangle, thick)
    if m.geom_type[g] == CAPSULE:
        return capsule_triangle(m, d, n, c, reach, capsule_of(m, d, g), triangle, thick)
    lower, upper = element_box(m, d, e, 2)
    there = meets_box(m, d, lower, upper, thick, g, reach)
    if not any_lane(there):
        return n
    return box_triangle(m, d, n, c, reach, g, triangle, thick, there)


@only_with("flexsolid", otherwise="n")
@kernel
def collide_tetrahedron(m, d, n, c, reach, e):
    """Contacts of a sphere or a capsule with a tetrahedron."""
    g, thick = m.collision_geom1[c], m.flex_radius[m.collision_flex2[c]]
    corner = m.flexelem_vert[e]
    first, second = d.flexvert_xpos[corner[0]], d.flexvert_xpos[corner[1]]
    tetrahedron = first, second, d.flexvert_xpos[corner[2]], d.flexvert_xpos[corner[3]]
    if m.geom_type[g] == SPHERE:
        return sphere_tetrahedron(m, d, n, c, reach, d.geom_xpos[g], m.geom_size[g, 0], tetrahedron, thick)
    return capsule_tetrahedron(m, d, n, c, reach, capsule_of(m, d, g), tetrahedron, thick)


@only_with("flexrope", otherwise="n")
@kernel
def collide_segment(m, d, n, c, reach, e):
    """Contacts of a geom with a segment, treated as a capsule."""
    g, thick = m.collision_geom1[c], m.flex_radius[m.collision_flex2[c]]
    capsule = segment_capsule(m, d, e, thick)
    if m.geom_type[g] == SPHERE:
        axis = z_axis(d.geom_xmat[g])
        return sphere_to_capsule(m, d, n, c, reach, d.geom_xpos[g], m.geom_size[g, 0], axis, capsule)
    if m.geom_type[g] == CAPSULE:
        return capsule_to_capsule(m, d, n, c, reach, capsule_of(m, d, g), capsule)
    return capsule_on_box(m, d, n, c, reach, capsule, g, -1.0)


@kernel(inline=True)
def segment_capsule(m, d, e, thick):
    """The capsule of a segment: centre (m), unit vector towards its first corner, half length and radius (m)."""
    corner = m.flexelem_vert[e]
    first, second = d.flexvert_xpos[corner[0]], d.flexvert_xpos[corner[1]]
    span = sub3(first, second)
    square = dot3(span, span)
    length = sqrt(where(square > 0.0, square, square + 1.0))
    return scale3(0.5, add3(first, second)), scale3(1.0 / length, span), 0.5 * length, thick
