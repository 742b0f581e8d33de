"""Loops over the groups of a batch that compute quantities at the present states and copy them out.

Each computes as much as its fields need (see `saltus.simulate.batches.fields`), in a workspace: the states and the
constraint solver's warm start do not change. All return the worst status.
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
    """Compute quantities that depend on positions alone, except the inertia matrix."""
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
    """Compute everything that needs no constraint forces."""
    for group in range(first, last):
        load_model(m, m_real, varied, fields, group, width)
        load_group(d_real, states, group, rows, width)
        free_forward(m, d)
        store_group(d_real, group, width, n, table, places)
    return 0


@entry
def read_forward(m, d, m_real, d_real, states, varied, fields, first, last, rows, width, n, table, places):
    """Compute everything including constraint forces and accelerations."""
    status = 0
    for group in range(first, last):
        load_model(m, m_real, varied, fields, group, width)
        load_group(d_real, states, group, rows, width)
        status = max(status, forward(m, d))
        store_group(d_real, group, width, n, table, places)
    return status


@entry
def read_inverse(m, d, m_real, d_real, states, varied, fields, first, last, rows, width, n, table, places):
    """Compute forward dynamics, then inverse dynamics of the accelerations."""
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
    """Compute accelerations, forces and momenta of bodies after forward dynamics; s: a model with their features."""
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
    """Compute sensor readings after forward dynamics; s: a model with the features that sensors need.

    m, the model of the steps, lacks these features, so that both share the compiled `forward`.
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
