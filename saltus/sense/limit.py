"""Limit sensors: violation, velocity and force of active joint and tendon limits."""

from saltus.contact.counts import NBLOCK
from saltus.contact.rows.acting import limit_acts
from saltus.contact.rows.blocks import UNILATERAL
from saltus.model.sensor_enums import JOINTLIMITPOS, JOINTLIMITVEL, TENDONLIMITPOS, TENDONLIMITVEL
from saltus.number.functions import where
from saltus.number.kernels import kernel, only_with
from saltus.sense.forces import is_limit


@only_with("sense_limit", otherwise="0.0 * d.time")
@kernel
def limit_value(m, d, kind, i):
    """Reading of a limit sensor type for joint or tendon i (m, rad and rates, N, N m); 0 if no limit is active."""
    return first_row(m, d, kind, i)


@only_with("constraint", otherwise="0.0 * d.time")
@kernel
def first_row(m, d, kind, i):
    """Reading of the first active row for a limit sensor, lane by lane: a range has two ends."""
    zero = 0.0 * d.time
    value = found = zero
    tendon = kind >= TENDONLIMITPOS
    for b in range(d.count[NBLOCK]):
        k = d.block_id[b]
        if d.block_kind[b] == UNILATERAL and is_limit(m, d, b) and (k >= m.njntlimit) == tendon and m.limit_obj[k] == i:
            # violation, its rate, or force
            row = d.block_row[b]
            if kind == JOINTLIMITPOS or kind == TENDONLIMITPOS:
                here = d.row_pos[row]
            elif kind == JOINTLIMITVEL or kind == TENDONLIMITVEL:
                here = row_velocity(m, d, b)
            else:
                here = d.row_force[row]
            # the first active row decides
            first = limit_acts(m, d, b) & (found < 0.5)
            value = where(first, here, value)
            found = where(first, zero + 1.0, found)
    return value


@kernel
def row_velocity(m, d, b):
    """Rate J qvel (rad/s, m/s) of the single row of block b."""
    v = 0.0 * d.time
    first = m.chain_adr[d.block_chain[b]]
    for c in range(d.block_num[b]):
        v = v + d.row_J[d.block_J[b] + c] * d.qvel[m.chain_dof[first + c]]
    return v
