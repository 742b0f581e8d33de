"""Contacts of all simulations of a batch at their present states, in one table."""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saltus.contact.counts import NCON
from saltus.contact.pairs import pair_geom1, pair_geom2
from saltus.contact.rows.acting import is_contact
from saltus.number.components import lane_get
from saltus.number.functions import where
from saltus.number.kernels import entry, kernel
from saltus.sense.forces import contact_force
from saltus.simulate.batches.reading import contacts_full
from saltus.simulate.engine.batch.lanes import Lanes
from saltus.simulate.engine.batch.states import BatchStates
from saltus.simulate.engine.loops import load_group, load_model
from saltus.solve.acceleration import forward
from saltus.solve.status import CONTACTS_FULL

WHOLE, REAL = 4, 19  # columns of a contact: simulation, pair and geoms; distance, position, frame, force and torque
ROOM = 256  # contacts that a thread's table holds at first


@dataclass(frozen=True)
class BatchContacts:
    """Contacts of all simulations of a batch: arrays with a row for each contact, in the order of the simulations.

    Soft laws include contacts between margin and margin + gap, without force, as MuJoCo does; the hard law includes
    closed contacts only.

    Attributes:
        n: number of simulations.
        simulation: [k] number of the simulation.
        geom1: [k] the geom of the lower type; -1 for a deformable body.
        geom2: [k] the other one.
        flex: [k, 2] deformable bodies, -1 for geoms.
        dist: [k] distance (m), negative where they overlap.
        pos: [k, 3] the point between them (m), world axes.
        frame: [k, 3, 3] normal from geom1 to geom2 and two tangents, world axes, a row each.
        force: [k, 6] force (N) and torque (N m) on geom2 along the rows of `frame`, as mj_contactForce gives them.
    """

    n: int
    simulation: NDArray[np.int64]
    geom1: NDArray[np.int64]
    geom2: NDArray[np.int64]
    flex: NDArray[np.int64]
    dist: NDArray[np.floating]
    pos: NDArray[np.floating]
    frame: NDArray[np.floating]
    force: NDArray[np.floating]

    def __len__(self) -> int:
        return len(self.simulation)

    @property
    def count(self) -> NDArray[np.int64]:
        """Number of contacts of each simulation [n]."""
        return np.bincount(self.simulation, minlength=self.n)

    @property
    def world_force(self) -> NDArray[np.floating]:
        """Forces on geom2 [k, 3] (N), world axes; geom1 has the opposite forces."""
        return np.einsum("ki,kij->kj", self.force[:, :3], self.frame)

    def force_on(self, geoms: NDArray[np.bool_], others: NDArray[np.bool_]) -> NDArray[np.floating]:
        """Sum of the forces [n, 3] (N, world axes) on geoms from others; both are masks with a place for each geom."""
        world = self.world_force
        total = np.zeros((self.n, 3), world.dtype)
        for on, by, sign in ((self.geom2, self.geom1, 1), (self.geom1, self.geom2, -1)):
            # a deformable body on the other side is not among the other geoms
            there = (on >= 0) & geoms[on] & (by >= 0) & others[by]
            np.add.at(total, self.simulation[there], sign * world[there])
        return total


@entry
def read_contacts(m, d, m_real, d_real, memory, groups, count, whole, real):
    """Contacts of groups, from row `count` of the tables on, while there is room; memory, groups as in `stages.reads`.

    Returns the group before which there was no room, or last, the number of rows and the worst status.
    """
    states, varied, fields = memory
    first, last, rows, width, n = groups
    status = 0
    for group in range(first, last):
        load_model(m, m_real, varied, fields, group, width)
        load_group(d_real, states, group, rows, width)
        status = max(status, forward(m, d))
        present = min(width, n - group * width)
        wanted = 0
        for k in range(d.count[NCON]):
            for lane in range(present):
                wanted += is_near(m, d, k, lane)
        if count + wanted > len(whole):
            return group, count, status
        for lane in range(present):
            for k in range(d.count[NCON]):
                if is_near(m, d, k, lane):
                    store_contact(m, d, k, lane, group * width + lane, whole, real, count)
                    count += 1
    return last, count, status


