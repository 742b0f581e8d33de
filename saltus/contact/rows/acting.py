"""Activity of contacts and limits under every contact law: the common definition for all readers.

Under the soft law a contact acts within its margin. Under the hard law the distance of a contact at rest is zero up to
rounding of either sign, so that it does not decide. If events are located in time, closed contacts and limits act, and
only these have rows. In time stepping, near contacts have rows, too; a contact is closed if it pushes, or if its
surfaces do not separate in the step, as in `saltus.solve.stepping.modes`.
"""

from saltus.contact.pairs import pair_law
from saltus.contact.rows.blocks import chained_dof
from saltus.model.event_enums import LEFT
from saltus.number.conditions import has
from saltus.number.kernels import kernel, only_with


@kernel
def is_contact(m, d, k):
    """Lanes in which contact k exists: closed under hard laws, under soft laws within margin and gap."""
    if has(m, "event", "stepping"):
        return is_closed(m, d, k)
    return d.contact_dist[k] <= m.law_reach[pair_law(m, d, d.contact_collision[k])]


@only_with("event", "stepping", otherwise="False")
@kernel
def is_closed(m, d, k):
    """Whether contact k is closed under the hard law."""
    b = d.contact_block[k]
    return b >= 0 and (not in_steps(m, d) or stays_closed(m, d, b))


@kernel
def may_push(m, d, k):
    """Lanes in which contact k, which has rows, may carry a force: within its margin, or always under the hard law."""
    if has(m, "event", "stepping"):
        return True
    return d.contact_dist[k] < m.law_margin[pair_law(m, d, d.contact_collision[k])]


@kernel
def limit_acts(m, d, b):
    """Lanes in which block b, a limit, acts."""
    if has(m, "event"):
        return d.dense[LEFT] <= 0.0 or d.row_D[d.block_row[b]] > 0.0
    return d.row_D[d.block_row[b]] > 0.0


@kernel(inline=True)
def in_steps(m, d):
    """Whether the rows are those of a time step: always in time stepping, else while dense events are stepped over."""
    if has(m, "event"):
        return d.dense[LEFT] > 0.0
    return True


@kernel
def stays_closed(m, d, b):
    """Whether block b of a time step pushes or does not separate, for the step's acceleration qacc."""
    row = d.block_row[b]
    if d.row_force[row] > 0.0:
        return True
    return d.row_D[row] > 0.0 and end_speed(m, d, b, 0) <= m.opt_speed_tolerance


@kernel
def end_speed(m, d, b, k):
    """Velocity (m/s, rad/s) of row k of block b at the end of a time step, less the velocity that its law requires."""
    row, dim = d.block_row[b] + k, d.block_dim[b]
    change = -d.row_aref[row]
    for c in range(d.block_num[b]):
        change = change + d.row_J[d.block_J[b] + c * dim + k] * d.qacc[chained_dof(m, d, d.block_dofs[b] + c)]
    return change * d.row_step
