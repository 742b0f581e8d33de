"""Band of the preconditioner of an implicit step along rods: the matrix itself, but for what couples distant parts.

Bending is so much stiffer than the inertia of a rod of many segments that conjugate gradients with the blocks of single
vertices take a number of iterations that grows with the square of that of segments. In the order along the rod its
matrix is a band, which is factored as L D Lᵀ (Golub & Van Loan, Matrix Computations (2013), section 4.3.5). The order
is from `saltus.model.flex.bands`: a closed rod is folded.

metric_band [nband, BAND + 1] holds the entries of each position with itself and those before it. metric_held is the
band of s K + r D alone, which is that matrix where nothing else is deformable, and then serves as the operator. Rods
whose rows have the same curvatures as at the last factor keep it.
"""

from saltus.contact.rows.blocks import chained_dof
from saltus.dynamics.flex.dihedrals import ROWS, bends, tangent_row
from saltus.dynamics.flex.rods import along_axis, bend_pull, curvature
from saltus.dynamics.flex.rods import resisted as resisted_bend
from saltus.dynamics.flex.twist import bend_of, reference_slopes
from saltus.dynamics.flex.twist_tangent import resisted as resisted_twist
from saltus.model.enums import BAND
from saltus.number.functions import where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.motions import velocity_at
from saltus.spatial.vectors import dot3, scale3, sub3

LEAST = 1e-10  # pivot relative to the diagonal, below which the entries before it are left out


@only_with("rodband")
@kernel
def begin_band(m, d):
    """metric_band ← couplings of rods by their forces, if metric_held is that of another matrix s K + r D."""
    if d.band_fresh[0]:
        for p in range(m.nband):
            for k in range(BAND + 1):
                d.metric_band[p, k] = 0.0 * d.time
        rod_couplings(m, d)


@only_with("rodband")
@kernel
def hold_band(m, d):
    """metric_held ← metric_band if it was that of another matrix; metric_band ← metric_held + M in rods to factor."""
    if d.band_fresh[0]:
        d.band_fresh[0] = 0
        for p in range(m.nband):
            d.band_dirty[p] = 1
            for k in range(BAND + 1):
                d.metric_held[p, k] = d.metric_band[p, k]
    for p in range(m.nband):
        if is_dirty(m, d, p):
            for k in range(BAND + 1):
                d.metric_band[p, k] = d.metric_held[p, k]
            i = m.band_dof[p]
            d.metric_band[p, 0] = d.metric_band[p, 0] + d.M[m.M_rowadr[i] + m.M_rownnz[i] - 1]


@kernel(inline=True)
def is_dirty(m, d, p):
    """Whether the rod at position p of the bands has to be factored."""
    return d.band_dirty[m.band_first[p]] != 0


@kernel
def mark_dirty(m, d, first, count):
    """Mark the rods of the degrees of freedom of a block of rows, from its place `first` on, to be factored."""
    for c in range(count):
        p = m.dof_band[chained_dof(m, d, first + c)]
        if p >= 0:
            d.band_dirty[m.band_first[p]] = 1


@kernel
def mark_all_dirty(m, d):
    """Mark all rods to be factored."""
    for p in range(m.nband):
        d.band_dirty[p] = 1


@only_with("rodband", otherwise="True")
@kernel(inline=True)
def in_factor(m, d, i):
    """Whether entries of degree of freedom i are to be added to the preconditioner: not if its rod is factored."""
    p = m.dof_band[i]
    return p < 0 or is_dirty(m, d, p)


@only_with("rodband", otherwise="False")
@kernel(inline=True)
def is_held(m, d):
    """Whether s K + r D is in metric_held, whole."""
    return m.flex_banded and not d.band_fresh[0]


