"""Tangent of the forces of deformable bodies in positions and velocities: matrix-vector products.

With g the difference of an edge's ends, S the stiffness of an element's edges and T their tensions (see
`saltus.dynamics.flex.forces`), moving the vertices by p changes the forces of an element by -K p,

    K = Σ 2 S_ab g_a g_bᵀ + Σ max(T_a, -p_a) 1,

between the ends of the edges a and b. The second sum limits compression to a bound p, zero or a fraction of the
inertia, so that the sum of inertia and K is positive definite in any state. A spring or damper along an edge
contributes k g gᵀ; bending its matrix B; rods the part of their curvature energy without second derivatives of κ; cells
their stiffness at the present rotation. The matrix computed is s K + r D, with D the derivative in the velocities,
which for Rayleigh damping is c K without the second sum. Nothing is assembled: products go from vertices to edges,
elements and back.
"""

from saltus.dynamics.flex.cells import add_cells_tangent, cell_blocks, has_cell_damping
from saltus.dynamics.flex.dihedrals import add_dihedrals_tangent, dihedral_blocks
from saltus.dynamics.flex.elements import add_tetrahedron, add_to_block, add_triangle
from saltus.dynamics.flex.forces import on_body
from saltus.dynamics.flex.rods import add_rods_tangent, rod_blocks
from saltus.dynamics.flex.twist_tangent import add_twist_tangent, begin_twist_tangent, end_twist_tangent, twist_blocks
from saltus.number.functions import maximum, minimum, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.motions import dot6, velocity_at
from saltus.spatial.vectors import add3, add_scaled3, cross, dot3, scale3, sub3


@only_with("flex")
@kernel
def flex_tangent(m, d, stiffness, damping, pressure):
    """Set the matrix s K + r D at the present edges, with s = stiffness (s²), r = damping (s), for `add_flex_tangent`.

    `pressure`: bound on compression, as a fraction of the mass of an edge's lighter end; with up to 1/64 the sum with
    the inertia stays positive definite for bodies with up to a few tens of edges at a vertex.

    Reads flexedge_length, flexedge_pull and flexedge_drag. Writes flexedge_gain, flexedge_hold, flexedge_axial
    [nflexedge], metric_stiffness, metric_damping, metric_reference and metric_coupling.
    """
    d.metric_stiffness = 0.0 * d.time + stiffness
    d.metric_damping = 0.0 * d.time + damping
    d.metric_reference = d.metric_stiffness
    d.metric_coupling = 0.0 * d.time + 1.0
    mark_band(m, d)
    for k in range(m.nflexedge):
        square = d.flexedge_length[k] * d.flexedge_length[k]
        # a spring's k L₀/L³: with its tension k (1 - L₀/L) in the second sum this gives k along the edge
        spring = stiffness * m.flexedge_stiffness[k] * m.flexedge_length0[k] / (square * d.flexedge_length[k])
        d.flexedge_axial[k] = spring + damping * m.flexedge_damping[k] / square
        d.flexedge_gain[k] = 0.0 * square + 2.0 * (stiffness * m.flex_spring + damping * m.flexedge_rayleigh[k])
        # tension, and compression up to its bound
        least = 0.0 * square - pressure * lighter_mass(m, k)
        d.flexedge_hold[k] = maximum(stiffness * (d.flexedge_pull[k] + d.flexedge_drag[k]), least)


@only_with("rodband")
@kernel
def mark_band(m, d):
    """Say that the couplings along rods (`saltus.solve.implicit.rod_band`) are to be computed anew."""
    d.band_fresh[0] = 1


@only_with("flex")
@kernel
def flex_metric(m, d, stiffness, damping):
    """Set the matrix (s + r c) K of elements and bending with Rayleigh's time constant c, as in MuJoCo.

    Without springs and dampers along edges, and without compression: tensions are clamped per element, not per edge.
    """
    d.metric_stiffness = 0.0 * d.time + stiffness
    d.metric_damping = 0.0 * d.time + damping
    d.metric_reference = d.metric_stiffness
    d.metric_coupling = 0.0 * d.time
    mark_band(m, d)
    for k in range(m.nflexedge):
        zero = 0.0 * d.flexedge_length[k]
        d.flexedge_axial[k] = d.flexedge_hold[k] = zero
        d.flexedge_gain[k] = zero + 2.0 * (stiffness * m.flex_spring + damping * m.flexedge_rayleigh[k])
    # tensions of the elements, of which compression is dropped
    for t in range(m.ntriangle):
        for a in range(3):
            tension = 0.0 * d.time
            for b in range(3):
                tension = tension + m.triangle_stiffness[t, packed(3, a, b)] * d.flexedge_growth[m.triangle_edge[t, b]]
            add_hold(m, d, m.triangle_edge[t, a], tension)
    for t in range(m.ntetrahedron):
        for a in range(6):
            tension = 0.0 * d.time
            for b in range(6):
                s = m.tetrahedron_stiffness[t, packed(6, a, b)]
                tension = tension + s * d.flexedge_growth[m.tetrahedron_edge[t, b]]
            add_hold(m, d, m.tetrahedron_edge[t, a], tension)


