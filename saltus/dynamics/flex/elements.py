"""Elements of deformable bodies: edge tensions from the growth of all edges of an element, and bending.

A symmetric matrix is stored as its upper triangle, by rows.
"""

from saltus.number.kernels import kernel
from saltus.spatial.vectors import add3, add_scaled3, cross, scale3, sub3


@kernel
def add_triangles(m, d):
    """Add the tensions of triangles to flexedge_pull and flexedge_drag (N/m)."""
    for t in range(m.ntriangle):
        add_triangle(m, t, d.flexedge_growth, d.flexedge_pull)
        add_triangle(m, t, d.flexedge_rate, d.flexedge_drag)


@kernel(inline=True)
def add_triangle(m, t, growth, tension):
    """tension += S growth for the edges of triangle t, for fields [nflexedge]."""
    a, b, c = m.triangle_edge[t, 0], m.triangle_edge[t, 1], m.triangle_edge[t, 2]
    s = m.triangle_stiffness[t]
    x, y, z = growth[a], growth[b], growth[c]
    tension[a] = tension[a] + (s[0] * x + s[1] * y + s[2] * z)
    tension[b] = tension[b] + (s[1] * x + s[3] * y + s[4] * z)
    tension[c] = tension[c] + (s[2] * x + s[4] * y + s[5] * z)


@kernel
def add_tetrahedra(m, d):
    """Add the tensions of tetrahedra to flexedge_pull and flexedge_drag (N/m)."""
    for t in range(m.ntetrahedron):
        add_tetrahedron(m, t, d.flexedge_growth, d.flexedge_pull)
        add_tetrahedron(m, t, d.flexedge_rate, d.flexedge_drag)


@kernel(inline=True)
def add_tetrahedron(m, t, growth, tension):
    """tension += S growth for the edges of tetrahedron t, for fields [nflexedge]."""
    place = 0
    for k in range(6):
        a = m.tetrahedron_edge[t, k]
        tension[a] = tension[a] + m.tetrahedron_stiffness[t, place] * growth[a]
        place += 1
        for q in range(k + 1, 6):
            b = m.tetrahedron_edge[t, q]
            s = m.tetrahedron_stiffness[t, place]
            tension[a] = tension[a] + s * growth[b]
            tension[b] = tension[b] + s * growth[a]
            place += 1


@kernel
def add_bending(m, d):
    """Add bending forces to flexvert_spring and flexvert_damper (N)."""
    for k in range(m.nbend):
        place = 0
        # -B x and -c B v, by pairs of the four corners
        for i in range(4):
            v = m.bend_vert[k, i]
            for j in range(i, 4):
                u = m.bend_vert[k, j]
                spring = -m.flex_spring * m.bend_stiffness[k, place]
                damper = -m.bend_rayleigh[k] * m.bend_stiffness[k, place]
                d.flexvert_spring[v] = add_scaled3(d.flexvert_spring[v], spring, d.flexvert_xpos[u])
                d.flexvert_damper[v] = add_scaled3(d.flexvert_damper[v], damper, d.flexvert_xvel[u])
                if j > i:
                    d.flexvert_spring[u] = add_scaled3(d.flexvert_spring[u], spring, d.flexvert_xpos[v])
                    d.flexvert_damper[u] = add_scaled3(d.flexvert_damper[u], damper, d.flexvert_xvel[v])
                place += 1
        # sheets that are curved at rest
        if m.bend_volume[k] != 0.0:
            add_volume_force(m, d, k, d.flexvert_xpos, -m.flex_spring * m.bend_volume[k])


@kernel
def add_volume_force(m, d, k, x, factor):
    """Add `factor` times the gradient of the volume spanned by the corners of pair k, for a field x [nflexvert, 3].

    A sheet that is curved at rest has the force -b times this gradient.
    """
    x0 = x[m.bend_vert[k, 0]]
    d1, d2, d3 = sub3(x[m.bend_vert[k, 1]], x0), sub3(x[m.bend_vert[k, 2]], x0), sub3(x[m.bend_vert[k, 3]], x0)
    # gradient in each corner; the four sum to zero
    c1, c2, c3 = cross(d2, d3), cross(d3, d1), cross(d1, d2)
    c0 = scale3(-1.0, add3(c1, add3(c2, c3)))
    for i in range(4):
        c = c0 if i == 0 else c1 if i == 1 else c2 if i == 2 else c3
        v = m.bend_vert[k, i]
        d.flexvert_spring[v] = add_scaled3(d.flexvert_spring[v], factor, c)


@kernel(inline=True)
def add_to_block(d, v, g, w, weight, everywhere):
    """Block of vertex v += weight g wᵀ + everywhere 1; only the upper triangle is stored."""
    b = d.flexvert_block[v]
    x, y, z = weight * g[0], weight * g[1], weight * g[2]
    d.flexvert_block[v] = (
        b[0] + (x * w[0] + everywhere),
        b[1] + x * w[1],
        b[2] + x * w[2],
        b[3] + (y * w[1] + everywhere),
        b[4] + y * w[2],
        b[5] + (z * w[2] + everywhere),
    )
