"""What moving mocap bodies add to the velocities of constraint rows; see `saltus.dynamics.tree.movers`."""

from saltus.contact.pairs import pair_geom1, pair_geom2
from saltus.contact.rows.equality import anchors, orientations, turned
from saltus.dynamics.tree.movers import mover_velocity
from saltus.model.enums import CONNECT, WELD
from saltus.number.kernels import kernel, only_with
from saltus.spatial.quaternions import quat_conjugate
from saltus.spatial.vectors import matrix_times_vector, scale3, sub3


@only_with("movers")
@kernel
def add_carried_contact(m, d, k, row, dim):
    """Add the motion of the bodies that carry its geoms to row_velocity of contact k."""
    c, point = d.contact_collision[k], d.contact_pos[k]
    linear2, angular2 = mover_velocity(m, d, m.geom_bodyid[pair_geom2(m, d, c)], point)
    linear1, angular1 = mover_velocity(m, d, m.geom_bodyid[pair_geom1(m, d, c)], point)
    # relative motion in the contact frame
    frame = d.contact_frame[k]
    motion = matrix_times_vector(frame, sub3(linear2, linear1))
    turning = matrix_times_vector(frame, sub3(angular2, angular1))
    d.row_velocity[row] = d.row_velocity[row] + motion[0]
    if dim > 1:
        d.row_velocity[row + 1] = d.row_velocity[row + 1] + motion[1]
        d.row_velocity[row + 2] = d.row_velocity[row + 2] + motion[2]
    if dim > 3:
        d.row_velocity[row + 3] = d.row_velocity[row + 3] + turning[0]
    if dim > 4:
        d.row_velocity[row + 4] = d.row_velocity[row + 4] + turning[1]
        d.row_velocity[row + 5] = d.row_velocity[row + 5] + turning[2]


@only_with("movers")
@kernel
def add_carried_equality(m, d, b):
    """Add the motion of the bodies that carry its anchors to row_velocity of block b, if it is a connect or a weld."""
    k = d.block_id[b]
    kind = m.eq_type[k]
    if kind == CONNECT or kind == WELD:
        chain, row, dim = d.block_chain[b], d.block_row[b], d.block_dim[b]
        body1, body2 = m.chain_body2[chain], m.chain_body1[chain]
        point1, point2 = anchors(m, d, k, dim, body1, body2)
        linear1, angular1 = mover_velocity(m, d, body1, point1)
        linear2, angular2 = mover_velocity(m, d, body2, point2)
        motion = sub3(linear1, linear2)
        d.row_velocity[row] = d.row_velocity[row] + motion[0]
        d.row_velocity[row + 1] = d.row_velocity[row + 1] + motion[1]
        d.row_velocity[row + 2] = d.row_velocity[row + 2] + motion[2]
        if dim == 6:
            # rate of the violation: ½ s q₂* ω q₁
            quat1, quat2 = orientations(m, d, k, body1, body2)
            turn = scale3(0.5 * m.eq_data[k, 10], sub3(angular1, angular2))
            change = turned(quat_conjugate(quat2), turn, quat1)
            d.row_velocity[row + 3] = d.row_velocity[row + 3] + change[0]
            d.row_velocity[row + 4] = d.row_velocity[row + 4] + change[1]
            d.row_velocity[row + 5] = d.row_velocity[row + 5] + change[2]
