"""Loops over the groups of a batch that compute quantities at the present states and copy them out.

Each computes as much as its fields need (see `saltus.simulate.batches.fields`), in a workspace: the states, and where
the constraint solver begins, stay as they are. All return the worst status.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.dynamics.equations import inverse_dynamics
from saltus.dynamics.smooth import free_forward, position_stage
from saltus.dynamics.tree.com_frame import centre_of_mass
from saltus.dynamics.tree.kinematics import attached_frames
from saltus.number.kernels import entry
from saltus.sense.delay import delayed_readings
from saltus.sense.forces import body_forces
from saltus.sense.sensors import sense
from saltus.sense.subtree import subtree_momenta
from saltus.simulate.batches.copying import store_group
from saltus.simulate.engine.loops import load_group, load_model
from saltus.solve.acceleration import forward


@entry
def read_positions(m, d, m_real, d_real, states, varied, fields, first, last, rows, width, n, table, places):
    """What depends on positions alone, but for the inertia matrix."""
    for group in range(first, last):
        load_model(m, m_real, varied, fields, group, width)
        load_group(d_real, states, group, rows, width)
        position_stage(m, d, 1)
        centre_of_mass(m, d)
        attached_frames(m, d)
        store_group(d_real, group, width, n, table, places)
    return 0


@entry
def read_smooth(m, d, m_real, d_real, states, varied, fields, first, last, rows, width, n, table, places):
    """All that needs no constraint forces."""
    for group in range(first, last):
        load_model(m, m_real, varied, fields, group, width)
        load_group(d_real, states, group, rows, width)
        free_forward(m, d)
        store_group(d_real, group, width, n, table, places)
    return 0


@entry
def read_forward(m, d, m_real, d_real, states, varied, fields, first, last, rows, width, n, table, places):
    """Constraint forces and accelerations, too."""
    status = 0
    for group in range(first, last):
        load_model(m, m_real, varied, fields, group, width)
        load_group(d_real, states, group, rows, width)
        status = max(status, forward(m, d))
        store_group(d_real, group, width, n, table, places)
    return status


@entry
def read_inverse(m, d, m_real, d_real, states, varied, fields, first, last, rows, width, n, table, places):
    """Inverse dynamics of the accelerations, too."""
    status = 0
    for group in range(first, last):
        load_model(m, m_real, varied, fields, group, width)
        load_group(d_real, states, group, rows, width)
        status = max(status, forward(m, d))
        position_stage(m, d, 0)
        inverse_dynamics(m, d)
        store_group(d_real, group, width, n, table, places)
    return status


@entry(structs=("m", "s", "d"))
def read_bodies(m, s, d, m_real, d_real, states, varied, fields, first, last, rows, width, n, table, places):
    """Accelerations, forces and momenta of bodies, too; s: the model with the features that they need."""
    status = 0
    for group in range(first, last):
        load_model(m, m_real, varied, fields, group, width)
        load_group(d_real, states, group, rows, width)
        status = max(status, forward(m, d))
        body_forces(s, d)
        subtree_momenta(s, d)
        store_group(d_real, group, width, n, table, places)
    return status


@entry(structs=("m", "s", "d"))
def read_sensors(m, s, d, m_real, d_real, states, varied, fields, first, last, rows, width, n, table, places):
    """What sensors read, too; s: the model with the features that they need.

    m, without them, is the model of the steps, with which `forward` is shared.
    """
    status = 0
    for group in range(first, last):
        load_model(m, m_real, varied, fields, group, width)
        load_group(d_real, states, group, rows, width)
        status = max(status, forward(m, d))
        sense(s, d)
        delayed_readings(s, d)
        store_group(d_real, group, width, n, table, places)
    return status