@kernel(inline=True)
def packed(n, a, b):
    """Index of entry (a, b) of a symmetric matrix [n, n] in its upper triangle, by rows."""
    i, j = min(a, b), max(a, b)
    return i * n - i * (i - 1) // 2 + j - i


@kernel(inline=True)
def add_hold(m, d, k, tension):
    """Add an element's tension of edge k, where positive, to the geometric stiffness flexedge_hold."""
    half = 0.5 * d.flexedge_gain[k]
    d.flexedge_hold[k] = d.flexedge_hold[k] + half * maximum(tension, 0.0 * tension)


@kernel
def lighter_mass(m, k):
    """Mass (kg) of the lighter movable body that edge k joins; 0 if neither moves."""
    one, other = m.flexvert_bodyid[m.flexedge_vert[k, 0]], m.flexvert_bodyid[m.flexedge_vert[k, 1]]
    if m.body_lastdof[one] < 0:
        return where(m.body_lastdof[other] >= 0, m.body_mass[other], 0.0 * m.body_mass[other])
    if m.body_lastdof[other] < 0:
        return m.body_mass[one]
    return minimum(m.body_mass[one], m.body_mass[other])


@only_with("flex", otherwise="False")
@kernel
def has_flex_damping(m):
    """Whether any edge or cell of a deformable body has damping."""
    damped = has_cell_damping(m)
    for k in range(m.nflexedge):
        damped = damped or m.flexedge_damping[k] != 0.0 or m.flexedge_rayleigh[k] != 0.0
    return damped


@only_with("flex")
@kernel
def flex_damping_tangent(m, d, h):
    """Set the matrix h D, with -D the exact velocity derivative of the forces from the last `add_flex_forces`.

    Rayleigh damping of elements is quadratic in the velocities where steps are long, so that D need not be symmetric.
    Reads and writes the fields of `flex_tangent`, and reads flexedge_velocity.
    """
    d.metric_stiffness = 0.0 * d.time
    d.metric_damping = 0.0 * d.time + h
    d.metric_reference = d.metric_stiffness
    d.metric_coupling = 0.0 * d.time + 1.0
    for k in range(m.nflexedge):
        length = d.flexedge_length[k]
        d.flexedge_axial[k] = h * m.flexedge_damping[k] / (length * length)
        slope = 1.0 - d.timestep * d.flexedge_velocity[k] / length
        d.flexedge_gain[k] = 2.0 * h * m.flexedge_rayleigh[k] * slope
        d.flexedge_hold[k] = 0.0 * length


@only_with("flex")
@kernel
def add_flex_tangent(m, d, p, q):
    """q ← q + Jᵀ (s K + r D) J p for fields p, q [nv]. Overwrites flexvert_xvel, flexvert_damper, rates and drags."""
    zero = 0.0 * d.time
    # displacements of the vertices, J p
    for v in range(m.nflexvert):
        if on_body(m, v):
            d.flexvert_xvel[v] = vertex_displacement(m, d, v, p)
        d.flexvert_damper[v] = (zero, zero, zero)
    begin_twist_tangent(m, d, p)
    # stretch of edges, and tensions that it causes in springs and elements
    for k in range(m.nflexedge):
        stretch = dot3(d.flexedge_span[k], edge_displacement(m, d, k))
        d.flexedge_rate[k] = d.flexedge_gain[k] * stretch
        d.flexedge_drag[k] = d.flexedge_axial[k] * stretch
    for t in range(m.ntriangle):
        add_triangle(m, t, d.flexedge_rate, d.flexedge_drag)
    for t in range(m.ntetrahedron):
        add_tetrahedron(m, t, d.flexedge_rate, d.flexedge_drag)
    # tensions back to the vertices, with the geometric stiffness of present tensions
    for k in range(m.nflexedge):
        i, j = m.flexedge_vert[k, 0], m.flexedge_vert[k, 1]
        f = scale3(d.flexedge_drag[k], d.flexedge_span[k])
        f = add_scaled3(f, d.flexedge_hold[k], edge_displacement(m, d, k))
        d.flexvert_damper[i] = sub3(d.flexvert_damper[i], f)
        d.flexvert_damper[j] = add3(d.flexvert_damper[j], f)
    add_bending_tangent(m, d)
    add_rods_tangent(m, d)
    add_dihedrals_tangent(m, d)
    add_twist_tangent(m, d)
    add_cells_tangent(m, d)
    # generalised forces: Jᵀ f
    for v in range(m.nflexvert):
        if on_body(m, v):
            add_vertex_force(m, d, v, d.flexvert_damper[v], q)
    end_twist_tangent(m, d, q)


@kernel(inline=True)
def edge_displacement(m, d, k):
    """Change of the difference of edge k's ends, for vertex displacements flexvert_xvel."""
    return sub3(d.flexvert_xvel[m.flexedge_vert[k, 1]], d.flexvert_xvel[m.flexedge_vert[k, 0]])


