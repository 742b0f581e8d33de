"""Elastic energy of deformable bodies: edge springs, elements, bending and cells."""

from saltus.dynamics.flex.cells import cells_energy
from saltus.dynamics.flex.dihedrals import dihedrals_energy
from saltus.dynamics.flex.forces import edges, flex_velocities
from saltus.dynamics.flex.rods import rods_energy
from saltus.dynamics.flex.twist import twist_energy
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import cross, dot3, sub3


@only_with("flex", otherwise="(0.0 * d.time, 0.0 * d.time)")
@kernel
def elastic_energies(m, d):
    """Energy of stretch and of bending (J).

    Stretch is ½ k (L - L₀)² of edges, ¼ eᵀ S e of elements and ½ uᵀ K u of cells; bending is ½ xᵀ B x + b volume of
    sheets, and that of rods (see `saltus.dynamics.flex.rods`, `dihedrals` and `twist`). That of sheets is not taken
    relative to rest; at rest it is zero for flat ones.
    """
    flex_velocities(m, d)
    edges(m, d)
    bending = 0.0 * d.time
    for k in range(m.nbend):
        bending = bending + bend_energy(m, d, k)
    return stretch_energy(m, d), bending + rod_energy(m, d)


@kernel(inline=True)
def rod_energy(m, d):
    """Energy of bending and torsion of rods (J)."""
    return rods_energy(m, d) + dihedrals_energy(m, d) + twist_energy(m, d)


@kernel
def stretch_energy(m, d):
    """Energy of edge springs, elements and cells (J); reads what `edges` writes."""
    total = 0.0 * d.time
    # springs along edges: ½ k (L - L₀)²
    for k in range(m.nflexedge):
        x = d.flexedge_length[k] - m.flexedge_length0[k]
        total = total + 0.5 * m.flexedge_stiffness[k] * x * x
    # triangles: ¼ eᵀ S e, S stored as its upper triangle
    for t in range(m.ntriangle):
        place = 0
        for a in range(3):
            for b in range(a, 3):
                total = total + quarter(
                    m, d, m.triangle_stiffness[t, place], m.triangle_edge[t, a], m.triangle_edge[t, b]
                )
                place += 1
    # tetrahedra: ¼ eᵀ S e over six edges
    for t in range(m.ntetrahedron):
        place = 0
        for a in range(6):
            for b in range(a, 6):
                s = m.tetrahedron_stiffness[t, place]
                total = total + quarter(m, d, s, m.tetrahedron_edge[t, a], m.tetrahedron_edge[t, b])
                place += 1
    return total + cells_energy(m, d)


@kernel
def quarter(m, d, s, a, b):
    """¼ s times the growths of two edges; doubled for distinct edges, which a symmetric form counts twice."""
    return (0.25 if a == b else 0.5) * s * d.flexedge_growth[a] * d.flexedge_growth[b]


@kernel
def bend_energy(m, d, k):
    """Bending energy of pair k of triangles (J)."""
    total = 0.0 * d.time
    place = 0
    # ½ xᵀ B x
    for i in range(4):
        for j in range(i, 4):
            share = 0.5 if i == j else 1.0
            x, y = d.flexvert_xpos[m.bend_vert[k, i]], d.flexvert_xpos[m.bend_vert[k, j]]
            total = total + share * m.bend_stiffness[k, place] * dot3(x, y)
            place += 1
    # volume of the corners, for sheets curved at rest
    x0 = d.flexvert_xpos[m.bend_vert[k, 0]]
    d1, d2 = sub3(d.flexvert_xpos[m.bend_vert[k, 1]], x0), sub3(d.flexvert_xpos[m.bend_vert[k, 2]], x0)
    volume = dot3(d1, cross(d2, sub3(d.flexvert_xpos[m.bend_vert[k, 3]], x0)))
    return m.flex_spring * (total + m.bend_volume[k] * volume)