@only_with("rodband")
@kernel(sums=True)
def add_held_times(m, d, p, q):
    """q ← q + (s K + r D) p by metric_held, for fields p, q [nv]."""
    x, y = d.band_solution, d.band_product
    for k in range(m.nband):
        x[k], y[k] = p[m.band_dof[k]], 0.0 * d.time
    for k in range(m.nband):
        total = d.metric_held[k, 0] * x[k]
        for j in range(m.band_low[k], k):
            total = total + d.metric_held[k, k - j] * x[j]
            y[j] = y[j] + d.metric_held[k, k - j] * x[k]
        y[k] = y[k] + total
    for k in range(m.nband):
        q[m.band_dof[k]] = q[m.band_dof[k]] + y[k]


@kernel(inline=True)
def add_to_band(m, d, i, j, value):
    """Add to the entry of degrees of freedom i and j, if it is in the band of a rod."""
    p, q = m.dof_band[i], m.dof_band[j]
    if p < q:
        p, q = q, p
    if q >= 0 and q >= m.band_low[p]:
        d.metric_band[p, p - q] = d.metric_band[p, p - q] + value


@kernel
def rod_couplings(m, d):
    """Add the couplings of different vertices of rods, by bending and by springs along edges, and of their twists."""
    zero = 0.0 * d.time
    one = zero + 1.0
    for k in range(m.nrod):
        rod = curvature(m, d, k)
        verts = m.rod_vert[k, 0], m.rod_vert[k, 1], m.rod_vert[k, 2]
        for c in range(3):
            w = along_axis(d, c)
            couple_three(m, d, verts, bend_pull(rod, w), bend_pull(rod, resisted_bend(m, d, k, rod, w)), one)
    for k in range(m.nflexedge):
        u, v, span = m.flexedge_vert[k, 0], m.flexedge_vert[k, 1], d.flexedge_span[k]
        couple(m, d, v, u, span, span, -d.flexedge_axial[k])
        for c in range(3):
            w = along_axis(d, c)
            couple(m, d, v, u, w, w, -d.flexedge_hold[k])
    dihedral_couplings(m, d)
    twist_couplings(m, d)


@only_with("dihedral")
@kernel
def dihedral_couplings(m, d):
    """Add the couplings of different vertices by the torsion of rods that are curved at rest."""
    for k in range(m.ndihedral):
        both = bends(m, d, k)
        for r in range(ROWS):
            row, weight = tangent_row(m, d, k, both, r)
            for i in range(1, 4):
                for j in range(i):
                    couple(m, d, m.dihedral_vert[k, i], m.dihedral_vert[k, j], row[i], row[j], weight)


@only_with("rodtwist")
@kernel
def twist_couplings(m, d):
    """Add the couplings of rods whose segments twist: of different vertices, and of neighbouring twists."""
    zero = 0.0 * d.time
    one = zero + 1.0
    for k in range(m.nrodtwist):
        rod, e = bend_of(m, d, k), m.rodtwist_edge[k]
        verts = m.rodedge_vert[e - 1, 0], m.rodedge_vert[e, 0], m.rodedge_vert[e, 1]
        for c in range(3):
            w = along_axis(d, c)
            couple_three(m, d, verts, bend_pull(rod, w), bend_pull(rod, resisted_twist(m, d, k, rod, w)), one)
        drag = 2.0 * d.metric_damping * m.rodtwist_damping[k, 2]
        torsion = 2.0 * m.flex_spring * m.rodtwist_stiffness[k, 2]
        slopes = reference_slopes(rod)
        couple_three(m, d, verts, slopes, slopes, d.metric_reference * torsion + drag)
        if m.rodedge_bodyid[e - 1] < 0 and m.rodedge_bodyid[e] < 0:
            add_to_band(m, d, m.rodedge_dofadr[e], m.rodedge_dofadr[e - 1], -(d.metric_stiffness * torsion + drag))


@kernel
def couple_three(m, d, verts, light, heavy, weight):
    """Add weight g wᵀ between three vertices, with g and w of each from those of both segments."""
    g1, g2 = sub3(light[0], light[1]), light[1]
    w0, w1 = scale3(-1.0, heavy[0]), sub3(heavy[0], heavy[1])
    couple(m, d, verts[1], verts[0], g1, w0, weight)
    couple(m, d, verts[2], verts[1], g2, w1, weight)
    couple(m, d, verts[2], verts[0], g2, w0, weight)


