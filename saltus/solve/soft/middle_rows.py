"""Soft constraint rows with velocities at the midpoint of a step, for `energy_momentum`.

The reference acceleration -B v_m - K I r - dJ/dt v_m of a row with violation r is that of the velocity v_m = v + h/2 a
in the middle of a step of h seconds. Its part linear in J a moves into the regularisation of the row: with β = h B / 2

    R' = R / (1 + β),   a_ref' = (-B v - K I r) / (1 + β),

as in `saltus.solve.soft.discrete_rows`, where the velocity is that of the end. The bias accelerations dJ/dt v_m of
connects and welds are not linear and follow the iteration.
"""

from saltus.contact.counts import NBLOCK, NEQUALITY, NROW
from saltus.contact.rows.blocks import CONE, EQUALITY
from saltus.contact.rows.equality import equality_law, subtract_drift
from saltus.model.enums import CONNECT, WELD
from saltus.number.kernels import kernel, only_with


@kernel
def rows_of_middle(m, d, h):
    """Convert row_D and row_aref of all rows to those of a step of h seconds; without the bias of connects and welds.

    row_aref_still [nrowmax] ← row_aref, to which `bend_rows` adds the bias.
    """
    for b in range(d.count[NBLOCK]):
        if turns(m, d, b):
            equality_law(m, d, d.block_id[b], b)
        law, row, kind = d.block_law[b], d.block_row[b], d.block_kind[b]
        stiffer = 1.0 + 0.5 * h * m.law_damping[law]
        # the tangents of cones have a damping of their own
        across = 1.0 + 0.5 * h * m.law_damping_tangent[law] if kind == CONE else stiffer
        for r in range(d.block_dim[b]):
            d.row_D[row + r] = d.row_D[row + r] * stiffer
            d.row_aref[row + r] = d.row_aref[row + r] / (stiffer if r == 0 else across)
    for r in range(d.count[NROW]):
        d.row_aref_still[r] = d.row_aref[r]


@kernel(inline=True)
def turns(m, d, b):
    """Whether block b is a connect or a weld, whose Jacobian turns with its bodies."""
    kind = m.eq_type[d.block_id[b]] if d.block_kind[b] == EQUALITY else -1
    return kind == CONNECT or kind == WELD


@only_with("constraint")
@kernel
def bend_rows(m, d, h):
    """row_aref of connects and welds with their bias accelerations at the present state, the middle of a step."""
    for b in range(d.count[NEQUALITY]):
        if turns(m, d, b):
            row = d.block_row[b]
            for r in range(row, row + d.block_dim[b]):
                d.row_aref[r] = d.row_aref_still[r]
            subtract_drift(m, d, b, 1.0 / (1.0 + 0.5 * h * m.law_damping[d.block_law[b]]))