@kernel
def add_bending_tangent(m, d):
    """flexvert_damper += B flexvert_xvel of bending, without the volume term of curved sheets."""
    for k in range(m.nbend):
        weight = bend_weight(m, d, k)
        place = 0
        for i in range(4):
            v = m.bend_vert[k, i]
            for j in range(i, 4):
                u = m.bend_vert[k, j]
                b = weight * m.bend_stiffness[k, place]
                d.flexvert_damper[v] = add_scaled3(d.flexvert_damper[v], b, d.flexvert_xvel[u])
                if j > i:
                    d.flexvert_damper[u] = add_scaled3(d.flexvert_damper[u], b, d.flexvert_xvel[v])
                place += 1


@kernel(inline=True)
def bend_weight(m, d, k):
    """Factor of the bending stiffness of pair k of triangles."""
    return d.metric_stiffness * m.flex_spring + d.metric_damping * m.bend_rayleigh[k]


@kernel(inline=True)
def vertex_displacement(m, d, v, p):
    """J p at vertex v: its velocity for joint velocities p."""
    zero = 0.0 * d.time
    b = m.flexvert_bodyid[v]
    arm = sub3(d.flexvert_xpos[v], d.subtree_com[m.body_rootid[b]])
    moved = (zero, zero, zero)
    i = m.body_lastdof[b]
    while i >= 0:
        moved = add_scaled3(moved, p[i], velocity_at(d.cdof[i], arm))
        i = m.dof_parentid[i]
    return moved


@kernel(inline=True)
def add_vertex_force(m, d, v, f, q):
    """q ← q + Jᵀ f for a force f on vertex v."""
    b = m.flexvert_bodyid[v]
    t = cross(sub3(d.flexvert_xpos[v], d.subtree_com[m.body_rootid[b]]), f)
    wrench = (t[0], t[1], t[2], f[0], f[1], f[2])
    i = m.body_lastdof[b]
    while i >= 0:
        q[i] = q[i] + dot6(d.cdof[i], wrench)
        i = m.dof_parentid[i]


@only_with("flex")
@kernel
def vertex_blocks(m, d):
    """flexvert_block [nflexvert, 6]: diagonal blocks of the matrix, one per vertex, as upper triangles by rows.

    Edges and elements between vertices of one body, which do not deform, are left out.
    """
    zero = 0.0 * d.time
    for v in range(m.nflexvert):
        d.flexvert_block[v] = (zero, zero, zero, zero, zero, zero)
    # edges: springs, dampers and geometric stiffness
    for k in range(m.nflexedge):
        g, axial, hold = d.flexedge_span[k], d.flexedge_axial[k], d.flexedge_hold[k]
        if deforms(m, k):
            for end in range(2):
                add_to_block(d, m.flexedge_vert[k, end], g, g, axial, hold)
    # elements: 2 S_ab g_a g_bᵀ of each pair of edges
    for t in range(m.ntriangle):
        place = 0
        for a in range(3):
            for b in range(a, 3):
                pair_blocks(m, d, m.triangle_edge[t, a], m.triangle_edge[t, b], m.triangle_stiffness[t, place])
                place += 1
    for t in range(m.ntetrahedron):
        place = 0
        for a in range(6):
            for b in range(a, 6):
                s = m.tetrahedron_stiffness[t, place]
                pair_blocks(m, d, m.tetrahedron_edge[t, a], m.tetrahedron_edge[t, b], s)
                place += 1
    # bending: the diagonal of B, times the unit matrix
    for k in range(m.nbend):
        weight = bend_weight(m, d, k)
        place = 0
        nothing = (zero, zero, zero)
        for i in range(4):
            add_to_block(d, m.bend_vert[k, i], nothing, nothing, zero, weight * m.bend_stiffness[k, place])
            place += 4 - i
    rod_blocks(m, d)
    dihedral_blocks(m, d)
    twist_blocks(m, d)
    cell_blocks(m, d)


@kernel(inline=True)
def deforms(m, k):
    """Whether edge k joins two bodies."""
    return m.flexvert_bodyid[m.flexedge_vert[k, 0]] != m.flexvert_bodyid[m.flexedge_vert[k, 1]]


@kernel
def pair_blocks(m, d, a, b, s):
    """Add gain S_ab g_a g_bᵀ and its transpose at the vertices that edges a and b of an element share."""
    if deforms(m, a) and deforms(m, b):
        g, w, zero = d.flexedge_span[a], d.flexedge_span[b], 0.0 * d.time
        weight = s * d.flexedge_gain[a]
        for end in range(2):
            v = m.flexedge_vert[a, end]
            if a == b:
                add_to_block(d, v, g, g, weight, zero)
            else:
                for other in range(2):
                    if m.flexedge_vert[b, other] == v:
                        sign = weight if end == other else -weight
                        add_to_block(d, v, g, w, sign, zero)
                        add_to_block(d, v, w, g, sign, zero)
