"""Corotational elasticity of cells of nodes, between which vertices are interpolated: forces, energy, tangent.

A cell resists the displacement u = Rᵀ x - X of its nodes from their rest positions X, in axes that rotate with it:
forces -R K u, and Rayleigh damping -c R K Rᵀ v (Müller & Gross, Interactive virtual materials (2004)). R is the
rotational part of the deformation gradient at the cell's centre, after Müller et al., A robust method to extract the
rotational part of deformations (2016).

These forces are the gradient of the energy ½ uᵀ K u only to first order in the strain, since they neglect the change of
R with the strain.
"""

from saltus.number.components import epsilon_of
from saltus.number.functions import absolute, any_lane, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.quaternions import quat_exp, quat_multiply, quat_normalize, quat_to_matrix
from saltus.spatial.vectors import (
    add3,
    add_scaled3,
    cross,
    dot3,
    matrix_times_vector,
    rotate_symmetric,
    scale3,
    sub3,
    transpose_times_vector,
)

ITERATIONS = 500
ENOUGH = 1e-9  # tolerance (rad) of the iteration for a rotation, as in MuJoCo
TINY = 1e-15


@only_with("flexcell")
@kernel
def interpolate(m, d):
    """flexvert_xpos (m) of interpolated vertices, from those of the nodes."""
    zero = 0.0 * d.time
    for v in range(m.nflexvert):
        if m.flexvert_bodyid[v] < 0:
            place = (zero, zero, zero)
            first = m.flexvert_nodeadr[v]
            for k in range(first, first + m.flexvert_nodenum[v]):
                place = add_scaled3(place, m.node_weight[k], d.flexvert_xpos[m.node_vert[k]])
            d.flexvert_xpos[v] = place


@only_with("flexcell")
@kernel
def add_cells(m, d):
    """Add the forces of cells to the nodes' flexvert_spring, flexvert_damper (N). Writes cell_rotation [ncell, 9]."""
    for e in range(m.ncell):
        # elastic forces -R K u
        strain(m, d, e)
        times_stiffness(m, d, e)
        add_turned(m, d, e, -m.flex_spring, d.flexvert_spring)
        # rayleigh damping -c R K Rᵀ v
        if m.cell_rayleigh[e] != 0.0:
            turn_back(m, d, e, d.flexvert_xvel)
            times_stiffness(m, d, e)
            add_turned(m, d, e, -m.cell_rayleigh[e], d.flexvert_damper)


@only_with("flexcell", otherwise="0.0 * d.time")
@kernel
def cells_energy(m, d):
    """½ uᵀ K u of all cells (J); the forces are its gradient only to first order in the strain."""
    total = 0.0 * d.time
    for e in range(m.ncell):
        strain(m, d, e)
        times_stiffness(m, d, e)
        for a in range(m.cell_vertnum[e]):
            total = total + 0.5 * m.flex_spring * dot3(d.cell_shift[a], d.cell_load[a])
    return total


@kernel
def strain(m, d, e):
    """cell_shift ← u, the displacement of cell e's nodes in its rotated axes (m). Writes cell_rotation."""
    first = m.cell_vertadr[e]
    r = rotation(gradient(m, d, e))
    d.cell_rotation[e] = r
    for a in range(m.cell_vertnum[e]):
        x = d.flexvert_xpos[m.cell_vert[first + a]]
        d.cell_shift[a] = sub3(transpose_times_vector(r, x), m.cell_rest[first + a])


@kernel
def gradient(m, d, e):
    """Deformation gradient at the centre of cell e, by rows."""
    zero = 0.0 * d.time
    x = y = z = (zero, zero, zero)
    for k in range(m.cell_vertadr[e], m.cell_vertadr[e] + m.cell_vertnum[e]):
        place, slope = d.flexvert_xpos[m.cell_vert[k]], m.cell_gradient[k]
        x = add3(x, (place[0] * slope[0], place[0] * slope[1], place[0] * slope[2]))
        y = add3(y, (place[1] * slope[0], place[1] * slope[1], place[1] * slope[2]))
        z = add3(z, (place[2] * slope[0], place[2] * slope[1], place[2] * slope[2]))
    return x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]