@entry
def read_one(m, d, simulation, whole, real):
    """Append the contacts of one Data after `forward` to the tables, from the first row on; returns their number."""
    count = 0
    for k in range(d.count[NCON]):
        if is_near(m, d, k, 0):
            store_contact(m, d, k, 0, simulation, whole, real, count)
            count += 1
    return count


@kernel(inline=True)
def is_near(m, d, k, lane):
    """Whether contact k is within reach in a lane: the list holds contacts of all lanes."""
    zero = 0.0 * d.time
    return lane_get(where(is_contact(m, d, k), zero + 1.0, zero), lane) > 0.5


@kernel
def store_contact(m, d, k, lane, simulation, whole, real, row):
    """Write contact k of a lane into a row: simulation, pair and geoms; distance, position, frame, force, torque."""
    whole[row, 0] = simulation
    whole[row, 1] = d.contact_collision[k]
    whole[row, 2] = pair_geom1(m, d, d.contact_collision[k])
    whole[row, 3] = pair_geom2(m, d, d.contact_collision[k])
    force, torque = contact_force(m, d, k)
    pos, frame = d.contact_pos[k], d.contact_frame[k]
    real[row, 0] = lane_get(d.contact_dist[k], lane)
    for i in range(3):
        real[row, 1 + i] = lane_get(pos[i], lane)
        real[row, 13 + i] = lane_get(force[i], lane)
        real[row, 16 + i] = lane_get(torque[i], lane)
    for i in range(9):
        real[row, 4 + i] = lane_get(frame[i], lane)


def contacts(lanes: Lanes) -> BatchContacts:
    """All contacts of the simulations that `lanes` hold."""
    m = lanes.m
    parts = [_none(lanes)]
    if m.nconmax:
        parts = lanes.share(lambda *span: _of_groups(lanes, *span), lanes.pace * lanes.groups)
    whole, real = (np.concatenate(tables) for tables in zip(*parts, strict=True))
    return contacts_of(lanes, whole, real)


def contacts_of(lanes: BatchStates, whole: np.ndarray, real: np.ndarray) -> BatchContacts:
    """The contacts of a table, from its integer and its real columns."""
    m, flex = lanes.m, np.full((len(whole), 2), -1)
    if "broad" not in m.layout.features:
        flex = np.stack([m.views[f"collision_flex{k}"][whole[:, 1]] for k in (1, 2)], axis=1)
    return BatchContacts(
        n=lanes.n,
        simulation=whole[:, 0].copy(),
        geom1=whole[:, 2].copy(),
        geom2=whole[:, 3].copy(),
        flex=flex,
        dist=real[:, 0].copy(),
        pos=real[:, 1:4].copy(),
        frame=real[:, 4:13].reshape(-1, 3, 3),
        force=real[:, 13:].copy(),
    )


def _none(lanes: Lanes, rows: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((rows, WHOLE), np.int64), np.zeros((rows, REAL), lanes.states.dtype)


def _of_groups(lanes: Lanes, worker: int, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """Table of the contacts of one thread's groups, which grows when it is full."""
    workspace, (whole, real), count = lanes.prepared(worker), _none(lanes, ROOM), 0
    with lanes.looking(workspace):
        while True:
            groups = (first, last, lanes.present_rows(), lanes.width, lanes.n)
            memory = (lanes.states, *lanes.varied())
            first, count, status = read_contacts(lanes.models[worker], workspace, memory, groups, count, whole, real)
            if status == CONTACTS_FULL:
                raise contacts_full(lanes.m)
            if first == last:
                return whole[:count], real[:count]
            more = _none(lanes, len(whole) + lanes.width * lanes.m.nconmax)
            whole, real = np.concatenate([whole, more[0]]), np.concatenate([real, more[1]])