@kernel
def couple(m, d, v, u, g, w, weight):
    """Add weight g wᵀ to the block of vertices v and u, where both bodies are in a band."""
    b, c = m.flexvert_bodyid[v], m.flexvert_bodyid[u]
    if b == c or not (in_band(m, b) and in_band(m, c)):
        return
    arm = sub3(d.flexvert_xpos[v], d.subtree_com[m.body_rootid[b]])
    other = sub3(d.flexvert_xpos[u], d.subtree_com[m.body_rootid[c]])
    for i in range(m.body_dofadr[b], m.body_dofadr[b] + m.body_dofnum[b]):
        share = weight * dot3(velocity_at(d.cdof[i], arm), g)
        for j in range(m.body_dofadr[c], m.body_dofadr[c] + m.body_dofnum[c]):
            add_to_band(m, d, i, j, share * dot3(velocity_at(d.cdof[j], other), w))


@kernel(inline=True)
def in_band(m, b):
    """Whether body b moves and its degrees of freedom are in the band of a rod."""
    return m.body_dofnum[b] > 0 and m.dof_band[m.body_dofadr[b]] >= 0


@kernel(inline=True)
def near_in_band(m, i, j):
    """Whether the entry of degrees of freedom i and j is in the band of a rod."""
    p, q = max(m.dof_band[i], m.dof_band[j]), min(m.dof_band[i], m.dof_band[j])
    return q >= 0 and q >= m.band_low[p]


@only_with("rodband", otherwise="False")
@kernel
def all_in_band(m, d, first, count):
    """Whether all degrees of freedom of a block of rows, from its place `first` on, are near each other in a band."""
    low, high = m.nband, -1
    for c in range(count):
        p = m.dof_band[chained_dof(m, d, first + c)]
        low, high = min(low, p), max(high, p)
    return low >= 0 and low >= m.band_low[high]


@only_with("rodband")
@kernel
def factor_band(m, d):
    """metric_band ← L D Lᵀ of rods that are dirty: L before the diagonal, D⁻¹ on it."""
    for p in range(m.nband):
        if is_dirty(m, d, p):
            factor_row(m, d, p)
    for p in range(m.nband):
        d.band_dirty[p] = 0


@kernel(sums=True)
def factor_row(m, d, p):
    """Row p of L and D⁻¹, after the rows before it."""
    first = m.band_low[p]
    whole = d.metric_band[p, 0]
    # u = L D of row p
    for q in range(first, p):
        u = d.metric_band[p, p - q]
        for k in range(max(first, m.band_low[q]), q):
            u = u - d.metric_band[p, p - k] * d.metric_band[q, q - k]
        d.metric_band[p, p - q] = u
    left = whole
    for q in range(first, p):
        u = d.metric_band[p, p - q]
        t = u * d.metric_band[q, 0]
        left = left - u * t
        d.metric_band[p, p - q] = t
    # contacts that couple distant parts are cut off, and may leave a matrix that is not definite
    sound = left > LEAST * whole
    for q in range(first, p):
        d.metric_band[p, p - q] = where(sound, d.metric_band[p, p - q], 0.0 * whole)
    d.metric_band[p, 0] = 1.0 / where(sound, left, whole)


@only_with("rodband")
@kernel(sums=True)
def solve_band(m, d, r, z):
    """z ← (L D Lᵀ)⁻¹ r on the degrees of freedom in bands, for fields r, z [nv]."""
    x = d.band_solution
    for p in range(m.nband):
        x[p] = r[m.band_dof[p]]
        total = 0.0 * d.time
        for q in range(m.band_low[p], p):
            total = total + d.metric_band[p, p - q] * x[q]
        x[p] = x[p] - total
    for p in range(m.nband):
        x[p] = x[p] * d.metric_band[p, 0]
    for s in range(m.nband):
        p = m.nband - 1 - s
        for q in range(m.band_low[p], p):
            x[q] = x[q] - d.metric_band[p, p - q] * x[p]
        z[m.band_dof[p]] = x[p]