@kernel
def rotation(f):
    """Rotational part of a matrix F: R ← exp(ω) R with ω = Σ R_k × F_k / |Σ R_k · F_k|, over columns, from R = 1.

    The iteration ends where |ω| is below 1e-9, as in MuJoCo. Converged lanes keep their value while others iterate.
    """
    zero = 0.0 * f[0]
    one = zero + 1.0
    least = max(ENOUGH, 8.0 * epsilon_of(zero))
    q = (one, zero, zero, zero)
    going = one > zero
    for _ in range(ITERATIONS):
        # rotation vector ω from the columns of R and F
        r = quat_to_matrix(q)
        turn = (zero, zero, zero)
        along = zero
        for k in range(3):
            column = (r[k], r[3 + k], r[6 + k])
            other = (f[k], f[3 + k], f[6 + k])
            turn = add3(turn, cross(column, other))
            along = along + dot3(column, other)
        turn = scale3(1.0 / (absolute(along) + TINY), turn)
        # stop where ω is small
        going = going & (dot3(turn, turn) >= least * least)
        if not any_lane(going):
            break
        # R ← exp(ω) R in the lanes that iterate
        p = quat_normalize(quat_multiply(quat_exp(turn), q))
        q = where(going, p[0], q[0]), where(going, p[1], q[1]), where(going, p[2], q[2]), where(going, p[3], q[3])
    return quat_to_matrix(q)


@kernel(inline=True)
def turn_back(m, d, e, x):
    """cell_shift ← Rᵀ x of cell e's nodes, for a field x [nflexvert, 3]."""
    first = m.cell_vertadr[e]
    r = d.cell_rotation[e]
    for a in range(m.cell_vertnum[e]):
        d.cell_shift[a] = transpose_times_vector(r, x[m.cell_vert[first + a]])


@kernel
def times_stiffness(m, d, e):
    """cell_load ← K cell_shift for cell e; K is stored as blocks between a node and itself or a later one."""
    zero = 0.0 * d.time
    count, place = m.cell_vertnum[e], m.cell_blockadr[e]
    for a in range(count):
        d.cell_load[a] = (zero, zero, zero)
    for a in range(count):
        u = d.cell_shift[a]
        f = add3(d.cell_load[a], matrix_times_vector(m.cell_stiffness[place], u))
        for b in range(a + 1, count):
            block = m.cell_stiffness[place + b - a]
            f = add3(f, matrix_times_vector(block, d.cell_shift[b]))
            d.cell_load[b] = add3(d.cell_load[b], transpose_times_vector(block, u))
        d.cell_load[a] = f
        place += count - a


@kernel(inline=True)
def add_turned(m, d, e, weight, x):
    """x += weight R cell_load at cell e's nodes, for a field x [nflexvert, 3]."""
    first = m.cell_vertadr[e]
    r = d.cell_rotation[e]
    for a in range(m.cell_vertnum[e]):
        v = m.cell_vert[first + a]
        x[v] = add_scaled3(x[v], weight, matrix_times_vector(r, d.cell_load[a]))


# ---------------------------------------------------------------- tangent


@kernel(inline=True)
def cell_weight(m, d, e):
    """Factor of cell e's stiffness in the tangent (see `saltus.dynamics.flex.tangent`)."""
    return d.metric_stiffness * m.flex_spring + d.metric_damping * m.cell_rayleigh[e]


@only_with("flexcell", otherwise="False")
@kernel
def has_cell_damping(m):
    """Whether any cell has damping."""
    damped = False
    for e in range(m.ncell):
        damped = damped or m.cell_rayleigh[e] != 0.0
    return damped


@only_with("flexcell")
@kernel
def add_cells_tangent(m, d):
    """flexvert_damper += R K Rᵀ flexvert_xvel of cells at their present rotation, weighted."""
    for e in range(m.ncell):
        turn_back(m, d, e, d.flexvert_xvel)
        times_stiffness(m, d, e)
        add_turned(m, d, e, cell_weight(m, d, e), d.flexvert_damper)


@only_with("flexcell")
@kernel
def cell_blocks(m, d):
    """Add the diagonal blocks of cells to flexvert_block [nflexvert, 6]."""
    for e in range(m.ncell):
        weight, place, count = cell_weight(m, d, e), m.cell_blockadr[e], m.cell_vertnum[e]
        for a in range(count):
            # R K Rᵀ of the node with itself
            v, k = m.cell_vert[m.cell_vertadr[e] + a], m.cell_stiffness[place]
            s = rotate_symmetric(d.cell_rotation[e], (k[0], k[4], k[8], k[1], k[2], k[5]))
            b = d.flexvert_block[v]
            d.flexvert_block[v] = (
                b[0] + weight * s[0],
                b[1] + weight * s[3],
                b[2] + weight * s[4],
                b[3] + weight * s[1],
                b[4] + weight * s[5],
                b[5] + weight * s[2],
            )
            place += count - a
