"""Contact points and forces of recorded states: computed anew, or as recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.compat.humans import pressure_centre
from saltus.contact.counts import NCON
from saltus.contact.mujoco.collision import attach
from saltus.contact.pairs import contact_pairs
from saltus.contact.rows.adhesive_contacts import acting_blocks, attractions
from saltus.model.event_enums import LEFT, NO_MODE
from saltus.model.layout import DATA, data_sizes
from saltus.number.kernels import entry
from saltus.number.structs import Struct
from saltus.solve import acceleration

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.record.table.trajectory_table import TrajectoryTable

_forward = entry(acceleration.forward)


class ContactForces:
    """Contacts of a model at any state, computed by the physics kernels on a Data of their own.

    Contacts follow from positions, velocities, activations, controls. `timestep` (s): of the run; it bounds the time
    constants of soft constraints; None: the model file's.
    """

    def __init__(self, model: Model, timestep: float | None = None):
        self._of, self._model = model, model.struct(timestep=timestep)
        self._data = Struct(DATA, data_sizes(model.sizes()))
        attach(model, self._data)

    def at(self, state: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
        """Contacts [n, 8] at one state, fields as those of `Interpolator.at`; see `contact_table`."""
        views = self._data.views
        for name in ("qpos", "qvel", "ctrl", "mocap_pos", "mocap_quat"):
            views[name][...] = state[name]
        views["act"][...] = state["act"][: len(views["act"])]  # a controller's states are computed from known controls
        # the picture of a state does not depend on the states before it
        views["qacc_warmstart"][...] = 0.0
        _forward(self._model, self._data)
        return contact_table(self._model, self._data)

    def pressure(self) -> NDArray[np.float64]:
        """Centre of pressure [3] (m) of the state that `at` was last called with; nan without force on the ground."""
        return centre_of_pressure(self._of, self._model, self._data)


def recorded_contacts(trajectory: TrajectoryTable, time: float) -> NDArray[np.float64]:
    """Contacts [n, 8] of a recording with contact points, at its sample nearest to a time (s); see `contact_table`."""
    t, k = trajectory, nearest_sample(trajectory, time)
    closed = np.flatnonzero(t.contact_mode[k])
    table = np.zeros((len(closed), 8))
    table[:, :3], table[:, 3:6] = t.contact_pos[k, closed], t.contact_force[k, closed]
    table[:, 7] = t.contact_mode[k, closed]
    return table


def nearest_sample(trajectory: TrajectoryTable, time: float) -> int:
    """Number of the sample nearest to a time (s)."""
    t = trajectory.time
    after = int(np.clip(np.searchsorted(t, time), 1, max(len(t) - 1, 1)))
    return after - 1 if len(t) < 2 or time - t[after - 1] < t[after] - time else after


def upwards(model: Model) -> NDArray[np.float64]:
    """Unit vector against gravity; +z without gravity."""
    gravity = np.array(model.opt.gravity, float)
    strength = float(np.linalg.norm(gravity))
    return -gravity / strength if strength > 0.0 else np.array([0.0, 0.0, 1.0])


def centre_of_pressure(model: Model, m: Struct, d: Struct) -> NDArray[np.float64]:
    """Centre of pressure [3] (m) of the contacts with bodies that cannot move in the kernels' Data; nan without any."""
    table, sides = contact_table(m, d), contact_pairs(m, d)
    fixed = np.append(np.asarray(model.body_weldid)[model.geom_bodyid] == 0, False)  # the last: no geom
    first, second = fixed[sides.geom1], fixed[sides.geom2]
    return pressure_centre(table[:, :3], table[:, 3:6], first.astype(float) - second, upwards(model))


def contact_table(m: Struct, d: Struct) -> NDArray[np.float64]:
    """Contacts [n, 8] in the kernels' Data: position (m), force on the second geom (N, world axes), distance,
    mode (see `saltus.draw.scene.snapshot`).

    Contacts in the gap have no force unless they stick. Modes are known where events are located in time, but not while
    steps go over dense ones.
    """
    n = int(d.views["count"][NCON]) if m.nconmax else 0
    table = np.zeros((n, 8))
    if n == 0:
        return table
    force = local_forces(m, d)
    frame = d.views["contact_frame"][:n].reshape(n, 3, 3)
    table[:, :3] = d.views["contact_pos"][:n]
    table[:, 3:6] = np.einsum("ni,nij->nj", force, frame)
    table[:, 6] = d.views["contact_dist"][:n]
    table[:, 7] = NO_MODE
    if "event" in m.layout.features and not d.views["dense"][LEFT] > 0.0:
        contact = d.views["slot_contact"][: m.nslot]
        there = (contact >= 0) & (contact < n)
        table[contact[there], 7] = d.views["mode"][: m.nslot][there]
    return table


def contact_axes(m: Struct, d: Struct) -> NDArray[np.float64]:
    """Normal, towards the second geom, and first tangent [n, 6] of the contacts of `contact_table`, world axes."""
    n = int(d.views["count"][NCON]) if m.nconmax else 0
    return d.views["contact_frame"][:n].reshape(n, 9)[:, :6].copy()


def local_forces(m: Struct, d: Struct) -> NDArray[np.float64]:
    """Forces [n, 3] on the second geom of all contacts in the kernels' Data, along normal and tangents (N)."""
    n = int(d.views["count"][NCON]) if m.nconmax else 0
    if m.ntouch:
        return d.views["contact_touch"][:n].copy()
    block = acting_blocks(m, d, n)
    acts = block >= 0
    row, dim = d.views["block_row"][block[acts]], d.views["block_dim"][block[acts]]
    # along the contact's axes: a block has its normal first, then two tangents where there is friction
    force = np.zeros((n, 3))
    for axis in range(3):
        there = dim > min(axis, 1)
        places = np.where(there, row + axis, row)
        force[acts, axis] = np.where(there, d.views["row_force"][places], 0.0)
    force[acts, 0] -= attractions(m, d, n)[acts]
    return force
