"""Loops over the groups of a batch that compute quantities at the present states and copy them out.

Each computes as much as its fields need (see `saltus.simulate.batches.fields`), in a workspace: the states and the
constraint solver's warm start do not change. All return the worst status.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from typing import Any

from saltus.dynamics.equations import inverse_dynamics
from saltus.dynamics.smooth import force_stage, free_forward, position_stage
from saltus.dynamics.tree.com_frame import centre_of_mass
from saltus.dynamics.tree.kinematics import attached_frames
from saltus.number.kernels import Entry, entry, kernel
from saltus.sense.delay import delayed_readings
from saltus.sense.forces import body_forces
from saltus.sense.sensors import sense
from saltus.sense.subtree import subtree_momenta
from saltus.simulate.batches.copying import store_group
from saltus.simulate.batches.fields import BODIES, FORWARD, INVERSE, MOTION_SENSORS, POSITIONS, SENSORS, SMOOTH
from saltus.simulate.engine.loops import load_group, load_model
from saltus.solve.acceleration import forward
from saltus.solve.status import OK


def reads(name: str, compute: Any, *, more: bool = False) -> Entry:
    """Make the loop that computes compute(m, s, d), which returns a status, and copies quantities out.

    (model, data, memory, groups, out) -> status. memory: states [groups, rows, width], numbers of the model that vary
    and their places; groups: the first and the last, rows and width of a state, number of simulations; out: table and
    rows of the quantities. `more`: after the model, the loop takes another one, s, with the features that quantities
    beyond forward dynamics need; m, the model of the steps, lacks them, so that both share the compiled `forward`.
    Otherwise s is m.
    """

    @kernel(inline=True)
    def read_groups(m, s, d, m_real, d_real, memory, groups, out):
        states, varied, fields = memory
        first, last, rows, width, n = groups
        table, places = out
        status = OK
        for group in range(first, last):
            load_model(m, m_real, varied, fields, group, width)
            load_group(d_real, states, group, rows, width)
            status = max(status, compute(m, s, d))
            store_group(d_real, group, width, n, table, places)
        return status

    def read(m, d, m_real, d_real, memory, groups, out):
        return read_groups(m, m, d, m_real, d_real, memory, groups, out)

    return entry(read_groups, name=name, structs=("m", "s", "d")) if more else entry(read, name=name)


@kernel(inline=True)
def positions(m, s, d):
    """Quantities that depend on positions alone, except the inertia matrix."""
    position_stage(m, d, 1)
    centre_of_mass(m, d)
    attached_frames(m, d)
    return OK


@kernel(inline=True)
def smooth(m, s, d):
    """Quantities that need no constraint forces."""
    free_forward(m, d)
    return OK


@kernel(inline=True)
def everything(m, s, d):
    """Constraint forces and accelerations, too."""
    return forward(m, d)


@kernel(inline=True)
def inverse(m, s, d):
    """Forward dynamics, then inverse dynamics of the accelerations."""
    status = forward(m, d)
    position_stage(m, d, 0)
    inverse_dynamics(m, d)
    return status


@kernel(inline=True)
def bodies(m, s, d):
    """Accelerations, forces and momenta of bodies after forward dynamics."""
    status = forward(m, d)
    body_forces(s, d)
    subtree_momenta(s, d)
    return status


@kernel(inline=True)
def sensors(m, s, d):
    """Sensor readings after forward dynamics."""
    status = forward(m, d)
    sense(s, d)
    delayed_readings(s, d)
    return status


@kernel(inline=True)
def motion_sensors(m, s, d):
    """Readings of sensors of positions and velocities, for which `forward` is not needed."""
    position_stage(m, d, 1)
    centre_of_mass(m, d)
    attached_frames(m, d)
    force_stage(m, d, 1)
    sense(s, d)
    delayed_readings(s, d)
    return OK


#: The loop of each stage of `saltus.simulate.batches.fields`.
LOOPS = {
    POSITIONS: reads("read_positions", positions),
    SMOOTH: reads("read_smooth", smooth),
    FORWARD: reads("read_forward", everything),
    INVERSE: reads("read_inverse", inverse),
    BODIES: reads("read_bodies", bodies, more=True),
    SENSORS: reads("read_sensors", sensors, more=True),
    MOTION_SENSORS: reads("read_motion_sensors", motion_sensors, more=True),
}
